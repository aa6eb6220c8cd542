# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of the fox, named as a Biped's are; each lies with its x axis towards what hangs on it.

Axes of the files: x to its left, y up, z backwards; the numbers are those of a left-handed space, and turns of raw
numbers are the same in both kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.samples import exact

if TYPE_CHECKING:
    from tools.samples.exact import Vector
    from tools.samples.pose import Matrix

# Name, parent, head, tail, the direction its y axis leans to. Left bones are mirrored to right ones below.
_TABLE: tuple[tuple[str, str, Vector, Vector, Vector], ...] = (
    ("Bip01", "", (0, 37, 0), (0, 43, 0), (0, 0, -1)),
    ("Bip01 Pelvis", "Bip01", (0, 37, 0), (0, 42, 0), (0, 0, -1)),
    ("Bip01 Spine", "Bip01 Pelvis", (0, 42, 0.5), (0, 49, 0.5), (0, 0, -1)),
    ("Bip01 Spine1", "Bip01 Spine", (0, 49, 0.5), (0, 59, 1), (0, 0, -1)),
    ("Bip01 Neck", "Bip01 Spine1", (0, 59, 1), (0, 63, 0.5), (0, 0, -1)),
    ("Bip01 Head", "Bip01 Neck", (0, 63, 0.5), (0, 82, 0.5), (0, 0, -1)),
    ("Bip01 L Clavicle", "Bip01 Spine1", (2.5, 56.5, 1), (7.5, 56.5, 1), (0, 0, -1)),
    ("Bip01 L UpperArm", "Bip01 L Clavicle", (7.5, 56.5, 1), (16, 48, 2), (0, 0, -1)),
    ("Bip01 L Forearm", "Bip01 L UpperArm", (16, 48, 2), (24.5, 40, 0), (0, 0, -1)),
    ("Bip01 L Hand", "Bip01 L Forearm", (24.5, 40, 0), (30, 34.8, -1.3), (0, 0, -1)),
    ("Bip01 L Thigh", "Bip01 Pelvis", (5.5, 34, 0), (6.8, 20, -0.8), (0, 0, -1)),
    ("Bip01 L Calf", "Bip01 L Thigh", (6.8, 20, -0.8), (7.5, 6, 1.5), (0, 0, -1)),
    ("Bip01 L Foot", "Bip01 L Calf", (7.5, 6, 1.5), (8.4, 2.2, -6), (0, 1, 0)),
    ("Bip01 L Toe0", "Bip01 L Foot", (8.4, 2.2, -6), (9, 2.2, -11.5), (0, 1, 0)),
    ("Bone_Tail01", "Bip01 Pelvis", (0, 38, 6), (0, 36, 17), (0, 1, 0)),
    ("Bone_Tail02", "Bone_Tail01", (0, 36, 17), (0, 43, 28), (0, 1, 0)),
    ("Bone_Tail03", "Bone_Tail02", (0, 43, 28), (0, 62, 34), (0, 0, -1)),
    ("Bone_L Ear", "Bip01 Head", (9.5, 85, 1), (15, 104, 2.5), (0, 0, -1)),
    ("~BoxBone01", "Bip01 L Hand", (28.2, 36.5, -0.9), (33.7, 31.3, -2.2), (0, 0, -1)),
    ("Bone_String", "~BoxBone01", (22.54, 41.85, 0.44), (28.04, 36.65, -0.86), (0, 0, -1)),
    ("Bone_Arrow", "Bip01 R Hand", (-28.2, 36.5, -0.9), (-33.7, 31.3, -2.2), (0, 0, -1)),
    ("Bone_Cape01", "Bip01 Spine1", (0, 57, 7), (0, 44, 12), (0, 0, -1)),
    ("Bone_Cape02", "Bone_Cape01", (0, 44, 12), (0, 29, 16), (0, 0, -1)),
)


@dataclass(frozen=True)
class Joint:
    """A bone of the bind pose. `axes`: the columns are its x, y and z axis in the model's space."""

    name: str
    parent: int
    head: Vector
    axes: Matrix


def _axes(head: Vector, tail: Vector, lean: Vector) -> Matrix:
    x = exact.unit(exact.sub(tail, head))
    y = exact.unit(exact.sub(lean, exact.scaled(x, exact.dot(lean, x))))
    z = exact.cross(x, y)
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))


def _mirrored(place: Vector) -> Vector:
    return (-place[0], place[1], place[2])


def _real(place: Vector) -> Vector:
    return (float(place[0]), float(place[1]), float(place[2]))


def _joints() -> tuple[Joint, ...]:
    rows = []
    for row in _TABLE:
        rows.append(row)
        if "L " in row[0]:
            name, parent, head, tail, lean = row
            rows.append((other(name), other(parent), _mirrored(head), _mirrored(tail), lean))
    # A parent stands before its children; the right hand before the arrow it holds.
    found: list[Joint] = []
    while rows:
        known = [joint.name for joint in found]
        name, parent, head, tail, lean = next(row for row in rows if not row[1] or row[1] in known)
        rows = [row for row in rows if row[0] != name]
        number = known.index(parent) if parent else -1
        found.append(Joint(name, number, _real(head), _axes(_real(head), _real(tail), _real(lean))))
    return tuple(found)


def other(name: str) -> str:
    """Return the name of the same bone of the other side."""
    return name.replace("L ", "R ", 1) if "L " in name else name.replace("R ", "L ", 1)


JOINTS = _joints()
NAMES = tuple(joint.name for joint in JOINTS)


def joint(name: str) -> Joint:
    """Return a bone by its name."""
    return JOINTS[NAMES.index(name)]
