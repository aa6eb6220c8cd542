# SPDX-License-Identifier: GPL-3.0-or-later
"""Game textures to packed Blender images and back to texels."""

from __future__ import annotations

import hashlib

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from ..formats import texels, tga
from ..formats.resample import encode_srgb
from . import kept

Picture = npt.NDArray[np.uint8]


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


def read(image: bpy.types.Image) -> Picture:
    """The pixels of an image now, painted ones included, as (rows, columns, 4) uint8, top row first."""
    columns, rows = image.size
    if not image.has_data:
        # Size and pixels of an image that nobody looked at yet are loaded by asking for the pixels.
        len(image.pixels)
        columns, rows = image.size
    if not columns or not rows:
        raise ExportError(f'the picture "{image.name}" cannot be found or is empty')
    values = np.empty(columns * rows * 4, np.float32)
    image.pixels.foreach_get(values)
    pixels = values.reshape(rows, columns, 4)[::-1]
    if image.is_float:
        out = np.empty(pixels.shape, np.uint8)
        out[..., :3] = encode_srgb(pixels[..., :3])
        out[..., 3] = np.rint(np.clip(np.nan_to_num(pixels[..., 3]), 0, 1) * 255)
        return out
    return np.rint(pixels * 255).astype(np.uint8)


def original_words(image: bpy.types.Image) -> npt.NDArray[np.uint16] | None:
    """The texels an image was made from, (rows, 256), or None."""
    words = kept.get_array(image, kept.TEXELS, "<u2")
    return words.reshape(-1, 256) if len(words) and len(words) % 256 == 0 else None


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
    image.reload()


def fingerprint(picture: Picture) -> str:
    """A digest that tells whether a picture was changed."""
    return hashlib.blake2b(np.ascontiguousarray(picture).tobytes(), digest_size=16).hexdigest()


def average_color(picture: Picture) -> tuple[float, float, float, float]:
    """Mean colour of the visible texels, for the viewport's Solid mode."""
    visible = picture[picture[..., 3] >= texels.OPAQUE_FROM][:, :3]
    if not len(visible):
        return (0.8, 0.8, 0.8, 1.0)
    red, green, blue = ((visible.mean(axis=0) / 255.0) ** 2.2).tolist()
    return (red, green, blue, 1.0)
