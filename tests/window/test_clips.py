# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips of an animation: the list in the file dialog, and the list in the sidebar."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import bpy
import pytest
from screen import watched

if TYPE_CHECKING:
    from pathlib import Path

    from screen import Screen

OPERATOR = "IMPORT_SCENE_OT_dragonnest_ani"
NAMES = ("Stand", "Run", "Attack", "Run Back")


def animation() -> bytes:
    """An ANI of version 10: two bones that do not move, four clips."""
    header = b"Eternity Engine Ani File 0.1".ljust(256, b"\0") + struct.pack("<3i", 10, 2, len(NAMES))
    out = header.ljust(1024, b"\0")
    out += b"".join(name.encode().ljust(256, b"\0") for name in NAMES)
    out += struct.pack(f"<{len(NAMES)}i", *(10 * number + 10 for number in range(len(NAMES))))
    for name, parent, height in (("Root", "Scene Root", 0.0), ("Head", "Root", 50.0)):
        out += name.encode().ljust(256, b"\0") + parent.encode().ljust(256, b"\0") + bytes(512)
        out += (struct.pack("<10f", 0, height, 0, 0, 0, 0, 1, 1, 1, 1) + bytes(12)) * len(NAMES)
    return out


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hero.ani"
    path.write_bytes(animation())
    return path


def armature() -> bpy.types.Object:
    (found,) = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    return found


def choose(screen: Screen, file: Path) -> tuple[bpy.types.Window, Any]:
    """Choose `file` in the dialog; its window and the operator behind it."""
    dialog = screen.wait_for_dialog()
    space = screen.area("FILE_BROWSER", dialog).spaces.active
    space.params.directory, space.params.filename = str(file.parent).encode(), file.name
    screen.wait(20)
    space.params.filename = file.name
    screen.redraw()
    screen.wait(5)
    return dialog, space.active_operator


def test_clips_are_ticked_in_the_dialog(screen: Screen, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[str] = []
    kind = bpy.types.DRAGONNEST_UL_clip_choices
    draw = kind.draw_item

    # Blender counts the arguments.
    def draw_and_tell(
        self: Any, context: Any, layout: Any, data: Any, item: Any, icon: Any, active: Any, prop: Any, index: Any
    ) -> None:
        draw(self, context, layout, data, item, icon, active, prop, index)
        rows.append(item.name)

    monkeypatch.setattr(kind, "draw_item", draw_and_tell)
    with screen.override():
        bpy.ops.import_scene.dragonnest_ani("INVOKE_DEFAULT")
    dialog, operator = choose(screen, file)
    assert [item.name for item in operator.choices] == list(NAMES)
    assert set(rows) == set(NAMES), "rows of the list were not drawn"
    screen.photograph("clips in the dialog")
    operator.no_clips = True
    operator.choices[1].use = True
    operator.choices[3].use = True
    operator.other_clips = True
    assert [item.use for item in operator.choices] == [True, False, True, False]
    buttons = screen.region("EXECUTE", screen.area("FILE_BROWSER", dialog))
    screen.click(buttons.x + buttons.width - 60, buttons.y + buttons.height // 2, dialog)
    screen.wait_until(lambda: screen.dialog is None, "the dialog to close")
    assert [item.name for item in armature().data.dragonnest_clips] == ["Stand", "Attack"]


def test_clips_in_the_sidebar(screen: Screen, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    panel = bpy.types.DRAGONNEST_PT_clips
    monkeypatch.setattr(panel, "draw", watched(panel.draw, lambda context: drawn.append(context.mode)))
    with screen.override():
        bpy.ops.import_scene.dragonnest_ani(filepath=str(file))
    area = screen.area()
    area.spaces.active.show_region_ui = True
    screen.redraw()
    region = screen.region("UI", area)
    region.active_panel_category = "Dragon Nest"
    screen.redraw()
    screen.photograph("sidebar")
    assert "OBJECT" in drawn, "the panel was never drawn"
    with screen.override():
        bpy.ops.dragonnest.clip_play(number=2)
    screen.wait(10)
    assert screen.window.screen.is_animation_playing
    assert bpy.context.scene.frame_end == 29
    with screen.override():
        bpy.ops.dragonnest.clip_stop()
    assert not screen.window.screen.is_animation_playing


def test_more_clips_of_the_same_file(screen: Screen, file: Path) -> None:
    with screen.override():
        bpy.ops.import_scene.dragonnest_ani(filepath=str(file), clips="run*")
        bpy.ops.dragonnest.clip_load()
    dialog = screen.wait_for_dialog()
    screen.wait(20)
    operator = screen.area("FILE_BROWSER", dialog).spaces.active.active_operator
    assert [item.use for item in operator.choices] == [True, False, True, False]
    screen.close_dialogs()
