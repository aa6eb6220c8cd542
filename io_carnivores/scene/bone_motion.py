# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations as bone motion: the recovered skeleton as an armature, one Action per animation.

An Action made here keeps the frames it came from, how the bones were to stand in each, and a fingerprint of its curves:
what was not edited since goes back into the file as it came.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import armature, compat, selection
from ...io_common.scene import mesh as meshes
from ..formats import affine, bone_space, motion, recover
from ..formats.bone_space import Local
from ..formats.model import label
from . import beside, clips, curves, kept, numbering, originals, resting, soft_keys
from .originals import Binding
from .vertices import Weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.motion import Animation
    from ..formats.recover import Rig

# Bones that never leave their joint by more than this (file units) get no location curves; a step is 1/16.
_STILL = 0.004
_FLAT = 1e-30  # of a determinant
_NEAR = 0.02  # file units; a third of a step
_EVEN = 1e-4  # a scale this close to 1 gets no curves
# What a bone takes over from its parent, and how it carries vertices.
_FLAGS = (
    "use_connect",
    "use_inherit_rotation",
    "inherit_scale",
    "use_local_location",
    "use_relative_parent",
    "use_deform",
    "bbone_segments",
)


@dataclass(frozen=True)
class Bones:
    """Bones that carry bodies: `names`, `parent` (B,) with -1 at the root, `rest` (B, 4, 4) armature-space matrices."""

    names: Sequence[str]
    parent: npt.NDArray[np.integer]
    rest: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Keyed:
    """Which bones leave their joints, and which change their size, (B,) each, in any of several motions.

    An Action that said nothing of them would show them as the one before left them.
    """

    location: npt.NDArray[np.bool_]
    scale: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, moved: Sequence[Local], count: int) -> Keyed:
        """Of motions of `count` bones."""
        location, scale = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for local in moved:
            location |= local.location.any(axis=(0, 2))
            scale |= (local.scale != 1.0).any(axis=0)
        return cls(location, scale)


@dataclass(frozen=True)
class Stage:
    """What Actions are made for: the vertices `binding` of `mesh`, carried by the `bones` of `rig`, at a scene rate."""

    mesh: bpy.types.Mesh
    rig: bpy.types.Object
    bones: Bones
    binding: Binding
    fps: float


def build(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    rig: Rig,
    animations: Sequence[Animation],
    fps: float,
    *,
    correctives: bool = False,
) -> bpy.types.Object:
    """An armature for `obj` with an Action per animation; `clips.animations` must list them in the same order.

    `correctives`: shape keys show what bones cannot.
    """
    names = _show_rest(obj, rig)
    heads, ends = (FILE_Y_UP.apply(points) for points in (rig.heads, rig.tails))
    rig_object = armature.build(context, f"{obj.name} Armature", names, heads, rig.parent.tolist(), ends)
    for name, owner in zip(names, rig.owners.tolist(), strict=True):
        rig_object.data.bones[name][kept.OWNER_NUMBER] = owner
        rig_object.data.bones[name][kept.BONE_NAME] = name
    obj.users_collection[0].objects.link(rig_object)
    bones = Bones(names, rig.parent, _rest_matrices(rig_object, names))
    stage = Stage(meshes.of(obj), rig_object, bones, Binding(np.arange(len(rig.body)), rig.body, rig.rest), fps)
    distinct = {id(clip): clip for clip in rig.clips}  # several animations may be of one file
    local_of = {
        key: _as_keyed(bone_space.local_motion(bone_space.to_matrices(clip), bones.rest, bones.parent))
        for key, clip in distinct.items()
    }
    moved = [local_of[id(clip)] for clip in rig.clips]
    keyed = Keyed.of(moved, len(names))
    for number, (item, animation, local) in enumerate(zip(clips.animations(obj.data), animations, moved, strict=True)):
        if len(animation.frames):
            title = clips.block_title(label(animation.name) or item.name, number, len(animations), "Animation")
            _add(stage, item, animation, local, keyed, title)
    if correctives:
        soft_keys.show(obj)
    first = next((item for item in clips.animations(obj.data) if item.action is not None), None)
    compat.assign_action(rig_object, first.action if first is not None else None)
    if first is not None:
        soft_keys.play(obj, first)
    return rig_object


