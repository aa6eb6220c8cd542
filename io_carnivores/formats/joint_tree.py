# SPDX-License-Identifier: GPL-3.0-or-later
"""Which joints make the skeleton: a spanning tree of least cost in which left and right are alike.

The price of a joint grows with how far the motion tears it apart, falls with the edges of its mesh seam, and for loose
parts grows with the gap. Mirrored bodies are merged into one node before the tree is chosen, so that whatever holds on
the left holds on the right, and no thigh can hang on the other thigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .joints import Joints, Pairs
    from .rigid import Bodies, Doubles, Ints

UNMATCHED = -1

_NOISE = 0.1  # file units; joint errors below it are quantisation
_USUAL_EDGES = 10.0
_LOOSE = 4.0  # price of having no seam: as much as an error of 15 times the noise
_LONELY = 1.0  # price of being there on one side only
_SPINE = 8.0  # joints of the midline dearer than this wait until everything else has been tried
_BEAM = 24  # states that the search keeps per body
_SYMMETRIC = 0.6  # share of the vertices that must have a mirror body


@dataclass(frozen=True)
class Tree:
    """`parent` (B,), -1 at the root; `link` (B,): the pair that joins a body to its parent, -1 when there is none.

    `root`: the body that carries the rest. Empty bodies hang on the root without a link.
    """

    parent: Ints
    link: Ints
    root: int

    def children(self) -> list[list[int]]:
        """Children of every body, in body order."""
        result: list[list[int]] = [[] for _ in self.parent]
        for body, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                result[parent].append(body)
        return result

    def order(self) -> list[int]:
        """Every body, parents before children."""
        below = self.children()
        result = [self.root] if len(self.parent) else []
        for body in result:
            result.extend(below[body])
        return result


def mirrors(bodies: Bodies, rest: Doubles) -> Ints:
    """The body across x = 0 for each body, (B,): itself on the midline, `UNMATCHED` without a partner.

    All are unmatched when the creature as a whole is not symmetric. `rest` is (V, 3) in file order.
    """
    count = bodies.count
    partner = np.full(count, UNMATCHED, np.int64)
    filled = np.flatnonzero(bodies.sizes)
    if not len(filled):
        return partner
    points = rest[bodies.order]
    sizes = np.maximum(bodies.sizes, 1).astype(np.float64)
    centre = bodies.sums(points) / sizes[:, None]
    extent = np.sqrt(bodies.sums((points - np.repeat(centre, bodies.sizes, axis=0)) ** 2) / sizes[:, None])
    flipped = centre * (-1.0, 1.0, 1.0)
    distance = np.linalg.norm(flipped[:, None] - centre[None], axis=2)
    distance += np.abs(extent[:, None] - extent[None]).sum(axis=2)
    alike = np.minimum(sizes[:, None], sizes[None]) >= 0.7 * np.maximum(sizes[:, None], sizes[None]) - 1.0
    distance[~alike] = np.inf
    distance[:, bodies.sizes == 0] = np.inf
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    reach = 0.02 * size + 0.25 * np.linalg.norm(extent, axis=1)
    nearest = distance.argmin(axis=1)
    for body in filled.tolist():
        other = int(nearest[body])
        if nearest[other] == body and distance[body, other] <= reach[body]:
            partner[body] = other
    # Symmetry of the whole needs pairs; a body that happens to sit on the midline proves nothing.
    own = np.arange(count)
    paired = (partner >= 0) & (partner != own)
    certain = paired.any() and sizes[partner >= 0].sum() >= _SYMMETRIC * sizes[filled].sum()
    return partner if certain else np.full(count, UNMATCHED, np.int64)


def prices(pairs: Pairs, joints: Joints, size: float) -> Doubles:
    """What each pair costs, (P,); `size` is that of the creature. One unit is a doubling of the error."""
    torn = np.log2(1.0 + joints.error / _NOISE)
    seam = 0.5 * np.log2(_USUAL_EDGES / np.maximum(pairs.edges, 1))
    unit = max(size, 1e-6)
    loose = np.where(pairs.edges > 0, np.maximum(seam, 0.0), _LOOSE + 50.0 * pairs.gap / unit)
    astray = np.linalg.norm(joints.point - pairs.anchor, axis=1) / (0.1 * unit + pairs.spread)
    return np.asarray(torn + loose + astray, np.float64)


def grow(bodies: Bodies, pairs: Pairs, price: Doubles, partner: Ints, side: Doubles) -> Tree:
    """The tree. `price` (P,) as of `prices`, `partner` (B,) as of `mirrors`, `side` (B,): x of each body's centre.

    Bodies must be in the order of their owner numbers. The original tool numbers bones depth first (so are all known
    bone tables): where a tree of that kind is about as cheap as the cheapest of all, it is the one.
    """
    price = _even(bodies.count, pairs, price, partner)
    free = _free(bodies, pairs, price, partner, side)
    numbered = _numbered(bodies, pairs, price)
    if numbered is None:
        return free
    least, wanted = (float(price[tree.link[tree.link >= 0]].sum()) for tree in (free, numbered))
    unlinked = int((numbered.link < 0).sum()) > int((free.link < 0).sum())
    return free if unlinked or wanted > 1.15 * least + 2.0 else numbered


def _even(count: int, pairs: Pairs, price: Doubles, partner: Ints) -> Doubles:
    """Each price averaged with that of the mirrored pair; two sides of one pair of limbs never touch."""
    mirror = np.where(partner >= 0, partner, np.arange(count))
    a, c = mirror[pairs.first], mirror[pairs.second]
    table = np.full((count, count), np.nan)
    table[pairs.first, pairs.second] = table[pairs.second, pairs.first] = price
    other = table[a, c]
    even = np.where(np.isnan(other), price + _LONELY, (price + other) / 2)
    return np.where((a == pairs.second) & (pairs.edges >= 0), even + 4 * _LOOSE, even)


def _numbered(bodies: Bodies, pairs: Pairs, price: Doubles) -> Tree | None:
    """The cheapest tree whose depth-first order is the body order (beam search), None when there is none."""
    filled = np.flatnonzero(bodies.sizes).tolist()
    if not filled:
        return None
    around: list[dict[int, tuple[float, int]]] = [{} for _ in range(bodies.count)]
    for pair, (a, c, cost) in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), price.tolist(), strict=True)):
        around[c][a] = (cost, pair)
    # A state is the cost, the path from the root to the body before, and the links so far.
    beam: list[tuple[float, tuple[int, ...], tuple[int, ...]]] = [(0.0, (filled[0],), ())]
    for body in filled[1:]:
        grown: dict[tuple[int, ...], tuple[float, tuple[int, ...], tuple[int, ...]]] = {}
        for cost, path, links in beam:
            for depth, above in enumerate(path, 1):
                known = around[body].get(above)
                if known is None:
                    continue
                state = (cost + known[0], (*path[:depth], body), (*links, known[1]))
                if state[1] not in grown or state < grown[state[1]]:
                    grown[state[1]] = state
        beam = sorted(grown.values())[:_BEAM]
        if not beam:
            return None
    parent = np.full(bodies.count, filled[0], np.int64)
    link = np.full(bodies.count, -1, np.int64)
    for body, pair in zip(filled[1:], beam[0][2], strict=True):
        parent[body], link[body] = pairs.first[pair], pair
    parent[filled[0]] = -1
    return Tree(parent, link, filled[0])


def _free(bodies: Bodies, pairs: Pairs, price: Doubles, partner: Ints, side: Doubles) -> Tree:
    """The cheapest tree, left and right alike, from the body that carries the most."""
    node = np.where(partner >= 0, np.minimum(partner, np.arange(bodies.count)), np.arange(bodies.count))
    links = _merged(pairs, price, partner, side, node)
    midline = partner == np.arange(bodies.count)
    chosen = _spanning(bodies.count, links, midline)
    filled = bodies.sizes > 0
    around: dict[int, list[tuple[int, int]]] = {}
    for a, b, pair in _expanded(chosen, links, pairs, price, partner):
        around.setdefault(a, []).append((b, pair))
        around.setdefault(b, []).append((a, pair))
    root = _root(around, bodies.sizes, midline & filled if (midline & filled).any() else filled)
    return _hang(bodies.count, around, root)


def _merged(
    pairs: Pairs, price: Doubles, partner: Ints, side: Doubles, node: Ints
) -> dict[tuple[int, int], tuple[float, list[int]]]:
    """Price and pairs for every two nodes that may be joined; joints across the midline only where nothing else is."""
    found: dict[tuple[int, int], list[int]] = {}
    for pair, (a, c) in enumerate(zip(node[pairs.first].tolist(), node[pairs.second].tolist(), strict=True)):
        if a != c:
            found.setdefault((min(a, c), max(a, c)), []).append(pair)
    doubled = ((partner >= 0) & (partner != np.arange(len(partner)))).tolist()
    beside = (side[pairs.first] * side[pairs.second] >= 0).tolist()
    costs = price.tolist()
    result = {}
    for (a, c), members in found.items():
        both = doubled[a] and doubled[c]
        straight = [p for p in members if not both or beside[p]]
        kept = straight or members
        cost = sum(costs[p] for p in kept) / len(kept) + (0.0 if straight else 2 * _LOOSE)
        if (doubled[a] or doubled[c]) and len(kept) < 2:
            cost += _LONELY
        result[a, c] = (cost, kept)
    return result


def _spanning(
    count: int, links: dict[tuple[int, int], tuple[float, list[int]]], midline: npt.NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Kruskal's tree over the nodes. The midline is joined up first: a spine must not run through a pair of limbs."""
    group = list(range(count))

    def top(item: int) -> int:
        while group[item] != item:
            group[item] = group[group[item]]
            item = group[item]
        return item

    def rank(key: tuple[int, int]) -> tuple[bool, float, tuple[int, int]]:
        spine = bool(midline[key[0]] and midline[key[1]]) and links[key][0] < _SPINE
        return not spine, links[key][0], key

    chosen = []
    for key in sorted(links, key=rank):
        a, c = top(key[0]), top(key[1])
        if a != c:
            group[a] = c
            chosen.append(key)
    return chosen


