# SPDX-License-Identifier: GPL-3.0-or-later
"""DDS textures of the kinds the game uses, DXT1 and DXT5, packed by whole numbers alone."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from tools.samples.exact import Field

_FLAGS = 0x81007  # caps, height, width, pixel format, linear size
_TEXTURE = 0x1000


def encode(paint: list[Field], cover: Field | None = None) -> bytes:
    """Return a DDS of channels (rows, columns) in 0..1: DXT5 with a `cover` (alpha), else DXT1."""
    colour = np.stack([_bytes(channel) for channel in paint], axis=-1)
    rows, columns = colour.shape[:2]
    words = _blocks(colour)
    packed = _colours(words)
    kind = b"DXT1"
    if cover is not None:
        kind = b"DXT5"
        packed = np.concatenate((_alphas(_blocks(_bytes(cover)[..., None])[..., 0]), packed), axis=1)
    data = packed.tobytes()
    pixels = struct.pack("<2I4s5I", 32, 4, kind, 0, 0, 0, 0, 0)
    header = struct.pack("<7I44x", 124, _FLAGS, rows, columns, len(data), 0, 0)
    return b"DDS " + header + pixels + struct.pack("<5I", _TEXTURE, 0, 0, 0, 0) + data


def _bytes(channel: Field) -> npt.NDArray[np.int64]:
    return np.floor(np.clip(channel, 0.0, 1.0) * 255.0 + 0.5).astype(np.int64)


def _blocks(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return (blocks, 16, channels) of (rows, columns, channels)."""
    rows, columns, channels = values.shape
    grid = values.reshape(rows // 4, 4, columns // 4, 4, channels)
    return grid.transpose(0, 2, 1, 3, 4).reshape(-1, 16, channels)


def _five_six_five(colour: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    red, green, blue = ((colour[:, channel] * top + 127) // 255 for channel, top in enumerate((31, 63, 31)))
    return red * 2048 + green * 32 + blue


def _expanded(word: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    red, green, blue = word // 2048, word // 32 % 64, word % 32
    return np.stack((red * 8 + red // 4, green * 4 + green // 16, blue * 8 + blue // 4), axis=-1)


def _colours(blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return the eight bytes of each block: of several lines through its box of colours, the one that fits best."""
    low, high = blocks.min(axis=1), blocks.max(axis=1)
    best = np.zeros((len(blocks), 8), np.uint8)
    least = np.full(len(blocks), np.iinfo(np.int64).max)
    for turn in range(4):
        for inset in (0, 16, 8):
            shrink = (high - low) // inset if inset else 0 * low
            first, last = high - shrink, low + shrink
            for channel, bit in ((1, 1), (2, 2)):
                if turn & bit:
                    first[:, channel], last[:, channel] = last[:, channel].copy(), first[:, channel].copy()
            packed, error = _fitted(blocks, _five_six_five(first), _five_six_five(last))
            better = error < least
            best[better], least = packed[better], np.minimum(error, least)
    return best


def _fitted(
    blocks: npt.NDArray[np.int64], first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return blocks with these ends, and how far off their texels are in all."""
    one, two = np.maximum(first, last), np.minimum(first, last)  # in this order there are four colours
    a, b = _expanded(one), _expanded(two)
    palette = np.stack((a, b, (2 * a + b) // 3, (a + 2 * b) // 3), axis=1)
    distance = ((blocks[:, :, None, :] - palette[:, None, :, :]) ** 2).sum(axis=-1)
    index = np.where((one == two)[:, None], 0, distance.argmin(axis=2))
    error = np.take_along_axis(distance, index[..., None], axis=2)[..., 0].sum(axis=1)
    code = (index << (2 * np.arange(16))).sum(axis=1)
    packed = np.zeros(len(blocks), [("ends", "<u2", 2), ("code", "<u4")])
    packed["ends"][:, 0], packed["ends"][:, 1], packed["code"] = one, two, code
    return packed.view(np.uint8).reshape(-1, 8).copy(), error


def _alphas(blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return the eight bytes of each block's alpha: eight steps from the highest to the lowest."""
    high, low = blocks.max(axis=1), blocks.min(axis=1)
    steps = [high, low] + [((7 - step) * high + step * low) // 7 for step in range(1, 7)]
    palette = np.stack(steps, axis=1)
    index = np.abs(blocks[:, :, None] - palette[:, None, :]).argmin(axis=2)
    index = np.where((high == low)[:, None], 0, index)
    code = (index.astype(np.uint64) << (3 * np.arange(16)).astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    packed = np.zeros((len(blocks), 8), np.uint8)
    packed[:, 0], packed[:, 1] = high, low
    packed[:, 2:] = code.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :6]
    return packed
