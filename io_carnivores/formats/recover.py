# SPDX-License-Identifier: GPL-3.0-or-later
"""The skeleton of a creature from its vertex frames.

A CAR stores for every vertex an owner (the bone it hung on in the original tool) and absolute positions per frame, but
no bones. Vertices of one owner move rigidly to within the quantisation, so the bones are still in the motion: see
`rigid` for the bodies, `joints` and `joint_tree` for what hangs together, `bone_layout` and `bone_names` for the bones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import bone_layout, bone_names, bone_space, joint_tree, joints, rigid
from .fit_report import Fit, Tally
from .motion import STEPS
from .rest_shape import Shape, posed, refined
from .rigid import Bodies, Correlation, Doubles, Floats, Ints, Motion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_OWNERS = 256  # known characters have up to 49; time and memory grow with the square of the number
_CHUNK = 256  # frames handled at once
_USUAL = 64  # bodies; with more of them, fewer frames
_SAMPLE = 256  # frames that decide shapes, joints and tree; all of the frames in most files
_SIGNS = 64  # frames that show whether a body swells
_NAMED = 6  # bones in a report
_FARTHEST = 1e6  # file units; frames reach 2048, and squares of base positions must stay numbers


@dataclass(frozen=True)
class Options:
    """What to make of it.

    `reassign`: let single vertices follow the body they really move with. `scales`: give a body that swells and
    shrinks evenly (many originals breathe that way) one scale per frame. `bones`: a bone table (B,) of `model.BONE`
    whose names, positions and parents are taken where a number is an owner's.
    """

    reassign: bool = True
    scales: bool = False
    bones: npt.NDArray[Any] | None = None


@dataclass(frozen=True)
class Clip:
    """One animation of the rig: frame = scale * rotation @ rest + translation, per body, file axes and units.

    `quaternion` (N, B, 4) w x y z, of continuous sign; `translation` (N, B, 3); `scale` (N, B), all 1 unless asked for.
    """

    quaternion: Doubles
    translation: Doubles
    scale: Doubles

    @property
    def rotation(self) -> Doubles:
        """The same as matrices, (N, B, 3, 3); worked out anew, as they take more memory than all the rest."""
        return rigid.matrices(self.quaternion)


@dataclass(frozen=True)
class Rig:
    """A recovered skeleton; B bodies, in the order of their owner numbers. Lengths in file units, file axes.

    `owners` (B,): the stored owner number each body stands for; `parent` (B,), -1 at the root, which is `root`; `heads`
    and `tails` (B, 3) in the rest pose, never the same point; `names`: unique, mirrored pairs end in .L and .R; `body`
    (V,): the body each vertex follows (the stored owner unless it was re-assigned); `rest` (V, 3): the shape the clips
    move; `from_base`: whether the rest pose is the file's base pose, else it is that of the first frame; `clips`: one
    for every list of frames given; `scaled` (B,): bodies with a scale other than 1 somewhere.
    """

    owners: npt.NDArray[np.int16]
    parent: Ints
    root: int
    heads: Doubles
    tails: Doubles
    names: list[str]
    body: Ints
    rest: Floats
    from_base: bool
    clips: list[Clip]
    scaled: npt.NDArray[np.bool_]
    fit: Fit

    def softness(self) -> str:
        """The soft vertices in words: how many there are, and on which bones, the softest first; empty for none."""
        soft = self.fit.soft
        if not len(soft):
            return ""
        counts = np.bincount(self.body[soft], minlength=len(self.names))
        order = [int(body) for body in np.argsort(-counts, kind="stable") if counts[body]]
        named = ", ".join(f"{self.names[body]} ({counts[body]})" for body in order[:_NAMED])
        more = f" and {len(order) - _NAMED} more bones" if len(order) > _NAMED else ""
        return f"{len(soft)} of {len(self.body)} vertices are soft: {named}{more}"

    def positions(self, clip: int) -> Floats:
        """What the rig makes of a clip, (N, V, 3), for comparison with its frames."""
        bodies = Bodies.of(self.body, len(self.owners))
        motion = self.clips[clip]
        moved = Motion(motion.quaternion, motion.rotation, motion.translation, motion.scale)
        shape = np.asarray(self.rest, np.float64)[bodies.order]
        result = np.empty((len(motion.translation), len(self.body), 3), np.float32)
        result[:, bodies.order] = rigid.carried(bodies, shape, moved).transpose(2, 0, 1)
        return result


def recover(
    vertices: npt.NDArray[Any],
    faces: npt.NDArray[Any],
    clips: Sequence[npt.NDArray[np.int16]],
    options: Options | None = None,
) -> Rig:
    """The rig of a creature: `vertices` (V,) VERTEX, `faces` (F,) FACE, `clips` frames (N, V, 3) i16; N may be 0.

    Vertices without an owner (-1) are one body of their own. Never fails on what a file can hold; `Rig.fit.good` says
    whether the result is worth showing as bones.
    """
    chosen = options or Options()
    base = np.asarray(vertices["position"], np.float64).reshape(-1, 3)
    base = np.clip(np.where(np.isfinite(base), base, 0.0), -_FARTHEST, _FARTHEST)
    owners, stored = np.unique(vertices["owner"], return_inverse=True)
    bodies = Bodies.of(stored.reshape(-1), len(owners))
    frames = _Frames([clip for clip in clips if len(clip)], len(base))
    sample = frames.sample(_SAMPLE)
    shape = Shape(bodies, base[bodies.order], np.ones(len(base)))
    if sample.shape[2]:
        shape = refined(bodies, base, sample, reassign=chosen.reassign)
    bodies = shape.bodies
    rest, from_base = posed(shape, base, sample)
    solver = _Solver(bodies, rest[bodies.order], shape.weight, with_scales=chosen.scales)
    points = sample[bodies.order]
    skeleton = _joined(solver, joints.mesh_edges(faces["corner"], rest), rest, points)
    if chosen.bones is not None:
        skeleton = _with_table(skeleton, chosen.bones, owners, _to_rest(shape, base, rest))
    solver.follow(skeleton.tree)
    at_once = max(16, _CHUNK * _USUAL // max(bodies.count, _USUAL))
    pieces = [points] if 0 < frames.count <= _SAMPLE else frames.points(bodies.order, at_once)
    moved, tally = _whole(solver, pieces, [len(clip) for clip in clips])
    swollen = float(bodies.sizes[solver.scaled].sum()) / max(1, len(base))
    return Rig(
        owners=owners.astype(np.int16),
        parent=skeleton.tree.parent,
        root=skeleton.tree.root,
        heads=skeleton.heads,
        tails=bone_layout.tails(bodies, rest, skeleton.tree, skeleton.heads, skeleton.partner),
        names=skeleton.names,
        body=bodies.body,
        rest=rest.astype(np.float32),
        from_base=from_base,
        clips=moved,
        scaled=solver.scaled,
        fit=replace(tally.fit(bodies), joint_errors=skeleton.errors, scaled=solver.scaled, swollen=swollen),
    )


def refit(
    body: npt.NDArray[np.integer],
    parent: npt.NDArray[np.integer],
    rest: npt.NDArray[Any],
    frames: npt.NDArray[np.int16],
) -> Clip:
    """The motion of bodies that are known already: what carries `rest` (V, 3) to `frames` (N, V, 3) best.

    `body` (V,): the body of each vertex below B, -1 for none; `parent` (B,), -1 at a root. Bodies too thin to settle a
    rotation turn with their parents, and empty ones move with them.
    """
    count = len(parent)
    bodies = Bodies.of(np.where(body < 0, count, body), count + 1)
    shape = np.asarray(rest, np.float64)
    solver = _Solver(bodies, shape[bodies.order], np.ones(len(shape)), with_scales=True)
    links = np.append(np.asarray(parent, np.int64), -1)
    sample = _Frames([frames], len(shape)).sample(_SAMPLE)[bodies.order]
    solver.hang(links, sample)
    parts = [solver.moved(points) for points in _Frames([frames], len(shape)).points(bodies.order, _CHUNK)]
    whole = {
        name: np.concatenate([getattr(part, name) for part in parts])[:, :count]
        for name in ("quaternion", "rotation", "translation", "scale")
    }
    moved = _with_empty(Motion(**whole), bodies.sizes[:count], links[:count])
    return Clip(rigid.continuous(moved.quaternion), moved.translation, moved.scale)


def _with_empty(motion: Motion, sizes: Ints, parent: Ints) -> Motion:
    """Bodies without vertices get the motion of what they hang on; without any they stay."""
    for body in bone_space.downwards(parent):
        if sizes[body]:
            continue
        above = int(parent[body])
        motion.quaternion[:, body] = motion.quaternion[:, above] if above >= 0 else (1.0, 0.0, 0.0, 0.0)
        motion.rotation[:, body] = motion.rotation[:, above] if above >= 0 else np.eye(3)
        motion.translation[:, body] = motion.translation[:, above] if above >= 0 else 0.0
        motion.scale[:, body] = motion.scale[:, above] if above >= 0 else 1.0
    return motion


@dataclass(frozen=True)
class _Skeleton:
    """`errors`: of the joints that were used; `partner` as of `joint_tree.mirrors`; the rest as in `Rig`."""

    tree: joint_tree.Tree
    heads: Doubles
    names: list[str]
    errors: Doubles
    partner: Ints


def _joined(solver: _Solver, edges: Ints, rest: Doubles, points: Floats) -> _Skeleton:
    """What hangs on what, and where, from the motion to `points` (V, 3, N), sorted; `rest` (V, 3) in file order."""
    bodies = solver.bodies
    pairs = joints.candidates(bodies, rest, edges)
    solver.prepare(pairs, points)
    found = joints.solve(pairs, solver.moved(points))
    size = float(np.linalg.norm(np.ptp(rest, axis=0))) if len(rest) else 1.0
    partner = joint_tree.mirrors(bodies, rest)
    side = bodies.sums(rest[bodies.order])[:, 0]
    tree = joint_tree.grow(bodies, pairs, joint_tree.prices(pairs, found, size), partner, side)
    heads = bone_layout.heads(bodies, rest, tree, pairs, found, partner)
    names = bone_names.names(bodies, rest, tree, partner)
    return _Skeleton(tree, heads, names, found.error[tree.link[tree.link >= 0]], partner)


def _with_table(
    skeleton: _Skeleton, bones: npt.NDArray[Any], owners: npt.NDArray[np.int16], to_rest: Motion
) -> _Skeleton:
    """The skeleton with what a bone table knows better."""
    tree, heads = bone_names.from_table(bones, owners, skeleton.tree, skeleton.heads, to_rest)
    return replace(skeleton, tree=tree, heads=heads, names=bone_names.merged(skeleton.names, bones, owners))


class _Frames:
    """Several lists of frames, read as one without being copied."""

    def __init__(self, clips: list[npt.NDArray[np.int16]], vertices: int) -> None:
        self._clips = clips
        self._vertices = vertices
        self.count = sum(len(clip) for clip in clips)

    def sample(self, most: int) -> Floats:
        """At most so many frames, evenly spread, the first one included, as unbiased positions (V, 3, N)."""
        wanted = np.unique(np.linspace(0, max(self.count - 1, 0), min(most, self.count)).astype(np.int64))
        parts, start = [np.zeros((0, self._vertices, 3), np.int16)], 0
        for clip in self._clips:
            parts.append(clip[wanted[(wanted >= start) & (wanted < start + len(clip))] - start])
            start += len(clip)
        return rigid.unbiased(np.concatenate(parts))

    def points(self, order: Ints, most: int) -> Iterator[Floats]:
        """All frames, in order and at most so many at once, as unbiased positions (V, 3, n) of the vertices `order`."""
        waiting: list[npt.NDArray[np.int16]] = []
        for piece in (clip[start : start + most] for clip in self._clips for start in range(0, len(clip), most)):
            if waiting and sum(map(len, waiting)) + len(piece) > most:
                yield rigid.unbiased(np.concatenate(waiting)[:, order])
                waiting = []
            waiting.append(piece)
        if waiting:
            yield rigid.unbiased(np.concatenate(waiting)[:, order])


def _to_rest(shape: Shape, base: Doubles, rest: Doubles) -> Motion:
    """How each body moves from the base pose to the rest pose, as a motion of one frame."""
    bodies = shape.bodies
    target = rest[bodies.order][:, :, None].astype(np.float32)
    return rigid.fit(bodies, base[bodies.order], target, np.ones(len(base)))


class _Solver:
    """The motion of all bodies over any frames, with thin bodies turning as what they hang on."""

    def __init__(self, bodies: Bodies, rest: Doubles, weight: Doubles, *, with_scales: bool) -> None:
        self.bodies, self.rest, self.weight = bodies, rest, weight
        self.scaled = np.zeros(bodies.count, np.bool_)
        self._with_scales = with_scales
        self._last: tuple[Floats, Correlation, Doubles] | None = None
        self._thin: list[tuple[int, int]] = []  # (body, whose turn it takes), in an order that works

    def prepare(self, pairs: joints.Pairs, points: Floats) -> None:
        """Find thin bodies and give each its nearest certain neighbour; find bodies that swell."""
        thin = rigid.thin(self.bodies, self.rest, self.weight)
        self._thin = _guides(self.bodies, thin, pairs)
        if self._with_scales and points.shape[2]:
            self.scaled = self._swelling(points) & ~thin

    def follow(self, tree: joint_tree.Tree) -> None:
        """From now on, thin bodies turn with their parents (a thin root with its neighbour, as before)."""
        guide = dict(self._thin)
        above = [(body, int(tree.parent[body])) for body in tree.order() if body in guide and body != tree.root]
        own = guide.get(tree.root)
        # The root first: whoever hangs on it needs its turn.
        self._thin = ([(tree.root, own)] if own is not None and own not in guide else []) + above

    def hang(self, parent: Ints, points: Floats) -> None:
        """Take the links of a skeleton that is there already: thin bodies turn with their parents."""
        thin = rigid.thin(self.bodies, self.rest, self.weight)
        self._thin = [
            (body, int(parent[body])) for body in bone_space.downwards(parent) if thin[body] and parent[body] >= 0
        ]
        if self._with_scales and points.shape[2]:
            self.scaled = self._swelling(points) & ~thin

    def moved(self, points: Floats) -> Motion:
        """The motion that leads to `points` (V, 3, N), sorted."""
        found, q = self._turned(points)
        for body, guide in self._thin:
            turn = rigid.matrices(q[:, guide])
            q[:, body] = rigid.quaternions(found.matrix[:, body] + rigid.THIN * turn)
        return rigid.motion(q, found, self._scales(found, q))

    def _turned(self, points: Floats) -> tuple[Correlation, Doubles]:
        """What carries the rest shape to `points`, each body by itself; worked out once for the same points."""
        if self._last is None or self._last[0] is not points:
            found = rigid.correlate(self.bodies, self.rest, points, self.weight)
            self._last = points, found, rigid.quaternions(found.matrix)
        return self._last[1], self._last[2].copy()

    def _scales(self, found: Correlation, q: Doubles) -> Doubles | None:
        if not self.scaled.any():
            return None
        return np.where(self.scaled, np.maximum(rigid.scales(found, rigid.matrices(q)), 1e-3), 1.0)

    def _swelling(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Bodies that miss by more than the quantisation, and half as often with a scale per frame."""
        some = rigid.some_of(points, _SIGNS)
        found = rigid.correlate(self.bodies, self.rest, some, self.weight)
        q = rigid.quaternions(found.matrix)
        scale = rigid.scales(found, rigid.matrices(q))
        missed = []
        for moved in (rigid.motion(q, found), rigid.motion(q, found, np.maximum(scale, 1e-3))):
            away = rigid.carried(self.bodies, self.rest, moved) - some
            misses = np.einsum("vin,vin->vn", away, away) > (2 / STEPS) ** 2
            missed.append(self.bodies.sums(misses.mean(axis=1)) / np.maximum(self.bodies.sizes, 1))
        return np.asarray((missed[0] > 0.01) & (missed[1] < 0.5 * missed[0]), np.bool_)


