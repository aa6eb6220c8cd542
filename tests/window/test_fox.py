# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample character of Dragon Nest: dropped on the viewport, dressed, played by a click; every panel is drawn."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import bpy
import checkout  # noqa: F401 (before the names below)
import numpy as np
import pytest
from checkout import CHECKOUT
from screen import watched
from test_sidebar import note_mode

if TYPE_CHECKING:
    from screen import Screen

ASSETS = CHECKOUT / "assets"
CATEGORY = "Dragon Nest"
# Pixels, at Blender's own scale of its interface: from the right edge of the sidebar to the play button of a row, from
# its upper edge to the first row and to the headers of the first panel and, with that folded up, of the second.
PLAY, FIRST_ROW, ROW = 89, 50, 21
HEADER, SECOND_HEADER, THIRD_HEADER = 14, 41, 68


def drop(screen: Screen, name: str) -> None:
    """Do what Blender's own drop target does once it has the paths; confirm the pop-up with the options."""
    before = set(bpy.data.objects) | set(bpy.data.actions)
    with screen.override():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(ASSETS), files=[{"name": name}])
    screen.wait(5)

    def is_in() -> bool:
        return bool((set(bpy.data.objects) | set(bpy.data.actions)) - before)

    if not is_in():
        screen.key("RET")
    screen.wait_until(is_in, f"{name} in the scene", ticks=50)


def open_tab(screen: Screen) -> bpy.types.Region:
    """Show the sidebar of the 3D viewport with our tab in front."""
    area = screen.area()
    area.spaces.active.show_region_ui = True
    sidebar = screen.region("UI", area)
    screen.wait_until(lambda: sidebar.width > 1, "the sidebar to open")
    screen.redraw()
    sidebar.active_panel_category = CATEGORY
    screen.redraw()
    return sidebar


def dressed(screen: Screen) -> bpy.types.Object:
    """Import the fox, its outfit onto the same armature, and its clips; the armature."""
    with screen.override():
        bpy.ops.import_scene.dragonnest_skn(filepath=str(ASSETS / "fox.skn"))
        bpy.ops.import_scene.dragonnest_skn(filepath=str(ASSETS / "fox_ranger.skn"))
        rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
        bpy.context.view_layer.objects.active = rig
        bpy.ops.import_scene.dragonnest_ani(filepath=str(ASSETS / "fox.ani"))
    screen.wait(3)
    return rig


def click_header(screen: Screen, sidebar: bpy.types.Region, depth: int) -> None:
    """Fold up or open the panel whose header is so many pixels below the upper edge."""
    scale = bpy.context.preferences.system.ui_scale
    screen.click(sidebar.x + round(60 * scale), round(sidebar.y + sidebar.height - depth * scale))
    screen.wait(5)
    screen.redraw()


def choose(screen: Screen, obj: bpy.types.Object) -> None:
    with screen.override():
        bpy.ops.object.select_all(action="DESELECT")
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj
    screen.redraw()


def pose_of(rig: bpy.types.Object) -> bytes:
    return np.round([bone.matrix for bone in rig.pose.bones], 3).tobytes()


def test_files_are_dropped_one_after_the_other(screen: Screen) -> None:
    """Materials bring their model along; the clips find the armature by themselves."""
    drop(screen, "fox.skn")
    (rig,) = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert {obj.name for obj in rig.children if obj.type == "MESH" and obj.visible_get()} == {"Head", "Body"}
    assert all(image.size[0] for image in bpy.data.images if image.source == "FILE")
    drop(screen, "fox.ani")
    assert {action.name for action in bpy.data.actions} == {"Fox_Stand", "Fox_Run", "Fox_Attack"}
    assert [obj for obj in bpy.data.objects if obj.type == "ARMATURE"] == [rig]


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Give, per panel of our tab, the modes in which its draw() came to its end."""
    seen: dict[str, list[str]] = {}
    for panel in bpy.types.Panel.__subclasses__():
        if getattr(panel, "bl_category", "") == CATEGORY and panel.bl_space_type == "VIEW_3D":
            seen[panel.__name__] = []
            monkeypatch.setattr(panel, "draw", watched(panel.draw, partial(note_mode, seen[panel.__name__])))
    return seen


def test_every_panel_of_the_tab_draws(screen: Screen, draws: dict[str, list[str]]) -> None:
    """Of the armature in Object and Pose Mode, of a mesh in Object and Edit Mode, and of nothing."""
    rig = dressed(screen)
    sidebar = open_tab(screen)
    choose(screen, bpy.data.objects["Bow"])
    # Folds up the model and the list of clips, opens the material, then those two again.
    for depth in (HEADER, SECOND_HEADER, THIRD_HEADER, SECOND_HEADER, HEADER):
        click_header(screen, sidebar, depth)
    assert draws
    assert not [name for name, modes in draws.items() if "OBJECT" not in modes]
    screen.photograph("mesh")
    with screen.override():
        bpy.ops.object.mode_set(mode="EDIT")
    screen.redraw()
    assert not [name for name, modes in draws.items() if "EDIT_MESH" not in modes]
    with screen.override():
        bpy.ops.object.mode_set(mode="OBJECT")
    choose(screen, rig)
    with screen.override():
        bpy.ops.object.mode_set(mode="POSE")
    screen.redraw()
    assert "POSE" in draws["DRAGONNEST_PT_clips"]
    screen.photograph("pose")
    with screen.override():
        bpy.ops.object.mode_set(mode="OBJECT")
    screen.new_file()
    open_tab(screen)
    screen.photograph("empty")


def test_a_clip_is_played_by_a_click(screen: Screen) -> None:
    """The button in the row of the shot: Action, range and rate are those of the clip, and the fox moves."""
    rig = dressed(screen)
    sidebar = open_tab(screen)
    choose(screen, rig)
    click_header(screen, sidebar, HEADER)  # folds up the model
    screen.photograph("list")
    scale = bpy.context.preferences.system.ui_scale
    x = round(sidebar.x + sidebar.width - PLAY * scale)
    y = round(sidebar.y + sidebar.height - (SECOND_HEADER - HEADER + FIRST_ROW + 2 * ROW) * scale)
    screen.click(x, y)
    scene = bpy.context.scene
    screen.wait_until(lambda: screen.window.screen.is_animation_playing, "the playback", ticks=50)
    assert rig.animation_data.action.name == "Fox_Attack"
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (0, 72, 60)
    poses = set()
    screen.wait_until(lambda: poses.add(pose_of(rig)) or len(poses) > 3, "the pose to change", ticks=100)
    with screen.override():
        bpy.ops.dragonnest.clip_stop()
    assert not screen.window.screen.is_animation_playing
    screen.photograph("stopped")
    click_header(screen, sidebar, HEADER)


def test_the_check_in_the_sidebar(screen: Screen) -> None:
    """A vertex that follows nothing is found, listed, and selected by the button's operator."""
    dressed(screen)
    body = bpy.data.objects["Body"]
    for group in body.vertex_groups:
        group.remove([3])
    choose(screen, body)
    open_tab(screen)
    with screen.override():
        assert bpy.ops.dragonnest.check("INVOKE_DEFAULT") == {"FINISHED"}
    screen.redraw()
    screen.photograph("finding")
    (found,) = bpy.context.window_manager.dragonnest_check.findings
    assert (found.object_name, found.count) == ("Body", 1)
    with screen.override():
        assert bpy.ops.dragonnest.check_select(object_name="Body", code=found.code) == {"FINISHED"}
    screen.redraw()
    screen.photograph("selected")
    assert body.mode == "EDIT"
    with screen.override():
        bpy.ops.object.mode_set(mode="OBJECT")
