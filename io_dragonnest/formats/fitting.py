# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of bones whose links can only translate, rotate and scale along their axes, laid along wanted matrices."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.quaternions import to_quaternions
from . import hierarchy

if TYPE_CHECKING:
    from .space import Floats

_STRAIGHT = 1e-6  # cosines between axes up to which they are at right angles
_ROUNDS = 12


@dataclass(frozen=True, eq=False)
class Links:
    """`locations` (f, b, 3), `quaternions` (f, b, 4) w, x, y, z and `scales` (f, b, 3) for column vectors.

    `reached` (f, b, 4, 4): where the bones get to by them. `carriers`: the links of the bones' carriers, of which only
    those of carried bones mean anything.
    """

    locations: Floats
    quaternions: Floats
    scales: Floats
    reached: Floats
    carriers: Links | None = None


def links(
    wanted: Floats, parents: npt.NDArray[Any], offset: Floats, carried: npt.NDArray[np.bool_] | None = None
) -> Links:
    """The links that bring every bone as near to `wanted` (f, b, 4, 4) as its parent's place allows.

    reached = reached of the parent x inverse of `offset` (b, 4, 4) x link. `parents` (b,) has no loops. The bones
    `carried` (b,) have another one above them, resting where they do, whose link comes before theirs: so they get to
    wherever is wanted, sheared or not.
    """
    frames, count = wanted.shape[:2]
    reached = np.array(wanted, np.float64)
    places, turns, sizes = np.empty((frames, count, 3)), np.empty((frames, count, 4)), np.empty((frames, count, 3))
    hold = (np.zeros_like(places), np.tile([1.0, 0.0, 0.0, 0.0], (frames, count, 1)), np.ones_like(sizes))
    depth = hierarchy.depths(parents)
    for level in range(int(depth.max(initial=-1)) + 1):
        rows = np.flatnonzero(depth == level)
        above = offset[rows]
        if level:
            base = _regular(reached[:, parents[rows]])
            above = offset[rows] @ np.linalg.inv(base)
        link = above @ wanted[:, rows]
        turn, size = rotation_and_scale(link[..., :3, :3])
        places[:, rows], turns[:, rows], sizes[:, rows] = link[..., :3, 3], to_quaternions(turn), size
        link[..., :3, :3] = turn * size[..., None, :]
        reached[:, rows] = np.linalg.inv(_regular(above)) @ link
        here = rows[carried[rows]] if carried is not None else rows[:0]
        if len(here):
            exact = (above @ wanted[:, rows])[:, np.isin(rows, here)]
            outer, hold[2][:, here], inner = stretches(exact[..., :3, :3])
            hold[0][:, here], hold[1][:, here] = exact[..., :3, 3], to_quaternions(outer)
            places[:, here], turns[:, here], sizes[:, here] = 0.0, to_quaternions(inner), 1.0
            reached[:, here] = wanted[:, here]
    return Links(places, turns, sizes, reached, Links(*hold, reached))


def each_link(wanted: Floats, parents: npt.NDArray[Any], offset: Floats) -> Floats:
    """(f, b, 4, 4): where each bone gets to by a link of its own when its parent is where it is wanted."""
    base = np.where((parents >= 0)[:, None, None], wanted[:, np.maximum(parents, 0)], np.eye(4))
    above = offset @ np.linalg.inv(_regular(base))
    link = above @ wanted
    turn, size = rotation_and_scale(link[..., :3, :3])
    link[..., :3, :3] = turn * size[..., None, :]
    return np.asarray(np.linalg.inv(_regular(above)) @ link, np.float64)


