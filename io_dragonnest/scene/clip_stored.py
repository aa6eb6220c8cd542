# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of a clip that stay as they came: those of bones whose curves, rest and parent are untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ..formats import hierarchy
from ..formats.keys import Record
from . import bone_motion, clip_curves, clips, placement, rig
from .clip_job import Job, bone_ids, plays_curves

if TYPE_CHECKING:
    from ..formats.ani import Ani
    from .clip_curves import Read


_SAME = 1e-5  # how far rest matrices may be from what they were, of the skeleton's reach; single precision


def records(job: Job, action: bpy.types.Action, clip: Ani | None, found: dict[str, list[Read]]) -> list[Record | None]:
    """For each bone of the file the record it came with, None where it has to be made anew."""
    out: list[Record | None] = [None] * len(job.table.bones)
    if clip is None or not len(clip.lengths):
        return out
    there, here = bone_ids(job.obj, clip.bone_names), job.ids
    own = {key: row for row, key in reversed(list(enumerate(there)))}
    # The bones of the clip are those of the file, one by one, names that occur twice included.
    exact = there == here
    links = hierarchy.from_ani(clip).parents
    good = _untouched(job, action, clip, found)
    known = {row for row in job.table.onto.row.tolist() if row >= 0}
    for row, key in enumerate(here):
        source = row if exact else own.get(key, -1)
        if source < 0:
            continue
        above, now = int(links[source]), int(job.table.parents[row])
        same_parent = (above < 0) == (now < 0) and (now < 0 or there[above] == here[now])
        # What the armature lacks, or knows by the first of its name alone, nothing here can have changed.
        if row not in known or (good is not None and good[source] and same_parent):
            out[row] = clip.records[source][0]
    return out


def _untouched(
    job: Job, action: bpy.types.Action, clip: Ani, found: dict[str, list[Read]]
) -> npt.NDArray[np.bool_] | None:
    """(b,) the bones of a clip that are as they were imported; None when the whole has to be made anew."""
    sums, before = clip_curves.sealed(action), clip_curves.kept_rig(action)
    count = len(clip.bones)
    if job.options.key_mode == "BAKE" or job.has_helpers or not placement.is_plain(job.table.whole):
        return None
    if len(sums) != count + 1 or len(before) != count or not _is_long_enough(action):
        return None
    onto = job.table.onto
    length = np.ones(len(onto.row))
    label = rig.match(clip.bone_names, job.obj)
    row = bone_motion.mapping(onto.rig, length, label, hierarchy.from_ani(clip).parents).row
    now = clip_curves.rig_table(onto.rig, row, count)
    still = _is_same_rig(before, now, onto.reach)
    links = hierarchy.from_ani(clip).parents
    good = still & np.where(links >= 0, np.append(still, True)[links], True)
    moved_object = clip_curves.checksum(found.get("", [])) != sums[-1]
    for bone, source in enumerate(row.tolist()):
        if source < 0:
            continue
        name = onto.rig.names[bone]
        good[source] &= clip_curves.checksum(found.get(name, [])) == sums[source]
        good[source] &= plays_curves(job.obj, name) or not found.get(name)
        good[source] &= not (moved_object and links[source] < 0)
    return good


def _is_same_rig(before: npt.NDArray[Any], now: npt.NDArray[Any], reach: float) -> npt.NDArray[np.bool_]:
    """(b,) whether bones rest where they rested, under the parents they had."""
    near = (before["known"] == now["known"]) & (before["parent"] == now["parent"])
    for name in ("rest", "bind"):
        away = np.abs(before[name].astype(np.float64) - now[name])
        size = np.maximum(np.abs(now[name][:, :3, :3]).max(axis=(1, 2), initial=1.0), 1.0)
        near &= (away[:, :3, 3].max(axis=1, initial=0.0) <= _SAME * reach) & (
            away[:, :3, :3].max(axis=(1, 2), initial=0.0) <= 1e-4 * size
        )
    return np.asarray(near, bool)


def _is_long_enough(action: bpy.types.Action) -> bool:
    """Whether the range of an Action still starts at 0 and shows all it came with."""
    start, end = clips.span(action)
    return start == 0 and end >= clips.kept_end(action) - 1
