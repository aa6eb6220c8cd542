# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest files made from numbers, for tests, benchmarks and the fuzz harness. Needs the formats floor only."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_dragonnest.formats import ani, anim, effects, keys, msh, names, skn, strips
from addon.io_dragonnest.formats.collision import Collision, Kind
from addon.io_dragonnest.formats.dummy import Dummy
from addon.io_dragonnest.formats.keys import Record
from addon.io_dragonnest.formats.submesh import Skin, Submesh

from tests.models import WORDS, wild

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt
    from addon.io_dragonnest.formats.ani import Ani
    from addon.io_dragonnest.formats.anim import Anim
    from addon.io_dragonnest.formats.msh import Msh
    from addon.io_dragonnest.formats.skn import Skn

SEED = 20260402
BONES = (
    "Bip01",
    "Bip01 Pelvis",
    "Bip01 Spine",
    "Bip01 Head",
    "Bip01 L Thigh",
    "Bip01 R Thigh",
    "머리카락",
    "BoxBone01",
)
PARENTS = (-1, 0, 1, 2, 1, 1, 3, 2)
MSH_VERSIONS = msh.VERSIONS


def junk(text: str, size: int = 256) -> bytes:
    """A field of a name, with leftovers behind the NUL that no decoder takes."""
    return (text.encode("cp949") + b"\0\xff\xfe\x81" + b"left over").ljust(size, b"\xcc")[:size]


def grid(columns: int, rows: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """A wavy sheet: positions ((columns + 1) * (rows + 1), 3) and triangles (2 * columns * rows, 3)."""
    across, along = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1))
    positions = np.stack((across, np.sin(along * 0.3) * 4.0, along), axis=-1).reshape(-1, 3).astype("<f4")
    corner = (along[:-1, :-1] * (columns + 1) + across[:-1, :-1]).reshape(-1)
    square = (corner, corner + columns + 1, corner + 1, corner + 1, corner + columns + 1, corner + columns + 2)
    return positions, np.stack(square, axis=1).reshape(-1, 3).astype(np.int32)


def part(
    columns: int = 3,
    rows: int = 2,
    *,
    name: str = "Body",
    parent: str = names.SCENE_ROOT,
    uv_sets: int = 1,
    colours: bool = False,
    bones: tuple[str, ...] = (),
    strip: bool = False,
) -> Submesh:
    """A sub-mesh with the streams that are asked for; `bones` is the list of a skin, none without."""
    rng = np.random.default_rng(SEED)
    positions, corners = grid(columns, rows)
    count = len(positions)
    normals = rng.normal(size=(count, 3))
    normals /= np.sqrt((normals**2).sum(axis=1, keepdims=True))
    found = Submesh(
        parent=junk(parent),
        name=junk(name),
        indices=(strips.make(corners) if strip else corners.reshape(-1)).astype("<u2"),
        positions=positions,
        normals=normals.astype("<f4"),
        uvs=rng.random((uv_sets, count, 2)).astype("<f4"),
        is_strip=strip,
        flags=bytes((1, 1, 1, 0)),
    )
    if colours:
        found.colours = rng.integers(0, 256, (count, 4)).astype(np.uint8)
    if bones:
        found.skin = skin(rng, count, bones)
    return found


def skin(rng: np.random.Generator, count: int, bones: tuple[str, ...]) -> Skin:
    """One to four influences, sorted by weight; slots of weight 0 hold -1 and stale numbers."""
    used = rng.integers(1, min(4, len(bones)) + 1, count)
    slots = np.argsort(rng.random((count, max(len(bones), 4))), axis=1)[:, :4].astype("<i2")
    weights = -np.sort(-rng.random((count, 4)), axis=1)
    unused = np.arange(4) >= used[:, None]
    weights[unused] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    slots = np.where(unused, rng.choice([-1, 0, 99], (count, 4)), slots % len(bones)).astype("<i2")
    return Skin(slots, weights.astype("<f4"), names.fields([junk(bone) for bone in bones]))


def bind_matrices(scale: float = 1.0) -> npt.NDArray[np.float64]:
    """World matrices (b, 4, 4) of `BONES` in the bind pose, from `animation`'s base."""
    from addon.io_dragonnest.formats import pose, sampling

    return pose.world(sampling.base(animation(scale=scale)).matrices(), np.array(PARENTS))[0]


def bone_table(scale: float = 1.0) -> Any:
    """The bones of `model`, their inverse binds those of `animation`'s base."""
    from addon.io_dragonnest.formats import rig

    table = np.zeros(len(BONES), msh.BONE)
    table["name"] = names.fields([junk(bone) for bone in BONES])
    table["inverse_bind"] = rig.inverses(bind_matrices(scale))
    return table


