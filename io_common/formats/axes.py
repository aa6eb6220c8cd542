# SPDX-License-Identifier: GPL-3.0-or-later
"""Axis maps that can be undone to the last bit: they only permute (and may negate) components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class AxisMap:
    """`blender[..., i] = sign[i] * file[..., order[i]]`."""

    order: tuple[int, int, int]
    sign: tuple[int, int, int] = (1, 1, 1)

    def apply(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """File axes to Blender axes; `values` is (..., 3); the result is a contiguous copy of the same dtype."""
        return self._signed(values[..., list(self.order)], self.sign)

    def undo(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Blender axes to file axes; the exact inverse of `apply`."""
        inverse = [self.order.index(axis) for axis in range(3)]
        sign = (self.sign[inverse[0]], self.sign[inverse[1]], self.sign[inverse[2]])
        return self._signed(values[..., inverse], sign)

    @staticmethod
    def _signed(values: npt.NDArray[Any], sign: tuple[int, int, int]) -> npt.NDArray[Any]:
        out = np.ascontiguousarray(values)
        for axis, factor in enumerate(sign):
            if factor < 0:
                np.negative(out[..., axis], out=out[..., axis])
        return out


# Both games: file x right, y up, z away; left-handed. (x, y, z) -> (x, z, y) keeps right and left.
FILE_Y_UP = AxisMap((0, 2, 1))

# Corners of a triangle after a mirroring map: reversed, but the first corner stays first. Its own inverse.
REVERSED = np.array([0, 2, 1])
