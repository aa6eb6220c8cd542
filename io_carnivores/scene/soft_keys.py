# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft vertices beside bones: absolute shape keys that hold what the bones of an animation cannot express.

They share the mesh's shape keys with nothing else, for a character is shown by bones or by keys. One key stands for a
frame, and one for every run of frames that bones show well enough; one `eval_time` curve per animation runs through
them, or stays on the basis where the animation needs none. From Blender 4.4 it is a second slot of the animation's
Action, before that an Action of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import armature, compat
from ...io_common.scene import mesh as meshes
from . import clips, curves, kept, numbering, originals, shape_motion

if TYPE_CHECKING:
    import bpy

    from ..formats.residual import Origin

_CURVE = "eval_time"
_ALIKE = 1e-3  # file units; positions closer than this are the same key


@dataclass(frozen=True)
class Plan:
    """The keys of an animation: `shapes` (K, V, 3) of the file, `key` (N,): which of them each frame shows."""

    shapes: npt.NDArray[np.float32]
    key: npt.NDArray[np.int64]

    @classmethod
    def of(cls, origin: Origin, soft: npt.NDArray[np.bool_], busy: npt.NDArray[np.bool_]) -> Plan:
        """For vertices that are `soft` (V,) somewhere, with keys for the frames that are `busy` (N,)."""
        # A run of frames without softness shares one key: the basis is somewhere else on the time line.
        fresh = busy | np.concatenate([[True], busy[:-1]])
        key = np.cumsum(fresh) - 1
        shapes = origin.shapes(soft)[fresh]
        shapes[~busy[fresh]] = origin.rest
        return cls(shapes, key)


def any_of(mesh: bpy.types.Mesh) -> bool:
    """Whether some animation has such keys."""
    return any(item.soft_first >= 0 for item in clips.animations(mesh))


def show(obj: bpy.types.Object) -> None:
    """Give every animation that was made of frames and has soft vertices its keys, and all others the basis."""
    mesh = meshes.of(obj)
    for item in clips.animations(mesh):
        if item.action is not None and item.soft_first < 0:
            _add(obj, item)
    if not any_of(mesh):
        return
    for item in clips.animations(mesh):
        if item.action is not None and item.soft_first < 0 and not _curves(item):
            _write(obj, item, np.array([[item.action.frame_range[0], 0.0]]))


def _add(obj: bpy.types.Object, item: Any) -> None:
    mesh = meshes.of(obj)
    original = originals.of(item.action, mesh)
    if original is None or not curves.is_sealed(item.action) or kept.has(item.action, kept.PLACE):
        return  # keys are in the space of the mesh, frames may be in another
    claims, rest = numbering.claimed(mesh)
    number = numbering.settle(claims, rest, meshes.get_positions(mesh), numbering.reference(mesh))
    strays, busy = original.strays()
    original = replace(original, soft=strays)
    soft = original.softness(number)
    if not soft.any():
        return
    originals.keep_soft(item.action, strays)
    plan = Plan.of(original.origin(number), soft, busy)
    points = np.ascontiguousarray(FILE_Y_UP.apply(plan.shapes)).reshape(len(plan.shapes), -1)
    item.soft_first, item.soft_last = shape_motion.append(obj, points, f"{item.name or 'Soft'} soft", relative=False)
    places = _places(mesh, item)
    start, end = item.action.frame_range
    times = np.linspace(start, end, len(plan.key))
    _write(obj, item, _corners(times, places[plan.key]))


def _corners(times: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(n, 2) keyframes of the line through `times` and `values`, without those in the middle of straight parts."""
    bend = np.ones(len(values), np.bool_)
    bend[1:-1] = np.abs(np.diff(values, 2)) > _ALIKE
    return np.stack((times, values), axis=1)[bend]


def _write(obj: bpy.types.Object, item: Any, points: npt.NDArray[np.float64]) -> None:
    keys = shape_motion.keys_of(obj)
    action = compat.companion(item.action, armature.fit_name(f"{item.action.name} soft"))
    span = np.array(item.action.frame_range, np.float64)
    curves.write_curve(compat.curves(keys, action), _CURVE, points)
    curves.seal(action, span)
    if action != item.action:
        action.use_fake_user = True
        item.soft_action = action


def _curves(item: Any) -> list[Any]:
    listed = (curve for action in clips.actions(item) for curve in compat.all_curves(action))
    return [curve for curve in listed if curve.data_path == _CURVE]


def _numbers(mesh: bpy.types.Mesh, item: Any) -> range | None:
    """The numbers of an animation's keys among the mesh's; None when they are not there any more."""
    keys = mesh.shape_keys
    return shape_motion.between(keys, item.soft_first, item.soft_last) if keys is not None else None


def _places(mesh: bpy.types.Mesh, item: Any) -> npt.NDArray[np.float64]:
    numbers = _numbers(mesh, item)
    return np.array([mesh.shape_keys.key_blocks[number].frame for number in numbers or ()], np.float64)


def changed(mesh: bpy.types.Mesh, item: Any, origin: Origin, plan: Plan) -> npt.NDArray[np.bool_]:
    """(V,): vertices whose keys are not those of the `plan` that was made for `origin`."""
    numbers = _numbers(mesh, item)
    if numbers is None or len(numbers) != len(plan.shapes):
        return np.ones(len(origin.known), np.bool_)
    points = FILE_Y_UP.undo(shape_motion.points(mesh, numbers).reshape(len(numbers), -1, 3))
    return np.asarray((np.abs(points - plan.shapes) > _ALIKE).any(axis=(0, 2)) & origin.known)


def play(obj: bpy.types.Object, item: Any) -> None:
    """Let the keys of `obj` go with an animation; with one that knows nothing of them, they rest."""
    keys = getattr(obj.data, "shape_keys", None)
    if keys is None or not any_of(meshes.of(obj)):
        return
    for action in clips.actions(item):
        for slot, found in compat.curves_by_slot(action):
            if any(curve.data_path == _CURVE for curve in found):
                compat.assign_action(keys, action, slot)
                return
    compat.assign_action(keys, None)
    keys.eval_time = 0.0


def copy(obj: bpy.types.Object, source: Any, item: Any) -> None:
    """Give `item`, whose Actions are copies of those of `source`, keys of its own."""
    mesh = meshes.of(obj)
    numbers = _numbers(mesh, source) if source.soft_first >= 0 else None
    if numbers is None:
        return
    points = shape_motion.points(mesh, numbers)
    item.soft_first, item.soft_last = shape_motion.append(obj, points, f"{item.name or 'Soft'} soft", relative=False)
    for action in clips.actions(item):
        sealed = curves.is_sealed(action)
        for curve in compat.all_curves(action):
            if curve.data_path == _CURVE:
                _lift(curve, item.soft_first - source.soft_first)
        if sealed:
            curves.seal_again(action)


def _lift(curve: Any, by: float) -> None:
    points = curve.keyframe_points
    for name in ("co", "handle_left", "handle_right"):
        values = np.empty(2 * len(points), np.float32)
        points.foreach_get(name, values)
        values[1::2] += by
        points.foreach_set(name, values)
    curve.update()


def remove(obj: bpy.types.Object, item: Any) -> None:
    """Take the keys of an animation away, and the base key with the last of them."""
    numbers = _numbers(meshes.of(obj), item) if item.soft_first >= 0 else None
    item.soft_first = item.soft_last = -1.0
    if numbers is not None:
        shape_motion.take_away(obj, numbers)
