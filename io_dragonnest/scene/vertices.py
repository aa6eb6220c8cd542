# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners to vertices: one for each place, unless its corners really differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .shown import Shown
    from .surface import Surface


@dataclass(eq=False)
class Vertices:
    """Streams of a sub-mesh. `corners` (t, 3): its vertices; `origin` (n,): the vertex of the mesh each stands for."""

    origin: npt.NDArray[np.int64]
    positions: npt.NDArray[np.float32]
    normals: npt.NDArray[np.float32]
    uvs: npt.NDArray[np.float32]
    colours: npt.NDArray[np.uint8] | None
    corners: npt.NDArray[np.int64]


def of(surface: Surface, chosen: npt.NDArray[np.bool_] | None, before: Shown | None) -> Vertices:
    """The vertices of the triangles `chosen` (T,), of all with None, in the order of the mesh; split ones come last.

    Corners of a vertex are told apart by the bits of normal, UVs and colour. Vertices without a face stay where they
    came out of a file and all triangles are taken.
    """
    vertex = surface.vertex if chosen is None else surface.vertex[chosen]
    loop = surface.loop if chosen is None else surface.loop[chosen]
    flat_vertex, flat_loop = vertex.reshape(-1).astype(np.int64), loop.reshape(-1).astype(np.int64)
    count = len(surface.positions)
    # The last write wins in numpy, so that going backwards leaves the first corner of each vertex; one that is as it
    # was before those that were edited, so that edited ones split off.
    lead = np.full(count, -1, np.int64)
    lead[flat_vertex[::-1]] = np.arange(len(flat_vertex))[::-1]
    original = np.flatnonzero(surface.original[flat_loop])[::-1]
    lead[flat_vertex[original]] = original
    present = lead >= 0
    if chosen is None and before is not None:
        present |= surface.numbers >= 0
    origin = np.flatnonzero(present)
    place = np.full(count, -1, np.int64)
    place[origin] = np.arange(len(origin))
    target = place[flat_vertex]
    source = lead[origin]
    rows, odd = _differing(surface, flat_loop, lead[flat_vertex])
    if len(odd):
        keyed = np.concatenate((flat_vertex[odd, None].view(np.uint32).reshape(len(odd), 2), rows[odd]), axis=1)
        packed = np.ascontiguousarray(keyed).view(np.dtype((np.void, keyed.shape[1] * 4))).reshape(-1)
        _unique, example, inverse = np.unique(packed, return_index=True, return_inverse=True)
        # In order of appearance, so that the same edit gives the same file.
        rank = np.empty(len(example), np.int64)
        rank[np.argsort(example, kind="stable")] = np.arange(len(example))
        target[odd] = len(origin) + rank[inverse.reshape(-1)]
        leaders = odd[np.sort(example)]
        source = np.concatenate((source, leaders))
        origin = np.concatenate((origin, flat_vertex[leaders]))
    return _streams(surface, before, origin, flat_loop, source, target.reshape(-1, 3))


def _differing(
    surface: Surface, loop: npt.NDArray[np.int64], lead: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """What corners are told apart by, (n, words), and which of them differ from the leading one of their vertex."""
    if surface.is_even or not len(loop):
        return np.zeros((0, 1), np.uint32), np.zeros(0, np.int64)
    rows = _rows(surface, loop)
    return rows, np.flatnonzero((rows != rows[lead]).any(axis=1))


def _rows(surface: Surface, loop: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """(n, words) u32: all that tells corners apart."""
    parts: list[npt.NDArray[Any]] = [np.ascontiguousarray(surface.normals).view(np.uint32)]
    parts += [np.ascontiguousarray(uv).view(np.uint32) for uv in surface.uvs]
    if surface.colours is not None:
        parts.append(np.ascontiguousarray(surface.colours).view(np.uint32).reshape(-1, 1))
    return np.concatenate([part[loop] for part in parts], axis=1)


def _streams(
    surface: Surface,
    before: Shown | None,
    origin: npt.NDArray[np.int64],
    loop: npt.NDArray[np.int64],
    source: npt.NDArray[np.int64],
    corners: npt.NDArray[np.int64],
) -> Vertices:
    """`source` (n,): the corner that says what each vertex is like, -1 for one without a face."""
    faced = source >= 0
    at = loop[source[faced]]
    number = surface.numbers[origin[~faced]]

    def fill(shape: tuple[int, ...], values: npt.NDArray[Any], stored: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
        out = np.zeros((len(origin), *shape), values.dtype)
        # As whole words: copying floats may change the bits of what is no number.
        bits = out.view(f"u{out.dtype.itemsize}")
        bits[faced] = np.ascontiguousarray(values).view(bits.dtype)[at]
        if stored is not None and len(number):
            bits[~faced] = np.ascontiguousarray(stored).view(bits.dtype)[number]
        return out

    kept = before.source if before is not None else None
    uvs = [
        fill((2,), uv, kept.uvs[row] if kept is not None and row < len(kept.uvs) else None)
        for row, uv in enumerate(surface.uvs)
    ]
    colours = None
    if surface.colours is not None:
        colours = fill((4,), surface.colours, kept.colours if kept is not None else None)
    return Vertices(
        origin,
        surface.positions[origin],
        fill((3,), surface.normals, kept.normals if kept is not None else None),
        np.stack(uvs) if uvs else np.zeros((0, len(origin), 2), np.float32),
        colours,
        corners,
    )
