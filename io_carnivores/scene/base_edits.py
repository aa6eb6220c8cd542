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
from ..formats import affine, offsets
from . import kept, numbering

if TYPE_CHECKING:
    import bpy

    Positions = npt.NDArray[np.floating]


def remember(mesh: bpy.types.Mesh, action: bpy.types.Action, points: Positions) -> None:
    """Keep on `action` where the keys `points` (N, V, 3) of an animation are in the mean, by vertex numbers."""
    number = _numbers(mesh)
    known = number >= 0
    if not known.any():
        return
    mean = np.full((len(numbering.reference(mesh)), 3), np.nan, "<f4")
    mean[number[known]] = points.mean(axis=0, dtype=np.float64)[known]
    kept.put(action, kept.MEAN, mean.tobytes())


def applied(mesh: bpy.types.Mesh, item: Any, keyed: Positions, *, follow: bool) -> Positions:
    """The keys `keyed` (N, V, 3) of an animation, file axes, with edits of the base pose or without; V of `mesh`.

    What Blender did to the base and to all keys alike, as when the transform of an object is applied, is no such edit.
    """
    rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
    owner = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
    if rest is None or not len(keyed):
        return keyed
    positions = meshes.get_positions(mesh)
    if not (positions != rest).any():
        return keyed
    before, now = _mean_before(mesh, item), FILE_Y_UP.apply(keyed.mean(axis=0, dtype=np.float64))
    matrix = _transform(rest, positions, before, now, follow=follow)
    if matrix is not None:
        before = affine.moved(before, matrix) if before is not None else None
        rest = affine.moved(rest, matrix).astype(np.float32)
        rest = np.where(affine.close(rest, positions)[:, None], positions, rest)
    offset = positions - rest
    if not offset.any():
        return keyed
    there = np.where(_taken_along(mesh, before, now, offset)[:, None], offset, np.float32(0))
    if not follow:
        return keyed - FILE_Y_UP.undo(there) if there.any() else keyed
    missing = offset - there
    if owner is None or not missing.any():
        return keyed
    return offsets.carried(owner, FILE_Y_UP.undo(rest + there), keyed, FILE_Y_UP.undo(missing))


def _mean_before(mesh: bpy.types.Mesh, item: Any) -> npt.NDArray[np.floating] | None:
    """(V, 3): where the keys of an animation were in the mean when they were made, no numbers where unknown."""
    mean = kept.get_array(item.action, kept.MEAN, "<f4") if item.action is not None else np.zeros(0, np.float32)
    if len(mean) != 3 * len(numbering.reference(mesh)) or not len(mean):
        return None
    number = _numbers(mesh)
    return np.where((number >= 0)[:, None], mean.reshape(-1, 3)[np.maximum(number, 0)], np.nan)


def _transform(
    rest: Positions, positions: Positions, before: Positions | None, now: Positions, *, follow: bool
) -> npt.NDArray[np.float64] | None:
    """The (4, 4) by which base and keys alike were transformed, None for none.

    Where the keys were is not known in scenes of older versions: there it has to be that of the whole base.
    """
    known = np.isfinite(before).all(axis=1) if before is not None else np.zeros(len(rest), np.bool_)
    if before is None or not known.any():
        return affine.between(rest, positions)
    # Without edits of the base, one that relative keys took along must not be taken for a transform.
    share = 0.5 if follow else 1.0
    if np.count_nonzero(affine.close(before[known], now[known])) >= share * np.count_nonzero(known):
        return None
    pairs = (np.concatenate((before[known], rest)), np.concatenate((now[known], positions)))
    matrix = affine.between(*pairs, share=0.5)
    if matrix is None:
        return None
    fitting = np.count_nonzero(affine.close(affine.moved(before[known], matrix), now[known]))
    return matrix if fitting >= share * np.count_nonzero(known) else None


def _taken_along(
    mesh: bpy.types.Mesh, before: Positions | None, now: Positions, offset: Positions
) -> npt.NDArray[np.bool_]:
    """(V,): vertices whose keys, in the mean `before` and `now` (V, 3), moved by the `offset` (V, 3) of the base."""
    count = len(offset)
    if mesh.shape_keys is None or not mesh.shape_keys.use_relative:
        return np.zeros(count, np.bool_)
    if before is None:
        return np.ones(count, np.bool_)
    drift = now - before
    known = np.isfinite(drift).all(axis=1)
    along = np.linalg.norm(drift - offset, axis=1) < np.linalg.norm(drift, axis=1)
    # New vertices are between others.
    edited = known & offset.any(axis=1)
    return np.where(known, along, bool(along[edited].mean() >= 0.5) if edited.any() else True)


def _numbers(mesh: bpy.types.Mesh) -> npt.NDArray[np.int64]:
    claims, rest = numbering.claimed(mesh)
    return numbering.settle(claims, rest, meshes.get_positions(mesh), numbering.reference(mesh))
