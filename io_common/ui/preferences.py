# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's preferences: folders in which textures are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

# bl_ext.<repository>.io_carnivores_dragonnest, two floors up from here.
ROOT_PACKAGE = (__package__ or "").rsplit(".", 2)[0]


class CARNIVORES_DRAGONNEST_PG_folder(bpy.types.PropertyGroup):
    """One folder."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(name="Folder", description="Searched for textures", subtype="DIR_PATH")


class CARNIVORES_DRAGONNEST_OT_folder_add(bpy.types.Operator):
    """Add a folder in which textures are looked for"""

    bl_idname = "carnivores_dragonnest.folder_add"
    bl_label = "Add Folder"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Append an empty entry."""
        of(context).folders.add()
        return {"FINISHED"}


class CARNIVORES_DRAGONNEST_OT_folder_remove(bpy.types.Operator):
    """Remove this folder from the list"""

    bl_idname = "carnivores_dragonnest.folder_remove"
    bl_label = "Remove Folder"
    bl_options = {"INTERNAL"}

    if TYPE_CHECKING:
        index: int
    else:
        index: IntProperty(options={"HIDDEN"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove the entry."""
        of(context).folders.remove(self.index)
        return {"FINISHED"}


class CARNIVORES_DRAGONNEST_Preferences(bpy.types.AddonPreferences):
    """Preferences of the extension."""

    bl_idname = ROOT_PACKAGE

    if TYPE_CHECKING:
        folders: Any
        show_textures: bool
    else:
        show_textures: BoolProperty(
            name="Show Textures After Import",
            description="Let 3D Views in Solid mode show textures, where they would show plain material colours",
            default=True,
        )
        folders: CollectionProperty(type=CARNIVORES_DRAGONNEST_PG_folder)

    def draw(self, _context: bpy.types.Context) -> None:
        """The list of folders."""
        self.layout.prop(self, "show_textures")
        column = self.layout.column()
        column.label(text="Folders searched for textures, after the model's own")
        for index, entry in enumerate(self.folders):
            row = column.row(align=True)
            row.prop(entry, "path", text="")
            row.operator("carnivores_dragonnest.folder_remove", text="", icon="X").index = index
        column.operator("carnivores_dragonnest.folder_add", icon="ADD")


def of(context: bpy.types.Context) -> Any:
    """The preferences, as they are now."""
    return context.preferences.addons[ROOT_PACKAGE].preferences


def search_folders(context: bpy.types.Context) -> tuple[str, ...]:
    """The folders of the preferences, as absolute paths."""
    if ROOT_PACKAGE not in context.preferences.addons:
        return ()
    return tuple(bpy.path.abspath(entry.path) for entry in of(context).folders if entry.path)


def show_textures(context: bpy.types.Context) -> None:
    """Switch 3D Views from plain material colours to textures in Solid mode, if the user has not said no."""
    if bpy.app.background or ROOT_PACKAGE not in context.preferences.addons or not of(context).show_textures:
        return
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type != "VIEW_3D":
                continue
            shading = area.spaces.active.shading
            if shading.type == "SOLID" and shading.color_type == "MATERIAL":
                shading.color_type = "TEXTURE"


CLASSES = (
    CARNIVORES_DRAGONNEST_PG_folder,
    CARNIVORES_DRAGONNEST_OT_folder_add,
    CARNIVORES_DRAGONNEST_OT_folder_remove,
    CARNIVORES_DRAGONNEST_Preferences,
)
