# SPDX-License-Identifier: GPL-3.0-or-later
"""Where on a character each vertex of another mesh belongs, when the two lie over each other in the scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.formats.errors import UserError
from ...io_common.scene import mesh as meshes
from ..formats import carry
from . import kept, part
from .options import ExportOptions

if TYPE_CHECKING:
    import bpy

    from ..formats.carry import Attachment

    Points = npt.NDArray[np.float64]

REACH = 0.02  # file units; a step of a frame is 1/16
_FAR = 0.25  # of the size of the character: a mesh this far off is somewhere else
_CLEARLY = 0.7  # another shape than the rest shape must be this much nearer to be meant
SHAPES = ("REST", "BASE", "SHOWN")
_TITLES = {"REST": "rest shape", "BASE": "base pose of the file", "SHOWN": "pose shown now"}


@dataclass(frozen=True)
class Fit:
    """A mesh brought over the rest shape of a character, in the local space of the character's mesh.

    `held`: how its vertices hang there; `base` (P, 3): the same in the base pose of the file, None where that is the
    rest shape; `mirrored`: whether its faces have to be turned round; `shape`: the one of `SHAPES` it was made over.
    """

    held: Attachment
    base: Points | None
    mirrored: bool
    shape: str

    @property
    def exact(self) -> int:
        """How many vertices lie on one of the character."""
        return len(self.held.points) - len(self.held.new)


@dataclass(frozen=True)
class Character:
    """What has to be known of the mesh to hang another on it; positions (V, 3) in its local space.

    `shapes`: by name, those of `SHAPES` there are; `body` (V,): which vertices move together; `unit`: file units in
    one of its own; `triangles` (T, 3).
    """

    shapes: dict[str, Points]
    body: npt.NDArray[np.int32]
    triangles: npt.NDArray[np.int32]
    unit: float

    @classmethod
    def of(cls, context: bpy.types.Context, obj: bpy.types.Object) -> Character:
        """As it stands now. Raises `UserError` when there is nothing to hang anything on."""
        mesh = meshes.of(obj)
        rest = meshes.get_positions(mesh).astype(np.float64)
        if not len(rest) or not np.isfinite(rest).all():
            raise UserError(f'"{obj.name}" has no vertices that could carry anything')
        shapes = {"REST": rest}
        if kept.BASE in mesh.attributes:
            shapes["BASE"] = part.base_positions(mesh).astype(np.float64)
        shown = _shown(context, obj)
        if shown is not None and not np.allclose(shown, rest, rtol=0, atol=1e-4 * float(np.ptp(rest, axis=0).max())):
            shapes["SHOWN"] = shown
        matrix = part.file_matrix(obj, obj, ExportOptions())
        unit = 1.0 if matrix is None else float(np.cbrt(abs(np.linalg.det(matrix[:3, :3]))))
        return cls(shapes, bodies(obj), meshes.get_triangles(mesh).vertex, unit)


def bodies(obj: bpy.types.Object) -> npt.NDArray[np.int32]:
    """(V,): a number for the vertices that move together: by their heaviest group, else by the owner they came with."""
    mesh = meshes.of(obj)
    none = np.full(len(mesh.vertices), -1, np.int32)
    grouped = meshes.heaviest_group(mesh, np.arange(len(obj.vertex_groups), dtype=np.int32), none)
    if (grouped >= 0).any():
        return grouped
    owner = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
    return none if owner is None else owner


def _shown(context: bpy.types.Context, obj: bpy.types.Object) -> Points | None:
    """The vertices as the viewport shows them, None when modifiers make others of them."""
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        found = meshes.get_positions(mesh).astype(np.float64)
    finally:
        evaluated.to_mesh_clear()
    return found if len(found) == len(meshes.of(obj).vertices) and np.isfinite(found).all() else None


def fit(context: bpy.types.Context, target: bpy.types.Object, source: bpy.types.Object, shape: str = "AUTO") -> Fit:
    """Bring the mesh of `target` over the rest shape of the character `source`; nothing is changed.

    `shape`: over which of its shapes the mesh was made, one of `SHAPES` or "AUTO" for the nearest. Raises `UserError`
    when the two do not lie over each other.
    """
    context.view_layer.update()
    character = Character.of(context, source)
    points, mirrored = _local(target, source)
    if shape != "AUTO" and shape not in character.shapes:
        raise UserError(f'the {_TITLES[shape]} of "{source.name}" is its rest shape; choose Automatic')
    reach = REACH / character.unit
    tried = {
        name: carry.attach(points, positions, character.triangles, character.body, reach)
        for name, positions in character.shapes.items()
        if shape in ("AUTO", name)
    }
    chosen = _nearest_shape(tried)
    held, rest = tried[chosen], character.shapes["REST"]
    size = float(np.linalg.norm(np.ptp(rest, axis=0)))
    if float(np.median(held.places.distance)) > _FAR * size:
        raise UserError(
            f'"{target.name}" does not lie over "{source.name}"; bring the two to the same place and size first'
        )
    if chosen == "REST":
        placed = held.points.copy()
        placed[held.same >= 0] = rest[held.same[held.same >= 0]]
    else:
        placed = carry.reshaped(character.body, character.shapes[chosen], rest, held)
    result = held.moved_to(placed)
    return Fit(result, _base(character, held, result, chosen), mirrored, chosen)


def _nearest_shape(tried: dict[str, Attachment]) -> str:
    distance = {name: float(held.places.distance.mean()) for name, held in tried.items()}
    best = min(distance, key=lambda name: distance[name])
    return "REST" if "REST" in tried and distance["REST"] * _CLEARLY <= distance[best] else best


def _base(character: Character, held: Attachment, placed: Attachment, chosen: str) -> Points | None:
    """Where the vertices are in the base pose of the file; what was made over it stays where it is."""
    base = character.shapes.get("BASE")
    if base is None:
        return None
    moved = carry.reshaped(character.body, character.shapes["REST"], base, placed)
    if chosen == "BASE":
        moved[held.new] = held.points[held.new]
    return moved


def in_file(points: npt.NDArray[Any], matrix: npt.NDArray[np.float64] | None) -> Points:
    """Points (n, 3) in Blender axes to file axes and units; `matrix` as of `part.file_matrix`."""
    moved = np.asarray(points, np.float64)
    if matrix is not None:
        moved = moved @ matrix[:3, :3].T + matrix[:3, 3]
    return np.asarray(FILE_Y_UP.undo(moved), np.float64)


def _local(target: bpy.types.Object, source: bpy.types.Object) -> tuple[Points, bool]:
    """The vertices of `target` in the local space of `source`, and whether the way there mirrors."""
    points = meshes.get_positions(meshes.of(target)).astype(np.float64)
    own, to = (np.array(obj.matrix_world, np.float64) for obj in (target, source))
    for obj, matrix in ((target, own), (source, to)):
        if not abs(float(np.linalg.det(matrix[:3, :3]))) > 1e-30:
            raise UserError(f'"{obj.name}" has a scale of 0')
    if not len(points) or not np.isfinite(points).all():
        raise UserError(f'"{target.name}" has no vertices, or some that are nowhere')
    change: npt.NDArray[Any] = np.linalg.inv(to) @ own
    if np.allclose(change, np.eye(4), rtol=0, atol=1e-6):
        return points, False
    return points @ change[:3, :3].T + change[:3, 3], bool(np.linalg.det(change[:3, :3]) < 0)
