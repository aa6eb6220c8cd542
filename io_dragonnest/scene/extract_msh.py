# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender objects to an MSH: what was edited from the scene, everything else as it was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...io_common.formats.errors import ExportError
from ...io_common.scene import selection
from ..formats import checks, collision, msh, names
from ..formats import dummy as dummy_format
from ..formats.msh import Msh
from . import bone_table, collisions, dummies, groups, kept, pieces, placement, used_bones

if TYPE_CHECKING:
    from pathlib import Path

    import bpy

    from ...io_common.formats.digest import Digest
    from .groups import Members
    from .options import ExportMshOptions
    from .pieces import Piece

gather = groups.gather
NEWEST = 13


def extract(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: ExportMshOptions, digest: Digest, path: Path
) -> Msh:
    """One MSH from `objects`. Raises `ExportError` for what no MSH can hold."""
    del path
    return extract_with_pieces(context, objects, options, digest)[0]


def extract_with_pieces(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: ExportMshOptions, digest: Digest
) -> tuple[Msh, list[Piece]]:
    """The model, and for each of its sub-meshes the object and the material it was made of."""
    members = groups.sort(objects)
    rig = members.rig
    whole = np.eye(4)
    if rig is not None:
        whole = placement.armature_matrix(rig, options)
        placement.require_sound_bones(rig)
    blocks = [cast("bpy.types.ID", obj.data) for obj in (*members.meshes, *members.holders)]
    header = _header(blocks)
    found = msh.read(_complete(header)) if header else Msh(NEWEST)
    stored = bone_table.raw(blocks)
    table = set(map(names.key, names.texts(stored["name"])))
    with selection.object_mode(context, [*members.meshes, *members.collisions]):
        with selection.at_rest(context, members.meshes):
            job = pieces.Job(rig, table, options, digest, groups.copies(members.meshes))
            made = [piece for obj in members.meshes for piece in pieces.of(context, obj, job)]
        found.collisions = [collisions.extract(obj, rig, options) for obj in members.collisions]
        binds = dummies.bind_by_name(rig) if members.dummies else {}
        found.dummies = [dummies.extract(obj, rig, binds, options) for obj in members.dummies]
        _warn_of_empties(context, members, digest)
        _warn_of_left_out(context, members, digest)
        found.submeshes = [piece.submesh for piece in made]
        used = used_bones.fields(found, made, members)
        all_bones = not header and (rig is None or not kept.has(cast("bpy.types.ID", rig.data), kept.HIERARCHY))
        found.bones = bone_table.table(rig, stored, used, whole, all_bones=all_bones, with_parents=not header)
    _complete_header(found, blocks)
    _require_finite(found)
    return _converted(found, options, digest, new=not header), made


def _warn_of_empties(context: bpy.types.Context, members: Members, digest: Digest) -> None:
    """Name the empties that look like dummies, by bone or collection, and that nothing marks as such."""
    homes = {
        entry
        for obj in (*members.meshes, *members.holders, *members.collisions, *members.dummies)
        for entry in obj.users_collection
    }
    beside = {entry for home in homes for entry in (home, *home.children) if "Dummies" in entry.name}
    left = [
        obj.name
        for obj in selection.scene(context).collection.all_objects
        if obj.type == "EMPTY"
        and not groups.is_dummy(obj)
        and (
            not beside.isdisjoint(obj.users_collection)
            or (obj.parent is not None and obj.parent == members.rig and obj.parent_type == "BONE")
        )
    ]
    if left:
        digest.add(
            f"{len(left)} empties beside the dummies or on bones are not written, as their names do not begin with #: "
            + ", ".join(f'"{name}"' for name in left[:8])
        )


def _warn_of_left_out(context: bpy.types.Context, members: Members, digest: Digest) -> None:
    """Name the sub-meshes of the same import that are not written: hidden ones cannot be selected, and are missed."""
    places = {(groups.part(obj), kept.get(obj.data, kept.ORDER, 0)) for obj in members.meshes if obj.data is not None}
    files = {name for name, _order in places} - {""}
    left = [
        obj.name
        for obj in selection.scene(context).collection.all_objects
        if obj.data is not None
        and groups.part(obj) in files
        and kept.has(obj.data, kept.SUBMESH)
        and (groups.part(obj), kept.get(obj.data, kept.ORDER, 0)) not in places
        and selection.carrier_of(obj) == members.rig
    ]
    if left:
        what = "sub-mesh of the same import was" if len(left) == 1 else "sub-meshes of the same import were"
        said = f"{len(left)} {what} not selected and left out: " + ", ".join(f'"{name}"' for name in left[:8])
        if said not in digest.notes:  # materials ask for the model once more
            digest.note(said)


def _header(blocks: list[bpy.types.ID]) -> bytes:
    for block in blocks:
        raw = kept.get(block, kept.HEADER, b"")
        if len(raw) == msh.HEADER.itemsize:
            return raw
    return b""


def _complete(header: bytes) -> bytes:
    """A header that counts nothing, so that it is a file of its own."""
    table = np.frombuffer(header, msh.HEADER, 1).copy()
    for name in ("submesh_count", "bone_count", "collision_count", "dummy_count"):
        table[name] = 0
    return table.tobytes()


def _complete_header(found: Msh, blocks: list[bpy.types.ID]) -> None:
    """The bounding box, as it stood while the vertices reach as far as they did; the bytes behind the end."""
    highest, lowest = msh.bounds(found)
    now = np.concatenate((highest, lowest)).astype("<f4")
    before = next((raw for block in blocks if len(raw := kept.get_array(block, kept.BOUNDS, "<f4")) == 6), None)
    if before is None or not (now == before).all():
        found.maximum, found.minimum = highest, lowest
    if blocks:
        found.trailing = kept.get(blocks[0], kept.TAIL, b"")


def _require_finite(found: Msh) -> None:
    for part in found.submeshes:
        good = np.isfinite(part.positions).all(axis=1)
        if not good.all():
            raise ExportError(f'"{part.label}": the position of vertex {int(np.argmin(good))} is not a finite number')
    for number, entry in enumerate(found.collisions):
        if not np.isfinite(entry.values).all():
            raise ExportError(f"the place or size of collision {number} is not a finite number")
    for place in found.dummies:
        if not np.isfinite(place.matrix).all():
            raise ExportError(f'the place of the dummy "{place.label}" is not a finite number')


def _converted(found: Msh, options: ExportMshOptions, digest: Digest, *, new: bool) -> Msh:
    version = found.version if options.version == "AUTO" else int(options.version)
    # What is lost without a change of version, the check of the file sees.
    turns = checks.lost_turns(found, version) if new or version != found.version else ""
    for lost in (turns, checks.lost_parents(found, version)):
        if lost and lost not in digest.lines:  # materials ask for the model once more
            digest.add(lost)
    if new:
        found.version = version
        found.dummies = [dummy_format.converted(entry, version) for entry in found.dummies]
        if version < collision.NAMED_FROM:
            for entry in found.collisions:
                entry.parent = b""
        return found
    if version != found.version and found.trailing:
        digest.add("the bytes behind the end of the file were left out, as it is written in another version")
    out = msh.converted(found, version)
    if out.version < collision.NAMED_FROM:
        for entry in out.collisions:
            entry.parent = b""
    return out
