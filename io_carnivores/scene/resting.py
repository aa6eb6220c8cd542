# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions of one armature that all say something of the same channels.

Blender leaves a channel that an Action does not mention as the Action before left it. So what one of them moves, the
others hold at rest, with one key each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.scene import compat
from . import clips, curves, kept

if TYPE_CHECKING:
    import bpy

    Channel = tuple[str, str]  # name of the bone, property

# Numbers of a property at rest.
_REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}


def complete(rig: bpy.types.Object, mesh: bpy.types.Mesh) -> None:
    """Let every Action in the list of `mesh` that was made here hold what others of them move; exact ones stay so."""
    listed = {item.action: None for item in clips.animations(mesh) if item.action is not None}
    made = [action for action in listed if kept.has(action, kept.CURVES_PRINT) and action.library is None]
    keyed = {action: _channels(action) for action in made}
    keyed = {action: found for action, found in keyed.items() if found}
    wanted = dict.fromkeys(channel for found in keyed.values() for channel in found if channel[0] in rig.pose.bones)
    data = compat.animation_data(rig)
    old = (data.action, getattr(data, "action_slot", None)) if data is not None else (None, None)
    for action, found in keyed.items():
        missing = [channel for channel in wanted if channel not in found]
        if missing:
            _hold(rig, action, missing)
    compat.assign_action(rig, *old)


def _channels(action: bpy.types.Action) -> dict[Channel, None]:
    """What an Action moves of bones, in order."""
    found: dict[Channel, None] = {}
    for curve in compat.all_curves(action):
        name, channel = curves.bone_of(curve.data_path), curve.data_path.rpartition(".")[2]
        if name is not None and channel in _REST:
            found[(name, channel)] = None
    return found


def _hold(rig: bpy.types.Object, action: bpy.types.Action, missing: list[Channel]) -> None:
    sealed = curves.is_sealed(action)
    bag = _bag(rig, action)
    groups: dict[str, Any] = {group.name: group for group in bag.groups}
    pen = curves.Pen(bag)
    start = np.array([action.frame_range[0]], np.float64)
    for name, channel in missing:
        group = groups.get(name) or groups.setdefault(name, bag.groups.new(name))
        pen.write(curves.path_of(name, channel), start, np.array([_REST[channel]]), group)
    if sealed:
        curves.seal_again(action)


def _bag(rig: bpy.types.Object, action: bpy.types.Action) -> Any:
    """Where the curves of the bones are: an Action may have a slot for keys too."""
    for slot, found in compat.curves_by_slot(action):
        if slot is not None and any(curves.bone_of(curve.data_path) is not None for curve in found):
            compat.assign_action(rig, action, slot)
    return compat.curves(rig, action)
