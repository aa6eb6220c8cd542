# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom properties in which a scene keeps what Blender has no place for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import bpy

    # What custom properties can be put on.
    Block = bpy.types.ID | bpy.types.Bone | bpy.types.Node


def put(block: Block, name: str, value: bytes | str | float) -> None:
    """Keep `value` on `block`; an empty one is not kept at all."""
    # Over bytes that are there already Blender writes new ones only up to their first NUL.
    if has(block, name):
        del block[name]
    if value not in (b"", "", 0, False):
        block[name] = value


def has(block: Block, name: str) -> bool:
    """Whether anything is kept under that name."""
    return block.get(name) is not None


def get(block: Block, name: str, default: Any) -> Any:
    """What was kept, or `default`, whose type it must have."""
    value = block.get(name, default)
    return value if isinstance(value, type(default)) else default


def copy(source: Block, target: Block, name: str) -> None:
    """Keep the same on another; nothing where nothing was kept."""
    put(target, name, source[name] if has(source, name) else "")


def get_array(block: Block, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Kept raw bytes as an array; empty when there are none or their length does not fit."""
    raw = get(block, name, b"")
    kind = np.dtype(dtype)
    return np.frombuffer(raw, kind) if raw and len(raw) % kind.itemsize == 0 else np.zeros(0, kind)
