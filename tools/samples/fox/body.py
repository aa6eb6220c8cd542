# SPDX-License-Identifier: GPL-3.0-or-later
"""The fox below the head: tunic, collar, arms, gloves, legs, boots, tail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.samples import exact
from tools.samples.fox import islands
from tools.samples.fox.shape import Shape, Tube, blend, distances, eased, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tools.samples.exact import Vector
    from tools.samples.fox.shape import Weights

# Height, depth, half width, half depth.
_TUNIC = (
    (61.0, 1.0, 4.0, 3.8),
    (59.3, 1.0, 7.4, 5.2),
    (56.5, 0.9, 9.0, 6.3),
    (52.0, 0.6, 8.9, 6.8),
    (47.0, 0.4, 7.7, 6.3),
    (43.4, 0.2, 7.1, 6.0),
    (40.8, 0.2, 7.7, 6.7),
    (37.0, 0.1, 9.8, 8.8),
    (33.5, 0.0, 11.6, 10.4),
    (30.5, 0.0, 12.9, 11.5),
)
_LINING = ((31.0, 0.0, 12.1, 10.7), (36.0, 0.0, 7.0, 6.0))
_Z = (0.0, 0.0, 1.0)


def build() -> Shape:
    """Return the body."""
    shape = Shape()
    _tunic(shape)
    _collar(shape)
    for sign in (1.0, -1.0):
        _arm(shape, sign)
        _leg(shape, sign)
    _tail(shape)
    return shape


def sided(sign: float, name: str) -> str:
    """Return the Biped's name of a bone of one side."""
    return f"Bip01 {'L' if sign > 0.0 else 'R'} {name}"


def trunk(place: Vector, _number: int = 0) -> Weights:
    """Return how the trunk follows spine, shoulders and thighs."""
    x, y, _ = place
    chest, waist = eased(y, 45.5, 53.0), eased(y, 39.0, 46.0)
    shoulder = 0.55 * eased(abs(x), 3.5, 9.5) * eased(y, 50.0, 56.5)
    swing = 0.5 * eased(y, 39.0, 30.5)
    left = eased(x, -5.0, 5.0)
    return blend(
        ("Bip01 Spine1", chest * (1.0 - shoulder)),
        (sided(x, "Clavicle"), chest * shoulder),
        ("Bip01 Spine", waist * (1.0 - chest)),
        ("Bip01 Pelvis", (1.0 - waist) * (1.0 - swing)),
        ("Bip01 L Thigh", (1.0 - waist) * swing * left),
        ("Bip01 R Thigh", (1.0 - waist) * swing * (1.0 - left)),
    )


def _tunic(shape: Shape) -> None:
    path = [(0.0, y, z) for y, z, _, _ in _TUNIC]
    sizes = [(wide, deep) for _, _, wide, deep in _TUNIC]
    along = [0.9 * place for place in distances(path)]
    # The rings lie flat, whatever their middles do.
    rings = [
        [
            shape.point((s * wide, y, z + c * deep), trunk((s * wide, y, z)))
            for s, c in ((exact.sine(step / 18.0), exact.cosine(step / 18.0)) for step in range(18))
        ]
        for (_, y, z), (wide, deep) in zip(path, sizes, strict=True)
    ]
    shape.loft(rings, islands.TORSO, along, shares(18))
    lining = [
        [
            shape.point((s * wide, y, z + c * deep), trunk((s * wide, y, z)))
            for s, c in ((exact.sine(step / 18.0), exact.cosine(step / 18.0)) for step in range(18))
        ]
        for y, z, wide, deep in _LINING
    ]
    edge = [shape.point(shape.points[number], shape.weights[number]) for number in rings[-1]]
    shape.loft([edge, lining[0]], islands.TORSO, (0.92, 0.95), shares(18), inwards=True)
    inner = [shape.point(shape.points[number], shape.weights[number]) for number in lining[0]]
    shape.loft([inner, lining[1]], islands.TORSO, (0.95, 1.0), shares(18), inwards=True)


