# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones turned so that Blender can scale them as a clip does."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from mathutils import Matrix

from ...io_common.scene import armature
from ..formats import channels
from . import aim, kept, placement, rig

if TYPE_CHECKING:
    from collections.abc import Collection

    import bpy


def along(context: bpy.types.Context, obj: bpy.types.Object, names: Collection[str]) -> list[str]:
    """Let the bones `names` lie along an axis of their bind matrix; those that were turned.

    Blender scales a bone along its own axes only. Bones that were edited, or made in Blender, stay as they are.
    """
    if not names:
        return []
    state = rig.state(obj)
    wanted = np.array([name in names for name in state.names]) & ~state.edited
    wanted &= ~channels.even_axes(state.rest, state.bind)
    if not wanted.any():
        return []
    rest, _length = aim.rest_matrices(state.bind, state.parent.tolist(), aim.CHILD, wanted)
    data = cast("bpy.types.Armature", obj.data)
    turned = [state.names[row] for row in np.flatnonzero(wanted)]
    with placement.still(obj, turned), armature.edit_mode(context, obj):
        for row in np.flatnonzero(wanted).tolist():
            bone = data.edit_bones[state.names[row]]
            length = bone.length
            bone.matrix = Matrix(rest[row].tolist())
            bone.length = length
    for name in turned:
        bone = data.bones[name]
        kept.put(bone, kept.REST, np.array(bone.matrix_local, "<f4").tobytes())
    return turned
