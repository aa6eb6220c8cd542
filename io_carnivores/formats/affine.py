# SPDX-License-Identifier: GPL-3.0-or-later
"""The one transform that took points from where they were to where they are, as Blender applies it to whole meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Points = npt.NDArray[np.floating[Any]]

_PRECISION = 1e-5  # of the extent: how far single precision may be off
_TURNS = 8  # of leaving out what does not fit


def close(there: Points, wanted: Points) -> npt.NDArray[np.bool_]:
    """(n,): which of the points `there` (n, 3) are `wanted` (n, 3), but for the rounding of single precision."""
    extent = max(float(np.abs(entry).max(initial=0.0)) for entry in (there, wanted))
    return np.asarray(np.abs(np.asarray(there, np.float64) - wanted).max(axis=1) <= _PRECISION * extent)


def moved(points: Points, matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """`points` (..., 3) transformed by `matrix` (4, 4)."""
    return np.asarray(points, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def between(before: Points, after: Points, *, share: float = 1.0) -> npt.NDArray[np.float64] | None:
    """The (4, 4) that takes at least `share` of the points `before` (n, 3) to `after` (n, 3).

    None where there is no such transform, where it flattens space, and where the points are at their places as they
    are. What the points do not tell, because all are in one plane, stays as it is.
    """
    least = share * len(before)
    if not len(before) or np.count_nonzero(close(before, after)) >= max(least, 1):
        return None
    start, way = np.asarray(before, np.float64), np.asarray(after, np.float64) - before
    rows = np.column_stack((start, np.full(len(start), max(float(np.abs(start).max()), 1e-30))))
    chosen = np.ones(len(start), np.bool_)
    for _turn in range(_TURNS):
        found, _off, _rank, _size = np.linalg.lstsq(rows[chosen], way[chosen], rcond=1e-7)
        off = np.abs(rows @ found - way).max(axis=1)
        good = close(start + rows @ found, after)
        if np.count_nonzero(good) >= least:
            matrix = np.eye(4)
            matrix[:3, :3] += found[:3].T
            matrix[:3, 3] = found[3] * rows[0, 3]
            return matrix if abs(np.linalg.det(matrix[:3, :3])) > 1e-15 else None
        chosen = off <= np.median(off)
    return None