def _show_rest(obj: bpy.types.Object, rig: Rig) -> list[str]:
    """Put the mesh into the rest shape, its vertices on the recovered bones; returns the bones' names."""
    mesh = meshes.of(obj)
    base = meshes.get_positions(mesh)
    rest = FILE_Y_UP.apply(rig.rest)
    meshes.set_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT", rest)
    if rest.tobytes() != base.tobytes():
        meshes.set_attribute(mesh, kept.BASE, "FLOAT_VECTOR", "POINT", base)
        meshes.set_attribute(mesh, "position", "FLOAT_VECTOR", "POINT", rest)
        mesh.update()
    numbering.start(mesh)
    owner = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
    shown = rig.owners.astype(np.int32)[rig.body]
    if owner is not None and not np.array_equal(owner, shown):
        meshes.set_attribute(mesh, kept.BODY, "INT", "POINT", shown)
    names = [armature.fit_bone_name(name) for name in rig.names]
    obj.vertex_groups.clear()
    meshes.set_rigid_groups(obj, names, rig.body)
    return names


def _add(
    stage: Stage,
    item: clips.CARNIVORES_PG_animation,
    animation: Animation,
    local: Local,
    keyed: Keyed,
    title: str,
) -> None:
    """Give the armature the Action of one animation, which moves its bones as `local` says."""
    bones = stage.bones
    action = bpy.data.actions.new(title)
    action.use_fake_user = True
    times = curves.START + motion.times(len(animation.frames), animation.kps) * stage.fps
    printed = _write(compat.curves(stage.rig, action), bones.names, local, times, keyed)
    curves.seal(action, times, printed)
    world = bone_space.world_motion(local, bones.rest, bones.parent)
    if stage.binding.carried is not None:
        carried = stage.binding.carried
        world = _even(carried @ world @ np.linalg.inv(carried))
    poses = bone_space.poses(world)
    originals.keep(action, stage.mesh, animation.frames, poses, stage.binding)
    action[kept.RIG_PRINT] = rig_print(stage.rig)
    item.action, item.rate = action, stage.fps


def _as_keyed(local: Local) -> Local:
    """What is left of `local` when it is keyed: single precision, and no curve for what hardly changes."""
    rotation, location, scale = (
        np.asarray(values, np.float32).astype(np.float64) for values in (local.rotation, local.location, local.scale)
    )
    still = np.abs(location).max(axis=(0, 2), initial=0.0) <= _STILL
    even = np.abs(scale - 1.0).max(axis=0, initial=0.0) <= _EVEN
    location[:, still], scale[:, even] = 0.0, 1.0
    return Local(rotation, location, scale)


