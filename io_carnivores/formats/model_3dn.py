# SPDX-License-Identifier: GPL-3.0-or-later
"""3DN, the model of the mobile "Carnivores: Dinosaur Hunter".

Header of 48 bytes, or 80 when there is a sprite name, then vertices, faces of 52 bytes, bones. The texture is another
file, named by the header. Verified on every known file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError, FormatError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from .model import BONE, FACE, VERTEX, Model, Offsets, label, raw, validate

HEADER = np.dtype(
    [
        ("vertex_count", "<u4"),
        ("face_count", "<u4"),
        ("bone_count", "<u4"),
        ("texture_name", "V32"),  # usually, not always, the file's own name: objects share textures
        ("has_sprite", "<i4"),
    ]
)
SPRITE = np.dtype([("sprite_name", "V32")])  # only when has_sprite is not 0
PACKED_FACE = np.dtype(
    [
        ("corner", "<u4", 3),
        ("uv", "<i2", (3, 2)),  # u1 v1 u2 v2 u3 v3, in 1/256 of the texture whatever its real size
        ("flags", "<u2"),
        ("dmask", "<u2"),
        ("distant", "<i4"),
        ("next", "<i4"),
        ("group", "<i4"),
        ("reserved", "<u4", 3),
    ]
)
# The fields around the UVs are the same in both records; moved in two runs they cost a third of the time.
_RUNS = np.dtype([("corner", "V12"), ("uv", "V24"), ("rest", "V28")])
_PACKED_RUNS = np.dtype([("corner", "V12"), ("uv", "V12"), ("rest", "V28")])


def sniff(head: bytes, size: int) -> bool:
    """Whether counts and size agree, with or without a sprite name."""
    if len(head) < HEADER.itemsize:
        return False
    header = np.frombuffer(head, HEADER, 1)[0]
    body = (
        int(header["vertex_count"]) * VERTEX.itemsize
        + int(header["face_count"]) * PACKED_FACE.itemsize
        + int(header["bone_count"]) * BONE.itemsize
    )
    sprite = SPRITE.itemsize if header["has_sprite"] else 0
    return body > 0 and size == HEADER.itemsize + sprite + body


def read(data: bytes) -> Model:
    """Bytes to `Model` (faces widened to `FACE`). Raises `FormatError` with the offset of what does not fit."""
    reader = Reader(data)
    header = reader.array(HEADER, 1, "counts and names of the header")[0]
    sprite = bytes(reader.take(SPRITE.itemsize, "the sprite name")) if header["has_sprite"] else b""
    start = reader.offset
    vertices = reader.array(VERTEX, int(header["vertex_count"]), "vertices")
    packed = reader.array(PACKED_FACE, int(header["face_count"]), "faces")
    bones = reader.array(BONE, int(header["bone_count"]), "bones")
    reader.end("the bones")
    if not len(packed) and not len(vertices):
        raise FormatError("there is no vertex and no face in this file", offset=0, expected="a model")
    model = Model(
        unpack_faces(packed),
        vertices,
        bones,
        texture_name=bytes(header["texture_name"]),
        sprite_name=sprite,
        has_sprite=int(header["has_sprite"]),
    )
    faces = start + vertices.nbytes
    validate(model, Offsets(faces, start, faces + packed.nbytes, PACKED_FACE.itemsize))
    return model


def write(model: Model) -> bytes:
    """`Model` to bytes, the exact inverse of `read`. Raises `ExportError` where a UV leaves the 16 bits it has here."""
    header = np.zeros(1, HEADER)
    header["vertex_count"], header["face_count"], header["bone_count"] = (
        len(model.vertices),
        len(model.faces),
        len(model.bones),
    )
    header["texture_name"] = np.void(model.texture_name.ljust(32, b"\0"))
    header["has_sprite"] = model.has_sprite
    sprite = model.sprite_name.ljust(32, b"\0") if model.has_sprite else b""
    tables = (model.vertices, pack_faces(model.faces), model.bones)
    return b"".join((header.tobytes(), sprite, *(raw(table) for table in tables)))


def unpack_faces(packed: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(n,) `PACKED_FACE` to (n,) `FACE`."""
    faces = np.empty(len(packed), FACE)
    source, target = packed.view(_PACKED_RUNS), faces.view(_RUNS)
    target["corner"] = source["corner"]
    target["rest"] = source["rest"]
    faces["u"] = packed["uv"][:, :, 0]
    faces["v"] = packed["uv"][:, :, 1]
    return faces


def pack_faces(faces: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(n,) `FACE` to (n,) `PACKED_FACE`."""
    packed = np.empty(len(faces), PACKED_FACE)
    source, target = faces.view(_RUNS), packed.view(_PACKED_RUNS)
    target["corner"] = source["corner"]
    target["rest"] = source["rest"]
    for slot, name in enumerate(("u", "v")):
        wide = faces[name]
        packed["uv"][:, :, slot] = wide.astype(np.int16)
        outside = packed["uv"][:, :, slot] != wide
        if outside.any():
            bad = int(np.argwhere(outside)[0][0])
            raise ExportError(
                f"the UV of face {bad} is too far outside the texture for a 3DN, which holds 16-bit texels"
            )
    return packed


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    header = np.frombuffer(data, HEADER, 1)[0]
    found = [Section("header", 0, HEADER)]
    if header["has_sprite"]:
        found.append(Section("header", found[-1].end, SPRITE))
    for name, dtype, count in (
        ("vertex", VERTEX, int(header["vertex_count"])),
        ("face", PACKED_FACE, int(header["face_count"])),
        ("bone", BONE, int(header["bone_count"])),
    ):
        found.append(Section(name, found[-1].end, dtype, count))
    return found


def texture_label(model: Model) -> str:
    """The base name of the texture file, as text."""
    return label(model.texture_name)
