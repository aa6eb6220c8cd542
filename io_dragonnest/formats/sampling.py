# SPDX-License-Identifier: GPL-3.0-or-later
"""What a track shows at any frame: the reference that scenes are compared with.

No keys: the base. One key: that value at all times. Otherwise positions change linearly, rotations along the shortest
arc, and scales hold until the next key. Before the first key its value holds, after the last one the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import keys, space

if TYPE_CHECKING:
    from .ani import Ani
    from .keys import Record
    from .space import Floats


def ordered(track: npt.NDArray[Any], length: int = 0) -> tuple[npt.NDArray[np.int32], Floats]:
    """Frames (n,) and values (n, k) of a track, sorted by frame; keys that are no numbers are left out.

    Of several keys at one frame all stay, in the order of the file: the last of them is what holds.
    """
    frames, values = keys.frames(track, length), keys.values(track).astype(np.float64)
    good = np.isfinite(values).all(axis=1)
    if not good.all():
        frames, values = frames[good], values[good]
    if len(frames) > 1 and (np.diff(frames) < 0).any():
        order = np.argsort(frames, kind="stable")
        frames, values = frames[order], values[order]
    return frames, values


def _between(
    frames: npt.NDArray[np.int32], at: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]:
    """Key before, key after and the way between them (0 to 1) for every frame of `at`."""
    before = np.searchsorted(frames, at, side="right") - 1
    after = np.minimum(before + 1, len(frames) - 1)
    before = np.maximum(before, 0)
    gap = (frames[after].astype(np.float64) - frames[before]).clip(min=0.0)
    way = np.where(gap > 0, (at - frames[before]) / np.where(gap > 0, gap, 1.0), 0.0)
    return before, after, way.clip(0.0, 1.0)


def positions(record: Record, at: npt.ArrayLike, length: int = 0) -> Floats:
    """(f, 3) relative to the parent at the frames `at` (f,), which may lie between whole ones."""
    wanted = np.asarray(at, np.float64)
    frames, values = ordered(record.positions, length)
    if not len(frames):
        return _still(record.base_position, np.zeros(3), len(wanted))
    before, after, way = _between(frames, wanted)
    return values[before] + (values[after] - values[before]) * way[:, None]


def rotations(record: Record, at: npt.ArrayLike, length: int = 0) -> Floats:
    """(f, 4) unit quaternions x, y, z, w at the frames `at` (f,)."""
    wanted = np.asarray(at, np.float64)
    frames, values = ordered(record.rotations, length)
    if not len(frames):
        return space.unit(_still(record.base_rotation, np.array((0.0, 0.0, 0.0, 1.0)), len(wanted)))
    before, after, way = _between(frames, wanted)
    values = space.unit(values)
    return slerp(values[before], values[after], way)


def scales(record: Record, at: npt.ArrayLike, length: int = 0) -> Floats:
    """(f, 3) factors at the frames `at` (f,)."""
    wanted = np.asarray(at, np.float64)
    frames, values = ordered(record.scales, length)
    if not len(frames):
        return _still(record.base_scale, np.ones(3), len(wanted))
    held = np.maximum(np.searchsorted(frames, wanted, side="right") - 1, 0)
    return np.asarray(values[held], np.float64)


def slerp(first: npt.NDArray[Any], second: npt.NDArray[Any], way: npt.NDArray[Any]) -> Floats:
    """Unit quaternions (f, 4) between two others, `way` (f,) from 0 to 1, along the shortest arc."""
    dot = np.einsum("ij,ij->i", first, second)
    second = np.where(dot[:, None] < 0, -second, second)
    angle = np.arccos(np.abs(dot).clip(max=1.0))
    sine = np.sin(angle)
    near = sine < 1e-6  # where the arc is as good as its chord
    safe = np.where(near, 1.0, sine)
    one = np.where(near, 1.0 - way, np.sin((1.0 - way) * angle) / safe)
    other = np.where(near, way, np.sin(way * angle) / safe)
    return space.unit(first * one[:, None] + second * other[:, None])


def _still(base: npt.NDArray[Any], default: npt.NDArray[Any], many: int) -> Floats:
    value = np.asarray(base, np.float64)
    return np.repeat((value if np.isfinite(value).all() else default)[None], many, axis=0)


@dataclass(frozen=True, eq=False)
class Motion:
    """All bones of a clip relative to their parents.

    `positions` (f, b, 3), `rotations` (f, b, 4) unit, x, y, z, w, `scales` (f, b, 3).
    """

    positions: Floats
    rotations: Floats
    scales: Floats

    def matrices(self) -> Floats:
        """(f, b, 4, 4) for row vectors."""
        return space.matrix(self.positions, self.rotations, self.scales)


def sample(found: Ani, clip: int, at: npt.ArrayLike) -> Motion:
    """Every bone of `found` in clip number `clip` at the frames `at` (f,)."""
    wanted = np.asarray(at, np.float64)
    length = int(found.lengths[clip])
    shape = (len(wanted), len(found.records))
    motion = Motion(np.empty((*shape, 3)), np.empty((*shape, 4)), np.empty((*shape, 3)))
    for row, records in enumerate(found.records):
        motion.positions[:, row] = positions(records[clip], wanted, length)
        motion.rotations[:, row] = rotations(records[clip], wanted, length)
        motion.scales[:, row] = scales(records[clip], wanted, length)
    return motion


def base(found: Ani, clip: int = 0) -> Motion:
    """The base transforms as a motion of one frame: in real files the bind pose. Identity where there is no clip."""
    blank = keys.Record()
    records = [bone[clip] if clip < len(bone) else blank for bone in found.records]
    many = len(records)
    place = np.array([record.base_position for record in records], np.float64).reshape(1, many, 3)
    turn = np.array([record.base_rotation for record in records], np.float64).reshape(1, many, 4)
    size = np.array([record.base_scale for record in records], np.float64).reshape(1, many, 3)
    return Motion(
        np.nan_to_num(place, posinf=0.0, neginf=0.0),
        space.unit(turn),
        np.where(np.isfinite(size).all(axis=-1, keepdims=True), size, 1.0),
    )