def collisions() -> list[Collision]:
    """One of each type."""
    rng = np.random.default_rng(SEED)
    box = np.concatenate(([0, 5, 0], np.eye(3).reshape(-1), [1, 2, 3])).astype("<f4")
    triangles = rng.normal(size=(2, 3, 3)).astype("<f4")
    return [
        Collision(Kind.BOX, names.lpstr("Scene Root"), box),
        Collision(Kind.SPHERE, names.lpstr("Bip01 Head") + b"\xff", np.array([0, 9, 0, 2], "<f4")),
        Collision(Kind.CAPSULE, b"", np.array([0, 0, 0, 0, 4, 0, 1], "<f4")),
        Collision.from_triangles(triangles, names.lpstr("머리카락")),
        Collision(Kind.TRIANGLES_4, b"\0", np.zeros(0, "<f4")),
    ]


def dummies(version: int) -> list[Dummy]:
    """With and without a parent, names that begin with L among them."""
    found = [
        Dummy(junk("#effect01", 255), junk("Bip01 R Thigh")),
        Dummy(junk("#FX_01")),
        Dummy(junk("Light", 255), junk("Bip01")),
        Dummy(junk("Lamp", 255), bytes(256)),
    ]
    for number, entry in enumerate(found):
        if version >= 13:
            entry.name, entry.parent = entry.name.ljust(256, b"\1"), entry.parent or bytes(256)
            entry.matrix[:3, :3] = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 2]], "<f4")
        entry.matrix[3, :3] = (number, 1.5, -2.0)
    return found


def model(version: int = 13) -> Msh:
    """An MSH in which every stream and every field is used."""
    found = msh.Msh(
        version,
        submeshes=[
            part(name="Body", bones=BONES[:6]),
            part(2, 3, name="Hair_0", uv_sets=3, colours=True, bones=BONES[3:7], strip=True),
            part(1, 1, name="Blade", parent="Bip01 R Thigh", strip=True),
            part(1, 2, name="파란 망토", uv_sets=2, colours=True),
        ],
        bones=bone_table(),
        collisions=collisions(),
        dummies=dummies(version),
        magic=junk(f"Eternity Engine Mesh File 0.{version}"),
        lod_count=2,
        uv_animation=1,
        pad=b"\1\2\3",
        reserved=bytes(range(256)) * 2,
        trailing=b"the end",
    )
    found.submeshes[1].flags = b"\7\2\x80\5"
    found.submeshes[1].reserved = b"\xee" * 496
    # A stray vertex that no face uses, and an incomplete last triangle.
    last = found.submeshes[3]
    last.indices = np.concatenate((last.indices, [0, 1])).astype("<u2")
    if version < 11:
        for entry in found.collisions:
            entry.parent = b""
    found.maximum, found.minimum = msh.bounds(found)
    return found


def character(scale: float = 1.0) -> Msh:
    """An MSH without oddities: what the checks have nothing to say about."""
    found = msh.Msh(13, [part(4, 4, name="Body", bones=BONES), part(2, 2, name="Blade", parent="Bip01 R Thigh")])
    found.bones = bone_table(scale)
    found.maximum, found.minimum = msh.bounds(found)
    return found


def materials(version: int = 11, order: int = 0, count: int = 4) -> Skn:
    """An SKN with a property of each type, known and unknown names, leftovers."""
    found = skn.Skn(version, mesh_name=junk("some model.msh"), order=order, magic=junk("Eternity Engine Skin File 0.1"))
    for number in range(count):
        properties = [effects.parameter(name) for name in list(effects.PARAMETERS)[number : number + 6]]
        properties += [
            skn.Property.of("g_DiffuseTex", skn.Kind.TEXTURE, f"살갗{number}.dds"),
            skn.Property(b"g_NoNul", skn.Kind.FLOAT, np.float32(0.1).tobytes()),
            skn.Property(b"", skn.Kind.NOTHING),
            skn.Property(b"g_Unknown\0\xff\xff", skn.Kind.UNKNOWN),
            skn.Property.of("g_nUseRotateByDir", skn.Kind.INTEGER, -3),
            skn.Property(b"g_EmptyTex\0", skn.Kind.TEXTURE, b""),
        ]
        found.materials.append(
            skn.Material(
                junk(f"mat {number}"), junk("Default.fx"), 0.1 * number, number, properties, b"\1\2\3", b"\x55" * 504
            )
        )
    if version < 11:
        found.order, found.body_size = 77, -5
    else:
        found.body_rest = b"odd"
    found.trailing, found.reserved = b"behind", b"\x11" * 496
    return found


