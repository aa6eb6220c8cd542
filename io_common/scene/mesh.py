# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes from arrays and arrays from meshes, by the fastest calls Blender has.

Nothing here loops over vertices, corners or faces, but for vertex weights, for which Blender has no bulk call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from . import compat, weights

_FIELD = {"FLOAT_VECTOR": "vector", "FLOAT2": "vector", "FLOAT_COLOR": "color", "BYTE_COLOR": "color"}
_DTYPE = {"INT": np.int32, "INT8": np.int8, "INT32_2D": np.int32, "BOOLEAN": bool}
_WIDTH = {"FLOAT_VECTOR": 3, "FLOAT2": 2, "FLOAT_COLOR": 4, "BYTE_COLOR": 4, "INT32_2D": 2}


def _data(attribute: bpy.types.Attribute) -> Any:
    """The values of an attribute; every type of attribute is a class of its own, so that the base class has none."""
    return cast("Any", attribute).data


def of(obj: bpy.types.Object) -> bpy.types.Mesh:
    """The mesh of an object that is known to be one; to the stubs `.data` is one of fifteen kinds."""
    return cast("bpy.types.Mesh", obj.data)


def from_triangles(name: str, positions: npt.NDArray[np.float32], corners: npt.NDArray[np.int32]) -> bpy.types.Mesh:
    """A mesh of `positions` (V, 3) f32 and triangles `corners` (F, 3) i32, whose indices must be in range.

    Faces are smooth, as both games light per vertex. No validation: it would drop duplicate faces.
    """
    mesh = from_points(name, positions)
    set_triangles(mesh, corners)
    return mesh


