# SPDX-License-Identifier: GPL-3.0-or-later
"""Face flags and groups of meshes in the scene: read, written, selected and hidden by them.

Everything here but `read_edited` wants Object Mode, where the attributes of a mesh are arrays. Flags are read as the
exporter writes them: the mesh's attribute, changed by what was edited on a material; without it, the material's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import bmesh
import numpy as np
import numpy.typing as npt

from ...io_common.scene import mesh as meshes
from ..formats.flags import FaceFlag
from . import kept, materials, pictures

if TYPE_CHECKING:
    from collections.abc import Callable

    import bpy

    Flags = npt.NDArray[np.int32]
    Mask = npt.NDArray[np.bool_]

_EDITABLE_ON_MATERIAL = int(FaceFlag.DOUBLE_SIDE | FaceFlag.OPACITY)
_KEYED = int(FaceFlag.OPACITY | FaceFlag.TRANSPARENT)
_ALL = 0xFFFF


@dataclass(frozen=True)
class _Slots:
    """What the material slots of an object say, each (S,): the flags `shown`, the bits `edited` by hand, whether `ours`.

    `ours`: the material was made here, or there is none; only such a slot is changed when flags are.
    """

    materials: list[bpy.types.Material | None]
    shown: Flags
    edited: Flags
    ours: Mask

    def clipped(self, index: Flags) -> Flags:
        return np.clip(index, 0, len(self.materials) - 1)


def _slots(obj: bpy.types.Object) -> _Slots:
    found = [entry.material for entry in obj.material_slots] or [None]
    shown = np.array([materials.flags_of(entry) for entry in found], np.int32)
    made_for = np.array([kept.get(entry, kept.LOOK, -1) if entry else -1 for entry in found], np.int32)
    edited = np.where(made_for >= 0, (shown ^ made_for) & _EDITABLE_ON_MATERIAL, 0).astype(np.int32)
    ours = np.array([entry is None for entry in found]) | (made_for >= 0)
    return _Slots(found, shown, edited, ours)


def _effective(stored: Flags | None, index: Flags, slots: _Slots) -> Flags:
    flags = slots.shown[index] if stored is None else stored ^ slots.edited[index]
    return flags & np.int32(_ALL)


def read(obj: bpy.types.Object, mesh: bpy.types.Mesh | None = None) -> Flags:
    """The flags of every face, (F,) i32, as they would be exported; `mesh` in place of the object's own, if given."""
    mesh = mesh if mesh is not None else cast("bpy.types.Mesh", obj.data)
    slots = _slots(obj)
    return _effective(_per_face(mesh, kept.FLAGS), _material_index(mesh, slots), slots)


def read_groups(mesh: bpy.types.Mesh) -> Flags:
    """The group number of every face, (F,) i32; 0 where none was ever set."""
    groups = _per_face(mesh, kept.GROUP)
    return groups if groups is not None else np.zeros(len(mesh.polygons), np.int32)


def _per_face(mesh: bpy.types.Mesh, name: str) -> Flags | None:
    return meshes.get_attribute(mesh, name, "INT", "FACE")


def _material_index(mesh: bpy.types.Mesh, slots: _Slots) -> Flags:
    index = _per_face(mesh, "material_index")
    return slots.clipped(index) if index is not None else np.zeros(len(mesh.polygons), np.int32)


@dataclass(frozen=True)
class EditedFaces:
    """Faces of a mesh in Edit Mode, each (F,): `flags` i32, `groups` i32, `selected` bool; `active` the active one or -1."""

    flags: Flags
    groups: Flags
    selected: Mask
    active: int


def read_edited(obj: bpy.types.Object) -> EditedFaces:
    """The faces of an object in Edit Mode without leaving it.

    Only bmesh knows them there, which has no bulk access: about 0.1 s per million values.
    """
    bm = bmesh.from_edit_mesh(cast("bpy.types.Mesh", obj.data))
    slots = _slots(obj)
    index = slots.clipped(np.array([face.material_index for face in bm.faces], np.int32))
    flags, groups = (_edited_layer(bm, name) for name in (kept.FLAGS, kept.GROUP))
    active = bm.faces.active
    return EditedFaces(
        _effective(flags, index, slots),
        groups if groups is not None else np.zeros(len(bm.faces), np.int32),
        np.array([face.select for face in bm.faces], np.bool_),
        active.index if active is not None else -1,
    )


