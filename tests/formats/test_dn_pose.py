# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones and vertices are, against the words of the specification, computed one number at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_dragonnest.formats import ani, hierarchy, keys, msh, names, pose, rig, sampling, space, submesh
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import dragons

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

Matrix = list[list[float]]


def multiplied(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(a[row][k] * b[k][column] for k in range(4)) for column in range(4)] for row in range(4)]


def turned(vector: list[float], q: list[float]) -> list[float]:
    """`vector` turned by the quaternion x, y, z, w: q v q*, with Hamilton's product spelled out."""

    def product(a: list[float], b: list[float]) -> list[float]:
        ax, ay, az, aw = a
        bx, by, bz, bw = b
        return [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]

    length = math.sqrt(sum(part * part for part in q))
    x, y, z, w = (part / length for part in q)
    return product(product([x, y, z, w], [*vector, 0.0]), [-x, -y, -z, w])[:3]


def local_matrix(place: list[float], q: list[float], size: list[float]) -> Matrix:
    """Scale, then rotation, then translation; a row is where an axis goes."""
    axes = np.eye(3).tolist()
    rows = [turned([size[k] * part for part in axes[k]], q) for k in range(3)]
    return [[*rows[0], 0.0], [*rows[1], 0.0], [*rows[2], 0.0], [*place, 1.0]]


def value_at(track: Any, base: Any, frame: float, kind: str) -> list[float]:  # noqa: PLR0911
    """A track's value by the rules: empty is the base, one key is constant, ends hold."""
    found = sorted(
        zip(keys.frames(track).tolist(), keys.values(track).astype(float).tolist(), strict=True), key=lambda k: k[0]
    )
    if not found:
        return [float(part) for part in base]
    if frame <= found[0][0]:
        return list(found[0][1])
    if frame >= found[-1][0]:
        return list(found[-1][1])
    after = next(number for number, key in enumerate(found) if key[0] > frame)
    (f0, v0), (f1, v1) = found[after - 1], found[after]
    way = (frame - f0) / (f1 - f0)
    if kind == "scale":
        return list(v0)
    if kind == "position":
        return [a + (b - a) * way for a, b in zip(v0, v1, strict=True)]
    v0, v1 = ([part / math.sqrt(sum(p * p for p in v)) for part in v] for v in (v0, v1))
    dot = sum(a * b for a, b in zip(v0, v1, strict=True))
    if dot < 0:
        v1, dot = [-part for part in v1], -dot
    angle = math.acos(min(dot, 1.0))
    if math.sin(angle) < 1e-9:
        return list(v0)
    one, other = math.sin((1 - way) * angle) / math.sin(angle), math.sin(way * angle) / math.sin(angle)
    return [a * one + b * other for a, b in zip(v0, v1, strict=True)]


def world_by_hand(found: ani.Ani, clip: int, frame: float) -> dict[str, Matrix]:
    """World matrices by lower-case name: local x world of the parent."""
    labels = [name.lower() for name in found.bone_names]
    parents = dict(zip(labels, (name.lower() for name in found.parent_names), strict=True))
    local: dict[str, Matrix] = {}
    for row, label in enumerate(labels):
        record = found.records[row][clip]
        local[label] = local_matrix(
            value_at(record.positions, record.base_position, frame, "position"),
            value_at(record.rotations, record.base_rotation, frame, "rotation"),
            value_at(record.scales, record.base_scale, frame, "scale"),
        )

    def world(label: str) -> Matrix:
        above = parents[label]
        return local[label] if above == "scene root" else multiplied(local[label], world(above))

    return {label: world(label) for label in labels}


def vertices_by_hand(model: msh.Msh, part: submesh.Submesh, worlds: dict[str, Matrix]) -> npt.NDArray[np.float64]:
    """Sum of weight x (vertex x InverseBind x M_world)."""
    skins = {
        label.lower(): multiplied(inverse.astype(float).tolist(), worlds[label.lower()])
        for label, inverse in zip(model.bone_names, model.bones["inverse_bind"], strict=True)
    }
    out = []
    for number, position in enumerate(part.positions.astype(float).tolist()):
        if part.skin is None:
            label = names.text(part.parent).lower()
            pairs = [(1.0, skins[label])] if label in skins else [(1.0, np.eye(4).tolist())]
        else:
            listed = names.texts(part.skin.names)
            pairs = [
                (float(weight), skins[listed[slot].lower()])
                for slot, weight in zip(part.skin.slots[number], part.skin.weights[number], strict=True)
                if weight > 0
            ]
        point = [*position, 1.0]
        total = sum(weight for weight, _skin in pairs)
        out.append([
            sum(w * sum(point[k] * s[k][axis] for k in range(4)) for w, s in pairs) / total for axis in range(3)
        ])  # fmt: skip
    return np.array(out)


