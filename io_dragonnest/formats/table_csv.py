# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as CSV for spreadsheets (RFC 4180, UTF-8), and back to the byte.

First line: a cell that begins with "id" and says what else the file has (`table_facts`), then `name:type` for each
column.
Then one line per row: its id and its cells. All texts are quoted. A text that a spreadsheet would take for a number, a
date or a formula has an apostrophe before it, as has one that begins with an apostrophe; reading takes one away.
Numbers and texts are made and read by Python's C modules, some thousand rows at a time.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import ExportError, FormatError, UserError
from . import table_encoding, table_guess, table_numbers, table_rows
from .table import KINDS, TEXT, Column, Table, Texts, blocks
from .table_facts import Facts, column_label, split_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .table import Cells

BOM = b"\xef\xbb\xbf"
_LINE_END = "\r\n"
_BLOCK = 1 << 12  # rows
_ID = "id"
_UTF_8 = "UTF-8, which a spreadsheet calls CSV UTF-8"
_CELL = re.compile('"(?:[^"]|"")*"|[^",;\\t\\r\\n]*')
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
# What a spreadsheet takes for a formula, a number, a truth or a date; and what looks as if it had been guarded.
_GUARDED = re.compile(rf"'|\s*(?:[=+\-@.,$%(\d£€¥₩]|(?:true|false)\s*$|(?:{_MONTHS})[a-z]*[\s./,-]*\d)", re.IGNORECASE)


def write(table: Table, encoding: str = "auto", *, bom: bool = False, plain: bool = False) -> bytes:
    """The whole CSV. `encoding` is that of the table's texts; "auto" guesses it. `bom`: Excel sees that it is UTF-8.

    `plain` is for editors of text: lines end in a line feed alone, and nothing is done for spreadsheets.
    """
    return b"".join(pieces(table, encoding, bom=bom, plain=plain))


def pieces(table: Table, encoding: str = "auto", *, bom: bool = False, plain: bool = False) -> Iterator[bytes]:
    """As `write`, in parts of some thousand rows."""
    line_end = "\n" if plain else _LINE_END
    chosen = table_encoding.choose(encoding, lambda: table_guess.guess(table))
    if bom:
        yield BOM
    yield _lines([_head(table, chosen)], line_end)
    for stretch in blocks((column.cells for column in table.columns), len(table), _BLOCK):
        part = table.take(stretch)
        columns = [_cells(column, chosen, plain=plain) for column in part.columns]
        yield _lines(zip(part.ids.tolist(), *columns, strict=True), line_end)


def _lines(rows: Any, line_end: str) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator=line_end).writerows(rows)
    return out.getvalue().encode()


def _head(table: Table, encoding: str) -> list[str]:
    words = [f"{name}={value}" for name, value in Facts.of(table, encoding).words().items()]
    return [" ".join([_ID, *words]), *(_guarded(column_label(column, encoding)) for column in table.columns)]


def _cells(column: Column, encoding: str, *, plain: bool) -> Sequence[int | float | str]:
    if isinstance(column.cells, Texts):
        texts = table_encoding.decode_all(column.cells, encoding)
        if plain:
            return [f"'{text}" if text[:1] == "'" else text for text in texts]
        return [_guarded(text) for text in texts]
    return table_numbers.listed(column.cells)


def _guarded(text: str) -> str:
    return f"'{text}" if _GUARDED.match(text) else text


def _unguarded(text: str) -> str:
    return text.removeprefix("'")


def read(data: bytes, encoding: str = "") -> Table:
    """The table that a CSV says. `encoding`, if given, takes the place of the one that the CSV names.

    It may have been saved by a spreadsheet: other quotes, line ends and separators (semicolon, tab) are fine. Raises
    `FormatError` with line and column for what makes no table; lines and columns count from 1.
    """
    return _Reader(data, encoding).table()


