# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone table of a file from an armature: what was not edited keeps its raw record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import armature
from ..formats.model import BONE, bone_names, label, name_field
from . import kept

if TYPE_CHECKING:
    import bpy

# Blender rebuilds bone heads from their parents, so they come back a little off; far below anything one would edit.
_TOLERANCE = 1e-4
_OWNER = re.compile(r"Owner (\d{1,5})")
_NUMBERED = re.compile(r"\.\d{3,}$")


@dataclass(frozen=True)
class Table:
    """`bones` (B,) BONE; `groups`: vertex group name -> number; `moved`: old number -> new, None when all are the same."""

    bones: npt.NDArray[Any]
    groups: dict[str, int]
    moved: dict[int, int] | None = None

    def number(self, group: str) -> int:
        """Owner number that a vertex group stands for, -1 when it is no bone's."""
        found = self.groups.get(group)
        if found is not None:
            return found
        match = _OWNER.fullmatch(group)
        return min(int(match[1]), 0x7FFF) if match else -1

    def renumber(self, owner: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Kept owner numbers (V,) after bones were deleted or reordered; those of a deleted bone go to the first one."""
        if self.moved is None:
            return owner
        count = max(self.moved, default=-1) + 1
        lookup = np.array([self.moved.get(number, 0) for number in range(count)], np.int32)
        known = (owner >= 0) & (owner < count)
        return np.where(known, lookup[np.where(known, owner, 0)], owner) if count else owner


def group_names(bones: npt.NDArray[Any], owner: npt.NDArray[Any]) -> dict[int, str]:
    """Owner number -> the name its vertex group and bone get in Blender: the bones', made unique, in file order.

    Owners without a bone (characters of the mobile game have no bone table) are called "Owner N". Depends on nothing
    else, so that an exporter can work it out again.
    """
    names: dict[int, str] = {}
    used: set[str] = set()
    for number, text in enumerate(bone_names(bones)):
        base = armature.fit_name(text) or "Bone"
        unique, count = base, 0
        while unique in used:
            count += 1
            unique = f"{base}.{count:03d}"
        used.add(unique)
        names[number] = unique
    names.update({number: f"Owner {number}" for number in np.unique(owner).tolist() if number >= len(bones)})
    return names


def without_number(name: str) -> str:
    """A name without the ".001" that Blender adds to make it unique."""
    return _NUMBERED.sub("", name)


def single(name: str, position: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """A table of one bone at `position`, file axes and units."""
    bones = np.zeros(1, BONE)
    bones["name"] = np.void(name_field(name))
    bones["position"] = position
    bones["parent"] = -1
    return bones


def table(
    obj: bpy.types.Object, rig: bpy.types.Object | None, matrix: npt.NDArray[np.float64] | None
) -> Table:
    """The table of `obj`: from the armature `rig`, or as it was kept when there is none.

    `matrix` takes the armature's space to Blender axes in file units, None for the identity.
    """
    raw = kept.get_array(obj.data, kept.BONES, BONE)
    if rig is None or not len(rig.data.bones):
        names = group_names(raw, np.zeros(0, np.int16))
        return Table(raw.copy(), {name: number for number, name in names.items()})
    bones = list(rig.data.bones)
    origin = _origins(bones, len(raw))
    # Bones of the file in its order, new ones behind them, parents before children as Blender lists them.
    order = sorted(range(len(bones)), key=lambda i: (origin[i] is None, origin[i] or 0))
    place = {bones[index].name: number for number, index in enumerate(order)}
    heads = np.array([bones[index].head_local for index in order], np.float64).reshape(-1, 3)
    moved = heads if matrix is None else heads @ matrix[:3, :3].T + matrix[:3, 3]
    records = np.zeros(len(order), BONE)
    records["position"] = FILE_Y_UP.undo(moved)
    records["name"] = [np.void(name_field(without_number(bones[index].name))) for index in order]
    records["parent"] = [place[parent.name] if (parent := bones[index].parent) else -1 for index in order]
    sources = [origin[index] for index in order]
    _restore(records, raw, sources, [bones[index].name for index in order], unmoved=matrix is None)
    same = sources[: len(raw)] == list(range(len(raw)))
    links = None if same else {old: new for new, old in enumerate(sources) if old is not None}
    return Table(records, place, links)


def _origins(bones: list[bpy.types.Bone], count: int) -> list[int | None]:
    """The file number each bone came from; a copy of a bone, which carries the same number, is a new bone."""
    seen: set[int] = set()
    found: list[int | None] = []
    for bone in bones:
        number = kept.get(bone, kept.BONE_INDEX, -1)
        fresh = 0 <= number < count and number not in seen
        if fresh:
            seen.add(number)
        found.append(number if fresh else None)
    return found


def _restore(
    records: npt.NDArray[Any], raw: npt.NDArray[Any], sources: list[int | None], names: list[str], *, unmoved: bool
) -> None:
    """Put back the raw name, position, parent and hide of every bone in which they were not edited."""
    parents = armature.sane_parents(raw["parent"].tolist())
    same_table = sources == list(range(len(raw)))
    for number, source in enumerate(sources):
        if source is None:
            continue
        record = raw[source]
        records["hide"][number] = record["hide"]
        base = armature.fit_name(label(bytes(record["name"]))) or "Bone"
        if without_number(names[number]) == base or names[number] == base:
            records["name"][number] = record["name"]
        reach = _TOLERANCE * max(1.0, float(np.abs(record["position"]).max()))
        if unmoved and float(np.abs(records["position"][number] - record["position"]).max()) <= reach:
            records["position"][number] = record["position"]
        if same_table and int(records["parent"][number]) == parents[source]:
            records["parent"][number] = record["parent"]
