# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of a character, edited: entries keep their own motion, frames and sound whatever is done to the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.formats import files, registry
from ...io_common.formats.errors import UserError
from ...io_common.scene import compat, selection
from ...io_common.scene import mesh as meshes
from ..formats import ani, car, vtl
from ..formats.car import SOUND_RATE
from ..formats.model import label
from ..formats.motion import Animation
from . import animation_files, bake, clips, curves, frames, kept, shape_motion, soft_keys, sound_table, sounds

if TYPE_CHECKING:
    from pathlib import Path

WAV_HEAD = 44  # bytes before the samples of the files that are packed here
# What a new entry takes over from the one it is a copy of.
_COPIED = ("kps", "frames", "rate", "own_rate", "use_length", "use_scene", "start", "end", "sound", "last_index")


def add_action(context: bpy.types.Context, obj: bpy.types.Object, action: bpy.types.Action) -> Any:
    """Append an animation that is baked from `action` at export. Raises `UserError` when it moves nothing of `obj`."""
    if not bake.targets([obj], action):
        raise UserError(f'the Action "{action.name}" moves nothing of "{obj.name}", its bones or its shape keys')
    item = _append(context, meshes.of(obj), action.name)
    item.action, item.use_length = action, True
    item.frames = frames.frame_count(selection.scene(context), item)
    return item


def add_range(context: bpy.types.Context, obj: bpy.types.Object) -> Any:
    """Append an animation of whatever the scene shows over its range of frames."""
    item = _append(context, meshes.of(obj), obj.name)
    item.use_scene = True
    item.start, item.end = float(context.scene.frame_start), float(context.scene.frame_end)
    item.frames = frames.frame_count(selection.scene(context), item)
    return item


def _append(context: bpy.types.Context, mesh: bpy.types.Mesh, name: str) -> Any:
    item = clips.animations(mesh).add()
    item.name = name
    item.rate = item.own_rate = frames.scene_rate(selection.scene(context))
    item.kps = max(1, round(item.rate))
    number = len(clips.animations(mesh)) - 1
    sound_table.insert(mesh, number)
    setattr(mesh, clips.ACTIVE_ANIMATION, number)
    return item


def remove(obj: bpy.types.Object, number: int) -> None:
    """Take an animation out of the list, with its keys; its Action stays where something else uses it."""
    mesh = meshes.of(obj)
    _drop_motion(obj, clips.animations(mesh)[number])
    clips.animations(mesh).remove(number)
    sound_table.remove(mesh, number)
    left = len(clips.animations(mesh))
    setattr(mesh, clips.ACTIVE_ANIMATION, max(0, min(getattr(mesh, clips.ACTIVE_ANIMATION), left - 1)))


def _drop_motion(obj: bpy.types.Object, item: Any) -> None:
    shape_motion.remove(obj, item)
    soft_keys.remove(obj, item)
    dropped = clips.actions(item)
    item.action = item.soft_action = None
    for action in dropped:
        if any(action in clips.actions(entry) for entry in clips.animations(obj.data)):
            continue
        curves.drop(action)
        for aim in bake.targets([obj], action):
            data = compat.animation_data(aim.block)
            if data is not None and data.action == action:
                data.action = None


def move(mesh: bpy.types.Mesh, number: int, to: int) -> None:
    """Change the order of export."""
    clips.animations(mesh).move(number, to)
    setattr(mesh, clips.ACTIVE_ANIMATION, to)


def duplicate(obj: bpy.types.Object, number: int) -> Any:
    """A copy of an animation behind it, with keys or an Action of its own."""
    mesh = meshes.of(obj)
    items = clips.animations(mesh)
    items.add()
    source, item = items[number], items[len(items) - 1]
    for name in _COPIED:
        setattr(item, name, getattr(source, name))
    item.name = f"{source.name} copy"
    item.table_value = source.sound
    if not shape_motion.copy(obj, source, item) and source.action is not None:
        item.action = _copy_of(source.action)
        item.soft_action = _copy_of(source.soft_action) if source.soft_action is not None else None
        soft_keys.copy(obj, source, item)
    sound_table.insert(mesh, number + 1)
    move(mesh, len(items) - 1, number + 1)
    return items[number + 1]


