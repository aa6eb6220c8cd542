# SPDX-License-Identifier: GPL-3.0-or-later
"""A low-poly model in the making: lofted skins, cones and cards, each mapped to an island of the texture.

Design axes: x to the animal's left, y up, z backwards, in file units, as the files have it. Faces are turned so that
the cross product of the raw numbers points away from the middle of their part, which is how the games wind them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from tools.samples import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.samples.exact import Vector


@dataclass(frozen=True)
class Bone:
    """A bone at an absolute position; `parent` is the number of an earlier bone, -1 for none."""

    name: str
    position: Vector
    parent: int


@dataclass(frozen=True)
class Island:
    """A rectangle of the texture, in texels."""

    x: int
    y: int
    width: int
    height: int

    def at(self, across: float, down: float) -> tuple[int, int]:
        """Return the texel at a place given as shares of the island, off its rim: filtering bleeds."""
        u = self.x + 1 + math.floor(across * (self.width - 3) + 0.5)
        v = self.y + 1 + math.floor(down * (self.height - 3) + 0.5)
        return u, v


@dataclass(frozen=True)
class Look:
    """What the faces of a part have in common."""

    island: Island
    group: int
    flags: int = 0


@dataclass(frozen=True)
class Ring:
    """A closed cross-section; `mapped` are the places of its points along the rim of the island, 0..1."""

    points: tuple[Vector, ...]
    mapped: tuple[float, ...]
    owner: int

    @property
    def middle(self) -> Vector:
        """Return the mean of the points."""
        return exact.middle(list(self.points))


@dataclass
class Shape:
    """Vertices and faces, in the order they will have in the file."""

    positions: list[Vector] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)
    corners: list[tuple[int, int, int]] = field(default_factory=list)
    texels: list[tuple[tuple[int, int], ...]] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)

    def vertex(self, position: Vector, owner: int, *, hide: bool = False) -> int:
        """Add a vertex, rounded to 1/16 unit (what an animation can store); return its number."""
        x, y, z = (math.floor(value * 16.0 + 0.5) / 16.0 for value in position)
        self.positions.append((x, y, z))
        self.owners.append(owner)
        self.hidden.append(int(hide))
        return len(self.positions) - 1

    def face(
        self, corners: Sequence[int], texels: Sequence[tuple[int, int]], look: Look, away_from: Vector | None = None
    ) -> None:
        """Add a triangle; with `away_from` it is turned so that its front looks away from that point."""
        order = (0, 1, 2)
        if away_from is not None:
            a, b, c = (self.positions[corner] for corner in corners)
            normal = exact.cross(exact.sub(b, a), exact.sub(c, a))
            if exact.dot(normal, exact.sub(exact.middle([a, b, c]), away_from)) < 0.0:
                order = (0, 2, 1)
        first, second, third = (corners[place] for place in order)
        self.corners.append((first, second, third))
        self.texels.append(tuple(texels[place] for place in order))
        self.flags.append(look.flags)
        self.groups.append(look.group)

    def skin(self, rings: Sequence[Ring], looks: Sequence[Sequence[Look]] | Look, along: Sequence[float]) -> None:
        """Join rings by faces. `along` is each ring's place on the island; `looks` may differ by segment and side."""
        numbers = [[self.vertex(point, ring.owner) for point in ring.points] for ring in rings]
        for segment, (ring, after) in enumerate(pairwise(rings)):
            count = len(ring.points)
            centre = exact.between(ring.middle, after.middle, 0.5)
            for side in range(count):
                beside = (side + 1) % count
                look = looks if isinstance(looks, Look) else looks[segment][side]
                quad = [
                    (numbers[segment][side], look.island.at(along[segment], ring.mapped[side])),
                    (numbers[segment][beside], look.island.at(along[segment], ring.mapped[beside])),
                    (numbers[segment + 1][beside], look.island.at(along[segment + 1], after.mapped[beside])),
                    (numbers[segment + 1][side], look.island.at(along[segment + 1], after.mapped[side])),
                ]
                # The diagonals of the two body halves mirror each other.
                halves = ((0, 1, 2), (0, 2, 3)) if 2 * side < count else ((0, 1, 3), (1, 2, 3))
                for half in halves:
                    self.face([quad[i][0] for i in half], [quad[i][1] for i in half], look, centre)

    def cone(self, ring: Ring, tip: Vector, look: Look, *, along: tuple[float, float] = (0.0, 1.0)) -> None:
        """Join a ring to a point: claws, teeth, horns, the ends of tubes."""
        numbers = [self.vertex(point, ring.owner) for point in ring.points]
        end = self.vertex(tip, ring.owner)
        inside = exact.between(ring.middle, tip, 0.25)
        for side in range(len(numbers)):
            beside = (side + 1) % len(numbers)
            a, b = ring.mapped[side], ring.mapped[beside]
            texels = [look.island.at(along[0], a), look.island.at(along[0], b), look.island.at(along[1], (a + b) / 2)]
            self.face([numbers[side], numbers[beside], end], texels, look, inside)

    def card(self, points: Sequence[Vector], places: Sequence[tuple[float, float]], owner: int, look: Look) -> None:
        """Add a flat quad, in the order of its points; hidden vertices, as nobody should bump into a feather."""
        numbers = [self.vertex(point, owner, hide=True) for point in points]
        texels = [look.island.at(across, down) for across, down in places]
        for half in ((0, 1, 2), (0, 2, 3)):
            self.face([numbers[i] for i in half], [texels[i] for i in half], look)


def mirrored_rim(count: int) -> tuple[float, ...]:
    """Return places along the rim for a ring that starts at the top: 0 there, 1 at the bottom, both sides alike."""
    return tuple(min(i, count - i) / (count // 2) for i in range(count))


def tube(
    centres: Sequence[Vector],
    sizes: Sequence[tuple[float, float]],
    owners: Sequence[int],
    profile: Sequence[tuple[float, float]],
    side: Vector,
) -> list[Ring]:
    """Return rings across a line. `sizes` are half widths (towards `side`) and half heights, which scale `profile`."""
    rings = []
    for number, (centre, (width, height), owner) in enumerate(zip(centres, sizes, owners, strict=True)):
        before, after = centres[max(number - 1, 0)], centres[min(number + 1, len(centres) - 1)]
        forward = exact.unit(exact.sub(after, before))
        across = exact.unit(exact.sub(side, exact.scaled(forward, exact.dot(side, forward))))
        up = exact.cross(across, forward)
        points = tuple(
            exact.add(centre, exact.add(exact.scaled(across, a * width), exact.scaled(up, b * height)))
            for a, b in profile
        )
        rings.append(Ring(points, mirrored_rim(len(profile)), owner))
    return rings


def spread(rings: Sequence[Ring]) -> list[float]:
    """Return places of rings along a tube by their distance, 0 for the first, 1 for the last."""
    places = [0.0]
    for before, after in pairwise(rings):
        places.append(places[-1] + exact.length(exact.sub(after.middle, before.middle)))
    return [place / places[-1] for place in places]
