# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations as bone motion: the recovered skeleton as an armature, one Action per animation.

An Action made here keeps the frames it came from and a fingerprint of its curves: while both the curves and the rest
shape are as they were, the original frames go back into the file.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import compat
from ...io_common.scene import mesh as meshes
from ..formats import motion
from ..formats.model import label
from . import clips, kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.motion import Animation
    from ..formats.recover import Rig

LINEAR = 1  # interpolation of a keyframe
# Bones that never leave their joint by more than this (file units) get no location curves; a step is 1/16.
_STILL = 0.004


def build(
    obj: bpy.types.Object, rig: Rig, rig_object: bpy.types.Object, animations: Sequence[Animation], fps: float
) -> None:
    """An Action per animation on `rig_object`, whose bones are `rig.names`; `clips.animations` lists them in order."""
    rest = _rest_matrices(rig_object, rig.names)
    for item, animation, clip in zip(clips.animations(obj.data), animations, rig.clips, strict=True):
        item.first_key = -1
        if not len(animation.frames):
            continue
        title = label(animation.name) or item.name or "Animation"
        action = bpy.data.actions.new(title)
        action.use_fake_user = True
        times = 1.0 + motion.times(len(animation.frames), animation.kps) * fps
        _write(rig_object, action, rig, clip, rest, times)
        set_range(action, times)
        item.action = action
        action[kept.FRAMES] = animation.frames.astype("<i2", copy=False).tobytes()
        action[kept.CURVES_PRINT] = curves_print(action)
    first = next((item.action for item in clips.animations(obj.data) if item.action is not None), None)
    compat.assign_action(rig_object, first)
    obj.data[kept.REST_PRINT] = rest_print(obj, rig_object)


def set_range(action: bpy.types.Action, times: npt.NDArray[np.float64]) -> None:
    """Say in the Action itself where it starts and ends."""
    action.use_frame_range = True
    action.frame_start, action.frame_end = float(times[0]), float(times[-1])


def _rest_matrices(rig_object: bpy.types.Object, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """(B, 4, 4) armature-space rest matrices, in the order of `names`."""
    bones = rig_object.data.bones
    return np.array([np.array(bones[name].matrix_local) for name in names], np.float64).reshape(-1, 4, 4)


def _write(
    rig_object: bpy.types.Object,
    action: bpy.types.Action,
    rig: Rig,
    clip: Any,  # noqa: ANN401  (a clip of the rig)
    rest: npt.NDArray[np.float64],
    times: npt.NDArray[np.float64],
) -> None:
    """Quaternion and location curves of every bone, linear between the frames of the file."""
    quaternions, locations = local_motion(to_matrices(clip.rotation, clip.translation), rest, rig.parent)
    bag = compat.curves(rig_object, action)
    for bone, name in enumerate(rig.names):
        group = bag.groups.new(name)
        path = f'pose.bones["{bpy.utils.escape_identifier(name)}"]'
        channels = [(f"{path}.rotation_quaternion", quaternions[:, bone])]
        if np.abs(locations[:, bone]).max() > _STILL:
            channels.append((f"{path}.location", locations[:, bone]))
        for data_path, values in channels:
            for index in range(values.shape[1]):
                write_curve(bag, data_path, np.stack((times, values[:, index]), axis=1), index, group)


def write_curve(
    bag: Any,  # noqa: ANN401  (an action or a channelbag)
    path: str,
    points: npt.NDArray[np.float64],
    index: int = 0,
    group: Any = None,  # noqa: ANN401
) -> None:
    """One F-curve through `points` (n, 2) of frame and value, linear in between."""
    curve = bag.fcurves.new(path, index=index)
    if group is not None:
        curve.group = group
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.uint8))
    curve.update()


