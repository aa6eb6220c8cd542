# SPDX-License-Identifier: GPL-3.0-or-later
"""The way over the ground, and the frames of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat
from addon.io_dragonnest.formats import ani, keys, msh, sampling
from addon.io_dragonnest.scene import clips

from tests import dragons

from .helpers import dragon_scene
from .helpers.dragon_motion import again, away, brought, calm, play, rig, save, skins, skins_of

if TYPE_CHECKING:
    from pathlib import Path


def walking() -> tuple[msh.Msh, ani.Ani]:
    model, found = calm(10)
    at = np.arange(24)
    places = np.stack((at * 0.5, 40 + np.sin(at), at * -1.5), axis=1)
    found.records[0][0].positions = keys.vector_keys(10, at, places)
    return model, found


def test_root_motion_in_place(tmp_path: Path) -> None:
    model, found = walking()
    brought(tmp_path, model, found, root_motion="IN_PLACE")
    item = clips.listed(rig())[0]
    frames = np.arange(24)
    wanted = skins_of(found, 0, frames, model)
    wanted[:, :, 0, 3] -= frames[:, None] * 0.5
    wanted[:, :, 1, 3] -= frames[:, None] * -1.5
    assert away(skins(item, frames), wanted, model) < 1e-4
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_root_motion_on_the_object(scale: float, tmp_path: Path) -> None:
    model, found = walking()
    save(tmp_path / "hero.msh", model)
    dragon_scene.bring(tmp_path / "hero.msh", global_scale=scale)
    rig().location = (1, 2, 3)
    rig().rotation_euler = (0, 0, 1.0)
    bpy.context.view_layer.update()
    before = np.array(rig().matrix_world, np.float64)
    save(tmp_path / "hero.ani", found)
    dragon_scene.bring(tmp_path / "hero.ani", root_motion="OBJECT")
    item = clips.listed(rig())[0]
    play(item)
    for frame in (0, 11, 23):
        bpy.context.scene.frame_set(frame)
        evaluated_rig = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
        rest = np.array([np.array(bone.matrix_local) for bone in rig().data.bones], np.float64)
        shown = np.array([np.array(bone.matrix) for bone in evaluated_rig.pose.bones]) @ np.linalg.inv(rest)
        stands = np.linalg.inv(before) @ np.array(evaluated_rig.matrix_world)
        assert away(stands @ shown, skins_of(found, 0, [frame], model)[0], model) < 1e-4
        assert np.abs(stands[:3, 3] - (frame * 0.5, frame * -1.5, 0)).max() < 1e-3
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()
    # Written anew, the way is in the root bone again.
    del item.action["dragonnest_curves"]
    written = again(tmp_path)
    frames = np.arange(24)
    assert away(skins_of(written, 0, frames, model), skins_of(found, 0, frames, model), model) < 1e-3


def walker(tmp_path: Path, **options: Any) -> tuple[ani.Ani, bpy.types.Action]:
    """A clip whose root walks, imported; the file and the Action."""
    save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    bone = rig().pose.bones["Bip01"]
    for frame in (0, 30):
        bone.location = (frame * 2.0, frame * 0.5, frame)
        bone.keyframe_insert("location", frame=frame)
    for curve in compat.all_curves(rig().animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    found = ani.read(dragon_scene.export(tmp_path / "walk.ani", rig()))
    assert int(found.lengths[0]) == 31
    bpy.ops.wm.read_homefile(use_empty=True)
    dragon_scene.bring(tmp_path / "a.msh")
    dragon_scene.bring(tmp_path / "walk.ani", **options)
    return found, clips.listed(rig())[0].action


@pytest.mark.parametrize("key_mode", ["AUTO", "BAKE"])
@pytest.mark.parametrize("root_motion", ["IN_PLACE", "STORED"])
def test_an_edited_clip_walks_as_far_as_it_did(root_motion: str, key_mode: str, tmp_path: Path) -> None:
    found, action = walker(tmp_path, root_motion=root_motion)
    for curve in compat.all_curves(action):
        if curve.array_index == 2:
            for point in curve.keyframe_points:
                point.co[1] += 0.5
    after = ani.read(dragon_scene.export(tmp_path / "out.ani", rig(), key_mode=key_mode))
    row = found.bone_names.index("Bip01")
    frames = np.arange(31)
    before, now = (
        sampling.positions(model.records[model.bone_names.index("Bip01")][0], frames) for model in (found, after)
    )
    assert row >= 0
    assert np.ptp(before, axis=0).max() > 10
    away = (now - now[0]) - (before - before[0])
    assert np.abs(away).max() < 1e-2


def test_a_key_behind_the_end_makes_a_clip_longer(tmp_path: Path) -> None:
    _found, action = walker(tmp_path)
    compat.assign_action(rig(), action)
    bone = rig().pose.bones["Bip01"]
    bone.location = (7.0, 0.0, 0.0)
    bone.keyframe_insert("location", frame=45)
    after = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    assert after.lengths.tolist() == [46]
    action.frame_end = 20
    after = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    assert after.lengths.tolist() == [21]
    assert "left out" in bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()


@pytest.mark.parametrize(("first", "last", "length", "key"), [(10, 22, 23, 10), (0, 12, 13, 0), (-4, 8, 13, 0)])
def test_frames_are_those_of_the_file(first: int, last: int, length: int, key: int, tmp_path: Path) -> None:
    save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    bone = rig().pose.bones["Bip01"]
    for frame in (first, last):
        bone.location = (frame, 0.0, 0.0)
        bone.keyframe_insert("location", frame=frame)
    for curve in compat.all_curves(rig().animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    found = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    assert found.lengths.tolist() == [length]
    record = found.records[found.bone_names.index("Bip01")][0]
    assert keys.frames(record.positions, length).tolist() == [key, length - 1]
