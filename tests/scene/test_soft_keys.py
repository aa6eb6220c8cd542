# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft vertices shown by shape keys beside the bones: played, baked, edited and listed together with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion
from addon.io_carnivores.scene import clip_edit, clips, curves, frames, playback, soft_keys
from addon.io_carnivores.scene.rebake import rebake
from addon.io_common.scene import compat, selection, transfer

from tests import characters

from .helpers import scene
from .test_frame_edits import SOFT, below, bone_of, shown, softened, turn


def character() -> car.Character:
    """Softness in the first animation alone, and there in some of the frames."""
    made = softened()
    found, stiff = made.animations[0].frames, characters.creature().animations[0].frames
    found[:3, SOFT], found[9:, SOFT] = stiff[:3, SOFT], stiff[9:, SOFT]
    return made


@pytest.fixture
def soft(tmp_path: Path) -> bpy.types.Object:
    """Its mesh, with keys."""
    return scene.bring_model(tmp_path / "worm.car", character(), motion="BONES", use_correctives=True)[1]


def evaluated(obj: bpy.types.Object) -> np.ndarray:
    """Positions (V, 3) in file axes as the scene shows them now."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    found = np.array([vertex.co[:] for vertex in mesh.vertices])[:, [0, 2, 1]]
    obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh_clear()
    return found


def steps_off(obj: bpy.types.Object, item: Any, wanted: np.ndarray) -> int:
    """How far the evaluated mesh is from frames, truncated as they are."""
    return int(np.abs(motion.quantise(shown(obj, item)).astype(int) - wanted).max())


@pytest.mark.parametrize("fps", [24, 30, 60])
def test_the_evaluated_mesh_is_within_a_step(tmp_path: Path, fps: int) -> None:
    """Of every vertex in every frame; untouched it is the file, through a saved .blend."""
    bpy.context.scene.render.fps = fps
    data, obj = scene.bring_model(tmp_path / "worm.car", character(), motion="BONES", use_correctives=True)
    for item, animation in zip(clips.animations(obj.data), character().animations, strict=True):
        assert steps_off(obj, item, animation.frames) <= 1
    assert rebake(bpy.context, [obj], character())["soft_vertices"] == []
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    assert scene.export(tmp_path / "out.car", bpy.data.objects[name]) == data


def test_only_softness_has_keys(soft: bpy.types.Object, tmp_path: Path) -> None:
    """Six soft frames and a key for each run of the others; one curve per animation, on the basis in the others."""
    keys = soft.data.shape_keys
    assert len(keys.key_blocks) == 1 + 1 + 6 + 1
    assert not keys.use_relative
    items = clips.animations(soft.data)
    assert [item.soft_first >= 0 for item in items] == [True, False, False]
    assert [item.first_key for item in items] == [-1, -1, -1]
    for item in items:
        found = [curve for action in clips.actions(item) for curve in compat.all_curves(action)]
        (curve,) = [entry for entry in found if entry.data_path == "eval_time"]
        assert (len(curve.keyframe_points) > 1) == (item.soft_first >= 0)
        assert (item.soft_action is None) == hasattr(item.action, "slots")
        assert all(curves.is_sealed(action) for action in clips.actions(item))
    _data, stiff = scene.bring_model(
        tmp_path / "stiff.car", characters.creature(), motion="BONES", use_correctives=True
    )
    assert stiff.data.shape_keys is None


def test_play_takes_both_along(soft: bpy.types.Object) -> None:
    """Bones and keys show the animation that was chosen; one that knows nothing of keys shows none."""
    items = clips.animations(soft.data)
    wanted = character().animations
    rig = selection.armature_of(soft)
    for number in (1, 0, 2, 0):
        playback.play(bpy.context, [soft], items[number])
        times = frames.sample_times(bpy.context.scene, items[number])
        middle = len(times) // 2
        whole = int(np.floor(times[middle]))
        bpy.context.scene.frame_set(whole, subframe=float(times[middle] - whole))
        away = np.abs(evaluated(soft) - wanted[number].frames[middle] / 16)
        assert away.max() < 0.13
    own = bpy.data.actions.new("own")
    path = f'pose.bones["{rig.data.bones[0].name}"].location'
    compat.curves(rig, own).fcurves.new(path, index=0).keyframe_points.insert(1, 0.0)
    item = clip_edit.add_action(bpy.context, soft, own)
    playback.play(bpy.context, [soft], item)
    assert soft.data.shape_keys.eval_time == 0
    assert soft.data.shape_keys.animation_data.action is None
    selection.armature_of(soft).data.pose_position = "REST"
    rest = np.array([vertex.co[:] for vertex in soft.data.vertices])[:, [0, 2, 1]]
    assert np.abs(evaluated(soft) - rest).max() < 1e-3


def test_an_edit_of_the_bones(soft: bpy.types.Object, tmp_path: Path) -> None:
    """Softness goes along, and everything else is the file's own."""
    made = character()
    owner = made.model.vertices["owner"]
    bone = bone_of(soft, int(owner[SOFT]))
    item = clips.animations(soft.data)[0]
    turn(soft, item.action, bone.name, slice(4, 8), 0.6)
    found = car.read(scene.export(tmp_path / "out.car", soft))
    assert characters.same_animations(found.animations[1:], made.animations[1:])
    differs = (found.animations[0].frames != made.animations[0].frames).any(axis=2)
    assert not differs[:, ~np.isin(owner, below(bone))].any()
    assert not np.delete(differs, slice(4, 8), axis=0).any()
    assert differs[4:8, SOFT].all()
    assert steps_off(soft, item, found.animations[0].frames) <= 1


