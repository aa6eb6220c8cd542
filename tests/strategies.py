# SPDX-License-Identifier: GPL-3.0-or-later
"""Hypothesis strategies for whole models: any one that a file can hold, and shrinking towards the plainest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX
from hypothesis import strategies as st

from tests.models import WORDS, repaired

if TYPE_CHECKING:
    from addon.io_carnivores.formats.model import Model

_WORD = st.one_of(st.sampled_from([int(word) for word in WORDS]), st.integers(0, 0xFFFFFFFF))


@st.composite
def records(draw: st.DrawFn, dtype: np.dtype, most: int, least: int = 0) -> Any:
    """(n,) array of `dtype`, every field of any value: mostly the values at the ends of their ranges."""
    count = draw(st.integers(least, most))
    size = count * dtype.itemsize
    words = draw(st.lists(_WORD, min_size=min(size // 4, 8), max_size=size // 4))
    raw = np.array(words, "<u4").tobytes().ljust(size, b"\0")
    return np.frombuffer(raw, dtype).copy()


@st.composite
def models(draw: st.DrawFn, *, mobile: bool = False) -> Model:
    """A model that a 3DF (or, `mobile`, a 3DN) can hold."""
    texels = draw(records(np.dtype("<u2"), 8, 2))
    rows = 0 if mobile else draw(st.integers(0, 2))
    return repaired(
        draw(records(FACE, 6)),
        draw(records(VERTEX, 6, 1)),
        draw(records(BONE, 4)),
        np.resize(texels, rows * 256),
        texture_rest=b"" if mobile else draw(st.binary(max_size=511)),
        names=draw(st.binary(min_size=64, max_size=64)),
        has_sprite=draw(st.sampled_from([0, 1, 2, -1, 0x7FFFFFFF, -0x80000000])),
        mobile=mobile,
    )
