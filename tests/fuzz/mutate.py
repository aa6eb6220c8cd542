# SPDX-License-Identifier: GPL-3.0-or-later
"""Random damage to files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.models import WORDS

if TYPE_CHECKING:
    import numpy as np

_HEAD = 96  # counts and sizes stand in front: half of all damage is done there


def mutated(rng: np.random.Generator, data: bytes, others: list[bytes]) -> bytes:
    """`data` with one to four pieces of damage: bits, bytes, numbers, cuts, gaps, repeats, pieces of `others`."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        _damage(rng, out, others)
    return bytes(out)


def _damage(rng: np.random.Generator, out: bytearray, others: list[bytes]) -> None:
    size = len(out)
    at = int(rng.integers(min(size, _HEAD) if rng.random() < 0.5 else size)) if size else 0
    kind = int(rng.integers(8)) if size else 7
    length = int(rng.integers(1, 64))
    if kind == 0:
        out[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        out[at] = int(rng.integers(256))
    elif kind in (2, 3):
        at -= at % 4
        word = int(WORDS[int(rng.integers(len(WORDS)))]).to_bytes(4, "little")
        out[at : at + (4 if kind == 2 else 2)] = word[: 4 if kind == 2 else 2]
    elif kind == 4:
        del out[at:]
    elif kind == 5:
        del out[at : at + length]
    elif kind == 6:
        out[at:at] = out[at : at + length]
    else:
        other = others[int(rng.integers(len(others)))]
        start = int(rng.integers(len(other))) if other else 0
        out[at : at + length] = other[start : start + length]
