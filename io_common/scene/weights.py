# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex weights from arrays and as arrays.

Blender has no bulk call for them. The deform layer of a bmesh is the fastest way, one call a group for vertices that
belong to one group only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import bmesh
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import bpy


@dataclass(frozen=True, eq=False)
class Weights:
    """Weight `value` (n,) f32 of `vertex` (n,) in `group` (n,); sorted by vertex, then group, no pair twice."""

    vertex: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    value: npt.NDArray[np.float32]

    @staticmethod
    def of(vertex: npt.NDArray[np.int64], group: npt.NDArray[np.int64], value: npt.NDArray[np.float32]) -> Weights:
        """In the right order; weights of the same vertex and group are added up."""
        span = int(group.max()) + 1 if len(group) else 1
        code = vertex * span + group
        if len(code) and not (code[1:] > code[:-1]).all():
            order = np.argsort(code, kind="stable")
            code, value = code[order], value[order]
            starts = np.flatnonzero(np.concatenate(([True], code[1:] != code[:-1])))
            if len(starts) < len(code):
                code, value = code[starts], np.add.reduceat(value.astype(np.float64), starts).astype(np.float32)
        return Weights(code // span, code % span, value)


def none() -> Weights:
    """No weights at all."""
    return Weights(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


def put(obj: bpy.types.Object, names: list[str], weights: Weights) -> None:
    """Vertex groups `names` for a mesh object that has none, with `weights`; best before the mesh has faces."""
    groups = [obj.vertex_groups.new(name=name) for name in names]
    mesh = cast("bpy.types.Mesh", obj.data)
    count = np.bincount(weights.vertex, minlength=len(mesh.vertices))
    alone = (count[weights.vertex] == 1) & (weights.value == 1.0)
    if not alone.all():
        _put_mixed(mesh, weights, ~alone)
    vertex, group = weights.vertex[alone], weights.group[alone]
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(names) + 1))
    for index, entry in enumerate(groups):
        members = vertex[order[bounds[index] : bounds[index + 1]]]
        if len(members):
            entry.add(members.tolist(), 1.0, "REPLACE")


def _put_mixed(mesh: bpy.types.Mesh, weights: Weights, chosen: npt.NDArray[np.bool_]) -> None:
    vertex = weights.vertex[chosen]
    starts = np.flatnonzero(np.concatenate(([True], vertex[1:] != vertex[:-1])))
    ends = [*starts[1:].tolist(), len(vertex)]
    group, value = weights.group[chosen].tolist(), weights.value[chosen].tolist()
    bm = bmesh.new()
    try:
        bm.from_mesh(mesh, face_normals=False, vertex_normals=False)
        layer = bm.verts.layers.deform.verify()
        bm.verts.ensure_lookup_table()
        verts = bm.verts
        for owner, start, end in zip(vertex[starts].tolist(), starts.tolist(), ends, strict=True):
            entry = verts[owner][layer]
            for at in range(start, end):
                entry[group[at]] = value[at]
        bm.to_mesh(mesh)
    finally:
        bm.free()


def entries_of(mesh: bpy.types.Mesh) -> list[list[tuple[int, float]]]:
    """For each vertex of a mesh its (group, weight), those of 0 too; an empty list where there are no groups at all."""
    bm = bmesh.new(use_operators=False)
    try:
        # A bmesh that has a layer of its own takes no shape keys along, of which a character has one for each frame.
        bm.verts.layers.int.new("carnivores_dragonnest_no_keys")
        bm.from_mesh(mesh, face_normals=False, vertex_normals=False)
        layer = bm.verts.layers.deform.active
        return [entry[layer].items() for entry in bm.verts] if layer is not None else []
    finally:
        bm.free()


def get(mesh: bpy.types.Mesh) -> Weights:
    """All weights of a mesh, those of 0 too."""
    entries = entries_of(mesh)
    flat = [pair for entry in entries for pair in entry]
    if not flat:
        return none()
    vertex = np.repeat(np.arange(len(entries)), np.fromiter(map(len, entries), np.int64, len(entries)))
    table = np.array(flat, np.float64)
    return Weights.of(vertex, table[:, 0].astype(np.int64), table[:, 1].astype(np.float32))
