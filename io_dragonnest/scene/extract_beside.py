# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips of a model, written along with it as an ANI."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, UserError
from ...io_common.formats.issues import Severity
from ...io_common.scene import selection, transfer
from ..formats import ani_set
from . import clips, extract_ani, groups
from .options import ExportAniOptions

if TYPE_CHECKING:
    from pathlib import Path

    import bpy

    from ...io_common.formats.digest import Digest

_SUFFIX = ".ani"


def animation(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: Any, digest: Digest, path: Path
) -> dict[Path, bytes]:
    """The ANI, with the files that it lists, that goes beside the model `objects` at `path`: path -> bytes.

    Parts on one armature share its clips: they are written once then, with the first of them, under the name of the
    armature. A model without clips is a warning. Raises `ExportError` for what no ANI can hold, and for what the game
    could not load, unless `options.use_check` says otherwise.
    """
    rig = _rig(objects, digest, path)
    if rig is None or not extract_ani.has_clips(rig):
        digest.add("there are no clips on its armature, so no ANI was written", subject=path.name)
        return {}
    target = _target(context, objects, rig, options, path)
    if target is None:
        return {}
    chosen = ani_options(options)
    try:
        found = extract_ani.extract(context, [rig], chosen, digest, target)
        bundle = {target: ani_set.write(found), **ani_set.companions_of(found, target)}
    except UserError as error:
        raise error.at(target) from error
    untouched = transfer.is_an_imported_file([rig], bundle[target])
    for issue in ani_set.check(found, options.game):
        if issue.severity is Severity.ERROR and options.use_check and not untouched:
            raise ExportError(f"the animations cannot be written: {issue.message}", path=target)
        digest.add(issue.message, subject=target.name)
    return bundle


def ani_options(options: Any) -> ExportAniOptions:
    """What the options of a model say about its clips."""
    shared = {
        entry.name: getattr(options, entry.name) for entry in fields(ExportAniOptions) if hasattr(options, entry.name)
    }
    return ExportAniOptions(**{**shared, "version": options.ani_version})


def _rig(objects: list[bpy.types.Object], digest: Digest, path: Path) -> bpy.types.Object | None:
    """The armature whose clips are meant, of several that a joined model has the first."""
    rig = groups.sort(objects).rig
    others = {selection.carrier_of(obj) for obj in objects} - {rig, None}
    left = sorted(other.name for other in others if other is not None and len(clips.listed(other)))
    if left:
        digest.add(f'the clips of "{left[0]}" were left out, as a model has those of one armature', subject=path.name)
    return rig


def _target(
    context: bpy.types.Context, objects: list[bpy.types.Object], rig: bpy.types.Object, options: Any, path: Path
) -> Path | None:
    """Where the ANI goes; None where it goes along with another part on the same armature."""
    sharing = [group.objects for group in groups.gather(context, options) if groups.sort(group.objects).rig is rig]
    if len(sharing) < 2:
        return path.with_suffix(_SUFFIX)
    if objects[0] not in sharing[0]:
        return None
    return path.with_name(f"{files.safe_stem(rig.name.removesuffix(' Armature'))}{_SUFFIX}")
