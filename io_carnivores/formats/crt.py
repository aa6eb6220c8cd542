# SPDX-License-Identifier: GPL-3.0-or-later
"""CRT, the raw textures of the mobile game: u16 width, u16 height, u8 bits, then RGB (24) or RGBA (32), top row first.

A second kind has 0xA0 in place of the bits, a u32 length, and compressed data (PVRTC by all signs), which is not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import ExportError, FormatError, UnsupportedError
from ...io_common.formats.reader import Reader

if TYPE_CHECKING:
    from .texels import Picture

COMPRESSED = 0xA0
_MOST_SIDE = 0xFFFF


class CompressedTextureError(UnsupportedError):
    """A sound file of the compressed kind: the model can still be shown, without its texture."""


@dataclass(frozen=True)
class Crt:
    """`picture`: uint8 (rows, columns, 4). `bits`: 24 (alpha is 255 and not stored) or 32."""

    picture: Picture
    bits: int


def read(data: bytes | bytearray | memoryview) -> Crt:
    """A CRT file to its picture. With no magic in the file, its length has to be right to the byte.

    Raises `CompressedTextureError` for the compressed kind, `FormatError` for anything else that is not raw.
    """
    reader = Reader(data)
    width = reader.integer("<u2", "the width")
    height = reader.integer("<u2", "the height")
    bits = reader.integer("u1", "the number of bits")
    if bits == COMPRESSED:
        length = reader.integer("<u4", "the length of the compressed data")
        reader.take(length, "the compressed data")
        reader.end("the compressed data")
        raise CompressedTextureError("the texture is compressed in a way that cannot be read", offset=4)
    if bits not in (24, 32):
        raise FormatError("this is not a CRT texture", offset=4, expected="24 or 32 bits", found=str(bits))
    if not width or not height:
        raise FormatError(
            "the CRT texture is empty", offset=0, expected="at least one row and column", found=f"{width} x {height}"
        )
    raw = reader.array("u1", width * height * bits // 8, "texels")
    reader.end("the texels")
    picture = np.full((height, width, 4), 255, dtype=np.uint8)
    picture[..., : bits // 8] = raw.reshape(height, width, bits // 8)
    return Crt(picture, bits)


def write(texture: Crt) -> bytes:
    """The file of a texture.

    Raises `ExportError` if it is empty, a side is longer than 65535, or 24 bits would lose alpha.
    """
    rows, columns = texture.picture.shape[:2]
    if not (0 < rows <= _MOST_SIDE and 0 < columns <= _MOST_SIDE):
        raise ExportError(f"a CRT texture cannot have {columns} x {rows} texels")
    if texture.bits not in (24, 32):
        raise ExportError(f"a CRT texture has 24 or 32 bits, not {texture.bits}")
    if texture.bits == 24 and not bool((texture.picture[..., 3] == 255).all()):
        raise ExportError("the picture has see-through texels, which a CRT texture of 24 bits cannot hold")
    head = np.array([columns, rows], dtype="<u2").tobytes() + bytes([texture.bits])
    return head + texture.picture[..., : texture.bits // 8].tobytes()
