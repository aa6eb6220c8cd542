# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fox wears and carries: a cape, a hat with a feather, a quiver, a bow with its string, an arrow."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tools.samples import exact
from tools.samples.fox import islands
from tools.samples.fox.shape import Shape, Tube, Weights, blend, distances, eased, oval, shares, tube
from tools.samples.fox.skeleton import joint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.samples.exact import Vector

BOW, STRING, ARROW = "~BoxBone01", "Bone_String", "Bone_Arrow"
_COLUMNS = 10
# Height, depth, half width, how far its sides bend forward.
_CAPE = (
    (60.2, 6.6, 7.8, 5.6),
    (57.5, 8.4, 10.3, 7.4),
    (53.0, 9.8, 11.3, 5.6),
    (47.5, 11.2, 12.0, 4.4),
    (41.5, 12.8, 13.0, 3.6),
    (35.0, 14.6, 14.2, 3.0),
    (28.0, 16.6, 15.4, 2.6),
)


def cape() -> Shape:
    """Return the cape: two layers, so that both sides have their light; its hem is cut out by the texture."""
    shape = Shape()
    for thick, inwards in ((0.35, False), (-0.35, True)):
        rows = []
        for y, z, wide, bend in _CAPE:
            row = []
            for column in range(_COLUMNS + 1):
                share = 2.0 * column / _COLUMNS - 1.0
                fold = 0.9 * exact.sine(column * 0.25) * eased(y, 54.0, 30.0)
                place = (share * wide, y, z + thick + fold - bend * share * share * share * share)
                row.append(shape.point(place, _hang(place)))
            rows.append(row)
        _sheet(shape, rows, inwards=inwards)
    return shape


def _sheet(shape: Shape, rows: Sequence[Sequence[int]], *, inwards: bool) -> None:
    """Join rows by faces that look backwards, or forwards."""
    for number, (one, other) in enumerate(itertools.pairwise(rows)):
        for column in range(_COLUMNS):
            corners = []
            for row, aside, deep in ((one, 0, 0), (one, 1, 0), (other, 1, 1), (other, 0, 1)):
                place = islands.CAPE.at((column + aside) / _COLUMNS, (number + deep) / (len(rows) - 1))
                corners.append((row[column + aside], place))
            shape.quad(corners, (0.0, 45.0, 100.0 if inwards else -100.0))


def _hang(place: Vector) -> Weights:
    x, y, _ = place
    first, second = eased(y, 56.5, 49.0), eased(y, 46.5, 37.0)
    shoulder = 0.4 * eased(abs(x), 4.0, 10.0) * (1.0 - first)
    side = "L" if x > 0.0 else "R"
    return blend(
        ("Bip01 Spine1", (1.0 - first) * (1.0 - shoulder)),
        (f"Bip01 {side} Clavicle", shoulder),
        ("Bone_Cape01", first * (1.0 - second)),
        ("Bone_Cape02", first * second),
    )


def hat() -> Shape:
    """Return the hat, worn between the ears: a pointed brim, turned up behind, a crown with a crease, a feather."""
    shape = Shape()
    # Height, half width, to the front, to the back, upturn behind, place on the island.
    rings = (
        (-2.0, 8.4, 9.5, 9.5, 0.0, 0.0),
        (-1.0, 11.0, 17.0, 12.6, 3.6, 0.16),
        (-0.2, 10.9, 16.6, 12.4, 4.2, 0.2),
        (0.8, 8.8, 10.4, 9.8, 0.6, 0.36),
        (5.0, 7.9, 9.6, 9.2, 0.0, 0.6),
        (9.4, 5.6, 8.2, 7.2, 0.0, 0.82),
        (10.6, 2.6, 5.4, 4.4, 0.0, 0.94),
    )
    loops = []
    for high, wide, front, back, turn, _ in rings:
        loop = []
        for s, c in oval(14):
            deep = (back if c > 0.0 else front) * c
            lift = turn * (c * c if c > 0.0 else 0.35 * s * s)
            loop.append(shape.point(_worn((s * wide, high + lift, deep)), {}))
        loops.append(loop)
    shape.loft(loops, islands.HAT, [place for *_, place in rings], shares(14))
    top = shape.point(_worn((0.0, 10.2, -0.6)), {})
    rim = [islands.HAT.at(share, 0.94) for share in shares(14)[:-1]]
    shape.cap(loops[-1], top, islands.HAT.at(0.5, 1.0), rim, _worn((0.0, 4.0, 0.0)))
    _feather(shape)
    return shape


