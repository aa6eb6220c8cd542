# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations: what CAR, VTL and ANI share.

A frame holds the absolute position of every vertex as i16 in sixteenths of a file unit, truncated toward zero
(measured: 40 of 40 frames that coincide with a base pose). Frame k of N at K keys a second is shown at
k * N / ((N - 1) * K) seconds: the engines stretch the N - 1 intervals over N / K seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

STEPS = 16  # per file unit
_NOISE = 1 / 512  # steps; single precision is off by this much at the far end of what 16 bits hold
LIMIT = 0x7FFF / STEPS  # +-2047.9 file units


@dataclass
class Animation:
    """`name`: the raw 32-byte field of a CAR (empty elsewhere); `kps`: keys per second as stored, maybe 0 or negative.

    `frames`: (N, V, 3) i16, maybe read-only; N may be 0 ("BLANK" records keep later indices in place) or 1.
    `clipped`: how many coordinates were too far out for 16 bits when the frames were made; 0 for what was read.
    """

    name: bytes
    kps: int
    frames: npt.NDArray[np.int16]
    clipped: int = 0

    def __eq__(self, other: object) -> bool:
        """Equal in every byte that a file would hold."""
        if not isinstance(other, Animation):
            return NotImplemented
        return (
            self.name == other.name
            and self.kps == other.kps
            and self.frames.shape == other.frames.shape
            and self.frames.tobytes() == other.frames.tobytes()
        )

    __hash__ = None  # type: ignore[assignment]  # it holds an array


def times(count: int, kps: int) -> npt.NDArray[np.float64]:
    """Seconds at which each of `count` frames is shown, (count,). A KPS below 1 counts as 1."""
    rate = max(kps, 1)
    if count < 2:
        return np.zeros(count)
    return np.arange(count, dtype=np.float64) * (count / ((count - 1) * rate))


def seconds(count: int, kps: int) -> float:
    """How long an animation takes: N / KPS."""
    return count / max(kps, 1)


def positions(frames: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
    """Frames to file units, f32 of the same shape; exact."""
    return frames.astype(np.float32) * np.float32(1 / STEPS)


def quantise(values: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
    """File units to frames: times 16, truncated toward zero as the original tool does; clipped to what i16 holds.

    What misses a whole step by rounding noise only is taken for that step; what is no number becomes 0.
    """
    # Single precision loses nothing here: sixteen is a power of two.
    steps: npt.NDArray[Any]
    single = values.dtype == np.float32
    with np.errstate(over="ignore"):
        steps = values * np.float32(STEPS) if single else np.asarray(values, np.float64) * STEPS
    if not np.isfinite(steps).all():
        steps = np.nan_to_num(steps)
    whole = np.rint(steps)
    if (whole != steps).any():
        whole = np.where(np.abs(steps - whole) < _NOISE, whole, np.trunc(steps))
    return np.clip(whole, -0x8000, 0x7FFF).astype("<i2")


def outside(values: npt.NDArray[Any]) -> int:
    """How many coordinates are too far out for 16 bits."""
    if not values.size or max(-values.min(), values.max()) <= LIMIT:
        return 0
    steps = np.trunc(np.asarray(values, np.float64) * STEPS)
    return int(np.count_nonzero((steps < -0x8000) | (steps > 0x7FFF)))


def count_for(duration: float, kps: int) -> int:
    """How many frames show `duration` seconds at `kps` keys a second: N / KPS is the length; at least 2."""
    return max(2, round(duration * max(kps, 1)))
