# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of animations and sounds that a character carries.

It lives on the mesh, in export order, and points at Actions and Sounds, so that nothing is ever found by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...io_common.scene import mesh as meshes
from ...io_common.scene.armature import fit_name
from ..formats.model import label, name_field
from . import curves

if TYPE_CHECKING:
    from collections.abc import Sequence

ANIMATIONS = "carnivores_animations"
SOUNDS = "carnivores_sounds"
ACTIVE_ANIMATION = "carnivores_animation_index"
ACTIVE_SOUND = "carnivores_sound_index"
NO_SOUND = -1
FASTEST = 32767.0  # frames per second that Blender takes
MANY = 256  # entries of a list whose data-blocks are called like them


def set_kps(item: Any, kps: int) -> None:
    """Another rate: frame k of an imported animation stays at k * N / ((N - 1) * KPS) s, others get other frames."""
    if not item.use_length and not item.use_scene:
        for action in actions(item):
            curves.stretch(action, max(item.kps, 1) / max(kps, 1))
    item.kps = kps


def actions(item: Any) -> list[bpy.types.Action]:
    """What plays together as one animation: of bones, and where Actions have no slots, of shape keys beside it."""
    return [action for action in (item.action, item.soft_action) if action is not None]


def _kps(item: Any) -> int:
    return int(item.kps)


class CARNIVORES_PG_animation(bpy.types.PropertyGroup):
    """One animation. `name` is what the user reads and edits; `raw_name` the field it came from, as hexadecimal."""

    if TYPE_CHECKING:
        name: str
        raw_name: str
        action: bpy.types.Action | None
        kps: int
        frames: int
        shown_kps: int
        first_key: float
        last_key: float
        soft_action: bpy.types.Action | None
        soft_first: float
        soft_last: float
        rate: float
        own_rate: float
        use_length: bool
        use_scene: bool
        start: float
        end: float
        sound: int
        table_value: int
        last_index: bool
        is_missing: bool
    else:
        raw_name: StringProperty(options={"HIDDEN"})
        action: PointerProperty(type=bpy.types.Action, name="Action", description="The motion that is exported")
        # No lower limit: files with 0 and negative rates exist, and go back as they are.
        kps: IntProperty(name="KPS", description="Keys per second", default=20, soft_min=1, soft_max=60)
        # What the user edits: the Action is stretched along.
        shown_kps: IntProperty(
            name="KPS",
            description="Keys per second; the keyframes of the Action move along",
            soft_min=1,
            soft_max=60,
            get=_kps,
            set=set_kps,
        )
        frames: IntProperty(name="Frames", description="Number of frames in the file", default=2, min=0)
        # Shape keys: where its first and last key are on the keys' own time line; -1: no shape keys.
        first_key: FloatProperty(options={"HIDDEN"}, default=-1.0)
        last_key: FloatProperty(options={"HIDDEN"}, default=-1.0)
        # Keys that show soft vertices beside the bones: where the first and last of them are; -1: it has none.
        soft_first: FloatProperty(options={"HIDDEN"}, default=-1.0)
        soft_last: FloatProperty(options={"HIDDEN"}, default=-1.0)
        # Before Blender 4.4 an Action moves one data-block only: that of those keys, else they are in `action`.
        soft_action: PointerProperty(type=bpy.types.Action, options={"HIDDEN"})
        # Frames per second of the scene that its Action is laid out for; 0: not laid out here.
        rate: FloatProperty(options={"HIDDEN"})
        # The rate it was laid out for when an Action of the user's own was added; 0: the frames of a file say it.
        own_rate: FloatProperty(options={"HIDDEN"})
        use_length: BoolProperty(
            name="Frames From Length", description="As many frames as the length of the motion asks for at its KPS"
        )
        use_scene: BoolProperty(
            name="Whole Scene",
            description="Take what the scene shows over a range of frames instead of an Action: for mesh caches, "
            "simulations and drivers",
        )
        start: FloatProperty(name="Start", description="First scene frame that is taken", default=1.0)
        end: FloatProperty(name="End", description="Last scene frame that is taken", default=2.0)
        sound: IntProperty(name="Sound", description="Number of its sound, -1 for none", default=NO_SOUND, min=-1)
        # What the sound table of the file held; tools leave junk there.
        table_value: IntProperty(options={"HIDDEN"}, default=NO_SOUND)
        # A VTL that states the number of its last frame, as the original tool wrote it.
        last_index: BoolProperty(options={"HIDDEN"})
        # Named by a CAT, but its file was not there.
        is_missing: BoolProperty(options={"HIDDEN"})


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
    for name, label_ in ((ACTIVE_ANIMATION, "Active Animation"), (ACTIVE_SOUND, "Active Sound")):
        setattr(
            bpy.types.Mesh, name, IntProperty(name=label_, description="Number of the entry chosen in the list", min=0)
        )


def unregister() -> None:
    """Take the lists back; what a .blend holds in them stays in it."""
    for name in (ACTIVE_SOUND, ACTIVE_ANIMATION, SOUNDS):
        delattr(bpy.types.Mesh, name)
    delattr(bpy.types.Mesh, ANIMATIONS)


def animations(mesh: bpy.types.ID | None) -> Any:
    """The animations of `mesh`, in export order; the data of curves and texts has none."""
    return getattr(mesh, ANIMATIONS, ())


def sounds(mesh: bpy.types.ID | None) -> Any:
    """The sounds of `mesh`, in file order; the data of curves and texts has none."""
    return getattr(mesh, SOUNDS, ())


def list_owner(objects: Sequence[bpy.types.Object]) -> bpy.types.Mesh:
    """The mesh whose lists count: the first that has animations, else the first."""
    lists = (meshes.of(obj) for obj in objects if obj.type == "MESH" and len(animations(obj.data)))
    return next(lists, meshes.of(objects[0]))


def active(mesh: bpy.types.ID | None) -> Any:
    """The animation chosen in the list, None when there is none."""
    number, items = getattr(mesh, ACTIVE_ANIMATION, 0), animations(mesh)
    return items[min(number, len(items) - 1)] if len(items) else None


def raw_name(item: Any) -> bytes:
    """The 32-byte field of an entry: as it came, unless it was renamed."""
    try:
        raw = bytes.fromhex(item.raw_name)
    except ValueError:  # a script can put anything there
        raw = b""
    return raw if raw and label(raw) == item.name else name_field(item.name)


def is_cut(item: Any) -> bool:
    """Whether the 32-byte field cannot say the name of an entry: too long, or characters outside Windows-1252."""
    return label(raw_name(item)) != item.name.strip()


def rate_of(item: Any) -> float:
    """Frames per second that the Action of `item` is laid out for; 0: none, or one that no scene can have."""
    return possible_rate(item.rate)


def possible_rate(rate: float) -> float:
    """`rate` where a scene can have it, else 0: scripts and damaged scenes hold anything."""
    return float(rate) if 0.0 < rate <= FASTEST else 0.0


def block_title(text: str, number: int, count: int, default: str) -> str:
    """What the data-block of entry `number` of `count` is called, in as many bytes as this Blender can hold.

    Blender looks for a free name by trying one number after the other, which takes minutes for thousands of the same
    name; so the names of long lists are led by their number.
    """
    title = text or default
    return fit_name(title if count <= MANY else f"{number:05d} {title}")


def set_name(item: Any, raw: bytes) -> None:
    """Name an entry after a 32-byte field, which is kept."""
    item.raw_name = raw.hex()
    item.name = label(raw)
