# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation files from the clips of an armature."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import bpy
import numpy as np

from ...io_common.formats.errors import ExportError
from ...io_common.scene import actions, compat, selection
from ...io_common.scene.selection import Group
from ..formats import names
from ..formats.ani import Ani
from ..formats.ani_set import AniSet, Part
from ..formats.clip_records import Style
from . import ani_table, bone_motion, clip_export, clips, kept, pose_bake
from .build_ani import matches
from .clip_job import Job

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from .options import ExportAniOptions

NEWEST = 11


@dataclass(frozen=True)
class _Entry:
    """A clip to be written: its name field and its Action."""

    raw: bytes
    action: bpy.types.Action


@dataclass
class _Plan:
    """One file: its name, what belongs to no clip (None for new work), its clips."""

    name: str
    shell: Ani | None
    entries: list[_Entry] = field(default_factory=list)


def gather(context: bpy.types.Context, options: ExportAniOptions) -> list[Group]:
    """One file for each armature that is meant, itself or by what it carries."""
    return [Group(obj.name.removesuffix(" Armature"), [obj]) for obj in selection.armatures(context, options)]


def has_clips(obj: bpy.types.Object) -> bool:
    """Whether an armature has anything that `extract` could write: clips in its list, or Actions that it plays."""
    return bool(len(clips.listed(obj)) or clips.files(obj) or _played(obj) or _unlisted(obj))


def extract(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: ExportAniOptions, digest: Digest, path: Path
) -> AniSet:
    """The chosen clips of an armature. Raises `ExportError` for what no ANI can hold."""
    obj = objects[0]
    entries = _entries(obj, options, digest)
    plans, raw = _plans(obj, entries, options, path)
    _warn_of_rate(context, entries, digest)
    return AniSet([Part(plan.name, _file(context, obj, plan, options, digest)) for plan in plans], raw)


def extract_dump(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: ExportAniOptions, digest: Digest, path: Path
) -> AniSet:
    """One clip of an armature: the only one that is meant, else the one chosen in its list."""
    obj = objects[0]
    entries = _entries(obj, options, digest)
    if len(entries) > 1:
        chosen = clips.active(obj)
        entries = [entry for entry in entries if chosen is not None and entry.action == chosen.action]
        if not entries:
            raise ExportError("a dump holds one clip, name it or choose it in the list of the sidebar")
    if not entries:
        raise ExportError(f'the armature "{obj.name}" has no clip to write')
    shell = ani_table.shell_of(entries[0].action)
    plan = _Plan(path.name, shell, entries[:1])
    found = _file(context, obj, plan, options, digest)
    return AniSet([Part(path.name, found)], is_dump=True)


def _entries(obj: bpy.types.Object, options: ExportAniOptions, digest: Digest) -> list[_Entry]:
    """The clips that are meant: of the list what is ticked or named, then what else the armature plays."""
    patterns = [entry.strip().lower() for entry in options.clips.split(";") if entry.strip()]
    found: list[_Entry] = []
    known = set()
    for item in clips.listed(obj):
        known.add(item.action)
        wanted = any(matches(item.title.strip().lower(), entry) for entry in patterns) if patterns else item.use_export
        if wanted and item.action is None:
            digest.add(f'the clip "{item.title}" has no Action and was left out', subject=obj.name)
        elif wanted:
            found.append(_Entry(clips.raw_name(item), item.action))
    unlisted = _unlisted(obj)
    for action in (*_played(obj), *unlisted):
        wanted = any(matches(action.name.lower(), entry) for entry in patterns) if patterns else True
        if action not in known and wanted:
            found.append(_Entry(names.field(action.name, "clip"), action))
    if patterns and not found:
        raise ExportError(f'the armature "{obj.name}" has no clip named "{options.clips}"')
    if not patterns:
        _note_others(obj, unlisted, digest)
    return found


