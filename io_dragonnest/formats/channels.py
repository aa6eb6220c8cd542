# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks of a record as channels of a Blender bone, and back: both are linear in what the file stores.

A bone whose bind matrix is A and whose rest matrix is R (both for column vectors, in Blender's axes) shows a local
matrix L of the file with the pose basis  R^-1 A_parent L A^-1 R.  L is translation x rotation x scale, and so the
position goes through an affine map, the rotation through a rotation from either side, and the scale through a matrix,
as long as the parent's bind matrix scales evenly and the scale goes along axes of the rest matrix. Tracks keep their
own key frames then. Everything else has to be fitted frame by frame (`fitting`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.quaternions import to_quaternions

if TYPE_CHECKING:
    from .space import Floats

_EVEN = 3e-5  # how far a matrix may be from an even scale, or from a diagonal one, to be taken for it
_SWAP = np.eye(3)[[0, 2, 1]]
# Blender's w, x, y, z of a file's x, y, z, w.
_TURN = np.array(((0.0, 0, 0, 1), (-1, 0, 0, 0), (0, 0, -1, 0), (0, -1, 0, 0)))


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps of `b` bones.

    `place` (b, 3, 3) and `offset` (b, 3): position of the file to location. `turn` (b, 4, 4): x, y, z, w to w, x, y, z.
    `size` (b, 3, 3): scale of the file to scale. `shear` (b, 3, 3, 3): the matrix that is left beside `size`, for each
    component of the file's scale. `even` (b,): the parent's bind matrix scales evenly.
    """

    place: Floats
    offset: Floats
    turn: Floats
    size: Floats
    shear: Floats
    even: npt.NDArray[np.bool_]

    def locations(self, rows: Any, positions: Floats) -> Floats:
        """(t, n, 3) of the bones `rows` (t,)."""
        return np.asarray(positions @ self.place[rows].transpose(0, 2, 1) + self.offset[rows][:, None], np.float64)

    def quaternions(self, rows: Any, rotations: Floats) -> Floats:
        """(t, n, 4) w, x, y, z of unit quaternions (t, n, 4) x, y, z, w."""
        return np.asarray(rotations @ self.turn[rows].transpose(0, 2, 1), np.float64)

    def scales(self, rows: Any, scales: Floats) -> Floats:
        """(t, n, 3)."""
        return np.asarray(scales @ self.size[rows].transpose(0, 2, 1), np.float64)

    def skewed(self, rows: Any, scales: Floats) -> npt.NDArray[np.bool_]:
        """(t,) whether any of the scales (t, n, 3) of a bone makes what no bone can hold."""
        left = np.einsum("tni,tijk->tnjk", scales, self.shear[rows])
        size = np.abs(self.scales(rows, scales)).max(axis=(1, 2), initial=1e-12)
        return np.asarray(np.abs(left).max(axis=(1, 2, 3), initial=0.0) > _EVEN * size, bool)

    def positions(self, row: int, locations: Floats) -> Floats:
        """(n, 3) back."""
        return np.asarray((locations - self.offset[row]) @ np.linalg.inv(self.place[row]).T, np.float64)

    def rotations(self, row: int, quaternions: Floats) -> Floats:
        """(n, 4) back, not made unit."""
        return np.asarray(quaternions @ self.turn[row], np.float64)

    def file_scales(self, row: int, scales: Floats) -> Floats:
        """(n, 3) back."""
        return np.asarray(scales @ np.linalg.inv(self.size[row]).T, np.float64)


def maps(rest: npt.NDArray[Any], bind: npt.NDArray[Any], parent: npt.NDArray[Any]) -> Maps:
    """The maps of bones with rest and bind matrices (b, 4, 4), `parent` (b,) -1 for roots."""
    above = np.where((parent >= 0)[:, None, None], bind[np.maximum(parent, 0)], np.eye(4))
    inner = np.linalg.inv(rest) @ above
    after = np.linalg.inv(regular(bind[:, :3, :3])) @ rest[:, :3, :3]
    before = inner[:, :3, :3]
    grow = np.cbrt(np.linalg.det(before))
    grow = np.where(np.abs(grow) > 1e-12, grow, 1.0)
    turned = before / grow[:, None, None]
    even = np.abs(turned.transpose(0, 2, 1) @ turned - np.eye(3)).max(axis=(1, 2), initial=0.0) < _EVEN
    left, _sizes, right = np.linalg.svd(after)
    own = left @ right
    own *= np.sign(np.linalg.det(own))[:, None, None]
    # What is left of the scale diag(s), seen along the bone's axes: sum over i of s_i own_ij after_ik.
    seen = grow[:, None, None, None] * own[:, _ORDER, :, None] * after[:, _ORDER, None, :]
    diagonal = np.einsum("bijj->bij", seen)
    shear = seen.copy()
    shear[:, :, range(3), range(3)] = 0.0
    return Maps(
        before @ _SWAP,
        inner[:, :3, 3].copy(),
        _left(to_quaternions(turned)) @ _right(to_quaternions(own)) @ _TURN,
        np.ascontiguousarray(diagonal.transpose(0, 2, 1)),
        shear,
        even,
    )


_ORDER = [0, 2, 1]


def regular(matrices: npt.NDArray[Any]) -> Floats:
    """Matrices (..., k, k) that can be inverted: flat ones become the identity."""
    flat = ~(np.abs(np.linalg.det(matrices)) > 1e-30)
    return np.where(flat[..., None, None], np.eye(matrices.shape[-1]), matrices)


def _left(q: Floats) -> Floats:
    """(b, 4, 4): q times another quaternion."""
    w, x, y, z = q.T
    rows = ((w, -x, -y, -z), (x, w, -z, y), (y, z, w, -x), (z, -y, x, w))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _right(q: Floats) -> Floats:
    """(b, 4, 4): another quaternion times q."""
    w, x, y, z = q.T
    rows = ((w, -x, -y, -z), (x, w, z, -y), (y, -z, w, x), (z, y, -x, w))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def even_axes(rest: npt.NDArray[Any], bind: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """(b,) whether the axes of the rest matrices are those of the bind matrices, up to order, sign and size."""
    after = np.linalg.inv(regular(bind[:, :3, :3])) @ rest[:, :3, :3]
    size = np.sqrt(np.square(after).sum(axis=2, keepdims=True))
    part = np.sort(np.abs(after) / np.where(size > 1e-12, size, 1.0), axis=2)
    found: npt.NDArray[np.bool_] = part[:, :, 1].max(axis=1, initial=0.0) < _EVEN
    return found
