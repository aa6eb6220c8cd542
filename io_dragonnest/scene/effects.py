# SPDX-License-Identifier: GPL-3.0-or-later
"""The effect parameters of a material as Blender properties: shown in panels, saved, live in its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..formats.effects import EFFECTS, PARAMETERS
from ..formats.skn import Kind
from . import images, materials

NAME = "dragonnest"
KINDS = (
    ("INTEGER", "Integer", "A whole number", Kind.INTEGER),
    ("FLOAT", "Float", "A number", Kind.FLOAT),
    ("VECTOR", "Vector", "Four numbers, or a colour with alpha", Kind.VECTOR),
    ("TEXTURE", "Texture", "The file name of a picture", Kind.TEXTURE),
    ("NOTHING", "None", "A name without a value", Kind.NOTHING),
    ("UNKNOWN", "Unknown", "A name without a value, of the type that files number -1", 5),
)

_KIND_ITEMS = [(value, label, text, "NONE", int(number)) for value, label, text, number in KINDS]


def _refresh(self: Any, _context: bpy.types.Context) -> None:
    if self.id_data.dragonnest.is_shown:
        materials.refresh(self.id_data)


def _texture_changed(self: Any, _context: bpy.types.Context) -> None:
    if self.id_data.dragonnest.is_shown:
        materials.texture_changed(self.id_data, self)


def _search_effect(_self: Any, context: bpy.types.Context, _text: str) -> list[str]:
    used = {entry.dragonnest.effect for entry in context.blend_data.materials}
    return sorted({*EFFECTS, *(name for name in used if name)}, key=str.lower)


def _search_parameter(_self: Any, _context: bpy.types.Context, _text: str) -> list[str]:
    return list(PARAMETERS)


def _search_texture(_self: Any, context: bpy.types.Context, _text: str) -> list[str]:
    found = {materials.texture_name(image) for image in context.blend_data.images if images.is_picture(image)}
    return sorted(found, key=str.lower)


def _get_color(self: Any) -> tuple[float, ...]:
    return tuple(self.vector)


def _set_color(self: Any, value: tuple[float, ...]) -> None:
    self.vector = value


class DRAGONNEST_PG_parameter(bpy.types.PropertyGroup):
    """One property of a material. `source`: its number in the record the material came with plus one; 0: new."""

    if TYPE_CHECKING:
        title: str
        kind: str
        integer: int
        number: float
        vector: Any
        color: Any
        texture: str
        source: int
    else:
        title: StringProperty(
            name="Name",
            description="Name of the property",
            update=_refresh,
            search=_search_parameter,
            search_options={"SUGGESTION"},
        )
        kind: EnumProperty(name="Type", description="What the property holds", items=_KIND_ITEMS, update=_refresh)
        integer: IntProperty(name="Value", description="The value of the property", update=_refresh)
        number: FloatProperty(name="Value", description="The value of the property", precision=4, update=_refresh)
        vector: FloatVectorProperty(
            name="Value", description="The values of the property", size=4, precision=4, update=_refresh
        )
        color: FloatVectorProperty(
            name="Value",
            description="The value of the property, a colour as the file has it",
            size=4,
            subtype="COLOR_GAMMA",
            get=_get_color,
            set=_set_color,
        )
        texture: StringProperty(
            name="Texture",
            description="File name of the picture, without a path",
            update=_texture_changed,
            search=_search_texture,
            search_options={"SUGGESTION"},
        )
        source: IntProperty(options={"HIDDEN"})


class DRAGONNEST_PG_material(bpy.types.PropertyGroup):
    """What a material of Dragon Nest is, beside its name.

    `is_used`: the material is written as said here; without it, from its nodes. `is_shown`: changes reach the nodes.
    """

    if TYPE_CHECKING:
        is_used: bool
        is_shown: bool
        effect: str
        alpha: float
        use_blend: bool
        use_mask: bool
        parameters: Any
        active: int
    else:
        is_used: BoolProperty(options={"HIDDEN"})
        is_shown: BoolProperty(options={"HIDDEN"})
        effect: StringProperty(
            name="Effect",
            description="The effect file that draws the material, without a path",
            search=_search_effect,
            search_options={"SUGGESTION"},
        )
        alpha: FloatProperty(
            name="Alpha",
            description="How opaque the whole is; below one it is blended",
            default=1.0,
            soft_min=0.0,
            soft_max=1.0,
            update=_refresh,
        )
        use_blend: BoolProperty(
            name="Alpha Blend", description="Blend by the alpha of the texture instead of a hard edge", update=_refresh
        )
        use_mask: BoolProperty(
            name="Show Mask",
            description="Let the mask texture work in the nodes: red glows, blue takes the colour of the skin",
            update=_refresh,
        )
        parameters: CollectionProperty(type=DRAGONNEST_PG_parameter)
        active: IntProperty(name="Active Property", description="The property that the list has chosen")


class Settings:
    """The property of materials that holds it all."""

    def register(self) -> None:
        """Add it."""
        setattr(bpy.types.Material, NAME, PointerProperty(type=DRAGONNEST_PG_material))

    def unregister(self) -> None:
        """Remove it."""
        delattr(bpy.types.Material, NAME)


CLASSES = (DRAGONNEST_PG_parameter, DRAGONNEST_PG_material)
