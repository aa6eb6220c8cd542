# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of a table by their ids: finding, changing, adding, deleting. Rows and columns count from 0."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import UserError
from . import table_encoding, table_numbers
from .table import KINDS, TEXT, Column, Table, Texts, appended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .table import Cells

_LISTED = 8
_NUMBERED = re.compile(r"#\d{1,9}", re.ASCII)


@dataclass(frozen=True)
class Editor:
    """A table whose texts are read and written in one encoding. Every edit returns the new table."""

    table: Table
    encoding: str

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [table_encoding.decode(column.name, self.encoding) for column in self.table.columns]

    def rows(self, wanted: int) -> list[int]:
        """The rows that have an id. `UserError` where none has."""
        found = np.flatnonzero(self.table.ids == wanted).tolist() if 0 <= wanted <= 0xFFFFFFFF else []
        if not found:
            raise UserError(f"there is no row with the id {wanted}")
        return [int(row) for row in found]

    def row(self, wanted: int, number: int | None = None) -> int:
        """The row with an id. Where several have it, `number` says which; it must be one of them."""
        found = self.rows(wanted)
        if number is None and len(found) == 1:
            return found[0]
        listed = ", ".join(map(str, found[:_LISTED])) + (", ..." if len(found) > _LISTED else "")
        if number is None:
            raise UserError(f"{len(found)} rows have the id {wanted}: say which, row {listed}")
        if number not in found:
            raise UserError(f"row {number} does not have the id {wanted}, which is that of row {listed}")
        return number

    def column(self, name: str) -> int:
        """The column of a name, or with "#" before it of a number."""
        if _NUMBERED.fullmatch(name) and int(name[1:]) < len(self.table.columns):
            return int(name[1:])
        found = [number for number, known in enumerate(self.names) if known == name]
        found = found or [
            n for n, known in enumerate(self.names) if known.lower().lstrip("_") == name.lower().lstrip("_")
        ]
        if not found:
            raise UserError(f'there is no column "{name}"')
        if len(found) > 1:
            listed = " or ".join(f"#{number}" for number in found[:_LISTED])
            raise UserError(f'{len(found)} columns are called "{name}": say which, {listed}')
        return found[0]

    def value(self, row: int, column: int) -> int | float | str:
        """One cell as people read it."""
        cells = self.table.columns[column].cells
        if isinstance(cells, Texts):
            return table_encoding.decode(cells[row], self.encoding)
        return table_numbers.listed(cells[row : row + 1])[0]

    def values(self, row: int) -> list[int | float | str]:
        """All cells of a row."""
        return [self.value(row, column) for column in range(len(self.table.columns))]

    def set(self, row: int, values: Mapping[int, str]) -> Table:
        """Change cells of a row: column -> what it shall say. `UserError` where it cannot."""
        columns = list(self.table.columns)
        for number, text in values.items():
            cells = columns[number].cells
            new = self._cell(number, text)
            if isinstance(cells, Texts) and isinstance(new, Texts):
                made: Cells = cells.changed(row, new[0])
            else:
                made = np.array(cells)
                made[row] = new[0]
            columns[number] = replace(columns[number], cells=made)
        return replace(self.table, columns=tuple(columns))

    def add(self, new: int, values: Mapping[int, str], *, twice: bool = False) -> Table:
        """Add a row at the end; columns that `values` leaves out are 0 or empty. An id that exists needs `twice`."""
        if not 0 <= new <= 0xFFFFFFFF:
            raise UserError(f"{new} cannot be the id of a row, expected 0 to 4294967295")
        if not twice and (self.table.ids == new).any():
            raise UserError(f"there is a row with the id {new} already")
        cells = [
            appended(column.cells, self._cell(number, values[number]) if number in values else _empty(column))
            for number, column in enumerate(self.table.columns)
        ]
        return self.table.rebuilt(np.append(self.table.ids, np.array([new], "<u4")), cells)

    def delete(self, rows: Sequence[int]) -> Table:
        """The table without some rows."""
        return self.table.take(np.setdiff1d(np.arange(len(self.table)), np.array(rows, np.int64)))

    def _cell(self, number: int, text: str) -> Cells:
        """A column of one cell that says `text`."""
        kind = self.table.columns[number].kind
        name = self.names[number]
        if kind == TEXT:
            reason = table_encoding.trouble(text, self.encoding)
            if reason:
                raise UserError(f"column {name}: {reason}")
            return Texts.of([table_encoding.encode(text, self.encoding)])
        value = table_numbers.from_text(text, kind)
        if value is None or not table_numbers.is_number(value, kind):
            raise UserError(
                f'column {name}: "{text[:40]}" is no {KINDS[kind]}, expected {table_numbers.expected(kind)}'
            )
        return table_numbers.array([value], kind)


def _empty(column: Column) -> Cells:
    if column.kind == TEXT:
        return Texts.of([b""])
    return table_numbers.array([0], column.kind)
