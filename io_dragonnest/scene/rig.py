# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures of bind matrices, and bind matrices of armatures.

All matrices here are for column vectors, in Blender's axes and in the space of the armature, whose data is in file
units. A bone's bind matrix is what the file says and may scale or mirror; its rest matrix is where Blender has it, with
the same head. The rest of the bind matrix stays beside the bone, so that both can always be had.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ...io_common.scene import armature, selection
from ..formats import hierarchy, names, space
from ..formats import rig as binds
from . import aim, kept, placement

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    Floats = npt.NDArray[np.float64]

_MOVED = 1e-5  # how far a bone may come back from where it was put, of the skeleton's reach; single precision
_TURNED = 1e-4  # the same for its axes
_MATRIX = 64  # bytes


@dataclass(frozen=True)
class Rig:
    """The bones of an armature, in Blender's order, parents first.

    `names` Blender's names, `parent` (b,) -1 for roots, `rest` and `bind` (b, 4, 4). `edited` (b,): in Blender moved,
    turned, or made there. `carriers`: name of a bone -> of its carrier, which is none of the bones here.
    """

    names: list[str]
    parent: npt.NDArray[np.int32]
    rest: Floats
    bind: Floats
    edited: npt.NDArray[np.bool_]
    carriers: Mapping[str, str] = dataclasses.field(default_factory=dict)


def _data(obj: bpy.types.Object) -> bpy.types.Armature:
    return cast("bpy.types.Armature", obj.data)


def bones_of(obj: bpy.types.Object) -> list[bpy.types.Bone]:
    """All bones but carriers, in Blender's order."""
    return [bone for bone in _data(obj).bones if not kept.has(bone, kept.CARRIER)]


def carrier(bone: bpy.types.Bone) -> bpy.types.Bone | None:
    """The bone that shears this one, see `carriers`."""
    return bone.parent if bone.parent is not None and kept.has(bone.parent, kept.CARRIER) else None


def parent(bone: bpy.types.Bone) -> bpy.types.Bone | None:
    """What a bone hangs on, carriers stepped over."""
    above = bone.parent
    while above is not None and kept.has(above, kept.CARRIER):
        above = above.parent
    return above


def rest_matrices(obj: bpy.types.Object) -> Floats:
    """`Bone.matrix_local` of all bones but carriers, (b, 4, 4)."""
    return np.array([bone.matrix_local for bone in bones_of(obj)], np.float64).reshape(-1, 4, 4)


def lengths(obj: bpy.types.Object) -> Floats:
    """(b,) of the same bones."""
    return np.array([bone.length for bone in bones_of(obj)], np.float64)


def state(obj: bpy.types.Object) -> Rig:
    """What an armature says now. Bind matrices follow bones that were moved or turned since they were imported."""
    bones = bones_of(obj)
    rows = {bone.name: row for row, bone in enumerate(bones)}
    rest = rest_matrices(obj)
    bind, edited = rest.copy(), np.ones(len(bones), bool)
    reach = max(float(np.abs(rest[:, :3, 3]).max(initial=0.0)), 1e-3)
    raws = [(kept.get(bone, kept.REST, b""), kept.get(bone, kept.BIND, b"")) for bone in bones]
    known = [row for row, pair in enumerate(raws) if len(pair[0]) == len(pair[1]) == _MATRIX and _is_rest(pair[0])]
    if known:
        made, inverse = (
            np.frombuffer(b"".join(raws[row][side] for row in known), "<f4").reshape(-1, 4, 4) for side in (0, 1)
        )
        stored = bind_matrices(inverse)
        away = np.abs(rest[known] - made)
        moved = (away[:, :3, 3].max(axis=1) > _MOVED * reach) | (away[:, :3, :3].max(axis=(1, 2)) > _TURNED)
        turned = rest[known] @ np.linalg.inv(made.astype(np.float64)) @ stored
        bind[known], edited[known] = np.where(moved[:, None, None], turned, stored), moved
    links = np.array([rows[above.name] if (above := parent(bone)) else -1 for bone in bones], np.int32)
    carriers = {bone.name: above.name for bone in bones if (above := carrier(bone))}
    return Rig([bone.name for bone in bones], links, rest, bind, edited, carriers)


def _is_rest(raw: bytes) -> bool:
    """Whether a rest matrix can be undone, as any that was kept; somebody else may have written there."""
    found = np.frombuffer(raw, "<f4").astype(np.float64)
    return bool(np.isfinite(found).all()) and abs(np.linalg.det(found.reshape(4, 4))) > 1e-6


def kept_bind(bone: bpy.types.Bone) -> tuple[Floats, Floats] | None:
    """The rest matrix a bone was given at import and the bind matrix it was made of; None for a bone made here."""
    made, inverse = (kept.get_array(bone, name, "<f4") for name in (kept.REST, kept.BIND))
    if made.shape != (16,) or inverse.shape != (16,) or not _is_rest(made.tobytes()):
        return None
    return made.reshape(4, 4).astype(np.float64), bind_matrices(inverse)[0]


