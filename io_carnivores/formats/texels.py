# SPDX-License-Identifier: GPL-3.0-or-later
"""Game texels to pictures and back.

A texel is a little-endian u16: bits 14-10 red, 9-5 green, 4-0 blue; bit 15 is not used by the games
(Carnivores 2 and Ice Age strip it when they load a texture). Texel 0 is the key colour: a face with
the opacity flag is see-through there.

A picture is a C-contiguous uint8 array (rows, columns, 4), RGBA, row 0 at the top, as the game stores it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint16]
Picture = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

COLOUR_BITS = 0x7FFF
VISIBLE_BLACK = 0x0001
"""What opaque black becomes where texel 0 means see-through: the darkest blue, which nobody can tell from black."""
OPAQUE_FROM = 128
"""Alpha at and above which a texel counts as visible; the games know no half-transparent texel."""

_TELLING = 8  # distinct channel values
_STEPS = 64  # thresholds of an 8x8 ordered matrix


def expand(words: npt.ArrayLike) -> Picture:
    """Texel words, u16 (rows, columns), to an opaque picture, uint8 (rows, columns, 4).

    A 5-bit value x becomes x << 3 | x >> 2, so that 31 is full white.
    """
    texels = np.asarray(words, dtype=np.uint16)
    picture = np.empty((*texels.shape, 4), dtype=np.uint8)
    for channel, shift in enumerate((10, 5, 0)):
        value = (texels >> shift & 31).astype(np.uint8)
        picture[..., channel] = value << 3 | value >> 2
    picture[..., 3] = 255
    return picture


def expand_keyed(words: npt.ArrayLike) -> Picture:
    """As `expand`, but key-coloured texels get alpha 0. Bit 15 does not count: 0x8000 is a key texel, too."""
    picture = expand(words)
    picture[..., 3] = np.where(key_mask(words), 0, 255)
    return picture


def key_mask(words: npt.ArrayLike) -> Mask:
    """Which texel words, u16 of any shape, hold the key colour; bool of the same shape."""
    colour = np.asarray(words, dtype=np.uint16) & np.uint16(COLOUR_BITS)
    return np.asarray(colour == 0, dtype=np.bool_)


def quantise(picture: Picture, *, keyed: bool, dither: bool = True) -> Words:
    """A picture, uint8 (rows, columns, 4), to texel words, u16 (rows, columns), bit 15 clear.

    Channel values which are an exact 5-bit expansion (of the one or the other kind, in the whole picture) are kept;
    others are dithered with an ordered 8x8 matrix, which looks at nothing but the texel and its place: an edit never
    changes a neighbour.
    Texels with alpha below 128 become 0. With `keyed` (some face has the opacity flag) a visible texel
    never becomes 0, but 0x0001.
    """
    rows, columns = picture.shape[:2]
    if _only_shifted(picture):
        table = np.tile(np.arange(256, dtype=np.uint16) >> np.uint16(3), _STEPS)
    else:
        table = _dither_table() if dither else _nearest_table()
    place = _bayer()[np.arange(rows)[:, None] % 8, np.arange(columns)[None, :] % 8] << np.uint16(8)
    words = np.zeros((rows, columns), dtype=np.uint16)
    for channel in range(3):
        words <<= np.uint16(5)
        words |= table[place | picture[..., channel]]
    visible = picture[..., 3] >= OPAQUE_FROM
    if keyed:
        words[visible & (words == 0)] = VISIBLE_BLACK
    words[~visible] = 0
    return words


def _only_shifted(picture: Picture) -> bool:
    """Whether the picture was made from 5 bits by a tool that only shifted them, so that white is 248.

    A flat picture says too little of how it was made.
    """
    if (picture[..., :3] & 7).any():
        return False
    return int(np.count_nonzero(np.bincount(picture[..., :3].reshape(-1), minlength=256))) >= _TELLING


def requantise(picture: Picture, original: npt.ArrayLike, *, was_keyed: bool, keyed: bool | None = None) -> Words:
    """A perhaps edited picture back to texel words, keeping each original word the picture still shows.

    `original`: the words, u16 (rows, columns), from which the picture was expanded, with `expand_keyed`
    if `was_keyed`, else with `expand`. A texel is untouched when its colour is the same and it is visible
    or not as before; hidden colour does not count. It keeps its word, bit 15 included. All others go through
    `quantise` (with `keyed`, which defaults to `was_keyed`). A picture of another size is quantised as a whole.
    """
    keep_key = was_keyed if keyed is None else keyed
    words = np.asarray(original, dtype=np.uint16)
    if words.shape != picture.shape[:2]:
        return quantise(picture, keyed=keep_key)
    visible = picture[..., 3] >= OPAQUE_FROM
    if was_keyed:
        key = key_mask(words)
        same = ~visible & key
        visible &= ~key
    else:
        same = np.zeros(words.shape, dtype=np.bool_)
    shown = expand(words)
    colour = (
        (picture[..., 0] == shown[..., 0]) & (picture[..., 1] == shown[..., 1]) & (picture[..., 2] == shown[..., 2])
    )
    same |= visible & colour
    if same.all():  # by far the commonest, and then the slow part is not needed
        return words.copy()
    return np.where(same, words, quantise(picture, keyed=keep_key))


def _bayer() -> Words:
    """The ordered 8x8 matrix, values 0..63, each once."""
    matrix = np.zeros((1, 1), dtype=np.uint16)
    for _ in range(3):
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    return np.asarray(matrix, dtype=np.uint16)


def _dither_table() -> Words:
    """For threshold t and 8-bit value c, the 5-bit value at [t << 8 | c]; u16 (64 * 256,)."""
    five = np.arange(32, dtype=np.int32)
    levels = np.append(five << 3 | five >> 2, 263)
    value = np.arange(256, dtype=np.int32)
    below = np.searchsorted(levels, value, side="right") - 1
    share = (value - levels[below]) / (levels[below + 1] - levels[below])
    threshold = (np.arange(_STEPS)[:, None] + 0.5) / _STEPS
    return np.asarray((below + (share > threshold)).reshape(-1), dtype=np.uint16)


def _nearest_table() -> Words:
    """The table of `_dither_table` with every threshold at one half: the nearest 5-bit value."""
    table = _dither_table().reshape(_STEPS, 256)
    return np.asarray(np.tile(table[_STEPS // 2], _STEPS), dtype=np.uint16)
