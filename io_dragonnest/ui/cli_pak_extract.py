# SPDX-License-Identifier: GPL-3.0-or-later
"""`pak extract`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import UserError
from ..formats import pak_check, pak_search
from ..formats.pak_extract import ENTRY_LIMIT, TOTAL_LIMIT, Extraction
from .cli_pak_inputs import Stack, add_archives, opened, size

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ...io_common.formats.registry import Format
    from ...io_common.ui.cli_output import Console
    from ...io_common.ui.command_line import AddParser, Subparsers
    from ..formats.pak import Archive

_WORDS = """Nothing is written outside of DIR: names that lead out of it, or that Windows has no file for, are refused,
and links inside of it are not followed. What is refused is named and left out, and the exit code is 1.
Sizes are bytes, or have a K, M or G: 500M."""


def add(actions: Subparsers, add_parser: AddParser, words: str) -> None:
    """Make the parser."""
    parser = add_parser(actions, "extract", "write entries of archives into a folder", f"{_WORDS}\n{words}")
    add_archives(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="folder to write to, made if need be")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help='extract what this names, a pattern such as "*.dds" too; may be given several times',
    )
    parser.add_argument("--find", metavar="WORDS", help="extract what `pak find WORDS` finds")
    parser.add_argument("--flat", action="store_true", help="all files into DIR itself, without their folders")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.add_argument(
        "--entry-limit", type=size, default=ENTRY_LIMIT, metavar="SIZE", help="extract no larger file (default: 1G)"
    )
    parser.add_argument(
        "--total-limit", type=size, default=TOTAL_LIMIT, metavar="SIZE", help="extract no more in all (default: 64G)"
    )
    parser.set_defaults(run=run, noun="entry")


def run(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `pak extract`; the exit code."""
    extraction = Extraction(
        Path(arguments.out),
        overwrite=arguments.overwrite,
        flat=arguments.flat,
        entry_limit=arguments.entry_limit,
        total_limit=arguments.total_limit,
    )
    met: set[str] = set()
    with opened(arguments.paths, console) as stack:
        chosen = [_chosen(stack, place, arguments, met) for place in range(len(stack.archives))]
        total = sum(map(len, chosen))
        done = 0
        for archive, numbers in zip(stack.archives, chosen, strict=True):
            done = _extract(extraction, archive, numbers, console, (done, total))
        if stack.archives:
            for word in [*arguments.only, *([arguments.find] if arguments.find is not None else [])]:
                if word not in met:
                    console.failure(Path(word), UserError("no entry has such a name", path=word))
    return console.finish("extracted")


def _chosen(stack: Stack, place: int, arguments: argparse.Namespace, met: set[str]) -> list[int]:
    """The live entries of one archive that are wanted; the words that found any are added to `met`."""
    archive = stack.archives[place]
    live = np.array([number for number in sorted(archive.live.values()) if stack.state(place, number) == "live"], int)
    if not arguments.only and arguments.find is None:
        return [int(number) for number in live]
    index = pak_search.NameIndex(archive.keys)
    mask = np.zeros(len(archive), bool)
    for word in arguments.only:
        _mark(mask, index.matching(word), live, word, met)
    if arguments.find is not None:
        _mark(mask, index.search(arguments.find), live, arguments.find, met)
    return [int(number) for number in live[mask[live]]]


def _mark(mask: np.ndarray, found: np.ndarray, live: np.ndarray, word: str, met: set[str]) -> None:
    found = np.intersect1d(found, live)
    mask[found] = True
    met.update([word] if len(found) else [])


def _extract(
    extraction: Extraction, archive: Archive, numbers: list[int], console: Console, progress: tuple[int, int]
) -> int:
    done, total = progress
    try:
        pak_check.require_readable(archive)
    except UserError as error:
        console.failure(archive.path or Path(), error)
        return done + len(numbers)
    for result in extraction.run(archive, numbers):
        done += 1
        console.progress(done, total, result.name)
        if result.error is not None:
            console.failure(archive.path or Path(), result.error)
            continue
        record = {
            "archive": str(archive.path),
            "result": "extracted",
            "name": result.name,
            "file": str(result.path),
            "bytes": result.size,
        }
        console.result(record, f"{result.name} -> {result.path}")
    return done
