# SPDX-License-Identifier: GPL-3.0-or-later
"""What a CSV or JSON text says of a table beside its rows: everything its file needs to come back to the byte."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import ExportError, FormatError
from . import table_encoding
from .table import DNT, EXT, KIND_NAMES, KINDS, LONGEST, NAME_FIELD, TRAILER, Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import Cells

# A line and a column of the text, both from 1, and its name: where a sentence points to.
_WHOLE = re.compile(r"-?\d{1,40}", re.ASCII)


@dataclass(frozen=True)
class Facts:
    """`encoding` is that of the table's texts. The others are as in `Table`; most tables have these values."""

    form: str = DNT
    encoding: str = "cp949"
    head: int = 0
    skipped: bytes = b""
    tail: bytes = TRAILER

    @classmethod
    def of(cls, table: Table, encoding: str) -> Facts:
        """The facts of a table whose texts are read in `encoding`."""
        return cls(table.form, encoding, table.head, table.skipped, table.tail)

    def words(self) -> dict[str, str]:
        """Name -> value: form and encoding always, the rest where it is unusual. Bytes are hexadecimal."""
        plain = Facts()
        found = {"format": self.form, "encoding": self.encoding}
        found |= {"head": str(self.head)} if self.head != plain.head else {}
        found |= {"skipped": self.skipped.hex()} if self.skipped else {}
        found |= {"tail": self.tail.hex() or "none"} if self.tail != plain.tail else {}
        return found

    @classmethod
    def read(cls, words: dict[str, str]) -> Facts:
        """The facts that such words say. Raises `FormatError` for one that makes no sense."""
        found = cls()
        for name, value in words.items():
            if name == "format" and value.lower() in {DNT, EXT}:
                found = replace(found, form=value.lower())
            elif name == "encoding" and value.lower() in table_encoding.ENCODINGS:
                found = replace(found, encoding=value.lower())
            elif name == "head" and _WHOLE.fullmatch(value):
                found = replace(found, head=int(value))
            elif name in {"skipped", "tail"} and re.fullmatch("none|(?:[0-9a-fA-F]{2})*", value):
                raw = b"" if value == "none" else bytes.fromhex(value)
                found = replace(found, skipped=raw) if name == "skipped" else replace(found, tail=raw)
            else:
                expected = {
                    "format": "dnt or ext",
                    "encoding": " or ".join(table_encoding.ENCODINGS),
                    "head": "a whole number",
                }.get(name, "pairs of hexadecimal digits" if name in {"skipped", "tail"} else "")
                raise FormatError(
                    f'"{name}" of the table cannot be "{value}"'
                    if expected
                    else f'"{name}" says nothing about a table',
                    expected=expected or "format, encoding, head, skipped or tail",
                )
        low, high = (0, 0xFFFF) if found.form == DNT else (-(2**31), 2**31 - 1)
        if not low <= found.head <= high:
            raise FormatError('"head" of the table is out of range', expected=f"{low} to {high}", found=str(found.head))
        return found

    def table(self, ids: Sequence[int], columns: Sequence[tuple[str, int]], cells: Sequence[Cells]) -> Table:
        """The table of these rows. `columns` are (name, type). Raises `ExportError` for a name that cannot be."""
        made = [
            Column(self.name_bytes(name), kind, column) for (name, kind), column in zip(columns, cells, strict=True)
        ]
        return Table(self.form, np.array(ids, "<u4"), tuple(made), self.head, self.skipped, self.tail)

    def name_bytes(self, name: str) -> bytes:
        """A column's name as it stands in the file, without padding."""
        raw = table_encoding.encode(name, self.encoding)
        most = LONGEST if self.form == DNT else NAME_FIELD
        if len(raw) > most:
            raise ExportError(f'the column name "{name[:40]}" takes {len(raw)} bytes, more than the {most} that fit')
        return raw


def column_label(column: Column, encoding: str) -> str:
    """`name:type`, as a CSV has it in its first line."""
    return f"{table_encoding.decode(column.name, encoding)}:{KINDS[column.kind]}"


def split_label(label: str) -> tuple[str, int]:
    """Name and type of a `name:type`. Raises `FormatError` where there is no type that is known."""
    name, _colon, kind = label.rpartition(":")
    if kind.strip().lower() not in KIND_NAMES or not _colon:
        raise FormatError(
            f'the head of the column, "{label[:80]}", does not say its type',
            expected=f"a name, a colon and {' or '.join(KIND_NAMES)}",
        )
    return name, KIND_NAMES[kind.strip().lower()]
