# SPDX-License-Identifier: GPL-3.0-or-later
"""The turns of a limb, taken over by one that points elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from addon.io_carnivores.formats import limbs
from addon.io_carnivores.formats.bone_match import Match, Skeleton

MIRROR = np.diag([-1.0, 1.0, 1.0])
HANGING, BEHIND, AHEAD = (0.0, 0.3, -1.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)


def about(axis: int, angle: float) -> np.ndarray:
    """A rotation about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    first, second = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[first, first] = matrix[second, second] = c
    matrix[first, second], matrix[second, first] = -s, s
    return matrix


def animal(tail: tuple[float, float, float], neck: tuple[float, float, float] = AHEAD) -> Skeleton:
    """A root, two bones of a tail, two of a neck and a jaw that always looks ahead."""
    back, front = np.array(tail) / np.linalg.norm(tail), np.array(neck) / np.linalg.norm(neck)
    heads = [np.zeros(3), back, 3 * back, front, 3 * front, 5 * front]
    tails = [np.array(BEHIND), 3 * back, 5 * back, 3 * front, 5 * front, 5 * front + AHEAD]
    return Skeleton(["Root", "Tail1", "Tail2", "Neck1", "Neck2", "Jaw"], np.array(heads), np.array(tails))


PARENT = np.array([-1, 0, 1, 0, 3, 4])
ALL = Match(np.arange(6), np.ones(6, bool))


def carried(source: Skeleton, target: Skeleton, turn: np.ndarray, match: Match = ALL) -> np.ndarray:
    """Turns (T, 3, 3) of one frame."""
    way = limbs.ways(target, source, PARENT, match)
    return limbs.turned(turn[None], way, PARENT, match)[0]


def swung(root: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """The root turns, the tail bends twice from there, the neck goes with the root."""
    return np.array([root, root @ tail, root @ tail @ tail, root, root, root])


def test_a_hanging_tail_wags_another_behind() -> None:
    """Sideways stays sideways by the same angle, a turn about its own length stays one, up and down stay."""
    source, target = animal(HANGING), animal(BEHIND)
    down = np.array(HANGING) / np.linalg.norm(HANGING)
    side = np.cross(down, [1.0, 0, 0])  # the axis by which it swings to the side
    for angle in (0.4, -0.4):
        k = np.array([[0, -side[2], side[1]], [side[2], 0, -side[0]], [-side[1], side[0], 0]])
        swing = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
        found = carried(source, target, swung(np.eye(3), swing))
        there = swing @ down
        tip = found[1] @ np.array(BEHIND)
        assert np.allclose(tip[0], there[0])
        assert abs(tip[2]) < 1e-9, "neither up nor down"
        assert np.allclose(found[1] @ found[1], found[2])
        assert np.allclose(found[[0, 3, 4, 5]], np.eye(3))
        k = np.array([[0, -down[2], down[1]], [down[2], 0, -down[0]], [-down[1], down[0], 0]])
        twist = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
        assert np.allclose(carried(source, target, swung(np.eye(3), twist))[1] @ BEHIND, BEHIND)
        assert np.allclose(carried(source, target, swung(np.eye(3), about(0, angle)))[1], about(0, angle))


def test_left_and_right_are_treated_alike() -> None:
    """The mirrored motion gives the mirrored motion."""
    source, target = animal(HANGING), animal(BEHIND)
    turn = swung(about(2, 0.3) @ about(0, 0.2), about(1, 0.5) @ about(0, 0.4) @ about(2, 0.3))
    mirrored = MIRROR @ turn @ MIRROR
    assert np.allclose(carried(source, target, mirrored), MIRROR @ carried(source, target, turn) @ MIRROR)


def test_the_whole_body_turns_as_it_did() -> None:
    """A turn of the root takes every limb along, whichever way it points."""
    turn = about(2, 0.7) @ about(1, 0.2)
    found = carried(animal(HANGING), animal(BEHIND), swung(turn, np.eye(3)))
    assert np.allclose(found, turn)


@pytest.mark.parametrize("neck", [AHEAD, (0.0, -0.3, 1.0)])
def test_what_points_alike_turns_alike(neck: tuple[float, float, float]) -> None:
    """A neck that stands up carries a head that looks ahead: it turns in space as it did."""
    turn = swung(about(2, 0.2), about(1, 0.5))
    turn[3:] = [about(2, 0.4), about(2, 0.6) @ about(0, 0.2), about(2, 0.8)]
    assert np.allclose(carried(animal(BEHIND), animal(BEHIND, neck), turn), turn)


def test_bones_without_a_counterpart() -> None:
    """They turn with what they hang on, and those below them as their own say."""
    turn = swung(about(2, 0.2), about(1, 0.5))
    match = Match(np.array([0, -1, 2, 3, -1, 5]), np.ones(6, bool))
    found = carried(animal(BEHIND), animal(BEHIND), turn, match)
    assert np.allclose(found[1], turn[0])
    assert np.allclose(found[2], turn[2])
    assert np.allclose(found[4], turn[3])
