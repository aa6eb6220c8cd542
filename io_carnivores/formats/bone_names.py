# SPDX-License-Identifier: GPL-3.0-or-later
"""Names for recovered bones: from a bone table where there is one, else by place in the chain and by side.

Animals face file -Z with x to their left and y up, so that x > 0 is `.L` as Blender understands it. Words are given
only to animals whose left and right mirror each other; everything else is plain "Bone".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .joint_tree import UNMATCHED, Tree
from .model import bone_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .rigid import Bodies, Doubles, Ints, Motion

PLAIN = "Bone"
_GROUND = 0.12  # of the height: what reaches below it stands on the ground
_LIMB = 3  # bones that make a limb or a tail; shorter pairs are ears, eyes, fins
# Bodies that are each other's mirror image in another pose: least share of vertices, most difference of the stretch.
_AS_LARGE, _UNLIKE = 0.9, 0.2
_NAME_LENGTH = 59  # bytes: what every Blender can hold, with room for a number


def names(bodies: Bodies, rest: Doubles, tree: Tree, partner: Ints) -> list[str]:
    """A unique name per body. Mirrored pairs share theirs but for `.L` and `.R`; numbers run along the chain."""
    partner = with_strides(bodies, rest, tree, partner)
    centre = bodies.sums(rest[bodies.order]) / np.maximum(bodies.sizes, 1)[:, None]
    words = _words(bodies, rest, tree, partner)
    count: dict[str, int] = {}
    totals: dict[str, int] = {}
    leaders = [body for body in _along(tree, centre) if _leads(body, partner, centre)]
    for body in leaders:
        totals[words[body]] = totals.get(words[body], 0) + 1
    result = [""] * bodies.count
    for body in leaders:
        word = words[body]
        count[word] = count.get(word, 0) + 1
        stem = word if totals[word] == 1 else f"{word}{count[word]}"
        other = int(partner[body])
        if other in (UNMATCHED, body):
            result[body] = stem
        else:
            result[body], result[other] = f"{stem}.L", f"{stem}.R"
    return result


def with_strides(bodies: Bodies, rest: Doubles, tree: Tree, partner: Ints) -> Ints:
    """`partner` with limbs that mirror each other in shape but not in place, as in the middle of a step.

    They hang on the same body of the midline and are chains of as many bodies, or on two that are a pair already. They
    are about as large and stretch about as far in each of their own directions: soft vertices make a difference.
    """
    partner = partner.copy()
    sizes = np.maximum(bodies.sizes, 1).astype(np.float64)
    points = rest[bodies.order]
    centre = bodies.sums(points) / sizes[:, None]
    away = points - np.repeat(centre, bodies.sizes, axis=0)
    moments = bodies.sums((away[:, :, None] * away[:, None]).reshape(-1, 9)).reshape(-1, 3, 3) / sizes[:, None, None]
    stretch = np.sqrt(np.maximum(np.linalg.eigvalsh(moments), 0.0))
    below = tree.children()
    depth = np.ones(bodies.count, np.int64)
    for body in reversed(tree.order()):
        depth[body] += sum(int(depth[child]) for child in below[body])
    for body in tree.order():
        other = int(partner[body])
        if other < body:
            continue
        sides = below[body] + below[other] if other != body else [item for item in below[body] if depth[item] >= _LIMB]
        right = [child for child in sides if partner[child] < 0 and centre[child, 0] < 0]
        for child in [child for child in sides if partner[child] < 0 < centre[child, 0]]:
            twins = [each for each in right if partner[each] < 0 and depth[each] == depth[child]]
            twins = [each for each in twins if _congruent(child, each, sizes, stretch)]
            if twins:
                twin = twins[int(np.abs(centre[twins, 0] + centre[child, 0]).argmin())]
                partner[child], partner[twin] = twin, child
    return partner


def _congruent(first: int, second: int, sizes: Doubles, stretch: Doubles) -> bool:
    """Whether two bodies have about as many vertices and stretch as far."""
    fewer, more = sorted((float(sizes[first]), float(sizes[second])))
    off = float(np.abs(stretch[first] - stretch[second]).max())
    return fewer >= _AS_LARGE * more and off <= _UNLIKE * float(stretch[[first, second]].max())


def _leads(body: int, partner: Ints, centre: Doubles) -> bool:
    """Whether a body is named for itself, not for its mirror image: the left one of two."""
    other = int(partner[body])
    if other in (UNMATCHED, body):
        return True
    mine, its = float(centre[body, 0]), float(centre[other, 0])
    return mine > its or (mine == its and body < other)


def _along(tree: Tree, centre: Doubles) -> list[int]:
    """Bodies depth first, so that numbers run along each chain before the next begins; front ones first."""
    below = tree.children()
    stack, result = ([tree.root] if len(tree.parent) else []), []
    while stack:
        body = stack.pop()
        result.append(body)
        stack += sorted(below[body], key=lambda child: (-float(centre[child, 2]), child))
    return result


def _words(bodies: Bodies, rest: Doubles, tree: Tree, partner: Ints) -> list[str]:
    """A word per body, equal for mirrored ones."""
    result = [PLAIN] * bodies.count
    own = np.arange(bodies.count)
    midline, paired = partner == own, (partner >= 0) & (partner != own)
    below = tree.children()
    limbs = _limbs(tree, below, paired)
    if not midline.any() or not midline[tree.root] or not any(len(limb) >= _LIMB for limb in limbs):
        return result
    centre = bodies.sums(rest[bodies.order]) / np.maximum(bodies.sizes, 1)[:, None]
    low, high = rest.min(axis=0), rest.max(axis=0)
    upright = high[1] - low[1] > 1.5 * (high[2] - low[2])
    ahead = centre[:, 1] if upright else -centre[:, 2]
    front, back = _path(tree, midline, ahead), _path(tree, midline, -ahead)
    shared = {tree.root} | (set(front) & set(back))
    front = [body for body in front if body not in shared]
    back = [body for body in back if body not in shared]
    result[tree.root] = "Root"
    _name_front(result, front, limbs, bodies, tree, centre)
    _name_back(result, back, limbs, tree, upright=upright)
    place = {body: number for number, body in enumerate([*back[::-1], tree.root, *front])}
    _name_limbs(result, [limb for limb in limbs if len(limb) >= _LIMB], bodies, rest, tree, place)
    return result


def _limbs(tree: Tree, below: list[list[int]], paired: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Everything that hangs on the midline by a paired body, one list per limb, its first body first."""
    result = []
    for body in tree.order():
        parent = int(tree.parent[body])
        if paired[body] and (parent < 0 or not paired[parent]):
            limb = [body]
            for item in limb:
                limb += [child for child in below[item] if paired[child]]
            result.append(limb)
    return result


