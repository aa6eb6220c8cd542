# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of animations that were renamed, hung elsewhere, are missing or new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
from addon.io_common.scene import compat
from addon.io_dragonnest.formats import ani, keys, names, pose
from addon.io_dragonnest.scene import clips

from tests import dragons

from .helpers import dragon_scene, scene
from .helpers.dragon_motion import (
    again,
    away,
    bound,
    brought,
    calm,
    new_action,
    play,
    rig,
    save,
    skins,
    skins_by_row,
    skins_of,
    stretch,
    worst,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_renamed_clips_and_bones(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    clips.listed(rig())[0].name = "서다"
    play(clips.listed(rig())[0])
    rig().data.bones["Bip01 Pelvis"].name = "Hips"
    written = again(tmp_path)
    assert written.clips == ["서다", "공격", "Rest"]
    assert written.bone_names[1] == "Hips"
    assert written.parent_names[2] == "Hips"
    assert written.bone_names[2:] == found.bone_names[2:]
    # Blender renames in the Action in use only; the others still go back as they came, and play.
    for before, after in zip(found.records, written.records, strict=True):
        for one, other in zip(before, after, strict=True):
            assert b"".join(keys.parts(one, 11)) == b"".join(keys.parts(other, 11))
    bpy.ops.dragonnest.clip_play(number=1)
    assert away(skins(clips.listed(rig())[1], [2]), skins_by_row(written, 1, [2], model), model) < 1e-3


def test_a_bone_hung_elsewhere(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    scene.select(rig())
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig().data.edit_bones
    edit["BoxBone01"].parent = edit["Bip01 Head"]
    bpy.ops.object.mode_set(mode="OBJECT")
    written = again(tmp_path)
    assert written.parent_names[7] == "Bip01 Head"
    frames = np.arange(24)
    assert away(skins(item, frames), skins_of(written, 0, frames, model), model) < 1e-3


def test_bones_that_the_armature_lacks(tmp_path: Path) -> None:
    """A warning with names; the rest moves as in the game, in between missing ones too; all bones go back."""
    model, found = calm()
    part = bound(found)
    left = [row for row, name in enumerate(dragons.BONES) if name not in {"Bip01 Pelvis", "BoxBone01"}]
    part.bones = part.bones[left]
    part.submeshes = [dragons.part(4, 4, bones=tuple(dragons.BONES[row] for row in left))]
    brought(tmp_path, part, found)
    text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert '"Bip01 Pelvis", "BoxBone01"' in text
    item = clips.listed(rig())[0]
    assert worst(part, found, 0, item, [0, 11, 23]) < 1e-4
    data = (tmp_path / "hero.ani").read_bytes()
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == data
    for entry in clips.listed(rig()):
        del entry.action["dragonnest_curves"]
    written = again(tmp_path)
    frames = np.arange(24)
    assert written.bone_names == found.bone_names
    assert away(skins_of(found, 0, frames, part), skins_of(written, 0, frames, part), part) < 1e-3
    del model


def test_missing_bones_can_be_added(tmp_path: Path) -> None:
    _model, found = calm()
    part = bound(found)
    part.bones = part.bones[[0, 1, 2]]
    part.submeshes = [dragons.part(4, 4, bones=tuple(dragons.BONES[:3]))]
    brought(tmp_path, part, found, use_missing=True)
    assert {bone.name for bone in rig().data.bones} == set(dragons.BONES)
    assert rig().data.bones["Bip01 Head"].parent.name == "Bip01 Spine"


def test_another_hierarchy_shows_the_same_pose(tmp_path: Path) -> None:
    """Two files whose bones hang differently, on one armature."""
    model, found = calm()
    brought(tmp_path, model, found)
    other = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(other, row, (1.0, 1.0, 1.0))
    links = (-1, 0, 1, 2, 0, 0, 2, -1)
    other.bones = ani.bone_table(dragons.BONES, links)
    other.clip_names = [names.field(name) for name in ("a", "b", "c")]
    data = save(tmp_path / "other.ani", other)
    dragon_scene.bring(tmp_path / "other.ani")
    for clip, item in enumerate(list(clips.listed(rig()))[3:]):
        assert worst(model, other, clip, item, [0, 5, 11][: 1 if clip == 2 else 3]) < 1e-4
    assert dragon_scene.export(tmp_path / "again.ani", rig(), clips="a;b;c") == data
    # All in one file: those that hang otherwise are written anew for the bones of the first.
    written = again(tmp_path)
    assert written.clips == ["Stand", "공격", "Rest", "a", "b", "c"]
    frames = np.arange(12)
    assert away(skins_of(other, 0, frames, model), skins_of(written, 3, frames, model), model) < 1e-3


def test_made_in_blender(tmp_path: Path) -> None:
    """Never imported, in metres: frames one for one, first key at 1, with a note about the rate."""
    data = bpy.data.armatures.new("Own")
    obj = bpy.data.objects.new("Own", data)
    bpy.context.collection.objects.link(obj)
    scene.select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number in range(3):
        bone = data.edit_bones.new(f"Bone {number}")
        bone.head, bone.tail = (0, 0, number * 0.5), (0, 0.1, number * 0.5 + 0.5)
        bone.parent, above = above, bone
    control = data.edit_bones.new("Control")
    control.head, control.tail, control.use_deform = (1, 0, 0), (1, 0, 1), False
    bpy.ops.object.mode_set(mode="OBJECT")
    action = new_action("wave", "Bone 1", "rotation_quaternion", [(1, 0, 1.0), (10, 0, 0.8), (1, 1, 0.0), (10, 1, 0.6)])
    compat.assign_action(obj, action)
    written = again(tmp_path)
    assert (written.version, written.clips, written.lengths.tolist()) == (11, ["wave"], [11])
    assert written.bone_names == ["Bone 0", "Bone 1", "Bone 2"]
    assert written.parent_names == ["Scene Root", "Bone 0", "Bone 1"]
    world = pose.clip_world(written, 0, [0, 10])
    assert np.abs(world[0, :, 3, :3] - [[0, 0, 0], [0, 50, 0], [0, 100, 0]]).max() < 1e-2
    bpy.context.scene.frame_set(10)
    head = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["Bone 2"].head
    assert np.abs(world[1, 2, 3, :3] - np.array(head)[[0, 2, 1]] * 100).max() < 1e-1
    assert "24 frames a second" in bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
