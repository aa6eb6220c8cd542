# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample fern: nine fronds that arch and hang, cut out of a texture of 128 rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tools.samples import exact
from tools.samples.canvas import Canvas, Patch
from tools.samples.exact import cells, mix, ramp
from tools.samples.shape import Bone, Island, Look, Shape

if TYPE_CHECKING:
    import numpy.typing as npt

ROWS = 128
BONES = (Bone("Fern", (0.0, 0.0, 0.0), -1),)
_FROND = Island(0, 0, 256, 128)
_LOOK = Look(_FROND, group=0, flags=0x05)
# Which way, how far and how high each frond grows.
_FRONDS = (
    (1.0, 0.1, 46, 30),
    (0.7, 0.75, 42, 36),
    (0.05, 1.0, 48, 27),
    (-0.65, 0.7, 40, 38),
    (-1.0, 0.05, 47, 28),
    (-0.7, -0.75, 43, 35),
    (0.1, -1.0, 45, 31),
    (0.75, -0.65, 41, 37),
    (0.3, 0.35, 26, 50),
)


def build() -> Shape:
    """Return the plant, its root in the origin."""
    shape = Shape()
    for x, z, reach, rise in _FRONDS:
        way = exact.unit((x, 0.0, z))
        side = (-way[2], 0.0, way[0])
        bends = ((0.0, 0.0, 3.0), (0.45, 1.0, 13.0), (0.85, 0.9, 11.0), (1.15, 0.45, 5.0))
        stations = [((way[0] * far * reach, up * rise, way[2] * far * reach), wide) for far, up, wide in bends]
        for number, ((a, wide_a), (b, wide_b)) in enumerate(pairwise(stations)):
            points = [
                exact.add(a, exact.scaled(side, wide_a)),
                exact.add(b, exact.scaled(side, wide_b)),
                exact.sub(b, exact.scaled(side, wide_b)),
                exact.sub(a, exact.scaled(side, wide_a)),
            ]
            start, end = number / 3.0, (number + 1) / 3.0
            shape.card(points, [(start, 0.0), (end, 0.0), (end, 1.0), (start, 1.0)], 0, _LOOK)
    return shape


def paint() -> npt.NDArray[np.uint16]:
    """Return the texture, (128, 256) texel words: one frond, root to tip from left to right."""
    patch = Patch.of(_FROND, (0.22, 0.45, 0.14))
    along, across = patch.across, np.abs(patch.down - 0.5) * 2.0
    leaf = along * 17.0 - across * 1.3
    number = np.floor(leaf)
    middle = np.abs(leaf - number - 0.5) * 2.0
    outline = (
        np.sqrt(np.clip(1.0 - along, 0.0, 1.0))
        * ramp(along, 0.0, 0.12)
        * (0.86 + 0.14 * cells(number, number * 0.0, 7))
    )
    share = np.clip(across / np.maximum(outline, 0.01), 0.0, 1.0)
    wide = 0.95 * np.sqrt(np.clip(1.0 - share * share, 0.0, 1.0))
    patch.lay((0.55, 0.72, 0.24), ramp(share, 0.2, 1.0))
    patch.lay((0.10, 0.28, 0.12), 0.7 * ramp(along, 0.35, 0.0))
    patch.shade(mix(1.1, 0.62, ramp(middle, 0.3, 1.0)))
    patch.shade(0.85 + 0.3 * cells(number, patch.down * 2.0, 9))
    patch.lay((0.42, 0.36, 0.16), ramp(across, 0.06, 0.03))
    stem = (across < 0.05) & (along < 0.97)
    patch.cover = ((middle < wide) & (across < outline) | stem).astype(np.float64)
    canvas = Canvas(ROWS, (0.0, 0.0, 0.0))
    canvas.put(_FROND, patch)
    return canvas.texels()