def bind_matrices(inverse_binds: npt.NDArray[Any]) -> Floats:
    """Stored inverse bind matrices (..., 4, 4) of a file to bind matrices (b, 4, 4); flat ones become the identity."""
    return space.to_blender_matrix(binds.binds(inverse_binds)[0])


def inverse_binds(bind: Floats) -> npt.NDArray[np.float32]:
    """The inverse of `bind_matrices`."""
    return binds.inverses(space.to_file_matrix(bind))


def build(  # noqa: PLR0913, PLR0917  (the table of bones is three columns)
    context: bpy.types.Context,
    name: str,
    fields: Sequence[str | bytes],
    inverse_binds: npt.NDArray[Any],
    parents: Sequence[int],
    collection: bpy.types.Collection,
    options: Any = None,
    *,
    aligned: Collection[str] = (),
) -> bpy.types.Object:
    """An armature of bones whose names are `fields` (text, or raw as in the file), linked to `collection`.

    `inverse_binds` (b, 4, 4) as in the file; `parents` (b,) numbers, -1 for roots. Of bones with the same name, without
    regard to case, the first is made. `options.bone_direction`: see `aim.rest_matrices`; `options.global_scale`: the
    scale of the object, 1 without options. `aligned`: names of bones that will be scaled along their own axes.
    """
    title = armature.fit_name(name)
    obj = bpy.data.objects.new(title, bpy.data.armatures.new(title))
    collection.objects.link(obj)
    obj.show_in_front = True
    _data(obj).display_type = "STICK"
    scale = float(getattr(options, "global_scale", 1.0))
    obj.scale = (scale,) * 3
    kept.put(_data(obj), kept.SCALE, float(np.float32(scale)))
    extend(context, obj, fields, inverse_binds, parents, options, aligned=aligned)
    return obj


def extend(  # noqa: PLR0913  (as `build`)
    context: bpy.types.Context,
    obj: bpy.types.Object,
    fields: Sequence[str | bytes],
    inverse_binds: npt.NDArray[Any],
    parents: Sequence[int],
    options: Any = None,
    *,
    aligned: Collection[str] = (),
    helper: bool = False,
) -> list[str]:
    """Add the bones that `obj` lacks, arguments as for `build`; the names of those that were made.

    Parents are found by name, so that they may be bones the armature has already. `helper`: they belong to no model.
    """
    raws = [_raw(entry) for entry in fields]
    texts = [names.text(raw) for raw in raws]
    present = match(texts, obj)
    first = hierarchy.lookup(texts)
    wanted = [row for row, text in enumerate(texts) if present[row] is None and first[names.key(text)] == row]
    if not wanted:
        return []
    above = np.array(parents, np.int32).reshape(-1).copy()
    hierarchy.cut_loops(above)
    bind = bind_matrices(inverse_binds)
    scaled = {names.key(entry) for entry in aligned}
    heads = [first[names.key(texts[row])] if row >= 0 else -1 for row in above.tolist()]
    rest, length = aim.rest_matrices(
        bind,
        heads,
        str(getattr(options, "bone_direction", aim.CHILD)),
        np.array([names.key(text) in scaled for text in texts], bool),
    )
    todo = [_Wanted(row, texts[row], heads[row], present[heads[row]] if heads[row] >= 0 else None) for row in wanted]
    made = _make(context, obj, todo, rest, length)
    for row, label in made.items():
        bone = _data(obj).bones[label]
        kept.put(bone, kept.BIND, np.ascontiguousarray(inverse_binds[row], "<f4").tobytes())
        kept.put(bone, kept.REST, np.array(bone.matrix_local, "<f4").tobytes())
        kept.put(bone, kept.NAME, raws[row].rstrip(b"\0") or b"\0")
        kept.put(bone, kept.LABEL, label if label != texts[row] else "")
        kept.put(bone, kept.HELPER, helper)
    return list(made.values())


@dataclass(frozen=True)
class _Wanted:
    """A bone to be made: its row, name, the row of its parent (-1 for none), and the parent that is there already."""

    row: int
    text: str
    parent: int
    known: str | None


def _raw(entry: str | bytes) -> bytes:
    return names.padded(entry if isinstance(entry, bytes) else entry.encode(names.ENCODING, errors="replace"))


def _make(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    wanted: list[_Wanted],
    rest: Floats,
    length: Floats,
) -> dict[int, str]:
    """Make bones; row -> the name each was given."""
    bones = _data(obj).edit_bones
    found: dict[int, str] = {}
    with placement.still(obj, _data(obj).bones.keys()), armature.edit_mode(context, obj):
        for entry in wanted:
            bone = bones.new(armature.fit_bone_name(entry.text) or "Bone")
            bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, float(length[entry.row]), 0.0)
            bone.matrix = Matrix(rest[entry.row].tolist())
            found[entry.row] = bone.name
        for entry in wanted:
            above = found.get(entry.parent) or entry.known
            if above:
                bones[found[entry.row]].parent = bones[above]
    return found


