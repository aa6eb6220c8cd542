# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape that rigid bodies carry through all frames, and vertices that follow another body than their owner's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rigid
from .rigid import Bodies, Doubles, Floats, Ints, Motion

_ROUNDS = 6
_ENOUGH = 64  # frames that tell a placeholder from a pose
_SETTLED = 0.004  # file units; a tenth of the scatter of truncated coordinates, and less
_SOFT = 0.25  # file units; vertices that miss by more count less in the fit of their body
_USABLE = 0.25  # file units within which the base pose must repeat the shape of the bodies
_SAME = 0.07  # a base position closer than that to the fitted one is the fitted one: a step and a little


@dataclass(frozen=True)
class Shape:
    """Bodies with the shape of each, `shape` (V, 3) sorted, and the weights of the fits, (V,) sorted."""

    bodies: Bodies
    shape: Doubles
    weight: Doubles


def refined(bodies: Bodies, base: Doubles, sample: Floats, *, reassign: bool) -> Shape:
    """Shapes that fit all frames of the sample (V, 3, N) in file order, and vertices where they belong."""
    points = sample[bodies.order]
    shape = Shape(bodies, _start(bodies, base[bodies.order], points), np.ones(len(base)))
    shape = _rounds(shape, points, _ROUNDS)
    if reassign:
        body = _followed(shape, points)
        if (body != bodies.body).any():
            moved = Bodies.of(body, bodies.count)
            back = np.empty_like(bodies.order)
            back[bodies.order] = np.arange(len(back))
            # The shape of a vertex in its new body comes out of the next rounds; its first frame starts it.
            again = sample[moved.order]
            fresh = _placed(shape, moved, back, points)
            shape = _rounds(Shape(moved, fresh, np.ones(len(base))), again, 2)
    return shape


def _start(bodies: Bodies, base: Doubles, points: Floats) -> Doubles:
    """The base pose or the first frame, whichever fits a body better: base poses are often placeholders."""
    first = points[:, :, 0].astype(np.float64)
    weight = np.ones(len(base))
    points = rigid.some_of(points, _ENOUGH)
    errors = []
    for rest in (base, first):
        moved = rigid.fit(bodies, rest, points, weight)
        errors.append(bodies.sums(((rigid.carried(bodies, rest, moved) - points) ** 2).sum(axis=1).mean(axis=1)))
    chosen = errors[0] < errors[1]
    return np.where(np.repeat(chosen, bodies.sizes)[:, None], base, first)


def _rounds(shape: Shape, points: Floats, count: int) -> Shape:
    """Fit, bring all frames back, take their median, and count soft vertices less."""
    bodies, rest, weight = shape.bodies, shape.shape, shape.weight
    for number in range(count):
        moved = rigid.fit(bodies, rest, points, weight)
        before = rest
        rest = np.median(rigid.brought_back(bodies, points, moved), axis=2).astype(np.float64)
        if number:
            if np.abs(rest - before).max() < _SETTLED:
                break
            square = ((rigid.carried(bodies, rest, moved) - points) ** 2).sum(axis=1).mean(axis=1)
            weight = 1.0 / (1.0 + square.astype(np.float64) / _SOFT**2)
    return Shape(bodies, rest, weight)


def _spreads(points: Floats, moved: Motion) -> tuple[Doubles, Doubles]:
    """How far every vertex wanders within every body (V, B), and its mean place there (V, B, 3); sorted rows.

    |R^T (x - t)| = |x - t|, so that both come out of one product of all vertices by all bodies.
    """
    count = points.shape[2]
    columns = np.concatenate([moved.rotation, moved.translation[..., None]], axis=3)
    flat = points.reshape(len(points), -1).astype(np.float64)
    product = flat @ columns.transpose(2, 0, 1, 3).reshape(3 * count, -1)
    product = product.reshape(len(points), -1, 4)
    own = np.einsum("nbij,nbi->bj", columns, moved.translation)
    mean = (product[:, :, :3] - own[:, :3]) / count
    square = (flat * flat).sum(axis=1)[:, None] + own[:, 3] - 2.0 * product[:, :, 3]
    return np.sqrt(np.maximum(square / count - (mean * mean).sum(axis=2), 0.0)), mean


def _followed(shape: Shape, points: Floats) -> Ints:
    """The body that each vertex follows, (V,) in file order: its own unless another one is clearly better."""
    bodies = shape.bodies
    result = bodies.body.copy()
    moved = rigid.fit(bodies, shape.shape, points, shape.weight)
    misses = np.sqrt(((rigid.carried(bodies, shape.shape, moved) - points) ** 2).sum(axis=1).mean(axis=1))
    step = max(1, (1 << 22) // max(1, 4 * bodies.count + 3 * points.shape[2]))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        part = bodies.order[rows]
        error, _mean = _spreads(points[rows], moved)
        error[:, bodies.sizes < 3] = np.inf
        own = misses[rows]
        best = error.argmin(axis=1)
        least = error[np.arange(len(part)), best]
        better = (own > 0.15) & (least < 0.4 * own) & (best != bodies.body[part])
        result[part[better]] = best[better]
    # Single vertices only: a body that most vertices would leave is no body with strays but something soft.
    left = np.bincount(bodies.body[result != bodies.body], minlength=bodies.count)
    stays = 2 * left > bodies.sizes
    return np.where(stays[bodies.body], bodies.body, result)


def _placed(shape: Shape, moved: Bodies, back: Ints, points: Floats) -> Doubles:
    """The shape in the order of `moved`; re-assigned vertices at their mean place in the new body."""
    motion = rigid.fit(shape.bodies, shape.shape, points, shape.weight)
    result = shape.shape[back[moved.order]]
    changed = np.flatnonzero(moved.body != shape.bodies.body)
    _error, mean = _spreads(points[back[changed]], motion)
    place = np.empty_like(back)
    place[moved.order] = np.arange(len(back))
    result[place[changed]] = mean[np.arange(len(changed)), moved.body[changed]]
    return result


def posed(shape: Shape, base: Doubles, sample: Floats) -> tuple[Doubles, bool]:
    """One rest pose (V, 3) in file order, and whether it is the base pose: every body moved to where it is there."""
    bodies = shape.bodies
    if not sample.shape[2]:
        return base, True
    for pose, is_base in ((base, True), (sample[:, :, 0].astype(np.float64), False)):
        target = pose[bodies.order]
        there = rigid.fit(bodies, shape.shape, target[:, :, None].astype(np.float32), shape.weight)
        fitted = rigid.carried(bodies, shape.shape, there)[:, :, 0].astype(np.float64)
        away = np.linalg.norm(fitted - target, axis=1)
        if not is_base or (away <= _USABLE).mean() >= 0.9:
            break
    if is_base:
        # The base pose is not quantised, so where it agrees it is the better shape, and the mesh stays as it was.
        fitted = np.where((away <= _SAME)[:, None], target, fitted)
    rest = np.empty_like(base)
    rest[bodies.order] = fitted
    return rest, is_base
