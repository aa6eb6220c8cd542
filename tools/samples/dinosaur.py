# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample dinosaur: body, limbs and feathers; the head has a module of its own."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tools.samples import exact, head, islands
from tools.samples.shape import Shape, spread, tube
from tools.samples.skeleton import BONES, bone

if TYPE_CHECKING:
    from tools.samples.exact import Vector

__all__ = ["BONES", "build"]

# Forward, up, half width, half height, bone.
_BODY = (
    (-196, 141, 3.0, 3.5, "Tail 4"),
    (-156, 129, 6.0, 7.0, "Tail 4"),
    (-116, 122, 9.5, 11.0, "Tail 3"),
    (-80, 119, 13.5, 16.0, "Tail 2"),
    (-46, 120, 18.5, 23.0, "Tail 1"),
    (-15, 123, 24.0, 32.0, "Pelvis"),
    (16, 121, 26.0, 34.0, "Pelvis"),
    (48, 115, 27.5, 34.0, "Spine"),
    (79, 117, 26.5, 35.0, "Chest"),
    (104, 131, 21.0, 30.0, "Chest"),
    (117, 152, 16.0, 22.5, "Neck"),
    (120, 174, 13.0, 18.5, "Neck"),
    (128, 193, 12.5, 17.0, "Neck"),
    (146, 203, 11.0, 13.5, "Head"),
)
_OVAL8 = ((0.0, 1.0), (0.66, 0.74), (1.0, 0.0), (0.7, -0.74), (0.0, -1.0), (-0.7, -0.74), (-1.0, 0.0), (-0.66, 0.74))
_OVAL6 = ((0.0, 1.0), (0.9, 0.5), (0.9, -0.5), (0.0, -1.0), (-0.9, -0.5), (-0.9, 0.5))
_OVAL5 = ((0.0, 1.0), (1.0, 0.3), (0.6, -0.8), (-0.6, -0.8), (-1.0, 0.3))
_WEDGE = ((0.0, 1.0), (1.0, -0.7), (-1.0, -0.7))


def build() -> Shape:
    """Return the whole animal, standing as the files have it."""
    shape = Shape()
    _body(shape)
    head.build(shape)
    # The left leg stands in front, the right one pushes off: joints as (across, up, forward).
    _leg(
        shape,
        "L",
        ((16, 132, -2), (21, 114, 8), (24, 98, 24), (25, 80, 37), (25, 64, 24), (24, 40, 2), (24, 21, 8), (24, 5, 18)),
    )
    _leg(
        shape,
        "R",
        (
            (16, 132, -6),
            (21, 112, -4),
            (24, 94, 4),
            (25, 76, 10),
            (24, 63, -8),
            (23, 47, -36),
            (23, 28, -36),
            (23, 6, -33),
        ),
    )
    _arm(shape, "L", ((15, 122, 88), (23, 107, 91), (27, 92, 87), (27, 88, 97), (25, 86, 108)))
    _arm(shape, "R", ((15, 122, 88), (23, 108, 93), (27, 94, 91), (27, 92, 101), (25, 91, 112)))
    _feathers(shape)
    return shape


def _body(shape: Shape) -> None:
    centres: list[Vector] = [(0.0, float(up), float(-forward)) for forward, up, _, _, _ in _BODY]
    sizes = [(wide, high) for _, _, wide, high, _ in _BODY]
    owners = [bone(name) for _, _, _, _, name in _BODY]
    rings = tube(centres, sizes, owners, _OVAL8, (1.0, 0.0, 0.0))
    looks = [[islands.BODY_LOOK] * 8 for _ in rings[1:]]
    for segment in (7, 8):  # behind the arms, where the heart is
        for side in (2, 5):
            looks[segment][side] = islands.HEART
    shape.skin(rings, looks, spread(rings))
    shape.cone(rings[0], (0.0, 151.0, 222.0), islands.BODY_LOOK, along=(0.0, 0.0))


def _leg(shape: Shape, side: str, joints: tuple[tuple[float, float, float], ...]) -> None:
    sign = 1.0 if side == "L" else -1.0
    sizes = ((8, 18), (13, 26), (13.5, 21), (9.5, 12), (8, 11.5), (6, 7), (5.5, 5.5), (6.5, 5.5))
    names = ("Thigh", "Thigh", "Thigh", "Thigh", "Shin", "Shin", "Foot", "Foot")
    centres = [(x * sign, float(up), float(-forward)) for x, up, forward in joints]
    owners = [bone(f"{side} {name}") for name in names]
    rings = tube(centres, sizes, owners, _OVAL6, (1.0, 0.0, 0.0))
    shape.skin(rings, islands.LEG_LOOK, spread(rings))
    root = centres[-1]
    for yaw in (-0.42, 0.05, 0.5):
        _toe(shape, bone(f"{side} Toes"), root, exact.unit((yaw * sign, 0.0, -1.0)))


