# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Carnivores" of the 3D viewport."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import bmesh
import bpy

from ...io_common.scene import selection
from ...io_common.ui import sidebar
from ..formats.flags import FLAGS, FaceFlag, FlagInfo
from ..formats.limits import LIMITS
from ..formats.model import BONE
from ..scene import kept
from . import name_operators, state
from .check_print import check_print
from .entries import FORMATS
from .flag_operators import edited
from .live import Numbers, live
from .target import target

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import IconItems

    from .state import CARNIVORES_PG_finding, CARNIVORES_PG_sidebar

# Shown only when a face has them: the games set them, no author does.
_RUN_TIME = FaceFlag.NEED_VC | FaceFlag.DARK
_MOST_GROUPS = 16


def shown_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The objects whose faces the numbers count: those being edited, else the one the panels are about."""
    found = edited(context) if context.mode == "EDIT_MESH" else []
    if found:
        return found
    obj = target(context)
    return [obj] if obj is not None and obj.mode != "EDIT" else []


# To the type checker the mixin is a panel; at run time only the classes that use it are.
if TYPE_CHECKING:
    _Base = bpy.types.Panel
else:
    _Base = object


class _Panel(_Base):
    """Where all of them are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Carnivores"


class _Child(_Panel):
    """One section of the tab."""

    bl_parent_id = "CARNIVORES_PT_model"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is a mesh to speak of."""
        return target(context) is not None


class CARNIVORES_PT_model(_Panel, bpy.types.Panel):
    """What the model is, and its export"""

    bl_idname = "CARNIVORES_PT_model"
    bl_label = "Carnivores Model"

    def draw(self, context: bpy.types.Context) -> None:
        """Facts and export buttons."""
        obj = target(context)
        if obj is None:
            self.layout.label(text="Select a model", icon="INFO")
            return
        self._facts(context, obj)
        self.layout.label(text="Export", icon="EXPORT")
        grid = self.layout.grid_flow(row_major=True, columns=3, even_columns=True, align=True)
        for entry in FORMATS:
            grid.operator(f"export_scene.{entry.id}", text=entry.extensions[0].lstrip(".").upper())

    def _facts(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        mesh = cast("bpy.types.Mesh", obj.data)
        limits = LIMITS[state.sidebar(context).game]
        vertices, faces = _sizes(obj)
        column = self.layout.column(align=True)
        sidebar.fact(column, "Format", _format_of(mesh))
        sidebar.fact(column, "Vertices", _of(vertices, limits.vertices), alert=_over(vertices, limits.vertices))
        sidebar.fact(column, "Faces", _of(faces, limits.faces), alert=_over(faces, limits.faces))
        sidebar.fact(column, "Bones", str(_bones(obj)))
        scale = kept.get(mesh, kept.SCALE, 0.0)
        if scale:
            sidebar.fact(column, "Import Scale", f"1/{1 / scale:g}" if scale < 1 else f"{scale:g}")


def _format_of(mesh: bpy.types.Mesh) -> str:
    kind = kept.get(mesh, kept.KIND, "")
    return next((entry.extensions[0].lstrip(".").upper() for entry in FORMATS if entry.id == kind), "Made in Blender")


def _sizes(obj: bpy.types.Object) -> tuple[int, int]:
    """Vertices and triangles, which are what a file has for faces."""
    mesh = cast("bpy.types.Mesh", obj.data)
    if obj.mode == "EDIT":
        bm = bmesh.from_edit_mesh(mesh)
        return len(bm.verts), live().edited(obj).triangles
    return len(mesh.vertices), len(mesh.loops) - 2 * len(mesh.polygons)


def _over(number: int, most: int | None) -> bool:
    return most is not None and number > most


def _of(number: int, most: int | None) -> str:
    return f"{number} of {most}" if _over(number, most) else str(number)


def _bones(obj: bpy.types.Object) -> int:
    rig = selection.armature_of(obj)
    if rig is not None:
        return len(cast("bpy.types.Armature", rig.data).bones)
    return len(kept.get_array(cast("bpy.types.Mesh", obj.data), kept.BONES, BONE))


class CARNIVORES_PT_flags(_Child, bpy.types.Panel):
    """Face flags: counted, set, cleared, selected, hidden"""

    bl_idname = "CARNIVORES_PT_flags"
    bl_label = "Face Flags"

    def draw(self, context: bpy.types.Context) -> None:
        """A row per flag, then what is done with several at once."""
        settings = state.sidebar(context)
        numbers = live().numbers(shown_objects(context))
        editing = context.mode == "EDIT_MESH"
        column = self.layout.column(align=True)
        for info in FLAGS:
            if not info.flag & _RUN_TIME or numbers.flags[info.flag]:
                _flag_row(column, settings, info, numbers, editing=editing)
        if editing:
            self.layout.label(text=f"{numbers.selected} of {numbers.faces} faces selected")
        else:
            active = context.active_object
            rigged = active is not None and active.type == "ARMATURE"
            hint = "Select the mesh to set flags" if rigged else "Set flags in Edit Mode"
            self.layout.label(text=hint, icon="INFO")
        self._several(settings, editing=editing)

    def _several(self, settings: CARNIVORES_PG_sidebar, *, editing: bool) -> None:
        header, body = self.layout.panel("CARNIVORES_flags_several", default_closed=True)
        header.label(text="Several Flags")
        if body is None:
            return
        body.column(align=True).prop(settings, "flags")
        row = body.row(align=True)
        row.prop(settings, "match", expand=True)
        body.prop(settings, "extend")
        body.active = editing
        grid = body.grid_flow(columns=2, even_columns=True, align=True)
        for identifier, text in (("select", "Select"), ("hide", "Hide"), ("hide", "Reveal")):
            operator = grid.operator(f"carnivores.flags_{identifier}", text=text)
            operator.flags, operator.match = settings.flags, settings.match
            if identifier == "select":
                operator.extend = settings.extend
            else:
                operator.reveal = text == "Reveal"
        for verb in ("Set", "Clear", "Toggle"):
            grid.operator(f"carnivores.flags_{verb.lower()}", text=verb).flags = settings.flags


def _flag_row(
    layout: bpy.types.UILayout, settings: CARNIVORES_PG_sidebar, info: FlagInfo, numbers: Numbers, *, editing: bool
) -> None:
    name = str(info.flag.name)
    row = layout.row(align=True)
    swatch = row.row(align=True)
    swatch.ui_units_x = 1.0
    swatch.prop(settings.legend, name, text="")
    count = numbers.flags[info.flag]
    picked = numbers.selected_flags[info.flag]
    text = f"{info.label} {picked}/{count}" if picked else f"{info.label} {count}"
    active = editing and numbers.active is not None and bool(numbers.active[0] & info.flag)
    select = row.operator("carnivores.flags_select", text=text, depress=active)
    select.flags, select.match, select.extend = {name}, "ANY", settings.extend
    verbs: dict[str, IconItems] = {"set": "ADD", "clear": "REMOVE", "toggle": "UV_SYNC_SELECT"}
    for verb, icon in verbs.items():
        row.operator(f"carnivores.flags_{verb}", text="", icon=icon).flags = {name}
    for reveal in (False, True):
        operator = row.operator("carnivores.flags_hide", text="", icon="HIDE_OFF" if reveal else "HIDE_ON")
        operator.flags, operator.match, operator.reveal = {name}, "ANY", reveal


class CARNIVORES_PT_groups(_Child, bpy.types.Panel):
    """The face groups of the games' own editor"""

    bl_idname = "CARNIVORES_PT_groups"
    bl_label = "Face Groups"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """The groups there are, and the number to give."""
        settings = state.sidebar(context)
        numbers = live().numbers(shown_objects(context))
        grid = self.layout.grid_flow(columns=2, even_columns=True, align=True)
        for group, count in list(numbers.groups.items())[:_MOST_GROUPS]:
            picked = numbers.selected_groups.get(group, 0)
            text = f"{group}: {picked}/{count}" if picked else f"{group}: {count}"
            active = numbers.active is not None and numbers.active[1] == group
            operator = grid.operator("carnivores.group_select", text=text, depress=active)
            operator.group, operator.extend = group, settings.extend
        if len(numbers.groups) > _MOST_GROUPS:
            self.layout.label(text=f"and {len(numbers.groups) - _MOST_GROUPS} more")
        row = self.layout.row(align=True)
        row.prop(settings, "group")
        row.operator("carnivores.group_set", text="Set").group = settings.group
        operator = row.operator("carnivores.group_select", text="Select")
        operator.group, operator.extend = settings.group, settings.extend


