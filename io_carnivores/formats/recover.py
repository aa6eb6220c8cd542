# SPDX-License-Identifier: GPL-3.0-or-later
"""The skeleton of a creature from its vertex frames.

A CAR stores for every vertex an owner (the bone it hung on in the original tool) and absolute positions per frame, but
no bones. Vertices of one owner move rigidly to within the quantisation, so the bones are still in the motion: see
`rigid` for the bodies, `joints` and `joint_tree` for what hangs together, `bone_layout` and `bone_names` for the bones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import bone_layout, bone_names, joint_tree, joints, rigid
from .fit_report import Fit, Tally
from .rigid import Bodies, Correlation, Doubles, Floats, Ints, Motion

_CHUNK = 256  # frames handled at once
_SAMPLE = 400  # frames that decide shapes, joints and tree; all of the frames in nearly every file
_ROUNDS = 5
_SOFT = 0.25  # file units; vertices that miss by more count less in the fit of their body
_USABLE = 0.25  # file units within which the base pose must repeat the shape of the bodies
_SAME = 0.07  # a base position closer than that to the fitted one is the fitted one: a step and a little


@dataclass(frozen=True)
class Options:
    """`reassign`: let single vertices follow the body they really move with. `scales`: give a body that swells and
    shrinks evenly (many originals breathe that way) one scale per frame. `bones`: a bone table (B,) of `model.BONE`
    whose names, positions and parents are taken where a number is an owner's.
    """

    reassign: bool = True
    scales: bool = False
    bones: npt.NDArray[Any] | None = None


@dataclass(frozen=True)
class Clip:
    """One animation of the rig: frame = scale * rotation @ rest + translation, per body, file axes and units.

    `quaternion` (N, B, 4) w x y z, of continuous sign; `rotation` (N, B, 3, 3), the same as matrices; `translation`
    (N, B, 3); `scale` (N, B), all 1 unless asked for.
    """

    quaternion: Doubles
    rotation: Doubles
    translation: Doubles
    scale: Doubles


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
    base = np.nan_to_num(np.asarray(vertices["position"], np.float64).reshape(-1, 3))
    owners, stored = np.unique(vertices["owner"], return_inverse=True)
    bodies = Bodies.of(stored.reshape(-1), len(owners))
    frames = _Frames([clip for clip in clips if len(clip)], len(base))
    sample = frames.sample(_SAMPLE)
    shape = _Shape(bodies, base[bodies.order], np.ones(len(base)))
    if sample.shape[2]:
        shape = _refined(bodies, base, sample, chosen)
    bodies = shape.bodies
    rest, from_base = _posed(shape, base, sample)
    edges = joints.mesh_edges(faces["corner"], rest)
    pairs = joints.candidates(bodies, rest, edges)
    solver = _Solver(bodies, rest[bodies.order], shape.weight, chosen.scales)
    solver.prepare(pairs, sample[bodies.order])
    found = joints.solve(pairs, solver.moved(sample[bodies.order]))
    size = float(np.linalg.norm(np.ptp(rest, axis=0))) if len(rest) else 1.0
    partner = joint_tree.mirrors(bodies, rest)
    side = bodies.sums(rest[bodies.order])[:, 0]
    tree = joint_tree.grow(bodies, pairs, joint_tree.prices(pairs, found, size), partner, side)
    solver.follow(tree)
    motion, tally = _whole(solver, frames, rest)
    heads = bone_layout.heads(bodies, rest, tree, pairs, found)
    if chosen.bones is not None:
        tree, heads = bone_names.from_table(chosen.bones, owners, tree, heads, _to_rest(shape, base, rest))
    tails = bone_layout.tails(bodies, rest, tree, heads, partner)
    names = bone_names.names(bodies, rest, tree, partner)
    if chosen.bones is not None:
        names = bone_names.merged(names, chosen.bones, owners)
    link = tree.link[tree.link >= 0]
    swollen = float(bodies.sizes[solver.scaled].sum()) / max(1, len(base))
    fit = replace(tally.fit(bodies), joint_errors=found.error[link], scaled=solver.scaled, swollen=swollen)
    return Rig(
        owners=owners.astype(np.int16),
        parent=tree.parent,
        root=tree.root,
        heads=heads,
        tails=tails,
        names=names,
        body=bodies.body,
        rest=rest.astype(np.float32),
        from_base=from_base,
        clips=_clips(motion, [len(clip) for clip in clips]),
        scaled=solver.scaled,
        fit=fit,
    )


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

    def chunks(self, most: int) -> list[npt.NDArray[np.int16]]:
        """Stretches of at most so many frames, in order, (n, V, 3)."""
        return [clip[start : start + most] for clip in self._clips for start in range(0, len(clip), most)]


@dataclass(frozen=True)
class _Shape:
    """Bodies with the shape of each, `shape` (V, 3) sorted, and the weights of the fits, (V,) sorted."""

    bodies: Bodies
    shape: Doubles
    weight: Doubles


def _refined(bodies: Bodies, base: Doubles, sample: Floats, options: Options) -> _Shape:
    """Shapes that fit all frames of the sample (V, 3, N) in file order, and vertices where they belong."""
    points = sample[bodies.order]
    shape = _Shape(bodies, _start(bodies, base[bodies.order], points), np.ones(len(base)))
    shape = _rounds(shape, points, _ROUNDS)
    if options.reassign:
        body = _followed(shape, points)
        if (body != bodies.body).any():
            moved = Bodies.of(body, bodies.count)
            back = np.empty_like(bodies.order)
            back[bodies.order] = np.arange(len(back))
            # The shape of a vertex in its new body comes out of the next rounds; its first frame starts it.
            again = sample[moved.order]
            fresh = _placed(shape, moved, back, points)
            shape = _rounds(_Shape(moved, fresh, np.ones(len(base))), again, 2)
    return shape


def _start(bodies: Bodies, base: Doubles, points: Floats) -> Doubles:
    """The base pose or the first frame, whichever fits a body better: base poses are often placeholders."""
    first = points[:, :, 0].astype(np.float64)
    weight = np.ones(len(base))
    errors = []
    for rest in (base, first):
        moved = rigid.fit(bodies, rest, points, weight)
        errors.append(bodies.sums(((rigid.carried(bodies, rest, moved) - points) ** 2).sum(axis=1).mean(axis=1)))
    chosen = errors[0] < errors[1]
    return np.where(np.repeat(chosen, bodies.sizes)[:, None], base, first)


def _rounds(shape: _Shape, points: Floats, count: int) -> _Shape:
    """Fit, bring all frames back, take their median, and count soft vertices less."""
    bodies, rest, weight = shape.bodies, shape.shape, shape.weight
    for number in range(count):
        moved = rigid.fit(bodies, rest, points, weight)
        rest = np.median(rigid.brought_back(bodies, points, moved), axis=2).astype(np.float64)
        if number:
            square = ((rigid.carried(bodies, rest, moved) - points) ** 2).sum(axis=1).mean(axis=1)
            weight = 1.0 / (1.0 + square.astype(np.float64) / _SOFT**2)
    return _Shape(bodies, rest, weight)


def _spreads(shape: _Shape, points: Floats, moved: Motion) -> tuple[Doubles, Doubles]:
    """How far every vertex wanders within every body (V, B), and its mean place there (V, B, 3); sorted rows.

    |R^T (x - t)| = |x - t|, so that both come out of one product of all vertices by all bodies.
    """
    count = points.shape[2]
    columns = np.concatenate([moved.rotation, moved.translation[..., None]], axis=3)
    flat = points.reshape(len(points), -1).astype(np.float64)
    product = flat @ columns.transpose(2, 0, 1, 3).reshape(3 * count, -1)
    product = product.reshape(len(points), -1, 4)
    own = np.einsum("nbij,nbi->bj", columns, moved.translation)
    mean = (product[:, :, :3] - own[:, :3]) / count
    square = (flat * flat).sum(axis=1)[:, None] + own[:, 3] - 2.0 * product[:, :, 3]
    return np.sqrt(np.maximum(square / count - (mean * mean).sum(axis=2), 0.0)), mean


def _followed(shape: _Shape, points: Floats) -> Ints:
    """The body that each vertex follows, (V,) in file order: its own unless another one is clearly better."""
    bodies = shape.bodies
    result = bodies.body.copy()
    moved = rigid.fit(bodies, shape.shape, points, shape.weight)
    step = max(1, (1 << 22) // max(1, 4 * bodies.count + 3 * points.shape[2]))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        part = bodies.order[rows]
        error, _mean = _spreads(shape, points[rows], moved)
        error[:, bodies.sizes < 3] = np.inf
        own = np.sqrt((_misses(shape, points, moved, rows) ** 2).mean(axis=1))
        best = error.argmin(axis=1)
        least = error[np.arange(len(part)), best]
        better = (own > 0.15) & (least < 0.4 * own) & (best != bodies.body[part])
        result[part[better]] = best[better]
    return result


def _misses(shape: _Shape, points: Floats, moved: Motion, rows: slice) -> Doubles:
    """Distance of some vertices from where their own body puts them, (v, N)."""
    inside = shape.bodies.body[shape.bodies.order[rows]]
    turned = np.einsum("nvij,vj->nvi", moved.rotation[:, inside], shape.shape[rows])
    turned += moved.translation[:, inside]
    return np.asarray(np.linalg.norm(turned.transpose(1, 2, 0) - points[rows], axis=1), np.float64)


def _placed(shape: _Shape, moved: Bodies, back: Ints, points: Floats) -> Doubles:
    """The shape in the order of `moved`; re-assigned vertices at their mean place in the new body."""
    motion = rigid.fit(shape.bodies, shape.shape, points, shape.weight)
    result = shape.shape[back[moved.order]]
    changed = np.flatnonzero(moved.body != shape.bodies.body)
    _error, mean = _spreads(shape, points[back[changed]], motion)
    place = np.empty_like(back)
    place[moved.order] = np.arange(len(back))
    result[place[changed]] = mean[np.arange(len(changed)), moved.body[changed]]
    return result


def _posed(shape: _Shape, base: Doubles, sample: Floats) -> tuple[Doubles, bool]:
    """One rest pose (V, 3) in file order, and whether it is the base pose: every body moved to where it is there."""
    bodies = shape.bodies
    if not sample.shape[2]:
        return base, True
    for pose, is_base in ((base, True), (sample[:, :, 0].astype(np.float64), False)):
        target = pose[bodies.order]
        there = rigid.fit(bodies, shape.shape, target[:, :, None].astype(np.float32), shape.weight)
        fitted = rigid.carried(bodies, shape.shape, there)[:, :, 0].astype(np.float64)
        away = np.linalg.norm(fitted - target, axis=1)
        if not is_base or (away <= _USABLE).mean() >= 0.9:
            break
    if is_base:
        # The base pose is not quantised, so where it agrees it is the better shape, and the mesh stays as it was.
        fitted = np.where((away <= _SAME)[:, None], target, fitted)
    rest = np.empty_like(base)
    rest[bodies.order] = fitted
    return rest, is_base


def _to_rest(shape: _Shape, base: Doubles, rest: Doubles) -> Motion:
    """How each body moves from the base pose to the rest pose, as a motion of one frame."""
    bodies = shape.bodies
    target = rest[bodies.order][:, :, None].astype(np.float32)
    return rigid.fit(bodies, base[bodies.order], target, np.ones(len(base)))


class _Solver:
    """The motion of all bodies over any frames, with thin bodies turning as what they hang on."""

    def __init__(self, bodies: Bodies, rest: Doubles, weight: Doubles, with_scales: bool) -> None:
        self.bodies, self.rest, self.weight = bodies, rest, weight
        self.scaled = np.zeros(bodies.count, np.bool_)
        self._with_scales = with_scales
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

    def moved(self, points: Floats) -> Motion:
        """The motion that leads to `points` (V, 3, N), sorted."""
        found = rigid.correlate(self.bodies, self.rest, points, self.weight)
        q = rigid.quaternions(found.matrix)
        for body, guide in self._thin:
            turn = rigid.matrices(q[:, guide])
            q[:, body] = rigid.quaternions(found.matrix[:, body] + rigid.THIN * turn)
        return rigid.motion(q, found, self._scales(found, q))

    def _scales(self, found: Correlation, q: Doubles) -> Doubles | None:
        if not self.scaled.any():
            return None
        return np.where(self.scaled, np.maximum(rigid.scales(found, rigid.matrices(q)), 1e-3), 1.0)

    def _swelling(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Bodies that miss by more than the quantisation, and half as often with a scale per frame."""
        found = rigid.correlate(self.bodies, self.rest, points, self.weight)
        q = rigid.quaternions(found.matrix)
        scale = rigid.scales(found, rigid.matrices(q))
        missed = []
        for moved in (rigid.motion(q, found), rigid.motion(q, found, np.maximum(scale, 1e-3))):
            distance = np.linalg.norm(rigid.carried(self.bodies, self.rest, moved) - points, axis=1)
            missed.append(self.bodies.sums((distance > 2 / rigid.STEPS).mean(axis=1)) / np.maximum(self.bodies.sizes, 1))
        return (missed[0] > 0.01) & (missed[1] < 0.5 * missed[0])


