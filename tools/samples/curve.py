# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves through keys, for what moves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """A smooth line through (time, value) keys that never overshoots them; flat at both ends and outside."""

    keys: tuple[tuple[float, float], ...]

    def at(self, time: float) -> float:
        """Return the value at a time."""
        if time <= self.keys[0][0]:
            return self.keys[0][1]
        for number in range(len(self.keys) - 1):
            (t0, v0), (t1, v1) = self.keys[number], self.keys[number + 1]
            if time <= t1:
                return hermite(
                    (time - t0) / (t1 - t0),
                    v0,
                    v1,
                    self._slope(number) * (t1 - t0),
                    self._slope(number + 1) * (t1 - t0),
                )
        return self.keys[-1][1]

    def _slope(self, number: int) -> float:
        """Return the slope at a key: the harmonic mean of those beside it, none at a peak."""
        if not 0 < number < len(self.keys) - 1:
            return 0.0
        (t0, v0), (t1, v1), (t2, v2) = self.keys[number - 1 : number + 2]
        before, after = (v1 - v0) / (t1 - t0), (v2 - v1) / (t2 - t1)
        return 2.0 * before * after / (before + after) if before * after > 0.0 else 0.0


def hermite(share: float, start: float, end: float, leave: float, arrive: float) -> float:
    """Return a cubic from `start` to `end` with these slopes, at a share of 0 to 1."""
    square = share * share
    cube = square * share
    return (
        start * (2.0 * cube - 3.0 * square + 1.0)
        + end * (3.0 * square - 2.0 * cube)
        + leave * (cube - 2.0 * square + share)
        + arrive * (cube - square)
    )
