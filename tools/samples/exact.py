# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic that gives the same bits everywhere.

IEEE 754 fixes the results of + - * / and of square roots, but not those of sines, powers and sums of arrays, which
differ from one C library, processor and numpy to the next. The generator keeps to the former, one operation at a time,
and takes its noise from integers, so that the files it makes can be compared byte by byte.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = tuple[float, float, float]
Field: TypeAlias = npt.NDArray[np.float64]


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scaled(a: Vector, factor: float) -> Vector:
    """Return a * factor."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product, by the right-hand formula."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length(a: Vector) -> float:
    """Return |a|."""
    return math.sqrt(dot(a, a))


def unit(a: Vector) -> Vector:
    """Return a / |a|."""
    return scaled(a, 1.0 / length(a))


def middle(points: list[Vector]) -> Vector:
    """Return the mean of points."""
    total = (0.0, 0.0, 0.0)
    for point in points:
        total = add(total, point)
    return scaled(total, 1.0 / len(points))


def between(a: Vector, b: Vector, share: float) -> Vector:
    """Return a at share 0, b at share 1."""
    return add(a, scaled(sub(b, a), share))


def sine(turns: float) -> float:
    """Return the sine of an angle in whole turns, to 9 digits: a sum of powers, one operation at a time."""
    place = (turns - math.floor(turns)) * 4.0
    quarter = math.floor(place)
    share = place - quarter
    x = (1.0 - share if quarter % 2 else share) * 1.5707963267948966
    square, term, total = x * x, x, x
    for power in (2.0, 4.0, 6.0, 8.0, 10.0, 12.0):
        term = -term * square / (power * (power + 1.0))
        total = total + term
    return -total if quarter >= 2 else total


def cosine(turns: float) -> float:
    """Return the cosine of an angle in whole turns."""
    return sine(turns + 0.25)


def noise(x: Field, y: Field, seed: int) -> Field:
    """Return smooth noise in 0..1, one bump per unit of `x` and `y`."""
    left, top = np.floor(x), np.floor(y)
    fx, fy = _eased(x - left), _eased(y - top)
    column, row = left.astype(np.int64), top.astype(np.int64)
    upper = mix(_cell(column, row, seed), _cell(column + 1, row, seed), fx)
    lower = mix(_cell(column, row + 1, seed), _cell(column + 1, row + 1, seed), fx)
    return mix(upper, lower, fy)


def cells(x: Field, y: Field, seed: int) -> Field:
    """Return a random value in 0..1 per unit square."""
    return _cell(np.floor(x).astype(np.int64), np.floor(y).astype(np.int64), seed)


def cloud(x: Field, y: Field, seed: int) -> Field:
    """Return noise of three sizes, 0..1."""
    fine = noise(x * 4.0, y * 4.0, seed + 2) * 0.15
    return noise(x, y, seed) * 0.55 + noise(x * 2.0, y * 2.0, seed + 1) * 0.3 + fine


def mix(a: Field | float, b: Field | float, share: Field | float) -> Field:
    """Return a where share is 0, b where it is 1."""
    return np.asarray(a + (b - a) * share, dtype=np.float64)


def ramp(value: Field, low: Field | float, high: Field | float) -> Field:
    """Return 0 below `low`, 1 above `high`, smooth between; `low` may be the larger one."""
    return _eased(np.clip((value - low) / (high - low), 0.0, 1.0))


def _eased(share: Field) -> Field:
    return share * share * (3.0 - 2.0 * share)


def _cell(column: npt.NDArray[np.int64], row: npt.NDArray[np.int64], seed: int) -> Field:
    """Return a number per integer pair, by multiplying and shifting 32-bit words."""
    word = np.bitwise_and(column * 374761393 + row * 668265263 + seed * 974711, 0xFFFFFFFF).astype(np.uint64)
    for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39), (15, 1)):
        word = np.bitwise_and((word ^ (word >> np.uint64(shift))) * np.uint64(factor), np.uint64(0xFFFFFFFF))
    return np.asarray(word.astype(np.float64) / 4294967296.0, dtype=np.float64)
