# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of a table in bytes, and back: a u32 id, then a cell per column; texts make rows of any length."""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import FormatError
from .table import DTYPES, KINDS, TEXT, Cells, Rows, Texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .table import Table

ID_BYTES = 4
# Rows that are written at a time: indices of all bytes of their texts are in memory then.
_BLOCK = 1 << 14


@dataclass(frozen=True)
class Layout:
    """`gaps[k]` bytes lie before the length of text k, since the text before it; `rest` lie behind the last text."""

    kinds: tuple[int, ...]
    gaps: tuple[int, ...]
    rest: int

    @property
    def least(self) -> int:
        """Bytes of a row whose texts are all empty."""
        return sum(self.gaps) + 2 * len(self.gaps) + self.rest


def layout(kinds: Sequence[int]) -> Layout:
    """The layout of rows whose columns are of these cell types."""
    gaps: list[int] = []
    gap = ID_BYTES
    for kind in kinds:
        if kind == TEXT:
            gaps.append(gap)
            gap = 0
        else:
            gap += DTYPES[kind].itemsize
    return Layout(tuple(kinds), tuple(gaps), gap)


def unaligned(data: npt.NDArray[np.uint8], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A view of (bytes,) uint8 `data` whose item i is the `dtype` at byte i. Nothing is copied."""
    kind = np.dtype(dtype)
    count = max(len(data) - kind.itemsize + 1, 0)
    return np.ndarray((count,), kind, data, 0, (1,)) if count else np.zeros(0, kind)


def starts(data: npt.NDArray[np.uint8], first: int, count: int, rows: Layout) -> Rows:
    """The first byte of each of `count` rows from byte `first` on, and the byte behind the last: (count + 1,) int64.

    Raises `FormatError` where the file ends inside a row. `count` rows of the least size must fit.
    """
    if not rows.gaps:
        return first + rows.least * np.arange(count + 1, dtype=np.int64)
    # Where a row starts is known only when the lengths of all texts before it have been read, one after the other.
    # This visits the lengths alone, 60 ns each; following rows from many guessed places at once, with numpy, took
    # longer for every real table.
    length = struct.Struct("<H").unpack_from
    raw: Any = data  # a buffer, though the stubs of older Pythons do not know that
    found = array("q")
    at = first
    try:
        for _row in range(count):
            found.append(at)
            for gap in rows.gaps:
                at += gap
                at += 2 + length(raw, at)[0]
            at += rows.rest
    except struct.error:
        at = len(data) + 1
    if at > len(data):
        while found[-1] > len(data):
            found.pop()
        raise _cut_short(data, found[-1], len(found) - 1, rows)
    found.append(at)
    return np.frombuffer(found, np.int64)


def _cut_short(data: npt.NDArray[np.uint8], at: int, row: int, rows: Layout) -> FormatError:
    """What is wrong with the row at byte `at`, which goes past the end."""
    size = len(data)
    words = unaligned(data, "<u2")
    start, what, needs = at, "id", ID_BYTES
    for number, kind in enumerate((*rows.kinds, None)):
        if start + needs > size:
            break
        start += needs
        what, needs = f"column {number}", DTYPES[kind].itemsize if kind is not None else 0
        if kind == TEXT and start + 2 <= size:
            needs += int(words[start])
            what = f"text of column {number}"
    return FormatError(
        f"row {row} is cut short: its {what} does not fit into the file",
        offset=start,
        expected=f"{needs} bytes",
        found=f"{size - start} bytes before the end",
    )


def read(
    data: npt.NDArray[np.uint8], first: int, count: int, kinds: Sequence[int]
) -> tuple[npt.NDArray[np.uint32], list[Cells], int]:
    """The ids, the cells of every column, and the byte behind the rows; `data` is kept by the texts.

    Raises `FormatError` where the rows do not fit, before any memory is taken for them.
    """
    rows = layout(kinds)
    if count * rows.least > len(data) - first:
        raise FormatError(
            f"{count} rows do not fit into the file",
            offset=first,
            expected=f"at least {count * rows.least} bytes",
            found=f"{len(data) - first} bytes before the end",
        )
    found = starts(data, first, count, rows)
    views = {dtype: unaligned(data, dtype) for dtype in {np.dtype("<u4"), *DTYPES.values()}}
    at = found[:-1].copy()
    ids = views[np.dtype("<u4")][at]
    at += ID_BYTES
    cells: list[Cells] = []
    for kind in kinds:
        numbers = views[DTYPES[kind]][at] if count else np.zeros(0, DTYPES[kind])
        at += DTYPES[kind].itemsize
        if kind == TEXT:
            cells.append(Texts(data, at.copy(), numbers))
            at += numbers
        else:
            cells.append(numbers)
    return ids, cells, int(found[-1])


def write(table: Table) -> Iterator[bytes]:
    """The bytes of all rows, in parts of some thousand rows."""
    for first in range(0, len(table), _BLOCK):
        yield _written(table.take(slice(first, first + _BLOCK)))


def _written(table: Table) -> bytes:
    least = layout([column.kind for column in table.columns]).least
    sizes = np.full(len(table), least, np.int64)
    for column in table.columns:
        if isinstance(column.cells, Texts):
            sizes += column.cells.sizes
    ends = np.cumsum(sizes)
    out = np.zeros(int(ends[-1]), np.uint8)
    views = {dtype: unaligned(out, dtype) for dtype in {np.dtype("<u4"), *DTYPES.values()}}
    at = ends - sizes
    views[np.dtype("<u4")][at] = table.ids
    at += ID_BYTES
    for column in table.columns:
        view, size = views[DTYPES[column.kind]], DTYPES[column.kind].itemsize
        if isinstance(column.cells, Texts):
            view[at] = column.cells.sizes
            at += size
            source, target = column.cells.places(at)
            out[target] = column.cells.buffer[source]
            at += column.cells.sizes
        else:
            view[at] = column.cells
            at += size
    return out.tobytes()


def stacked(parts: Sequence[Cells], kind: int) -> Cells:
    """The cells of several stretches of a table as one column."""
    if kind != TEXT:
        whole: npt.NDArray[Any] = np.concatenate([np.zeros(0, DTYPES[kind]), *map(np.asarray, parts)])
        return whole
    texts = [part for part in parts if isinstance(part, Texts)]
    offsets = np.cumsum([0, *(len(part.buffer) for part in texts)]).tolist()
    return Texts(
        np.concatenate([np.zeros(0, np.uint8), *(part.buffer for part in texts)]),
        np.concatenate(
            [np.zeros(0, np.int64), *(part.starts + n for part, n in zip(texts, offsets[:-1], strict=True))]
        ),
        np.concatenate([np.zeros(0, np.uint16), *(part.sizes for part in texts)]),
    )


def named(kind: int) -> bool:
    """Whether a cell type is one that tables have."""
    return kind in KINDS
