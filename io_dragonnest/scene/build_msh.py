# SPDX-License-Identifier: GPL-3.0-or-later
"""An MSH to Blender data-blocks."""

from __future__ import annotations

import uuid
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np

from ...io_common.scene import armature
from ..formats import companions, msh
from ..formats.companions import SkeletalMsh
from . import collisions, dummies, kept, placement, skeleton, submesh

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from ..formats.msh import Msh
    from .options import ImportMshOptions


def build(
    context: bpy.types.Context,
    model: Msh,
    path: Path,
    options: ImportMshOptions,
    digest: Digest,
    materials: Sequence[bpy.types.Material | None] = (),
) -> list[bpy.types.Object]:
    """Armature, one object per sub-mesh, collisions and dummies; the armature first, then in file order.

    `materials`: one for each sub-mesh, in the same order; too few or too many are no trouble.
    """
    whole = model if isinstance(model, SkeletalMsh) else SkeletalMsh(**_values(model))
    name = armature.fit_name(path.stem) or "Model"
    collection = _collection(context, name, own=options.use_collection)
    rig, old = skeleton.armature_of(context, whole, name, collection, options, digest)
    scale = (
        float(kept.get(cast("bpy.types.ID", rig.data), kept.SCALE, options.global_scale))
        if rig is not None
        else options.global_scale
    )
    part = uuid.uuid4().hex
    made = _submeshes(whole, name, rig, scale, options, materials)
    common = _common(whole, scale)
    for obj in made:
        collection.objects.link(obj)
        for title, value in common.items():
            kept.put(cast("bpy.types.ID", obj.data), title, value)
    extras = collisions.build(whole, rig, scale), dummies.build(whole, rig, scale)
    for title, objects in zip(("Collisions", "Dummies"), extras, strict=True):
        _hide(context, collection, f"{name} {title}", objects)
    for objects in (made, *extras):
        for number, obj in enumerate(objects):
            holder = _keeper(obj)
            kept.put(holder, kept.PART, part)
            kept.put(holder, kept.ORDER, number + 1)
    return [*([rig] if rig is not None and not old else []), *made, *extras[0], *extras[1]]


def read_companions(found: Msh, path: Path, options: ImportMshOptions, digest: Digest) -> SkeletalMsh:
    """`companions.with_hierarchy`, for a chosen file that may be named relative to the open .blend."""
    chosen = bpy.path.abspath(options.hierarchy_from) if options.hierarchy_from else ""
    return companions.with_hierarchy(found, path, replace(options, hierarchy_from=chosen), digest)


def _keeper(obj: bpy.types.Object) -> bpy.types.ID:
    """What part and order are kept on: the mesh of a sub-mesh, else the object."""
    if kept.has(obj, kept.COLLISION) or kept.has(obj, kept.DUMMY):
        return obj
    return cast("bpy.types.ID", obj.data)


def _values(model: Msh) -> dict[str, Any]:
    return {entry.name: getattr(model, entry.name) for entry in fields(msh.Msh)}


def _collection(context: bpy.types.Context, name: str, *, own: bool) -> bpy.types.Collection:
    if not own:
        return cast("bpy.types.Collection", context.collection)
    made = bpy.data.collections.new(name)
    context.collection.children.link(made)
    return made


def _submeshes(
    model: SkeletalMsh,
    name: str,
    rig: bpy.types.Object | None,
    scale: float,
    options: ImportMshOptions,
    materials: Sequence[bpy.types.Material | None],
) -> list[bpy.types.Object]:
    """The mesh objects; an empty one that holds the rest of the file where there are none."""
    made = []
    for number, source in enumerate(model.submeshes):
        obj = submesh.build(source, rig, title=name)
        submesh.attach(obj, source, rig, scale, rigid=options.use_rigid)
        if number < len(materials) and materials[number] is not None:
            cast("bpy.types.Mesh", obj.data).materials.append(materials[number])
        made.append(obj)
    if not made:
        holder = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        kept.put(cast("bpy.types.ID", holder.data), kept.HOLDER, 1)
        placement.hang(holder, rig, None, scale)
        made.append(holder)
    return made


def _common(model: SkeletalMsh, scale: float) -> dict[str, bytes | float]:
    """What belongs to the file as a whole: kept on every mesh, as any of them may be deleted."""
    return {
        kept.SCALE: float(np.float32(scale)),
        kept.HEADER: msh.header_bytes(model),
        kept.BONES: model.bones.tobytes(),
        kept.TAIL: model.trailing,
        kept.BOUNDS: np.concatenate(msh.bounds(model)).astype("<f4").tobytes(),
    }


def _hide(
    context: bpy.types.Context, collection: bpy.types.Collection, title: str, objects: list[bpy.types.Object]
) -> None:
    """A collection below `collection` for `objects`, left out of the view layer; none where there are no objects."""
    if not objects:
        return
    made = bpy.data.collections.new(armature.fit_name(title))
    collection.children.link(made)
    for obj in objects:
        made.objects.link(obj)
    context.view_layer.update()
    for layer in _layers(context.view_layer.layer_collection):
        if layer.collection == made:
            layer.exclude = True


def _layers(layer: bpy.types.LayerCollection) -> list[bpy.types.LayerCollection]:
    return [layer, *(inner for child in layer.children for inner in _layers(child))]
