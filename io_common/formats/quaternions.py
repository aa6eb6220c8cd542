# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions w, x, y, z as Blender has them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def to_quaternions(rotation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(..., 3, 3) rotations to (..., 4) unit quaternions w, x, y, z, by the largest of the four squares."""
    m = rotation
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    squares = np.stack((trace, m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]), axis=-1)
    # Row k holds 4 q_k times the quaternion.
    rows = np.empty((*trace.shape, 4, 4))
    rows[..., 0, 0] = 1 + trace
    for axis in range(3):
        rows[..., axis + 1, axis + 1] = 1 - trace + 2 * m[..., axis, axis]
        first, second = (axis + 1) % 3, (axis + 2) % 3
        rows[..., 0, axis + 1] = rows[..., axis + 1, 0] = m[..., second, first] - m[..., first, second]
        rows[..., first + 1, second + 1] = rows[..., second + 1, first + 1] = (
            m[..., first, second] + m[..., second, first]
        )
    best = np.argmax(squares, axis=-1)[..., None, None]
    chosen = np.take_along_axis(rows, best, axis=-2)[..., 0, :]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=-1, keepdims=True))


def continuous(quaternions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, B, 4) with signs chosen so that no quaternion jumps to its opposite from one frame to the next."""
    if len(quaternions) < 2:
        return quaternions
    dots = np.einsum("nbk,nbk->nb", quaternions[1:], quaternions[:-1])
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    out = quaternions.copy()
    out[1:] *= signs[..., None]
    return out
