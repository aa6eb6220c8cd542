# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit Mode operators for face flags and face groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ...io_common.scene import selection
from ...io_common.ui import sidebar
from ..scene import face_flags
from . import state
from .live import live

if TYPE_CHECKING:
    from collections.abc import Callable

    from bpy.stub_internal.rna_enums import OperatorTypeFlagItems

    from ..scene.face_flags import Flags, Mask

_UNDOABLE: set[OperatorTypeFlagItems] = {"REGISTER", "UNDO"}


def edited(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The mesh objects in Edit Mode, one per mesh, the active one first."""
    active = context.view_layer.objects.active
    found = [obj for obj in context.view_layer.objects if obj.type == "MESH" and obj.mode == "EDIT"]
    found.sort(key=lambda obj: obj != active)
    unique = {cast("bpy.types.Mesh", obj.data).session_uid: obj for obj in reversed(found)}
    return list(unique.values())[::-1]


def each_mesh(context: bpy.types.Context, work: Callable[[bpy.types.Object], int]) -> int:
    """The sum of `work` over the objects in Edit Mode, done in Object Mode, where a mesh is arrays."""
    objects = edited(context)
    with selection.object_mode(context):
        total = sum(work(obj) for obj in objects)
    live().touch()
    sidebar.redraw(context)
    return total


def faces(number: int) -> str:
    """A number of faces with its noun."""
    return f"{number} face{'' if number == 1 else 's'}"


def _faces_only(context: bpy.types.Context) -> None:
    """Selecting by vertices would select the faces between them too."""
    context.tool_settings.mesh_select_mode = (False, False, True)


class _InEditMode:
    """Shared by all: where they work, and what is said where they do not."""

    if TYPE_CHECKING:
        report: Any

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """A mesh is in Edit Mode."""
        if context.mode != "EDIT_MESH":
            active = context.active_object
            rigged = active is not None and active.type == "ARMATURE"
            first = "Select the mesh and enter" if rigged else "Enter"
            cls.poll_message_set(f"{first} Edit Mode first: it works on the faces selected there")  # type: ignore[attr-defined]
            return False
        return True


class _OnFlags(_InEditMode):
    """Shared by those that are given flags."""

    if TYPE_CHECKING:
        flags: set[str]
    else:
        flags: state.flags_property()

    def bits(self) -> int:
        """The chosen flags as a number; without any, a report says so."""
        found = state.bits(self.flags)
        if not found:
            self.report({"ERROR"}, "Choose at least one flag.")
        return found

    def change(self, context: bpy.types.Context, verb: str, how: Callable[[Flags, np.int32], Flags]) -> set[str]:
        """Change the flags of the selected faces to what `how` makes of them and the chosen bits."""
        found = self.bits()
        if not found:
            return {"CANCELLED"}
        if not live().numbers(edited(context)).selected:
            self.report({"WARNING"}, "No face is selected.")
            return {"CANCELLED"}
        number = np.int32(found)
        changed = each_mesh(context, lambda obj: face_flags.change(obj, lambda flags: how(flags, number)))
        self.report({"INFO"}, f"{verb} on {faces(changed)}.")
        return {"FINISHED"}


class CARNIVORES_OT_flags_set(_OnFlags, bpy.types.Operator):
    """Give the selected faces these flags; their other flags stay"""

    bl_idname = "carnivores.flags_set"
    bl_label = "Set Face Flags"
    bl_options = _UNDOABLE

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set."""
        return self.change(context, "Set", lambda flags, bits: flags | bits)


class CARNIVORES_OT_flags_clear(_OnFlags, bpy.types.Operator):
    """Take these flags from the selected faces; their other flags stay"""

    bl_idname = "carnivores.flags_clear"
    bl_label = "Clear Face Flags"
    bl_options = _UNDOABLE

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clear."""
        return self.change(context, "Cleared", lambda flags, bits: flags & ~bits)


class CARNIVORES_OT_flags_toggle(_OnFlags, bpy.types.Operator):
    """Set these flags on selected faces that lack them and clear them on those that have them"""

    bl_idname = "carnivores.flags_toggle"
    bl_label = "Toggle Face Flags"
    bl_options = _UNDOABLE

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Toggle."""
        return self.change(context, "Toggled", lambda flags, bits: flags ^ bits)


class CARNIVORES_OT_flags_select(_OnFlags, bpy.types.Operator):
    """Select the faces with these flags. Switches to face selection"""

    bl_idname = "carnivores.flags_select"
    bl_label = "Select by Face Flags"
    bl_options = _UNDOABLE

    if TYPE_CHECKING:
        match: str
        extend: bool
    else:
        match: EnumProperty(name="Match", description="Which faces are meant", items=state.MATCH_ITEMS)
        extend: BoolProperty(name="Extend", description="Keep what is selected already")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select in every mesh that is being edited."""
        bits = self.bits()
        if not bits:
            return {"CANCELLED"}

        def work(obj: bpy.types.Object) -> int:
            mask = face_flags.matching(face_flags.read(obj), bits, self.match)
            return face_flags.select(cast("bpy.types.Mesh", obj.data), mask, extend=self.extend)

        _faces_only(context)
        self.report({"INFO"}, f"Selected {faces(each_mesh(context, work))}.")
        return {"FINISHED"}


class CARNIVORES_OT_flags_hide(_OnFlags, bpy.types.Operator):
    """Hide the faces with these flags, or show them again"""

    bl_idname = "carnivores.flags_hide"
    bl_label = "Hide by Face Flags"
    bl_options = _UNDOABLE

    if TYPE_CHECKING:
        match: str
        reveal: bool
    else:
        match: EnumProperty(name="Match", description="Which faces are meant", items=state.MATCH_ITEMS)
        reveal: BoolProperty(name="Reveal", description="Show such faces where they are hidden, and select them")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Hide or reveal in every mesh that is being edited."""
        bits = self.bits()
        if not bits:
            return {"CANCELLED"}
        job: Callable[[bpy.types.Mesh, Mask], int] = face_flags.reveal if self.reveal else face_flags.hide

        def work(obj: bpy.types.Object) -> int:
            mask = face_flags.matching(face_flags.read(obj), bits, self.match)
            return job(cast("bpy.types.Mesh", obj.data), mask)

        verb = "Revealed" if self.reveal else "Hid"
        self.report({"INFO"}, f"{verb} {faces(each_mesh(context, work))}.")
        return {"FINISHED"}


class CARNIVORES_OT_group_set(_InEditMode, bpy.types.Operator):
    """Put the selected faces into this face group"""

    bl_idname = "carnivores.group_set"
    bl_label = "Set Face Group"
    bl_options = _UNDOABLE

    if TYPE_CHECKING:
        group: int
    else:
        group: IntProperty(name="Group", description="Number of the group; the games' editor used 0 to 6", soft_min=0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set."""
        if not live().numbers(edited(context)).selected:
            self.report({"WARNING"}, "No face is selected.")
            return {"CANCELLED"}
        changed = each_mesh(context, lambda obj: face_flags.change_group(cast("bpy.types.Mesh", obj.data), self.group))
        self.report({"INFO"}, f"Moved {faces(changed)} to group {self.group}.")
        return {"FINISHED"}


class CARNIVORES_OT_group_select(_InEditMode, bpy.types.Operator):
    """Select the faces of this face group. Switches to face selection"""

    bl_idname = "carnivores.group_select"
    bl_label = "Select Face Group"
    bl_options = _UNDOABLE

    if TYPE_CHECKING:
        group: int
        extend: bool
    else:
        group: IntProperty(name="Group", description="Number of the group", soft_min=0)
        extend: BoolProperty(name="Extend", description="Keep what is selected already")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select in every mesh that is being edited."""

        def work(obj: bpy.types.Object) -> int:
            mesh = cast("bpy.types.Mesh", obj.data)
            return face_flags.select(mesh, face_flags.read_groups(mesh) == self.group, extend=self.extend)

        _faces_only(context)
        self.report({"INFO"}, f"Selected {faces(each_mesh(context, work))}.")
        return {"FINISHED"}


CLASSES = (
    CARNIVORES_OT_flags_set,
    CARNIVORES_OT_flags_clear,
    CARNIVORES_OT_flags_toggle,
    CARNIVORES_OT_flags_select,
    CARNIVORES_OT_flags_hide,
    CARNIVORES_OT_group_set,
    CARNIVORES_OT_group_select,
)