def _rest_matrices(rig_object: bpy.types.Object, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """(B, 4, 4) armature-space rest matrices, in the order of `names`."""
    bones = rig_object.data.bones
    return np.array([np.array(bones[name].matrix_local) for name in names], np.float64).reshape(-1, 4, 4)


def fit(
    obj: bpy.types.Object,
    rig_object: bpy.types.Object,
    item: clips.CARNIVORES_PG_animation,
    animation: Animation,
    fps: float,
    to_own: npt.NDArray[np.float64] | None = None,
) -> None:
    """Give the armature an Action of its bones as they are, that comes closest to `animation`, a rigid body per bone.

    `to_own` (4, 4): from where the file shows its frames to the space of `obj`, Blender axes; None: the same.
    The bodies are the vertices of each bone's group; those of none stay where they are.
    """
    bones = list(rig_object.data.bones)
    names = [bone.name for bone in bones]
    number = {name: index for index, name in enumerate(names)}
    parent = np.array([number[bone.parent.name] if bone.parent is not None else -1 for bone in bones], np.int64)
    wanted = np.array([number.get(group.name, -1) for group in obj.vertex_groups], np.int32)
    mesh = meshes.of(obj)
    body = meshes.heaviest_group(mesh, wanted, np.full(len(mesh.vertices), -1, np.int32))
    place = np.asarray(np.linalg.inv(to_own), np.float64) if to_own is not None else None
    carried = into_frames(obj, rig_object, np.eye(4) if place is None else place)
    positions = meshes.get_positions(mesh)
    shape = positions if place is None else affine.moved(positions, place).astype(np.float32)
    rest = FILE_Y_UP.undo(shape)
    clip = recover.refit(body, parent, rest, animation.frames)
    weights = Weights.of(obj, mesh)
    prints = weights.prints if weights.regrouped.any() else None
    binding = Binding(numbering.complete(mesh), body, rest, prints, place, carried)
    moved = Bones(names, parent, _rest_matrices(rig_object, names))
    world = bone_space.to_matrices(clip)
    if carried is not None:
        world = _even(np.linalg.inv(carried) @ world @ carried)
    local = _as_keyed(bone_space.local_motion(world, moved.rest, parent))
    title = armature.fit_name(label(animation.name) or item.name) or "Animation"
    _add(Stage(mesh, rig_object, moved, binding, fps), item, animation, local, Keyed.of([local], len(names)), title)
    resting.complete(rig_object, mesh)
    if soft_keys.any_of(mesh):
        soft_keys.show(obj)


def into_frames(
    obj: bpy.types.Object, rig_object: bpy.types.Object, place: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | None:
    """(4, 4) from the space of the armature to that of frames, to which `place` leads from the mesh; None: the same."""
    own, rig = (np.array(entry.matrix_world, np.float64) for entry in (obj, rig_object))
    if abs(np.linalg.det(rig)) < _FLAT or abs(np.linalg.det(own)) < _FLAT:
        return None
    carried: npt.NDArray[np.float64] = place @ np.linalg.inv(own) @ rig
    return None if is_near(carried, np.eye(4)) else carried


def is_near(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    """Whether two spaces are the same but for the rounding of single precision."""
    off = np.abs(first - second)
    return bool(off[:3, :3].max() <= _EVEN and off[:3, 3].max() <= _NEAR)


def _even(world: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Motion (N, B, 4, 4) without shear and uneven scale, as bones can show it."""
    left, size, right = np.linalg.svd(world[..., :3, :3])
    out = world.copy()
    out[..., :3, :3] = (left @ right) * size.mean(axis=-1)[..., None, None]
    return out


def _write(bag: Any, names: Sequence[str], local: Local, times: npt.NDArray[np.float64], keyed: Keyed) -> str:
    """Quaternion, location and scale curves of the bones, linear between the frames of the file; their fingerprint."""
    pen = curves.Pen(bag)
    for bone, name in enumerate(names):
        group = bag.groups.new(name)
        channels = [("rotation_quaternion", local.rotation[:, bone])]
        if keyed.location[bone]:
            channels.append(("location", local.location[:, bone]))
        if keyed.scale[bone]:
            channels.append(("scale", np.repeat(local.scale[:, bone, None], 3, axis=1)))
        for channel, values in channels:
            pen.write(curves.path_of(name, channel), times, values, group)
    return pen.fingerprint(times)


def rig_print(rig_object: bpy.types.Object, names: Sequence[str] | None = None) -> str:
    """A digest of the bones that an Action moves, under other `names` where given; all that bears on a pose."""
    digest = hashlib.blake2b(digest_size=16)
    bones = rig_object.data.bones
    digest.update("\0".join(names or [bone.name for bone in bones]).encode())
    number = {bone.name: index for index, bone in enumerate(bones)}
    parents = [number[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
    digest.update(np.array(parents, np.int32).tobytes())
    for name in _FLAGS:
        flags = np.empty(len(bones), np.int32)
        bones.foreach_get(name, flags)
        digest.update(flags.tobytes())
    # Blender rebuilds rest poses from the parents when a file is loaded; the last bits are noise.
    rest = np.empty((len(bones), 4, 4), np.float32)
    bones.foreach_get("matrix_local", rest.reshape(-1))
    for values, digits in ((rest[:, :3, :3], 3), (rest[:, 3, :3], 1)):
        digest.update((np.round(values, digits) + 0.0).tobytes())  # without the sign of 0
    return digest.hexdigest()


def is_untouched(obj: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether `action` and the bones it moves are as they were made, and nothing beside it moves the vertices."""
    rig = selection.armature_of(obj)
    if rig is None or not curves.is_sealed(action) or kept.get(action, kept.RIG_PRINT, "") != rig_print(rig):
        return False
    return beside.bones_alone(obj)
