# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that lie beside the frames of a file: they count for the nearest frame.

An Action made of a file has a key on every frame of it, and those are seldom whole frames of the scene. Who sets a key
on a whole frame sets it beside the file's own, 8.00 beside 8.01, and nothing that is sampled at 8.01 would show it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import compat
from . import curves, kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    Values = npt.NDArray[np.float64]

_SAME = 0.01  # scene frames: keys that are closer together are one key to Blender
_BEYOND = 1.0  # scene frames: the range of a scene is whole frames and ends that much later at most


def taken(points: Values, times: Values) -> tuple[Values, Values] | None:
    """Keys `points` (n, 2) of frame and value, with those beside the samples `times` (N,) taken for the nearest.

    Returns the points with new values on the samples, and the frames of the keys that lay beside, in order; None where
    a sample has no key of its own, or no key lies beside. Of several keys for one sample the last counts.
    """
    if len(points) <= len(times) or not len(times):
        return None
    at = points[:, 0]
    step = float(times[-1] - times[0]) / max(len(times) - 1, 1)
    nearest = np.clip(np.rint((at - times[0]) / (step or 1.0)), 0, len(times) - 1).astype(np.int64)
    away = np.abs(at - times[nearest])
    own = away <= _SAME
    if len(np.unique(nearest[own])) != len(times):
        return None
    beside = ~own & (away <= max(step / 2, _BEYOND))
    if not beside.any():
        return None
    values = np.full(len(times), np.nan)
    values[nearest[beside]] = points[beside, 1]
    out = points.copy()
    replaced = own & ~np.isnan(values[nearest])
    out[replaced, 1] = values[nearest[replaced]]
    return out, at[beside]


@contextlib.contextmanager
def counted(action: bpy.types.Action, times: Values) -> Iterator[tuple[bpy.types.Action, int]]:
    """An Action to sample at `times` instead of `action`, and how many keys of bones were taken for the nearest.

    It is `action` itself where none was, or where it was not made of frames; else a copy that goes at the end.
    """
    found = _found(action, times) if kept.has(action, kept.CURVES_PRINT) and not curves.is_sealed(action) else {}
    if not found:
        yield action, 0
        return
    moved = {(bone, round(float(at), 3)) for bone, _points, beside in found.values() for at in beside}
    copy = action.copy()
    try:
        for number, curve in enumerate(compat.all_curves(copy)):
            if number in found:
                curve.keyframe_points.foreach_set("co", found[number][1].astype(np.float32).ravel())
                curve.update()
        yield copy, len(moved)
    finally:
        bpy.data.actions.remove(copy)


def _found(action: bpy.types.Action, times: Values) -> dict[int, tuple[str, Values, Values]]:
    """Number of a curve -> bone, new points and the frames of the keys beside, of the curves that have some."""
    found: dict[int, tuple[str, Values, Values]] = {}
    for number, curve in enumerate(compat.all_curves(action)):
        bone = curves.bone_of(curve.data_path)
        if curve.mute or bone is None:
            continue
        points = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", points)
        new = taken(points.reshape(-1, 2).astype(np.float64), times)
        if new is not None:
            found[number] = bone, *new
    return found
