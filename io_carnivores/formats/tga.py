# SPDX-License-Identifier: GPL-3.0-or-later
"""TGA pictures.

The PC games keep theirs uncompressed at 16 bits (5-5-5), bottom row first: an 18-byte header, in about a third of the
files a 26-byte footer. The mobile games use 24 and 32 bits. Paint programs add run-length coding, palettes and grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError, FormatError, UnknownFormatError, UnsupportedError
from ...io_common.formats.reader import Reader
from . import texels

if TYPE_CHECKING:
    from .texels import Picture

HEADER = np.dtype(
    [
        ("id_length", "u1"),
        ("map_type", "u1"),
        ("image_type", "u1"),
        ("map_first", "<u2"),
        ("map_length", "<u2"),
        ("map_depth", "u1"),
        ("x", "<u2"),
        ("y", "<u2"),
        ("width", "<u2"),
        ("height", "<u2"),
        ("depth", "u1"),
        ("descriptor", "u1"),  # bits 0-3 alpha bits, 4 right to left, 5 top row first, 6-7 interleaving
    ]
)
FOOTER = bytes(8) + b"TRUEVISION-XFILE.\0"

_MAPPED, _COLOUR, _GREY, _PACKED = 1, 2, 3, 8
_DEPTHS = {_MAPPED: (8,), _COLOUR: (15, 16, 24, 32), _GREY: (8,)}
_MOST_SIDE = 0xFFFF

_PACKED_PIXELS = 5 << 20
"""Pixels that a run-length coded file of any size may unfold to; three more are allowed for every two bytes it has.
Decoding takes at most 12 bytes a pixel: within 64 MiB + 20 times the file. 2048 x 2048 pixels always pass."""


@dataclass(frozen=True)
class _Header:
    """What of the header matters for the pixels."""

    kind: int
    packed: bool
    width: int
    height: int
    depth: int
    alpha_bits: int
    top_first: bool
    right_first: bool
    map_first: int
    map_length: int
    map_depth: int


def read(data: bytes | bytearray | memoryview) -> Picture:
    """A TGA file to a picture, uint8 (rows, columns, 4), top row first, whatever order the file has.

    Without usable alpha the picture is opaque: 8, 15 and 24 bits always; 16 bits unless the header declares the alpha
    bit and some pixel has it set; 32 bits if the header declares no alpha and it is 0 everywhere.

    Raises `UnknownFormatError` if this is no TGA, `UnsupportedError` for kinds nobody uses, `FormatError` if it is
    damaged.
    """
    reader = Reader(data)
    header = _read_header(reader)
    palette = _read_palette(reader, header)
    size = (header.depth + 7) // 8
    start = reader.offset
    if header.packed:
        raw = _unpack(reader, header.width * header.height, size)
    else:
        raw = reader.array("u1", header.width * header.height * size, "pixels")
    pixels = raw.reshape(header.height, header.width, size)
    pixels = pixels[:: 1 if header.top_first else -1, :: -1 if header.right_first else 1]
    if palette is None:
        return _colours(pixels, header.depth, header.alpha_bits)
    if int(pixels.max()) >= len(palette):
        raise FormatError(
            "a pixel points behind the end of the palette",
            offset=start,
            expected=f"numbers below {len(palette)}",
            found=str(int(pixels.max())),
        )
    return np.ascontiguousarray(palette[pixels[..., 0]])


def write(picture: Picture) -> bytes:
    """A picture, uint8 (rows, columns, 4), to an uncompressed TGA file: 24 bits if it is opaque, else 32.

    The bottom row comes first, TGA's own default: a program that ignores the descriptor, as the games do, takes
    every file to be so. Raises `ExportError` if the picture is empty or a side is longer than 65535.
    """
    rows, columns = picture.shape[:2]
    if not (0 < rows <= _MOST_SIDE and 0 < columns <= _MOST_SIDE):
        raise ExportError(f"a TGA file cannot hold a picture of {columns} x {rows} pixels")
    opaque = bool((picture[..., 3] == 255).all())
    header = np.zeros(1, dtype=HEADER)
    header["image_type"] = _COLOUR
    header["width"], header["height"] = columns, rows
    header["depth"], header["descriptor"] = (24, 0) if opaque else (32, 8)
    order = [2, 1, 0] if opaque else [2, 1, 0, 3]
    return b"".join((header.tobytes(), picture[::-1][..., order].tobytes(), FOOTER))


def _read_header(reader: Reader) -> _Header:
    raw = reader.array(HEADER, 1, "fields of the TGA header")[0]
    kind, depth, descriptor = int(raw["image_type"]) & ~_PACKED, int(raw["depth"]), int(raw["descriptor"])
    known = kind in _DEPTHS and raw["map_type"] <= 1 and raw["image_type"] <= (_GREY | _PACKED)
    if not known:
        raise UnknownFormatError(
            "this is not a TGA picture",
            offset=1,
            expected="a palette type of 0 or 1 and a picture type of 1, 2, 3, 9, 10 or 11",
            found=f"{raw['map_type']} and {raw['image_type']}",
        )
    if depth not in _DEPTHS[kind]:
        wanted = " or ".join(str(bits) for bits in _DEPTHS[kind])
        raise UnsupportedError(
            "the TGA picture has a pixel size that cannot be read",
            offset=16,
            expected=f"{wanted} bits",
            found=str(depth),
        )
    if descriptor >> 6:
        raise UnsupportedError("the TGA picture is interleaved, which cannot be read", offset=17)
    if not raw["width"] or not raw["height"]:
        raise FormatError(
            "the TGA picture is empty",
            offset=12,
            expected="at least one row and column",
            found=f"{raw['width']} x {raw['height']}",
        )
    reader.take(int(raw["id_length"]), "TGA comment")
    has_map = raw["map_type"] == 1
    return _Header(
        kind=kind,
        packed=bool(raw["image_type"] & _PACKED),
        width=int(raw["width"]),
        height=int(raw["height"]),
        depth=depth,
        alpha_bits=descriptor & 15,
        top_first=bool(descriptor & 0x20),
        right_first=bool(descriptor & 0x10),
        map_first=int(raw["map_first"]),
        map_length=int(raw["map_length"]) if has_map else 0,
        map_depth=int(raw["map_depth"]),
    )


def _read_palette(reader: Reader, header: _Header) -> Picture | None:
    """The colours of the pixel values from 0, uint8 (n, 4), or None if the pixels have their own; the reader behind."""
    size = (header.map_depth + 7) // 8
    raw = reader.array("u1", header.map_length * size, "palette colours")
    if header.kind != _MAPPED:
        return None
    if header.map_depth not in _DEPTHS[_COLOUR] or not header.map_length:
        raise FormatError(
            "the palette of the TGA picture is missing or cannot be read",
            offset=5,
            expected="colours of 15, 16, 24 or 32 bits",
            found=f"{header.map_length} of {header.map_depth} bits",
        )
    if header.map_first > 0xFF:
        raise FormatError("the palette starts behind the last 8-bit number", offset=3, found=str(header.map_first))
    colours = _colours(raw.reshape(1, header.map_length, size), header.map_depth, header.alpha_bits)[0]
    lead = np.zeros((header.map_first, 4), dtype=np.uint8)
    palette: Picture = np.concatenate([lead, colours])
    return palette


def _unpack(reader: Reader, count: int, size: int) -> npt.NDArray[np.uint8]:
    """`count` run-length coded pixels of `size` bytes, uint8 (count * size,): one Python step a packet, not a pixel."""
    packets = reader.left // (1 + size)
    most = min(packets * 128, _PACKED_PIXELS + len(reader.data) * 3 // 2)
    if count > most:
        raise FormatError(
            "the TGA picture is larger than its data can be",
            offset=12,
            expected=f"at most {most} pixels in {reader.left} bytes",
            found=str(count),
        )
    source, out = reader.data, bytearray(count * size)
    at, done, total = reader.offset, 0, count * size
    while done < total:
        if at >= len(source):
            raise FormatError("the TGA picture ends early", offset=at, expected=f"{(total - done) // size} more pixels")
        head = source[at]
        length = ((head & 127) + 1) * size
        chunk = source[at + 1 : at + 1 + (size if head & 128 else length)]
        filled = bytes(chunk) * ((head & 127) + 1) if head & 128 else chunk
        if len(filled) != length:
            raise FormatError("the TGA picture ends early", offset=at, expected=f"a packet of {length} bytes")
        if done + length > total:
            raise FormatError(
                "a run of pixels goes past the end of the picture",
                offset=at,
                expected=f"at most {(total - done) // size} pixels",
                found=str(length // size),
            )
        out[done : done + length] = filled
        at += 1 + len(chunk)
        done += length
    reader.offset = at
    return np.frombuffer(out, dtype=np.uint8)


def _colours(pixels: npt.NDArray[np.uint8], depth: int, alpha_bits: int) -> Picture:
    """Raw pixels, uint8 (rows, columns, bytes), in any memory order, to RGBA."""
    if depth in (15, 16):
        words = pixels[..., 1].astype(np.uint16)
        words <<= np.uint16(8)
        words |= pixels[..., 0]
        picture = texels.expand(words)
        if depth == 16 and alpha_bits and int(words.max()) > texels.COLOUR_BITS:
            picture[..., 3] = np.where(words > texels.COLOUR_BITS, 255, 0)
        return picture
    picture = np.empty((*pixels.shape[:2], 4), dtype=np.uint8)
    if depth == 8:
        picture[..., :3] = pixels
    else:
        picture[..., :3] = pixels[..., 2::-1]
    picture[..., 3] = 255
    if depth == 32 and (alpha_bits or pixels[..., 3].any()):
        picture[..., 3] = pixels[..., 3]
    return picture
