# SPDX-License-Identifier: GPL-3.0-or-later
"""The animations and sounds of a character in the sidebar, in export order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import motion
from ..scene import clip_edit, clips, frames
from . import state
from .target import target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpy.stub_internal.rna_enums import IconItems

_WIDE = 380  # pixels of a sidebar in which figures, names of sounds and buttons find room beside the animations
_PLACE, _BUTTON = 1.2, 1.0  # width of the place in the list, and of a button, in Blender's units
# What the columns of a wide list take of the rest: name, KPS, frames, length, sound.
_SHARES = (0.34, 0.12, 0.17, 0.17, 0.2)
_HEADINGS = ("Name", "KPS", "Frames", "Length", "Sound")


def _is_wide(context: bpy.types.Context) -> bool:
    return context.region is not None and context.region.width > _WIDE * context.preferences.system.ui_scale


def _cells(layout: bpy.types.UILayout, shares: Sequence[float]) -> list[bpy.types.UILayout]:
    """Cells beside each other, whatever is in them, as wide as `shares` of `layout` say."""
    found, left = [], sum(shares)
    for share in shares[:-1]:
        split = layout.split(factor=share / left, align=True)
        found.append(split.row(align=True))
        layout, left = split.row(align=True), left - share
    return [*found, layout]


def _sized(row: bpy.types.UILayout, units: float) -> bpy.types.UILayout:
    part = row.row(align=True)
    part.ui_units_x = units
    return part


def _seconds(count: int, kps: int) -> str:
    """How long an animation lasts; at no rate it lasts no time that could be told."""
    return f"{motion.seconds(count, kps):.2f} s" if kps > 0 else "no length"


class CARNIVORES_UL_animations(bpy.types.UIList):
    """Place and name of each animation; in a wide sidebar KPS, frames, length and sound, too"""

    bl_idname = "CARNIVORES_UL_animations"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        _icon: int,
        _active_data: Any,
        _active_property: str,
        index: int,
    ) -> None:
        """One row; the name can be edited by a double click."""
        row = layout.row(align=True)
        # The games know animations by their place.
        _sized(row, _PLACE).label(text=str(index + 1))
        sound = _sound_name(data, item)
        if not _is_wide(context):
            # The name wins; what there is to know of the chosen one stands below the list.
            row.prop(item, "name", text="", emboss=False, icon=_warning_of(item))
            if sound:
                row.label(text="", icon="SOUND")
            return
        count = frames.frame_count(selection.scene(context), item)
        cells = _cells(row, _SHARES)
        cells[0].prop(item, "name", text="", emboss=False, icon=_icon_of(item))
        for cell, text in zip(cells[1:4], (str(item.kps), str(count), _seconds(count, item.kps)), strict=True):
            cell.label(text=text)
        cells[4].label(text=sound, icon="SOUND" if sound else "BLANK1")
        _sized(row, _BUTTON).operator("carnivores.animation_play", text="", icon="PLAY", emboss=False).number = index


def _headings(layout: bpy.types.UILayout) -> None:
    row = layout.row(align=True)
    _sized(row, _PLACE).label(text="")
    for cell, text in zip(_cells(row, _SHARES), _HEADINGS, strict=True):
        cell.label(text=text)
    _sized(row, _BUTTON).label(text="")


def _warning_of(item: Any) -> IconItems:
    return "ERROR" if item.is_missing and item.action is None else "NONE"


def _icon_of(item: Any) -> IconItems:
    if item.is_missing and item.action is None:
        return "ERROR"
    if item.first_key >= 0:
        return "SHAPEKEY_DATA"
    return "SCENE_DATA" if item.use_scene else "ACTION"


def _sound_name(mesh: bpy.types.Mesh, item: Any) -> str:
    listed = clips.sounds(mesh)
    return str(listed[item.sound].name) if 0 <= item.sound < len(listed) else ""


class CARNIVORES_UL_sounds(bpy.types.UIList):
    """Name of each sound; in a wide sidebar its length, too"""

    bl_idname = "CARNIVORES_UL_sounds"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        _icon: int,
        _active_data: Any,
        _active_property: str,
        index: int,
    ) -> None:
        """One row; the button lets the chosen animation start this sound."""
        row = layout.row(align=True)
        if _is_wide(context):
            cells = _cells(row, (0.7, 0.3))
            cells[0].prop(item, "name", text="", emboss=False, icon="SOUND")
            cells[1].label(text=f"{clip_edit.seconds_of(item):.2f} s")
        else:
            row.prop(item, "name", text="", emboss=False)
        chosen = clips.active(data)
        if chosen is not None:
            linked = chosen.sound == index
            operator = _sized(row, _BUTTON).operator(
                "carnivores.sound_link", text="", icon="LINKED" if linked else "UNLINKED", emboss=False
            )
            operator.sound = -1 if linked else index


class CARNIVORES_PT_animations(bpy.types.Panel):
    """The animations of the character, in export order"""

    bl_idname = "CARNIVORES_PT_animations"
    bl_label = "Animations"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Carnivores"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is a mesh to speak of."""
        return target(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """The list, its buttons, and what can be set of the chosen entry."""
        obj = target(context)
        if obj is None:
            return
        mesh = meshes.of(obj)
        row = self.layout.row()
        column = row.column()
        if _is_wide(context) and len(clips.animations(mesh)):
            _headings(column)
        column.template_list("CARNIVORES_UL_animations", "", mesh, clips.ANIMATIONS, mesh, state.PICKED, rows=6)
        self._buttons(row.column(align=True))
        item = clips.active(mesh)
        if item is not None:
            self._chosen(context, mesh, item)

    @staticmethod
    def _buttons(column: bpy.types.UILayout) -> None:
        column.operator("carnivores.animation_add", text="", icon="ADD")
        column.operator("carnivores.animation_remove", text="", icon="REMOVE")
        column.separator()
        column.operator("carnivores.animation_move", text="", icon="TRIA_UP").direction = "UP"
        column.operator("carnivores.animation_move", text="", icon="TRIA_DOWN").direction = "DOWN"
        column.separator()
        column.operator("carnivores.animation_duplicate", text="", icon="DUPLICATE")
        column.operator("carnivores.animation_replace", text="", icon="FILE_REFRESH")

    def _chosen(self, context: bpy.types.Context, mesh: bpy.types.Mesh, item: Any) -> None:
        row = self.layout.row(align=True)
        row.operator("carnivores.animation_play", text="Play", icon="PLAY")
        row.operator("carnivores.animation_stop", text="Stop", icon="SNAP_FACE")
        row.prop(state.sidebar(context), "show_chosen", text="", icon="HIDE_OFF")
        if not _is_wide(context):
            count = frames.frame_count(selection.scene(context), item)
            self.layout.label(text=f"{item.kps} KPS, {count} frames, {_seconds(count, item.kps)}")
        column = self.layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(item, "shown_kps")
        if item.use_scene:
            column.prop(item, "start")
            column.prop(item, "end")
        else:
            column.prop(item, "action")
            column.prop(item, "use_length")
            if not item.use_length:
                field = column.row()
                # The frames of a file are as many as they are; only what is baked can have others.
                field.enabled = item.first_key < 0
                field.prop(item, "frames")
        sound = column.row(align=True)
        sound.prop(item, "sound", text="Sound")
        sound.label(text=_sound_name(mesh, item) or "None")
        self.layout.operator("carnivores.animation_scene_rate")
        row = self.layout.row(align=True)
        for kind in ("vtl", "ani"):
            row.operator(f"import_scene.carnivores_{kind}", text=f"Import {kind.upper()}", icon="IMPORT")


class CARNIVORES_PT_sounds(bpy.types.Panel):
    """The sounds of the character"""

    bl_idname = "CARNIVORES_PT_sounds"
    bl_label = "Sounds"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Carnivores"
    bl_parent_id = "CARNIVORES_PT_animations"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw(self, context: bpy.types.Context) -> None:
        """The list and its buttons."""
        obj = target(context)
        if obj is None:
            return
        row = self.layout.row()
        row.template_list("CARNIVORES_UL_sounds", "", obj.data, clips.SOUNDS, obj.data, clips.ACTIVE_SOUND, rows=3)
        column = row.column(align=True)
        column.operator("carnivores.sound_add", text="", icon="ADD")
        column.operator("carnivores.sound_remove", text="", icon="REMOVE")
        listed = clips.sounds(obj.data)
        if len(listed) and not _is_wide(context):
            chosen = listed[min(getattr(obj.data, clips.ACTIVE_SOUND), len(listed) - 1)]
            self.layout.label(text=f"{clip_edit.seconds_of(chosen):.2f} s long")


class CARNIVORES_PT_from_another(bpy.types.Panel):
    """What the active character can take from the other selected one"""

    bl_idname = "CARNIVORES_PT_from_another"
    bl_label = "From Another Character"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Carnivores"
    bl_parent_id = "CARNIVORES_PT_animations"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw(self, _context: bpy.types.Context) -> None:
        """A button each; they are grey, and say why, until two characters are selected."""
        column = self.layout.column()
        column.operator("carnivores.transfer_animations", icon="MOD_DATA_TRANSFER")
        column.operator("carnivores.retarget_actions", icon="ARMATURE_DATA")
        column.operator("carnivores.name_bones", icon="BONE_DATA")


CLASSES = (
    CARNIVORES_UL_animations,
    CARNIVORES_UL_sounds,
    CARNIVORES_PT_animations,
    CARNIVORES_PT_sounds,
    CARNIVORES_PT_from_another,
)
