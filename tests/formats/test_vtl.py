# SPDX-License-Identifier: GPL-3.0-or-later
"""VTL and ANI: one animation without a model."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_carnivores.formats import ani, vtl
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.formats.vtl import Vtl
from addon.io_common.formats.errors import FormatError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = st.integers(-(2**31), 2**31 - 1)


@st.composite
def animations(draw: st.DrawFn, least: int = 0) -> Animation:
    """An animation of any rate and coordinates."""
    vertices, frames = draw(st.integers(1, 4)), draw(st.integers(least, 4))
    raw = draw(st.binary(min_size=6 * vertices * frames, max_size=6 * vertices * frames))
    return Animation(b"", draw(NUMBER), np.frombuffer(raw, "<i2").reshape(frames, vertices, 3))


@settings(max_examples=100, deadline=None)
@given(animations(), st.booleans())
def test_vtl_comes_back(animation: Animation, last_index: bool) -> None:
    """Both styles of the frame field; the size of the file tells them apart."""
    assume(len(animation.frames) or not last_index)
    data = vtl.write(Vtl(animation, last_index))
    assert vtl.sniff(data[:1024], len(data))
    found = vtl.read(data)
    assert found == Vtl(animation, last_index)
    assert vtl.write(found) == data
    assert vtl.sections(data)[-1].end == len(data)


@settings(max_examples=100, deadline=None)
@given(animations())
def test_ani_comes_back(animation: Animation) -> None:
    """Counts in another order, no styles."""
    data = ani.write(animation)
    assert ani.sniff(data[:1024], len(data))
    assert ani.read(data) == animation
    assert ani.write(ani.read(data)) == data
    assert ani.sections(data)[-1].end == len(data)


@pytest.mark.samples("*.vtl", "*mobile/*.ani")
def test_samples(sample: Path) -> None:
    """Real files come back to the byte."""
    data = sample.read_bytes()
    codec: Any = vtl if sample.suffix.lower() == ".vtl" else ani
    assert codec.write(codec.read(data)) == data


@pytest.mark.parametrize("codec", [vtl, ani])
@pytest.mark.parametrize("field", range(3))
@pytest.mark.parametrize("value", [2**31 - 1, -1, -(2**31), 0x10000000])
def test_hostile_counts(codec: Any, field: int, value: int) -> None:
    """Refused without an allocation, except for KPS, which may be anything."""
    good = vtl.write(Vtl(Animation(b"", 10, np.zeros((3, 2, 3), "<i2"))))
    if codec is ani:
        good = ani.write(vtl.read(good).animation)
    data = good[: 4 * field] + struct.pack("<i", value) + good[4 * field + 4 :]
    rate = 1 if codec is vtl else 0
    if field == rate:
        assert codec.write(codec.read(data)) == data
        return
    assert not codec.sniff(data[:1024], len(data))
    with pytest.raises(FormatError):
        codec.read(data)


@pytest.mark.parametrize("codec", [vtl, ani])
def test_every_truncation(codec: Any) -> None:
    """No part of a file is a file, but for the VTL of one frame less, which is the other style."""
    animation = Animation(b"", 10, np.arange(18).reshape(3, 2, 3).astype("<i2"))
    data = ani.write(animation) if codec is ani else vtl.write(Vtl(animation, last_index=True))
    other_style = {len(data) - 12} if codec is vtl else set()
    for size in set(range(len(data))) - other_style:
        with pytest.raises(FormatError):
            codec.read(data[:size])
    with pytest.raises(FormatError):
        codec.read(data + b"\0")
