# SPDX-License-Identifier: GPL-3.0-or-later
"""The colours of cape, hat, quiver and bow, and where the bow glows."""

from __future__ import annotations

import numpy as np

from tools.samples.canvas import Colour, Patch
from tools.samples.exact import cloud, ramp
from tools.samples.fox import islands
from tools.samples.fox.paint import CREAM, GOLD, LEATHER, STRAP
from tools.samples.fox.sheet import Sheet, ellipse, fur, jagged, weave

WINE: Colour = (0.55, 0.09, 0.12)
DUSK: Colour = (0.30, 0.04, 0.09)
FELT: Colour = (0.18, 0.36, 0.20)
WOOD: Colour = (0.60, 0.34, 0.15)
GLOW: Colour = (0.35, 0.95, 0.85)


def ranger() -> Sheet:
    """Return the texture of cape, hat, quiver and arrow; its cover cuts out hem and feathers."""
    sheet = Sheet(islands.RANGER_SIZE, LEATHER)
    for island, patch in (
        (islands.CAPE, _cape()),
        (islands.HAT, _hat()),
        (islands.FEATHER, _feather(islands.FEATHER, (0.86, 0.16, 0.12), (1.0, 0.55, 0.20))),
        (islands.QUIVER, _quiver()),
        (islands.SHAFT, _plain(islands.SHAFT, WOOD, 61)),
        (islands.VANE, _vane()),
        (islands.STEEL, _plain(islands.STEEL, (0.72, 0.76, 0.80), 67)),
    ):
        sheet.put(island, patch)
    return sheet


def bow() -> Sheet:
    """Return the texture of the bow."""
    sheet = Sheet(islands.BOW_SIZE, CREAM)
    patch = Patch.of(islands.LIMB, WOOD)
    patch.lay((0.80, 0.52, 0.24), ramp(patch.across, 0.2, 0.7))
    fur(patch, 71, 0.3, long=2.0, fine=10.0)
    wound = patch.across * 60.0 + patch.down * 2.0
    patch.lay(STRAP, ramp(patch.across, 0.15, 0.13))
    patch.shade(1.0 - 0.3 * ramp(np.abs(wound - np.floor(wound) - 0.5), 0.2, 0.4) * ramp(patch.across, 0.15, 0.13))
    for place in (0.15, 0.72, 0.92):
        patch.lay(GOLD, ramp(np.abs(patch.across - place), 0.016, 0.011))
    patch.lay(GLOW, _runes(patch))
    sheet.put(islands.LIMB, patch)
    return sheet


def glow() -> Sheet:
    """Return where the bow shines by itself: the runes, by colour and by cover."""
    sheet = Sheet(islands.BOW_SIZE, (0.0, 0.0, 0.0))
    patch = Patch.of(islands.LIMB, (0.0, 0.0, 0.0))
    patch.cover = _runes(patch)
    patch.lay(GLOW, patch.cover)
    sheet.cover[:] = 0.0
    sheet.put(islands.LIMB, patch)
    return sheet


def _runes(patch: Patch) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return lozenges along the limb, on its front."""
    step = (patch.across - 0.2) * 11.0
    inside = np.abs(step - np.floor(step) - 0.5) * 2.0
    size = inside * 0.9 + np.abs(patch.down - 0.5) / 0.17
    return ramp(size, 0.95, 0.7) * ramp(patch.across, 0.2, 0.205) * ramp(patch.across, 0.66, 0.65)


def _cape() -> Patch:
    patch = Patch.of(islands.CAPE, WINE)
    down = patch.down
    fold = np.abs(patch.across * 5.0 - np.floor(patch.across * 5.0) - 0.5) * 2.0
    patch.lay(DUSK, 0.7 * ramp(fold, 0.5, 1.0) * ramp(down, 0.1, 0.6) + 0.35 * ramp(down, 0.5, 1.0))
    patch.lay((0.74, 0.17, 0.16), 0.5 * ramp(fold, 0.5, 0.0))
    weave(patch, 53, 0.22)
    hem = 0.985 - jagged(9.0, patch.across, 0.11, 3)
    patch.lay(GOLD, ramp(np.abs(down - hem + 0.055), 0.022, 0.014))
    patch.lay(GOLD, ramp(np.abs(down - 0.055), 0.02, 0.014))
    leaf = ellipse(np.abs(patch.across - 0.5) * 2.0, down, (0.0, 0.47), (0.16, 0.13), 0.08)
    vein = ramp(np.abs(patch.across - 0.5), 0.012, 0.007)
    patch.lay(GOLD, leaf * (1.0 - vein))
    patch.lay(GOLD, vein * ramp(down, 0.68, 0.66) * ramp(down, 0.58, 0.6))
    patch.cover = np.where(down < hem, 1.0, 0.0)
    return patch


def _hat() -> Patch:
    patch = Patch.of(islands.HAT, FELT)
    patch.lay((0.27, 0.50, 0.27), 0.6 * ramp(patch.down, 0.5, 0.95))
    weave(patch, 57, 0.25)
    patch.lay((0.12, 0.25, 0.14), ramp(patch.down, 0.14, 0.1))
    patch.lay(GOLD, ramp(np.abs(patch.down - 0.19), 0.03, 0.015))
    patch.lay(LEATHER, ramp(np.abs(patch.down - 0.42), 0.075, 0.06))
    patch.shade(1.0 - 0.3 * ramp(patch.down, 0.24, 0.32) * ramp(patch.down, 0.36, 0.34))
    return patch


def _feather(island: islands.Island, root: Colour, tip: Colour) -> Patch:
    """`across` is 0 at the root."""
    patch = Patch.of(island, root)
    patch.lay(tip, ramp(patch.across, 0.35, 0.95))
    barb = patch.across * 13.0 - np.abs(patch.down - 0.5) * 5.0
    patch.shade(1.0 - 0.3 * ramp(np.abs(barb - np.floor(barb) - 0.5), 0.25, 0.48))
    patch.lay(CREAM, ramp(np.abs(patch.down - 0.5), 0.05, 0.025))
    notch = ramp(np.abs(barb - np.floor(barb) - 0.5), 0.38, 0.46) * ramp(np.abs(patch.down - 0.5), 0.30, 0.33)
    patch.cover = np.where(notch > 0.5, 0.0, 1.0)
    return patch


def _vane() -> Patch:
    patch = Patch.of(islands.VANE, CREAM)
    barb = patch.across * 7.0 - patch.down * 1.5
    patch.shade(1.0 - 0.22 * ramp(np.abs(barb - np.floor(barb) - 0.5), 0.3, 0.48))
    patch.lay((0.80, 0.14, 0.12), ramp(patch.across, 0.55, 0.6))
    return patch


def _quiver() -> Patch:
    patch = Patch.of(islands.QUIVER, LEATHER)
    patch.shade(1.0 + 0.4 * (cloud(patch.column / 10.0, patch.row / 10.0, 59) - 0.5))
    for place in (0.1, 0.5, 0.86):
        patch.lay(STRAP, ramp(np.abs(patch.down - place), 0.05, 0.035))
        patch.lay(GOLD, ramp(np.abs(patch.down - place), 0.022, 0.012))
    patch.shade(1.0 - 0.85 * ramp(patch.down, 0.94, 0.98))
    return patch


def _plain(island: islands.Island, colour: Colour, seed: int) -> Patch:
    patch = Patch.of(island, colour)
    patch.shade(1.0 + 0.35 * (cloud(patch.column / 14.0, patch.row / 3.0, seed) - 0.5))
    return patch
