# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves vertices beside the curves of an Action is written as the viewport shows it, all else to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion
from addon.io_carnivores.scene import beside, clips, frames, kept
from addon.io_common.scene import compat, selection

from tests import characters

from .helpers import scene

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[bpy.types.Object, bpy.types.Object], None]


def bone_of(rig: bpy.types.Object) -> bpy.types.Bone:
    """A bone that no other hangs on."""
    return next(bone for bone in rig.data.bones if not bone.children)


def seen(obj: bpy.types.Object, item: Any) -> np.ndarray:
    """Positions (N, V, 3) in file axes as the viewport shows them while an Action plays that was chosen by hand."""
    keys = obj.data.shape_keys
    compat.assign_action(keys if keys is not None and item.first_key >= 0 else selection.armature_of(obj), item.action)
    home = np.linalg.inv(np.array(obj.matrix_world))
    found = []
    for time in frames.sample_times(bpy.context.scene, item):
        bpy.context.scene.frame_set(int(time), subframe=float(time - int(time)))
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.array([vertex.co for vertex in evaluated.to_mesh().vertices])
        evaluated.to_mesh_clear()
        along = home @ np.array(evaluated.matrix_world)
        found.append((points @ along[:3, :3].T + along[:3, 3])[:, [0, 2, 1]])
    return np.array(found)