def same_everywhere(model: msh.Msh, found: ani.Ani) -> None:
    """All vertices of all parts, in all clips, at five frames, within 1e-4 of the height."""
    height = float(model.maximum[1] - model.minimum[1])
    for clip in range(len(found.clip_names)):
        frames = [0.0, 1.0, 2.5, found.lengths[clip] / 2, float(found.lengths[clip] + 3)]
        shown = pose.shown(model, found, clip, frames)
        for at, frame in enumerate(frames):
            worlds = world_by_hand(found, clip, frame)
            for part, moved in zip(model.submeshes, shown, strict=True):
                assert np.abs(vertices_by_hand(model, part, worlds) - moved[at]).max() < 1e-4 * height


@pytest.mark.parametrize("version", ani.VERSIONS)
@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_vertices_are_where_the_specification_says(version: int, scale: float) -> None:
    """Children of scaled bones and a rigid part included."""
    same_everywhere(dragons.character(scale), dragons.animation(version, scale=scale))


@pytest.mark.samples("*dragonnest/*_v10_biped.msh", "*dragonnest/*_v13_biped.msh")
def test_vertices_of_samples(sample: Path) -> None:
    model = msh.read(sample.read_bytes())
    for version in ani.VERSIONS:
        same_everywhere(model, ani.read_binary((sample.parent / f"syn_v{version}_biped.ani").read_bytes()))


@pytest.mark.samples("*dragonnest/*_biped.msh")
def test_the_base_of_samples_is_their_bind_pose(sample: Path) -> None:
    """To the noise of single precision, and the parts are at rest then."""
    model = msh.read(sample.read_bytes())
    found = ani.read_binary((sample.parent / "syn_v10_biped.ani").read_bytes())
    worlds = pose.world(sampling.base(found).matrices(), hierarchy.from_ani(found).parents)
    binds, flat = rig.binds(model.bones["inverse_bind"])
    height = float(model.maximum[1] - model.minimum[1])
    assert not flat.any() and np.abs(binds - worlds[0]).max() < 1e-6 * height * 10
    for part in model.submeshes:
        skins = pose.skin_matrices(model, worlds)
        assert np.abs(pose.skinned(model, part, skins)[0] - part.positions).max() < 1e-4 * height


def test_a_part_on_bones_that_the_animation_lacks() -> None:
    """Bones are matched without regard to case; the game gives the others the identity."""
    model, found = dragons.character(), dragons.animation()
    for row, name in enumerate(found.bone_names):
        found.bones["name"][row] = np.void(names.field(name.upper()))
    frames = np.array([0.0, 4.0])
    whole = pose.clip_world(found, 0, frames)
    assert np.allclose(pose.matched_world(model.bone_names, found, whole), whole)
    model.bones["name"][7] = np.void(names.field("Wing"))
    assert np.allclose(pose.matched_world(model.bone_names, found, whole)[:, 7], np.eye(4))


def test_a_vertex_without_weights_stays() -> None:
    model, found = dragons.character(), dragons.animation()
    part = model.submeshes[0]
    assert part.skin is not None
    part.skin.weights[3] = 0.0
    moved = pose.shown(model, found, 0, [5.0])[0][0]
    assert np.allclose(moved[3], part.positions[3]) and not np.allclose(moved[4], part.positions[4])


def test_what_blender_has_to_pose() -> None:
    """Inverse rest x pose moves vertices as inverse bind x world does, mirrored and sheared binds included."""
    rng = np.random.default_rng(3)
    binds = np.tile(np.eye(4), (5, 1, 1))
    binds[:, :3, :3] = rng.normal(size=(5, 3, 3))
    binds[0, :3, :3] = np.diag((1.0, 1.0, -1.0))
    binds[1, :3, :3] = space.rotation_matrix(rng.normal(size=4)) * np.array([[1.0], [2.0], [0.5]])
    binds[:, 3, :3] = rng.normal(size=(5, 3))
    parts = rig.decomposed(binds)
    worlds = np.tile(np.eye(4), (3, 5, 1, 1))
    worlds[..., :3, :] = rng.normal(size=(3, 5, 3, 4))
    worlds[..., :3, 3] = 0.0
    poses = pose.pose_matrices(parts, worlds)
    assert np.allclose(np.linalg.inv(parts.rigid()) @ poses, np.linalg.inv(binds) @ worlds)
    assert np.allclose(pose.world_matrices(parts, poses), worlds)


