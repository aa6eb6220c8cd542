# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of one skeleton found in another."""

from __future__ import annotations

import numpy as np
import pytest
from addon.io_carnivores.formats import bone_match
from addon.io_carnivores.formats.bone_match import Skeleton

# Across (left is positive), along (ahead is negative), up.
PLACES = {
    "Hips": (0, 0, 100),
    "Spine": (0, -40, 110),
    "Neck": (0, -90, 130),
    "Head": (0, -120, 150),
    "Tail1": (0, 40, 95),
    "Tail2": (0, 90, 90),
    "Thigh.L": (15, 0, 90),
    "Thigh.R": (-15, 0, 90),
    "Shin.L": (17, -10, 50),
    "Shin.R": (-17, -10, 50),
    "Foot.L": (16, 5, 10),
    "Foot.R": (-16, 5, 10),
}


def skeleton(names: list[str] | None = None, *, scale: float = 1.0, away: float = 0.0) -> Skeleton:
    heads = np.array(list(PLACES.values()), float) * scale + away
    return Skeleton(names or list(PLACES), heads, heads + np.array([0, 0, 5.0 * scale]))


def test_equal_names() -> None:
    """In full first, whatever the case; then without numbers; the rest by place."""
    source = skeleton([name.upper() for name in PLACES])
    found = bone_match.match(skeleton([f"{name}.001" for name in PLACES]), source)
    assert found.source.tolist() == list(range(12))
    assert found.counts == (12, 0, 0)
    swapped = list(PLACES)
    swapped[2], swapped[5] = "Tail2", "Neck"
    assert bone_match.match(skeleton(swapped), skeleton()).source[[2, 5]].tolist() == [5, 2]


def test_words_that_say_nothing_are_no_names() -> None:
    """A Bone.003 of one rig is not the Bone.003 of another."""
    names = [f"Bone.{number:03d}" for number in range(12)]
    order = np.random.default_rng(0).permutation(12)
    source = skeleton()
    shuffled = Skeleton(names, source.heads[order], source.tails[order])
    found = bone_match.match(skeleton(names), shuffled)
    assert order[found.source].tolist() == list(range(12))
    assert found.counts == (0, 12, 0)


@pytest.mark.parametrize(("scale", "away"), [(1.0, 0.0), (2.0, 0.0), (0.03, 70.0)])
def test_by_place(scale: float, away: float) -> None:
    """However large, and wherever."""
    names = [f"thing{number}" for number in range(12)]
    found = bone_match.match(skeleton(names, scale=scale, away=away), skeleton())
    assert found.source.tolist() == list(range(12))
    assert found.counts == (0, 12, 0)


def test_sides_are_never_crossed() -> None:
    """Not even where the other side is nearer, and names count more than places."""
    heads = np.array([(1, 0, 0), (1, 0, 50), (0, -100, 0), (0, 100, 100)], float)
    target = Skeleton(["leg_l", "leg_r", "a", "b"], heads, heads + np.array([0, 0, 9]))
    source = Skeleton(["Shank.R", "Shank.L", "c", "d"], heads, heads + np.array([0, 0, 9]))
    found = bone_match.match(target, source)
    assert found.source[2:].tolist() == [2, 3]
    assert found.source[:2].tolist() == [-1, -1]
    assert found.counts == (0, 2, 2)


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("DEF-upper_arm.L", 1),
        ("DEF-upper_arm.R.001", -1),
        ("mixamorig:LeftUpLeg", 1),
        ("Bip01 R Thigh", -1),
        ("thigh_l", 1),
        ("ArmR", -1),
        ("Roll", None),
        ("Spine1", None),
        ("Leg2.L", 1),
        ("collar", None),
    ],
)
def test_what_names_say_of_sides(name: str, side: int | None) -> None:
    """The ways of the usual tools."""
    assert bone_match.side_of(name) == side


def test_odd_skeletons() -> None:
    """None at all, one bone, all in one place."""
    none = Skeleton([], np.zeros((0, 3)), np.zeros((0, 3)))
    assert bone_match.match(none, skeleton()).source.tolist() == []
    assert bone_match.match(skeleton(), none).counts == (0, 0, 12)
    one = Skeleton(["x"], np.zeros((1, 3)), np.array([[0, 0, 4.0]]))
    assert bone_match.match(one, Skeleton(["y"], np.ones((1, 3)), np.array([[1, 1, 9.0]]))).source.tolist() == [0]
    heap = Skeleton(["a", "b"], np.zeros((2, 3)), np.zeros((2, 3)))
    assert sorted(bone_match.match(heap, heap).source.tolist()) == [0, 1]
