# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of an ANI as channels of the bones of an armature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..formats import ani, blocks, channels, fitting, hierarchy, key_frames, keys, names, pose, sampling, space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..formats.ani import Ani
    from ..formats.space import Floats
    from .rig import Rig

LOCATION, ROTATION, SCALE = "location", "rotation_quaternion", "scale"
_KINDS = (("position", LOCATION), ("rotation", ROTATION), ("scale", SCALE))
REST = {LOCATION: (0.0, 0.0, 0.0), ROTATION: (1.0, 0.0, 0.0, 0.0), SCALE: (1.0, 1.0, 1.0)}
_STILL = 1e-6  # how far a channel may be from rest to get no curves; locations relative to the skeleton's reach
_SHOWN = 1e-5  # how far bones may be off, of the reach, to be called right
_FARTHEST = 1e15


@dataclass(frozen=True, eq=False)
class Mapping:
    """An armature as the bones of a file see it, or the other way round.

    `rig`: the armature. `row` (B,): the bone of the file that each bone of the armature is, -1 for none. `parent` (B,):
    the bone of the armature that stands for the parent of that bone, -1 for roots. `same` (B,): that is its parent in
    Blender too. `length` (B,): of the bones.
    """

    rig: Rig
    row: npt.NDArray[np.intp]
    parent: npt.NDArray[np.int32]
    same: npt.NDArray[np.bool_]
    length: Floats

    @property
    def carried(self) -> npt.NDArray[np.bool_]:
        """(B,) which bones have a carrier."""
        return np.array([name in self.rig.carriers for name in self.rig.names], bool)

    @property
    def labels(self) -> list[str]:
        """The name of each bone, then that of the carrier of each, as the channels of a `Clip` count them."""
        return [*self.rig.names, *(self.rig.carriers.get(name, "") for name in self.rig.names)]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """(B,) which bones the file has."""
        found: npt.NDArray[np.bool_] = self.row >= 0
        return found

    def called(self, bones: int) -> list[str | None]:
        """The name in the armature of each of the `bones` of the file."""
        out: list[str | None] = [None] * bones
        for bone in np.flatnonzero(self.known).tolist():
            out[self.row[bone]] = self.rig.names[bone]
        return out

    @property
    def reach(self) -> float:
        """How large the skeleton is."""
        return max(float(np.abs(self.rig.rest[:, :3, 3]).max(initial=0.0)), 1e-3)


def mapping(rig: Rig, length: npt.NDArray[Any], found: Sequence[str | None], parents: npt.NDArray[Any]) -> Mapping:
    """How the bones of a file, called `found` (b,) in the armature, and their `parents` (b,), lie over a rig."""
    at = {name: row for row, name in enumerate(rig.names)}
    row = np.full(len(rig.names), -1, np.intp)
    for number, name in reversed(list(enumerate(found))):
        if name is not None:
            row[at[name]] = number
    # Where a bone of the file is in the armature: of bones with one name the first counts.
    there = np.full(len(found), -1, np.int32)
    for bone, number in enumerate(row.tolist()):
        if number >= 0:
            there[number] = bone
    file_parent = np.where(row >= 0, np.append(parents, -1)[row], -1)
    parent = np.where(file_parent >= 0, np.append(there, -1)[file_parent], -1).astype(np.int32)
    known = row >= 0
    # Bones that the file lacks stay at rest: when all above are of that kind, a bone is as good as a root.
    still = np.zeros(len(row), bool)
    for bone, above in enumerate(rig.parent.tolist()):
        still[bone] = above < 0 or (not known[above] and still[above])
    same = np.where(file_parent >= 0, (parent >= 0) & (parent == rig.parent), still)
    return Mapping(rig, row, parent, same & known, np.asarray(length, np.float64))


@dataclass(frozen=True, eq=False)
class Channel:
    """One property of a bone: `frames` (n,), `values` (n, k) f4, and whether it is stepped."""

    frames: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]
    stepped: bool = False


@dataclass(eq=False)
class Clip:
    """What one clip becomes: (bone of the armature, property) -> channel; `off`: how far which bones are off.

    The carrier of bone n of B counts as bone B + n.
    """

    channels: dict[tuple[int, str], Channel] = field(default_factory=dict)
    off: dict[int, float] = field(default_factory=dict)


def clips(found: Ani, onto: Mapping, chosen: Sequence[int]) -> Iterator[Clip]:
    """The clips with the numbers `chosen`, each bone's tracks at their own key frames where bones can hold that."""
    maps = channels.maps(onto.rig.rest, onto.rig.bind, onto.parent)
    for number in chosen:
        clip = Clip()
        wild = _direct(found, number, onto, maps, clip)
        fit = onto.known & (wild | ~onto.same | ~maps.even)
        if fit.any():
            _fitted(found, number, onto, fit, clip)
        yield clip


