# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of one mesh given to the vertices of another that lies over it.

A vertex that lies on one of the old mesh moves as that one does. Every other one hangs on the nearest place of the old
surface: rigidly on the body there where the vertices of an owner are a body, and on the triangle where they are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import nearest, rigid
from .rigid import Bodies

if TYPE_CHECKING:
    from .nearest import Places
    from .rigid import Doubles, Floats, Ints

_CHUNK = 256  # frames handled at once
_APART = 1.0  # file units: vertices further than this from where their body would take them are not part of it
_RIGID = 0.9  # share of vertices and frames within it that makes a body


@dataclass(frozen=True)
class Attachment:
    """How the vertices of a new mesh hang on an old one.

    `points` (P, 3): where they are in the old rest shape; `same` (P,): the old vertex each one lies on, -1 for none;
    `places`: the nearest place of each; `donor` (P,): the old vertex that speaks for it.
    """

    points: Doubles
    same: Ints
    places: Places
    donor: Ints

    @property
    def new(self) -> Ints:
        """The vertices that lie on no old one."""
        return np.flatnonzero(self.same < 0)

    def moved_to(self, points: Doubles) -> Attachment:
        """The same, with the vertices elsewhere."""
        return Attachment(points, self.same, self.places, self.donor)


def attach(
    points: npt.NDArray[Any],
    vertices: npt.NDArray[Any],
    triangles: npt.NDArray[np.integer],
    body: npt.NDArray[np.integer],
    reach: float,
) -> Attachment:
    """Hang `points` (P, 3) on `triangles` (T, 3) of `vertices` (V, 3), whose bodies are `body` (V,).

    Points within `reach` of a vertex are that vertex.
    """
    same = nearest.coinciding(points, vertices, reach)
    found = nearest.places(points, vertices, triangles)
    return Attachment(np.asarray(points, np.float64), same, found, np.where(same >= 0, same, _donors(found, body)))


def _donors(found: Places, body: npt.NDArray[np.integer]) -> Ints:
    """The corner nearest to each place, of the body that has most of it, (P,)."""
    bodies = body[found.corner]
    share = ((bodies[:, :, None] == bodies[:, None, :]) * found.weight[:, None, :]).sum(axis=2)
    best = (share + 1e-6 * found.weight).argmax(axis=1)
    return np.take_along_axis(found.corner, best[:, None], axis=1)[:, 0]


def reshaped(body: npt.NDArray[np.integer], old: npt.NDArray[Any], new: npt.NDArray[Any], held: Attachment) -> Doubles:
    """Points of `held`, placed over the shape `old` (V, 3), taken to the shape `new` (V, 3), (P, 3)."""
    bodies, dense = _bodies(body)
    target = np.asarray(new, np.float32)[bodies.order][:, :, None]
    moved = rigid.fit(bodies, np.asarray(old, np.float64)[bodies.order], target, np.ones(len(old)))
    mine = dense[held.donor]
    result = np.einsum("pij,pj->pi", moved.rotation[0, mine], held.points) + moved.translation[0, mine]
    on = held.same >= 0
    result[on] = np.asarray(new, np.float64)[held.same[on]]
    return np.asarray(result, np.float64)


def frames(
    body: npt.NDArray[np.integer],
    rest: npt.NDArray[Any],
    old: npt.NDArray[np.float32],
    held: Attachment,
    *,
    blend: bool = False,
) -> npt.NDArray[np.float32]:
    """The frames (N, P, 3) of `held` from those of the mesh it hangs on, `old` (N, V, 3); all in file units.

    `body` (V,): which vertices belong together in `rest` (V, 3). `blend`: between bodies a vertex moves as a mean.
    """
    result = np.empty((len(old), len(held.points), 3), np.float32)
    if not len(old):
        return result
    bodies, dense = _bodies(body)
    shape = np.asarray(rest, np.float64)[bodies.order]
    loose = _loose(bodies, shape, old)
    on, new = np.flatnonzero(held.same >= 0), held.new
    result[:, on] = old[:, held.same[on]]
    solid, soft = new[~loose[dense[held.donor[new]]]], new[loose[dense[held.donor[new]]]]
    corner, weight = held.places.corner, held.places.weight
    share = dense[corner] if blend else np.repeat(dense[held.donor][:, None], 3, axis=1)
    for start in range(0, len(old), _CHUNK):
        part = old[start : start + _CHUNK]
        moved = rigid.fit(bodies, shape, _sorted(bodies, part), np.ones(len(shape)))
        total = np.zeros((len(part), len(solid), 3))
        for side in range(3):
            mine = share[solid, side]
            turned = np.einsum("npij,pj->npi", moved.rotation[:, mine], held.points[solid])
            total += weight[solid, side, None] * (turned + moved.translation[:, mine])
        result[start : start + len(part), solid] = total
        result[start : start + len(part), soft] = _on_triangles(
            np.asarray(rest, np.float64)[corner[soft]], part[:, corner[soft]], weight[soft], held.points[soft]
        )
    return result


def _bodies(body: npt.NDArray[np.integer]) -> tuple[Bodies, Ints]:
    """Bodies numbered from 0 in the order of their own numbers, and that of each vertex."""
    numbers, dense = np.unique(body, return_inverse=True)
    dense = dense.reshape(-1)
    return Bodies.of(dense, len(numbers)), dense


def _sorted(bodies: Bodies, frames_: npt.NDArray[np.float32]) -> Floats:
    return np.ascontiguousarray(frames_[:, bodies.order].transpose(1, 2, 0), np.float32)


def _loose(bodies: Bodies, shape: Doubles, old: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """(B,): bodies that are none, as their vertices do not keep together or are too few to tell how they turn."""
    near = np.zeros(bodies.count)
    for start in range(0, len(old), _CHUNK):
        points = _sorted(bodies, old[start : start + _CHUNK])
        moved = rigid.fit(bodies, shape, points, np.ones(len(shape)))
        distance = np.linalg.norm(rigid.carried(bodies, shape, moved) - points, axis=1)
        near += bodies.sums((distance <= _APART).sum(axis=1))
    share = near / (np.maximum(bodies.sizes, 1) * len(old))
    return np.asarray((share < _RIGID) | rigid.thin(bodies, shape, np.ones(len(shape))), np.bool_)


def _on_triangles(
    rest: Doubles, moved: npt.NDArray[np.float32], weight: Doubles, points: Doubles
) -> npt.NDArray[np.float64]:
    """Points that keep their place over a triangle: `rest` (P, 3, 3), `moved` (N, P, 3, 3), the points (N, P, 3)."""
    away = points - np.einsum("pk,pki->pi", weight, rest)
    local = np.einsum("pij,pi->pj", _axes(rest), away)
    base = np.einsum("pk,npki->npi", weight, moved.astype(np.float64))
    return np.asarray(base + np.einsum("npij,pj->npi", _axes(moved.astype(np.float64)), local), np.float64)


def _axes(corners: Doubles) -> Doubles:
    """Along the first edge, across it and out of the triangle, as columns (..., 3, 3); zeros where there is no area."""
    first = corners[..., 1, :] - corners[..., 0, :]
    out = np.cross(first, corners[..., 2, :] - corners[..., 0, :])
    across = np.cross(out, first)
    axes = np.stack((first, across, out), axis=-1)
    length = np.linalg.norm(axes, axis=-2, keepdims=True)
    return np.asarray(axes / np.where(length > 1e-12, length, np.inf), np.float64)
