# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips of an armature in the sidebar, in export order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..scene import clips
from .target import armature


class DRAGONNEST_UL_clips(bpy.types.UIList):
    """Tick, name and length of each clip; the search field below finds them by name"""

    bl_idname = "DRAGONNEST_UL_clips"

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        _active_data: Any,
        _active_property: str,
        index: int,
    ) -> None:
        """One row; the name can be edited by a double click."""
        row = layout.row(align=True)
        row.prop(item, "use_export", text="")
        split = row.split(factor=0.68, align=True)
        # A name that was changed at the Action is read and changed there.
        owner = item.action if clips.is_renamed(item) else item
        split.prop(owner, "name", text="", emboss=False, icon="ERROR" if item.action is None else "NONE")
        right = split.row(align=True)
        right.alignment = "RIGHT"
        right.label(text=str(item.length) if item.action is not None else "")
        right.operator("dragonnest.clip_play", text="", icon="PLAY", emboss=False).number = index

    def filter_items(self, _context: bpy.types.Context, data: Any, property_name: str) -> tuple[list[int], list[int]]:
        """By the name that is shown, wherever it stands."""
        items = getattr(data, property_name)
        helper: Any = bpy.types.UI_UL_list
        flags, order = [], []
        if self.filter_name:
            flags = helper.filter_items_by_name(self.filter_name, self.bitflag_filter_item, items, "title")
        if self.use_filter_sort_alpha:
            order = helper.sort_items_by_name(items, "title")
        return flags, order


class DRAGONNEST_PT_clips(bpy.types.Panel):
    """The clips of the armature, in export order"""

    bl_idname = "DRAGONNEST_PT_clips"
    bl_label = "Clips"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dragon Nest"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is an armature to speak of."""
        return armature(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """The list, its buttons, and what can be set of the chosen entry."""
        obj = armature(context)
        if obj is None:
            return
        row = self.layout.row()
        row.template_list("DRAGONNEST_UL_clips", "", obj.data, clips.CLIPS, obj.data, clips.ACTIVE, rows=6)
        self._buttons(row.column(align=True))
        row = self.layout.row(align=True)
        row.label(text="Export")
        for what, label in (("ALL", "All"), ("NONE", "None"), ("INVERT", "Invert")):
            row.operator("dragonnest.clip_tick", text=label).what = what
        item = clips.active(obj)
        if item is not None:
            self._chosen(item)
        self._files(obj)

    @staticmethod
    def _buttons(column: bpy.types.UILayout) -> None:
        column.operator("dragonnest.clip_add", text="", icon="ADD").what = "ACTIVE"
        column.operator("dragonnest.clip_remove", text="", icon="REMOVE")
        column.separator()
        column.operator("dragonnest.clip_move", text="", icon="TRIA_UP").direction = "UP"
        column.operator("dragonnest.clip_move", text="", icon="TRIA_DOWN").direction = "DOWN"

    def _chosen(self, item: Any) -> None:
        row = self.layout.row(align=True)
        row.operator("dragonnest.clip_play", text="Play", icon="PLAY")
        row.operator("dragonnest.clip_stop", text="Stop", icon="PAUSE")
        column = self.layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(item, "action")
        if item.action is not None:
            column.prop(item, "length")

    def _files(self, obj: bpy.types.Object) -> None:
        self.layout.operator("dragonnest.clip_add", text="Add All Actions That Fit").what = "FITTING"
        if clips.files(obj):
            self.layout.operator("dragonnest.clip_load", icon="IMPORT")
        row = self.layout.row(align=True)
        row.operator("import_scene.dragonnest_ani", text="Import ANI", icon="IMPORT")
        row.operator("export_scene.dragonnest_ani", text="Export ANI", icon="EXPORT")


CLASSES = (DRAGONNEST_UL_clips, DRAGONNEST_PT_clips)
