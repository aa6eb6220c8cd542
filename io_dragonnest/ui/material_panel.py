# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties of a Dragon Nest material, in the sidebar tab "Dragon Nest" and among the material's own."""

from __future__ import annotations

from typing import Any

import bpy

from ..formats import effects, names
from ..scene import images, materials
from .material_operators import material_of, object_of, value_of

_ROWS = 6
_LONGEST = 255  # bytes of a texture name


class DRAGONNEST_UL_parameters(bpy.types.UIList):
    """Properties in the order of the file"""

    bl_idname = "DRAGONNEST_UL_parameters"

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        _active_data: Any,
        _active_property: str,
        _index: int = 0,
        _flag: int = 0,
    ) -> None:
        """Name and value."""
        row = layout.split(factor=0.55)
        row.label(text=item.title, translate=False)  # edited below the list, where there is room
        if item.kind == "VECTOR" and effects.is_color(item.title):
            row.prop(item, "color", text="")
        else:
            row.label(text=value_of(item), translate=False)

    def filter_items(self, _context: bpy.types.Context, data: Any, property_name: str) -> tuple[list[int], list[int]]:
        """By name; Blender's own filter knows only properties that are called `name`."""
        items = getattr(data, property_name)
        if not self.filter_name:
            return [], []
        helper: Any = bpy.types.UI_UL_list
        return helper.filter_items_by_name(self.filter_name, self.bitflag_filter_item, items, "title"), []


def draw_material(layout: Any, material: bpy.types.Material | None) -> None:
    """All of it, for either place."""
    if material is None:
        layout.label(text="Select an object with a material", icon="INFO")
        return
    group = materials.settings(material)
    if not group.is_used:
        layout.label(text="Exported as its nodes say", icon="INFO")
        layout.operator("dragonnest.material_adopt", icon="ADD")
        return
    layout.use_property_split = True
    layout.use_property_decorate = False
    _complain(layout, "name", material.name, names.LONGEST)
    layout.prop(group, "effect")
    _complain(layout, "effect", group.effect, names.LONGEST)
    layout.prop(group, "alpha")
    layout.prop(group, "use_blend")
    layout.prop(group, "use_mask")
    row = layout.row()
    row.template_list("DRAGONNEST_UL_parameters", "", group, "parameters", group, "active", rows=_ROWS)
    buttons = row.column(align=True)
    buttons.operator("dragonnest.parameter_add", text="", icon="VIEWZOOM")
    blank = buttons.operator("dragonnest.parameter_add", text="", icon="ADD")
    blank.title = "g_New"
    buttons.operator("dragonnest.parameter_remove", text="", icon="REMOVE")
    buttons.separator()
    buttons.operator("dragonnest.parameter_move", text="", icon="TRIA_UP").direction = "UP"
    buttons.operator("dragonnest.parameter_move", text="", icon="TRIA_DOWN").direction = "DOWN"
    if 0 <= group.active < len(group.parameters):
        _parameter(layout, material, group.parameters[group.active])
    if any(images.is_placeholder(image) for _role, image in materials.shown_images(material)):
        layout.label(text="Textures are missing", icon="ERROR")
        layout.operator("dragonnest.textures_find", icon="VIEWZOOM")


def _parameter(layout: bpy.types.UILayout, material: bpy.types.Material, item: Any) -> None:
    box = layout.box().column()
    box.prop(item, "title")
    _complain(box, "name", item.title, _LONGEST)
    box.prop(item, "kind")
    field = {"INTEGER": "integer", "FLOAT": "number", "VECTOR": "vector", "TEXTURE": "texture"}.get(item.kind)
    if item.kind == "TEXTURE":
        row = box.row(align=True)
        row.prop(item, "texture")
        row.operator("dragonnest.texture_open", text="", icon="FILE_FOLDER")
        _complain(box, "texture name", item.texture, _LONGEST)
        shown = materials.edited_textures(material).get(names.key(item.title))
        if shown:
            box.label(text=f"The nodes show {shown}, which is written", icon="INFO")
    elif field is not None:
        box.prop(item, "color" if item.kind == "VECTOR" and effects.is_color(item.title) else field)


def _complain(layout: bpy.types.UILayout, what: str, text: str, most: int) -> None:
    """Say in red why a text cannot be written."""
    trouble = names.fits(text, most)
    if trouble:
        row = layout.row()
        row.alert = True
        row.label(text=f"The {what} {trouble}", icon="CANCEL")


class DRAGONNEST_PT_material(bpy.types.Panel):
    """The active material of the active object"""

    bl_idname = "DRAGONNEST_PT_material"
    bl_label = "Dragon Nest Material"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dragon Nest"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Which material, then its properties."""
        obj = object_of(context)
        if obj is not None and len(obj.material_slots) > 1:
            self.layout.template_list(
                "MATERIAL_UL_matslots", "", obj, "material_slots", obj, "active_material_index", rows=2
            )
        if obj is not None and obj.material_slots:
            self.layout.template_ID(obj, "active_material")
        draw_material(self.layout, material_of(context))


class DRAGONNEST_PT_material_properties(bpy.types.Panel):
    """Dragon Nest properties of the material"""

    bl_idname = "DRAGONNEST_PT_material_properties"
    bl_label = "Dragon Nest"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "material"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is a material."""
        return material_of(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Its properties."""
        draw_material(self.layout, material_of(context))


CLASSES = (DRAGONNEST_UL_parameters, DRAGONNEST_PT_material, DRAGONNEST_PT_material_properties)
