# SPDX-License-Identifier: GPL-3.0-or-later
"""Picture files before Blender decodes them: whether they hold what their header says, and whether any of it is clear.

A header that lies would make a decoder reserve gigabytes, or read past the end.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pathlib import Path

MOST_SIDE = 16384  # pixels; what Direct3D 9 to 11 can hold
_PIXELS = 5 << 20  # that any picture may have, however small its file; the rest has to stand in it
_DDS_HEADER = 128
_TGA_HEADER = 18
_BLOCK_BYTES = {b"DXT1": 8, b"DXT2": 16, b"DXT3": 16, b"DXT4": 16, b"DXT5": 16}
_FOURCC, _RGB, _ALPHA = 0x4, 0x40, 0x1  # bits of the pixel format's flags
_CUBE_OR_VOLUME = 0x200 | 0x200000  # bits of caps 2
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG_SIZES = (*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0))


@dataclass(frozen=True, eq=False)
class Picture:
    """The bytes of a picture file. `path`: where it lies, None where it comes out of an archive."""

    name: str
    data: bytes
    path: Path | None = None


def suffix_of(data: bytes, name: str = "") -> str:
    """The extension that fits the content; what has no mark of its own is a TGA, or what `name` says."""
    for mark, suffix in ((b"DDS ", ".dds"), (_PNG, ".png"), (b"\xff\xd8\xff", ".jpg"), (b"BM", ".bmp")):
        if data.startswith(mark):
            return suffix
    said = name.lower().rpartition(".")[2]
    return ".tga" if said in {"dds", "png", "jpg", "jpeg", "bmp", name.lower()} else f".{said}"


def trouble(data: bytes) -> str:
    """Why a decoder must not be given these bytes, as a clause; empty where it may."""
    try:
        size = _SIZES[suffix_of(data)](data)
    except (struct.error, IndexError):
        return "it ends within its header"
    if isinstance(size, str):
        return size
    width, height = size
    if not 0 < width <= MOST_SIDE or not 0 < height <= MOST_SIDE:
        return f"its header says {width} x {height} pixels, expected 1 to {MOST_SIDE} each"
    most = _most_pixels(data)
    if width * height > most:
        return f"its header says {width} x {height} pixels, expected at most {most} in a file of this size"
    return ""


def _most_pixels(data: bytes) -> int:
    """How many pixels are decoded of a file: a few bytes can stand for gigabytes, which no game does."""
    most = _PIXELS + 3 * len(data) // 2
    if data.startswith(b"DDS "):  # of fixed size for each pixel: what it holds was compared with its header
        return MOST_SIDE * MOST_SIDE
    return most // 4 if data.startswith(_PNG) and data[24:25] == b"\x10" else most


def known_suffix(data: bytes) -> str:
    """The extension of a picture, by its first bytes alone; empty where it is none that the game might read."""
    suffix = suffix_of(data)
    return suffix if suffix != ".tga" or (len(data) > _TGA_HEADER and _is_tga(data)) else ""


def _is_tga(data: bytes) -> bool:
    has_map, kind, (many, depth) = data[1], data[2], struct.unpack_from("<HB", data, 5)
    bits, described = data[16], data[17]
    if kind in {1, 9}:
        good = has_map == 1 and bits in {8, 16} and depth in {15, 16, 24, 32} and many > 0
    else:
        good = has_map <= 1 and bits in ({8, 16} if kind in {3, 11} else {15, 16, 24, 32})
    return kind in {1, 2, 3, 9, 10, 11} and good and described & 0xC0 == 0 and described & 0x0F <= 8


def _dds(data: bytes) -> tuple[int, int] | str:
    header, height, width = struct.unpack_from("<I4xII", data, 4)
    if header != 124 or len(data) < _DDS_HEADER:
        return "its DDS header is damaged"
    if struct.unpack_from("<I", data, 112)[0] & _CUBE_OR_VOLUME:
        return "it is a cube or volume texture, which cannot be shown"
    wanted = _dds_pixels(data, width, height)
    if isinstance(wanted, int) and len(data) - _DDS_HEADER < wanted and max(width, height) <= MOST_SIDE:
        return f"it is cut off ({len(data) - _DDS_HEADER} bytes of pixels, expected {wanted})"
    return (width, height) if isinstance(wanted, int) else wanted


def _dds_pixels(data: bytes, width: int, height: int) -> int | str:
    """The bytes that the first level takes, or why they cannot be read."""
    flags, code, bits = struct.unpack_from("<I4sI", data, 80)
    if flags & _FOURCC:
        if code not in _BLOCK_BYTES:
            return f'its compression "{code.decode("ascii", "replace")}" is not known, expected DXT1, DXT3 or DXT5'
        return ((width + 3) // 4) * ((height + 3) // 4) * _BLOCK_BYTES[code]
    if flags & _RGB and bits in (24, 32):
        return width * height * int(bits) // 8
    return "it is of a kind of DDS that cannot be read, expected DXT1, DXT3, DXT5 or 24 or 32 bits"


def _png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _bmp(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)


def _jpeg(data: bytes) -> tuple[int, int] | str:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return "its JPEG segments are damaged"
        if data[at + 1] in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 1 if data[at + 1] == 0xFF else 2 + struct.unpack_from(">H", data, at + 2)[0]
    return "it is cut off before its size"


def _tga(data: bytes) -> tuple[int, int] | str:
    kind, width, height, bits = data[2], *struct.unpack_from("<HHB", data, 12)
    if kind not in (1, 2, 3, 9, 10, 11) or bits not in (8, 15, 16, 24, 32):
        return "it is no picture of a known kind"
    if kind < 9 and len(data) < 18 + width * height * ((bits + 7) // 8):
        return "it is cut off"
    return width, height


_SIZES: dict[str, Any] = {".dds": _dds, ".png": _png, ".bmp": _bmp, ".jpg": _jpeg, ".tga": _tga}


def has_alpha(data: bytes) -> bool:
    """Whether a picture without `trouble` is anywhere not fully opaque; of any but DDS: whether it could be."""
    kind = suffix_of(data)
    if kind == ".dds":
        return _dds_alpha(data)
    if kind == ".png":
        return data[25] in (4, 6) or b"tRNS" in data[:4096]
    return kind == ".tga" and data[16] == 32


def _dds_alpha(data: bytes) -> bool:
    height, width = struct.unpack_from("<II", data, 12)
    flags, code, bits = struct.unpack_from("<I4sI", data, 80)
    if not flags & _FOURCC:
        mask = struct.unpack_from("<I", data, 104)[0]
        if bits != 32 or not flags & _ALPHA or not mask:
            return False
        pixels = np.frombuffer(data, "<u4", width * height, _DDS_HEADER)
        return bool(((pixels & mask) != mask).any())
    count = ((width + 3) // 4) * ((height + 3) // 4)
    blocks = np.frombuffer(data, np.uint8, count * _BLOCK_BYTES[code], _DDS_HEADER).reshape(count, -1)
    if code == b"DXT1":
        return _any_hole(blocks)
    if code in (b"DXT2", b"DXT3"):
        return bool((blocks[:, :8] != 0xFF).any())
    return _any_clear(blocks[:, :8])


def _any_hole(blocks: npt.NDArray[np.uint8]) -> bool:
    """DXT1: index 3 is clear where the first colour is not above the second one."""
    colours = np.ascontiguousarray(blocks[:, :4]).view("<u2")
    rows = blocks[colours[:, 0] <= colours[:, 1], 4:]
    return bool(((rows & (rows >> 1)) & 0x55).any())


def _any_clear(alphas: npt.NDArray[np.uint8]) -> bool:
    """DXT5: two end points and sixteen indices of three bits."""
    first, second = alphas[:, 0], alphas[:, 1]
    words = np.zeros((len(alphas), 8), np.uint8)
    words[:, :6] = alphas[:, 2:]
    packed = words.view("<u8")[:, 0]
    index = (packed[:, None] >> (np.arange(16, dtype=np.uint64) * np.uint64(3))) & np.uint64(7)
    six = first <= second  # then index 6 is 0 and index 7 is 255
    opaque = ((index == 0) & (first == 255)[:, None]) | ((index == 1) & (second == 255)[:, None])
    opaque |= (index == 7) & six[:, None]
    both = (first == 255) & (second == 255)
    opaque |= both[:, None] & ~((index == 6) & six[:, None])
    return not bool(opaque.all())
