# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects make one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ...io_common.formats.errors import ExportError
from ...io_common.scene import selection
from ...io_common.scene.selection import Group
from . import collisions, kept

if TYPE_CHECKING:
    import bpy

    from .options import ExportScope

_LAST = 1 << 30


@dataclass
class Members:
    """The objects of one file by their kind, each in the order they are written."""

    meshes: list[bpy.types.Object] = field(default_factory=list)
    collisions: list[bpy.types.Object] = field(default_factory=list)
    dummies: list[bpy.types.Object] = field(default_factory=list)
    holders: list[bpy.types.Object] = field(default_factory=list)

    @property
    def rig(self) -> bpy.types.Object | None:
        """The armature that carries them."""
        for obj in (*self.meshes, *self.holders, *self.collisions, *self.dummies):
            found = selection.carrier_of(obj)
            if found is not None:
                return found
        return None


def gather(context: bpy.types.Context, options: ExportScope) -> list[Group]:
    """One group for each imported file, and for what was made in Blender one for each armature, or all without one.

    What was made here and is carried by the armature of one imported file belongs to that file. Collisions and dummies
    come along, hidden or not. Raises `ExportError` where nothing is left.
    """
    wanted = selection.chosen(context, options, selection.carrier_of)
    meshes = [obj for obj in wanted if not collisions.is_collision(obj)]
    keys = _keys(meshes)
    for obj in wanted:  # collisions that are chosen alone
        if obj not in meshes and not meshes:
            keys[obj] = (part(obj), selection.carrier_of(obj))
    order: dict[Any, list[bpy.types.Object]] = {}
    for obj, key in keys.items():
        order.setdefault(None if options.use_join else key, []).append(obj)
    groups = []
    for objects in order.values():
        own = {keys[obj] for obj in objects}
        extras = [obj for obj in _extras(context) if (part(obj), selection.carrier_of(obj)) in own or _free(obj, own)]
        objects += [obj for obj in extras if obj not in objects]
        groups.append(Group(_title(objects), objects))
    if not groups:
        raise ExportError("there is nothing to export in the selection, select the model")
    return groups


def part(obj: bpy.types.Object) -> str:
    """The imported file an object belongs to; empty for one made in Blender."""
    found = str(kept.get(obj, kept.PART, ""))
    return found or (str(kept.get(obj.data, kept.PART, "")) if obj.data is not None else "")


def _keys(meshes: list[bpy.types.Object]) -> dict[bpy.types.Object, tuple[str, bpy.types.Object | None]]:
    found = {obj: (part(obj), selection.carrier_of(obj)) for obj in meshes}
    parts: dict[bpy.types.Object | None, set[str]] = {}
    for name, rig in found.values():
        if name:
            parts.setdefault(rig, set()).add(name)
    taken = {(key, _order(obj)) for obj, key in found.items()}
    for obj, (name, rig) in found.items():
        rigs = {other for part_, other in found.values() if part_ == name and other is not None}
        if name and rig is None and len(rigs) == 1 and ((name, *rigs), _order(obj)) not in taken:
            found[obj] = (name, next(iter(rigs)))  # taken from its armature since
            continue
        known = parts.get(rig, set())
        if not name and rig is not None and len(known) == 1:
            found[obj] = (next(iter(known)), rig)
    return found


def _extras(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Every collision and dummy of the scene, in collections that are left out too."""
    objects = selection.scene(context).collection.all_objects
    return [obj for obj in objects if is_dummy(obj) or collisions.is_collision(obj)]


def is_dummy(obj: bpy.types.Object) -> bool:
    """Whether an object stands for a dummy: by mark, or by the `#` that the game's own tools go by."""
    return obj.type == "EMPTY" and (kept.has(obj, kept.DUMMY) or obj.name.startswith("#"))


def _free(obj: bpy.types.Object, own: set[tuple[str, bpy.types.Object | None]]) -> bool:
    """Whether an extra made in Blender belongs to a file by the armature it hangs on."""
    rig = selection.carrier_of(obj)
    return not part(obj) and rig is not None and any(carrier is rig for _name, carrier in own)


def _title(objects: list[bpy.types.Object]) -> str:
    """What the file is called where several are written: as the collection of the import, else as the object."""
    first = objects[0]
    if part(first) and len(first.users_collection):
        return first.users_collection[0].name
    rig = selection.carrier_of(first)
    return rig.name.removesuffix(" Armature") if rig is not None else first.name


def sort(objects: list[bpy.types.Object]) -> Members:
    """The objects of one file by kind, in file order; what is new comes behind what it was copied from, or last."""
    found = Members()
    for obj in objects:
        if is_dummy(obj):
            found.dummies.append(obj)
        elif collisions.is_collision(obj):
            found.collisions.append(obj)
        elif obj.data is not None and kept.has(obj.data, kept.HOLDER) and not len(cast("Any", obj.data).vertices):
            found.holders.append(obj)
        elif obj.type in selection.SOLID:
            found.meshes.append(obj)
    parts = list(dict.fromkeys(part(obj) for obj in objects if part(obj)))
    for entries in (found.meshes, found.collisions, found.dummies):
        places = {obj: (_place(obj, parts), not is_original(obj), place) for place, obj in enumerate(entries)}
        entries.sort(key=places.__getitem__)
    return found


def _place(obj: bpy.types.Object, parts: list[str]) -> tuple[int, int]:
    """Which file an object came from, and its number there; what was made in Blender comes last."""
    name = part(obj)
    return (parts.index(name) if name in parts else len(parts)), _order(obj)


def _order(obj: bpy.types.Object) -> int:
    for block in (obj, obj.data):
        if block is not None and kept.get(block, kept.ORDER, 0):
            return kept.get(block, kept.ORDER, 0)
    return _LAST


def is_original(obj: bpy.types.Object) -> bool:
    """Whether a mesh object still has the name it was given at import, so that it is no copy."""
    return obj.data is not None and obj.name == kept.get(obj.data, kept.LABEL, "")


def copies(objects: list[bpy.types.Object]) -> set[bpy.types.Object]:
    """The mesh objects that share their place in the file with one before them in the list; the list is sorted."""
    seen: set[tuple[str, int]] = set()
    found = set()
    for obj in objects:
        place = (part(obj), _order(obj))
        if place in seen:
            found.add(obj)
        if place[0]:
            seen.add(place)
    return found
