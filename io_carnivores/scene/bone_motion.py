# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations as bone motion: the recovered skeleton as an armature, one Action per animation.

An Action made here keeps the frames it came from and a fingerprint of its curves: while both the curves and the rest
shape are as they were, the original frames go back into the file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.formats.quaternions import continuous, to_quaternions
from ...io_common.scene import armature, compat, selection
from ...io_common.scene import mesh as meshes
from ..formats import motion, recover
from ..formats.model import label
from . import clips, curves, kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.motion import Animation
    from ..formats.recover import Clip, Rig

# Bones that never leave their joint by more than this (file units) get no location curves; a step is 1/16.
_STILL = 0.004
_EVEN = 1e-4  # a scale this close to 1 gets no curves


@dataclass(frozen=True)
class Bones:
    """Bones that carry bodies: `names`, `parent` (B,) with -1 at the root, `rest` (B, 4, 4) armature-space matrices."""

    names: Sequence[str]
    parent: npt.NDArray[np.integer]
    rest: npt.NDArray[np.float64]


def build(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    rig: Rig,
    animations: Sequence[Animation],
    collection: bpy.types.Collection,
    fps: float,
) -> bpy.types.Object:
    """An armature for `obj` with an Action per animation; `clips.animations` must list them in the same order."""
    names = _show_rest(obj, rig)
    heads, ends = (FILE_Y_UP.apply(points) for points in (rig.heads, rig.tails))
    rig_object = armature.build(context, f"{obj.name} Armature", names, heads, rig.parent.tolist(), ends)
    for name, owner in zip(names, rig.owners.tolist(), strict=True):
        rig_object.data.bones[name][kept.OWNER_NUMBER] = owner
    collection.objects.link(rig_object)
    bones = Bones(names, rig.parent, _rest_matrices(rig_object, names))
    for item, animation, clip in zip(clips.animations(obj.data), animations, rig.clips, strict=True):
        if len(animation.frames):
            add(rig_object, item, animation, clip, bones, fps)
    first = next((item.action for item in clips.animations(obj.data) if item.action is not None), None)
    compat.assign_action(rig_object, first)
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
    owner = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
    shown = rig.owners.astype(np.int32)[rig.body]
    if owner is not None and not np.array_equal(owner, shown):
        meshes.set_attribute(mesh, kept.BODY, "INT", "POINT", shown)
    names = [armature.fit_bone_name(name) for name in rig.names]
    obj.vertex_groups.clear()
    meshes.set_rigid_groups(obj, names, rig.body)
    return names


def add(
    rig_object: bpy.types.Object,
    item: clips.CARNIVORES_PG_animation,
    animation: Animation,
    clip: Clip,
    bones: Bones,
    fps: float,
) -> None:
    """Give the armature the Action of one animation, which moves `bones` as `clip` says."""
    action = bpy.data.actions.new(label(animation.name) or item.name or "Animation")
    action.use_fake_user = True
    times = curves.START + motion.times(len(animation.frames), animation.kps) * fps
    local = local_motion(to_matrices(clip), bones.rest, bones.parent)
    _write(compat.curves(rig_object, action), bones.names, local, times)
    curves.seal(action, times)
    action[kept.FRAMES] = animation.frames.astype("<i2", copy=False).tobytes()
    action[kept.RIG_PRINT] = rig_print(rig_object)
    item.action, item.rate = action, fps


