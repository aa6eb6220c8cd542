# SPDX-License-Identifier: GPL-3.0-or-later
"""An MSH with its SKN, whichever was opened, to Blender data-blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import bpy

from ...io_common.formats.errors import UserError
from ...io_common.scene import armature, transfer
from ..formats import outfit as outfits
from ..formats import skn
from ..formats.outfit import DressedMsh, DressedSkn, Outfit
from . import build_msh, images, kept, materials, records

if TYPE_CHECKING:
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from ..formats.msh import Msh
    from ..formats.skn import Skn
    from .options import ImportMshOptions


def read_model(found: Msh, path: Path, options: ImportMshOptions, digest: Digest) -> DressedMsh:
    """`outfit.with_materials`, for a chosen file that may be named relative to the open .blend."""
    return outfits.with_materials(found, path, _absolute(options), digest)


def read_skin(found: Skn, path: Path, options: ImportMshOptions, digest: Digest) -> DressedSkn:
    """`outfit.with_model`, likewise."""
    return outfits.with_model(found, path, _absolute(options), digest)


def _absolute(options: ImportMshOptions) -> ImportMshOptions:
    chosen = bpy.path.abspath(options.hierarchy_from) if options.hierarchy_from else ""
    return replace(options, hierarchy_from=chosen)


def build(
    context: bpy.types.Context, model: Skn, path: Path, options: ImportMshOptions, digest: Digest
) -> list[bpy.types.Object]:
    """The model that the materials `model` belong to, dressed in them; as `build_msh.build`."""
    if not isinstance(model, DressedSkn) or model.mesh is None or model.mesh_path is None:
        raise UserError("the model of these materials was not read", path=path)
    made = build_model(context, model.mesh, model.mesh_path, options, digest)
    _remember(made, model.mesh.data)
    return made


def build_model(
    context: bpy.types.Context, model: Msh, path: Path, options: ImportMshOptions, digest: Digest
) -> list[bpy.types.Object]:
    """`build_msh.build` with the materials that were found for `model`, if any."""
    outfit = model.outfit if isinstance(model, DressedMsh) else None
    if outfit is None:
        return build_msh.build(context, model, path, options, digest)
    made = make(outfit, options, digest)
    objects = build_msh.build(context, model, path, options, digest, made)
    _compare(len(model.submeshes), len(made), outfit.file_name, digest)
    keep(objects, outfit.skin, made)
    _remember(objects, outfit.data)
    return objects


def _remember(objects: list[bpy.types.Object], data: bytes) -> None:
    for obj in objects:
        if obj.data is not None and data:
            transfer.remember(obj.data, transfer.fingerprint(data))


def _compare(submeshes: int, count: int, file_name: str, digest: Digest) -> None:
    if submeshes != count:
        digest.add(
            f"there are {count} materials for {submeshes} sub-meshes; the n-th belongs to the n-th, and "
            + ("the others are kept" if count > submeshes else "the last ones have none"),
            subject=file_name,
        )


def make(outfit: Outfit, options: Any, digest: Digest) -> list[bpy.types.Material]:
    """A new material for each record, never one that is there already, whatever its name."""
    pool = images.Pool(outfit, pack=bool(getattr(options, "use_pack", False)))
    made = [_make(record, pool, options) for record in outfit.skin.materials]
    pool.tell(digest, outfit.file_name)
    return made


def _make(record: skn.Material, pool: images.Pool, options: Any) -> bpy.types.Material:
    material = bpy.data.materials.new(armature.fit_name(record.label) or "Material")
    kept.put(material, kept.SKIN, skn.material_bytes(record))
    kept.put(material, kept.LABEL, material.name)
    group = materials.settings(material)
    records.fill(group, record)
    group.use_mask = bool(getattr(options, "use_mask", False))
    materials.set_up(material, pool.get)
    return material


def keep(objects: list[bpy.types.Object], skin: Skn, made: list[bpy.types.Material]) -> None:
    """What belongs to the SKN as a whole, on every mesh of its model; materials without a sub-mesh stay in the file."""
    meshes = [cast("bpy.types.Mesh", obj.data) for obj in objects if obj.type == "MESH"]
    meshes = [mesh for mesh in meshes if kept.has(mesh, kept.HEADER)]
    header = skn.header_bytes(skin)
    for mesh in meshes:
        kept.put(mesh, kept.SKIN_HEADER, header)
        kept.put(mesh, kept.SKIN_REST, skin.body_rest)
        kept.put(mesh, kept.SKIN_TAIL, skin.trailing)
    part = next((str(kept.get(mesh, kept.PART, "")) for mesh in meshes), "")
    for number, material in enumerate(made):
        kept.put(material, kept.PART, part)
        kept.put(material, kept.ORDER, number + 1)
        if not material.users:
            # Nothing in the scene uses it: without a fake user Blender would not save it.
            kept.put(material, kept.EXTRA, 1)
            material.use_fake_user = True
