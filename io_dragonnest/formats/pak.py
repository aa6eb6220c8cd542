# SPDX-License-Identifier: GPL-3.0-or-later
"""PAK archives, versions 10 and 11, read through a memory map: only what is asked for is read, entries when wanted.

A header of 1024 bytes (the counts stand at byte 256), payloads, an index of 316 bytes per entry. Version 11 says where
the index is; in version 10 it is the end of the file. All numbers are little-endian.
"""

from __future__ import annotations

import contextlib
import enum
import mmap
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, FormatError, UnsupportedError, UserError
from . import names, pak_inflate, pak_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

MAGIC = b"EyedentityGames Packing File"
MAGIC_FIELD = b"EyedentityGames Packing File 0.1".ljust(256, b"\0")
VERSIONS = (10, 11)
HEADER_SIZE = 1024
HEADER = np.dtype(
    [
        ("magic", "V256"),
        ("version", "<i4"),
        ("count", "<i4"),
        ("index_offset", "<u4"),  # version 11; of no meaning in version 10
        ("unfinished", "u1"),  # the game refuses an archive of version 11 where this is 1
        ("pad", "V3"),
        ("reserved", "V752"),
    ]
)
ENTRY = np.dtype(
    [
        ("name", names.FIELD_DTYPE),
        ("stored", "<u4"),  # bytes of the payload; 0: the entry is deleted
        ("original", "<u4"),  # bytes it inflates to
        ("allocated", "<u4"),  # bytes reserved for the payload; not to be relied on
        ("offset", "<u4"),
        ("seed", "<u4"),
        ("checksum", "<u4"),  # always 0
        ("reserved", "V36"),
    ]
)
# The largest archives have some ten thousand entries; more than this is a lie that would only cost memory.
MOST_ENTRIES = 1 << 20
MOST_BYTES = 1 << 30  # of one entry in memory


class State(enum.IntEnum):
    """What an entry is good for: only live ones are files; a later live one of the same name shadows an earlier one."""

    LIVE = 0
    DELETED = 1
    SHADOWED = 2


def sniff(head: bytes, _size: int) -> bool:
    """Whether the content can be an archive."""
    return head.startswith(MAGIC)


def open_archive(path: str | Path) -> Archive:
    """Map the archive at `path`; nothing but its header and index is read. To be closed, or used by `with`."""
    target = Path(path)
    with files.open_file(target) as stream:
        try:
            # An empty file cannot be mapped.
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if stream.read(1) else b""
        except (OSError, ValueError, OverflowError) as error:
            raise FileAccessError(f"cannot be mapped into memory ({error})", path=target) from error
    try:
        return Archive(data, target)
    except UserError as error:
        if isinstance(data, mmap.mmap):
            data.close()
        raise error.at(target) from error


def read(data: bytes) -> Archive:
    """An archive in memory."""
    return Archive(data)


