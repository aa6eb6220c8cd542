# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose keyed on a whole frame of the scene, beside the frame of the file: it is written, and only it."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.scene import clips, curves, frames, kept, stray_keys
from addon.io_carnivores.scene.options import ExportCharacterOptions
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import compat, selection
from mathutils import Quaternion

from tests import characters

from .helpers import scene

KPS = 22


def at_22() -> car.Character:
    """The made creature, its walk at 22 keys a second: no frame but the first is a whole one of a scene at 24."""
    character = characters.creature()
    walk = character.animations[0]
    character.animations[0] = Animation(walk.name, KPS, walk.frames)
    return character


@pytest.fixture
def obj(tmp_path: Path) -> bpy.types.Object:
    """That creature, shown by bones, in a scene of 24 frames a second."""
    bpy.context.scene.render.fps = 24
    return scene.bring_model(tmp_path / "worm.car", at_22(), motion="BONES")[1]


def key(obj: bpy.types.Object, owner: int, frame: float, angle: float = 0.6) -> set[int]:
    """Turn the bone of an owner at a frame and key it, as Auto Keying does; the owners that go with it."""
    rig = selection.armature_of(obj)
    assert rig is not None
    bone = next(entry for entry in rig.pose.bones if entry.bone[kept.OWNER_NUMBER] == owner)
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1, 0, 0), angle)
    bone.keyframe_insert("rotation_quaternion", frame=frame)
    return {entry.bone[kept.OWNER_NUMBER] for entry in (bone, *bone.children_recursive)}


def leaf(obj: bpy.types.Object) -> int:
    """The owner of a bone that carries no other."""
    rig = selection.armature_of(obj)
    assert rig is not None
    return next(int(bone[kept.OWNER_NUMBER]) for bone in rig.data.bones if not bone.children)


def exported(obj: bpy.types.Object, folder: Path) -> car.Character:
    """What a CAR of it holds."""
    return car.read(scene.export(folder / "out.car", obj))


@pytest.mark.parametrize("pairs", [[(7, 5)], [(7, 5), (13, 10)], [(15, 11)]])
def test_a_key_beside_counts_for_the_nearest_frame(
    obj: bpy.types.Object, tmp_path: Path, pairs: list[tuple[int, int]]
) -> None:
    """Of that frame the vertices of that bone differ and nothing else; the user's Action stays as it is."""
    item, made = clips.animations(obj.data)[0], at_22()
    times = frames.sample_times(bpy.context.scene, item)
    compat.assign_action(selection.armature_of(obj), item.action)
    for whole, number in pairs:
        assert 0.02 < abs(times[number] - whole) == np.abs(times - whole).min() or whole > times[-1]
        owners = key(obj, leaf(obj), whole)
    moves = np.isin(made.model.vertices["owner"], list(owners))
    before, actions = curves.fingerprint(item.action), set(bpy.data.actions)
    found = exported(obj, tmp_path)
    assert characters.same_animations(found.animations[1:], made.animations[1:])
    differs = (found.animations[0].frames != made.animations[0].frames).any(axis=2)
    changed = [number for _whole, number in pairs]
    assert not differs[:, ~moves].any()
    assert differs[changed][:, moves].all()
    assert not np.delete(differs, changed, axis=0).any()
    assert curves.fingerprint(item.action) == before
    assert set(bpy.data.actions) == actions


def test_it_is_as_if_the_frame_itself_was_keyed(obj: bpy.types.Object, tmp_path: Path) -> None:
    """Not the way half there: the pose that was set is the pose that is written. And the digest says how many."""
    item = clips.animations(obj.data)[0]
    times = frames.sample_times(bpy.context.scene, item)
    compat.assign_action(selection.armature_of(obj), item.action)
    key(obj, leaf(obj), 7)
    rig = selection.armature_of(obj)
    bone = next(entry for entry in rig.pose.bones if entry.bone[kept.OWNER_NUMBER] == leaf(obj))
    bpy.context.scene.frame_set(7)
    posed = bone.rotation_quaternion.copy()
    digest = Digest()
    with stray_keys.counted(item.action, times) as (action, count):
        assert (count, action != item.action) == (1, True)
        path = bone.path_from_id("rotation_quaternion")
        found = {curve.array_index: curve for curve in compat.all_curves(action) if curve.data_path == path}
        values = [found[index].evaluate(times[5]) for index in range(4)]
    assert np.allclose(values, posed, atol=1e-5)
    options = ExportCharacterOptions()
    frames.Source.of(bpy.context, [obj], options, len(obj.data.vertices), digest).animation(item)
    assert [note for note in digest.notes if '"walk": 1 key lies beside the frames of the file' in note]


def test_what_is_no_file_s_frame_is_left_alone() -> None:
    """Keys deleted to make room, keys far outside, curves of one key: nothing is taken for anything."""
    times = np.linspace(1.0, 9.8, 9)
    full = np.stack((times, np.arange(9.0)), 1)
    assert stray_keys.taken(full, times) is None
    beside = np.insert(full, 3, (4.0, 70.0), axis=0)
    points, at = stray_keys.taken(beside, times)
    assert (points[:, 1].tolist(), at.tolist()) == ([0, 1, 2, 70, 70, 4, 5, 6, 7, 8], [4.0])
    assert stray_keys.taken(np.delete(beside, 2, axis=0), times) is None
    assert stray_keys.taken(np.vstack((full, (12.0, 5.0))), times) is None
    assert stray_keys.taken(np.array([[1.0, 5.0], [4.0, 2.0]]), times) is None
    twice = np.insert(full, 3, [(3.9, 70.0), (4.0, 80.0)], axis=0)
    assert stray_keys.taken(twice, times)[0][5, 1] == 80.0


def test_one_sample_and_none() -> None:
    """Animations of one frame, and of no length."""
    assert stray_keys.taken(np.zeros((0, 2)), np.zeros(0)) is None
    points, _at = stray_keys.taken(np.array([[1.0, 2.0], [1.5, 3.0]]), np.ones(1))
    assert points[0, 1] == 3.0
