# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations as shape keys: one key per frame, exact, and one Action per animation.

Absolute keys need a single `eval_time` curve with two keyframes, because the games space the frames of an animation
evenly. Relative keys need a value curve per key; other exporters (glTF, FBX) understand only those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import compat
from ..formats import motion
from ..formats.model import label
from . import clips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.motion import Animation

LINEAR = 1  # interpolation of a keyframe


def build(obj: bpy.types.Object, animations: Sequence[Animation], *, relative: bool, fps: float) -> None:
    """Give `obj` a key per frame and an Action per animation; `clips.animations` must list them in the same order."""
    if not any(len(entry.frames) for entry in animations):
        return
    basis = obj.shape_key_add(name="Basis", from_mix=False)
    basis.interpolation = "KEY_LINEAR"
    keys = obj.data.shape_keys
    keys.use_relative = relative
    number = 1
    for item, animation in zip(clips.animations(obj.data), animations, strict=True):
        item.first_key = number
        title = label(animation.name) or item.name or "Animation"
        points = FILE_Y_UP.apply(motion.positions(animation.frames)).reshape(len(animation.frames), -1)
        for frame, values in enumerate(points):
            block = obj.shape_key_add(name=f"{title[:40]} {frame:04d}", from_mix=False)
            block.interpolation = "KEY_LINEAR"
            block.points.foreach_set("co", values)
        if len(points):
            item.action = _action(keys, title, number, len(points), animation.kps, fps, relative=relative)
        number += len(points)
    first = next((item.action for item in clips.animations(obj.data) if item.action is not None), None)
    compat.assign_action(keys, first)


def _action(
    keys: bpy.types.Key, title: str, first: int, count: int, kps: int, fps: float, *, relative: bool
) -> bpy.types.Action:
    action = bpy.data.actions.new(title)
    action.use_fake_user = True
    frames = 1.0 + motion.times(count, kps) * fps
    bag = compat.curves(keys, action)
    if not relative:
        blocks = keys.key_blocks
        ends = np.array([[frames[0], blocks[first].frame], [frames[-1], blocks[first + count - 1].frame]])
        write_curve(bag, "eval_time", ends if count > 1 else ends[:1])
        return action
    for offset in range(count):
        near = np.arange(max(offset - 1, 0), min(offset + 2, count))
        path = f'key_blocks["{bpy.utils.escape_identifier(keys.key_blocks[first + offset].name)}"].value'
        write_curve(bag, path, np.stack((frames[near], (near == offset).astype(float)), axis=1))
    return action


def write_curve(bag: object, path: str, points: npt.NDArray[np.float64], index: int = 0) -> None:
    """One F-curve through `points` (n, 2) of frame and value, linear in between."""
    curve = bag.fcurves.new(path, index=index)  # type: ignore[attr-defined]
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.uint8))
    curve.update()


def frames_of(mesh: bpy.types.Mesh, item: clips.CARNIVORES_PG_animation) -> npt.NDArray[np.int16] | None:
    """The frames of an animation straight from its keys, (N, V, 3) i16; None when the keys are not all there."""
    keys = mesh.shape_keys
    if item.first_key < 0 or keys is None or item.first_key + item.frames > len(keys.key_blocks):
        return None
    count = len(mesh.vertices)
    points = np.empty((item.frames, count * 3), np.float32)
    for offset in range(item.frames):
        keys.key_blocks[item.first_key + offset].points.foreach_get("co", points[offset])
    return motion.quantise(FILE_Y_UP.undo(points.reshape(item.frames, count, 3)))