def _copy_of(action: bpy.types.Action) -> bpy.types.Action:
    """A copy; an Action that was made elsewhere is the user's, and may serve several entries."""
    return action.copy() if kept.has(action, kept.CURVES_PRINT) else action


def replace(context: bpy.types.Context, obj: bpy.types.Object, number: int, path: Path, name: str = "") -> None:
    """Give an entry the motion of a file: a VTL, an ANI or the animation `name` of a CAR (the first when empty).

    Its name, sound and place stay. Raises `UserError`, and then nothing has changed.
    """
    animation, last_index = read_animation(path, name)
    count = len(obj.data.vertices)
    if animation.frames.shape[1] != count:
        raise UserError(
            f'this animation needs a mesh of {animation.frames.shape[1]} vertices, and "{obj.name}" has {count}',
            path=path,
        )
    animation_files.to_own_space(context, obj)
    item = clips.animations(obj.data)[number]
    _drop_motion(obj, item)
    item.kps, item.frames, item.last_index = animation.kps, len(animation.frames), last_index
    item.use_length = item.use_scene = item.is_missing = False
    named = Animation(clips.raw_name(item), animation.kps, animation.frames)
    animation_files.show(context, obj, item, named)


def read_animation(path: Path, name: str = "") -> tuple[Animation, bool]:
    """One animation of a file, and whether a VTL stated its last frame."""
    data = files.read_file(path)
    head, size = data[: registry.HEAD], len(data)
    try:
        if path.suffix.lower() == ".car":
            return _of_car(car.read(data), name), False
        if path.suffix.lower() == ".vtl" or (vtl.sniff(head, size) and not ani.sniff(head, size)):
            found = vtl.read(data)
            return found.animation, found.last_index
        return ani.read(data), False
    except UserError as error:
        raise error.at(path) from error


def _of_car(character: car.Character, name: str) -> Animation:
    listed = character.animations
    if not listed:
        raise UserError("there is no animation in this file")
    found = next((entry for entry in listed if label(entry.name) == name), None) if name else listed[0]
    if found is None:
        titles = ", ".join(f'"{label(entry.name)}"' for entry in listed)
        raise UserError(f'there is no animation "{name}" in this file, it has {titles}')
    return found


def retime_all(context: bpy.types.Context, rate: float) -> None:
    """Set the scene to `rate` frames a second and move the keyframes of all characters along, so that seconds stay."""
    done: set[bpy.types.Action] = set()
    old_scene = frames.scene_rate(selection.scene(context))
    for mesh in bpy.data.meshes:
        for item in clips.animations(mesh):
            old = clips.rate_of(item) or old_scene
            for action in clips.actions(item):
                if action not in done:
                    done.add(action)
                    curves.stretch(action, rate / old)
            if item.use_scene:
                item.end = item.start + (item.end - item.start) * rate / old
            item.rate = rate
    frames.set_scene_rate(selection.scene(context), rate)


def add_sound(mesh: bpy.types.Mesh, path: Path) -> Any:
    """Append a sound made from any sound file. Raises `UserError` when it cannot be read."""
    sound = sounds.load(path)
    item = clips.sounds(mesh).add()
    item.name = path.stem
    item.sound = sound
    setattr(mesh, clips.ACTIVE_SOUND, len(clips.sounds(mesh)) - 1)
    return item


def seconds_of(item: Any) -> float:
    """How long a sound of the list plays, as long as it is what a CAR holds; 0 when it cannot be told."""
    packed = item.sound.packed_file if item.sound is not None else None
    return max(packed.size - WAV_HEAD, 0) / 2 / SOUND_RATE if packed is not None else 0.0


def remove_sound(mesh: bpy.types.Mesh, number: int) -> None:
    """Take a sound out of the list; animations that started it are silent then, the others keep theirs."""
    count = len(clips.sounds(mesh))
    clips.sounds(mesh).remove(number)
    for item in clips.animations(mesh):
        known = 0 <= item.table_value < count
        if item.sound == number:
            item.sound = clips.NO_SOUND
        elif item.sound > number:
            item.sound -= 1
        if known:
            item.table_value = item.sound
    setattr(mesh, clips.ACTIVE_SOUND, max(0, min(getattr(mesh, clips.ACTIVE_SOUND), count - 2)))