def _collar(shape: Shape) -> None:
    """A thick ruff of fur."""

    def weights(place: Vector, _number: int) -> Weights:
        neck = eased(place[1], 58.0, 64.5)
        return blend(("Bip01 Neck", 0.75 * neck), ("Bip01 Spine1", 1.0 - 0.75 * neck))

    path = [
        (0.0, 64.5, 0.6),
        (0.0, 63.9, 0.6),
        (0.0, 61.4, 0.2),
        (0.0, 58.6, -0.6),
        (0.0, 56.6, -1.4),
        (0.0, 57.6, -0.6),
    ]
    sizes = [(4.5, 4.3), (7.6, 7.2), (9.6, 9.0), (9.0, 8.6), (6.6, 6.8), (4.0, 4.0)]
    shape.tube(Tube(path, sizes, islands.COLLAR, 16, (0.0, 0.12, 0.45, 0.75, 0.95, 1.0)), weights)


def _arm(shape: Shape, sign: float) -> None:
    clavicle, upper, fore, hand = (sided(sign, name) for name in ("Clavicle", "UpperArm", "Forearm", "Hand"))

    def sleeve(place: Vector, _number: int) -> Weights:
        out = abs(place[0])
        bent, arm = eased(out, 13.0, 19.0), eased(out, 5.0, 10.5)
        return blend(
            (clavicle, 0.6 * (1.0 - arm)),
            ("Bip01 Spine1", 0.4 * (1.0 - arm)),
            (upper, arm * (1.0 - bent)),
            (fore, bent),
        )

    def glove(place: Vector, _number: int) -> Weights:
        held = eased(abs(place[0]), 23.2, 26.2)
        return blend((fore, 1.0 - held), (hand, held))

    path = [(5.5, 56.5, 1.0), (8.6, 56.0, 1.1), (11.2, 53.0, 1.3), (13.8, 50.2, 1.7), (15.9, 48.1, 1.9)]
    path += [(18.2, 45.9, 1.5), (21.0, 43.3, 0.8), (24.0, 40.5, 0.1)]
    sizes = [(2.8, 2.8), (4.5, 4.6), (4.9, 5.0), (4.3, 4.3), (3.5, 3.5), (3.2, 3.2), (3.1, 3.1), (2.7, 2.7)]
    shape.tube(Tube(_on(sign, path), sizes, islands.ARM, 10, side=_Z), sleeve)
    path = [(20.7, 43.5, 0.9), (21.3, 43.0, 0.8), (24.5, 40.0, 0.0), (26.6, 38.0, -0.5), (28.8, 36.0, -1.0)]
    path += [(30.6, 34.2, -1.4)]
    sizes = [(3.4, 3.4), (4.4, 4.4), (3.1, 3.0), (3.8, 2.9), (3.7, 2.8), (2.5, 2.0)]
    tip = (31.7 * sign, 33.2, -1.6)
    along = (0.0, 0.12, 0.4, 0.62, 0.85, 1.0)
    shape.tube(Tube(_on(sign, path), sizes, islands.GLOVE, 10, along, _Z, end=tip), glove)
    path = [(26.2, 38.2, -2.2), (27.4, 37.4, -4.6), (28.8, 36.3, -5.6)]
    sizes = [(1.5, 1.6), (1.5, 1.4), (1.0, 1.0)]
    tip = (29.8 * sign, 35.4, -5.9)
    thumb = Tube(_on(sign, path), sizes, islands.GLOVE, 6, (0.5, 0.8, 1.0), end=tip)
    shape.tube(thumb, lambda _place, _number: {hand: 1.0})


def _on(sign: float, path: Sequence[Vector]) -> list[Vector]:
    return [(x * sign, y, z) for x, y, z in path]


