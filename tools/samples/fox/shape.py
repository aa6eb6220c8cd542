# SPDX-License-Identifier: GPL-3.0-or-later
"""A smooth skinned surface in the making: points with weights, triangles whose corners have texture places.

Winding as in the files: the cross product of the raw numbers points outwards. Points that share a place share a normal;
where an edge shall be hard, there are two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from addon.io_dragonnest.formats import names, strips
from addon.io_dragonnest.formats.submesh import Skin, Submesh

from tools.samples import exact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tools.samples.exact import Vector

Weights: TypeAlias = dict[str, float]
Place: TypeAlias = tuple[float, float]  # of a texture, 0..1, origin at the top left
Corner: TypeAlias = tuple[int, Place]


@dataclass(frozen=True)
class Island:
    """A rectangle of a texture, in texels; `sheet` is the width and height of the whole."""

    x: int
    y: int
    width: int
    height: int
    sheet: tuple[int, int]

    def at(self, across: float, down: float) -> Place:
        """Return a place given as shares of the island, off its rim: filtering bleeds."""
        u = self.x + 1.5 + across * (self.width - 3)
        v = self.y + 1.5 + down * (self.height - 3)
        return (u / self.sheet[0], v / self.sheet[1])


@dataclass(frozen=True)
class Tube:
    """Ellipses across a path, joined. `sizes`: half widths towards `side` and across it; `count`: points of a ring.

    `along`: places of the rings on the island, by distance where there are none; `start`, `end`: points that close it.
    """

    path: Sequence[Vector]
    sizes: Sequence[tuple[float, float]]
    island: Island
    count: int
    along: Sequence[float] | None = None
    side: Vector = (1.0, 0.0, 0.0)
    start: Vector | None = None
    end: Vector | None = None
    upright: bool = True

    @property
    def places(self) -> list[float]:
        """Return the places of the rings on the island."""
        return list(self.along) if self.along is not None else distances(self.path)

    def at(self, around: float, along: float) -> Place:
        """Return a place of the texture."""
        return self.island.at(around, along) if self.upright else self.island.at(along, around)


@dataclass
class Shape:
    """Points and triangles."""

    points: list[Vector] = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)
    corners: list[tuple[Corner, Corner, Corner]] = field(default_factory=list)

    def point(self, place: Vector, weights: Weights) -> int:
        """Add a point, rounded to 1/256 unit; return its number."""
        x, y, z = (exact_round(value) for value in place)
        self.points.append((x, y, z))
        self.weights.append(weights)
        return len(self.points) - 1

    def face(self, corners: Sequence[Corner], away_from: Vector | None = None) -> None:
        """Add a triangle, turned so that its front looks away from that point; none without an area."""
        a, b, c = (self.points[number] for number, _ in corners)
        normal = exact.cross(exact.sub(b, a), exact.sub(c, a))
        if exact.dot(normal, normal) < 1e-9:
            return
        first, second, third = corners
        if away_from is not None and exact.dot(normal, exact.sub(exact.middle([a, b, c]), away_from)) < 0.0:
            second, third = third, second
        self.corners.append((first, second, third))

    def quad(self, corners: Sequence[Corner], away_from: Vector | None = None) -> None:
        """Add two triangles."""
        for half in ((0, 1, 2), (0, 2, 3)):
            self.face([corners[number] for number in half], away_from)

    def loft(
        self,
        rings: Sequence[Sequence[int]],
        island: Island,
        along: Sequence[float],
        around: Sequence[float],
        *,
        inwards: bool = False,
        upright: bool = True,
    ) -> None:
        """Join rings of as many points by faces that look away from the line of their middles, or, `inwards`, at it.

        A loft may turn back on itself, as a hem does: all of it is turned as most of it asks for. `along` are the
        rings' places on the island, `around` those of the points and, one more, of the seam. `upright`: along goes down
        the island, else across.
        """
        before, outwards = len(self.corners), 0.0
        for (one, other), (start, end) in zip(pairwise(rings), pairwise(along), strict=True):
            centre = exact.middle([self.points[number] for number in (*one, *other)])
            for side in range(len(one)):
                beside = (side + 1) % len(one)
                spots = ((around[side], start), (around[side + 1], start), (around[side + 1], end), (around[side], end))
                places = [island.at(*(spot if upright else spot[::-1])) for spot in spots]
                numbers = (one[side], one[beside], other[beside], other[side])
                a, b, c, d = (self.points[number] for number in numbers)
                normal = exact.cross(exact.sub(c, a), exact.sub(d, b))
                outwards += exact.dot(normal, exact.sub(exact.middle([a, b, c, d]), centre))
                self.quad(list(zip(numbers, places, strict=True)))
        if (outwards < 0.0) != inwards:
            self.corners[before:] = [(a, c, b) for a, b, c in self.corners[before:]]

    def tube(self, made: Tube, weights: Callable[[Vector, int], Weights]) -> None:
        """Add a tube; `weights` of a point and the number of its ring, -1 for the point at the end."""
        rings = [
            [self.point(point, weights(point, number)) for point in points]
            for number, points in enumerate(tube(made.path, made.sizes, made.side, made.count))
        ]
        places, path = made.places, made.path
        self.loft(rings, made.island, places, shares(made.count), upright=made.upright)
        for tip, ring, end, inner in ((made.start, rings[0], 0, path[1]), (made.end, rings[-1], -1, path[-2])):
            if tip is not None:
                number = self.point(tip, weights(tip, end))
                rim = [made.at(share, places[end]) for share in shares(made.count)[:-1]]
                self.cap(ring, number, made.at(0.5, places[end]), rim, inner)

    def cap(self, ring: Sequence[int], tip: int, place: Place, rim: Sequence[Place], away_from: Vector) -> None:
        """Join a ring to a point."""
        for side in range(len(ring)):
            beside = (side + 1) % len(ring)
            self.face([(ring[side], rim[side]), (ring[beside], rim[(side + 1) % len(rim)]), (tip, place)], away_from)

    def normals(self) -> list[Vector]:
        """Return the normal of each point: the mean of its faces', by area."""
        sums: list[Vector] = [(0.0, 0.0, 0.0)] * len(self.points)
        for corners in self.corners:
            (a, _), (b, _), (c, _) = corners
            ends = self.points[a], self.points[b], self.points[c]
            normal = exact.cross(exact.sub(ends[1], ends[0]), exact.sub(ends[2], ends[0]))
            for number in (a, b, c):
                sums[number] = exact.add(sums[number], normal)
        return [exact.unit(total) if exact.length(total) > 0.0 else (0.0, 1.0, 0.0) for total in sums]

    def submesh(
        self,
        name: str,
        *,
        parent: str = names.SCENE_ROOT,
        strip: bool = False,
        colour: Callable[[Vector, Vector], tuple[int, int, int, int]] | None = None,
    ) -> Submesh:
        """Return it as the files hold it: rigid where `parent` is a bone. `colour` (b, g, r, a) of place and normal."""
        vertices: dict[Corner, int] = {}
        corners = np.array(
            [[vertices.setdefault(corner, len(vertices)) for corner in face] for face in self.corners], np.int32
        )
        order = list(vertices)
        normals = self.normals()
        found = Submesh(
            names.field(parent),
            names.field(name),
            (strips.make(corners) if strip else corners.reshape(-1)).astype("<u2"),
            np.array([self.points[number] for number, _ in order], "<f4"),
            np.array([normals[number] for number, _ in order], "<f4"),
            np.array([[place for _, place in order]], "<f4"),
            is_strip=strip,
        )
        if colour is not None:
            shades = [colour(self.points[number], normals[number]) for number, _ in order]
            found.colours = np.array(shades, np.uint8)
        if names.is_root(parent):
            found.skin = _skin([self.weights[number] for number, _ in order])
        return found


