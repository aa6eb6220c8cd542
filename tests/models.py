# SPDX-License-Identifier: GPL-3.0-or-later
"""Models made from numbers, for tests, benchmarks and the fuzz harness. Needs numpy and the formats floor only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_carnivores.formats import model_3df, model_3dn
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, Model, name_field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 20260401

# What a careless reader trips over, as the bits of 32-bit fields: integers and floats alike.
WORDS = np.array(
    [
        *(0, 1, 2, 3, 255, 256, 257, 0x7F, 0x80, 0x7FFF, 0x8000, 0xFFFF, 0x10000),
        *(0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFF00, 0x00FFFFFF, 0x01000000, 0x01000001),
        *(0x3F800000, 0xBF800000, 0x00000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7E967699),
    ],
    np.uint32,
)

# Bone names that collide with each other, with Blender's numbering, with our own names for owners, or are none at all.
NAMES = tuple(
    raw.ljust(32, b"\0")[:32]
    for raw in (
        *(b"", b" ", b"a", b"A", b"a.001", b"a.002", b"a\0junk", b"a\0other junk", b"Bone", b"Bone.001", b"Owner 3"),
        *(b"Owner 300", b"Owner 7.001", b"x" * 32, b"x" * 31 + b"y", b"\xc4\xd6\xdc" * 11, b"\x81\x8d\x8f\x90\x9d"),
        *(b"\x01\x02\n\t", b"tab\there", b" outer blanks ", b"a.0000000001", b".001", b".", b"Armature", b"\xff" * 32),
    )
)


def surface(faces: int, *, bones: int = 1, rows: int = 256, seed: int = SEED) -> Model:
    """A wavy sheet of exactly `faces` sane triangles, owned in stripes by a chain of `bones`, flags in use."""
    rng = np.random.default_rng(seed)
    columns = max(1, int(np.sqrt(faces / 2)))
    lines = -(-faces // (2 * columns))
    across, along = np.meshgrid(np.arange(columns + 1), np.arange(lines + 1))
    count = across.size
    vertices = np.zeros(count, VERTEX)
    vertices["position"][:, 0] = across.ravel() * 4.0
    vertices["position"][:, 1] = np.sin(along.ravel() * 0.3) * 40.0 + rng.random(count)
    vertices["position"][:, 2] = along.ravel() * 4.0
    if bones:
        vertices["owner"] = along.ravel() * bones // (lines + 1)
    corner = (along[:-1, :-1] * (columns + 1) + across[:-1, :-1]).ravel()
    square = np.stack(
        (corner, corner + 1, corner + columns + 1, corner + 1, corner + columns + 2, corner + columns + 1), 1
    )
    table = np.zeros(faces, FACE)
    table["corner"] = square.reshape(-1, 3)[:faces]
    table["u"] = across.ravel()[table["corner"]] * 255 // max(columns, 1)
    table["v"] = along.ravel()[table["corner"]] * (max(rows, 1) - 1) // max(lines, 1)
    table["flags"] = np.array([0, 0, 0, 1, 5, 0x10], np.uint16)[np.arange(faces) * 6 // max(faces, 1)]
    table["distant"] = rng.integers(-2000, 2000, faces)
    table["next"] = rng.permutation(faces) - 1
    table["group"] = np.arange(faces) * 4 // max(faces, 1)
    chain = np.zeros(bones, BONE)
    for number in range(bones):
        chain["name"][number] = np.void(name_field(f"bone {number}"))
    chain["position"][:, 1] = 10.0
    chain["position"][:, 2] = (np.arange(bones) + 0.5) * lines * 4.0 / max(bones, 1)
    chain["parent"] = np.arange(bones) - 1
    texels = rng.integers(0, 0x8000, (rows, 256)).astype("<u2")
    texels[:, ::16] = 0
    return Model(table, vertices, chain, texels)


def as_mobile(model: Model) -> Model:
    """The same model as a 3DN holds it: texture by name, a sprite, UVs of 16 bits."""
    faces = model.faces.copy()
    for name in ("u", "v"):
        faces[name] = faces[name].astype(np.int16)
    names = {"texture_name": name_field("skin"), "sprite_name": name_field("far away"), "has_sprite": 1}
    return Model(faces, model.vertices, model.bones, **names)


def small() -> Model:
    """A model of a few hundred bytes (with one row of texture) in which every field of every record is used."""
    model = surface(4, bones=3, rows=1)
    model.faces["reserved"] = np.arange(12, dtype=np.uint32).reshape(4, 3)
    model.faces["dmask"] = 3
    model.vertices["hide"][1] = 1
    model.bones["hide"][1] = 1
    model.bones["name"][2] = np.void(b"tail\0left over junk".ljust(32, b"\xcc"))
    return model


def arbitrary(rng: np.random.Generator, *, mobile: bool = False, most: int = 12) -> Model:
    """Any model that a file can hold: every field takes any value, the worst ones most often.

    Only what `validate` asks for holds: vertex indices in range, coordinates that are finite numbers.
    """
    vertex_count = int(rng.integers(1, most))
    face_count = int(rng.integers(0, most))
    bone_count = int(rng.integers(0, most))
    bones = wild(rng, BONE, bone_count)
    if rng.random() < 0.5:
        bones["name"] = [np.void(NAMES[pick]) for pick in rng.integers(0, len(NAMES), bone_count)]
    faces = wild(rng, FACE, face_count)
    if face_count and rng.random() < 0.3:
        faces[rng.integers(0, face_count)] = faces[0]
    return repaired(
        faces,
        wild(rng, VERTEX, vertex_count),
        bones,
        wild(rng, np.dtype("<u2"), 256 * int(rng.integers(0, 3)) if not mobile else 0),
        texture_rest=wild(rng, np.dtype("u1"), int(rng.integers(1, 512))).tobytes() if rng.random() < 0.2 else b"",
        names=wild(rng, np.dtype("u1"), 64).tobytes(),
        has_sprite=int(rng.choice([0, 1, -1, 7, 0x7FFFFFFF, -0x80000000])),
        mobile=mobile,
    )


def wild(rng: np.random.Generator, dtype: np.dtype, count: int) -> Any:
    """`count` records of random bits, small numbers and the values of `WORDS`, mixed word by word."""
    words = -(-count * dtype.itemsize // 4)
    pick = rng.integers(0, 4, words)
    out = rng.integers(0, 1 << 32, words, dtype=np.uint32)
    out = np.where(pick == 1, rng.integers(0, 8, words, dtype=np.uint32), out)
    out = np.where(pick == 2, WORDS[rng.integers(0, len(WORDS), words)], out)
    out = np.where(pick == 3, rng.normal(0, 100, words).astype(np.float32).view(np.uint32), out)
    return np.frombuffer(out.tobytes()[: count * dtype.itemsize], dtype).copy()


def repaired(
    faces: Any,
    vertices: Any,
    bones: Any,
    texels: Any,
    *,
    texture_rest: bytes,
    names: bytes,
    has_sprite: int,
    mobile: bool,
) -> Model:
    """A readable model of arbitrary records.

    Changed are indices out of range, infinite coordinates and, for a 3DN, UVs.
    """
    faces["corner"] %= np.uint32(max(len(vertices), 1))
    for table in (vertices, bones):
        table["position"] = np.where(np.isfinite(table["position"]), table["position"], np.float32(-0.0))
    if not mobile:
        return Model(faces, vertices, bones, texels.reshape(-1, 256), texture_rest)
    for name in ("u", "v"):
        faces[name] = faces[name].astype(np.int16)
    return Model(
        faces,
        vertices,
        bones,
        texture_name=names[:32],
        sprite_name=names[32:] if has_sprite else b"",
        has_sprite=has_sprite,
    )


def changed_bytes(data: bytes, values: Callable[[int], list[int]]) -> Iterator[tuple[int, bytes]]:
    """(offset, `data` with that one byte changed) for every offset; `values(old)` says which values it takes."""
    for offset, old in enumerate(data):
        for value in values(old):
            if value != old:
                yield offset, data[:offset] + bytes([value]) + data[offset + 1 :]


CODECS = {"3df": model_3df, "3dn": model_3dn}
