# SPDX-License-Identifier: GPL-3.0-or-later
"""A texture in the making: patches on a sheet of true colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tools.samples.exact import cells, noise, ramp

if TYPE_CHECKING:
    from tools.samples.canvas import Colour, Patch
    from tools.samples.exact import Field
    from tools.samples.fox.shape import Island


class Sheet:
    """Red, green, blue and cover of (width, height) texels."""

    def __init__(self, size: tuple[int, int], ground: Colour) -> None:
        """Make a sheet of one colour."""
        self.paint = [np.full((size[1], size[0]), channel) for channel in ground]
        self.cover = np.ones((size[1], size[0]))

    def put(self, island: Island, patch: Patch) -> None:
        """Put a painted island where it belongs."""
        place = (slice(island.y, island.y + island.height), slice(island.x, island.x + island.width))
        for sheet, channel in zip(self.paint, patch.paint, strict=True):
            sheet[place] = channel
        self.cover[place] = patch.cover


def ellipse(x: Field, y: Field, centre: tuple[float, float], size: tuple[float, float], soft: float = 0.25) -> Field:
    """Return 1 inside an ellipse, 0 outside, the rim as soft as `soft` shares of its radius."""
    a, b = (x - centre[0]) / size[0], (y - centre[1]) / size[1]
    return 1.0 - ramp(a * a + b * b, 1.0 - soft, 1.0 + soft)


def fur(patch: Patch, seed: int, strength: float, *, long: float = 9.0, fine: float = 2.2) -> None:
    """Lay streaks of light and dark, longer down the island than across."""
    streaks = (
        noise(patch.column / fine, patch.row / long, seed) * 0.65
        + noise(patch.column / (fine * 0.6), patch.row / (long * 0.5), seed + 1) * 0.35
    )
    patch.shade(1.0 + strength * (streaks - 0.5))


def weave(patch: Patch, seed: int, strength: float) -> None:
    """Lay the grain of cloth."""
    grain = cells(patch.column, patch.row, seed) * 0.5 + noise(patch.column / 9.0, patch.row / 13.0, seed + 1) * 0.5
    patch.shade(1.0 + strength * (grain - 0.5))


def jagged(count: float, across: Field, deep: float, seed: int) -> Field:
    """Return a zigzag of that many teeth across, 0 to `deep`, each of its own height."""
    share = across * count
    inside = share - np.floor(share)
    height = 0.55 + 0.45 * cells(share, share * 0.0, seed)
    return deep * height * (1.0 - np.abs(inside - 0.5) * 2.0)
