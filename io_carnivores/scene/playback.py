# SPDX-License-Identifier: GPL-3.0-or-later
"""One animation of a character, set up to be played: Action, range, rate, and its sound on the timeline."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.formats.errors import UserError
from ...io_common.formats.files import safe_stem
from ...io_common.scene import armature, compat, posing, selection
from ...io_common.scene import mesh as meshes
from . import bake, bone_rename, clip_edit, clips, frames, rig_transform, shape_motion, soft_keys, sounds

if TYPE_CHECKING:
    from collections.abc import Sequence

STRIP = "carnivores_sound"  # custom property of a strip that was put there by this


def show(context: bpy.types.Context, objects: Sequence[bpy.types.Object], item: Any) -> None:
    """Let `objects` show an animation, and the scene's range be its own.

    Raises `UserError` when the animation has no motion.
    """
    if item.action is None and not item.use_scene:
        raise UserError(f'the animation "{item.name}" has no motion to play')
    for obj in objects:
        bone_rename.mend(obj)
        rig_transform.mend(obj)
    if item.action is not None:
        aims = bake.targets(objects, item.action)
        if not aims:
            raise UserError(f'the Action "{item.action.name}" moves nothing of "{objects[0].name}"')
        for aim in aims:
            if aim.block in {selection.armature_of(obj) for obj in objects}:
                posing.rest_pose(aim.block)  # what the Action does not key is where the last one left it
            compat.assign_action(aim.block, aim.action, aim.slot)
    for obj in objects:
        obj.show_only_shape_key = False
        if obj.type == "MESH":
            soft_keys.play(obj, item)
            shape_motion.silence(meshes.of(obj))
    scene = selection.scene(context)
    frames.take_range(scene, item)
    scene.frame_set(min(max(scene.frame_current, scene.frame_start), scene.frame_end))


def play(context: bpy.types.Context, objects: Sequence[bpy.types.Object], item: Any, *, use_rate: bool = False) -> bool:
    """`show`, from the first frame, at the rate the animation is laid out for; whether a sound goes with it.

    `use_rate`: it and all others are laid out anew for the rate at which its own keys lie on whole frames. Raises
    `UserError` when the animation has no motion.
    """
    scene = selection.scene(context)
    show(context, objects, item)
    if use_rate:
        clip_edit.retime_all(context, frames.own_rate(scene, item))
        frames.take_range(scene, item)
    elif clips.rate_of(item) and not math.isclose(item.rate, frames.scene_rate(scene), rel_tol=1e-6):
        frames.set_scene_rate(scene, item.rate)
    scene.frame_set(scene.frame_start)
    stop(scene)
    sound = sound_of(meshes.of(objects[0]), item)
    return sound is not None and _add_strip(scene, sound, scene.frame_start)


def sound_of(mesh: bpy.types.Mesh, item: Any) -> bpy.types.Sound | None:
    """The Sound that starts with an animation."""
    listed = clips.sounds(mesh)
    return listed[item.sound].sound if 0 <= item.sound < len(listed) else None


def stop(scene: bpy.types.Scene) -> None:
    """Take the sound off the timeline."""
    for strip in compat.strips_if_any(scene):
        if STRIP in strip:
            compat.strips(scene).remove(strip)


def _add_strip(scene: bpy.types.Scene, sound: bpy.types.Sound, start: int) -> bool:
    """The sound on a free channel. Blender makes strips of files only: the strip gets the packed Sound afterwards."""
    if not compat.has_audio():
        return False
    strips = compat.strips(scene)
    channel = 1 + max((strip.channel for strip in strips), default=0)
    before = set(bpy.data.sounds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{safe_stem(sound.name, 'sound')}.wav"
        path.write_bytes(sounds.wav_of(sound))
        strip = strips.new_sound(armature.cut_name(sound.name, 50), str(path), channel, start)
        strip.sound = sound
    strip[STRIP] = True
    for extra in set(bpy.data.sounds) - before:
        bpy.data.sounds.remove(extra)
    return True