def _guides(bodies: Bodies, thin: npt.NDArray[np.bool_], pairs: joints.Pairs) -> list[tuple[int, int]]:
    """For every thin body the neighbour whose turn it takes, those with a certain neighbour first."""
    result: list[tuple[int, int]] = []
    order = np.lexsort((pairs.gap, -pairs.edges))
    links = list(zip(pairs.first[order].tolist(), pairs.second[order].tolist(), strict=True))
    open_bodies = set(np.flatnonzero(thin & (bodies.sizes > 0)).tolist())
    while open_bodies:
        step: dict[int, int] = {}
        for a, c in links:
            for body, guide in ((a, c), (c, a)):
                if body in open_bodies and guide not in open_bodies and body not in step:
                    step[body] = guide
        if not step:
            break
        result += sorted(step.items())
        open_bodies -= set(step)
    return result


def _whole(solver: _Solver, pieces: Iterable[Floats], lengths: list[int]) -> tuple[list[Clip], Tally]:
    """The motion over all frames, which come in pieces (V, 3, n), sorted; and how well it fits."""
    bodies, tally = solver.bodies, Tally(len(solver.rest))
    # As it will be shown and written: the rest shape in single precision.
    rest = solver.rest.astype(np.float32).astype(np.float64)
    shape = (sum(lengths), bodies.count)
    q, translation, scale = np.empty((*shape, 4)), np.empty((*shape, 3)), np.empty(shape)
    start = 0
    for points in pieces:
        moved = solver.moved(points)
        tally.add(bodies.order, rigid.carried(bodies, rest, moved), points)
        rows = slice(start, start + points.shape[2])
        q[rows], translation[rows], scale[rows] = moved.quaternion, moved.translation, moved.scale
        start = rows.stop
    ends = np.cumsum([0, *lengths]).tolist()
    clips = [slice(first, last) for first, last in pairwise(ends)]
    return [Clip(rigid.continuous(q[rows]), translation[rows], scale[rows]) for rows in clips], tally
