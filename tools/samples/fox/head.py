# SPDX-License-Identifier: GPL-3.0-or-later
"""The fox's head: a ball with a snout and cheeks, as a function of longitude and latitude; ears and a tuft."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from tools.samples import exact
from tools.samples.fox import islands
from tools.samples.fox.shape import Shape, blend, distances, eased, shares, tube

if TYPE_CHECKING:
    from tools.samples.exact import Field, Vector
    from tools.samples.fox.shape import Weights

CENTRE = (0.0, 74.0, 0.0)
_SIZE = (17.0, 14.6, 14.8)  # half width, height, depth
_HALF = (8.0, 17.0, 27.0, 38.0, 50.0, 64.0, 80.0, 98.0, 122.0, 150.0)
LONGITUDES = (-180.0, *(-angle for angle in reversed(_HALF)), 0.0, *_HALF)
LATITUDES = (76.0, 60.0, 45.0, 32.0, 20.0, 10.0, 1.0, -7.0, -14.0, -21.0, -29.0, -40.0, -54.0, -72.0)
# The face gets most of the texture: degrees and their places on the island.
_ACROSS = ((0.0, 0.0), (98.0, 0.42), (180.0, 0.5))
_DOWN = ((-90.0, 1.0), (-54.0, 0.88), (54.0, 0.12), (90.0, 0.0))


def build() -> Shape:
    """Return the head with ears and tuft."""
    shape = Shape()
    _ball(shape)
    for sign in (1.0, -1.0):
        _ear(shape, sign)
    _tuft(shape)
    return shape


def across(longitude: float) -> float:
    """Return the place of a longitude on the island, 0..1."""
    share = _line(_ACROSS, abs(longitude))
    return 0.5 + share if longitude >= 0.0 else 0.5 - share


def down(latitude: float) -> float:
    """Return the place of a latitude on the island, 0..1."""
    return _line(_DOWN, latitude)


def _line(table: tuple[tuple[float, float], ...], value: float) -> float:
    for (a, low), (b, high) in itertools.pairwise(table):
        if value <= b:
            return low + (high - low) * (value - a) / (b - a)
    return table[-1][1]


def angles(places_across: Field, places_down: Field) -> tuple[Field, Field]:
    """Return longitude and latitude of places on the island: what `across` and `down` undo."""
    share = np.abs(places_across - 0.5)
    near = share / 0.42 * 98.0
    far = 98.0 + (share - 0.42) / 0.08 * 82.0
    longitude = np.where(share <= 0.42, near, far) * np.where(places_across >= 0.5, 1.0, -1.0)
    latitude = np.where(
        places_down < 0.12,
        90.0 - places_down / 0.12 * 36.0,
        np.where(places_down > 0.88, -54.0 - (places_down - 0.88) / 0.12 * 36.0, 54.0 - (places_down - 0.12) * 142.105),
    )
    return longitude, latitude


def surface(longitude: Field, latitude: Field) -> tuple[Field, Field, Field]:
    """Return x, y, z of the ball's skin from the middle of the head; degrees, longitude 0 is the front."""
    flat = _sine(latitude / 360.0 + 0.25)
    x = flat * _sine(longitude / 360.0) * _SIZE[0]
    y = _sine(latitude / 360.0) * _SIZE[1]
    z = -flat * _sine(longitude / 360.0 + 0.25) * _SIZE[2]
    aside = np.abs(longitude)
    snout = _bump(longitude / 34.0) * _bump((latitude + 15.0) / 25.0)
    bridge = _bump(longitude / 20.0) * _bump((latitude + 4.0) / 22.0)
    cheek = _bump((aside - 70.0) / 44.0) * _bump((latitude + 24.0) / 25.0)
    socket = _bump((aside - 27.0) / 17.0) * _bump((latitude - 4.0) / 22.0)
    z = z - 8.5 * snout - 1.2 * bridge + 0.9 * socket
    y = y - 0.8 * snout - 2.6 * cheek
    x = x * (1.0 + 0.30 * cheek - 0.12 * snout)
    return x, y, z


def _sine(turns: Field) -> Field:
    """Return sines elementwise, one operation at a time, as `exact.sine` does."""
    place = (turns - np.floor(turns)) * 4.0
    quarter = np.floor(place)
    share = place - quarter
    odd = quarter - 2.0 * np.floor(quarter / 2.0)
    x = np.where(odd > 0.5, 1.0 - share, share) * 1.5707963267948966
    square, term, total = x * x, x, x
    for power in (2.0, 4.0, 6.0, 8.0, 10.0, 12.0):
        term = -term * square / (power * (power + 1.0))
        total = total + term
    return np.where(quarter >= 2.0, -total, total)


