# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects stand when all bones rest, without evaluating the scene: hidden objects count too."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol, cast

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ...io_common.formats.errors import ExportError
from . import kept

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    Floats = npt.NDArray[np.float64]

# How far from one the axes of an untouched object may come out, in single precision; more than a rounding, as Blender
# puts the rests of bones together anew whenever one of them is hung elsewhere.
_TURNED = 1e-5
_MOVED = 1e-5  # the same for its place, as a part of what it was put together from
_LEAST = 1e-9  # the smallest scale, and the inverse of the largest one, of an armature that can be written
_FARTHEST = 1e15  # file units; their products still fit single precision
_UPRIGHT = 0.1  # the determinant of a bone's rest matrix is one


class Units(Protocol):
    """The options that say how large a file unit is."""

    @property
    def use_transform(self) -> bool: ...  # noqa: D102
    @property
    def use_import_scale(self) -> bool: ...  # noqa: D102
    @property
    def global_scale(self) -> float: ...  # noqa: D102


def of(matrix: Any) -> Floats:
    """A matrix of Blender as (4, 4)."""
    return np.array(matrix, np.float64)


def bone_end(bone: bpy.types.Bone) -> Floats:
    """What Blender takes for the space of the children of a bone at rest: its own, moved to its tail."""
    if bone.use_relative_parent:
        return np.eye(4)
    found = of(bone.matrix_local)
    found[:3, 3] += found[:3, 1] * bone.length
    return found


def parent_bone(obj: bpy.types.Object) -> bpy.types.Bone | None:
    """The bone an object is parented to."""
    parent = obj.parent
    if parent is None or obj.parent_type != "BONE" or parent.type != "ARMATURE":
        return None
    return cast("bpy.types.Armature", parent.data).bones.get(obj.parent_bone)


def carrying_bone(obj: bpy.types.Object) -> bpy.types.Bone | None:
    """The bone that an object, or what it hangs on, is parented to."""
    at: bpy.types.Object | None = obj
    while at is not None and at.type != "ARMATURE":
        bone = parent_bone(at)
        if bone is not None:
            return bone
        at = at.parent
    return None


def within(obj: bpy.types.Object, root: bpy.types.Object | None) -> Floats:
    """(4, 4) from the space of `obj` to that of its ancestor `root`, or to the world with None."""
    found = np.eye(4)
    at: bpy.types.Object | None = obj
    while at is not None and at is not root:
        step = of(at.matrix_parent_inverse) @ of(at.matrix_basis) if at.parent is not None else of(at.matrix_basis)
        bone = parent_bone(at)
        found = (bone_end(bone) @ step if bone is not None else step) @ found
        at = at.parent
    if at is None and root is not None:
        return np.asarray(np.linalg.inv(_regular(within(root, None))) @ found, np.float64)
    return found


def _regular(matrix: Floats) -> Floats:
    return matrix if abs(np.linalg.det(matrix[:3, :3])) > 1e-30 else np.eye(4)


def unit(block: bpy.types.ID | None, options: Units) -> float:
    """Blender units of a file unit for what belongs to `block`, an armature or a mesh."""
    stored = kept.get(block, kept.SCALE, 0.0) if block is not None and options.use_import_scale else 0.0
    return stored or float(options.global_scale)


def armature_matrix(rig: bpy.types.Object, options: Units) -> Floats:
    """(4, 4) from the space of an armature to file units, in Blender's axes; exactly one for untouched imports."""
    world = within(rig, None)
    if not options.use_transform:
        size = np.sqrt(np.square(world[:3, :3]).sum(axis=0))
        world = np.diag([*size.tolist(), 1.0])
    world[:3] /= unit(rig.data, options)
    _require_sound(world, rig)
    return plain(world, 1.0)


def _require_sound(matrix: Floats, rig: bpy.types.Object) -> None:
    size = np.sqrt(np.square(matrix[:3, :3]).sum(axis=0))
    # Comparisons with what is no number are never true.
    if not (np.abs(matrix[:3, 3]).max() <= _FARTHEST and size.max() <= 1.0 / _LEAST and size.min() >= _LEAST):
        raise ExportError(
            f'the armature "{rig.name}" stands too far away, or is scaled to nothing or beyond all measure; check the '
            "location and scale of it and of its parents"
        )
    if not abs(np.linalg.det(matrix[:3, :3] / size)) > _LEAST:
        raise ExportError(f'the armature "{rig.name}" is sheared until it is flat; check the scale of its parents')


