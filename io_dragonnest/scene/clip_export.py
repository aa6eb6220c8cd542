# SPDX-License-Identifier: GPL-3.0-or-later
"""What an Action becomes in a file: the records it came with, its keys, or a key at every frame.

A bone whose curves, rest and parent are as they were imported keeps its record, whatever was done to others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy.typing as npt

from ...io_common.scene import compat
from ..formats import clip_records
from ..formats.keys import Record
from . import (
    clip_baked,
    clip_curves,
    clip_keyed,
    clip_stored,
    clips,
    ground,
    playback,
)
from .clip_job import Job, bone_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.ani import Ani
    from .clip_curves import Read


def records(job: Job, action: bpy.types.Action) -> tuple[list[Record], int]:
    """The record of each bone of the file in the clip that is `action`, and its length in frames.

    Raises `ExportError` for what the version of the file cannot hold.
    """
    clip = clips.clip_of(action)
    length = clips.length_of(action, clip)
    entries = _own_curves(job.obj, action)
    clip_curves.follow_names(job.obj, entries)
    found = clip_curves.read(entries)
    stored = clip_stored.records(job, action, clip, found)
    last = max((entry.last_frame for entry in stored if entry is not None), default=-1)
    clip_records.require_frames(last + 1, job.style.version, f'the clip "{action.name}"')
    todo = [row for row, entry in enumerate(stored) if entry is None]
    if todo:
        length = _long_enough(job, action, clip, found, max(length, 1))
        clip_records.require_frames(length, job.style.version, f'the clip "{action.name}"')
        stills = _bases(job, clip, todo)
        ways = ground.ways(action, clip, _sources(job, clip, todo), clips.span(action)[0], job.table.whole)
        if ways:
            job.digest.note(f'the way along the ground that "{action.name}" was imported without was put back')
        known = (stills, ways)
        made = None
        if job.options.key_mode != "BAKE":
            made = clip_keyed.records(job, action, found, length, todo, known)
        if made is None:
            made = clip_baked.records(job, action, length, stored, known)
        for row in todo:
            stored[row] = made[row]
    return [entry for entry in stored if entry is not None], length


def _own_curves(obj: bpy.types.Object, action: bpy.types.Action) -> list[Any]:
    """The curves of the slot that moves this armature; all of them without slots."""
    by_slot = compat.curves_by_slot(action)
    if len(by_slot) == 1:
        return by_slot[0][1]
    slot = playback.slot_for(obj, action)
    return next((entries for known, entries in by_slot if known == slot), compat.all_curves(action))


def _bases(job: Job, clip: Ani | None, todo: Sequence[int]) -> list[npt.NDArray[Any]]:
    """The base of each bone of the file: that of the clip where its parent is the same, else of the bind pose."""
    out = job.bases()
    for row, source in _sources(job, clip, todo).items():
        if clip is not None and source >= 0:
            out[row] = clip.records[source][0].base
    return out


def _sources(job: Job, clip: Ani | None, todo: Sequence[int]) -> dict[int, int]:
    """The bone of the clip that each of the bones `todo` of the file is, -1 for none."""
    if clip is None:
        return {}
    own = {key: row for row, key in reversed(list(enumerate(bone_ids(job.obj, clip.bone_names))))}
    return {row: own.get(job.ids[row], -1) for row in todo}


def _long_enough(
    job: Job, action: bpy.types.Action, clip: Ani | None, found: dict[str, list[Read]], length: int
) -> int:
    """The length with room for keys that were set behind the end of an import; says what is moved or left out."""
    start, _end = clips.span(action)
    if start < 0:
        job.digest.note(f'"{action.name}" starts at frame {start}, which became frame 0 of the file')
    last = max(
        (float(entry.points[-1, 0]) for found_in in found.values() for entry in found_in if len(entry.points)),
        default=0.0,
    )
    needed = clips.with_keys(action, clip, length, last)
    if needed <= length:
        return length
    if clip is not None and clips.is_whole(action):
        job.digest.note(f'"{action.name}" has keys behind its end: it became {needed} frames long instead of {length}')
        return needed
    job.digest.add(
        f"keys behind the last frame of the range were left out, up to frame {needed - 1 + start}; "
        "set the length in the list of clips",
        subject=action.name,
    )
    return length
