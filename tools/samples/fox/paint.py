# SPDX-License-Identifier: GPL-3.0-or-later
"""The fox's colours: its face and its body."""

from __future__ import annotations

import numpy as np

from tools.samples.canvas import Colour, Patch
from tools.samples.exact import Field, cloud, ramp
from tools.samples.fox import islands
from tools.samples.fox.head import angles, surface
from tools.samples.fox.sheet import Sheet, ellipse, fur, jagged, weave

FOX: Colour = (0.93, 0.47, 0.13)
RUST: Colour = (0.72, 0.27, 0.07)
CREAM: Colour = (1.0, 0.95, 0.85)
DARK: Colour = (0.17, 0.09, 0.07)
LEAF: Colour = (0.20, 0.43, 0.22)
PINE: Colour = (0.10, 0.25, 0.16)
GOLD: Colour = (0.93, 0.70, 0.26)
LEATHER: Colour = (0.46, 0.26, 0.13)
STRAP: Colour = (0.30, 0.16, 0.09)
LINEN: Colour = (0.95, 0.90, 0.78)


def face() -> Sheet:
    """Return the texture of the head."""
    sheet = Sheet(islands.FACE_SIZE, FOX)
    sheet.put(islands.HEAD, _head())
    sheet.put(islands.EAR, _ear())
    tuft = Patch.of(islands.TUFT, FOX)
    tuft.lay((1.0, 0.62, 0.22), ramp(tuft.down, 0.35, 1.0))
    fur(tuft, 31, 0.25, long=14.0)
    sheet.put(islands.TUFT, tuft)
    return sheet


def body() -> Sheet:
    """Return the texture of all below the head."""
    sheet = Sheet(islands.BODY_SIZE, FOX)
    for island, patch in (
        (islands.TORSO, _torso()),
        (islands.ARM, _arm()),
        (islands.LEG, _leg()),
        (islands.TAIL, _tail()),
        (islands.GLOVE, _glove()),
        (islands.COLLAR, _collar()),
        (islands.BOOT, _boot()),
    ):
        sheet.put(island, patch)
    return sheet


def _head() -> Patch:
    patch = Patch.of(islands.HEAD, FOX)
    longitude, latitude = angles(patch.across, patch.down)
    x, y, z = surface(longitude, latitude)
    side = np.abs(x)
    front = ramp(z, 2.0, -3.0)
    patch.lay(RUST, 0.55 * ramp(y, 6.0, 14.0) + 0.45 * ramp(z, 4.0, 13.0))
    patch.lay((1.0, 0.60, 0.22), 0.5 * front * ellipse(x, y, (0.0, 6.0), (6.0, 7.0), 0.9))
    # The mask: cheeks and muzzle.
    line = -3.4 - 1.2 * ramp(side, 5.0, 2.0) + 4.2 * ramp(side, 9.0, 17.0) + 0.9 * (cloud(x / 2.2, y / 5.0, 7) - 0.5)
    mask = ramp(y, line + 0.5, line - 0.5) * ramp(z, 7.5, 4.0)
    patch.lay(CREAM, mask)
    muzzle = ellipse(x, y, (0.0, -4.6), (4.6, 3.0), 0.3) * ramp(z, -14.5, -16.5)
    patch.lay(CREAM, muzzle)
    patch.lay((1.0, 0.62, 0.50), 0.55 * ellipse(side, y, (11.4, -4.2), (2.6, 1.5), 0.9) * front)
    fur(patch, 11, 0.16, long=7.0)
    patch.shade(1.0 - 0.16 * ramp(y, -8.0, -15.0))
    _eyes(patch, x, y, front)
    nose = ellipse(x, y, (0.0, -2.5), (2.0, 1.25), 0.2) * ramp(z, -18.0, -19.5)
    patch.lay(DARK, nose)
    patch.lay((0.75, 0.65, 0.62), 0.75 * ellipse(x, y, (-0.5, -2.05), (0.75, 0.32), 0.6) * ramp(z, -18.0, -19.5))
    smile = -6.6 + 0.10 * (side - 2.2) * (side - 2.2)
    stroke = (1.0 - ramp(np.abs(y - smile), 0.22, 0.5)) * ramp(side, 4.9, 4.3)
    stem = (1.0 - ramp(side, 0.16, 0.42)) * ramp(y, -6.3, -6.0) * ramp(y, -3.2, -3.6)
    patch.lay((0.36, 0.16, 0.12), 0.9 * np.maximum(stroke, stem) * ramp(z, -10.0, -12.0))
    return patch


