# SPDX-License-Identifier: GPL-3.0-or-later
"""What was edited or made in Blender, as clips of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat
from addon.io_dragonnest.formats import ani, keys, sampling, space
from addon.io_dragonnest.scene import clips
from mathutils import Quaternion

from tests import dragons

from .helpers import dragon_scene
from .helpers.dragon_motion import MADE, again, away, brought, calm, far, new_action, rig, save, skins, skins_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("mode", ["AUTO", "KEYS", "BAKE"])
@pytest.mark.parametrize("kind", ["calm", "grown", "uneven", "mirrored", "far"])
def test_what_is_written_anew_shows_the_same(kind: str, mode: str, version: int, tmp_path: Path) -> None:
    model, found = {**MADE, "calm": calm}[kind]()
    brought(tmp_path, model, found)
    # Forget what was kept of the clips: all has to come out of the curves.
    for item in clips.listed(rig()):
        del item.action["dragonnest_curves"]
    written = again(tmp_path, key_mode=mode, version=str(version))
    assert written.version == version
    assert written.bones.tobytes() == found.bones.tobytes()
    assert written.lengths.tolist() == found.lengths.tolist()
    for clip, item in enumerate(clips.listed(rig())):
        frames = np.arange(max(int(found.lengths[clip]), 1))
        assert away(skins(item, frames), skins_of(written, clip, frames, model), model) < 1e-3
        assert away(skins_of(found, clip, frames, model), skins_of(written, clip, frames, model), model) < 1e-3


def test_keys_stay_keys(tmp_path: Path) -> None:
    """An edited clip keeps its key frames; bones that were not touched keep their records to the byte."""
    model, found = far()
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    path = 'pose.bones["Bip01 Head"].location'
    curve = next(entry for entry in compat.all_curves(item.action) if entry.data_path == path)
    curve.keyframe_points[1].co.y += 3
    curve.update()
    written = again(tmp_path)
    for row, name in enumerate(found.bone_names):
        before, after = found.records[row][0], written.records[row][0]
        if name == "Bip01 Head":
            assert after.positions["frame"].tolist() == [1, 7, 30]
            moved = np.sqrt(np.square(after.positions["value"] - before.positions["value"]).sum(axis=1))
            assert moved.round(3).tolist() == [0, 3, 0]
            assert after.scales["frame"].tolist() == [0, 5, 33]
        else:
            assert b"".join(keys.parts(after, 10)) == b"".join(keys.parts(before, 10))
    frames = np.arange(41)
    assert away(skins(item, frames), skins_of(written, 0, frames, model), model) < 1e-3


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "YXZ", "AXIS_ANGLE"])
def test_other_rotations_are_baked(mode: str, tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    rig().pose.bones["Bip01 Spine"].rotation_mode = mode
    prop = "rotation_axis_angle" if mode == "AXIS_ANGLE" else "rotation_euler"
    values = [(1, 0, 0.0), (12, 0, 2.0), (1, 1, 0.5), (12, 1, -1.0), (5, 2, 1.0), (12, 2, 0.3)]
    action = new_action("turn", "Bip01 Spine", prop, values)
    item = clips.add(rig(), action)
    written = again(tmp_path, clips="turn")
    assert written.clips == ["turn"]
    assert written.lengths.tolist() == [13]
    frames = np.arange(13)
    shown = skins(item, frames)
    assert np.abs(shown[0] - shown[-1]).max() > 0.1
    assert away(shown, skins_of(written, 0, frames, model), model) < 1e-3


def test_constraints_drivers_and_subframes_are_baked(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    aim = bpy.data.objects.new("aim", None)
    bpy.context.collection.objects.link(aim)
    aim.location = (5, 5, 5)
    aim.keyframe_insert("location", frame=0)
    aim.location = (-5, 2, 0)
    aim.keyframe_insert("location", frame=20)
    track = rig().pose.bones["Bip01 Head"].constraints.new("DAMPED_TRACK")
    track.target = aim
    driver = rig().pose.bones["BoxBone01"].driver_add("location", 1).driver
    driver.expression = "frame * 0.25"
    action = new_action("look", "Bip01 Pelvis", "location", [(0.0, 0, 0.0), (3.5, 0, 4.0), (20.0, 0, 1.0)])
    item = clips.add(rig(), action)
    frames = np.arange(21)
    shown = skins(item, frames)
    written = again(tmp_path, clips="look")
    assert written.lengths.tolist() == [21]
    assert away(shown, skins_of(written, 0, frames, model), model) < 1e-3
    # The state of the scene is the user's again.
    assert rig().animation_data.action == action


def test_channels_without_keys_are_at_rest(tmp_path: Path) -> None:
    """Whatever pose the armature has now."""
    model, found = calm()
    brought(tmp_path, model, found)
    action = new_action("still", "Bip01 Head", "location", [(0, 0, 0.0), (9, 0, 0.0)])
    clips.add(rig(), action)
    bone = rig().pose.bones["Bip01 L Thigh"]
    bone.location = (9, 9, 9)
    for mode in ("AUTO", "BAKE"):
        written = again(tmp_path, clips="still", key_mode=mode)
        shown = skins_of(written, 0, [0, 5], model)
        assert np.abs(shown - np.eye(4)).max() < 2e-2
    assert tuple(bone.location) == (9, 9, 9)


def test_reduced_keys_stay_within_the_tolerance(tmp_path: Path) -> None:
    model, found = calm(10, 120)
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    whole = again(tmp_path, key_mode="BAKE")
    few = again(tmp_path, key_mode="BAKE", tolerance=0.05)

    def count(file: ani.Ani) -> int:
        return sum(len(track) for bone in file.records for track in bone[0].tracks)

    assert count(few) < 0.7 * count(whole)
    frames = np.arange(120)
    for row in range(len(found.bones)):
        there, back = (sampling.positions(file.records[row][0], frames) for file in (whole, few))
        assert np.abs(there - back).max() < 0.051
    assert away(skins(item, frames), skins_of(few, 0, frames, model), model) < 0.05


def test_frames_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    clips.add(rig(), new_action("long", "Bip01", "location", [(0, 0, 0.0), (40_000, 0, 1.0)]))
    with pytest.raises(RuntimeError, match="40001 frames, but ANI 11 holds 32768"):
        again(tmp_path, clips="long", key_mode="KEYS")
    assert not (tmp_path / "again.ani").exists()
    written = again(tmp_path, clips="long", key_mode="KEYS", version="10")
    assert written.lengths.tolist() == [40_001]


def test_untouched_frames_that_do_not_fit_are_refused_by_name(tmp_path: Path) -> None:
    model, found = calm(10)
    found.records[1][1].positions = keys.vector_keys(10, np.array([0, 40_000]), np.zeros((2, 3)))
    brought(tmp_path, model, found)
    with pytest.raises(RuntimeError, match='the clip "공격" has 40001 frames, but ANI 11 holds 32768'):
        again(tmp_path, version="11")
    assert not (tmp_path / "again.ani").exists()


def test_a_clip_of_one_frame_has_no_two_keys(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    clips.add(rig(), new_action("one", "Bip01", "location", [(0, 0, 1.0)]))
    for mode in ("AUTO", "BAKE"):
        written = again(tmp_path, clips="one", key_mode=mode)
        assert written.lengths.tolist() == [1]
        assert all(len(track) < 2 for bone in written.records for track in bone[0].tracks)


def spun(degrees: float) -> tuple[float, ...]:
    """A quaternion w, x, y, z about z, on the side that `degrees` say."""
    half = np.radians(degrees) / 2
    return (float(np.cos(half)), 0.0, 0.0, float(np.sin(half)))


@pytest.mark.parametrize("degrees", [60.0, 170.0, 200.0, 340.0])
def test_linear_keys_turn_as_blender_shows_them(degrees: float, tmp_path: Path) -> None:
    """Blender blends components, the long way too where signs say so; the game goes the shortest arc."""
    save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    bone = rig().pose.bones["Bip01"]
    for frame, turn in ((0, spun(0.0)), (30, spun(degrees))):
        bone.rotation_quaternion = turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    action = rig().animation_data.action
    for curve in compat.all_curves(action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    wanted = []
    for frame in range(31):
        bpy.context.scene.frame_set(frame)
        wanted.append(np.array(bone.matrix.to_quaternion()))
    found = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    record = found.records[found.bone_names.index("Bip01")][0]
    assert 2 < len(record.rotations) <= 31
    shown = space.matrix(np.zeros((31, 3)), sampling.rotations(record, np.arange(31)), np.ones((31, 3)))
    seen = space.to_blender_matrix(shown)[:, :3, :3]
    there = np.array([np.array(Quaternion(turn).to_matrix()) for turn in wanted])
    # Relative to the first frame: what the bone's rest adds stays out.
    moved = there @ there[:1].swapaxes(1, 2)
    again = seen @ seen[:1].swapaxes(1, 2)
    assert np.abs(moved - again).max() < 5e-4
