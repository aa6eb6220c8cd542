# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that a mobile model carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import EnumProperty, StringProperty

from ...io_common.ui import sidebar
from ..formats import model
from ..scene import kept
from .target import target

_MOST = 31  # bytes of a name field without its NUL


class CARNIVORES_OT_name_set(bpy.types.Operator):
    """Change a name that a 3DN file holds"""

    bl_idname = "carnivores.name_set"
    bl_label = "Change Name"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        which: str
        text: str
        report: Any
    else:
        which: EnumProperty(
            name="Which",
            description="The name to change",
            items=[
                ("TEXTURE", "Texture", "Base name of the texture file; empty: the name of the exported file"),
                ("SPRITE", "Sprite", "Name of the sprite shown far away; empty: none"),
            ],
        )
        text: StringProperty(name="Name", description="The new name, at most 31 characters")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The sidebar shows a model."""
        if target(context) is None:
            cls.poll_message_set("Select a model")
            return False
        return True

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask, with the present name filled in."""
        self.text = name_of(_mesh(context), self.which)
        result: Any = context.window_manager.invoke_props_dialog(self)
        return result

    def draw(self, _context: bpy.types.Context) -> None:
        """The name alone; which one is said by the button."""
        self.layout.prop(self, "text", text=self.which.title())

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Keep the name as the file will hold it; one that is not changed keeps what stands behind its NUL."""
        text = self.text.strip()
        if len(text) > _MOST:
            self.report({"ERROR"}, f"A name has at most {_MOST} characters, this one has {len(text)}.")
            return {"CANCELLED"}
        mesh = _mesh(context)
        if text == name_of(mesh, self.which):
            return {"CANCELLED"}
        raw = model.name_field(text) if text else b""
        if model.label(raw) != text:
            self.report({"ERROR"}, f'The file has no room for all characters of "{text}", only Latin letters.')
            return {"CANCELLED"}
        if self.which == "TEXTURE":
            kept.put(mesh, kept.TEXTURE_NAME, raw)
        else:
            kept.put(mesh, kept.SPRITE_NAME, raw)
            kept.put(mesh, kept.HAS_SPRITE, int(bool(text)))
        sidebar.redraw(context)
        return {"FINISHED"}


def _mesh(context: bpy.types.Context) -> bpy.types.Mesh:
    return cast("bpy.types.Mesh", cast("bpy.types.Object", target(context)).data)


def name_of(mesh: bpy.types.Mesh, which: str) -> str:
    """The kept name "TEXTURE" or "SPRITE" as text."""
    return model.label(kept.get(mesh, kept.TEXTURE_NAME if which == "TEXTURE" else kept.SPRITE_NAME, b""))


CLASSES = (CARNIVORES_OT_name_set,)
