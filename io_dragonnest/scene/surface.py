# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh of an object as arrays in the conventions of the file, values that were not edited as they were kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.scene import mesh as meshes
from ...io_common.scene import weights
from ..formats import space
from ..formats.submesh import MOST_UV_SETS
from . import kept, placement, shown

if TYPE_CHECKING:
    import bpy

    from ...io_common.formats.digest import Digest
    from ...io_common.scene.weights import Weights
    from .placement import Floats
    from .shown import Shown

# How far a normal may come back from where it was put: a free one, and one that Blender packs into 32 bits.
_FREE, _PACKED = 1e-5, 4e-3
_UNIT = 2e-6  # how far the square of a normal's length may be from one to count as one
_FLAT = 1e-6  # area of a triangle, of the square of its size, from which on it has a direction
_TURN = 1e-3  # radians by which a face has to be turned for its normals to go along


@dataclass(eq=False)
class Surface:
    """`positions` (V, 3) f32 file; `vertex`, `loop` (T, 3): corners in file winding; `material` (T,) slot numbers.

    `normals` (L, 3), `uvs` each (L, 2), `colours` (L, 4) B, G, R, A or None: for every corner, as the file has them.
    `numbers` (V,) of each vertex in the sub-mesh it came from, -1 for new ones. `original` (L,): whether a corner's
    normal and UVs are those that were kept.
    """

    positions: npt.NDArray[np.float32]
    vertex: npt.NDArray[np.int32]
    loop: npt.NDArray[np.int32]
    material: npt.NDArray[np.int32]
    normals: npt.NDArray[np.float32]
    uvs: list[npt.NDArray[np.float32]]
    colours: npt.NDArray[np.uint8] | None
    weights: Weights
    numbers: npt.NDArray[np.int64]
    original: npt.NDArray[np.bool_]
    is_even: bool = False
    """Whether all corners of a vertex are known to be the same."""


def read(obj: bpy.types.Object, mesh: bpy.types.Mesh, matrix: Floats, before: Shown | None, digest: Digest) -> Surface:
    """`mesh` is that of `obj` as it is written; `matrix` (4, 4) takes it to file units."""
    triangles = meshes.get_triangles(mesh)
    order = np.arange(3) if np.linalg.det(matrix[:3, :3]) < 0 else space.REVERSED
    corner_vertex = _corner_vertex(mesh)
    numbers = _numbers(mesh, before)
    uvs = meshes.get_uvs(mesh)
    if len(uvs) > MOST_UV_SETS:
        digest.add(f"a sub-mesh holds {MOST_UV_SETS} UV maps, the others were left out", subject=obj.name)
    wanted = before is None or bool(len(before.source.uvs)) or bool(uvs)
    if not uvs and wanted:
        uvs = [np.zeros((len(corner_vertex), 2), np.float32)]
        if len(mesh.polygons):
            digest.add("the mesh has no UV map, so its texture cannot be placed", subject=obj.name)
    at = numbers[corner_vertex]
    material = meshes.get_attribute(mesh, "material_index", "INT", "FACE")
    normals, original = _normals(mesh, matrix, corner_vertex, numbers, before)
    colours, by_vertex = _colours(mesh, corner_vertex)
    if colours is not None and _is_blank(colours, before):
        colours = None
        digest.note(f'the colours of "{obj.name}" are white all over, as Blender makes new ones, and not written')
    maps = []
    for number, uv in enumerate(uvs[:MOST_UV_SETS]):
        values, same = _uv(uv, at, before, number)
        maps.append(values)
        original = original & same
    return Surface(
        _positions(mesh, matrix),
        triangles.vertex[:, order],
        triangles.loop[:, order],
        material[triangles.face] if material is not None else np.zeros(len(triangles.face), np.int32),
        normals,
        maps,
        colours,
        _weights(obj, mesh),
        numbers,
        original,
        # What was not edited is the same for all corners, as it stood in the file once for each vertex.
        bool(original.all()) and (colours is None or by_vertex),
    )


def _corner_vertex(mesh: bpy.types.Mesh) -> npt.NDArray[np.int32]:
    found = meshes.get_attribute(mesh, ".corner_vert", "INT", "CORNER")
    return found if found is not None else np.zeros(0, np.int32)


