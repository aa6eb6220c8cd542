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
    folded = ((values << 1) ^ (values >> 15)).view(np.uint16)
    planes = np.stack(((folded & 0xFF).astype(np.uint8), (folded >> 8).astype(np.uint8)))
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
    folded = planes[1].astype(np.uint16) << 8 | planes[0]
    values = ((folded >> 1).view(np.int16) ^ -(folded & 1).view(np.int16)).reshape(count, vertices, 3)
    np.cumsum(values, axis=1, out=values)
    # A row at a time is several times faster than a sum along the first axis.
    for frame in range(1, count if size else 0):
        values[frame] += values[frame - 1]
    return np.asarray(values, "<i2")
