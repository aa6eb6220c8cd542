# SPDX-License-Identifier: GPL-3.0-or-later
"""The animations of a character given to another mesh that lies over it: an edited, remeshed or decimated one.

Vertices that lie on one of the character are written with that vertex's frames. The others follow the bone, or the
owner, of the nearest place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.formats.digest import Digest
from ...io_common.formats.errors import UserError
from ...io_common.scene import compat, selection
from ...io_common.scene import mesh as meshes
from ..formats import bone_space, carry, motion
from ..formats.motion import Animation
from . import (
    bake,
    bone_motion,
    clip_copy,
    clips,
    curves,
    frames,
    hang,
    kept,
    numbering,
    originals,
    own,
    part,
    rig_motion,
    shape_motion,
    soft_keys,
    vertices,
)
from .options import ExportCharacterOptions, ExportOptions

if TYPE_CHECKING:
    import numpy.typing as npt

_PLACE = ("location", "rotation_mode", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
_DELTA = ("delta_location", "delta_rotation_quaternion", "delta_rotation_euler", "delta_scale")
_DEFORM = ("use_vertex_groups", "use_bone_envelopes", "use_deform_preserve_volume", "vertex_group", "show_viewport")


@dataclass(frozen=True)
class Settings:
    """How to do it.

    `shape`: over which shape of the character the mesh was made, see `hang.fit`; `blend`: new vertices may follow
    several bones; `use_rig_copy`: bones of its own.
    """

    shape: str = "AUTO"
    blend: bool = False
    use_rig_copy: bool = False


@dataclass(frozen=True)
class Outcome:
    """`animations` now in the list; `exact` vertices with the frames of the character, out of `vertices`; `shape`."""

    animations: int
    exact: int
    vertices: int
    shape: str


def transfer(
    context: bpy.types.Context, target: bpy.types.Object, source: bpy.types.Object, settings: Settings | None = None
) -> Outcome:
    """Give the mesh object `target` the bones, animations, sounds and names of the character `source`.

    Raises `UserError`, and then nothing has changed, when `source` has no motion or the two do not lie over each other.
    """
    chosen = settings or Settings()
    _require(target, source)
    with selection.object_mode(context, (target, source)):
        fit = hang.fit(context, target, source, chosen.shape)
        written = _written(context, source)
        _own_mesh(target)
        _place(context, target, source)
        _shape(target, source, fit)
        _weights(target, source, fit, blend=chosen.blend)
        rig = _carry(target, source, chosen)
        clip_copy.file_facts(meshes.of(source), meshes.of(target))
        pairs = clip_copy.lists(meshes.of(source), meshes.of(target))
        _give_motion(_Job(context, target, source, fit, chosen.blend), pairs, written)
        if chosen.use_rig_copy and rig is not None:
            first = next((item.action for _old, item in pairs if item.action is not None), None)
            compat.assign_action(rig, first)
    return Outcome(len(pairs), fit.exact, len(fit.held.points), fit.shape)


def _require(target: bpy.types.Object, source: bpy.types.Object) -> None:
    """Raise `UserError` for two objects that this cannot be done with."""
    if target == source or target.data == source.data:
        raise UserError(f'"{target.name}" is the same mesh as the character; select another one')
    own.require(target)
    if not len(clips.animations(source.data)) and selection.armature_of(source) is None:
        raise UserError(f'"{source.name}" has no animations that could be taken over')


def _way(source: bpy.types.Object, item: Any) -> str:
    """How an animation comes to another mesh.

    "COPY": a copy of an Action that keeps frames; "SHARE": as it stands, since bones or the scene show it just so;
    "KEYS": as shape keys.
    """
    rig = selection.armature_of(source)
    if item.use_scene:
        return "SHARE" if rig is not None else "KEYS"
    if item.first_key >= 0:
        return "KEYS"
    if item.action is None:
        return "SHARE"
    if rig is not None and kept.has_frames(item.action):
        return "COPY"
    keys = meshes.of(source).shape_keys
    if rig is None or any(aim.block == keys for aim in bake.targets([source], item.action)):
        return "KEYS"
    return "SHARE"


def _written(context: bpy.types.Context, source: bpy.types.Object) -> list[tuple[str, Animation | None]]:
    """The way of each animation of `source`, and what it would be written as, in its own space, where that counts.

    Raises `UserError` when the motion of one cannot be had.
    """
    options = ExportCharacterOptions(use_transform=False, use_mesh_modifiers=False)
    found = frames.Source.of(context, [source], options, len(meshes.of(source).vertices), Digest())
    ways = [(_way(source, item), item) for item in clips.animations(source.data)]
    return [(way, found.animation(item) if way != "SHARE" else None) for way, item in ways]


def _own_mesh(target: bpy.types.Object) -> None:
    """A mesh that no other object shows, without shape keys."""
    if meshes.of(target).users > 1:
        target.data = meshes.of(target).copy()
    if meshes.of(target).shape_keys is not None:
        target.shape_key_clear()


def _place(context: bpy.types.Context, target: bpy.types.Object, source: bpy.types.Object) -> None:
    """Let `target` stand where `source` stands."""
    target.parent = source.parent
    target.parent_type, target.parent_bone = source.parent_type, source.parent_bone
    target.matrix_parent_inverse = source.matrix_parent_inverse.copy()
    for name in (*_PLACE, *_DELTA):
        setattr(target, name, getattr(source, name))
    context.view_layer.update()


def _shape(target: bpy.types.Object, source: bpy.types.Object, fit: hang.Fit) -> None:
    """Put the mesh into the rest shape, with what is kept per vertex."""
    mesh, held = meshes.of(target), fit.held
    rest = held.points.astype(np.float32)
    meshes.set_attribute(mesh, "position", "FLOAT_VECTOR", "POINT", rest)
    if fit.mirrored:
        mesh.flip_normals()
    mesh.update()
    positions = {kept.REST: rest if clips.animations(source.data) else None, kept.BASE: fit.base}
    for name, values in positions.items():
        _set_or_remove(mesh, name, "FLOAT_VECTOR", values)
    numbering.start(mesh)
    for name in (kept.DEGENERATE, kept.DEGENERATE_AT):  # which go by numbers that are no more
        kept.put(mesh, name, b"")
    for name in (kept.OWNER, kept.BODY):
        values = meshes.get_attribute(meshes.of(source), name, "INT", "POINT")
        _set_or_remove(mesh, name, "INT", values[held.donor] if values is not None else None)


def _set_or_remove(mesh: bpy.types.Mesh, name: str, kind: str, values: npt.NDArray[Any] | None) -> None:
    if values is not None:
        meshes.set_attribute(mesh, name, kind, "POINT", values)
    elif name in mesh.attributes:
        mesh.attributes.remove(mesh.attributes[name])


def _weights(target: bpy.types.Object, source: bpy.types.Object, fit: hang.Fit, *, blend: bool) -> None:
    """The vertex groups of `source`: those of the vertex that speaks for each, or a mean of the nearest triangle's."""
    owner, group, weight = meshes.group_weights(meshes.of(source), len(source.vertex_groups))
    held = fit.held
    first = np.searchsorted(owner, np.arange(len(meshes.of(source).vertices) + 1))
    single = (held.same >= 0) if blend else np.ones(len(held.donor), np.bool_)
    corner = np.where(single[:, None], held.donor[:, None], held.places.corner)
    share = np.where(single[:, None], (1.0, 0.0, 0.0), held.places.weight)
    vertex, side = np.nonzero(share > 0)
    wanted = corner[vertex, side]
    count = first[wanted + 1] - first[wanted]
    # The memberships of every wanted vertex, one after the other.
    row = np.repeat(first[wanted] - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())
    values = weight[row] * np.repeat(share[vertex, side], count)
    groups = len(source.vertex_groups)
    key, place = np.unique(np.repeat(vertex, count) * max(groups, 1) + group[row], return_inverse=True)
    total = np.asarray(np.bincount(place.reshape(-1), values, len(key)), np.float64)
    names = [entry.name for entry in source.vertex_groups]
    meshes.set_weights(target, names, key // max(groups, 1), key % max(groups, 1), total)


def _carry(target: bpy.types.Object, source: bpy.types.Object, settings: Settings) -> bpy.types.Object | None:
    """Let the armature of `source`, or a copy of it, carry and deform `target`."""
    for old in [entry for entry in target.modifiers if entry.type == "ARMATURE"]:
        target.modifiers.remove(old)
    rig = selection.armature_of(source)
    if rig is None:
        return None
    own = _rig_copy(rig, target) if settings.use_rig_copy else rig
    if target.parent == rig and own != rig:
        target.parent = own
        target.matrix_parent_inverse = source.matrix_parent_inverse.copy()  # which a new parent resets
    deforming = [entry for entry in source.modifiers if isinstance(entry, bpy.types.ArmatureModifier)]
    for entry in [entry for entry in deforming if entry.object == rig][:1]:
        made = cast("bpy.types.ArmatureModifier", target.modifiers.new(entry.name, "ARMATURE"))
        made.object = own
        for name in _DEFORM:
            setattr(made, name, getattr(entry, name))
        target.modifiers.move(len(target.modifiers) - 1, 0)
    return own


def _rig_copy(rig: bpy.types.Object, target: bpy.types.Object) -> bpy.types.Object:
    """A copy of an armature, in the collections of `target`."""
    made = rig.copy()
    made.data = rig.data.copy()
    for collection in target.users_collection:
        collection.objects.link(made)
    return made


@dataclass(frozen=True)
class _Job:
    """What all animations share: the two objects, and how one hangs on the other."""

    context: bpy.types.Context
    target: bpy.types.Object
    source: bpy.types.Object
    fit: hang.Fit
    blend: bool


def _give_motion(job: _Job, pairs: list[tuple[Any, Any]], written: list[tuple[str, Animation | None]]) -> None:
    """Every entry of the list its Action, or its shape keys where bones do not show it."""
    keyed = []
    for (old, item), (way, animation) in zip(pairs, written, strict=True):
        if animation is None:
            item.action = old.action
        elif way == "COPY":
            item.action = _copied(job, item, old.action, animation)
        else:
            _add_keys(job, item, animation)
            keyed.append(item)
    first = next((item.action for item in keyed if item.action is not None), None)
    if first is not None:
        shape_motion.assign(job.target, first)
    elif soft_keys.any_of(meshes.of(job.source)):
        soft_keys.show(job.target)


def _copied(job: _Job, item: Any, action: bpy.types.Action, animation: Animation) -> bpy.types.Action:
    """A copy of an Action that was made of frames, with those that the target has by it."""
    item.action = made = action.copy()
    made.use_fake_user = True
    for name in (kept.WEIGHTS, kept.SOFT):
        kept.put(made, name, b"")
    for slot in compat.slots_of_kind(made, "KEY"):  # soft vertices, shown by keys that the target does not have
        made.slots.remove(slot)
    times = frames.sample_times(selection.scene(job.context), item)
    shown = bake.bake(job.context, [bake.Body.of(job.target, None, still=True)], made, times)
    found = motion.quantise(FILE_Y_UP.undo(shown))
    on = np.flatnonzero(job.fit.held.same >= 0)
    found[:, on] = animation.frames[:, job.fit.held.same[on]]
    curves.seal_again(made)
    rig = cast("bpy.types.Object", selection.armature_of(job.target))
    aim = next(aim for aim in bake.targets([job.target], made) if aim.block == rig)
    poses = bone_space.poses(rig_motion.motion(job.context, rig, aim, times.tolist()))
    originals.keep(made, meshes.of(job.target), found, poses, _binding(job.target, rig))
    kept.put(made, kept.RIG_PRINT, bone_motion.rig_print(rig))
    return made


def _binding(target: bpy.types.Object, rig: bpy.types.Object) -> originals.Binding:
    """All vertices of `target`, with the bone that carries each."""
    mesh = meshes.of(target)
    number = {bone.name: index for index, bone in enumerate(rig.data.bones)}
    wanted = np.array([number.get(group.name, -1) for group in target.vertex_groups], np.int32)
    body = meshes.heaviest_group(mesh, wanted, np.full(len(mesh.vertices), -1, np.int32))
    weights = vertices.Weights.of(target, mesh)
    rest = FILE_Y_UP.undo(meshes.get_positions(mesh))
    prints = weights.prints if weights.regrouped.any() else None
    return originals.Binding(np.arange(len(mesh.vertices)), body, rest, prints)


def _add_keys(job: _Job, item: Any, animation: Animation) -> None:
    """Frames carried over from those of the source, as shape keys."""
    mesh = meshes.of(job.source)
    to_file = part.file_matrix(job.source, job.source, ExportOptions(use_transform=False))
    points = hang.in_file(meshes.get_positions(mesh), to_file)
    held = job.fit.held.moved_to(hang.in_file(job.fit.held.points, to_file))
    old = motion.positions(animation.frames)
    found = carry.frames(hang.bodies(job.source), points, old, held, blend=job.blend)
    item.use_length = item.use_scene = False
    item.frames = len(found)
    shape_motion.add(
        job.target,
        item,
        Animation(animation.name, animation.kps, motion.quantise(found)),
        clips.rate_of(item) or frames.scene_rate(selection.scene(job.context)),
        relative=mesh.shape_keys is not None and mesh.shape_keys.use_relative,
        matrix=None if to_file is None else np.asarray(np.linalg.inv(to_file), np.float64),
    )
