# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones cannot express: kept where nothing moved, carried along where something did."""

from __future__ import annotations

import numpy as np
import pytest
from addon.io_carnivores.formats import bone_space, motion, recover, rigid
from addon.io_carnivores.formats.residual import TOLERANCE, Edit, Origin, Poses, restored, spread

from tests import characters

SOFT = 30  # a vertex of the third body that does as it likes


def wobbling(count: int = 9) -> np.ndarray:
    """Frames of the tube in which one vertex does not keep its place."""
    frames = characters.swing(characters.tube(), count)
    frames[:, SOFT, 1] += (90 * np.sin(np.arange(count))).astype(np.int16)
    return frames


@pytest.fixture
def origin() -> Origin:
    """The tube with its recovered motion."""
    model, frames = characters.tube(), wobbling()
    rig = recover.recover(model.vertices, model.faces, [frames])
    clip = rig.clips[0]
    poses = Poses.of(clip.quaternion, clip.translation, clip.scale)
    return Origin.of(frames, poses, rig.body, rig.rest)


def edit(origin: Origin, **changes: np.ndarray) -> Edit:
    """Nothing edited but `changes`."""
    count = len(origin.body)
    none = np.zeros(count, bool)
    given = {"source": origin.rest, "target": origin.rest, "certain": none, "loose": none}
    return Edit(**{**given, "edges": np.zeros((0, 2), int), **changes})


def steps(positions: np.ndarray) -> np.ndarray:
    """As the file would have them."""
    return motion.quantise(positions).astype(int)


def test_poses_are_packed(origin: Origin) -> None:
    """Far finer than a step, and much smaller than in single precision; what is damaged is no poses."""
    raw = origin.poses.packed()
    assert len(raw) < 0.7 * 9 * 4 * 8 * 4
    again = Poses.read(raw, 9)
    assert np.abs(again.quaternion - origin.poses.quaternion).max() < 1e-6
    assert np.abs(again.translation - origin.poses.translation).max() < 1e-3
    moved = Origin.of(origin.frames, again, origin.body, origin.rest)
    assert np.abs(moved.shown - origin.shown).max() < 0.1 * TOLERANCE
    assert Poses.read(raw, 7) is None
    assert Poses.read(raw[:-9], 9) is None
    assert Poses.read(b"", 9) is None
    assert Poses.read(raw, 0) is None
    far = Poses(origin.poses.quaternion, origin.poses.translation + np.float32(1e7), origin.poses.scale)
    assert np.array_equal(Poses.read(far.packed(), 9).translation, far.translation)


def test_what_did_not_move_is_the_file_s_own(origin: Origin) -> None:
    """To the step, whatever noise the evaluation has."""
    noise = np.random.default_rng(1).uniform(-0.9, 0.9, origin.shown.shape) * TOLERANCE
    found = restored(origin, (origin.shown + noise).astype(np.float32), edit(origin))
    assert np.array_equal(steps(found), origin.frames)
    assert np.array_equal(found, motion.positions(origin.frames))


def test_bones_alone_would_lose_the_soft_vertex(origin: Origin) -> None:
    """So that the other tests say something."""
    away = np.abs(steps(origin.shown) - origin.frames).max(axis=(0, 2))
    assert away[SOFT] > 40
    assert np.flatnonzero(origin.strays().any(axis=0)).tolist() == [SOFT]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softness_turns_with_its_body(origin: Origin, axis: int) -> None:
    """A body that is turned about a joint takes the residual along: the same as the frames turned."""
    turn, joint = characters.turned(0.7, axis), np.array([3.0, 28.0, 90.0])
    own = origin.body == origin.body[SOFT]
    baked = origin.shown.copy()
    baked[4:7, own] = (baked[4:7, own] - joint) @ turn.T + joint
    found = restored(origin, baked, edit(origin))
    wanted = origin.middle
    wanted[4:7, own] = (wanted[4:7, own] - joint) @ turn.T + joint
    assert np.array_equal(steps(found[:, ~own]), origin.frames[:, ~own])
    untouched = np.delete(np.arange(9), [4, 5, 6])
    assert np.array_equal(steps(found[untouched]), origin.frames[untouched])
    assert np.abs(found[4:7, own] - wanted[4:7, own]).max() < 0.1


def test_a_grown_body_has_grown_residuals(origin: Origin) -> None:
    """And one that was only moved has the same ones."""
    own = origin.body == origin.body[SOFT]
    baked = origin.shown.copy()
    baked[:, own] = 2 * baked[:, own] + (5, 6, 7)
    found = restored(origin, baked, edit(origin))
    assert np.abs(found[:, own] - (2 * origin.middle[:, own] + (5, 6, 7))).max() < 0.1


