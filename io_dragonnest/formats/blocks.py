# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Dragon Nest readers share: magic texts, versions, counts, length-prefixed strings."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import FormatError, UnsupportedError

if TYPE_CHECKING:
    from ...io_common.formats.reader import Reader

HEADER_BYTES = 1024
MAGIC_BYTES = 256


def require_magic(head: bytes | memoryview, magic: bytes, what: str) -> None:
    """Refuse a file whose first 256 bytes do not hold `magic`; the text behind it varies and means nothing."""
    if bytes(head[:4]) == b"DDS ":
        raise FormatError(f"this is a DDS texture and no {what}", offset=0)
    if magic not in bytes(head[:MAGIC_BYTES]):
        raise FormatError(
            f"this is no {what} of Dragon Nest", offset=0, expected=f'the words "{magic.decode()}" in its first bytes'
        )


def require_version(version: int, known: tuple[int, ...], what: str, offset: int) -> None:
    """Refuse a version that nobody has described, instead of guessing."""
    if version not in known:
        raise UnsupportedError(
            f"{what} version {version} is not known",
            offset=offset,
            expected=f"one of {', '.join(str(number) for number in known)}",
        )


def require_count(count: int, each: int, left: int, what: str, offset: int) -> int:
    """Refuse a count of `what` that is negative, or whose records of at least `each` bytes cannot be in the file."""
    if count < 0 or count * each > left:
        raise FormatError(
            f"the number of {what} cannot be right",
            offset=offset,
            expected=f"0 to {max(left, 0) // each}, as many as fit into the file",
            found=str(count),
        )
    return count


def count(reader: Reader, what: str, each: int) -> int:
    """An i32 count of records that take at least `each` bytes."""
    at = reader.offset
    return require_count(reader.integer("<i4", f"the number of {what}"), each, reader.left, what, at)


def lpstr(reader: Reader, what: str) -> bytes:
    """The raw bytes behind an i32 length, which counts the NUL; 0 is legal."""
    at = reader.offset
    size = reader.integer("<i4", f"the length of {what}")
    if size < 0 or size > reader.left:
        raise FormatError(
            f"the length of {what} cannot be right",
            offset=at,
            expected=f"0 to {reader.left} bytes",
            found=str(size),
        )
    return bytes(reader.take(size, what))


def put_lpstr(raw: bytes) -> bytes:
    """The inverse of `lpstr`."""
    return struct.pack("<i", len(raw)) + raw


def require_finite_rows(values: npt.NDArray[np.float32], base: int, what: str) -> None:
    """Refuse NaN and infinity in `values` (n, k), which lie without a gap from byte `base` on."""
    require_finite_strided(values, base, 4 * values.shape[1], what)


def require_finite_strided(values: npt.NDArray[np.float32], base: int, stride: int, what: str) -> None:
    """Refuse NaN and infinity in `values` (n, k); row i lies at byte `base + i * stride`."""
    if np.isfinite(values).all():
        return
    bad = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
    raise FormatError(
        f"{what} {bad} holds a number that is not finite",
        offset=base + bad * stride,
        expected="finite numbers",
        found=", ".join(str(float(value)) for value in values[bad][:4]),
    )


def wide(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """`values` as f64. A file may hold any bits, and some of those that are no number make numpy warn."""
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


def raw(table: npt.NDArray[Any], dtype: npt.DTypeLike) -> memoryview:
    """The bytes of `table` as `dtype`, without a copy where it is that already."""
    return np.ascontiguousarray(table, dtype).reshape(-1).view(np.uint8).data


def resized(raw_bytes: bytes, size: int) -> np.void:
    """`raw_bytes` for a field of `size` bytes: cut, or filled with NULs."""
    return np.void(raw_bytes[:size].ljust(size, b"\0"))
