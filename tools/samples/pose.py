# SPDX-License-Identifier: GPL-3.0-or-later
"""The dinosaur's joints: turns of bones and places of feet to one rigid motion per bone.

Axes are those of the files: x to the animal's left, y up, z backwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tools.samples import exact
from tools.samples.skeleton import BONES, bone

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tools.samples.exact import Field, Vector

Matrix: TypeAlias = tuple["Vector", "Vector", "Vector"]  # rows

UNTURNED: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
# Where the middle of the foot stands in the model as it was built; both feet flat on the ground.
_SOLE = {"L": (24.0, 0.0, -18.0), "R": (-23.0, 0.0, 33.0)}


@dataclass(frozen=True)
class Rigid:
    """A motion: a point goes to `turn` times the point, plus `shift`."""

    turn: Matrix = UNTURNED
    shift: Vector = (0.0, 0.0, 0.0)

    def point(self, place: Vector) -> Vector:
        """Return where a point goes."""
        return exact.add(turned(self.turn, place), self.shift)

    def points(self, places: Field) -> Field:
        """Return where points (n, 3) go."""
        x, y, z = places[:, 0], places[:, 1], places[:, 2]
        columns = [x * row[0] + y * row[1] + z * row[2] + off for row, off in zip(self.turn, self.shift, strict=True)]
        return np.stack(columns, axis=1)

    @classmethod
    def about(cls, turn: Matrix, pivot: Vector, to: Vector) -> Rigid:
        """Return the motion that turns about `pivot` and takes that to `to`."""
        return cls(turn, exact.sub(to, turned(turn, pivot)))


@dataclass(frozen=True)
class Foot:
    """Where a foot is: `across`, `back` of its middle, `lift` above the ground, in file units.

    Angles in degrees: `lean` of the metatarsus backwards from upright, `toes` upwards from flat.
    """

    across: float
    back: float
    lift: float = 0.0
    lean: float = 31.0
    toes: float = 0.0


@dataclass
class Pose:
    """One frame. `turns`: pitch (nose up), yaw (nose to its left), roll (left side up) per bone, in degrees."""

    left: Foot
    right: Foot
    shift: Vector = (0.0, 0.0, 0.0)
    turns: dict[str, Vector] = field(default_factory=dict)


def turned(matrix: Matrix, vector: Vector) -> Vector:
    """Return matrix times vector."""
    return (exact.dot(matrix[0], vector), exact.dot(matrix[1], vector), exact.dot(matrix[2], vector))


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return a times b."""
    x, y, z = (turned(a, (b[0][i], b[1][i], b[2][i])) for i in range(3))
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))


def euler(angles: Vector) -> Matrix:
    """Return the turn of pitch, yaw and roll in degrees: roll first, then pitch, then yaw."""
    (sp, cp), (sy, cy), (sr, cr) = ((exact.sine(angle / 360.0), exact.cosine(angle / 360.0)) for angle in angles)
    pitch: Matrix = ((1.0, 0.0, 0.0), (0.0, cp, -sp), (0.0, sp, cp))
    yaw: Matrix = ((cy, 0.0, -sy), (0.0, 1.0, 0.0), (sy, 0.0, cy))
    roll: Matrix = ((cr, -sr, 0.0), (sr, cr, 0.0), (0.0, 0.0, 1.0))
    return product(yaw, product(pitch, roll))


def swung(a: Vector, b: Vector) -> Matrix:
    """Return the shortest turn that takes the direction of `a` to that of `b`; they must not be opposite."""
    a, b = exact.unit(a), exact.unit(b)
    x, y, z = exact.cross(a, b)
    c = exact.dot(a, b)
    k = 1.0 / (1.0 + c)
    return (
        (x * x * k + c, x * y * k - z, x * z * k + y),
        (y * x * k + z, y * y * k + c, y * z * k - x),
        (z * x * k - y, z * y * k + x, z * z * k + c),
    )


def motions(pose: Pose) -> list[Rigid]:
    """Return the motion of every bone, in the order of the table."""
    found: list[Rigid] = []
    for joint in BONES:
        parent = found[joint.parent] if joint.parent >= 0 else Rigid(shift=pose.shift)
        turn = product(parent.turn, euler(pose.turns.get(joint.name, (0.0, 0.0, 0.0))))
        found.append(Rigid.about(turn, joint.position, parent.point(joint.position)))
    for side, foot in (("L", pose.left), ("R", pose.right)):
        first = bone(f"{side} Thigh")
        found[first : first + 4] = _leg(side, foot, found[0])
    return found


def _leg(side: str, foot: Foot, pelvis: Rigid) -> list[Rigid]:
    """Return the motions of thigh, shin, foot and toes: the foot is where it shall be, the knee bends forwards."""
    hip, knee, ankle, toe = (BONES[bone(f"{side} {name}")].position for name in ("Thigh", "Shin", "Foot", "Toes"))
    sole = _SOLE[side]
    there = exact.add(toe, (foot.across - sole[0], foot.lift, foot.back - sole[2]))
    lean = (0.0, exact.cosine(foot.lean / 360.0), exact.sine(foot.lean / 360.0))
    heel = exact.add(there, exact.scaled(lean, exact.length(exact.sub(ankle, toe))))
    start = pelvis.point(hip)
    bend = _knee(start, heel, exact.length(exact.sub(knee, hip)), exact.length(exact.sub(ankle, knee)))
    found, turn = [], pelvis.turn
    for rest, place in (((hip, knee), (start, bend)), ((knee, ankle), (bend, heel)), ((ankle, toe), (heel, there))):
        before, after = exact.sub(rest[1], rest[0]), exact.sub(place[1], place[0])
        turn = product(swung(turned(turn, before), after), turn)
        found.append(Rigid.about(turn, rest[0], place[0]))
    return [*found, Rigid.about(euler((foot.toes, 0.0, 0.0)), toe, there)]


def _knee(hip: Vector, ankle: Vector, thigh: float, shin: float) -> Vector:
    """Return where the knee is, with bones of these lengths, in front of the line from hip to ankle."""
    line = exact.sub(ankle, hip)
    reach = exact.length(line)
    if not abs(thigh - shin) < reach < thigh + shin:
        message = f"a foot is {reach} from its hip, and the leg {thigh} + {shin} long"
        raise ValueError(message)
    way = exact.scaled(line, 1.0 / reach)
    along = (thigh * thigh - shin * shin + reach * reach) / (2.0 * reach)
    forward = (0.0, 0.0, -1.0)
    front = exact.unit(exact.sub(forward, exact.scaled(way, exact.dot(forward, way))))
    out = math.sqrt(thigh * thigh - along * along)
    return exact.add(hip, exact.add(exact.scaled(way, along), exact.scaled(front, out)))


def frames(poses: Sequence[Pose], positions: npt.NDArray[np.float32], owners: npt.NDArray[np.int16]) -> Field:
    """Return the places of all vertices in all poses, (poses, vertices, 3), in file units."""
    rest = positions.astype(np.float64)
    found = np.empty((len(poses), *rest.shape))
    for frame, pose in zip(found, poses, strict=True):
        for number, motion in enumerate(motions(pose)):
            own = owners == number
            frame[own] = motion.points(rest[own])
    return found
