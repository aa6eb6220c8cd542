# SPDX-License-Identifier: GPL-3.0-or-later
"""A creature the size of the largest original one, made from numbers: 409 vertices of 37 owners, any motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_carnivores.formats import motion
from addon.io_carnivores.formats.car import Character, Sound, table_from
from addon.io_carnivores.formats.model import FACE, VERTEX, Model, name_field
from addon.io_carnivores.formats.motion import Animation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

_SEED = 20260401
_AROUND = 5
_OWNED = 2 * _AROUND + 1  # two rings and a tip
_SIDEWAYS = 0.25  # share of the direction of a body that is sideways
_EXTRA = 2  # vertices of the root, to make 409

# (number of the body it hangs on, direction of the body, its length, its thickness) in file units, x to the left:
# hips, spine, neck, head and jaw; tail; legs; arms. A limb is given once and mirrored.
_TRUNK = (
    *((-1, (0, 0.2, 1), 40, 26), (0, (0, 0.1, 1), 36, 28), (1, (0, 0.3, 1), 34, 24), (2, (0, 0.8, 1), 28, 16)),
    *((3, (0, 0.9, 1), 26, 14), (4, (0, 0.2, 1), 40, 15), (4, (0, -0.3, 1), 34, 9)),
    *((0, (0, 0.1, -1), 34, 20), (7, (0, 0.1, -1), 32, 15), (8, (0, 0.0, -1), 30, 11), (9, (0, 0.1, -1), 28, 7)),
    *((10, (0, 0.1, -1), 26, 5), (11, (0, 0.1, -1), 24, 3)),
)
_LEG = (
    *((0, (0.3, -1, 0.2), 44, 13), (0, (0.1, -1, -0.4), 40, 9), (1, (0.0, -1, 0.3), 34, 6), (2, (0.0, -0.2, 1), 22, 6)),
    *((3, (0.0, 0.0, 1), 14, 4), (3, (0.5, 0.0, 1), 12, 3), (3, (-0.4, 0.0, 1), 12, 3)),
)
_ARM = (
    *((2, (0.6, -0.8, 0.3), 20, 6), (0, (0.1, -0.8, 0.6), 18, 5), (1, (0.0, -0.4, 1), 12, 3)),
    *((2, (0.2, 0.0, 1), 8, 2), (2, (-0.2, 0.0, 1), 8, 2)),
)


class _Bodies:
    """The skeleton that the motion is made with: `parent` (B,), `head` and `tip` (B, 3) at rest, `size` (B,)."""

    def __init__(self) -> None:
        entries = [(above, np.array(way, float), length, size) for above, way, length, size in _TRUNK]
        for limb in (_LEG, _ARM):
            for side in (1.0, -1.0):
                first = len(entries)
                for number, (above, way, length, size) in enumerate(limb):
                    # The first of a limb names a body of the trunk.
                    link = above if number == 0 else first + above
                    entries.append((link, np.array(way, float) * (side, 1.0, 1.0), length, size))
        self.parent = [entry[0] for entry in entries]
        self.size = np.array([entry[3] for entry in entries], float)
        self.head, self.tip = np.zeros((len(entries), 3)), np.zeros((len(entries), 3))
        for number, (above, way, length, _size) in enumerate(entries):
            self.head[number] = self.tip[above] if above >= 0 else (0.0, 150.0, 0.0)
            if abs(way[0]) > _SIDEWAYS:
                self.head[number, 0] += np.sign(way[0]) * self.size[above]  # limbs start at the flank
            self.tip[number] = self.head[number] + length * way / np.linalg.norm(way)

    @property
    def count(self) -> int:
        return len(self.parent)


def model(rows: int = 256) -> Model:
    """The creature at rest: 409 vertices, faces of every body and of the seams between them, a noisy texture."""
    bodies = _Bodies()
    rng = np.random.default_rng(_SEED)
    turn = 2 * np.pi * np.arange(_AROUND) / _AROUND
    vertices = np.zeros(bodies.count * _OWNED + _EXTRA, VERTEX)
    vertices["owner"] = np.minimum(np.arange(len(vertices)) // _OWNED, bodies.count) % bodies.count
    for number in range(bodies.count):
        along = bodies.tip[number] - bodies.head[number]
        side = np.cross(along, (1.0, 0.3, 0.1))
        side /= np.linalg.norm(side)
        other = np.cross(along, side) / np.linalg.norm(along)
        ring = bodies.size[number] * (np.outer(np.cos(turn), side) + np.outer(np.sin(turn), other))
        start = number * _OWNED
        for step, place in enumerate((0.15, 0.8)):
            part = slice(start + step * _AROUND, start + (step + 1) * _AROUND)
            vertices["position"][part] = bodies.head[number] + place * along + ring * (1.0 - 0.2 * step)
        vertices["position"][start + 2 * _AROUND] = bodies.tip[number]
    vertices["position"][-_EXTRA:] = bodies.head[0] + [(8.0, 20.0, 0.0), (-8.0, 20.0, 0.0)]
    corners = _corners(bodies)
    faces = np.zeros(len(corners), FACE)
    faces["corner"] = corners
    faces["u"] = rng.integers(0, 256, (len(corners), 3))
    faces["v"] = rng.integers(0, rows, (len(corners), 3))
    faces["next"] = -1
    smooth = np.add.outer(np.arange(rows), np.arange(256)) / (rows + 256)
    shade = np.clip(smooth * 24 + rng.normal(4, 1.5, (rows, 256)), 0, 31).astype("<u2")
    return Model(faces, vertices, texels=shade << 10 | shade << 5 | shade >> 1)


def _corners(bodies: _Bodies) -> list[tuple[int, int, int]]:
    """Triangles around every body, to its tip, and from its start to the end of the one it hangs on."""
    found = []
    for number, above in enumerate(bodies.parent):
        start = number * _OWNED
        strips = [(start, start + _AROUND)]
        if above >= 0:
            strips.append((above * _OWNED + _AROUND, start))
        for low, high in strips:
            for step in range(_AROUND):
                other = (step + 1) % _AROUND
                found += [(low + step, low + other, high + step), (low + other, high + other, high + step)]
        tip, ring = start + 2 * _AROUND, start + _AROUND
        found += [(ring + step, ring + (step + 1) % _AROUND, tip) for step in range(_AROUND)]
    last = bodies.count * _OWNED
    return [*found, (0, 1, last), (2, 3, last + 1)]


def frames(creature: Model, count: int, seed: int) -> npt.NDArray[np.int16]:
    """Frames (N, V, 3) of a motion in which every body turns about its joint, as a walk does, and the root moves."""
    bodies = _Bodies()
    rng = np.random.default_rng(seed)
    phase = 2 * np.pi * np.arange(count) / max(count - 1, 1) * max(1, count // 24)
    turn = np.zeros((count, bodies.count, 3, 3))
    at = np.zeros((count, bodies.count, 3))
    rest = creature.vertices["position"].astype(np.float64)
    result = np.empty((count, len(rest), 3))
    for number, above in enumerate(bodies.parent):
        strength, shift = rng.normal(0, 0.12, 3), rng.uniform(0, 2 * np.pi, 3)
        own = _turned(strength * np.sin(phase[:, None] + shift) + 0.3 * strength * np.sin(2 * phase[:, None] - shift))
        if above < 0:
            turn[:, number] = own
            at[:, number] = bodies.head[number] + 3.0 * np.sin(phase[:, None] * (1, 2, 1) + shift)
        else:
            turn[:, number] = turn[:, above] @ own
            arm = bodies.head[number] - bodies.head[above]
            at[:, number] = at[:, above] + turn[:, above] @ arm
        mine = creature.vertices["owner"] == number
        arms = rest[mine] - bodies.head[number]
        result[:, mine] = np.einsum("nij,vj->nvi", turn[:, number], arms) + at[:, number, None]
    return motion.quantise(result)


def _turned(angles: Doubles) -> Doubles:
    """Rotation vectors (N, 3) to matrices (N, 3, 3), Rodrigues."""
    size = np.maximum(np.linalg.norm(angles, axis=1), 1e-12)[:, None]
    x, y, z = (angles / size).T
    zero = np.zeros_like(x)
    cross = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=1).reshape(-1, 3, 3)
    sine, cosine = np.sin(size)[..., None], np.cos(size)[..., None]
    return np.asarray(np.eye(3) + sine * cross + (1 - cosine) * (cross @ cross))


def character(lengths: Sequence[int], *, sounds: int = 5, seconds: float = 1.5) -> Character:
    """A CAR with an animation of each length, and noisy sounds for the first of them."""
    creature = model()
    rng = np.random.default_rng(_SEED)
    entries = [
        Animation(name_field(f"animation {number}"), 15 + number, frames(creature, count, number))
        for number, count in enumerate(lengths)
    ]
    heard = []
    for number in range(sounds):
        fade = np.exp(-np.arange(int(seconds * 22050)) / 9000)
        wave = (rng.normal(0, 9000, len(fade)) * fade).clip(-32768, 32767).astype("<i2")
        heard.append(Sound(name_field(f"sound {number}"), wave.tobytes()))
    used: Any = np.arange(min(sounds, len(entries)), dtype=np.int32)
    return Character(creature, name_field("bench"), entries, heard, table_from(used))
