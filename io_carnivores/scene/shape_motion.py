# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations as shape keys: one key per frame, exact, and one Action per animation.

Absolute keys need a single `eval_time` curve with two keyframes, because the games space the frames of an animation
evenly. Relative keys need a value curve per key; other exporters (glTF, FBX) understand only those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import armature, compat
from ...io_common.scene import mesh as meshes
from ..formats import motion
from ..formats.model import label
from . import base_edits, clips, curves, kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.motion import Animation

_NEAR = 1.0  # keys are 10 apart
_TITLE = 40  # bytes of the 63 that a key may be called, before its numbers


def build(obj: bpy.types.Object, animations: Sequence[Animation], *, relative: bool, fps: float) -> None:
    """Give `obj` a key per frame and an Action per animation; `clips.animations` must list them in the same order."""
    for number, (item, animation) in enumerate(zip(clips.animations(obj.data), animations, strict=True)):
        title = clips.block_title(label(animation.name) or item.name, number, len(animations), "Animation")
        if len(animation.frames):
            _add(obj, item, _values(animation), title, fps, relative=relative)
    first = next((item.action for item in clips.animations(obj.data) if item.action is not None), None)
    if first is not None:
        assign(obj, first)


def assign(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Let the keys of `obj` play an Action."""
    compat.assign_action(keys_of(obj), action)


def keys_of(obj: bpy.types.Object) -> bpy.types.Key:
    """The shape keys of an object that is known to have some."""
    return cast("bpy.types.Key", meshes.of(obj).shape_keys)


def add(
    obj: bpy.types.Object,
    item: clips.CARNIVORES_PG_animation,
    animation: Animation,
    fps: float,
    *,
    relative: bool = False,
    matrix: npt.NDArray[np.float64] | None = None,
) -> None:
    """Give `obj` the keys and the Action of one more animation.

    `relative` counts only where it has no keys yet; `matrix` (4, 4) takes Blender axes in file units to its own space.
    """
    if not len(animation.frames):
        return
    title = armature.fit_name(label(animation.name) or item.name) or "Animation"
    _add(obj, item, _values(animation, matrix), title, fps, relative=relative)


def _values(animation: Animation, matrix: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float32]:
    """The frames as positions in the mesh's own space, (N, 3V)."""
    values = FILE_Y_UP.apply(motion.positions(animation.frames))
    if matrix is not None:
        values = (values.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
    return np.ascontiguousarray(values, np.float32).reshape(len(values), -1)


def copy(obj: bpy.types.Object, source: clips.CARNIVORES_PG_animation, item: clips.CARNIVORES_PG_animation) -> bool:
    """Give `item` keys like those of `source`, unrounded; whether there were any."""
    numbers = block_numbers(meshes.of(obj), source)
    if numbers is None:
        return False
    values = points(meshes.of(obj), numbers)
    _add(
        obj,
        item,
        values,
        armature.fit_name(item.name) or "Animation",
        clips.rate_of(source),
        relative=keys_of(obj).use_relative,
    )
    if source.action is not None and item.action is not None:
        kept.copy(source.action, item.action, kept.MEAN)  # edits of the base are in the copy as they are in these
    return True


def _add(
    obj: bpy.types.Object,
    item: clips.CARNIVORES_PG_animation,
    points: npt.NDArray[np.float32],
    title: str,
    fps: float,
    *,
    relative: bool,
) -> None:
    """Keys and Action of `item` from `points` (N, 3V) in the mesh's own space."""
    item.first_key, item.last_key = append(obj, points, title, relative=relative)
    keys = keys_of(obj)
    first = between(keys, item.first_key, item.last_key)
    item.action = _action(keys, title, first[0] if first is not None else 0, len(points), item.kps, fps)
    item.rate = fps
    base_edits.remember(meshes.of(obj), item.action, points.reshape(len(points), -1, 3))


def append(
    obj: bpy.types.Object, points: npt.NDArray[np.float32], title: str, *, relative: bool
) -> tuple[float, float]:
    """A key for each row of `points` (N, 3V) behind all others; the places of the first and last on their time line.

    `relative` counts only where there are no keys yet.
    """
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False).interpolation = "KEY_LINEAR"
        keys_of(obj).use_relative = relative
    keys = keys_of(obj)
    number, count = len(keys.key_blocks), len(points)
    was_relative = keys.use_relative
    # A new absolute key may go where the time line stands, among the others; a relative one goes behind all of them.
    keys.use_relative = True
    named = armature.cut_name(title, _TITLE)
    if f"{named} 0000" in keys.key_blocks:  # with a number of our own, Blender need not look for a free one
        named = f"{named}.{number}"
    for frame, values in enumerate(points):
        block = obj.shape_key_add(name=f"{named} {frame:04d}", from_mix=False)
        block.interpolation, block.value = "KEY_LINEAR", 0.0
        block.points.foreach_set("co", values)
    keys.use_relative = was_relative
    return keys.key_blocks[number].frame, keys.key_blocks[number + count - 1].frame


def points(mesh: bpy.types.Mesh, numbers: range) -> npt.NDArray[np.float32]:
    """The keys of these numbers, (N, 3V)."""
    values = np.empty((len(numbers), len(mesh.vertices) * 3), np.float32)
    for row, number in zip(values, numbers, strict=True):
        mesh.shape_keys.key_blocks[number].points.foreach_get("co", row)
    return values


def _action(keys: bpy.types.Key, title: str, first: int, count: int, kps: int, fps: float) -> bpy.types.Action:
    action = bpy.data.actions.new(title)
    action.use_fake_user = True
    frames = curves.START + motion.times(count, kps) * fps
    bag = compat.curves(keys, action)
    if not keys.use_relative:
        blocks = keys.key_blocks
        ends = np.array([[frames[0], blocks[first].frame], [frames[-1], blocks[first + count - 1].frame]])
        curves.write_curve(bag, "eval_time", ends if count > 1 else ends[:1])
        curves.seal(action, frames)
        return action
    for offset in range(count):
        near = np.arange(max(offset - 1, 0), min(offset + 2, count))
        path = f'key_blocks["{bpy.utils.escape_identifier(keys.key_blocks[first + offset].name)}"].value'
        curves.write_curve(bag, path, np.stack((frames[near], (near == offset).astype(float)), axis=1))
    curves.seal(action, frames)
    return action


def block_numbers(mesh: bpy.types.Mesh, item: clips.CARNIVORES_PG_animation) -> range | None:
    """The numbers of an animation's keys among the mesh's; None when they are not all there, one after the other."""
    keys = mesh.shape_keys
    if item.first_key < 0 or keys is None:
        return None
    found = between(keys, item.first_key, item.last_key)
    return found if found is not None and len(found) == item.frames else None


def between(keys: bpy.types.Key, first: float, last: float) -> range | None:
    """The numbers of the keys from one place on their time line to another; None when there are no such places.

    Keys are known by the place on their time line, which they keep whatever is done to the others.
    """
    places = np.empty(len(keys.key_blocks), np.float32)
    keys.key_blocks.foreach_get("frame", places)
    ends = [np.flatnonzero(np.abs(places - np.float32(place)) < _NEAR) for place in (first, last)]
    if len(ends[0]) != 1 or len(ends[1]) != 1:
        return None
    return range(int(ends[0][0]), int(ends[1][0]) + 1)


def frames_of(mesh: bpy.types.Mesh, item: clips.CARNIVORES_PG_animation) -> npt.NDArray[np.float32] | None:
    """The frames of an animation straight from its keys, (N, V, 3) f32 in the axes of the file.

    None when the keys are not all there, or when its Action plays them otherwise than one after the other.
    """
    numbers = block_numbers(mesh, item)
    if numbers is None or (item.action is not None and not curves.is_sealed(item.action)):
        return None
    values = points(mesh, numbers).reshape(len(numbers), -1, 3)
    return np.asarray(FILE_Y_UP.undo(values), np.float32)


@dataclass(frozen=True)
class Mix:
    """How keys are mixed: the `values` of all K of them, (K,) f32, and where absolute ones stand in time."""

    values: npt.NDArray[np.float32]
    time: float


def silence(mesh: bpy.types.Mesh) -> Mix | None:
    """Take every relative key of an animation out of the mix, so that only the Action counts; how it was before."""
    keys = mesh.shape_keys
    if keys is None:
        return None
    before = Mix(np.empty(len(keys.key_blocks), np.float32), keys.eval_time)
    keys.key_blocks.foreach_get("value", before.values)
    if keys.use_relative:
        for item in clips.animations(mesh):
            for number in block_numbers(mesh, item) or ():
                keys.key_blocks[number].value = 0.0
    return before


def mix_again(mesh: bpy.types.Mesh, before: Mix | None) -> None:
    """Mix keys as they were, those too that an Action moved which is none of the list."""
    keys = mesh.shape_keys
    if keys is not None and before is not None:
        keys.key_blocks.foreach_set("value", before.values)
        keys.eval_time = before.time


def remove(obj: bpy.types.Object, item: clips.CARNIVORES_PG_animation) -> None:
    """Take the keys of an animation away, and the base key with the last of them."""
    numbers = block_numbers(meshes.of(obj), item)
    if numbers is None:
        return
    take_away(obj, numbers)
    item.first_key = item.last_key = -1.0


def take_away(obj: bpy.types.Object, numbers: range) -> None:
    """Remove the keys of these numbers, and the base key when nothing else is left."""
    for block in [keys_of(obj).key_blocks[number] for number in reversed(numbers)]:
        obj.shape_key_remove(block)
    if len(keys_of(obj).key_blocks) == 1:
        obj.shape_key_clear()
