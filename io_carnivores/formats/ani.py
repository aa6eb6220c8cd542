# SPDX-License-Identifier: GPL-3.0-or-later
"""ANI, one vertex animation of the mobile game: i32 KPS, i32 frame count, i32 vertex count, then the frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...io_common.formats.errors import FormatError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from .motion import Animation, seconds

HEADER = np.dtype([("kps", "<i4"), ("frame_count", "<i4"), ("vertex_count", "<i4")])


def sniff(head: bytes, size: int) -> bool:
    """Whether counts and size agree."""
    if len(head) < HEADER.itemsize:
        return False
    _kps, count, vertices = (int(n) for n in np.frombuffer(head, "<i4", 3))
    return vertices > 0 and count >= 0 and size == HEADER.itemsize + 6 * vertices * count


def read(data: bytes) -> Animation:
    """Bytes to `Animation`. Raises `FormatError` when counts and size do not agree."""
    reader = Reader(data)
    header = reader.array(HEADER, 1, "three counts of the header")[0]
    vertices, count = int(header["vertex_count"]), int(header["frame_count"])
    if vertices <= 0 or count < 0:
        raise FormatError(
            "this is not a mobile ANI animation",
            offset=4,
            expected="a vertex count above 0 and a frame count that is not negative",
            found=f"{vertices} and {count}",
        )
    values = reader.array("<i2", count * vertices * 3, "coordinates").reshape(count, vertices, 3)
    reader.end("the last frame")
    return Animation(b"", int(header["kps"]), values)


def write(animation: Animation) -> bytes:
    """`Animation` to bytes, the exact inverse of `read`."""
    frames = animation.frames
    header = np.array((animation.kps, len(frames), frames.shape[1]), HEADER)
    return header.tobytes() + frames.astype("<i2", copy=False).tobytes()


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    frames = read(data).frames
    frame = np.dtype([("vertex", "<i2", frames.shape[1:])])
    return [Section("header", 0, HEADER), Section("frame", HEADER.itemsize, frame, len(frames))]


def summary(animation: Animation) -> dict[str, Any]:
    """What `info` prints of an animation."""
    count, vertices = animation.frames.shape[:2]
    return {
        "vertices": vertices,
        "kps": animation.kps,
        "frames": count,
        "seconds": round(seconds(count, animation.kps), 3),
    }