def _edited_layer(bm: bmesh.types.BMesh, name: str) -> Flags | None:
    layer = bm.faces.layers.int.get(name)
    return None if layer is None else np.array([face[layer] for face in bm.faces], np.int32)


def counts(flags: Flags) -> dict[FaceFlag, int]:
    """How many faces have each flag."""
    return {flag: int(np.count_nonzero(flags & int(flag))) for flag in FaceFlag}


def matching(flags: Flags, bits: int, match: str) -> Mask:
    """Which faces have "ANY", "ALL" or "NONE" of `bits`."""
    common = flags & np.int32(bits)
    if match == "ALL":
        return cast("Mask", common == bits)
    return cast("Mask", common == 0 if match == "NONE" else common != 0)


def change(obj: bpy.types.Object, how: Callable[[Flags], Flags]) -> int:
    """Give the selected faces of `obj` the flags `how` makes of theirs; how many faces that changed.

    The first change makes the attribute, from what the materials stand for.
    """
    mesh = cast("bpy.types.Mesh", obj.data)
    old = read(obj)
    new = np.where(selected(mesh), how(old), old).astype(np.int32) & np.int32(_ALL)
    write(obj, new)
    return int(np.count_nonzero(new != old))


def write(obj: bpy.types.Object, flags: Flags) -> None:
    """Give every face of `obj` its `flags` (F,) i32, and those that change a material which looks like it.

    Faces with a material of the user's own keep it.
    """
    mesh = cast("bpy.types.Mesh", obj.data)
    slots = _slots(obj)
    index = _material_index(mesh, slots)
    wanted = flags & np.int32(materials.LOOK_MASK)
    changed = flags != _effective(_per_face(mesh, kept.FLAGS), index, slots)
    wrong = changed & slots.ours[index] & (slots.shown[index] & np.int32(materials.LOOK_MASK) != wanted)
    if wrong.any():
        index = index.copy()
        for look in np.unique(wanted[wrong]).tolist():
            index[wrong & (wanted == look)] = _slot_of(obj, look)
        meshes.set_attribute(mesh, "material_index", "INT", "FACE", index)
        slots = _slots(obj)
    meshes.set_attribute(mesh, kept.FLAGS, "INT", "FACE", flags ^ slots.edited[index])
    if (flags & _KEYED).any():
        _show_key_colour(slots)
    mesh.update_tag()


def _slot_of(obj: bpy.types.Object, look: int) -> int:
    """The slot of a material made here that shows `look` now; a new one where there is none."""
    mesh = cast("bpy.types.Mesh", obj.data)
    slots = _slots(obj)
    for number, material in enumerate(slots.materials):
        if material is not None and slots.ours[number] and int(slots.shown[number]) & int(materials.LOOK_MASK) == look:
            return number
    if not len(mesh.materials):
        # The other faces use slot 0, which must stay empty.
        mesh.materials.append(None)
    image = next((found for found in map(materials.image_of, slots.materials) if found is not None), None)
    mesh.materials.append(materials.make(mesh.name, look, image))
    return len(mesh.materials) - 1


def _show_key_colour(slots: _Slots) -> None:
    for material, ours in zip(slots.materials, slots.ours, strict=True):
        image = materials.image_of(material) if ours else None
        if image is not None:
            pictures.set_keyed(image, keyed=True)


def change_group(mesh: bpy.types.Mesh, group: int) -> int:
    """Put the selected faces into `group`; how many faces that changed."""
    old = read_groups(mesh)
    new = np.where(selected(mesh), np.int32(group), old).astype(np.int32)
    meshes.set_attribute(mesh, kept.GROUP, "INT", "FACE", new)
    mesh.update_tag()
    return int(np.count_nonzero(new != old))