def _toe(shape: Shape, owner: int, root: Vector, way: Vector) -> None:
    stations = ((-7.0, 8.0, 5.5, 7.0), (11.0, 5.5, 4.8, 4.6), (24.0, 3.8, 4.2, 3.5))
    centres = [_on_ground(root, way, reach, high) for reach, high, _, _ in stations]
    side = (-way[2], 0.0, way[0])
    rings = tube(centres, [(wide, tall) for _, _, wide, tall in stations], [owner] * 3, _WEDGE, side)
    shape.skin(rings, islands.TOE_LOOK, spread(rings))
    shape.cone(rings[-1], _on_ground(root, way, 35.0, 0.5), islands.TOE_CLAW)


def _on_ground(root: Vector, way: Vector, reach: float, high: float) -> Vector:
    return (root[0] + way[0] * reach, high, root[2] + way[2] * reach)


def _arm(shape: Shape, side: str, joints: tuple[tuple[float, float, float], ...]) -> None:
    sign = 1.0 if side == "L" else -1.0
    centres = [(x * sign, float(up), float(-forward)) for x, up, forward in joints]
    arm, hand = bone(f"{side} Arm"), bone(f"{side} Hand")
    sizes = ((5, 9), (6.5, 8.5), (5, 5.5), (4.4, 4.2), (3.4, 2.0))
    rings = tube(centres, sizes, [arm, arm, arm, hand, hand], _OVAL5, (1.0, 0.0, 0.0))
    shape.skin(rings, islands.ARM_LOOK, spread(rings))
    palm = centres[-1]
    for across, drop in ((3.5, -9.0), (0.0, -11.0), (-3.5, -8.0)):
        knuckle = exact.add(palm, (across * sign * 0.6, 0.0, 1.5))
        bend = exact.add(palm, (across * sign * 1.2, drop * 0.35, -7.0))
        tip = exact.add(palm, (across * sign * 1.1, drop, -11.0))
        rings = tube([knuckle, bend], [(2.2, 2.2), (1.8, 1.8)], [hand, hand], _WEDGE, (1.0, 0.0, 0.0))
        shape.skin(rings, islands.FINGER_LOOK, (0.0, 1.0))
        shape.cone(rings[-1], tip, islands.FINGER_CLAW)


# Where the crest grows, from the brow to the shoulders: up, forward, height, bone.
_CREST = (
    (223, 162, 17.0, "Crête"),
    (221, 143, 29.0, "Crête"),
    (211, 122, 33.0, "Neck"),
    (192, 108, 31.0, "Neck"),
    (171, 98, 26.0, "Neck"),
    (154, 82, 16.0, "Chest"),
)


def _feathers(shape: Shape) -> None:
    for lean in (0.42, -0.42):
        for number, (front, back) in enumerate(pairwise(_CREST)):
            start, end = (0.0, 1.0) if number % 2 == 0 else (1.0, 0.0)
            roots = [(0.0, up - 2.0, -float(forward)) for up, forward, _, _ in (front, back)]
            way = exact.unit(exact.sub(roots[1], roots[0]))
            out = exact.unit((lean, way[2], -way[1]))
            tips = [
                exact.add(root, exact.scaled(out, entry[2])) for root, entry in zip(roots, (front, back), strict=True)
            ]
            tips = [exact.add(tip, exact.scaled(way, 9.0)) for tip in tips]
            places = [(start, 1.0), (end, 1.0), (end, 0.0), (start, 0.0)]
            shape.card([roots[0], roots[1], tips[1], tips[0]], places, bone(front[3]), islands.CREST_LOOK)
    _tail_fan(shape)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        _plumes(shape, side, sign)


def _tail_fan(shape: Shape) -> None:
    places = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    for lean, lift in ((1.0, 0.2), (0.75, 0.8), (-0.75, 0.8), (-1.0, 0.2)):
        a, b = (0.0, 134.0, 172.0), (0.0, 150.0, 218.0)
        out = (lean * 27.0, lift * 24.0, 16.0)
        points = [a, exact.add(a, out), exact.add(b, exact.scaled(out, 1.1)), b]
        shape.card(points, places, bone("Tail 4"), islands.FAN_LOOK)


def _plumes(shape: Shape, side: str, sign: float) -> None:
    places = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)]
    elbow, wrist = (28.0 * sign, 92.0, -86.0), (28.0 * sign, 88.0, -106.0)
    out = (10.0 * sign, -12.0, 24.0)
    points = [elbow, wrist, exact.add(wrist, exact.scaled(out, 0.8)), exact.add(elbow, out)]
    shape.card(points, places, bone(f"{side} Arm"), islands.PLUME_LOOK)
