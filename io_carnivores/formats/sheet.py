# SPDX-License-Identifier: GPL-3.0-or-later
"""Fitting pictures of any size and number into the one texture a game model has: 256 columns and at most 256 rows.

Pictures are uint8 arrays (rows, columns, 4), RGBA, straight alpha, row 0 at the top.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from .resample import encode_srgb, resize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .texels import Picture

Placements = npt.NDArray[np.int32]

WIDTH = 256
MOST_ROWS = 256

_GUTTER = 1  # texels around a picture which repeat its edge, so that sampling between texels never meets a neighbour
_LEAST_SIDES = (16, 8, 4)  # no side is shrunk below the first of these with which everything fits
_STEPS_PER_HALVING = 8
_REFINEMENTS = 6


def fit(picture: Picture) -> Picture:
    """One picture as a sheet of its own. One that is 256 wide and at most 256 rows high comes back unchanged.

    Others are resized to 256 columns and as many rows as keep their shape, 256 at most.
    """
    rows, columns = picture.shape[:2]
    if columns == WIDTH and 0 < rows <= MOST_ROWS:
        return np.ascontiguousarray(picture)
    _require_texels(picture)
    height = min(max(round(rows * WIDTH / columns), 1), MOST_ROWS)
    return resize(picture, WIDTH, height)


def swatch(colour: Sequence[float], size: int = 4) -> Picture:
    """A picture of `size` x `size` texels in one colour: linear RGBA floats, as Blender's material colours are."""
    values = np.clip(np.nan_to_num(np.asarray(colour, dtype=np.float32)), 0.0, 1.0)
    picture = np.empty((size, size, 4), dtype=np.uint8)
    picture[..., :3] = encode_srgb(values[:3])
    picture[..., 3] = np.rint(values[3] * np.float32(255.0))
    return picture


def pack(pictures: Sequence[Picture], weights: Sequence[float] | None = None) -> tuple[Picture, Placements]:
    """Pack pictures into one sheet: uint8 (rows <= 256, 256, 4), and where each went: int32 (n, 4) x, y, width, height.

    Placements are in texels from the top left corner, without the gutter. Equal pictures share one. A single
    distinct picture is `fit`. Several are scaled down by the largest common factor with which they fit, never up; no
    side shrinks below 16 texels (8, 4 if there are too many). `weights` (n,), positive, multiply the factor of each.
    Texels that no picture covers are transparent black. The result depends on nothing but the arguments.

    Raises `ExportError` if there are too many pictures, or one of them has no texels.
    """
    distinct, which = _distinct(pictures)
    for picture in distinct:
        _require_texels(picture)
    if len(distinct) == 1:
        sheet = fit(distinct[0])
        places = np.array([(0, 0, WIDTH, sheet.shape[0])], dtype=np.int32)
        return sheet, places[which]
    shares = np.zeros(len(distinct))
    np.maximum.at(shares, which, np.ones(len(pictures)) if weights is None else np.asarray(weights, dtype=np.float64))
    places = _arrange(np.array([picture.shape[1::-1] for picture in distinct]), shares)
    return _paste(distinct, places), places[which]


