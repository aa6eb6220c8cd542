# SPDX-License-Identifier: GPL-3.0-or-later
"""Bind matrices of an MSH, split into what a Blender bone can hold and what it cannot.

A Blender bone at rest is a place and a rotation. Real bind matrices also scale and even mirror (2 of 31 bones of a real
character), so the rest is kept beside the bone: bind = remainder x rotation x translation, for row vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import space

if TYPE_CHECKING:
    from .space import Floats

_STRAIGHT = 1e-4  # how far rows may be from right angles (as a cosine) to be taken for scaled axes
_PLAIN = 1e-4  # how far a remainder may be from one to be noise of single precision


@dataclass(frozen=True, eq=False)
class Parts:
    """`locations` (n, 3), `rotations` (n, 4) x, y, z, w, `remainders` (n, 3, 3) for row vectors.

    `remainders` are exact: remainder x rotation is the matrix. `plain` (n,): the remainder is one but for noise;
    `mirrored` (n,): its determinant is negative.
    """

    locations: Floats
    rotations: Floats
    remainders: Floats

    @property
    def plain(self) -> npt.NDArray[np.bool_]:
        """(n,) whether a Blender bone holds all there is."""
        found: npt.NDArray[np.bool_] = np.abs(self.remainders - np.eye(3)).max(axis=(1, 2), initial=0.0) < _PLAIN
        return found

    @property
    def mirrored(self) -> npt.NDArray[np.bool_]:
        """(n,) whether the remainder mirrors."""
        found: npt.NDArray[np.bool_] = np.linalg.det(self.remainders) < 0
        return found

    @property
    def scales(self) -> Floats:
        """(n, 3) the diagonal of the remainders: the scale along the bone's axes where there is no shear."""
        return np.array(np.einsum("nii->ni", self.remainders), np.float64)

    def rigid(self) -> Floats:
        """(n, 4, 4) rotation and translation only: the rest matrices of Blender's bones, in file space."""
        return space.matrix(self.locations, self.rotations, np.ones((len(self.locations), 3)))

    def remainder_matrices(self) -> Floats:
        """(n, 4, 4) the remainders, to be multiplied from the left."""
        out = np.zeros((len(self.remainders), 4, 4))
        out[:, :3, :3] = self.remainders
        out[:, 3, 3] = 1.0
        return out


def binds(inverse: npt.NDArray[Any]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """World matrices (n, 4, 4) of the bind pose from the stored inverses, and which could not be inverted (n,).

    Those become the identity. The last column is taken for 0, 0, 0, 1 as it is in all real files.
    """
    found = np.array(inverse, np.float64).reshape(-1, 4, 4)
    found[:, :, 3] = (0.0, 0.0, 0.0, 1.0)
    turn = found[:, :3, :3]
    size = np.sqrt(np.square(turn).sum(axis=2)).prod(axis=1)
    flat = ~(np.abs(np.linalg.det(turn)) > 1e-9 * np.maximum(size, 1e-30))
    found[flat] = np.eye(4)
    return np.asarray(np.linalg.inv(found), np.float64), flat


def regular(matrices: npt.NDArray[Any]) -> Floats:
    """World matrices (n, 4, 4) that can be inverted: a flat or unbounded turning part becomes the identity."""
    found = np.nan_to_num(np.array(matrices, np.float64).reshape(-1, 4, 4), posinf=0.0, neginf=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(np.linalg.det(found[:, :3, :3]))
    bad = ~(size > 1e-12) | ~(size < 1e12)
    found[bad, :3, :3] = np.eye(3)
    found[:, 3, :3] = found[:, 3, :3].clip(-1e15, 1e15)
    return found


def inverses(matrices: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """What an MSH stores for bind matrices (n, 4, 4): their inverses, f32, the last column exactly 0, 0, 0, 1."""
    out = np.linalg.inv(np.asarray(matrices, np.float64).reshape(-1, 4, 4))
    out[:, :, 3] = (0.0, 0.0, 0.0, 1.0)
    return out.astype("<f4")


def decomposed(matrices: npt.NDArray[Any]) -> Parts:
    """Bind matrices (n, 4, 4) as parts.

    Rows at right angles give their own axes, the last one turned round where the matrix mirrors; sheared matrices give
    the rotation that is nearest. A matrix that is flat gives the identity and keeps itself as the remainder.
    """
    found = np.asarray(matrices, np.float64).reshape(-1, 4, 4)
    turn = found[:, :3, :3]
    size = np.sqrt(np.square(turn).sum(axis=2))
    safe = np.where(size > 1e-12, size, 1.0)
    axes = turn / safe[:, :, None]
    skew = np.abs(axes @ axes.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    mirrored = np.linalg.det(axes) < 0
    axes[mirrored, 2] *= -1.0
    crooked = skew > _STRAIGHT
    if crooked.any():
        axes[crooked] = _nearest(turn[crooked])
    rotations = space.quaternion(axes)
    remainders = turn @ space.rotation_matrix(rotations).transpose(0, 2, 1)
    return Parts(found[:, 3, :3].copy(), rotations, remainders)


def _nearest(turn: Floats) -> Floats:
    """The nearest rotations (n, 3, 3); where a matrix mirrors, its shortest axis is turned round."""
    left, _sizes, right = np.linalg.svd(turn)
    flip = np.linalg.det(left @ right) < 0
    left[flip, :, 2] *= -1.0
    return np.asarray(left @ right, np.float64)
