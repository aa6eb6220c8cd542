# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices and quaternions of the files, and the way to Blender's.

Files are left-handed with y up; matrices are for row vectors (v' = v M), translation in the last row; quaternions stand
x, y, z, w. Blender is right-handed with z up; its matrices are for column vectors, quaternions stand w, x, y, z. The
map swaps y and z, which mirrors: triangles turn round. Measured: bind poses look to -y, left is at +x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP as AXES
from ...io_common.formats.axes import REVERSED

__all__ = ["AXES", "REVERSED"]

Floats = npt.NDArray[np.float64]
_ORDER = [0, 2, 1, 3]


def to_blender_matrix(matrices: npt.NDArray[Any]) -> Floats:
    """File matrices (..., 4, 4) for row vectors to Blender's for column vectors; `to_file_matrix` undoes it exactly."""
    turned = np.swapaxes(np.asarray(matrices, np.float64), -1, -2)
    return np.ascontiguousarray(turned[..., _ORDER, :][..., _ORDER])


def to_file_matrix(matrices: npt.NDArray[Any]) -> Floats:
    """Blender's matrices (..., 4, 4) to those of the file."""
    return to_blender_matrix(matrices)


def to_blender_quaternion(rotations: npt.NDArray[Any]) -> Floats:
    """(..., 4) x, y, z, w of a file to w, x, y, z of Blender: (w, -x, -z, -y)."""
    found = np.asarray(rotations, np.float64)
    return np.stack((found[..., 3], -found[..., 0], -found[..., 2], -found[..., 1]), axis=-1)


def to_file_quaternion(rotations: npt.NDArray[Any]) -> Floats:
    """(..., 4) w, x, y, z of Blender to x, y, z, w of a file."""
    found = np.asarray(rotations, np.float64)
    return np.stack((-found[..., 1], -found[..., 3], -found[..., 2], found[..., 0]), axis=-1)


def to_blender_scale(scales: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(..., 3) scale factors; as points, since nothing is negated. Its own inverse."""
    return AXES.apply(scales)


def rotation_matrix(rotations: npt.NDArray[Any]) -> Floats:
    """Quaternions (..., 4) x, y, z, w to matrices (..., 3, 3) for row vectors. They need not have unit length."""
    x, y, z, w = np.moveaxis(unit(rotations), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)),
        (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)),
        (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion(matrices: npt.NDArray[Any]) -> Floats:
    """Rotation matrices (..., 3, 3) for row vectors to quaternions (..., 4) x, y, z, w with w >= 0."""
    found = np.asarray(matrices, np.float64)
    diagonal = np.einsum("...ii->...i", found)
    trace = diagonal.sum(axis=-1, keepdims=True)
    # Each row is the quaternion times four times one of its components; the largest component loses the least.
    squares = np.concatenate((1 + 2 * diagonal - trace, 1 + trace), axis=-1)
    x, y, z = (found[..., a, b] - found[..., b, a] for a, b in ((1, 2), (2, 0), (0, 1)))
    xy, xz, yz = (found[..., a, b] + found[..., b, a] for a, b in ((0, 1), (0, 2), (1, 2)))
    xx, yy, zz, ww = np.moveaxis(squares, -1, 0)
    rows = ((xx, xy, xz, x), (xy, yy, yz, y), (xz, yz, zz, z), (x, y, z, ww))
    table = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.argmax(squares, axis=-1)[..., None, None]
    result = unit(np.take_along_axis(table, best, -2)[..., 0, :])
    return np.where(result[..., 3:] < 0, -result, result)


def unit(rotations: npt.NDArray[Any]) -> Floats:
    """Quaternions (..., 4) of length one; what has no length, or is no number, becomes the identity."""
    found = np.asarray(rotations, np.float64)
    length = np.sqrt(np.einsum("...i,...i->...", found, found))[..., None]
    good = np.isfinite(length) & (length > 1e-12)
    return np.where(good, found / np.where(good, length, 1.0), np.array((0.0, 0.0, 0.0, 1.0)))


def matrix(positions: npt.NDArray[Any], rotations: npt.NDArray[Any], scales: npt.NDArray[Any]) -> Floats:
    """Scale, then rotation, then translation: (..., 4, 4) for row vectors of (..., 3), (..., 4), (..., 3)."""
    turn = rotation_matrix(rotations)
    out = np.zeros((*turn.shape[:-2], 4, 4))
    out[..., :3, :3] = turn * np.asarray(scales, np.float64)[..., :, None]
    out[..., 3, :3] = positions
    out[..., 3, 3] = 1.0
    return out


def points(positions: npt.NDArray[Any], matrices: npt.NDArray[Any]) -> Floats:
    """Row vectors (..., n, 3) times matrices (..., 4, 4)."""
    turn = np.asarray(matrices, np.float64)
    return np.asarray(positions, np.float64) @ turn[..., :3, :3] + turn[..., None, 3, :3]


def continuous(rotations: npt.NDArray[Any]) -> Floats:
    """Quaternions (n, 4) with signs so that each is on the near side of the one before; the first keeps its sign."""
    found = np.asarray(rotations, np.float64)
    if len(found) < 2:
        return found.copy()
    near = np.where(np.einsum("ij,ij->i", found[1:], found[:-1]) < 0, -1.0, 1.0)
    return np.asarray(found * np.concatenate(([1.0], np.cumprod(near)))[:, None], np.float64)