def _expanded(
    chosen: list[tuple[int, int]],
    links: dict[tuple[int, int], tuple[float, list[int]]],
    pairs: Pairs,
    price: Doubles,
    partner: Ints,
) -> list[tuple[int, int, int]]:
    """Bodies joined by the chosen links of nodes, (body, body, pair), alike on both sides; maybe more than a tree."""
    result = []
    for key in chosen:
        members = sorted(links[key][1], key=lambda p: float(price[p]))
        used: set[int] = set()
        for pair in members:
            a, c = int(pairs.first[pair]), int(pairs.second[pair])
            doubles = {body for body in (a, c) if partner[body] not in (UNMATCHED, body)}
            if not doubles & used:
                result.append((a, c, pair))
                used |= doubles
            if not doubles:
                break
    return result


def _root(around: dict[int, list[tuple[int, int]]], sizes: Ints, allowed: npt.NDArray[np.bool_]) -> int:
    """The body from which all vertices are nearest in joints, the heavier of equals."""
    best, root = (np.inf, 0.0), 0
    for body in np.flatnonzero(allowed).tolist():
        distance = {body: 0}
        queue = [body]
        for item in queue:
            for other, _pair in around.get(item, []):
                if other not in distance:
                    distance[other] = distance[item] + 1
                    queue.append(other)
        far = len(sizes)
        total = float(sum(int(n) * distance.get(b, far) for b, n in enumerate(sizes.tolist())))
        if (total, -float(sizes[body])) < best:
            best, root = (total, -float(sizes[body])), body
    return root


def _hang(count: int, around: dict[int, list[tuple[int, int]]], root: int) -> Tree:
    parent = np.full(count, root, np.int64)
    link = np.full(count, -1, np.int64)
    seen = {root}
    queue = [root]
    for body in queue:
        for other, pair in around.get(body, []):
            if other not in seen:
                seen.add(other)
                parent[other], link[other] = body, pair
                queue.append(other)
    if count:
        parent[root] = -1
    return Tree(parent, link, root)