def test_parts_of_bind_matrices() -> None:
    binds = np.tile(np.eye(4), (5, 1, 1))
    turn = space.rotation_matrix(np.array([0.1, -0.4, 0.2, 0.9]))
    binds[0, :3, :3] = turn
    binds[1, :3, :3] = np.diag((2.0, 3.0, 0.5)) @ turn
    binds[2, :3, :3] = np.diag((1.0, 1.0, -1.0)) @ turn
    binds[3, :3, :3] = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) @ turn
    binds[4, :3, :3] = 0.0
    parts = rig.decomposed(binds)
    assert parts.plain.tolist() == [True, False, False, False, False]
    assert parts.mirrored.tolist() == [False, False, True, False, False]
    assert np.allclose(parts.scales[1], (2.0, 3.0, 0.5)) and np.allclose(parts.scales[2], (1.0, 1.0, -1.0))
    assert np.allclose(parts.remainder_matrices() @ parts.rigid(), binds)
    for row in range(3):
        assert np.allclose(parts.rigid()[row, :3, :3], turn)
    assert np.allclose(np.linalg.det(parts.rigid()[:, :3, :3]), 1.0)


def test_a_bind_that_cannot_be_inverted_is_flagged() -> None:
    stored = np.tile(np.eye(4, dtype="<f4"), (3, 1, 1))
    stored[1, 1, 1] = 0.0
    stored[2, :3, :3] *= 1e-4  # a tiny scale is no fault
    binds, flat = rig.binds(stored)
    assert flat.tolist() == [False, True, False]
    assert np.allclose(binds[1], np.eye(4)) and np.allclose(binds[2, 0, 0], 1e4)
    assert (rig.inverses(binds)[[0, 2]] == stored[[0, 2]]).all()


def test_local_and_world_undo_each_other() -> None:
    found = dragons.animation(scale=1.3)
    parents = hierarchy.from_ani(found).parents
    locals_ = sampling.sample(found, 0, np.arange(5)).matrices()
    assert np.allclose(pose.local(pose.world(locals_, parents), parents), locals_)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_quaternions_and_matrices(seed: int) -> None:
    """There and back; the way to Blender maps points and turns alike."""
    rng = np.random.default_rng(seed)
    q = space.unit(rng.normal(size=(7, 4)) * rng.choice([1e-3, 1.0, 30.0]))
    q[0] = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)][int(rng.integers(4))]
    turn = space.rotation_matrix(q)
    again = space.quaternion(turn)
    assert np.allclose(np.abs((again * q).sum(axis=1)), 1.0)
    vectors = rng.normal(size=(7, 3))
    by_hand = np.array([turned(v, list(r)) for v, r in zip(vectors.tolist(), q.tolist(), strict=True)])
    assert np.allclose((vectors[:, None] @ turn)[:, 0], by_hand)
    whole = space.matrix(rng.normal(size=(7, 3)), q, rng.random((7, 3)) + 0.5)
    column = space.to_blender_matrix(whole)
    assert (space.to_file_matrix(column) == whole).all()
    moved = space.points(vectors[:, None], whole)[:, 0]
    point = np.concatenate((space.AXES.apply(vectors), np.ones((7, 1))), axis=1)
    assert np.allclose((column @ point[..., None])[:, :3, 0], space.AXES.apply(moved))
    w, x, y, z = space.to_blender_quaternion(q).T
    blender = np.stack((x, y, z, w), axis=-1)
    # A column matrix is the transpose of the row matrix of the same quaternion.
    assert np.allclose(
        np.swapaxes(space.rotation_matrix(blender), 1, 2), space.to_blender_matrix(_four(turn))[:, :3, :3]
    )
    assert np.allclose(space.to_file_quaternion(space.to_blender_quaternion(q)), q)


