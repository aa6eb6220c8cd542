# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone of one skeleton is which of another: by name, and by place where names say nothing.

Places are compared with both skeletons brought to one box. What is on the left never becomes what is on the right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .rigid import Doubles, Ints

LEFT, CENTRE, RIGHT = 1, 0, -1
_REACH = 0.12  # of the size: bones further apart are different ones
_MIDDLE = 0.015  # of the size: bones this near to the plane between left and right lie on it
_FLAT = 0.05  # of the size: a skeleton thinner than this is scaled along that axis as it is along the others
_ENOUGH = 3  # bones of equal names that say how two skeletons lie
_TAIL = 0.1  # how much the place of the tail counts beside that of the head
_ASTRAY = 0.03  # of the size: what a bone on the plane costs that is to be one beside it
_NUMBER = re.compile(r"\.\d{3,}$")
_PLAIN = re.compile(r"bone\W*\d*(?:\W?[lr])?")  # what Blender and the recovery call bones they know nothing of
_SIDE = re.compile(r"(?:^|[\W_])(left|right|l|r)(?:$|[\W_])|^(left|right)|(left|right)$")


@dataclass(frozen=True)
class Skeleton:
    """B bones in the rest pose: `names`, `heads` and `tails` (B, 3) in any space whose first axis points left."""

    names: Sequence[str]
    heads: Doubles
    tails: Doubles

    def part(self, numbers: Ints) -> Skeleton:
        """Some of the bones."""
        return Skeleton([self.names[number] for number in numbers.tolist()], self.heads[numbers], self.tails[numbers])

    @property
    def box(self) -> tuple[Doubles, Doubles]:
        """Lowest and highest corner of the heads, (3,) each; of the tails too where there is but one place."""
        points = np.asarray(self.heads, np.float64).reshape(-1, 3)
        if not len(points):
            return np.zeros(3), np.zeros(3)
        if not np.ptp(points, axis=0).any():
            points = np.concatenate([points, self.tails])
        return points.min(axis=0), points.max(axis=0)

    @property
    def size(self) -> float:
        """The diagonal of the box."""
        low, high = self.box
        return float(np.linalg.norm(high - low))


