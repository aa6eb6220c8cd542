# SPDX-License-Identifier: GPL-3.0-or-later
"""Any motion of an object to frames: one evaluation per frame, read with one call."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from ...io_common.scene import compat
from ...io_common.scene import mesh as meshes

if TYPE_CHECKING:
    from collections.abc import Iterator


def frame_times(action: bpy.types.Action, count: int) -> npt.NDArray[np.float64]:
    """Scene frames at which `count` samples of an action are taken, first and last included, (count,)."""
    start, end = action.frame_range
    if count < 2:
        return np.full(count, start)
    return np.linspace(start, end, count)


def bake(
    context: bpy.types.Context, obj: bpy.types.Object, action: bpy.types.Action, times: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """Vertex positions of `obj` under `action` at the scene frames `times`, (N, V, 3) f32 in the object's own space.

    The action goes to whatever it was made for: the object's armature, its shape keys or the object itself. Scene
    frame, actions and the armature's pose position come back at the end.
    """
    block = target(obj, action)
    if block is None:
        raise ExportError(f'the action "{action.name}" moves nothing of "{obj.name}"')
    out: npt.NDArray[np.float32] | None = None
    with _playing(context, obj, block, action):
        for number, time in enumerate(times):
            frame = int(np.floor(time))
            context.scene.frame_set(frame, subframe=float(time - frame))
            values = _positions(context, obj)
            if out is None:
                out = np.empty((len(times), *values.shape), np.float32)
            if values.shape != out.shape[1:]:
                raise ExportError(f'the number of vertices of "{obj.name}" changes during "{action.name}"')
            out[number] = values
    return out if out is not None else np.zeros((0, len(obj.data.vertices), 3), np.float32)


def target(obj: bpy.types.Object, action: bpy.types.Action) -> bpy.types.ID | None:
    """The data-block that `action` animates for `obj`, judged by what its curves are called."""
    paths = {curve.data_path for curve in compat.all_curves(action)}
    rig = next((entry.object for entry in obj.modifiers if entry.type == "ARMATURE" and entry.object), None)
    if rig is None and obj.parent is not None and obj.parent.type == "ARMATURE":
        rig = obj.parent
    if any(path.startswith("pose.bones") for path in paths):
        return rig
    if any(path == "eval_time" or path.startswith("key_blocks") for path in paths):
        return obj.data.shape_keys
    return obj if paths else None


@contextlib.contextmanager
def _playing(
    context: bpy.types.Context, obj: bpy.types.Object, block: bpy.types.ID, action: bpy.types.Action
) -> Iterator[None]:
    """`action` alone moves `block`; all is put back afterwards."""
    scene = context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    data = block.animation_data or block.animation_data_create()
    old_action, old_nla = data.action, data.use_nla
    old_slot = getattr(data, "action_slot", None)
    rig = block if isinstance(block, bpy.types.Object) and block.type == "ARMATURE" else None
    old_position = rig.data.pose_position if rig is not None else None
    pose = _rest(rig) if rig is not None else None
    data.use_nla = False
    compat.assign_action(block, action)
    if rig is not None:
        rig.data.pose_position = "POSE"
    try:
        yield
    finally:
        data.action = old_action
        if old_slot is not None and hasattr(data, "action_slot"):
            data.action_slot = old_slot
        data.use_nla = old_nla
        if rig is not None and pose is not None:
            _restore(rig, pose)
            rig.data.pose_position = old_position
        scene.frame_set(frame, subframe=subframe)


def _rest(rig: bpy.types.Object) -> npt.NDArray[np.float32]:
    """Put every bone at rest, so that channels without a curve do not carry over; returns what was there."""
    bones = rig.pose.bones
    kept = np.empty((3, len(bones) * 4), np.float32)
    for row, (name, width) in enumerate((("location", 3), ("rotation_quaternion", 4), ("scale", 3))):
        bones.foreach_get(name, kept[row, : len(bones) * width])
    bones.foreach_set("location", np.zeros(len(bones) * 3, np.float32))
    bones.foreach_set("rotation_quaternion", np.tile(np.array((1, 0, 0, 0), np.float32), len(bones)))
    bones.foreach_set("scale", np.ones(len(bones) * 3, np.float32))
    return kept


def _restore(rig: bpy.types.Object, kept: npt.NDArray[np.float32]) -> None:
    bones = rig.pose.bones
    for row, (name, width) in enumerate((("location", 3), ("rotation_quaternion", 4), ("scale", 3))):
        bones.foreach_set(name, kept[row, : len(bones) * width])


def _positions(context: bpy.types.Context, obj: bpy.types.Object) -> npt.NDArray[np.float32]:
    depsgraph = context.evaluated_depsgraph_get()
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        return meshes.get_positions(mesh)
    finally:
        evaluated.to_mesh_clear()