def moved(found: Sequence[Clip], onto: Mapping) -> set[tuple[int, str]]:
    """The channels that leave rest in any of the clips: the others need no curves."""
    near = {LOCATION: _STILL * onto.reach, ROTATION: _STILL, SCALE: _STILL}
    out: set[tuple[int, str]] = set()
    for clip in found:
        for key, channel in clip.channels.items():
            if key not in out and (np.abs(channel.values - REST[key[1]]) > near[key[1]]).any():
                out.add(key)
    return out


def _direct(found: Ani, number: int, onto: Mapping, maps: channels.Maps, clip: Clip) -> npt.NDArray[np.bool_]:
    """Fill `clip` with the tracks as they are; (B,) the bones whose scale goes along no axes of theirs."""
    length = int(found.lengths[number])
    bones = np.flatnonzero(onto.known)
    records = {int(bone): found.records[onto.row[bone]][number] for bone in bones}
    wild = np.zeros(len(onto.row), bool)
    for kind, (what, name) in enumerate(_KINDS):
        for rows, frames, values in _groups(records, kind, what, length):
            if name == LOCATION:
                shown = maps.locations(rows, values).clip(-_FARTHEST, _FARTHEST)
            elif name == ROTATION:
                shown = key_frames.near_side(maps.quaternions(rows, space.unit(values)))
            else:
                wild[rows] |= maps.skewed(rows, values)
                shown = maps.scales(rows, values).clip(-_FARTHEST, _FARTHEST)
            _add(clip, rows, name, frames, shown, stepped=name == SCALE)
    return wild


def _groups(
    records: dict[int, keys.Record], kind: int, what: str, length: int
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.int64], Floats]]:
    """Bones (t,), frames (n,) and values (t, n, k) of one kind of track, those with keys at the same frames at once."""
    alike: dict[tuple[str, bytes], list[int]] = {}
    still: list[int] = []
    for bone, record in records.items():
        track = record.tracks[kind]
        if len(track):
            alike.setdefault((track.dtype.str, track["frame"].tobytes()), []).append(bone)
        else:
            still.append(bone)
    if still:
        base = np.array([sampling.still(what, records[bone]) for bone in still])
        yield np.array(still), np.zeros(1, np.int64), base[:, None]
    for rows in alike.values():
        tracks = [records[bone].tracks[kind] for bone in rows]
        frames = keys.frames(tracks[0], length).astype(np.int64)
        stored = np.stack([track["value"] for track in tracks])
        values = blocks.wide(keys.dequantised(stored) if stored.dtype.kind == "i" else stored)
        near = max(int(frames[-1]), -int(frames[0])) <= key_frames.FARTHEST
        if near and np.isfinite(values).all() and (frames[1:] > frames[:-1]).all():
            yield np.array(rows), frames, values
            continue
        for bone in rows:
            yield (np.array([bone]), *_odd(records[bone], kind, what, length))


