# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations onto the bones of their models, shown as the game shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat, curves
from addon.io_dragonnest.formats import ani, ani_list, msh, pose, space
from addon.io_dragonnest.scene import clips

from tests import dragons

from .helpers import dragon_scene, scene
from .helpers.dragon_motion import MADE, bones_shown, bound, brought, far, grown, rig, stretch, worst

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.samples("dragonnest/*.ani", "dragonnest/*.anim")
def test_samples_come_back_to_the_byte(sample: Path, tmp_path: Path) -> None:
    """Alone, through a saved file."""
    before = sample.read_bytes()
    dragon_scene.bring(sample)
    scene.reopen(tmp_path / "scene.blend")
    out = tmp_path / "out" / sample.name
    out.parent.mkdir()
    assert dragon_scene.export(out, rig()) == before
    for other in out.parent.iterdir():
        assert other.read_bytes() == (sample.parent / other.name).read_bytes()


PAIRS = (
    ("syn_v10_biped.msh", "syn_v10_biped.ani"),
    ("syn_v11_biped.msh", "syn_v11_biped.ani"),
    ("syn_v12_biped.msh", "syn_v11_biped.ani"),
    ("syn_v13_biped.msh", "syn_multi.ani"),
    ("plain_v13_biped.msh", "syn_v10_biped.ani"),
    ("syn_v13_biped.msh", "syn_biped_stand.anim"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=["+".join(pair) for pair in PAIRS])
def test_samples_come_back_from_their_model(samples: Path, pair: tuple[str, str], tmp_path: Path) -> None:
    folder = samples / "dragonnest" / "synthetic"
    dragon_scene.bring(folder / pair[0])
    assert not dragon_scene.bring(folder / pair[1])
    count = len(clips.listed(rig()))
    scene.reopen(tmp_path / "scene.blend")
    assert len(clips.listed(rig())) == count > 0
    assert all(item.action is not None and item.action.use_fake_user for item in clips.listed(rig()))
    out = tmp_path / pair[1]
    assert dragon_scene.export(out, rig()) == (folder / pair[1]).read_bytes()
    assert dragon_scene.export(tmp_path / "model.msh", *dragon_scene.meshes()) == (folder / pair[0]).read_bytes()


@pytest.mark.parametrize("direction", ["CHILD", "STORED"])
@pytest.mark.parametrize("pair", PAIRS[:4], ids=["+".join(pair) for pair in PAIRS[:4]])
def test_samples_move_as_in_the_game(samples: Path, pair: tuple[str, str], direction: str) -> None:
    """Every vertex at three frames of every clip."""
    folder = samples / "dragonnest" / "synthetic"
    model = msh.read((folder / pair[0]).read_bytes())
    listed = ani.read((folder / pair[1]).read_bytes())
    found = listed if isinstance(listed, ani.Ani) else merged(folder, listed)
    dragon_scene.bring(folder / pair[0], bone_direction=direction)
    dragon_scene.bring(folder / pair[1])
    for clip, item in enumerate(clips.listed(rig())):
        last = int(found.lengths[clip]) - 1
        assert worst(model, found, clip, item, [0, last // 2, last]) < 1e-4


def merged(folder: Path, listed: ani_list.AniList) -> ani.Ani:
    there = {path.name.lower(): path for path in folder.iterdir()}
    return ani.merged([ani.read_binary(there[name.lower()].read_bytes()) for name in listed.files])[0]


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "later"])
@pytest.mark.parametrize("direction", ["CHILD", "STORED"])
@pytest.mark.parametrize("kind", MADE)
def test_made_characters_move_as_in_the_game(kind: str, direction: str, beside: bool, tmp_path: Path) -> None:
    model, found = MADE[kind]()
    brought(tmp_path, model, found, beside=beside, bone_direction=direction)
    for clip, item in enumerate(clips.listed(rig())):
        last = max(int(found.lengths[clip]) - 1, 0)
        frames = np.arange(last + 1) if kind == "far" else [0, last // 2, last]
        assert worst(model, found, clip, item, frames) < 1e-4
    scene.reopen(tmp_path / "scene.blend")
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()


def test_shear_is_as_near_as_can_be_and_said(tmp_path: Path) -> None:
    """The one case that no bone can show: the bind pose scales a bone unevenly, and bones below it turn against it."""
    found = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    stretch(found, 1, (1.0, 1.4, 1.0))
    model = bound(found)
    brought(tmp_path, model, found)
    text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert "sheared" in text
    assert "file units" in text
    item = clips.listed(rig())[0]
    # Where each bone is, is right all the same; so is the bone that is scaled.
    frames = [0, 5, 11]
    shown = bones_shown(item, frames)
    world = space.to_blender_matrix(pose.clip_world(found, 0, frames))
    rows = [found.bone_names.index(bone.name) for bone in rig().data.bones]
    for bone in (0, 1, 2):
        assert np.abs(shown[:, rows.index(bone), :3, 3] - world[:, bone, :3, 3]).max() < 1e-3
    assert worst(model, found, 0, item, frames) < 0.5
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()


def turns_of(action: bpy.types.Action) -> dict[str, np.ndarray]:
    """Bone -> its rotation keys (n, 4)."""
    found: dict[str, list[np.ndarray]] = {}
    for curve in compat.all_curves(action):
        channel = curves.channel_of(curve.data_path)
        if channel is not None and channel[1] == "rotation_quaternion":
            found.setdefault(channel[0], []).append(curves.read_curve(curve)[0][:, 1])
    return {name: np.stack(values, axis=1) for name, values in found.items()}


@pytest.mark.parametrize("kind", MADE)
def test_quaternions_never_flip(kind: str, tmp_path: Path) -> None:
    model, found = MADE[kind]()
    brought(tmp_path, model, found)
    for item in clips.listed(rig()):
        for values in turns_of(item.action).values():
            assert ((values[1:] * values[:-1]).sum(axis=1) > 0).all()


def test_interpolation_and_frames(tmp_path: Path) -> None:
    """Keys at their own frames; scales are stepped; ranges, rate, users and slots are set."""
    model, found = far()
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    for curve in compat.all_curves(item.action):
        points, kinds = curves.read_curve(curve)
        stepped = curve.data_path.endswith("scale")
        assert (kinds == (curves.CONSTANT if stepped else curves.LINEAR)).all()
        if stepped:
            assert points[:, 0].tolist() == [0, 5, 33]
        if curve.data_path.endswith("location"):
            assert points[:, 0].tolist() == [1, 7, 30]
    assert [clips.span(entry.action) for entry in clips.listed(rig())] == [(0, 40), (0, 4), (0, 0)]
    assert [entry.length for entry in clips.listed(rig())] == found.lengths.tolist()
    assert [entry.name for entry in clips.listed(rig())] == ["Stand", "공격", "Rest"]
    scene_ = bpy.context.scene
    assert (scene_.render.fps, scene_.frame_start, scene_.frame_end) == (60, 0, 40)
    assert rig().animation_data.action == item.action
    assert getattr(rig().animation_data, "action_slot", True)


def test_a_scene_that_is_animated_keeps_rate_and_range(tmp_path: Path) -> None:
    cube = bpy.data.objects.new("cube", None)
    bpy.context.collection.objects.link(cube)
    cube.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_end = 77
    rate = bpy.context.scene.render.fps
    brought(tmp_path, *grown())
    assert (bpy.context.scene.render.fps, bpy.context.scene.frame_end) == (rate, 77)
