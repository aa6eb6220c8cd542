# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of DNT tables: one like the largest of the game, one of 100 MB, by CSV and by JSON lines."""

from __future__ import annotations

import numpy as np
from addon.io_dragonnest.formats import dnt, table_csv, table_jsonl
from addon.io_dragonnest.formats.table import DNT, INT, TEXT, Column, Table, Texts

from benchmarks.dragon_archives import require
from benchmarks.harness import Case

NUMBERS, ROWS, MANY_ROWS = 48, 9_000, 470_000
LONG, LONG_ROWS = 65_000, 1_600


def table(rows: int) -> Table:
    """Four texts among 48 numbers, as the game's largest tables have them; about 210 bytes a row."""
    rng = np.random.default_rng(7)
    words = [b"", b"NONE", b"B127110001", "전사의 검".encode("cp949")]
    texts = [Texts.of([words[pick] for pick in rng.integers(0, 4, rows)]) for _column in range(4)]
    numbers = [rng.integers(-5, 2000, rows).astype("<i4") for _column in range(NUMBERS)]
    columns = [Column(f"_Number{place}".encode(), INT, cells) for place, cells in enumerate(numbers)]
    for place, cells in enumerate(texts):
        columns.insert(place * 12, Column(f"_Text{place}".encode(), TEXT, cells))
    return Table(DNT, np.arange(rows, dtype="<u4"), tuple(columns))


class _Table(Case):
    """A table in memory, as bytes."""

    rows = ROWS

    def prepare(self) -> None:
        self.data = dnt.write(table(self.rows))

    @property
    def size(self) -> int:
        return len(self.data)


class Read(_Table):
    name = "read DNT, 9000 rows of 48 numbers and 4 texts"

    def run(self) -> None:
        require(done=len(dnt.read_dnt(self.data)) == self.rows)


class Write(_Table):
    name = "write DNT, 9000 rows of 48 numbers and 4 texts"

    def prepare(self) -> None:
        super().prepare()
        self.table = dnt.read_dnt(self.data)

    def run(self) -> None:
        require(done=dnt.write(self.table) == self.data)


class ByCsv(_Table):
    name = "DNT to CSV and back, 9000 rows"

    def run(self) -> None:
        require(done=dnt.write(table_csv.read(table_csv.write(dnt.read_dnt(self.data)))) == self.data)


class ByJsonLines(_Table):
    name = "DNT to JSON lines and back, 9000 rows"

    def run(self) -> None:
        require(done=dnt.write(table_jsonl.read(table_jsonl.write(dnt.read_dnt(self.data)))) == self.data)


class Many(_Table):
    name = "read and write DNT of 100 MB, 470 000 rows"
    rows = MANY_ROWS

    @property
    def most_peak(self) -> int:
        return 300 << 20

    def run(self) -> None:
        require(done=sum(map(len, dnt.pieces(dnt.read_dnt(self.data)))) == len(self.data))


class Long(_Table):
    name = "read and write DNT of 100 MB, 1600 texts of 65 000 bytes"

    @property
    def most_peak(self) -> int:
        return 100 << 20

    def prepare(self) -> None:
        text = "전사의 검 ".encode("cp949") * (LONG // 10)
        rows = np.arange(LONG_ROWS, dtype="<u4")
        self.data = dnt.write(Table(DNT, rows, (Column(b"_Text", TEXT, Texts.of([text] * LONG_ROWS)),)))

    def run(self) -> None:
        found = dnt.read_dnt(self.data)
        require(done=sum(map(len, dnt.pieces(found))) == len(self.data))
        require(done=sum(map(len, table_csv.pieces(found))) > len(self.data))


CASES: tuple[type[Case], ...] = (Read, Write, ByCsv, ByJsonLines, Many, Long)
