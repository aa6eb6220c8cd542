# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender starts with a window, with the extension enabled, and its menus show our entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import pytest
from screen import pixels

if TYPE_CHECKING:
    from screen import Screen

MODULE = "bl_ext.user_default.io_carnivores_dragonnest"
LAST_ENTRIES = 12  # how many entries, from the end of a menu, are looked through for ours


def test_a_window_is_on_screen(screen: Screen) -> None:
    assert not bpy.app.background
    assert MODULE in bpy.context.preferences.addons
    assert pixels(screen.photograph()).std() > 0.02, "the screen is blank"


@pytest.mark.parametrize(
    ("letter", "operator"),
    [
        ("i", "IMPORT_SCENE_OT_carnivores_3df"),
        ("i", "IMPORT_SCENE_OT_carnivores_3dn"),
        ("e", "EXPORT_SCENE_OT_carnivores_3df"),
        ("e", "EXPORT_SCENE_OT_carnivores_3dn"),
    ],
)
def test_file_menu_has_our_entry(screen: Screen, letter: str, operator: str) -> None:
    """Open File > Import (or Export) at a click, walk up from its end with the arrow key, and see what Enter opens."""
    bpy.ops.mesh.primitive_cube_add()  # an exporter has something to export
    opened: list[str] = []
    for steps in range(1, LAST_ENTRIES + 1):
        screen.open_menu(letter)
        for _ in range(steps):
            screen.key("UP_ARROW")
        screen.photograph("menu")
        screen.key("RET")
        dialog = screen.wait_for_dialog()
        active = screen.area("FILE_BROWSER", dialog).spaces.active.active_operator
        opened.append(active.bl_rna.identifier)
        screen.close_dialogs()
        if opened[-1] == operator:
            return
    raise AssertionError(f"{operator} is not among the last entries, which open {opened}")
