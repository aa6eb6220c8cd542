# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves: written in one call each, read in one call each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from . import compat

if TYPE_CHECKING:
    from collections.abc import Sequence

CONSTANT, LINEAR = 0, 1  # interpolation of a keyframe
BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_CHANNEL = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)$')


def write_curve(
    bag: Any,
    path: str,
    points: npt.NDArray[Any],
    index: int = 0,
    group: Any = None,
    interpolation: int = LINEAR,
) -> Any:
    """One F-curve through `points` (n, 2) of frame and value, by frame. Returns it."""
    return new_curve(
        bag,
        path,
        index,
        group,
        (np.ascontiguousarray(points, np.float32).ravel(), np.full(len(points), interpolation, np.uint8)),
    )


def new_curve(bag: Any, path: str, index: int, group: Any, ready: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> Any:
    """`write_curve` for arrays that are as Blender takes them: frames and values by turns (2 n,) f4, kinds (n,) u1."""
    curve = bag.fcurves.new(path, index=index)
    if group is not None:
        curve.group = group
    points = curve.keyframe_points
    points.add(len(ready[1]))
    points.foreach_set("co", ready[0])
    points.foreach_set("interpolation", ready[1])
    curve.update()
    return curve


def read_curve(curve: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Keyframes (n, 2) of frame and value, and the interpolation of each (n,)."""
    count = len(curve.keyframe_points)
    values = np.empty(2 * count, np.float32)
    curve.keyframe_points.foreach_get("co", values)
    kinds = np.empty(count, np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    return values.reshape(-1, 2), kinds


def bone_of(path: str) -> str | None:
    """The name of the bone that a data path leads to, None for others."""
    match = BONE.match(path)
    return bpy.utils.unescape_identifier(match[1]) if match is not None else None


def bones_of(action: bpy.types.Action) -> set[str]:
    """The names of the bones that an Action moves."""
    found = (bone_of(curve.data_path) for curve in compat.all_curves(action))
    return {name for name in found if name is not None}


def bone_path(name: str) -> str:
    """What the paths of the channels of a bone begin with, a full stop still missing."""
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


def channel_of(path: str) -> tuple[str, str] | None:
    """Bone and property of the path of a curve; None for what is no channel of a bone."""
    match = _CHANNEL.match(path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match is not None else None


def stretched(actions: Sequence[bpy.types.Action], factor: float, start: float) -> None:
    """Move every keyframe of `actions` to `factor` times its distance from frame `start`."""
    for curve in (curve for action in actions for curve in compat.all_curves(action)):
        points = curve.keyframe_points
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(points), np.float32)
            points.foreach_get(name, values)
            values[::2] = start + (values[::2].astype(np.float64) - start) * factor
            points.foreach_set(name, values)
        curve.update()
