# SPDX-License-Identifier: GPL-3.0-or-later
"""VTL, one vertex animation of the PC tools.

i32 vertex count, i32 KPS, i32 frame field, then the frames. Two styles: the original Animator stores the index of the
last frame, all later tools the number of frames; the size of the file tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...io_common.formats.errors import FormatError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from .motion import Animation, seconds

HEADER = np.dtype([("vertex_count", "<i4"), ("kps", "<i4"), ("frame_field", "<i4")])


@dataclass
class Vtl:
    """`last_index`: the frame field holds the index of the last frame, not the number of frames."""

    animation: Animation
    last_index: bool = False


def sniff(head: bytes, size: int) -> bool:
    """Whether counts and size agree in one of the two styles."""
    if len(head) < HEADER.itemsize:
        return False
    vertices, _kps, field = (int(n) for n in np.frombuffer(head, "<i4", 3))
    if vertices <= 0 or field < 0:
        return False
    return size - HEADER.itemsize in (6 * vertices * field, 6 * vertices * (field + 1))


def read(data: bytes) -> Vtl:
    """Bytes to `Vtl`. Raises `FormatError` when the size fits neither style."""
    reader = Reader(data)
    header = reader.array(HEADER, 1, "three counts of the header")[0]
    vertices, field = int(header["vertex_count"]), int(header["frame_field"])
    if vertices <= 0 or field < 0:
        raise FormatError(
            "this is not a VTL animation",
            offset=0,
            expected="a vertex count above 0 and a frame count that is not negative",
            found=f"{vertices} and {field}",
        )
    frame = 6 * vertices
    if reader.left not in (frame * field, frame * (field + 1)):
        raise FormatError(
            "the size of the file does not fit its counts",
            offset=HEADER.itemsize,
            expected=f"{field} or {field + 1} frames of {frame} bytes",
            found=f"{reader.left} bytes",
        )
    count = reader.left // frame
    values = reader.array("<i2", count * vertices * 3, "coordinates").reshape(count, vertices, 3)
    return Vtl(Animation(b"", int(header["kps"]), values), last_index=count != field)


def write(vtl: Vtl) -> bytes:
    """`Vtl` to bytes, the exact inverse of `read`."""
    frames = vtl.animation.frames
    header = np.array((frames.shape[1], vtl.animation.kps, len(frames) - int(vtl.last_index)), HEADER)
    return header.tobytes() + frames.astype("<i2", copy=False).tobytes()


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    frames = read(data).animation.frames
    frame = np.dtype([("vertex", "<i2", frames.shape[1:])])
    return [Section("header", 0, HEADER), Section("frame", HEADER.itemsize, frame, len(frames))]


def summary(vtl: Vtl) -> dict[str, Any]:
    """What `info` prints of an animation."""
    count, vertices = vtl.animation.frames.shape[:2]
    return {
        "vertices": vertices,
        "kps": vtl.animation.kps,
        "frames": count,
        "seconds": round(seconds(count, vtl.animation.kps), 3),
        "frame_field": "last frame index" if vtl.last_index else "frame count",
    }
