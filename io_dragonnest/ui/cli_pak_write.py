# SPDX-License-Identifier: GPL-3.0-or-later
"""`pak pack` and `pak patch`."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...io_common.formats.errors import FileAccessError, UserError
from ...io_common.ui.cli_inputs import UsageError
from ..formats import pak, pak_search, pak_write
from ..formats.pak_plan import Outcome, rooted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from ...io_common.formats.registry import Format
    from ...io_common.ui.cli_output import Console
    from ...io_common.ui.command_line import AddParser, Subparsers
    from ..formats.pak_disk import Source

_PATCH = """Changes are appended, as the game's patcher does it: fast, and whatever interrupts it leaves the archive
with its old or with its new content. With --compact the archive is written anew without anything that is deleted,
shadowed or unused; a version 10 archive always is written anew. What does not change is copied as it is."""
_PACK = r"""Entries are called as the files below FOLDER: FOLDER/resource/char/a.msh becomes \resource\char\a.msh.
There must be no links below it."""


def add(actions: Subparsers, add_parser: AddParser) -> None:
    """Make the parsers."""
    parser = add_parser(actions, "pack", "make an archive of a folder", _PACK)
    parser.add_argument("folder", metavar="FOLDER", help="everything below it is packed")
    parser.add_argument("target", metavar="PAK", help="the archive to write")
    parser.add_argument("--below", default="", metavar="PATH", help="put this before every name: resource/char")
    parser.add_argument("--overwrite", action="store_true", help="replace the archive if it exists")
    parser.add_argument(
        "--pak-version", type=int, choices=pak.VERSIONS, default=11, help="version of the archive (default: 11)"
    )
    _add_level(parser)
    parser.set_defaults(run=pack)
    parser = add_parser(actions, "patch", "add, replace and delete entries of an archive", _PATCH)
    parser.add_argument("archive", metavar="PAK", help="the archive to change")
    parser.add_argument(
        "--add",
        nargs=2,
        action="append",
        default=[],
        metavar=("FILE", "NAME"),
        help="bring a file in under a name, in place of the entry of that name if there is one; may be repeated",
    )
    parser.add_argument("--folder", metavar="DIR", help="bring in everything below a folder, as `pak pack` names it")
    parser.add_argument("--below", default="", metavar="PATH", help="put this before the names of --folder")
    parser.add_argument(
        "--delete", action="append", default=[], metavar="NAME", help="delete an entry, or all that match a pattern"
    )
    parser.add_argument("--compact", action="store_true", help="write the archive anew, without what is of no use")
    parser.add_argument("--out", metavar="PAK", help="write the result there and leave the archive as it is")
    parser.add_argument("--overwrite", action="store_true", help="replace the archive of --out if it exists")
    _add_level(parser)
    parser.set_defaults(run=patch)


def _add_level(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--level",
        type=int,
        choices=range(1, 10),
        default=pak_write.LEVEL,
        metavar="1-9",
        help="how hard to compress (default: 1, as the game's own tool)",
    )


def pack(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `pak pack`; the exit code."""
    target = Path(arguments.target)
    try:
        if target.exists() and not arguments.overwrite:
            raise FileAccessError("the file exists already; --overwrite replaces it", path=target)
        sources = _below(Path(arguments.folder), arguments.below, target)
        outcome = pak_write.pack(
            target, sources, version=arguments.pak_version, level=arguments.level, progress=console.progress
        )
    except UserError as error:
        console.failure(target, error)
    else:
        _tell(console, outcome, "packed")
    return console.finish("packed")


def patch(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `pak patch`; the exit code."""
    path = Path(arguments.archive)
    out = Path(arguments.out) if arguments.out is not None else None
    if not (arguments.add or arguments.folder or arguments.delete or arguments.compact or out):
        raise UsageError("say what to change: --add, --folder, --delete or --compact")
    try:
        if out is not None and out.exists() and not arguments.overwrite:
            raise FileAccessError("the file exists already; --overwrite replaces it", path=out)
        changes: dict[str, Source | None] = dict.fromkeys(_deleted(path, arguments.delete))
        if arguments.folder is not None:
            changes |= _below(Path(arguments.folder), arguments.below, path)
        for file, name in arguments.add:
            if rooted(name) in changes:
                raise UsageError(f"{name} is named twice")
            changes[rooted(name)] = Path(file)
        outcome = pak_write.patch(
            path, changes, out=out, compact=arguments.compact, level=arguments.level, progress=console.progress
        )
    except UserError as error:
        console.failure(path, error)
    else:
        _tell(console, outcome, "patched")
    return console.finish("patched")


def _deleted(path: Path, patterns: Sequence[str]) -> Iterator[str]:
    """The live entries that `patterns` name."""
    if not patterns:
        return
    with pak.open_archive(path) as archive:
        live = set(archive.live.values())
        index = pak_search.NameIndex(archive.keys)
        for pattern in patterns:
            found = [number for number in index.matching(pattern).tolist() if number in live]
            if not found:
                raise UserError(f'there is no entry "{pattern}" to delete', path=path)
            yield from (archive.names[number] for number in found)


def _below(folder: Path, prefix: str, target: Path) -> dict[str, Source]:
    """Name of an entry -> file, for everything below `folder` but the archive itself, in the order of the names."""
    if not folder.is_dir():
        raise FileAccessError("this is no folder" if folder.exists() else "the folder does not exist", path=folder)
    start = rooted(f"{prefix.strip('/' + os.sep)}/x")[:-1]
    found: dict[str, Source] = {}

    def fail(error: OSError) -> None:
        raise FileAccessError(f"this folder cannot be read ({error.strerror})", path=error.filename) from error

    for place, folders, files in os.walk(folder, onerror=fail):
        folders.sort()
        for name in sorted([*files, *(entry for entry in folders if (Path(place) / entry).is_symlink())]):
            path = Path(place) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                raise FileAccessError("this is a link, which is not packed", path=path)
            if "\\" in name:
                raise FileAccessError("this name holds a backslash, which parts folders in an archive", path=path)
            if stat.S_ISREG(mode) and not (target.exists() and path.samefile(target)):
                found[start + "\\".join(path.relative_to(folder).parts)] = path
    if not found:
        raise FileAccessError("there is no file in this folder", path=folder)
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _tell(console: Console, outcome: Outcome, result: str) -> None:
    record: dict[str, Any] = {
        "file": str(outcome.path),
        "result": result,
        "added": outcome.added,
        "replaced": outcome.replaced,
        "deleted": outcome.deleted,
        "unchanged": outcome.unchanged,
        "bytes_before": outcome.size_before,
        "bytes": outcome.size_after,
    }
    counts = ", ".join(
        f"{len(names)} {title}"
        for title, names in (
            ("added", outcome.added),
            ("replaced", outcome.replaced),
            ("deleted", outcome.deleted),
            ("unchanged", outcome.unchanged),
        )
        if names
    )
    sizes = (
        f"{outcome.size_before} bytes became {outcome.size_after}"
        if outcome.size_before
        else f"{outcome.size_after} bytes"
    )
    console.result(record, f"{result} {outcome.path}: {counts or 'no entry changed'} ({sizes})")
