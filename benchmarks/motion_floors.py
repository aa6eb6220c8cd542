# SPDX-License-Identifier: GPL-3.0-or-later
"""The floors of characters: the bare Blender calls for the same shape keys, curves, bones, sounds and kept bytes.

What is put in is read from a character that was imported, so that a floor can never be of something else.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from addon.io_carnivores.formats import sound_data
from addon.io_carnivores.scene import clips, kept
from addon.io_common.scene import compat

from benchmarks import floors

if TYPE_CHECKING:
    from addon.io_carnivores.formats.car import Character

_LINEAR = 1


@dataclass(frozen=True)
class Curve:
    """One F-curve: `co` (2n,) f32; `bone`: name of its group, empty for none."""

    path: str
    index: int
    bone: str
    co: Any


@dataclass(frozen=True)
class Moving:
    """A character in the form in which Blender takes it: `actions` holds the curves and the kept bytes of each."""

    still: floors.Ready
    keys: list[Any]
    actions: list[tuple[list[Curve], bytes]]
    sounds: list[bytes]


def ready(obj: bpy.types.Object, character: Character) -> Moving:
    """Do all that is not Blender's in advance; `obj` is the mesh of `character` as it was imported."""
    still = floors.ready(character.model)
    rig = obj.parent
    if rig is not None:
        bones = list(rig.data.bones)
        number = {bone.name: index for index, bone in enumerate(bones)}
        still.bone_names = [bone.name for bone in bones]
        still.heads = [tuple(bone.head_local) for bone in bones]
        still.tails = [tuple(bone.tail_local) for bone in bones]
        still.parents = [number[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
    group = {owner: index for index, owner in enumerate(np.unique(still.owner).tolist())}
    names = still.bone_names or [f"Owner {owner}" for owner in group]
    still.groups = [(names[index], np.flatnonzero(still.owner == owner).tolist()) for owner, index in group.items()]
    actions = [_action(item.action) for item in clips.animations(obj.data)]
    sounds = [sound_data.wav(sound.data) for sound in character.sounds]
    return Moving(still, key_points(obj), actions, sounds)


def _action(action: bpy.types.Action) -> tuple[list[Curve], bytes]:
    found = []
    for curve in compat.all_curves(action):
        co = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", co)
        found.append(Curve(curve.data_path, curve.array_index, curve.group.name if curve.group else "", co))
    return found, action.get(kept.PACKED_FRAMES, b"")


def build(data: Moving) -> None:
    """The model, its keys or bones, its Actions and sounds."""
    floors.build(data.still)
    obj = next(obj for obj in bpy.context.collection.objects if obj.type == "MESH" and obj.name.startswith("floor"))
    user: Any = obj.parent
    if data.keys:
        obj.shape_key_add(name="Basis", from_mix=False)
        user = obj.data.shape_keys
        user.use_relative = False
        for number, points in enumerate(data.keys):
            block = obj.shape_key_add(name=f"key {number}", from_mix=False)
            block.interpolation = "KEY_LINEAR"
            block.points.foreach_set("co", points)
    for curves, raw in data.actions:
        action = bpy.data.actions.new("floor")
        bag = compat.curves(user, action)
        _write(bag, curves)
        if raw:
            action["frames"] = raw
    with tempfile.TemporaryDirectory() as folder:
        for number, wave in enumerate(data.sounds):
            path = Path(folder) / f"{number}.wav"
            path.write_bytes(wave)
            bpy.data.sounds.load(str(path)).pack()


def _write(bag: Any, curves: list[Curve]) -> None:
    group = None
    for entry in curves:
        curve = bag.fcurves.new(entry.path, index=entry.index)
        if entry.bone:
            if group is None or group.name != entry.bone:
                group = bag.groups.new(entry.bone)
            curve.group = group
        points = curve.keyframe_points
        points.add(len(entry.co) // 2)
        for name in ("co", "handle_left", "handle_right"):
            points.foreach_set(name, entry.co)
        points.foreach_set("interpolation", np.full(len(entry.co) // 2, _LINEAR, np.uint8))


def key_points(obj: bpy.types.Object) -> list[Any]:
    """The coordinates of every shape key, the base key aside."""
    keys = obj.data.shape_keys
    found = []
    for block in list(keys.key_blocks)[1:] if keys is not None else []:
        points = np.empty(3 * len(obj.data.vertices), np.float32)
        block.points.foreach_get("co", points)
        found.append(points)
    return found


def extract(obj: bpy.types.Object) -> list[Any]:
    """The model, its sounds, and the frames as they are there: in keys, or kept by Actions whose curves are the same.

    That curves are the same shows only when they are read.
    """
    out = floors.extract(obj)
    out += [bytes(item.sound.packed_file.data) for item in clips.sounds(obj.data)]
    out += key_points(obj)
    if obj.data.shape_keys is None:
        for item in clips.animations(obj.data):
            out.append(item.action.get(kept.PACKED_FRAMES, b""))
            for curve in compat.all_curves(item.action):
                points = curve.keyframe_points
                co, kinds = np.empty(2 * len(points), np.float32), np.empty(len(points), np.uint8)
                points.foreach_get("co", co)
                points.foreach_get("interpolation", kinds)
                out += [co, kinds]
    return out


def evaluate(obj: bpy.types.Object, action: bpy.types.Action, times: list[float]) -> list[Any]:
    """The positions of every vertex at every frame of an Action: an evaluation for each."""
    out = []
    scene = bpy.context.scene
    compat.assign_action(obj.parent, action)
    for time in times:
        scene.frame_set(int(time), subframe=time - int(time))
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.attributes["position"].data.foreach_get("vector", points)
        out.append(points)
        evaluated.to_mesh_clear()
    return out
