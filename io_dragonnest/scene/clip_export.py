# SPDX-License-Identifier: GPL-3.0-or-later
"""What an Action becomes in a file: the records it came with, its keys, or a key at every frame.

A bone whose curves, rest and parent are as they were imported keeps its record, whatever was done to others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import compat, curves
from ..formats import channels, clip_records, fitting, hierarchy, key_frames, names, sampling, space
from ..formats.clip_records import Style, Track
from ..formats.keys import Record
from . import bone_motion, clip_curves, clips, ground, placement, playback, pose_bake, rig
from .bone_motion import LOCATION, ROTATION, SCALE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...io_common.formats.digest import Digest
    from ..formats.ani import Ani
    from ..formats.root_motion import Way
    from .ani_table import Table
    from .clip_curves import Read
    from .options import ExportAniOptions
    from .placement import Floats

_SAME = 1e-5  # how far rest matrices may be from what they were, of the skeleton's reach; single precision
_SHEAR = 1e-3  # file units, of the reach: what is worth a warning


@dataclass(eq=False)
class Job:
    """What the clips of one file share."""

    context: bpy.types.Context
    obj: bpy.types.Object
    table: Table
    options: ExportAniOptions
    digest: Digest
    style: Style
    has_helpers: bool = False

    @cached_property
    def ids(self) -> list[str]:
        """Of the bones of the file."""
        return _ids(self.obj, names.texts(self.table.bones["name"]))

    def bases(self) -> list[npt.NDArray[Any]]:
        """The base of each bone of the file, from its bind matrix; the identity for bones the armature lacks."""
        onto = self.table.onto
        bind = np.repeat(np.eye(4)[None], len(self.table.bones), axis=0)
        for bone, row in enumerate(onto.row.tolist()):
            if row >= 0:
                bind[row] = onto.rig.bind[bone]
        return clip_records.bind_bases(bind, self.table.parents)


def records(job: Job, action: bpy.types.Action) -> tuple[list[Record], int]:
    """The record of each bone of the file in the clip that is `action`, and its length in frames.

    Raises `ExportError` for what the version of the file cannot hold.
    """
    clip = clips.clip_of(action)
    length = clips.length_of(action, clip)
    entries = _own_curves(job.obj, action)
    clip_curves.follow_names(job.obj, entries)
    found = clip_curves.read(entries)
    stored = _stored(job, action, clip, found)
    todo = [row for row, entry in enumerate(stored) if entry is None]
    if todo:
        length = _long_enough(job, action, clip, found, max(length, 1))
        clip_records.require_frames(length, job.style.version, f'the clip "{action.name}"')
        stills = _bases(job, clip, todo)
        ways = ground.ways(action, clip, _sources(job, clip, todo), clips.span(action)[0], job.table.whole)
        if ways:
            job.digest.note(f'the way along the ground that "{action.name}" was imported without was put back')
        keyed = None if job.options.key_mode == "BAKE" else _keyed(job, action, found, length, todo, (stills, ways))
        made = keyed if keyed is not None else _baked(job, action, length, stored, (stills, ways))
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


# What stays as it was.


def _stored(job: Job, action: bpy.types.Action, clip: Ani | None, found: dict[str, list[Read]]) -> list[Record | None]:
    """For each bone of the file the record it came with, None where it has to be made anew."""
    out: list[Record | None] = [None] * len(job.table.bones)
    if clip is None or not len(clip.lengths):
        return out
    there, here = _ids(job.obj, clip.bone_names), job.ids
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


def _ids(obj: bpy.types.Object, labels: Sequence[str]) -> list[str]:
    """What tells bones of files apart whatever they are called here: the bone of the armature, else the key."""
    found = rig.match(labels, obj)
    return [f"bone {name}" if name is not None else names.key(label) for name, label in zip(found, labels, strict=True)]


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
        good[source] &= _plays_curves(job.obj, name) or not found.get(name)
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


def _plays_curves(obj: bpy.types.Object, name: str) -> bool:
    """Whether a bone is moved by quaternion, location and scale as the curves say."""
    bone = obj.pose.bones.get(name)
    if bone is None:
        return False
    data = bone.bone
    return (
        bone.rotation_mode == "QUATERNION"
        and data.inherit_scale == "FULL"
        and data.use_inherit_rotation
        and data.use_local_location
    )


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
    own = {key: row for row, key in reversed(list(enumerate(_ids(job.obj, clip.bone_names))))}
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


# Keys as they are.


def _keyed(
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
    if not onto.same[bone] or not maps.even[bone] or not (_plays_curves(job.obj, onto.rig.names[bone]) or not entries):
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


# A key at every frame.


def _baked(
    job: Job,
    action: bpy.types.Action,
    length: int,
    stored: list[Record | None],
    known: tuple[list[npt.NDArray[Any]], dict[int, Way]],
) -> dict[int, Record]:
    """Records of what Blender shows, for the bones that have none in `stored`."""
    onto = job.table.onto
    start, _end = clips.span(action)
    shown, stands = pose_bake.poses(job.context, job.obj, action, np.arange(start, start + length))
    world = _world(job, shown, stands, stored, length)
    count = len(job.table.bones)
    made = fitting.links(world, job.table.parents, np.repeat(np.eye(4)[None], count, axis=0))
    radius = np.zeros(count)
    radius[onto.row[onto.known]] = onto.length[onto.known]
    away = fitting.misses(world, made.reached, radius)
    if away.max(initial=0.0) > _SHEAR * onto.reach:
        worst = int(np.argmax(away))
        job.digest.add(
            f'"{names.text(bytes(job.table.bones["name"][worst]))}" and others are sheared, which a file cannot say; '
            f"they are as near as can be, off by up to {away[worst]:.3g} file units",
            subject=action.name,
        )
    todo = [row for row, entry in enumerate(stored) if entry is None]
    stills, ways = known
    places = space.AXES.undo(made.locations[:, todo].swapaxes(0, 1))
    for number, row in enumerate(todo):
        places[number] += ground.along(ways.get(row), np.arange(length))
    turns = space.to_file_quaternion(made.quaternions[:, todo].swapaxes(0, 1))
    sizes = _rounded(space.to_blender_scale(made.scales[:, todo].swapaxes(0, 1)))
    entries = clip_records.baked([stills[row] for row in todo], places, turns, sizes, job.style)
    return dict(zip(todo, entries, strict=True))


def _rounded(sizes: Floats) -> Floats:
    """Scales without the noise of single precision, so that they hold where nothing happens."""
    return np.round(sizes, 5)


def _world(job: Job, shown: Floats, stands: Floats, stored: list[Record | None], length: int) -> Floats:
    """World matrices of the game (f, b, 4, 4), column vectors, of poses (f, B, 4, 4) in the armature's units."""
    onto, whole = job.table.onto, job.table.whole
    moved = (
        stands @ shown.swapaxes(0, 1) if np.abs(stands - np.eye(4)).max(initial=0.0) > 1e-6 else shown.swapaxes(0, 1)
    )
    state = rig.state(job.obj)
    out = np.repeat(np.eye(4)[None, None], len(shown), axis=0).repeat(len(job.table.bones), axis=1)
    size = job.table.grow
    for bone, row in enumerate(onto.row.tolist()):
        if row >= 0:
            found = whole @ moved[bone] @ (np.linalg.inv(state.rest[bone]) @ state.bind[bone])
            found[:, :3, :3] /= size
            out[:, row] = found
    known = set(onto.row[onto.known].tolist())
    lacking = [row for row in hierarchy.order(job.table.parents).tolist() if row not in known]
    for row in lacking:
        record = stored[row]
        if record is not None:
            local = space.to_blender_matrix(_local(record, length))
            above = int(job.table.parents[row])
            out[:, row] = out[:, above] @ local if above >= 0 else local
    return out


def _local(record: Record, length: int) -> Floats:
    """(f, 4, 4) of a record at every frame, as the file has it."""
    at = np.arange(length)
    parts = (sampling.positions(record, at), sampling.rotations(record, at), sampling.scales(record, at))
    return space.matrix(*parts)