def _guides(bodies: Bodies, thin: npt.NDArray[np.bool_], pairs: joints.Pairs) -> list[tuple[int, int]]:
    """For every thin body the neighbour whose turn it takes, those with a certain neighbour first."""
    result: list[tuple[int, int]] = []
    order = np.lexsort((pairs.gap, -pairs.edges))
    links = list(zip(pairs.first[order].tolist(), pairs.second[order].tolist(), strict=True))
    open_bodies = {body for body in np.flatnonzero(thin & (bodies.sizes > 0)).tolist()}
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


def _whole(solver: _Solver, frames: _Frames, rest: Doubles) -> tuple[Motion, Tally]:
    """The motion over all frames, and how well it fits; some frames at a time."""
    bodies = solver.bodies
    tally = Tally(len(rest))
    count = bodies.count
    parts = [Motion(np.zeros((0, count, 4)), np.zeros((0, count, 3, 3)), np.zeros((0, count, 3)), np.zeros((0, count)))]
    for chunk in frames.chunks(_CHUNK):
        points = rigid.unbiased(chunk)[bodies.order]
        moved = solver.moved(points)
        # As it will be shown and written: the rest shape in single precision.
        shown = rigid.carried(bodies, solver.rest.astype(np.float32).astype(np.float64), moved)
        tally.add(bodies.order, shown, points, chunk)
        parts.append(moved)
    fields = ("quaternion", "rotation", "translation", "scale")
    return Motion(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields)), tally


def _clips(motion: Motion, lengths: list[int]) -> list[Clip]:
    result, start = [], 0
    for length in lengths:
        part = motion.part(slice(start, start + length))
        result.append(Clip(rigid.continuous(part.quaternion), part.rotation, part.translation, part.scale))
        start += length
    return result
