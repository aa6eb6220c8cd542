# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of animations and sounds that a character carries.

It lives on the mesh, in export order, and points at Actions and Sounds, so that nothing is ever found by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty, IntProperty, PointerProperty, StringProperty

from ..formats.model import label, name_field

ANIMATIONS = "carnivores_animations"
SOUNDS = "carnivores_sounds"
NO_SOUND = -1


class CARNIVORES_PG_animation(bpy.types.PropertyGroup):
    """One animation. `name` is what the user reads and edits; `raw_name` the field it came from, as hexadecimal."""

    if TYPE_CHECKING:
        name: str
        raw_name: str
        action: bpy.types.Action | None
        kps: int
        frames: int
        first_key: int
        sound: int
        table_value: int
    else:
        raw_name: StringProperty(options={"HIDDEN"})
        action: PointerProperty(type=bpy.types.Action, name="Action", description="The motion that is exported")
        # No lower limit: files with 0 and negative rates exist, and go back as they are.
        kps: IntProperty(name="KPS", description="Keys per second", default=20, soft_min=1, soft_max=60)
        frames: IntProperty(name="Frames", description="Number of frames in the file", default=2, min=0)
        # Shape keys: number of the first key of this animation among the mesh's keys; -1: no shape keys.
        first_key: IntProperty(options={"HIDDEN"}, default=-1)
        sound: IntProperty(name="Sound", description="Number of its sound, -1 for none", default=NO_SOUND, min=-1)
        # What the sound table of the file held; tools leave junk there.
        table_value: IntProperty(options={"HIDDEN"}, default=NO_SOUND)


class CARNIVORES_PG_sound(bpy.types.PropertyGroup):
    """One sound of the file; several animations may share it, some belong to none."""

    if TYPE_CHECKING:
        name: str
        raw_name: str
        sound: bpy.types.Sound | None
    else:
        raw_name: StringProperty(options={"HIDDEN"})
        sound: PointerProperty(type=bpy.types.Sound, name="Sound", description="The sound that is exported")


CLASSES = (CARNIVORES_PG_animation, CARNIVORES_PG_sound)


def register() -> None:
    """Give meshes their two lists; after the classes."""
    setattr(bpy.types.Mesh, ANIMATIONS, CollectionProperty(type=CARNIVORES_PG_animation))
    setattr(bpy.types.Mesh, SOUNDS, CollectionProperty(type=CARNIVORES_PG_sound))


def unregister() -> None:
    """Take the lists back; what a .blend holds in them stays in it."""
    delattr(bpy.types.Mesh, SOUNDS)
    delattr(bpy.types.Mesh, ANIMATIONS)


def animations(mesh: bpy.types.Mesh) -> Any:  # noqa: ANN401  (a registered collection, which stubs cannot know)
    """The animations of `mesh`, in export order."""
    return getattr(mesh, ANIMATIONS)


def sounds(mesh: bpy.types.Mesh) -> Any:  # noqa: ANN401
    """The sounds of `mesh`, in file order."""
    return getattr(mesh, SOUNDS)


def raw_name(item: Any) -> bytes:  # noqa: ANN401  (one of the groups above)
    """The 32-byte field of an entry: as it came, unless it was renamed."""
    raw = bytes.fromhex(item.raw_name) if item.raw_name else b""
    return raw if raw and label(raw) == item.name else name_field(item.name)


def set_name(item: Any, raw: bytes) -> None:  # noqa: ANN401
    """Name an entry after a 32-byte field, which is kept."""
    item.raw_name = raw.hex()
    item.name = label(raw)
