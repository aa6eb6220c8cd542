# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender objects to static models: what was edited from the scene, everything else as it was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from ...io_common.formats.files import safe_stem
from ...io_common.scene import selection
from ..formats.model import BONE, FACE, Model, TextureFile, label, name_field
from . import kept, part, sheets, skeleton

if TYPE_CHECKING:
    from pathlib import Path

    import bpy

    from ...io_common.formats.digest import Digest
    from .options import Export3dnOptions, ExportOptions
    from .part import Part


_MOBILE = ("carnivores_3dn", "carnivores_cat")


def extract_3df(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: ExportOptions, digest: Digest, path: Path
) -> Model:
    """One 3DF model from `objects`, joined."""
    del path
    model, parts = _with_texels(context, objects, options, digest)
    _tell_cut_names(parts, digest)
    _complete_for_pc(model, parts, digest)
    return model


def extract_body(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: ExportOptions, digest: Digest
) -> Model:
    """The model part of a CAR, which has no bone table, from `objects`, joined."""
    model, parts = _with_texels(context, objects, options, digest)
    model.bones = np.zeros(0, BONE)
    if any(kept.get(entry.mesh, kept.KIND, "") in _MOBILE for entry in parts):
        model.vertices = _owned(model.vertices)
        model.texels = _without_padding(model)
    return model


def _with_texels(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: ExportOptions, digest: Digest
) -> tuple[Model, list[Part]]:
    """A model with its texture inside, and the parts it was put together from."""
    parts, sheet = _parts(context, objects, options, digest, exact_size=True)
    model = _assemble(parts)
    first = parts[0].mesh
    model.texels = sheet.words
    if len(parts) == 1 and len(sheet.words) == kept.get(first, kept.ROWS, 0):
        model.texture_rest = kept.get(first, kept.TEXTURE_REST, b"")
        model.texture_missing = int(kept.get(first, kept.TEXTURE_MISSING, 0.0)) if not len(sheet.words) else 0
    return model, parts


def extract_3dn(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: Export3dnOptions, digest: Digest, path: Path
) -> Model:
    """One 3DN model from `objects`, joined. `texture` is set when its picture should be written beside it."""
    parts, sheet = _parts(context, objects, options, digest, exact_size=False)
    for entry in parts:
        if skeleton.is_recovered(entry.rig):
            # Which are no part of the game's file, but of the tools'; a table that the file had itself goes back.
            entry.bones = kept.get_array(entry.mesh, kept.BONES, BONE).copy()
    _tell_cut_names(parts, digest)
    model = _assemble(parts)
    first = parts[0].mesh
    model.texture_name = kept.get(first, kept.TEXTURE_NAME, b"")
    if options.texture_name and options.texture_name != label(model.texture_name):
        model.texture_name = _new_texture_name(options.texture_name, path, digest)
    elif not model.texture_name:
        model.texture_name = _new_texture_name(path.stem, path, digest)
    model.has_sprite = kept.get(first, kept.HAS_SPRITE, 0)
    model.sprite_name = kept.get(first, kept.SPRITE_NAME, b"")
    wanted = options.texture == "ALWAYS" or (options.texture == "AUTO" and sheet.touched)
    if sheet.picture is not None and wanted:
        model.texture = TextureFile(f".{options.texture_format.lower()}", _padded(sheet))
    return model


def _new_texture_name(text: str, path: Path, digest: Digest) -> bytes:
    """The name field for a texture called `text`, as its file can be called too: the game finds it by this name."""
    name = safe_stem(label(name_field(text)), "texture")
    if name != text:
        digest.add(f'the texture is named "{name}", as a 3DN cannot hold the name "{text}"', subject=path.name)
    return name_field(name)


def _parts(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportOptions,
    digest: Digest,
    *,
    exact_size: bool,
) -> tuple[list[Part], sheets.Sheet]:
    with selection.object_mode(context, objects), selection.at_rest(context, objects):
        parts = [part.extract(context, obj, options, digest) for obj in objects]
    sheet = sheets.settle(parts, digest, exact_size=exact_size)
    return parts, sheet


