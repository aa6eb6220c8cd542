# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of an ANI that is written: those of the file it came from, as the armature has them now, and new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ...io_common.scene import curves
from ..formats import ani, hierarchy, names
from . import bone_motion, bone_table, clip_curves, clips, kept, placement, rig

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

    from ..formats.ani import Ani
    from .bone_motion import Mapping
    from .placement import Floats


@dataclass(frozen=True, eq=False)
class Table:
    """`bones` (b,) of `ani.BONE` and their `parents` (b,). `onto`: the armature over them, in file units.

    `grow`: file units of a unit of the armature; `whole` (4, 4) takes it there.
    """

    bones: npt.NDArray[Any]
    parents: npt.NDArray[np.int32]
    onto: Mapping
    grow: float
    whole: Floats


def compose(obj: bpy.types.Object, shell: Ani | None, actions: Sequence[bpy.types.Action], options: Any) -> Table:
    """The bones for clips of `obj`. `shell`: the file they came from, None for new work.

    Raises `ExportError` for a name that cannot stand in a file, and where the armature or a bone cannot be measured.
    """
    whole = placement.armature_matrix(obj, options)
    placement.require_sound_bones(obj)
    state = rig.state(obj)
    if shell is None:
        wanted = _deforming(obj, state)
        bones, parents, found = _fresh(obj, state, wanted)
    else:
        bones, parents, found = _stored(obj, state, shell, actions)
        extra = _moved_extra(obj, state, found, actions)
        if extra:
            bones, parents, found = _extended(obj, state, (bones, parents, found), extra)
    scaled = replace(
        state,
        rest=np.array([bone_table.in_file_units(entry, whole) for entry in state.rest]).reshape(-1, 4, 4),
        bind=np.array([bone_table.in_file_units(entry, whole) for entry in state.bind]).reshape(-1, 4, 4),
    )
    grow = float(np.cbrt(abs(np.linalg.det(whole[:3, :3])))) or 1.0
    length = rig.lengths(obj) * grow
    return Table(bones, parents, bone_motion.mapping(scaled, length, found, parents), grow, whole)


def _deforming(obj: bpy.types.Object, state: rig.Rig) -> list[int]:
    """The bones that move a mesh, and those above them; all where none does."""
    bones = cast("bpy.types.Armature", obj.data).bones
    wanted = np.array([bones[name].use_deform for name in state.names], bool)
    if not wanted.any():
        wanted[:] = True
    # Parents come before their children.
    for row in range(len(wanted) - 1, -1, -1):
        if wanted[row] and state.parent[row] >= 0:
            wanted[state.parent[row]] = True
    return [int(row) for row in np.flatnonzero(wanted)]


_Parts = tuple[npt.NDArray[Any], npt.NDArray[np.int32], list[str | None]]


def _fresh(obj: bpy.types.Object, state: rig.Rig, wanted: list[int]) -> _Parts:
    bones = cast("bpy.types.Armature", obj.data).bones
    fields = [rig.field(bones[state.names[row]]) for row in wanted]
    at = {row: number for number, row in enumerate(wanted)}
    parents = np.array([at.get(int(state.parent[row]), -1) for row in wanted], np.int32)
    table = np.zeros(len(wanted), ani.BONE)
    if wanted:
        table["name"] = names.fields(fields)
        table["parent"] = names.fields(_parent_fields(fields, parents))
    return table, parents, [state.names[row] for row in wanted]


def _parent_fields(fields: list[bytes], parents: npt.NDArray[Any]) -> list[bytes]:
    root = names.field(names.SCENE_ROOT)
    return [fields[parent] if parent >= 0 else root for parent in parents.tolist()]


