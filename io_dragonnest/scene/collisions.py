# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision primitives of a model as wire objects.

They stand in the space of the model and follow their parent bone. A box or a sphere is a unit shape that its object
places and scales, so both the object and its mesh can be edited: what is written is the box, sphere or capsule around
the mesh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ...io_common.scene import mesh as meshes
from ..formats import collision as primitives
from ..formats import names, space
from ..formats.collision import Collision, Kind
from . import kept, placement, rig

if TYPE_CHECKING:
    from ..formats.msh import Msh
    from .placement import Floats, Units

_SEGMENTS = 24
_TOLERANCE = 1e-4
_HUGE = 1e15  # of the scale of an object
_TITLE = {Kind.BOX: "Box", Kind.SPHERE: "Sphere", Kind.CAPSULE: "Capsule"}
_YZ = [0, 2, 1]
_HEAD = np.dtype([("kind", "<i4"), ("parent", "<i4")])


def build(model: Msh, skeleton: bpy.types.Object | None, scale: float) -> list[bpy.types.Object]:
    """One wire object for each primitive, linked nowhere yet."""
    bones = rig.lookup(skeleton) if skeleton is not None else {}
    return [
        _build(entry, skeleton, None if names.is_root(entry.parent) else bones.get(names.key(entry.parent)), scale)
        for entry in model.collisions
    ]


def _build(entry: Collision, skeleton: bpy.types.Object | None, bone: str | None, scale: float) -> bpy.types.Object:
    title = _TITLE.get(entry.kind, "Collision")
    mesh, matrix = _SHAPES.get(entry.kind, _triangles)(entry, title)
    obj = bpy.data.objects.new(title, mesh)
    obj.display_type = "WIRE"
    obj.hide_render = True
    _place(obj, matrix, skeleton, bone, scale)
    kept.put(obj, kept.COLLISION, int(entry.kind) + 1)
    kept.put(obj, kept.SCALE, float(np.float32(scale)))
    head = np.array([(int(entry.kind), len(entry.parent))], _HEAD).tobytes()
    kept.put(obj, kept.RECORD, head + entry.parent + entry.values.astype("<f4").tobytes())
    values = _values(obj, entry.kind, placement.within(obj, skeleton))
    kept.put(obj, kept.MADE, values.tobytes())
    kept.put(obj, kept.LABEL, bone or "")
    return obj


def _place(
    obj: bpy.types.Object, matrix: Floats, skeleton: bpy.types.Object | None, bone: str | None, scale: float
) -> None:
    if skeleton is None:
        matrix = np.diag((scale, scale, scale, 1.0)) @ matrix
    else:
        obj.parent = skeleton
        if bone is not None:
            obj.parent_type, obj.parent_bone = "BONE", bone
            end = placement.bone_end(cast("bpy.types.Armature", skeleton.data).bones[bone])
            obj.matrix_parent_inverse = Matrix(np.linalg.inv(end).tolist())
    obj.matrix_basis = Matrix(matrix.tolist())


def _wire(title: str, points: npt.NDArray[Any], edges: list[tuple[int, int]]) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(title)
    mesh.from_pydata(np.asarray(points, np.float64).tolist(), edges, [])
    return mesh


def _moved(place: npt.NDArray[Any], turn: Floats | None = None) -> Floats:
    out = np.eye(4)
    out[:3, 3] = place
    if turn is not None:
        out[:3, :3] = turn
    return out


def _box(entry: Collision, title: str) -> tuple[bpy.types.Mesh, Floats]:
    values = entry.values.astype(np.float64)
    # File axes are rows; y and z change places, which makes a right-handed triple of a left-handed one.
    axes = space.AXES.apply(values[3:12].reshape(3, 3))[_YZ].T
    half, inner = _shared(values[12:][_YZ])
    matrix = _moved(space.AXES.apply(values[:3]), axes * half)
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * inner
    edges = [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]
    return _wire(title, corners, edges), matrix


