# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts that tables become, and table files as a whole: which is which, and by which way they go."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ...io_common.formats.errors import UnknownFormatError
from . import dnt, table_csv, table_jsonl
from .table import DNT, EXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .table import Table

CSV, JSONL = "csv", "jsonl"
TABLE_SUFFIXES = {f".{DNT}", f".{EXT}"}
TEXT_SUFFIXES = {f".{CSV}", f".{JSONL}", ".ndjson"}


def _by_csv(table: Table) -> bytes:
    return dnt.write(table_csv.read(table_csv.write(table)))


def _by_jsonl(table: Table) -> bytes:
    return dnt.write(table_jsonl.read(table_jsonl.write(table)))


# What `verify` does with a table beside reading and writing it.
WAYS: MappingProxyType[str, Callable[[Table], bytes]] = MappingProxyType({"CSV": _by_csv, "JSON lines": _by_jsonl})


def read_table(data: bytes, path: Path) -> Table:
    """A DNT or EXT: what its extension says if the content can be that, else what it can be."""
    head, size = data[:1024], len(data)
    forms = [(dnt.sniff_dnt, dnt.read_dnt), (dnt.sniff_ext, dnt.read_ext)]
    if path.suffix.lower() == f".{EXT}":
        forms.reverse()
    for sniff, read in forms:
        if sniff(head, size):
            return read(data)
    if path.suffix.lower() in TABLE_SUFFIXES:
        # The extension is the only claim left: its reader says what is wrong, and where.
        return forms[0][1](data)
    raise UnknownFormatError("this is no table", expected="a DNT or EXT", path=path)


def pieces(table: Table, form: str, encoding: str, *, bom: bool = False) -> Iterator[bytes]:
    """A table as CSV or JSON lines, in parts."""
    return table_csv.pieces(table, encoding, bom=bom) if form == CSV else table_jsonl.pieces(table, encoding)


def read_text(data: bytes, path: Path, encoding: str = "") -> Table:
    """The table that a CSV or JSON lines say; which of the two it is says the first character."""
    start = data.removeprefix(table_csv.BOM).lstrip()[:1]
    json = start == b"{" if start else path.suffix.lower() != f".{CSV}"
    return table_jsonl.read(data, encoding) if json else table_csv.read(data, encoding)
