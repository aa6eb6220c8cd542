# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of the game as plain data: named columns of one type each, and a row per id. DNT and EXT hold the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DNT, EXT = "dnt", "ext"
TEXT, BOOL, INT, PERCENT, FLOAT, DOUBLE = range(1, 7)
# What people call the cell types.
KINDS = {TEXT: "text", BOOL: "bool", INT: "int", PERCENT: "percent", FLOAT: "float", DOUBLE: "double"}
KIND_NAMES = {name: kind for kind, name in KINDS.items()}
# The type of a cell in the file; of a text, of its length, which is unsigned.
DTYPES: dict[int, np.dtype[Any]] = {
    TEXT: np.dtype("<u2"),
    BOOL: np.dtype("<i4"),
    INT: np.dtype("<i4"),
    PERCENT: np.dtype("<f4"),
    FLOAT: np.dtype("<f4"),
    DOUBLE: np.dtype("<f8"),
}
TRAILER = b"\x05THEND"
LONGEST = 0xFFFF  # bytes of a text, and of a column's name in a DNT
NAME_FIELD = 64  # bytes of a column's name in an EXT, padded with NUL

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts as raw bytes. Text i is `buffer[starts[i] : starts[i] + sizes[i]]`.

    `buffer` is (bytes,) uint8, often the whole file, shared by all columns; `starts` (rows,) int64; `sizes` (rows,)
    uint16.
    """

    buffer: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, raws: Sequence[bytes]) -> Texts:
        """A column of these texts. `ExportError` for one that no table can hold."""
        sizes = np.fromiter(map(len, raws), np.int64, len(raws))
        if len(sizes) and sizes.max() > LONGEST:
            raise ExportError(f"a text takes {sizes.max()} bytes, more than the {LONGEST} that a table holds")
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(sizes) else np.zeros(0, np.int64)
        return cls(np.frombuffer(b"".join(raws), np.uint8), starts.astype(np.int64), sizes.astype(np.uint16))

    def __len__(self) -> int:
        """Rows."""
        return len(self.starts)

    def __getitem__(self, row: int) -> bytes:
        """The bytes of one text."""
        start = int(self.starts[row])
        return self.buffer[start : start + int(self.sizes[row])].tobytes()

    def take(self, rows: Rows | slice) -> Texts:
        """The texts of some rows, in that order; no text is copied."""
        return Texts(self.buffer, self.starts[rows], self.sizes[rows])

    def places(self, to: Rows) -> tuple[Rows, Rows]:
        """(from, to) byte indices that copy every text, text i to byte `to[i]`: two arrays of all bytes' number."""
        sizes = self.sizes.astype(np.int64)
        ends = np.cumsum(sizes)
        inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        return inside + np.repeat(self.starts, sizes), inside + np.repeat(to, sizes)

    def joined(self, separator: int) -> bytes:
        """All texts with the byte `separator` behind each."""
        ends = np.cumsum(self.sizes.astype(np.int64) + 1)
        out = np.full(ends[-1] if len(ends) else 0, separator, np.uint8)
        source, target = self.places(ends - 1 - self.sizes)
        out[target] = self.buffer[source]
        return out.tobytes()

    def changed(self, row: int, raw: bytes) -> Texts:
        """The column with another text in one row."""
        if len(raw) > LONGEST:
            raise ExportError(f"a text takes {len(raw)} bytes, more than the {LONGEST} that a table holds")
        starts, sizes = self.starts.copy(), self.sizes.copy()
        starts[row], sizes[row] = len(self.buffer), len(raw)
        return Texts(np.append(self.buffer, np.frombuffer(raw, np.uint8)), starts, sizes)

    def joined_with(self, other: Texts) -> Texts:
        """The rows of this column, then those of `other`."""
        return Texts(
            np.append(self.buffer, other.buffer),
            np.append(self.starts, other.starts + len(self.buffer)),
            np.append(self.sizes, other.sizes),
        )


Cells = npt.NDArray[Any] | Texts


@dataclass(frozen=True, eq=False)
class Column:
    """`name` is raw: in an EXT what stands in its field before the padding. `kind` is 1 to 6; `cells` fits to it.

    Cells are `Texts` or (rows,) int32, float32, float64, as `DTYPES` says; a bool may be any int32.
    """

    name: bytes
    kind: int
    cells: Cells


@dataclass(frozen=True, eq=False)
class Table:
    """A whole table.

    `ids` is (rows,) uint32 and need not be unique. `head` is the number at byte 0, whose meaning is not known: u16 in a
    DNT, i32 in an EXT. `skipped` are the bytes that a DNT has before its counts. `tail` is what stands behind the rows:
    the trailer and whatever follows it.
    """

    form: str
    ids: npt.NDArray[np.uint32]
    columns: tuple[Column, ...]
    head: int = 0
    skipped: bytes = b""
    tail: bytes = field(default=TRAILER)

    def __len__(self) -> int:
        """Rows."""
        return len(self.ids)

    def take(self, rows: Rows | slice) -> Table:
        """The table of some rows, in that order."""
        return self.rebuilt(self.ids[rows], [taken(column.cells, rows) for column in self.columns])

    def rebuilt(self, ids: npt.NDArray[np.uint32], cells: Iterable[Cells]) -> Table:
        """The table with other rows: new ids, and new cells for every column."""
        columns = tuple(replace(column, cells=new) for column, new in zip(self.columns, cells, strict=True))
        return replace(self, ids=ids, columns=columns)


def taken(cells: Cells, rows: Rows | slice) -> Cells:
    """The cells of some rows."""
    return cells.take(rows) if isinstance(cells, Texts) else cells[rows]


def appended(cells: Cells, more: Cells) -> Cells:
    """Cells of one type behind one another."""
    if isinstance(cells, Texts) and isinstance(more, Texts):
        return cells.joined_with(more)
    joined: npt.NDArray[Any] = np.concatenate([np.asarray(cells), np.asarray(more)])
    return joined


def duplicates(ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The ids that more than one row has, sorted, each once."""
    values, counts = np.unique(ids, return_counts=True)
    return values[counts > 1]
