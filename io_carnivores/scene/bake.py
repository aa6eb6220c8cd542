# SPDX-License-Identifier: GPL-3.0-or-later
"""Any motion of objects to frames: one evaluation per frame, read with one call per object."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from ...io_common.scene import compat, posing, selection
from ...io_common.scene import mesh as meshes
from . import passing, shape_motion, soft_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Matrix = npt.NDArray[np.float64]

_PLACE = ("location", "rotation_quaternion", "rotation_euler", "scale")
_STILL = 1e-6  # matrices closer than this are the same


@dataclass(frozen=True)
class Body:
    """An object to be baked.

    `matrix` (4, 4) takes its local space at rest to Blender axes in file units, None: nothing to do. `still`: its
    modifiers, Armature aside, are left out.
    """

    obj: bpy.types.Object
    matrix: Matrix | None = None
    still: bool = False
    rest: Matrix = field(default_factory=lambda: np.eye(4))

    @classmethod
    def of(cls, obj: bpy.types.Object, matrix: Matrix | None, *, still: bool = False) -> Body:
        """As it stands now."""
        return cls(obj, matrix, still, np.array(obj.matrix_world, np.float64))


def frame_times(start: float, end: float, count: int) -> npt.NDArray[np.float64]:
    """Scene frames at which `count` samples are taken, first and last included, (count,)."""
    return np.linspace(start, end, count) if count > 1 else np.full(count, start)


def bake(
    context: bpy.types.Context,
    bodies: Sequence[Body],
    action: bpy.types.Action | None,
    times: npt.NDArray[np.float64],
    beside: bpy.types.Action | None = None,
) -> npt.NDArray[np.float32]:
    """Vertex positions of all `bodies`, one after the other, at the scene frames `times`, (N, V, 3) f32, Blender axes.

    `action` goes to whatever it was made for: an armature, shape keys or the objects themselves, and so does one that
    plays `beside` it; without it the scene is taken as it plays. Positions hold the motion of objects relative to where
    they stand now. Scene frame, actions and pose come back at the end. Raises `ExportError` when the action moves
    nothing, or vertices come and go.
    """
    aims = targets([body.obj for body in bodies], action) if action is not None else []
    if action is not None and not aims:
        raise ExportError(f'the action "{action.name}" moves nothing of "{bodies[0].obj.name}"')
    if beside is not None:
        aims += targets([body.obj for body in bodies], beside)
    what = f'"{action.name}"' if action is not None else "the range of frames"
    out: npt.NDArray[np.float32] | None = None
    with contextlib.ExitStack() as undo:
        undo.enter_context(selection.object_mode(context))
        undo.enter_context(selection.evaluated(context, [body.obj for body in bodies]))
        undo.enter_context(playing(context, bodies, aims))
        for number in passing.visited(context, times, whole_scene=action is None):
            depsgraph = context.evaluated_depsgraph_get()
            values = np.concatenate([_positions(body, depsgraph) for body in bodies])
            if out is None:
                out = np.empty((len(times), *values.shape), np.float32)
            if values.shape != out.shape[1:]:
                raise ExportError(f'the number of vertices of "{bodies[0].obj.name}" changes during {what}')
            out[number] = values
    if out is None:
        return np.zeros((0, 0, 3), np.float32)
    if not np.isfinite(out).all():
        raise ExportError(f'"{bodies[0].obj.name}" has coordinates that are no numbers during {what}')
    return out


@dataclass(frozen=True)
class Aim:
    """A data-block that an action moves, with the slot it does it by (None before slots)."""

    block: bpy.types.ID
    action: bpy.types.Action
    slot: Any = None


def targets(objects: Sequence[bpy.types.Object], action: bpy.types.Action) -> list[Aim]:
    """The data-blocks of `objects` that `action` animates, judged by what its curves are called."""
    found: list[Aim] = []
    for slot, curves in compat.curves_by_slot(action):
        paths = {curve.data_path for curve in curves}
        kind = getattr(slot, "target_id_type", "UNSPECIFIED")
        for block in _blocks(objects, paths, kind):
            if all(aim.block != block for aim in found):
                found.append(Aim(block, action, slot))
    return found


def _blocks(objects: Sequence[bpy.types.Object], paths: set[str], kind: str) -> list[bpy.types.ID]:
    rigs = [rig for rig in map(selection.armature_of, objects) if rig is not None]
    if kind in ("OBJECT", "UNSPECIFIED"):
        if any(path.startswith("pose.bones") for path in paths):
            return list(rigs)
        if any(path.startswith(_PLACE) for path in paths):
            # An armature's own motion carries the mesh along; whose motion it is, only the present user can tell.
            users = [obj for obj in (*rigs, *objects) if _plays(obj, paths)]
            return list(users or objects)
    if kind in ("KEY", "UNSPECIFIED") and any(path.startswith(("eval_time", "key_blocks")) for path in paths):
        return [keys for obj in objects if (keys := getattr(obj.data, "shape_keys", None)) is not None]
    return []


def _plays(obj: bpy.types.Object, paths: set[str]) -> bool:
    data = obj.animation_data
    if data is None or data.action is None:
        return False
    return any(curve.data_path in paths for curve in compat.all_curves(data.action))


@contextlib.contextmanager
def playing(context: bpy.types.Context, bodies: Sequence[Body], aims: Sequence[Aim]) -> Iterator[None]:
    """The actions of `aims` alone move what those say; all is put back afterwards."""
    scene = context.scene
    with contextlib.ExitStack() as undo:
        undo.callback(scene.frame_set, scene.frame_current, subframe=scene.frame_subframe)
        rigs = {rig for body in bodies if (rig := selection.armature_of(body.obj)) is not None}
        for rig in rigs:
            undo.callback(setattr, rig.data, "pose_position", rig.data.pose_position)
            rig.data.pose_position = "POSE"
        for body in bodies:
            _leave_out(body, undo)
            if aims:
                _bring_in(body, undo)
        for aim in aims:
            _aim(aim, undo)
        for mesh in {meshes.of(body.obj) for body in bodies if body.obj.type == "MESH"}:
            if any(aim.block == mesh.shape_keys for aim in aims):
                undo.callback(shape_motion.mix_again, mesh, shape_motion.silence(mesh))
            elif aims and soft_keys.any_of(mesh):
                _rest_keys(mesh.shape_keys, undo)
        yield


def _aim(aim: Aim, undo: contextlib.ExitStack) -> None:
    block = aim.block
    data = _without_action(block, undo)
    data.use_nla = False
    if isinstance(block, bpy.types.Object):
        undo.callback(_set_place, block, _place(block))
        if block.type == "ARMATURE":
            undo.callback(posing.set_pose, block, posing.rest_pose(block))
    compat.assign_action(block, aim.action, aim.slot)


def _rest_keys(keys: bpy.types.Key | None, undo: contextlib.ExitStack) -> None:
    """Keys that go with other animations show nothing in one that does not move them."""
    if keys is not None:
        undo.callback(setattr, keys, "eval_time", keys.eval_time)
        _without_action(keys, undo).use_nla = False
        keys.eval_time = 0.0


def _without_action(block: bpy.types.ID, undo: contextlib.ExitStack) -> Any:
    """The animation data of `block`, with its action taken off until the end."""
    fresh = compat.animation_data(block) is None
    data = compat.animation_data(block) or block.animation_data_create()
    undo.callback(posing.give_back, block, data.action, getattr(data, "action_slot", None), data.use_nla, fresh)
    data.action = None
    return data


def _leave_out(body: Body, undo: contextlib.ExitStack) -> None:
    """Evaluate without what the exported mesh is written without."""
    if not body.still:
        return
    for entry in body.obj.modifiers:
        if entry.show_viewport and entry.type != "ARMATURE":
            undo.callback(setattr, entry, "show_viewport", True)
            entry.show_viewport = False


def _bring_in(body: Body, undo: contextlib.ExitStack) -> None:
    """What is switched off to see the mesh itself: the bones that an Action moves, and the mix of its keys."""
    obj = body.obj
    if obj.show_only_shape_key:
        undo.callback(setattr, obj, "show_only_shape_key", True)
        obj.show_only_shape_key = False
    carriers = [entry for entry in obj.modifiers if entry.type == "ARMATURE"]
    if not any(entry.show_viewport for entry in carriers):
        for entry in carriers:
            undo.callback(setattr, entry, "show_viewport", False)
            entry.show_viewport = True


def _place(obj: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    return {name: tuple(getattr(obj, name)) for name in _PLACE}


def _set_place(obj: bpy.types.Object, place: dict[str, tuple[float, ...]]) -> None:
    for name, values in place.items():
        setattr(obj, name, values)


def _positions(body: Body, depsgraph: bpy.types.Depsgraph) -> npt.NDArray[np.float32]:
    evaluated = body.obj.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        values = meshes.get_positions(mesh)
    finally:
        evaluated.to_mesh_clear()
    matrix = _moved(body, np.array(evaluated.matrix_world, np.float64))
    if matrix is None:
        return values
    return (values.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)


def _moved(body: Body, world: Matrix) -> Matrix | None:
    """From local space at this frame to file units; None for nothing to do."""
    if np.allclose(world, body.rest, rtol=0, atol=_STILL * max(1.0, float(np.abs(body.rest).max()))):
        return body.matrix
    if abs(np.linalg.det(body.rest)) < 1e-30:
        return body.matrix
    along: Matrix = np.linalg.inv(body.rest) @ world
    return along if body.matrix is None else body.matrix @ along