def from_points(name: str, positions: npt.NDArray[np.float32]) -> bpy.types.Mesh:
    """A mesh of vertices only."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(positions))
    if len(positions):
        _data(mesh.attributes["position"]).foreach_set("vector", np.ascontiguousarray(positions, np.float32).ravel())
    return mesh


def set_triangles(mesh: bpy.types.Mesh, corners: npt.NDArray[np.int32]) -> None:
    """Give a mesh without faces the triangles `corners` (F, 3) i32, and finish it."""
    faces = len(corners)
    if faces:
        mesh.loops.add(3 * faces)
        mesh.polygons.add(faces)
        _data(mesh.attributes[".corner_vert"]).foreach_set("value", np.ascontiguousarray(corners, np.int32).ravel())
        mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * faces, 3, dtype=np.int32))
    mesh.update(calc_edges=True)


def set_uv(mesh: bpy.types.Mesh, uv: npt.NDArray[np.float32], name: str = "UVMap") -> None:
    """A UV map of `uv` (L, 2) f32, one row per corner."""
    layer = mesh.uv_layers.new(name=name, do_init=False)
    if len(uv):
        layer.uv.foreach_set("vector", np.ascontiguousarray(uv, np.float32).ravel())


def get_uv(mesh: bpy.types.Mesh) -> npt.NDArray[np.float32] | None:
    """The active UV map as (L, 2) f32, None when the mesh has none."""
    layer = mesh.uv_layers.active
    if layer is None:
        return None
    uv = np.empty(2 * len(mesh.loops), np.float32)
    if len(uv):
        layer.uv.foreach_get("vector", uv)
    return uv.reshape(-1, 2)


def get_uvs(mesh: bpy.types.Mesh) -> list[npt.NDArray[np.float32]]:
    """Every UV map as (L, 2) f32, in the order of the list."""
    found = []
    for layer in mesh.uv_layers:
        uv = np.empty(2 * len(mesh.loops), np.float32)
        if len(uv):
            layer.uv.foreach_get("vector", uv)
        found.append(uv.reshape(-1, 2))
    return found


def set_vertex_normals(mesh: bpy.types.Mesh, normals: npt.NDArray[np.float32], *, turning: bool = False) -> None:
    """Custom normals (V, 3) f32 of length one; to the bit from 4.5, before it as well as 32 bits can.

    With `turning` they turn with the faces around them in every version: of a mesh that bones move, free ones would
    stay as they are at rest.
    """
    if not len(mesh.polygons):
        return
    if compat.has_free_normals() and not turning:
        set_attribute(mesh, "custom_normal", "FLOAT_VECTOR", "POINT", normals)
    else:
        cast("Any", mesh).normals_split_custom_set_from_vertices(normals.tolist())


def has_free_normals(mesh: bpy.types.Mesh) -> bool:
    """Whether the custom normals of `mesh` are held as they were given, whatever the faces around them do."""
    found = mesh.attributes.get("custom_normal")
    return found is not None and found.data_type == "FLOAT_VECTOR"


def get_corner_normals(mesh: bpy.types.Mesh) -> npt.NDArray[np.float32]:
    """(L, 3) f32: the normals that Blender draws with, custom ones or not."""
    values = np.empty(3 * len(mesh.loops), np.float32)
    if len(values):
        cast("Any", mesh).corner_normals.foreach_get("vector", values)
    return values.reshape(-1, 3)


def set_colours(mesh: bpy.types.Mesh, colours: npt.NDArray[np.uint8], name: str = "Color") -> None:
    """A byte colour attribute of (V, 4) u8 R, G, B, A as they stand in files, kept to the bit."""
    made = mesh.color_attributes.new(name, "BYTE_COLOR", "POINT")
    if len(colours):
        values = np.ascontiguousarray(colours, np.uint8).reshape(-1).astype(np.float32) / np.float32(255)
        _data(cast("Any", made)).foreach_set("color_srgb", values)


def get_colours(mesh: bpy.types.Mesh) -> tuple[npt.NDArray[np.uint8], str] | None:
    """The active colour attribute as (n, 4) u8 R, G, B, A, and its domain, "POINT" or "CORNER"; None without one."""
    found: Any = mesh.color_attributes.active_color
    if found is None:
        found = mesh.color_attributes[0] if len(mesh.color_attributes) else None
    if found is None or found.domain not in {"POINT", "CORNER"}:
        return None
    values = np.empty(4 * len(found.data), np.float32)
    if len(values):
        found.data.foreach_get("color_srgb", values)
    with np.errstate(invalid="ignore"):
        whole = np.clip(np.nan_to_num(np.rint(values * np.float32(255))), 0, 255)
    return whole.astype(np.uint8).reshape(-1, 4), found.domain


def set_attribute(mesh: bpy.types.Mesh, name: str, kind: str, domain: str, values: npt.NDArray[Any]) -> None:
    """Write `values` as attribute `name` of type `kind` ("INT", "INT32_2D", "FLOAT_VECTOR" …) on `domain`."""
    old = mesh.attributes.get(name)
    if old is not None and (old.data_type != kind or old.domain != domain):
        mesh.attributes.remove(old)
        old = None
    if old is None:
        old = cast("Any", mesh.attributes).new(name, kind, domain)
    if len(values):
        flat = np.ascontiguousarray(values, _DTYPE.get(kind, np.float32)).ravel()
        _data(old).foreach_set(_FIELD.get(kind, "value"), flat)


def get_attribute(mesh: bpy.types.Mesh, name: str, kind: str, domain: str) -> npt.NDArray[Any] | None:
    """Attribute `name` as (n,) or (n, width), None when there is none of that type and domain."""
    found = mesh.attributes.get(name)
    if found is None or found.data_type != kind or found.domain != domain:
        return None
    width = _WIDTH.get(kind, 1)
    values = np.empty(len(_data(found)) * width, _DTYPE.get(kind, np.float32))
    if len(values):
        _data(found).foreach_get(_FIELD.get(kind, "value"), values)
    return values if width == 1 else values.reshape(-1, width)


def get_positions(mesh: bpy.types.Mesh) -> npt.NDArray[np.float32]:
    """Vertex positions as (V, 3) f32, bit for bit."""
    values = np.empty(3 * len(mesh.vertices), np.float32)
    if len(values):
        _data(mesh.attributes["position"]).foreach_get("vector", values)
    return values.reshape(-1, 3)


@dataclass(frozen=True)
class Triangles:
    """The faces of a mesh as triangles, in face order.

    `vertex` (T, 3) i32 vertex indices; `loop` (T, 3) i32 corner indices; `face` (T,) i32 the face each came from.
    """

    vertex: npt.NDArray[np.int32]
    loop: npt.NDArray[np.int32]
    face: npt.NDArray[np.int32]


def get_triangles(mesh: bpy.types.Mesh) -> Triangles:
    """Triangulate without changing the mesh; triangles keep their corners and their first corner."""
    loops = len(mesh.loops)
    if not loops:
        none = np.zeros((0, 3), np.int32)
        return Triangles(none, none, np.zeros(0, np.int32))
    corner = np.empty(loops, np.int32)
    _data(mesh.attributes[".corner_vert"]).foreach_get("value", corner)
    totals = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", totals)
    if (totals == 3).all():
        loop = np.arange(loops, dtype=np.int32).reshape(-1, 3)
        return Triangles(corner.reshape(-1, 3), loop, np.arange(len(totals), dtype=np.int32))
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("loops", corners)
    face = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("polygon_index", face)
    loop = corners.reshape(-1, 3)
    return Triangles(corner[loop], loop, face)


def set_rigid_groups(obj: bpy.types.Object, names: list[str], owner: npt.NDArray[np.integer]) -> None:
    """One vertex group of weight 1 per name; `owner` (V,) indexes `names`, anything outside belongs to none."""
    order = np.argsort(owner, kind="stable")
    values = owner[order]
    bounds = np.searchsorted(values, np.arange(len(names) + 1))
    for index, name in enumerate(names):
        group = obj.vertex_groups.new(name=name)
        members = order[bounds[index] : bounds[index + 1]]
        if len(members):
            group.add(members.tolist(), 1.0, "REPLACE")


def set_weights(
    obj: bpy.types.Object,
    names: list[str],
    vertex: npt.NDArray[np.integer],
    group: npt.NDArray[np.integer],
    weight: npt.NDArray[np.floating[Any]],
) -> None:
    """Replace the vertex groups of an object by `names`, with these members; weights are rounded to 1/256.

    `vertex`, `group` (an index into `names`) and `weight` are (n,) each.
    """
    obj.vertex_groups.clear()
    groups = [obj.vertex_groups.new(name=name) for name in names]
    steps = np.rint(np.asarray(weight, np.float64) * 256).astype(np.int64)
    order = np.lexsort((vertex, steps, group))
    # One call for all members of a group that weigh the same.
    change = np.flatnonzero((np.diff(group[order]) != 0) | (np.diff(steps[order]) != 0)) + 1
    for members in np.split(order, change):
        if len(members) and steps[members[0]] > 0:
            groups[int(group[members[0]])].add(vertex[members].tolist(), float(steps[members[0]]) / 256, "REPLACE")


def heaviest_group(
    mesh: bpy.types.Mesh, wanted: npt.NDArray[np.int32], present: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """(V,) i32: `wanted[g]` of the heaviest vertex group g of each vertex with `wanted[g] >= 0`, -1 where none is.

    Among groups of the same weight one that is not the vertex's number in `present` (V,) wins, then the lower number.
    """
    result = np.full(len(mesh.vertices), -1, np.int32)
    owner, group, weight = group_weights(mesh, len(wanted))
    number = wanted[group]
    counts = np.flatnonzero((number >= 0) & (weight > 0))
    owner, number, weight = owner[counts], number[counts], weight[counts]
    order = np.lexsort((number, number == present[owner], -weight, owner))
    leaders, first = np.unique(owner[order], return_index=True)
    result[leaders] = number[order][first]
    return result


def with_normals_then_moved(
    positions: npt.NDArray[np.float32],
    corners: npt.NDArray[np.int32],
    normals: npt.NDArray[np.float32],
    moved: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    """(L, 3): the corner normals of a mesh that is given turning normals (V, 3) and whose vertices are moved then."""
    mesh = from_triangles("Normals", positions, corners)
    try:
        set_vertex_normals(mesh, normals, turning=True)
        _data(mesh.attributes["position"]).foreach_set("vector", np.ascontiguousarray(moved, np.float32).ravel())
        mesh.update()
        return get_corner_normals(mesh)
    finally:
        bpy.data.meshes.remove(mesh)


def group_weights(
    mesh: bpy.types.Mesh, groups: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Every weight of the first `groups` vertex groups: vertex, group and weight, each (n,), in the order of vertices.

    There is no bulk call for weights; the bmesh deform layer is the fastest way in.
    """
    rows = [
        (vertex, group, weight)
        for vertex, entry in enumerate(weights.entries_of(mesh) if groups else [])
        for group, weight in entry
        if group < groups
    ]
    table = np.array(rows, np.float64).reshape(-1, 3)
    return table[:, 0].astype(np.intp), table[:, 1].astype(np.intp), table[:, 2]
