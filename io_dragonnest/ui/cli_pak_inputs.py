# SPDX-License-Identifier: GPL-3.0-or-later
"""The archives that the words of a command line mean, open together."""

from __future__ import annotations

import argparse
import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...io_common.formats.errors import UserError
from ...io_common.ui import cli_inputs
from ..formats import pak
from ..formats.pak import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...io_common.ui.cli_output import Console
    from ..formats.pak import Archive

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Stack:
    """Open archives, of which later ones override earlier ones."""

    def __init__(self, archives: Sequence[Archive]) -> None:
        """`archives` in the order in which the game would take them."""
        self.archives = archives
        # With one archive there is nothing to override, and its names need no look-up.
        self._last = {key: place for place, archive in enumerate(archives) for key in archive.live}

    def state(self, place: int, number: int) -> str:
        """What entry `number` of archive `place` is good for: "live", "deleted", "shadowed" or "overridden"."""
        archive = self.archives[place]
        state = State(int(archive.states[number]))
        if state is State.LIVE and self._last[archive.keys[number]] != place:
            return "overridden"
        return state.name.lower()


@contextlib.contextmanager
def opened(words: Sequence[str], console: Console) -> Iterator[Stack]:
    """The archives that `words` name; what cannot be opened is reported."""
    sources, missing = cli_inputs.expand(words, {".pak"})
    for error in missing:
        console.failure(error.path or Path(), error)
    with contextlib.ExitStack() as stack:
        archives = []
        for source in sources:
            try:
                archives.append(stack.enter_context(pak.open_archive(source.path)))
            except UserError as error:
                console.failure(source.path, error)
        for archive in archives:
            if archive.unfinished:
                console.note(
                    f"warning {archive.path}: it was never finished, which the game refuses; it is read anyway"
                )
        yield Stack(archives)


def add_archives(parser: argparse.ArgumentParser) -> None:
    """The positional arguments that name archives."""
    parser.add_argument("paths", nargs="+", metavar="PAK", help="archives, folders, patterns, in the order of the game")


def size(text: str) -> int:
    """An argparse type: "500", "64K", "1G"; in bytes."""
    found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 500, 64K or 1G")
    return int(float(found[1]) * _UNITS[found[2].upper()])
