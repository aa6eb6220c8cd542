# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters of Dragon Nest that move, and what Blender and the game show of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from addon.io_common.scene import compat, curves, posing
from addon.io_dragonnest.formats import ani, anim, hierarchy, keys, msh, pose, sampling, space
from addon.io_dragonnest.formats import rig as binds

from tests import dragons

from . import dragon_scene

if TYPE_CHECKING:
    from pathlib import Path


def save(path: Path, model: Any) -> bytes:
    codec = anim if isinstance(model, anim.Anim) else msh if isinstance(model, msh.Msh) else ani
    data: bytes = codec.write(model)
    path.write_bytes(data)
    return data


def rig() -> bpy.types.Object:
    return dragon_scene.rig()


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
    """From rest: channels without curves keep what was there."""
    posing.rest_pose(rig())
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
            10, [0, 5, 33], np.array([[1, 1, 1], [1.2, 1.2, 1.2], [0.8, 0.8, 0.8]])
        )
    return bound(found), found


def bound(found: ani.Ani) -> msh.Msh:
    """A model whose bind pose is the base of `found`."""
    model = dragons.character()
    world = pose.world(sampling.base(found).matrices(), hierarchy.from_ani(found).parents)[0]
    model.bones["inverse_bind"] = binds.inverses(world)
    return model


def plain() -> ani.Ani:
    """No scales at all."""
    found = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    return found


def stretched() -> tuple[msh.Msh, ani.Ani]:
    """Clips that scale bones unevenly in the middle of a chain, one below the other, whose children turn."""
    found = plain()
    model = bound(found)
    for row, sizes in ((1, [[1, 1.4, 1], [2, 1, 0.5], [1, 1, 1]]), (2, [[1, 1.4, 0.7], [0.5, 1, 1], [1, 3, 1]])):
        found.records[row][0].scales = keys.vector_keys(11, [0, 4, 9], np.array(sizes, np.float64))
    return model, found


def stiff() -> tuple[msh.Msh, ani.Ani]:
    """A bind pose that scales a bone unevenly in the middle of a chain, whose children move and do not turn."""
    found = plain()
    stretch(found, 1, (1.0, 1.4, 1.0))
    for row in range(2, len(dragons.BONES)):
        for record in found.records[row]:
            record.rotations = record.rotations[:0]
    return bound(found), found


MADE = {
    "grown": grown,
    "uneven": uneven,
    "mirrored": mirrored,
    "far": far,
    "stretched": stretched,
    "stiff": stiff,
}


def brought(folder: Path, model: msh.Msh, found: ani.Ani, *, beside: bool = False, **options: Any) -> None:
    """Import a model and its animation; `beside`: the animation lies beside the model already then."""
    save(folder / "hero.msh", model)
    if beside:
        save(folder / "hero.ani", found)
    dragon_scene.bring(folder / "hero.msh", bone_direction=options.pop("bone_direction", "CHILD"))
    save(folder / "hero.ani", found)
    dragon_scene.bring(folder / "hero.ani", **options)


def again(tmp_path: Path, name: str = "again.ani", **options: Any) -> ani.Ani:
    """What is exported now, as it reads."""
    found = ani.read(dragon_scene.export(tmp_path / name, rig(), **options))
    assert isinstance(found, ani.Ani)
    return found


def bones_shown(item: Any, frames: Any) -> np.ndarray:
    """World matrices (f, B, 4, 4) as Blender shows an armature, in file units, by the order of `rest_of`."""
    play(item)
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        pose_ = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose
        out.append([np.array(bone.matrix) for bone in pose_.bones])
    return np.array(out, np.float64)


def skins(item: Any, frames: Any) -> np.ndarray:
    """What each bone does to points of the bind pose (f, B, 4, 4)."""
    rest = np.array([np.array(bone.matrix_local) for bone in rig().data.bones], np.float64)
    return bones_shown(item, frames) @ np.linalg.inv(rest)


def skins_of(found: ani.Ani, clip: int, frames: Any, model: msh.Msh) -> np.ndarray:
    """The same of a file, in the order of the armature's bones."""
    matched = pose.matched_world(model.bone_names, found, pose.clip_world(found, clip, frames))
    every = space.to_blender_matrix(pose.skin_matrices(model, matched))
    rows = [model.bone_names.index(bone.name) for bone in rig().data.bones]
    return every[:, rows]


def skins_by_row(found: ani.Ani, clip: int, frames: Any, model: msh.Msh) -> np.ndarray:
    """`skins_of` where bones of the armature have other names: by the order of file and model."""
    every = space.to_blender_matrix(pose.skin_matrices(model, pose.clip_world(found, clip, frames)))
    rows = [found.bone_names.index(bone.name) for bone in rig().data.bones]
    return every[:, rows]


def away(shown: np.ndarray, wanted: np.ndarray, model: msh.Msh) -> float:
    """How far points a height away from the origin are moved apart, of that height."""
    height = tall(model)
    points = np.concatenate([np.eye(3) * height, -np.eye(3) * height, np.zeros((1, 3))])
    points = np.concatenate((points, np.ones((7, 1))), axis=1)
    return float(np.abs((shown - wanted) @ points.T)[..., :3, :].max() / height)


def calm(version: int = 11, frames: int = 24) -> tuple[msh.Msh, ani.Ani]:
    """No scales at all."""
    found = dragons.animation(version, frames=frames)
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    return bound(found), found


def new_action(name: str, bone: str, prop: str, values: list[tuple[float, int, float]]) -> bpy.types.Action:
    """An Action on the armature with keys (frame, component, value)."""
    action = bpy.data.actions.new(name)
    bag = compat.curves(rig(), action)
    path = f"{curves.bone_path(bone)}.{prop}"
    for index in sorted({entry[1] for entry in values}):
        curve = bag.fcurves.new(path, index=index)
        for frame, _index, value in (entry for entry in values if entry[1] == index):
            curve.keyframe_points.insert(frame, value)
    return action
