# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender shows of an armature during an Action: one evaluation per frame, all bones read in one call."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import compat, posing, selection
from . import kept, playback

if TYPE_CHECKING:
    from collections.abc import Iterator

    Floats = npt.NDArray[np.float64]

_PLACE = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


def poses(
    context: bpy.types.Context, obj: bpy.types.Object, action: bpy.types.Action, frames: npt.NDArray[Any]
) -> tuple[Floats, Floats]:
    """Pose matrices (f, B, 4, 4) at the scene frames `frames` (f,), and where the object is.

    Those are of all bones but carriers, in the armature's space; this is (f, 4, 4), relative to the first frame.
    `action` alone moves `obj`, from rest; everything else of the scene plays as it does. All is put back at the end.
    """
    scene = selection.scene(context)
    out = np.empty((len(frames), len(obj.pose.bones), 16), np.float32)
    stands = np.empty((len(frames), 4, 4))
    with contextlib.ExitStack() as undo:
        undo.enter_context(selection.object_mode(context, [obj]))
        undo.enter_context(selection.evaluated(context, [obj]))
        undo.enter_context(_playing(scene, obj, action))
        for number, frame in enumerate(frames.tolist()):
            scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
            evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
            row = np.empty(out[number].size, np.float32)
            evaluated.pose.bones.foreach_get("matrix", row)
            out[number] = row.reshape(out[number].shape)
            stands[number] = np.array(evaluated.matrix_world, np.float64)
    # RNA hands matrices out by column.
    own = [row for row, bone in enumerate(obj.data.bones) if not kept.has(bone, kept.CARRIER)]
    found = out.reshape(len(frames), -1, 4, 4)[:, own].swapaxes(-1, -2).astype(np.float64)
    first = stands[:1]
    if len(frames) and abs(np.linalg.det(first[0])) > 1e-30:
        stands = np.linalg.inv(first) @ stands
    else:
        stands[:] = np.eye(4)
    return found, stands


@contextlib.contextmanager
def _playing(scene: bpy.types.Scene, obj: bpy.types.Object, action: bpy.types.Action) -> Iterator[None]:
    """`action` alone moves the armature; all is put back afterwards."""
    with contextlib.ExitStack() as undo:
        undo.callback(scene.frame_set, scene.frame_current, subframe=scene.frame_subframe)
        undo.callback(setattr, obj.data, "pose_position", obj.data.pose_position)
        obj.data.pose_position = "POSE"
        fresh = compat.animation_data(obj) is None
        data = compat.animation_data(obj) or obj.animation_data_create()
        slot = getattr(data, "action_slot", None)
        undo.callback(posing.give_back, obj, data.action, slot, data.use_nla, fresh)
        data.use_nla = False
        undo.callback(_set_place, obj, {name: tuple(getattr(obj, name)) for name in _PLACE})
        undo.callback(posing.set_pose, obj, posing.rest_pose(obj))
        compat.assign_action(obj, action, playback.slot_for(obj, action))
        yield


def _set_place(obj: bpy.types.Object, place: dict[str, tuple[float, ...]]) -> None:
    for name, values in place.items():
        setattr(obj, name, values)


def has_helpers(obj: bpy.types.Object) -> bool:
    """Whether anything but curves moves the bones: constraints, drivers."""
    for bone in obj.pose.bones:
        if any(entry.enabled and entry.influence > 0 for entry in bone.constraints):
            return True
    data = compat.animation_data(obj)
    return data is not None and any("pose.bones" in curve.data_path for curve in data.drivers)