def _numbers(mesh: bpy.types.Mesh, before: Shown | None) -> npt.NDArray[np.int64]:
    found = meshes.get_attribute(mesh, kept.VERTEX, "INT", "POINT")
    if found is None or before is None:
        return np.full(len(mesh.vertices), -1, np.int64)
    numbers = found.astype(np.int64) - 1
    return np.where((numbers >= 0) & (numbers < len(before.positions)), numbers, -1)


def _positions(mesh: bpy.types.Mesh, matrix: Floats) -> npt.NDArray[np.float32]:
    positions = meshes.get_positions(mesh)
    if not placement.is_plain(matrix):
        moved = positions.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused later
            positions = moved.astype(np.float32)
    return space.AXES.undo(positions)


def _uv(
    uv: npt.NDArray[np.float32], at: npt.NDArray[np.int64], before: Shown | None, number: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """(L, 2) of the file: the kept bits where a corner still shows what was made of them; and where that is, (L,)."""
    out = shown.upright(uv)
    if before is None or number >= len(before.uvs) or not len(before.positions):
        return out, np.zeros(len(out), bool)
    same = (at >= 0) & (uv == before.uvs[number][at]).all(axis=1)
    out = np.ascontiguousarray(out)
    out.view(np.uint32)[same] = np.ascontiguousarray(before.source.uvs[number]).view(np.uint32)[at[same]]
    return out, same


def _weights(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> Weights:
    if obj.type == "MESH" and len(obj.vertex_groups):
        return weights.get(mesh)
    return weights.none()


def _colours(mesh: bpy.types.Mesh, corner_vertex: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.uint8] | None, bool]:
    """(L, 4) B, G, R, A of the active colour attribute, None without one; whether it holds one for each vertex."""
    found = meshes.get_colours(mesh)
    if found is None:
        return None, False
    colours, domain = found
    by_vertex = domain == "POINT"
    return shown.file_colours(colours[corner_vertex] if by_vertex else colours), by_vertex


def _is_blank(colours: npt.NDArray[np.uint8], before: Shown | None) -> bool:
    """Whether these are what Blender gives an imported mesh without any when a painting mode is entered: white."""
    return before is not None and before.source.colours is None and bool((colours == 255).all())


def _normals(
    mesh: bpy.types.Mesh,
    matrix: Floats,
    corner_vertex: npt.NDArray[np.int32],
    numbers: npt.NDArray[np.int64],
    before: Shown | None,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """(L, 3) of the file: the kept bits where a corner still shows what was made of them; and where that is, (L,)."""
    now = _unit(meshes.get_corner_normals(mesh))
    none = np.zeros(len(now), bool)
    if placement.is_plain(matrix):
        out = space.AXES.undo(now)
    else:
        turn = np.linalg.inv(matrix[:3, :3]) if abs(np.linalg.det(matrix[:3, :3])) > 1e-30 else np.eye(3)
        wide = now.astype(np.float64) @ turn
        length = np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
        out = space.AXES.undo((wide / np.where(length > 0, length, 1.0)).astype(np.float32))
        return out, none
    if before is None or not len(before.positions):
        return out, none
    at = numbers[corner_vertex]
    is_free = meshes.has_free_normals(mesh)
    most = _FREE if is_free else _PACKED
    same = (at >= 0) & _is_near(now, before.normals[at], most)
    if not is_free and not same.all():
        same |= (at >= 0) & _is_lost(mesh, numbers, before)[corner_vertex]
    if not is_free and not same.all() and _same_faces(mesh, corner_vertex, numbers, before):
        # These custom normals turn with the faces around them, and overlapping faces spoil them. Whether they were
        # edited is then seen by doing the same to the mesh as it was. Where whole faces were turned, normals go along.
        positions = meshes.get_positions(mesh)
        moved = meshes.with_normals_then_moved(before.positions, before.corners, before.normals, positions)
        same |= _is_near(now, moved, most) & ~_turned(before, positions)[corner_vertex]
    elif is_free and same.any() and _same_faces(mesh, corner_vertex, numbers, before):
        # Files that were saved by earlier versions hold normals that stay as they are: they go along here.
        positions = meshes.get_positions(mesh)
        stale = same & _turned(before, positions)[corner_vertex]
        if stale.any():
            moved = meshes.with_normals_then_moved(before.positions, before.corners, before.normals, positions)
            out[stale] = space.AXES.undo(_unit(moved))[stale]
            same &= ~stale
    out.view(np.uint32)[same] = np.ascontiguousarray(before.source.normals).view(np.uint32)[at[same]]
    return out, same


def _unit(normals: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(L, 3) of length one; those that are so already stay to the bit. Up where there is no direction."""
    with np.errstate(invalid="ignore", over="ignore"):
        square = np.einsum("ij,ij->i", normals, normals, dtype=np.float64)
        bad = ~(np.abs(square - 1.0) < _UNIT)
    if bad.any():
        wide = normals[bad].astype(np.float64)
        length = np.sqrt(np.square(wide).sum(axis=1))[:, None]
        good = np.isfinite(length) & (length > 1e-12)
        normals[bad] = np.where(good, wide / np.where(good, length, 1.0), (0.0, 0.0, 1.0))
    return normals


def _is_lost(mesh: bpy.types.Mesh, numbers: npt.NDArray[np.int64], before: Shown) -> npt.NDArray[np.bool_]:
    """(V,) the vertices that were not moved and whose normals Blender could not hold in the first place.

    So it is where faces lie back to back on the same vertices or have no area. What it shows there says nothing, and
    changes when Edit Mode is left.
    """
    shown_then = meshes.with_normals_then_moved(before.positions, before.corners, before.normals, before.positions)
    corners = before.corners.reshape(-1)
    lost = np.zeros(len(before.positions), bool)
    lost[corners[~_is_near(shown_then, before.normals[corners], _PACKED)]] = True
    sound = np.zeros(len(lost), bool)
    sound[before.corners[_facing(before.positions, before.corners).any(axis=1)]] = True
    lost[corners[~sound[corners]]] = True
    unmoved = (meshes.get_positions(mesh) == before.positions[numbers]).all(axis=1)
    return np.asarray((numbers >= 0) & unmoved & lost[numbers])


def _turned(before: Shown, positions: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """(V,) the vertices of triangles that were moved as a whole and face another way now.

    A triangle of which only one corner or edge was moved leaves the normals alone, as they were made for the surface
    that it is part of.
    """
    moved = (positions != before.positions).any(axis=1)
    whole = moved[before.corners].all(axis=1)
    corners = before.corners[whole]
    found = np.zeros(len(positions), bool)
    away = np.square(_facing(positions, corners) - _facing(before.positions, corners)).sum(axis=1)
    found[corners[away > _TURN**2]] = True
    return found


def _facing(positions: npt.NDArray[np.float32], corners: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """(T, 3) of length one, 0 for triangles without an area: as far as Blender can tell, in single precision."""
    points = positions[corners].astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        across = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        length = np.sqrt(np.square(across).sum(axis=1))[:, None]
        size = np.square(np.ptp(points, axis=1)).sum(axis=1)[:, None]
        good = np.isfinite(length) & (length > _FLAT * size)
        return np.asarray(np.where(good, across / np.where(good, length, 1.0), 0.0), np.float64)


def _is_near(now: npt.NDArray[np.float32], before: npt.NDArray[np.float32], most: float) -> npt.NDArray[np.bool_]:
    """(L,) whether normals are those that Blender was given, as well as it can hold them."""
    near: npt.NDArray[np.bool_] = (np.abs(now - before) <= most).all(axis=1)
    return near


def _same_faces(
    mesh: bpy.types.Mesh, corner_vertex: npt.NDArray[Any], numbers: npt.NDArray[np.int64], before: Shown
) -> bool:
    return (
        len(numbers) == len(before.positions)
        and 3 * len(mesh.polygons) == len(corner_vertex) == before.corners.size
        and bool((numbers == np.arange(len(numbers))).all())
        and bool((corner_vertex == before.corners.reshape(-1)).all())
    )
