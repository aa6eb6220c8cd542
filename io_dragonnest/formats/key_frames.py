# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks of many bones at once: on the near side, with frames between far keys, without those that add nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import sampling, space

if TYPE_CHECKING:
    from .space import Floats

# Blender blends quaternions by their components. Over a turn of x radians that is off from the arc by 0.004 x^3 at the
# most: by 0.0007 degrees over 8 degrees.
WIDEST = np.deg2rad(8.0)
ARC = 1e-4  # radians that arcs may be off from it, at whole frames
_ROUNDS = 64
MOST_FRAMES = 1 << 16  # a track that is spread out over every frame has no more
FARTHEST = 1_048_574  # frame that Blender can hold


def near_side(quaternions: Floats) -> Floats:
    """(t, n, 4) with signs so that each key is on the near side of the one before, the first with w >= 0."""
    found = np.asarray(quaternions, np.float64)
    if not found.shape[1]:
        return found
    signs: Floats = np.ones(found.shape[:2])
    signs[:, 0] = np.where(found[:, 0, 0] < 0, -1.0, 1.0)
    if found.shape[1] > 1:
        dots = np.einsum("tnk,tnk->tn", found[:, 1:], found[:, :-1])
        signs[:, 1:] = np.where(dots < 0, -1.0, 1.0)
        signs = np.asarray(np.cumprod(signs, axis=1), np.float64)
    return np.asarray(found * signs[..., None], np.float64)


def wide_steps(frames: npt.NDArray[Any], quaternions: Floats) -> npt.NDArray[np.bool_]:
    """(t,) whether a track (t, n, 4) on the near side turns too far between keys that have frames between them."""
    if quaternions.shape[1] < 2:
        return np.zeros(len(quaternions), bool)
    far = angles(quaternions) > WIDEST
    return np.asarray((far & (np.diff(frames) > 1)).any(axis=1), bool)


def angles(quaternions: Floats) -> Floats:
    """(..., n - 1) radians between neighbours of (..., n, 4)."""
    dots = np.einsum("...nk,...nk->...n", quaternions[..., 1:, :], quaternions[..., :-1, :])
    return np.asarray(2.0 * np.arccos(np.abs(dots).clip(max=1.0)), np.float64)


