# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of tables: one of the size of the game's largest, to CSV and back, and one of 100 MB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from addon.io_dragonnest.formats import dnt, table_csv, table_diff, table_edit, table_jsonl
from addon.io_dragonnest.formats.table import BOOL, DNT, DTYPES, FLOAT, INT, TEXT, Column, Table, Texts

from benchmarks.dragon_archives import require
from benchmarks.harness import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS, LARGE_ROWS = 8_900, 480_000
_KINDS = (*(INT,) * 28, TEXT, *(BOOL,) * 8, TEXT, TEXT, *(FLOAT,) * 11, TEXT)
_TEXTS = ("0", "B127110001", "", "\ubc29\uc5b4\uad6c \uac15\ud654 \uc8fc\ubb38\uc11c", "NONE", 'a, "quoted" text')


def table(rows: int) -> Table:
    """A table of 51 columns, four of them texts; a row takes about 200 bytes."""
    rng = np.random.default_rng(7)
    columns = []
    for number, kind in enumerate(_KINDS):
        name = f"_Column{number:02}".encode()
        columns.append(Column(name, kind, _texts(rng, rows) if kind == TEXT else _numbers(rng, kind, rows)))
    return Table(DNT, np.arange(100_000_000, 100_000_000 + rows, dtype="<u4"), tuple(columns))


def _texts(rng: np.random.Generator, rows: int) -> Texts:
    words = Texts.of([word.encode("cp949") for word in _TEXTS])
    return words.take(rng.integers(0, len(_TEXTS), rows))


def _numbers(rng: np.random.Generator, kind: int, rows: int) -> np.ndarray:
    high = {BOOL: 2, INT: 1_000_000_000, FLOAT: 1000}[kind]
    found = rng.integers(0, high, rows)
    return (found / 10 if kind == FLOAT else found).astype(DTYPES[kind])


class _Table(Case):
    rows = ROWS
    most_ratio = None

    def prepare(self) -> None:
        self.data = dnt.write(table(self.rows))
        self.table = dnt.read_dnt(self.data)

    @property
    def size(self) -> int:
        return len(self.data)


class Read(_Table):
    name = "read DNT, 1.8 MB"
    least_speed = 9.0  # under 0.2 s

    def run(self) -> None:
        require(done=len(dnt.read_dnt(self.data)) == self.rows)


class Write(_Table):
    name = "write DNT, 1.8 MB"

    def run(self) -> None:
        require(done=len(dnt.write(self.table)) == len(self.data))


class _Large(_Table):
    rows = LARGE_ROWS


class ReadLarge(_Large):
    """Beside the file: its numbers once more, and twelve bytes for each text."""

    name = "read DNT, 100 MB"
    most_peak = 250 << 20

    def run(self) -> None:
        require(done=len(dnt.read_dnt(self.data)) == self.rows)


class WriteLarge(_Large):
    name = "write DNT in parts, 100 MB"
    most_peak = 100 << 20

    def run(self) -> None:
        require(done=sum(map(len, dnt.pieces(self.table))) == len(self.data))


class CsvLarge(_Large):
    name = "DNT of 100 MB to CSV in parts"
    most_peak = 150 << 20

    def run(self) -> None:
        require(done=sum(map(len, table_csv.pieces(self.table, "cp949"))) > 0)


class _Text(_Table):
    """Both ways of a text."""

    def prepare(self) -> None:
        super().prepare()
        self.csv = table_csv.write(self.table)
        self.jsonl = table_jsonl.write(self.table)


class ToCsv(_Text):
    name = "DNT of 1.8 MB to CSV"

    def run(self) -> None:
        require(done=table_csv.write(self.table) == self.csv)


class FromCsv(_Text):
    name = "CSV to DNT of 1.8 MB"

    def run(self) -> None:
        require(done=dnt.write(table_csv.read(self.csv)) == self.data)


class ToJsonl(_Text):
    name = "DNT of 1.8 MB to JSON lines"

    def run(self) -> None:
        require(done=table_jsonl.write(self.table) == self.jsonl)


class FromJsonl(_Text):
    name = "JSON lines to DNT of 1.8 MB"

    def run(self) -> None:
        require(done=dnt.write(table_jsonl.read(self.jsonl)) == self.data)


class Diff(_Table):
    name = "compare two DNT of 1.8 MB"

    def prepare(self) -> None:
        super().prepare()
        edit = table_edit.Editor(self.table, "cp949")
        self.other = table_edit.Editor(edit.set(77, {0: "5"}), "cp949").delete([5])

    def run(self) -> None:
        found = table_diff.compare(self.table, self.other)
        require(done=len(found.removed) == 1 and len(found.changed) == 1)


CASES: Sequence[type[Case]] = (
    Read,
    Write,
    ReadLarge,
    WriteLarge,
    ToCsv,
    FromCsv,
    ToJsonl,
    FromJsonl,
    CsvLarge,
    Diff,
)
