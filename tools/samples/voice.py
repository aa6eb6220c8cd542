# SPDX-License-Identifier: GPL-3.0-or-later
"""What the dinosaur is heard of: its roar and its steps, computed sample by sample, 16-bit mono at 22050 Hz."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from addon.io_carnivores.formats.car import SOUND_RATE

from tools.samples import exact
from tools.samples.curve import Curve

if TYPE_CHECKING:
    from collections.abc import Sequence

_TABLE = 1024  # entries of the sine table
_SINE = tuple(exact.sine(number / _TABLE) for number in range(_TABLE))

# The voice over seconds: loudness, pitch in Hz, breath, and how far the mouth is open.
_LOUD = Curve(((0.0, 0.0), (0.22, 0.10), (0.45, 0.75), (0.6, 1.0), (1.15, 0.85), (1.5, 0.3), (1.85, 0.0)))
_PITCH = Curve(((0.0, 52.0), (0.4, 66.0), (0.62, 104.0), (1.1, 92.0), (1.5, 58.0), (1.85, 40.0)))
_BREATH = Curve(((0.0, 0.5), (0.4, 0.35), (0.7, 0.25), (1.2, 0.4), (1.6, 0.9), (1.85, 1.0)))
_MOUTH = Curve(((0.0, 0.0), (0.35, 0.2), (0.62, 1.0), (1.1, 0.95), (1.55, 0.1), (1.85, 0.0)))
_ROAR_SECONDS = 1.85
# Resonances of the throat: Hz with the mouth shut and open, width in Hz, share.
_THROAT = (
    (150.0, 240.0, 90.0, 1.0),
    (420.0, 720.0, 160.0, 1.0),
    (1050.0, 1500.0, 300.0, 0.9),
    (2300.0, 2900.0, 600.0, 0.7),
)
_STEPS = (0.0, 0.625)  # seconds: the left foot, the right one
_STEP_SECONDS = 1.1
_PEAK = 30000


def roar() -> bytes:
    """Return the roar: rough pulses and breath through a throat that opens."""
    hiss = _hiss(_samples(_ROAR_SECONDS), 211)
    source = _pulses(hiss)
    voice = [0.0] * len(source)
    for shut, wide, width, share in _THROAT:
        for number, value in enumerate(_resonance(source, shut, wide, width)):
            voice[number] += value * share
    return _pcm([value * _LOUD.at(number / SOUND_RATE) for number, value in enumerate(voice)])


def steps() -> bytes:
    """Return two steps of a heavy animal: a falling thud and the rustle of what is under the foot."""
    count = _samples(_STEP_SECONDS)
    heard = [0.0] * count
    for number, start in enumerate(_STEPS):
        hiss, low, phase, fade, rustle = _hiss(count, 223 + number), 0.0, 0.0, 1.0, 1.0
        for at in range(_samples(start), count):
            attack = min(1.0, (at - _samples(start)) / 120.0)
            phase += (38.0 + 50.0 * fade) / SOUND_RATE
            low += (hiss[at] - low) * 0.12
            heard[at] += attack * (_wave(phase) * fade + 0.9 * low * rustle)
            fade, rustle = fade * 0.99955, rustle * 0.9991
    end = _samples(0.05)
    return _pcm([value * min(1.0, (count - number) / end) for number, value in enumerate(heard)])


def _samples(seconds: float) -> int:
    return math.floor(seconds * SOUND_RATE)


def _wave(turns: float) -> float:
    return _SINE[math.floor(turns * _TABLE) % _TABLE]


def _hiss(count: int, seed: int) -> list[float]:
    """Return white noise of -1 to 1."""
    place = np.arange(count, dtype=np.float64)
    return [value * 2.0 - 1.0 for value in exact.cells(place, place * 0.0, seed).tolist()]


def _pulses(hiss: Sequence[float]) -> list[float]:
    """Return what the vocal folds do: a tone full of overtones that flutters, jitters and lets breath through."""
    found, phase, drift = [], 0.0, 0.0
    for number, noise in enumerate(hiss):
        time = number / SOUND_RATE
        drift += (noise - drift) * 0.004
        phase += _PITCH.at(time) * (1.0 + 2.2 * drift) / SOUND_RATE
        share = phase - math.floor(phase)
        tone = (2.0 - 3.0 * share) * share * 2.0  # opens slowly and closes at once
        under = 0.72 + 0.28 * _wave(phase * 0.5)  # every second pulse is weaker, which makes it growl
        flutter = 0.8 + 0.2 * _wave(time * 27.0 + 3.0 * drift)
        breath = _BREATH.at(time)
        found.append((tone * (1.0 - 0.5 * breath) + noise * breath * (0.4 + 0.6 * share)) * under * flutter)
    return found


def _resonance(source: Sequence[float], shut: float, wide: float, width: float) -> list[float]:
    """Return the source through one resonance, which moves from `shut` to `wide` as the mouth opens."""
    radius = 1.0 - 3.14159 * width / SOUND_RATE
    turn, before, after, found = 0.0, 0.0, 0.0, []
    older = (0.0, 0.0)
    for number, value in enumerate(source):
        if number % 64 == 0:
            turn = 2.0 * radius * exact.cosine((shut + (wide - shut) * _MOUTH.at(number / SOUND_RATE)) / SOUND_RATE)
        now = (value - older[1]) * (1.0 - radius) + turn * before - radius * radius * after
        after, before, older = before, now, (value, older[0])
        found.append(now)
    return found


def _pcm(wave: Sequence[float]) -> bytes:
    """Return 16-bit samples, the loudest at the peak, the louder ones bent a little."""
    top = max(abs(value) for value in wave)
    bent = [value * 2.0 / (top + abs(value)) for value in wave]
    return np.array([math.floor(value * _PEAK + 0.5) for value in bent], "<i2").tobytes()