class CARNIVORES_PT_overlay(_Child, bpy.types.Panel):
    """Faces in the colours of their flags"""

    bl_idname = "CARNIVORES_PT_overlay"
    bl_label = "Colour by Flag"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: bpy.types.Context) -> None:
        """The switch."""
        self.layout.prop(state.sidebar(context), "show_flags", text="")

    def draw(self, context: bpy.types.Context) -> None:
        """Legend and settings."""
        settings = state.sidebar(context)
        layout = self.layout
        layout.active = settings.show_flags
        layout.prop(settings, "opacity", slider=True)
        column = layout.column(align=True)
        for info in FLAGS:
            row = column.row(align=True)
            swatch = row.row(align=True)
            swatch.ui_units_x = 1.0
            swatch.prop(settings.legend, str(info.flag.name), text="")
            row.prop_enum(settings, "shown_flags", str(info.flag.name))


class CARNIVORES_PT_check(_Child, bpy.types.Panel):
    """What a game would trip over"""

    bl_idname = "CARNIVORES_PT_check"
    bl_label = "Check"

    def draw(self, context: bpy.types.Context) -> None:
        """The game, the button, and what was found."""
        settings = state.sidebar(context)
        row = self.layout.row(align=True)
        row.prop(settings, "game", text="")
        row.operator("carnivores.check", text="Check", icon="VIEWZOOM").game = settings.game
        if not settings.checked:
            return
        clean = not len(settings.findings)
        column = self.layout.column(align=True)
        names = settings.checked_names.split("\n")
        is_old = check_print([context.view_layer.objects.get(name) for name in names]) != settings.checked_print
        if is_old:
            column.label(text="Changed since, check again", icon="FILE_REFRESH")
        column.label(text=settings.checked, icon="CHECKMARK" if clean and not is_old else "NONE")
        column.active = not is_old
        if clean and not is_old:
            column.label(text="Nothing to complain of", icon="BLANK1")
        width = sidebar.line_width(context)
        for finding in settings.findings:
            self._finding(settings, finding, width)

    def _finding(self, settings: CARNIVORES_PG_sidebar, finding: CARNIVORES_PG_finding, width: int) -> None:
        box = self.layout.box().column(align=True)
        several = len({entry.object_name for entry in settings.findings}) > 1
        message = f"{finding.object_name}: {finding.message}" if several else finding.message
        sidebar.draw_text(box, message, width, is_error=finding.is_error)
        if finding.count:
            operator = box.operator(
                "carnivores.check_select", text=f"Select {finding.count}", icon="RESTRICT_SELECT_OFF"
            )
            operator.object_name, operator.code, operator.game = finding.object_name, finding.code, settings.game


