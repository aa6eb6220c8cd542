# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the sidebar: look for what a game would trip over, and select it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...io_common.formats.digest import Digest
from ...io_common.formats.errors import UserError
from ...io_common.formats.issues import Severity
from ...io_common.scene import selection
from ...io_common.ui import sidebar
from ..scene import inspect
from ..scene.options import GAMES
from . import state
from .check_print import check_print
from .live import live

if TYPE_CHECKING:
    from ...io_common.formats.issues import Issue

_GAME_ITEMS = [tuple(entry) for entry in GAMES]
_LABELS = {value: label for value, label, _help in GAMES}


class CARNIVORES_OT_check(bpy.types.Operator):
    """Look through the selected objects for what the chosen game cannot load or would show wrongly; writes nothing"""

    bl_idname = "carnivores.check"
    bl_label = "Check Model"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        game: str
        report: Any
    else:
        game: EnumProperty(
            name="Game", description="The game whose limits are checked", items=_GAME_ITEMS, default="C2"
        )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something is there to be checked."""
        if context.active_object is None and not context.selected_objects:
            cls.poll_message_set("Select the model to check")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Check each object by itself and list what was found, errors first."""
        try:
            objects = selection.chosen(context, inspect.options_for(self.game))
            found = [
                (obj.name, issue) for obj in objects for issue in inspect.inspect(context, obj, self.game, Digest())
            ]
        except UserError as error:
            self.report({"ERROR"}, state.sentence(error))
            return {"CANCELLED"}
        found.sort(key=lambda entry: entry[1].severity is not Severity.ERROR)
        shown = state.sidebar(context)
        shown.findings.clear()
        for name, issue in found:
            _list(shown.findings.add(), name, issue)
        names = objects[0].name if len(objects) == 1 else f"{len(objects)} objects"
        shown.checked = f"{names} for {_LABELS[self.game]}"
        shown.checked_print = check_print([*objects])
        shown.checked_names = "\n".join(obj.name for obj in objects)
        shown.game = self.game
        sidebar.redraw(context)
        self.report(*sidebar.verdict(shown.checked, [issue for _name, issue in found], "Carnivores"))
        return {"FINISHED"}


def _list(row: state.CARNIVORES_PG_finding, name: str, issue: Issue) -> None:
    row.object_name = name
    row.code = issue.code
    row.message = issue.message
    row.is_error = issue.severity is Severity.ERROR
    row.count = len(issue.faces) or len(issue.vertices)


class CARNIVORES_OT_check_select(bpy.types.Operator):
    """Enter Edit Mode with the faces or vertices selected that this finding is about"""

    bl_idname = "carnivores.check_select"
    bl_label = "Select Finding"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        object_name: str
        code: str
        game: str
        report: Any
    else:
        object_name: StringProperty(name="Object", description="Name of the checked object")
        code: StringProperty(name="Code", description="Short name of the rule")
        game: EnumProperty(
            name="Game", description="The game whose limits were checked", items=_GAME_ITEMS, default="C2"
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Check again, as the mesh may have changed since, and select what is found now."""
        obj = context.view_layer.objects.get(self.object_name)
        if obj is None or obj.type != "MESH":
            self.report({"ERROR"}, f'"{self.object_name}" is no mesh object of this view layer.')
            return {"CANCELLED"}
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        if obj.mode != "OBJECT":  # edited while another object is active
            context.view_layer.objects.active = obj
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            issue = self._issue(context, obj)
            if issue is None:
                self.report({"WARNING"}, f'"{obj.name}" has no such finding any more; check it again.')
                return {"CANCELLED"}
            number = inspect.select(context, obj, self.game, issue)
        except UserError as error:
            self.report({"ERROR"}, state.sentence(error))
            return {"CANCELLED"}
        by_face = bool(len(issue.faces))
        self._edit(context, obj, by_face=by_face)
        wanted = len(issue.faces) or len(issue.vertices)
        self.report({"INFO"}, _selected(number, wanted, "face" if by_face else "vertex"))
        return {"FINISHED"}

    def _issue(self, context: bpy.types.Context, obj: bpy.types.Object) -> Issue | None:
        issues = inspect.inspect(context, obj, self.game, Digest())
        return next(
            (issue for issue in issues if issue.code == self.code and (len(issue.faces) or len(issue.vertices))), None
        )

    def _edit(self, context: bpy.types.Context, obj: bpy.types.Object, *, by_face: bool) -> None:
        for other in context.view_layer.objects:
            other.select_set(other == obj)
        context.view_layer.objects.active = obj
        context.tool_settings.mesh_select_mode = (not by_face, False, by_face)
        bpy.ops.object.mode_set(mode="EDIT")
        live().touch()
        sidebar.redraw(context)


def _selected(number: int, wanted: int, noun: str) -> str:
    plural = noun if number == 1 else {"face": "faces", "vertex": "vertices"}[noun]
    hidden = ""
    if number < wanted:
        hidden = f"; {wanted - number} more are hidden, share a face of the mesh or cannot be shown"
    return f"Selected {number} {plural}{hidden}."


CLASSES = (CARNIVORES_OT_check, CARNIVORES_OT_check_select)