def reparent(context: bpy.types.Context, obj: bpy.types.Object, parents: Mapping[str, str]) -> int:
    """Hang bones on others, name -> name of the parent, "" for none; names are those of Blender. Returns how many.

    Bones stay where they are. What would close a loop, and names that do not exist, are passed over.
    """
    bones = bones_of(obj)
    now = {bone.name: under.name if (under := parent(bone)) else "" for bone in bones}
    # A carrier goes along with its bone.
    upper = {bone.name: found.name if (found := carrier(bone)) else bone.name for bone in bones}
    wanted = {
        name: above
        for name, above in parents.items()
        if name in now and above != name and (not above or above in now) and now[name] != above
    }
    if not wanted:
        return 0
    order = list(now)
    rows = {name: row for row, name in enumerate(order)}
    links = np.array([rows.get({**now, **wanted}[name], -1) for name in order], np.int32)
    looped = set(hierarchy.cut_loops(links))
    with placement.still(obj, list(rows)), armature.edit_mode(context, obj):
        edit = _data(obj).edit_bones
        # First all off, so that no order of steps makes a loop on the way.
        for name in wanted:
            edit[upper[name]].parent = None
        for row in looped:
            edit[upper[order[row]]].parent = None
        for name, above in wanted.items():
            if above and rows[name] not in looped:
                edit[upper[name]].parent = edit[above]
    return len(wanted)


def guessed(obj: bpy.types.Object) -> list[str]:
    """The bones of an armature that were added to it by a part that did not say what they hang on."""
    return [bone.name for bone in _data(obj).bones if kept.get(bone, kept.GUESSED, False)]


def settle(obj: bpy.types.Object) -> None:
    """Forget that any link was guessed."""
    for label in guessed(obj):
        kept.put(_data(obj).bones[label], kept.GUESSED, False)


def origin(bone: bpy.types.Bone) -> str:
    """The key of the name a bone came with, else of the name it has."""
    raw = kept.get(bone, kept.NAME, b"")
    return names.key(raw) if raw else names.key(bone.name)


def is_renamed(bone: bpy.types.Bone) -> bool:
    """Whether a bone has another name than the one it was given at import."""
    raw = kept.get(bone, kept.NAME, b"")
    return not raw or bone.name != kept.get(bone, kept.LABEL, names.text(raw))


def field(bone: bpy.types.Bone) -> bytes:
    """The name field of a bone: the one it came with until it is renamed. Raises `ExportError` if it cannot be."""
    return names.field(bone.name, "bone") if is_renamed(bone) else names.padded(kept.get(bone, kept.NAME, b""))


def lookup(obj: bpy.types.Object) -> dict[str, str]:
    """Key of a name in a file -> name of the bone here. A bone that still has its name goes before renamed ones."""
    found: dict[str, str] = {}
    bones = bones_of(obj)
    for bone in bones:
        if not is_renamed(bone):
            found.setdefault(origin(bone), bone.name)
    for bone in bones:
        found.setdefault(names.key(bone.name), bone.name)
    for bone in bones:
        found.setdefault(origin(bone), bone.name)
    return found


def match(texts: Iterable[str], obj: bpy.types.Object) -> list[str | None]:
    """The bone of `obj` that each name means, without regard to case, renamed ones too; None where there is none."""
    found = lookup(obj)
    return [found.get(names.key(text)) for text in texts]


def find(context: bpy.types.Context, texts: Iterable[str]) -> bpy.types.Object | None:
    """The armature that bones of these names belong to; None where no armature fits, or several do.

    The active or a selected one that has any of them, else the only one in the scene that has.
    """
    return nearest(context, sharing(context, texts))


def sharing(context: bpy.types.Context, texts: Iterable[str]) -> list[bpy.types.Object]:
    """The armatures of the scene that have any bone of these names."""
    wanted = {names.key(text) for text in texts}
    return [entry for entry in armatures(context) if wanted & set(lookup(entry))]


def nearest(context: bpy.types.Context, fitting: Sequence[bpy.types.Object]) -> bpy.types.Object | None:
    """Of the armatures `fitting` the active or a selected one, else the only one; None where there are several."""
    active = context.view_layer.objects.active
    near = [active] if active is not None else []
    near += [entry for entry in context.view_layer.objects if entry.select_get()]
    for entry in near:
        chosen = entry if entry.type == "ARMATURE" else selection.armature_of(entry)
        if chosen in fitting:
            return chosen
    return fitting[0] if len(fitting) == 1 else None


def armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armatures of the scene that can be changed."""
    return [
        entry
        for entry in selection.scene(context).objects
        if entry.type == "ARMATURE" and entry.library is None and _data(entry).library is None
    ]