def _path(tree: Tree, midline: npt.NDArray[np.bool_], ahead: Doubles) -> list[int]:
    """The midline from the root to its body furthest ahead, the root first."""
    reached = [tree.root]
    below = tree.children()
    for body in reached:
        reached += [child for child in below[body] if midline[child]]
    body = max(reached, key=lambda item: float(ahead[item]))
    path = [body]
    while body != tree.root:
        body = int(tree.parent[body])
        path.append(body)
    return path[::-1]


def _name(result: list[str], bodies: Sequence[int], word: str) -> None:
    for body in bodies:
        result[body] = word


def _name_limbs(
    result: list[str],
    limbs: list[list[int]],
    bodies: Bodies,
    rest: Doubles,
    tree: Tree,
    place: dict[int, int],
) -> None:
    """Legs stand on the ground; of several the front ones are forelegs. What hangs before the legs is an arm.

    `place`: how far ahead each body of the spine is; limbs that hang elsewhere stay without a word.
    """
    bottom, top = rest[:, 1].min(), rest[:, 1].max()
    ground = bottom + _GROUND * (top - bottom)
    known = [limb for limb in limbs if int(tree.parent[limb[0]]) in place]
    at = [place[int(tree.parent[limb[0]])] for limb in known]
    low = [min(float(rest[bodies.order[rows], 1].min()) for rows in _rows(bodies, limb)) <= ground for limb in known]
    standing = [where for where, stands in zip(at, low, strict=True) if stands]
    for limb, where, stands in zip(known, at, low, strict=True):
        if not standing:
            continue
        if stands:
            _name(result, limb, "Foreleg" if where > min(standing) else "Leg")
        elif where > min(standing):
            _name(result, limb, "Arm")


def _rows(bodies: Bodies, limb: Sequence[int]) -> list[slice]:
    slices = bodies.slices()
    return [slices[body] for body in limb if bodies.sizes[body]]


