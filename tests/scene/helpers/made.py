# SPDX-License-Identifier: GPL-3.0-or-later
"""A creature that was never imported: a tube with an armature of four bones and Actions of every kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from addon.io_common.scene import compat

from tests import characters

if TYPE_CHECKING:
    from collections.abc import Sequence

UNIT = 1 / 32  # Blender units of a file unit


def tube(name: str = "Made") -> bpy.types.Object:
    """The mesh object, with UVs and a group per body."""
    model = characters.tube()
    mesh = bpy.data.meshes.new(name)
    points = model.vertices["position"][:, [0, 2, 1]] * UNIT
    mesh.from_pydata(points.tolist(), [], model.faces["corner"][:, ::-1].tolist())
    mesh.uv_layers.new(name="UVMap")
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    for body in range(characters.BODIES):
        members = np.flatnonzero(model.vertices["owner"] == body).tolist()
        obj.vertex_groups.new(name=f"Bone {body}").add(members, 1.0, "REPLACE")
    return obj


def rig(obj: bpy.types.Object) -> bpy.types.Object:
    """A chain of bones along the tube, Euler and quaternion by turns, moving the mesh by a modifier."""
    data = bpy.data.armatures.new("Rig")
    made = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for body in range(characters.BODIES):
        bone = data.edit_bones.new(f"Bone {body}")
        bone.head = (0, characters.LENGTH * body * UNIT, 30 * UNIT)
        bone.tail = (0, characters.LENGTH * (body + 1) * UNIT, 30 * UNIT)
        bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for body, bone in enumerate(made.pose.bones):
        bone.rotation_mode = "XYZ" if body % 2 else "QUATERNION"
    obj.parent = made
    obj.modifiers.new("Armature", "ARMATURE").object = made
    return made


def action(
    block: bpy.types.ID, name: str, curves: Sequence[tuple[str, int, Sequence[tuple[float, float]]]]
) -> bpy.types.Action:
    """An Action for `block` of (path, index, points of frame and value), linear."""
    made: Any = bpy.data.actions.new(name)
    bag = compat.curves(block, made)
    for path, index, points in curves:
        curve = bag.fcurves.new(path, index=index)
        for frame, value in points:
            curve.keyframe_points.insert(frame, value).interpolation = "LINEAR"
    compat.assign_action(block, None)
    return made


def bend(rig_object: bpy.types.Object, name: str = "bend", length: int = 24, angle: float = 0.8) -> bpy.types.Action:
    """The second bone, an Euler one, turns about x from rest and back over `length` frames from frame 1."""
    path = 'pose.bones["Bone 1"].rotation_euler'
    points = [(1, 0.0), (1 + length / 2, angle), (1 + length, 0.0)]
    return action(rig_object, name, [(path, 0, points)])


def bent(angle: float) -> np.ndarray:
    """(V, 3) file positions of the tube with everything from the second bone on turned by `angle` about its head."""
    model = characters.tube()
    points = model.vertices["position"].astype(np.float64)
    joint = np.array([0.0, 30.0, characters.LENGTH])
    behind = model.vertices["owner"] >= 1
    # About x in Blender, which is -x in the files' left-handed axes.
    turn = characters.turned(-angle, 0)
    points[behind] = (points[behind] - joint) @ turn.T + joint
    return points


def wave(frame: float, length: float, angle: float) -> float:
    """The angle of `bend` at a frame counted from its start."""
    return angle * (1 - abs(2 * frame / length - 1))


RIGHT = math.pi / 2
