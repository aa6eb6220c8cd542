# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that was made in Blender, baked at export: Actions of bones, keys and objects, constraints and caches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, check_character
from addon.io_carnivores.formats.model import label
from addon.io_carnivores.formats.motion import quantise
from addon.io_carnivores.scene import bake, clip_edit, clips, kept
from addon.io_common.scene import compat

from tests import characters

from .helpers import made, scene


@pytest.fixture
def creature() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Mesh and armature."""
    bpy.context.scene.render.fps = 24
    obj = made.tube()
    rig = made.rig(obj)
    scene.select(obj)
    bpy.context.view_layer.update()
    return obj, rig


def exported(tmp_path: Path, obj: bpy.types.Object, **options: Any) -> car.Character:
    """The CAR of an object."""
    return car.read(scene.export(tmp_path / "out.car", obj, **options))


def test_a_bone_action_becomes_frames(tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """N = length times KPS; first and last frame are the ends of the Action, the others evenly between."""
    obj, rig = creature
    item = clip_edit.add_action(bpy.context, obj, made.bend(rig))
    assert (item.kps, item.frames) == (24, 24)
    item.kps = 10
    found = exported(tmp_path, obj).animations[0]
    assert (found.kps, len(found.frames)) == (10, 10)
    for number, frame in enumerate(found.frames):
        wanted = made.bent(made.wave(24 * number / 9, 24, 0.8))
        assert np.abs(frame / 16 - wanted).max() < 0.08, f"frame {number}"
    assert np.array_equal(found.frames[0], quantise(made.bent(0.0)))


def test_everything_is_put_back(tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Frame, Action, pose, rest position and NLA are as they were."""
    obj, rig = creature
    clip_edit.add_action(bpy.context, obj, made.bend(rig))
    other = made.bend(rig, "other", 8, 0.1)
    bpy.context.scene.frame_set(17, subframe=0.25)
    rig.animation_data_create()
    rig.data.pose_position = "REST"
    rig.pose.bones[0].rotation_quaternion = (0.8, 0.6, 0, 0)
    rig.pose.bones[3].rotation_euler = (0.1, 0.2, 0.3)
    exported(tmp_path, obj)
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (17, 0.25)
    assert rig.animation_data.action is None
    assert rig.data.pose_position == "REST"
    assert np.allclose(rig.pose.bones[0].rotation_quaternion, (0.8, 0.6, 0, 0))
    assert np.allclose(rig.pose.bones[3].rotation_euler, (0.1, 0.2, 0.3))
    assert other.name in bpy.data.actions


