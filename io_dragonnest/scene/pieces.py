# SPDX-License-Identifier: GPL-3.0-or-later
"""One object of the scene as the sub-meshes it is written as: one for each material, more where one is too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from ...io_common.scene import armature, selection
from ..formats import checks, names, strips, triangles
from ..formats.submesh import Submesh
from . import kept, placement, rig, shown, skinning, split, surface, vertices

if TYPE_CHECKING:
    from collections.abc import Iterator

    import bpy

    from ...io_common.formats.digest import Digest
    from .options import ExportMshOptions
    from .shown import Shown
    from .skinning import Binding
    from .surface import Surface


# Modifiers that do the same before and behind an Armature.
_ORDERLESS = {"ARMATURE", "TRIANGULATE", "EDGE_SPLIT", "NORMAL_EDIT", "WEIGHTED_NORMAL", "UV_PROJECT", "UV_WARP"}


@dataclass(eq=False)
class Piece:
    """A sub-mesh, the object and the material (None without one) it was made of.

    `origin` (n,): of its vertices the numbers in the mesh of the object, as that is written.
    """

    submesh: Submesh
    obj: bpy.types.Object
    material: bpy.types.Material | None
    origin: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Job:
    """What the objects of one file share.

    `table`: keys of the bones that it had; `copies`: objects that were copied from others of it.
    """

    skeleton: bpy.types.Object | None
    table: set[str]
    options: ExportMshOptions
    digest: Digest
    copies: set[bpy.types.Object]


@dataclass(frozen=True, eq=False)
class _Read:
    """An object as arrays, and the sub-mesh it came from."""

    obj: bpy.types.Object
    data: Surface
    binding: Binding
    before: Shown | None


def of(context: bpy.types.Context, obj: bpy.types.Object, job: Job) -> list[Piece]:
    """The sub-meshes of `obj`, in Object Mode and at rest. Raises `ExportError` for what no sub-mesh can hold."""
    _note_order(obj, job)
    source = shown.recall(cast("bpy.types.ID", obj.data))
    before = shown.Shown(source) if source is not None else None
    matrix = placement.file_matrix(obj, job.skeleton, job.options)
    with selection.shape(context, obj, modifiers=job.options.use_mesh_modifiers) as mesh:
        data = surface.read(obj, mesh, matrix, before, job.digest)
        slots = [entry.material for entry in obj.material_slots]
        slots = [*slots, *list(mesh.materials)[len(slots) :]] or [None]
    if not len(data.positions) and before is None:
        raise ExportError(f'the object "{obj.name}" has no vertices')
    read = _Read(obj, data, skinning.bind(obj, job.skeleton, data, before, job.table, job.digest), before)
    parts = list(_parts(read, slots, split_large=job.options.use_split))
    name = _name(obj, before, copied=obj in job.copies)
    made = []
    for number, (chosen, material) in enumerate(parts):
        title = name if len(parts) == 1 else names.field(f"{armature.without_number(obj.name)}_{number}", "object")
        part, origin = _submesh(read, chosen, title, job.options)
        made.append(Piece(part, obj, material, origin))
    return made


def _note_order(obj: bpy.types.Object, job: Job) -> None:
    """Name modifiers behind the Armature: in a file what they make is moved, not made of what was moved."""
    if not job.options.use_mesh_modifiers:
        return
    active = [entry for entry in obj.modifiers if entry.show_viewport]
    first = next((place for place, entry in enumerate(active) if entry.type == "ARMATURE"), len(active))
    late = [entry.name for entry in active[first:] if entry.type not in _ORDERLESS]
    said = (
        f'"{obj.name}" has modifiers behind its Armature, which a file can only have before it, so it may look '
        "otherwise in motion: " + ", ".join(f'"{name}"' for name in late)
    )
    if late and said not in job.digest.notes:  # materials ask for the model once more
        job.digest.note(said)


def _parts(
    read: _Read, slots: list[bpy.types.Material | None], *, split_large: bool
) -> Iterator[tuple[npt.NDArray[np.bool_] | None, bpy.types.Material | None]]:
    """Which triangles make a sub-mesh each, None for all, and its material."""
    look = np.clip(read.data.material, 0, len(slots) - 1)
    used = np.unique(look)
    for slot in used.tolist() or [0]:
        chosen = np.flatnonzero(look == slot) if len(used) > 1 else np.arange(len(look))
        for lot in _lots(read, chosen) if split_large else [chosen]:
            if len(lot) == len(look):
                yield None, slots[slot]
                continue
            mask = np.zeros(len(look), bool)
            mask[lot] = True
            yield mask, slots[slot]


def _lots(read: _Read, chosen: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """The triangles `chosen` in lots that a sub-mesh can hold."""
    data, moved = read.data, read.binding.weights
    lots = [chosen]
    if len(np.unique(moved.group)) > checks.MOST_BONES:
        bones = np.zeros((len(data.positions), len(read.binding.fields)), bool)
        bones[moved.vertex, moved.group] = True
        lots = [lot[part] for lot in lots for part in split.by_bones(data.vertex[lot], bones, checks.MOST_BONES)]
    out = []
    for lot in lots:
        # Corners that differ become vertices of their own, as many as there are corners at the most.
        if len(lot) * 3 <= checks.MOST_VERTICES:
            out.append(lot)
            continue
        mask = np.zeros(len(data.vertex), bool)
        mask[lot] = True
        corners = vertices.of(data, mask, None).corners
        out += [lot[part] for part in split.by_vertices(corners, checks.MOST_VERTICES)]
    return out


def _name(obj: bpy.types.Object, before: Shown | None, *, copied: bool) -> bytes:
    """The name field: the one it came with until the object is renamed. Raises `ExportError` for a bad name.

    Blender numbers what it copies into another file or scene; that is no new name.
    """
    if before is not None and not copied:
        label = kept.get(cast("bpy.types.ID", obj.data), kept.LABEL, "")
        if armature.is_same_name(obj.name, label) or obj.name == before.source.label:
            return before.source.name
    return names.field(obj.name, "object")


def _submesh(
    read: _Read, chosen: npt.NDArray[np.bool_] | None, name: bytes, options: ExportMshOptions
) -> tuple[Submesh, npt.NDArray[np.int64]]:
    """The sub-mesh of the triangles `chosen`, and the origin of its vertices."""
    old = read.before.source if read.before is not None else None
    points = vertices.of(read.data, chosen, read.before)
    most = max(checks.MOST_VERTICES, len(old.positions) if old is not None else 0)
    if len(points.origin) > most:
        raise ExportError(
            f'"{read.obj.name}" has {len(points.origin)} vertices, but a sub-mesh holds {checks.MOST_VERTICES}; '
            'turn on "Split Large Meshes", or divide it'
        )
    # The bones that a file lists belong to the whole, of which a part has too many.
    only_used = options.use_split and len(read.binding.fields) > checks.MOST_BONES
    found = Submesh(
        parent=_parent(read.obj, old),
        name=name,
        positions=points.positions,
        normals=points.normals,
        uvs=points.uvs,
        colours=points.colours,
        skin=skinning.skin(read.binding, points.origin, only_used=only_used),
        flags=old.flags if old is not None else bytes(4),
        reserved=old.reserved if old is not None else b"",
    )
    _set_indices(found, points.corners, old, options)
    return found, points.origin


def _set_indices(
    found: Submesh, corners: npt.NDArray[np.int64], old: Submesh | None, options: ExportMshOptions
) -> None:
    """The indices as they came while they mean the same triangles, else a list or a strip."""
    wanted = options.face_layout
    if old is not None and (wanted == "AUTO" or old.is_strip == (wanted == "STRIP")):
        inside = not len(old.indices) or int(old.indices.max()) < len(found.positions)
        if inside and triangles.unchanged(old.indices, is_strip=old.is_strip, corners=corners):
            found.indices, found.is_strip = old.indices, old.is_strip
            return
    found.is_strip = wanted == "STRIP" or (wanted == "AUTO" and old is not None and old.is_strip)
    whole = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    corners = corners[whole]
    found.indices = strips.make(corners) if found.is_strip else corners.reshape(-1).astype("<u2")


def _parent(obj: bpy.types.Object, old: Submesh | None) -> bytes:
    """The parent field: of what hangs on a bone that bone's name, else as it came, else the root."""
    bone = placement.carrying_bone(obj)
    if bone is not None:
        same = old is not None and rig.origin(bone) == names.key(old.parent) and not rig.is_renamed(bone)
        return old.parent if old is not None and same else rig.field(bone)
    if old is not None and not kept.get(cast("bpy.types.ID", obj.data), kept.RIGID, 0):
        return old.parent
    return names.field(names.SCENE_ROOT)
