# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands `table …`: texts of tables and back, rows by their ids, what differs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from addon.io_dragonnest.formats import dnt

from tests import tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def data(folder: Path) -> bytes:
    """A table of every type, at `mixed.dnt`."""
    written = dnt.write(tables.mixed())
    (folder / "mixed.dnt").write_bytes(written)
    return written


def said(capfd: pytest.CaptureFixture[str]) -> Any:
    """The JSON that was printed."""
    return json.loads(capfd.readouterr().out)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_there_and_back(data: bytes, folder: Path, command: Callable[..., int], form: str) -> None:
    """To the byte; what exists is replaced only when told to."""
    assert command("table", "export", "mixed.dnt", "--to", form, "--encoding", "cp949") == 0
    assert command("table", "import", f"mixed.{form}", "--out", "out") == 0
    assert (folder / "out" / "mixed.dnt").read_bytes() == data
    before = (folder / f"mixed.{form}").read_bytes()
    assert command("table", "export", "mixed.dnt", "--to", form, "--encoding", "utf-8") == 1
    assert (folder / f"mixed.{form}").read_bytes() == before
    assert command("table", "export", "mixed.dnt", "--to", form, "--encoding", "utf-8", "--overwrite") == 0
    assert (folder / f"mixed.{form}").read_bytes() != before


def test_a_mark_for_excel(data: bytes, folder: Path, command: Callable[..., int]) -> None:
    assert command("table", "export", "mixed.dnt", "--bom") == 0
    assert (folder / "mixed.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert command("table", "import", "mixed.csv", "--out", "out") == 0
    assert (folder / "out" / "mixed.dnt").read_bytes() == data
    assert command("table", "export", "mixed.dnt", "--to", "jsonl", "--bom") == 2


@pytest.mark.parametrize("form", ["dnt", "ext"])
def test_verify_goes_by_every_way(folder: Path, command: Callable[..., int], form: str) -> None:
    (folder / f"mixed.{form}").write_bytes(dnt.write(tables.mixed(form)))
    assert command("verify", f"mixed.{form}") == 0


def test_a_broken_csv_is_told_with_line_and_column(
    data: bytes, folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    """And nothing is written."""
    assert command("table", "export", "mixed.dnt") == 0
    text = (folder / "mixed.csv").read_text(encoding="utf-8")
    (folder / "mixed.csv").write_text(text.replace("2147483647", "many"), encoding="utf-8", newline="")
    capfd.readouterr()
    assert command("table", "import", "mixed.csv", "--overwrite") == 1
    shown = capfd.readouterr()
    assert "line 3" in shown.out + shown.err
    assert "many" in shown.out + shown.err
    assert (folder / "mixed.dnt").read_bytes() == data


def test_rows_by_id(data: bytes, folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    """Read, changed, added, deleted; the others stay as they were."""
    assert command("table", "get", "mixed.dnt", "1", "--column", "_N", "--json") == 0
    (row,) = [record for record in said(capfd)["rows"] if record["result"] == "found"]
    assert (row["id"], row["row"], row["cells"]) == (1, 0, [["_N", -5]])
    assert command("table", "set", "mixed.dnt", "1", "_N=77", "--out", "new.dnt") == 0
    assert (folder / "mixed.dnt").read_bytes() == data
    changed = dnt.read_dnt((folder / "new.dnt").read_bytes())
    assert int(changed.columns[2].cells[0]) == 77
    capfd.readouterr()
    assert command("table", "diff", "mixed.dnt", "new.dnt", "--json") == 1
    (found,) = said(capfd)["differences"]
    assert (found["result"], found["id"], found["column"]) == ("changed", 1, "_N")
    assert (found["old"], found["new"]) == (-5, 77)
    assert command("table", "add", "new.dnt", "9", "_N=3") == 0
    assert command("table", "delete", "new.dnt", "9") == 0
    assert command("table", "set", "new.dnt", "1", "_N=-5") == 0
    assert (folder / "new.dnt").read_bytes() == data
    assert command("table", "diff", "mixed.dnt", "new.dnt") == 0


def test_two_rows_of_one_id(data: bytes, folder: Path, command: Callable[..., int]) -> None:
    """Which is meant has to be said."""
    assert command("table", "set", "mixed.dnt", "2", "_N=1") == 1
    assert (folder / "mixed.dnt").read_bytes() == data
    assert command("table", "set", "mixed.dnt", "2", "_N=1", "--row", "2") == 0
    assert int(dnt.read_dnt((folder / "mixed.dnt").read_bytes()).columns[2].cells[2]) == 1


@pytest.mark.parametrize(
    "words", [("get", "mixed.dnt", "1", "--column", "none"), ("get", "mixed.dnt", "12345"), ("get", "gone.dnt")]
)
def test_what_is_not_there(data: bytes, command: Callable[..., int], words: tuple[str, ...]) -> None:
    del data
    assert command("table", *words) == 1


def test_info_and_check(data: bytes, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    del data
    assert command("info", "mixed.dnt", "--json") == 0
    assert said(capfd)["files"][0]["summary"]["rows"] == 4
    assert command("check", "mixed.dnt", "--json") == 0
    assert "table_ids" in {finding["code"] for finding in said(capfd)["files"][0]["issues"]}


@pytest.mark.samples("*.dnt")
def test_real_tables(sample: Path, command: Callable[..., int]) -> None:
    assert command("verify", str(sample)) == 0
