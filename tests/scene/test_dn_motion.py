# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations: onto the bones of their models, shown as the game shows them, and back into files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat, curves
from addon.io_dragonnest.formats import ani, ani_list, anim, hierarchy, keys, msh, names, pose, sampling, space
from addon.io_dragonnest.formats import rig as binds
from addon.io_dragonnest.formats.keys import Record
from addon.io_dragonnest.scene import clips

from tests import dragons

from .helpers import dragon_scene, scene

if TYPE_CHECKING:
    from pathlib import Path


def save(path: Path, model: Any) -> bytes:
    codec = anim if isinstance(model, anim.Anim) else msh if isinstance(model, msh.Msh) else ani
    data: bytes = codec.write(model)
    path.write_bytes(data)
    return data


def rig() -> bpy.types.Object:
    return dragon_scene.rig()


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


def evaluated(obj: bpy.types.Object) -> np.ndarray:
    """Vertices (v, 3) of an object as Blender shows them now, in file axes and units."""
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    shown.to_mesh_clear()
    world = np.array(rig().matrix_world, np.float64)
    matrix = np.linalg.inv(world) @ np.array(shown.matrix_world, np.float64)
    at = points.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return at[:, [0, 2, 1]]


def play(item: Any) -> None:
    compat.assign_action(rig(), item.action)


def tall(model: msh.Msh) -> float:
    """The height of mesh and skeleton: the sheets of made models lie far below their bones."""
    heads = np.linalg.inv(model.bones["inverse_bind"].astype(np.float64))[:, 3, 1]
    return float(np.ptp(np.concatenate([heads, *(part.positions[:, 1] for part in model.submeshes)])))


def worst(model: msh.Msh, found: ani.Ani, clip: int, item: Any, frames: Any, matched: Any = None) -> float:
    """How far any vertex is from where the game has it, at any of the frames, of the height of the model."""
    wanted = pose.shown(model, found, clip, frames) if matched is None else matched
    height = tall(model)
    play(item)
    away = 0.0
    for number, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame), subframe=float(frame) - int(frame))
        for obj, shown in zip(dragon_scene.meshes(), wanted, strict=True):
            away = max(away, float(np.abs(evaluated(obj) - shown[number]).max(initial=0.0)))
    return away / height


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


# Characters made for what goes wrong elsewhere.


def turned(angle: float, axis: int) -> np.ndarray:
    half = np.zeros(4)
    half[axis], half[3] = np.sin(angle / 2), np.cos(angle / 2)
    return half


def stretch(found: ani.Ani, row: int, size: tuple[float, float, float]) -> None:
    """Give a bone another scale, in its base and in every clip."""
    for record in found.records[row]:
        record.base = record.base.copy()
        record.base["scale"] = size
        record.scales = record.scales[:0]


def grown() -> tuple[msh.Msh, ani.Ani]:
    """A bone scaled evenly in bind pose and clips, with children, which are scaled once more in a clip."""
    found = dragons.animation()
    stretch(found, 2, (2.0, 2.0, 2.0))
    stretch(found, 1, (0.5, 0.5, 0.5))
    return bound(found), found


def uneven() -> tuple[msh.Msh, ani.Ani]:
    """Bones at the ends of chains scaled unevenly, in bind pose and differently in clips."""
    found = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    for row, size in ((6, (1.0, 3.0, 0.5)), (7, (2.0, 2.0, 0.25)), (4, (1.0, 1.5, 1.0))):
        stretch(found, row, size)
    model = bound(found)
    found.records[7][0].scales = keys.vector_keys(11, [0, 4, 9], np.array([[2, 2, 0.25], [1, 1, 1], [3, 2, 1.0]]))
    return model, found


def mirrored() -> tuple[msh.Msh, ani.Ani]:
    """Bind matrices that mirror, over clips that do not, one in the middle of a chain."""
    found = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    model = bound(found)
    flip = np.diag((1.0, 1.0, -1.0, 1.0)).astype("<f4")
    for row in (3, 5, 7):
        model.bones["inverse_bind"][row] = model.bones["inverse_bind"][row] @ flip
    return model, found


def far() -> tuple[msh.Msh, ani.Ani]:
    """Turns of up to 170 degrees between keys that lie ten frames apart, keys of each kind at frames of their own."""
    found = dragons.animation(10, frames=41)
    at = np.array([0, 10, 11, 20, 40])
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
        turns = np.stack([turned(np.deg2rad(angle), row % 3) for angle in (0, 170, 290, 300, 130)])
        turns[2::2] *= -1.0
        found.records[row][0].rotations = keys.rotation_keys(10, at, turns)
        found.records[row][0].positions = found.records[row][0].positions[[1, 7, 30]]
        found.records[row][0].scales = keys.vector_keys(
            10, [0, 5, 33], np.array([[1, 1, 1], [1.5, 1.5, 1.5], [0.5, 0.5, 0.5]])
        )
    return bound(found), found


def bound(found: ani.Ani) -> msh.Msh:
    """A model whose bind pose is the base of `found`."""
    model = dragons.character()
    world = pose.world(sampling.base(found).matrices(), hierarchy.from_ani(found).parents)[0]
    model.bones["inverse_bind"] = binds.inverses(world)
    return model


MADE = {"grown": grown, "uneven": uneven, "mirrored": mirrored, "far": far}


def brought(folder: Path, model: msh.Msh, found: ani.Ani, *, beside: bool = False, **options: Any) -> None:
    """Import a model and its animation; `beside`: the animation lies beside the model already then."""
    save(folder / "hero.msh", model)
    if beside:
        save(folder / "hero.ani", found)
    dragon_scene.bring(folder / "hero.msh", **({"bone_direction": options.pop("bone_direction", "CHILD")}))
    save(folder / "hero.ani", found)
    dragon_scene.bring(folder / "hero.ani", **options)


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "later"])
@pytest.mark.parametrize("direction", ["CHILD", "STORED"])
@pytest.mark.parametrize("kind", MADE)
def test_made_characters_move_as_in_the_game(kind: str, direction: str, beside: bool, tmp_path: Path) -> None:  # noqa: FBT001
    model, found = MADE[kind]()
    brought(tmp_path, model, found, beside=beside, bone_direction=direction)
    for clip, item in enumerate(clips.listed(rig())):
        last = max(int(found.lengths[clip]) - 1, 0)
        frames = np.arange(last + 1) if kind == "far" else [0, last // 2, last]
        assert worst(model, found, clip, item, frames) < 1e-4
    scene.reopen(tmp_path / "scene.blend")
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()
