# SPDX-License-Identifier: GPL-3.0-or-later
"""A texture in the making: islands painted as fields of colour, then dithered to 5-5-5 texels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from tools.samples.exact import Field, mix

if TYPE_CHECKING:
    from tools.samples.shape import Island

Colour: TypeAlias = tuple[float, float, float]

WIDTH = 256
VISIBLE_BLACK = 1  # texel 0 is the key colour of cut-out faces
_BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]], np.float64)


@dataclass
class Patch:
    """The paint of one island: red, green, blue fields in 0..1, and where it is cut out (0)."""

    across: Field
    down: Field
    column: Field
    row: Field
    paint: list[Field]
    cover: Field

    @classmethod
    def of(cls, island: Island, ground: Colour) -> Patch:
        """Return an island of one colour; `across`, `down` run from 0 to 1 as in `Island.at`, the others in texels."""
        row, column = np.mgrid[0 : island.height, 0 : island.width].astype(np.float64)
        across, down = (column - 1.0) / (island.width - 3.0), (row - 1.0) / (island.height - 3.0)
        paint = [np.full(row.shape, channel) for channel in ground]
        return cls(np.clip(across, 0.0, 1.0), np.clip(down, 0.0, 1.0), column, row, paint, np.ones(row.shape))

    def lay(self, colour: Colour, share: Field) -> None:
        """Lay a colour over the patch, as thick as `share` says (0..1, one value per texel)."""
        self.paint = [mix(old, new, share) for old, new in zip(self.paint, colour, strict=True)]

    def shade(self, light: Field) -> None:
        """Multiply by a brightness."""
        self.paint = [channel * light for channel in self.paint]


class Canvas:
    """A sheet of 256 columns."""

    def __init__(self, rows: int, ground: Colour) -> None:
        """Make a sheet of one colour."""
        self._paint = [np.full((rows, WIDTH), channel) for channel in ground]
        self._cover = np.ones((rows, WIDTH))

    def put(self, island: Island, patch: Patch) -> None:
        """Put a painted island where it belongs."""
        place = (slice(island.y, island.y + island.height), slice(island.x, island.x + island.width))
        for sheet, channel in zip(self._paint, patch.paint, strict=True):
            sheet[place] = channel
        self._cover[place] = patch.cover

    def texels(self) -> npt.NDArray[np.uint16]:
        """Return the sheet as texel words, (rows, 256), bit 15 clear: dithered, 0 only where a hole is."""
        rows = len(self._cover)
        threshold = (np.tile(_BAYER, (rows // 4 + 1, WIDTH // 4))[:rows] + 0.5) / 16.0
        words = np.zeros((rows, WIDTH), np.uint16)
        for channel in self._paint:
            level = np.floor(np.clip(channel, 0.0, 1.0) * 31.0 + 0.2 + 0.6 * threshold)
            words = words * np.uint16(32) + np.clip(level, 0.0, 31.0).astype(np.uint16)
        words[words == 0] = VISIBLE_BLACK
        words[self._cover < 0.5] = 0
        return words
