# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision primitives of an MSH: box, sphere, capsule, triangles."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import UnsupportedError
from . import blocks, names

if TYPE_CHECKING:
    from ...io_common.formats.reader import Reader


class Kind(IntEnum):
    """The types that occur. `TRIANGLES_4` is laid out as `TRIANGLES`."""

    BOX = 0
    SPHERE = 1
    CAPSULE = 2
    TRIANGLES = 3
    TRIANGLES_4 = 4


# Floats of each: a box is centre, three unit axes (one per row), half extents; a sphere centre, radius; a capsule
# start, vector from start to end, radius. The triangle kinds have a count, then origin, edge 1, edge 2 of each.
FLOATS = {Kind.BOX: 15, Kind.SPHERE: 4, Kind.CAPSULE: 7}
TRIANGLE_FLOATS = 9
_LEAST = 8  # a type and the count of no triangles
NAMED_FROM = 11  # from this MSH version on a primitive names its parent bone


@dataclass(eq=False)
class Collision:
    """`parent`: raw bytes behind the length (with the NUL), empty in MSH 10. `values`: (n,) f32, see `FLOATS`."""

    kind: Kind = Kind.BOX
    parent: bytes = b""
    values: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(15, "<f4"))

    @property
    def triangles(self) -> npt.NDArray[np.float32]:
        """Corners (n, 3, 3) f32 of the triangle kinds: triangle, corner, coordinate; (0, 3, 3) for the others."""
        if self.kind in FLOATS:
            return np.zeros((0, 3, 3), np.float32)
        parts = self.values.reshape(-1, 3, 3).astype(np.float32)
        parts[:, 1:] += parts[:, :1]
        return parts

    @staticmethod
    def from_triangles(corners: npt.NDArray[np.float32], parent: bytes = b"") -> Collision:
        """A primitive of the triangles `corners` (n, 3, 3): triangle, corner, coordinate."""
        values = np.array(corners, "<f4").reshape(-1, 3, 3)
        values[:, 1:] -= values[:, :1]
        return Collision(Kind.TRIANGLES, parent, values.reshape(-1))


def least(version: int) -> int:
    """Bytes that any primitive takes at the least."""
    return _LEAST + (4 if version >= NAMED_FROM else 0)


def read(reader: Reader, number: int, version: int) -> Collision:
    """The next primitive. Raises `FormatError` where it is not whole, `UnsupportedError` for an unknown type."""
    at, what = reader.offset, f"collision {number}"
    kind = reader.integer("<i4", f"the type of {what}")
    if not 0 <= kind <= max(Kind):
        raise UnsupportedError(
            f"{what} is of an unknown type", offset=at, expected=f"0 to {max(Kind)}", found=str(kind)
        )
    parent = blocks.lpstr(reader, f"the parent name of {what}") if version >= NAMED_FROM else b""
    if kind in FLOATS:
        floats = FLOATS[Kind(kind)]
    else:
        floats = TRIANGLE_FLOATS * blocks.count(reader, f"triangles of {what}", 4 * TRIANGLE_FLOATS)
    start = reader.offset
    values = reader.array("<f4", floats, f"numbers of {what}")
    blocks.require_finite_rows(values.reshape(-1, 1), start, f"{what}: number")
    return Collision(Kind(kind), parent, values)


def write(collision: Collision, version: int) -> bytes:
    """The inverse of `read`; MSH 10 has no place for the parent."""
    head = struct.pack("<i", collision.kind)
    if version >= NAMED_FROM:
        head += blocks.put_lpstr(collision.parent)
    if collision.kind not in FLOATS:
        head += struct.pack("<i", len(collision.values) // TRIANGLE_FLOATS)
    return head + collision.values.astype("<f4", copy=False).tobytes()


def describe(collision: Collision) -> dict[str, object]:
    """What `info` prints of a primitive."""
    facts: dict[str, object] = {"kind": collision.kind.name.lower().partition("_")[0]}
    if not names.is_root(collision.parent):
        facts["parent"] = names.text(collision.parent)
    if collision.kind not in FLOATS:
        facts["triangles"] = len(collision.values) // TRIANGLE_FLOATS
    return facts