def _worn(place: Vector) -> Vector:
    """Return a place of the hat as it sits on the head: nearly straight, tipped a little to the front and the right."""
    x, y, z = place
    return (x + 0.10 * y - 0.4, 87.0 + y - 0.10 * x + 0.13 * z, z + 1.6 - 0.13 * y)


def _feather(shape: Shape) -> None:
    path = [(-7.6, 2.0, -2.0), (-9.9, 8.5, 0.5), (-11.3, 14.5, 4.5), (-11.9, 19.5, 9.5), (-11.8, 23.5, 15.5)]
    widths = (0.9, 3.2, 4.0, 3.2, 0.3)
    for lift, inwards in ((0.12, False), (-0.12, True)):
        rows = []
        for (x, y, z), wide in zip(path, widths, strict=True):
            lean = (0.25 * wide, 0.75 * wide, -0.85 * wide)
            ends = [(x + lift - a, y - b, z - c) for a, b, c in (lean, tuple(-part for part in lean))]
            rows.append([shape.point(_worn(end), {}) for end in ends])
        for number, (one, other) in enumerate(itertools.pairwise(rows)):
            corners = []
            for row, end, deep in ((one, 0, 0), (one, 1, 0), (other, 1, 1), (other, 0, 1)):
                corners.append((row[end], islands.FEATHER.at((number + deep) / 4.0, float(end))))
            shape.quad(corners, (100.0 if not inwards else -100.0, 90.0, 0.0))


def quiver() -> Shape:
    """Return the quiver on its back, over the right shoulder, with four arrows."""
    shape = Shape()
    low, top = (5.5, 41.0, 14.6), (-8.4, 62.0, 12.6)
    path = [exact.between(low, top, share) for share in (0.0, 0.03, 0.5, 0.95, 1.0)]
    sizes = [(2.2, 2.2), (3.0, 3.0), (3.3, 3.3), (3.7, 3.7), (3.9, 3.9)]
    shape.tube(Tube(path, sizes, islands.QUIVER, 9, start=low), lambda _place, _number: {})
    inner = [exact.between(low, top, share) for share in (1.0, 0.9)]
    rings = [
        [shape.point(p, {}) for p in points] for points in tube(inner, [(3.9, 3.9), (2.9, 2.9)], (1.0, 0.0, 0.0), 9)
    ]
    shape.loft(rings, islands.QUIVER, (0.95, 1.0), shares(9), inwards=True)
    end = shape.point(inner[1], {})
    rim = [islands.QUIVER.at(share, 1.0) for share in shares(9)[:-1]]
    shape.cap(rings[1], end, islands.QUIVER.at(0.5, 1.0), rim, low)
    way = exact.unit(exact.sub(top, low))
    for across, back, high in ((1.3, 1.2, 8.4), (-1.5, 0.9, 7.2), (0.9, -1.3, 6.6), (-0.9, -1.2, 9.2)):
        foot = exact.add(exact.between(low, top, 0.85), (across, 0.0, back))
        shaft(shape, foot, exact.add(exact.add(foot, exact.scaled(way, high + 3.0)), (0.2 * across, 0.0, 0.2 * back)))
    return shape


def shaft(shape: Shape, start: Vector, end: Vector, weights: Weights | None = None) -> None:
    """An arrow's shaft with its three vanes at `end`."""
    way = exact.unit(exact.sub(end, start))
    lean = (1.0, 0.0, 0.0) if abs(way[0]) < 0.9 else (0.0, 1.0, 0.0)
    side = exact.unit(exact.sub(lean, exact.scaled(way, exact.dot(lean, way))))
    up = exact.cross(side, way)
    stick = Tube([start, end], [(0.36, 0.36)] * 2, islands.SHAFT, 5, side=side, end=end, upright=False)
    shape.tube(stick, lambda _place, _number: weights or {})
    low, high = exact.sub(end, exact.scaled(way, 6.2)), exact.sub(end, exact.scaled(way, 0.8))
    for s, c in oval(3):
        out = exact.add(exact.scaled(side, s * 1.7), exact.scaled(up, c * 1.7))
        points = [
            low,
            high,
            exact.add(high, exact.add(out, exact.scaled(way, 0.8))),
            exact.add(low, exact.add(out, way)),
        ]
        spots = [islands.VANE.at(*place) for place in ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.1, 0.0))]
        face = exact.cross(way, out)
        for sign in (0.02, -0.02):
            numbers = [shape.point(exact.add(point, exact.scaled(face, sign)), weights or {}) for point in points]
            aim = exact.sub(exact.middle(points), exact.scaled(face, sign * 1000.0))
            shape.quad(list(zip(numbers, spots, strict=True)), aim)


