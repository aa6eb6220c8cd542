# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows are found, changed, added, deleted and compared; what is broken is refused in a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from addon.io_common.formats.errors import ExportError, FormatError, UserError
from addon.io_dragonnest.formats import dnt, table_check, table_csv, table_diff, table_edit, table_guess, table_jsonl
from addon.io_dragonnest.formats.table import EXT, TEXT, Table, Texts
from hypothesis import given

from tests import tables


def _editor(made: Table | None = None) -> table_edit.Editor:
    return table_edit.Editor(made or tables.mixed(), "cp949")


def test_a_row_is_found_by_its_id() -> None:
    edit = _editor()
    assert edit.row(1) == 0
    assert edit.row(2, 2) == 2
    assert edit.values(0) == ["전사", 1, -5, 0.25, 1.1, 0.1, ""]
    with pytest.raises(UserError, match="2 rows have the id 2: say which, row 1, 2"):
        edit.row(2)
    with pytest.raises(UserError, match="row 0 does not have the id 2"):
        edit.row(2, 0)
    with pytest.raises(UserError, match="no row with the id 9"):
        edit.row(9)


def test_only_what_is_set_changes() -> None:
    edit = _editor()
    made = edit.set(2, {0: "궁수", 2: "12", 4: "-0.5"})
    assert _editor(made).values(2)[:5] == ["궁수", 7, 12, 1e-45, -0.5]
    found = table_diff.compare(edit.table, made)
    assert [(c.old_column, c.old_rows.tolist()) for c in found.changed] == [(0, [2]), (2, [2]), (4, [2])]
    back = _editor(made).set(2, {0: "=1+1", 2: "-2147483648", 4: "3.4028235e38"})
    assert dnt.write(back) == dnt.write(edit.table)


def test_rows_come_and_go() -> None:
    edit = _editor()
    made = edit.add(9, {0: "새 것", 4: "1.5"})
    assert _editor(made).values(4) == ["새 것", 0, 0, 0.0, 1.5, 0.0, ""]
    with pytest.raises(UserError, match="id 2 already"):
        edit.add(2, {})
    assert len(edit.add(2, {}, twice=True)) == 5
    assert dnt.write(_editor(made).delete([4])) == dnt.write(edit.table)
    assert _editor(made).delete([0, 1, 2, 3, 4]).ids.tolist() == []


@pytest.mark.parametrize(
    ("column", "text", "words"),
    [
        (0, "ก", "character .*which the encoding Korean"),
        (0, "x" * 65536, "65536 bytes"),
        (1, "yes", "is no bool"),
        (2, "2147483648", "is no int, expected a whole number"),
        (2, "1.5", "is no int"),
        (2, "", "is no int"),
        (4, "4e38", "is no float"),
        (4, "nan:00000001", "is no float"),
        (5, "nan:7ff80000", "is no double"),
    ],
)
def test_a_value_that_cannot_be_is_refused(column: int, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        _editor().set(0, {column: text})


def test_columns_are_named() -> None:
    edit = _editor()
    assert [edit.column(name) for name in ("_N", "n", "#2", "_name")] == [2, 2, 2, 0]
    with pytest.raises(UserError, match='no column "_Nothing"'):
        edit.column("_Nothing")
    with pytest.raises(UserError, match="no column"):
        edit.column("#" + "7" * 5000)
    twice = _editor(tables.table(["_A", "_A"], [3, 3], [(1, 1, 1)]))
    with pytest.raises(UserError, match='2 columns are called "_A": say which, #0 or #1'):
        twice.column("_A")


@given(tables.tables())
def test_a_table_is_no_different_from_itself(made: Table) -> None:
    assert not table_diff.compare(made, tables.read(dnt.write(made), made.form))


def test_differences_are_by_id_and_column() -> None:
    old = tables.table(["_A", "_T", "_Gone"], [3, 1, 3], [(1, 1, b"a", 0), (2, 2, b"b", 0), (2, 3, b"c", 0)])
    new = tables.table(["_T", "_A", "_New"], [1, 5, 3], [(2, b"B", 2.0, 0), (3, b"d", 3.0, 0), (1, b"a", 1.0, 0)])
    found = table_diff.compare(old, new)
    assert (found.removed.tolist(), found.added.tolist()) == ([2], [1])
    assert [(c.old_column, c.new_column, c.old_rows.tolist(), c.new_rows.tolist()) for c in found.changed] == [
        (1, 0, [1], [0])
    ]
    assert (found.removed_columns, found.added_columns) == ([2], [2])
    assert found.facts == ["column _A was int and is float", "rows that both have stand in another order"]
    assert table_diff.compare(old, replace(old, form=EXT, tail=b"")).facts == [
        "the format was DNT and is EXT",
        "the bytes behind the rows was 0554 48454e44 and is empty",
    ]


def test_checks_name_what_is_odd() -> None:
    assert table_check.check(tables.actors(numbers=True)) == []
    odd = replace(tables.mixed(), tail=b"")
    assert {issue.code for issue in table_check.check(odd)} == {
        "table_trailer",
        "table_ids",
        "table_bool",
        "table_text",
    }
    long = tables.table(["_A", "_A"], [TEXT, TEXT], [(1, b"x" * 40000, b"")])
    rest = replace(long, head=3, tail=long.tail + b"more")
    codes = {issue.code for issue in table_check.check(rest)}
    assert codes == {"table_long_text", "table_columns", "table_rest", "table_version"}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("안녕하세요 용사님, 퀘스트를 완료했습니다", "cp949"),
        ("강철 장갑\n가죽 신발\n마법사의 지팡이", "cp949"),
        ("获得装备，攻击力提升", "gb18030"),  # noqa: RUF001
        ("獲得裝備，攻擊力提升", "big5"),  # noqa: RUF001
        ("สวัสดีครับ นักรบผู้กล้า", "tis-620"),
        ("ดาบเหล็ก\nรองเท้าหนัง", "tis-620"),
        ("Épée légère de l’été à côté", "windows-1252"),  # noqa: RUF001
        ("Schwert für Männer", "windows-1252"),
        ("안녕", "utf-8"),
        ("plain", "cp949"),
    ],
)
def test_the_encoding_is_guessed_for_a_whole_table(text: str, encoding: str) -> None:
    python = {"tis-620": "tis_620", "windows-1252": "cp1252"}.get(encoding, encoding)
    rows = [(n, line.encode(python), n) for n, line in enumerate(text.split("\n"))]
    assert table_guess.guess(tables.table(["_T", "_N"], [1, 3], rows)) == encoding


