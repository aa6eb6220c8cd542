# SPDX-License-Identifier: GPL-3.0-or-later
"""One clip of an armature, set up to be played."""

from __future__ import annotations

from typing import Any

import bpy

from ...io_common.formats.errors import UserError
from ...io_common.scene import compat, curves, posing, selection
from ..formats.ani import FPS
from . import clip_curves, clips


def play(context: bpy.types.Context, obj: bpy.types.Object, item: Any) -> None:
    """Let an armature show a clip, from rest, and the scene have its range and the game's rate.

    Raises `UserError` when the entry has no motion.
    """
    scene = selection.scene(context)
    if item.action is None:
        raise UserError(f'the clip "{item.title}" has no motion to play')
    clip_curves.follow_names(obj, compat.all_curves(item.action))
    # A channel without curves keeps what the last clip left in it.
    posing.rest_pose(obj)
    compat.assign_action(obj, item.action, slot_for(obj, item.action))
    set_rate(scene, FPS)
    scene.frame_start, scene.frame_end = clips.span(item.action)
    scene.frame_set(scene.frame_start)


def slot_for(obj: bpy.types.Object, action: bpy.types.Action) -> Any:
    """The slot of an Action that moves the bones of `obj`; None where there are no slots, or none moves any."""
    names = {bone.name for bone in obj.data.bones}
    best, most = None, 0
    for slot, found in compat.curves_by_slot(action):
        moved = {channel[0] for curve in found if (channel := curves.channel_of(curve.data_path)) is not None}
        if slot is not None and len(moved & names) > most:
            best, most = slot, len(moved & names)
    return best


def set_rate(scene: bpy.types.Scene, rate: int) -> None:
    """Frames per second of the scene."""
    scene.render.fps, scene.render.fps_base = rate, 1.0
