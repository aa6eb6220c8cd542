# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the bones of a recovered skeleton start and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .joint_tree import Tree
    from .joints import Joints, Pairs
    from .rigid import Bodies, Doubles, Ints

_SHORTEST = 0.01  # of the creature's size; Blender deletes bones without length
_LEAST = 0.05  # file units, whatever the size: single precision far from the origin must still tell the ends apart
_USUAL = 0.05
_DOUBTFUL = 0.3  # file units of error; certain joints are better left where each side puts them
_NOISE = 0.1
_SMALL = 0.6  # of the body's own vertices: a child that carries less is a part of it (a jaw), not the chain
_FLYING = 0.5  # file units of error beyond which a part without a seam has no joint


def heads(bodies: Bodies, rest: Doubles, tree: Tree, pairs: Pairs, joints: Joints, partner: Ints) -> Doubles:
    """Where each bone starts (B, 3): the joint to the parent, the centre of the root.

    A joint far from both of its bodies is none: then it is the middle of the seam. Loose parts that keep no point in
    common with their parent turn about their own centre.
    """
    points = rest[bodies.order]
    sizes = np.maximum(bodies.sizes, 1)[:, None]
    centre = bodies.sums(points) / sizes
    radius = np.sqrt((bodies.sums((points - np.repeat(centre, bodies.sizes, axis=0)) ** 2) / sizes).sum(axis=1))
    result = np.repeat(centre[tree.root : tree.root + 1], bodies.count, axis=0)
    linked = np.flatnonzero(tree.link >= 0)
    link = tree.link[linked]
    reach = 1.5 * (radius[pairs.first[link]] + radius[pairs.second[link]]) + pairs.spread[link]
    away = joints.point[link] - pairs.anchor[link]
    distance = np.linalg.norm(away, axis=1)
    result[linked] = pairs.anchor[link] + np.where((distance <= reach)[:, None], away, 0.0)
    flying = linked[(pairs.edges[link] == 0) & ((joints.error[link] > _FLYING) | (distance > reach))]
    result[flying] = centre[flying]
    error = np.zeros(bodies.count)
    error[linked] = joints.error[link]
    return _evened(result, error, tree, partner)


def _evened(head: Doubles, error: Doubles, tree: Tree, partner: Ints) -> Doubles:
    """Where the motion settles a joint badly on either side, both sides get the weighted mean of the two."""
    own = np.arange(len(head))
    two = np.flatnonzero((partner >= 0) & (partner != own))
    other = partner[two]
    # Mirrored parents only: else the two joints are not the same joint.
    above, beyond = tree.parent[two], tree.parent[other]
    alike = (above >= 0) & (beyond >= 0) & (partner[above] == beyond)
    doubtful = alike & (np.maximum(error[two], error[other]) > _DOUBTFUL)
    two, other = two[doubtful], other[doubtful]
    weight = 1.0 / (_NOISE**2 + error**2)
    mirrored = head[other] * (-1.0, 1.0, 1.0)
    mean = head[two] * weight[two, None] + mirrored * weight[other, None]
    result = head.copy()
    result[two] = mean / (weight[two] + weight[other])[:, None]
    return result


def tails(bodies: Bodies, rest: Doubles, tree: Tree, head: Doubles, partner: Ints) -> Doubles:
    """Where each bone ends (B, 3): at the joint of the child that goes on with the chain, else across its own body.

    `partner` as of `joint_tree.mirrors`: a body of the midline never points at one leg of two.
    """
    size = _size(rest)
    below = tree.children()
    weight = bodies.sizes.astype(np.float64).copy()
    for body in reversed(tree.order()):
        if tree.parent[body] >= 0:
            weight[tree.parent[body]] += weight[body]
    result = head.copy()
    chain = _Chain(below, head, weight, partner, 2 * _shortest(size))
    chosen: dict[int, int] = {}
    for body, rows in enumerate(bodies.slices()):
        own = rest[bodies.order[rows]] - head[body]
        twin = chosen.get(int(partner[body]), -1)
        child = int(partner[twin]) if twin >= 0 else -1
        if child < 0 or int(tree.parent[child]) != body or np.linalg.norm(head[child] - head[body]) < _shortest(size):
            child = _next(chain, body, own)
        chosen[body] = child
        result[body] = head[child] if child >= 0 else head[body] + _across(body, own, tree, head, size)
    return result


def _size(rest: Doubles) -> float:
    return float(np.linalg.norm(np.ptp(rest, axis=0))) if len(rest) else 1.0


def _shortest(size: float) -> float:
    return max(_SHORTEST * size, _LEAST)


@dataclass(frozen=True)
class _Chain:
    """How the bodies hang together.

    `below` the children of each, `head` (B, 3) its joint, `weight` (B,) how many vertices it carries, `partner` (B,)
    its mirror; `least` is the length of a bone that is long enough.
    """

    below: list[list[int]]
    head: Doubles
    weight: Doubles
    partner: Ints
    least: float


def _next(chain: _Chain, body: int, own: Doubles) -> int:
    """The child that continues the chain: ahead of the body's own vertices, and carrying the most; -1 for none."""
    head, weight, partner = chain.head, chain.weight, chain.partner
    best, chosen = 0.0, -1
    toward = own.mean(axis=0) if len(own) else np.zeros(3)
    for child in chain.below[body]:
        way = head[child] - head[body]
        length = float(np.linalg.norm(way))
        if length < chain.least or weight[child] < _SMALL * len(own):
            continue
        if partner[body] == body and partner[child] not in (-1, child):
            continue
        norm = length * float(np.linalg.norm(toward))
        straight = float(way @ toward) / norm if norm > 1e-9 else 1.0
        if partner[body] == body and partner[child] == child and body != child:
            straight = max(straight, 0.2)  # along the spine, even where the body hangs below it
        score = straight * (1.0 + float(weight[child]))
        if straight > 0.15 and score > best:
            best, chosen = score, child
    return chosen


def _across(body: int, own: Doubles, tree: Tree, head: Doubles, size: float) -> npt.NDArray[np.float64]:
    """From the head through the middle of the body to its far side; onwards from the parent where there is no body."""
    shortest = _shortest(size)
    middle = own.mean(axis=0) if len(own) else np.zeros(3)
    length = float(np.linalg.norm(middle))
    if length < 0.5 * shortest and len(own) > 1:
        # The head lies in the middle: along the longest extent, toward the front (file -Z).
        axis = np.linalg.eigh(own.T @ own)[1][:, -1]
        middle = -axis if axis[2] > 0 else axis
        length = 1.0 if float(np.abs(own @ middle).max()) > shortest else 0.0
    if length < 1e-6 * max(size, 1.0):
        parent = int(tree.parent[body])
        middle = head[body] - head[parent] if parent >= 0 else np.zeros(3)
        length = float(np.linalg.norm(middle))
        if length < 1e-6 * max(size, 1.0):
            middle, length = np.array((0.0, 0.0, -1.0)), 1.0
        return np.asarray(middle * (max(_USUAL * size, shortest) / length), np.float64)
    unit = middle / length
    far = float((own @ unit).max()) if len(own) else 0.0
    return np.asarray(unit * max(far, shortest), np.float64)
