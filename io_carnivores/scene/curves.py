# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions of animations: told apart by a digest, stretched in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_common.scene import curves
from ...io_common.scene.curves import bones_of, fingerprint, write_curve
from . import kept

if TYPE_CHECKING:
    import bpy
    import numpy as np
    import numpy.typing as npt

__all__ = ["START", "bones_of", "drop", "fingerprint", "is_sealed", "seal", "stretch", "write_curve"]

START = 1.0  # scene frame at which imported animations start


def seal(action: bpy.types.Action, times: npt.NDArray[np.float64]) -> None:
    """Say in an Action where it starts and ends, and remember its curves as they are."""
    action.use_frame_range = True
    action.frame_start, action.frame_end = float(times[0]), float(times[-1])
    action[kept.CURVES_PRINT] = fingerprint(action)


def is_sealed(action: bpy.types.Action) -> bool:
    """Whether the curves are still those it was made with."""
    return kept.has(action, kept.CURVES_PRINT) and kept.get(action, kept.CURVES_PRINT, "") == fingerprint(action)


def stretch(action: bpy.types.Action, factor: float) -> None:
    """Move every keyframe to `factor` times its distance from the start; a sealed action stays sealed."""
    if factor == 1.0:
        return
    sealed = is_sealed(action)
    start = float(action.frame_range[0])
    curves.stretched([action], factor, start)
    if action.use_frame_range:
        action.frame_end = start + (float(action.frame_end) - start) * factor
    if sealed:
        action[kept.CURVES_PRINT] = fingerprint(action)


def drop(action: bpy.types.Action) -> None:
    """Let go of an Action that was made here: it goes when the file is saved, unless something else uses it."""
    if kept.has(action, kept.CURVES_PRINT):
        action.use_fake_user = False
