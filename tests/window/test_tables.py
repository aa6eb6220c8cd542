# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables on a real screen: a Text Editor shows one, its sidebar draws, and the button writes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import checkout  # noqa: F401 (before the names below)
from addon.io_dragonnest.formats import dnt, pak, pak_write, table_csv
from screen import watched

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from screen import Screen

CATEGORY = "Dragon Nest"
TABLE = """id format=dnt encoding=cp949,_Name:text,_Flag:bool,_N:int
1,전사,1,-5
2,"a ""quoted"" text, in
two lines",0,7
"""


def test_table_in_the_text_editor(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "items.dnt"
    path.write_bytes(dnt.write(table_csv.read(TABLE.encode())))
    drawn: list[str] = []
    panel = bpy.types.DRAGONNEST_PT_table
    monkeypatch.setattr(panel, "draw", watched(panel.draw, lambda context: drawn.append(context.space_data.text.name)))
    area = screen.area()
    area.type = "TEXT_EDITOR"
    screen.wait(3)
    with screen.override(area):
        assert bpy.ops.dragonnest.table_open(filepath=str(path)) == {"FINISHED"}
    block = area.spaces.active.text
    assert block is not None, "the Text Editor does not show the table"
    area.spaces.active.show_region_ui = True
    sidebar = screen.region("UI", area)
    screen.wait_until(lambda: sidebar.width > 1, "the sidebar to open")
    screen.redraw()
    sidebar.active_panel_category = CATEGORY
    screen.redraw()
    screen.photograph("table")
    assert block.name in drawn
    block.from_string(block.as_string().replace(",-5", ",12"))
    with screen.override(area):
        assert bpy.ops.dragonnest.table_write.poll()
        assert bpy.ops.dragonnest.table_write() == {"FINISHED"}
    assert dnt.read_dnt(path.read_bytes()).columns[2].cells[0] == 12
    block.from_string('id,_N:int\n1,"broken\n')
    screen.redraw()
    screen.photograph("broken")


def test_a_table_of_an_archive_and_the_dialog_for_a_patch(screen: Screen, tmp_path: Path) -> None:
    """The panel says where the table is from; the dialog proposes its entry, and a new archive behind the others."""
    table = tmp_path / "items.dnt"
    table.write_bytes(dnt.write(table_csv.read(TABLE.encode())))
    path = tmp_path / "Resource1.pak"
    pak_write.pack(path, {"\\resource\\ext\\items.dnt": table})
    area = screen.area()
    area.type = "TEXT_EDITOR"
    screen.wait(3)
    try:
        with screen.override(area):
            bpy.ops.dragonnest.archive_mount(filepath=str(path))
            bpy.ops.dragonnest.archive_import(names="items.dnt")
        block = area.spaces.active.text
        area.spaces.active.show_region_ui = True
        sidebar = screen.region("UI", area)
        screen.wait_until(lambda: sidebar.width > 1, "the sidebar to open")
        screen.redraw()
        sidebar.active_panel_category = CATEGORY
        screen.redraw()
        screen.photograph("of an archive")
        with screen.override(area):
            bpy.ops.dragonnest.archive_table("INVOKE_DEFAULT", text=block.name)
        dialog = screen.wait_for_dialog()
        browser = screen.area("FILE_BROWSER", dialog)
        operator = browser.spaces.active.active_operator
        assert operator.entry_name == "\\resource\\ext\\items.dnt"
        assert operator.filepath == str(tmp_path / "Resource2.pak")
        screen.wait(5)
        screen.photograph("patch")
        buttons = screen.region("EXECUTE", browser)
        screen.click(buttons.x + buttons.width - 60, buttons.y + buttons.height // 2, dialog)
        screen.wait_until((tmp_path / "Resource2.pak").exists, "the patch", ticks=100)
        screen.wait(5)
        with pak.open_archive(tmp_path / "Resource2.pak") as archive:
            assert archive.read(0) == table.read_bytes()
        assert block["dragonnest_archive"] == str(tmp_path / "Resource2.pak")
    finally:
        bpy.ops.dragonnest.archive_unmount(which="ALL")
        screen.close_dialogs()