def _skin(weights: Sequence[Weights]) -> Skin:
    """Return four slots and weights per vertex, the heaviest first, their sum one."""
    bones = list(dict.fromkeys(name for entry in weights for name in entry))
    slots, shares = np.zeros((len(weights), 4), "<i2"), np.zeros((len(weights), 4), "<f4")
    for row, entry in enumerate(weights):
        heaviest = sorted(entry.items(), key=lambda item: (-item[1], item[0]))[:4]
        total = 0.0
        for _, share in heaviest:
            total = total + share
        for column, (name, share) in enumerate(heaviest):
            slots[row, column], shares[row, column] = bones.index(name), share / total
    return Skin(slots, shares, names.fields([names.field(name) for name in bones]))


def exact_round(value: float) -> float:
    """Return a number rounded to 1/256."""
    return float(np.floor(value * 256.0 + 0.5)) / 256.0


def blend(*parts: tuple[str, float]) -> Weights:
    """Return weights of those bones that count at all."""
    found: Weights = {}
    for name, share in parts:
        if share > 0.01:
            found[name] = found.get(name, 0.0) + share
    return found


def eased(value: float, low: float, high: float) -> float:
    """Return 0 below `low`, 1 above `high`, smooth between; `low` may be the larger one."""
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return share * share * (3.0 - 2.0 * share)


def oval(count: int, *, start: float = 0.0) -> list[tuple[float, float]]:
    """Return points of a circle as (sine, cosine), beginning at `start` turns."""
    return [(exact.sine(start + step / count), exact.cosine(start + step / count)) for step in range(count)]


def ring(centre: Vector, side: Vector, up: Vector, wide: float, high: float, count: int) -> list[Vector]:
    """Return an ellipse about a centre, beginning at `-up`: half widths along `side` and `up`."""
    return [
        exact.add(centre, exact.add(exact.scaled(side, s * wide), exact.scaled(up, -c * high))) for s, c in oval(count)
    ]


def tube(path: Sequence[Vector], sizes: Sequence[tuple[float, float]], side: Vector, count: int) -> list[list[Vector]]:
    """Return ellipses across a path; `sizes` are half widths towards `side` and across it."""
    found = []
    for number, (centre, (wide, high)) in enumerate(zip(path, sizes, strict=True)):
        before, after = path[max(number - 1, 0)], path[min(number + 1, len(path) - 1)]
        along = exact.unit(exact.sub(after, before))
        across = exact.unit(exact.sub(side, exact.scaled(along, exact.dot(side, along))))
        found.append(ring(centre, across, exact.cross(across, along), wide, high, count))
    return found


def shares(count: int) -> list[float]:
    """Return the places of a ring's points around, the seam included."""
    return [step / count for step in range(count + 1)]


def distances(path: Sequence[Vector]) -> list[float]:
    """Return places along a path, 0..1."""
    found = [0.0]
    for before, after in pairwise(path):
        found.append(found[-1] + exact.length(exact.sub(after, before)))
    return [place / found[-1] for place in found]
