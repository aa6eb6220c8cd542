# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest place on a surface of triangles for many points at once, with bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .rigid import Doubles, Ints

_TABLE = 1 << 20  # distances held at once
_PAIRS = 1 << 17  # points and triangles measured against each other at once


@dataclass(frozen=True)
class Places:
    """Places on a surface, one per point.

    `corner` (P, 3): the vertices of the triangle, one vertex three times where it belongs to no triangle; `weight`
    (P, 3): barycentric, none negative, their sum 1; `distance` (P,) from the point.
    """

    corner: Ints
    weight: Doubles
    distance: Doubles


def places(points: npt.NDArray[Any], vertices: npt.NDArray[Any], triangles: npt.NDArray[np.integer]) -> Places:
    """The place nearest to each of `points` (P, 3) on `triangles` (T, 3) of `vertices` (V, 3), of which there are some.

    Vertices that belong to no triangle count as places too. Of places equally near the one of the first triangle wins.
    """
    shape = np.asarray(vertices, np.float64)
    alone = np.setdiff1d(np.arange(len(shape)), triangles)
    surface = np.concatenate([np.asarray(triangles, np.int64).reshape(-1, 3), np.repeat(alone[:, None], 3, axis=1)])
    corners = shape[surface]
    centre = corners.mean(axis=1)
    radius = np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)
    wanted = np.asarray(points, np.float64)
    chosen = np.zeros(len(wanted), np.int64)
    weight = np.zeros((len(wanted), 3))
    distance = np.zeros(len(wanted))
    step = max(1, _TABLE // max(len(surface), len(shape)))
    margin = 1e-6 * (1.0 + float(np.abs(np.ptp(np.concatenate([shape, wanted]), axis=0)).max()))
    for start in range(0, len(wanted), step):
        part = slice(start, start + step)
        some = wanted[part]
        reach = _distances(some, shape).min(axis=1)
        row, triangle = np.nonzero(_distances(some, centre) - radius <= reach[:, None] + margin)
        chosen[part], weight[part], distance[part] = _best(some, corners, row, triangle)
    return Places(surface[chosen], weight, distance)


def closest(points: npt.NDArray[Any], vertices: npt.NDArray[Any]) -> tuple[Ints, Doubles]:
    """For each of `points` (P, 3) the number of the nearest of `vertices` (V, 3), and its distance; both (P,)."""
    wanted, shape = np.asarray(points, np.float64), np.asarray(vertices, np.float64)
    number = np.zeros(len(wanted), np.int64)
    step = max(1, _TABLE // max(len(shape), 1))
    for start in range(0, len(wanted), step):
        number[start : start + step] = _distances(wanted[start : start + step], shape).argmin(axis=1)
    return number, np.linalg.norm(wanted - shape[number], axis=1)


def coinciding(points: npt.NDArray[Any], vertices: npt.NDArray[Any], reach: float) -> Ints:
    """(P,): which of `vertices` (V, 3) each of `points` (P, 3) lies on, within `reach`; -1 for none.

    Where several vertices share a place, so do most often the points: the first point there takes the first of them.
    """
    number, distance = closest(points, vertices)
    on = np.flatnonzero(distance <= reach)
    result = np.full(len(points), -1, np.int64)
    if not len(on):
        return result
    cell = np.round(np.asarray(vertices, np.float64) / max(reach, 1e-12)).astype(np.int64)
    _cells, place = np.unique(cell, axis=0, return_inverse=True)
    place = place.reshape(-1)
    members = np.argsort(place, kind="stable")
    first = np.searchsorted(place[members], np.arange(place.max() + 2))
    mine = place[number[on]]
    order = np.argsort(mine, kind="stable")
    rank = np.empty(len(on), np.int64)
    rank[order] = np.arange(len(on)) - np.searchsorted(mine[order], mine[order])
    result[on] = members[np.minimum(first[mine] + rank, first[mine + 1] - 1)]
    return result


def _distances(points: Doubles, targets: Doubles) -> Doubles:
    """(P, V) distances, good to about 1e-7 of the extent."""
    middle = targets.mean(axis=0) if len(targets) else np.zeros(3)
    a, b = points - middle, targets - middle
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)), np.float64)


def _best(points: Doubles, corners: Doubles, row: Ints, triangle: Ints) -> tuple[Ints, Doubles, Doubles]:
    """The nearest of the candidate triangles of each point: number (n,), weights (n, 3), distance (n,)."""
    weight, distance = np.empty((len(row), 3)), np.empty(len(row))
    for start in range(0, len(row), _PAIRS):
        part = slice(start, start + _PAIRS)
        three, point = corners[triangle[part]], points[row[part]]
        weight[part] = barycentric(point, three)
        distance[part] = np.linalg.norm((weight[part, :, None] * three).sum(axis=1) - point, axis=1)
    order = np.lexsort((triangle, distance, row))
    winner = order[np.unique(row[order], return_index=True)[1]]
    return triangle[winner], weight[winner], distance[winner]


def barycentric(points: Doubles, corners: Doubles) -> Doubles:
    """Weights (n, 3) of the place on triangles `corners` (n, 3, 3) that is nearest to `points` (n, 3).

    By the region of the plane that a point is over (Ericson 2005, 5.1.5); triangles without area are edges or points.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, ac = b - a, c - a
    d1, d2 = _dot(ab, points - a), _dot(ac, points - a)
    d3, d4 = _dot(ab, points - b), _dot(ac, points - b)
    d5, d6 = _dot(ab, points - c), _dot(ac, points - c)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    on_ab, on_ac = _ratio(d1, d1 - d3), _ratio(d2, d2 - d6)
    on_bc = _ratio(d4 - d3, (d4 - d3) + (d5 - d6))
    total = va + vb + vc
    none, all_ = np.zeros(len(points)), np.ones(len(points))
    regions = [
        (d1 <= 0) & (d2 <= 0),
        (d3 >= 0) & (d4 <= d3),
        (d6 >= 0) & (d5 <= d6),
        (vc <= 0) & (d1 >= 0) & (d3 <= 0) & (d1 > d3),  # an edge without length is no edge
        (vb <= 0) & (d2 >= 0) & (d6 <= 0) & (d2 > d6),
        (va <= 0) & (d4 >= d3) & (d5 >= d6),
    ]
    second = np.select(regions, [none, all_, none, on_ab, none, 1 - on_bc], _ratio(vb, total))
    third = np.select(regions, [none, none, all_, none, on_ac, on_bc], _ratio(vc, total))
    weight = np.clip(np.stack((1 - second - third, second, third), axis=1), 0.0, 1.0)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True), np.float64)


def _dot(first: Doubles, second: Doubles) -> Doubles:
    return np.asarray(np.einsum("ni,ni->n", first, second), np.float64)


def _ratio(part: Doubles, whole: Doubles) -> Doubles:
    known = np.abs(whole) > 1e-300
    return np.where(known, part / np.where(known, whole, 1.0), 0.0)
