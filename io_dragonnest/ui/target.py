# SPDX-License-Identifier: GPL-3.0-or-later
"""The armature that the sidebar and its buttons are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_common.scene import selection

if TYPE_CHECKING:
    import bpy


def armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature, or the one that carries the active object."""
    active = context.active_object
    if active is None or active.type == "ARMATURE":
        return active
    return selection.armature_of(active)
