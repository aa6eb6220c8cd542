# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables come back to the byte: by themselves, by CSV, by JSON lines."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_common.formats import fields
from addon.io_dragonnest.formats import (
    dnt,
    table_check,
    table_csv,
    table_diff,
    table_encoding,
    table_guess,
    table_jsonl,
)
from addon.io_dragonnest.formats.table import BLOCK_BYTES, DNT, EXT, TEXT, TRAILER, Table, Texts, blocks
from hypothesis import given
from hypothesis import strategies as st

from tests import tables

if TYPE_CHECKING:
    from pathlib import Path

ENCODINGS = st.sampled_from(list(table_encoding.ENCODINGS))


@given(tables.tables())
def test_bytes_come_back(made: Table) -> None:
    data = dnt.write(made)
    again = tables.read(data, made.form)
    assert dnt.write(again) == data
    assert again.ids.tobytes() == made.ids.tobytes()
    assert [c.name for c in again.columns] == [c.name for c in made.columns]
    assert again.tail == made.tail
    assert again.skipped == made.skipped
    assert again.head == made.head


@given(tables.tables(), ENCODINGS, st.booleans(), st.booleans())
def test_by_csv_and_back(made: Table, encoding: str, bom: bool, plain: bool) -> None:
    text = table_csv.write(made, encoding, bom=bom, plain=plain)
    assert dnt.write(table_csv.read(text)) == dnt.write(made)


@given(tables.tables(), ENCODINGS)
def test_by_json_lines_and_back(made: Table, encoding: str) -> None:
    assert dnt.write(table_jsonl.read(table_jsonl.write(made, encoding))) == dnt.write(made)


@given(st.binary(max_size=40), ENCODINGS)
def test_any_bytes_survive_any_encoding(raw: bytes, encoding: str) -> None:
    text = table_encoding.decode(raw, encoding)
    assert table_encoding.encode(text, encoding) == raw
    texts = Texts.of([raw, b"", raw + b"\\", b"\\x41"])
    several = table_encoding.decode_all(texts, encoding)
    assert several == [table_encoding.decode(texts[row], encoding) for row in range(4)]
    back = table_encoding.encode_all(several, encoding)
    assert [back[row] for row in range(4)] == [raw, b"", raw + b"\\", b"\\x41"]


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_text_that_an_encoding_has_is_shown_as_it_is(text: str) -> None:
    plain = "".join(char for char in text if char.isprintable() and char != "\\")
    assert table_encoding.decode(plain.encode(), "utf-8") == plain


def test_escapes_are_told_from_what_looks_like_one() -> None:
    raw = b"\\x41 \\ \\n \xff\\\xff"
    assert table_encoding.decode(raw, "utf-8") == r"\x5cx41 \ \n \xff\\xff"
    assert table_encoding.encode(r"\x5cx41 \ \n \xff\\xff", "utf-8") == raw


@pytest.mark.parametrize("form", [DNT, EXT])
def test_spreadsheets_may_save_it(form: str) -> None:
    """Other quotes, line ends, separators, decimal commas, empty lines and cells at the end: the same table."""
    made = tables.mixed(form)
    rows = list(csv.reader(io.StringIO(table_csv.write(made, "cp949").decode(), newline="")))
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL, delimiter=";", lineterminator="\n")
    comma = [
        [row[0], row[1], *row[2:4], *(cell.replace(".", ",") for cell in row[4:7]), row[7], ""] for row in rows[1:]
    ]
    writer.writerows([rows[0], *comma, [], [""] * 9])
    saved = b"\xef\xbb\xbf" + out.getvalue().encode()
    assert dnt.write(table_csv.read(saved)) == dnt.write(made)
    # Once a cell beside the table was in use, every line has empty ones, the first too.
    wider = b"".join(line + b",,\r\n" for line in table_csv.write(made, "cp949").split(b"\r\n")[:-1])
    assert dnt.write(table_csv.read(wider)) == dnt.write(made)
    # All line ends are of Windows, those inside of cells too.
    windows = table_csv.write(made, "cp949").replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert dnt.write(table_csv.read(windows)) == dnt.write(made)


