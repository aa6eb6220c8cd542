# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses and Actions put aside for a while, and put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import compat

if TYPE_CHECKING:
    import bpy

# What a pose is made of: property, numbers per bone, values at rest.
_CHANNELS = (
    ("location", 3, (0.0, 0.0, 0.0)),
    ("rotation_quaternion", 4, (1.0, 0.0, 0.0, 0.0)),
    ("rotation_euler", 3, (0.0, 0.0, 0.0)),
    ("rotation_axis_angle", 4, (0.0, 0.0, 1.0, 0.0)),
    ("scale", 3, (1.0, 1.0, 1.0)),
)


def give_back(block: bpy.types.ID, action: bpy.types.Action | None, slot: Any, use_nla: bool, fresh: bool) -> None:  # noqa: FBT001
    """Undo what was done to the animation of `block`; `fresh`: it had none."""
    data = compat.animation_data(block)
    data.action = action
    if slot is not None:
        data.action_slot = slot
    data.use_nla = use_nla
    if fresh:
        block.animation_data_clear()


def rest_pose(rig: bpy.types.Object) -> list[npt.NDArray[np.float32]]:
    """Put every bone at rest, so that channels without a curve do not carry over; returns what was there."""
    bones = rig.pose.bones
    old = []
    for name, width, rest in _CHANNELS:
        values = np.empty(len(bones) * width, np.float32)
        bones.foreach_get(name, values)
        old.append(values)
        bones.foreach_set(name, np.tile(np.array(rest, np.float32), len(bones)))
    return old


def set_pose(rig: bpy.types.Object, pose: list[npt.NDArray[np.float32]]) -> None:
    """Put every bone where `rest_pose` found it."""
    for (name, _width, _rest), values in zip(_CHANNELS, pose, strict=True):
        rig.pose.bones.foreach_set(name, values)
    rig.update_tag(refresh={"OBJECT", "DATA"})