def require_sound_bones(rig: bpy.types.Object) -> None:
    """Raise `ExportError` where a bone has no direction: matrices of such bones cannot be undone."""
    bones = cast("bpy.types.Armature", rig.data).bones
    rest = np.array([bone.matrix_local for bone in bones], np.float64).reshape(-1, 4, 4)
    with np.errstate(all="ignore"):
        good = np.abs(np.linalg.det(rest[:, :3, :3])) > _UPRIGHT
        good &= np.abs(rest[:, :3, 3]).max(axis=1, initial=0.0) <= _FARTHEST
    if not good.all():
        raise ExportError(
            f'the bone "{bones[int(np.argmin(good))].name}" of the armature "{rig.name}" is too short to have a '
            "direction, or too far away; correct it in Edit Mode"
        )


def file_matrix(obj: bpy.types.Object, rig: bpy.types.Object | None, options: Units) -> Floats:
    """(4, 4) from the space of `obj` to file units, in Blender's axes; exactly one where that is all it can mean."""
    if rig is not None:
        inner = within(obj, rig)
        bone = carrying_bone(obj)
        reach = 1.0 if bone is None else float(np.abs(of(bone.matrix_local)[:3, 3]).max()) + bone.length
        return plain(armature_matrix(rig, options) @ plain(inner, reach), reach)
    world = within(obj, None)
    world[:3] /= unit(obj if kept.has(obj, kept.SCALE) else obj.data, options)
    return plain(world, 1.0)


def plain(matrix: Floats, reach: float) -> Floats:
    """The identity in place of what differs from it by no more than rounding; `reach`: how far out it was made."""
    away = np.abs(matrix - np.eye(4))
    if away[:3, :3].max() <= _TURNED and away[:3, 3].max() <= _MOVED * max(reach, 1.0):
        return np.eye(4)
    return matrix


def is_plain(matrix: Floats) -> bool:
    """Whether a matrix changes nothing."""
    return bool((matrix == np.eye(4)).all())


def hang(obj: bpy.types.Object, rig: bpy.types.Object | None, bone: str | None, scale: float) -> None:
    """Let `obj`, whose data is in file units, follow a bone, or the armature; it carries the scale where there is none.

    Under an armature the scale is undone by the parent inverse: so it stays when the armature goes.
    """
    obj.scale = (scale,) * 3
    if rig is None:
        return
    undo = 1.0 / float(np.float32(scale))
    inverse = np.diag((undo, undo, undo, 1.0))
    obj.parent = rig
    if bone is not None:
        obj.parent_type = "BONE"
        obj.parent_bone = bone
        inverse = np.linalg.inv(bone_end(cast("bpy.types.Armature", rig.data).bones[bone])) @ inverse
    obj.matrix_parent_inverse = Matrix(inverse.tolist())


@contextlib.contextmanager
def still(obj: bpy.types.Object, labels: Collection[str]) -> Iterator[None]:
    """Let what hangs on the bones `labels` of the armature `obj` stay where it is, whatever is done to them meanwhile.

    What hangs on a bone, rather than being weighted to it, would be turned along; by a rounding even where a bone only
    gets another parent, as Blender then puts rests together anew from bone to bone.
    """
    hung = [entry for entry in bpy.data.objects if entry.parent == obj and entry.parent_bone in labels]
    before = [_space(entry) for entry in hung]
    yield
    for entry, space in zip(hung, before, strict=True):
        inverse = np.array(entry.matrix_parent_inverse, np.float64)
        entry.matrix_parent_inverse = Matrix((np.linalg.inv(_space(entry)) @ space @ inverse).tolist())


def _space(obj: bpy.types.Object) -> Floats:
    """(4, 4) of the bone an object hangs on."""
    bone = parent_bone(obj)
    return np.eye(4) if bone is None else bone_end(bone)