def _four(turn: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    out = np.zeros((len(turn), 4, 4))
    out[:, :3, :3], out[:, 3, 3] = turn, 1.0
    return out


def test_no_rotation_at_all_is_the_identity() -> None:
    found = space.unit(np.array([[0.0, 0, 0, 0], [np.nan, 0, 0, 1], [np.inf, 0, 0, 0], [0, 0, 0, 2]]))
    assert found.tolist() == [[0, 0, 0, 1]] * 4


def test_signs_are_made_continuous() -> None:
    q = space.unit(np.array([[0, 0, 0.1, 1], [0, 0, -0.2, -1], [0, 0, 0.3, 1], [0, 0, -0.4, -1]]))
    found = space.continuous(q)
    assert (np.einsum("ij,ij->i", found[1:], found[:-1]) > 0).all()
    assert np.allclose(np.abs(found), np.abs(q)) and np.allclose(found[0], q[0])


class TestSampling:
    """Single tracks."""

    def record(self, frames: list[int], version: int = 10) -> keys.Record:
        value = np.array(frames, float)[:, None] * np.array([1.0, 10.0, -1.0])
        return keys.Record(
            positions=keys.vector_keys(version, frames, value), scales=keys.vector_keys(version, frames, value)
        )

    def test_ends_hold_and_between_is_linear(self) -> None:
        found = sampling.positions(self.record([2, 4, 8]), [-5, 2, 3, 5, 8, 100])
        assert found[:, 0].tolist() == [2, 2, 3, 5, 8, 8]

    def test_scale_is_stepped(self) -> None:
        found = sampling.scales(self.record([2, 4, 8]), [0, 2, 3.9, 4, 7.99, 8, 9])
        assert found[:, 0].tolist() == [2, 2, 2, 4, 4, 8, 8]

    def test_unsorted_frames_are_sorted_stably(self) -> None:
        """Of keys at one frame the last in the file holds."""
        record = self.record([8, 2, 4])
        assert sampling.positions(record, [3, 6, 9])[:, 0].tolist() == [3, 6, 8]
        record.positions = keys.vector_keys(10, [4, 0, 4, 8], np.arange(12.0).reshape(4, 3))
        assert sampling.positions(record, [4, 3.999999])[:, 0].round(3).tolist() == [6, 0]

    def test_one_key_and_none(self) -> None:
        assert sampling.positions(self.record([7]), [0, 7, 9])[:, 0].tolist() == [7, 7, 7]
        record = keys.Record()
        record.base["position"], record.base["scale"] = (1, 2, 3), (np.nan, 1, 1)
        assert sampling.positions(record, [0, 5]).tolist() == [[1, 2, 3]] * 2
        assert sampling.scales(record, [0]).tolist() == [[1, 1, 1]]
        assert sampling.rotations(record, [3]).tolist() == [[0, 0, 0, 1]]

    def test_keys_that_are_no_numbers_are_left_out(self) -> None:
        record = self.record([0, 2, 4])
        record.positions["value"][1] = np.nan
        assert sampling.positions(record, [2])[0].tolist() == [2, 20, -2]
        record.positions["value"][:] = np.inf
        assert sampling.positions(record, [2])[0].tolist() == [0, 0, 0]

    def test_rotations_take_the_short_way(self) -> None:
        """Two keys a quarter turn apart, the second with the other sign."""
        half = math.sqrt(0.5)
        track = keys.rotation_keys(10, [0, 10], np.array([[0, 0, 0, 1], [0, 0, -half, -half]]))
        found = sampling.rotations(keys.Record(rotations=track), [5])
        assert np.allclose(found[0], [0, 0, math.sin(math.pi / 8), math.cos(math.pi / 8)])

    def test_frames_beyond_16_bits(self) -> None:
        """Signed, unless the clip is so long that they can only be unsigned."""
        track = np.zeros(2, keys.VECTOR_11)
        track["frame"] = (5, 39999 - 65536)
        assert keys.frames(track).tolist() == [5, 39999 - 65536]
        assert keys.frames(track, 40000).tolist() == [5, 39999]


def test_quantisation() -> None:
    """Times 32767, truncated toward zero; what was read is written back as it was."""
    stored = np.arange(-32768, 32768).astype("<i2")
    values = keys.dequantised(stored)
    assert values[32768] == 0 and values[-1] == 1.0 and values[1] == -1.0
    assert keys.quantised(np.array([0.5, -0.5, 1.0, -1.0, 0.99999, 2.0, np.nan])).tolist() == [
        16383, -16383, 32767, -32767, 32766, 32767, 0,
    ]  # fmt: skip
    q = space.unit(np.random.default_rng(5).normal(size=(1000, 4)))
    assert np.abs(keys.dequantised(keys.quantised(q)) - q).max() < 1 / 32767 + 1e-7