def test_what_a_spreadsheet_would_spoil_is_guarded() -> None:
    spoiled = [
        "007",
        "=1+1",
        "+1",
        "-1",
        "@A1",
        "1/2",
        "TRUE",
        "false ",
        "Mar 1",
        "SEPT2",
        "1e5",
        " 5",
        "'",
        "'x",
        "(5)",
    ]
    sound = ["", "NONE", "Warrior_01", "a=b", "true love", "marble", "전사", "e5"]
    made = tables.table(["_T"], [TEXT], [(n, text.encode("cp949")) for n, text in enumerate([*spoiled, *sound])])
    rows = list(csv.reader(io.StringIO(table_csv.write(made).decode(), newline="")))[1:]
    assert [row[1] for row in rows] == [f"'{text}" for text in spoiled] + sound
    plain = list(csv.reader(io.StringIO(table_csv.write(made, plain=True).decode(), newline="")))[1:]
    assert [row[1] for row in plain] == [f"'{text}" if text[:1] == "'" else text for text in [*spoiled, *sound]]


def test_csv_reads_as_people_would_write_it() -> None:
    text = "id,_Name:text,_Flag:bool,_N:int,_X:float\n1,Warrior,TRUE,-5,1.1\n2,'007,0,+7,1e-3\n"
    made = table_csv.read(text.encode())
    assert made.form == DNT
    assert made.tail == TRAILER
    assert [c.kind for c in made.columns] == [1, 2, 3, 5]
    assert made.columns[0].cells[1] == b"007"
    assert made.columns[3].cells.tolist() == [np.float32(1.1), np.float32(0.001)]


def test_floats_are_as_short_as_can_be() -> None:
    made = tables.table(["_X"], [5], [(1, 1.1), (2, -0.0), (3, float("inf")), (4, 16777216.0), (5, 1e-45)])
    lines = table_csv.write(made).decode().splitlines()[1:]
    assert lines == ["1,1.1", "2,-0.0", '3,"inf"', "4,16777216.0", "5,1e-45"]


def test_json_lines_are_objects_by_name_where_names_differ() -> None:
    made = tables.table(["_N", "_T"], [3, 1], [(7, 5, b"x")])
    lines = [json.loads(line) for line in table_jsonl.write(made).splitlines()]
    assert lines == [
        {"format": "dnt", "encoding": "cp949", "columns": [["_N", "int"], ["_T", "text"]]},
        {"id": 7, "_N": 5, "_T": "x"},
    ]
    twice = tables.table(["_N", "_N"], [3, 1], [(7, 5, b"x")])
    assert json.loads(table_jsonl.write(twice).splitlines()[1]) == [7, 5, "x"]


def test_texts_up_to_the_largest_length() -> None:
    made = tables.table(["_A", "_B"], [1, 3], [(1, b"\xff" * 65535, 1), (2, b"x" * 32768, 2), (3, b"", 3)])
    data = dnt.write(made)
    again = dnt.read_dnt(data)
    assert again.columns[0].cells[0] == b"\xff" * 65535
    assert again.columns[1].cells.tolist() == [1, 2, 3]
    assert dnt.write(table_csv.read(table_csv.write(again))) == data
    assert dnt.write(table_jsonl.read(table_jsonl.write(again))) == data


def test_many_rows_go_over_several_blocks() -> None:
    rows = [(n, f"name {n}\n".encode() * (n % 4), n, n / 8) for n in range(70_000)]
    rows[-1] = (69_999, "法師".encode("big5"), 1, 0.5)
    data = dnt.write(tables.table(["_T", "_N", "_X"], [1, 3, 4], rows))
    made = dnt.read_dnt(data)
    assert dnt.write(made) == data
    assert made.columns[0].cells[69_999] == rows[-1][1]
    assert table_guess.guess(made) == "big5", "the last text counts, too"
    assert table_check.check(made) == []
    assert dnt.write(table_csv.read(table_csv.write(made))) == data
    assert dnt.write(table_jsonl.read(table_jsonl.write(made))) == data


