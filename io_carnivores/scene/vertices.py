# SPDX-License-Identifier: GPL-3.0-or-later
"""The vertices of a character as they are now, against what its Actions were made for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from . import kept, numbering, part

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

_NO_BONE, _OTHER_BONE = -0x10000, -0x10001  # no owner has these numbers


@dataclass(frozen=True)
class Vertices:
    """V vertices of one object after the other, file axes, each in the space of its object.

    `number` (V,): which vertex of the file each is, -1 for none; `position` (V, 3): where it is at rest; `regrouped`
    (V,): whether its weights are not those it came with; `astray` (V,): whether another bone carries it now; `edges`
    (E, 2); `as_is`: no modifier had a hand in it; `counts`: how many
    vertices each object has.
    """

    number: npt.NDArray[np.int64]
    position: npt.NDArray[np.float32]
    regrouped: npt.NDArray[np.bool_]
    astray: npt.NDArray[np.bool_]
    edges: npt.NDArray[np.int32]
    as_is: bool
    counts: list[int]

    @classmethod
    def of(
        cls, context: bpy.types.Context, objects: Sequence[bpy.types.Object], owner: bpy.types.ID, *, modifiers: bool
    ) -> Vertices:
        """Of `objects` as they are written; `owner`: the mesh whose list of animations counts."""
        shape = numbering.reference(owner)
        found = []
        with selection.object_mode(context), selection.at_rest(context, objects):
            for obj in objects:
                with selection.shape(context, obj, modifiers=modifiers, keys=part.keys_count(obj)) as mesh:
                    found.append((*numbering.claimed(mesh), meshes.get_positions(mesh), *_groups(obj, mesh), _edges(mesh)))
        claims, rests, positions, regrouped, astray, edges = ([entry[i] for entry in found] for i in range(6))
        counts = [len(entry) for entry in positions]
        starts = np.cumsum(counts) - counts
        position = np.concatenate(positions)
        number = numbering.settle(np.concatenate(claims), np.concatenate(rests), position, shape)
        return cls(
            number,
            FILE_Y_UP.undo(position),
            np.concatenate(regrouped),
            np.concatenate(astray),
            np.concatenate([entry + start for entry, start in zip(edges, starts, strict=True)]),
            not (modifiers and any(_deforms(obj) for obj in objects)),
            counts,
        )


def _deforms(obj: bpy.types.Object) -> bool:
    return any(entry.show_viewport and entry.type != "ARMATURE" for entry in obj.modifiers)


def _edges(mesh: bpy.types.Mesh) -> npt.NDArray[np.int32]:
    values = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", values)
    return values.reshape(-1, 2)


def _groups(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """(V,) twice: whether the weights of a vertex are not those it came with, and whether another bone carries it."""
    count = len(mesh.vertices)
    rig = selection.armature_of(obj)
    body = meshes.get_attribute(mesh, kept.BODY, "INT", "POINT")
    if body is None:
        body = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
    if rig is None or body is None or not any(kept.has(bone, kept.OWNER_NUMBER) for bone in rig.data.bones):
        return np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    bones = {bone.name: kept.get(bone, kept.OWNER_NUMBER, _OTHER_BONE) for bone in rig.data.bones}
    meaning = np.array([bones.get(group.name, _NO_BONE) for group in obj.vertex_groups], np.int64)
    vertex, group, weight = meshes.group_weights(mesh, len(meaning))
    counts = (weight > 0) & (meaning[group] != _NO_BONE)
    vertex, number, weight = vertex[counts], meaning[group[counts]], weight[counts]
    own = number == body[vertex]
    inside = np.bincount(vertex[own], weight[own], count)
    outside = np.bincount(vertex[~own], weight[~own], count)
    # A bone that was deleted, or whose number was lost, takes its vertices' certainty with it.
    return (inside <= 0) | (outside > 0), (inside <= 0) | (outside > inside)