def test_an_edit_of_a_key(soft: bpy.types.Object, tmp_path: Path) -> None:
    """What is sculpted there is what is written, in the frame it belongs to."""
    made = character()
    soft.data.shape_keys.key_blocks[4].data[7].co.z += 3  # the third soft frame, a vertex that was stiff
    found = car.read(scene.export(tmp_path / "out.car", soft))
    differs = (found.animations[0].frames != made.animations[0].frames).any(axis=2)
    assert np.argwhere(differs).tolist() == [[5, 7]]
    away = (found.animations[0].frames[5, 7] - made.animations[0].frames[5, 7].astype(int)) / 16
    assert np.linalg.norm(away) == pytest.approx(3, abs=0.12)


@pytest.mark.parametrize("follow", [True, False])
def test_an_edit_of_the_base(soft: bpy.types.Object, tmp_path: Path, follow: bool) -> None:
    """Absolute keys do not take it along, so that the export does; all other vertices keep their bytes."""
    made = character()
    soft.active_shape_key_index = 0
    scene.pick(soft.data, "VERT", SOFT)
    with scene.edit_mode(soft):
        bpy.ops.transform.translate(value=(0, 0, 4 / 32))
    found = car.read(scene.export(tmp_path / "out.car", soft, use_base_edits=follow))
    base = found.model.vertices["position"] - made.model.vertices["position"]
    assert np.abs(base[SOFT] - (0, 4, 0)).max() < 1e-3
    for old, new in zip(made.animations, found.animations, strict=True):
        assert np.array_equal(np.delete(new.frames, SOFT, 1), np.delete(old.frames, SOFT, 1))
        away = np.linalg.norm((new.frames[:, SOFT] - old.frames[:, SOFT].astype(int)) / 16, axis=1)
        assert np.abs(away - 4 * follow).max() < 0.15


def test_more_vertices(soft: bpy.types.Object, tmp_path: Path) -> None:
    """Keys have them too; old ones keep their frames."""
    made = character()
    with scene.edit_mode(soft, "all"):
        bpy.ops.mesh.subdivide()
    found = car.read(scene.export(tmp_path / "out.car", soft))
    for item, old, new in zip(clips.animations(soft.data), made.animations, found.animations, strict=True):
        assert np.array_equal(new.frames[:, :48], old.frames)
        assert np.abs(new.frames - motion.quantise(shown(soft, item)).astype(int)).max() <= 2


