# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables open as texts, a .blend in between, and are written back; a broken text changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest
from addon.io_dragonnest.formats import dnt, table_csv
from addon.io_dragonnest.formats.table import DNT, EXT

from tests import tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_texts() -> Iterator[None]:
    """Start and end without texts."""
    _clear()
    yield
    _clear()


def _clear() -> None:
    for text in list(bpy.data.texts):
        bpy.data.texts.remove(text)


def _open(*paths: Path, **options: Any) -> set[str]:
    files = [{"name": path.name} for path in paths]
    return set(bpy.ops.dragonnest.table_open(directory=str(paths[0].parent), files=files, **options))


@pytest.mark.parametrize("form", [DNT, EXT])
def test_a_table_comes_back_by_a_saved_blend(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"items.{form}"
    data = dnt.write(tables.mixed(form))
    path.write_bytes(data)
    assert _open(path) == {"FINISHED"}
    (text,) = bpy.data.texts
    assert text.name == "items.csv"
    assert text.lines[0].body.startswith(f'"id format={form} encoding=cp949","_Name:text","_Flag:bool"')
    path.unlink()
    blend = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert bpy.ops.dragonnest.table_write(text="items.csv") == {"FINISHED"}
    assert path.read_bytes() == data


def test_an_edit_is_written_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "items.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    _open(path)
    text = bpy.data.texts["items.csv"]
    text.from_string(text.as_string().replace(",-5,", ",12,").replace("전사", "궁수"))
    assert bpy.ops.dragonnest.table_write(text=text.name) == {"FINISHED"}
    made = dnt.read_dnt(path.read_bytes())
    assert made.columns[0].cells[0] == "궁수".encode("cp949")
    assert made.columns[2].cells[0] == 12
    assert bpy.ops.dragonnest.table_write(text=text.name, encoding="UTF-8") == {"FINISHED"}
    assert dnt.read_dnt(path.read_bytes()).columns[0].cells[0] == "궁수".encode()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (",-5,", ",five,", r'items.csv: line 2, column 4 \(_N\) of the CSV is no int: .* found "five"'),
        (",-5,", ",", r'line 2, column 4 \(_N\) of the CSV is no int: .* found "0.25"'),
        ("전사", "ก", r"line 2, column 2 \(_Name\) of the CSV: the text holds"),
        ('"전사"', '"전사', "line 2, column 2 of the CSV is broken"),
        (":bool", ":flag", "line 1, column 3 of the CSV: the head of the column"),
        ("format=dnt", "format=ext", "says format=ext, which the name of the file does not"),
    ],
)
def test_a_broken_text_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "items.dnt"
    data = dnt.write(tables.mixed())
    path.write_bytes(data)
    _open(path)
    text = bpy.data.texts["items.csv"]
    text.from_string(text.as_string().replace(old, new))
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.dragonnest.table_write(text=text.name)
    assert path.read_bytes() == data
    assert [entry.name for entry in tmp_path.iterdir()] == ["items.dnt"]


def test_a_file_that_changed_meanwhile_is_left(tmp_path: Path) -> None:
    path = tmp_path / "items.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    _open(path)
    path.write_bytes(dnt.write(tables.actors(numbers=True)))
    with pytest.raises(RuntimeError, match=r"items.dnt: the file is not the one that was opened"):
        bpy.ops.dragonnest.table_write(text="items.csv")
    assert path.read_bytes() == dnt.write(tables.actors(numbers=True))
    assert bpy.ops.dragonnest.table_write(text="items.csv", use_overwrite=True) == {"FINISHED"}
    assert path.read_bytes() == dnt.write(tables.mixed())


def test_a_new_text_becomes_a_table(tmp_path: Path) -> None:
    text = bpy.data.texts.new("mine")
    text.from_string("id,_Name:text,_N:int\n5,new,7\n")
    with pytest.raises(RuntimeError, match="mine: the text did not come from a table"):
        bpy.ops.dragonnest.table_write(text="mine")
    with pytest.raises(RuntimeError, match=r"ends in \.dnt or \.ext"):
        bpy.ops.dragonnest.table_write_as(text="mine", filepath=str(tmp_path / "mine.csv"))
    path = tmp_path / "mine.dnt"
    assert bpy.ops.dragonnest.table_write_as(text="mine", filepath=str(path)) == {"FINISHED"}
    assert dnt.read_dnt(path.read_bytes()).columns[0].cells[0] == b"new"
    text.from_string(text.as_string().replace("new", "newer"))
    assert bpy.ops.dragonnest.table_write(text="mine") == {"FINISHED"}
    assert dnt.read_dnt(path.read_bytes()).columns[0].cells[0] == b"newer"
    with pytest.raises(RuntimeError, match='there is no text "other"'):
        bpy.ops.dragonnest.table_write(text="other")


def test_one_bad_table_does_not_stop_the_others(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.dnt", tmp_path / "bad.dnt"
    good.write_bytes(dnt.write(tables.mixed()))
    bad.write_bytes(good.read_bytes()[:-40])
    assert _open(good, bad) == {"FINISHED"}
    assert [text.name for text in bpy.data.texts] == ["good.csv"]
    with pytest.raises(RuntimeError, match=r"bad.dnt: row 3 is cut short"):
        _open(bad)
    assert len(bpy.data.texts) == 1


def test_the_encoding_may_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "items.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    assert _open(path, encoding="BIG5") == {"FINISHED"}
    text = bpy.data.texts["items.csv"]
    assert "encoding=big5" in text.lines[0].body
    assert bpy.ops.dragonnest.table_write(text=text.name) == {"FINISHED"}
    assert path.read_bytes() == dnt.write(tables.mixed())
    assert table_csv.read(text.as_string().encode()).form == DNT


def test_other_data_is_left_alone(tmp_path: Path) -> None:
    before = len(bpy.data.objects)
    path = tmp_path / "items.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    _open(path)
    assert len(bpy.data.objects) == before
    assert len(bpy.data.texts) == 1
