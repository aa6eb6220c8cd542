# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that point elsewhere on another creature: what makes the one swing sideways must not twist the other.

A tail that hangs swings sideways about the axis that a tail sticking out behind would roll about, and the turns about
its own length, of which nothing is seen, would swing the other. So its turns are carried over along with the limb.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from .bone_match import Match, Skeleton
    from .rigid import Doubles, Ints

_MUCH = np.radians(45)  # between the directions of limbs that are to be treated as different
_CLEAR = 0.5  # of a direction that must be in the plane of symmetry, for an angle in it to mean anything


def ways(target: Skeleton, source: Skeleton, parent: Ints, match: Match) -> Doubles:
    """How the limbs of the source have to be turned to lie as those of the target, (T, 3, 3), about the side axis.

    A limb is a chain of two or more matched bones. It counts as different where both the whole of it and
    its last bone point elsewhere: legs bend differently and stand on the ground all the same, and necks are bent
    differently under heads that look ahead. Nothing turns to the other side. `parent` (T,): -1 for none; the two must
    have the same axes, the first of which points left.
    """
    result = np.tile(np.eye(3), (len(parent), 1, 1))
    for limb in _limbs(parent, match):
        first, last = limb[0], limb[-1]
        other_first, other_last = int(match.source[first]), int(match.source[last])
        # By the joints: where a bone ends is for whoever drew it to choose.
        whole = _angle(source.heads[other_last] - source.heads[other_first], target.heads[last] - target.heads[first])
        end = _angle(source.tails[other_last] - source.heads[other_last], target.tails[last] - target.heads[last])
        if min(abs(whole), abs(end)) > _MUCH and whole * end > 0:
            result[limb] = _about_side(whole)
    return result


def turned(turn: Doubles, way: Doubles, parent: Ints, match: Match) -> Doubles:
    """How the target's bones turn from rest, (N, T, 3, 3), as those of the source do, `turn` (N, S, 3, 3), by `ways`.

    What has no counterpart turns with the bone it hangs on.
    """
    result = np.tile(np.eye(3), (len(turn), len(parent), 1, 1))
    leader = _leaders(parent, match)
    alike = (way == np.eye(3)).all(axis=(1, 2))  # no limb above it is turned either
    for bone, (above, led, found) in enumerate(
        zip(parent.tolist(), leader.tolist(), match.source.tolist(), strict=True)
    ):
        if found < 0:
            if above >= 0:
                result[:, bone] = result[:, above]
            continue
        alike[bone] &= led < 0 or alike[led]
        if alike[bone]:
            result[:, bone] = turn[:, found]
        else:
            alone = turn[:, match.source[led]].transpose(0, 2, 1) @ turn[:, found]
            result[:, bone] = result[:, led] @ way[bone] @ alone @ way[bone].T
    return result


def _leaders(parent: Ints, match: Match) -> npt.NDArray[np.int64]:
    """The nearest bone above each that has a counterpart, (T,), -1 for none; parents stand before their children."""
    leader = np.full(len(parent), -1, np.int64)
    for bone, above in enumerate(parent.tolist()):
        if above >= 0:
            leader[bone] = above if match.source[above] >= 0 else leader[above]
    return leader


def _limbs(parent: Ints, match: Match) -> list[list[int]]:
    """Chains of matched bones from the last fork on to an end; a root belongs to none."""
    leader = _leaders(parent, match)
    known = np.flatnonzero(match.source >= 0)
    below = np.bincount(leader[known][leader[known] >= 0], minlength=len(parent))
    found = []
    for end in known[below[known] == 0].tolist():
        limb = [end]
        while leader[limb[0]] >= 0 and below[leader[limb[0]]] == 1:
            limb.insert(0, int(leader[limb[0]]))
        if leader[limb[0]] < 0:
            del limb[0]
        if limb:
            found.append(limb)
    return found


def _angle(source: Doubles, target: Doubles) -> float:
    """From one direction (3,) to the other, about the first axis; 0 where either points to the side."""
    angles = []
    for way in (source, target):
        if np.hypot(way[1], way[2]) <= max(_CLEAR * np.linalg.norm(way), 1e-9):
            return 0.0
        angles.append(np.arctan2(way[2], way[1]))
    return float((angles[1] - angles[0] + np.pi) % (2 * np.pi) - np.pi)


def _about_side(angle: float) -> Doubles:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
