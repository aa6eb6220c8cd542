# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints between rigid bodies: who touches whom, the point two bodies keep in common, and which joints make a skeleton.

A joint is the point p of the rest pose that both bodies carry to the same place in every frame: least squares of
(R_a - R_c) p = t_c - t_a. A hinge leaves p free along its axis, and two bodies that never move against each other leave
it free altogether; free directions are settled at the middle of the mesh seam between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .rigid import Bodies, Doubles, Ints, Motion

# Mean square of how far a unit arm swings (about its angle in radians) below which a direction counts as free.
# Rotations of small bodies are noisy by a degree or two; an arm that swings three settles its joint to about a unit.
_FREE = 0.05**2
_TORN = 10.0  # file units of error that weigh as much as a swing of a radian
_CHUNK = 1 << 22  # numbers in one temporary array
_ALL = 64  # up to so many bodies, every two of them are candidates
_NEAREST = 6  # beyond that, so many per body that have no seam
_MOST_POINTS = 8192  # vertices that are compared with each other; the games take 2048, so only huge meshes are thinned


@dataclass(frozen=True)
class Pairs:
    """Bodies that may hang together. All of length P; `first` < `second`.

    `edges`: mesh edges of the seam, 0 without one; `anchor` (P, 3): its middle, or the middle of the gap; `gap`: the
    smallest distance between vertices, 0 with a seam; `spread`: how far the seam reaches around its middle (RMS).
    """

    first: Ints
    second: Ints
    edges: Ints
    anchor: Doubles
    gap: Doubles
    spread: Doubles


@dataclass(frozen=True)
class Joints:
    """`point` (P, 3) in the rest pose; `error` (P,): root mean square distance that it is torn apart, in file units."""

    point: Doubles
    error: Doubles


def mesh_edges(corners: npt.NDArray[np.uint32], rest: Doubles) -> Ints:
    """Unique edges (E, 2) of triangles (F, 3), and of vertices that lie on each other in `rest` (V, 3)."""
    corner = corners.astype(np.int64).reshape(-1, 3)
    parts = [corner[:, [0, 1]], corner[:, [1, 2]], corner[:, [2, 0]]]
    if len(rest) > 1:
        # Models made of separate shells repeat the vertices where the shells meet.
        _, place = np.unique(np.round(rest * 64.0).astype(np.int64), axis=0, return_inverse=True)
        place = place.reshape(-1)
        order = np.argsort(place, kind="stable")
        same = place[order][1:] == place[order][:-1]
        parts.append(np.stack([order[:-1][same], order[1:][same]], axis=1))
    edges = np.sort(np.concatenate(parts), axis=1)
    return np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0).reshape(-1, 2)


def candidates(bodies: Bodies, rest: Doubles, edges: Ints) -> Pairs:
    """Bodies with a seam, and the nearest ones without. `rest` is (V, 3) in file order."""
    seams = _seams(bodies, rest, edges)
    loose = _neighbours(bodies, rest, seams)
    joined = [np.concatenate(values) for values in zip(seams, loose, strict=True)]
    return Pairs(*joined)


