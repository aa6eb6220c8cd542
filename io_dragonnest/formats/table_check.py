# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a table, and what the game or other tools would trip over in it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...io_common.formats.issues import Issue, Severity
from . import table_encoding, table_guess
from .table import BOOL, DNT, KINDS, TRAILER, Table, Texts, duplicates

# Tools that take the length of a text for signed lose all that follows a longer one.
_SIGNED = 0x7FFF
_NAMED = 5


def summary(table: Table) -> dict[str, Any]:
    """What `info` prints: names, types and counts."""
    encoding = table_guess.guess(table)
    return {
        "rows": len(table),
        "columns": [
            {"name": table_encoding.decode(column.name, encoding), "type": KINDS[column.kind]}
            for column in table.columns
        ],
        "ids": f"{table.ids.min()} to {table.ids.max()}" if len(table) else "none",
        "encoding": encoding,
        "first_number": table.head,
        "skipped_bytes": len(table.skipped),
        "trailer": table.tail == TRAILER,
    }


def check(table: Table, _game: str = "") -> list[Issue]:
    """The findings about a table, errors first."""
    return [*_tail(table), *_ids(table), *_columns(table), *_texts(table)]


def _tail(table: Table) -> list[Issue]:
    if not table.tail.startswith(TRAILER):
        found = f"{len(table.tail)} other bytes" if table.tail else "nothing"
        return [_error("table_trailer", f"the table does not end in its trailer, THEND: {found} behind the rows")]
    more = len(table.tail) - len(TRAILER)
    what = _counted(more, "byte behind the trailer means", "bytes behind the trailer mean")
    return [_warning("table_rest", f"{what} nothing to the game")] if more else []


def _ids(table: Table) -> list[Issue]:
    twice = duplicates(table.ids)
    if not len(twice):
        return []
    listed = ", ".join(map(str, twice[:_NAMED].tolist())) + (", ..." if len(twice) > _NAMED else "")
    return [
        _warning(
            "table_ids",
            f"{_counted(len(twice), 'id stands', 'ids stand')} on several rows, of which the game finds one: {listed}",
        )
    ]


def _columns(table: Table) -> list[Issue]:
    found = []
    names = [column.name for column in table.columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        listed = ", ".join(table_encoding.decode(name, table_guess.DEFAULT) for name in twice[:_NAMED])
        found.append(_warning("table_columns", f"several columns have one name: {listed}"))
    for column in table.columns:
        if column.kind == BOOL and not isinstance(column.cells, Texts):
            odd = int(np.count_nonzero((column.cells != 0) & (column.cells != 1)))
            if odd:
                name = table_encoding.decode(column.name, table_guess.DEFAULT)
                what = _counted(odd, "cell", "cells")
                reason = f"{what} of the bool column {name} {'is' if odd == 1 else 'are'} neither 0 nor 1"
                found.append(_warning("table_bool", reason))
    if table.head and table.form == DNT:
        found.append(_warning("table_version", f"the version is {table.head}, where all known tables have 0"))
    return found


def _texts(table: Table) -> list[Issue]:
    encoding = table_guess.guess(table)
    found: list[Issue] = []
    for column in table.columns:
        if not isinstance(column.cells, Texts):
            continue
        name = table_encoding.decode(column.name, encoding)
        long = int(np.count_nonzero(column.cells.sizes > _SIGNED))
        if long:
            what = _counted(long, f"text of column {name} has", f"texts of column {name} have")
            reason = f"{what} more than {_SIGNED} bytes, which many tools cannot read"
            found.append(_warning("table_long_text", reason))
        bad = _not_text(column.cells, encoding)
        if bad:
            label = table_encoding.ENCODINGS[encoding][1]
            what = _counted(bad, f"text of column {name} is", f"texts of column {name} are")
            found.append(_warning("table_text", f"{what} no text in {label}, as the rest is"))
    return found


def _not_text(texts: Texts, encoding: str) -> int:
    """How many texts hold bytes that are none of the encoding."""
    raw = texts.joined(0)
    if raw.isascii() and raw.count(0) == len(texts):
        return 0
    codec = table_encoding.codec_of(encoding)
    try:
        raw.decode(codec)
    except UnicodeDecodeError:
        return sum("\ufffd" in texts[row].decode(codec, "replace") for row in range(len(texts)))
    return 0


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _warning(code: str, message: str) -> Issue:
    return Issue(Severity.WARNING, code, message)


def _error(code: str, message: str) -> Issue:
    return Issue(Severity.ERROR, code, message)