def _eyes(patch: Patch, x: Field, y: Field, front: Field) -> None:
    """Large eyes with a heavy upper lid, a green iris and two lights; the brows above."""
    for sign in (1.0, -1.0):
        u = x * sign - 7.3  # outwards from the middle of the eye
        v = y - 1.6
        tilt = v - 0.16 * u
        white = ellipse(u, tilt, (0.0, 0.0), (3.1, 3.9), 0.12)
        rim = ellipse(u, tilt, (0.15, 0.35), (3.75, 4.55), 0.14) * front
        flick = ellipse(u, tilt, (3.1, 2.5), (1.7, 0.75), 0.3)
        patch.lay(DARK, np.maximum(rim * ramp(tilt, -2.2, -0.4), np.maximum(flick, 0.75 * rim)) * front)
        patch.lay((1.0, 1.0, 0.98), white * front)
        iris = ellipse(u, tilt, (-0.45, -0.1), (2.25, 3.35), 0.12) * white
        patch.lay((0.10, 0.30, 0.12), iris * front)
        patch.lay((0.36, 0.72, 0.22), ellipse(u, tilt, (-0.45, -1.0), (1.85, 2.3), 0.3) * iris * front)
        patch.lay((0.80, 0.93, 0.42), 0.8 * ellipse(u, tilt, (-0.45, -2.1), (1.25, 1.0), 0.6) * iris * front)
        patch.lay((0.03, 0.06, 0.04), ellipse(u, tilt, (-0.45, 0.1), (1.05, 1.75), 0.25) * iris * front)
        patch.lay((0.05, 0.10, 0.06), 0.55 * ramp(tilt, 1.6, 2.8) * white * front)
        # The lights lie on the same side of both eyes.
        patch.lay((1.0, 1.0, 1.0), ellipse(x, y, (7.3 * sign + 0.9 - 0.45 * sign, 3.0), (0.85, 0.95), 0.2) * front)
        patch.lay((1.0, 1.0, 1.0), 0.8 * ellipse(x, y, (7.3 * sign - 1.0 - 0.45 * sign, 0.2), (0.45, 0.5), 0.3) * front)
        brow = 8.1 - 0.055 * (u + 0.6) * (u + 0.6)
        line = (1.0 - ramp(np.abs(y - brow), 0.35, 0.75)) * ramp(np.abs(u), 3.6, 2.6)
        patch.lay((0.42, 0.15, 0.05), 0.85 * line * front)


def _ear() -> Patch:
    """The middle of the island is the hollow front; dark tips."""
    patch = Patch.of(islands.EAR, FOX)
    aside = np.abs(patch.across - 0.5)
    patch.lay(RUST, 0.5 * ramp(aside, 0.3, 0.5))
    inside = ramp(aside, 0.215, 0.18) * ramp(patch.down, 0.93, 0.85)
    patch.lay((0.98, 0.80, 0.66), inside)
    patch.lay((0.80, 0.46, 0.36), 0.75 * inside * ramp(aside, 0.13, 0.04) * ramp(patch.down, 0.12, 0.3))
    patch.lay(CREAM, inside * ramp(patch.down - jagged(14.0, patch.across, 0.2, 3), 0.36, 0.3))
    fur(patch, 41, 0.2, long=12.0)
    patch.lay(DARK, ramp(patch.down + jagged(22.0, patch.across, 0.12, 5), 0.80, 0.86))
    return patch


def _torso() -> Patch:
    """From the seam behind over the left to the front in the middle: tunic, lacing, belt, golden hem, lining."""
    patch = Patch.of(islands.TORSO, LEAF)
    aside = np.abs(patch.across - 0.5)
    down = patch.down
    patch.lay((0.30, 0.56, 0.28), 0.6 * ramp(aside, 0.2, 0.02) * ramp(down, 0.45, 0.1))
    patch.lay(PINE, 0.7 * ramp(aside, 0.16, 0.3))
    fold = np.abs((patch.across * 15.0) - np.floor(patch.across * 15.0) - 0.5) * 2.0
    patch.lay(PINE, 0.55 * ramp(fold, 0.62, 1.0) * ramp(down, 0.53, 0.7))
    weave(patch, 17, 0.22)
    shirt = ramp(aside, 0.052, 0.044) * ramp(down, 0.40, 0.38)
    patch.lay(LINEN, shirt)
    cross = np.abs(down * 14.0 - np.floor(down * 14.0) - 0.5 - (patch.across - 0.5) * 9.0)
    patch.lay(STRAP, shirt * ramp(cross, 0.12, 0.08))
    patch.lay(GOLD, ramp(np.abs(aside - 0.056), 0.009, 0.005) * ramp(down, 0.42, 0.40))
    belt = ramp(np.abs(down - 0.475), 0.052, 0.044)
    patch.lay(STRAP, belt)
    patch.lay(LEATHER, ramp(np.abs(down - 0.475), 0.036, 0.03))
    buckle = ramp(aside, 0.036, 0.03) * ramp(np.abs(down - 0.475), 0.066, 0.06)
    patch.lay(GOLD, buckle)
    patch.lay(STRAP, ramp(aside, 0.018, 0.013) * ramp(np.abs(down - 0.475), 0.032, 0.026))
    patch.lay(GOLD, ramp(np.abs(down - 0.855), 0.024, 0.018))
    patch.lay(PINE, ramp(np.abs(down - 0.82), 0.01, 0.004) * 0.8)
    patch.shade(1.0 - 0.25 * ramp(down, 0.53, 0.58) * ramp(down, 0.64, 0.58) - 0.75 * ramp(down, 0.91, 0.99))
    return patch


