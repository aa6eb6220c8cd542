# SPDX-License-Identifier: GPL-3.0-or-later
"""DNT tables and EXT, their older sibling: bytes to a `Table` and back. All numbers are little-endian.

DNT: u16 version (0 in all known files), u16 n, n bytes that the game skips, u16 columns, u32 rows; per column u16
length, name, u8 type; the rows; a trailer, u8 5 and "THEND". EXT: i32 unknown, i32 columns, u32 rows; per column
a name in 64 bytes and i32 type; rows and trailer as in a DNT. Nothing in a file says which of the two it is.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import ExportError, FormatError, UnsupportedError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from . import table_rows
from .table import DNT, DTYPES, EXT, KINDS, LONGEST, NAME_FIELD, TEXT, TRAILER, Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EXT_HEADER = np.dtype([("unknown", "<i4"), ("column_count", "<i4"), ("row_count", "<u4")])
_EXT_COLUMN = np.dtype([("name", f"V{NAME_FIELD}"), ("type", "<i4")])
_MOST_COLUMNS = 0xFFFF


def read_dnt(data: bytes) -> Table:
    """A DNT. Raises `FormatError` with the byte where the content cannot be one."""
    reader = Reader(data)
    head, skipped, rows, columns = _dnt_header(reader)
    return _with_rows(data, reader.offset, rows, columns, Table(DNT, np.zeros(0, np.uint32), (), head, skipped))


def peek(head: bytes) -> tuple[int, list[int]]:
    """How many rows a DNT has that starts with `head`, and the types of its columns. Raises as `read_dnt`."""
    _version, _skipped, rows, columns = _dnt_header(Reader(head))
    return rows, [kind for _name, kind in columns]


def _dnt_header(reader: Reader) -> tuple[int, bytes, int, list[tuple[bytes, int]]]:
    """Version, skipped bytes, row count, and name and type of each column."""
    head = reader.integer("<u2", "header")
    skipped = bytes(reader.take(reader.integer("<u2", "header"), "block of skipped bytes in the header"))
    count = reader.integer("<u2", "column count")
    rows = reader.integer("<u4", "row count")
    if count * 3 > reader.left:
        raise FormatError(
            f"{count} columns do not fit into the file",
            offset=reader.offset,
            found=f"{reader.left} bytes before the end",
        )
    return head, skipped, rows, [_dnt_column(reader, number) for number in range(count)]


def _dnt_column(reader: Reader, number: int) -> tuple[bytes, int]:
    size = reader.integer("<u2", f"name of column {number}")
    name = bytes(reader.take(size, f"name of column {number}"))
    return name, _kind(reader.integer("u1", f"type of column {number}"), number, reader.offset - 1)


def read_ext(data: bytes) -> Table:
    """An EXT. Raises `FormatError` with the byte where the content cannot be one."""
    reader = Reader(data)
    header = reader.array(_EXT_HEADER, 1, "counts of the header")[0]
    fields = reader.array(_EXT_COLUMN, int(header["column_count"]), "columns")
    columns = [
        (
            bytes(name).rstrip(b"\0"),
            _kind(int(kind), number, _EXT_HEADER.itemsize + (number + 1) * _EXT_COLUMN.itemsize - 4),
        )
        for number, (name, kind) in enumerate(fields.tolist())
    ]
    start = Table(EXT, np.zeros(0, np.uint32), (), int(header["unknown"]))
    return _with_rows(data, reader.offset, int(header["row_count"]), columns, start)


def _kind(kind: int, number: int, offset: int) -> int:
    if not table_rows.named(kind):
        raise UnsupportedError(
            f"column {number} is of a type that is not known", offset=offset, expected="1 to 6", found=str(kind)
        )
    return kind


def _with_rows(data: bytes, first: int, rows: int, columns: Sequence[tuple[bytes, int]], start: Table) -> Table:
    buffer = np.frombuffer(data, np.uint8)
    ids, cells, end = table_rows.read(buffer, first, rows, [kind for _name, kind in columns])
    made = tuple(Column(name, kind, column) for (name, kind), column in zip(columns, cells, strict=True))
    return Table(start.form, ids, made, start.head, start.skipped, bytes(data[end:]))


def write(table: Table) -> bytes:
    """The bytes of a table. Raises `ExportError` for what its format cannot hold."""
    return b"".join(pieces(table))


def pieces(table: Table) -> Iterator[bytes]:
    """The bytes of a table in parts, each of some thousand rows, so that a large one is never in memory twice."""
    yield _header(table)
    yield from table_rows.write(table)
    yield table.tail


def _header(table: Table) -> bytes:
    count = len(table.columns)
    if count > _MOST_COLUMNS and table.form == DNT:
        raise ExportError(f"the table has {count} columns, more than the {_MOST_COLUMNS} that a DNT holds")
    if table.form == EXT:
        if table.skipped:
            raise ExportError("an EXT has no place for the bytes that a DNT skips")
        parts = [np.array([(table.head, count, len(table))], _EXT_HEADER).tobytes()]
        parts += [_ext_field(column) for column in table.columns]
        return b"".join(parts)
    if not 0 <= table.head <= 0xFFFF or len(table.skipped) > LONGEST:
        raise ExportError("the header of the table does not fit into a DNT")
    parts = [np.array([table.head, len(table.skipped)], "<u2").tobytes(), table.skipped]
    parts += [np.uint16(count).astype("<u2").tobytes(), np.uint32(len(table)).astype("<u4").tobytes()]
    for column in table.columns:
        if len(column.name) > LONGEST:
            raise ExportError(f"the name of a column takes {len(column.name)} bytes, more than the {LONGEST} of a DNT")
        parts.append(np.uint16(len(column.name)).astype("<u2").tobytes() + column.name + bytes([column.kind]))
    return b"".join(parts)


def _ext_field(column: Column) -> bytes:
    if len(column.name) > NAME_FIELD:
        raise ExportError(
            f"the name of a column takes {len(column.name)} bytes, more than the {NAME_FIELD} that an EXT holds"
        )
    return column.name.ljust(NAME_FIELD, b"\0") + column.kind.to_bytes(4, "little", signed=True)


def sniff_dnt(head: bytes, size: int) -> bool:
    """Whether the first bytes can be those of a DNT: as many columns as they reach have a name and a known type."""
    if size < 10 or len(head) < 10:
        return False
    skipped = int.from_bytes(head[2:4], "little")
    at = 4 + skipped
    if at + 6 > len(head):
        return False
    columns = int.from_bytes(head[at : at + 2], "little")
    rows = int.from_bytes(head[at + 2 : at + 6], "little")
    at += 6
    if rows * table_rows.ID_BYTES + columns * 3 > size - at:
        return False
    if columns == 0:
        return head[at + 4 * rows : at + 4 * rows + len(TRAILER)] == TRAILER
    for _column in range(columns):
        if at + 2 > len(head):
            break
        name = head[at + 2 : at + 2 + int.from_bytes(head[at : at + 2], "little")]
        at += 2 + int.from_bytes(head[at : at + 2], "little")
        if not _can_be_name(name) or (at < len(head) and head[at] not in KINDS):
            return False
        at += 1
    return True


def sniff_ext(head: bytes, size: int) -> bool:
    """Whether the first bytes can be those of an EXT: as many columns as they reach have a name and a known type."""
    if size < _EXT_HEADER.itemsize or len(head) < _EXT_HEADER.itemsize:
        return False
    header = np.frombuffer(head, _EXT_HEADER, 1)[0]
    columns, rows = int(header["column_count"]), int(header["row_count"])
    start = _EXT_HEADER.itemsize
    if columns < 0 or columns * _EXT_COLUMN.itemsize + rows * table_rows.ID_BYTES > size - start:
        return False
    if columns == 0:
        return head[start + 4 * rows : start + 4 * rows + len(TRAILER)] == TRAILER
    seen = np.frombuffer(head, _EXT_COLUMN, min(columns, (len(head) - start) // _EXT_COLUMN.itemsize), start)
    return len(seen) > 0 and all(
        kind in KINDS and _can_be_name(bytes(name).split(b"\0", 1)[0]) for name, kind in seen.tolist()
    )


def _can_be_name(name: bytes) -> bool:
    return len(name) > 0 and min(name) >= 0x20


def sections_dnt(data: bytes) -> list[Section]:
    """The byte ranges of a DNT: header, columns, every row, trailer."""
    table = read_dnt(data)
    counts = 4 + len(table.skipped)
    found = [
        Section("header", 0, np.dtype([("version", "<u2"), ("skipped_size", "<u2")])),
        Section("skipped bytes", 4, np.dtype(f"V{len(table.skipped)}")),
        Section("header", counts, np.dtype([("column_count", "<u2"), ("row_count", "<u4")])),
    ]
    at = counts + 6
    for number, column in enumerate(table.columns):
        parts = np.dtype([("name_length", "<u2"), ("name", f"V{len(column.name)}"), ("type", "u1")])
        found.append(Section(f"column {number}", at, parts))
        at += parts.itemsize
    return [*found, *_row_sections(data, at, table)]


def sections_ext(data: bytes) -> list[Section]:
    """The byte ranges of an EXT: header, columns, every row, trailer."""
    table = read_ext(data)
    count = len(table.columns)
    end = _EXT_HEADER.itemsize + count * _EXT_COLUMN.itemsize
    found = [Section("header", 0, _EXT_HEADER), Section("column", _EXT_HEADER.itemsize, _EXT_COLUMN, count)]
    return [*found, *_row_sections(data, end, table)]


def _row_sections(data: bytes, first: int, table: Table) -> list[Section]:
    rows = table_rows.layout([column.kind for column in table.columns])
    end = len(data) - len(table.tail)
    if TEXT not in rows.kinds:
        fields = [(f"column_{number}", DTYPES[kind]) for number, kind in enumerate(rows.kinds)]
        found = [Section("row", first, np.dtype([("id", "<u4"), *fields]), len(table))]
    else:
        edges = table_rows.starts(np.frombuffer(data, np.uint8), first, len(table), rows).tolist()
        spans = itertools.pairwise(edges)
        found = [Section(f"row {n}", start, np.dtype(f"V{stop - start}")) for n, (start, stop) in enumerate(spans)]
    return [*found, Section("trailer", end, np.dtype(f"V{len(table.tail)}"))]
