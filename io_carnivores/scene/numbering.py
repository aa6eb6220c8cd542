# SPDX-License-Identifier: GPL-3.0-or-later
"""Which vertex of its file each vertex of a character is, whatever was deleted, added or sorted since.

The number is an attribute, which Blender copies to new vertices. Only the vertex that still has the rest position of
its number is the real one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.scene import mesh as meshes
from . import kept

if TYPE_CHECKING:
    import bpy


def start(mesh: bpy.types.Mesh) -> None:
    """Number the vertices as they are; `kept.REST` must be their shape."""
    rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
    meshes.set_attribute(mesh, kept.VERTEX_INDEX, "INT", "POINT", np.arange(len(mesh.vertices)) + 1)
    kept.put(mesh, kept.REST_SHAPE, b"" if rest is None else rest.astype("<f4").tobytes())


def reference(mesh: bpy.types.ID) -> npt.NDArray[np.float32]:
    """The rest position that belongs to each number, (M, 3) in Blender axes; empty when there are no numbers."""
    values = kept.get_array(mesh, kept.REST_SHAPE, "<f4")
    return values.reshape(-1, 3) if len(values) % 3 == 0 else np.zeros((0, 3), np.float32)


def claimed(mesh: bpy.types.Mesh) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """What the attributes of `mesh`, maybe evaluated, say: numbers (V,), -1 for none, and rest positions (V, 3)."""
    number = meshes.get_attribute(mesh, kept.VERTEX_INDEX, "INT", "POINT")
    rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
    if number is None or rest is None:
        return np.full(len(mesh.vertices), -1, np.int32), meshes.get_positions(mesh)
    return number - 1, rest


def settle(
    number: npt.NDArray[np.integer],
    rest: npt.NDArray[np.float32],
    position: npt.NDArray[np.float32],
    shape: npt.NDArray[np.float32],
) -> npt.NDArray[np.int64]:
    """(V,): the numbers that are true, each once, -1 for all other vertices.

    `number` (V,) and `rest` (V, 3) are what the vertices claim, `shape` (M, 3) the `reference`. Of several with the
    same number one that is still at its rest `position` wins, then the first.
    """
    inside = (number >= 0) & (number < len(shape))
    own = np.flatnonzero(inside)
    own = own[(rest[own] == shape[number[own]]).all(axis=1)]
    moved = (position[own] != rest[own]).any(axis=1)
    order = np.lexsort((own, moved, number[own]))
    _numbers, first = np.unique(number[own][order], return_index=True)
    result = np.full(len(number), -1, np.int64)
    winners = own[order][first]
    result[winners] = number[winners]
    return result


def complete(mesh: bpy.types.Mesh) -> npt.NDArray[np.int64]:
    """Give every vertex that has none a number of its own, behind all others; the numbers, (V,)."""
    positions = meshes.get_positions(mesh)
    shape = reference(mesh)
    claims, rest = claimed(mesh)
    number = settle(claims, rest, positions, shape)
    new = number < 0
    if not new.any():
        return number
    number[new] = len(shape) + np.arange(np.count_nonzero(new))
    base = meshes.get_attribute(mesh, kept.BASE, "FLOAT_VECTOR", "POINT")
    if base is not None:
        base[new] += positions[new] - rest[new]
        meshes.set_attribute(mesh, kept.BASE, "FLOAT_VECTOR", "POINT", base)
    rest = np.where(new[:, None], positions, rest)
    meshes.set_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT", rest)
    meshes.set_attribute(mesh, kept.VERTEX_INDEX, "INT", "POINT", number + 1)
    kept.put(mesh, kept.REST_SHAPE, np.concatenate([shape, positions[new]]).astype("<f4").tobytes())
    return number
