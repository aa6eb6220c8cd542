# SPDX-License-Identifier: GPL-3.0-or-later
"""What an archive holds, by its index: read once, then kept in a file of the user's folder until the archive changes.

A kept listing is a line of JSON (path, size and time of the archive), a CRC-32, and arrays. It is only a copy: one that
is damaged, of another version or about an archive that has changed is read from the archive again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, FormatError, UserError
from . import pak, pak_names

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from .pak import Archive

SUFFIX = ".index"
_MAGIC = b"Dragon Nest archive index 1\n"
_SIZES = struct.Struct("<5I")  # checksum of the rest, bytes of the JSON, entries, bytes of the names, zero
_FIELDS = (("stored", "<u4"), ("original", "<u4"), ("states", "u1"))


@dataclass(frozen=True)
class Stamp:
    """What tells a changed archive: its size in bytes, the time of its last change in nanoseconds."""

    size: int
    time: int


def stamp_of(path: Path) -> Stamp:
    """The stamp of the archive at `path`. Raises `FileAccessError` where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise FileAccessError("the archive does not exist any more", path=path) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FileAccessError(f"cannot be read ({getattr(error, 'strerror', None) or error})", path=path) from error
    return Stamp(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, eq=False)
class Listing:
    """The entries of one archive. `names` as they are there; `stored` and `original` u4 (n,), bytes; `states` u1 (n,).

    `states` are those of `pak.State`: what the archive alone says.
    """

    path: Path
    stamp: Stamp
    names: list[str]
    stored: npt.NDArray[np.uint32]
    original: npt.NDArray[np.uint32]
    states: npt.NDArray[np.uint8]

    @cached_property
    def keys(self) -> list[str]:
        """The names as they are compared."""
        return pak_names.keys(self.names)

    def __len__(self) -> int:
        return len(self.names)


def listing_of(archive: Archive, path: Path, stamp: Stamp) -> Listing:
    """The listing of an open archive."""
    index = archive.index
    return Listing(path, stamp, archive.names, index["stored"].copy(), index["original"].copy(), archive.states)


def load(path: Path, folder: Path | None = None) -> Listing:
    """The listing of the archive at `path`: the one kept in `folder`, else a new one, which is then kept there.

    Raises `UserError` where the archive is missing or cannot be read. Nothing is raised for a `folder` that cannot be
    written: then every session reads anew.
    """
    stamp = stamp_of(path)
    if folder is None:
        return _read(path, stamp)
    kept = _kept(folder, path)
    with contextlib.suppress(UserError):
        return decode(files.read_file(kept), path, stamp)
    found = _read(path, stamp)
    with contextlib.suppress(UserError, OSError):
        folder.mkdir(parents=True, exist_ok=True)
        files.save(kept, encode(found))
    return found


def forget(path: Path, folder: Path) -> None:
    """Remove what is kept of the archive at `path`."""
    with contextlib.suppress(OSError):
        _kept(folder, path).unlink(missing_ok=True)


def _kept(folder: Path, path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    return folder / f"{name}{SUFFIX}"


def _read(path: Path, stamp: Stamp) -> Listing:
    with pak.open_archive(path) as archive:
        return listing_of(archive, path, stamp)


def encode(found: Listing) -> bytes:
    """A listing as bytes."""
    about = json.dumps({"path": str(found.path), "size": found.stamp.size, "time": found.stamp.time}).encode()
    names = "\0".join(found.names).encode()
    arrays = [np.ascontiguousarray(getattr(found, name), kind).tobytes() for name, kind in _FIELDS]
    body = b"".join([about, names, *arrays])
    head = _SIZES.pack(0, len(about), len(found), len(names), 0)[4:]
    return _MAGIC + struct.pack("<I", zlib.crc32(body, zlib.crc32(head))) + head + body


def decode(data: bytes, path: Path, stamp: Stamp) -> Listing:
    """The listing that `encode` made of the archive at `path`. Raises `FormatError` if that has changed since."""
    start = len(_MAGIC) + _SIZES.size
    if not data.startswith(_MAGIC) or len(data) < start:
        raise FormatError("this is no index of this version", path=path)
    checksum, about_size, count, names_size, _zero = _SIZES.unpack_from(data, len(_MAGIC))
    if zlib.crc32(memoryview(data)[len(_MAGIC) + 4 :]) != checksum:
        raise FormatError("the index is damaged", path=path)
    about: dict[str, Any] = json.loads(data[start : start + about_size])
    if (about["path"], about["size"], about["time"]) != (str(path), stamp.size, stamp.time):
        raise FormatError("the index is about another state of the archive", path=path)
    place = start + about_size
    names = data[place : place + names_size].decode().split("\0") if count else []
    place += names_size
    arrays = {}
    for name, kind in _FIELDS:
        arrays[name] = np.frombuffer(data, kind, count, place)
        place += arrays[name].nbytes
    return Listing(path, stamp, names, **arrays)