def test_fewer_vertices(soft: bpy.types.Object, tmp_path: Path) -> None:
    """The soft one itself is deleted, its keys stay; one of its neighbours turned: all others are the file's own."""
    made = character()
    scene.pick(soft.data, "VERT", SOFT)
    with scene.edit_mode(soft):
        bpy.ops.mesh.delete(type="VERT")
    item = clips.animations(soft.data)[0]
    turn(soft, item.action, bone_of(soft, 0).name, slice(5, 6), 0.0)
    found = car.read(scene.export(tmp_path / "out.car", soft))
    for old, new in zip(made.animations, found.animations, strict=True):
        assert np.array_equal(new.frames, np.delete(old.frames, SOFT, 1))


def test_duplicate_and_remove(soft: bpy.types.Object, tmp_path: Path) -> None:
    """A copy has keys of its own; with the last soft animation they are all gone."""
    data = scene.export(tmp_path / "before.car", soft)
    count = len(soft.data.shape_keys.key_blocks)
    item = clip_edit.duplicate(soft, 0)
    item.name = "copy"
    assert len(soft.data.shape_keys.key_blocks) == 2 * count - 1
    wanted = character().animations[0].frames
    assert steps_off(soft, item, wanted) <= 1
    found = car.read(scene.export(tmp_path / "two.car", soft)).animations
    assert np.array_equal(found[1].frames, wanted)
    clip_edit.remove(soft, 0)
    assert len(soft.data.shape_keys.key_blocks) == count
    assert steps_off(soft, clips.animations(soft.data)[0], wanted) <= 1
    found = car.read(scene.export(tmp_path / "one.car", soft)).animations
    assert np.array_equal(found[0].frames, wanted)
    clip_edit.remove(soft, 0)
    assert soft.data.shape_keys is None
    assert characters.same_animations(
        car.read(scene.export(tmp_path / "none.car", soft)).animations, car.read(data).animations[1:]
    )


def test_another_rate(soft: bpy.types.Object, tmp_path: Path) -> None:
    """Both parts are stretched alike."""
    wanted = character().animations[0].frames
    item = clips.animations(soft.data)[0]
    clips.set_kps(item, 23)
    clip_edit.retime_all(bpy.context, 60)
    assert steps_off(soft, item, wanted) <= 1
    assert np.array_equal(car.read(scene.export(tmp_path / "out.car", soft)).animations[0].frames, wanted)


def test_replaced_by_another_file(soft: bpy.types.Object, tmp_path: Path) -> None:
    """The new motion brings keys of its own where it is soft."""
    other = tmp_path / "other.car"
    scene.save(other, character())
    clip_edit.replace(bpy.context, soft, 1, other, "walk")
    items = clips.animations(soft.data)
    assert soft_keys.any_of(soft.data)
    assert items[1].soft_first >= 0
    assert steps_off(soft, items[1], character().animations[0].frames) <= 1
    clip_edit.replace(bpy.context, soft, 0, other, "idle")
    assert items[0].soft_first < 0
    assert steps_off(soft, items[0], character().animations[1].frames) <= 1


def test_the_report_names_soft_vertices(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """How many, and on which bones."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", character(), motion="BONES")
    bone = bone_of(obj, int(character().model.vertices["owner"][SOFT]))
    assert "bones fit within 0.1 / 0.25 / 1 unit for" in capfd.readouterr().out
    assert f"1 of 48 vertices are soft: {bone.name} (1)" in bpy.data.texts[transfer.REPORT].as_string()
    scene.bring_model(tmp_path / "stiff.car", characters.creature(), motion="BONES")
    assert "bones fit within 0.1 / 0.25 / 1 unit for" in capfd.readouterr().out
    report = bpy.data.texts.get(transfer.REPORT)
    assert report is None or "stiff.car" not in report.as_string() or "soft" not in report.as_string()


@pytest.mark.samples("*.car")
def test_real_files_within_a_step(sample: Path, tmp_path: Path) -> None:
    """Shown by bones and keys; byte-exact."""
    obj = next(entry for entry in scene.bring(sample, motion="BONES", use_correctives=True) if entry.type == "MESH")
    for item, animation in zip(clips.animations(obj.data), car.read(sample.read_bytes()).animations, strict=True):
        if item.action is not None:
            assert steps_off(obj, item, animation.frames) <= 1
    assert scene.export(tmp_path / sample.name, obj) == sample.read_bytes()