def _odd(record: keys.Record, kind: int, what: str, length: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Frames (n,) and values (1, n, k) of a track whose keys are no numbers, unsorted, or several at one frame."""
    frames, values = sampling.ordered(record.tracks[kind], length)
    if not len(frames):
        return np.zeros(1, np.int64), sampling.still(what, record)[None, None]
    at, shown = key_frames.spread(frames, values, what)
    return at, shown[None]


def _add(
    clip: Clip, rows: npt.NDArray[np.intp], name: str, frames: npt.NDArray[Any], shown: Floats, *, stepped: bool
) -> None:
    held = key_frames.held(shown)
    wide = key_frames.wide_steps(frames, shown) if name == ROTATION else held & False
    at = frames.astype(np.float32)
    values = shown.astype(np.float32)
    first = np.zeros(1, np.float32)
    for number, bone in enumerate(rows.tolist()):
        if held[number]:
            clip.channels[bone, name] = Channel(first, values[number, :1], stepped)
        elif wide[number]:
            more, turns = key_frames.filled(frames, shown[number])
            clip.channels[bone, name] = Channel(more.astype(np.float32), turns.astype(np.float32))
        else:
            clip.channels[bone, name] = Channel(at, values[number], stepped)


def _fitted(found: Ani, number: int, onto: Mapping, fit: npt.NDArray[np.bool_], clip: Clip) -> None:
    """Bones that need it get a key at every frame, and so do those below one that is not where it should be."""
    last = found.last_frame(number)
    frames = np.arange(last + 1) if last < key_frames.MOST_FRAMES else _key_frames(found, number)
    wanted = wanted_poses(found, number, onto, frames)
    made = fitting.links(wanted, onto.rig.parent, _offsets(onto), onto.carried)
    away = fitting.misses(wanted, made.reached, onto.length)
    bad = away > _SHOWN * onto.reach
    for bone, parent in enumerate(onto.rig.parent.tolist()):
        if parent >= 0 and bad[parent]:
            fit[bone], bad[bone] = True, True
    rows = np.flatnonzero(fit & onto.known)
    _add_links(clip, rows, frames, made, rows, stepped=True)
    carried = np.flatnonzero(fit & onto.known & onto.carried)
    if len(carried) and made.carriers is not None:
        _add_links(clip, carried + len(onto.row), frames, made.carriers, carried, stepped=False)
    clip.off = {int(bone): float(away[bone]) for bone in rows if away[bone] > _SHOWN * onto.reach}


def _add_links(
    clip: Clip,
    bones: npt.NDArray[np.intp],
    frames: npt.NDArray[Any],
    made: fitting.Links,
    rows: npt.NDArray[np.intp],
    *,
    stepped: bool,
) -> None:
    for name, values in ((LOCATION, made.locations), (ROTATION, made.quaternions), (SCALE, made.scales)):
        shown = values[:, rows].swapaxes(0, 1)
        shown = key_frames.near_side(shown) if name == ROTATION else shown.clip(-_FARTHEST, _FARTHEST)
        _add(clip, bones, name, frames, shown, stepped=stepped and name == SCALE)


def _offsets(onto: Mapping) -> Floats:
    """(B, 4, 4): from the rest of each bone's parent in Blender to its own."""
    rest = onto.rig.rest
    above = np.where((onto.rig.parent >= 0)[:, None, None], rest[np.maximum(onto.rig.parent, 0)], np.eye(4))
    return np.asarray(np.linalg.inv(rest) @ above, np.float64)


def sheared(found: Ani, chosen: Sequence[int], onto: Mapping) -> list[str]:
    """The bones that no location, rotation and scale brings to where any of the clips has them."""
    bad = np.zeros(len(onto.row), bool)
    for number in chosen:
        last = found.last_frame(number)
        frames = np.arange(last + 1) if last < key_frames.MOST_FRAMES else _key_frames(found, number)
        wanted = wanted_poses(found, number, onto, frames)
        near = fitting.each_link(wanted, onto.rig.parent, _offsets(onto))
        bad |= fitting.misses(wanted, near, onto.length) > _SHOWN * onto.reach
    return [onto.rig.names[bone] for bone in np.flatnonzero(bad & onto.known)]


def _key_frames(found: Ani, number: int) -> npt.NDArray[Any]:
    """Every frame at which a clip has a key: for clips that are too long to be looked at frame by frame."""
    length = int(found.lengths[number])
    tracks = [keys.frames(track, length) for bone in found.records for track in bone[number].tracks]
    return np.unique(np.concatenate([np.zeros(1, np.int32), *tracks]))


def wanted_poses(found: Ani, number: int, onto: Mapping, frames: npt.ArrayLike) -> Floats:
    """Where the bones of the armature have to be (f, B, 4, 4) to skin as the game does."""
    parents = hierarchy.from_ani(found).parents
    local = sampling.sample(found, number, frames).matrices()
    world = space.to_blender_matrix(pose.world(local, parents))
    rest, bind = onto.rig.rest, onto.rig.bind
    out = np.empty((len(world), len(onto.row), 4, 4))
    for bone, row in enumerate(onto.row.tolist()):
        above = int(onto.rig.parent[bone])
        if row >= 0:
            out[:, bone] = world[:, row] @ (np.linalg.inv(channels.regular(bind[bone])) @ rest[bone])
        elif above >= 0:
            out[:, bone] = out[:, above] @ (np.linalg.inv(rest[above]) @ rest[bone])
        else:
            out[:, bone] = rest[bone]
    return out


def stretched(found: Ani, chosen: Sequence[int], onto: Mapping) -> list[str]:
    """The bones that any of the clips scales unevenly, in Blender's names."""
    labels = found.bone_names
    uneven = scaled_names(ani.with_clips(found, chosen))
    return [onto.rig.names[bone] for bone in np.flatnonzero(onto.known) if labels[onto.row[bone]] in uneven]


def scaled_names(found: Ani) -> set[str]:
    """The bones of a file that any of its clips scales unevenly."""
    out: set[str] = set()
    for name, records in zip(found.bone_names, found.records, strict=True):
        stored = np.frombuffer(b"".join([entry.base.tobytes() for entry in records]), keys.BASE)["scale"]
        keyed = [entry.scales["value"] for entry in records if len(entry.scales)]
        if _is_uneven(np.concatenate([stored, *keyed])):
            out.add(name)
    return out


def _is_uneven(sizes: npt.NDArray[Any]) -> bool:
    every = np.asarray(sizes, np.float64)
    every = np.where(np.isfinite(every), every, 1.0)
    return bool((np.ptp(every, axis=1) > 1e-4 * np.abs(every).max(axis=1)).any())


def title(found: Ani, clip: int) -> str:
    """The name of a clip, never empty."""
    return names.text(found.clip_names[clip]).strip() or f"clip {clip + 1}"


def shown_end(length: int) -> int:
    """The last frame of a clip of `length` frames, as Blender can hold it."""
    return max(min(length - 1, key_frames.FARTHEST), 0)


FPS = ani.FPS