def _assemble(parts: list[Part]) -> Model:
    """Put the parts behind one another; each keeps its own bones, but a shared armature is written once."""
    vertices, faces, bones = [], [], []
    rigs: dict[str, int] = {}
    vertex_base = bone_base = 0
    for entry in parts:
        shared = entry.rig.name if entry.rig is not None else ""
        base = rigs.get(shared) if shared else None
        if base is None:
            base = bone_base
            bones.append(_shifted(entry.bones, base))
            bone_base += len(entry.bones)
            if shared:
                rigs[shared] = base
        own = entry.vertices
        if base:
            own = own.copy()
            own["owner"] = np.where(own["owner"] >= 0, own["owner"] + base, own["owner"])
        vertices.append(own)
        table = _with_degenerate(entry)
        if len(parts) > 1:
            table["next"] = -1  # a draw list cannot cross models
        table["corner"] += np.uint32(vertex_base)
        faces.append(table)
        vertex_base += len(own)
    if not vertex_base:
        raise ExportError(f'the object "{parts[0].name}" has no vertices')
    model = Model(np.concatenate(faces), np.concatenate(vertices), np.concatenate(bones))
    for what, table in (("vertex", model.vertices), ("bone", model.bones)):
        finite = np.isfinite(table["position"]).all(axis=1)
        if not finite.all():
            name = f'"{parts[0].name}"' if len(parts) == 1 else "the objects"
            raise ExportError(f"{name}: the position of {what} {int(np.argmin(finite))} is not a finite number")
    return model


def _shifted(bones: npt.NDArray[Any], base: int) -> npt.NDArray[Any]:
    if not base:
        return bones
    out = bones.copy()
    out["parent"] = np.where(out["parent"] >= 0, out["parent"] + base, out["parent"])
    return out


def _with_degenerate(entry: Part) -> npt.NDArray[Any]:
    """The faces in file order: those Blender could not hold put back, the draw list renumbered where it has to be."""
    records, where, at = _degenerate(entry)
    faces, numbers = entry.faces, _first_of_each(entry.numbers)
    if len(records):
        faces, numbers = np.insert(faces, where, records), np.insert(numbers, where, at)
    # Where all links are 0 there never was a list.
    if entry.imported and faces["next"].any() and not _all_in_place(entry, numbers):
        faces["next"] = _renumbered(faces["next"], numbers, kept.get(entry.mesh, kept.FACES, 0))
    return faces


def _degenerate(entry: Part) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Faces Blender could not hold: their records, the place in `entry.faces` before which each goes, their numbers."""
    records = kept.get_array(entry.mesh, kept.DEGENERATE, FACE)
    at = kept.get_array(entry.mesh, kept.DEGENERATE_AT, "<i4")
    if not len(records) or len(records) != len(at):
        return records[:0], np.zeros(0, np.intp), at[:0]
    records, at = _with_current_vertices(entry, records, at)
    numbers = _first_of_each(entry.numbers)
    where = np.searchsorted(np.maximum.accumulate(numbers), at) if len(numbers) else np.zeros(len(at), np.intp)
    return records, where, at


def written_order(entry: Part) -> npt.NDArray[np.intp]:
    """For every face of a model written from `entry` alone its place in `entry.faces`, -1 for those not in the mesh."""
    _records, where, _at = _degenerate(entry)
    return np.insert(np.arange(len(entry.faces)), where, -1)


def _first_of_each(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Face numbers (n,) with every repetition of one replaced by -1."""
    first = np.zeros(len(numbers), bool)
    first[np.unique(numbers, return_index=True)[1]] = True
    return np.where(first, numbers, -1).astype(np.int32)


def _all_in_place(entry: Part, numbers: npt.NDArray[np.int32]) -> bool:
    count = kept.get(entry.mesh, kept.FACES, -1)
    return len(numbers) == count and bool((numbers == np.arange(count)).all())


