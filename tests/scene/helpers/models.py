# SPDX-License-Identifier: GPL-3.0-or-later
"""Synthetic models that use every field of the files, odd values included."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, Model, name_field

RINGS, SEGMENTS = 5, 8
FLAGS = (0x00, 0x01, 0x04, 0x05, 0x10, 0x20, 0x60, 0x08)


def sphere(radius: float = 100.0) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """A closed sphere: (V, 3) f32 file positions and (F, 3) u32 corners, outward as raw file numbers."""
    points = [(0.0, radius, 0.0)]
    for ring in range(1, RINGS):
        high = np.pi * ring / RINGS
        points.extend(
            (
                radius * np.sin(high) * np.cos(turn),
                radius * np.cos(high),
                0.7 * radius * np.sin(high) * np.sin(turn),
            )
            for turn in 2 * np.pi * np.arange(SEGMENTS) / SEGMENTS
        )
    points.append((0.0, -radius, 0.0))
    bottom = len(points) - 1
    corners = []
    for turn in range(SEGMENTS):
        after = (turn + 1) % SEGMENTS
        corners.append((0, 1 + after, 1 + turn))
        for ring in range(RINGS - 2):
            a, b = 1 + ring * SEGMENTS, 1 + (ring + 1) * SEGMENTS
            corners += [(a + turn, a + after, b + turn), (a + after, b + after, b + turn)]
        last = 1 + (RINGS - 2) * SEGMENTS
        corners.append((last + turn, last + after, bottom))
    return np.array(points, np.float32), np.array(corners, np.uint32)


def volume(positions: npt.NDArray[Any], corners: npt.NDArray[Any]) -> float:
    """Six times the signed volume of triangles: positive when they are wound outward in a right-handed space."""
    a, b, c = (positions[corners[:, slot]].astype(np.float64) for slot in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum())


def words(rows: int = 97, seed: int = 1) -> npt.NDArray[np.uint16]:
    """Texels of every kind: any colour, bit 15 set and clear, the key colour with both."""
    made = np.random.default_rng(seed).integers(0, 0x10000, (rows, 256)).astype("<u2")
    made[3:6, 10:40] = 0
    made[6, 10:40] = 0x8000
    return made


def bone_table() -> npt.NDArray[Any]:
    """Four bones: junk behind a NUL, two of the same name, a name that is not ASCII."""
    bones = np.zeros(4, BONE)
    names = (b"Root\0left over".ljust(32, b"\0"), name_field("Leg"), name_field("Leg"), name_field("Schwänzchen"))
    bones["name"] = [np.void(name) for name in names]
    bones["position"] = [(0, 10, 0), (50, -30.3, 5.7), (-50, -30.1, 5), (1.25, 20, 60.1)]
    bones["parent"] = [-1, 0, 0, 0]
    bones["hide"] = [0, 0, 1, 0]
    return bones


def regular(rows: int = 97, seed: int = 1) -> Model:
    """A closed model with bones and a texture in which every kind of value occurs."""
    rng = np.random.default_rng(seed)
    positions, corners = sphere()
    faces = np.zeros(len(corners), FACE)
    faces["corner"] = corners
    faces["u"] = rng.integers(0, 256, corners.shape)
    faces["v"] = rng.integers(0, rows, corners.shape)
    faces["u"][5, 1], faces["v"][6, 2], faces["v"][7, 0] = 256, rows, -254
    faces["flags"] = np.resize(np.array(FLAGS, np.uint16), len(corners))
    faces["distant"] = rng.integers(-(2**31), 2**31 - 1, len(corners))
    faces["next"] = np.append(np.arange(1, len(corners)), -1)
    faces["group"] = np.arange(len(corners)) % 7
    vertices = np.zeros(len(positions), VERTEX)
    vertices["position"] = positions
    vertices["owner"] = np.where(positions[:, 1] > 50, 0, np.where(positions[:, 0] > 0, 1, 2))
    vertices["owner"][-3:] = 3
    return Model(faces, vertices, bone_table(), words(rows, seed))


def odd(rows: int = 97) -> Model:
    """As `regular`, with faces that repeat a corner, faces that occur twice, an unused vertex and a hidden one."""
    model = regular(rows)
    faces = np.insert(model.faces, [0, 10, 20, len(model.faces)], model.faces[[3, 4, 5, 6]])
    for at, pattern in ((0, (0, 0, 1)), (11, (0, 1, 1)), (len(faces) - 1, (2, 2, 2))):
        faces["corner"][at] = faces["corner"][at][list(pattern)]
    faces["next"] = np.append(np.arange(1, len(faces)), -1)
    vertices = np.append(model.vertices, model.vertices[-1:])
    vertices["hide"][4] = 1
    return Model(faces, vertices, model.bones, model.texels)


def mobile(*, bones: bool = True) -> Model:
    """A 3DN: sprite name, junk in reserved and next, vertices without owner where there are no bones."""
    model = odd()
    model.texels = np.zeros((0, 256), np.dtype("<u2"))
    model.faces["reserved"][3] = (0xFFFFFFFF, 7, 0x80000000)
    model.faces["next"][[2, 5]] = (123456789, -99)
    model.texture_name = name_field("skin_of_it")
    model.has_sprite, model.sprite_name = 1, b"sprite\0bmp".ljust(32, b"\0")
    if not bones:
        model.bones = model.bones[:0]
        model.vertices["owner"] = np.where(model.vertices["owner"] == 3, 12, model.vertices["owner"])
        model.vertices["owner"][:2] = model.vertices["hide"][:2] = -1
    return model
