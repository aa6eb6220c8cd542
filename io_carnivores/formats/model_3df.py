# SPDX-License-Identifier: GPL-3.0-or-later
"""3DF, the static model of Carnivores, Carnivores 2 and Ice Age.

16-byte header of four u32 (vertices, faces, bones, texture bytes), then faces, vertices, bones, texture. No magic and
no trailing bytes: a file is a 3DF when its counts add up to its size. Verified on every known file.
"""

from __future__ import annotations

import numpy as np

from ...io_common.formats.errors import FormatError, UnsupportedError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from .model import BONE, FACE, ROW_BYTES, TEXTURE_WIDTH, VERTEX, Model, Offsets, raw, validate

HEADER = np.dtype([("vertex_count", "<u4"), ("face_count", "<u4"), ("bone_count", "<u4"), ("texture_bytes", "<u4")])
KIEV = b"Kiev"  # magic of the Animator/Vivisector format that shares the extension


def sniff(head: bytes, size: int) -> bool:
    """Whether counts and size agree; a texture that is cut off whole is let through, as such files exist."""
    if len(head) < HEADER.itemsize or head.startswith(KIEV):
        return False
    vertices, faces, bones, texture = (int(n) for n in np.frombuffer(head, "<u4", 4))
    body = HEADER.itemsize + faces * FACE.itemsize + vertices * VERTEX.itemsize + bones * BONE.itemsize
    return body <= size and size in (body + texture, body) and size > HEADER.itemsize


def read(data: bytes) -> Model:
    """Bytes to `Model`. Raises `FormatError` with the offset of what does not fit."""
    if data[:4] == KIEV:
        raise UnsupportedError(
            "this 3DF belongs to the Animator and Vivisector tools, another format that only shares the extension",
            offset=0,
            expected="the vertex count of a Carnivores 3DF",
            found='the mark "Kiev"',
        )
    reader = Reader(data)
    header = reader.array(HEADER, 1, "four counts of the header")[0]
    size = int(header["texture_bytes"])
    faces = reader.array(FACE, int(header["face_count"]), "faces")
    vertices = reader.array(VERTEX, int(header["vertex_count"]), "vertices")
    bones = reader.array(BONE, int(header["bone_count"]), "bones")
    model = Model(faces, vertices, bones)
    if size and not reader.left:
        model.texture_missing = size
    else:
        words = np.frombuffer(reader.take(size - size % ROW_BYTES, "the texture"), "<u2")
        model.texels = words.reshape(-1, TEXTURE_WIDTH)
        model.texture_rest = bytes(reader.take(size % ROW_BYTES, "the last row of the texture"))
    reader.end("the texture")
    if not len(faces) and not len(vertices):
        raise FormatError("there is no vertex and no face in this file", offset=0, expected="a model")
    start = HEADER.itemsize
    behind = start + faces.nbytes
    validate(model, Offsets(start, behind, behind + vertices.nbytes))
    return model


def write(model: Model) -> bytes:
    """`Model` to bytes, the exact inverse of `read`."""
    header = np.array((len(model.vertices), len(model.faces), len(model.bones), model.texture_bytes), dtype=HEADER)
    texture = () if model.texture_missing else (raw(model.texels.astype("<u2", copy=False)), model.texture_rest)
    tables = (model.faces, model.vertices, model.bones)
    return b"".join((header.tobytes(), *(raw(table) for table in tables), *texture))


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    header = np.frombuffer(data, HEADER, 1)[0]
    found = [Section("header", 0, HEADER)]
    for name, dtype, count in (
        ("face", FACE, int(header["face_count"])),
        ("vertex", VERTEX, int(header["vertex_count"])),
        ("bone", BONE, int(header["bone_count"])),
        ("texel", np.dtype("<u2"), int(header["texture_bytes"]) // 2),
    ):
        found.append(Section(name, found[-1].end, dtype, count))
    return found
