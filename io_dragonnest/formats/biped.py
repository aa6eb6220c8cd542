# SPDX-License-Identifier: GPL-3.0-or-later
"""The naming of 3ds Max Biped skeletons, with which the characters of Dragon Nest were made.

`Bip01 L Finger01` is: rig `Bip01`, side `L`, part `Finger`, which finger `0`, which joint `1`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import names

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(
    r"^(?P<rig>[~_]?bip\d+)(?:[ _](?P<side>[lr]))?(?:[ _](?P<part>[a-z]+?)(?P<number>\d*)(?P<nub>nub)?)?$"
)

# Part -> the part it hangs on, "" for the root; where that one is missing, what that one would hang on. Props and extra
# bones are not here: they may hang anywhere.
_ABOVE = {
    "pelvis": "",
    "footsteps": "",
    "spine": "pelvis",
    "neck": "spine",
    "head": "neck",
    "ponytail": "head",
    "clavicle": "neck",
    "upperarm": "clavicle",
    "uparmtwist": "upperarm",
    "forearm": "upperarm",
    "foretwist": "forearm",
    "hand": "forearm",
    "finger": "hand",
    "tail": "pelvis",
    "thigh": "pelvis",
    "thightwist": "thigh",
    "calf": "thigh",
    "calftwist": "calf",
    "horselink": "calf",
    "foot": "horselink",
    "toe": "foot",
}
_SIDED = {"clavicle", "upperarm", "forearm", "hand", "finger", "thigh", "calf", "horselink", "foot", "toe"}
# Parts of which there are several, so that their first digit says which one and the rest which joint of it.
_SEVERAL = {"finger", "toe", "ponytail"}
# rig, side, part, which one, joint; a nub is the joint behind all others.
_Place = tuple[str, str, str, str, int]
_NUB = 1 << 20


def _place(name: str) -> _Place | None:
    found = _NAME.match(names.key(name))
    if found is None:
        return None
    rig, side, part, number, nub = (found[group] or "" for group in ("rig", "side", "part", "number", "nub"))
    if part and part not in _ABOVE:
        return None
    which = ""
    if part in _SEVERAL:
        which, number = number[:1], number[1:]
    return rig, side, part, which, _NUB if nub else int(number or 0)


def parents(bone_names: Sequence[str]) -> list[int | None]:
    """The parent of each Biped bone by its name, -1 for the root of the rig; None for bones that are no Biped's."""
    places = [_place(name) for name in bone_names]
    rows: dict[_Place, int] = {}
    chains: dict[tuple[str, str, str, str], list[int]] = {}
    for row, place in enumerate(places):
        if place is not None and place not in rows:
            rows[place] = row
            chains.setdefault(place[:4], []).append(place[4])
    return [None if place is None else _parent(place, rows, chains) for place in places]


def _parent(place: _Place, rows: dict[_Place, int], chains: dict[tuple[str, str, str, str], list[int]]) -> int:
    rig, side, part, which, joint = place
    if not part:
        return -1
    earlier = [other for other in chains[place[:4]] if other < joint]
    if earlier:
        return rows[rig, side, part, which, max(earlier)]
    while part:
        part = _ABOVE[part]
        for other_side in (side, "") if part in _SIDED else ("",):
            joints = [other for other in chains.get((rig, other_side, part, ""), ()) if other < _NUB]
            if joints:
                return rows[rig, other_side, part, "", max(joints)]
    return -1
