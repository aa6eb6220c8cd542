# SPDX-License-Identifier: GPL-3.0-or-later
"""One object of the scene as the arrays of a model, before its texture is settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP, REVERSED
from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import affine
from ..formats.model import FACE, VERTEX
from . import clips, face_flags, kept, materials, owners, skeleton

if TYPE_CHECKING:
    import bpy

    from ...io_common.formats.digest import Digest
    from .options import ExportOptions


@dataclass
class Part:
    """One object. `faces` (n,) FACE, still without u and v; `uv` (n, 3, 2) f32, `texel` (n, 3, 2) i32 where kept.

    `look` (n,) indexes `materials`; `numbers` (n,) is the face each one was in its file, or -1; `mesh` is the
    original data-block, whose properties say what was kept. `cut_names`: names of bones that a file cannot hold.
    """

    name: str
    mesh: bpy.types.ID
    vertices: npt.NDArray[Any]
    faces: npt.NDArray[Any]
    uv: npt.NDArray[np.float32]
    texel: npt.NDArray[np.int32] | None
    look: npt.NDArray[np.int32]
    materials: list[bpy.types.Material | None]
    numbers: npt.NDArray[np.int32]
    vertex_numbers: npt.NDArray[np.int32] | None
    bones: npt.NDArray[Any]
    rig: bpy.types.Object | None
    cut_names: tuple[str, ...] = ()

    @property
    def imported(self) -> bool:
        """Whether it came from a game file."""
        return bool(kept.get(self.mesh, kept.KIND, ""))

    @property
    def rows(self) -> int:
        """Texture rows that its UVs were made for."""
        return kept.get(self.mesh, kept.ROWS, 0) or 256


def extract(context: bpy.types.Context, obj: bpy.types.Object, options: ExportOptions, digest: Digest) -> Part:
    """The arrays of `obj`, in Object Mode."""
    matrix = file_matrix(obj, obj, options)
    data = _data(obj)
    rig = selection.armature_of(obj)
    table = skeleton.table(obj, rig, file_matrix(obj, rig, options) if rig is not None else None)
    with selection.shape(context, obj, modifiers=options.use_mesh_modifiers, keys=keys_count(obj)) as mesh:
        order = _corner_order(obj, matrix)
        triangles = meshes.get_triangles(mesh)
        loop = triangles.loop[:, order]
        texel = meshes.get_attribute(mesh, kept.TEXEL, "INT32_2D", "CORNER")
        slots = _slots(obj, mesh)
        look = np.clip(_per_face(mesh, "material_index", triangles.face, 0), 0, len(slots) - 1)
        vertices = _vertices(mesh, matrix)
        vertices["owner"] = owners.owners(mesh, obj, table, digest)
        bones = table.bones
        if not len(bones) and not kept.get(data, kept.KIND, ""):
            bones = _own_bone(obj, options)
            vertices["owner"] = 0
        vertex_numbers = meshes.get_attribute(mesh, kept.VERTEX_INDEX, "INT", "POINT")
        return Part(
            name=obj.name,
            mesh=data,
            vertices=vertices,
            faces=_faces(mesh, triangles, order, slots, look),
            uv=_uv(mesh, slots, obj.name, digest)[loop],
            texel=texel[loop] if texel is not None else None,
            look=look,
            materials=slots,
            numbers=_per_face(mesh, kept.FACE_INDEX, triangles.face, 0) - 1,
            vertex_numbers=vertex_numbers - 1 if vertex_numbers is not None else None,
            bones=bones,
            rig=rig,
            cut_names=table.cut_names,
        )


def keys_count(obj: bpy.types.Object) -> bool:
    """Whether shape keys change the model that is written: those of a character are its frames, and do not."""
    return obj.type != "MESH" or not len(clips.animations(cast("bpy.types.Mesh", obj.data)))


def _data(obj: bpy.types.Object) -> bpy.types.ID:
    """The data-block of an object with a surface, which always has one."""
    return cast("bpy.types.ID", obj.data)


def _corner_order(obj: bpy.types.Object, matrix: npt.NDArray[np.float64] | None) -> npt.NDArray[np.intp]:
    """File order of the corners of a triangle: reversed by the axes, once more by a mirrored object."""
    order = np.arange(3) if kept.get(_data(obj), kept.FLIP, default=False) else REVERSED
    return REVERSED[order] if matrix is not None and np.linalg.det(matrix[:3, :3]) < 0 else order


def _uv(
    mesh: bpy.types.Mesh, slots: list[bpy.types.Material | None], name: str, digest: Digest
) -> npt.NDArray[np.float32]:
    """(L, 2) UVs of the active map, zeros where there is none."""
    uv = meshes.get_uv(mesh)
    if uv is not None:
        return uv
    if len(mesh.polygons) and any(materials.image_of(material) for material in slots):
        digest.add("the mesh has no UV map, so its texture cannot be placed", subject=name)
    return np.zeros((len(mesh.loops), 2), np.float32)


def file_matrix(
    obj: bpy.types.Object, place: bpy.types.Object, options: ExportOptions
) -> npt.NDArray[np.float64] | None:
    """(4, 4) from the local space of `place` to Blender axes in file units; None when that changes nothing.

    `obj` is the mesh object that decides the scale. Untouched imports carry just their import scale, which cancels out.
    """
    imported = obj.type == "MESH" and bool(kept.get(_data(obj), kept.KIND, ""))
    scale = kept.get(_data(obj), kept.SCALE, 0.0) if imported and options.use_import_scale else 0.0
    unit = scale or float(options.global_scale)
    matrix = np.array(place.matrix_world, np.float64)
    if not options.use_transform:
        # An armature stands beside its mesh, wherever the two are.
        own = np.array(obj.matrix_world, np.float64)
        regular = abs(np.linalg.det(own)) > 1e-30
        matrix = np.linalg.inv(own) @ matrix if regular else np.eye(4)
    if options.use_transform or not imported:
        matrix[:3] /= unit
    return None if np.allclose(matrix, np.eye(4), rtol=0, atol=1e-6) else matrix


def _slots(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> list[bpy.types.Material | None]:
    """The materials that face numbers stand for: the object's, then those that geometry nodes added; never none."""
    slots = [entry.material for entry in obj.material_slots]
    return [*slots, *list(mesh.materials)[len(slots) :]] or [None]