def stretches(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """Matrices (f, t, 3, 3) as rotation x scale along axes (f, t, 3) x rotation, from frame to frame on the near side.

    Any matrix is such a product, in many ways where sizes are alike: those are taken that turn least over the frames.
    """
    left, sizes, right = np.linalg.svd(matrices)
    mirrored = np.sign(np.linalg.det(left) * np.linalg.det(right))
    left = left * np.sign(np.linalg.det(left))[..., None, None]
    axes = np.swapaxes(right * np.sign(np.linalg.det(right))[..., None, None], -1, -2)
    turn = left @ np.swapaxes(axes, -1, -2)
    alike = np.ptp(sizes, axis=-1) <= _STRAIGHT * sizes[..., 0]
    before = np.tile(np.eye(3), (matrices.shape[1], 1, 1))
    rows = np.arange(matrices.shape[1])
    for frame in range(len(matrices)):
        options = axes[frame, :, None] @ _TURNS
        best = np.argmax(np.einsum("tij,tkij->tk", before, options), axis=1)
        before = np.where(alike[frame, :, None, None], before, options[rows, best])
        # Of sizes that are alike it does not matter which is which.
        sizes[frame] = np.einsum("tij,ti->tj", np.abs(_TURNS[best]), sizes[frame])
        axes[frame] = before
    return turn @ axes, sizes * mirrored[..., None], np.swapaxes(axes, -1, -2)


def _quarter_turns() -> Floats:
    """(24, 3, 3) the rotations that take axes to axes."""
    every = [
        np.eye(3)[list(order)] * np.array(signs)
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    ]
    return np.array([entry for entry in every if np.linalg.det(entry) > 0])


_TURNS = _quarter_turns()


def _regular(matrices: Floats) -> Floats:
    """Flat matrices with their turning part replaced by the identity."""
    flat = ~(np.abs(np.linalg.det(matrices[..., :3, :3])) > 1e-18)
    if not flat.any():
        return matrices
    out = matrices.copy()
    out[flat, :3, :3] = np.eye(3)
    return out


def rotation_and_scale(matrices: Floats) -> tuple[Floats, Floats]:
    """Rotations (..., 3, 3) and sizes of their columns (..., 3) whose product is nearest to `matrices` (..., 3, 3).

    A matrix that mirrors gets three negative sizes.
    """
    size = np.sqrt(np.square(matrices).sum(axis=-2))
    flat = (size < 1e-12).any(axis=-1)
    turn = matrices / np.where(size < 1e-12, 1.0, size)[..., None, :]
    sign = np.where(np.linalg.det(turn) < 0, -1.0, 1.0)
    turn, size = turn * sign[..., None, None], size * sign[..., None]
    cosines = np.abs(np.swapaxes(turn, -1, -2) @ turn - np.eye(3)).max(axis=(-1, -2), initial=0.0)
    crooked = (cosines > _STRAIGHT) | flat
    if crooked.any():
        turn[crooked], size[crooked] = _nearest(matrices[crooked], size[crooked])
    return turn, size


def _nearest(matrices: Floats, size: Floats) -> tuple[Floats, Floats]:
    """By turns the best rotation for the sizes and the best sizes for the rotation, until nothing is gained."""
    turn = _polar(matrices * np.where(size == 0, 1e-9, size)[..., None, :])
    for _round in range(_ROUNDS):
        size = np.einsum("...ij,...ij->...j", turn, matrices)
        turn = _polar(matrices * np.where(size == 0, 1e-9, size)[..., None, :])
    return turn, np.einsum("...ij,...ij->...j", turn, matrices)


def _polar(matrices: Floats) -> Floats:
    left, _sizes, right = np.linalg.svd(matrices)
    flip = np.linalg.det(left @ right) < 0
    left[flip, :, 2] *= -1.0
    return np.asarray(left @ right, np.float64)


def misses(wanted: Floats, reached: Floats, radius: npt.NDArray[Any]) -> Floats:
    """(b,) how far a point `radius` (b,) away from a bone's head is off at the most, over all frames."""
    away = np.abs(np.asarray(wanted) - reached)
    turn = np.sqrt(np.square(away[..., :3, :3]).sum(axis=(-1, -2)))
    place = np.sqrt(np.square(away[..., :3, 3]).sum(axis=-1))
    return np.asarray((turn * radius + place).max(axis=0, initial=0.0), np.float64)
