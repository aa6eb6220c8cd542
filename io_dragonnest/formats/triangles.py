# SPDX-License-Identifier: GPL-3.0-or-later
"""Index lists and strips as triangles, and whether triangles are still those of the stored indices.

A strip turns with every step: triangle i is (i0, i1, i2) for even i and (i0, i2, i1) for odd i. Triangles with two
equal corners only join the runs of a strip (48 % of it in real files); they count for the turn and are no faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .submesh import Submesh


@dataclass(frozen=True, eq=False)
class Triangles:
    """`corners` (t, 3) i32: vertex numbers in the winding of the file, whose normals point outwards.

    `source` (t,) i32: where in the indices each triangle begins. `degenerate`: how many were left out.
    """

    corners: npt.NDArray[np.int32]
    source: npt.NDArray[np.int32]
    degenerate: int


def of(submesh: Submesh) -> Triangles:
    """The faces of a sub-mesh, in file order. Indices that make no whole triangle at the end of a list are ignored."""
    return of_indices(submesh.indices, is_strip=submesh.is_strip)


def of_indices(indices: npt.NDArray[Any], *, is_strip: bool) -> Triangles:
    """The triangles of `indices` (n,), a strip or a list."""
    if is_strip:
        corners = np.empty((max(len(indices) - 2, 0), 3), np.int32)
        if len(corners):
            corners[:, 0] = indices[:-2]
            corners[:, 1] = indices[1:-1]
            corners[:, 2] = indices[2:]
            corners[1::2, 1:] = corners[1::2, :0:-1].copy()
        source = np.arange(len(corners), dtype=np.int32)
    else:
        corners = indices[: len(indices) // 3 * 3].reshape(-1, 3).astype(np.int32)
        source = np.arange(len(corners), dtype=np.int32) * 3
    a, b, c = corners.T
    whole = (a != b) & (b != c) & (a != c)
    if whole.all():
        return Triangles(corners, source, 0)
    return Triangles(corners[whole], source[whole], int(len(whole) - np.count_nonzero(whole)))


def turned(corners: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Triangles (t, 3) with the lowest corner first and the winding as it is."""
    first = np.argmin(corners, axis=1) if len(corners) else np.zeros(0, np.intp)
    order = (first[:, None] + np.arange(3)) % 3
    return np.take_along_axis(corners, order, axis=1)


def unchanged(indices: npt.NDArray[Any], *, is_strip: bool, corners: npt.NDArray[Any]) -> bool:
    """Whether `corners` (t, 3) are the triangles of `indices` in the same order, whichever corner comes first.

    An exporter then writes the old indices, so that the strip a file came with comes back to the byte.
    """
    old = of_indices(indices, is_strip=is_strip).corners
    return old.shape == corners.shape and bool((turned(old) == turned(corners)).all())
