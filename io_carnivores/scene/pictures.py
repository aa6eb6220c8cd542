# SPDX-License-Identifier: GPL-3.0-or-later
"""Game textures to packed Blender images and back to texels."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from ..formats import texels, tga
from ..formats.resample import encode_srgb
from . import kept

Picture = npt.NDArray[np.uint8]

_BAND = 64  # rows


def from_words(name: str, words: npt.NDArray[np.uint16], *, keyed: bool) -> bpy.types.Image:
    """A packed image of game texels (rows, 256), which it keeps as they were. `keyed`: texel 0 is shown as a hole."""
    picture = texels.expand_keyed(words) if keyed else texels.expand(words)
    image = from_picture(name, picture)
    image[kept.TEXELS] = words.tobytes()
    kept.put(image, kept.KEYED, keyed)
    return image


def from_picture(name: str, picture: Picture) -> bpy.types.Image:
    """A packed image of `picture` (rows, columns, 4), top row first."""
    rows, columns = picture.shape[:2]
    image = bpy.data.images.new(name, columns, rows, alpha=True)
    _pack(image, tga.write(picture), f"{name}.tga")
    return image


def from_file_bytes(name: str, data: bytes, suffix: str) -> bpy.types.Image:
    """A packed image of a whole picture file that Blender can read itself (PNG)."""
    image = bpy.data.images.new(name, 1, 1, alpha=True)
    _pack(image, data, f"{name}{suffix}")
    return image


def _pack(image: bpy.types.Image, data: bytes, file_name: str) -> None:
    # Packed rather than written through `pixels`: several times faster, exact, and it survives saving.
    image.alpha_mode = "CHANNEL_PACKED"
    image.filepath_raw = f"//{file_name}"
    image.pack(data=data, data_len=len(data))
    image.source = "FILE"


def _pixels(image: bpy.types.Image) -> Any:
    # An array, which to the type stubs is a single number.
    return cast("Any", image.pixels)


def read(image: bpy.types.Image) -> Picture:
    """The pixels of an image now, painted ones included, as (rows, columns, 4) uint8, top row first."""
    columns, rows = image.size
    if not image.has_data:
        # Size and pixels of an image that nobody looked at yet are loaded by asking for the pixels.
        len(_pixels(image))
        columns, rows = image.size
    if not columns or not rows:
        raise ExportError(f'the picture "{image.name}" cannot be found or is empty')
    values = np.empty(columns * rows * image.channels, np.float32)
    _pixels(image).foreach_get(values)
    pixels = _with_four_channels(values.reshape(rows, columns, image.channels)[::-1])
    if image.is_float:
        picture = _eight_bits(pixels, packed=image.alpha_mode == "CHANNEL_PACKED")
    else:
        # Every value is n / 255; in place and without np.rint it takes half the time.
        pixels *= 255
        pixels += 0.5
        picture = np.ascontiguousarray(pixels.astype(np.uint8))
    if image.alpha_mode == "NONE":
        picture[..., 3] = 255
    return picture


def _with_four_channels(pixels: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Grey to RGB, and an opaque alpha where there is none."""
    channels = pixels.shape[2]
    if channels == 4:
        return pixels
    out = np.ones((*pixels.shape[:2], 4), np.float32)
    out[..., :3] = pixels if channels == 3 else pixels[..., :1]
    return out


def _eight_bits(pixels: npt.NDArray[np.float32], *, packed: bool) -> npt.NDArray[np.uint8]:
    """Float pixels, which Blender holds scene-linear and, unless alpha is `packed`, multiplied by alpha."""
    out = np.empty(pixels.shape, np.uint8)
    for start in range(0, len(pixels), _BAND):  # in bands: what is computed on the way takes many times the memory
        band = pixels[start : start + _BAND]
        alpha = np.clip(np.nan_to_num(band[..., 3:]), 0.0, 1.0)
        color = np.nan_to_num(band[..., :3])
        if not packed:
            color = np.where(alpha > 0, color / np.where(alpha > 0, alpha, 1.0), color)
        out[start : start + _BAND, :, :3] = encode_srgb(color)
        out[start : start + _BAND, :, 3:] = np.rint(alpha * 255)
    return out


def is_readable(image: bpy.types.Image) -> bool:
    """Whether Blender could decode the file behind an image."""
    return len(_pixels(image)) > 0 and all(image.size)


def original_words(image: bpy.types.Image) -> npt.NDArray[np.uint16] | None:
    """The texels an image was made from, (rows, 256), or None."""
    words = kept.get_array(image, kept.TEXELS, "<u2")
    return words.reshape(-1, 256) if len(words) and len(words) % 256 == 0 else None


def from_game(image: bpy.types.Image) -> bool:
    """Whether the image was made from a texture of the games, in which alpha means nothing but holes."""
    return kept.has(image, kept.TEXELS) or kept.has(image, kept.SOURCE)


def to_words(image: bpy.types.Image, picture: Picture, *, keyed: bool) -> npt.NDArray[np.uint16]:
    """Texels of `picture`, which is `image` as read; untouched ones keep their word to the bit."""
    words = original_words(image)
    if words is None or words.shape != picture.shape[:2]:
        return texels.quantise(picture, keyed=keyed)
    return texels.requantise(picture, words, was_keyed=kept.get(image, kept.KEYED, default=False), keyed=keyed)


def set_keyed(image: bpy.types.Image, *, keyed: bool) -> None:
    """Show or hide the key colour of an image made from game texels; what was painted stays."""
    if kept.get(image, kept.KEYED, default=False) == keyed or original_words(image) is None:
        return
    picture = read(image)
    words = to_words(image, picture, keyed=False)
    picture[..., 3] = np.where(texels.key_mask(words), 0, 255) if keyed else 255
    kept.put(image, kept.KEYED, keyed)
    _pack(image, tga.write(picture), f"{image.name}.tga")
    # Not reload(), which looks for a file of that name first and complains that there is none.
    image.buffers_free()


def fingerprint(picture: Picture) -> str:
    """A digest that tells whether a picture was changed."""
    return hashlib.blake2b(np.ascontiguousarray(picture).tobytes(), digest_size=16).hexdigest()
