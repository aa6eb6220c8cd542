# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest place on a surface, against the slow and certain way of finding it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import nearest

if TYPE_CHECKING:
    import numpy.typing as npt


def soup(seed: int, vertices: int = 40, triangles: int = 60) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Triangles between random vertices, some without area and some without extent."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, vertices, (triangles, 3))
    corners[0] = corners[0, 0]
    corners[1, 2] = corners[1, 1]
    return rng.normal(0, 100, (vertices, 3)), corners


def sampled(
    vertices: npt.NDArray[np.float64], triangles: npt.NDArray[np.int64], steps: int = 40
) -> npt.NDArray[np.float64]:
    """Places all over the triangles, (n, 3)."""
    u, v = np.meshgrid(np.linspace(0, 1, steps), np.linspace(0, 1, steps))
    inside = u + v <= 1
    weight = np.stack((1 - u[inside] - v[inside], u[inside], v[inside]), axis=1)
    return np.einsum("sk,tki->tsi", weight, vertices[triangles]).reshape(-1, 3)


@pytest.mark.parametrize("seed", range(4))
def test_no_place_of_the_surface_is_nearer(seed: int) -> None:
    """Measured against many places of every triangle; the weights lead to the place that is as far as it says."""
    vertices, triangles = soup(seed)
    points = np.random.default_rng(seed + 100).normal(0, 120, (200, 3))
    found = nearest.places(points, vertices, triangles)
    assert (found.weight >= 0).all()
    assert np.allclose(found.weight.sum(axis=1), 1)
    place = np.einsum("pk,pki->pi", found.weight, vertices[found.corner])
    assert np.allclose(np.linalg.norm(place - points, axis=1), found.distance, atol=1e-9)
    slow = np.linalg.norm(points[:, None] - sampled(vertices, triangles)[None], axis=2).min(axis=1)
    alone = np.setdiff1d(np.arange(len(vertices)), triangles)
    slow = np.minimum(slow, np.linalg.norm(points[:, None] - vertices[alone][None], axis=2).min(axis=1, initial=np.inf))
    assert (found.distance <= slow + 1e-9).all()
    assert (slow - found.distance < 8).all(), "the samples lie that close to each other"


def test_vertices_without_triangles_count() -> None:
    """A cloud of points is a surface of points."""
    vertices = np.array([[0.0, 0, 0], [10, 0, 0], [0, 10, 0]])
    found = nearest.places(vertices + 0.5, vertices, np.zeros((0, 3), int))
    assert found.corner.tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]
    assert np.allclose(found.distance, np.sqrt(0.75))


def test_in_pieces_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little memory is allowed."""
    vertices, triangles = soup(9)
    points = np.random.default_rng(1).normal(0, 80, (100, 3))
    whole = nearest.places(points, vertices, triangles)
    on = nearest.closest(points, vertices)
    monkeypatch.setattr(nearest, "_TABLE", 130)
    monkeypatch.setattr(nearest, "_PAIRS", 7)
    pieces = nearest.places(points, vertices, triangles)
    assert np.array_equal(pieces.corner, whole.corner)
    assert np.allclose(pieces.weight, whole.weight)
    assert all(np.array_equal(a, b) for a, b in zip(nearest.closest(points, vertices), on, strict=True))


def test_vertices_that_share_a_place_are_told_apart_by_their_order() -> None:
    """Two on two are one each; one on two takes the first; the third of two takes the last."""
    vertices = np.array([[1.0, 0, 0], [5, 5, 5], [1, 0, 0], [9, 9, 9]])
    assert nearest.coinciding(vertices, vertices, 0.01).tolist() == [0, 1, 2, 3]
    assert nearest.coinciding(vertices[[3, 0, 1]] + 0.004, vertices, 0.01).tolist() == [3, 0, 1]
    assert nearest.coinciding(vertices[[0, 0, 0]], vertices, 0.01).tolist() == [0, 2, 2]
    assert nearest.coinciding(vertices + np.array([0.1, 0, 0]), vertices, 0.01).tolist() == [-1] * 4
