# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows on the command line: every line that is said, what is refused; by which way a table differs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from addon.io_dragonnest.formats import dnt
from addon.io_dragonnest.formats.table import EXT

from tests import tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a DNT and an EXT."""
    (tmp_path / "all.dnt").write_bytes(dnt.write(tables.mixed()))
    (tmp_path / "old.ext").write_bytes(dnt.write(tables.mixed(EXT)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _json(capfd: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capfd.readouterr().out)


def test_verify_says_by_which_way_a_table_differs(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from addon.io_dragonnest.formats import table_csv

    whole = table_csv.read
    monkeypatch.setattr(table_csv, "read", lambda data: replace(whole(data), tail=b"\x05THE"))
    assert command("verify", "all.dnt", "-q", "--json") == 1
    found = _json(capfd)["files"][0]
    assert (found["result"], found["way"], found["field"]) == ("differs", "CSV", "trailer")
    assert command("verify", "all.dnt", "-q") == 1
    assert "by way of CSV: trailer" in capfd.readouterr().out


def test_files_that_exist_are_left(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert command("table", "export", "all.dnt") == 0
    text = (folder / "all.csv").read_bytes()
    assert command("table", "export", "all.dnt") == 1
    assert "all.csv: the file exists already; --overwrite replaces it." in capfd.readouterr().err
    (folder / "all.csv").write_bytes(text.replace(b"-5,", b"-6,"))
    assert command("table", "import", "all.csv") == 1
    assert command("table", "import", "all.csv", "--overwrite") == 0
    assert dnt.read_dnt((folder / "all.dnt").read_bytes()).columns[2].cells[0] == -6


def test_rows_are_read_by_id(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    assert command("table", "get", "all.dnt", "2", "--column", "Name", "--column", "#2") == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines == [
        'id 2, row 1: _Name "007", _N 2147483647',
        'id 2, row 2: _Name "=1+1", _N -2147483648',
        "2 rows: 2 found, 0 failed",
    ]
    assert command("table", "get", "old.ext", "--json") == 0
    found = _json(capfd)
    assert [row["id"] for row in found["rows"]] == [1, 2, 2, 4294967295]
    assert found["rows"][0]["cells"][0] == ["_Name", "전사"]
    assert command("table", "get", "all.dnt", "9", "1", "-q") == 1
    assert "all.dnt: there is no row with the id 9." in capfd.readouterr().err


def test_cells_are_set(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    before = (folder / "all.dnt").read_bytes()
    assert command("table", "set", "all.dnt", "2", "N=5") == 1
    assert "2 rows have the id 2: say which, row 1, 2." in capfd.readouterr().err
    assert (folder / "all.dnt").read_bytes() == before
    assert command("table", "set", "all.dnt", "2", "N=5", "_Name=a=b", "--row", "2", "--out", "new.dnt") == 0
    assert capfd.readouterr().out.splitlines()[:2] == [
        '  id 2, row 2, _Name: "=1+1" -> "a=b"',
        "  id 2, row 2, _N: -2147483648 -> 5",
    ]
    assert (folder / "all.dnt").read_bytes() == before
    assert command("table", "diff", "all.dnt", "new.dnt", "--json") == 1
    found = _json(capfd)["differences"]
    assert [(entry["column"], entry["old"], entry["new"]) for entry in found] == [
        ("_Name", "=1+1", "a=b"),
        ("_N", -2147483648, 5),
    ]
    assert command("table", "set", "new.dnt", "2", "N=-2147483648", "_Name==1+1", "--row", "2") == 0
    assert (folder / "new.dnt").read_bytes() == before
    assert command("table", "diff", "all.dnt", "new.dnt") == 0


def test_rows_are_added_and_deleted(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "old.ext").read_bytes()
    assert command("table", "add", "old.ext", "77", "Name=새", "X=1.5") == 0
    assert capfd.readouterr().out.splitlines()[0] == "+ id 77, row 4"
    assert command("table", "add", "old.ext", "77") == 1
    assert command("table", "add", "old.ext", "77", "--twice") == 0
    assert command("table", "delete", "old.ext", "77") == 1
    assert command("table", "delete", "old.ext", "77", "--row", "5") == 0
    assert command("table", "delete", "old.ext", "77") == 0
    assert (folder / "old.ext").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["set", "all.dnt", "1", "N"],
        ["set", "all.dnt", "1", "N=1", "_N=2"],
        ["delete", "all.dnt", "1", "2", "--row", "1"],
        ["export", "all.dnt", "--to", "jsonl", "--bom"],
        ["export", "all.dnt", "--encoding", "latin-9"],
        ["get", "all.dnt", "one"],
        [],
    ],
    ids=" ".join,
)
def test_wrong_usage(folder: Path, command: Callable[..., int], words: list[str]) -> None:
    before = (folder / "all.dnt").read_bytes()
    assert command("table", *words) == 2
    assert (folder / "all.dnt").read_bytes() == before


def test_other_files_are_no_tables(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.txt").write_text("words")
    assert command("table", "get", "x.txt") == 1
    assert "x.txt: this is no table: expected a DNT or EXT." in capfd.readouterr().err
    assert command("table", "get", "nothing.dnt") == 1
    assert command("table", "diff", "nothing.dnt", "all.dnt") == 1
