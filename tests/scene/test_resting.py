# SPDX-License-Identifier: GPL-3.0-or-later
"""One animation after another, played or chosen by hand: each shows its own frames and nothing of the one before."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.scene import animation_files, clips, curves, playback, retarget
from addon.io_common.scene import compat, selection

from tests import characters

from .helpers import scene


def apart(frames: np.ndarray, away: float) -> np.ndarray:
    """The last body leaves its joint by `away` units, more and more."""
    found = frames.astype(int)
    last = characters.tube().vertices["owner"] == characters.BODIES - 1
    found[:, last, 1] += (away * 16 * np.linspace(0.5, 1, len(found)))[:, None].astype(int)
    return found.astype(np.int16)


def grown(frames: np.ndarray, size: float) -> np.ndarray:
    """The second body is `size` times as large."""
    own = characters.tube().vertices["owner"] == 1
    middle = frames[:, own].mean(axis=1, keepdims=True)
    found = frames.astype(float)
    found[:, own] = (found[:, own] - middle) * size + middle
    return found.astype(np.int16)


def creature() -> car.Character:
    """One animation as it was, one in which a body comes off, one in which another grows."""
    character = characters.creature()
    one, two, three = character.animations
    character.animations = [
        one,
        Animation(two.name, two.kps, apart(two.frames, 20.0)),
        Animation(three.name, three.kps, grown(three.frames, 1.4)),
    ]
    return character


def shown(obj: bpy.types.Object, frame: float = 1.0) -> np.ndarray:
    """The frame that the viewport shows, in file axes and steps."""
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.array([vertex.co for vertex in evaluated.to_mesh().vertices])[:, [0, 2, 1]]
    evaluated.to_mesh_clear()
    return motion.quantise(points).astype(int)


def choose(obj: bpy.types.Object, number: int, how: str) -> None:
    """Play an animation of the list by the button, or choose its Action by hand."""
    item = clips.animations(obj.data)[number]
    if how == "play":
        playback.play(bpy.context, [obj], item)
    else:
        compat.assign_action(selection.armature_of(obj), item.action)
    bpy.context.scene.frame_set(int(item.action.frame_range[1]) + 1)


@pytest.mark.parametrize("how", ["play", "hand"])
def test_nothing_is_left_of_the_one_before(how: str, tmp_path: Path) -> None:
    """Joints that one animation leaves and sizes that it changes are at rest in all others."""
    character = creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    for before in range(3):
        for after in range(3):
            choose(obj, before, how)
            choose(obj, after, how)
            assert np.abs(shown(obj) - character.animations[after].frames[0]).max() <= 4, (before, after)
    channels = [{curve.data_path for curve in compat.all_curves(item.action)} for item in clips.animations(obj.data)]
    assert channels[0] == channels[1] == channels[2]
    assert {path.rpartition(".")[2] for path in channels[0]} == {"rotation_quaternion", "location", "scale"}
    assert scene.export(tmp_path / "out.car", obj) == data


@pytest.mark.parametrize("how", ["play", "hand"])
def test_an_animation_that_comes_later(how: str, tmp_path: Path) -> None:
    """What it alone moves gets a resting key in the others, which stay exact."""
    character = characters.creature()
    obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")[1]
    playing = selection.armature_of(obj).animation_data.action
    added = apart(character.animations[1].frames, 25.0)
    animation_files.add(bpy.context, obj, Animation(b"", 12, added), "later")
    items = clips.animations(obj.data)
    assert all(curves.is_sealed(item.action) for item in items)
    assert playing == items[0].action
    for after in range(3):
        choose(obj, 3, how)
        choose(obj, after, how)
        assert np.abs(shown(obj) - character.animations[after].frames[0]).max() <= 4
    choose(obj, 3, how)
    assert np.abs(shown(obj) - added[0]).max() <= 4
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert np.array_equal(found.animations[3].frames, added)
    assert characters.same_animations(found.animations[:3], character.animations)


def test_playing_forgets_the_pose(tmp_path: Path) -> None:
    """A bone that no Action keys, posed by hand, is at rest again."""
    obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")[1]
    rig = selection.armature_of(obj)
    rig.pose.bones[1].scale = (2, 2, 2)
    rig.pose.bones[1].location = (0, 9, 0)
    choose(obj, 0, "play")
    assert np.abs(shown(obj) - characters.creature().animations[0].frames[0]).max() <= 2


def test_copied_actions_hold_still_too(tmp_path: Path) -> None:
    """A rig that took Actions from another holds in each what any of the others moves."""
    character = creature()
    source = scene.bring_model(tmp_path / "one.car", character, motion="BONES")[1]
    obj = scene.bring_model(tmp_path / "two.car", characters.creature(), motion="BONES")[1]
    rig = selection.armature_of(obj)
    retarget.retarget(
        bpy.context, retarget.Party.of(bpy.context, obj), retarget.Party.of(bpy.context, selection.armature_of(source))
    )
    choose(obj, 4, "hand")
    for after in range(3):
        choose(obj, after, "hand")
        assert np.abs(shown(obj) - characters.creature().animations[after].frames[0]).max() <= 2
    assert rig.animation_data.action == clips.animations(obj.data)[2].action
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert characters.same_animations(found.animations[:3], characters.creature().animations)
