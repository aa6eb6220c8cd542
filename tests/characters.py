# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters made from numbers: a chain of bodies that swing, and files that are not what they claim to be."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_carnivores.formats import car, motion
from addon.io_carnivores.formats.car import Character, Sound
from addon.io_carnivores.formats.model import FACE, VERTEX, Model, name_field
from addon.io_carnivores.formats.motion import Animation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

BODIES, AROUND = 4, 6
LENGTH = 60.0  # file units of one body


def tube(rows: int = 16, *, closed: bool = True) -> Model:
    """A tube along z of `BODIES` owners, two rings of vertices for each, with a texture of `rows` rows."""
    rings = 2 * BODIES
    turn = 2 * np.pi * np.arange(AROUND) / AROUND
    vertices = np.zeros(rings * AROUND, VERTEX)
    for ring in range(rings):
        part = slice(ring * AROUND, (ring + 1) * AROUND)
        size = 20.0 + 3 * (ring % 3)
        place = LENGTH * (ring // 2) + (6.0 if ring % 2 == 0 else LENGTH - 6.0)
        vertices["position"][part] = np.stack(
            (size * np.cos(turn), 30 + size * np.sin(turn), np.full(AROUND, place)), 1
        )
        vertices["owner"][part] = ring // 2
    corners = []
    for ring in range(rings - 1):
        for step in range(AROUND):
            a, b = ring * AROUND + step, ring * AROUND + (step + 1) % AROUND
            corners += [(a, b, a + AROUND), (b, b + AROUND, a + AROUND)]
    faces = np.zeros(len(corners), FACE)
    faces["corner"] = np.array(corners)[:, :: 1 if closed else -1]
    faces["u"] = np.arange(3 * len(corners)).reshape(-1, 3) % 256
    faces["v"] = np.arange(3 * len(corners)).reshape(-1, 3) % max(rows, 1)
    faces["next"] = -1
    texels = (np.arange(rows * 256) % 0x7FFF + 1).astype("<u2").reshape(rows, 256)
    return Model(faces, vertices, texels=texels)


def turned(angle: float, axis: int) -> npt.NDArray[np.float64]:
    """A rotation about a coordinate axis, (3, 3)."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[first, first] = matrix[second, second] = np.cos(angle)
    matrix[first, second], matrix[second, first] = -np.sin(angle), np.sin(angle)
    return matrix


def swing(
    model: Model, count: int, *, strength: float = 0.4, axis: int = 0, loops: bool = True
) -> npt.NDArray[np.int16]:
    """Frames (N, V, 3) of the tube, each body turning about the end of the one before it."""
    rest = model.vertices["position"].astype(np.float64)
    frames = np.empty((count, len(rest), 3))
    for frame in range(count):
        angle = strength * np.sin(2 * np.pi * frame / max(count - 1, 1)) if loops else strength * frame / count
        turn, at = np.eye(3), np.array([0.0, 30.0, 0.0])
        joint = at.copy()
        for body in range(BODIES):
            turn = turn @ turned(angle, axis)
            own = model.vertices["owner"] == body
            frames[frame, own] = (rest[own] - joint) @ turn.T + at
            step = np.array([0.0, 0.0, LENGTH])
            at, joint = at + turn @ step, joint + step
    return motion.quantise(frames)


def wander(model: Model, count: int, seed: int = 3) -> npt.NDArray[np.int16]:
    """Frames in which every vertex goes where it likes: nothing that bones could show."""
    rng = np.random.default_rng(seed)
    rest = model.vertices["position"][None] * 16
    return np.trunc(rest + rng.normal(0, 160, (count, *rest.shape[1:]))).astype("<i2")


def sound(seconds: float = 0.05, *, odd: bool = False, name: str = "roar") -> Sound:
    """A tone; `odd`: one byte more than samples need."""
    wave = np.sin(np.arange(int(seconds * 22050)) * 0.2) * 9000
    return Sound(name_field(name), wave.astype("<i2").tobytes() + (b"\x7f" if odd else b""))


def creature(*, soft: bool = False) -> Character:
    """Three animations, two of them with the same name, sounds of odd length and without a user, a table with junk."""
    model = tube()
    made = wander if soft else swing
    frames = [made(model, count) for count in (12, 9, 7)]
    if not soft:
        frames = [swing(model, 12), swing(model, 9, axis=1), swing(model, 7, strength=0.2, loops=False)]
    names = (b"walk\0left over".ljust(32, b"\0"), name_field("idle"), name_field("idle"))
    animations = [Animation(name, kps, each) for name, kps, each in zip(names, (10, 20, 7), frames, strict=True)]
    table = np.full(64, -1, "<i4")
    table[:3], table[3:6] = (1, 6041, 1), (0, 3902, 7)
    block = b"Tube\0was here".ljust(24, b"\0") + b"msc: 4\0\0"
    return Character(model, block, animations, [sound(odd=True, name="lone"), sound()], table.tobytes())


def replaced(data: bytes, offset: int, value: int) -> bytes:
    """`data` with another 32-bit number at `offset`."""
    return data[:offset] + struct.pack("<I", value & 0xFFFFFFFF) + data[offset + 4 :]


def first_animation(character: Character) -> int:
    """Offset of the first animation in the file."""
    model = character.model
    return 52 + model.faces.nbytes + model.vertices.nbytes + model.texture_bytes


def same_animations(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists of animations would be written alike."""
    return len(first) == len(second) and all(a == b for a, b in zip(first, second, strict=True))


def written(character: Character) -> bytes:
    """The bytes of the CAR."""
    data: bytes = car.write(character)
    return data
