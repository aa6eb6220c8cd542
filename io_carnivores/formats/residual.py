# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones cannot express of the frames of a file, and how it lives on when the motion of the bones is edited.

A vertex that an edit did not move gets back the steps the file had. One that it moved keeps its residual, the
difference between its frame and what the bones made of it before, turned along with its body: soft vertices stay soft.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import motion, rigid
from .motion import STEPS
from .rigid import Bodies, Doubles, Floats, Ints, Motion

# File units: a quarter of a step. What Blender evaluates strays from what is worked out here by 0.005 at most, and by
# 0.0001 on average (measured on game files; single precision adds up along a chain of bones). And a smaller edit cannot
# be told in the file in any case: the likeliest place of a stored coordinate is half a step from the next one.
TOLERANCE = 1 / (4 * STEPS)
# Steps: a vertex that bones alone show further off than this is soft enough to be shown by keys.
SHOWN_SOFT = 1
_CHUNK = 256  # frames handled at once
# How poses are packed: eight numbers for each body, quaternion, translation and scale, in these steps. A turn of a
# millionth moves what is 300 units out by 0.0006.
_WIDTH = 8
_GRID = np.array([2.0**20] * 4 + [2.0**10] * 3 + [2.0**20])
_FAR = 2.0**30
_LEVEL = 1
_FLOATS, _STEPS = b"f", b"s"


@dataclass(frozen=True)
class Poses:
    """How B bodies stood in N frames, file axes and units: `rotation` (N, B, 3, 3), `translation` (N, B, 3), `scale`.

    In single precision, which is what Blender evaluates in.
    """

    quaternion: Floats
    translation: Floats
    scale: Floats

    @classmethod
    def of(cls, quaternion: npt.NDArray[np.floating], translation: npt.NDArray[np.floating], scale: Doubles) -> Poses:
        """From (N, B, 4) w x y z, (N, B, 3) and (N, B)."""
        return cls(*(np.asarray(values, np.float32) for values in (quaternion, translation, scale)))

    @classmethod
    def read(cls, raw: bytes, frames: int) -> Poses | None:
        """From what `packed` gave; None when it does not make `frames` frames."""
        try:
            plain = zlib.decompress(raw[1:])
        except zlib.error:
            return None
        if not frames or len(plain) % (4 * _WIDTH * frames):
            return None
        if raw[:1] == _FLOATS:
            values = np.frombuffer(plain, "<f4").reshape(frames, -1, _WIDTH)
        else:
            planes = np.frombuffer(plain, np.uint8).reshape(4, -1).T
            folded = np.ascontiguousarray(planes).view("<i4").reshape(_WIDTH, -1, frames)
            changes = (folded >> 1) ^ -(folded & 1)
            values = (np.cumsum(changes, axis=2, dtype=np.int64).T / _GRID).astype(np.float32)
        return cls(values[..., :4], values[..., 4:7], values[..., 7])

    def packed(self) -> bytes:
        """As a .blend keeps it: on a grid a tenth as coarse as the noise of Blender, as differences, compressed."""
        values = np.concatenate((self.quaternion, self.translation, self.scale[..., None]), axis=2)
        changes = np.rint(values.astype(np.float64) * _GRID).T
        changes[..., 1:] -= changes[..., :-1].copy()
        if not (np.abs(changes) < _FAR).all():
            return _FLOATS + zlib.compress(values.astype("<f4").tobytes(), _LEVEL)
        steps = changes.astype("<i4")
        # The sign in the lowest bit, and high bytes together: they are nearly all 0. So the fastest level packs tighter
        # than the slowest does without, in a tenth of the time.
        planes = np.ascontiguousarray((steps << 1) ^ (steps >> 31)).view(np.uint8).reshape(-1, 4).T
        return _STEPS + zlib.compress(planes.tobytes(), _LEVEL)

    @property
    def count(self) -> int:
        """B."""
        return int(self.scale.shape[1])

    def motion(self) -> Motion:
        """With one more body at the end, for vertices of none, which stays where it is."""
        still = [(0, 0), (0, 1)]
        q = np.pad(self.quaternion.astype(np.float64), [*still, (0, 0)])
        q[:, -1, 0] = 1.0
        q /= np.maximum(np.linalg.norm(q, axis=2, keepdims=True), 1e-12)
        translation = np.pad(self.translation.astype(np.float64), [*still, (0, 0)])
        scale = np.pad(self.scale.astype(np.float64), still, constant_values=1.0)
        return Motion(q, rigid.matrices(q), translation, scale)


