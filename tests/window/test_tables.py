# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables on a real screen: a Text Editor shows one, its sidebar draws, and the button writes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import checkout  # noqa: F401 (before the names below)
from addon.io_dragonnest.formats import dnt, table_csv
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
