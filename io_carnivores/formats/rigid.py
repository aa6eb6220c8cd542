# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies that move through frames: least-squares fits of many bodies over all frames at once.

A body is a set of vertices that keep their distances. Its motion is one rotation and one translation per frame over one
rest shape (Kabsch's problem). The work is laid out so that all of it is matrix products: coordinates are held as
(V, 3, N) with the vertices of a body in consecutive rows, so that a body's correlation matrices of all frames are one
product of (3, n) by (n, 3N).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .motion import STEPS

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Squared file units: a body whose second extent is below it has no certain rotation about its longest axis. Truncated
# coordinates scatter by 0.02 unit, so at half a unit such a rotation is certain to two degrees.
THIN = 0.25
_NEWTON = 24  # rounds at most; 5 are usual
_BLOCK = 1 << 14  # rotations found at once, so that memory stays bounded
# Below this a rotation is not certain enough for the closed form, and the slower decomposition decides.
_SURE = 1e-6


@dataclass(frozen=True)
class Bodies:
    """Which vertices belong together.

    `order` (V,): vertex numbers sorted by body; `start` (B + 1,): body b has `order[start[b]:start[b + 1]]`; `body`
    (V,): the body of each vertex in file order. A body may be empty. "Sorted" arrays have their rows in this order.
    """

    order: Ints
    start: Ints
    body: Ints

    @classmethod
    def of(cls, body: npt.NDArray[Any], count: int) -> Bodies:
        """From a body number below `count` for every vertex, (V,)."""
        numbers = np.asarray(body, np.int64)
        start = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))])
        return cls(np.argsort(numbers, kind="stable"), start, numbers)

    @property
    def count(self) -> int:
        """B."""
        return len(self.start) - 1

    @cached_property
    def sizes(self) -> Ints:
        """Vertices per body, (B,)."""
        return np.diff(self.start)

    @cached_property
    def _slices(self) -> list[slice]:
        return [slice(a, b) for a, b in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)]

    def slices(self) -> list[slice]:
        """Rows of every body in sorted arrays, in body order."""
        return self._slices

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Sum of the rows of each body: (V, ...) sorted to (B, ...)."""
        if not len(values):
            return np.zeros((self.count, *values.shape[1:]), values.dtype)
        filled = self.start[:-1] < self.start[1:]
        result = np.zeros((self.count, *values.shape[1:]), values.dtype)
        result[filled] = np.add.reduceat(values, self.start[:-1][filled], axis=0)
        return result


@dataclass(frozen=True)
class Motion:
    """frame = scale * rotation @ rest + translation.

    `quaternion` (N, B, 4) w x y z, `rotation` (N, B, 3, 3), `translation` (N, B, 3), `scale` (N, B).
    """

    quaternion: Doubles
    rotation: Doubles
    translation: Doubles
    scale: Doubles

    def part(self, frames: slice) -> Motion:
        """Some of the frames."""
        return Motion(self.quaternion[frames], self.rotation[frames], self.translation[frames], self.scale[frames])


def unbiased(frames: npt.NDArray[np.int16]) -> Floats:
    """Stored frames (N, V, 3) as likeliest positions in file units (V, 3, N).

    A stored step stands for anything between itself and the next step outwards, because the original tool truncates
    toward zero; the middle of that is half a step further out. Zero stands for both sides.
    """
    steps = np.ascontiguousarray(frames.transpose(1, 2, 0)).astype(np.float32)
    steps += np.float32(0.5) * np.sign(steps)
    steps *= np.float32(1 / STEPS)
    return steps


def some_of(points: Floats, most: int) -> Floats:
    """Every second, third ... frame of (V, 3, N), the first included, so that at most so many are left."""
    return np.ascontiguousarray(points[:, :, :: -(-points.shape[2] // most) or 1])


def quaternions(correlation: npt.NDArray[Any]) -> Doubles:
    """Rotations (..., 4) that maximise trace(R^T H) for stacked H = sum of frame (column) by rest (row), (..., 3, 3).

    The answer is the eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix (Horn 1987), found by Newton's
    method on its characteristic polynomial and taken from the adjugate (Theobald 2005). Matrices for which two
    rotations do about equally well go to an eigenvalue decomposition. All zero gives the identity.
    """
    shape = correlation.shape[:-2]
    matrices = np.asarray(correlation, np.float64).reshape(-1, 3, 3)
    result = np.empty((len(matrices), 4))
    for start in range(0, len(matrices), _BLOCK):
        result[start : start + _BLOCK] = _quaternions(matrices[start : start + _BLOCK])
    return result.reshape(*shape, 4)


def _quaternions(matrices: Doubles) -> Doubles:
    """(M, 3, 3) to (M, 4)."""
    scale = np.sqrt(np.einsum("nij,nij->n", matrices, matrices))
    empty = ~(scale > 1e-30)
    h = np.ascontiguousarray((matrices / np.where(empty, 1.0, scale)[:, None, None]).transpose(1, 2, 0))
    k = _horn(h)
    result, sure = _adjugate(k, _largest_root(h, k))
    doubtful = ~sure & ~empty
    if doubtful.any():
        result[doubtful] = np.linalg.eigh(np.moveaxis(k[:, :, doubtful], 2, 0))[1][:, :, -1]
    result[empty] = (1.0, 0.0, 0.0, 0.0)
    return result


def _horn(h: Doubles) -> Doubles:
    """(3, 3, M) to the symmetric (4, 4, M) whose quadratic form in q is trace(R(q)^T H)."""
    k = np.empty((4, 4, h.shape[2]))
    k[0, 0] = h[0, 0] + h[1, 1] + h[2, 2]
    k[1, 1] = h[0, 0] - h[1, 1] - h[2, 2]
    k[2, 2] = h[1, 1] - h[0, 0] - h[2, 2]
    k[3, 3] = h[2, 2] - h[0, 0] - h[1, 1]
    k[0, 1] = k[1, 0] = h[2, 1] - h[1, 2]
    k[0, 2] = k[2, 0] = h[0, 2] - h[2, 0]
    k[0, 3] = k[3, 0] = h[1, 0] - h[0, 1]
    k[1, 2] = k[2, 1] = h[0, 1] + h[1, 0]
    k[1, 3] = k[3, 1] = h[0, 2] + h[2, 0]
    k[2, 3] = k[3, 2] = h[1, 2] + h[2, 1]
    return k


def _minors(k: Doubles) -> tuple[list[Any], list[Any]]:
    """The six 2 x 2 minors of the upper two rows, and of the lower two."""
    pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    return (
        [k[0, a] * k[1, b] - k[0, b] * k[1, a] for a, b in pairs],
        [k[2, a] * k[3, b] - k[2, b] * k[3, a] for a, b in pairs],
    )


def _largest_root(h: Doubles, k: Doubles) -> Doubles:
    """The largest eigenvalue of K (4, 4, M) that `_horn` makes of H (3, 3, M), whose norm is 1, from above, (M,)."""
    c2 = -2.0 * (h * h).sum(axis=(0, 1))
    c1 = h[0, 0] * (h[1, 1] * h[2, 2] - h[1, 2] * h[2, 1])
    c1 += h[0, 1] * (h[1, 2] * h[2, 0] - h[1, 0] * h[2, 2])
    c1 += h[0, 2] * (h[1, 0] * h[2, 1] - h[1, 1] * h[2, 0])
    c1 *= -8.0
    s, c = _minors(k)
    c0 = s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0]
    root = np.full(k.shape[2], np.sqrt(3.0))  # no eigenvalue exceeds the sum of the singular values of H
    rows = np.arange(len(root))
    for _ in range(_NEWTON):
        at = root[rows]
        square_root = at * at
        slope = (4.0 * square_root + 2.0 * c2) * at + c1
        value = (square_root + c2) * square_root + c1 * at + c0
        step = np.where(np.abs(slope) > 1e-12, value / np.where(np.abs(slope) > 1e-12, slope, 1.0), 0.0)
        root[rows] = at - step
        # Double roots take all the rounds, and are few.
        moving = np.abs(step) > 1e-11
        if not moving.any():
            break
        if 2 * np.count_nonzero(moving) < len(rows):
            rows, c2, c1, c0 = rows[moving], c2[moving], c1[moving], c0[moving]
    return root


def _adjugate(k: Doubles, root: Doubles) -> tuple[Doubles, npt.NDArray[np.bool_]]:
    """Unit eigenvectors (M, 4) from the adjugate of K - root, and which of them are certain."""
    m = k.copy()
    for i in range(4):
        m[i, i] -= root
    s, c = _minors(m)
    adjugate = np.empty_like(m)
    adjugate[0, 0] = m[1, 1] * c[5] - m[1, 2] * c[4] + m[1, 3] * c[3]
    adjugate[1, 1] = m[0, 0] * c[5] - m[0, 2] * c[2] + m[0, 3] * c[1]
    adjugate[2, 2] = m[3, 0] * s[4] - m[3, 1] * s[2] + m[3, 3] * s[0]
    adjugate[3, 3] = m[2, 0] * s[3] - m[2, 1] * s[1] + m[2, 2] * s[0]
    adjugate[0, 1] = adjugate[1, 0] = -m[0, 1] * c[5] + m[0, 2] * c[4] - m[0, 3] * c[3]
    adjugate[0, 2] = adjugate[2, 0] = m[3, 1] * s[5] - m[3, 2] * s[4] + m[3, 3] * s[3]
    adjugate[0, 3] = adjugate[3, 0] = -m[2, 1] * s[5] + m[2, 2] * s[4] - m[2, 3] * s[3]
    adjugate[1, 2] = adjugate[2, 1] = -m[3, 0] * s[5] + m[3, 2] * s[2] - m[3, 3] * s[1]
    adjugate[1, 3] = adjugate[3, 1] = m[2, 0] * s[5] - m[2, 2] * s[2] + m[2, 3] * s[1]
    adjugate[2, 3] = adjugate[3, 2] = -m[2, 0] * s[4] + m[2, 1] * s[2] - m[2, 3] * s[0]
    # The adjugate is the eigenvector times itself: its column of the largest diagonal entry is the best conditioned.
    best = np.abs(np.einsum("iim->im", adjugate)).argmax(axis=0)
    q = adjugate[:, best, np.arange(k.shape[2])].T
    norm = np.linalg.norm(q, axis=1)
    sure = norm > _SURE
    q = q / np.where(norm > 0, norm, 1.0)[:, None]
    # It must be an eigenvector, whatever the rounding did on the way.
    rest = np.abs((m * q.T).sum(axis=1)).max(axis=0)
    return q, sure & (rest < 1e-7)


def matrices(q: Doubles) -> Doubles:
    """Unit quaternions (..., 4) w x y z to rotations (..., 3, 3)."""
    w, x, y, z = np.ascontiguousarray(np.moveaxis(q, -1, 0))
    # The entries first in memory: what works with them one by one is several times faster so.
    result = np.empty((3, 3, *q.shape[:-1]))
    result[0, 0] = 1 - 2 * (y * y + z * z)
    result[0, 1] = 2 * (x * y - w * z)
    result[0, 2] = 2 * (x * z + w * y)
    result[1, 0] = 2 * (x * y + w * z)
    result[1, 1] = 1 - 2 * (x * x + z * z)
    result[1, 2] = 2 * (y * z - w * x)
    result[2, 0] = 2 * (x * z - w * y)
    result[2, 1] = 2 * (y * z + w * x)
    result[2, 2] = 1 - 2 * (x * x + y * y)
    return np.moveaxis(result, (0, 1), (-2, -1))


def continuous(q: Doubles) -> Doubles:
    """Quaternions (N, ..., 4) with signs such that no frame turns the long way round from the one before."""
    if not len(q):
        return q
    dots = np.einsum("n...i,n...i->n...", q[1:], q[:-1])
    first = np.where(q[:1, ..., 0] < 0, -1.0, 1.0)
    signs = np.concatenate([first, np.where(dots < 0, -1.0, 1.0)])
    return q * np.cumprod(signs, axis=0)[..., None]


def centres(bodies: Bodies, rest: Doubles, weight: Doubles) -> Doubles:
    """Weighted centres (B, 3) of a sorted shape (V, 3)."""
    total = bodies.sums(weight)
    return np.asarray(bodies.sums(rest * weight[:, None]) / np.where(total > 0, total, 1.0)[:, None], np.float64)


@dataclass(frozen=True)
class Correlation:
    """What a fit needs to know of the frames.

    `matrix` (N, B, 3, 3): sums of frame times rest around the centres; `heart` (B, 3): the centre in rest; `middle`
    (N, B, 3): the centre in every frame; `inertia` (B,): sum of squares in rest.
    """

    matrix: Doubles
    heart: Doubles
    middle: Doubles
    inertia: Doubles


def correlate(bodies: Bodies, rest: Doubles, points: Floats, weight: Doubles) -> Correlation:
    """Sums over `rest` (V, 3) and `points` (V, 3, N), both sorted, with `weight` (V,)."""
    count = points.shape[2]
    heart = centres(bodies, rest, weight)
    matrix = np.zeros((bodies.count, 3, 3, count))
    middle = np.zeros((bodies.count, 3, count))
    inertia = np.zeros(bodies.count)
    total = bodies.sums(weight)
    for number, rows in enumerate(bodies.slices()):
        if rows.start == rows.stop:
            continue
        arm = rest[rows] - heart[number]
        inertia[number] = float((arm * arm * weight[rows, None]).sum())
        # One product gives the correlations and the centre: (4, n) by (n, 3N).
        left = np.concatenate([arm, np.full((len(arm), 1), 1.0 / total[number])], axis=1) * weight[rows, None]
        # Coordinates relative to one vertex, so that single precision loses nothing to the distance from the origin.
        anchor = points[rows.start]
        product = left.T.astype(np.float32) @ (points[rows] - anchor).reshape(len(arm), -1)
        product = product.reshape(4, 3, count)
        matrix[number] = product[:3].transpose(1, 0, 2)
        middle[number] = product[3] + anchor
    return Correlation(matrix.transpose(3, 0, 1, 2), heart, middle.transpose(2, 0, 1), inertia)


def thin(bodies: Bodies, rest: Doubles, weight: Doubles) -> npt.NDArray[np.bool_]:
    """Bodies (B,) whose vertices do not settle a rotation: one, two, or all on a line; arrays sorted."""
    arm = rest - np.repeat(centres(bodies, rest, weight), bodies.sizes, axis=0)
    scatter = bodies.sums(arm[:, :, None] * arm[:, None, :] * weight[:, None, None])
    return np.asarray(np.linalg.eigvalsh(scatter)[:, 1] < THIN)


def fit(bodies: Bodies, rest: Doubles, points: Floats, weight: Doubles) -> Motion:
    """The motion of every body that carries `rest` to `points` best; arrays as for `correlate`.

    What a thin body leaves open is settled by turning as little as possible.
    """
    found = correlate(bodies, rest, points, weight)
    matrix = found.matrix + THIN * thin(bodies, rest, weight)[:, None, None] * np.eye(3)
    return motion(quaternions(matrix), found)


def motion(q: Doubles, found: Correlation, scale: Doubles | None = None) -> Motion:
    """The motion with rotations `q` (N, B, 4) and scales (N, B) that carries the centres to where they are."""
    rotation = matrices(q)
    size = np.ones(q.shape[:2]) if scale is None else scale
    away = (rotation * found.heart[:, None]).sum(axis=-1) * size[..., None]
    return Motion(q, rotation, found.middle - away, size)


def scales(found: Correlation, rotation: Doubles) -> Doubles:
    """The least-squares scale of every body in every frame, (N, B); 1 for bodies without extent."""
    along = np.einsum("nbij,nbij->nb", rotation, found.matrix)
    known = found.inertia > 1e-9
    return np.where(known, along / np.where(known, found.inertia, 1.0), 1.0)


def carried(bodies: Bodies, rest: Doubles, moved: Motion) -> Floats:
    """`rest` (V, 3) in every frame, sorted, (V, 3, N)."""
    count = len(moved.translation)
    # [R | t] as (B, 4, 3, N), so that each body is one product of (n, 4) by (4, 3N).
    turned = moved.rotation * moved.scale[..., None, None]
    columns = np.concatenate([turned, moved.translation[..., None]], axis=3).astype(np.float32).transpose(1, 3, 2, 0)
    result = np.empty((len(rest), 3, count), np.float32)
    whole = np.concatenate([rest, np.ones((len(rest), 1))], axis=1).astype(np.float32)
    for number, rows in enumerate(bodies.slices()):
        if rows.start != rows.stop:
            product = whole[rows] @ np.ascontiguousarray(columns[number]).reshape(4, -1)
            result[rows] = product.reshape(-1, 3, count)
    return result


def brought_back(bodies: Bodies, points: Floats, moved: Motion) -> Floats:
    """Every frame undone to the rest pose, sorted, (V, 3, N)."""
    result = np.empty_like(points)
    for number, rows in enumerate(bodies.slices()):
        if rows.start == rows.stop:
            continue
        turn = moved.rotation[:, number] / np.maximum(moved.scale[:, number], 1e-6)[:, None, None]
        turn = np.ascontiguousarray(turn.transpose(1, 2, 0), np.float32)
        away = points[rows] - moved.translation[:, number].T.astype(np.float32)
        for axis in range(3):
            result[rows, axis] = (away * turn[:, axis]).sum(axis=1)
    return result