def _wave(frames: npt.NDArray[Any], row: int) -> npt.NDArray[np.float64]:
    half = np.stack((frames * 0.05 + row, frames * 0.03, frames * 0.02 - row), axis=-1)
    turn = np.concatenate((np.sin(half), np.cos(half).prod(axis=-1, keepdims=True)), axis=-1)
    turn = turn / np.sqrt((turn**2).sum(axis=-1, keepdims=True))
    return np.asarray(turn, np.float64)


def record(version: int, row: int, frames: npt.NDArray[Any], *, scale: float = 1.0, keyed: bool = True) -> Record:
    """Keys at `frames` for bone `row`; only the base without `keyed`."""
    base = Record().base.copy()
    base["position"] = (row * 0.5, 3.0 if row else 40.0, -row * 0.25)
    base["rotation"] = _wave(np.array([row * 3.0]), row)
    base["scale"] = (1.0, scale, 1.0)
    if not keyed:
        return Record(base)
    place = base["position"] + np.stack((np.sin(frames * 0.2), np.cos(frames * 0.1), frames * 0.01), axis=-1)
    sizes = np.stack((frames * 0.0 + 1, 1 + frames * 0.01, frames * 0.0 + scale), axis=-1)
    return Record(
        base,
        keys.vector_keys(version, frames, place),
        keys.rotation_keys(version, frames, _wave(frames, row)),
        keys.vector_keys(version, frames[::4], sizes[::4]),
    )


def animation(version: int = 11, *, frames: int = 12, scale: float = 1.0) -> Ani:
    """An ANI of `BONES` with three clips: every frame keyed, single keys, empty tracks."""
    found = ani.Ani(
        version,
        [junk("Stand"), junk("공격"), junk("Rest")],
        np.array([frames, 5, 1], "<i4"),
        ani.bone_table(BONES, PARENTS),
        magic=junk("Eternity Engine Ani File 0.1"),
        reserved=b"\x77" * 756,
    )
    found.bones["reserved"] = np.void(b"\x22" * 512)
    for row in range(len(BONES)):
        whole, single = np.arange(frames), np.array([2])
        still = record(version, row, single, scale=scale, keyed=False)
        found.records.append(
            [record(version, row, whole, scale=scale), record(version, row, single, scale=scale), still]
        )
    return found


def dump() -> Anim:
    """The first clip of `animation` as a third-party dump."""
    return anim.from_ani(animation(11), 0)


def wild_keys(rng: np.random.Generator, dtype: np.dtype[Any]) -> Any:
    """Up to five keys of random bits."""
    return wild(rng, dtype, int(rng.integers(0, 6)))


def arbitrary_ani(rng: np.random.Generator, version: int) -> Ani:
    """Any ANI that can be read: names, keys and lengths of random bits."""
    bones, clips = int(rng.integers(0, 4)), int(rng.integers(0, 4))
    found = ani.Ani(version, [wild(rng, np.dtype("V256"), 1)[0].tobytes() for _ in range(clips)])
    found.lengths, found.bones = wild(rng, np.dtype("<i4"), clips), wild(rng, ani.BONE, bones)
    found.magic = junk("Eternity Engine Ani File 9")
    found.records = [
        [
            Record(wild(rng, keys.BASE, 1), *(wild_keys(rng, dtype) for dtype in keys.layout(version)))
            for _ in range(clips)
        ]
        for _ in range(bones)
    ]
    return found


def arbitrary_msh(rng: np.random.Generator, version: int) -> Msh:
    """Any MSH that can be read: normals, UVs, colours, weights, slots, names of random bits."""
    found = msh.Msh(version, magic=junk("Eternity Engine Mesh File"), lod_count=int(WORDS[int(rng.integers(9))]))
    found.bones = wild(rng, msh.BONE, int(rng.integers(0, 3)))
    found.bones["inverse_bind"] = rng.normal(size=(len(found.bones), 4, 4))
    for _ in range(int(rng.integers(0, 4))):
        found.submeshes.append(_arbitrary_part(rng))
    found.collisions = [entry for entry in collisions() if rng.random() < 0.5]
    if version < 11:
        for entry in found.collisions:
            entry.parent = b""
    found.dummies = [entry for entry in dummies(version) if rng.random() < 0.5]
    found.trailing = wild(rng, np.dtype("u1"), int(rng.integers(0, 5))).tobytes()
    return found