_HEAD = "id,_Name:text,_N:int,_X:float\r\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1, column 1 of the CSV is not the head"),
        ("name,x\n", "line 1, column 1 of the CSV is not the head"),
        ("id format=xls\n", 'line 1, column 1 of the CSV: "format" of the table cannot be "xls": expected dnt or ext'),
        ("id colour=red\n", 'line 1, column 1 .*"colour" says nothing'),
        ("id head=70000\n", "line 1, column 1 .*out of range"),
        (f"id head={'7' * 5000}\n", "line 1, column 1 .*expected a whole number"),
        (_HEAD + f"{'7' * 5000},a,2,3\r\n", r"line 2, column 1 \(id\) of the CSV is no id"),
        (_HEAD + f"1,a,{'7' * 5000},3\r\n", r"line 2, column 3 \(_N\) of the CSV is no int"),
        ("id,a:int,,b:int\n1,2,,3\n", "line 1, column 3 .*does not say its type"),
        ("id,a:int,,\n1,2,,x\n", "line 2, column 4 of the CSV is one cell too many"),
        ("id,_Name\n", "line 1, column 2 .*does not say its type"),
        ("id,a:text,_N:number\n", "line 1, column 3 .*does not say its type"),
        ("id encoding=cp949,ก:int\n", "line 1, column 2 .*does not have"),
        (_HEAD + "1,a,2,3\r\nx,a,2,3\r\n", r"line 3, column 1 \(id\) of the CSV is no id.*found \"x\""),
        (_HEAD + "1,a,2,3\r\n-1,a,2,3\r\n", r"line 3, column 1 \(id\)"),
        (_HEAD + '1,"a\nb",2,3\r\n\r\n2,a,2.5,3\r\n', r"line 5, column 3 \(_N\) of the CSV is no int.*found \"2.5\""),
        (_HEAD + "1,a,2,3\r\n2,a,2,\r\n", r"line 3, column 4 \(_X\) .*is no float.*found an empty cell"),
        (_HEAD + "1,a,2,1e39\r\n", r"line 2, column 4"),
        (_HEAD + "1,ก,2,3\r\n", r"line 2, column 2 \(_Name\) of the CSV: the text holds the character"),
        (_HEAD + "1,a,2,3,4\r\n", "line 2, column 5 of the CSV is one cell too many"),
        (_HEAD + '1,"a",2,3\r\n2,"a"b,2,3\r\n', "line 3, column 2 of the CSV is broken"),
        (_HEAD + '1,"a,2,3\r\n2,"b",2,3\r\n', "line 2, column 2 of the CSV is broken"),
        (_HEAD + '1,a,2,3\r\n2,"b,2,3\r\n', "line 3, column 2 of the CSV is broken"),
        (_HEAD + "1,a\0,2,3\r\n", "line 2 of the CSV holds a NUL"),
    ],
)
def test_a_broken_csv_names_line_and_column(text: str, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        table_csv.read(text.encode())


@pytest.mark.parametrize(
    ("data", "words"),
    [("id,a:text\n1,é".encode("latin-1"), "line 2 .*not in UTF-8"), ("id".encode("utf-16"), "UTF-16")],
)
def test_a_csv_is_utf_8(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        table_csv.read(data)


_JSON = b'{"format": "dnt", "encoding": "cp949", "columns": [["_T", "text"], ["_N", "int"]]}\n'


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "line 1, character 1 is no JSON"),
        (b"[1]\n", "line 1 does not say what the columns are"),
        (b'{"columns": [["a", "thing"]]}\n', "line 1 does not say"),
        (b'{"columns": [], "head": 3}\n', "no text"),
        (b'{"columns": [], "head": "x"}\n', 'line 1: "head" of the table'),
        (_JSON + b'{"id": 1, "_T": "x"}\n', 'line 2 has no "_N"'),
        (_JSON + b'{"id": 1, "_T": "x", "_N": 1, "_M": 2}\n', 'line 2 has "_M"'),
        (_JSON + b'[1, "x"]\n', "line 2 is no row"),
        (_JSON + b'[1, "x", 2]\n\n[2, "x", true]\n', 'line 4, "_N" is no int: .*found true'),
        (_JSON + b'[1, "x", 2.0]\n', 'line 2, "_N" is no int'),
        (_JSON + b"[1, 5, 2]\n", 'line 2, "_T" is no text: found 5'),
        (_JSON + '[1, "ก", 2]\n'.encode(), 'line 2, "_T": the text holds'),
        (_JSON + b'[-1, "x", 2]\n', 'line 2, "id" is no id'),
        (_JSON + b'[1, "x", [2]]\n', 'line 2, "_N" is no int'),
        (_JSON + b'[1, "x", \n', "line 2, character"),
        (_JSON + b'[1, "\xff", 2]\n', "line 2 is not in UTF-8"),
        (_JSON + b"[" * 100_000, "line 2"),
        (_JSON + b'[1, "x", ' + b"9" * 5000 + b"]", "line 2"),
        (_JSON + b'{"id": 1, "_T": "x", "_N": 1, "_T": "y"}\n', 'line 2 says "_T" twice'),
        (b'{"columns": [["a", "int"]], "columns": []}\n', 'line 1 says "columns" twice'),
        (b'{"columns": [], "head": "' + b"7" * 5000 + b'"}\n', 'line 1: "head" of the table'),
        (_JSON + b'[1, "\\ud800", 2]\n', 'line 2, "_T"'),
    ],
)
def test_broken_json_lines_name_the_line(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        table_jsonl.read(data)


def test_every_cut_of_a_table_is_refused_or_has_no_trailer() -> None:
    for form in ("dnt", "ext"):
        data = dnt.write(tables.mixed(form))
        for size in range(len(data)):
            try:
                found = tables.read(data[:size], form)
            except FormatError as error:
                assert error.offset is not None, error  # noqa: PT017
                assert error.offset <= size  # noqa: PT017
            else:
                assert size >= len(data) - 6
                assert dnt.write(found) == data[:size]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bytes(4) + b"\x01\0\xff\xff\xff\xff" + b"\x01\0a\x03" + bytes(40), "4294967295 rows do not fit"),
        (bytes(4) + b"\xff\xff\x01\0\0\0" + bytes(40), "65535 columns do not fit"),
        (bytes(4) + b"\x01\0\x01\0\0\0" + b"\x01\0a\x07" + bytes(40), "type that is not known at byte 13"),
        (b"\0\0\xff\xff", "skipped bytes in the header does not fit"),
        (
            bytes(4) + b"\x01\0\x01\0\0\0\x01\0a\x01" + bytes(4) + b"\xff\xffab",
            "row 0 is cut short: its text of column 0",
        ),
    ],
)
def test_counts_are_checked_before_memory_is_taken(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        dnt.read_dnt(data)


def test_negative_counts_of_an_ext_are_refused() -> None:
    with pytest.raises(FormatError, match="columns do not fit"):
        dnt.read_ext(np.array([0, -1, 0], "<i4").tobytes() + bytes(99))
    with pytest.raises(FormatError, match="type that is not known at byte 76: expected 1 to 6, found 9"):
        dnt.read_ext(np.array([0, 1, 0], "<i4").tobytes() + b"a".ljust(64, b"\0") + b"\x09\0\0\0")


def test_what_a_form_cannot_hold_is_refused() -> None:
    made = tables.mixed()
    with pytest.raises(ExportError, match="65 bytes"):
        dnt.write(replace(made, form=EXT, columns=(replace(made.columns[0], name=b"x" * 65),)))
    with pytest.raises(ExportError, match="no place"):
        dnt.write(replace(made, form=EXT, skipped=b"x"))
    with pytest.raises(ExportError, match="header"):
        dnt.write(replace(made, head=70000))
    with pytest.raises(ExportError, match="65536 bytes"):
        Texts.of([b"x" * 65536])
