# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as JSON lines (UTF-8), and back to the byte.

First line: an object with what the file has beside its rows (`table_facts`) and "columns", a list of [name, type]. Then
one line per row: an object of "id" and the cells by name, or where two columns have one name, a list in their order.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import ExportError, FormatError, UserError
from . import table_encoding, table_guess, table_numbers, table_rows
from .table import KIND_NAMES, KINDS, TEXT, Column, Table, Texts, blocks
from .table_facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .table import Cells

_BLOCK = 1 << 12  # rows
_ID = "id"


def write(table: Table, encoding: str = "auto") -> bytes:
    """The whole text. `encoding` is that of the table's texts; "auto" guesses it."""
    return b"".join(pieces(table, encoding))


def pieces(table: Table, encoding: str = "auto") -> Iterator[bytes]:
    """As `write`, in parts of some thousand rows."""
    chosen = table_encoding.choose(encoding, lambda: table_guess.guess(table))
    names = [table_encoding.decode(column.name, chosen) for column in table.columns]
    head = dict(Facts.of(table, chosen).words())
    columns = [[name, KINDS[column.kind]] for name, column in zip(names, table.columns, strict=True)]
    encode = json.JSONEncoder(ensure_ascii=False).encode
    yield f"{encode(head | {'columns': columns})}\n".encode()
    keys = [_ID, *names]
    unique = len(set(keys)) == len(keys)
    for stretch in blocks((column.cells for column in table.columns), len(table), _BLOCK):
        part = table.take(stretch)
        rows = zip(part.ids.tolist(), *(_cells(column, chosen) for column in part.columns), strict=True)
        made = (dict(zip(keys, row, strict=True)) for row in rows) if unique else map(list, rows)
        yield ("\n".join(map(encode, made)) + "\n").encode()


def _cells(column: Column, encoding: str) -> Sequence[int | float | str]:
    if isinstance(column.cells, Texts):
        return table_encoding.decode_all(column.cells, encoding)
    return table_numbers.listed(column.cells)


def read(data: bytes, encoding: str = "") -> Table:
    """The table that JSON lines say. `encoding`, if given, takes the place of the one that they name.

    Raises `FormatError` with the line, from 1, of what makes no table.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    facts, columns = _head(_parsed(lines[0], 1), encoding)
    parts: list[list[Cells]] = [[] for _column in columns]
    ids: list[np.ndarray[Any, Any]] = [np.zeros(0, "<u4")]
    for first in range(1, len(lines), _BLOCK):
        block = [(number + 1, lines[number]) for number in range(first, min(first + _BLOCK, len(lines)))]
        block = [(number, line) for number, line in block if line.strip()]
        rows = [_row(_parsed(line, number), number, columns) for number, line in block]
        turned = list(zip(*rows, strict=True)) if rows else [()] * (len(columns) + 1)
        numbers = [number for number, _line in block]
        ids.append(_ids(turned[0], numbers))
        for column, cells, part in zip(columns, turned[1:], parts, strict=True):
            part.append(_column(cells, column, numbers, facts.encoding))
    made = [table_rows.stacked(part, kind) for part, (_name, kind) in zip(parts, columns, strict=True)]
    return facts.table(np.concatenate(ids), columns, made)


def _parsed(line: bytes, number: int) -> Any:
    try:
        return json.loads(line.decode(), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise FormatError(f"line {number} is not in UTF-8", expected="UTF-8") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"line {number}, character {error.colno} is no JSON ({error.msg})") from error
    except _TwiceError as error:
        raise FormatError(f'line {number} says "{str(error)[:40]}" twice') from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists in lists without end
        raise FormatError(f"line {number} holds what no table does") from error


class _TwiceError(Exception):
    """An object has a key twice: which value is meant cannot be known."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError(Counter(key for key, _value in pairs).most_common(1)[0][0])
    return found


