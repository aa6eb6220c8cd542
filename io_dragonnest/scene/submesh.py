# SPDX-License-Identifier: GPL-3.0-or-later
"""A sub-mesh as a mesh object."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import bpy
import numpy as np

from ...io_common.scene import armature, weights
from ...io_common.scene import mesh as meshes
from ..formats import names
from . import kept, placement, rig, shown

if TYPE_CHECKING:
    from ..formats.submesh import Submesh


def build(source: Submesh, skeleton: bpy.types.Object | None, *, title: str = "") -> bpy.types.Object:
    """The object, linked nowhere yet: mesh, weights, UVs, normals, colours, and all of the file kept on it.

    `title`: its name where the file has none.
    """
    label = armature.fit_name(source.label) or title or "Mesh"
    view = shown.Shown(source)
    mesh = meshes.from_points(label, view.positions)
    obj = bpy.data.objects.new(label, mesh)
    _set_weights(obj, view, skeleton)
    meshes.set_triangles(mesh, view.corners)
    corners = view.corners.reshape(-1)
    for number, uv in enumerate(view.uvs):
        pairs = np.ascontiguousarray(uv).view(np.uint64)[:, 0]  # one item of eight bytes is fetched faster than two
        meshes.set_uv(
            mesh, pairs[corners].view(np.float32).reshape(-1, 2), "UVMap" if not number else f"UVMap_{number}"
        )
    if len(view.uvs):
        mesh.uv_layers[0].active_render = True
        mesh.uv_layers.active_index = 0
    # Free normals would stay as they are when bones, modifiers or edits turn the faces around them.
    meshes.set_vertex_normals(mesh, view.normals, turning=True)
    if view.colours is not None:
        meshes.set_colours(mesh, view.colours)
    meshes.set_attribute(mesh, kept.VERTEX, "INT", "POINT", np.arange(1, len(view.positions) + 1))
    shown.keep(mesh, source)
    kept.put(mesh, kept.LABEL, obj.name)
    return obj


def _set_weights(obj: bpy.types.Object, view: shown.Shown, skeleton: bpy.types.Object | None) -> None:
    """One vertex group for each bone of the skin, named as the bone of the armature is."""
    if view.source.skin is None:
        return
    texts = names.texts(view.source.skin.names)
    slot = shown.group_of_slot([names.key(text) for text in texts])
    titles = group_names(texts, skeleton)
    used = sorted(set(slot.tolist()))
    place = np.searchsorted(np.array(used, np.int64), slot) if used else slot
    weights.put(obj, [titles[row] for row in used], view.weights(place))


def group_names(texts: list[str], skeleton: bpy.types.Object | None) -> list[str]:
    """The name of the vertex group for each bone that a skin names."""
    found = rig.match(texts, skeleton) if skeleton is not None else [None] * len(texts)
    return [name or armature.fit_bone_name(text) or "Bone" for name, text in zip(found, texts, strict=True)]


def attach(
    obj: bpy.types.Object, source: Submesh, skeleton: bpy.types.Object | None, scale: float, *, rigid: bool
) -> None:
    """Let an armature carry the object and deform it, or its bone carry it where it has no weights."""
    mesh = meshes.of(obj)
    bone = None
    if skeleton is not None and source.skin is None and rigid and not names.is_root(source.parent):
        bone = rig.match([names.text(source.parent)], skeleton)[0]
    placement.hang(obj, skeleton, bone, scale)
    kept.put(mesh, kept.RIGID, bone is not None)
    if skeleton is not None and source.skin is not None:
        modifier = cast("bpy.types.ArmatureModifier", obj.modifiers.new("Armature", "ARMATURE"))
        modifier.object = skeleton
