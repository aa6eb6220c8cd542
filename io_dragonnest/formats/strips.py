# SPDX-License-Identifier: GPL-3.0-or-later
"""Making one triangle strip of a list of triangles.

Runs are grown over neighbours, the longest of three directions from each start, and joined by triangles without an
area. The work grows with the number of triangles: neighbours are found by sorting, and a run that loses against a
longer one costs no more than that one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def neighbours(corners: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """(t, 3) the half-edge `3 * triangle + k` on the other side of edge k (corner k to corner k + 1), -1 for none.

    Only neighbours of the same winding are paired. Where more than two triangles share an edge, each has one partner at
    the most.
    """
    start = corners.astype(np.int64)
    end = np.roll(start, -1, axis=1)
    span = int(start.max()) + 1 if start.size else 1
    forward, backward = (start * span + end).reshape(-1), (end * span + start).reshape(-1)
    edges = np.minimum(forward, backward)
    rising, falling = np.flatnonzero(forward < backward), np.flatnonzero(forward > backward)
    rising = rising[np.argsort(edges[rising], kind="stable")]
    falling = falling[np.argsort(edges[falling], kind="stable")]
    one, other = _pairs(edges[rising], edges[falling])
    found = np.full(forward.size, -1, np.int64)
    found[rising[one]] = falling[other]
    found[falling[other]] = rising[one]
    return found.reshape(-1, 3)


def _pairs(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Positions in two sorted arrays that hold the same key, the n-th of one with the n-th of the other."""
    rank_first = np.arange(len(first)) - np.searchsorted(first, first)
    place = np.searchsorted(second, first) + rank_first
    inside = place < len(second)
    inside[inside] = second[place[inside]] == first[inside]
    return np.flatnonzero(inside), place[inside]


def make(corners: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """One strip (n,) u16 of exactly the triangles `corners` (t, 3), with their winding, in an order of its own.

    The corners of each triangle must differ; numbers must be below 65 536.
    """
    across = neighbours(corners).reshape(-1).tolist()
    flat = corners.reshape(-1).tolist()
    used = bytearray(len(corners))
    strip: list[int] = []
    for start in range(len(corners)):
        if used[start]:
            continue
        run: list[int] = []
        taken: list[int] = []
        for corner in range(3):
            other, triangles = _run(start, corner, flat, across, used)
            if len(other) > len(run):
                run, taken = other, triangles
        for triangle in taken:
            used[triangle] = 1
        _join(strip, run)
    return np.array(strip, np.uint16)


def _run(start: int, corner: int, flat: list[int], across: list[int], used: bytearray) -> tuple[list[int], list[int]]:
    """The strip that begins with triangle `start` at `corner`, and the triangles it takes."""
    base = 3 * start
    run = [flat[base + corner], flat[base + (corner + 1) % 3], flat[base + (corner + 2) % 3]]
    taken = [start]
    seen = {start}
    # The next triangle lies behind the edge of the last two corners.
    edge = base + (corner + 1) % 3
    while True:
        partner = across[edge]
        triangle = partner // 3
        if partner < 0 or used[triangle] or triangle in seen:
            return run, taken
        place = partner - 3 * triangle
        run.append(flat[3 * triangle + (place + 2) % 3])
        taken.append(triangle)
        seen.add(triangle)
        # A strip turns left and right by turns: it leaves by one and the other edge of the new corner.
        edge = 3 * triangle + ((place + 2) % 3 if len(taken) % 2 == 0 else (place + 1) % 3)


def _join(strip: list[int], run: list[int]) -> None:
    """Append `run` so that its first triangle stands at an even place."""
    if strip:
        strip += [strip[-1], run[0]]
        if len(strip) % 2:
            strip.append(run[0])
    strip += run