def _arbitrary_part(rng: np.random.Generator) -> Submesh:
    count = int(rng.integers(0, 5))
    found = Submesh(
        parent=wild(rng, np.dtype("V256"), 1)[0].tobytes(),
        name=wild(rng, np.dtype("V256"), 1)[0].tobytes(),
        indices=rng.integers(0, max(count, 1), int(rng.integers(0, 9)) if count else 0).astype("<u2"),
        positions=rng.normal(size=(count, 3)).astype("<f4"),
        normals=wild(rng, np.dtype("<f4"), 3 * count).reshape(-1, 3),
        uvs=wild(rng, np.dtype("<f4"), 2 * count * (sets := int(rng.integers(0, 8)))).reshape(sets, count, 2),
        is_strip=bool(rng.random() < 0.5),
        flags=wild(rng, np.dtype("u1"), 4).tobytes(),
    )
    if rng.random() < 0.5:
        found.colours = wild(rng, np.dtype("u1"), 4 * count).reshape(-1, 4)
    if rng.random() < 0.7:
        slots, weights = wild(rng, np.dtype("<i2"), 4 * count), wild(rng, np.dtype("<f4"), 4 * count)
        found.skin = Skin(
            slots.reshape(-1, 4), weights.reshape(-1, 4), wild(rng, np.dtype("V256"), int(rng.integers(0, 3)))
        )
    return found


def arbitrary_skn(rng: np.random.Generator, version: int) -> Skn:
    """Any SKN that can be read."""
    found = materials(version, int(rng.integers(0, 5)), int(rng.integers(0, 3)))
    found.body_rest = wild(rng, np.dtype("u1"), int(rng.integers(0, 12))).tobytes() if version >= 11 else b""
    for material in found.materials:
        material.alpha = wild(rng, np.dtype("<f4"), 1)[0]
        material.name = wild(rng, np.dtype("V256"), 1)[0].tobytes()
        chosen = [entry for entry in material.properties if rng.random() < 0.6]
        material.properties = [
            skn.Property(entry.name, entry.kind, wild(rng, np.dtype("u1"), len(entry.value)).tobytes())
            for entry in chosen
        ]
    return found


def dds(code: bytes, width: int, height: int, block: bytes, *, levels: int = 1) -> bytes:
    """A DDS of one repeated block of 4 x 4 pixels: DXT1 8 bytes, DXT3 and DXT5 16."""
    head = struct.pack("<7I44x", 124, 0x81007, height, width, len(block), 0, levels)
    head += struct.pack("<2I4s20x", 32, 4, code) + struct.pack("<5I", 0x1000, 0, 0, 0, 0)
    return b"DDS " + head + block * (((width + 3) // 4) * ((height + 3) // 4))


def dxt1(first: int = 0xF800, second: int = 0x001F, indices: int = 0) -> bytes:
    """A block of two colours of 5, 6 and 5 bits and sixteen indices of two."""
    return struct.pack("<HHI", first, second, indices)


def dxt5(first: int, second: int, index: int = 0) -> bytes:
    """A red block whose alpha is end point or mixture `index` everywhere."""
    packed = sum(index << (3 * place) for place in range(16))
    return bytes((first, second)) + packed.to_bytes(6, "little") + dxt1()


RED = dds(b"DXT1", 8, 8, dxt1())
BLUE = dds(b"DXT1", 8, 4, dxt1(0x001F, 0))
CLEAR = dds(b"DXT5", 8, 8, dxt5(255, 0, 1))


def dressed(folder: Path, *materials_: skn.Material, version: int = 11, name: str = "hero") -> tuple[bytes, bytes]:
    """Write a character with as many sub-meshes as materials, and its SKN, to `folder`; the bytes of both."""
    found = character()
    found.submeshes = [part(2, 2, name=f"Part {number}", bones=BONES[:3]) for number in range(len(materials_))]
    found.maximum, found.minimum = msh.bounds(found)
    skin = skn.Skn(version, list(materials_), junk(f"{name.upper()}.MSH"), magic=junk("Eternity Engine Skin File 0.1"))
    data = msh.write(found), skn.write(skin)
    (folder / f"{name}.msh").write_bytes(data[0])
    (folder / f"{name}.skn").write_bytes(data[1])
    return data


def plain(name: str = "Material #1", *properties: skn.Property, effect: str = "Diffuse.fx") -> skn.Material:
    """A material as the game's tools write it, with these properties."""
    return skn.Material(junk(name), junk(effect), properties=list(properties))


def texture(name: str, value: str) -> skn.Property:
    """A texture property."""
    return skn.Property.of(name, skn.Kind.TEXTURE, value)