def _arm() -> Patch:
    """A puffed sleeve to the elbow, linen below."""
    patch = Patch.of(islands.ARM, LEAF)
    patch.lay((0.30, 0.56, 0.28), 0.6 * ramp(patch.down, 0.45, 0.1))
    band = patch.across * 9.0 - np.floor(patch.across * 9.0)
    patch.lay(PINE, 0.6 * ramp(np.abs(band - 0.5), 0.25, 0.45) * ramp(patch.down, 0.5, 0.4))
    patch.lay(LINEN, ramp(patch.down, 0.53, 0.55))
    weave(patch, 19, 0.2)
    patch.lay(GOLD, ramp(np.abs(patch.down - 0.535), 0.03, 0.02))
    patch.shade(1.0 - 0.4 * ramp(patch.down, 0.56, 0.6) * ramp(patch.down, 0.68, 0.6))
    return patch


def _leg() -> Patch:
    """Trousers above the middle, a boot with a turned-down cuff below."""
    patch = Patch.of(islands.LEG, (0.53, 0.44, 0.32))
    weave(patch, 23, 0.22)
    down = patch.down
    patch.lay(LEATHER, ramp(down, 0.505, 0.51))
    patch.lay((0.62, 0.38, 0.20), ramp(down, 0.505, 0.51) * ramp(down, 0.63, 0.61))
    patch.lay(GOLD, ramp(np.abs(down - 0.6), 0.014, 0.008))
    lace = np.abs(down * 22.0 - np.floor(down * 22.0) - 0.5)
    patch.lay(LINEN, ramp(np.abs(patch.across - 0.5), 0.09, 0.07) * ramp(lace, 0.14, 0.08) * ramp(down, 0.68, 0.70))
    patch.lay(STRAP, ramp(down, 0.945, 0.955))
    patch.shade(1.0 + 0.3 * (cloud(patch.column / 12.0, patch.row / 12.0, 27) - 0.5))
    patch.shade(1.0 - 0.35 * ramp(down, 0.63, 0.65) * ramp(down, 0.74, 0.66))
    return patch


def _boot() -> Patch:
    """The foot: `across` runs round it from the top, `down` from the heel to the toes."""
    patch = Patch.of(islands.BOOT, LEATHER)
    under = np.abs(patch.across - 0.5)
    patch.lay((0.62, 0.38, 0.20), 0.6 * ramp(patch.down, 0.6, 0.95))
    patch.shade(1.0 + 0.3 * (cloud(patch.column / 12.0, patch.row / 8.0, 29) - 0.5))
    patch.lay(STRAP, ramp(under, 0.2, 0.16))
    return patch


def _glove() -> Patch:
    patch = Patch.of(islands.GLOVE, LEATHER)
    patch.lay((0.62, 0.38, 0.20), ramp(patch.down, 0.3, 0.26))
    patch.lay(GOLD, ramp(np.abs(patch.down - 0.12), 0.05, 0.03))
    patch.shade(1.0 + 0.35 * (cloud(patch.column / 9.0, patch.row / 9.0, 37) - 0.5))
    patch.lay(STRAP, 0.9 * ramp(np.abs(patch.down - 0.42), 0.05, 0.03))
    return patch


def _collar() -> Patch:
    patch = Patch.of(islands.COLLAR, CREAM)
    fur(patch, 43, 0.3, long=6.0, fine=3.0)
    patch.lay((0.86, 0.70, 0.52), 0.6 * ramp(patch.down + jagged(16.0, patch.across, 0.2, 9), 0.78, 1.0))
    return patch


def _tail() -> Patch:
    """`across` is 0 on the upper side; the tip is cream."""
    patch = Patch.of(islands.TAIL, FOX)
    under = np.abs(patch.across - 0.5)
    patch.lay(RUST, 0.6 * ramp(under, 0.3, 0.5))
    patch.lay((1.0, 0.66, 0.30), 0.7 * ramp(under, 0.2, 0.0))
    fur(patch, 47, 0.30, long=16.0, fine=3.0)
    patch.lay(RUST, 0.6 * ramp(patch.down + jagged(9.0, patch.across, 0.1, 13), 0.64, 0.72))
    tip = ramp(patch.down + jagged(9.0, patch.across, 0.1, 13), 0.735, 0.75)
    patch.lay(CREAM, tip)
    return patch