def _own_bone(obj: bpy.types.Object, options: ExportOptions) -> npt.NDArray[Any]:
    """The games treat an object without any bone badly: one at the object's origin, named after it."""
    matrix = file_matrix(obj, obj, options)
    origin = matrix[:3, 3] if matrix is not None else np.zeros(3)
    return skeleton.single(obj.name, FILE_Y_UP.undo(origin))


def base_positions(mesh: bpy.types.Mesh) -> npt.NDArray[np.float32]:
    """(V, 3): the base pose. Where a recovered skeleton moves another shape, edits of that shape are added to it."""
    positions = meshes.get_positions(mesh)
    rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
    base = meshes.get_attribute(mesh, kept.BASE, "FLOAT_VECTOR", "POINT")
    if rest is None or base is None:
        return positions
    # A transform that was applied to the mesh goes for either shape.
    matrix = None if (positions == rest).all(axis=1).mean() >= 0.5 else affine.between(rest, positions)
    if matrix is not None:
        return affine.moved(base, matrix).astype(np.float32)
    edited = (positions != rest).any(axis=1, keepdims=True)
    return np.where(edited, base + (positions - rest), base)


def _vertices(mesh: bpy.types.Mesh, matrix: npt.NDArray[np.float64] | None) -> npt.NDArray[Any]:
    positions = base_positions(mesh)
    if matrix is not None:
        moved = positions.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which the check finds
            positions = moved.astype(np.float32)
    vertices = np.zeros(len(positions), VERTEX)
    vertices["position"] = FILE_Y_UP.undo(positions)
    hide = meshes.get_attribute(mesh, kept.HIDE, "INT", "POINT")
    if hide is not None:
        vertices["hide"] = hide.astype(np.int16)
    return vertices


def _per_face(mesh: bpy.types.Mesh, name: str, face: npt.NDArray[np.int32], default: int) -> npt.NDArray[np.int32]:
    values = meshes.get_attribute(mesh, name, "INT", "FACE")
    return values[face] if values is not None else np.full(len(face), default, np.int32)


def _faces(
    mesh: bpy.types.Mesh,
    triangles: meshes.Triangles,
    order: npt.NDArray[np.intp],
    slots: list[bpy.types.Material | None],
    look: npt.NDArray[np.int32],
) -> npt.NDArray[Any]:
    faces = np.zeros(len(triangles.face), FACE)
    faces["corner"] = triangles.vertex[:, order]
    faces["flags"] = _flags(mesh, triangles.face, slots, look)
    faces["group"] = _per_face(mesh, kept.GROUP, triangles.face, 0)
    faces["distant"] = _per_face(mesh, kept.DISTANT, triangles.face, 0)
    imported = kept.FACE_INDEX in mesh.attributes
    faces["next"] = _per_face(mesh, kept.NEXT, triangles.face, 0 if imported else -1)
    faces["dmask"] = _per_face(mesh, kept.DMASK, triangles.face, 0)
    for slot, name in enumerate(kept.RESERVED):
        faces["reserved"][:, slot] = _per_face(mesh, name, triangles.face, 0).view(np.uint32)
    return faces


def _flags(
    mesh: bpy.types.Mesh,
    face: npt.NDArray[np.int32],
    slots: list[bpy.types.Material | None],
    look: npt.NDArray[np.int32],
) -> npt.NDArray[np.int32]:
    """Flags of each triangle: the mesh's own, changed by what was edited on the material; else the material's."""
    stored, numbers = (
        _per_face(mesh, name, face, 0) if name in mesh.attributes else None for name in (kept.FLAGS, kept.FACE_INDEX)
    )
    return face_flags.Slots.of(slots).effective(look, stored, numbers)