def test_a_pose_left_behind_does_not_leak(tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Bones without a curve are at rest, whatever mode they turn in."""
    obj, rig = creature
    clip_edit.add_action(bpy.context, obj, made.bend(rig))
    clean = exported(tmp_path, obj)
    rig.pose.bones[0].rotation_quaternion = (0.8, 0.6, 0, 0)
    rig.pose.bones[3].rotation_euler = (0.1, 0.2, 0.3)
    rig.pose.bones[2].scale = (2, 2, 2)
    assert characters.same_animations(exported(tmp_path, obj).animations, clean.animations)


def test_the_motion_of_the_object_counts(tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """An Action that moves the armature itself carries every vertex along."""
    obj, rig = creature
    points = [(1, 0.0), (25, 2.0)]
    move = made.action(rig, "move", [("location", 0, points)])
    rig.animation_data.action = move
    item = clip_edit.add_action(bpy.context, obj, move)
    item.kps = 5
    bpy.context.scene.frame_set(1)
    found = exported(tmp_path, obj).animations[0].frames
    assert len(found) == 5
    away = found / 16 - made.bent(0.0)
    assert np.abs(away[:, :, 0] - np.linspace(0, 64, 5)[:, None]).max() < 0.08
    assert np.abs(away[:, :, 1:]).max() < 0.08


def test_a_transformed_object_is_baked_where_it_stands(
    tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    """Base pose and frames agree under any transform of the armature."""
    obj, rig = creature
    clip_edit.add_action(bpy.context, obj, made.bend(rig))
    rig.location, rig.rotation_euler, rig.scale = (1, 2, 3), (0.3, 0.2, made.RIGHT), (1.5, 1.5, 1.5)
    bpy.context.view_layer.update()
    found = exported(tmp_path, obj)
    assert np.abs(found.animations[0].frames[0] / 16 - found.model.vertices["position"]).max() < 0.07
    plain = exported(tmp_path, obj, use_transform=False)
    assert np.abs(plain.animations[0].frames[0] / 16 - made.bent(0.0)).max() < 0.07


def test_constraints_and_drivers_are_evaluated(
    tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    """A bone that copies another one's turn moves too."""
    obj, rig = creature
    limit = rig.pose.bones["Bone 3"].constraints.new("COPY_ROTATION")
    limit.target, limit.subtarget, limit.mix_mode = rig, "Bone 1", "ADD"
    limit.owner_space = limit.target_space = "LOCAL"
    clip_edit.add_action(bpy.context, obj, made.bend(rig))
    found = exported(tmp_path, obj).animations[0].frames
    straight = made.bent(made.wave(24 * 11 / 23, 24, 0.8))
    assert np.abs(found[11][:36] / 16 - straight[:36]).max() < 0.08
    assert np.abs(found[11][36:] / 16 - straight[36:]).max() > 5


def test_shape_keys_made_in_blender(tmp_path: Path) -> None:
    """A relative key with a curve on its value; two frames at least."""
    bpy.context.scene.render.fps = 30
    obj = made.tube()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 10 * made.UNIT
    lift = made.action(obj.data.shape_keys, "lift", [('key_blocks["Up"].value', 0, [(1, 0.0), (2, 1.0)])])
    item = clip_edit.add_action(bpy.context, obj, lift)
    assert item.frames == 2
    found = exported(tmp_path, obj)
    assert np.abs(found.animations[0].frames[1] / 16 - made.bent(0.0) - (0, 10, 0)).max() < 0.08
    assert np.abs(found.model.vertices["position"] - made.bent(0.0)).max() < 1e-3, "the base is the basis"


def test_a_mesh_cache_by_the_range_of_the_scene(tmp_path: Path) -> None:
    """What plays without any Action is taken frame by frame."""
    obj = made.tube()
    model = characters.tube()
    cache = tmp_path / "cache.mdd"
    frames = np.stack([model.vertices["position"][:, [0, 2, 1]] * made.UNIT + (number, 0, 0) for number in range(5)])
    header = np.array([5, len(model.vertices)], ">i4").tobytes() + (np.arange(5) / 24).astype(">f4").tobytes()
    cache.write_bytes(header + frames.astype(">f4").tobytes())
    entry = obj.modifiers.new("Cache", "MESH_CACHE")
    entry.cache_format, entry.filepath, entry.frame_start = "MDD", str(cache), 1
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 5
    bpy.context.scene.render.fps = 24
    item = clip_edit.add_range(bpy.context, obj)
    item.kps = 30
    found = exported(tmp_path, obj).animations[0].frames
    assert len(found) == 5
    away = found[:, :, 0] / 16 - model.vertices["position"][:, 0]
    assert np.abs(away - 32 * np.arange(5)[:, None]).max() < 0.08


def test_modifiers_that_make_vertices_are_in_both(
    tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    """A mirrored tube has twice the vertices in base pose and frames."""
    obj, rig = creature
    mirror = obj.modifiers.new("Mirror", "MIRROR")
    mirror.use_axis, mirror.use_mirror_merge = (False, False, True), False
    clip_edit.add_action(bpy.context, obj, made.bend(rig))
    found = exported(tmp_path, obj)
    assert found.animations[0].frames.shape[1] == len(found.model.vertices) == 96
    plain = exported(tmp_path, obj, use_mesh_modifiers=False)
    assert plain.animations[0].frames.shape[1] == len(plain.model.vertices) == 48


def test_several_objects_of_one_rig(tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Joined at export: frames hold the vertices of all, in the order of the model."""
    obj, rig = creature
    clip_edit.add_action(bpy.context, obj, made.bend(rig))
    other = made.tube("Second")
    other.parent = rig
    other.modifiers.new("Armature", "ARMATURE").object = rig
    scene.select(obj, other)
    found = car.read(scene.export(tmp_path / "out.car", use_join=True))
    frames = found.animations[0].frames
    assert frames.shape[1] == len(found.model.vertices) == 96
    assert np.array_equal(frames[:, :48], frames[:, 48:])


def test_what_an_action_does_not_move_is_said(creature: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """It is not added."""
    obj, _rig = creature
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    strange = made.action(lamp.data, "strange", [("energy", 0, [(1, 0.0), (9, 1.0)])])
    with pytest.raises(Exception, match='"strange" moves nothing of "Made"'):
        clip_edit.add_action(bpy.context, obj, strange)
    assert not len(clips.animations(obj.data))


def test_too_far_for_16_bits(tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """An error before anything is written."""
    obj, rig = creature
    path = 'pose.bones["Bone 1"].location'
    far = made.action(rig, "far", [(path, 0, [(1, 0.0), (25, 70.0)])])
    clip_edit.add_action(bpy.context, obj, far)
    with pytest.raises(RuntimeError, match=r'"far" lie further out than the 2047\.9 units'):
        scene.export(tmp_path / "out.car", obj, use_check=True)
    assert not (tmp_path / "out.car").exists()


def test_from_scratch_to_a_car_the_engine_takes(
    tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    """Mesh, armature and five Actions that were never a file: nothing for the check to complain of but a texture."""
    obj, rig = creature
    for number in range(5):
        item = clip_edit.add_action(bpy.context, obj, made.bend(rig, f"action {number}", 12 + 6 * number))
        item.kps = 10 + number
    data = scene.export(tmp_path / "Made.car", obj, use_check=True, use_loop_check=True)
    found = car.read(data)
    assert found.name == b"Made".ljust(32, b"\0")
    assert [entry.kps for entry in found.animations] == [10, 11, 12, 13, 14]
    assert [len(entry.frames) for entry in found.animations] == [5, 8, 12, 16, 21]
    assert np.unique(found.model.vertices["owner"]).tolist() == [0, 1, 2, 3]
    assert len(found.table) == 256
    assert set(found.table) == {0xFF}
    assert len(found.model.bones) == 0
    issues = check_character.check(found, "C2")
    assert {issue.code for issue in issues} <= {"no-texture"}
    assert car.write(found) == data
    assert not np.array_equal(found.animations[0].frames[0], found.animations[0].frames[2]), "it moves"


def test_actions_are_animations_where_there_is_no_list(
    tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object], capfd: pytest.CaptureFixture[str]
) -> None:
    """All that move its bones and are nobody else's, in the order of their names; the scene stays as it is."""
    obj, rig = creature
    for name, length in (("10 roar", 18), ("2 Run", 24), ("1 walk", 12)):
        made.bend(rig, name, length).use_fake_user = True
    made.bend(rig, "pose", 0)
    other = bpy.data.objects.new("Other", rig.data.copy())
    bpy.context.collection.objects.link(other)
    compat.assign_action(other, made.bend(rig, "other's", 12))
    made.action(rig, "elsewhere", [('pose.bones["Camera"].location', 0, [(1, 0.0), (9, 1.0)])])
    compat.assign_action(rig, bpy.data.actions["2 Run"])
    bpy.context.scene.render.fps = 24
    data = scene.export(tmp_path / "Made.car", obj, use_check=True)
    found = car.read(data)
    assert [label(entry.name) for entry in found.animations] == ["1 walk", "2 Run", "10 roar"]
    assert [(entry.kps, len(entry.frames)) for entry in found.animations] == [(24, 12), (24, 24), (24, 18)]
    assert not len(clips.animations(obj.data))
    said = capfd.readouterr().out
    assert '"1 walk", "2 Run", "10 roar"; list them in the sidebar' in said
    # The same as if they stood in the list.
    for name in ("1 walk", "2 Run", "10 roar"):
        clip_edit.add_action(bpy.context, obj, bpy.data.actions[name])
    assert scene.export(tmp_path / "Made.car", obj, use_check=True) == data


@pytest.mark.parametrize("moved", [False, True])
def test_a_new_mesh_on_a_recovered_skeleton_has_its_animations(moved: bool, tmp_path: Path) -> None:
    """While it is that skeleton; another one with bones of these names has none of them."""
    scene.bring(Path(__file__).parents[2] / "assets" / "dinosaur.car")
    (rig,) = (entry for entry in bpy.data.objects if entry.type == "ARMATURE")
    for old in [entry for entry in bpy.data.objects if entry.type == "MESH"]:
        mesh = old.data
        bpy.data.objects.remove(old)
        bpy.data.meshes.remove(mesh)
    rig.animation_data_clear()
    if moved:
        with scene.edit_mode(rig):
            rig.data.edit_bones[0].tail.z += 5
    obj = made.tube("New")
    obj.vertex_groups[0].name = rig.data.bones[0].name
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    found = exported(tmp_path, obj)
    assert [label(entry.name) for entry in found.animations] == ([] if moved else ["idle", "roar", "walk"])


def test_a_file_without_animations_stays_one(
    tmp_path: Path, creature: tuple[bpy.types.Object, bpy.types.Object]
) -> None:
    """Whatever Actions there are: its list came from the file."""
    obj, rig = creature
    before = scene.export(tmp_path / "still.car", obj)
    scene.bring(tmp_path / "still.car")
    imported = bpy.context.view_layer.objects.active
    made.bend(rig, "walk", 12)
    mesh = next(entry for entry in bpy.data.objects if entry.type == "MESH" and entry != obj)
    assert imported is not None and kept.has(mesh.data, kept.NAME_BLOCK)
    assert scene.export(tmp_path / "again.car", mesh) == before


@pytest.mark.parametrize("relative", [True, False])
def test_keys_are_mixed_as_before(relative: bool) -> None:
    """Also keys of the user's own, which belong to no animation of the list, and without an Action assigned."""
    obj = made.tube()
    obj.shape_key_add(name="Basis")
    for number in range(3):
        obj.shape_key_add(name=f"Own {number}").data[0].co.x += number
    keys = obj.data.shape_keys
    keys.use_relative = relative
    path = 'key_blocks["Own 1"].value' if relative else "eval_time"
    action = made.action(keys, "own", [(path, 0, [(1, 0.0), (10, 1.0 if relative else 20.0)])])
    keys.key_blocks["Own 0"].value, keys.key_blocks["Own 1"].value, keys.eval_time = 0.25, 0.75, 13.0
    before = [block.value for block in keys.key_blocks]
    bodies = [bake.Body.of(obj, None)]
    found = bake.bake(bpy.context, bodies, action, np.array([1.0, 5.0, 10.0]))
    assert np.ptp(found, axis=0).max() > 0
    bpy.context.view_layer.update()
    assert [block.value for block in keys.key_blocks] == before
    assert keys.eval_time == 13.0