def _name_front(
    result: list[str], front: list[int], limbs: list[list[int]], bodies: Bodies, tree: Tree, centre: Doubles
) -> None:
    """Spine as far as the front limbs, then neck, head and, where the last bone is the smaller and lower one, jaw."""
    if len(front) < 2:
        _name(result, front, "Head")
        return
    last, before = front[-1], front[-2]
    if bodies.sizes[last] < bodies.sizes[before] and centre[last, 1] < centre[before, 1]:
        result[last] = "Jaw"
        front = front[:-1]
    head = front[-1]
    result[head] = "Head"
    for child in tree.children()[head]:
        smaller = bodies.sizes[child] < bodies.sizes[head] and centre[child, 1] < centre[head, 1]
        if result[child] == PLAIN and smaller and abs(centre[child, 0]) < 0.1 * float(np.ptp(centre[:, 0])) + 1e-6:
            result[child] = "Jaw"
    shoulders = [front.index(int(tree.parent[limb[0]])) for limb in limbs if int(tree.parent[limb[0]]) in front[:-1]]
    shoulder = max(shoulders) + 1 if shoulders else (0 if _arms_at_root(limbs, tree) else len(front) - 1)
    _name(result, front[:shoulder], "Spine")
    _name(result, front[shoulder:-1], "Neck")


def _name_back(result: list[str], back: list[int], limbs: list[list[int]], tree: Tree, *, upright: bool) -> None:
    """Hips where the last limbs hang, spine between them and the root, the tail behind."""
    hung = [back.index(int(tree.parent[limb[0]])) for limb in limbs if int(tree.parent[limb[0]]) in back]
    end = max(hung) + 1 if hung else 0
    if end:
        _name(result, back[: end - 1], "Spine")
        result[back[end - 1]] = "Hips"
    if len(back) - end >= _LIMB and not upright:
        _name(result, back[end:], "Tail")


def _arms_at_root(limbs: list[list[int]], tree: Tree) -> bool:
    return any(int(tree.parent[limb[0]]) == tree.root and len(limb) >= _LIMB for limb in limbs)


def from_table(
    bones: npt.NDArray[Any], owners: npt.NDArray[Any], tree: Tree, heads: Doubles, to_rest: Motion
) -> tuple[Tree, Doubles]:
    """Tree and heads with a bone table in place of what was recovered, for owners that it knows.

    Positions are those of the base pose; `to_rest` (one frame) takes them to the rest pose. The parent of a bone is the
    nearest one above it in the table that has vertices. Where that gives no tree, the recovered one stays.
    """
    known = {int(owner): body for body, owner in enumerate(owners.tolist()) if 0 <= owner < len(bones)}
    heads = heads.copy()
    for owner, body in known.items():
        place = to_rest.rotation[0, body] @ bones["position"][owner].astype(np.float64) + to_rest.translation[0, body]
        if np.isfinite(place).all():
            heads[body] = place
    if len(known) < len(owners):
        return tree, heads
    parent = np.full(len(owners), UNMATCHED, np.int64)
    for owner, body in known.items():
        above, steps = int(bones["parent"][owner]), 0
        while 0 <= above < len(bones) and above not in known and steps < len(bones):
            above, steps = int(bones["parent"][above]), steps + 1
        parent[body] = known.get(above, UNMATCHED)
    roots = np.flatnonzero(parent < 0)
    if len(roots) != 1:
        return tree, heads
    table = Tree(parent, np.where(parent == tree.parent, tree.link, -1), int(roots[0]))
    return (table if len(table.order()) == len(owners) else tree), heads


def merged(recovered: list[str], bones: npt.NDArray[Any], owners: npt.NDArray[Any]) -> list[str]:
    """Names of the table for the owners it knows, made unique; the recovered ones elsewhere."""
    given = bone_names(bones)
    result: list[str] = []
    used: set[str] = set()
    for name, owner in zip(recovered, owners.tolist(), strict=True):
        base = (given[owner] if 0 <= owner < len(given) else "") or name
        base = base.encode()[:_NAME_LENGTH].decode(errors="ignore")
        unique, number = base, 0
        while unique in used:
            number += 1
            unique = f"{base}.{number:03d}"
        used.add(unique)
        result.append(unique)
    return result
