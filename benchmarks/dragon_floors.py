# SPDX-License-Identifier: GPL-3.0-or-later
"""The floors of Dragon Nest models: the bare Blender calls that a model needs, on arrays that are ready."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bmesh
import bpy
import numpy as np
from addon.io_dragonnest.formats import names, submesh, triangles

from benchmarks.floors import _armature, _weights

if TYPE_CHECKING:
    from addon.io_dragonnest.formats.msh import Msh
    from addon.io_dragonnest.formats.submesh import Submesh


@dataclass
class Part:
    """A sub-mesh in the form in which Blender takes it. `slots`, `weights`: of each vertex, only those above 0.

    `raw`: its bytes, which have to be kept for what Blender cannot hold.
    """

    positions: Any
    corners: Any
    uv: Any
    normals: Any
    numbers: Any
    slots: list[list[int]]
    weights: list[list[float]]
    names: list[str]
    raw: bytes


@dataclass
class Bones:
    """What `floors._armature` takes."""

    bone_names: list[str]
    heads: list[list[float]]
    tails: list[list[float]]
    parents: list[int]


def ready(model: Msh) -> tuple[list[Part], Bones]:
    """Do all that is not Blender's in advance."""
    heads = -model.bones["inverse_bind"][:, 3, [0, 2, 1]].astype(np.float64)
    bones = Bones(model.bone_names, heads.tolist(), (heads + np.array((0, 0, 1))).tolist(), [-1] * len(heads))
    return [
        _part(part, names.texts(part.skin.names) if part.skin is not None else []) for part in model.submeshes
    ], bones


def _part(part: Submesh, bones: list[str]) -> Part:
    corners = np.ascontiguousarray(triangles.of(part).corners[:, ::-1]).reshape(-1)
    uv = part.uvs[0][corners].copy()
    uv[:, 1] = 1 - uv[:, 1]
    order = [0, 2, 1]
    slots: list[list[int]] = []
    weights: list[list[float]] = []
    if part.skin is not None:
        for row, share in zip(part.skin.slots.tolist(), part.skin.weights.tolist(), strict=True):
            slots.append([slot for slot, weight in zip(row, share, strict=True) if weight > 0])
            weights.append([weight for weight in share if weight > 0])
    # Normals that turn with their faces, whether bones or edits move them, go through a list of Python numbers.
    normals = part.normals[:, order].tolist()
    return Part(
        np.ascontiguousarray(part.positions[:, order]).reshape(-1),
        corners,
        uv.reshape(-1),
        normals,
        np.arange(len(part.positions), dtype=np.int32),
        slots,
        weights,
        bones,
        b"".join(submesh.parts(part)),
    )


def build(parts: list[Part], bones: Bones) -> None:
    """Meshes with UVs, normals, weights and the number of each vertex; the armature."""
    made = []
    for part in parts:
        mesh = bpy.data.meshes.new("floor")
        mesh.vertices.add(len(part.numbers))
        mesh.attributes["position"].data.foreach_set("vector", part.positions)
        obj = bpy.data.objects.new("floor", mesh)
        for name in part.names:
            obj.vertex_groups.new(name=name)
        if part.slots:
            _deform(mesh, part)  # before the faces: it costs less
        faces = len(part.corners) // 3
        mesh.loops.add(3 * faces)
        mesh.polygons.add(faces)
        mesh.attributes[".corner_vert"].data.foreach_set("value", part.corners)
        mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * faces, 3, dtype=np.int32))
        mesh.update(calc_edges=True)
        mesh.uv_layers.new(name="UVMap", do_init=False).uv.foreach_set("vector", part.uv)
        mesh.attributes.new("number", "INT", "POINT").data.foreach_set("value", part.numbers)
        mesh.normals_split_custom_set_from_vertices(part.normals)
        mesh["raw"] = part.raw
        bpy.context.collection.objects.link(obj)
        made.append(obj)
    if bones.heads:
        rig = _armature(bones, made[0])  # type: ignore[arg-type]
        for obj in made[1:]:
            obj.parent = rig
            obj.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    for obj in made:
        obj.select_set(state=True)


def _deform(mesh: bpy.types.Mesh, part: Part) -> None:
    bm = bmesh.new()
    bm.from_mesh(mesh, face_normals=False, vertex_normals=False)
    layer = bm.verts.layers.deform.verify()
    for vertex, slots, weights in zip(bm.verts, part.slots, part.weights, strict=True):
        entry = vertex[layer]
        for slot, weight in zip(slots, weights, strict=True):
            entry[slot] = weight
    bm.to_mesh(mesh)
    bm.free()


def extract(objects: list[bpy.types.Object]) -> list[Any]:
    """Everything of imported meshes read out of Blender: arrays, normals, weights, the bytes that were kept."""
    bpy.context.view_layer.update()
    out: list[Any] = []
    for obj in objects:
        mesh = obj.data
        mesh.calc_loop_triangles()
        for items, key, width, kind in (
            (mesh.attributes["position"].data, "vector", 3, np.float32),
            (mesh.loop_triangles, "loops", 3, np.int32),
            (mesh.loop_triangles, "polygon_index", 1, np.int32),
            (mesh.loops, "vertex_index", 1, np.int32),
            (mesh.corner_normals, "vector", 3, np.float32),
            *((layer.uv, "vector", 2, np.float32) for layer in mesh.uv_layers),
            *((entry.data, "value", 1, np.int32) for entry in mesh.attributes if entry.data_type == "INT"),
        ):
            values = np.empty(len(items) * width, kind)
            items.foreach_get(key, values)
            out.append(values)
        out.append(_weights(mesh))
        out += [value for value in mesh.values() if isinstance(value, bytes)]
    return out