class CARNIVORES_PT_file(_Child, bpy.types.Panel):
    """What is kept of the file"""

    bl_idname = "CARNIVORES_PT_file"
    bl_label = "File"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Names, texture rows, and the faces that only the file can hold."""
        obj = target(context)
        if obj is None:
            return
        mesh = cast("bpy.types.Mesh", obj.data)
        column = self.layout.column(align=True)
        for which, label in (("TEXTURE", "Texture Name"), ("SPRITE", "Sprite Name")):
            row = column.split(factor=0.45)
            row.label(text=label)
            value = row.row(align=True)
            value.label(text=name_operators.name_of(mesh, which) or "None")
            value.operator("carnivores.name_set", text="", icon="GREASEPENCIL").which = which
        if kept.get(mesh, kept.KIND, ""):
            sidebar.fact(column, "Texture Rows", str(kept.get(mesh, kept.ROWS, 0)))
            sidebar.fact(column, "Faces in the File", str(kept.get(mesh, kept.FACES, 0)))
            lost = len(kept.get_array(mesh, kept.DEGENERATE_AT, "<i4"))
            if lost:
                sidebar.fact(column, "Degenerate Faces", f"{lost}, kept for export")


CLASSES = (
    CARNIVORES_PT_model,
    CARNIVORES_PT_flags,
    CARNIVORES_PT_groups,
    CARNIVORES_PT_overlay,
    CARNIVORES_PT_check,
    CARNIVORES_PT_file,
)
