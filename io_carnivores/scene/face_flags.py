# SPDX-License-Identifier: GPL-3.0-or-later
"""Face flags and groups of meshes in the scene: read, written, selected and hidden by them.

Everything here but `read_edited` wants Object Mode, where the attributes of a mesh are arrays. Flags are read as the
exporter writes them: the mesh's attribute, changed by what was edited on a material; without it, the material's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

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

_KEYED = int(FaceFlag.OPACITY | FaceFlag.TRANSPARENT)
_ALL = 0xFFFF


@dataclass(frozen=True)
class Slots:
    """What the material slots of an object say, each (S,).

    `shown`: the flags each looks like; `added` and `removed`: those that were changed by hand on a material made here;
    `ours`: the material was made here, or there is none: only such a slot is changed when flags are.
    """

    materials: list[bpy.types.Material | None]
    shown: Flags
    added: Flags
    removed: Flags
    ours: Mask

    @classmethod
    def of(cls, found: list[bpy.types.Material | None]) -> Slots:
        """The slots with these materials, of which there is at least one."""
        shown = np.array([materials.flags_of(entry) for entry in found], np.int32)
        made_for = np.array([kept.get(entry, kept.LOOK, -1) if entry else -1 for entry in found], np.int32)
        known = made_for >= 0
        added, removed = np.where(known, shown & ~made_for, 0), np.where(known, made_for & ~shown, 0)
        ours = known | np.array([entry is None for entry in found])
        return cls(found, shown, added.astype(np.int32), removed.astype(np.int32), ours)

    def clipped(self, index: Flags) -> Flags:
        """Material numbers of faces, (F,), as Blender takes them: beyond the last slot means the last."""
        return np.clip(index, 0, len(self.materials) - 1)

    def effective(self, index: Flags, stored: Flags | None, numbers: Flags | None) -> Flags:
        """Flags of faces (F,) i32: the `stored` ones, changed by what was edited on the material; else the material's.

        `index` is the slot of each face, `numbers` the attribute `kept.FACE_INDEX`, None where the mesh has none.
        """
        if stored is None:
            return self.shown[index] & np.int32(_ALL)
        flags = (stored | self.added[index]) & ~self.removed[index]
        if numbers is not None:
            # A face that was joined to an import came without flags of its own.
            flags = np.where((numbers == 0) & (flags == 0), self.shown[index], flags)
        return flags & np.int32(_ALL)


def _slots(obj: bpy.types.Object, mesh: bpy.types.Mesh | None = None) -> Slots:
    own = [entry.material for entry in obj.material_slots]
    more = list(mesh.materials)[len(own) :] if mesh is not None else []
    return Slots.of([*own, *more] or [None])


def read(obj: bpy.types.Object, mesh: bpy.types.Mesh | None = None) -> Flags:
    """The flags of every face, (F,) i32, as they would be exported; `mesh` in place of the object's own, if given."""
    slots = _slots(obj, mesh)
    mesh = mesh if mesh is not None else cast("bpy.types.Mesh", obj.data)
    return _read(mesh, slots, _material_index(mesh, slots))


def _read(mesh: bpy.types.Mesh, slots: Slots, index: Flags) -> Flags:
    return slots.effective(index, _per_face(mesh, kept.FLAGS), _per_face(mesh, kept.FACE_INDEX))


def read_groups(mesh: bpy.types.Mesh) -> Flags:
    """The group number of every face, (F,) i32; 0 where none was ever set."""
    groups = _per_face(mesh, kept.GROUP)
    return groups if groups is not None else np.zeros(len(mesh.polygons), np.int32)


def _per_face(mesh: bpy.types.Mesh, name: str) -> Flags | None:
    return meshes.get_attribute(mesh, name, "INT", "FACE")


def _material_index(mesh: bpy.types.Mesh, slots: Slots) -> Flags:
    index = _per_face(mesh, "material_index")
    return slots.clipped(index) if index is not None else np.zeros(len(mesh.polygons), np.int32)


@dataclass(frozen=True)
class EditedFaces:
    """Faces of a mesh in Edit Mode, each (F,): `flags` i32, `groups` i32, `selected` bool; `active`: one, or -1.

    `triangles`: how many they are as triangles.
    """

    flags: Flags
    groups: Flags
    selected: Mask
    active: int
    triangles: int


