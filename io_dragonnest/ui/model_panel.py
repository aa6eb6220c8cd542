# SPDX-License-Identifier: GPL-3.0-or-later
"""The model in the sidebar: what it is, its export, its check."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import bpy
import numpy as np

from ...io_common.scene import selection
from ...io_common.ui import sidebar
from ..formats import msh
from ..scene import collisions, kept
from . import check_operators
from .target import armature

if TYPE_CHECKING:
    from .check_operators import DRAGONNEST_PG_finding

_KINDS = ("MSH", "SKN", "ANI")
_MOST = 30  # findings that are drawn


def parts(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The sub-meshes of the model that the panel is about: on its armature, or the active mesh alone."""
    active, rig = context.active_object, armature(context)
    if rig is None:
        return [active] if active is not None and active.type == "MESH" else []
    return [
        obj
        for obj in context.view_layer.objects
        if obj.type == "MESH" and selection.carrier_of(obj) == rig and not collisions.is_collision(obj)
    ]


class DRAGONNEST_PT_model(bpy.types.Panel):
    """What the model is, and its import and export"""

    bl_idname = "DRAGONNEST_PT_model"
    bl_label = "Dragon Nest Model"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dragon Nest"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw(self, context: bpy.types.Context) -> None:
        """Facts and buttons."""
        shown = parts(context)
        if not shown and armature(context) is None:
            self.layout.label(text="Drop a SKN or MSH here, or select a model", icon="INFO")
        else:
            self._facts(context, shown)
        self._files("import_scene", "Import", "IMPORT")
        self._files("export_scene", "Export", "EXPORT")
        everything = self.layout.operator("export_scene.dragonnest_msh", text="Export MSH, SKN and ANI", icon="EXPORT")
        everything.use_skin = everything.use_animation = True

    def _facts(self, context: bpy.types.Context, shown: list[bpy.types.Object]) -> None:
        column = self.layout.column(align=True)
        sidebar.fact(column, "Format", _format_of(shown))
        sidebar.fact(column, "Sub-meshes", str(len(shown)))
        blocks = [cast("bpy.types.Mesh", obj.data) for obj in shown]
        # In Edit Mode the numbers are those of before it.
        sidebar.fact(column, "Vertices", str(sum(len(mesh.vertices) for mesh in blocks)))
        sidebar.fact(column, "Faces", str(sum(len(mesh.loops) - 2 * len(mesh.polygons) for mesh in blocks)))
        rig = armature(context)
        if rig is not None and rig.type == "ARMATURE":
            sidebar.fact(column, "Bones", str(len(cast("bpy.types.Armature", rig.data).bones)))

    def _files(self, group: str, label: str, icon: str) -> None:
        self.layout.label(text=label, icon=icon)  # type: ignore[arg-type]
        row = self.layout.row(align=True)
        for kind in _KINDS:
            row.operator(f"{group}.dragonnest_{kind.lower()}", text=kind)


def _format_of(shown: list[bpy.types.Object]) -> str:
    """Version of the files that the sub-meshes came from, each once."""
    found = []
    for obj in shown:
        raw = kept.get(cast("bpy.types.ID", obj.data), kept.HEADER, b"")
        version = int(np.frombuffer(raw, msh.HEADER)[0]["version"]) if len(raw) == msh.HEADER.itemsize else 0
        found.append(f"MSH {version}" if version else "Made in Blender")
    return ", ".join(dict.fromkeys(found)) or "Made in Blender"


class DRAGONNEST_PT_check(bpy.types.Panel):
    """What the game would trip over"""

    bl_idname = "DRAGONNEST_PT_check"
    bl_label = "Check"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dragon Nest"
    bl_parent_id = "DRAGONNEST_PT_model"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is a model to speak of, or one was checked."""
        return context.active_object is not None or bool(check_operators.last(context).checked)

    def draw(self, context: bpy.types.Context) -> None:
        """The button, and what was found."""
        self.layout.operator("dragonnest.check", text="Check", icon="VIEWZOOM")
        found = check_operators.last(context)
        if not found.checked:
            return
        column = self.layout.column(align=True)
        clean = not len(found.findings)
        column.label(text=f"{found.checked}, as it was when checked", icon="CHECKMARK" if clean else "NONE")
        if clean:
            column.label(text="Nothing to complain of", icon="BLANK1")
        width = sidebar.line_width(context)
        for entry in found.findings[:_MOST]:
            self._finding(entry, width)
        if len(found.findings) > _MOST:
            self.layout.label(text=f"and {len(found.findings) - _MOST} more", icon="BLANK1")

    def _finding(self, entry: DRAGONNEST_PG_finding, width: int) -> None:
        box = self.layout.box().column(align=True)
        message = f"{entry.message} ({entry.title})" if entry.title else entry.message
        sidebar.draw_text(box, message, width, is_error=entry.is_error)
        if entry.object_name:
            what = f"Select {entry.count}" if entry.count else f'Select "{entry.object_name}"'
            button = box.operator("dragonnest.check_select", text=what, icon="RESTRICT_SELECT_OFF")
            button.object_name, button.code = entry.object_name, entry.code


CLASSES = (DRAGONNEST_PT_model, DRAGONNEST_PT_check)