def _unlisted(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """The motions of an armature that has no list yet: of those that lie in the file all that are nobody else's."""
    return [] if len(clips.listed(obj)) or clips.files(obj) else actions.moving(_free(obj))


def _free(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """The Actions made in Blender that move these bones and that no armature lists or plays."""
    taken: set[bpy.types.Action] = set()
    for other in bpy.data.objects:
        if other.type == "ARMATURE":
            taken = taken.union((item.action for item in clips.listed(other)), _played(other))
    bones = cast("bpy.types.Armature", obj.data).bones.keys()
    return [action for action in actions.free(bones, taken) if not kept.has(action, kept.CLIP)]


def _note_others(obj: bpy.types.Object, unlisted: list[bpy.types.Action], digest: Digest) -> None:
    """Tell of Actions beside the list: those that were taken as there is none, or else those that were left out."""
    if unlisted:
        digest.note(
            f'"{obj.name}" lists no clips, so all Actions that move its bones were written: '
            + ", ".join(f'"{action.name}"' for action in (*_played(obj), *unlisted)[:8])
        )
        return
    left = [action.name for action in _free(obj)]
    if left:
        one = len(left) == 1
        digest.add(
            f"{len(left)} {'Action' if one else 'Actions'} made in Blender that {'moves' if one else 'move'} bones of "
            f'"{obj.name}" {"is" if one else "are"} not in its list of clips and {"was" if one else "were"} left out: '
            + ", ".join(f'"{name}"' for name in left[:8])
        )


def _played(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """Actions that an armature has on it and that move its bones, whether they are in its list or not."""
    return [
        action
        for action in actions.played([obj])
        if any("pose.bones" in curve.data_path for curve in compat.all_curves(action))
    ]


def _plans(
    obj: bpy.types.Object, entries: Sequence[_Entry], options: ExportAniOptions, path: Path
) -> tuple[list[_Plan], bytes]:
    """The files to write, and the text that lists them; see `AniSet`."""
    sources = [str(kept.get(entry.action, kept.SOURCE, "")) for entry in entries]
    known = clips.files(obj)
    fitting = [entry for entry in known if entry["id"] in sources] or (known[-1:] if not entries else [])
    if not entries and len(clips.listed(obj)):
        raise ExportError(f'no clip of "{obj.name}" is ticked for export')
    origin = fitting[0] if fitting else None
    if origin is None:
        if not entries:
            raise ExportError(f'the armature "{obj.name}" has no clips; add an Action to its list in the sidebar')
        shell = next((made for entry in entries if (made := ani_table.shell_of(entry.action)) is not None), None)
        return [_Plan(path.name, shell, list(entries))], b""
    shells = list(clips.shells(origin))
    raw = clips.list_text(origin)
    if not raw or not options.use_list:
        return [_Plan(path.name, shells[0][1], list(entries))], b""
    plans = [_Plan(name, shell) for name, shell in shells]
    for entry, source in zip(entries, sources, strict=True):
        part = int(kept.get(entry.action, kept.ANI_PART, 1)) - 1 if source == origin["id"] else 0
        plans[part if 0 <= part < len(plans) else 0].entries.append(entry)
    return plans, raw


def _file(
    context: bpy.types.Context, obj: bpy.types.Object, plan: _Plan, options: ExportAniOptions, digest: Digest
) -> Ani:
    """One ANI. Raises `ExportError` for what its version cannot hold."""
    actions = [entry.action for entry in plan.entries]
    table = ani_table.compose(obj, plan.shell, actions, options)
    version = NEWEST if plan.shell is None else plan.shell.version
    version = int(options.version) if options.version != "AUTO" else version
    found = Ani(version, bones=table.bones)
    if plan.shell is not None:
        trailing = plan.shell.trailing if version == plan.shell.version else b""
        found = replace(found, magic=plan.shell.magic, reserved=plan.shell.reserved, trailing=trailing)
    tolerance = float(options.tolerance)
    style = Style(version, tolerance, tolerance / table.onto.reach)
    job = Job(context, obj, table, options, digest, style, pose_bake.has_helpers(obj))
    found.clip_names = [entry.raw for entry in plan.entries]
    made = [clip_export.records(job, action) for action in actions]
    found.lengths = np.array([length for _records, length in made], "<i4")
    found.records = [[records[row] for records, _length in made] for row in range(len(table.bones))]
    return found


def _warn_of_rate(context: bpy.types.Context, entries: Sequence[_Entry], digest: Digest) -> None:
    """Say that new work will play at another speed than it does here."""
    render = selection.scene(context).render
    rate = render.fps / render.fps_base
    if abs(rate - bone_motion.FPS) > 1e-3 and any(not kept.has(entry.action, kept.CLIP) for entry in entries):
        digest.add(
            f"the scene plays {rate:g} frames a second and the game {bone_motion.FPS}: frames are written one for one, "
            "so clips made here run faster there"
        )
