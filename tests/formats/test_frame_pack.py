# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames packed for keeping."""

from __future__ import annotations

import numpy as np
import pytest
from addon.io_carnivores.formats import frame_pack
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests import characters

_SHAPES = st.tuples(st.integers(0, 5), st.integers(0, 7), st.just(3))
_FRAMES = arrays.arrays(np.dtype("<i2"), _SHAPES)


@given(_FRAMES)
def test_round_trip(frames: np.ndarray) -> None:
    """Any numbers come back, with their shape."""
    back = frame_pack.unpack(frame_pack.pack(frames))
    assert back is not None
    assert back.dtype == np.dtype("<i2")
    assert back.shape == frames.shape
    assert back.tobytes() == frames.tobytes()


@given(_FRAMES, st.data())
def test_damaged(frames: np.ndarray, data: st.DataObject) -> None:
    """What was cut is refused, and so is what was changed, unless it only claims another shape of as many numbers."""
    packed = bytearray(frame_pack.pack(frames))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= data.draw(st.integers(1, 255))
    found = frame_pack.unpack(bytes(packed))
    assert found is None or (at < 8 and found.size == frames.size)
    assert frame_pack.unpack(bytes(packed[:at])) is None


@pytest.mark.parametrize("raw", [b"", b"\0" * 7, b"\xff" * 40, np.array([2**31, 2**31], "<u4").tobytes() + b"x"])
def test_no_frames(raw: bytes) -> None:
    """Other bytes are no frames, whatever size they claim."""
    assert frame_pack.unpack(raw) is None


def test_frames_without_vertices() -> None:
    """Numbers that take no room may be as large as they like, and cost nothing."""
    empty = frame_pack.pack(np.zeros((0, 0, 3), np.int16))
    found = frame_pack.unpack(np.array([0xFFFFFFFF, 0], "<u4").tobytes() + empty[8:])
    assert found is not None
    assert found.size == 0


def test_size() -> None:
    """Real motion takes less than half."""
    frames = characters.swing(characters.tube(), 60)
    assert len(frame_pack.pack(frames)) < 0.5 * frames.nbytes
