# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender starts with a window, with the extension enabled and without a word of complaint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from screen import pixels

if TYPE_CHECKING:
    from screen import Screen

MODULE = "bl_ext.user_default.io_carnivores_dragonnest"


def test_a_window_is_on_screen(screen: Screen) -> None:
    assert not bpy.app.background
    assert screen.window.width > 1000
    picture = pixels(screen.photograph())
    assert picture.std() > 0.02, "the screen is blank"


def test_extension_is_enabled(screen: Screen) -> None:
    assert MODULE in bpy.context.preferences.addons


def test_file_menu_opens_at_a_click(screen: Screen) -> None:
    before = pixels(screen.photograph("before"))
    screen.click(42, screen.window.height - 14)
    after = pixels(screen.photograph("open"))
    changed = np_changed(before, after)
    assert changed[-400:, :300].mean() > 0.2, "no menu appeared under the click"


def np_changed(before, after):
    return (abs(before - after) > 0.02).any(axis=2)
