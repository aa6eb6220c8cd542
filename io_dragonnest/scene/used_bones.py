# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones that a model speaks of, which its table has to have."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..formats import names
from . import bone_table, collisions, dummies, groups, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import bpy

    from ..formats.msh import Msh
    from ..formats.submesh import Submesh
    from .groups import Members
    from .pieces import Piece


def fields(found: Msh, made: list[Piece], members: Members) -> list[bytes]:
    """Name fields of bones in sub-meshes, dummies and collisions.

    Left out are those that an imported file named without having the bone. An armature that carries several parts may
    have it, and the file still has not.
    """
    tables = {groups.part(obj): _own(obj) for obj in (*members.meshes, *members.holders)}
    out = []
    for raw, obj, before in _mentions(found, made, members):
        own = tables.get(groups.part(obj))
        is_as_it_was = names.key(raw) in before and own is not None and names.key(raw) not in own
        if not names.is_root(raw) and not is_as_it_was:
            out.append(raw)
    return out


def _mentions(found: Msh, made: list[Piece], members: Members) -> Iterator[tuple[bytes, bpy.types.Object, set[str]]]:
    """Each field with the object it comes from, and the keys that this object had at import."""
    for piece in made:
        old = shown.recall(cast("bpy.types.ID", piece.obj.data))
        before = _keys(_of(old)) if old is not None else set()
        yield from ((raw, piece.obj, before) for raw in _of(piece.submesh))
    for obj, entry in zip(members.dummies, found.dummies, strict=True):
        yield entry.parent or b"", obj, _keys([dummies.stored_parent(obj)])
    for obj, primitive in zip(members.collisions, found.collisions, strict=True):
        yield primitive.parent, obj, _keys([collisions.stored_parent(obj)])


def _of(part: Submesh) -> list[bytes]:
    listed = [bytes(raw) for raw in part.skin.names.tolist()] if part.skin is not None else []
    return [part.parent, *listed]


def _keys(raws: Iterable[bytes]) -> set[str]:
    return {names.key(raw) for raw in raws}


def _own(obj: bpy.types.Object) -> set[str]:
    """The bones of the file that an object came from."""
    return set(map(names.key, names.texts(bone_table.raw([cast("bpy.types.ID", obj.data)])["name"])))
