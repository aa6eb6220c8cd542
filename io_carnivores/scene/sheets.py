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
from ..formats.resample import resize
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
    keyed = _keyed(parts, which, len(sources))
    if not any(isinstance(source, bpy.types.Image) for source in sources) and all(part.imported for part in parts):
        # A file without a texture stays one; so does one whose texture was taken away, its UVs ready for the next.
        rows = {part.rows for part in parts}
        sheet = Sheet(None, np.zeros((0, 256), np.uint16), rows.pop() if len(rows) == 1 else 256)
        return _placed(parts, sheet)
    loose = [_picture(source, keyed=bool(holes)) for source, holes in zip(sources, keyed, strict=True)]
    if isinstance(sources[0], bpy.types.Image) and all(_same(sources, loose, number) for number in range(len(sources))):
        return _single(parts, sources[0], loose[0], keyed=bool(keyed.any()), exact_size=exact_size)
    return _packed(sources, loose, which, parts, digest, keyed=bool(keyed.any()))


def _keyed(parts: list[Part], which: list[npt.NDArray[np.intp]], count: int) -> npt.NDArray[np.bool_]:
    """(sources,): whether faces that show holes use the source."""
    found = np.zeros(count, bool)
    for part, choice in zip(parts, which, strict=True):
        found[choice[(part.faces["flags"] & int(FaceFlag.OPACITY | FaceFlag.TRANSPARENT)) != 0]] = True
    return found


def _picture(source: Source, *, keyed: bool) -> pictures.Picture:
    """A source as (rows, columns, 4). Alpha that no face shows does not count: it often holds something else."""
    if not isinstance(source, bpy.types.Image):
        return packing.swatch(source)
    picture = pictures.read(source)
    if not keyed and not pictures.from_game(source):
        picture[..., 3] = 255
    return picture


def _same(sources: list[Source], loose: list[pictures.Picture], number: int) -> bool:
    """Whether a source is, to the texel, the first one, as those of two imports of one file are."""
    first, other = sources[0], sources[number]
    if other is first:
        return True
    if not isinstance(first, bpy.types.Image) or not isinstance(other, bpy.types.Image):
        return False
    if not np.array_equal(loose[0], loose[number]):
        return False
    return kept.get(first, kept.TEXELS, b"") == kept.get(other, kept.TEXELS, b"")


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


def _single(
    parts: list[Part], image: bpy.types.Image, picture: pictures.Picture, *, keyed: bool, exact_size: bool
) -> Sheet:
    words = pictures.original_words(image)
    if words is not None and words.shape == picture.shape[:2]:
        return _placed(parts, Sheet(picture, pictures.to_words(image, picture, keyed=keyed), len(picture), image))
    if not exact_size:
        return _placed(parts, Sheet(picture, np.zeros((0, 256), np.uint16), 256, image))
    fitted = packing.fit(picture)
    if len(fitted) < packing.MOST_ROWS and not any(part.imported for part in parts) and _repeats(parts):
        # The games repeat a texture after 256 rows, however many it has.
        fitted = resize(picture, packing.WIDTH, packing.MOST_ROWS)
    return _placed(parts, Sheet(fitted, quantise(fitted, keyed=keyed), len(fitted), image))


def _repeats(parts: list[Part]) -> bool:
    return any(bool(((part.uv[..., 1] < 0) | (part.uv[..., 1] > 1)).any()) for part in parts)


def _packed(
    sources: list[Source],
    loose: list[pictures.Picture],
    which: list[npt.NDArray[np.intp]],
    parts: list[Part],
    digest: Digest,
    *,
    keyed: bool,
) -> Sheet:
    flat = np.array([not isinstance(source, bpy.types.Image) for source in sources])
    if len(sources) == 1:
        # One plain colour everywhere: the UVs may stay what they are.
        picture = np.ascontiguousarray(np.broadcast_to(loose[0][:1, :1], (packing.MOST_ROWS, packing.WIDTH, 4)))
        return _placed(parts, Sheet(picture, quantise(picture, keyed=keyed), len(picture)))
    picture, places = packing.pack(loose)
    words = quantise(picture, keyed=keyed)
    for source, one, (x, y, width, height) in zip(sources, loose, places.tolist(), strict=True):
        if isinstance(source, bpy.types.Image) and one.shape[:2] == (height, width):
            words[y : y + height, x : x + width] = pictures.to_words(source, one, keyed=keyed)
    for part, choice in zip(parts, which, strict=True):
        _move_onto(part, flat[choice], choice, places, len(picture), digest)
    return Sheet(picture, words, len(picture))


def _move_onto(
    part: Part,
    flat: npt.NDArray[np.bool_],
    choice: npt.NDArray[np.intp],
    places: npt.NDArray[np.int32],
    rows: int,
    digest: Digest,
) -> None:
    """Place the faces of `part` on a packed sheet of `rows` rows; `flat` (n,): those of plain colour."""
    uv = part.uv.reshape(-1, 2).copy()
    uv[np.repeat(flat, 3)] = 0.5
    moved, spans = packing.remap(uv, np.arange(0, 3 * len(choice), 3), choice, places, rows)
    if bool(spans.any()):
        digest.add(
            f"{int(spans.sum())} faces repeat their picture, which a shared sheet cannot show", subject=part.name
        )
    _place(part, moved.astype(np.float32).reshape(-1, 3, 2), rows, kept_texels=False)


def _placed(parts: list[Part], sheet: Sheet) -> Sheet:
    for part in parts:
        _place(part, part.uv, sheet.rows, kept_texels=sheet.rows == part.rows)
    return sheet


def _place(part: Part, uv: npt.NDArray[np.float32], rows: int, *, kept_texels: bool) -> None:
    flat = uv.reshape(-1, 2)
    texel = to_texel(flat, rows)
    if kept_texels and part.texel is not None:
        old = part.texel.reshape(-1, 2)
        same = (to_uv(old[:, 0], old[:, 1], rows) == flat).all(axis=1)
        texel = np.where(same[:, None], old, texel)
    part.faces["u"] = texel[:, 0].reshape(-1, 3)
    part.faces["v"] = texel[:, 1].reshape(-1, 3)
