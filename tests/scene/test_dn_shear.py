# SPDX-License-Identifier: GPL-3.0-or-later
"""Children that turn below bones whose bind pose is scaled unevenly: carriers shear them as the game does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_dragonnest.formats import ani, fitting, keys, msh
from addon.io_dragonnest.scene import clips, kept

from tests import dragons

from .helpers import dragon_scene, scene
from .helpers.dragon_motion import again, bound, brought, rig, stretch, tall, worst

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {"long": (1.0, 1.4, 1.0), "odd": (2.0, 1.0, 0.5), "mirrored": (-1.0, 1.3, 0.8), "even": (1.5, 1.5, 1.5)}


def sheared(row: int, size: tuple[float, float, float], *, keep: bool = True) -> tuple[msh.Msh, ani.Ani]:
    """Bone `row` in the middle of a chain is scaled in the bind pose, and in the clips too where `keep` says so."""
    found = dragons.animation()
    for bone in range(len(dragons.BONES)):
        stretch(found, bone, (1.0, 1.0, 1.0))
    stretch(found, row, size)
    model = bound(found)
    if not keep:
        stretch(found, row, (1.0, 1.0, 1.0))
    return model, found


def carriers() -> list[str]:
    return [bone.name for bone in rig().data.bones if kept.CARRIER in bone]


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "later"])
@pytest.mark.parametrize("keep", [True, False], ids=["kept", "unscaled"])
@pytest.mark.parametrize("row", [1, 2])
@pytest.mark.parametrize("size", SIZES)
def test_every_vertex_at_every_frame(size: str, row: int, keep: bool, beside: bool, tmp_path: Path) -> None:
    model, found = sheared(row, SIZES[size], keep=keep)
    brought(tmp_path, model, found, beside=beside)
    for clip, item in enumerate(clips.listed(rig())):
        assert worst(model, found, clip, item, range(int(found.lengths[clip]))) < 1e-4
    assert bool(carriers()) == (size != "even")
    text = bpy.data.texts.get("Carnivores & Dragon Nest Report")
    assert text is None or "as near as can be" not in text.as_string()


@pytest.mark.parametrize("size", ["long", "odd", "mirrored"])
def test_between_frames_it_is_near(size: str, tmp_path: Path) -> None:
    model, found = sheared(1, SIZES[size])
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    frames = np.arange(int(found.lengths[0]) - 1) + 0.5
    assert worst(model, found, 0, item, frames) < 0.05


def test_files_know_nothing_of_carriers(tmp_path: Path) -> None:
    """Through a saved file; the armature stands in the order of the file, and parts and clips come back to the byte."""
    model, found = sheared(1, SIZES["odd"])
    brought(tmp_path, model, found)
    assert carriers()
    scene.reopen(tmp_path / "scene.blend")
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == (tmp_path / "hero.msh").read_bytes()
    assert dragon_scene.export(tmp_path / "b.ani", rig()) == (tmp_path / "hero.ani").read_bytes()
    # Once more: no further carriers, and the clips of before are as they were.
    count = len(carriers())
    scene.select(rig())
    dragon_scene.bring(tmp_path / "hero.ani")
    assert len(carriers()) == count
    for number, item in enumerate(clips.listed(rig())):
        clip = number % 3
        assert worst(model, found, clip, item, range(int(found.lengths[clip]))) < 1e-4


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "unscaled"])
@pytest.mark.parametrize("mode", ["AUTO", "BAKE"])
def test_written_anew_it_shows_the_same(mode: str, keep: bool, tmp_path: Path) -> None:
    """With AUTO after a key of a carried bone was changed; what was not keeps its record."""
    model, found = sheared(1, SIZES["odd"], keep=keep)
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    if mode == "AUTO":
        key(rig().data.bones[carriers()[0]].children[0].name, 5, 3.0)
    written = again(tmp_path, key_mode=mode)
    assert written.bone_names == found.bone_names
    assert worst(model, written, 0, item, range(int(found.lengths[0]))) < 1e-3
    same = [_bytes(entry[0]) == _bytes(old[0]) for entry, old in zip(written.records, found.records, strict=True)]
    assert same.count(False) == 1 or mode == "BAKE"
    for clip, item in enumerate(clips.listed(rig())):
        assert worst(model, written, clip, item, range(int(found.lengths[clip]))) < 1e-3


def _bytes(record: keys.Record) -> bytes:
    return b"".join(keys.parts(record, 11))


def key(name: str, frame: int, along: float) -> None:
    """Move a bone in the clip that is played, at one of its frames."""
    bpy.context.scene.frame_set(frame)
    bone = rig().pose.bones[name]
    bone.location.x += along
    bone.keyframe_insert("location", index=0, frame=frame)


def test_a_carrier_that_was_touched_is_an_edit(tmp_path: Path) -> None:
    model, found = sheared(1, SIZES["odd"])
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    key(carriers()[0], 5, 10.0)
    written = again(tmp_path)
    assert worst(model, written, 0, item, [4, 5, 6]) < 1e-3
    assert worst(model, found, 0, item, [5]) * tall(model) > 1.0
    # The other clips are as they were.
    for clip in (1, 2):
        assert all(
            _bytes(entry[clip]) == _bytes(old[clip]) for entry, old in zip(written.records, found.records, strict=True)
        )


def test_carriers_step_aside(tmp_path: Path) -> None:
    """When they are deleted, their bones hang where they did."""
    model, found = sheared(1, SIZES["odd"])
    brought(tmp_path, model, found)
    with scene.edit_mode(rig()):
        bones = rig().data.edit_bones
        for name in carriers():
            bones.remove(bones[name])
    data = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    assert msh.read(data).bone_names == model.bone_names
    assert again(tmp_path).bone_names == found.bone_names


@pytest.mark.parametrize("seed", range(4))
def test_any_matrix_is_a_stretch(seed: int) -> None:
    """Rotations without a mirror, on the near side from frame to frame."""
    random = np.random.default_rng(seed)
    matrices = np.eye(3) + 0.4 * np.cumsum(random.normal(size=(40, 5, 3, 3)) * 0.05, axis=0)
    matrices[:, 0] = np.eye(3)
    matrices[20, 1] = 2.0 * np.eye(3)
    matrices[:, 2] *= -1.0
    outer, sizes, inner = fitting.stretches(matrices)
    assert np.abs((outer * sizes[..., None, :]) @ inner - matrices).max() < 1e-9
    for turn in (outer, inner):
        assert np.abs(np.linalg.det(turn) - 1.0).max() < 1e-9
        assert np.einsum("fbij,fbij->fb", turn[1:], turn[:-1]).min() > 0.0
