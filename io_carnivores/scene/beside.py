# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves vertices beside the curves of an Action: constraints, drivers, keys, modifiers, ways of a bone to turn.

The tests are cheap, and rather find too much: then an animation is baked, which gives the same, and takes longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import bpy
import numpy as np

from ...io_common.scene import compat, selection
from . import clips, shape_motion, soft_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

_TURNS = "QUATERNION"  # as Actions that are made here turn bones
# What an Armature modifier does at import; anything else carries the vertices otherwise.
_PLAIN = {
    "use_vertex_groups": True,
    "use_bone_envelopes": False,
    "use_deform_preserve_volume": False,
    "use_multi_modifier": False,
    "vertex_group": "",
}


def is_bound(obj: bpy.types.Object) -> bool:
    """Whether an armature carries the vertices of `obj`, be it switched off for now."""
    return any(_armature_modifiers(obj)) or (
        obj.parent is not None and obj.parent.type == "ARMATURE" and obj.parent_type == "ARMATURE"
    )


def bones_alone(obj: bpy.types.Object) -> bool:
    """Whether an Action of the bones that carry `obj`, and it alone, says where their vertices are."""
    rig = selection.armature_of(obj)
    if rig is None or _moved(obj) or _driven(rig):
        return False
    armature = cast("bpy.types.Armature", rig.data)
    if _driven(armature) or _acted(armature):
        return False
    if any(bone.rotation_mode != _TURNS for bone in rig.pose.bones):
        return False
    if any(not entry.mute for bone in rig.pose.bones for entry in bone.constraints):
        return False
    return _carried_plainly(obj) and not _mixed(obj)


def keys_alone(obj: bpy.types.Object, *, modifiers: bool) -> bool:
    """Whether the keys of animations, and they alone, say where the vertices of `obj` are; `modifiers`: they count."""
    if _moved(obj) or any(_armature_modifiers(obj)):
        return False
    if modifiers and any(entry.show_viewport for entry in obj.modifiers):
        return False
    mesh = cast("bpy.types.Mesh", obj.data)
    keys = shape_motion.keys_of(obj)
    if _driven(keys) or any(block.mute or block.vertex_group for block in keys.key_blocks):
        return False
    if not keys.use_relative:
        return True
    values = np.empty(len(keys.key_blocks), np.float32)
    keys.key_blocks.foreach_get("value", values)
    values[0] = 0.0
    for item in clips.animations(mesh):
        numbers = shape_motion.block_numbers(mesh, item)
        if numbers is not None:
            values[numbers.start : numbers.stop] = 0.0
    return not values.any()


def _armature_modifiers(obj: bpy.types.Object) -> Iterator[bpy.types.ArmatureModifier]:
    return (
        entry for entry in obj.modifiers if isinstance(entry, bpy.types.ArmatureModifier) and entry.object is not None
    )


def _carried_plainly(obj: bpy.types.Object) -> bool:
    """Whether a single Armature modifier takes every vertex where its groups say."""
    found = list(_armature_modifiers(obj))
    shown = [entry for entry in found if entry.show_viewport] or found
    if len(shown) != 1 or obj.parent_type not in ("OBJECT", "ARMATURE"):
        return False
    if obj.parent_type == "ARMATURE" and obj.parent is not None and obj.parent.type == "ARMATURE":
        return False
    return all(getattr(shown[0], name) == value for name, value in _PLAIN.items())


def _mixed(obj: bpy.types.Object) -> bool:
    """Whether shape keys have a say, those aside that show soft vertices."""
    mesh = cast("bpy.types.Mesh", obj.data)
    keys = mesh.shape_keys
    if keys is None:
        return False
    if _driven(keys):
        return True
    if soft_keys.any_of(mesh):
        return bool(keys.use_relative)
    if not keys.use_relative or _acted(keys):
        return True
    return any(block.value and not block.mute for block in list(keys.key_blocks)[1:])


def _moved(obj: bpy.types.Object) -> bool:
    """Whether something moves `obj`, or what it hangs on; the Action and the bones of an armature do not count."""
    rig = selection.armature_of(obj)
    for start in (obj, rig):
        place = start
        while place is not None:
            if place.rigid_body is not None or _driven(place) or (place != rig and _acted(place)):
                return True
            if any(not entry.mute for entry in place.constraints):
                return True
            place = place.parent
    return False


def _driven(block: bpy.types.ID) -> bool:
    data = compat.animation_data(block)
    return data is not None and any(not curve.mute for curve in data.drivers)


def _acted(block: bpy.types.ID) -> bool:
    """Whether an Action or the NLA moves a data-block."""
    data = compat.animation_data(block)
    if data is None:
        return False
    return data.action is not None or (data.use_nla and any(not track.mute for track in data.nla_tracks))
