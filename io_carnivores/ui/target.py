# SPDX-License-Identifier: GPL-3.0-or-later
"""The model that the sidebar and its buttons are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_common.scene import selection

if TYPE_CHECKING:
    import bpy


def target(context: bpy.types.Context) -> bpy.types.Object | None:
    """The mesh object the panels are about: the active one, or the first that the active armature moves."""
    active = context.active_object
    if active is None or active.type == "MESH":
        return active
    if active.type != "ARMATURE":
        return None
    carried = (obj for obj in context.view_layer.objects if obj.type == "MESH" and selection.armature_of(obj) == active)
    return next(carried, None)
