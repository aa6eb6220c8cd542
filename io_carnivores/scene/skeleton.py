# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone table of a file from an armature: what was not edited keeps its raw record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.scene import armature
from ...io_common.scene import mesh as meshes
from ..formats import rigid
from ..formats.model import BONE, bone_names, label, name_field
from ..formats.rigid import Bodies
from . import kept

if TYPE_CHECKING:
    import bpy

# Blender rebuilds bone heads from their parents, so they come back a little off; far below anything one would edit.
_TOLERANCE = 1e-4
_DRIFT = 4e-6
_LAST = 0x7FFF  # owners are 16-bit numbers
_APART = 0.5  # file units; what frames and base pose say of a joint differs by a step or two anyway
_OWNER = re.compile(r"Owner (\d{1,40})")  # with zeros in front where a bone of the file has the plain name
_NUMBERED = re.compile(r"\.\d{3,}$")


@dataclass(frozen=True)
class Table:
    """`bones` (B,) BONE; `groups`: vertex group name -> number; `origin_groups`: by old number, the group's name now.

    `moved` (old B,) i32: old number -> new, for a deleted bone that of the nearest parent left; None when all are the
    same. `cut_names`: names given in Blender that the 32-byte field cannot hold.
    """

    bones: npt.NDArray[Any]
    groups: dict[str, int]
    origin_groups: list[str]
    moved: npt.NDArray[np.int32] | None = None
    cut_names: tuple[str, ...] = ()

    def number(self, group: str) -> int:
        """Owner number that a vertex group stands for, -1 when it is no bone's."""
        found = self.groups.get(group)
        if found is not None:
            return found
        match = _OWNER.fullmatch(group)
        return min(int(match[1]), 0x7FFF) if match else -1

    def renumber(self, owner: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Kept owner numbers (V,) after bones were deleted or reordered."""
        if self.moved is None or not len(self.moved):
            return owner
        known = (owner >= 0) & (owner < len(self.moved))
        return np.where(known, self.moved[np.where(known, owner, 0)], owner)


def group_names(bones: npt.NDArray[Any], owner: npt.NDArray[Any]) -> dict[int, str]:
    """Owner number -> the name its vertex group and bone get in Blender: the bones', made unique, in file order.

    Owners without a bone (characters of the mobile game have no bone table) are called "Owner N". Depends on nothing
    else, so that an exporter can work it out again.
    """
    names: dict[int, str] = {}
    used: set[str] = set()
    counts: dict[str, int] = {}  # a file may hold tens of thousands of bones of one name
    for number, text in enumerate(bone_names(bones)):
        base = armature.fit_bone_name(text) or "Bone"
        unique, count = base, counts.get(base, 0)
        while unique in used:
            count += 1
            unique = f"{base}.{count:03d}"
        counts[base] = count
        used.add(unique)
        names[number] = unique
    loose = np.flatnonzero(np.bincount(owner[owner >= len(bones)]))
    names.update({number: _loose_name(number, used) for number in loose.tolist()})
    return names


def _loose_name(number: int, used: set[str]) -> str:
    """The group of an owner without a bone: "Owner 7", or "Owner 07" where a bone is called that."""
    digits = str(number)
    while f"Owner {digits}" in used:
        digits = f"0{digits}"
    return f"Owner {digits}"


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


def table(obj: bpy.types.Object, rig: bpy.types.Object | None, matrix: npt.NDArray[np.float64] | None) -> Table:
    """The table of `obj`: from the armature `rig`, or as it was kept when there is none.

    `matrix` takes the armature's space to Blender axes in file units, None for the identity.
    """
    if rig is not None and is_recovered(rig):
        return _recovered(obj, rig, matrix)
    raw = kept.get_array(cast("bpy.types.ID", obj.data), kept.BONES, BONE)
    titles = list(group_names(raw, np.zeros(0, np.int16)).values())
    if rig is None or not len(rig.data.bones):
        return Table(raw.copy(), {name: number for number, name in enumerate(titles)}, titles)
    bones = list(rig.data.bones)
    origin = _origins(bones, titles)
    # Bones of the file in its order, new ones behind them, parents before children as Blender lists them.
    order = sorted(range(len(bones)), key=lambda i: (origin[i] is None, origin[i] or 0))
    place = {bones[index].name: number for number, index in enumerate(order)}
    heads = np.array([bones[index].head_local for index in order], np.float64).reshape(-1, 3)
    moved = heads if matrix is None else heads @ matrix[:3, :3].T + matrix[:3, 3]
    records = np.zeros(len(order), BONE)
    records["position"] = FILE_Y_UP.undo(moved)
    records["name"] = [np.void(name_field(bones[index].name)) for index in order]
    records["parent"] = [place[parent.name] if (parent := bones[index].parent) else -1 for index in order]
    sources = [origin[index] for index in order]
    _restore(records, raw, sources, [bones[index].name for index in order], titles)
    now = list(titles)
    for index, number in enumerate(origin):
        if number is not None:
            now[number] = bones[index].name
    links = _links(sources, raw)
    if links is not None:
        # The group of a deleted bone is still there, and means the bone that takes its vertices.
        place = {**dict(zip(now, links.tolist(), strict=True)), **place}
    shown = [bones[index].name for index in order]
    return Table(records, place, now, links, _cut(records, shown))


def _cut(records: npt.NDArray[Any], shown: list[str]) -> tuple[str, ...]:
    """The names that were given in Blender and do not fit: too long, or with characters outside Windows-1252."""
    pairs = zip(records["name"].tolist(), shown, strict=True)
    return tuple(name for raw, name in pairs if bytes(raw) == name_field(name) and label(bytes(raw)) != name.strip())


def _links(sources: list[int | None], raw: npt.NDArray[Any]) -> npt.NDArray[np.int32] | None:
    """Old bone number -> new, see `Table.moved`. `sources`: the old number of every new bone."""
    if sources[: len(raw)] == list(range(len(raw))):
        return None
    present = {old: new for new, old in enumerate(sources) if old is not None}
    parents = armature.sane_parents(raw["parent"].tolist())
    found = np.zeros(len(raw), np.int32)
    for old in range(len(raw)):
        nearest = old
        while nearest >= 0 and nearest not in present:
            nearest = parents[nearest]
        found[old] = present.get(nearest, 0)
    return found


def is_recovered(rig: bpy.types.Object | None) -> bool:
    """Whether the bones of an armature were recovered from motion."""
    return rig is not None and any(kept.has(bone, kept.OWNER_NUMBER) for bone in rig.data.bones)


def _recovered(obj: bpy.types.Object, rig: bpy.types.Object, matrix: npt.NDArray[np.float64] | None) -> Table:
    """The table of an armature that was recovered from motion: owners keep their numbers, new bones get free ones.

    A number between them that no bone has stands for nothing: an unused record without a parent.
    """
    bones = list(rig.data.bones)
    groups: dict[str, int] = {}
    for bone in bones:
        number = kept.get(bone, kept.OWNER_NUMBER, -1)
        if kept.has(bone, kept.OWNER_NUMBER) and number not in groups.values():
            groups[bone.name] = number
    free = max(groups.values(), default=-1) + 1
    for bone in bones:
        if bone.name not in groups:
            groups[bone.name] = free
            free += 1
    # A mobile model has vertices of owner -1, which is no place in a table.
    listed = [bone for bone in bones if 0 <= groups[bone.name] <= _LAST]
    numbers = [groups[bone.name] for bone in listed]
    names = [bone.name for bone in listed]
    heads = np.array([bone.head_local for bone in listed], np.float64).reshape(-1, 3)
    records = np.zeros(max(numbers, default=-1) + 1, BONE)
    records["name"] = [np.void(name_field(f"Owner {number}")) for number in range(len(records))]
    records["parent"] = -1
    moved = _in_base(obj, numbers, heads)
    moved = moved if matrix is None else moved @ matrix[:3, :3].T + matrix[:3, 3]
    records["position"][numbers] = FILE_Y_UP.undo(moved)
    records["name"][numbers] = [np.void(name_field(name)) for name in names]
    above = [groups[bone.parent.name] if bone.parent is not None else -1 for bone in listed]
    records["parent"][numbers] = [number if number <= _LAST else -1 for number in above]
    return Table(records, groups, [], cut_names=_cut(records[numbers], names))


def _in_base(obj: bpy.types.Object, numbers: list[int], heads: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Heads (B, 3) of the bones with these owner `numbers` (B,), where the base pose has them: bones rest in another.

    A bone stays where its vertices hardly move from one to the other.
    """
    mesh = meshes.of(obj)
    rest, base = (meshes.get_attribute(mesh, name, "FLOAT_VECTOR", "POINT") for name in (kept.REST, kept.BASE))
    shown = meshes.get_attribute(mesh, kept.BODY, "INT", "POINT")
    shown = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT") if shown is None else shown
    if rest is None or base is None or shown is None or not len(rest):
        return heads
    body = np.full(len(shown), len(numbers))
    for place, number in enumerate(numbers):
        body[shown == number] = place
    bodies = Bodies.of(body, len(numbers) + 1)
    points = base[bodies.order][:, :, None].astype(np.float32)
    moved = rigid.fit(bodies, rest[bodies.order].astype(np.float64), points, np.ones(len(rest)))
    there = np.einsum("bij,bj->bi", moved.rotation[0, :-1], heads) + moved.translation[0, :-1]
    far = (np.linalg.norm(there - heads, axis=1) > _APART) & (bodies.sizes[:-1] > 0)
    return np.where(far[:, None], there, heads)


def _origins(bones: list[bpy.types.Bone], titles: list[str]) -> list[int | None]:
    """The file number each bone came from. `titles`: the names the bones of the file were given at import.

    A copy of a bone carries the same number, but is a new bone: the one that still has the name is the old one.
    """
    claims: dict[int, int] = {}
    for index, bone in enumerate(bones):
        number = kept.get(bone, kept.BONE_INDEX, -1)
        if 0 <= number < len(titles) and (number not in claims or bone.name == titles[number]):
            claims[number] = index
    owners = {index: number for number, index in claims.items()}
    return [owners.get(index) for index in range(len(bones))]


def _restore(
    records: npt.NDArray[Any], raw: npt.NDArray[Any], sources: list[int | None], names: list[str], titles: list[str]
) -> None:
    """Put back the raw name, position, parent and hide of every bone in which they were not edited."""
    parents = armature.sane_parents(raw["parent"].tolist())
    made = armature.bearable(raw["position"].astype(np.float64))
    found = records["position"].astype(np.float64)
    reach = _reach(made, parents)
    same_table = sources[: len(raw)] == list(range(len(raw)))
    for number, source in enumerate(sources):
        if source is None:
            continue
        record = raw[source]
        records["hide"][number] = record["hide"]
        # Blender may have numbered it anew where armatures were joined.
        if without_number(names[number]) == without_number(titles[source]):
            records["name"][number] = record["name"]
        if float(np.abs(found[number] - made[source]).max()) <= reach[source]:
            records["position"][number] = record["position"]
        if same_table and int(records["parent"][number]) == parents[source]:
            records["parent"][number] = record["parent"]


def _reach(positions: npt.NDArray[np.float64], parents: list[int]) -> npt.NDArray[np.float64]:
    """(B,) how far each bone may come back from where it was put: float32 errors of its parents add to its own."""
    size = np.abs(positions).max(axis=1, initial=0.0)
    chain = size.copy()
    links = np.array(parents, np.intp)
    for _ in parents:
        above = np.where(links >= 0, chain[links], 0.0)
        if (above <= chain).all():
            break
        chain = np.maximum(chain, above)
    return np.maximum(_TOLERANCE * np.maximum(size, 1.0), _DRIFT * chain)