@dataclass(frozen=True)
class Origin:
    """What the frames of V vertices were, and what bones made of them, file axes and units.

    `frames` (N, V, 3) i16 as stored; `shown` (N, V, 3) what the bones made of `rest` (V, 3); `poses`: how they stood;
    `body` (V,), -1 for none; `known` (V,): which vertices there was a frame for at all, the others hold anything.
    """

    frames: npt.NDArray[np.int16]
    shown: Floats
    rest: Floats
    poses: Poses
    body: Ints
    known: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        frames: npt.NDArray[np.int16],
        poses: Poses,
        body: npt.NDArray[np.integer],
        rest: Floats,
        known: npt.NDArray[np.bool_] | None = None,
    ) -> Origin:
        """Work out what bones made of it."""
        number = np.where((body < 0) | (body >= poses.count), poses.count, body).astype(np.int64)
        bodies = Bodies.of(number, poses.count + 1)
        shown = np.empty(frames.shape, np.float32)
        whole = poses.motion()
        shape = np.asarray(rest, np.float64)[bodies.order]
        for rows in _chunks(len(frames)):
            shown[rows, bodies.order] = rigid.carried(bodies, shape, whole.part(rows)).transpose(2, 0, 1)
        every = np.ones(len(body), np.bool_) if known is None else known
        return cls(frames, shown, np.asarray(rest, np.float32), poses, number, every)

    @property
    def middle(self) -> Floats:
        """The likeliest positions that the stored steps stand for, (N, V, 3)."""
        return np.ascontiguousarray(rigid.unbiased(self.frames).transpose(2, 0, 1))

    def strays(self) -> npt.NDArray[np.bool_]:
        """(N, V): which vertices bones show more than `SHOWN_SOFT` steps off, truncated as files are."""
        away = np.abs(motion.quantise(self.shown).astype(np.int32) - self.frames) > SHOWN_SOFT
        return np.asarray(away.any(axis=2) & self.known)

    def shapes(self, soft: npt.NDArray[np.bool_]) -> Floats:
        """(N, V, 3): `rest`, with vertices that are `soft` (V,) where their bodies must take them from to be exact."""
        moved = self.poses.motion()
        own = self.body[soft]
        turn = moved.rotation[:, own] / np.maximum(moved.scale[:, own], 1e-6)[..., None, None]
        away = self.middle[:, soft] - self.shown[:, soft]
        result = np.repeat(self.rest[None], len(self.frames), axis=0)
        result[:, soft] += np.einsum("nvji,nvj->nvi", turn, away).astype(np.float32)
        return result

    def with_shapes(self, soft: npt.NDArray[np.bool_], busy: npt.NDArray[np.bool_]) -> Origin:
        """As shown with `shapes` in the frames `busy` (N,): `soft` (V,) vertices where the frames have them."""
        shown = self.shown.copy()
        shown[np.ix_(busy, soft)] = self.middle[np.ix_(busy, soft)]
        return Origin(self.frames, shown, self.rest, self.poses, self.body, self.known)


@dataclass(frozen=True)
class Edit:
    """What V vertices are now, (V, 3) in file axes and units.

    `source`: the shape that was baked; `target`: the shape that is wanted, which differs where an edit of the base pose
    does not show in the bake, or is not to be followed; `certain` (V,): vertices known to be untouched in all frames;
    `loose` (V,): vertices whose residual means nothing any more, as they follow another bone; `edges` (E, 2).
    """

    source: Floats
    target: Floats
    certain: npt.NDArray[np.bool_]
    loose: npt.NDArray[np.bool_]
    edges: npt.NDArray[np.integer]