def _constraint(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    target = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(target)
    target.location = (3, 1, 5)
    rig.pose.bones[bone_of(rig).name].constraints.new("DAMPED_TRACK").target = target


def _muted(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    _constraint(obj, rig)
    rig.pose.bones[bone_of(rig).name].constraints[0].mute = True


def _key(obj: bpy.types.Object, _rig: bpy.types.Object) -> Any:
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="bump", from_mix=False)
    key.data[40].co.z += 5
    key.value = 1.0
    return key


def _silent_key(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    _key(obj, rig).value = 0.0


def _driven_key(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    key = _key(obj, rig)
    key.value = 0.0
    key.driver_add("value").driver.expression = "0.5"


def _keyed_key(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    key = _key(obj, rig)
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=9)


def _roll(_obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    name = bone_of(rig).name
    with scene.edit_mode(rig):
        rig.data.edit_bones[name].roll += 0.5


def _mode(_obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    rig.pose.bones[bone_of(rig).name].rotation_mode = "XYZ"


def _axis(_obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    rig.pose.bones[bone_of(rig).name].rotation_mode = "AXIS_ANGLE"


def _driver(_obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    rig.pose.bones[bone_of(rig).name].driver_add("scale", 1).driver.expression = "1.5"


def _inherit(_obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    bone_of(rig).use_inherit_rotation = False


def _orphan(_obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    name = bone_of(rig).name
    with scene.edit_mode(rig):
        rig.data.edit_bones[name].parent = None


def _envelopes(obj: bpy.types.Object, _rig: bpy.types.Object) -> None:
    obj.modifiers[0].use_bone_envelopes = True
    obj.modifiers[0].use_vertex_groups = False


def _volume(obj: bpy.types.Object, _rig: bpy.types.Object) -> None:
    obj.modifiers[0].use_deform_preserve_volume = True


def _carried(_obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    cart = bpy.data.objects.new("Cart", None)
    bpy.context.collection.objects.link(cart)
    rig.parent = cart
    cart.keyframe_insert("location", frame=1)
    cart.location = (0, 0, 2)
    cart.keyframe_insert("location", frame=20)
    bpy.context.scene.frame_set(1)


def _range(obj: bpy.types.Object, _rig: bpy.types.Object) -> None:
    for item in clips.animations(obj.data):
        item.action.frame_end -= 4


@pytest.mark.parametrize(
    ("change", "moves"),
    [
        (_constraint, True),
        (_muted, False),
        (_key, True),
        (_silent_key, False),
        (_driven_key, True),
        (_keyed_key, True),
        (_roll, True),
        (_mode, True),
        (_axis, True),
        (_driver, True),
        (_inherit, True),
        (_orphan, True),
        (_envelopes, True),
        (_volume, False),
        (_carried, True),
        (_range, True),
    ],
)
def test_what_is_shown_is_written(change: Change, tmp_path: Path, *, moves: bool) -> None:
    """All Actions are untouched: what the change does not move is the same to the bit, through a saved .blend too."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    rig = selection.armature_of(obj)
    above = character.model.vertices["owner"] != bone_of(rig)[kept.OWNER_NUMBER]
    above[40] = False  # the vertex that keys move
    change(obj, rig)
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    found = car.read(scene.export(tmp_path / "out.car", obj))
    if not moves:
        assert (tmp_path / "out.car").read_bytes() == data
        return
    assert not characters.same_animations(found.animations, character.animations)
    for item, old, new in zip(clips.animations(obj.data), character.animations, found.animations, strict=True):
        bpy.context.scene.frame_set(1)
        wanted = seen(obj, item)
        assert np.abs(motion.quantise(wanted).astype(int) - new.frames).max() <= 2
        still = (np.abs(wanted - motion.positions(old.frames)) < 0.001).all(axis=2)
        assert np.array_equal(new.frames[still], old.frames[still])
    if change not in (_envelopes, _carried, _range):
        for old, new in zip(character.animations, found.animations, strict=True):
            assert np.array_equal(new.frames[:, above], old.frames[:, above])


@pytest.mark.parametrize("look", ["hidden", "rest", "pinned"])
def test_what_only_helps_to_see_is_no_edit(look: str, tmp_path: Path) -> None:
    """Modifier, pose or keys switched off: Actions are what they were, baked ones too."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    rig = selection.armature_of(obj)
    obj.modifiers[0].show_viewport = look != "hidden"
    rig.data.pose_position = "REST" if look == "rest" else "POSE"
    if look == "pinned":
        _silent_key(obj, rig)
        obj.active_shape_key_index, obj.show_only_shape_key = 1, True
    assert scene.export(tmp_path / "out.car", obj) == data
    curve = compat.all_curves(clips.animations(obj.data)[0].action)[0]
    curve.keyframe_points[-1].interpolation = "CONSTANT"  # shows nothing, but has to be looked at
    assert scene.export(tmp_path / "out.car", obj) == data
    assert obj.modifiers[0].show_viewport == (look != "hidden")
    assert obj.show_only_shape_key == (look == "pinned")


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("change", ["displace", "driven", "constraint", "key", "mute"])
def test_beside_keys(change: str, tmp_path: Path, *, relative: bool) -> None:
    """The same for a character that is shown by shape keys."""
    character = characters.creature()
    mode = "RELATIVE_KEYS" if relative else "KEYS"
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=mode)
    assert beside.keys_alone(obj, modifiers=True)
    if change == "displace":
        group = obj.vertex_groups.new(name="some")
        group.add([5, 6], 1.0, "REPLACE")
        modifier = obj.modifiers.new("Displace", "DISPLACE")
        modifier.strength, modifier.mid_level, modifier.vertex_group = 3.0, 0.0, "some"
    elif change == "driven":
        obj.driver_add("location", 2).driver.expression = "frame / 5"
    elif change == "constraint":
        obj.constraints.new("LIMIT_LOCATION")  # limits nothing
    elif change == "key":
        key = obj.shape_key_add(name="bump", from_mix=False)
        key.data[40].co.z += 5
        key.value = 1.0
    else:
        keys = obj.data.shape_keys.key_blocks
        keys[3].mute = True
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    found = car.read(scene.export(tmp_path / "out.car", obj))
    counts = change in ("displace", "driven") or (relative and change != "constraint")
    assert (car.write(found) != data) == counts
    for item, old, new in zip(clips.animations(obj.data), character.animations, found.animations, strict=True):
        for frame in range(len(old.frames) if change == "displace" else 0):
            differs = (old.frames[frame] != new.frames[frame]).any(axis=1)
            assert np.flatnonzero(differs).tolist() == [5, 6], item.name
        if change == "key" and relative:
            assert np.flatnonzero((old.frames != new.frames).any(axis=(0, 2))).tolist() == [40]
            assert (new.frames[:, 40, 1] == old.frames[:, 40, 1] + 80).all()