class _Reader:
    """Reads one CSV. `line` is the line on which the next row starts."""

    def __init__(self, data: bytes, encoding: str) -> None:
        if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise FormatError("the CSV is not in UTF-8", expected=_UTF_8, found="UTF-16")
        if b"\0" in data:
            raise FormatError(f"line {_line_at(data, data.index(0))} of the CSV holds a NUL")
        self.data = data
        first = data[: data.find(b"\n") if b"\n" in data else len(data)]
        self.delimiter = _delimiter(first.decode(errors="replace").rstrip("\r").removeprefix("\ufeff"))
        self.decimal = "." if self.delimiter == "," else ","
        # Text is decoded as it is wanted: a large table is in memory once.
        lines = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
        self.rows = csv.reader(lines, delimiter=self.delimiter, strict=True)
        self.line = 1
        head = next(iter(self.block(1)), [])
        first_row = [head]
        # A spreadsheet writes as many cells as ever were in use; a column without a name is called ":int" or so.
        while len(head) > 1 and not head[-1].strip():
            head = head[:-1]
        self.facts = self._facts(head, encoding)
        self.columns = [self._column(label, place) for place, label in enumerate(head[1:], start=2)]
        self.width = 1 + len(self.columns)
        self.line = self.line_after(first_row)

    def block(self, rows: int) -> list[list[str]]:
        """The next `rows` rows, fewer at the end."""
        found: list[list[str]] = []
        # The limit is for all of Python. A text of escapes may be longer than it usually is.
        usual = csv.field_size_limit(max(len(self.data), 1 << 17))
        try:
            found.extend(itertools.islice(self.rows, rows))
        except csv.Error as error:
            raise self._broken(self.line_after(found), error) from error
        except UnicodeDecodeError as error:
            raise _not_utf_8(self.data) from error
        finally:
            csv.field_size_limit(usual)
        return found

    def _broken(self, line: int, error: csv.Error) -> FormatError:
        """The row that starts on `line` is no CSV: in which cell the trouble is."""
        text = b"\n".join(self.data.split(b"\n")[line - 1 :]).decode(errors="replace")
        column, at = 1, 0
        while (match := _CELL.match(text, at)) is not None and text[match.end() : match.end() + 1] == self.delimiter:
            column, at = column + 1, match.end() + 1
        line += text.count("\n", 0, at)
        return FormatError(
            f"line {line}, column {column} of the CSV is broken ({error})",
            expected="a text in quotes to end with one, and quotes inside of it to be doubled",
        )

    def _facts(self, head: list[str], encoding: str) -> Facts:
        words = head[0].split() if head else []
        if not words or words[0].lower() != _ID:
            raise FormatError(
                "line 1, column 1 of the CSV is not the head of a table",
                expected='"id" and what the table is, such as: id format=dnt encoding=cp949',
                found=f'"{head[0][:60]}"' if head else "nothing",
            )
        pairs = [word.partition("=") for word in words[1:]]
        try:
            facts = Facts.read({name.lower(): value for name, _sign, value in pairs})
        except FormatError as error:
            raise _at(1, 1, "", error) from error
        return facts if not encoding else Facts(facts.form, encoding, facts.head, facts.skipped, facts.tail)

    def _column(self, label: str, place: int) -> tuple[str, int]:
        try:
            name, kind = split_label(_unguarded(label))
            self.facts.name_bytes(name)
        except UserError as error:
            raise _at(1, place, "", error) from error
        return name, kind

    def line_after(self, rows: Sequence[Sequence[str]]) -> int:
        """The line behind rows that start at `line`; cells may go over several."""
        return self.line + len(rows) + sum(cell.count("\n") for row in rows for cell in row)

    def table(self) -> Table:
        """The whole table."""
        ids: list[np.ndarray[Any, Any]] = [np.zeros(0, "<u4")]
        parts: list[list[Cells]] = [[] for _column in self.columns]
        while rows := self.block(_BLOCK):
            ids.append(self._read(rows, parts))
            self.line = self.line_after(rows)
        cells = [table_rows.stacked(column, kind) for column, (_name, kind) in zip(parts, self.columns, strict=True)]
        return self.facts.table(np.concatenate(ids), self.columns, cells)

    def _read(self, rows: list[list[str]], parts: list[list[Cells]]) -> np.ndarray[Any, Any]:
        """Add the cells of some rows to `parts`; their ids."""
        numbers: Sequence[int] = range(len(rows))
        if set(map(len, rows)) != {self.width}:
            rows, numbers = self._even(rows)
        columns = list(zip(*rows, strict=True)) if rows else [()] * self.width
        ids = table_numbers.all_ids(columns[0])
        if ids is None:
            self._refuse(rows, numbers, 0)
        for place, (_name, kind) in enumerate(self.columns, start=1):
            found = self._parsed(columns[place], kind)
            if found is None:
                self._refuse(rows, numbers, place)
            parts[place - 1].append(found)  # type: ignore[arg-type]
        return ids  # type: ignore[return-value]

    def _parsed(self, cells: Sequence[str], kind: int) -> Cells | None:
        if kind != TEXT:
            return table_numbers.all_texts(cells, kind, self.decimal)
        try:
            return table_encoding.encode_all([self._text(cell) for cell in cells], self.facts.encoding)
        except ExportError:
            return None

    @staticmethod
    def _text(cell: str) -> str:
        return _unguarded(cell if "\r" not in cell else cell.replace("\r\n", "\n").replace("\r", "\n"))

    def _even(self, rows: list[list[str]]) -> tuple[list[list[str]], list[int]]:
        """Rows of the right number of cells, and which they were: empty ones go, empty cells at the end come or go."""
        found: list[list[str]] = []
        numbers: list[int] = []
        for number, row in enumerate(rows):
            if not any(row):
                continue
            extra = [place for place, cell in enumerate(row) if cell and place >= self.width]
            if extra:
                raise FormatError(
                    f"line {self._line_of(number, rows)}, column {extra[0] + 1} of the CSV is one cell too many",
                    expected=f"{self.width} cells, as line 1 has",
                )
            found.append(row[: self.width] + [""] * (self.width - len(row)))
            numbers.append(number)
        return found, numbers

    def _line_of(self, number: int, rows: list[list[str]]) -> int:
        return self.line_after(rows[:number])

    def _refuse(self, rows: list[list[str]], numbers: Sequence[int], place: int) -> None:
        """Raise the sentence about the first cell in a column that cannot be."""
        name, kind = self.columns[place - 1] if place else (_ID, 0)
        for number, row in enumerate(rows):
            trouble = self._trouble(row[place], kind)
            if trouble is not None:
                # Rows that were left out are empty: a line each.
                line = self._line_of(number, rows) + numbers[number] - number
                raise _at(line, place + 1, name, trouble)

    def _trouble(self, cell: str, kind: int) -> UserError | None:
        if kind == TEXT:
            reason = table_encoding.trouble(self._text(cell), self.facts.encoding)
            return ExportError(reason) if reason else None
        shown = f'"{cell[:40]}"' if cell.strip() else "an empty cell"
        if kind == 0:
            sound = table_numbers.all_ids([cell]) is not None
            expected = "the id of a row, a whole number from 0 to 4294967295"
        else:
            value = table_numbers.from_text(cell, kind, self.decimal)
            sound = value is not None and table_numbers.is_number(value, kind)
            expected = table_numbers.expected(kind)
        return None if sound else FormatError(f"is no {KINDS.get(kind, _ID)}", expected=expected, found=shown)


def _at(line: int, place: int, name: str, error: UserError) -> FormatError:
    """`error` with the line and column of the CSV."""
    called = f" ({name})" if name else ""
    expected, found = getattr(error, "expected", ""), getattr(error, "found", "")
    verb = "" if error.reason.startswith("is ") else ":"
    reason = f"line {line}, column {place}{called} of the CSV{verb} {error.reason}"
    return FormatError(reason, expected=expected, found=found)


def _delimiter(text: str) -> str:
    """What stands between the cells: a comma, or what a spreadsheet of another country takes."""
    first = text.split("\n", 1)[0].rstrip("\r")
    rest = first[first.index('"', 1) + 1 :] if first.startswith('"') and '"' in first[1:] else first
    found = [char for char in ",;\t" if char in rest]
    return min(found, key=rest.index) if found else ","


def _not_utf_8(data: bytes) -> FormatError:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = _line_at(data, error.start)
        return FormatError(f"line {line} of the CSV is not in UTF-8", offset=error.start, expected=_UTF_8)
    return FormatError("the CSV is not in UTF-8", expected=_UTF_8)


def _line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