def read_edited(obj: bpy.types.Object) -> EditedFaces:
    """The faces of an object in Edit Mode without leaving it.

    Only bmesh knows them there, which has no bulk access: some 0.1 s per million values, so none is read in vain.
    """
    bm = bmesh.from_edit_mesh(cast("bpy.types.Mesh", obj.data))
    slots = _slots(obj)
    index = np.zeros(len(bm.faces), np.int32)
    if len(slots.materials) > 1:
        index = slots.clipped(np.array([face.material_index for face in bm.faces], np.int32))
    stored = _edited_layer(bm, kept.FLAGS)
    flags = slots.effective(index, stored, None)
    if bool(((flags == 0) & (slots.shown[index] != 0)).any()):  # only there it matters whether a face is new
        flags = slots.effective(index, stored, _edited_layer(bm, kept.FACE_INDEX))
    groups = _edited_layer(bm, kept.GROUP)
    active = bm.faces.active
    return EditedFaces(
        flags,
        groups if groups is not None else np.zeros(len(bm.faces), np.int32),
        np.array([face.select for face in bm.faces], np.bool_),
        active.index if active is not None else -1,
        sum(len(face.verts) for face in bm.faces) - 2 * len(bm.faces),
    )


def _edited_layer(bm: bmesh.types.BMesh, name: str) -> Flags | None:
    layer = bm.faces.layers.int.get(name)
    return np.array([face[layer] for face in bm.faces], np.int32) if layer else None


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
    changed = flags != _read(mesh, slots, index)
    wrong = changed & slots.ours[index] & (slots.shown[index] & np.int32(materials.LOOK_MASK) != wanted)
    if wrong.any():
        index = index.copy()
        for look in np.unique(wanted[wrong]).tolist():
            index[wrong & (wanted == look)] = _slot_of(obj, look)
        meshes.set_attribute(mesh, "material_index", "INT", "FACE", index)
    stored = _per_face(mesh, kept.FLAGS)
    # Elsewhere what is stored stays: it may be a material's business, which can be undone there.
    meshes.set_attribute(mesh, kept.FLAGS, "INT", "FACE", flags if stored is None else np.where(changed, flags, stored))
    _own_up(mesh, changed & (flags == 0))
    if (flags & _KEYED).any():
        _show_key_colour(_slots(obj))
    mesh.update_tag()


def _own_up(mesh: bpy.types.Mesh, cleared: Mask) -> None:
    """Mark new faces in an import that have no flags on purpose, or their material would be asked for them."""
    numbers = _per_face(mesh, kept.FACE_INDEX)
    if numbers is not None and bool((cleared & (numbers == 0)).any()):
        meshes.set_attribute(mesh, kept.FACE_INDEX, "INT", "FACE", np.where(cleared & (numbers == 0), -1, numbers))


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


def _show_key_colour(slots: Slots) -> None:
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


def _get(collection: bpy.types.bpy_prop_collection[Any], name: str) -> Mask:
    values = np.zeros(len(collection), np.bool_)
    collection.foreach_get(name, values)
    return values


def select(mesh: bpy.types.Mesh, faces: Mask, *, extend: bool) -> int:
    """Select the visible ones of `faces` (F,), with edges and vertices; how many. `extend` keeps what was selected."""
    visible = faces & ~_get(mesh.polygons, "hide")
    vertices, edges = _touched(mesh, visible)
    _select_all(mesh, visible, edges, vertices, extend=extend)
    return int(np.count_nonzero(visible))


def select_vertices(mesh: bpy.types.Mesh, vertices: Mask) -> int:
    """Select the visible ones of `vertices` (V,), and the edges and faces between them; how many."""
    visible = vertices & ~_get(mesh.vertices, "hide")
    ends = np.zeros(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", ends)
    edges = cast("Mask", visible[ends.reshape(-1, 2)].all(axis=1))
    outside = np.bincount(_corner_faces(mesh), ~visible[_corners(mesh, ".corner_vert")], len(mesh.polygons))
    inside = cast("Mask", outside == 0)
    _select_all(mesh, inside, edges, visible, extend=False)
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
