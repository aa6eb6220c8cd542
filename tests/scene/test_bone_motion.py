# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations as bone motion: Actions of recovered bones, and animations fitted onto bones that are there."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion
from addon.io_carnivores.formats.model import name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.scene import animation_files, bake, clips, curves, kept, originals
from addon.io_carnivores.scene.rebake import rebake
from addon.io_common.scene import compat, selection

from tests import characters

from .helpers import scene


@pytest.fixture
def boned(tmp_path: Path) -> bpy.types.Object:
    """A character shown by recovered bones."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    return obj


def shown(obj: bpy.types.Object, action: bpy.types.Action, count: int) -> np.ndarray:
    """Frames (N, V, 3) in file units as Blender evaluates them."""
    times = bake.frame_times(*action.frame_range, count)
    return bake.bake(bpy.context, [bake.Body.of(obj, None)], action, times)[..., [0, 2, 1]]


def test_the_evaluated_mesh_repeats_the_frames(boned: bpy.types.Object) -> None:
    """To within the quantisation, for every animation."""
    character = characters.creature()
    for item, animation in zip(clips.animations(boned.data), character.animations, strict=True):
        away = np.abs(shown(boned, item.action, item.frames) - animation.frames / 16)
        assert away.max() < 0.1
        assert np.allclose(item.action.frame_range, (1, 1 + 24 * motion.seconds(item.frames, item.kps)), rtol=1e-5)


def test_the_fingerprint_of_new_curves_is_what_will_be_read(boned: bpy.types.Object) -> None:
    """It is worked out from what was written; any edit of a key or its interpolation changes it."""
    for item in clips.animations(boned.data):
        made = curves.fingerprint(item.action)
        assert kept.get(item.action, kept.CURVES_PRINT, "") == made
        point = compat.all_curves(item.action)[-1].keyframe_points[0]
        point.interpolation = "CONSTANT"
        assert curves.fingerprint(item.action) != made
        point.interpolation = "LINEAR"
        assert curves.is_sealed(item.action)
        point.co.y += 1e-3
        assert not curves.is_sealed(item.action)


def test_curves_are_light(tmp_path: Path) -> None:
    """A key for each frame, one where nothing moves; handles lie on their keys until a curve is edited."""
    character = characters.creature()
    character.animations[0].frames = np.repeat(character.animations[0].frames[:1], 12, axis=0)
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    for item, wanted in zip(clips.animations(obj.data), (1, 9, 7), strict=True):
        curve_list = compat.all_curves(item.action)
        turns = [curve for curve in curve_list if curve.data_path.endswith("rotation_quaternion")]
        assert {len(curve.keyframe_points) for curve in turns} == {wanted}
        for point in (point for curve in curve_list for point in curve.keyframe_points):
            assert point.co == point.handle_left == point.handle_right
    longest = max(turns, key=lambda curve: float(np.ptp([point.co.y for point in curve.keyframe_points])))
    longest.keyframe_points[3].co.y += 0.2
    longest.update()
    assert all(point.co.x - point.handle_left.x > 0.2 for point in longest.keyframe_points)


def test_frames_that_an_older_scene_keeps_raw(boned: bpy.types.Object) -> None:
    """They count like packed ones, and are packed when they are kept again."""
    action = clips.animations(boned.data)[0].action
    frames = characters.creature().animations[0].frames
    kept.put(action, kept.PACKED_FRAMES, b"")
    assert originals.of(action, boned.data) is None
    kept.put(action, kept.FRAMES, frames.tobytes())
    assert np.array_equal(originals.of(action, boned.data).frames, frames)
    kept.put_frames(action, frames[::-1])
    assert not kept.has(action, kept.FRAMES)
    assert np.array_equal(originals.of(action, boned.data).frames, frames[::-1])


def test_quaternions_never_flip(boned: bpy.types.Object) -> None:
    """Neighbouring keys are on the same side, so that nothing turns the long way round."""
    for item in clips.animations(boned.data):
        turns: dict[str, list[np.ndarray]] = {}
        times = bake.frame_times(*item.action.frame_range, item.frames)
        for curve in compat.all_curves(item.action):
            if curve.data_path.endswith("rotation_quaternion"):
                values = np.array([curve.evaluate(time) for time in times])
                turns.setdefault(curve.data_path, []).append(values)
        assert turns
        for parts in turns.values():
            quaternion = np.stack(parts, axis=1)
            assert quaternion.shape[1] == 4
            assert ((quaternion[1:] * quaternion[:-1]).sum(axis=1) > 0).all()


def test_rebake_says_how_near_it_comes(boned: bpy.types.Object) -> None:
    """And names the vertices that no bone carries."""
    character = characters.creature()
    facts = rebake(bpy.context, [boned], character)
    assert facts["coordinates"] == 28 * 48 * 3
    assert facts["within"]["2"] > 99.5
    assert facts["soft_vertices"] == []
    assert [entry["name"] for entry in facts["animations"]] == ["walk", "idle", "idle"]
    frames = character.animations[0].frames.copy()
    frames[:, 7] += np.array([400, 0, 0], np.int16)
    character.animations[0] = Animation(b"", 10, frames)
    assert rebake(bpy.context, [boned], character)["soft_vertices"] == [7]


def test_an_animation_is_fitted_onto_the_bones(boned: bpy.types.Object) -> None:
    """One that the skeleton was not recovered from; it shows right and is kept exactly."""
    character = characters.creature()
    frames = characters.swing(character.model, 10, strength=0.35, axis=1)
    bones = len(selection.armature_of(boned).data.bones)
    item = animation_files.add(bpy.context, boned, Animation(b"", 15, frames), "nod")
    assert len(selection.armature_of(boned).data.bones) == bones
    assert boned.data.shape_keys is None
    assert np.abs(shown(boned, item.action, 10) - frames / 16).max() < 0.1
    original = originals.of(item.action, boned.data)
    assert original is not None
    assert np.array_equal(original.frames, frames)


@pytest.mark.parametrize("change", ["move vertex", "more vertices"])
def test_edits_of_the_mesh(boned: bpy.types.Object, tmp_path: Path, change: str) -> None:
    """A moved vertex is baked alone; new vertices follow their bones, so that topology may change."""
    character = characters.creature()
    if change == "move vertex":
        boned.data.vertices[9].co.x += 1
    else:
        with scene.edit_mode(boned, "all"):
            bpy.ops.mesh.subdivide()
    found = car.read(scene.export(tmp_path / "out.car", boned))
    for old, new in zip(character.animations, found.animations, strict=True):
        if change == "more vertices":
            assert new.frames.shape[1] == len(found.model.vertices) > 48
            assert np.abs(new.frames[:, :48].astype(int) - old.frames).max() <= 2
        else:
            assert np.array_equal(np.delete(new.frames, 9, axis=1), np.delete(old.frames, 9, axis=1))


def test_edited_bones_are_baked(boned: bpy.types.Object, tmp_path: Path) -> None:
    """What Blender shows after the edit is what is written, not what the file once held."""
    rig = selection.armature_of(boned)
    with scene.edit_mode(rig):
        rig.data.edit_bones[1].tail.x += 9
    found = car.read(scene.export(tmp_path / "out.car", boned)).animations
    for item, new in zip(clips.animations(boned.data), found, strict=True):
        assert np.abs(new.frames - motion.quantise(shown(boned, item.action, item.frames)).astype(int)).max() <= 1
    assert not np.array_equal(found[0].frames, characters.creature().animations[0].frames)


def test_a_deleted_bone_is_pointed_out(boned: bpy.types.Object, tmp_path: Path) -> None:
    """What its Actions moved stands still."""
    rig = selection.armature_of(boned)
    with scene.edit_mode(rig):
        rig.data.edit_bones.remove(rig.data.edit_bones[-1])
    scene.export(tmp_path / "out.car", boned)
    report = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert "moves bones that are not there any more" in report


def test_one_frame_and_none(tmp_path: Path) -> None:
    """Neither breaks the recovery of the rest."""
    character = characters.creature()
    still = characters.swing(character.model, 1)
    character.animations += [Animation(name_field("BLANK"), 10, still[:0]), Animation(name_field("still"), 0, still)]
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    items = clips.animations(obj.data)
    assert items[3].action is None
    assert np.abs(shown(obj, items[4].action, 1) - still / 16).max() < 0.1