def _bump(value: Field) -> Field:
    """Return 1 in the middle, 0 from -1 and 1 on."""
    rest = np.clip(1.0 - value * value, 0.0, 1.0)
    return rest * rest


def _place(longitude: float, latitude: float) -> Vector:
    x, y, z = surface(np.array([longitude]), np.array([latitude]))
    return exact.add(CENTRE, (float(x[0]), float(y[0]), float(z[0])))


def _ball(shape: Shape) -> None:
    def weights(latitude: float) -> Weights:
        return blend(("Bip01 Head", 1.0), ("Bip01 Neck", 0.5 * eased(latitude, -60.0, -90.0)))

    rings = [
        [shape.point(_place(longitude, latitude), weights(latitude)) for longitude in LONGITUDES]
        for latitude in LATITUDES
    ]
    around = [across(longitude) for longitude in LONGITUDES] + [1.0]
    around[0] = 0.0
    shape.loft(rings, islands.HEAD, [down(latitude) for latitude in LATITUDES], around)
    for ring, latitude in ((rings[0], 90.0), (rings[-1], -90.0)):
        tip = shape.point(_place(0.0, latitude), weights(latitude))
        rim_down = down(LATITUDES[0] if latitude > 0.0 else LATITUDES[-1])
        for side in range(len(ring)):
            beside = (side + 1) % len(ring)
            middle = islands.HEAD.at((around[side] + around[side + 1]) / 2.0, down(latitude))
            spots = [islands.HEAD.at(around[side], rim_down), islands.HEAD.at(around[side + 1], rim_down)]
            shape.face([(ring[side], spots[0]), (ring[beside], spots[1]), (tip, middle)], CENTRE)


def _ear(shape: Shape, sign: float) -> None:
    """A pointed shell whose front is hollow."""
    name = "Bone_L Ear" if sign > 0.0 else "Bone_R Ear"
    path = [(9.0, 80.0, 1.0), (10.2, 85.5, 0.9), (12.3, 92.5, 1.1), (14.2, 99.5, 1.9)]
    path = [(x * sign, y, z) for x, y, z in path]
    sizes = [(6.2, 3.4), (6.3, 3.0), (4.9, 2.3), (2.5, 1.3)]
    side = exact.unit((-1.0, 0.3 * sign, 0.35 * sign))
    rings = []
    for number, points in enumerate(tube(path, sizes, side, 10)):
        share = (0.25, 0.7, 1.0, 1.0)[number]
        front = path[number]
        hollow = [_pressed(point, front, sizes[number][1]) for point in points]
        weights = blend(("Bip01 Head", 1.0 - share), (name, share))
        rings.append([shape.point(point, weights) for point in hollow])
    along = [0.0, 0.27, 0.6, 0.9]
    shape.loft(rings, islands.EAR, along, shares(10))
    tip = shape.point((15.4 * sign, 105.5, 2.6), {name: 1.0})
    rim = [islands.EAR.at(share, along[-1]) for share in shares(10)[:-1]]
    shape.cap(rings[-1], tip, islands.EAR.at(0.5, 1.0), rim, exact.middle([path[-1], path[-2]]))


def _pressed(point: Vector, centre: Vector, high: float) -> Vector:
    """Return a point of the front pressed inwards, so that the ear is a shell."""
    ahead = centre[2] - point[2]
    return (point[0], point[1], point[2] + 1.35 * ahead) if ahead > 0.35 * high else point


def _tuft(shape: Shape) -> None:
    """Hair over the brow: three locks."""
    for x, lean, high in ((0.0, 0.0, 8.0), (4.2, 3.0, 6.5), (-4.2, -3.0, 6.5)):
        root = _place(x * 3.4, 58.0)
        path = [
            exact.add(root, (0.0, -1.5, 1.5)),
            exact.add(root, (lean * 0.3, high * 0.25, -2.6)),
            exact.add(root, (lean * 0.8, -high * 0.1, -6.4)),
        ]
        sizes = [(3.0, 2.2), (2.5, 1.5), (1.4, 0.9)]
        rings = [
            [shape.point(point, {"Bip01 Head": 1.0}) for point in points]
            for points in tube(path, sizes, (1.0, 0.0, 0.0), 6)
        ]
        along = [place * 0.8 for place in distances(path)]
        shape.loft(rings, islands.TUFT, along, shares(6))
        tip = shape.point(exact.add(root, (lean, -high * 0.55, -7.8)), {"Bip01 Head": 1.0})
        rim = [islands.TUFT.at(share, along[-1]) for share in shares(6)[:-1]]
        shape.cap(rings[-1], tip, islands.TUFT.at(0.5, 1.0), rim, path[-2])