class Archive:
    """An open archive. Entries are called by their number in the index, which is the order of the file.

    `index` is a read-only (n,) array of `ENTRY`, `header` a record of `HEADER`; both outlive `close`.
    """

    def __init__(self, data: bytes | mmap.mmap, path: Path | None = None) -> None:
        """`data` is the whole archive. Raises `FormatError` where there is no index that can be read."""
        self.path = path
        self.size = len(data)
        self._data = data
        self._closed = False
        self.header = _read_header(data)
        self.version = int(self.header["version"])
        self.index_offset = _index_offset(self.header, self.size)
        raw = data[self.index_offset : self.index_offset + ENTRY.itemsize * int(self.header["count"])]
        self.index: npt.NDArray[Any] = np.frombuffer(raw, ENTRY)
        self._require_index()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.index)

    def close(self) -> None:
        """Let go of the file; entries can be read no more. A payload that is still held keeps the map alive."""
        data, self._data, self._closed = self._data, b"", True
        if isinstance(data, mmap.mmap):
            with contextlib.suppress(BufferError):
                data.close()

    @property
    def unfinished(self) -> bool:
        """Whether the header says that the archive was never finished: the game refuses it, it is read all the same."""
        return int(self.header["unfinished"]) == 1

    @cached_property
    def names(self) -> list[str]:
        """The name of every entry, as it stands there."""
        return pak_names.texts(self.index["name"])

    @cached_property
    def keys(self) -> list[str]:
        """The names as they are compared."""
        return pak_names.keys(self.names)

    @cached_property
    def live(self) -> dict[str, int]:
        """Key of a name -> the entry that is its file: the last one that is not deleted."""
        kept = np.flatnonzero(self.index["stored"]).tolist()
        return dict(zip(map(self.keys.__getitem__, kept), kept, strict=True))

    @cached_property
    def states(self) -> npt.NDArray[np.uint8]:
        """The `State` of every entry, (n,)."""
        states = np.full(len(self), State.SHADOWED, np.uint8)
        states[self.index["stored"] == 0] = State.DELETED
        states[np.fromiter(self.live.values(), np.int64, len(self.live))] = State.LIVE
        return states

    @cached_property
    def outside(self) -> npt.NDArray[np.bool_]:
        """Which payloads do not lie inside the file, behind the header, (n,)."""
        return _outside(self.index, self.size)

    def state(self, number: int) -> State:
        """What entry `number` is good for."""
        return State(int(self.states[number]))

    def find(self, name: str) -> int | None:
        r"""The live entry called `name`, in either case, with `/` or `\`; None where there is none."""
        return self.live.get(pak_names.key(name))

    def payload(self, number: int) -> memoryview:
        """The bytes of an entry as they are stored, a view on the map."""
        if self._closed:
            raise ValueError("the archive is closed")
        entry = self.index[number]
        if not entry["stored"]:
            raise self._located(FormatError(f"{self._called(number)} is deleted"))
        start, stored = int(entry["offset"]), int(entry["stored"])
        if self.outside[number]:
            raise self._located(
                FormatError(
                    f"{self._called(number)} does not lie inside the file: it is cut off, or the index is wrong",
                    offset=start,
                    expected=f"{stored} bytes between byte {HEADER_SIZE} and the end",
                    found=f"an end of the file at byte {self.size}",
                )
            )
        return memoryview(self._data)[start : start + stored]

    def read(self, number: int, limit: int = MOST_BYTES) -> bytes:
        """The content of an entry. Raises `UserError` for more than `limit` bytes, for damage, for encryption."""
        self._require_limit(number, limit)
        original, offset = int(self.index["original"][number]), int(self.index["offset"][number])
        try:
            return pak_inflate.inflate(self.payload(number), original, self._called(number), offset)
        except UserError as error:
            raise self._located(error) from error

    def stream(self, number: int, chunk: int = 1 << 20, limit: int | None = None) -> Iterator[bytes]:
        """As `read`, in pieces of at most `chunk` bytes: memory does not depend on the size of the entry."""
        if limit is not None:
            self._require_limit(number, limit)
        original, offset = int(self.index["original"][number]), int(self.index["offset"][number])
        try:
            yield from pak_inflate.pieces(self.payload(number), original, self._called(number), offset, chunk)
        except UserError as error:
            raise self._located(error) from error

    def raw(self, start: int, stop: int) -> memoryview:
        """Bytes of the file as they are."""
        return memoryview(self._data)[start:stop]

    def _require_limit(self, number: int, limit: int) -> None:
        original = int(self.index["original"][number])
        if original > limit:
            raise self._located(
                UserError(f"{self._called(number)} has {original} bytes, more than the {limit} that are allowed")
            )

    def _require_index(self) -> None:
        """Refuse an index that is none: most of its entries lie nowhere. A few wrong ones spoil only themselves."""
        kept = self.index["stored"] != 0
        wrong = int(np.count_nonzero(self.outside & kept))
        if wrong * 2 > max(int(np.count_nonzero(kept)), 1):
            raise FormatError(
                f"this is no index: {wrong} of its {len(self)} entries do not lie inside the file; "
                "the archive is cut off or was not finished",
                offset=self.index_offset,
            )

    def _called(self, number: int) -> str:
        return f'the entry "{pak_names.text(bytes(self.index["name"][number]))}"'

    def _located(self, error: UserError) -> UserError:
        return error if self.path is None else error.at(self.path)


def _outside(index: npt.NDArray[Any], size: int) -> npt.NDArray[np.bool_]:
    start = index["offset"].astype(np.int64)
    found: npt.NDArray[np.bool_] = (index["stored"] != 0) & (
        (start < HEADER_SIZE) | (start + index["stored"].astype(np.int64) > size)
    )
    return found


def _read_header(data: bytes | mmap.mmap) -> Any:
    head = data[:HEADER_SIZE]
    if not head.startswith(MAGIC):
        raise FormatError("this is no PAK archive", offset=0, expected=f'"{MAGIC.decode()}"')
    if len(head) < HEADER_SIZE:
        raise FormatError(
            "the archive is cut off in its header", expected=f"{HEADER_SIZE} bytes", found=f"{len(head)} bytes"
        )
    return np.frombuffer(head, HEADER)[0]


def _index_offset(header: Any, size: int) -> int:
    """Where the index starts; refuses versions that are not known, and an index that is not there."""
    version, count = int(header["version"]), int(header["count"])
    if version not in VERSIONS:
        known = "which some private servers use with a key of their own" if version == 12 else "which is not known"
        raise UnsupportedError(
            f"this is an archive of version {version}, {known}; not supported", offset=256, expected="version 10 or 11"
        )
    if not 0 <= count <= MOST_ENTRIES:
        raise FormatError(
            "the number of entries cannot be", offset=260, expected=f"0 to {MOST_ENTRIES}", found=str(count)
        )
    length = count * ENTRY.itemsize
    start = int(header["index_offset"]) if version == 11 else size - length
    if not count:
        return min(max(start, HEADER_SIZE), size)
    if start < HEADER_SIZE or start + length > size:
        raise FormatError(
            "the index does not lie inside the file: the archive is cut off or was not finished",
            offset=264 if version == 11 else 260,
            expected=f"{length} bytes of index from byte {start} on" if version == 11 else f"{length} bytes of index",
            found=f"an end of the file at byte {size}",
        )
    return start
