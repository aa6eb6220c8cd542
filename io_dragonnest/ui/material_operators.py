# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel of a material does: take properties in, add, remove, move them, find and open textures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...io_common.formats.errors import ExportError, UserError
from ...io_common.scene import selection
from ...io_common.ui import preferences
from ..formats import effects, textures
from ..scene import images, materials, new_skin, records

_FILTER = ";".join(f"*{extension}" for extension in textures.EXTENSIONS)


def material_of(context: bpy.types.Context) -> bpy.types.Material | None:
    """The material the panels are about: of the Properties editor they are in, else of `object_of`."""
    pinned: bpy.types.Material | None = getattr(context, "material", None)
    if pinned is not None:
        return pinned
    obj = object_of(context)
    return obj.active_material if obj is not None else None


def object_of(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object, if it can have materials, else the first selected one that has: an import selects them all."""
    active = context.active_object
    if active is not None and active.type in selection.SOLID:
        return active
    return next((obj for obj in context.selected_objects if obj.active_material is not None), None)


def _is_editable(material: bpy.types.Material | None) -> bool:
    return material is not None and material.library is None


# To the type checker the mixin is an operator; at run time only the classes that use it are.
if TYPE_CHECKING:
    _Base = bpy.types.Operator
else:
    _Base = object


class _OnMaterial(_Base):
    """An operator that needs a material with Dragon Nest properties."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is one."""
        material = material_of(context)
        if material is None or not _is_editable(material) or not materials.settings(material).is_used:
            cls.poll_message_set("Choose a material with Dragon Nest properties")
            return False
        return True


class DRAGONNEST_OT_material_adopt(bpy.types.Operator):
    """Give this material the properties of a Dragon Nest material, starting from what its nodes say"""

    bl_idname = "dragonnest.material_adopt"
    bl_label = "Edit as Dragon Nest Material"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is a material without them."""
        material = material_of(context)
        return material is not None and _is_editable(material) and not materials.settings(material).is_used

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Fill them in."""
        material = material_of(context)
        if material is None:
            return {"CANCELLED"}
        try:
            new_skin.adopt(material)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class DRAGONNEST_OT_parameter_add(_OnMaterial, bpy.types.Operator):
    """Add a property that the game knows, or an empty one to be named"""

    bl_idname = "dragonnest.parameter_add"
    bl_label = "Add Property"
    bl_property = "known"

    if TYPE_CHECKING:
        known: str
        title: str
    else:
        known: EnumProperty(
            name="Property",
            description="A property that the game is known to have",
            items=[
                (name, name, f"{kind.name.title()} property") for name, (kind, _value) in effects.PARAMETERS.items()
            ],
            options={"SKIP_SAVE"},
        )
        title: StringProperty(
            name="Name", description="Any other name, for what is not in the list", options={"SKIP_SAVE"}
        )

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask which, by search."""
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Put it behind the active one."""
        material = material_of(context)
        if material is None:
            return {"CANCELLED"}
        group = materials.settings(material)
        try:
            fresh = effects.parameter(self.title or self.known)
        except ExportError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        records.put(group.parameters.add(), fresh)
        last = len(group.parameters) - 1
        place = min(group.active + 1, last)
        group.parameters.move(last, place)
        group.active = place
        materials.refresh(material)
        return {"FINISHED"}


class DRAGONNEST_OT_parameter_remove(_OnMaterial, bpy.types.Operator):
    """Remove the active property"""

    bl_idname = "dragonnest.parameter_remove"
    bl_label = "Remove Property"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove it, and the nodes that were there for it."""
        material = material_of(context)
        if material is None:
            return {"CANCELLED"}
        group = materials.settings(material)
        if not 0 <= group.active < len(group.parameters):
            return {"CANCELLED"}
        group.parameters.remove(group.active)
        group.active = max(min(group.active, len(group.parameters) - 1), 0)
        materials.refresh(material)
        return {"FINISHED"}


class DRAGONNEST_OT_parameter_move(_OnMaterial, bpy.types.Operator):
    """Move the active property up or down in the file"""

    bl_idname = "dragonnest.parameter_move"
    bl_label = "Move Property"

    if TYPE_CHECKING:
        direction: str
    else:
        direction: EnumProperty(
            name="Direction",
            description="Where to",
            items=[("UP", "Up", "Towards the first"), ("DOWN", "Down", "Towards the last")],
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Exchange it with its neighbour."""
        material = material_of(context)
        if material is None:
            return {"CANCELLED"}
        group = materials.settings(material)
        target = group.active + (-1 if self.direction == "UP" else 1)
        if not 0 <= target < len(group.parameters):
            return {"CANCELLED"}
        group.parameters.move(group.active, target)
        group.active = target
        materials.refresh(material)
        return {"FINISHED"}


class DRAGONNEST_OT_texture_open(_OnMaterial, bpy.types.Operator):
    """Choose the picture of the active texture property"""

    bl_idname = "dragonnest.texture_open"
    bl_label = "Open Texture"

    if TYPE_CHECKING:
        filepath: str
    else:
        filepath: StringProperty(subtype="FILE_PATH", options={"HIDDEN", "SKIP_SAVE"})
        filter_glob: StringProperty(default=_FILTER, options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask for the file."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Show the picture, and take its name."""
        material = material_of(context)
        if material is None:
            return {"CANCELLED"}
        group = materials.settings(material)
        if not 0 <= group.active < len(group.parameters):
            return {"CANCELLED"}
        item = group.parameters[group.active]
        path = Path(bpy.path.abspath(self.filepath))
        image = images.from_disk(path.name, path)
        if item.kind != "TEXTURE" or image is None:
            self.report({"ERROR"}, f"{path.name}: this is no picture that can be shown.")
            return {"CANCELLED"}
        materials.put_image(material, item, image)
        return {"FINISHED"}


class DRAGONNEST_OT_textures_find(bpy.types.Operator):
    """Look again for missing textures, in a folder of your choice and in those of the preferences"""

    bl_idname = "dragonnest.textures_find"
    bl_label = "Find Missing Textures"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        directory: str
    else:
        directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Some are missing."""
        if not any(images.is_placeholder(image) for image in bpy.data.images):
            cls.poll_message_set("No texture is missing")
            return False
        return True

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask for the folder."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Put what is found in the place of the checkers."""
        folders = [bpy.path.abspath(self.directory)] if self.directory else []
        found, left = materials.find_missing([*folders, *preferences.search_folders(context)])
        self.report({"INFO"} if found else {"WARNING"}, f"{found} found, {left} still missing.")
        return {"FINISHED"} if found else {"CANCELLED"}


def value_of(item: Any) -> str:
    """The value of a property in a few characters."""
    if item.kind == "INTEGER":
        return str(item.integer)
    if item.kind == "FLOAT":
        return f"{item.number:.4g}"
    if item.kind == "VECTOR":
        return " ".join(f"{value:.3g}" for value in item.vector)
    return item.texture if item.kind == "TEXTURE" else ""


CLASSES = (
    DRAGONNEST_OT_material_adopt,
    DRAGONNEST_OT_parameter_add,
    DRAGONNEST_OT_parameter_remove,
    DRAGONNEST_OT_parameter_move,
    DRAGONNEST_OT_texture_open,
    DRAGONNEST_OT_textures_find,
)