def _shared(size: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """What of a size the object takes, and what its mesh: squares of huge scales leave Blender without a rotation."""
    return (np.ones_like(size), size) if np.abs(size).max() > _HUGE else (size, np.ones_like(size))


def _circle(axis: int, radius: float, height: float = 0.0) -> Floats:
    turn = 2 * np.pi * np.arange(_SEGMENTS) / _SEGMENTS
    flat = np.stack((np.cos(turn) * radius, np.sin(turn) * radius, np.full(_SEGMENTS, height)), axis=1)
    return np.roll(flat, axis, axis=1)


def _ring(start: int) -> list[tuple[int, int]]:
    return [(start + at, start + (at + 1) % _SEGMENTS) for at in range(_SEGMENTS)]


def _sphere(entry: Collision, title: str) -> tuple[bpy.types.Mesh, Floats]:
    values = entry.values.astype(np.float64)
    points = np.concatenate([_circle(axis, 1.0) for axis in range(3)])
    edges = [edge for axis in range(3) for edge in _ring(axis * _SEGMENTS)]
    radius, inner = _shared(values[3:4])
    return _wire(title, points * inner, edges), _moved(space.AXES.apply(values[:3]), np.eye(3) * radius)


def _capsule(entry: Collision, title: str) -> tuple[bpy.types.Mesh, Floats]:
    values = entry.values.astype(np.float64)
    start, away = space.AXES.apply(values[:3]), space.AXES.apply(values[3:6])
    length, radius = float(np.sqrt(np.square(away).sum())), float(values[6])
    level = [_circle(0, radius), _circle(0, radius, length)]
    upright = []
    for axis in (1, 2):
        hoop = _circle(axis, radius)
        hoop[:, 2] += np.where(hoop[:, 2] > 1e-9 * abs(radius), length, 0.0)
        upright.append(hoop)
    points = np.concatenate([*level, *upright])
    edges = [edge for number in range(4) for edge in _ring(number * _SEGMENTS)]
    return _wire(title, points, edges), _moved(start, _towards(away / length) if length > 1e-12 else None)


def _towards(direction: npt.NDArray[Any]) -> Floats:
    """A rotation whose z axis is `direction` (3,)."""
    helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
    x = np.cross(helper, direction)
    x /= np.sqrt(np.square(x).sum())
    return np.stack((x, np.cross(direction, x), direction), axis=1)


def _triangles(entry: Collision, title: str) -> tuple[bpy.types.Mesh, Floats]:
    corners = space.AXES.apply(entry.triangles).reshape(-1, 3)
    return meshes.from_triangles(
        title, corners, np.arange(len(corners), dtype=np.int32).reshape(-1, 3)[:, space.REVERSED]
    ), np.eye(4)


_SHAPES = {Kind.BOX: _box, Kind.SPHERE: _sphere, Kind.CAPSULE: _capsule}


def is_collision(obj: bpy.types.Object) -> bool:
    """Whether an object stands for a collision primitive: by mark, or by the `@` that the game's own tools go by."""
    if obj.type != "MESH" or kept.has(cast("bpy.types.ID", obj.data), kept.SUBMESH):
        return False
    return kept.has(obj, kept.COLLISION) or obj.name.startswith("@")


def extract(obj: bpy.types.Object, skeleton: bpy.types.Object | None, options: Units) -> Collision:
    """The primitive that an object stands for: as it came, where it was not changed.

    Raises `ExportError` for the name of a bone that cannot be written.
    """
    number = kept.get(obj, kept.COLLISION, int(Kind.TRIANGLES) + 1) - 1
    kind = Kind(number) if 0 <= number <= max(Kind) else Kind.TRIANGLES
    before = _recall(obj)
    bone = placement.parent_bone(obj)
    matrix = placement.within(obj, skeleton)
    values = _values(obj, kind, matrix)
    same = _unchanged(values, kept.get_array(obj, kept.MADE, "<f8"))
    if skeleton is not None and not placement.is_plain(placement.armature_matrix(skeleton, options)):
        same = False
    if before is not None and before.kind is kind and same:
        found = Collision(kind, before.parent, before.values)
    else:
        whole = placement.file_matrix(obj, skeleton, options) if skeleton is None else _whole(skeleton, matrix, options)
        found = Collision(kind, b"", _written(_values(obj, kind, whole), kind))
    found.parent = _parent(obj, bone, before)
    return found


def _whole(skeleton: bpy.types.Object, matrix: Floats, options: Units) -> Floats:
    return np.asarray(placement.armature_matrix(skeleton, options) @ matrix, np.float64)


def _parent(obj: bpy.types.Object, bone: bpy.types.Bone | None, before: Collision | None) -> bytes:
    label = kept.get(obj, kept.LABEL, "")
    if before is not None and (label == (bone.name if bone is not None else "")):
        return before.parent
    if bone is None:
        return names.lpstr(names.SCENE_ROOT)
    if before is not None and label and rig.origin(bone) == names.key(before.parent) and not rig.is_renamed(bone):
        return before.parent
    return names.text(rig.field(bone)).encode(names.ENCODING, errors="replace") + b"\0"


def stored_parent(obj: bpy.types.Object) -> bytes:
    """The name of the parent that a primitive came with; empty for none."""
    before = _recall(obj)
    return before.parent if before is not None else b""


def _recall(obj: bpy.types.Object) -> Collision | None:
    raw = kept.get(obj, kept.RECORD, b"")
    if len(raw) < _HEAD.itemsize:
        return None
    head = np.frombuffer(raw, _HEAD, 1)[0]
    start = _HEAD.itemsize + int(head["parent"])
    rest = raw[start:]
    if not 0 <= head["kind"] <= max(Kind) or not _HEAD.itemsize <= start <= len(raw) or len(rest) % 4:
        return None  # somebody else wrote there
    kind = Kind(int(head["kind"]))
    each = primitives.FLOATS.get(kind)
    if (len(rest) // 4 != each) if each else len(rest) // 4 % primitives.TRIANGLE_FLOATS:
        return None
    return Collision(kind, raw[_HEAD.itemsize : start], np.frombuffer(rest, "<f4"))


def _unchanged(values: Floats, made: npt.NDArray[Any]) -> bool:
    if values.shape != made.shape:
        return False
    # What cannot be computed with, in either, is as it was where both are so.
    size = max(float(np.abs(made[np.isfinite(made)]).max(initial=0.0)), 1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(values - made) <= _TOLERANCE * size
    return bool((near | (values == made) | (np.isnan(values) & np.isnan(made))).all())


def _values(obj: bpy.types.Object, kind: Kind, matrix: Floats) -> Floats:
    """The numbers of a primitive in Blender's axes: of triangles all corners, else centre, axes and sizes."""
    mesh = meshes.of(obj)
    points = meshes.get_positions(mesh).astype(np.float64)
    if kind not in primitives.FLOATS:
        corners = points[meshes.get_triangles(mesh).vertex[:, space.REVERSED]].reshape(-1, 3)
        return (corners @ matrix[:3, :3].T + matrix[:3, 3]).reshape(-1)
    low = points.min(axis=0) if len(points) else np.zeros(3)
    high = points.max(axis=0) if len(points) else np.zeros(3)
    middle, half = (low + high) / 2, (high - low) / 2
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.sqrt(np.square(matrix[:3, :3]).sum(axis=0))
    axes = matrix[:3, :3] / np.where(size > 1e-12, size, 1.0)
    if kind is Kind.BOX:
        return np.concatenate((_point(matrix, middle), axes.T.reshape(-1), half * size))
    if kind is Kind.SPHERE:
        return np.array([*_point(matrix, middle), (half * size).mean()])
    round_, local = (half[:2] * size[:2]).mean(), half[:2].mean()
    reach = max(half[2] - local, 0.0)
    start, end = (_point(matrix, middle + np.array((0.0, 0.0, sign * reach))) for sign in (-1.0, 1.0))
    return np.concatenate((start, end - start, [round_]))


def _point(matrix: Floats, at: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(matrix[:3, :3] @ at + matrix[:3, 3])


def _written(values: Floats, kind: Kind) -> npt.NDArray[np.float32]:
    """`_values` as the file has them."""
    if kind not in primitives.FLOATS:
        return Collision.from_triangles(space.AXES.undo(values.reshape(-1, 3, 3)).astype("<f4")).values
    out = values.copy()
    out[:3] = space.AXES.undo(values[:3])
    if kind is Kind.BOX:
        out[3:12] = space.AXES.undo(values[3:12].reshape(3, 3)[_YZ]).reshape(-1)
        out[12:] = values[12:][_YZ]
    elif kind is Kind.CAPSULE:
        out[3:6] = space.AXES.undo(values[3:6])
    return out.astype("<f4")
