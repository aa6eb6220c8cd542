# SPDX-License-Identifier: GPL-3.0-or-later
"""PKM, the compressed textures of the mobile game: a 16-byte big-endian header, then ETC1 blocks of 4 x 4 texels.

The block layout is that of the public OES_compressed_ETC1_RGB8_texture specification (Khronos).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import FormatError, UnknownFormatError, UnsupportedError
from ...io_common.formats.reader import Reader

if TYPE_CHECKING:
    from .texels import Picture

HEADER = np.dtype(
    [
        ("magic", "S4"),
        ("version", "S2"),
        ("kind", ">u2"),  # 0 is ETC1 RGB without mipmaps, the only one of version 10
        ("coded_width", ">u2"),  # what the blocks cover: a multiple of 4
        ("coded_height", ">u2"),
        ("width", ">u2"),
        ("height", ">u2"),
    ]
)

_MODIFIERS = np.array(
    [(2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183)],
    dtype=np.int16,
)
_BLOCKS_AT_ONCE = 4096  # keeps the working set near 1 MiB, however large the picture is


def read(data: bytes | bytearray | memoryview) -> Picture:
    """A PKM file to an opaque picture, uint8 (rows, columns, 4), cut to the original size.

    Bytes behind the blocks are ignored.

    Raises `UnknownFormatError` if this is no PKM, `UnsupportedError` for ETC2, `FormatError` if it is damaged.
    """
    reader = Reader(data)
    magic = bytes(reader.data[:4])
    if magic != b"PKM ":
        raise UnknownFormatError("this is not a PKM texture", offset=0, expected="'PKM '", found=repr(magic)[1:])
    header = reader.array(HEADER, 1, "fields of the PKM header")[0]
    if header["version"] != b"10" or header["kind"] != 0:
        raise UnsupportedError(
            "the PKM texture is of a kind that cannot be read",
            offset=4,
            expected="version 10, type 0 (ETC1)",
            found=f"version {repr(bytes(header['version']))[1:]}, type {header['kind']}",
        )
    columns, rows = int(header["coded_width"]), int(header["coded_height"])
    width, height = int(header["width"]), int(header["height"])
    if columns % 4 or rows % 4 or not (0 < width <= columns and 0 < height <= rows):
        raise FormatError(
            "the sizes in the PKM texture contradict each other",
            offset=8,
            expected="a coded size of whole 4 x 4 blocks, not smaller than the picture",
            found=f"{columns} x {rows} for {width} x {height}",
        )
    blocks = reader.array("u1", columns // 4 * (rows // 4) * 8, "ETC1 bytes").reshape(-1, 8)
    picture = decode_etc1(blocks, columns, rows)
    return np.ascontiguousarray(picture[:height, :width])


def decode_etc1(blocks: npt.NDArray[np.uint8], width: int, height: int) -> Picture:
    """ETC1 blocks, uint8 (width / 4 * height / 4, 8), row by row, to an opaque picture, uint8 (height, width, 4).

    A differential colour that leaves 0..31 is not defined by ETC1; it wraps, as hardware decoders do it.
    """
    across = width // 4
    picture = np.empty((height, width, 4), dtype=np.uint8)
    picture[..., 3] = 255
    tiles = picture.reshape(height // 4, 4, across, 4, 4)
    step = max(1, _BLOCKS_AT_ONCE // across)
    for start in range(0, height // 4, step):
        part = blocks[start * across : (start + step) * across]
        colours = _decode(part).reshape(-1, across, 4, 4, 3)
        tiles[start : start + step, ..., :3] = colours.transpose(0, 2, 1, 3, 4)
    return picture


def _decode(blocks: npt.NDArray[np.uint8]) -> Picture:
    """Blocks, uint8 (n, 8), to texels, uint8 (n, 4 rows, 4 columns, 3)."""
    row, column = np.arange(4)[:, None], np.arange(4)[None, :]
    flipped = (blocks[:, 3] & 1).astype(np.bool_)[:, None, None]
    second = np.where(flipped, row >= 2, column >= 2)

    low = blocks[:, 4:].astype(np.uint32)
    selectors = (low[:, 0] << 24 | low[:, 1] << 16 | low[:, 2] << 8 | low[:, 3])[:, None, None]
    place = (column * 4 + row).astype(np.uint32)  # texels are numbered down the columns
    large = selectors >> place & 1
    minus = selectors >> place + np.uint32(16) & 1
    table = np.where(second, (blocks[:, 3] >> 2 & 7)[:, None, None], (blocks[:, 3] >> 5)[:, None, None])
    shade = _MODIFIERS[table, large]
    shade = np.where(minus, -shade, shade)

    first_base, second_base = _base_colours(blocks[:, :3], blocks[:, 3])
    out = np.empty((len(blocks), 4, 4, 3), dtype=np.uint8)
    for channel in range(3):
        base = np.where(second, second_base[:, channel, None, None], first_base[:, channel, None, None])
        out[..., channel] = np.clip(base + shade, 0, 255)
    return out


def _base_colours(
    colour: npt.NDArray[np.uint8], control: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """The base colours of both halves, int16 (n, 3) each, from colour bytes (n, 3) and control bytes (n,)."""
    wide = colour.astype(np.int16)
    differential = (control & 2).astype(np.bool_)[:, None]
    five = wide >> 3
    other = five + ((wide & 7) ^ 4) - 4 & 31  # a signed 3-bit difference
    first = np.where(differential, five << 3 | five >> 2, (wide >> 4) * 17)
    second = np.where(differential, other << 3 | other >> 2, (wide & 15) * 17)
    return first, second
