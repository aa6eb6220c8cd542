# SPDX-License-Identifier: GPL-3.0-or-later
"""The dinosaur's head: skull, jaw, teeth, eyes, horns."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from tools.samples import exact, islands
from tools.samples.shape import Island, Look, Ring, Shape, spread
from tools.samples.skeleton import bone

if TYPE_CHECKING:
    from tools.samples.exact import Vector

# The head hangs a little forward: cosine and sine of its pitch, and of the jaw's opening.
_NOD = (0.9848, 0.1736)
_GAPE = (0.9063, 0.4226)
_HINGE = (6.0, -7.0)

# Along the head; heights of crown; half width and height of temple, cheek and lip; height of the palate.
_SKULL = (
    (-13, 9.0, 6.5, 6.0, 10.5, -3.0, 9.0, -13.0, -13.0),
    (4, 18.0, 9.5, 15.5, 16.5, 2.0, 14.5, -12.5, -9.0),
    (23, 21.0, 11.0, 19.0, 17.5, 4.0, 15.0, -13.0, -6.5),
    (39, 16.5, 9.0, 14.0, 14.0, 2.0, 12.5, -9.0, -4.5),
    (57, 13.0, 7.5, 11.0, 11.0, 0.5, 10.5, -9.0, -4.5),
    (73, 13.5, 6.5, 10.5, 9.5, 0.0, 9.5, -11.5, -6.0),
    (83, 8.0, 4.5, 6.5, 7.0, -2.5, 7.0, -12.0, -8.0),
)
# Along the jaw from its hinge; half width and height of lip and chin; heights of bottom and floor of the mouth.
_JAW = (
    (-6, 13.0, 0.0, 10.0, -9.0, -11.0, -1.0),
    (18, 13.5, 1.0, 10.0, -11.0, -13.5, -2.0),
    (42, 10.5, 0.0, 8.0, -8.5, -10.5, -1.5),
    (60, 8.5, 2.0, 6.5, -6.5, -8.5, -0.5),
)


def _place(x: float, along: float, high: float) -> Vector:
    """Return a point of the skull in the model."""
    return (x, 204.0 - along * _NOD[1] + high * _NOD[0], -(136.0 + along * _NOD[0] + high * _NOD[1]))


def _jaw_place(x: float, along: float, high: float) -> Vector:
    """Return a point of the opened jaw in the model."""
    return _place(
        x,
        _HINGE[0] + along * _GAPE[0] + high * _GAPE[1],
        _HINGE[1] - along * _GAPE[1] + high * _GAPE[0],
    )


def build(shape: Shape) -> None:
    """Add the head to `shape`."""
    _skull(shape)
    _lower_jaw(shape)
    _teeth(shape)
    for side in (1.0, -1.0):
        _eye(shape, side)
        _horn(shape, side)


def _skull(shape: Shape) -> None:
    owner = bone("Head")
    rings = []
    for along, crown, wide1, high1, wide2, high2, wide3, high3, palate in _SKULL:
        half = [(wide1, high1), (wide2, high2), (wide3, high3)]
        outline = [(0.0, crown), *half, (0.0, palate), *((-x, y) for x, y in reversed(half))]
        points = tuple(_place(x, along, high) for x, high in outline)
        rings.append(Ring(points, (0.0, 0.3, 0.62, 1.0, 0.0, 1.0, 0.62, 0.3), owner))
    roof = [islands.HEAD_LOOK] * 3 + [islands.MOUTH_LOOK] * 2 + [islands.HEAD_LOOK] * 3
    places = [0.04 + 0.88 * place for place in spread(rings)]
    shape.skin(rings, [roof] * (len(rings) - 1), places)
    front, back = (replace(ring, mapped=(0.3, 0.4, 0.62, 0.9, 0.9, 0.9, 0.62, 0.4)) for ring in (rings[-1], rings[0]))
    shape.cone(front, _place(0.0, 88.0, -3.0), islands.HEAD_LOOK, along=(0.92, 1.0))
    shape.cone(back, _place(0.0, -24.0, -6.0), islands.HEAD_LOOK, along=(0.04, 0.0))


def _lower_jaw(shape: Shape) -> None:
    owner = bone("Jaw")
    rings = []
    for along, wide1, high1, wide2, high2, bottom, floor in _JAW:
        half = [(wide1, high1), (wide2, high2)]
        outline = [(0.0, floor), *half, (0.0, bottom), *((-x, y) for x, y in reversed(half))]
        points = tuple(_jaw_place(x, along, high) for x, high in outline)
        rings.append(Ring(points, (0.0, 0.05, 0.6, 1.0, 0.6, 0.05), owner))
    mouth, chin = islands.MOUTH_LOOK, islands.JAW_LOOK
    shape.skin(rings, [[mouth, chin, chin, chin, chin, mouth]] * (len(rings) - 1), spread(rings))
    front = replace(rings[-1], mapped=(0.14, 0.3, 0.7, 1.0, 0.7, 0.3))
    shape.cone(front, _jaw_place(0.0, 67.0, -1.0), chin, along=(1.0, 1.0))
    _tongue(shape, owner)
    throat = [
        _place(12.0, 3.0, -8.0),
        _jaw_place(12.0, 2.0, 0.0),
        _jaw_place(-12.0, 2.0, 0.0),
        _place(-12.0, 3.0, -8.0),
    ]
    numbers = [shape.vertex(point, owner) for point in throat]
    for triangle in ((0, 1, 2), (0, 2, 3)):
        texels = [islands.MOUTH.at(0.0, 0.0)] * 3
        shape.face([numbers[i] for i in triangle], texels, islands.MOUTH_LOOK, _place(0.0, -10.0, -8.0))
    for side in (1.0, -1.0):
        fold = [_place(13.0 * side, 4.0, -9.5), _place(12.0 * side, 26.0, -9.5), _jaw_place(11.5 * side, 17.0, 0.5)]
        corners = [
            shape.vertex(fold[0], bone("Head")),
            shape.vertex(fold[1], bone("Head")),
            shape.vertex(fold[2], owner),
        ]
        places = [islands.MOUTH.at(0.1, 1.0), islands.MOUTH.at(0.5, 1.0), islands.MOUTH.at(0.3, 0.8)]
        shape.face(corners, places, islands.SKIN_FOLD)


def _tongue(shape: Shape, owner: int) -> None:
    outline = ((4, 6.0, 1.0), (24, 6.5, 2.5), (44, 4.5, 3.0))
    rows = [
        [shape.vertex(_jaw_place(x * wide, along, high), owner) for x in (1.0, -1.0)] for along, wide, high in outline
    ]
    places = [[islands.MOUTH.at(across, 0.5), islands.MOUTH.at(across, 0.3)] for across in (0.2, 0.5, 0.75)]
    below = _jaw_place(0.0, 24.0, -20.0)
    for (a, b), (c, d), (ta, tb), (tc, td) in zip(rows[:-1], rows[1:], places[:-1], places[1:], strict=True):
        shape.face([a, b, d], [ta, tb, td], islands.MOUTH_LOOK, below)
        shape.face([a, d, c], [ta, td, tc], islands.MOUTH_LOOK, below)
    tip = shape.vertex(_jaw_place(0.0, 52.0, 5.0), owner)
    texels = [*places[-1], islands.MOUTH.at(0.85, 0.4)]
    shape.face([*rows[-1], tip], texels, islands.MOUTH_LOOK, below)


def _lip(table: tuple[tuple[float, ...], ...], along: float, wide: int, high: int) -> tuple[float, float]:
    """Return half width and height of a lip somewhere along its table."""
    for before, after in pairwise(table):
        if along <= after[0]:
            share = (along - before[0]) / (after[0] - before[0])
            return before[wide] + (after[wide] - before[wide]) * share, before[high] + (
                after[high] - before[high]
            ) * share
    return table[-1][wide], table[-1][high]


def _teeth(shape: Shape) -> None:
    upper = ((36, 7.0), (47, 8.0), (58, 6.5), (68, 8.0), (78, 6.5))
    lower = ((26, 5.5), (37, 6.5), (48, 6.0), (58, 6.5))
    for side in (1.0, -1.0):
        for along, long in upper:
            wide, high = _lip(_SKULL, along, 6, 7)
            spots = ((0.6, 3.0), (0.6, -3.0), (-2.2, 0.0))
            root = tuple(_place((wide - 0.8 + x) * side, along + z, high + 1.0) for x, z in spots)
            tip = _place((wide - 1.2) * side, along - 1.0, high - long)
            shape.cone(Ring(root, (0.0, 0.5, 1.0), bone("Head")), tip, islands.TEETH)
        for along, long in lower:
            wide, high = _lip(_JAW, along, 1, 2)
            spots = ((0.4, 2.6), (0.4, -2.6), (-2.0, 0.0))
            root = tuple(_jaw_place((wide - 1.0 + x) * side, along + z, high - 1.0) for x, z in spots)
            tip = _jaw_place((wide - 1.0) * side, along - 0.5, high + long)
            shape.cone(Ring(root, (0.0, 0.5, 1.0), bone("Jaw")), tip, islands.TEETH)


# A hexagon: cosine and sine, as literals.
_HEXAGON = ((1.0, 0.0), (0.5, 0.866), (-0.5, 0.866), (-1.0, 0.0), (-0.5, -0.866), (0.5, -0.866))


def _eye(shape: Shape, side: float) -> None:
    owner = bone("Eye", right=side < 0.0)
    middle = (15.0, 26.0, 11.5)
    outward = exact.unit((0.88, 0.3, 0.22))
    forward = exact.unit(exact.sub((0.0, 1.0, 0.0), exact.scaled(outward, outward[1])))
    upward = exact.cross(outward, forward)
    for radius, bulge, look in ((7.0, 3.2, islands.EYE_LOOK), (7.0, 3.9, islands.CORNEA_LOOK)):
        rim = [_around(middle, forward, upward, radius, spoke) for spoke in _HEXAGON]
        top = exact.add(middle, exact.scaled(outward, bulge))
        numbers = [shape.vertex(_place(x * side, along, high), owner) for x, along, high in [*rim, top]]
        inside = _place(0.0, middle[1], middle[2])
        texels = [_eye_texel(look.island, spoke) for spoke in _HEXAGON]
        for spoke in range(6):
            beside = (spoke + 1) % 6
            corners = [numbers[spoke], numbers[beside], numbers[6]]
            shape.face(corners, [texels[spoke], texels[beside], look.island.at(0.5, 0.5)], look, inside)


def _around(middle: Vector, right: Vector, up: Vector, radius: float, spoke: tuple[float, float]) -> Vector:
    return exact.add(middle, exact.add(exact.scaled(right, radius * spoke[0]), exact.scaled(up, radius * spoke[1])))


def _eye_texel(island: Island, spoke: tuple[float, float]) -> tuple[int, int]:
    return island.at(0.5 + 0.5 * spoke[0], 0.5 - 0.5 * spoke[1])


def _horn(shape: Shape, side: float) -> None:
    root = ((8.5, 14.0, 17.5), (15.0, 23.0, 15.5), (10.5, 36.0, 14.5), (5.0, 24.0, 19.0))
    points = tuple(_place(x * side, along, high) for x, along, high in root)
    ring = Ring(points, (0.0, 1.0, 0.0, 1.0), bone("Head"))
    look: Look = islands.HORN
    shape.cone(ring, _place(17.5 * side, 12.0, 25.5), look)
