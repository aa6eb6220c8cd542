# SPDX-License-Identifier: GPL-3.0-or-later
"""The dinosaur's colours: what is painted on each island of its texture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tools.samples import islands
from tools.samples.canvas import Canvas, Patch
from tools.samples.exact import Field, cells, cloud, mix, noise, ramp

if TYPE_CHECKING:
    import numpy.typing as npt

    from tools.samples.canvas import Colour
    from tools.samples.shape import Island

_NIGHT: Colour = (0.05, 0.12, 0.17)
_BACK: Colour = (0.10, 0.36, 0.36)
_FLANK: Colour = (0.27, 0.56, 0.42)
_MOSS: Colour = (0.66, 0.68, 0.36)
_BELLY: Colour = (0.93, 0.85, 0.62)
_FIRE: Colour = (0.90, 0.36, 0.10)
_SUN: Colour = (0.98, 0.74, 0.22)
_FLESH: Colour = (0.80, 0.36, 0.36)
_GUM: Colour = (0.42, 0.10, 0.14)
_IVORY: Colour = (0.95, 0.90, 0.74)
_HORN: Colour = (0.20, 0.16, 0.15)


def paint() -> npt.NDArray[np.uint16]:
    """Return the texture, (256, 256) texel words."""
    canvas = Canvas(islands.SIZE, _FLANK)
    for island, patch in (
        (islands.BODY, _body()),
        (islands.HEAD, _head()),
        (islands.JAW, _jaw()),
        (islands.MOUTH, _mouth()),
        (islands.LEG, _leg()),
        (islands.ARM, _arm()),
        (islands.TOE, _toe()),
        (islands.CLAW, _claw(islands.CLAW, _HORN, (0.55, 0.48, 0.40))),
        (islands.TOOTH, _claw(islands.TOOTH, (0.80, 0.66, 0.42), _IVORY)),
        (islands.EYE, _eye()),
        (islands.CORNEA, _cornea()),
        (islands.CREST, _crest()),
        (islands.FAN, _vane(islands.FAN, 3)),
        (islands.PLUME, _vane(islands.PLUME, 4)),
    ):
        canvas.put(island, patch)
    return canvas.texels()


def _scales(patch: Patch, size: float, seed: int, strength: float) -> None:
    """Lay rows of scales, every other one shifted by half: each of its own brightness, with a darker rim."""
    row = patch.row / (size * 0.8)
    odd = np.floor(row) - 2.0 * np.floor(row / 2.0)
    column = patch.column / size + 0.5 * odd
    inside_row, inside_column = row - np.floor(row), column - np.floor(column)
    rim = np.maximum(ramp(inside_row, 0.55, 1.0), ramp(inside_column, 0.65, 1.0))
    patch.shade(1.0 + strength * (0.9 * cells(column, row, seed) - 0.35 - 0.55 * rim))


def _skin(patch: Patch, down: Field, seed: int) -> None:
    """Paint from back to belly: dark teal, green, moss, cream, with wavering borders. `down` is 0 at the back."""
    wave = down + 0.12 * (cloud(patch.column / 14.0, patch.row / 14.0, seed) - 0.5)
    patch.lay(_BACK, 1.0 - ramp(wave, 0.05, 0.32))
    patch.lay(_MOSS, ramp(wave, 0.48, 0.68))
    patch.lay(_BELLY, ramp(wave, 0.66, 0.82))


def _stripes(patch: Patch, along: Field, down: Field, reach: Field | float, seed: int) -> None:
    """Paint dark bands across the back, `along` counting them, tapering to points at `reach`; a sunny rim on each."""
    bend = along + 0.35 * (noise(patch.column / 11.0, patch.row / 9.0, seed) - 0.5) + 0.25 * down
    phase = bend - np.floor(bend)
    distance = np.abs(phase - 0.5) * 2.0
    long = reach * (0.75 + 0.5 * cells(bend, bend * 0.0, seed + 5))
    width = 0.42 * np.clip(1.0 - down / long, 0.0, 1.0)
    patch.lay(_SUN, 0.55 * (1.0 - ramp(distance, width + 0.06, width + 0.26)) * ramp(width, 0.0, 0.1))
    patch.lay(_NIGHT, 0.92 * (1.0 - ramp(distance, width - 0.04, width + 0.08)) * ramp(width, 0.0, 0.08))


def _spot(patch: Patch, across: float, down: float, wide: float, high: float) -> Field:
    """Return 1 in the middle of an ellipse, 0 outside; sizes as shares of the island."""
    x, y = (patch.across - across) / wide, (patch.down - down) / high
    return 1.0 - ramp(x * x + y * y, 0.15, 1.0)


def _body() -> Patch:
    patch = Patch.of(islands.BODY, _FLANK)
    along, down = patch.across, patch.down
    _skin(patch, down, 11)
    _stripes(patch, along * 17.0, down, 0.72, 23)
    plates = along * 44.0 - np.floor(along * 44.0)
    patch.shade(1.0 - 0.22 * ramp(down, 0.78, 0.86) * ramp(np.abs(plates - 0.5), 0.3, 0.48))
    patch.lay(_FIRE, 0.65 * ramp(along, 0.86, 0.97) * ramp(down, 0.45, 0.9))  # the throat
    _scales(patch, 3.6, 31, 0.34)
    shadow = np.maximum(_spot(patch, 0.475, 0.62, 0.09, 0.42), 0.8 * _spot(patch, 0.72, 0.55, 0.045, 0.25))
    patch.shade((1.08 - 0.20 * ramp(down, 0.6, 1.0)) * (1.0 - 0.34 * shadow))
    return patch


def _head() -> Patch:
    patch = Patch.of(islands.HEAD, _FLANK)
    along, down = patch.across, patch.down
    _skin(patch, down * 0.80, 41)
    patch.lay(_FIRE, 0.85 * ramp(down, 0.5, 0.2) * ramp(along, 0.22, 0.42) * ramp(along, 1.05, 0.7))  # mask
    _stripes(patch, along * 6.0, down, 0.01 + 0.5 * ramp(along, 0.76, 0.66), 53)
    patch.lay(_SUN, 0.8 * ramp(down, 0.80, 0.90))  # lip
    plates = along * 16.0 - np.floor(along * 16.0)
    patch.shade(1.0 - 0.3 * ramp(down, 0.82, 0.88) * ramp(np.abs(plates - 0.5), 0.28, 0.48))
    _scales(patch, 4.0, 61, 0.32)
    patch.lay(_NIGHT, 0.95 * _spot(patch, 0.40, 0.44, 0.15, 0.36))  # eye socket
    patch.lay(_NIGHT, 0.6 * _spot(patch, 0.62, 0.45, 0.09, 0.14))  # hollow before the eye
    patch.lay(_NIGHT, 0.95 * _spot(patch, 0.93, 0.42, 0.035, 0.12))  # nostril
    patch.lay(_GUM, ramp(down, 0.955, 0.985))
    patch.shade(1.05 - 0.12 * ramp(along, 0.25, 0.0) + 0.0 * down)
    return patch


def _jaw() -> Patch:
    patch = Patch.of(islands.JAW, _MOSS)
    along, down = patch.across, patch.down
    patch.lay(_FLANK, ramp(down, 0.5, 0.15) * 0.8)
    patch.lay(_BELLY, ramp(down, 0.5, 0.8))
    patch.lay(_FIRE, 0.6 * ramp(along, 0.5, 0.0) * ramp(down, 0.3, 0.8))
    patch.lay(_SUN, 0.7 * ramp(down, 0.3, 0.1))
    _scales(patch, 4.0, 71, 0.3)
    patch.lay(_GUM, ramp(down, 0.09, 0.05))
    patch.shade(1.02 - 0.2 * ramp(down, 0.5, 1.0))
    return patch


def _mouth() -> Patch:
    patch = Patch.of(islands.MOUTH, _FLESH)
    ridge = patch.across * 7.0 - np.floor(patch.across * 7.0)
    patch.shade(1.0 - 0.22 * ramp(np.abs(ridge - 0.5), 0.25, 0.5) * ramp(patch.down, 0.25, 0.5))
    patch.lay((0.86, 0.46, 0.46), ramp(patch.down, 0.55, 0.3) * 0.8)
    patch.lay(_GUM, ramp(patch.down, 0.75, 1.0) * 0.7)
    patch.lay((0.16, 0.03, 0.05), ramp(patch.across, 0.45, 0.0))
    return patch


def _leg() -> Patch:
    patch = Patch.of(islands.LEG, _FLANK)
    along, down = patch.across, patch.down
    _skin(patch, 0.22 + 0.36 * down, 81)
    _stripes(patch, along * 8.0 + 0.3, np.abs(down - 0.25), 0.62, 83)
    patch.lay(_BACK, 0.75 * ramp(along, 0.66, 0.9))
    _scales(patch, 3.6, 91, 0.34)
    plates = along * 30.0 - np.floor(along * 30.0)
    shin = ramp(along, 0.6, 0.72) * ramp(down, 0.35, 0.2)
    patch.shade(1.0 + 0.25 * shin * (1.0 - 2.0 * ramp(np.abs(plates - 0.5), 0.3, 0.5)))
    patch.shade((1.08 - 0.30 * ramp(down, 0.5, 1.0)) * (1.0 + 0.14 * _spot(patch, 0.22, 0.35, 0.2, 0.5)))
    return patch


def _arm() -> Patch:
    patch = Patch.of(islands.ARM, _FLANK)
    _skin(patch, 0.2 + 0.4 * patch.down, 101)
    _stripes(patch, patch.across * 5.0, patch.down * 0.8, 0.5, 103)
    patch.lay(_BACK, 0.7 * ramp(patch.across, 0.6, 1.0))
    _scales(patch, 3.4, 107, 0.34)
    return patch


def _toe() -> Patch:
    patch = Patch.of(islands.TOE, (0.16, 0.38, 0.36))
    plates = patch.across * 7.0 - np.floor(patch.across * 7.0)
    patch.lay(_MOSS, 0.35 * ramp(patch.down, 0.5, 0.1))
    patch.shade(1.1 - 0.4 * ramp(np.abs(plates - 0.5), 0.3, 0.5) - 0.25 * patch.down)
    return patch


def _claw(island: Island, root: Colour, point: Colour) -> Patch:
    patch = Patch.of(island, root)
    patch.lay(point, ramp(patch.across, 0.15, 0.85))
    patch.shade(1.05 - 0.3 * patch.down + 0.08 * noise(patch.column / 2.0, patch.row / 5.0, 111))
    return patch


def _eye() -> Patch:
    patch = Patch.of(islands.EYE, _NIGHT)
    x, y = (patch.across - 0.5) * 2.0, (patch.down - 0.5) * 2.0
    far = np.sqrt(x * x + y * y)
    patch.lay(_SUN, 1.0 - ramp(far, 0.74, 0.82))
    patch.lay(_FIRE, 0.8 * ramp(far, 0.35, 0.7) * (1.0 - ramp(far, 0.74, 0.82)))
    patch.shade(0.88 + 0.24 * noise(x * 6.0, y * 6.0, 121))
    patch.lay((0.02, 0.03, 0.05), 1.0 - ramp(np.sqrt(x * x * 7.0 + y * y), 0.5, 0.62))
    shine = np.sqrt((x + 0.28) * (x + 0.28) + (y + 0.32) * (y + 0.32))
    patch.lay((1.0, 1.0, 0.97), 1.0 - ramp(shine, 0.13, 0.22))
    return patch


def _cornea() -> Patch:
    """Paint nothing but the glint of the sky: the rest of the glass is a hole."""
    patch = Patch.of(islands.CORNEA, (0.85, 0.95, 1.0))
    x, y = (patch.across - 0.5) * 2.0, (patch.down - 0.5) * 2.0
    below = (x - 0.15) * (x - 0.15) + (y - 0.35) * (y - 0.35)
    patch.cover = (below > 1.2).astype(np.float64)
    return patch


def _crest() -> Patch:
    """Paint four quills that lean back, each a pointed feather: fiery root, dark band, sunny tip."""
    patch = Patch.of(islands.CREST, _FIRE)
    high = 1.0 - patch.down
    place = patch.across * 4.0 + 0.2 * high * high
    number, across = np.floor(place), (place - np.floor(place) - 0.5) * 2.0
    tall = 0.84 + 0.16 * cells(number, number * 0.0, 131)
    share = np.clip(high / tall, 0.0, 1.0)
    wide = 0.98 * np.sqrt(np.clip(1.0 - share * share * share, 0.0, 1.0))
    _feather(patch, np.abs(across), share, wide)
    patch.cover = np.maximum((np.abs(across) < wide).astype(np.float64), (high < 0.16).astype(np.float64))
    return patch


def _vane(island: Island, count: int) -> Patch:
    """Paint feathers side by side from root to tip, the next one a little longer."""
    patch = Patch.of(island, _FIRE)
    share_of = patch.down * count
    number = np.clip(np.floor(share_of), 0.0, count - 1.0)
    across = np.abs(share_of - number - 0.5) * 2.0
    long = 0.80 + 0.2 * cells(number, number * 0.0, 141 + count)
    share = np.clip(patch.across / long, 0.0, 1.0)
    wide = mix(1.0, 0.92, share) * np.sqrt(np.clip(1.0 - share * share * share * share, 0.0, 1.0))
    _feather(patch, across, share, wide)
    patch.cover = ((across < wide) | (patch.across < 0.1)).astype(np.float64)
    return patch


def _feather(patch: Patch, across: Field, share: Field, wide: Field) -> None:
    """Colour a feather: `share` runs from root to tip, `across` from quill to rim, which is at `wide`."""
    patch.lay(_BACK, ramp(share, 0.30, 0.0))
    patch.lay(_NIGHT, 0.95 * ramp(share, 0.50, 0.56) * ramp(share, 0.76, 0.70))
    patch.lay(_SUN, ramp(share, 0.74, 0.80))
    barb = share * 22.0 + across * 2.5
    patch.shade(
        1.0 - 0.16 * ramp(np.abs(barb - np.floor(barb) - 0.5), 0.25, 0.5) - 0.3 * ramp(across, wide * 0.5, wide + 0.01)
    )
    patch.lay(_IVORY, 0.65 * ramp(across, 0.16, 0.06) * ramp(share, 0.95, 0.85))
