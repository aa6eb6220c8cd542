# SPDX-License-Identifier: GPL-3.0-or-later
"""What two tables differ in: rows by their ids, and cells by the names of the columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .table import KINDS, Table, Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import Cells, Rows

# Rows whose texts are compared at a time.
_BLOCK = 1 << 14


@dataclass(frozen=True)
class Changed:
    """Cells of one column that differ: column of the old and of the new table, and their rows, (cells,) each."""

    old_column: int
    new_column: int
    old_rows: Rows
    new_rows: Rows


@dataclass(frozen=True)
class Difference:
    """Two tables against each other. Rows and columns are numbers in the old (`removed`) or new (`added`) table.

    `facts` are sentences about everything else: format, types of columns, bytes before and behind the rows, order.
    """

    removed: Rows
    added: Rows
    changed: list[Changed]
    removed_columns: list[int]
    added_columns: list[int]
    facts: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anything differs."""
        rows = len(self.removed) or len(self.added) or self.changed
        return bool(rows or self.removed_columns or self.added_columns or self.facts)


def compare(old: Table, new: Table) -> Difference:
    """What became of `old` in `new`. Of several rows with one id, the first belongs to the first, and so on."""
    old_keys, new_keys = _keys(old.ids), _keys(new.ids)
    _both, old_rows, new_rows = np.intersect1d(old_keys, new_keys, assume_unique=True, return_indices=True)
    order = np.argsort(old_rows, kind="stable")
    old_rows, new_rows = old_rows[order], new_rows[order]
    pairs, removed, added = _columns(old, new)
    changed: list[Changed] = []
    facts = _facts(old, new)
    for before, after in pairs:
        kinds = old.columns[before].kind, new.columns[after].kind
        if kinds[0] != kinds[1]:
            name = old.columns[before].name.decode("ascii", "backslashreplace")
            facts.append(f"column {name} was {KINDS[kinds[0]]} and is {KINDS[kinds[1]]}")
            continue
        differs = _differs(old.columns[before].cells, new.columns[after].cells, old_rows, new_rows)
        if differs.any():
            changed.append(Changed(before, after, old_rows[differs], new_rows[differs]))
    if (np.diff(new_rows) < 0).any():
        facts.append("rows that both have stand in another order")
    lost = np.setdiff1d(np.arange(len(old)), old_rows)
    gained = np.setdiff1d(np.arange(len(new)), new_rows)
    return Difference(lost, gained, changed, removed, added, facts)


def _keys(ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """A different number for every row: its id, and how many rows before it have the same."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ids) else np.zeros(0, np.int64)
    place = np.arange(len(ids)) - np.repeat(begins, np.diff(np.append(begins, len(ids))))
    keys = np.zeros(len(ids), np.uint64)
    keys[order] = (ordered.astype(np.uint64) << np.uint64(32)) | place.astype(np.uint64)
    return keys


def _columns(old: Table, new: Table) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Columns of one name in both, the first with the first; those of the old table alone, of the new alone."""
    before, after = _named(old), _named(new)
    pairs = [(number, after[key]) for key, number in before.items() if key in after]
    removed = [number for key, number in before.items() if key not in after]
    return pairs, removed, [number for key, number in after.items() if key not in before]


def _named(table: Table) -> dict[tuple[bytes, int], int]:
    seen: dict[bytes, int] = {}
    found = {}
    for number, column in enumerate(table.columns):
        place = seen[column.name] = seen.get(column.name, -1) + 1
        found[column.name, place] = number
    return found


def _facts(old: Table, new: Table) -> list[str]:
    found = []
    for what, before, after in (
        ("format", old.form.upper(), new.form.upper()),
        ("first number of the header", old.head, new.head),
        ("block of skipped bytes", old.skipped.hex(" ", 4), new.skipped.hex(" ", 4)),
        ("bytes behind the rows", old.tail.hex(" ", 4), new.tail.hex(" ", 4)),
    ):
        if before != after:
            found.append(f"the {what} was {_short(before)} and is {_short(after)}")
    return found


def _short(value: Any) -> str:
    text = str(value)
    return (text[:40] + "..." if len(text) > 43 else text) or "empty"


def _differs(old: Cells, new: Cells, old_rows: Rows, new_rows: Rows) -> npt.NDArray[np.bool_]:
    """Whether the cells of two columns differ, to the bit, at pairs of rows."""
    if isinstance(old, Texts) and isinstance(new, Texts):
        parts = range(0, len(old_rows), _BLOCK)
        found = [_texts_differ(old.take(old_rows[n : n + _BLOCK]), new.take(new_rows[n : n + _BLOCK])) for n in parts]
        return np.concatenate(found or [np.zeros(0, bool)])
    bits = f"<u{old.dtype.itemsize}"  # type: ignore[union-attr]
    before = np.ascontiguousarray(old[old_rows]).view(bits)  # type: ignore[index]
    after = np.ascontiguousarray(new[new_rows]).view(bits)  # type: ignore[index]
    return np.asarray(before != after, bool)


def _texts_differ(old: Texts, new: Texts) -> npt.NDArray[np.bool_]:
    differs = old.sizes != new.sizes
    same = np.flatnonzero(~differs)
    before, after = old.take(same), new.take(same)
    sizes = before.sizes.astype(np.int64)
    ends = np.cumsum(sizes)
    source, _ = before.places(ends - sizes)
    target, _ = after.places(ends - sizes)
    wrong = np.concatenate(([0], np.cumsum(before.buffer[source] != after.buffer[target])))
    differs[same] = wrong[ends] > wrong[ends - sizes]
    return np.asarray(differs, bool)


def ids(table: Table, rows: Sequence[int] | Rows) -> list[int]:
    """The ids of some rows."""
    return table.ids[np.asarray(rows, np.int64)].tolist()  # type: ignore[no-any-return]