def _rest_matrices(rig_object: bpy.types.Object, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """(B, 4, 4) armature-space rest matrices, in the order of `names`."""
    bones = rig_object.data.bones
    return np.array([np.array(bones[name].matrix_local) for name in names], np.float64).reshape(-1, 4, 4)


def fitted(obj: bpy.types.Object, rig_object: bpy.types.Object, frames: npt.NDArray[np.int16]) -> tuple[Clip, Bones]:
    """The motion of the bones there are that comes closest to `frames` (N, V, 3), one rigid body per bone.

    The bodies are the vertices of each bone's group; those of none stay where they are.
    """
    bones = list(rig_object.data.bones)
    names = [bone.name for bone in bones]
    number = {name: index for index, name in enumerate(names)}
    parent = np.array([number[bone.parent.name] if bone.parent is not None else -1 for bone in bones], np.int64)
    wanted = np.array([number.get(group.name, -1) for group in obj.vertex_groups], np.int32)
    mesh = meshes.of(obj)
    body = meshes.heaviest_group(mesh, wanted, np.full(len(mesh.vertices), -1, np.int32))
    rest = FILE_Y_UP.undo(meshes.get_positions(mesh))
    clip = recover.refit(body, parent, rest, frames)
    return clip, Bones(names, parent, _rest_matrices(rig_object, names))


def is_recovered(obj: bpy.types.Object) -> bool:
    """Whether bones that were recovered from motion carry the mesh of `obj`."""
    rig = selection.armature_of(obj)
    return rig is not None and any(kept.has(bone, kept.OWNER_NUMBER) for bone in rig.data.bones)


def _write(bag: Any, names: Sequence[str], local: Local, times: npt.NDArray[np.float64]) -> None:
    """Quaternion, location and scale curves of every bone, linear between the frames of the file."""
    for bone, name in enumerate(names):
        group = bag.groups.new(name)
        path = f'pose.bones["{bpy.utils.escape_identifier(name)}"]'
        channels = [("rotation_quaternion", local.rotation[:, bone])]
        if np.abs(local.location[:, bone]).max() > _STILL:
            channels.append(("location", local.location[:, bone]))
        if np.abs(local.scale[:, bone] - 1.0).max() > _EVEN:
            channels.append(("scale", np.repeat(local.scale[:, bone, None], 3, axis=1)))
        for channel, values in channels:
            for index in range(values.shape[1]):
                points = np.stack((times, values[:, index]), axis=1)
                curves.write_curve(bag, f"{path}.{channel}", points, index, group)


def to_matrices(clip: Clip) -> npt.NDArray[np.float64]:
    """The motion of each body in file axes as (N, B, 4, 4) in Blender's axes."""
    order = list(FILE_Y_UP.order)
    matrices = np.zeros((*clip.rotation.shape[:2], 4, 4))
    matrices[..., :3, :3] = clip.rotation[..., order, :][..., order] * clip.scale[..., None, None]
    matrices[..., :3, 3] = clip.translation[..., order]
    matrices[..., 3, 3] = 1.0
    return matrices


@dataclass(frozen=True)
class Local:
    """What Blender keys, in each bone's own space: `rotation` (N, B, 4), `location` (N, B, 3), `scale` (N, B)."""

    rotation: npt.NDArray[np.float64]
    location: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]


def local_motion(
    world: npt.NDArray[np.float64], rest: npt.NDArray[np.float64], parents: npt.NDArray[np.integer]
) -> Local:
    """Keys that make every bone carry its body.

    `world` (N, B, 4, 4) moves the rest shape of each body in armature space, with an even scale at most; `rest`
    (B, 4, 4) are the bones' rest matrices. With M the rest matrix and D the motion, the key is M^-1 D_parent^-1 D M.
    """
    relative = world.copy()
    child = np.flatnonzero(parents >= 0)
    relative[:, child] = np.linalg.inv(world[:, parents[child]]) @ world[:, child]
    basis = np.linalg.inv(rest) @ relative @ rest
    scale = np.cbrt(np.linalg.det(basis[..., :3, :3]))
    rotation = basis[..., :3, :3] / scale[..., None, None]
    return Local(continuous(to_quaternions(rotation)), basis[..., :3, 3], scale)


def rig_print(rig_object: bpy.types.Object) -> str:
    """A digest of the bones that an Action moves."""
    digest = hashlib.blake2b(digest_size=16)
    bones = rig_object.data.bones
    digest.update("\0".join(bone.name for bone in bones).encode())
    for name in ("head_local", "tail_local"):
        values = np.empty(len(bones) * 3, np.float32)
        bones.foreach_get(name, values)
        # Blender rebuilds these from the parents when a file is loaded; the last bits are noise.
        digest.update(np.round(values, 1).tobytes())
    return digest.hexdigest()


def original_frames(obj: bpy.types.Object, action: bpy.types.Action) -> npt.NDArray[np.int16] | None:
    """The frames an Action was made of, (N, V, 3) i16, while it, its bones and the number of vertices are the same."""
    rig = selection.armature_of(obj)
    raw = kept.get_array(action, kept.FRAMES, "<i2")
    count = len(obj.data.vertices)
    if rig is None or not len(raw) or not count or len(raw) % (3 * count):
        return None
    if not curves.is_sealed(action):
        return None
    if kept.get(action, kept.RIG_PRINT, "") != rig_print(rig):
        return None
    return raw.reshape(-1, count, 3)


def edited_vertices(mesh: bpy.types.Mesh) -> npt.NDArray[np.bool_]:
    """(V,): whose rest position is not the one that was made for the skeleton, or who follow another bone now."""
    rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
    if rest is None:
        return np.zeros(len(mesh.vertices), np.bool_)
    return (meshes.get_positions(mesh) != rest).any(axis=1)
