# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons from vertex frames: synthetic creatures whose skeleton is known, odd files, and real ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_carnivores.formats import bone_names, car, motion, recover, rigid
from addon.io_carnivores.formats.joint_tree import Tree
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, name_field
from addon.io_carnivores.formats.rigid import Bodies

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


def rotation(axis: npt.NDArray[Any], angle: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Rotations (N, 3, 3) about one axis by angles (N,), from Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle)[:, None, None] * cross + (1 - np.cos(angle))[:, None, None] * (cross @ cross)


@dataclass
class Creature:
    """A creature with known joints: what `recover` is given, and what it should find."""

    vertices: npt.NDArray[Any]
    faces: npt.NDArray[Any]
    frames: npt.NDArray[np.int16]
    parent: list[int]
    joint: npt.NDArray[np.float64]
    hinge: list[npt.NDArray[np.float64] | None]

    def rig(self, options: recover.Options | None = None) -> recover.Rig:
        """Recover it, its frames cut into two animations."""
        cut = len(self.frames) // 3
        return recover.recover(self.vertices, self.faces, [self.frames[:cut], self.frames[cut:]], options)


def tube(a: npt.NDArray[Any], b: npt.NDArray[Any], thick: float) -> npt.NDArray[np.float64]:
    """Three square rings along a bone, (12, 3)."""
    along = (b - a) / np.linalg.norm(b - a)
    side = np.cross(along, (0.3, 0.5, 0.8))
    side /= np.linalg.norm(side)
    up = np.cross(along, side)
    ring = thick * np.array([side, up, -side, -up])
    return np.concatenate([a + (b - a) * part + ring for part in (0.1, 0.5, 0.9)])


def built(
    parent: list[int],
    ends: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    *,
    frames: int = 60,
    hinges: bool = False,
    seed: int = 0,
) -> Creature:
    """A creature of one tube per bone, skinned at the joints, that moves at random. Joints: where bones start."""
    random = np.random.default_rng(seed)
    shapes = [tube(a, b, 3.0) for a, b in ends]
    rest = np.concatenate(shapes)
    corner: list[tuple[int, int, int]] = []

    def skin(first: list[int], second: list[int]) -> None:
        for i in range(4):
            j = (i + 1) % 4
            corner.extend([(first[i], first[j], second[i]), (first[j], second[j], second[i])])

    for body in range(len(parent)):
        rings = [list(range(12 * body + 4 * r, 12 * body + 4 * r + 4)) for r in range(3)]
        skin(rings[0], rings[1])
        skin(rings[1], rings[2])
        if parent[body] >= 0:
            above = [list(range(12 * parent[body] + 4 * r, 12 * parent[body] + 4 * r + 4)) for r in range(3)]
            gaps = [np.linalg.norm(rest[ring].mean(axis=0) - rest[rings[0]].mean(axis=0)) for ring in above]
            nearest = above[int(np.argmin(gaps))]
            # Each vertex to the nearest of the other ring, so that the seam lies around the joint.
            skin([nearest[int(np.linalg.norm(rest[nearest] - rest[v], axis=1).argmin())] for v in rings[0]], rings[0])
    turns, moves, axes = [], [], []
    for body, above_body in enumerate(parent):
        hinge = random.normal(size=3) if hinges and above_body >= 0 else None
        phase, speed = random.uniform(0, 6, 3), random.uniform(1, 4, 3)
        time = np.linspace(0, 2 * np.pi, frames)
        angle = 0.6 * np.sin(np.outer(time, speed) + phase)
        if hinge is not None:
            turn = rotation(hinge, angle[:, 0])
        else:
            turn = rotation(np.array((1.0, 0, 0)), angle[:, 0]) @ rotation(np.array((0, 1.0, 0)), angle[:, 1])
            turn = turn @ rotation(np.array((0, 0, 1.0)), angle[:, 2])
        start = np.asarray(ends[body][0], np.float64)
        move = start - turn @ start
        if above_body >= 0:
            turn, move = (
                turns[above_body] @ turn,
                np.einsum("nij,nj->ni", turns[above_body], move) + moves[above_body],
            )
        else:
            move = move + np.stack([20 * np.sin(time), 3 * np.cos(2 * time), 10 * time], axis=1)
        turns.append(turn)
        moves.append(move)
        axes.append(hinge)
    placed = [np.einsum("nij,vj->nvi", t, s) + m[:, None] for t, s, m in zip(turns, shapes, moves, strict=True)]
    vertices = np.zeros(len(rest), VERTEX)
    vertices["position"] = rest
    vertices["owner"] = np.repeat(np.arange(len(parent)), 12)
    faces = np.zeros(len(corner), FACE)
    faces["corner"] = corner
    joint = np.array([a for a, _ in ends], np.float64)
    return Creature(vertices, faces, motion.quantise(np.concatenate(placed, axis=1)), list(parent), joint, axes)


