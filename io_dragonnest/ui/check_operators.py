# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the sidebar: look for what the game would trip over, and select it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty

from ...io_common.formats.digest import Digest
from ...io_common.formats.errors import UserError
from ...io_common.formats.issues import Issue, Severity
from ...io_common.ui import sidebar
from ..scene import inspect

if TYPE_CHECKING:
    from ..scene.inspect import Finding

NAME = "dragonnest_check"


class DRAGONNEST_PG_finding(bpy.types.PropertyGroup):
    """One finding of the check; what it is about is looked up again when it is to be selected."""

    if TYPE_CHECKING:
        title: str
        object_name: str
        code: str
        message: str
        is_error: bool
        count: int
    else:
        title: StringProperty(name="File", description="The file that was looked at")
        object_name: StringProperty(name="Object", description="The object it is about; empty: the file as a whole")
        code: StringProperty(name="Code", description="Short name of the rule")
        message: StringProperty(name="Message", description="What is wrong and what to do")
        is_error: BoolProperty(name="Error", description="Whether it stops an export")
        count: IntProperty(name="Count", description="How many vertices it is about; 0: the object as a whole")


class DRAGONNEST_PG_check(bpy.types.PropertyGroup):
    """The last check. `checked`: what the findings are of; empty before the first."""

    if TYPE_CHECKING:
        findings: Any
        checked: str
    else:
        findings: CollectionProperty(type=DRAGONNEST_PG_finding)
        checked: StringProperty(name="Checked", description="What the findings are of")


class Settings:
    """The property that holds the findings. On the window manager: they belong to no scene and no file."""

    def register(self) -> None:
        """Add it."""
        setattr(bpy.types.WindowManager, NAME, PointerProperty(type=DRAGONNEST_PG_check))

    def unregister(self) -> None:
        """Remove it."""
        delattr(bpy.types.WindowManager, NAME)


def last(context: bpy.types.Context) -> DRAGONNEST_PG_check:
    """The last check of this run of Blender."""
    found: DRAGONNEST_PG_check = getattr(context.window_manager, NAME)
    return found


class DRAGONNEST_OT_check(bpy.types.Operator):
    """Look through what the selection would be exported as, for what the game cannot load or would show wrongly"""

    bl_idname = "dragonnest.check"
    bl_label = "Check Model"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        report: Any

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something is there to be checked."""
        if context.active_object is None and not context.selected_objects:
            cls.poll_message_set("Select the model to check")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """List what was found, errors first; nothing is written."""
        digest = Digest()
        try:
            found = inspect.inspect(context, digest)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        # What the export would warn of is worth knowing here too.
        notes = [inspect.Finding("", Issue(Severity.WARNING, "export-note", line.rstrip("."))) for line in digest.lines]
        shown = last(context)
        shown.findings.clear()
        for finding in (*found, *notes):
            _list(shown.findings.add(), finding)
        active = context.active_object or context.selected_objects[0]
        shown.checked = active.name.removesuffix(" Armature")
        sidebar.redraw(context)
        issues = [finding.issue for finding in (*found, *notes)]
        self.report(*sidebar.verdict(shown.checked, issues, "Dragon Nest"))
        return {"FINISHED"}


def _list(row: DRAGONNEST_PG_finding, finding: Finding) -> None:
    row.title = finding.title
    row.object_name = finding.obj.name if finding.obj is not None else ""
    row.code = finding.issue.code
    row.message = finding.issue.message
    row.is_error = finding.issue.severity is Severity.ERROR
    row.count = len(finding.vertices)


class DRAGONNEST_OT_check_select(bpy.types.Operator):
    """Select the object that this finding is about, in Edit Mode the vertices where it is about some"""

    bl_idname = "dragonnest.check_select"
    bl_label = "Select Finding"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        object_name: str
        code: str
        report: Any
    else:
        object_name: StringProperty(name="Object", description="Name of the checked object")
        code: StringProperty(name="Code", description="Short name of the rule")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Check the object again, as it may have changed since, and select what is found now."""
        obj = context.view_layer.objects.get(self.object_name)
        if obj is None or not obj.visible_get():
            self.report({"ERROR"}, f'"{self.object_name}" cannot be seen in this view layer; show it first.')
            return {"CANCELLED"}
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.view_layer.objects:
            other.select_set(other == obj)
        context.view_layer.objects.active = obj
        try:
            found = [
                finding
                for finding in inspect.inspect(context, Digest())
                if finding.obj == obj and finding.issue.code == self.code
            ]
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not found:
            self.report({"WARNING"}, f'"{obj.name}" has no such finding any more; check it again.')
            return {"FINISHED"}
        self._show(context, obj, found)
        return {"FINISHED"}

    def _show(self, context: bpy.types.Context, obj: bpy.types.Object, found: list[Finding]) -> None:
        vertices = np.unique(np.concatenate([finding.vertices for finding in found]))
        if obj.type != "MESH" or not len(vertices):
            return
        number = inspect.select(obj, vertices)
        context.tool_settings.mesh_select_mode = (True, False, False)
        bpy.ops.object.mode_set(mode="EDIT")
        hidden = f"; {len(vertices) - number} more are hidden" if number < len(vertices) else ""
        self.report({"INFO"}, f"Selected {number} {'vertex' if number == 1 else 'vertices'}{hidden}.")


CLASSES = (DRAGONNEST_PG_finding, DRAGONNEST_PG_check, DRAGONNEST_OT_check, DRAGONNEST_OT_check_select)