def to_matrices(rotation: npt.NDArray[np.float64], translation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rigid motions in file axes, (N, B, 3, 3) and (N, B, 3), as (N, B, 4, 4) in Blender's axes."""
    order = list(FILE_Y_UP.order)
    matrices = np.zeros((*rotation.shape[:2], 4, 4))
    matrices[..., :3, :3] = rotation[..., order, :][..., order]
    matrices[..., :3, 3] = translation[..., order]
    matrices[..., 3, 3] = 1.0
    return matrices


def local_motion(
    world: npt.NDArray[np.float64], rest: npt.NDArray[np.float64], parents: Sequence[int]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What Blender keys: quaternions (N, B, 4) and locations (N, B, 3) in each bone's own space.

    `world` (N, B, 4, 4) moves the rest shape of each body in armature space; with M the rest matrix and D the motion, the
    key is M^-1 D_parent^-1 D M.
    """
    parent = np.asarray(parents)
    relative = world.copy()
    child = np.flatnonzero(parent >= 0)
    relative[:, child] = np.linalg.inv(world[:, parent[child]]) @ world[:, child]
    basis = np.linalg.inv(rest) @ relative @ rest
    return continuous(to_quaternions(basis[..., :3, :3])), basis[..., :3, 3]


def to_quaternions(rotation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(..., 3, 3) rotations to (..., 4) unit quaternions w, x, y, z, by the largest of the four squares."""
    m = rotation
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    squares = np.stack((trace, m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]), axis=-1)
    # Row k holds 4 q_k times the quaternion.
    rows = np.empty((*trace.shape, 4, 4))
    rows[..., 0, 0] = 1 + trace
    for axis in range(3):
        rows[..., axis + 1, axis + 1] = 1 - trace + 2 * m[..., axis, axis]
        first, second = (axis + 1) % 3, (axis + 2) % 3
        rows[..., 0, axis + 1] = rows[..., axis + 1, 0] = m[..., second, first] - m[..., first, second]
        rows[..., first + 1, second + 1] = rows[..., second + 1, first + 1] = m[..., first, second] + m[..., second, first]
    best = np.argmax(squares, axis=-1)[..., None, None]
    chosen = np.take_along_axis(rows, best, axis=-2)[..., 0, :]
    return chosen / np.linalg.norm(chosen, axis=-1, keepdims=True)


def continuous(quaternions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, B, 4) with signs chosen so that no quaternion jumps to its opposite from one frame to the next."""
    if len(quaternions) < 2:
        return quaternions
    dots = np.einsum("nbk,nbk->nb", quaternions[1:], quaternions[:-1])
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    out = quaternions.copy()
    out[1:] *= signs[..., None]
    return out


def curves_print(action: bpy.types.Action) -> str:
    """A digest of every curve of an action: paths, keyframes, interpolation and modifiers."""
    digest = hashlib.blake2b(digest_size=16)
    for curve in compat.all_curves(action):
        count = len(curve.keyframe_points)
        values = np.empty(2 * count, np.float32)
        curve.keyframe_points.foreach_get("co", values)
        kinds = np.empty(count, np.int32)
        curve.keyframe_points.foreach_get("interpolation", kinds)
        digest.update(f"{curve.data_path}|{curve.array_index}|{curve.mute}|{len(curve.modifiers)}".encode())
        digest.update(values.tobytes())
        digest.update(kinds.tobytes())
    return digest.hexdigest()


def rest_print(obj: bpy.types.Object, rig_object: bpy.types.Object) -> str:
    """A digest of what an Action moves: rest shape, bones, and which bone each vertex follows."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(meshes.get_positions(obj.data).tobytes())
    bones = rig_object.data.bones
    for name in ("head_local", "tail_local"):
        values = np.empty(len(bones) * 3, np.float32)
        bones.foreach_get(name, values)
        # Blender rebuilds these from the parents when a file is loaded; the last bits are noise.
        digest.update(np.round(values, 2).tobytes())
    names = [group.name for group in obj.vertex_groups]
    digest.update("\0".join(names).encode())
    digest.update(meshes.heaviest_group(obj.data, np.arange(len(names), dtype=np.int32)).tobytes())
    return digest.hexdigest()


def frames_of(obj: bpy.types.Object, item: Any) -> npt.NDArray[np.int16] | None:  # noqa: ANN401
    """The original frames of an animation, (N, V, 3) i16, when neither its Action nor the rest shape was edited."""
    action = item.action
    rig = next((entry.object for entry in obj.modifiers if entry.type == "ARMATURE" and entry.object), None)
    if action is None or rig is None:
        return None
    raw = kept.get_array(action, kept.FRAMES, "<i2")
    count = len(obj.data.vertices)
    if not len(raw) or not count or len(raw) % (3 * count):
        return None
    if kept.get(action, kept.CURVES_PRINT, "") != curves_print(action):
        return None
    if kept.get(obj.data, kept.REST_PRINT, "") != rest_print(obj, rig):
        return None
    return raw.reshape(-1, count, 3)

