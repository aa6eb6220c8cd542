# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender is given of a sub-mesh.

An import builds it, and an export builds it once more from the sub-mesh that was kept: what Blender still shows goes
back as it stood in the file, to the bit, and only what differs was edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.reader import Reader
from ...io_common.scene.weights import Weights
from ..formats import space, triangles
from ..formats import submesh as submeshes
from . import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

    from ..formats.submesh import Submesh

_BGRA = [2, 1, 0, 3]
_UNIT = 2e-6  # how far the square of a normal's length may be from one to count as one


@dataclass(frozen=True, eq=False)
class Shown:
    """A sub-mesh of the file in Blender's axes and conventions."""

    source: Submesh

    @cached_property
    def positions(self) -> npt.NDArray[np.float32]:
        """(V, 3) f32, nothing but another order of the numbers."""
        return space.AXES.apply(self.source.positions)

    @cached_property
    def corners(self) -> npt.NDArray[np.int32]:
        """(T, 3) i32: the triangles that have an area in principle, turned round since the axes mirror."""
        return np.ascontiguousarray(triangles.of(self.source).corners[:, space.REVERSED])

    @cached_property
    def normals(self) -> npt.NDArray[np.float32]:
        """(V, 3) f32 of length one; up where the file holds no direction."""
        plain = space.AXES.apply(self.source.normals)
        with np.errstate(invalid="ignore", over="ignore"):
            square = np.einsum("ij,ij->i", plain, plain)
        if (np.abs(square - 1.0) < _UNIT).all():  # as in every file of the game: nothing to mend
            return plain
        wide = plain.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            length = np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
        good = np.isfinite(length) & (length > 1e-12)
        with np.errstate(invalid="ignore"):
            unit = wide / np.where(good, length, 1.0)
        return np.where(good, unit, (0.0, 0.0, 1.0)).astype(np.float32)

    @cached_property
    def uvs(self) -> list[npt.NDArray[np.float32]]:
        """One (V, 2) f32 for each set, origin at the bottom left; 0 where the file holds no number."""
        return [
            upright(uv if np.isfinite(uv).all() else np.where(np.isfinite(uv), uv, np.float32(0)).astype(np.float32))
            for uv in self.source.uvs
        ]

    @cached_property
    def colours(self) -> npt.NDArray[np.uint8] | None:
        """(V, 4) u8: R, G, B, A."""
        return None if self.source.colours is None else self.source.colours[:, _BGRA]

    def weights(self, group: npt.NDArray[np.int64]) -> Weights:
        """The influences that count; slot s belongs to the group `group[s]`. Sums above one are scaled to one."""
        slots, found, _lost = submeshes.influences(self.source)
        vertex, column = np.nonzero(found)
        value = found[vertex, column]
        total = np.bincount(vertex, value, minlength=len(found))
        # Blender cuts a weight at one; what the weights are relative to each other has to stay.
        value = np.where(total[vertex] > 1.0 + 1e-6, value / np.maximum(total[vertex], 1.0), np.minimum(value, 1.0))
        single = value.astype(np.float32)
        there = single > 0  # beside a very large weight a very small one vanishes
        return Weights.of(vertex[there].astype(np.int64), group[slots[vertex, column]][there], single[there])


def upright(uv: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(n, 2) UVs with their origin at the other end of v. Rounds: `upright(upright(uv))` may be a little off."""
    out = uv.copy()
    out[:, 1] = np.float32(1) - uv[:, 1]
    return out


def file_colours(colours: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """R, G, B, A to the order of the file."""
    return np.ascontiguousarray(colours[:, _BGRA])


def keep(mesh: bpy.types.ID, source: Submesh) -> None:
    """Keep a whole sub-mesh, raw."""
    kept.put(mesh, kept.SUBMESH, b"".join(submeshes.parts(source)))


def recall(mesh: bpy.types.ID) -> Submesh | None:
    """The sub-mesh that was kept; None for a mesh made in Blender."""
    raw = kept.get(mesh, kept.SUBMESH, b"")
    return submeshes.read(Reader(raw), 0) if raw else None


def group_of_slot(keys: Sequence[str]) -> npt.NDArray[Any]:
    """(n,) i64 for the names of a skin: the place of the first name with the same key."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(key, slot) for slot, key in enumerate(keys)], np.int64)
