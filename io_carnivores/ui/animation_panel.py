# SPDX-License-Identifier: GPL-3.0-or-later
"""The animations and sounds of a character in the sidebar, in export order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import motion
from ..scene import clip_edit, clips, frames
from .target import target

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import IconItems

_WIDE = 380  # pixels of a sidebar in which names of sounds and buttons find room beside the animations


class CARNIVORES_UL_animations(bpy.types.UIList):
    """Name, KPS, frames, length and sound of each animation"""

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
        # Labels take what they need before a field does: without a split, a narrow sidebar would show no name.
        wide = context.region is not None and context.region.width > _WIDE * context.preferences.system.ui_scale
        split = layout.split(factor=0.4 if wide else 0.34, align=True)
        split.prop(item, "name", text="", emboss=False, icon=_icon_of(item))
        count = frames.frame_count(selection.scene(context), item)
        row = split.row(align=True)
        facts = f"{item.kps}/s {count} {motion.seconds(count, item.kps):.2f} s"
        sound = _sound_name(data, item)
        if not wide:  # the chosen one's sound and a button to play it stand below the list
            row.label(text=facts, icon="SOUND" if sound else "BLANK1")
            return
        row.label(text=facts)
        row.label(text=sound, icon="SOUND" if sound else "BLANK1")
        row.operator("carnivores.animation_play", text="", icon="PLAY", emboss=False).number = index


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
    """Name and length of each sound"""

    bl_idname = "CARNIVORES_UL_sounds"

    def draw_item(
        self,
        _context: bpy.types.Context,
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
        row.prop(item, "name", text="", emboss=False, icon="SOUND")
        row.label(text=f"{clip_edit.seconds_of(item):.2f} s")
        chosen = clips.active(data)
        if chosen is not None:
            linked = chosen.sound == index
            operator = row.operator(
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
        row.template_list("CARNIVORES_UL_animations", "", mesh, clips.ANIMATIONS, mesh, clips.ACTIVE_ANIMATION, rows=6)
        self._buttons(row.column(align=True))
        item = clips.active(mesh)
        if item is not None:
            self._chosen(mesh, item)

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

    def _chosen(self, mesh: bpy.types.Mesh, item: Any) -> None:
        row = self.layout.row(align=True)
        row.operator("carnivores.animation_play", text="Play", icon="PLAY")
        row.operator("carnivores.animation_stop", text="Stop", icon="PAUSE")
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
        self.layout.operator("carnivores.animation_scene_rate", text="Set Scene to Its Rate")
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
