# SPDX-License-Identifier: GPL-3.0-or-later
"""Carriers: bones that shear others, where a clip does that.

A bone of the game that turns below an unevenly scaled one is sheared, and where the bind pose is scaled too, a bone of
Blender would have to be sheared against its own parent, which no location, rotation and scale can do. Any matrix is a
rotation, a scale and another rotation, though, so that two bones one below the other can do it: the carrier rests
where its bone does, hangs where that hung and carries it. No file knows of it; `rig` steps over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...io_common.scene import armature
from . import kept, placement, rig

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

    from ...io_common.formats.digest import Digest

_SHORT = 0.25  # the length of a carrier, of that of its bone, so that both can be seen and clicked


def add(context: bpy.types.Context, obj: bpy.types.Object, labels: Sequence[str], digest: Digest) -> list[str]:
    """Give those of the bones `labels` a carrier that have none; the names of these."""
    data = cast("bpy.types.Armature", obj.data)
    wanted = [label for label in labels if rig.carrier(data.bones[label]) is None]
    if not wanted:
        return []
    made = []
    with placement.still(obj, data.bones.keys()), armature.edit_mode(context, obj):
        for label in wanted:
            bone = data.edit_bones[label]
            upper = data.edit_bones.new(armature.fit_bone_name(f"{label} Carrier"))
            upper.head, upper.tail, upper.roll = bone.head, bone.tail, bone.roll
            upper.length *= _SHORT
            upper.use_deform = False
            upper.parent = bone.parent
            bone.use_connect = False
            bone.parent = upper
            made.append(upper.name)
    for name in made:
        kept.put(data.bones[name], kept.CARRIER, 1)
    digest.note(
        f"{len(made)} bones are sheared by uneven scales above them, which a bone of Blender cannot be: each hangs on "
        f'a carrier now, a bone that no file has, "{made[0]}" first'
    )
    return wanted