def _stored(obj: bpy.types.Object, state: rig.Rig, shell: Ani, actions: Sequence[bpy.types.Action]) -> _Parts:
    """The rows of the file; bones that were renamed or hung elsewhere in Blender are so here."""
    bones = cast("bpy.types.Armature", obj.data).bones
    found: list[str | None] = rig.match(shell.bone_names, obj)
    table, parents = shell.bones.copy(), hierarchy.from_ani(shell).parents
    renamed = [name is not None and rig.is_renamed(bones[name]) for name in found]
    fresh = [
        row for row, name in enumerate(found) if name is not None and renamed[row] and kept.has(bones[name], kept.NAME)
    ]
    for row in fresh:
        table["name"][row] = np.void(rig.field(bones[cast("str", found[row])]))
    moved = _rehung(state, shell, actions, found)
    for row, above in moved.items():
        parents[row] = above
    hierarchy.cut_loops(parents)
    fields = [bytes(raw) for raw in table["name"].tolist()]
    for row, above in enumerate(parents.tolist()):
        if row in moved or (above >= 0 and above in fresh):
            table["parent"][row] = np.void(fields[above] if above >= 0 else names.field(names.SCENE_ROOT))
    return table, parents, found


def _rehung(state: rig.Rig, shell: Ani, actions: Sequence[bpy.types.Action], found: list[str | None]) -> dict[int, int]:
    """Bones whose parent in Blender is another one than at import, and that parent."""
    kept_rigs = (clip_curves.kept_rig(action) for action in actions)
    before = next((table for table in kept_rigs if len(table) == len(shell.bones)), None)
    if before is None:
        return {}
    length = np.ones(len(state.names))
    row = bone_motion.mapping(state, length, found, hierarchy.from_ani(shell).parents).row
    now = clip_curves.rig_table(state, row, len(shell.bones))
    both = (before["known"] == 1) & (now["known"] == 1)
    other = both & (before["parent"] != now["parent"]) & (now["parent"] != -2)
    return {int(bone): int(now["parent"][bone]) for bone in np.flatnonzero(other)}


def _moved_extra(
    obj: bpy.types.Object, state: rig.Rig, found: list[str | None], actions: Sequence[bpy.types.Action]
) -> list[int]:
    """Bones that are not in the file but move in a clip, with those above them, parents first."""
    bones = cast("bpy.types.Armature", obj.data).bones
    listed = {name for name in found if name is not None}
    moved = {name for action in actions for name in set(curves.bones_of(action)) - clip_curves.spare(action)}
    rows = {name: row for row, name in enumerate(state.names)}
    wanted: set[int] = set()
    for name in moved & rows.keys() - listed:
        row = rows[name]
        if not bones[name].use_deform:
            continue
        while row >= 0 and state.names[row] not in listed:
            wanted.add(row)
            row = int(state.parent[row])
    return sorted(wanted)


def _extended(obj: bpy.types.Object, state: rig.Rig, parts: _Parts, extra: list[int]) -> _Parts:
    bones = cast("bpy.types.Armature", obj.data).bones
    table, parents, found = parts
    at = {name: row for row, name in reversed(list(enumerate(found))) if name is not None}
    at |= {state.names[row]: len(table) + number for number, row in enumerate(extra)}
    above = [at.get(state.names[state.parent[row]], -1) if state.parent[row] >= 0 else -1 for row in extra]
    more = np.zeros(len(extra), ani.BONE)
    more["name"] = names.fields([rig.field(bones[state.names[row]]) for row in extra])
    whole = np.concatenate((table, more))
    every = np.concatenate((parents, np.array(above, np.int32)))
    fields = [bytes(raw) for raw in whole["name"].tolist()]
    whole["parent"][len(table) :] = names.fields(_parent_fields(fields, every)[len(table) :])
    return whole, every, [*found, *(state.names[row] for row in extra)]


def shell_of(action: bpy.types.Action) -> Ani | None:
    """The file an Action came from, without its clips, as the Action itself knows it."""
    found = clips.clip_of(action)
    return None if found is None else replace(ani.with_clips(found, []), trailing=b"")
