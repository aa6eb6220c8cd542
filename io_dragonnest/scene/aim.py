# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones point: bind matrices know no direction and no length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.scene import armature

if TYPE_CHECKING:
    from collections.abc import Sequence

    Floats = npt.NDArray[np.float64]

CHILD, STORED = "CHILD", "STORED"
_STRAIGHT = 1e-4  # how far axes may be from right angles, as a cosine, to be taken for scaled ones
_EVEN = 1e-3  # how far the lengths of the axes may be apart, as a ratio, to be taken for the same


def rest_matrices(
    bind: Floats, parents: Sequence[int], direction: str, aligned: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Rest matrices (b, 4, 4) without scale and mirror, and lengths (b,), for bind matrices (b, 4, 4).

    `direction` CHILD: y points at the children, and the other axes are those of the bind matrix, turned along. Bones
    that are scaled unevenly, and those in `aligned` (b,), keep the axes of the bind matrix up to order and sign, since
    only along those Blender can scale as the game does; STORED keeps them for all bones, y for y.
    """
    heads = armature.bearable(bind[:, :3, 3])
    ends = armature.tails(heads, armature.sane_parents(list(parents)))
    away = ends - heads
    length = np.sqrt(np.einsum("ij,ij->i", away, away))
    own = axes(bind)
    out = np.zeros((len(bind), 4, 4))
    out[:, :3, 3], out[:, 3, 3] = heads, 1.0
    if direction == STORED:
        out[:, :3, :3] = own
    else:
        near = _nearest_axis_as_y(own, away / length[:, None])
        turned = _swing(near[:, :, 1], away / length[:, None]) @ near
        stiff = aligned | is_uneven(bind)
        out[:, :3, :3] = np.where(stiff[:, None, None], near, turned)
    return out, length


def axes(bind: Floats) -> Floats:
    """Rotations (b, 3, 3) whose columns are the axes of bind matrices, but for signs; of sheared ones the nearest."""
    turn = np.array(bind[:, :3, :3], np.float64)
    size = np.sqrt(np.square(turn).sum(axis=1))
    found = turn / np.where(size > 1e-12, size, 1.0)[:, None, :]
    skew = np.abs(found.transpose(0, 2, 1) @ found - np.eye(3)).max(axis=(1, 2), initial=0.0)
    crooked = skew > _STRAIGHT
    left, _sizes, right = np.linalg.svd(turn[crooked])
    found[crooked] = left @ right
    mirrored = np.linalg.det(found) < 0
    found[mirrored, :, 2] *= -1.0
    return found


def is_uneven(bind: Floats) -> npt.NDArray[np.bool_]:
    """(b,) whether a bind matrix scales its axes differently."""
    size = np.sqrt(np.square(bind[:, :3, :3]).sum(axis=1))
    uneven: npt.NDArray[np.bool_] = size.max(axis=1, initial=0.0) > size.min(axis=1, initial=np.inf) * (1 + _EVEN)
    return uneven


def _nearest_axis_as_y(own: Floats, away: Floats) -> Floats:
    """The axes in another order and with other signs, so that y is the one nearest to `away` (b, 3)."""
    along = np.einsum("bij,bi->bj", own, away)
    best = np.argmax(np.abs(along), axis=1)
    rows = np.arange(len(own))
    y = own[rows, :, best] * np.where(along[rows, best] < 0, -1.0, 1.0)[:, None]
    z = own[rows, :, (best + 1) % 3]
    return np.stack((np.cross(y, z), y, z), axis=2)


def _swing(start: Floats, end: Floats) -> Floats:
    """The shortest rotations (b, 3, 3) that turn unit vectors `start` (b, 3) to `end`, which are not opposite."""
    cross = np.cross(start, end)
    cosine = np.einsum("ij,ij->i", start, end)
    x, y, z = cross.T
    zero = np.zeros(len(cross))
    skew: Any = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=1).reshape(-1, 3, 3)
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine)[:, None, None], np.float64)
