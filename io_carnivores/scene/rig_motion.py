# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of an armature as matrices: any Action read, and keys written in the way each bone rotates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import selection
from ..formats import rigid
from ..formats.bone_match import Skeleton
from . import bake, curves, passing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.bone_space import Local

    Matrices = npt.NDArray[np.float64]

_EVEN = 1e-4  # a scale this close to 1 gets no curves
_AXES = {"X": 0, "Y": 1, "Z": 2}


@dataclass(frozen=True)
class Rest:
    """B bones at rest, in the armature's space.

    `names`, `parent` (B,) with -1 at roots, parents before children; `matrix` (B, 4, 4); `tails` (B, 3); `connected`
    (B,): those that sit on the end of their parent whatever happens.
    """

    names: list[str]
    parent: npt.NDArray[np.int64]
    matrix: Matrices
    tails: Matrices
    connected: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, rig: bpy.types.Object) -> Rest:
        """The bones of an armature object."""
        bones = rig.data.bones
        names = [bone.name for bone in bones]
        number = {name: index for index, name in enumerate(names)}
        parent = np.array([number[bone.parent.name] if bone.parent is not None else -1 for bone in bones], np.int64)
        connected = np.empty(len(bones), np.bool_)
        bones.foreach_get("use_connect", connected)
        tails = np.empty(3 * len(bones), np.float32)
        bones.foreach_get("tail_local", tails)
        return cls(names, parent, _matrices(bones, "matrix_local"), tails.reshape(-1, 3).astype(float), connected)

    @property
    def heads(self) -> Matrices:
        """(B, 3)."""
        return self.matrix[:, :3, 3]

    def turned(self, rotation: Matrices) -> Skeleton:
        """The skeleton turned by a (3, 3) matrix, to be compared with another."""
        return Skeleton(self.names, self.heads @ rotation.T, self.tails @ rotation.T)


def _matrices(items: Any, name: str) -> Matrices:
    """A matrix of every bone, (B, 4, 4); Blender hands them over by columns."""
    values = np.empty(16 * len(items), np.float32)
    items.foreach_get(name, values)
    return values.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)


def motion(context: bpy.types.Context, rig: bpy.types.Object, aim: bake.Aim, times: Sequence[float]) -> Matrices:
    """What moves the rest pose of every bone to its pose at each scene frame of `times`, (N, B, 4, 4), armature space.

    `aim`: the armature, with the Action that plays. Constraints and drivers have their say, and so has the motion of
    the object itself relative to where it stands now.
    """
    rest = Rest.of(rig)
    back = np.linalg.inv(rest.matrix)
    home: Any = np.linalg.inv(np.array(rig.matrix_world, np.float64))
    result = np.empty((len(times), len(rest.names), 4, 4))
    old = rig.data.pose_position
    try:
        rig.data.pose_position = "POSE"
        with selection.evaluated(context, [rig]), bake.playing(context, [bake.Body.of(rig, None)], [aim]):
            for number in passing.visited(context, np.asarray(times, np.float64), whole_scene=False):
                evaluated = rig.evaluated_get(context.evaluated_depsgraph_get())
                moved = home @ np.array(evaluated.matrix_world, np.float64)
                result[number] = moved @ _matrices(evaluated.pose.bones, "matrix") @ back
    finally:
        rig.data.pose_position = old
    return result


def write(
    bag: Any,
    bone: bpy.types.PoseBone,
    local: Local,
    times: npt.NDArray[np.float64],
    still: float,
) -> None:
    """Curves of one bone, linear between the scene frames `times` (N,); `local` is of that bone alone.

    Rotations are keyed as the bone rotates. A location below `still` and a scale of 1 get no curves.
    """
    group = bag.groups.new(bone.name)
    channels = [turns(local.rotation, bone.rotation_mode)]
    if np.abs(local.location).max(initial=0.0) > still:
        channels.append(("location", local.location))
    if np.abs(local.scale - 1.0).max(initial=0.0) > _EVEN:
        channels.append(("scale", np.repeat(local.scale[:, None], 3, axis=1)))
    pen = curves.Pen(bag)
    for channel, values in channels:
        pen.write(curves.path_of(bone.name, channel), times, values, group)


def turns(quaternion: Matrices, mode: str) -> tuple[str, Matrices]:
    """Property and values (N, 4) or (N, 3) that say rotations (N, 4) w x y z in a bone's `rotation_mode`."""
    if mode == "QUATERNION":
        return "rotation_quaternion", quaternion
    if mode == "AXIS_ANGLE":
        sine = np.linalg.norm(quaternion[:, 1:], axis=1)
        axis = quaternion[:, 1:] / np.maximum(sine, 1e-12)[:, None]
        axis[sine < 1e-9] = (0.0, 1.0, 0.0)
        angle = 2 * np.arctan2(sine, quaternion[:, 0])
        return "rotation_axis_angle", np.concatenate([angle[:, None], axis], axis=1)
    return "rotation_euler", eulers(quaternion, mode)


def eulers(quaternion: Matrices, order: str) -> Matrices:
    """Angles (N, 3) about x, y and z of rotations (N, 4) w x y z, the axes turned about in `order`; no jumps of 360."""
    m = rigid.matrices(quaternion)
    i, j, k = (_AXES[axis] for axis in order)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    flat = np.hypot(m[:, i, i], m[:, j, i]) < 1e-6
    angles = np.empty((len(m), 3))
    angles[:, j] = np.arcsin(np.clip(-sign * m[:, k, i], -1.0, 1.0))
    angles[:, i] = np.where(flat, np.arctan2(-sign * m[:, j, k], m[:, j, j]), np.arctan2(sign * m[:, k, j], m[:, k, k]))
    angles[:, k] = np.where(flat, 0.0, np.arctan2(sign * m[:, j, i], m[:, i, i]))
    return np.asarray(np.unwrap(angles, axis=0), np.float64) if len(angles) else angles
