# SPDX-License-Identifier: GPL-3.0-or-later
"""The armature of an imported model: a new one, or one that is there and lacks some bones."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..formats import hierarchy
from . import belonging, kept, rig

if TYPE_CHECKING:
    import bpy

    from ...io_common.formats.digest import Digest
    from ..formats.companions import SkeletalMsh
    from .options import ImportMshOptions


def armature_of(
    context: bpy.types.Context,
    model: SkeletalMsh,
    name: str,
    collection: bpy.types.Collection,
    options: ImportMshOptions,
    digest: Digest,
) -> tuple[bpy.types.Object | None, bool]:
    """The armature of `model`, None where it has no bones or none are wanted, and whether it was there before."""
    if not len(model.bones) or not options.use_bones:
        return None, False
    found = _existing(context, model, options, digest, name)
    if found is not None:
        _join(context, model, found, options, digest, name)
        return found, True
    links = _links(model)
    made = rig.build(
        context,
        f"{name} Armature",
        [bytes(raw) for raw in model.bones["name"].tolist()],
        model.bones["inverse_bind"],
        links.parents.tolist(),
        collection,
        options,
        aligned=model.scaled,
    )
    _mark(made, model)
    _note(model, links, digest, name)
    return made, False


def _data(obj: bpy.types.Object) -> bpy.types.Armature:
    return cast("bpy.types.Armature", obj.data)


def _links(model: SkeletalMsh) -> hierarchy.Hierarchy:
    heads = rig.bind_matrices(model.bones["inverse_bind"])[:, :3, 3]
    return model.hierarchy_for(model.bone_names, heads)


def _mark(obj: bpy.types.Object, model: SkeletalMsh) -> None:
    """Say on the armature where its hierarchy comes from."""
    kept.put(_data(obj), kept.HIERARCHY, "ANI" if model.skeleton is not None else "INFERRED")
    kept.put(_data(obj), kept.HIERARCHY_FROM, model.skeleton_file)


def _note(model: SkeletalMsh, links: hierarchy.Hierarchy, digest: Digest, name: str) -> None:
    if model.skeleton is None and len(model.bones) > 1:
        digest.add(
            "an MSH does not say which bone hangs on which and no ANI was found, so it was guessed; "
            "importing the ANI mends it",
            subject=name,
        )
    for note in links.notes:
        digest.add(note, subject=name)
    repeated = hierarchy.duplicates(model.bone_names)
    if repeated:
        digest.add(
            f"{'1 bone has' if len(repeated) == 1 else f'{len(repeated)} bones have'} the name of another "
            f'("{model.bone_names[repeated[0]]}") and {"shares" if len(repeated) == 1 else "share"} its bone',
            subject=name,
        )


def _existing(
    context: bpy.types.Context, model: SkeletalMsh, options: ImportMshOptions, digest: Digest, name: str
) -> bpy.types.Object | None:
    """The armature that is there and is to carry the model."""
    if options.existing_armature == "NEVER":
        return None
    is_asked_for = options.existing_armature == "ALWAYS"
    fitting = rig.sharing(context, model.bone_names) if is_asked_for else belonging.fitting(context, model)
    found = rig.nearest(context, fitting)
    if found is None and fitting:
        digest.add("several armatures have these bones, so it got its own; select the one it belongs to", subject=name)
    if found is not None and not is_asked_for:
        digest.note(
            f'"{name}" went onto the armature "{found.name}", which has its bones in the same pose; '
            'with "Onto Existing Armature" set to Never it gets its own'
        )
    return found


def _join(
    context: bpy.types.Context,
    model: SkeletalMsh,
    found: bpy.types.Object,
    options: ImportMshOptions,
    digest: Digest,
    name: str,
) -> None:
    """Give an armature the bones it lacks, and a hierarchy from a file where its own was guessed."""
    _compare(model, found, digest, name)
    links = _links(model)
    fresh = rig.extend(
        context,
        found,
        [bytes(raw) for raw in model.bones["name"].tolist()],
        model.bones["inverse_bind"],
        links.parents.tolist(),
        options,
        aligned=model.scaled,
    )
    # Of the guessed links those of new bones only; a parent may be a bone that this part lacks.
    guessed = kept.get(_data(found), kept.HIERARCHY, "") == "INFERRED"
    if model.skeleton is not None:
        _rehang(context, model, found, None if guessed else {*fresh, *rig.guessed(found)})
        rig.settle(found)
        if guessed:
            _mark(found, model)
    else:
        for label in fresh:
            kept.put(_data(found).bones[label], kept.GUESSED, True)
    if fresh:
        added = "1 bone was" if len(fresh) == 1 else f"{len(fresh)} bones were"
        digest.note(f'{added} added to the armature "{found.name}"')


def _rehang(context: bpy.types.Context, model: SkeletalMsh, found: bpy.types.Object, only: set[str] | None) -> None:
    bones = [bone.name for bone in rig.bones_of(found)]
    links = model.hierarchy_for(bones, np.zeros((len(bones), 3)))
    parents = {
        bones[row]: bones[parent] if parent >= 0 else ""
        for row, parent in enumerate(links.parents.tolist())
        if links.sources[row] is hierarchy.Source.FILE and (only is None or bones[row] in only)
    }
    rig.reparent(context, found, parents)


def _compare(model: SkeletalMsh, found: bpy.types.Object, digest: Digest, name: str) -> None:
    """Warn where the part was made for another bind pose than the armature has."""
    shared = belonging.meet(model, found)
    apart = shared.moved | shared.turned
    if apart.any():
        first = model.bone_names[int(shared.here[np.argmax(apart)])]
        far = float(shared.away[apart][:, :3, 3].max())
        digest.add(
            f'{int(apart.sum())} bones ("{first}" first) stand otherwise in the armature "{found.name}", by up to '
            f"{far:.3g} file units; the model keeps its own bind pose for export, but moves a little wrongly here",
            subject=name,
        )