def _seams(bodies: Bodies, rest: Doubles, edges: Ints) -> tuple[Ints, Ints, Ints, Doubles, Doubles, Doubles]:
    ends = bodies.body[edges]
    across = ends[:, 0] != ends[:, 1]
    low, high = ends[across].min(axis=1), ends[across].max(axis=1)
    key, index, count = np.unique(low * bodies.count + high, return_inverse=True, return_counts=True)
    middles = rest[edges[across]].mean(axis=1)
    anchor = np.zeros((len(key), 3))
    np.add.at(anchor, index.reshape(-1), middles)
    anchor /= np.maximum(count, 1)[:, None]
    spread = np.zeros(len(key))
    np.add.at(spread, index.reshape(-1), ((middles - anchor[index.reshape(-1)]) ** 2).sum(axis=1))
    spread = np.sqrt(spread / np.maximum(count, 1))
    return (key // bodies.count, key % bodies.count, count, anchor, np.zeros(len(key)), spread)


def _neighbours(
    bodies: Bodies, rest: Doubles, seams: tuple[Ints, Ints, Ints, Doubles, Doubles, Doubles]
) -> tuple[Ints, Ints, Ints, Doubles, Doubles, Doubles]:
    """The nearest bodies of each body, as pairs without a seam."""
    points, starts = _thinned(rest[bodies.order], bodies.start)
    known = set((seams[0] * bodies.count + seams[1]).tolist())
    filled = np.flatnonzero(bodies.sizes)
    most = len(filled) if len(filled) <= _ALL else _NEAREST
    found: dict[int, tuple[float, Doubles]] = {}
    for a in filled.tolist():
        own = slice(int(starts[a]), int(starts[a + 1]))
        square, source = _closest(points[own], points)
        least = np.minimum.reduceat(square, starts[filled])
        nearest = [c for c in filled[np.argsort(least, kind="stable")].tolist() if c != a][:most]
        for c in nearest:
            key = min(a, c) * bodies.count + max(a, c)
            if key in known or key in found:
                continue
            row = int(starts[c]) + int(square[starts[c] : starts[c + 1]].argmin())
            middle = (points[row] + points[own][source[row]]) / 2
            found[key] = (float(np.sqrt(square[row])), middle)
    keys = np.array(sorted(found), np.int64)
    gaps = np.array([found[key][0] for key in keys.tolist()], np.float64)
    anchors = np.array([found[key][1] for key in keys.tolist()], np.float64).reshape(-1, 3)
    return (
        keys // bodies.count,
        keys % bodies.count,
        np.zeros(len(keys), np.int64),
        anchors,
        gaps,
        np.zeros(len(keys)),
    )


def _thinned(points: Doubles, start: Ints) -> tuple[Doubles, Ints]:
    """Every k-th vertex of each body, where there are too many for comparing all with all; and where bodies start."""
    every = -(-len(points) // _MOST_POINTS)
    if every <= 1:
        return points, start
    place = np.arange(len(points)) - np.repeat(start[:-1], np.diff(start))
    kept = place % every == 0
    return points[kept], np.concatenate([[0], np.cumsum(kept)])[start]


def _closest(some: Doubles, points: Doubles) -> tuple[Doubles, Ints]:
    """For each of `points` (V, 3): squared distance to the nearest of `some` (n, 3), and which that is."""
    step = max(1, _CHUNK // max(1, len(some)))
    squares, sources = [], []
    for start in range(0, len(points), step):
        part = points[start : start + step]
        # Axis by axis, and the fewer of the two first: several times faster than sums over three numbers.
        square = np.zeros((len(some), len(part)))
        for axis in range(3):
            away = np.subtract.outer(some[:, axis], part[:, axis])
            square += np.square(away, out=away)
        sources.append(square.argmin(axis=0))
        squares.append(square.min(axis=0))
    return np.concatenate(squares), np.concatenate(sources)


def _forms(pairs: Pairs, tall: Doubles) -> Doubles:
    """(P, 4, 4): the quadratic form in (p, 1) that is the squared distance between the two carried points, summed.

    `tall` is (B, 3N, 4). Some rows of the matrix of all products at a time, so that memory stays bounded.
    """
    bodies = len(tall)
    flat = np.ascontiguousarray(tall.transpose(1, 0, 2)).reshape(tall.shape[1], 4 * bodies)
    own = tall.transpose(0, 2, 1) @ tall
    form = own[pairs.first] + own[pairs.second]
    step = max(1, _CHUNK // max(1, 16 * bodies))
    for start in range(0, bodies, step):
        block = flat[:, 4 * start : 4 * (start + step)].T @ flat
        products = block.reshape(-1, 4, bodies, 4)
        chosen = np.flatnonzero((pairs.first >= start) & (pairs.first < start + step))
        crossed = products[pairs.first[chosen] - start, :, pairs.second[chosen]]
        form[chosen] -= crossed + crossed.transpose(0, 2, 1)
    return np.asarray(form, np.float64)


def solve(pairs: Pairs, moved: Motion) -> Joints:
    """The joint of every pair over all frames of `moved`."""
    count = max(1, len(moved.translation))
    # [R | t] of each body, all frames below each other: (B, 3N, 4).
    columns = np.concatenate([moved.rotation, moved.translation[..., None]], axis=3)
    tall = np.ascontiguousarray(columns.transpose(1, 0, 2, 3)).reshape(columns.shape[1], -1, 4)
    form = _forms(pairs, tall) / count
    # Around the anchor s: p = s + d, least d^T A d + 2 g d.
    a = form[:, :3, :3]
    g = np.einsum("pij,pj->pi", a, pairs.anchor) + form[:, :3, 3]
    values, vectors = np.linalg.eigh(a)
    values = np.maximum(values, 0.0)
    along = np.einsum("pij,pi->pj", vectors, g)
    error = pull = np.zeros(len(form))
    for _ in range(2):
        # A smooth cut, so that nothing jumps when a direction passes the threshold. What is torn apart wherever it is
        # put is no true joint: the second time such points are pulled to the seam, true ones hardly at all.
        inverse = values / (values * values + _FREE * _FREE + values * pull[:, None])
        point = pairs.anchor - np.einsum("pij,pj->pi", vectors, along * inverse)
        whole = np.concatenate([point, np.ones((len(point), 1))], axis=1)
        error = np.sqrt(np.maximum(np.einsum("pi,pij,pj->p", whole, form, whole), 0.0))
        pull = (error / _TORN) ** 2
    return Joints(point, error)