@pytest.mark.parametrize("form", [DNT, EXT])
def test_sections_name_every_byte(form: str) -> None:
    data = dnt.write(tables.mixed(form))
    found = dnt.sections_ext(data) if form == EXT else dnt.sections_dnt(data)
    assert [section.offset for section in found[1:]] == [section.end for section in found[:-1]]
    assert found[-1].end == len(data)
    assert fields.locate(found, len(data) - 1) == "trailer"
    assert fields.locate(found, len(data) - 7).startswith("row 3")


@pytest.mark.parametrize("form", [DNT, EXT])
def test_forms_are_told_apart(form: str) -> None:
    data = dnt.write(tables.mixed(form))
    assert dnt.sniff_dnt(data[:1024], len(data)) is (form == DNT)
    assert dnt.sniff_ext(data[:1024], len(data)) is (form == EXT)


def test_reading_and_writing_stay_within_a_bound_of_memory() -> None:
    """Five times the file: the file itself, the numbers of its rows, and where each text starts."""
    import tracemalloc

    rows = [(n, b"text of a row", n, n, 0.5, b"NONE") for n in range(40_000)]
    data = dnt.write(tables.table(["_T", "_A", "_B", "_X", "_S"], [1, 3, 3, 5, 1], rows))
    tracemalloc.start()
    try:
        made = dnt.read_dnt(data)
        read = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        size = sum(map(len, dnt.pieces(made)))
        written = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == len(data)
    assert read < 5 * len(data)
    assert written < 8 * len(data)


def test_long_texts_stay_within_a_bound_of_memory() -> None:
    """Texts go in stretches of about a megabyte, whatever the number of rows: no index of all their bytes at once."""
    import tracemalloc

    text = "전사 ".encode("cp949") * 13_000
    made = dnt.read_dnt(dnt.write(tables.table(["_T", "_N"], [1, 3], [(n, text, n) for n in range(300)])))
    tracemalloc.start()
    try:
        assert table_guess.guess(made) == "cp949"
        size = sum(map(len, table_csv.pieces(made, "cp949")))
        size += sum(map(len, table_jsonl.pieces(made, "cp949")))
        size += sum(map(len, dnt.pieces(made)))
        assert not table_diff.compare(made, made)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 3 * 300 * len(text)
    assert peak < 64 << 20


def test_stretches_hold_every_row_once() -> None:
    texts = Texts.of([b"x" * size for size in (0, 65535, 0, 1, 65535) * 40])
    stretches = list(blocks([texts, np.zeros(200, "<i4"), texts], 200, 30))
    assert np.concatenate([np.arange(200)[part] for part in stretches]).tolist() == list(range(200))
    assert max(part.stop - part.start for part in stretches) <= 30
    assert max(int(texts.sizes[part].astype(int).sum()) * 2 for part in stretches) <= BLOCK_BYTES
    assert list(blocks([], 0, 5)) == []


@pytest.mark.parametrize("encoding", table_encoding.ENCODINGS)
@pytest.mark.parametrize(
    "raw", [b"\xff", b"\\x41", b"\xa1\\", b"\xa2\xcca\xff", b"\xa2\xcc", b"\x81\x30\xff0", b"\xa1"]
)
def test_what_is_hardly_text_survives_at_length(raw: bytes, encoding: str) -> None:
    """Stray bytes, codes that mean a character that has another one, a lead byte at the end."""
    whole = (raw * 65535)[:65535]
    text = table_encoding.decode(whole, encoding)
    assert not any(0xD800 <= ord(char) < 0xE000 for char in text)
    assert table_encoding.encode(text, encoding) == whole


@pytest.mark.samples("*.dnt")
def test_real_tables(sample: Path) -> None:
    data = sample.read_bytes()
    made = dnt.read_dnt(data)
    assert made.tail == TRAILER
    assert dnt.write(made) == data
    assert dnt.write(table_csv.read(table_csv.write(made, bom=True))) == data
    assert dnt.write(table_jsonl.read(table_jsonl.write(made))) == data
