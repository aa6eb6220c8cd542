# SPDX-License-Identifier: GPL-3.0-or-later
"""`pak`: the words of its commands, and those that only look: `list`, `find`, `verify`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import UserError
from ..formats import pak_check, pak_search
from ..formats.pak import State
from . import cli_pak_extract, cli_pak_write
from .cli_pak_inputs import Stack, add_archives, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...io_common.formats.registry import Format
    from ...io_common.ui.cli_output import Console
    from ...io_common.ui.command_line import AddParser, Subparsers

_WORDS = r"""Several archives are taken as the game takes them: a file in a later one overrides that of the same name
in an earlier one. Names are compared without regard to case; "/" will do for "\"."""
_QUERY = """WORDS are looked for in all names; those found hold every one. A word with * or ? is a pattern for the whole
name, or for its last part if it has no folder in it: "char warrior", "*.skn", "resource/char/*head*"."""
# A person reads no more lines about one archive.
_SHOWN = 24


class PakCommand:
    """The group of commands."""

    def add(self, commands: Subparsers, add_parser: AddParser) -> None:
        """Make the parsers of the group."""
        group = commands.add_parser(
            "pak",
            help="list, search, extract, pack, patch and verify Dragon Nest PAK archives",
            description="Work on Dragon Nest PAK archives.",
            epilog=_WORDS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        actions = group.add_subparsers(dest="action", required=True, metavar="COMMAND", title="commands")
        parser = add_parser(actions, "list", "list the entries of archives", _WORDS)
        add_archives(parser)
        parser.add_argument("--live", action="store_true", help="leave out what is deleted or overridden")
        parser.set_defaults(run=list_entries, noun="entry")
        parser = add_parser(actions, "find", "search the names of all entries", f"{_QUERY}\n{_WORDS}")
        parser.add_argument("query", metavar="WORDS", help="what to look for, in quotes if it is several words")
        add_archives(parser)
        parser.add_argument("--live", action="store_true", help="leave out what is deleted or overridden")
        parser.set_defaults(run=find_entries, noun="entry")
        cli_pak_extract.add(actions, add_parser, _WORDS)
        cli_pak_write.add(actions, add_parser)
        parser = add_parser(actions, "verify", "inflate every entry of archives and say what is wrong with them")
        add_archives(parser)
        parser.set_defaults(run=verify)


COMMAND = PakCommand()


def list_entries(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `pak list`; the exit code."""
    with opened(arguments.paths, console) as stack:
        for place, archive in enumerate(stack.archives):
            _tell(stack, place, range(len(archive)), console, live=arguments.live)
    return console.finish("live")


def find_entries(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `pak find`; the exit code."""
    with opened(arguments.paths, console) as stack:
        for place, archive in enumerate(stack.archives):
            found = pak_search.NameIndex(archive.keys).search(arguments.query)
            _tell(stack, place, found.tolist(), console, live=arguments.live)
    return console.finish("live")


def _tell(stack: Stack, place: int, numbers: Iterable[int], console: Console, *, live: bool) -> None:
    archive = stack.archives[place]
    for number in numbers:
        state = stack.state(place, number)
        if live and state != "live":
            continue
        entry = archive.index[number]
        record = {
            "archive": str(archive.path),
            "result": state,
            "number": number,
            "name": archive.names[number],
            "bytes": int(entry["original"]),
            "packed_bytes": int(entry["stored"]),
        }
        console.result(record, f"{entry['original']:>10} {entry['stored']:>10} {state:<10} {archive.names[number]}")


def verify(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `pak verify`; the exit code."""
    with opened(arguments.paths, console) as stack:
        for place, archive in enumerate(stack.archives):
            path = archive.path or Path()
            console.progress(place + 1, len(stack.archives), str(path))
            try:
                pak_check.require_readable(archive)
            except UserError as error:
                console.failure(path, error)
                continue
            damaged: list[dict[str, Any]] = []
            for number in sorted(archive.live.values()):
                try:
                    for _piece in archive.stream(number):
                        pass
                except UserError as error:
                    damaged.append({"name": archive.names[number], "error": error.reason, "message": str(error)})
            issues = pak_check.check(archive)
            bad = bool(damaged)
            record = {
                "file": str(path),
                "result": "damaged" if bad else "sound",
                **pak_check.summary(archive),
                "issues": [{"code": issue.code, "message": issue.message} for issue in issues],
                "damaged": damaged,
            }
            lines = [f"  damaged: {entry['message']}" for entry in damaged[:_SHOWN]]
            if len(damaged) > _SHOWN:
                lines.append(f"  ... {len(damaged) - _SHOWN} more damaged entries, shown with --json")
            lines += [f"  {issue.severity.value}: {issue.message} [{issue.code}]" for issue in issues]
            sound = int(np.count_nonzero(archive.states == State.LIVE)) - len(damaged)
            head = f"{record['result']} {path}: {sound} sound, {len(damaged)} damaged"
            console.result(record, head, *lines, bad=bad)
    return console.finish("sound", "damaged")