def _renumbered(links: npt.NDArray[np.int32], numbers: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int32]:
    """Draw list links (n,) after faces were deleted, added or reordered; a link to a face that is gone ends the list.

    `count` is how many faces the file had. Links that led nowhere are left alone; faces that are not the file's own,
    whose number is -1, are in no list.
    """
    own = (numbers >= 0) & (numbers < count)
    inside = (links >= 0) & (links < count)
    # Not a table of `count` places: what a .blend holds may be any number.
    kept_numbers, kept_places = numbers[own], np.flatnonzero(own)
    moved = np.where(inside, _look_up(links, kept_numbers, kept_places), links)
    return np.where(own, moved, -1).astype(np.int32)


def _look_up(
    wanted: npt.NDArray[Any], keys: npt.NDArray[np.int32], values: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """`values` (n,) of the `keys` (n,), any numbers, that are `wanted`, in its shape; -1 where there is no such key."""
    if not len(keys):
        return np.full(wanted.shape, -1, np.intp)
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    return np.where(keys[order][at] == wanted, values[order][at], -1)


def _with_current_vertices(
    entry: Part, records: npt.NDArray[Any], at: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Degenerate faces with their vertices where those are now; a face that lost one is dropped."""
    if entry.vertex_numbers is None:
        return records[:0], at[:0]
    numbers = entry.vertex_numbers
    known = np.flatnonzero(numbers >= 0)
    corner = _look_up(records["corner"].astype(np.int64), numbers[known], known)
    whole = (corner >= 0).all(axis=1)
    out = records[whole].copy()
    out["corner"] = corner[whole]
    return out, at[whole]


def _tell_cut_names(parts: list[Part], digest: Digest) -> None:
    for entry in parts:
        for name in entry.cut_names if len(entry.bones) else ():
            digest.add(
                f'the bone name "{name}" does not fit: a file has room for 31 Latin characters', subject=entry.name
            )


def _complete_for_pc(model: Model, parts: list[Part], digest: Digest) -> None:
    """What a mobile model leaves open and a PC model must have: an owner for every vertex, a bone for every owner."""
    if all(kept.get(entry.mesh, kept.KIND, "") in ("", "carnivores_3df") for entry in parts):
        return
    model.vertices = vertices = _owned(model.vertices)
    if len(model.bones) or not len(vertices):
        return
    owner = vertices["owner"].astype(np.int64)
    count = int(owner.max()) + 1
    totals = np.maximum(np.bincount(owner, minlength=count), 1)
    bones = np.zeros(count, BONE)
    for axis in range(3):
        bones["position"][:, axis] = np.bincount(owner, vertices["position"][:, axis], count) / totals
    bones["name"] = [np.void(name_field(f"Owner {number}")) for number in range(count)]
    bones["parent"] = -1
    model.bones = bones
    digest.add("the model had no bones; each owner got one in its middle")


def _owned(vertices: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Vertices without the owner -1 of mobile models, which there is a number of 32 bits over owner and hide."""
    out = vertices.copy()
    out["hide"] = np.where(out["hide"] < 0, 0, out["hide"])
    out["owner"] = np.maximum(out["owner"], 0)
    return out


def _without_padding(model: Model) -> npt.NDArray[np.uint16]:
    """The texture without the rows that `_padded` adds at its end, or what looks like them and no face shows."""
    filled = np.flatnonzero(model.texels.any(axis=1))
    lowest = int(model.faces["v"].max(initial=0)) if len(model.faces) else 0  # files have corners on the lower edge
    rows = max(int(filled[-1]) + 1 if len(filled) else 0, lowest)
    return model.texels[:rows] if rows else model.texels


def _padded(sheet: sheets.Sheet) -> npt.NDArray[np.uint8]:
    """A PC texture in the top of 256 rows, as the mobile game expects; other pictures as they are."""
    picture = sheet.picture if sheet.picture is not None else np.zeros((256, 256, 4), np.uint8)
    if sheet.rows == 256 or len(picture) >= 256:
        return picture
    out = np.zeros((256, picture.shape[1], 4), np.uint8)
    out[..., 3] = 255
    out[: len(picture)] = picture
    return out