def random_creature(seed: int, *, hinges: bool = False) -> Creature:
    """A random tree, numbered depth first, whose bones fan out so that no two overlap."""
    random = np.random.default_rng(seed)
    parent, ends = [-1], [(np.zeros(3), np.array((0.0, 0.0, -40.0)))]
    path = [0]
    while len(parent) < 9:
        del path[int(random.integers(1, len(path) + 1)) :]
        above = path[-1]
        start = ends[above][1]
        for _ in range(200):
            way = random.normal(size=3)
            way *= 40 / np.linalg.norm(way)
            others = [
                e for i, pair in enumerate(ends) if i != above for e in (pair[0], (pair[0] + pair[1]) / 2, pair[1])
            ]
            clear = all(np.linalg.norm(start + way - other) > 30 for other in others if not np.allclose(other, start))
            if clear and np.linalg.norm(start + way - ends[above][0]) > 40:
                path.append(len(parent))
                parent.append(above)
                ends.append((start + way * 0.05, start + way))
                break
    return built(parent, ends, hinges=hinges, seed=seed)


def animal() -> Creature:
    """Pelvis, spine, head, tail of three, two legs and two arms of three; the left side at x > 0."""
    p = np.array
    parent, ends = [-1], [(p((0.0, 60, 0)), p((0.0, 60, -20)))]

    def chain(above: int, *points: tuple[float, float, float]) -> int:
        for a, b in itertools.pairwise(points):
            parent.append(above)
            ends.append((p(a, np.float64), p(b, np.float64)))
            above = len(parent) - 1
        return above

    for side in (1.0, -1.0):
        chain(0, (side * 8, 55, -4), (side * 14, 35, -8), (side * 14, 12, 2), (side * 14, 1, -14))
    chain(0, (0, 60, 6), (0, 62, 30), (0, 63, 55), (0, 64, 80))
    chest = chain(0, (0, 62, -24), (0, 68, -50))
    for side in (1.0, -1.0):
        chain(chest, (side * 9, 64, -45), (side * 18, 54, -48), (side * 20, 44, -58), (side * 20, 36, -66))
    chain(chest, (0, 70, -55), (0, 80, -66), (0, 82, -90))
    return built(parent, ends, frames=80, seed=5)


def links(parent: npt.NDArray[Any] | list[int]) -> set[tuple[int, int]]:
    """A tree's edges without direction."""
    return {(min(b, int(p)), max(b, int(p))) for b, p in enumerate(parent) if p >= 0}


