# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists, strips, triangles: winding, joints, and strips made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_dragonnest.formats import msh, strips, triangles
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import dragons

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


def multiset(corners: npt.NDArray[np.int32]) -> list[tuple[int, ...]]:
    return sorted(map(tuple, triangles.turned(corners).tolist()))


def same_faces(corners: npt.NDArray[np.int32]) -> npt.NDArray[np.uint16]:
    """A strip of the triangles; it must hold each as often, wound the same way."""
    strip = strips.make(corners)
    found = triangles.of_indices(strip, is_strip=True)
    assert multiset(found.corners) == multiset(corners)
    return strip


def test_a_strip_turns_with_every_step() -> None:
    found = triangles.of_indices(np.array([0, 1, 2, 3, 4], "<u2"), is_strip=True)
    assert found.corners.tolist() == [[0, 1, 2], [1, 3, 2], [2, 3, 4]]
    assert found.source.tolist() == [0, 1, 2] and found.degenerate == 0
    found = triangles.of_indices(np.array([0, 1, 2, 2, 3, 4, 5], "<u2"), is_strip=True)
    assert found.corners.tolist() == [[0, 1, 2], [2, 4, 3], [3, 4, 5]]
    assert found.source.tolist() == [0, 3, 4] and found.degenerate == 2
    found = triangles.of_indices(np.array([0, 1, 2, 2, 1, 1, 5, 6, 7, 8], "<u2"), is_strip=False)
    assert found.corners.tolist() == [[0, 1, 2], [5, 6, 7]]
    assert found.source.tolist() == [0, 6] and found.degenerate == 1


@pytest.mark.samples("*dragonnest/*.msh")
def test_samples(sample: Path) -> None:
    """Triangles face along the stored normals, and strips made of them are no longer than the file's own."""
    for part in msh.read(sample.read_bytes()).submeshes:
        corners = triangles.of(part).corners
        a, b, c = (part.positions[corners[:, k]].astype(float) for k in range(3))
        facing = np.einsum("ij,ij->i", np.cross(b - a, c - a), part.normals[corners[:, 0]].astype(float))
        assert (facing > 0).mean() > 0.9
        strip = same_faces(corners)
        assert len(strip) <= len(part.indices) or not part.is_strip
        assert triangles.unchanged(part.indices, is_strip=part.is_strip, corners=corners)


def test_unchanged_triangles_are_known() -> None:
    """Whichever corner comes first; not when one is turned round, moved, missing."""
    part = dragons.part(4, 4, strip=True)
    corners = triangles.of(part).corners
    assert triangles.unchanged(part.indices, is_strip=True, corners=np.roll(corners, 1, axis=1))
    for other in (corners[:, ::-1], corners[::-1], corners[:-1], np.zeros((0, 3), int)):
        assert not triangles.unchanged(part.indices, is_strip=True, corners=other)
    assert triangles.unchanged(np.zeros(0, "<u2"), is_strip=True, corners=np.zeros((0, 3), int))


def test_a_grid_needs_little_more_than_one_index_a_triangle() -> None:
    _positions, corners = dragons.grid(60, 60)
    strip = same_faces(corners)
    assert len(strip) < 1.2 * len(corners)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 12), st.integers(0, 60))
def test_any_triangles(seed: int, vertices: int, count: int) -> None:
    """Edges with many triangles, repeated and opposite faces."""
    rng = np.random.default_rng(seed)
    corners = np.array([rng.permutation(vertices)[:3] for _ in range(count)], np.int32).reshape(-1, 3)
    across = strips.neighbours(corners).reshape(-1)
    for edge, other in enumerate(across.tolist()):
        if other >= 0:
            assert across[other] == edge
            ends = [corners[e // 3, [e % 3, (e + 1) % 3]].tolist() for e in (edge, other)]
            assert ends[0] == ends[1][::-1]
    same_faces(corners)


def test_the_work_grows_with_the_triangles() -> None:
    """Counted, not timed: how often a triangle is looked at."""
    looked = []
    for size in (20, 40, 80):
        _positions, corners = dragons.grid(size, size)
        corners = np.random.default_rng(1).permutation(corners)
        across = _Counting(strips.neighbours(corners).reshape(-1).tolist())
        flat, used, runs = corners.reshape(-1).tolist(), bytearray(len(corners)), 0
        for start in range(len(corners)):
            if used[start]:
                continue
            taken = max((strips._run(start, k, flat, across, used)[1] for k in range(3)), key=len)
            for triangle in taken:
                used[triangle] = 1
            runs += 1
        looked.append(across.reads / len(corners))
        assert runs < len(corners) / 3
    assert max(looked) < 8


class _Counting(list[int]):
    reads = 0

    def __getitem__(self, place: int) -> int:  # type: ignore[override]
        self.reads += 1
        return super().__getitem__(place)