def _leg(shape: Shape, sign: float) -> None:
    thigh, calf, foot, toe = (sided(sign, name) for name in ("Thigh", "Calf", "Foot", "Toe0"))

    def weights(place: Vector, _number: int) -> Weights:
        y = place[1]
        hip, knee, ankle = eased(y, 31.0, 37.5), eased(y, 23.5, 16.8), eased(y, 8.2, 4.0)
        return blend(
            ("Bip01 Pelvis", 0.6 * hip), (thigh, (1.0 - 0.6 * hip) * (1.0 - knee)),
            (calf, knee * (1.0 - ankle)), (foot, ankle),
        )  # fmt: skip

    def sole(place: Vector, _number: int) -> Weights:
        bent = eased(place[2], -3.5, -8.0)
        return blend((foot, 1.0 - bent), (toe, bent))

    path = [
        (4.6, 36.5, 0.0),
        (5.5, 32.0, -0.1),
        (6.3, 26.0, -0.5),
        (6.6, 22.2, -0.8),
        (6.8, 19.6, -0.8),
        (7.0, 17.0, -0.3),
    ]
    sizes = [(3.2, 3.8), (4.6, 5.0), (4.4, 4.6), (4.0, 4.2), (3.8, 4.0), (3.6, 3.8)]
    shape.tube(Tube(_on(sign, path), sizes, islands.LEG, 10, (0.0, 0.12, 0.25, 0.34, 0.42, 0.5)), weights)
    path = [
        (7.0, 15.4, 0.0),
        (7.0, 17.6, -0.3),
        (7.05, 16.6, -0.1),
        (7.1, 14.8, 0.2),
        (7.3, 10.0, 0.9),
        (7.5, 6.0, 1.3),
    ]
    path += [(7.6, 3.0, 1.2), (7.6, 0.1, 1.0)]
    sizes = [(3.9, 4.1), (5.2, 5.4), (5.6, 5.8), (4.3, 4.5), (3.9, 4.3), (3.9, 4.5), (4.2, 4.8), (4.2, 4.8)]
    _flat(shape, _on(sign, path), sizes, weights, (0.5, 0.55, 0.6, 0.66, 0.8, 0.9, 0.96, 1.0))
    path = [(7.5, 3.4, 2.0), (7.8, 3.3, -2.0), (8.3, 3.0, -6.0), (8.7, 2.7, -9.6), (9.0, 2.3, -12.4)]
    sizes = [(3.9, 3.4), (4.4, 3.3), (4.7, 3.0), (4.3, 2.7), (2.7, 2.0)]
    tip = (9.15 * sign, 2.0, -13.6)
    shape.tube(Tube(_on(sign, path), sizes, islands.BOOT, 10, end=tip), sole)


def _flat(
    shape: Shape,
    path: Sequence[Vector],
    sizes: Sequence[tuple[float, float]],
    weights: Callable[[Vector, int], Weights],
    along: Sequence[float],
) -> None:
    """A boot's shaft: level rings, the sole closed."""
    rings = [
        [
            shape.point(point, weights(point, number))
            for step in range(10)
            for point in [(x + exact.sine(step / 10.0) * wide, y, z + exact.cosine(step / 10.0) * deep)]
        ]
        for number, ((x, y, z), (wide, deep)) in enumerate(zip(path, sizes, strict=True))
    ]
    shape.loft(rings, islands.LEG, along, shares(10))
    under = shape.point(path[-1], weights(path[-1], 0))
    rim = [islands.LEG.at(share, 1.0) for share in shares(10)[:-1]]
    shape.cap(rings[-1], under, islands.LEG.at(0.5, 1.0), rim, path[-2])


def _tail(shape: Shape) -> None:
    names = ("Bone_Tail01", "Bone_Tail02", "Bone_Tail03")

    def weights(_place: Vector, number: int) -> Weights:
        at = (0.0, 0.35, 0.9, 1.5, 2.1, 2.7, 3.0, 3.0, 3.0, 3.0)[number]
        root = blend(("Bip01 Pelvis", max(0.0, 0.7 - at * 2.0)))
        shares_of = [max(0.0, 1.0 - abs(at - middle)) for middle in (0.5, 1.5, 2.5)]
        if at >= 2.5:
            shares_of[2] = 1.0
        if at <= 0.5:
            shares_of[0] = 1.0
        return root | blend(*zip(names, shares_of, strict=True))

    path = [(0.0, 38.5, 4.0), (0.0, 37.0, 9.5), (0.0, 36.2, 15.0), (0.0, 37.8, 21.0), (0.0, 42.0, 26.8)]
    path += [(0.0, 48.5, 31.0), (0.0, 56.0, 33.2), (0.0, 63.0, 33.2), (0.0, 69.0, 31.4)]
    sizes = [(2.4, 2.4), (3.0, 3.0), (4.2, 4.2), (6.0, 6.0), (7.6, 7.6), (8.2, 8.2), (7.2, 7.2), (5.0, 5.0), (2.4, 2.4)]
    shape.tube(Tube(path, sizes, islands.TAIL, 12, end=(0.0, 73.0, 29.0)), weights)
