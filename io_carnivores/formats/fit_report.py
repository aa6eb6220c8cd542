# SPDX-License-Identifier: GPL-3.0-or-later
"""How well rigid bodies repeat the frames of a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .motion import STEPS

if TYPE_CHECKING:
    from .rigid import Bodies, Doubles, Floats, Ints

DISTANCES = (0.1, 0.25, 1.0)  # file units
WITHIN = (1, 2, 4, 16)  # steps of 1/16 file unit
SOFT_STEPS = 2
SOFT_SHARE = 0.02  # of the frames
_MOVES = 4  # steps; a vertex that never leaves so small a box says nothing about rigidity
# Automatic shows bones above these shares. All known creatures and most weapons reach 95 % of both, and explosions,
# flames and what converters numbered at random stay below 70 %, so the exact values matter little.
GOOD_DISTANCE = 0.85  # of the frames of moving vertices within 0.25 unit
GOOD_STEPS = 0.90  # of all coordinates within 2 steps
_SMALLEST = 3  # vertices; smaller bodies fit anything
_SOLID = 0.5  # of the vertices that move, in bodies which can fail to fit
_SWOLLEN = (
    0.5  # of the vertices in bodies that needed a scale: breathing is a part of the creature, puffs are all of it
)


@dataclass(frozen=True)
class Fit:
    """The report of a rig. Shares are 0 to 1, and 1 where there is nothing to compare.

    `distances`: of all vertex-frames, within 0.1, 0.25 and 1 file unit of the stored position (its unbiased middle);
    `coordinates`: of all coordinates, within 1, 2, 4 and 16 steps after truncation as the original tool does it;
    `soft`: vertices that are more than 2 steps off in more than 2 % of the frames; `moving`: of the frames of vertices
    that move at all, within 0.25 unit; `solid`: of the vertices that move, in bodies of three or more; `joint_errors`
    in file units, root mean square, one per joint; `scaled` (B,): bodies that were given a scale; `swollen`: their
    share of the vertices.
    """

    frames: int
    distances: tuple[float, ...]
    coordinates: tuple[float, ...]
    soft: Ints
    moving: float
    solid: float
    joint_errors: Doubles = field(default_factory=lambda: np.zeros(0))
    swollen: float = 0.0
    scaled: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    @property
    def good(self) -> bool:
        """Whether bones show this motion well enough to be preferred to shape keys."""
        return (
            self.frames > 0
            and self.moving >= GOOD_DISTANCE
            and self.coordinates[WITHIN.index(2)] >= GOOD_STEPS
            and self.solid >= _SOLID
            and self.swollen <= _SWOLLEN
        )

    def facts(self) -> dict[str, Any]:
        """For reports: percentages by what they are of."""
        error = np.sort(self.joint_errors)
        return {
            "good": self.good,
            "frames": self.frames,
            "within_units": {str(k): round(100 * v, 2) for k, v in zip(DISTANCES, self.distances, strict=True)},
            "within_steps": {str(k): round(100 * v, 2) for k, v in zip(WITHIN, self.coordinates, strict=True)},
            "moving": round(100 * self.moving, 2),
            "soft_vertices": self.soft.tolist(),
            "joints": len(error),
            "joint_error_median": round(float(np.median(error)), 3) if len(error) else 0.0,
        }


class Tally:
    """Counts over frames that come in pieces."""

    def __init__(self, vertices: int) -> None:
        self._frames = 0
        self._near = np.zeros((len(DISTANCES), vertices), np.int64)
        self._steps = np.zeros(len(WITHIN), np.int64)
        self._off = np.zeros(vertices, np.int64)
        self._low = np.full((vertices, 3), 0x7FFF, np.int32)
        self._high = np.full((vertices, 3), -0x8000, np.int32)

    def add(self, order: Ints, shown: Floats, points: Floats) -> None:
        """Compare `shown` with `points`, as of `rigid.unbiased`: both (V, 3, N), of the vertices `order` (V,)."""
        self._frames += points.shape[2]
        distance = shown - points
        square = np.einsum("vin,vin->vn", distance, distance)
        for row, limit in enumerate(DISTANCES):
            self._near[row, order] += np.count_nonzero(square <= limit * limit, axis=1)
        # Truncation toward zero, in exact arithmetic: both factors are powers of two.
        stored = np.trunc(points * np.float32(STEPS))
        steps = np.abs(np.trunc(shown * np.float32(STEPS)) - stored)
        for row, limit in enumerate(WITHIN):
            self._steps[row] += np.count_nonzero(steps <= limit)
        self._off[order] += np.count_nonzero((steps > SOFT_STEPS).any(axis=1), axis=1)
        self._low[order] = np.minimum(self._low[order], stored.min(axis=2))
        self._high[order] = np.maximum(self._high[order], stored.max(axis=2))

    def fit(self, bodies: Bodies) -> Fit:
        """The shares."""
        total = self._frames * len(self._off)
        moves = (self._high - self._low).max(axis=1) > _MOVES if len(self._off) else np.zeros(0, np.bool_)
        moving = self._near[DISTANCES.index(0.25)][moves]
        return Fit(
            frames=self._frames,
            distances=tuple(float(n) / total if total else 1.0 for n in self._near.sum(axis=1)),
            coordinates=tuple(float(n) / (3 * total) if total else 1.0 for n in self._steps),
            soft=np.flatnonzero(self._off > SOFT_SHARE * self._frames),
            moving=float(moving.mean()) / self._frames if len(moving) else 1.0,
            solid=float((bodies.sizes[bodies.body[moves]] >= _SMALLEST).mean()) if moves.any() else 1.0,
        )