def selected(mesh: bpy.types.Mesh) -> Mask:
    """Which faces are selected and visible, (F,)."""
    return _get(mesh.polygons, "select") & ~_get(mesh.polygons, "hide")


def _get(collection: bpy.types.bpy_prop_collection, name: str) -> Mask:
    values = np.zeros(len(collection), np.bool_)
    collection.foreach_get(name, values)
    return values


def select(mesh: bpy.types.Mesh, faces: Mask, *, extend: bool) -> int:
    """Select the visible ones of `faces` (F,) with their edges and vertices; how many. `extend` keeps what is selected."""
    visible = faces & ~_get(mesh.polygons, "hide")
    vertices, edges = _touched(mesh, visible)
    _select_all(mesh, visible, edges, vertices, extend=extend)
    return int(np.count_nonzero(visible))


def select_vertices(mesh: bpy.types.Mesh, vertices: Mask) -> int:
    """Select the visible ones of `vertices` (V,), and the edges and faces between them; how many."""
    visible = vertices & ~_get(mesh.vertices, "hide")
    ends = np.zeros(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", ends)
    edges = visible[ends.reshape(-1, 2)].all(axis=1)
    outside = np.bincount(_corner_faces(mesh), ~visible[_corners(mesh, ".corner_vert")], len(mesh.polygons))
    _select_all(mesh, outside == 0, edges, visible, extend=False)
    return int(np.count_nonzero(visible))


def _select_all(mesh: bpy.types.Mesh, faces: Mask, edges: Mask, vertices: Mask, *, extend: bool) -> None:
    for collection, values in ((mesh.polygons, faces), (mesh.edges, edges), (mesh.vertices, vertices)):
        kept_too = _get(collection, "select") if extend else False
        collection.foreach_set("select", (values | kept_too) & ~_get(collection, "hide"))


def hide(mesh: bpy.types.Mesh, faces: Mask) -> int:
    """Hide `faces` (F,), with the edges and vertices that no visible face needs; how many were visible before."""
    before = _get(mesh.polygons, "hide")
    after = before | faces
    needed_vertices, needed_edges = _touched(mesh, ~after)
    mine_vertices, mine_edges = _touched(mesh, faces)
    for collection, hidden in (
        (mesh.polygons, after),
        (mesh.edges, _get(mesh.edges, "hide") | (mine_edges & ~needed_edges)),
        (mesh.vertices, _get(mesh.vertices, "hide") | (mine_vertices & ~needed_vertices)),
    ):
        collection.foreach_set("hide", hidden)
        collection.foreach_set("select", _get(collection, "select") & ~hidden)
    return int(np.count_nonzero(faces & ~before))


def reveal(mesh: bpy.types.Mesh, faces: Mask) -> int:
    """Show and select those of `faces` (F,) that are hidden; how many."""
    found = faces & _get(mesh.polygons, "hide")
    vertices, edges = _touched(mesh, found)
    for collection, shown in ((mesh.polygons, found), (mesh.edges, edges), (mesh.vertices, vertices)):
        collection.foreach_set("hide", _get(collection, "hide") & ~shown)
        collection.foreach_set("select", _get(collection, "select") | shown)
    return int(np.count_nonzero(found))


def _touched(mesh: bpy.types.Mesh, faces: Mask) -> tuple[Mask, Mask]:
    """Which vertices (V,) and edges (E,) the `faces` use."""
    chosen = faces[_corner_faces(mesh)]
    vertices, edges = np.zeros(len(mesh.vertices), np.bool_), np.zeros(len(mesh.edges), np.bool_)
    vertices[_corners(mesh, ".corner_vert")[chosen]] = True
    edges[_corners(mesh, ".corner_edge")[chosen]] = True
    return vertices, edges


def _corners(mesh: bpy.types.Mesh, name: str) -> Flags:
    values = meshes.get_attribute(mesh, name, "INT", "CORNER")
    return values if values is not None else np.zeros(0, np.int32)


def _corner_faces(mesh: bpy.types.Mesh) -> npt.NDArray[np.intp]:
    """The face of every corner, (L,)."""
    totals = np.zeros(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", totals)
    return np.repeat(np.arange(len(totals)), totals)
