# SPDX-License-Identifier: GPL-3.0-or-later
"""What a track shows at any frame: the reference that scenes are compared with.

No keys: the base. One key: that value at all times. Otherwise positions change linearly, rotations along the shortest
arc, and scales hold until the next key. Before the first key its value holds, after the last one the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import blocks, keys, space

if TYPE_CHECKING:
    from .ani import Ani
    from .keys import Record
    from .space import Floats


_KINDS = ("position", "rotation", "scale")
_DEFAULTS = {
    "position": np.zeros(3),
    "rotation": np.array((0.0, 0.0, 0.0, 1.0)),
    "scale": np.ones(3),
}


def ordered(track: npt.NDArray[Any], length: int = 0) -> tuple[npt.NDArray[np.int32], Floats]:
    """Frames (n,) and values (n, k) of a track, sorted by frame; keys that are no numbers are left out.

    Of several keys at one frame all stay, in the order of the file: the last of them is what holds.
    """
    frames, values = keys.frames(track, length), blocks.wide(keys.values(track))
    good = np.isfinite(values).all(axis=1)
    if not good.all():
        frames, values = frames[good], values[good]
    if len(frames) > 1 and (frames[1:] < frames[:-1]).any():
        order = np.argsort(frames, kind="stable")
        frames, values = frames[order], values[order]
    return frames, values


def _between(frames: npt.NDArray[np.int32], at: Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]:
    """Key before, key after and the way between them (0 to 1) for every frame of `at`."""
    before = np.searchsorted(frames, at, side="right") - 1
    after = np.minimum(before + 1, len(frames) - 1)
    before = np.maximum(before, 0)
    gap = (frames[after].astype(np.float64) - frames[before]).clip(min=0.0)
    way = np.where(gap > 0, (at - frames[before]) / np.where(gap > 0, gap, 1.0), 0.0)
    return before, after, way.clip(0.0, 1.0)


def curve(kind: str, frames: npt.NDArray[np.int32], values: Floats, at: Floats) -> Floats:
    """(t, f, k): tracks of the same frames (n,), values (t, n, k), at the frames `at` (f,)."""
    before, after, way = _between(frames, at)
    if kind == "scale":
        return np.asarray(values[:, before], np.float64)
    if kind == "position":
        return np.asarray(values[:, before] + (values[:, after] - values[:, before]) * way[:, None], np.float64)
    values = space.unit(values)
    return slerp(values[:, before], values[:, after], way)


def _single(kind: str, record: Record, at: npt.ArrayLike, length: int) -> Floats:
    wanted = np.asarray(at, np.float64)
    frames, values = ordered(record.tracks[_KINDS.index(kind)], length)
    if not len(frames):
        return np.repeat(still(kind, record)[None], len(wanted), axis=0)
    return np.asarray(curve(kind, frames, values[None], wanted)[0], np.float64)


def still(kind: str, record: Record) -> Floats:
    """(k,) what an empty track shows."""
    value = blocks.wide(record.base[kind][0])
    value = value if np.isfinite(value).all() else _DEFAULTS[kind]
    return space.unit(value) if kind == "rotation" else value


def positions(record: Record, at: npt.ArrayLike, length: int = 0) -> Floats:
    """(f, 3) relative to the parent at the frames `at` (f,), which may lie between whole ones."""
    return _single("position", record, at, length)


def rotations(record: Record, at: npt.ArrayLike, length: int = 0) -> Floats:
    """(f, 4) unit quaternions x, y, z, w at the frames `at` (f,)."""
    return _single("rotation", record, at, length)


def scales(record: Record, at: npt.ArrayLike, length: int = 0) -> Floats:
    """(f, 3) factors at the frames `at` (f,)."""
    return _single("scale", record, at, length)


def slerp(first: npt.NDArray[Any], second: npt.NDArray[Any], way: npt.NDArray[Any]) -> Floats:
    """Unit quaternions (..., f, 4) between two others, `way` (f,) from 0 to 1, along the shortest arc."""
    dot = np.einsum("...i,...i->...", first, second)
    second = np.where(dot[..., None] < 0, -second, second)
    angle = np.arccos(np.abs(dot).clip(max=1.0))
    sine = np.sin(angle)
    near = sine < 1e-6  # where the arc is as good as its chord
    safe = np.where(near, 1.0, sine)
    one = np.where(near, 1.0 - way, np.sin((1.0 - way) * angle) / safe)
    other = np.where(near, way, np.sin(way * angle) / safe)
    return space.unit(first * one[..., None] + second * other[..., None])


@dataclass(frozen=True, eq=False)
class Motion:
    """All bones of a clip relative to their parents.

    `positions` (f, b, 3), `rotations` (f, b, 4) unit, x, y, z, w, `scales` (f, b, 3).
    """

    positions: Floats
    rotations: Floats
    scales: Floats

    def matrices(self) -> Floats:
        """(f, b, 4, 4) for row vectors."""
        return space.matrix(self.positions, self.rotations, self.scales)


def sample(found: Ani, clip: int, at: npt.ArrayLike) -> Motion:
    """Every bone of `found` in clip number `clip` at the frames `at` (f,)."""
    wanted = np.asarray(at, np.float64)
    length = int(found.lengths[clip])
    records = [bone[clip] for bone in found.records]
    return Motion(*(_sampled(kind, records, wanted, length) for kind in _KINDS))


def _sampled(kind: str, records: list[Record], at: Floats, length: int) -> Floats:
    """(f, b, k) one kind of track of all bones. Tracks with keys at the same frames, as most have, are done at once."""
    number = _KINDS.index(kind)
    out = np.empty((len(at), len(records), len(_DEFAULTS[kind])))
    alike: dict[tuple[str, bytes], list[int]] = {}
    for row, record in enumerate(records):
        track = record.tracks[number]
        if len(track):
            alike.setdefault((track.dtype.str, track["frame"].tobytes()), []).append(row)
        else:
            out[:, row] = still(kind, record)
    for rows in alike.values():
        tracks = [records[row].tracks[number] for row in rows]
        frames = keys.frames(tracks[0], length)
        stored = np.stack([track["value"] for track in tracks])
        values = blocks.wide(keys.dequantised(stored) if stored.dtype.kind == "i" else stored)
        if np.isfinite(values).all() and not (frames[1:] < frames[:-1]).any():
            out[:, rows] = np.swapaxes(curve(kind, frames, values, at), 0, 1)
            continue
        for row in rows:
            out[:, row] = _single(kind, records[row], at, length)
    return out


def base(found: Ani, clip: int = 0) -> Motion:
    """The base transforms as a motion of one frame: in real files the bind pose. Identity where there is no clip."""
    blank = keys.Record()
    records = [bone[clip] if clip < len(bone) else blank for bone in found.records]
    stills = ([still(kind, record) for record in records] for kind in _KINDS)
    widths = (len(_DEFAULTS[kind]) for kind in _KINDS)
    return Motion(*(np.array(value).reshape(1, len(records), k) for value, k in zip(stills, widths, strict=True)))
