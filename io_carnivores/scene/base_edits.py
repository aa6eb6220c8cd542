# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of the base pose in the frames of shape keys: followed or not, whether Blender took the keys along or did not.

In Edit Mode what is moved on the basis moves in every relative key too; a script that moves the basis leaves them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import mesh as meshes
from ..formats import offsets
from . import kept, numbering

if TYPE_CHECKING:
    import bpy

    Positions = npt.NDArray[np.floating]


def remember(mesh: bpy.types.Mesh, action: bpy.types.Action, points: Positions) -> None:
    """Keep on `action` where the relative keys `points` (N, V, 3) of an animation are in the mean, by vertex numbers."""
    number = _numbers(mesh)
    known = number >= 0
    if not known.any():
        return
    mean = np.full((len(numbering.reference(mesh)), 3), np.nan, "<f4")
    mean[number[known]] = points.mean(axis=0)[known]
    kept.put(action, kept.MEAN, mean.tobytes())


def applied(mesh: bpy.types.Mesh, item: Any, keyed: Positions, *, follow: bool) -> Positions:
    """The keys `keyed` (N, V, 3) of an animation, file axes, with edits of the base pose or without; V of `mesh`."""
    rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
    owner = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
    if rest is None or not len(keyed):
        return keyed
    offset = meshes.get_positions(mesh) - rest
    if not offset.any():
        return keyed
    there = np.where(_taken_along(mesh, item, keyed, offset)[:, None], offset, 0.0)
    if not follow:
        return keyed - FILE_Y_UP.undo(there) if there.any() else keyed
    missing = offset - there
    if owner is None or not missing.any():
        return keyed
    return offsets.carried(owner, FILE_Y_UP.undo(rest + there), keyed, FILE_Y_UP.undo(missing))


def _taken_along(
    mesh: bpy.types.Mesh, item: Any, keyed: Positions, offset: npt.NDArray[np.float32]
) -> npt.NDArray[np.bool_]:
    """(V,): vertices whose keys have moved by the `offset` (V, 3) of the base."""
    count = len(offset)
    if mesh.shape_keys is None or not mesh.shape_keys.use_relative:
        return np.zeros(count, np.bool_)
    number = _numbers(mesh)
    mean = kept.get_array(item.action, kept.MEAN, "<f4") if item.action is not None else np.zeros(0, np.float32)
    if len(mean) != 3 * len(numbering.reference(mesh)) or not len(mean):
        return np.ones(count, np.bool_)
    before = np.where((number >= 0)[:, None], mean.reshape(-1, 3)[np.maximum(number, 0)], np.nan)
    drift = FILE_Y_UP.apply(keyed.mean(axis=0, dtype=np.float64)) - before
    known = np.isfinite(drift).all(axis=1)
    along = np.linalg.norm(drift - offset, axis=1) < np.linalg.norm(drift, axis=1)
    # New vertices are between others.
    edited = known & offset.any(axis=1)
    return np.where(known, along, bool(along[edited].mean() >= 0.5) if edited.any() else True)


def _numbers(mesh: bpy.types.Mesh) -> npt.NDArray[np.int64]:
    claims, rest = numbering.claimed(mesh)
    return numbering.settle(claims, rest, meshes.get_positions(mesh), numbering.reference(mesh))
