# SPDX-License-Identifier: GPL-3.0-or-later
"""An edit of the base pose, taken along by every frame: the offset of a vertex turned as its owner's body is turned."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import rigid
from .rigid import Bodies


def carried(
    owner: npt.NDArray[np.integer],
    rest: npt.NDArray[Any],
    frames: npt.NDArray[np.float32],
    offset: npt.NDArray[Any],
) -> npt.NDArray[np.float32]:
    """`frames` (N, V, 3) with `offset` (V, 3), made in `rest` (V, 3), added to them; file axes and units.

    `owner` (V,) says which vertices belong together. Vertices without an offset keep their places to the bit.
    """
    numbers, dense = np.unique(owner, return_inverse=True)
    bodies = Bodies.of(dense.reshape(-1), len(numbers))
    points = np.ascontiguousarray(frames[:, bodies.order].transpose(1, 2, 0), np.float32)
    moved = rigid.fit(bodies, np.asarray(rest, np.float64)[bodies.order], points, np.ones(len(rest)))
    edited = np.flatnonzero((np.asarray(offset) != 0).any(axis=1))
    turn = moved.rotation[:, bodies.body[edited]]
    result = np.array(frames, np.float32)
    result[:, edited] += np.einsum("nvij,vj->nvi", turn, np.asarray(offset, np.float64)[edited]).astype(np.float32)
    return result
