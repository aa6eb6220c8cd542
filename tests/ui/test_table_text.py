# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables in the Text Editor: opened as CSV, edited, written back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy
import pytest
from addon.io_dragonnest.formats import dnt
from addon.io_dragonnest.scene import table_block

from tests import tables


def opened(path: Path, **options: str) -> bpy.types.Text:
    """The Text that a table becomes."""
    before = set(bpy.data.texts)
    assert bpy.ops.dragonnest.table_open(filepath=str(path), **options) == {"FINISHED"}
    (made,) = set(bpy.data.texts) - before
    return made


def replace(block: bpy.types.Text, old: str, new: str) -> None:
    """Edit the text, once."""
    text = block.as_string()
    assert text.count(old) >= 1
    block.from_string(text.replace(old, new, 1))


@pytest.mark.parametrize("form", ["dnt", "ext"])
@pytest.mark.parametrize("reopened", [False, True])
def test_back_to_the_byte(tmp_path: Path, form: str, *, reopened: bool) -> None:
    """Also through a saved .blend, and over the file it came from."""
    data = dnt.write(tables.mixed(form))
    path = tmp_path / f"mixed.{form}"
    path.write_bytes(data)
    name = opened(path, encoding="cp949").name
    if reopened:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    path.unlink()
    assert bpy.ops.dragonnest.table_write(text=name) == {"FINISHED"}
    assert path.read_bytes() == data


def test_every_character_survives_the_editor(tmp_path: Path) -> None:
    """Of the first planes, between two others; Blender must keep, or the CSV escape, each."""
    rows = []
    for first in range(0, 0x20000, 0x100):
        chars = [chr(code) for code in range(first, first + 0x100) if not 0xD800 <= code < 0xE000]
        rows.append((first, "x".join(["", *chars, ""]).encode()))
    path = tmp_path / "characters.dnt"
    data = dnt.write(tables.table(["_Text"], [1], rows))
    path.write_bytes(data)
    block = opened(path, encoding="utf-8")
    path.unlink()
    assert bpy.ops.dragonnest.table_write(text=block.name) == {"FINISHED"}
    assert path.read_bytes() == data


def test_an_edit_changes_its_cell_only(tmp_path: Path) -> None:
    path, other = tmp_path / "mixed.dnt", tmp_path / "other.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    block = opened(path)
    replace(block, "2147483647", "12")
    assert bpy.ops.dragonnest.table_write_as(text=block.name, filepath=str(other)) == {"FINISHED"}
    assert path.read_bytes() == dnt.write(tables.mixed())
    wanted, found = tables.mixed(), dnt.read_dnt(other.read_bytes())
    assert int(found.columns[2].cells[1]) == 12
    wanted.columns[2].cells[1] = 12
    assert other.read_bytes() == dnt.write(wanted)


def test_a_broken_csv_says_where(tmp_path: Path) -> None:
    """One sentence with line and column; the file stays."""
    path = tmp_path / "mixed.dnt"
    data = dnt.write(tables.mixed())
    path.write_bytes(data)
    block = opened(path)
    replace(block, "2147483647", "many")
    with pytest.raises(RuntimeError, match=r"line 3.*many") as caught:
        bpy.ops.dragonnest.table_write(text=block.name)
    assert "mixed.dnt" in str(caught.value)
    assert path.read_bytes() == data


def test_what_is_no_table_makes_no_text(tmp_path: Path) -> None:
    path = tmp_path / "broken.dnt"
    path.write_bytes(dnt.write(tables.mixed())[:60])
    before = len(bpy.data.texts)
    with pytest.raises(RuntimeError, match=r"broken\.dnt"):
        bpy.ops.dragonnest.table_open(filepath=str(path))
    with pytest.raises(RuntimeError, match=r"gone\.dnt"):
        bpy.ops.dragonnest.table_open(filepath=str(tmp_path / "gone.dnt"))
    assert len(bpy.data.texts) == before


def test_a_text_of_its_own_is_no_table() -> None:
    block = bpy.data.texts.new("notes")
    assert not table_block.is_table(block)
    with pytest.raises(RuntimeError, match="opened from a table"):
        bpy.ops.dragonnest.table_write(text="notes")


def test_the_panel_names_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "mixed.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    assert table_block.encoding_of(opened(path, encoding="big5")) == "Traditional Chinese (Big5)"
    assert table_block.place(opened(path)) == path


@pytest.mark.samples("*.dnt")
def test_real_tables(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / sample.name
    path.write_bytes(sample.read_bytes())
    block = opened(path)
    path.unlink()
    assert bpy.ops.dragonnest.table_write(text=block.name) == {"FINISHED"}
    assert path.read_bytes() == sample.read_bytes()


def test_a_file_that_changed_meanwhile_is_left(tmp_path: Path) -> None:
    path = tmp_path / "items.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    block = opened(path)
    other = dnt.write(tables.actors(numbers=True))
    path.write_bytes(other)
    with pytest.raises(RuntimeError, match=r"items\.dnt: another program has changed the file"):
        bpy.ops.dragonnest.table_write(text=block.name)
    assert path.read_bytes() == other
    assert bpy.ops.dragonnest.table_write(text=block.name, use_overwrite=True) == {"FINISHED"}
    assert path.read_bytes() == dnt.write(tables.mixed())
    replace(block, "-5,", "-6,")
    assert bpy.ops.dragonnest.table_write(text=block.name) == {"FINISHED"}


def test_a_new_text_becomes_a_table(tmp_path: Path) -> None:
    block = bpy.data.texts.new("mine")
    block.from_string("id,_Name:text,_N:int\n5,new,7\n")
    assert table_block.is_csv(block)
    path = tmp_path / "mine.dnt"
    assert bpy.ops.dragonnest.table_write_as(text="mine", filepath=str(path)) == {"FINISHED"}
    assert dnt.read_dnt(path.read_bytes()).columns[0].cells[0] == b"new"
    replace(block, "new", "newer")
    assert bpy.ops.dragonnest.table_write(text="mine") == {"FINISHED"}
    assert dnt.read_dnt(path.read_bytes()).columns[0].cells[0] == b"newer"


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are no text")
def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.dnt"))
    path.write_bytes(dnt.write(tables.mixed()))
    block, rows = table_block.open_table(path)
    assert rows == 4
    assert not table_block.is_table(block)


def test_what_was_undone_is_no_other_program(tmp_path: Path) -> None:
    """The Text forgets by Undo that it was written; the file still is as this Blender left it."""
    path = tmp_path / "mixed.dnt"
    path.write_bytes(dnt.write(tables.mixed()))
    before = path.read_bytes()
    bpy.ops.ed.undo_push(message="before")
    name = opened(path).name
    bpy.ops.ed.undo_push(message="opened")
    replace(bpy.data.texts[name], ",-5,", ",12,")
    bpy.ops.ed.undo_push(message="edited")
    assert bpy.ops.dragonnest.table_write(text=name) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="written")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert ",-5," in bpy.data.texts[name].as_string()
    assert bpy.ops.dragonnest.table_write(text=name) == {"FINISHED"}
    assert path.read_bytes() == before
    other = opened(path)
    replace(other, ",-5,", ",13,")
    assert bpy.ops.dragonnest.table_write(text=other.name) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="another program has changed"):
        bpy.ops.dragonnest.table_write(text=name)
