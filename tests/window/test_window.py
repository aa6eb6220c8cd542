# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender starts with a window, with the extension enabled, and its menus show our entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import pytest
from screen import pixels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from screen import Screen

MODULE = "bl_ext.user_default.io_carnivores_dragonnest"
LAST_ENTRIES = 12  # how many entries, from the end of a menu, are looked through for ours
FIRST_ROW, LAST_ROW = 280, 380  # where Import and Export are looked for, in pixels below the top of the window


def test_a_window_is_on_screen(screen: Screen) -> None:
    assert not bpy.app.background
    assert MODULE in bpy.context.preferences.addons
    assert pixels(screen.photograph()).std() > 0.02, "the screen is blank"


@pytest.fixture
def drawn() -> Iterator[list[str]]:
    """Give a list growing by one name whenever the menu Import or Export is drawn."""
    names: list[str] = []

    def note(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
        names.append(type(self).__name__)

    menus = bpy.types.TOPBAR_MT_file_import, bpy.types.TOPBAR_MT_file_export
    for menu in menus:
        menu.prepend(note)
    yield names
    for menu in menus:
        menu.remove(note)


@pytest.mark.parametrize(
    ("menu", "operator"),
    [
        ("TOPBAR_MT_file_import", "IMPORT_SCENE_OT_carnivores_3df"),
        ("TOPBAR_MT_file_import", "IMPORT_SCENE_OT_carnivores_3dn"),
        ("TOPBAR_MT_file_export", "EXPORT_SCENE_OT_carnivores_3df"),
        ("TOPBAR_MT_file_export", "EXPORT_SCENE_OT_carnivores_3dn"),
    ],
)
def test_file_menu_has_our_entry(screen: Screen, drawn: list[str], menu: str, operator: str) -> None:
    """Open File > Import (or Export) with the mouse, walk up from its end with the arrow key, see what Enter opens."""
    bpy.ops.mesh.primitive_cube_add()  # an exporter has something to export
    row = find_row(screen, drawn, menu)
    opened: list[str] = []
    for steps in range(LAST_ENTRIES):
        screen.open_in_file_menu(row)
        screen.key("END")
        for _ in range(steps):
            screen.key("UP_ARROW")
        screen.photograph("menu")
        screen.key("RET")
        screen.wait(10)
        if screen.dialog is None:  # a greyed entry
            for _ in range(3):
                screen.key("ESC")
            opened.append("nothing")
            continue
        dialog = screen.wait_for_dialog()
        active = screen.area("FILE_BROWSER", dialog).spaces.active.active_operator
        opened.append(active.bl_rna.identifier)
        screen.close_dialogs()
        if opened[-1] == operator:
            return
    pytest.fail(f"{operator} is not among the last entries, which open {opened}")


def find_row(screen: Screen, drawn: list[str], menu: str) -> int:
    """Return how many pixels below the top of the window the File menu has the row that opens the submenu."""
    for row in range(FIRST_ROW, LAST_ROW, 10):
        drawn.clear()
        screen.open_in_file_menu(row)
        found = menu in drawn
        for _ in range(3):
            screen.key("ESC")
        if found:
            return row
    raise AssertionError(f"no row of the File menu opens {menu}")