def restored(origin: Origin, baked: Floats, edit: Edit) -> Floats:
    """`baked` (N, V, 3) with what bones cannot express; what did not move is what the file had, to the bit.

    Vertices that are not known, which were added in Blender, take the mean residual of their neighbours.
    """
    result = np.empty(baked.shape, np.float32)
    for rows in _chunks(len(baked)):
        result[rows] = _restored(_part(origin, rows), np.asarray(baked[rows], np.float32), edit)
    return result


def _restored(origin: Origin, baked: Floats, edit: Edit) -> Floats:
    turn, size = _turns(origin, baked, edit.source)
    shift = np.asarray(edit.target, np.float64) - edit.source
    shifted = np.flatnonzero(shift.any(axis=1))
    if len(shifted):
        before, own = origin.poses.motion(), origin.body[shifted]
        whole = (turn @ before.rotation)[:, own] * (before.scale * size)[:, own, None, None]
        baked = baked.copy()
        baked[:, shifted] += np.einsum("nvij,vj->nvi", whole, shift[shifted]).astype(np.float32)
    same = np.abs(baked - origin.shown).max(axis=2) <= TOLERANCE
    # Another bone may take a vertex to the same place in some frames, by chance.
    same = ((same & ~edit.loose) | edit.certain) & origin.known
    residual = origin.middle - origin.shown
    residual[:, edit.loose | ~origin.known] = 0.0
    turned = turn * size[..., None, None]
    for body in np.unique(origin.body).tolist():
        own = origin.body == body
        residual[:, own] = np.einsum("nij,nvj->nvi", turned[:, body], residual[:, own])
    residual = spread(residual, origin.known, edit.edges)
    return np.where(same[..., None], motion.positions(origin.frames), baked + residual)


def _turns(origin: Origin, baked: Floats, source: Floats) -> tuple[Doubles, Doubles]:
    """How every body turned from where it stood to where it was baked, (N, B, 3, 3), and how it grew, (N, B).

    What too few vertices leave open is settled by turning as little as possible.
    """
    known = np.where(origin.known, origin.body, origin.poses.count)
    bodies = Bodies.of(known, origin.poses.count + 1)
    shape = np.asarray(source, np.float64)[bodies.order]
    weight = np.ones(len(shape))
    points = np.ascontiguousarray(baked[:, bodies.order].transpose(1, 2, 0), np.float32)
    found = rigid.correlate(bodies, shape, points, weight)
    before = origin.poses.motion()
    thin = rigid.thin(bodies, shape, weight)
    # Sums of frame times rest, with the old rotation undone: what is left of a rotation is the edit.
    matrix = found.matrix @ before.rotation.transpose(0, 1, 3, 2) + rigid.THIN * thin[:, None, None] * np.eye(3)
    turn = rigid.matrices(rigid.quaternions(matrix))
    grown = rigid.scales(found, turn @ before.rotation) / np.maximum(before.scale, 1e-6)
    size = np.where(thin, 1.0, np.clip(grown, 0.0, 1e3))
    turn[:, -1], size[:, -1] = np.eye(3), 1.0
    return turn, size


def spread(values: Floats, known: npt.NDArray[np.bool_], edges: npt.NDArray[np.integer]) -> Floats:
    """`values` (N, V, 3) of the vertices `known` (V,) handed on along `edges` (E, 2), ring by ring, as means."""
    if known.all() or not len(edges):
        return values
    result, filled = values.copy(), known.copy()
    both = np.concatenate([edges, edges[:, ::-1]])
    while True:
        ring = both[filled[both[:, 0]] & ~filled[both[:, 1]]]
        if not len(ring):
            return result
        ring = ring[np.argsort(ring[:, 1], kind="stable")]
        target, start, count = np.unique(ring[:, 1], return_index=True, return_counts=True)
        sums = np.add.reduceat(result[:, ring[:, 0]], start, axis=1)
        result[:, target] = sums / count[None, :, None].astype(np.float32)
        filled[target] = True


def _part(origin: Origin, rows: slice) -> Origin:
    poses = Poses(*(getattr(origin.poses, name)[rows] for name in ("quaternion", "translation", "scale")))
    return Origin(origin.frames[rows], origin.shown[rows], origin.rest, poses, origin.body, origin.known)


def _chunks(count: int) -> list[slice]:
    return [slice(start, start + _CHUNK) for start in range(0, count, _CHUNK)]