def _head(found: Any, encoding: str) -> tuple[Facts, list[tuple[str, int]]]:
    columns = found.pop("columns", None) if isinstance(found, dict) else None
    if not isinstance(columns, list) or not all(_is_column(entry) for entry in columns):
        raise FormatError(
            "line 1 does not say what the columns are",
            expected='an object with "columns", a list of [name, type], the type being ' + " or ".join(KIND_NAMES),
        )
    if not all(isinstance(value, str) for value in found.values()):
        raise FormatError("line 1 says something of the table that is no text")
    try:
        facts = Facts.read(found)
        facts = facts if not encoding else Facts(facts.form, encoding, facts.head, facts.skipped, facts.tail)
        for name, _kind in columns:
            facts.name_bytes(name)
    except UserError as error:
        raise _at(1, "", error) from error
    return facts, [(name, KIND_NAMES[kind]) for name, kind in columns]


def _is_column(entry: Any) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) == 2
        and all(isinstance(value, str) for value in entry)
        and entry[1] in KIND_NAMES
    )


def _row(found: Any, number: int, columns: Sequence[tuple[str, int]]) -> list[Any]:
    """Id and cells of a line."""
    if isinstance(found, dict):
        keys = [_ID, *(name for name, _kind in columns)]
        if len(set(keys)) < len(keys):
            raise FormatError(f"line {number} is an object, but two columns have one name", expected="a list")
        if found.keys() != set(keys):
            missing = [key for key in keys if key not in found]
            other = [key for key in found if key not in set(keys)]
            raise FormatError(
                f'line {number} has no "{missing[0]}"'
                if missing
                else f'line {number} has "{other[0]}", which is no column'
            )
        return [found[key] for key in keys]
    if not isinstance(found, list) or len(found) != len(columns) + 1:
        raise FormatError(f"line {number} is no row", expected=f"an object, or a list of {len(columns) + 1}")
    return found


def _ids(cells: Sequence[Any], numbers: Sequence[int]) -> np.ndarray[Any, Any]:
    low, high = table_numbers.ID_RANGE
    for cell, number in zip(cells, numbers, strict=True):
        if type(cell) is not int or not low <= cell <= high:
            expected = f"a whole number from {low} to {high}"
            raise FormatError(f'line {number}, "id" is no id of a row', expected=expected, found=_shown(cell))
    return np.array(cells, "<u4")


def _column(cells: Sequence[Any], column: tuple[str, int], numbers: Sequence[int], encoding: str) -> Cells:
    name, kind = column
    types = set(map(type, cells))
    if kind == TEXT:
        try:
            if types <= {str}:
                return table_encoding.encode_all(cells, encoding)
        except ExportError:
            pass  # which one it is comes below
    elif types <= {int, float, str, bool} and all(table_numbers.is_number(cell, kind) for cell in _different(cells)):
        return table_numbers.array(cells, kind)
    for cell, number in zip(cells, numbers, strict=True):
        error = _trouble(cell, kind, encoding)
        if error is not None:
            raise _at(number, name, error)
    raise FormatError(f"lines {numbers[0]} to {numbers[-1]} cannot be read")


def _different(cells: Sequence[Any]) -> set[Any]:
    """Each different value once; 1, 1.0 and true are different."""
    return {value for _type, value in {(type(cell), cell) for cell in cells}}


def _trouble(cell: Any, kind: int, encoding: str) -> UserError | None:
    if kind == TEXT:
        reason = table_encoding.trouble(cell, encoding) if isinstance(cell, str) else "is no text"
        return FormatError(reason, found="" if isinstance(cell, str) else _shown(cell)) if reason else None
    if table_numbers.is_number(cell, kind):
        return None
    return FormatError(f"is no {KINDS[kind]}", expected=table_numbers.expected(kind), found=_shown(cell))


def _at(line: int, name: str, error: UserError) -> FormatError:
    """`error` with its line and the name of the column."""
    called = f', "{name}"' if name else ""
    verb = "" if error.reason.startswith("is ") else ":"
    expected, found = getattr(error, "expected", ""), getattr(error, "found", "")
    return FormatError(f"line {line}{called}{verb} {error.reason}", expected=expected, found=found)


def _shown(cell: Any) -> str:
    return json.dumps(cell, ensure_ascii=False)[:40]
