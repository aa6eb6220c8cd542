# SPDX-License-Identifier: GPL-3.0-or-later
"""Records made of the keys of an Action as they are, where a file can say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import curves
from ..formats import channels, clip_records, key_frames, space
from ..formats.clip_records import Track
from ..formats.keys import Record
from . import bone_motion, clips, ground
from .bone_motion import LOCATION, ROTATION, SCALE
from .clip_job import Job, plays_curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.root_motion import Way
    from .clip_curves import Read


def records(
    job: Job,
    action: bpy.types.Action,
    found: dict[str, list[Read]],
    length: int,
    todo: Sequence[int],
    known: tuple[list[npt.NDArray[Any]], dict[int, Way]],
) -> dict[int, Record] | None:
    """Records made of keys; None where the file could not say the same, unless that is what was asked for."""
    forced = job.options.key_mode == "KEYS"
    onto, (stills, ways) = job.table.onto, known
    bone_of = {int(row): bone for bone, row in enumerate(onto.row.tolist()) if row >= 0}
    if not forced and (job.has_helpers or found.get("") or any(row not in bone_of for row in todo)):
        return None
    maps = channels.maps(onto.rig.rest, onto.rig.bind, onto.parent)
    start, _end = clips.span(action)
    out: dict[int, Record] = {}
    lost: list[str] = []
    for row in todo:
        bone = bone_of.get(row, -1)
        if bone < 0:
            out[row] = Record(stills[row])
            continue
        name = onto.rig.names[bone]
        made = _bone_record(job, maps, bone, found.get(name, []), (start, length), (stills[row], ways.get(row)))
        if made is None and not forced:
            return None
        if made is None:
            lost.append(name)
            made = Record(stills[row])
        out[row] = made
    if lost:
        job.digest.add(
            f'the keys of {len(lost)} bones ("{lost[0]}" first) mean nothing in a file and were left out; '
            'export with "Every Frame" to have what Blender shows',
            subject=action.name,
        )
    return out


def _bone_record(
    job: Job,
    maps: channels.Maps,
    bone: int,
    entries: Sequence[Read],
    span: tuple[int, int],
    known: tuple[npt.NDArray[Any], Way | None],
) -> Record | None:
    """The keys of one bone as a record; None where it has any that a file cannot say."""
    onto, forced = job.table.onto, job.options.key_mode == "KEYS"
    if not onto.same[bone] or not maps.even[bone] or not (plays_curves(job.obj, onto.rig.names[bone]) or not entries):
        return None
    tracks: dict[str, Track] = {}
    for name, rest in bone_motion.REST.items():
        made = _track([entry for entry in entries if entry.name == name], name, rest, span, forced=forced)
        if made is None:
            return None
        tracks[name] = made
    if any(entry.name not in bone_motion.REST for entry in entries) and not forced:
        return None
    place, turn, size = tracks[LOCATION], tracks[ROTATION], tracks[SCALE]
    rows = np.array([bone])
    sizes = maps.file_scales(bone, size.values)
    if maps.skewed(rows, sizes[None])[0]:
        return None
    still, way = known
    position = Track(place.frames, maps.positions(bone, place.values * job.table.grow))
    position = ground.put_back(position, way, span[1])
    frames, turns = key_frames.arced(turn.frames, turn.values)
    rotation = Track(frames, space.unit(maps.rotations(bone, turns)))
    return clip_records.record(still, position, rotation, Track(size.frames, sizes), job.style)


def _track(
    entries: Sequence[Read], name: str, rest: tuple[float, ...], span: tuple[int, int], *, forced: bool
) -> Track | None:
    """One property over the frames of the file, from the curves of its components; None where it is no such track."""
    start, length = span
    stepped = name == SCALE
    frames: list[npt.NDArray[Any]] = []
    values: list[Any] = [None] * len(rest)
    for entry in entries:
        if not 0 <= entry.index < len(rest) or not len(entry.points):
            continue
        at = np.round(entry.points[:, 0]).astype(np.int64)
        if not forced and not _is_plain(entry, at, stepped=stepped):
            return None
        inside = at - start
        frames.append(inside[(inside >= 0) & (inside < length)])
        values[entry.index] = (inside, entry.points[:, 1].astype(np.float64))
    # The first and the last frame too, where keys lie outside the range.
    keyed = [entry[0] for entry in values if entry is not None]
    ends = [0] if not keyed or any(at[0] < 0 for at in keyed) else []
    ends += [length - 1] if any(at[-1] >= length for at in keyed) else []
    every = np.unique(np.concatenate([*frames, np.array(ends, np.int64)])).astype(np.int64)
    table = np.empty((len(every), len(rest)))
    for index, usual in enumerate(rest):
        if values[index] is None:
            table[:, index] = usual
        elif stepped:
            at, shown = values[index]
            table[:, index] = shown[np.maximum(np.searchsorted(at, every, side="right") - 1, 0)]
        else:
            table[:, index] = np.interp(every, *values[index])
    if name == ROTATION and not forced and len(every) > 1:
        size = np.sqrt(np.square(table).sum(axis=1))
        if (np.abs(size - 1.0) > 1e-3).any() and (np.diff(every) > 1).any():
            return None
    return Track(every, table)


def _is_plain(entry: Read, at: npt.NDArray[Any], *, stepped: bool) -> bool:
    """Whether a curve is nothing but keys on whole frames, blended as the game blends them."""
    if entry.odd or np.abs(entry.points[:, 0] - at).max() > 1e-3 or (np.diff(at) <= 0).any():
        return False
    if len(at) < 2 or (entry.points[:, 1] == entry.points[0, 1]).all():
        return bool((entry.kinds[:-1] <= curves.LINEAR).all() or not stepped or len(at) < 2)
    wanted = curves.CONSTANT if stepped else curves.LINEAR
    return bool((entry.kinds[:-1] == wanted).all())
