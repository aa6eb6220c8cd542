# SPDX-License-Identifier: GPL-3.0-or-later
"""The Actions of one armature given to another, bone by bone.

Every bone of the target turns in space as its counterpart turns from its own rest pose, so that neither rolls nor rest
directions have to agree; limbs that hang on one creature and stick out of the other swing as they do, see `limbs`.
Travel is scaled by the sizes of the two; bones without a counterpart keep to their parents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import UserError
from ...io_common.scene import armature, compat, selection
from ...io_common.scene import mesh as meshes
from ..formats import bone_match, bone_space, limbs
from . import bake, clip_copy, clip_edit, clips, curves, frames, own, resting, rig_motion, rig_transform, sound_table
from .rig_motion import Rest

if TYPE_CHECKING:
    from ..formats.bone_match import Match

    Matrices = npt.NDArray[np.float64]

_STILL = 2e-5  # of the size: bones that never leave their place by more get no location curves
_TURNED = 1e-3
_FLAT = 1e-30  # of a determinant
_CLEARLY = 0.7  # the way the objects stand counts only where it brings the bones this much nearer


@dataclass(frozen=True)
class Party:
    """One side: the armature, and the mesh whose list of animations counts, None when it carries none."""

    rig: bpy.types.Object
    mesh: bpy.types.Object | None

    @classmethod
    def of(cls, context: bpy.types.Context, obj: bpy.types.Object) -> Party:
        """The side that a mesh or armature stands for. Raises `UserError` for what has no bones."""
        rig = obj if obj.type == "ARMATURE" else selection.armature_of(obj)
        if rig is None or not len(rig.data.bones):
            raise UserError(f'"{obj.name}" has no armature with bones')
        if obj.type == "MESH":
            return cls(rig, obj)
        layer = context.view_layer.objects
        carried = [entry for entry in layer if entry.type == "MESH" and selection.armature_of(entry) == rig]
        listed = [entry for entry in carried if len(clips.animations(entry.data))]
        return cls(rig, next(iter(listed or carried), None))


@dataclass(frozen=True)
class Outcome:
    """`actions` made, `skipped` entries that bones do not show; `by_name`, `by_place` and `lost`: names of bones."""

    actions: list[bpy.types.Action]
    skipped: int
    by_name: list[str]
    by_place: list[str]
    lost: list[str]


@dataclass(frozen=True)
class Plan:
    """`match`: the bone of the source for each of the target; `frame` (3, 3): from its space; `ratio` of sizes."""

    target: Rest
    source: Rest
    match: Match
    frame: Matrices
    ratio: float


def retarget(context: bpy.types.Context, target: Party, source: Party, *, with_sounds: bool = True) -> Outcome:
    """Give `target` a copy of every Action of `source`, fitted to its bones, and an entry in its list for each.

    Raises `UserError`, and then nothing has changed, when there is no Action or no bone that fits.
    """
    if target.rig == source.rig or target.rig.data == source.rig.data:
        raise UserError(f'"{target.rig.name}" is the armature to take animations from; select another one')
    if target.rig.library is not None:
        raise UserError(f'"{target.rig.name}" belongs to another .blend file and cannot be changed')
    if target.mesh is not None:
        own.require(target.mesh)
    if source.mesh is not None and source.mesh.library is None:
        rig_transform.mend(source.mesh)
    plan = laid_out(context, target.rig, source.rig)
    names = plan.target.names
    lost = [name for name, found in zip(names, plan.match.source.tolist(), strict=True) if found < 0]
    if len(lost) == len(names):
        raise UserError(f'no bone of "{target.rig.name}" has the name or the place of one of "{source.rig.name}"')
    with selection.object_mode(context, (target.rig, source.rig)):
        listed = list(clips.animations(source.mesh.data)) if source.mesh is not None else []
        if listed:
            made, skipped = _listed(context, target, source, plan, listed, with_sounds=with_sounds)
        else:
            made, skipped = [_assigned(context, target, source, plan)], 0
    if not made:
        raise UserError(f'bones show none of the animations of "{source.rig.name}"')
    compat.assign_action(target.rig, made[0])
    if target.mesh is not None:
        resting.complete(target.rig, meshes.of(target.mesh))
    named = [name for name, by_name in zip(names, plan.match.named.tolist(), strict=True) if by_name]
    placed = [name for name in names if name not in set(named) | set(lost)]
    return Outcome(made, skipped, named, placed, lost)


def laid_out(
    context: bpy.types.Context, target: bpy.types.Object, source: bpy.types.Object, *, by_name: bool = True
) -> Plan:
    """Match the bones as both stand in their own space, or as they stand in the scene where that fits much better."""
    context.view_layer.update()
    for rig in (target, source):
        if abs(np.linalg.det(np.array(rig.matrix_world, np.float64)[:3, :3])) < _FLAT:
            raise UserError(f'"{rig.name}" has a scale of 0, so that its bones have no size; give it another one')
    mine, other = Rest.of(target), Rest.of(source)
    still = np.eye(3)
    own = mine.turned(still)
    tried = [(still, bone_match.match(own, other.turned(still), by_name=by_name))]
    rotations = [np.array(obj.matrix_world.to_quaternion().to_matrix(), np.float64) for obj in (target, source)]
    turn = rotations[0].T @ rotations[1]
    if np.abs(turn - still).max() > _TURNED:
        tried.append((turn, bone_match.match(own, other.turned(turn), by_name=by_name)))
    off = [bone_match.laid_over(own, other.turned(frame), match) for frame, match in tried]
    frame, match = tried[-1] if off[-1] < _CLEARLY * off[0] else tried[0]
    ratio = bone_match.ratio(own, other.turned(frame), match)
    return Plan(mine, other, match, frame, ratio)


def _listed(
    context: bpy.types.Context, target: Party, source: Party, plan: Plan, listed: list[Any], *, with_sounds: bool
) -> tuple[list[bpy.types.Action], int]:
    """An Action for every entry of the list that bones show, and how many others there are."""
    made = []
    owner = cast("bpy.types.Object", source.mesh)
    for item in listed:
        frames.require_bearable(selection.scene(context), item)  # before anything is made
    for number in range(len(listed)):
        item = clips.animations(owner.data)[number]
        aim = _aim(owner, source.rig, item)
        if aim is None:
            continue
        times = frames.sample_times(selection.scene(context), item)
        action = _fitted(context, target.rig, plan, _Motion(aim, times, item.name))
        made.append(action)
        if target.mesh is not None:
            _append(meshes.of(target.mesh), meshes.of(owner), item, action, len(times), with_sounds=with_sounds)
    return made, len(listed) - len(made)


def _aim(owner: bpy.types.Object, rig: bpy.types.Object, item: Any) -> bake.Aim | None:
    if item.use_scene or item.action is None or item.first_key >= 0:
        return None
    return next((aim for aim in bake.targets([owner], item.action) if aim.block == rig), None)


def _append(
    mesh: bpy.types.Mesh, source: bpy.types.Mesh, item: Any, action: bpy.types.Action, count: int, *, with_sounds: bool
) -> None:
    """An entry for `action` behind the others, with rate, frames and sound of the one it is of."""
    started = clips.sounds(source)[item.sound] if 0 <= item.sound < len(clips.sounds(source)) else None
    made = clip_copy.entry(mesh, item)
    made.action, made.frames, made.use_length = action, count, False
    made.sound = clip_copy.sound(mesh, started) if started is not None and with_sounds else clips.NO_SOUND
    made.table_value = made.sound
    number = len(clips.animations(mesh)) - 1
    sound_table.insert(mesh, number)
    setattr(mesh, clips.ACTIVE_ANIMATION, number)


def _assigned(context: bpy.types.Context, target: Party, source: Party, plan: Plan) -> bpy.types.Action:
    """The Action that the source plays now, sampled at every whole frame."""
    data = compat.animation_data(source.rig)
    action = data.action if data is not None else None
    if action is None:
        raise UserError(f'"{source.rig.name}" has no list of animations and plays no Action')
    start, end = (float(value) for value in action.frame_range)
    times = start + np.arange(max(int(np.floor(end - start)), 0) + 1, dtype=np.float64)
    aim = bake.Aim(source.rig, action, getattr(data, "action_slot", None))
    made = _fitted(context, target.rig, plan, _Motion(aim, times, action.name))
    if target.mesh is not None:
        clip_edit.add_action(context, target.mesh, made)
    return made


@dataclass(frozen=True)
class _Motion:
    """What the source plays at the scene frames `times` (N,); `aim` is its armature, with Action and slot."""

    aim: bake.Aim
    times: npt.NDArray[np.float64]
    title: str


def _fitted(context: bpy.types.Context, target: bpy.types.Object, plan: Plan, motion: _Motion) -> bpy.types.Action:
    """A new Action for the bones of `target`."""
    source = cast("bpy.types.Object", motion.aim.block)
    moved = rig_motion.motion(context, source, motion.aim, motion.times.tolist())
    local = bone_space.local_motion(carried(plan, moved), plan.target.matrix, plan.target.parent)
    made = bpy.data.actions.new(armature.fit_name(motion.title) or "Animation")
    made.use_fake_user = True
    bag = compat.curves(target, made)
    still = _STILL * max(plan.target.turned(np.eye(3)).size, 1e-9)
    for number in np.flatnonzero(plan.match.source >= 0).tolist():
        own = bone_space.Local(local.rotation[:, number], local.location[:, number], local.scale[:, number])
        rig_motion.write(bag, target.pose.bones[plan.target.names[number]], own, motion.times, still)
    curves.seal(made, motion.times)
    return made


def carried(plan: Plan, moved: Matrices) -> Matrices:
    """What moves the rest pose of the target, (N, T, 4, 4), from what moves that of the source, (N, S, 4, 4)."""
    scale = np.maximum(np.cbrt(np.linalg.det(moved[..., :3, :3])), 1e-6)
    turn = plan.frame @ (moved[..., :3, :3] / scale[..., None, None]) @ plan.frame.T
    way = limbs.ways(plan.target.turned(np.eye(3)), plan.source.turned(plan.frame), plan.target.parent, plan.match)
    turned = limbs.turned(turn, way, plan.target.parent, plan.match)
    travel = _travel(plan.source, moved, scale) @ plan.frame.T * plan.ratio
    shift = np.einsum("nbij,bj->nbi", moved[..., :3, :3], plan.source.heads) + moved[..., :3, 3] - plan.source.heads
    shift = shift @ plan.frame.T * plan.ratio
    result = np.zeros((len(moved), len(plan.target.names), 4, 4))
    result[:] = np.eye(4)
    led = np.zeros(len(plan.target.names), np.bool_)  # whether it or a bone above it has a counterpart
    for bone, (parent, found) in enumerate(zip(plan.target.parent.tolist(), plan.match.source.tolist(), strict=True)):
        above = result[:, parent] if parent >= 0 else np.broadcast_to(np.eye(4), (len(moved), 4, 4))
        led[bone] = found >= 0 or (parent >= 0 and led[parent])
        if found < 0:
            result[:, bone] = above
            continue
        head = plan.target.heads[bone]
        place = above[:, :3, :3] @ head + above[:, :3, 3]
        if parent < 0 or not led[parent]:
            place = place + shift[:, found]
        elif not plan.target.connected[bone]:
            place = place + np.einsum("nij,nj->ni", above[:, :3, :3], travel[:, found] @ way[bone].T)
        linear = turned[:, bone] * scale[:, found, None, None]
        result[:, bone, :3, :3] = linear
        result[:, bone, :3, 3] = place - linear @ head
    return result


def _travel(source: Rest, moved: Matrices, scale: Matrices) -> Matrices:
    """How far each bone leaves the place its parent would carry it to, (N, S, 3), as the parent sees it; roots: 0."""
    result = np.zeros((*moved.shape[:2], 3))
    child = np.flatnonzero(source.parent >= 0)
    above = source.parent[child]
    heads = source.heads[child]
    own, led = moved[:, child], moved[:, above]
    away = np.einsum("nbij,bj->nbi", own[..., :3, :3] - led[..., :3, :3], heads) + own[..., :3, 3] - led[..., :3, 3]
    back = led[..., :3, :3] / scale[:, above, None, None] ** 2  # its transpose is the inverse
    result[:, child] = np.einsum("nbji,nbj->nbi", back, away)
    return result
