# SPDX-License-Identifier: GPL-3.0-or-later
"""Dummies of a model as empties on their bones.

A dummy is placed relative to its parent bone as the file has it, so an empty's own location is the stored one, and its
parent inverse holds what lies between the end of a Blender bone and the bone of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ...io_common.scene import armature
from ..formats import names, space
from ..formats.dummy import Dummy
from . import kept, placement, rig

if TYPE_CHECKING:
    from ..formats.msh import Msh
    from .placement import Floats, Units

_SIZE = 0.03  # of the model's height
_TOLERANCE = 1e-4  # how far the matrix of an untouched dummy may come back, of its own size
_PLACED = 1e-5  # or of how far out it is in the armature: its own is that through an inverse, which swells roundings
_RECORD = np.dtype([("name", "V256"), ("has_parent", "u1"), ("parent", "V256"), ("matrix", "<f4", (4, 4))])


def build(model: Msh, skeleton: bpy.types.Object | None, scale: float) -> list[bpy.types.Object]:
    """One empty for each dummy, linked nowhere yet."""
    bones = rig.lookup(skeleton) if skeleton is not None else {}
    binds = bind_by_name(skeleton)
    height = float(np.abs(model.maximum.astype(np.float64) - model.minimum).max()) if len(model.maximum) else 1.0
    size = _SIZE * height if np.isfinite(height) and height > 0 else 1.0
    made = []
    for entry in model.dummies:
        obj = _empty(entry, size)
        bone = None if names.is_root(entry.parent) else bones.get(names.key(entry.parent or b""))
        _place(obj, entry, skeleton, bone, (binds, scale))
        _keep(obj, entry, local(obj, skeleton, binds), bone, scale)
        made.append(obj)
    return made


def bind_by_name(skeleton: bpy.types.Object | None) -> dict[str, Floats]:
    """Bind matrix of every bone, by its name."""
    if skeleton is None:
        return {}
    state = rig.state(skeleton)
    return dict(zip(state.names, state.bind, strict=True))


def _empty(entry: Dummy, size: float) -> bpy.types.Object:
    obj = bpy.data.objects.new(armature.fit_name(entry.label) or "Dummy", None)
    obj.empty_display_type = "ARROWS"
    obj.empty_display_size = size
    return obj


def _place(
    obj: bpy.types.Object,
    entry: Dummy,
    skeleton: bpy.types.Object | None,
    bone: str | None,
    measures: tuple[dict[str, Floats], float],
) -> None:
    binds, scale = measures
    matrix = space.to_blender_matrix(entry.matrix)
    matrix[3] = (0.0, 0.0, 0.0, 1.0)
    if skeleton is None:
        matrix = np.diag((scale, scale, scale, 1.0)) @ matrix
    else:
        _hang(obj, skeleton, bone, binds)
    obj.matrix_basis = Matrix(matrix.tolist())


def _keep(obj: bpy.types.Object, entry: Dummy, matrix: Floats, bone: str | None, scale: float) -> None:
    kept.put(obj, kept.DUMMY, 1)
    kept.put(obj, kept.LABEL, obj.name)
    kept.put(obj, kept.SCALE, float(np.float32(scale)))
    record = np.zeros(1, _RECORD)
    record["name"], record["matrix"] = np.void(names.padded(entry.name)), entry.matrix
    record["has_parent"], record["parent"] = entry.parent is not None, np.void(names.padded(entry.parent or b""))
    kept.put(obj, kept.RECORD, record.tobytes())
    kept.put(obj, kept.MADE, _made(matrix, bone))


def _hang(obj: bpy.types.Object, skeleton: bpy.types.Object, bone: str | None, binds: dict[str, Floats]) -> None:
    obj.parent = skeleton
    if bone is None:
        return
    obj.parent_type, obj.parent_bone = "BONE", bone
    found = cast("bpy.types.Armature", skeleton.data).bones[bone]
    obj.matrix_parent_inverse = Matrix((np.linalg.inv(placement.bone_end(found)) @ binds[bone]).tolist())


def _made(matrix: Floats, bone: str | None) -> bytes:
    return matrix.astype("<f8").tobytes() + (bone or "").encode()


def local(obj: bpy.types.Object, skeleton: bpy.types.Object | None, binds: dict[str, Floats]) -> Floats:
    """(4, 4) of a dummy relative to the bone it is parented to, which bind as `binds` says; Blender's axes."""
    inner = placement.within(obj, skeleton)
    bone = placement.parent_bone(obj)
    above = binds.get(bone.name) if bone is not None else None
    return inner if above is None else np.asarray(np.linalg.inv(above) @ inner, np.float64)


