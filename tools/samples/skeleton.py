# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of the dinosaur. Every vertex belongs to one of them whole, so a pose is one rigid motion per bone."""

from __future__ import annotations

from tools.samples.shape import Bone

# Name, parent's place in this list, position (x to its left, y up, z backwards). Two bones share a name and one has a
# letter outside ASCII, both as game files may have it.
_TABLE = (
    ("Pelvis", -1, (0, 123, -4)),
    ("Spine", 0, (0, 122, -48)),
    ("Chest", 1, (0, 124, -84)),
    ("Neck", 2, (0, 147, -112)),
    ("Head", 3, (0, 196, -138)),
    ("Jaw", 4, (0, 196, -146)),
    ("Eye", 4, (14, 214, -164)),
    ("Eye", 4, (-14, 214, -164)),
    ("Crête", 4, (0, 222, -150)),
    ("Tail 1", 0, (0, 120, 44)),
    ("Tail 2", 9, (0, 119, 80)),
    ("Tail 3", 10, (0, 122, 116)),
    ("Tail 4", 11, (0, 129, 156)),
    ("L Thigh", 0, (19, 120, -6)),
    ("L Shin", 13, (25, 79, -40)),
    ("L Foot", 14, (24, 40, -2)),
    ("L Toes", 15, (24, 7, -22)),
    ("R Thigh", 0, (-19, 120, 2)),
    ("R Shin", 17, (-25, 76, -12)),
    ("R Foot", 18, (-23, 48, 36)),
    ("R Toes", 19, (-23, 9, 30)),
    ("L Arm", 2, (20, 113, -92)),
    ("L Hand", 21, (25, 87, -106)),
    ("R Arm", 2, (-20, 113, -92)),
    ("R Hand", 23, (-25, 91, -108)),
)
BONES = tuple(Bone(name, (float(x), float(y), float(z)), parent) for name, parent, (x, y, z) in _TABLE)


def bone(name: str, *, right: bool = False) -> int:
    """Return the number of the bone `name`; the second one of that name with `right`."""
    numbers = [number for number, entry in enumerate(BONES) if entry.name == name]
    return numbers[-1] if right else numbers[0]