def _frame() -> tuple[Vector, Vector, Vector, Vector]:
    """Return the middle of the bow's grip, where it aims, its upper limb's direction, and its side."""
    bone = joint(BOW)
    aim, up, side = ((bone.axes[0][n], bone.axes[1][n], bone.axes[2][n]) for n in range(3))
    return bone.head, aim, up, side


# Along a limb: distance from the grip, forward of the grip, half width, half depth.
_LIMB = (
    (0.0, 0.4, 1.1, 1.3),
    (3.0, 0.8, 1.3, 1.5),
    (5.0, 1.6, 1.6, 1.3),
    (11.0, 2.4, 1.9, 1.1),
    (18.0, 0.8, 1.7, 0.9),
    (24.0, -3.4, 1.4, 0.8),
    (28.0, -7.4, 1.1, 0.7),
    (31.0, -7.6, 0.8, 0.6),
    (33.0, -5.2, 0.5, 0.5),
)
TIP = (29.4, -7.9)  # where the string is tied: along the limb, forward


def bow() -> Shape:
    """Return bow and string; the middle of the string has a bone of its own."""
    shape = Shape()
    grip, aim, up, side = _frame()
    for sign in (1.0, -1.0):
        rings = []
        path = [
            exact.add(grip, exact.add(exact.scaled(up, sign * far), exact.scaled(aim, ahead)))
            for far, ahead, _, _ in _LIMB
        ]
        sizes = [(wide, deep) for _, _, wide, deep in _LIMB]
        rings = [[shape.point(point, {BOW: 1.0}) for point in points] for points in tube(path, sizes, side, 8)]
        along = distances(path)
        shape.loft(rings, islands.LIMB, along, shares(8), upright=False)
        last = shape.point(exact.add(path[-1], exact.scaled(up, sign * 0.8)), {BOW: 1.0})
        rim = [islands.LIMB.at(1.0, share) for share in shares(8)[:-1]]
        shape.cap(rings[-1], last, islands.LIMB.at(1.0, 0.5), rim, path[-2])
    middle = joint(STRING).head
    for sign in (1.0, -1.0):
        tied = exact.add(grip, exact.add(exact.scaled(up, sign * TIP[0]), exact.scaled(aim, TIP[1])))
        ends = [exact.sub(middle, exact.scaled(up, 0.1 * sign)), tied]
        rings = []
        for points, bone in zip(tube(ends, [(0.22, 0.22)] * 2, side, 5), (STRING, BOW), strict=True):
            rings.append([shape.point(point, {bone: 1.0}) for point in points])
        shape.loft(rings, islands.STRING, (0.5, 1.0), shares(5), upright=False)
    return shape


def arrow() -> Shape:
    """Return the arrow in the right hand: it begins at the bone that holds it, where the string is."""
    shape = Shape()
    bone = joint(ARROW)
    way: Vector = (bone.axes[0][0], bone.axes[1][0], bone.axes[2][0])
    tip = exact.add(bone.head, exact.scaled(way, 34.0))
    shaft(shape, exact.sub(tip, exact.scaled(way, 1.0)), bone.head, {ARROW: 1.0})
    neck = exact.sub(tip, exact.scaled(way, 2.0))
    side: Vector = (bone.axes[0][2], bone.axes[1][2], bone.axes[2][2])
    up: Vector = (bone.axes[0][1], bone.axes[1][1], bone.axes[2][1])
    spots = [exact.add(neck, exact.add(exact.scaled(side, s * 1.3), exact.scaled(up, c * 0.6))) for s, c in oval(4)]
    ring = [shape.point(spot, {ARROW: 1.0}) for spot in spots]
    rim = [islands.STEEL.at(place, 0.0) for place in (0.0, 0.5, 1.0, 0.5)]
    for end, inner in ((exact.add(tip, exact.scaled(way, 2.5)), neck), (exact.sub(neck, exact.scaled(way, 1.0)), tip)):
        number = shape.point(end, {ARROW: 1.0})
        shape.cap(ring, number, islands.STEEL.at(0.5, 1.0), rim, inner)
    return shape