@dataclass(frozen=True)
class Match:
    """`source` (T,): for every bone of the target the number of the source's, -1 for none; `named` (T,): by name."""

    source: Ints
    named: npt.NDArray[np.bool_]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Bones matched by name, by place, not at all."""
        found = self.source >= 0
        return int(self.named.sum()), int((found & ~self.named).sum()), int((~found).sum())


def match(target: Skeleton, source: Skeleton, *, by_name: bool = True) -> Match:
    """For every bone of `target` one of `source`; no bone of the source is taken twice.

    The two are laid over each other by their boxes, by the bones of equal names, and as they are, since a horn or a
    root bone more makes another box; the way by which most bones fit best is taken.
    """
    named = _same_names(target.names, source.names) if by_name else []
    tried = [(_matched(target, laid, named), laid) for laid in _laid(target, source, named)]
    return min(tried, key=lambda entry: astray(target, entry[1], entry[0]))[0]


def laid_over(target: Skeleton, source: Skeleton, found: Match) -> float:
    """How far matched bones are from each other, the way they fit best; as `astray`."""
    pairs = [(mine, other) for mine, other in enumerate(found.source.tolist()) if other >= 0]
    return min(astray(target, laid, found) for laid in _laid(target, source, pairs))


def ratio(target: Skeleton, source: Skeleton, found: Match) -> float:
    """How many times larger the target is, by the bones that are in both."""
    on = np.flatnonzero(found.source >= 0)
    mine, other = target.part(on), source.part(found.source[on])
    return mine.size / other.size if mine.size > 0 and other.size > 0 else 1.0


def _laid(target: Skeleton, source: Skeleton, pairs: Sequence[tuple[int, int]]) -> list[Skeleton]:
    """The source brought over the target in several ways."""
    result = [_on_box(source, target, source, target), source]
    if len(pairs) >= _ENOUGH:
        mine, other = np.array(pairs, np.int64).T
        result.append(_on_box(source, target, source.part(other), target.part(mine)))
    return result


def _matched(target: Skeleton, source: Skeleton, pairs: Sequence[tuple[int, int]]) -> Match:
    found = np.full(len(target.names), -1, np.int64)
    for mine, other in pairs:
        found[mine] = other
    named = found >= 0
    cost = costs(target, source)
    cost[named] = np.inf
    cost[:, found[named]] = np.inf
    # The nearest two of all first: a pair of limbs that match well decides before what is left over.
    while np.isfinite(cost).any():
        nearest = int(np.argmin(cost))
        mine, other = nearest // cost.shape[1], nearest % cost.shape[1]
        found[mine] = other
        cost[mine] = np.inf
        cost[:, other] = np.inf
    return Match(found, named)


def astray(target: Skeleton, source: Skeleton, found: Match) -> float:
    """How far matched bones are from each other, as a share of the size; more the fewer they are."""
    on = np.flatnonzero(found.source >= 0)
    if not len(on):
        return float("inf")
    apart = np.linalg.norm(target.heads[on] - source.heads[found.source[on]], axis=1)
    return float(apart.mean() / max(target.size, 1e-12) + 0.01) * len(target.names) / len(on)


def costs(target: Skeleton, source: Skeleton) -> Doubles:
    """How badly each bone of the source would do for each of the target, (T, S); infinite where it would not.

    The two must have been brought over each other.
    """
    apart = np.linalg.norm(target.heads[:, None] - source.heads[None], axis=2)
    apart += _TAIL * np.linalg.norm(target.tails[:, None] - source.tails[None], axis=2)
    apart /= max(target.size, 1e-12)
    first, second = sides(target)[:, None], sides(source)[None]
    apart += _ASTRAY * (first != second)
    apart[(first * second < 0) | (apart > _REACH)] = np.inf
    return np.asarray(apart, np.float64)


def sides(bones: Skeleton) -> Ints:
    """(B,): `LEFT`, `CENTRE` or `RIGHT`: by name where it says so, else by place."""
    low, high = bones.box
    plane = (low[0] + high[0]) / 2
    away = bones.heads[:, 0] - plane
    # A bone may start in the middle and point outwards.
    ends = bones.tails[:, 0] - plane
    near = _MIDDLE * max(bones.size, 1e-12)
    away = np.where((np.abs(away) <= near) & (np.abs(ends) > 4 * near), ends, away)
    placed = np.where(np.abs(away) > near, np.sign(away), CENTRE).astype(np.int64)
    said = [side_of(name) for name in bones.names]
    return np.array([int(place) if side is None else side for place, side in zip(placed, said, strict=True)], np.int64)


def side_of(name: str) -> int | None:
    """The side that a name states, None when it states none."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _NUMBER.sub("", name)).lower()
    found = _SIDE.search(spaced)
    if found is None:
        return None
    return LEFT if (found[1] or found[2] or found[3]).startswith("l") else RIGHT


def _same_names(target: Sequence[str], source: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of bones with the same name: in full, then without the numbers that make names unique."""
    pairs: list[tuple[int, int]] = []
    for key in (str.lower, _stem):
        left = _unique(target, key, {mine for mine, _ in pairs})
        right = _unique(source, key, {other for _, other in pairs})
        pairs += [(mine, right[name]) for name, mine in left.items() if name in right and not _PLAIN.fullmatch(name)]
    return pairs


def _stem(name: str) -> str:
    return _NUMBER.sub("", name).lower()


def _unique(names: Sequence[str], key: Any, taken: set[int]) -> dict[str, int]:
    """Key -> number of the only bone that has it."""
    found: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        if number not in taken:
            found.setdefault(key(name), []).append(number)
    return {name: numbers[0] for name, numbers in found.items() if len(numbers) == 1}


def _on_box(source: Skeleton, target: Skeleton, part: Skeleton, place: Skeleton) -> Skeleton:
    """`source` moved and scaled so that the box of its bones `part` comes onto that of the target's bones `place`."""
    (low, high), (there_low, there_high) = part.box, place.box
    extent, wanted = high - low, there_high - there_low
    flat = (extent <= _FLAT * part.size) | (wanted <= _FLAT * target.size)
    scale = np.where(flat, place.size / max(part.size, 1e-12), wanted / np.maximum(extent, 1e-12))
    middle, there = (low + high) / 2, (there_low + there_high) / 2
    return Skeleton(source.names, (source.heads - middle) * scale + there, (source.tails - middle) * scale + there)
