# SPDX-License-Identifier: GPL-3.0-or-later
"""Dividing triangles: by what one sub-mesh can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def by_bones(corners: npt.NDArray[Any], bones: npt.NDArray[np.bool_], most: int) -> list[npt.NDArray[np.intp]]:
    """Triangles `corners` (t, 3) in lots whose vertices are moved by no more than `most` bones.

    `bones` (V, b): which bones move each vertex, twelve at the most for the three of a triangle. Triangles moved by the
    same bones stay together; their order is kept within a lot.
    """
    touched = bones[corners[:, 0]] | bones[corners[:, 1]] | bones[corners[:, 2]]
    packed = np.packbits(touched, axis=1)
    _sets, example, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    lots: list[npt.NDArray[np.bool_]] = []
    lot_of = np.empty(len(example), np.intp)
    # The larger sets first: small ones fit in somewhere.
    for row in np.argsort(-touched[example].sum(axis=1), kind="stable").tolist():
        own = touched[example[row]]
        grown = [int((lot | own).sum()) for lot in lots]
        costs = [grow - int(lot.sum()) if grow <= most else most + 1 for grow, lot in zip(grown, lots, strict=True)]
        best = int(np.argmin(costs)) if costs else 0
        if not costs or costs[best] > most:
            best = len(lots)
            lots.append(np.zeros(bones.shape[1], bool))
        lots[best] = lots[best] | own
        lot_of[row] = best
    chosen = lot_of[inverse.reshape(-1)]
    return [np.flatnonzero(chosen == lot) for lot in range(len(lots))]


def by_vertices(corners: npt.NDArray[Any], most: int) -> list[npt.NDArray[np.intp]]:
    """Triangles `corners` (t, 3) in lots, in order, that use no more than `most` vertices each."""
    lots, start = [], 0
    while start < len(corners):
        flat = corners[start:].reshape(-1)
        first = np.zeros(len(flat), np.intp)
        first[np.unique(flat, return_index=True)[1]] = 1
        used = np.cumsum(first)[2::3]
        count = max(int(np.searchsorted(used, most, side="right")), 1)
        lots.append(np.arange(start, start + count))
        start += count
    return lots
