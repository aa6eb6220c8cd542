# SPDX-License-Identifier: GPL-3.0-or-later
"""A character comes in by a drop, its animations stand in the sidebar, and are played, renamed, moved and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import checkout  # noqa: F401 (before the names below)
import numpy as np
import pytest
from addon.io_carnivores.formats import car
from addon.io_carnivores.scene import clips
from test_sidebar import open_sidebar

from tests import characters, pictures

if TYPE_CHECKING:
    from pathlib import Path

    from screen import Screen

# Pixels, at Blender's own scale of its interface: how Blender lays out a sidebar with the panel above folded up.
# From the upper edge of the sidebar down to the first panel, the rows of the list and the button below it ...
HEADER, FIRST_ROW, ROW, PLAY = 14, 76, 21, 223
# ... and from its right edge to the names and the facts in a row.
NAME, FACTS = 205, 133


@pytest.fixture
def dropped(screen: Screen, tmp_path: Path) -> bpy.types.Object:
    """Drop a character with three animations, the second with a sound, on the viewport; show its list on top."""
    character = pictures.figure()
    character.sounds = [characters.sound(0.5)]
    character.table = np.array([-1, 0, *[-1] * 62], "<i4").tobytes()
    path = tmp_path / "figure.car"
    path.write_bytes(car.write(character))
    with screen.override():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(tmp_path), files=[{"name": path.name}])
    screen.wait(5)
    if not bpy.data.meshes:
        screen.key("RET")  # a pop-up with the options, which Enter confirms
    screen.wait_until(lambda: bpy.data.meshes, "the character in the scene", ticks=50)
    open_sidebar(screen)
    click(screen, HEADER, NAME)  # folds up the panel above
    screen.redraw()
    return next(obj for obj in bpy.data.objects if obj.type == "MESH")


def click(screen: Screen, depth: int, column: int, *, ctrl: bool = False) -> None:
    """Click into the sidebar, so far below its upper edge and left of its right one."""
    scale = bpy.context.preferences.system.ui_scale
    sidebar = screen.region("UI", screen.area())
    x, y = sidebar.x + sidebar.width - column * scale, sidebar.y + sidebar.height - depth * scale
    screen.click(round(x), round(y), ctrl=ctrl)


def strips() -> list[Any]:
    """The strips on the scene's timeline."""
    editor = bpy.context.scene.sequence_editor
    return [] if editor is None else list(editor.strips if hasattr(editor, "strips") else editor.sequences)


def pose_of(rig: bpy.types.Object) -> bytes:
    """Where all bones are now."""
    return np.round([bone.matrix for bone in rig.pose.bones], 3).tobytes()


def test_an_animation_is_played_by_a_click(screen: Screen, dropped: bpy.types.Object) -> None:
    """Action, range, rate and sound are those of the animation that was chosen and played, and time goes by."""
    scene, item = bpy.context.scene, clips.animations(dropped.data)[1]
    screen.photograph("list")
    click(screen, FIRST_ROW + ROW, FACTS)
    assert getattr(dropped.data, clips.ACTIVE_ANIMATION) == 1, "the second row was not chosen"
    assert dropped.parent.animation_data.action == item.action, "the chosen animation is not shown"
    click(screen, PLAY, NAME)
    screen.wait_until(lambda: screen.window.screen.is_animation_playing, "the playback", ticks=50)
    seen = set()
    screen.wait_until(lambda: seen.add(scene.frame_current) or len(seen) > 3, "frames to go by")
    screen.photograph("playing")
    assert dropped.parent.animation_data.action == item.action
    start, end = item.action.frame_range
    assert (scene.frame_start, scene.frame_end) == (int(start), int(np.ceil(end)))
    assert min(seen) >= scene.frame_start
    assert max(seen) <= scene.frame_end
    (strip,) = strips()
    assert strip.sound == clips.sounds(dropped.data)[0].sound
    assert strip.sound.packed_file is not None
    poses = set()
    screen.wait_until(lambda: poses.add(pose_of(dropped.parent)) or len(poses) > 3, "the pose to change", ticks=100)
    with screen.override():
        assert bpy.ops.carnivores.animation_stop() == {"FINISHED"}
    screen.wait_until(lambda: not screen.window.screen.is_animation_playing, "the end of the playback", ticks=50)
    assert strips() == []


def test_an_animation_is_renamed_moved_and_checked(screen: Screen, dropped: bpy.types.Object) -> None:
    """The name by typing it into the list, the rest by what the buttons call; the file says the same."""
    items = clips.animations(dropped.data)
    click(screen, FIRST_ROW + 2 * ROW, NAME, ctrl=True)
    for letter in "kneel":
        screen.key(letter.upper(), letter)
    screen.photograph("typing")
    screen.key("RET")
    assert [item.name for item in items] == ["nod", "wave", "kneel"]
    setattr(dropped.data, clips.ACTIVE_ANIMATION, 2)
    with screen.override():
        for _ in range(2):
            assert bpy.ops.carnivores.animation_move(direction="UP") == {"FINISHED"}
        items[0].kps = 0
        assert bpy.ops.carnivores.check(game="C2") == {"FINISHED"}
    screen.photograph("moved")
    assert [item.name for item in items] == ["kneel", "nod", "wave"]
    findings = bpy.context.window_manager.carnivores.findings
    assert "no-rate" in {finding.code for finding in findings}
    assert any('"kneel"' in finding.message for finding in findings)
