# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves: written in one call each, told apart by a digest, stretched in time."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import compat
from . import kept

LINEAR = 1  # interpolation of a keyframe
_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
START = 1.0  # scene frame at which imported animations start


def write_curve(
    bag: Any,
    path: str,
    points: npt.NDArray[np.float64],
    index: int = 0,
    group: Any = None,
) -> None:
    """One F-curve through `points` (n, 2) of frame and value, linear in between."""
    curve = bag.fcurves.new(path, index=index)
    if group is not None:
        curve.group = group
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.uint8))
    curve.update()


def seal(action: bpy.types.Action, times: npt.NDArray[np.float64]) -> None:
    """Say in an Action where it starts and ends, and remember its curves as they are."""
    action.use_frame_range = True
    action.frame_start, action.frame_end = float(times[0]), float(times[-1])
    action[kept.CURVES_PRINT] = fingerprint(action)


def seal_again(action: bpy.types.Action) -> None:
    """Remember its curves as they are now."""
    action[kept.CURVES_PRINT] = fingerprint(action)


def is_sealed(action: bpy.types.Action) -> bool:
    """Whether the curves are still those it was made with."""
    return kept.has(action, kept.CURVES_PRINT) and kept.get(action, kept.CURVES_PRINT, "") == fingerprint(action)


def fingerprint(action: bpy.types.Action) -> str:
    """A digest of every curve of an action: paths, keyframes, interpolation and modifiers."""
    digest = hashlib.blake2b(digest_size=16)
    for curve in compat.all_curves(action):
        count = len(curve.keyframe_points)
        values = np.empty(2 * count, np.float32)
        curve.keyframe_points.foreach_get("co", values)
        kinds = np.empty(count, np.int32)
        curve.keyframe_points.foreach_get("interpolation", kinds)
        digest.update(f"{curve.data_path}|{curve.array_index}|{curve.mute}|{len(curve.modifiers)}".encode())
        digest.update(values.tobytes())
        digest.update(kinds.tobytes())
    return digest.hexdigest()


def bones_of(action: bpy.types.Action) -> set[str]:
    """The names of the bones that an Action moves."""
    found = (_BONE.match(curve.data_path) for curve in compat.all_curves(action))
    return {bpy.utils.unescape_identifier(match[1]) for match in found if match is not None}


def stretch(action: bpy.types.Action, factor: float) -> None:
    """Move every keyframe to `factor` times its distance from the start; a sealed action stays sealed."""
    if factor == 1.0:
        return
    sealed = is_sealed(action)
    start = float(action.frame_range[0])
    for curve in compat.all_curves(action):
        points = curve.keyframe_points
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(points), np.float32)
            points.foreach_get(name, values)
            values[::2] = start + (values[::2].astype(np.float64) - start) * factor
            points.foreach_set(name, values)
        curve.update()
    if action.use_frame_range:
        action.frame_end = start + (float(action.frame_end) - start) * factor
    if sealed:
        action[kept.CURVES_PRINT] = fingerprint(action)


def drop(action: bpy.types.Action) -> None:
    """Let go of an Action that was made here: it goes when the file is saved, unless something else uses it."""
    if kept.has(action, kept.CURVES_PRINT):
        action.use_fake_user = False
