# SPDX-License-Identifier: GPL-3.0-or-later
"""Extracting entries into a folder, from archives that are trusted in nothing.

Nothing is written outside of the folder: names that lead out of it are refused, links inside of it are not followed.
What is refused is refused alone; the rest is extracted.
"""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, UserError
from . import pak_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from .pak import Archive

ENTRY_LIMIT = 1 << 30  # bytes of one file
TOTAL_LIMIT = 1 << 36  # bytes of one extraction
# Up to here a file is inflated in memory and written by one call.
_AT_ONCE = 1 << 22
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_REPARSE_POINT = 0x400  # what Windows calls links of every kind


@dataclass(frozen=True)
class Extracted:
    """What became of one entry: the file it is in now, or why it is in none."""

    number: int
    name: str
    path: Path | None = None
    size: int = 0
    error: UserError | None = None


@dataclass
class Extraction:
    """One extraction into `folder`, which is made if need be; of several archives, if need be.

    Files that exist are kept, unless `overwrite`; `flat` leaves the folders of the names away.
    """

    folder: Path
    overwrite: bool = False
    flat: bool = False
    entry_limit: int = ENTRY_LIMIT
    total_limit: int = TOTAL_LIMIT
    total: int = 0
    # What file systems without regard to case make of a path -> the path as it is spelt here, and the entry's name.
    _files: dict[tuple[str, ...], str] = field(default_factory=dict, repr=False)
    _folders: dict[tuple[str, ...], Path] = field(default_factory=dict, repr=False)
    _ready: bool = field(default=False, repr=False)

    def run(self, archive: Archive, numbers: Iterable[int]) -> Iterator[Extracted]:
        """Extract entries, one after the other, as the results are asked for."""
        for number in numbers:
            name = archive.names[number]
            try:
                path, size = self._one(archive, number, name)
            except UserError as error:
                yield Extracted(number, name, error=error)
            else:
                yield Extracted(number, name, path, size)

    def _one(self, archive: Archive, number: int, name: str) -> tuple[Path, int]:
        parts = pak_names.safe_parts(name)
        parts = parts[-1:] if self.flat else parts
        size = int(archive.index["original"][number])
        if size > self.entry_limit:
            raise UserError(
                f'the entry "{name}" has {size} bytes, more than the limit of {self.entry_limit} for one file'
            )
        if self.total + size > self.total_limit:
            raise UserError(
                f'the entry "{name}" would bring the total to {self.total + size} bytes, '
                f"more than the limit of {self.total_limit}"
            )
        folded = _folded(parts)
        taken = self._files.setdefault(folded, name)
        if taken is not name:
            raise UserError(
                f'the entry "{name}" would be the same file as "{taken}" where the case of letters does not count'
            )
        path = self._parent(parts[:-1]) / parts[-1]
        try:
            _write(path, _content(archive, number, size), overwrite=self.overwrite)
        except OSError as error:
            raise FileAccessError(f"cannot be written ({error.strerror or error})", path=path) from error
        self.total += size
        return path, size

    def _parent(self, parts: tuple[str, ...]) -> Path:
        """The folder for `parts`, made if need be; no part of it is a link. The chosen folder itself may be one."""
        if not self._ready:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                reason = error.strerror or str(error)
                raise FileAccessError(f"this folder cannot be made ({reason})", path=self.folder) from error
            self._ready = True
        if not parts:
            return self.folder
        folded = _folded(parts)
        known = self._folders.get(folded)
        if known is None:
            known = self._parent(parts[:-1]) / parts[-1]
            _make_folder(known)
            self._folders[folded] = known
        return known


def _folded(parts: tuple[str, ...]) -> tuple[str, ...]:
    """What two paths have in common that some file system takes for one."""
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in parts)


def _make_folder(path: Path) -> None:
    try:
        with contextlib.suppress(FileExistsError):
            path.mkdir()
        found = path.lstat()
    except OSError as error:
        raise FileAccessError(f"this folder cannot be made ({error.strerror or error})", path=path) from error
    if _is_link(found):
        raise FileAccessError("this folder is a link, which is not followed", path=path)
    if not stat.S_ISDIR(found.st_mode):
        raise FileAccessError("this is a file, expected a folder", path=path)


def _is_link(found: os.stat_result) -> bool:
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_file_attributes", 0) & _REPARSE_POINT)


def _content(archive: Archive, number: int, size: int) -> Iterator[bytes]:
    if size <= _AT_ONCE:
        yield archive.read(number, size)
    else:
        yield from archive.stream(number)


def _write(path: Path, pieces: Iterator[bytes], *, overwrite: bool) -> None:
    """Write a file that is not there yet, or may be replaced; whatever fails leaves none, or the old one."""
    try:
        with _new(path) as stream:
            for piece in pieces:
                files.write_all(stream, piece)
    except FileExistsError:
        _require_replaceable(path, overwrite=overwrite)
    else:
        return
    with files.replacing(path) as stream:
        for piece in pieces:
            files.write_all(stream, piece)


def _require_replaceable(path: Path, *, overwrite: bool) -> None:
    """Refuse to replace what is at `path`, unless it is a file that may be replaced."""
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode):
        raise FileAccessError("this is a folder, expected a file name to write to", path=path)
    if not overwrite:
        raise FileAccessError("the file exists already and is kept unless overwriting is asked for", path=path)
    if _is_link(found):
        raise FileAccessError("this is a link, which is not followed", path=path)


@contextlib.contextmanager
def _new(path: Path) -> Iterator[BinaryIO]:
    """A file that was not there before, and is not there if anything is raised."""
    descriptor = os.open(path, _NEW, 0o666)
    done = False
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            yield stream
        done = True
    finally:
        if not done:
            with contextlib.suppress(OSError):
                path.unlink()
