# SPDX-License-Identifier: GPL-3.0-or-later
"""The fox's joints: turns of bones and places of hands and feet to where each bone is, and that to keys.

Turns are about the axes of the bind pose, in which the fox faces -z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tools.samples import exact
from tools.samples.fox.skeleton import JOINTS, NAMES, joint
from tools.samples.pose import UNTURNED, Matrix, euler, product, turned

if TYPE_CHECKING:
    from tools.samples.exact import Vector

Quaternion: TypeAlias = tuple[float, float, float, float]  # x, y, z, w
HALF_TURN: Matrix = ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0))


@dataclass(frozen=True)
class Reach:
    """Where the end of an arm or leg is, the model's space, and the direction that its joint bends to."""

    place: Vector
    bend: Vector


@dataclass
class Pose:
    """One frame. `turns`: pitch (nose up), yaw (nose to its left), roll (left side up) per bone, in degrees.

    `reach`: of "L Hand", "R Hand", "L Foot", "R Foot". `facing`: turns of hands and feet in the model's space instead
    of along with what they hang on. `places` and `sizes` of single bones.
    """

    shift: Vector = (0.0, 0.0, 0.0)
    turns: dict[str, Vector] = field(default_factory=dict)
    reach: dict[str, Reach] = field(default_factory=dict)
    facing: dict[str, Matrix] = field(default_factory=dict)
    places: dict[str, Vector] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """Where a bone is: how far it is turned from the bind pose, and its head."""

    turn: Matrix
    head: Vector

    def carried(self, start: Vector, place: Vector) -> Vector:
        """Return where a place of the bind pose goes with the bone, whose head is at `start` there."""
        return exact.add(self.head, turned(self.turn, exact.sub(place, start)))


_LIMBS = {
    f"{side} {end}": (f"Bip01 {side} {upper}", f"Bip01 {side} {lower}", f"Bip01 {side} {end}")
    for side in "LR"
    for upper, lower, end in (("UpperArm", "Forearm", "Hand"), ("Thigh", "Calf", "Foot"))
}


def solve(pose: Pose) -> dict[str, State]:
    """Return the state of every bone. Raises `ValueError` where a hand or foot is out of reach."""
    found: dict[str, State] = {}
    bent: dict[str, Matrix] = {}
    for bone in JOINTS:
        if bone.parent < 0:
            turn, head = UNTURNED, exact.add(bone.head, pose.shift)
        else:
            above = JOINTS[bone.parent]
            turn, head = found[above.name].turn, found[above.name].carried(above.head, bone.head)
        head = pose.places.get(bone.name, head)
        for limb, (upper, lower, _) in _LIMBS.items():
            if bone.name == upper and limb in pose.reach:
                bent[upper], bent[lower] = _bent(limb, head, pose.reach[limb])
        turn = bent.get(bone.name, turn)
        turn = pose.facing.get(bone.name, turn)
        if bone.name in pose.turns:
            turn = product(turn, euler(pose.turns[bone.name]))
        found[bone.name] = State(turn, head)
    return found


def _bent(limb: str, start: Vector, reach: Reach) -> tuple[Matrix, Matrix]:
    """Return the turns of the two bones of a limb that begins at `start`."""
    first, second, third = (joint(name).head for name in _LIMBS[limb])
    upper, lower = exact.length(exact.sub(second, first)), exact.length(exact.sub(third, second))
    line = exact.sub(reach.place, start)
    far = exact.length(line)
    if not abs(upper - lower) < far < upper + lower:
        raise ValueError(f"{limb} shall be {far:.2f} away and is {upper:.2f} + {lower:.2f} long")
    way = exact.scaled(line, 1.0 / far)
    along = (upper * upper - lower * lower + far * far) / (2.0 * far)
    out = exact.unit(exact.sub(reach.bend, exact.scaled(way, exact.dot(reach.bend, way))))
    middle = exact.add(
        start, exact.add(exact.scaled(way, along), exact.scaled(out, math.sqrt(upper * upper - along * along)))
    )
    # In the bind pose elbows point backwards, knees forwards.
    rest: Vector = (0.0, 0.0, 1.0) if "Hand" in limb else (0.0, 0.0, -1.0)
    turns = []
    for before, after in (
        (exact.sub(second, first), exact.sub(middle, start)),
        (exact.sub(third, second), exact.sub(reach.place, middle)),
    ):
        turns.append(product(frame(after, out), transposed(frame(before, rest))))
    return turns[0], turns[1]


def frame(way: Vector, lean: Vector) -> Matrix:
    """Return axes as columns: along `way`, towards `lean`, and across both."""
    x = exact.unit(way)
    y = exact.unit(exact.sub(lean, exact.scaled(x, exact.dot(lean, x))))
    z = exact.cross(x, y)
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))


def aimed(name: str, way: Vector, lean: Vector) -> Matrix:
    """Return the turn that lets a bone point along `way`, its y axis towards `lean`."""
    return product(frame(way, lean), transposed(joint(name).axes))


def transposed(m: Matrix) -> Matrix:
    """Return rows as columns."""
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


def local(states: dict[str, State], name: str, *, turned_round: bool = True) -> tuple[Vector, Quaternion]:
    """Return position and rotation of a bone against its parent, as an ANI holds them.

    In clips the game's characters face +z: the root makes a half turn.
    """
    bone = joint(name)
    state = states[name]
    axes = product(state.turn, bone.axes)
    if bone.parent < 0:
        if turned_round:
            return turned(HALF_TURN, state.head), quaternion(product(HALF_TURN, axes))
        return state.head, quaternion(axes)
    above = JOINTS[bone.parent]
    parent = states[above.name]
    back = transposed(product(parent.turn, above.axes))
    return turned(back, exact.sub(state.head, parent.head)), quaternion(product(back, axes))


def quaternion(m: Matrix) -> Quaternion:
    """Return the turn of a matrix, by the largest of its four parts."""
    trace = m[0][0] + m[1][1] + m[2][2]
    if trace > 0.0:
        s = math.sqrt(trace + 1.0) * 2.0
        return ((m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s, 0.25 * s)
    if m[0][0] >= m[1][1] and m[0][0] >= m[2][2]:
        s = math.sqrt(1.0 + m[0][0] - m[1][1] - m[2][2]) * 2.0
        return (0.25 * s, (m[0][1] + m[1][0]) / s, (m[0][2] + m[2][0]) / s, (m[2][1] - m[1][2]) / s)
    if m[1][1] >= m[2][2]:
        s = math.sqrt(1.0 + m[1][1] - m[0][0] - m[2][2]) * 2.0
        return ((m[0][1] + m[1][0]) / s, 0.25 * s, (m[1][2] + m[2][1]) / s, (m[0][2] - m[2][0]) / s)
    s = math.sqrt(1.0 + m[2][2] - m[0][0] - m[1][1]) * 2.0
    return ((m[0][2] + m[2][0]) / s, (m[1][2] + m[2][1]) / s, 0.25 * s, (m[1][0] - m[0][1]) / s)


def rest() -> dict[str, State]:
    """Return the bind pose."""
    return {name: State(UNTURNED, joint(name).head) for name in NAMES}
