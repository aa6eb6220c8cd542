# SPDX-License-Identifier: GPL-3.0-or-later
"""The one texture that a model may have, from whatever pictures its materials show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ..formats import sheet as packing
from ..formats.flags import FaceFlag
from ..formats.texels import quantise
from ..formats.texture_space import to_texel, to_uv
from . import kept, materials, pictures

if TYPE_CHECKING:
    from ...io_common.formats.digest import Digest
    from .part import Part

Source = bpy.types.Image | tuple[float, float, float, float]


@dataclass
class Sheet:
    """`picture` (rows, columns, 4) or None without a texture; `image` when it is one image as it stands.

    `words` (rows, 256): the same as game texels; `rows`: what UVs are counted in.
    """

    picture: npt.NDArray[np.uint8] | None
    words: npt.NDArray[np.uint16]
    rows: int
    image: bpy.types.Image | None = None

    @property
    def touched(self) -> bool:
        """Whether the picture differs from the texture file it was read from."""
        if self.image is None or self.picture is None:
            return self.picture is not None
        return kept.get(self.image, kept.SOURCE, "") != pictures.fingerprint(self.picture)


def settle(parts: list[Part], digest: Digest, *, exact_size: bool) -> Sheet:
    """Choose the sheet for `parts` and fill in the u and v of their faces.

    `exact_size`: the format has the game's own 256-wide texture inside; otherwise a single picture keeps its size.
    """
    sources, which = _sources(parts)
    keyed = any(bool((part.faces["flags"] & int(FaceFlag.OPACITY | FaceFlag.TRANSPARENT)).any()) for part in parts)
    if not any(isinstance(source, bpy.types.Image) for source in sources) and all(part.imported for part in parts):
        # A file without a texture stays one.
        sheet = Sheet(None, np.zeros((0, 256), np.uint16), 256)
    elif len(sources) == 1 and isinstance(sources[0], bpy.types.Image):
        sheet = _single(sources[0], keyed=keyed, exact_size=exact_size)
    else:
        sheet = _packed(sources, which, parts, digest, keyed=keyed)
        return sheet
    for part in parts:
        _place(part, part.uv, sheet.rows, kept_texels=True)
    return sheet


def _sources(parts: list[Part]) -> tuple[list[Source], list[npt.NDArray[np.intp]]]:
    """The distinct pictures and plain colours in use, and for every part the one of each face."""
    sources: list[Source] = []
    which: list[npt.NDArray[np.intp]] = []
    for part in parts:
        # A mesh without faces may have its texture all the same.
        used = set(np.unique(part.look).tolist()) if len(part.look) else set(range(len(part.materials)))
        slots = []
        for slot, material in enumerate(part.materials):
            found: Source = materials.image_of(material) or materials.base_color(material)
            if slot in used and found not in sources:
                sources.append(found)
            slots.append(sources.index(found) if found in sources else 0)
        which.append(np.array(slots, np.intp)[part.look])
    return sources, which


def _single(image: bpy.types.Image, *, keyed: bool, exact_size: bool) -> Sheet:
    picture = pictures.read(image)
    words = pictures.original_words(image)
    if words is not None and words.shape == picture.shape[:2]:
        return Sheet(picture, pictures.to_words(image, picture, keyed=keyed), len(picture), image)
    if not exact_size:
        return Sheet(picture, np.zeros((0, 256), np.uint16), 256, image)
    fitted = packing.fit(picture)
    return Sheet(fitted, pictures.to_words(image, fitted, keyed=keyed), len(fitted), image)


def _packed(
    sources: list[Source], which: list[npt.NDArray[np.intp]], parts: list[Part], digest: Digest, *, keyed: bool
) -> Sheet:
    flat = [not isinstance(source, bpy.types.Image) for source in sources]
    if all(flat) and len(sources) == 1:
        picture = np.ascontiguousarray(np.broadcast_to(packing.swatch(sources[0], 1), (8, 256, 4)))
        places = np.array([(0, 0, 256, 8)], np.int32)
    else:
        loose = [
            pictures.read(source) if isinstance(source, bpy.types.Image) else packing.swatch(source)
            for source in sources
        ]
        picture, places = packing.pack(loose)
    plain = np.array(flat)
    for part, choice in zip(parts, which, strict=True):
        uv = part.uv.reshape(-1, 2).copy()
        uv[np.repeat(plain[choice], 3)] = 0.5
        starts = np.arange(0, 3 * len(choice), 3)
        moved, spans = packing.remap(uv, starts, choice, places, len(picture))
        if bool(spans.any()):
            digest.add(
                f"{int(spans.sum())} faces repeat their picture, which a shared sheet cannot show", subject=part.name
            )
        _place(part, moved.astype(np.float32).reshape(-1, 3, 2), len(picture), kept_texels=False)
    return Sheet(picture, quantise(picture, keyed=keyed), len(picture))


def _place(part: Part, uv: npt.NDArray[np.float32], rows: int, *, kept_texels: bool) -> None:
    flat = uv.reshape(-1, 2)
    texel = to_texel(flat, rows)
    if kept_texels and part.texel is not None:
        old = part.texel.reshape(-1, 2)
        same = (to_uv(old[:, 0], old[:, 1], kept.get(part.mesh, kept.ROWS, 0) or 256) == flat).all(axis=1)
        texel = np.where(same[:, None], old, texel)
    part.faces["u"] = texel[:, 0].reshape(-1, 3)
    part.faces["v"] = texel[:, 1].reshape(-1, 3)
