# SPDX-License-Identifier: GPL-3.0-or-later
"""A size that was applied to an armature (Object > Apply), with the Actions that move its bones.

Blender makes the bones larger or smaller then and leaves the keys of their locations as they are, so that bones fly
apart. What was made of the frames of a file is put right before it is played or written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...io_common.scene import compat, selection
from ...io_common.scene import mesh as meshes
from ..formats import affine
from . import bone_motion, clips, curves, kept, originals

if TYPE_CHECKING:
    import bpy
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

_EVEN = 1e-4  # of a size
_FLAT = 1e-30  # of a determinant


def mend(obj: bpy.types.Object) -> None:
    """Let the Actions of a character follow a size that was applied to its armature; anything else is no such thing."""
    rig = selection.armature_of(obj)
    if rig is None or obj.type != "MESH" or not len(clips.animations(obj.data)):
        return
    imported = kept.get(meshes.of(obj), kept.SCALE, 1.0)
    if np.allclose(
        np.array(rig.scale), imported, rtol=_EVEN, atol=0
    ):  # none was applied: the mesh alone may have been scaled
        return
    bones = bone_motion.rig_print(rig)
    made = dict.fromkeys(item.action for item in clips.animations(obj.data) if item.action is not None)
    pending = [
        action
        for action in made
        if action.library is None and kept.has(action, kept.BODIES) and kept.get(action, kept.RIG_PRINT, "") != bones
    ]
    if not pending:
        return
    applied = _applied(meshes.of(obj))
    for action in pending:
        place = np.asarray(np.linalg.inv(applied) @ originals.place(action), np.float64)
        carried = bone_motion.into_frames(obj, rig, place)
        carried = np.eye(4) if carried is None else carried
        size = _size(np.asarray(np.linalg.inv(carried) @ originals.place(action, kept.CARRIED), np.float64))
        if abs(size - 1.0) > _EVEN:
            _resize(action, size)
            kept.put(action, kept.CARRIED, carried.astype("<f8").tobytes())


def _applied(mesh: bpy.types.Mesh) -> Matrix:
    """(4, 4): the transform that was applied to the mesh itself."""
    rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
    if rest is None or not len(rest):
        return np.eye(4)
    positions = meshes.get_positions(mesh)
    found = affine.between(rest, positions) if affine.close(rest, positions).mean() < 0.5 else None
    return np.eye(4) if found is None else found


def _size(matrix: Matrix) -> float:
    """How much larger an even transform makes things; 1 for one that is not even."""
    if abs(np.linalg.det(matrix[:3, :3])) < _FLAT:
        return 1.0
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    return float(sizes.mean()) if np.ptp(sizes) <= _EVEN * sizes.max() else 1.0


def _resize(action: bpy.types.Action, size: float) -> None:
    """Multiply what the Action says of the locations of bones."""
    sealed = curves.is_sealed(action)
    for curve in compat.all_curves(action):
        if curves.bone_of(curve.data_path) is None or not curve.data_path.endswith(".location"):
            continue
        keys = curve.keyframe_points
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(keys), np.float32)
            keys.foreach_get(name, values)
            values[1::2] *= np.float32(size)
            keys.foreach_set(name, values)
        curve.update()
    if sealed:
        curves.seal_again(action)
