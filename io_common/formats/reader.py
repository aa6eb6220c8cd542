# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds-checked reading of binary data.

Every count is checked against the bytes that are left *before* anything is allocated, so a lying header costs nothing.
Arrays are views on the input (read-only, no copy).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import FormatError


class Reader:
    """A cursor over `data`; `offset` is the next byte. Raises `FormatError` with the offset of the failed read."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        """`data` is kept alive by the arrays that are handed out."""
        self.data = memoryview(data).cast("B")
        self.offset = 0

    @property
    def left(self) -> int:
        """Bytes that have not been read yet."""
        return len(self.data) - self.offset

    def take(self, size: int, what: str) -> memoryview:
        """The next `size` bytes; `what` names them in the error."""
        if size < 0 or size > self.left:
            raise FormatError(
                f"{what} does not fit into the file",
                offset=self.offset,
                expected=f"{size} bytes",
                found=f"{self.left} bytes before the end",
            )
        start = self.offset
        self.offset += size
        return self.data[start : self.offset]

    def array(self, dtype: npt.DTypeLike, count: int, what: str) -> npt.NDArray[Any]:
        """`count` items of `dtype` as a read-only (count,) view."""
        kind = np.dtype(dtype)
        if count < 0 or count * kind.itemsize > self.left:
            raise FormatError(
                f"the {what} do not fit into the file",
                offset=self.offset,
                expected=f"{count} of {kind.itemsize} bytes each",
                found=f"{self.left} bytes before the end",
            )
        view = np.frombuffer(self.data, dtype=kind, count=count, offset=self.offset)
        self.offset += count * kind.itemsize
        return view

    def integer(self, dtype: npt.DTypeLike, what: str) -> int:
        """One number of the integer type `dtype` ("<u4", "<i2" …)."""
        kind = np.dtype(dtype)
        return int(np.frombuffer(self.take(kind.itemsize, what), dtype=kind)[0])

    def end(self, what: str) -> None:
        """Nothing may be left after `what`."""
        if self.left:
            raise FormatError(
                f"{self.left} {'byte is' if self.left == 1 else 'bytes are'} left over after {what}",
                offset=self.offset,
                expected="the end of the file",
            )


def require_finite(values: npt.NDArray[np.float32], base: int, stride: int, what: str) -> None:
    """Refuse NaN and infinity in `values` (n, k); item i lies at byte `base + i * stride`.

    Blender draws nothing, or hangs in its bounds computation, when a mesh holds one.
    """
    if np.isfinite(values).all():
        return
    bad = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
    raise FormatError(
        f"{what} {bad} has a coordinate that is not a finite number",
        offset=base + bad * stride,
        expected="three finite numbers",
        found=", ".join(str(float(v)) for v in values[bad]),
    )