def require_sound(rig: recover.Rig, vertices: int) -> None:
    """What must hold for any rig whatever."""
    count = len(rig.owners)
    for values in (rig.heads, rig.tails, rig.rest, *(v for c in rig.clips for v in vars(c).values())):
        assert np.isfinite(values).all()
    assert rig.rest.shape == (vertices, 3)
    assert rig.body.shape == (vertices,)
    assert rig.body.max() < count
    assert len(set(rig.names)) == count
    assert all(rig.names)
    assert (np.linalg.norm(rig.tails - rig.heads, axis=1) > 0).all()
    assert rig.parent[rig.root] == -1
    assert np.count_nonzero(rig.parent < 0) == 1
    for body in range(count):
        steps = 0
        while body != rig.root:
            body, steps = int(rig.parent[body]), steps + 1  # noqa: PLW2901
            assert steps <= count
    for clip in rig.clips:
        assert np.allclose(np.linalg.norm(clip.quaternion, axis=2), 1)
        assert np.allclose(rigid.matrices(clip.quaternion), clip.rotation, atol=1e-9)
        assert np.allclose(np.linalg.det(clip.rotation), 1)
        assert (np.einsum("nbi,nbi->nb", clip.quaternion[1:], clip.quaternion[:-1]) >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_known_skeleton_with_ball_joints(seed: int) -> None:
    """Tree and joints come back."""
    creature = random_creature(seed)
    rig = creature.rig()
    require_sound(rig, len(creature.vertices))
    assert links(rig.parent) == links(creature.parent)
    assert rig.root == 0
    assert rig.from_base
    off = np.linalg.norm(rig.heads[1:] - creature.joint[1:], axis=1)
    assert off.max() < 0.5
    assert rig.fit.coordinates[1] == 1.0
    assert rig.fit.good
    assert not len(rig.fit.soft)


@pytest.mark.parametrize("seed", range(6))
def test_known_skeleton_with_hinges(seed: int) -> None:
    """A hinge may be put anywhere on its axis: at the seam, that is."""
    creature = random_creature(seed, hinges=True)
    rig = creature.rig()
    assert links(rig.parent) == links(creature.parent)
    for body in range(1, len(creature.parent)):
        axis = creature.hinge[body]
        assert axis is not None
        away = rig.heads[body] - creature.joint[body]
        assert np.linalg.norm(np.cross(axis, away)) / np.linalg.norm(axis) < 0.6
        assert np.linalg.norm(away) < 8
    assert rig.fit.good


@pytest.mark.parametrize("seed", range(4))
def test_numbers_out_of_order_give_the_same_tree(seed: int) -> None:
    """Converters number owners as they like."""
    creature = random_creature(seed)
    shuffled = np.random.default_rng(seed).permutation(len(creature.parent)) * 3 + 2
    creature.vertices["owner"] = shuffled[creature.vertices["owner"]]
    rig = creature.rig()
    require_sound(rig, len(creature.vertices))
    assert rig.owners.tolist() == sorted(shuffled.tolist())
    back = {int(owner): body for body, owner in enumerate(shuffled)}
    found = {tuple(sorted((back[int(rig.owners[a])], back[int(rig.owners[b])]))) for a, b in links(rig.parent)}
    assert found == links(creature.parent)


def test_left_and_right_are_alike_and_named() -> None:
    """Mirrored bones hang alike and share a name."""
    creature = animal()
    rig = creature.rig()
    require_sound(rig, len(creature.vertices))
    assert links(rig.parent) == links(creature.parent)
    number = {name: body for body, name in enumerate(rig.names)}
    assert number["Root"] == 0
    left = [name for name in rig.names if name.endswith(".L")]
    assert sorted(left) == ["Arm1.L", "Arm2.L", "Arm3.L", "Leg1.L", "Leg2.L", "Leg3.L"]
    for name in left:
        a, b = number[name], number[name[:-1] + "R"]
        assert rig.rest[rig.body == a, 0].mean() > 0 > rig.rest[rig.body == b, 0].mean()
        assert np.allclose(rig.heads[a] * (-1, 1, 1), rig.heads[b], atol=1.0)
    assert [rig.names[b] for b in (7, 8, 9)] == ["Tail1", "Tail2", "Tail3"]
    assert rig.names[-1] == "Head"
    # Bones go on along the chain.
    assert np.allclose(rig.tails[number["Leg1.L"]], rig.heads[number["Leg2.L"]])
    assert np.allclose(rig.tails[number["Tail1"]], rig.heads[number["Tail2"]])


def test_frames_come_back_from_the_rig() -> None:
    """A frame is scale * rotation @ rest + translation, clip by clip."""
    creature = random_creature(1)
    rig = creature.rig()
    start = 0
    for number, clip in enumerate(rig.clips):
        shown = np.einsum("nvij,vj->nvi", clip.rotation[:, rig.body], rig.rest.astype(np.float64))
        shown = shown * clip.scale[:, rig.body, None] + clip.translation[:, rig.body]
        assert np.allclose(shown, rig.positions(number), atol=2e-3)
        stored = creature.frames[start : start + len(shown)]
        start += len(shown)
        assert np.abs(motion.quantise(shown).astype(int) - stored).max() <= 2
    assert start == len(creature.frames)


def test_placeholder_base_pose_is_not_used() -> None:
    """The rest pose is then that of the first frame."""
    creature = random_creature(2)
    creature.vertices["position"] = np.random.default_rng(0).uniform(-50, 50, creature.vertices["position"].shape)
    rig = creature.rig()
    require_sound(rig, len(creature.vertices))
    assert not rig.from_base
    assert links(rig.parent) == links(creature.parent)
    assert np.abs(rig.rest - creature.frames[0] / 16).max() < 0.2
    assert rig.fit.coordinates[1] > 0.999


def test_usable_base_pose_stays_as_it_was() -> None:
    """The mesh needs no second shape."""
    creature = random_creature(3)
    assert np.array_equal(creature.rig().rest, creature.vertices["position"])


def test_stray_vertex_follows_the_body_it_moves_with() -> None:
    """One vertex with a wrong owner."""
    creature = random_creature(4)
    creature.vertices["owner"][5] = creature.vertices["owner"][60]
    rig = creature.rig()
    assert rig.body[5] == 0
    assert rig.fit.coordinates[1] == 1.0
    kept = creature.rig(recover.Options(reassign=False))
    assert kept.body[5] == kept.body[60]
    assert 5 in kept.fit.soft
    assert kept.fit.coordinates[1] < 1.0


def test_soft_vertices_are_named_and_spoil_nothing_else() -> None:
    """One vertex that follows nothing."""
    creature = random_creature(0)
    wobble = np.random.default_rng(3).integers(-40, 40, (len(creature.frames), 3))
    creature.frames[:, 17] += wobble.astype(np.int16)
    rig = creature.rig()
    assert rig.fit.soft.tolist() == [17]
    assert rig.fit.good


def test_breathing_body_gets_a_scale_when_asked() -> None:
    """Even swelling is no softness."""
    creature = random_creature(5)
    rows = creature.vertices["owner"] == 3
    frames = creature.frames / 16.0
    middle = frames[:, rows].mean(axis=1, keepdims=True)
    swell = 1 + 0.2 * np.sin(np.linspace(0, 9, len(frames)))[:, None, None]
    frames[:, rows] = middle + (frames[:, rows] - middle) * swell
    creature.frames = motion.quantise(frames)
    plain, scaled = creature.rig(), creature.rig(recover.Options(scales=True))
    assert not plain.scaled.any()
    assert plain.fit.coordinates[1] < 0.97
    assert np.flatnonzero(scaled.scaled).tolist() == [3]
    assert scaled.fit.coordinates[1] > 0.999
    assert scaled.fit.good
    assert np.ptp(np.concatenate([clip.scale[:, 3] for clip in scaled.clips])) > 0.3


def test_random_motion_is_not_good() -> None:
    """Noise is no skeleton."""
    creature = random_creature(0)
    creature.frames = np.random.default_rng(0).integers(-900, 900, creature.frames.shape).astype(np.int16)
    rig = creature.rig()
    require_sound(rig, len(creature.vertices))
    assert not rig.fit.good
    assert not creature.rig(recover.Options(scales=True)).fit.good


def test_bone_table_gives_names_joints_and_parents() -> None:
    """A table of the same creature wins."""
    creature = random_creature(1)
    bones = np.zeros(len(creature.parent) + 2, BONE)
    bones["parent"][: len(creature.parent)] = creature.parent
    bones["position"][: len(creature.parent)] = creature.joint
    bones["name"] = [np.void(name_field(f"bone {i // 2}")) for i in range(len(bones))]
    rig = creature.rig(recover.Options(bones=bones))
    require_sound(rig, len(creature.vertices))
    assert rig.parent.tolist() == creature.parent
    assert np.allclose(rig.heads, creature.joint, atol=1e-4)
    assert rig.names[:3] == ["bone 0", "bone 0.001", "bone 1"]


def test_looped_bone_table_is_survived() -> None:
    """Parents in a circle, positions that are no numbers."""
    creature = random_creature(1)
    bones = np.zeros(len(creature.parent), BONE)
    bones["parent"] = np.roll(np.arange(len(bones)), 1)
    bones["position"] = np.nan
    require_sound(creature.rig(recover.Options(bones=bones)), len(creature.vertices))


def test_names_of_a_table_are_unique_even_when_they_look_numbered() -> None:
    """A name may look like one made unique."""
    bones = np.zeros(3, BONE)
    bones["name"] = [np.void(name_field(text)) for text in ("a", "a.001", "a")]
    names = bone_names.merged(["x", "y", "z"], bones, np.arange(3))
    assert len(set(names)) == 3


@pytest.mark.parametrize("lengths", [[], [0], [0, 0], [1], [2], [0, 1, 7]])
def test_few_frames(lengths: list[int]) -> None:
    """Empty animations keep their places."""
    creature = random_creature(2)
    clips = [creature.frames[:n] for n in lengths]
    rig = recover.recover(creature.vertices, creature.faces, clips)
    require_sound(rig, len(creature.vertices))
    assert [len(clip.translation) for clip in rig.clips] == lengths
    assert rig.fit.good == (sum(lengths) > 0)
    assert np.array_equal(rig.rest, creature.vertices["position"]) or sum(lengths) > 0


def owners_one(creature: Creature) -> None:
    """One owner for all."""
    creature.vertices["owner"] = 7


def owners_none(creature: Creature) -> None:
    """No owner at all."""
    creature.vertices["owner"] = -1


def owners_some(creature: Creature) -> None:
    """Some have none."""
    creature.vertices["owner"][:20] = -1


def owners_all_different(creature: Creature) -> None:
    """Every vertex its own."""
    creature.vertices["owner"] = np.arange(len(creature.vertices))


def owners_random(creature: Creature) -> None:
    """Numbers without a meaning."""
    creature.vertices["owner"] = np.random.default_rng(1).integers(0, 40, len(creature.vertices))


def small_bodies(creature: Creature) -> None:
    """Two vertices, one vertex, a line."""
    creature.vertices["owner"][12:14] = 100  # two vertices
    creature.vertices["owner"][30] = 101  # one
    line = slice(48, 60)  # a whole body on a line
    creature.vertices["position"][line] = creature.vertices["position"][48] + np.arange(12)[:, None] * (1.0, 2.0, 0.5)


def all_at_one_point(creature: Creature) -> None:
    """Nothing has an extent."""
    creature.vertices["position"] = 3.0
    creature.frames[:] = 48


def one_body_at_one_point(creature: Creature) -> None:
    """One body without extent."""
    creature.vertices["position"][:12] = creature.vertices["position"][0]
    creature.frames[:, :12] = creature.frames[:, :1]


def no_faces(creature: Creature) -> None:
    """No seams."""
    creature.faces = creature.faces[:0]


def degenerate_faces(creature: Creature) -> None:
    """Repeated corners."""
    creature.faces["corner"][:, 1] = creature.faces["corner"][:, 0]


def no_numbers(creature: Creature) -> None:
    """Positions that are no numbers."""
    creature.vertices["position"][3] = np.nan
    creature.vertices["position"][90] = np.inf


def far_out(creature: Creature) -> None:
    """The ends of the number range in turn."""
    creature.frames[:] = 0x7FFF
    creature.frames[1::2] = -0x8000


def flat(creature: Creature) -> None:
    """All in a plane."""
    creature.vertices["position"][:, 2] = 0
    creature.frames[:, :, 2] = 0


ODD = [
    owners_one,
    owners_none,
    owners_some,
    owners_all_different,
    owners_random,
    small_bodies,
    all_at_one_point,
    one_body_at_one_point,
    no_faces,
    degenerate_faces,
    no_numbers,
    far_out,
    flat,
]


@pytest.mark.parametrize("scales", [False, True], ids=["rigid", "scales"])
@pytest.mark.parametrize("change", ODD, ids=lambda change: str(change.__name__))
def test_odd_files_end_in_something_sound(change: Any, *, scales: bool) -> None:
    """Whatever a file holds."""
    creature = random_creature(3)
    change(creature)
    with np.errstate(all="raise", under="ignore"):
        rig = creature.rig(recover.Options(scales=scales))
    require_sound(rig, len(creature.vertices))


@pytest.mark.parametrize(("change", "good"), [(owners_one, False), (owners_all_different, False), (no_faces, True)])
def test_verdict_on_odd_files(change: Any, *, good: bool) -> None:
    """Bones only where owners mean something."""
    creature = random_creature(3)
    change(creature)
    assert creature.rig().fit.good is good


def test_single_vertex_and_empty_face_list() -> None:
    """The least there can be."""
    vertices, frames = np.zeros(1, VERTEX), np.zeros((4, 1, 3), np.int16)
    require_sound(recover.recover(vertices, np.zeros(0, FACE), [frames]), 1)


def test_thin_body_turns_with_its_parent() -> None:
    """Two vertices leave the turn about their line open: it must not flicker."""
    creature = random_creature(2)
    rows = np.flatnonzero(creature.vertices["owner"] == 2)
    creature.vertices["owner"][rows[2:]] = 1
    creature.frames[:, rows[2:]] = creature.frames[:, 12:13]
    rig = creature.rig()
    guide = int(rig.parent[2])
    for clip in rig.clips:
        relative = np.einsum("nji,njk->nik", clip.rotation[:, guide], clip.rotation[:, 2])
        steps = np.einsum("nji,njk->nik", relative[1:], relative[:-1])
        angle = np.degrees(np.arccos(np.clip((np.trace(steps, axis1=1, axis2=2) - 1) / 2, -1, 1)))
        assert angle.max() < 40


def test_rotations_are_the_best_ones() -> None:
    """Against the singular value decomposition, for certain, flat, thin, mirrored and empty correlations."""
    random = np.random.default_rng(0)
    h = random.normal(size=(4000, 3, 3))
    h[:500, :, 0] = 0
    h[500:1000] = random.normal(size=(500, 3, 1)) @ random.normal(size=(500, 1, 3))
    h[1000:1500] *= (1, 1e-4, 1e-4)
    h[1500:2000] = -np.eye(3) + 1e-9 * random.normal(size=(500, 3, 3))
    h[2000] = 0
    turn = rigid.matrices(rigid.quaternions(h))
    assert np.allclose(np.linalg.det(turn), 1)
    u, s, vt = np.linalg.svd(h)
    best = s[:, 0] + s[:, 1] + np.sign(np.linalg.det(u @ vt)) * s[:, 2]
    assert np.allclose(np.einsum("nij,nij->n", turn, h), best, atol=1e-9)


def test_closed_form_needs_no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ordinary correlations must not fall back to the slow decomposition."""
    h = np.random.default_rng(0).normal(size=(1000, 3, 3)) + 2 * np.eye(3)

    def slow(*_args: object) -> None:
        pytest.fail("fell back")

    monkeypatch.setattr(np.linalg, "eigh", slow)
    assert rigid.quaternions(h).shape == (1000, 4)


# Share of coordinates within two steps in per cent, and whether Automatic should choose bones.
FIGURES = {
    "allo": (99.8, True),
    "hunter ice age": (99.6, True),
    "pistol": (100.0, True),
    "hesper12_3_10-test": (100.0, True),
    "climatius3": (100.0, True),
    "x_bow": (99.0, True),
    "mosh": (96.8, True),
    "explo": (0.0, False),
    "wind": (0.0, False),
    "muzz4": (0.0, False),
}
CREATURES = ("allo", "mosh", "hunter ice age")


def recovered(path: Path, **options: Any) -> tuple[car.Character, recover.Rig]:
    """A real file and its rig."""
    character = car.read(path.read_bytes())
    clips = [animation.frames for animation in character.animations]
    model = character.model
    return character, recover.recover(model.vertices, model.faces, clips, recover.Options(**options))


@pytest.mark.samples("*.car")
@pytest.mark.parametrize("scales", [False, True], ids=["rigid", "scales"])
def test_real_files(sample: Path, *, scales: bool) -> None:
    """The figures that were promised, and the verdicts."""
    character, rig = recovered(sample, scales=scales)
    require_sound(rig, len(character.model.vertices))
    share, good = FIGURES.get(sample.stem.lower(), (0.0, rig.fit.good))
    assert 100 * rig.fit.coordinates[1] >= share - 0.5
    assert rig.fit.good is good
    # The report must say what the rig does.
    close = [
        np.abs(motion.quantise(rig.positions(n)).astype(int) - animation.frames) <= 2
        for n, animation in enumerate(character.animations)
    ]
    if close:
        assert rig.fit.coordinates[1] == pytest.approx(np.concatenate(close).mean(), abs=2e-4)


@pytest.mark.samples("*allo.car", "*mosh.car")
def test_real_animals_breathe_by_scale(sample: Path) -> None:
    """What looks like soft vertices in these is a few bodies that swell evenly."""
    _character, rig = recovered(sample, scales=True)
    assert rig.fit.coordinates[0] > 0.9995
    assert not len(rig.fit.soft)


@pytest.mark.samples("*allo.car", "*mosh.car", "*hunter ice age.car")
def test_real_animals_are_symmetric_and_joined(sample: Path) -> None:
    """No limb crosses over, no joint is torn."""
    _character, rig = recovered(sample)
    number = {name: body for body, name in enumerate(rig.names)}
    left = [name for name in rig.names if name.endswith(".L")]
    assert len(left) >= 12
    for name in left:
        a, b = number[name], number[name[:-1] + "R"]
        mirrored = {rig.names[int(rig.parent[body])].removesuffix(".L").removesuffix(".R") for body in (a, b)}
        assert len(mirrored) == 1
        for body in (a, b):
            parent = rig.names[int(rig.parent[body])]
            assert parent[-2:] not in {".L", ".R"} or parent[-2:] == rig.names[body][-2:]
    assert {"Root", "Head", "Jaw", "Leg1.L"} <= set(rig.names)
    assert np.median(rig.fit.joint_errors) < 0.1


def _legs(*, unlike: float = 1.0, behind: int = 1) -> tuple[Bodies, np.ndarray, Tree, np.ndarray]:
    """A hip, two eyes that are a pair, and two legs of three bodies in mid-stride; of one leg the foot is scaled."""
    rng = np.random.default_rng(5)
    shape = rng.normal(0, (1, 4, 1), (20, 3))
    places = [(0, 50, 0), (5, 60, -9), (-5, 60, -9)]
    for side in (1, -1):
        places += [(8 * side, 40 - 15 * number, 6 * side * number) for number in range(3)]
    points = [shape * ((-1 if x < 0 else 1), 1, 1) + (x, y, z) for x, y, z in places]
    points[8] = (points[8] - places[8]) * unlike + places[8]
    bodies = Bodies.of(np.repeat(np.arange(9), 20), 9)
    parent = np.array([-1, 0, 0, 0, 3, 4, 0, 6, 7 if behind else 6])
    partner = np.array([0, 2, 1, *[-1] * 6])
    return bodies, np.concatenate(points), Tree(parent, np.full(9, -1), 0), partner


def test_legs_in_mid_stride_are_a_pair() -> None:
    """By their shape, body by body down the leg."""
    assert bone_names.with_strides(*_legs()).tolist() == [0, 2, 1, 6, 7, 8, 3, 4, 5]


def test_limbs_of_another_shape_are_none() -> None:
    """A foot twice as large is no mirror image, a leg of other joints neither."""
    assert bone_names.with_strides(*_legs(unlike=2.0)).tolist() == [0, 2, 1, 6, 7, -1, 3, 4, -1]
    assert bone_names.with_strides(*_legs(behind=0)).tolist() == [0, 2, 1, 6, -1, -1, 3, -1, -1]
