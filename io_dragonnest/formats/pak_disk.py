# SPDX-License-Identifier: GPL-3.0-or-later
"""The few things that are done to an archive on the disk, each in one place, so that each can be made to fail."""

from __future__ import annotations

import contextlib
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, FileAccessError, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Offsets and sizes are numbers of 32 bits.
MOST = (1 << 32) - 1
_STEP = 1 << 20
# Files up to here are compressed in one go, as the game's own tool does: the same bytes come of it.
_AT_ONCE = 1 << 24

Source = Path | bytes


class Output:
    """An unbuffered file that is written from `position` on."""

    def __init__(self, stream: BinaryIO, position: int = 0) -> None:
        """`stream` stands at `position`."""
        self.stream = stream
        self.position = position

    def write(self, data: bytes | memoryview) -> None:
        """Write all of `data`."""
        files.write_all(self.stream, data)
        self.position += len(data)

    def copy(self, source: BinaryIO, start: int, stop: int) -> None:
        """Write bytes `start` to `stop` of another file, by the system itself where it can; memory stays small."""
        while start < stop:
            done = _copied(source, self.stream, start, stop - start)
            if not done:
                raise FormatError("the archive became shorter while it was read", offset=start)
            start += done
            self.position += done

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        os.fsync(self.stream.fileno())

    def switch(self, at: int, data: bytes) -> None:
        """Write a few bytes at `at` by one call; they lie in one sector, of which a disk writes all or nothing."""
        self.stream.seek(at)
        files.write_all(self.stream, data)

    def cut(self, size: int) -> None:
        """Take back what was written behind `size`, as far as the system lets us: it is in nobody's way."""
        with contextlib.suppress(OSError):
            self.stream.truncate(size)


def _copied(source: BinaryIO, target: BinaryIO, start: int, count: int) -> int:
    call = getattr(os, "copy_file_range", None)
    if call is not None:
        # Not between all file systems: reading and writing says what is really wrong, if anything is.
        with contextlib.suppress(OSError):
            return int(call(source.fileno(), target.fileno(), min(count, 1 << 30), start))
    source.seek(start)
    data = source.read(min(count, _STEP))
    files.write_all(target, data)
    return len(data)


def deflated(source: Source, name: str, level: int, output: Output) -> tuple[int, int]:
    """Write `source` as a zlib stream; (stored, original) sizes. Raises `ExportError` beyond what an archive holds."""
    if isinstance(source, bytes):
        require_size(len(source), name)
        return _whole(source, level, output), len(source)
    size = file_size(source)
    require_size(size, name)
    if size <= _AT_ONCE:
        data = files.read_file(source)
        return _whole(data, level, output), len(data)
    return _streamed(source, name, level, output)


def _whole(data: bytes, level: int, output: Output) -> int:
    packed = zlib.compress(data, level)
    output.write(packed)
    return len(packed)


def _streamed(source: Path, name: str, level: int, output: Output) -> tuple[int, int]:
    start, original = output.position, 0
    encoder = zlib.compressobj(level)
    for piece in chunks(source):
        original += len(piece)
        require_size(original, name)
        output.write(encoder.compress(piece))
    output.write(encoder.flush())
    return output.position - start, original


def chunks(source: Path) -> Iterator[bytes]:
    """The content of a file in pieces."""
    with files.open_file(source) as stream:
        while True:
            try:
                piece = stream.read(_STEP)
            except OSError as error:
                raise FileAccessError(f"cannot be read ({error.strerror})", path=source) from error
            if not piece:
                return
            yield piece


def file_size(source: Path) -> int:
    """The size of a file in bytes."""
    return files.read_head(source, 0)[1]


def require_size(size: int, name: str) -> None:
    """Refuse content that no number of the index can measure."""
    if size > MOST:
        raise ExportError(f'"{name}" has more than 4 GiB, which no archive can hold')


def require_place(position: int, what: str) -> None:
    """Refuse to put `what` where no number of the index reaches."""
    if position > MOST:
        raise ExportError(
            f"{what} would lie beyond 4 GiB, which an archive cannot express; spread the files over several archives"
        )


def require_stored(stored: int, name: str) -> None:
    """Refuse a payload that no number of the index can measure."""
    if stored > MOST:
        raise ExportError(f'"{name}" takes more than 4 GiB, which no archive can hold')