def filled(frames: npt.NDArray[Any], quaternions: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """A track (n,), (n, 4) with keys on whole frames of the arc in between, so that no step is wider than `WIDEST`."""
    first = np.asarray(frames, np.int64)
    gap, step = np.diff(first), angles(quaternions)
    every = np.maximum(np.floor(gap * WIDEST / np.maximum(step, 1e-9)), 1).astype(np.int64)
    more = np.where(step > WIDEST, (gap - 1) // every, 0)
    if not more.any() or more.sum() > MOST_FRAMES:
        return first, quaternions
    segment = np.repeat(np.arange(len(gap)), more)
    number = np.arange(len(segment)) - np.repeat(np.cumsum(more) - more, more) + 1
    at = first[segment] + number * every[segment]
    between = sampling.slerp(quaternions[segment], quaternions[segment + 1], (at - first[segment]) / gap[segment])
    order = np.argsort(np.concatenate((first, at)), kind="stable")
    # A slerp starts from its first key and so stays on its side.
    return np.concatenate((first, at))[order], np.concatenate((quaternions, between))[order]


def arced(frames: npt.NDArray[Any], quaternions: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """A track (n,), (n, 4) that Blender blends by components, with the keys it takes to show the same along arcs.

    Blender goes from a key to the next as their signs say, the long way too. At whole frames the result is within
    `ARC` radians of that.
    """
    first, wide = np.asarray(frames, np.int64), np.asarray(quaternions, np.float64)
    turns = space.unit(wide)
    if len(first) < 2:
        return first, turns
    away = (angles(turns) > WIDEST) | (np.einsum("nk,nk->n", turns[1:], turns[:-1]) < 0)
    if not (away & (np.diff(first) > 1)).any() or first[-1] - first[0] >= MOST_FRAMES:
        return first, near_side(turns[None])[0]
    every = np.arange(first[0], first[-1] + 1)
    shown = space.unit(np.stack([np.interp(every, first, wide[:, axis]) for axis in range(4)], axis=1))
    keep = np.flatnonzero(needed(shown[None], "rotation", ARC, first - first[0])[0])
    return every[keep], near_side(shown[None, keep])[0]


def spread(frames: npt.NDArray[Any], values: Floats, kind: str) -> tuple[npt.NDArray[np.int64], Floats]:
    """A track with several keys at one frame as one with a key at every frame, which shows the same at each.

    Where it is too long for that, the last key of each frame is taken.
    """
    first = np.asarray(frames, np.int64)
    if abs(int(first[0])) > FARTHEST or abs(int(first[-1])) > FARTHEST:
        at = np.unique(first.clip(-FARTHEST, FARTHEST))
        return at, sampling.curve(kind, frames, values[None], at.astype(np.float64))[0]
    last = np.append(first[1:] != first[:-1], True)
    if last.all():
        return first, values
    if first[-1] - first[0] >= MOST_FRAMES:
        return first[last], values[last]
    at = np.arange(first[0], first[-1] + 1)
    return at, sampling.curve(kind, frames, values[None], at.astype(np.float64))[0]


def held(values: Floats, tolerance: float = 0.0) -> npt.NDArray[np.bool_]:
    """(t,) whether a track (t, n, k) never leaves its first value by more than `tolerance`."""
    if not values.shape[1]:
        return np.ones(len(values), bool)
    return np.asarray((np.abs(values - values[:, :1]) <= tolerance).all(axis=(1, 2)), bool)


def steps(values: Floats, tolerance: float = 0.0) -> npt.NDArray[np.bool_]:
    """(t, n) the frames of stepped tracks (t, n, k) at which the value has to change; the first one always.

    With a tolerance the value that was kept may be that far off; one pass over the frames, all tracks at once.
    """
    keep = np.zeros(values.shape[:2], bool)
    if not values.shape[1]:
        return keep
    keep[:, 0] = True
    if tolerance <= 0:
        keep[:, 1:] = (values[:, 1:] != values[:, :-1]).any(axis=2)
        return keep
    shown = values[:, 0].copy()
    for frame in range(1, values.shape[1]):
        far = np.abs(values[:, frame] - shown).max(axis=1) > tolerance
        keep[:, frame] = far
        shown[far] = values[far, frame]
    return keep


def needed(
    values: Floats, kind: str, tolerance: float, fixed: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.bool_]:
    """(t, n) the frames of tracks (t, n, k), a key at every frame, that are enough to come as near as `tolerance`.

    Positions are blended linearly, rotations (x, y, z, w) along the arc, and `tolerance` is in their units or in
    radians. The frames `fixed` (m,) are kept whatever they show. Refines all tracks at once: each round adds, between
    two kept frames, the one that is farthest off.
    """
    tracks, count = values.shape[:2]
    keep = np.zeros((tracks, count), bool)
    if not count:
        return keep
    if tolerance <= 0 or count < 3:
        keep[:] = True
        return keep
    keep[:, [0, -1]] = True
    if fixed is not None:
        keep[:, fixed] = True
    at = np.arange(count)
    for _round in range(_ROUNDS):
        before = np.maximum.accumulate(np.where(keep, at, 0), axis=1)
        after = np.minimum.accumulate(np.where(keep, at, count - 1)[:, ::-1], axis=1)[:, ::-1]
        off = _off(values, before, after, kind)
        off[keep] = 0.0
        far = off > tolerance
        if not far.any():
            return keep
        keep |= _farthest(off, before) & far
    keep |= far
    return keep


def _off(values: Floats, before: npt.NDArray[Any], after: npt.NDArray[Any], kind: str) -> Floats:
    """(t, n) how far what is blended between the frames `before` and `after` (t, n) is from `values`."""
    at = np.arange(values.shape[1])
    way = (at - before) / np.maximum(after - before, 1)
    first = np.take_along_axis(values, before[..., None], 1)
    second = np.take_along_axis(values, after[..., None], 1)
    if kind == "position":
        away = first + (second - first) * way[..., None] - values
        return np.asarray(np.sqrt(np.square(away).sum(axis=2)), np.float64)
    blended = sampling.slerp(first, second, way)
    dots = np.abs(np.einsum("tnk,tnk->tn", blended, values)).clip(max=1.0)
    return np.asarray(2.0 * np.arccos(dots), np.float64)


def _farthest(off: Floats, before: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """(t, n) the frame that is farthest off in each stretch between kept frames."""
    tracks, count = off.shape
    stretch = (np.arange(tracks)[:, None] * count + before).ravel()
    flat = off.ravel()
    best = np.zeros(tracks * count)
    np.maximum.at(best, stretch, flat)
    found = flat == best[stretch]
    # Of equals the first: order of the frames within a stretch is that of the array.
    rows = np.flatnonzero(found)
    _stretch, first = np.unique(stretch[rows], return_index=True)
    out = np.zeros(tracks * count, bool)
    out[rows[first]] = True
    return out.reshape(tracks, count)
