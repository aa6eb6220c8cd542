# SPDX-License-Identifier: GPL-3.0-or-later
"""Texel coordinates of a file to Blender's UVs and back, exact both ways in float32.

u_b = (u + 0.5) / 256, v_b = 1 - (v + 0.5) / rows: the middle of the texel, as the software renderer draws it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .model import TEXTURE_WIDTH

# Beyond this a float32 UV cannot tell neighbouring texels apart for any texture height.
_LIMIT = 2.0**31
_SAFE = 1 << 21


def to_uv(u: npt.NDArray[Any], v: npt.NDArray[Any], rows: int) -> npt.NDArray[np.float32]:
    """Texel columns and rows, both (n, 3) integers, to (n * 3, 2) f32."""
    uv = np.empty((u.size, 2), np.float32)
    uv[:, 0] = (u.reshape(-1) + 0.5) / TEXTURE_WIDTH
    uv[:, 1] = 1.0 - (v.reshape(-1) + 0.5) / rows
    return uv


def is_exact(u: npt.NDArray[Any], v: npt.NDArray[Any], rows: int) -> bool:
    """Whether `to_texel` brings `u` and `v` back from their UVs: float32 has room for them, or by trying.

    A UV is off by 2^-25 of itself at most (and of 1), so a texel by (rows + |v|) / 2^24: far below a half.
    """
    if not u.size:
        return True
    most = max(int(u.max()), -int(u.min()), rows + int(v.max()), rows - int(v.min()))
    if most < _SAFE:
        return True
    texel = to_texel(to_uv(u, v, rows), rows)
    return bool((texel[:, 0] == u.reshape(-1)).all() and (texel[:, 1] == v.reshape(-1)).all())


def to_texel(uv: npt.NDArray[np.float32], rows: int) -> npt.NDArray[np.int32]:
    """(n, 2) f32 UVs to (n, 2) i32 texel column and row; what is not finite becomes 0.

    The very edge of the picture belongs to its last texel: the one beyond is on the other side of it.
    """
    texel = np.empty(uv.shape, np.float64)
    texel[:, 0] = uv[:, 0].astype(np.float64) * TEXTURE_WIDTH - 0.5
    texel[:, 1] = (1.0 - uv[:, 1].astype(np.float64)) * rows - 0.5
    edge = np.array((TEXTURE_WIDTH, rows)) - 1
    np.copyto(texel, np.clip(texel, 0, edge), where=(uv >= 0) & (uv <= 1))
    np.nan_to_num(texel, copy=False, nan=0.0, posinf=_LIMIT - 1, neginf=-_LIMIT)
    return np.clip(np.rint(texel), -_LIMIT, _LIMIT - 1).astype(np.int32)