def remap(
    uv: npt.ArrayLike,
    loop_starts: npt.ArrayLike,
    picture_of_face: npt.ArrayLike,
    placements: npt.ArrayLike,
    rows: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """UVs on the single pictures to UVs on the sheet that `pack` made of them.

    `uv`: (corners, 2), origin at the bottom left of the picture. `loop_starts`: (faces,), the first corner of each
    face, ascending, the first 0. `picture_of_face`: (faces,), index into `placements` (n, 4). `rows`: of the sheet.
    Returns UVs, float64 (corners, 2), origin at the bottom left of the sheet, and bool (faces,): the faces that span
    more than one tile of their picture, whose repetition a shared sheet cannot show.

    A face that lies in one tile other than the first is moved by whole tiles. UVs stay half a texel within their
    picture, so that rounding to the game's whole texels never meets a neighbour; a spanning face shows its
    picture once. Along an axis on which a picture takes all 256 texels the games repeat it
    themselves: nothing is moved or held there. Not for a kept game texture, whose UVs are right as they are.
    """
    corners = np.asarray(uv, dtype=np.float64).reshape(-1, 2)
    starts = np.asarray(loop_starts, dtype=np.intp)
    if not len(starts):
        return corners.copy(), np.zeros(0, dtype=np.bool_)
    place = np.asarray(placements, dtype=np.float64).reshape(-1, 4)[np.asarray(picture_of_face, dtype=np.intp)]
    origin = np.column_stack([place[:, 0], rows - place[:, 1] - place[:, 3]])
    size = place[:, 2:]
    total = np.array([WIDTH, rows], dtype=np.float64)
    free = size == 256.0

    low, high = np.minimum.reduceat(corners, starts), np.maximum.reduceat(corners, starts)
    inside = (low >= 0.0) & (high <= 1.0)
    tile = np.where(inside | free, 0.0, np.floor((low + high) * 0.5))
    slack = 0.5 / size + 1e-6  # UVs of whole texels may lie half a texel outside
    spans = ~free & ((low < tile - slack) | (high > tile + 1.0 + slack))

    count = np.diff(np.append(starts, len(corners)))
    size, free, origin, tile = (np.repeat(values, count, axis=0) for values in (size, free, origin, tile))
    texel = (corners - tile) * size
    texel = np.where(free, texel, np.clip(texel, 0.5, size - 0.5))
    return (origin + texel) / total, spans.any(axis=1)


def _require_texels(picture: Picture) -> None:
    if not picture.size:
        raise ExportError("a picture that is used as a texture is empty or was not found")


def _distinct(pictures: Sequence[Picture]) -> tuple[list[Picture], npt.NDArray[np.intp]]:
    """Each different picture once, in order of appearance, and for every picture the index of its like, (n,)."""
    if not pictures:
        raise ValueError("there is no picture to pack")
    kept: list[Picture] = []
    by_content: dict[tuple[tuple[int, ...], bytes], int] = {}
    which = np.empty(len(pictures), dtype=np.intp)
    for index, picture in enumerate(pictures):
        key = (picture.shape, hashlib.sha256(np.ascontiguousarray(picture).data).digest())
        which[index] = by_content.setdefault(key, len(kept))
        if which[index] == len(kept):
            kept.append(picture)
    return kept, which


def _arrange(sizes: npt.NDArray[np.int_], weights: npt.NDArray[np.float64]) -> Placements:
    """Places, int32 (n, 4), for pictures of `sizes` (n, 2: width, height), at the largest factor found to fit."""
    for least in _LEAST_SIDES:
        above: float | None = None
        for factor in _factors(sizes, weights, least):
            places = _skyline(_scaled(sizes, weights, factor, least))
            if places is None:
                above = factor
                continue
            if above is not None:
                places = _refine(sizes, weights, least, factor, above, places)
            return places
    raise ExportError(f"{len(sizes)} different pictures are too many for one texture of {WIDTH} x {MOST_ROWS} texels")


def _factors(sizes: npt.NDArray[np.int_], weights: npt.NDArray[np.float64], least: int) -> Iterator[float]:
    """Common factors to try, from one that leaves all pictures as they are to one that shrinks all to the least."""
    largest = 1.0 / float(weights.min())
    smallest = least / float((sizes.max(axis=1) * weights).max())
    factor = largest
    while factor > smallest:
        yield factor
        factor *= 0.5 ** (1 / _STEPS_PER_HALVING)
    yield min(smallest, largest)


def _refine(
    sizes: npt.NDArray[np.int_],
    weights: npt.NDArray[np.float64],
    least: int,
    low: float,
    high: float,
    places: Placements,
) -> Placements:
    """Narrow the gap between a factor that fits with `places` and the next larger one tried, which does not."""
    for _ in range(_REFINEMENTS):
        middle = (low + high) / 2
        better = _skyline(_scaled(sizes, weights, middle, least))
        if better is None:
            high = middle
        else:
            low, places = middle, better
    return places


def _scaled(
    sizes: npt.NDArray[np.int_], weights: npt.NDArray[np.float64], factor: float, least: int
) -> npt.NDArray[np.int_]:
    """The sizes at a common factor, int (n, 2); no side grows, and none shrinks below `least`."""
    factors = np.minimum(weights * factor, 1.0)[:, None]
    wanted = np.rint(sizes * factors).astype(np.int_)
    return np.asarray(np.maximum(wanted, np.minimum(sizes, least)), dtype=np.int_)


def _skyline(sizes: npt.NDArray[np.int_]) -> Placements | None:
    """Places, int32 (n, 4), for rectangles of `sizes` (n, 2) with their gutters, or None if they do not fit.

    The highest rectangle first, each goes as far up as it can, leftmost among equal places.
    """
    if (sizes > (WIDTH, MOST_ROWS)).any():
        return None
    outer, inset = _with_gutter(sizes)
    if int(outer.prod(axis=1).sum()) > WIDTH * MOST_ROWS:
        return None
    places = np.empty((len(sizes), 4), dtype=np.int32)
    filled = np.zeros(WIDTH, dtype=np.int_)  # per column, the first free row
    for index in np.lexsort((np.arange(len(sizes)), -outer[:, 0], -outer[:, 1])):
        width, height = outer[index]
        tops = np.lib.stride_tricks.sliding_window_view(filled, width).max(axis=1)
        x = int(tops.argmin())
        y = int(tops[x])
        if y + height > MOST_ROWS:
            return None
        filled[x : x + width] = y + height
        places[index] = (x + inset[index, 0], y + inset[index, 1], *sizes[index])
    return places


def _with_gutter(sizes: npt.NDArray[np.int_]) -> tuple[npt.NDArray[np.int_], npt.NDArray[np.int_]]:
    """The sizes (n, 2) of rectangles with their gutters, and the gutter at the left and top of each, (n, 2).

    A picture that takes the whole width or height of the sheet needs none there, as it meets only itself: so a
    game texture of 256 columns stays exact when other pictures join it.
    """
    outer = np.minimum(sizes + 2 * _GUTTER, (WIDTH, MOST_ROWS))
    return outer, (outer - sizes) // 2


def _paste(pictures: Sequence[Picture], places: Placements) -> Picture:
    """The sheet: each picture in its place, its edge repeated into the gutter."""
    outer, inset = _with_gutter(places[:, 2:].astype(np.int_))
    starts = places[:, :2] - inset
    sheet = np.zeros((int((starts + outer)[:, 1].max()), WIDTH, 4), dtype=np.uint8)
    for index, picture in enumerate(pictures):
        (left, top), (width, height) = inset[index], places[index, 2:]
        right, bottom = outer[index] - inset[index] - places[index, 2:]
        scaled = resize(picture, int(width), int(height))
        edged = np.pad(scaled, ((top, bottom), (left, right), (0, 0)), mode="edge")
        x, y = starts[index]
        sheet[y : y + edged.shape[0], x : x + edged.shape[1]] = edged
    return sheet
