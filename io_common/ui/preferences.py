# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's preferences: folders in which textures are looked for, and what the games add to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

if TYPE_CHECKING:
    from collections.abc import Iterable

# bl_ext.<repository>.io_carnivores_dragonnest, two floors up from here.
ROOT_PACKAGE = (__package__ or "").rsplit(".", 2)[0]


class Part(Protocol):
    """What a game adds to the preferences."""

    @property
    def classes(self) -> tuple[type, ...]: ...  # noqa: D102
    def annotations(self) -> dict[str, Any]: ...  # noqa: D102
    def draw(self, layout: bpy.types.UILayout, source: Any) -> None: ...  # noqa: D102


class CARNIVORES_DRAGONNEST_PG_folder(bpy.types.PropertyGroup):
    """One folder."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(name="Folder", description="A folder on your disk", subtype="DIR_PATH")


def _which() -> Any:
    return StringProperty(default="folders", options={"HIDDEN", "SKIP_SAVE"})


class CARNIVORES_DRAGONNEST_OT_folder_add(bpy.types.Operator):
    """Add a folder to the list"""

    bl_idname = "carnivores_dragonnest.folder_add"
    bl_label = "Add Folder"
    bl_options = {"INTERNAL"}

    if TYPE_CHECKING:
        which: str
    else:
        which: _which()

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Append an empty entry."""
        getattr(of(context), self.which).add()
        return {"FINISHED"}


class CARNIVORES_DRAGONNEST_OT_folder_remove(bpy.types.Operator):
    """Remove this folder from the list"""

    bl_idname = "carnivores_dragonnest.folder_remove"
    bl_label = "Remove Folder"
    bl_options = {"INTERNAL"}

    if TYPE_CHECKING:
        index: int
        which: str
    else:
        index: IntProperty(options={"HIDDEN"})
        which: _which()

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove the entry."""
        getattr(of(context), self.which).remove(self.index)
        return {"FINISHED"}


class _Preferences:
    """Preferences of the extension."""

    if TYPE_CHECKING:
        layout: Any
        parts: ClassVar[tuple[Part, ...]]

    def draw(self, context: bpy.types.Context) -> None:
        """The list of folders, and what the games have."""
        self.layout.prop(self, "show_textures")
        # A keyframe takes 72 bytes, a frame of one vertex in a CAR 6: what users look for when their .blend is large.
        self.layout.prop(context.preferences.filepaths, "use_file_compression", text="Compress New .blend Files")
        draw_folders(self.layout, self, "folders", "Folders searched for textures, after the model's own")
        for part in self.parts:
            part.draw(self.layout.column(), self)


def draw_folders(layout: bpy.types.UILayout, source: Any, name: str, text: str) -> None:
    """The list of folders that the preferences `source` have by `name`, below a line of `text`."""
    column = layout.column()
    column.label(text=text)
    for index, entry in enumerate(getattr(source, name)):
        row = column.row(align=True)
        row.prop(entry, "path", text="")
        remove: Any = row.operator("carnivores_dragonnest.folder_remove", text="", icon="X")
        remove.index, remove.which = index, name
    add: Any = column.operator("carnivores_dragonnest.folder_add", icon="ADD")
    add.which = name


def classes(parts: Iterable[Part] = ()) -> tuple[type, ...]:
    """The classes that Blender is given, with what `parts` add to the preferences."""
    parts = tuple(parts)
    properties: dict[str, Any] = {
        "show_textures": BoolProperty(
            name="Show Textures After Import",
            description="Let 3D Views in Solid mode show textures, where they would show plain material colours",
            default=True,
        ),
        "folders": CollectionProperty(type=CARNIVORES_DRAGONNEST_PG_folder),
    }
    for part in parts:
        properties |= part.annotations()
    body = {
        "__doc__": _Preferences.__doc__,
        "__module__": __name__,
        "__annotations__": properties,
        "bl_idname": ROOT_PACKAGE,
        "parts": parts,
    }
    made = type("CARNIVORES_DRAGONNEST_Preferences", (_Preferences, bpy.types.AddonPreferences), body)
    return (*_CLASSES, *(entry for part in parts for entry in part.classes), made)


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


_CLASSES = (
    CARNIVORES_DRAGONNEST_PG_folder,
    CARNIVORES_DRAGONNEST_OT_folder_add,
    CARNIVORES_DRAGONNEST_OT_folder_remove,
)