def extract(
    obj: bpy.types.Object, skeleton: bpy.types.Object | None, binds: dict[str, Floats], options: Units
) -> Dummy:
    """The dummy that an empty stands for: as it came, where it was not moved, hung elsewhere or renamed.

    `binds`: see `bind_by_name`. Raises `ExportError` for a name that cannot be written.
    """
    bone = placement.parent_bone(obj)
    above = binds.get(bone.name) if bone is not None else None
    matrix = local(obj, skeleton, binds)
    raw = kept.get_array(obj, kept.RECORD, _RECORD)
    made = kept.get(obj, kept.MADE, b"")
    label = kept.get(obj, kept.LABEL, "")
    found = Dummy()
    known = raw[0] if len(raw) == 1 else None
    same_name = known is not None and armature.is_same_name(obj.name, label)
    found.name = bytes(known["name"]) if known is not None and same_name else names.field(obj.name, "dummy")
    if known is not None and made[128:] == _made(matrix, _origin_name(bone, made))[128:]:
        found.parent = bytes(known["parent"]) if known["has_parent"] else None
    else:
        found.parent = rig.field(bone) if bone is not None else names.field(names.SCENE_ROOT)
    whole = placement.armature_matrix(skeleton, options) if skeleton is not None else np.eye(4)
    if known is not None and placement.is_plain(whole) and _unmoved(matrix, made, above):
        found.matrix = np.array(known["matrix"], "<f4")
    else:
        found.matrix = space.to_file_matrix(_in_file_units(matrix, obj, whole, options)).astype("<f4")
    return found


def stored_parent(obj: bpy.types.Object) -> bytes:
    """The field of the parent that a dummy came with; empty for none."""
    raw = kept.get_array(obj, kept.RECORD, _RECORD)
    return bytes(raw[0]["parent"]) if len(raw) == 1 and raw[0]["has_parent"] else b""


def _origin_name(bone: bpy.types.Bone | None, made: bytes) -> str:
    """The name under which a bone stands in `made`: that of the import, which may have been changed since."""
    if bone is None:
        return ""
    before = made[128:].decode(errors="replace")
    return before if rig.origin(bone) == names.key(before) and before else bone.name


def _unmoved(matrix: Floats, made: bytes, above: Floats | None) -> bool:
    """Whether a dummy is where it was made, by its own matrix or by that in the armature; `above`: that of its bone."""
    if len(made) < 128:
        return False
    before = np.frombuffer(made[:128], "<f8").reshape(4, 4)
    if _near(matrix, before, _TOLERANCE):
        return True
    return above is not None and _near(above @ matrix, above @ before, _PLACED)


def _near(matrix: Floats, before: Floats, tolerance: float) -> bool:
    return bool((np.abs(matrix - before) <= tolerance * np.maximum(np.abs(before).max(), 1.0)).all())


def _in_file_units(matrix: Floats, obj: bpy.types.Object, whole: Floats, options: Units) -> npt.NDArray[Any]:
    """The matrix with its place in file units; a dummy on a bone is moved by that bone only."""
    if obj.parent is None:
        size = np.diag([1.0 / placement.unit(obj, options)] * 3 + [1.0])
        return np.asarray(size @ matrix, np.float64)
    if placement.parent_bone(obj) is None:
        return np.asarray(whole @ matrix, np.float64)
    out = matrix.copy()
    out[:3, 3] *= np.cbrt(abs(np.linalg.det(whole[:3, :3])))
    return out
