# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a clip carries its root bones along the ground, taken out of their tracks.

The game itself applies only the height of the root and gives the way along the ground to the code that moves things.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import hierarchy, keys, sampling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .ani import Ani
    from .keys import Record
    from .space import Floats

STORED, IN_PLACE, OBJECT = "STORED", "IN_PLACE", "OBJECT"
_GROUND = [0, 2]  # x and z of a file


@dataclass(frozen=True, eq=False)
class Way:
    """How far a clip goes from frame 0: `frames` (n,) and `places` (n, 3) in file axes, of which y is 0."""

    frames: npt.NDArray[np.int32]
    places: Floats


def main_root(parents: npt.NDArray[Any]) -> int:
    """The root that carries the most bones, -1 without any bone."""
    if not len(parents):
        return -1
    top = np.arange(len(parents))
    for row in hierarchy.order(parents).tolist():
        if parents[row] >= 0:
            top[row] = top[parents[row]]
    return int(np.argmax(np.bincount(top)))


def held(found: Ani, roots: Sequence[int]) -> Ani:
    """`found` with the bones `roots` kept over where they stand at frame 0 of each clip."""
    out = list(found.records)
    for row in roots:
        out[row] = [_held(record, int(length)) for record, length in zip(out[row], found.lengths, strict=True)]
    return replace(found, records=out)


def _held(record: Record, length: int) -> Record:
    frames, values = sampling.ordered(record.positions, length)
    if not len(frames):
        return record
    values[:, _GROUND] = sampling.positions(record, [0.0], length)[0][_GROUND]
    return _with(record, frames, values)


def taken_out(found: Ani, roots: Sequence[int], main: int) -> tuple[Ani, list[Way]]:
    """`found` without the way of its bone `main`, which is taken from all `roots`, and that way, for each clip."""
    out = list(found.records)
    ways: list[Way] = []
    changed: dict[int, list[Record]] = {row: [] for row in roots}
    for clip, length in enumerate(found.lengths.tolist()):
        gone = way(out[main][clip], length)
        ways.append(gone)
        for row in roots:
            changed[row].append(_without(out[row][clip], length, gone))
    for row, records in changed.items():
        out[row] = records
    return replace(found, records=out), ways


def way(record: Record, length: int) -> Way:
    """How far a bone goes along the ground from frame 0; without frames where it stays."""
    frames, values = sampling.ordered(record.positions, length)
    places = np.zeros((len(frames), 3))
    if len(frames):
        places[:, _GROUND] = (values - sampling.positions(record, [0.0], length)[0])[:, _GROUND]
    if not places.any():
        return Way(frames[:0], places[:0])
    return Way(frames, places)


def _without(record: Record, length: int, gone: Way) -> Record:
    if not len(gone.frames):
        return record
    own, _values = sampling.ordered(record.positions, length)
    frames = np.union1d(own, gone.frames).astype(np.int32)
    away = np.stack([np.interp(frames, gone.frames, gone.places[:, axis]) for axis in range(3)], axis=1)
    return _with(record, frames, sampling.positions(record, frames, length) - away)


def _with(record: Record, frames: npt.NDArray[Any], values: Floats) -> Record:
    return replace(record, positions=keys.vector_keys(10, frames, values))
