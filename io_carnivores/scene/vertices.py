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
class Weights:
    """The bones of V vertices, against those they came with.

    `regrouped` (V,): they are not the same; `astray` (V,): another one carries it now; `mixed` (V,): several do;
    `prints` (V,) u32: a number that tells weights apart.
    """

    regrouped: npt.NDArray[np.bool_]
    astray: npt.NDArray[np.bool_]
    mixed: npt.NDArray[np.bool_]
    prints: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, obj: bpy.types.Object, mesh: bpy.types.Mesh) -> Weights:
        """Of `mesh`, the data of `obj`, maybe evaluated."""
        count = len(mesh.vertices)
        rig = selection.armature_of(obj)
        body = meshes.get_attribute(mesh, kept.BODY, "INT", "POINT")
        if body is None:
            body = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
        if rig is None or body is None or not any(kept.has(bone, kept.OWNER_NUMBER) for bone in rig.data.bones):
            none = np.zeros(count, np.bool_)
            return cls(none, none, none, np.zeros(count, np.uint32))
        bones = {bone.name: kept.get(bone, kept.OWNER_NUMBER, _OTHER_BONE) for bone in rig.data.bones}
        meaning = np.array([bones.get(group.name, _NO_BONE) for group in obj.vertex_groups], np.int64)
        vertex, group, weight = meshes.group_weights(mesh, len(meaning))
        counts = (weight > 0) & (meaning[group] != _NO_BONE)
        vertex, number, weight = vertex[counts], meaning[group[counts]], weight[counts]
        own = number == body[vertex]
        inside = np.bincount(vertex[own], weight[own], count)
        outside = np.bincount(vertex[~own], weight[~own], count)
        prints = np.zeros(count, np.uint32)
        mixture = (number * 2654435761 + np.round(weight * 4096).astype(np.int64) * 40503) & 0xFFFFFFFF
        np.add.at(prints, vertex, mixture.astype(np.uint32))
        # A bone that was deleted, or whose number was lost, takes its vertices' certainty with it.
        return cls(
            (inside <= 0) | (outside > 0),
            (inside <= 0) | (outside > inside),
            np.bincount(vertex, minlength=count) > 1,
            prints,
        )

    @classmethod
    def joined(cls, parts: Sequence[Weights]) -> Weights:
        """One behind the other."""
        names = ("regrouped", "astray", "mixed", "prints")
        return cls(*(np.concatenate([getattr(entry, name) for entry in parts]) for name in names))


@dataclass(frozen=True)
class Vertices:
    """V vertices of one object after the other, file axes, each in the space of its object.

    `number` (V,): which vertex of the file each is, -1 for none; `position` (V, 3): where it rests; `edges` (E, 2);
    `as_is`: no modifier had a hand in it; `counts`: how many vertices each object has.
    """

    number: npt.NDArray[np.int64]
    position: npt.NDArray[np.float32]
    weights: Weights
    edges: npt.NDArray[np.int32]
    as_is: bool
    counts: list[int]

    @classmethod
    def of(
        cls, context: bpy.types.Context, objects: Sequence[bpy.types.Object], owner: bpy.types.ID, *, modifiers: bool
    ) -> Vertices:
        """Of `objects` as they are written; `owner`: the mesh whose list of animations counts."""
        shape = numbering.reference(owner)
        found, weights = [], []
        with selection.object_mode(context), selection.at_rest(context, objects):
            for obj in objects:
                with selection.shape(context, obj, modifiers=modifiers, keys=part.keys_count(obj)) as mesh:
                    found.append((*numbering.claimed(mesh), meshes.get_positions(mesh), _edges(mesh)))
                    weights.append(Weights.of(obj, mesh))
        claims, rests, positions, edges = ([entry[i] for entry in found] for i in range(4))
        counts = [len(entry) for entry in positions]
        starts = np.cumsum(counts) - counts
        position = np.concatenate(positions).astype(np.float32, copy=False)
        number = numbering.settle(np.concatenate(claims), np.concatenate(rests), position, shape)
        return cls(
            number,
            FILE_Y_UP.undo(position),
            Weights.joined(weights),
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
