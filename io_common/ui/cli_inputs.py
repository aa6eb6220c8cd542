# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the words of a command line mean, and where their results go."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..formats.errors import FileAccessError, UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ..formats.registry import Format


class UsageError(Exception):
    """The words of the command line do not fit together."""


@dataclass(frozen=True)
class Source:
    """A file to work on. `below` is its path inside the folder or pattern it was found by."""

    path: Path
    below: Path


def extensions_of(formats: Iterable[Format]) -> set[str]:
    """The extensions by which files are looked for in folders."""
    return {extension for entry in formats for extension in entry.extensions}


def expand(words: Sequence[str], extensions: Collection[str]) -> tuple[list[Source], list[FileAccessError]]:
    """The files that `words` name, each once, and what cannot be found.

    A word is a file, a folder (all files below it with one of `extensions`, in any letter case) or a glob pattern,
    which Windows' shells do not expand; `**` is any depth.
    """
    sources: list[Source] = []
    missing: list[FileAccessError] = []
    seen: set[Path] = set()
    for word in words:
        found = list(_named(word, extensions))
        if not found:
            missing.append(_nothing(word))
        for source in found:
            real = source.path.resolve()
            if real not in seen:
                seen.add(real)
                sources.append(source)
    return sources, missing


def _named(word: str, extensions: Collection[str]) -> Iterator[Source]:
    path = Path(word)
    # A file may well be named "tree[1].3df": what exists is not a pattern.
    if path.is_dir():
        yield from _inside(path, path, extensions)
    elif path.exists() or not glob.has_magic(word):
        if path.exists():
            yield Source(path, Path(path.name))
    else:
        root = _root(word)
        for match in sorted(glob.glob(word, recursive=True)):  # noqa: PTH207  (Path.glob takes no absolute pattern)
            hit = Path(match)
            if hit.is_dir():
                # "**" matches folders too, whose files it matches itself.
                if "**" not in word:
                    yield from _inside(hit, root, extensions)
            else:
                yield Source(hit, _below(hit, root))


def _inside(folder: Path, root: Path, extensions: Collection[str]) -> Iterator[Source]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if Path(name).suffix.lower() in extensions:
                hit = Path(place) / name
                yield Source(hit, _below(hit, root))


def _root(pattern: str) -> Path:
    """The folder that a pattern starts from: its parts before the first wild card."""
    parts = Path(pattern).parts
    plain = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:plain])


def _below(path: Path, root: Path) -> Path:
    below = path.relative_to(root)
    return Path(path.name) if ".." in below.parts else below


def _nothing(word: str) -> FileAccessError:
    if Path(word).is_dir():
        return FileAccessError("there is no model file in this folder", path=word)
    if glob.has_magic(word):
        return FileAccessError("no file matches this pattern", path=word)
    return FileAccessError("the file does not exist", path=word)


def place(source: Source, folder: Path, suffix: str) -> Path:
    """Where the result of `source` goes: the same place below `folder`. Never outside of it, links followed."""
    target = folder / source.below.with_suffix(suffix)
    if not target.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"its result would lie outside of the folder {folder}", path=source.path)
    return target