def test_a_vertex_on_another_bone_leaves_its_residual_behind(origin: Origin) -> None:
    """It would undo what the new bone does."""
    loose = np.arange(48) == SOFT
    baked = origin.shown.copy()
    baked[:, SOFT] += (0, 20, 0)
    found = restored(origin, baked, edit(origin, loose=loose))
    assert np.array_equal(found[:, SOFT], baked[:, SOFT])


def test_the_base_can_be_followed_or_not(origin: Origin) -> None:
    """Where a bake shows an edit of the base, or does not."""
    moved = origin.rest.copy()
    moved[9] += (0, 4, 0)
    turn = origin.poses.motion().rotation[:, origin.body[9]]
    with_edit = origin.shown.copy()
    with_edit[:, 9] += turn @ np.array([0, 4, 0])
    for shows in (False, True):
        baked, source = (with_edit, moved) if shows else (origin.shown, origin.rest)
        followed = restored(origin, baked, edit(origin, source=source, target=moved))
        left = restored(origin, baked, edit(origin, source=source, target=origin.rest))
        assert np.array_equal(steps(left), origin.frames)
        assert np.array_equal(steps(np.delete(followed, 9, 1)), np.delete(origin.frames, 9, 1))
        away = followed[:, 9] - (origin.middle[:, 9] + turn @ np.array([0, 4, 0]))
        assert np.abs(away).max() < 0.02


def test_new_vertices_take_the_residual_of_their_neighbours(origin: Origin) -> None:
    """Between two soft ones a new one is soft too; what hangs on nothing has none."""
    values = np.zeros((2, 6, 3), np.float32)
    values[:, 0], values[:, 1] = 8, 4
    known = np.array([True, True, True, False, False, False])
    edges = np.array([[0, 3], [3, 1], [3, 4]])
    found = spread(values, known, edges)
    assert found[0, :, 0].tolist() == [8, 4, 0, 6, 6, 0]
    one = np.arange(48) != SOFT + 1
    unknown = Origin(origin.frames, origin.shown, origin.rest, origin.poses, origin.body, one)
    placed = restored(unknown, origin.shown, edit(origin, edges=np.array([[SOFT, SOFT + 1]])))
    residual = origin.middle[:, SOFT] - origin.shown[:, SOFT]
    assert np.abs(placed[:, SOFT + 1] - origin.shown[:, SOFT + 1] - residual).max() < 0.02


def test_shapes_bring_soft_vertices_where_the_frames_have_them(origin: Origin) -> None:
    """Carried by the bones, the keys give the frames; all other vertices rest."""
    shapes = origin.shapes(origin.strays().any(axis=0))
    assert np.array_equal(np.delete(shapes, SOFT, 1), np.repeat(np.delete(origin.rest, SOFT, 0)[None], 9, 0))
    moved = origin.poses.motion()
    body = origin.body[SOFT]
    carried = np.einsum("nij,nj->ni", moved.rotation[:, body], shapes[:, SOFT]) + moved.translation[:, body]
    assert np.array_equal(steps(carried), origin.frames[:, SOFT])


def test_keys_in_bone_space_and_back() -> None:
    """What Blender makes of the keys is the motion they were made of."""
    rng = np.random.default_rng(2)
    world = np.zeros((5, 4, 4, 4))
    world[..., :3, :3] = rigid.matrices(bone_space.continuous(_random_turns(rng, (5, 4)))) * 1.25
    world[..., :3, 3] = rng.normal(0, 50, (5, 4, 3))
    world[..., 3, 3] = 1
    rest = np.zeros((4, 4, 4))
    rest[:, :3, :3] = rigid.matrices(_random_turns(rng, (4,)))
    rest[:, :3, 3] = rng.normal(0, 50, (4, 3))
    rest[:, 3, 3] = 1
    parents = np.array([2, 2, -1, 0])
    local = bone_space.local_motion(world, rest, parents)
    assert np.abs(bone_space.world_motion(local, rest, parents) - world).max() < 1e-9
    poses = bone_space.poses(world).motion()
    assert np.abs(poses.scale[:, :4] - 1.25).max() < 1e-6
    point = np.array([1.0, 2.0, 3.0, 1.0])
    wanted = (world @ point)[..., [0, 2, 1]]
    found = 1.25 * np.einsum("nbij,j->nbi", poses.rotation[:, :4], point[[0, 2, 1]]) + poses.translation[:, :4]
    assert np.abs(found - wanted).max() < 1e-4


def _random_turns(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    q = rng.normal(size=(*shape, 4))
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))
