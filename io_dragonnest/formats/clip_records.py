# SPDX-License-Identifier: GPL-3.0-or-later
"""New records of what bones do: tracks without the keys that add nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError
from . import fitting, key_frames, keys, space
from .keys import Record

if TYPE_CHECKING:
    from .space import Floats

LAST_FRAME = 0x7FFF  # of version 11


@dataclass(frozen=True)
class Style:
    """`version` of the file; keys are left out within `tolerance` (file units) and `angle` (radians, and of scales)."""

    version: int
    tolerance: float = 0.0
    angle: float = 0.0


@dataclass(frozen=True, eq=False)
class Track:
    """`frames` (n,) and `values` (n, k): file axes, rotations x, y, z, w."""

    frames: npt.NDArray[Any]
    values: Floats


def base(position: Floats, rotation: Floats, scale: Floats) -> npt.NDArray[Any]:
    """The base (1,) of a record."""
    out = np.zeros(1, keys.BASE)
    out["position"], out["rotation"], out["scale"] = position, rotation, scale
    return out


def record(still: npt.NDArray[Any], position: Track, rotation: Track, scale: Track, style: Style) -> Record:
    """A record of tracks whose keys are all needed, but for those that never change; `still` (1,): its base.

    Raises `ExportError` for a frame that version 11 cannot hold.
    """
    named = zip(("position", "rotation", "scale"), (position, rotation, scale), strict=True)
    return Record(still, *(_track(entry, kind, still, style) for kind, entry in named))


def _track(entry: Track, kind: str, still: npt.NDArray[Any], style: Style) -> npt.NDArray[Any]:
    frames, values = entry.frames, entry.values
    if len(frames) and key_frames.held(values[None])[0]:
        frames, values = np.zeros(1, np.int64), values[:1]
        if (values[0].astype(np.float32) == still[kind][0]).all():
            frames, values = frames[:0], values[:0]
    # With several keys, of which the last lies at frame 0, the game would divide by it.
    if len(frames) > 1 and int(frames[-1]) == 0:
        frames, values = frames[-1:], values[-1:]
    if kind != "rotation":
        return keys.vector_keys(style.version, frames, values)
    return keys.rotation_keys(style.version, frames, _rounded(values) if style.version >= keys.SHORT_FROM else values)


def _rounded(rotations: Floats) -> Floats:
    """Rotations of which version 11, which cuts off, keeps the nearest step: what was read from it stays as it is."""
    steps = np.round(rotations * keys.ONE)
    return np.asarray((steps + 0.25 * np.sign(steps)) / keys.ONE, np.float64)


def baked(
    stills: list[npt.NDArray[Any]], positions: Floats, rotations: Floats, scales: Floats, style: Style
) -> list[Record]:
    """Records of bones whose place is known at every frame: (b, f, 3), (b, f, 4) x, y, z, w, (b, f, 3)."""
    frames = np.arange(positions.shape[1])
    turns = _near(rotations)
    kept = (
        key_frames.needed(positions, "position", style.tolerance),
        key_frames.needed(turns, "rotation", style.angle),
        key_frames.steps(scales, style.angle),
    )
    even = (
        key_frames.held(positions, style.tolerance),
        key_frames.held(turns, style.angle / 2),
        key_frames.held(scales, style.angle),
    )
    out = []
    for bone, still in enumerate(stills):
        tracks = []
        for values, keep, held in zip((positions, turns, scales), kept, even, strict=True):
            rows = np.zeros(1, np.intp) if held[bone] else np.flatnonzero(keep[bone])
            tracks.append(Track(frames[rows], values[bone, rows]))
        out.append(record(still, tracks[0], tracks[1], tracks[2], style))
    return out


def _near(rotations: Floats) -> Floats:
    """`key_frames.near_side` for x, y, z, w: the sign of the first key is that of w."""
    return key_frames.near_side(rotations[..., [3, 0, 1, 2]])[..., [1, 2, 3, 0]]


def bind_bases(bind: Floats, parents: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Bases (1,) of bones whose bind matrices (b, 4, 4), Blender's axes, are given; `parents` (b,)."""
    made = fitting.links(bind[None], parents, np.repeat(np.eye(4)[None], len(bind), axis=0))
    rotations = space.to_file_quaternion(made.quaternions[0])
    places, sizes = space.AXES.undo(made.locations[0]), space.to_blender_scale(made.scales[0])
    return [base(places[row], rotations[row], sizes[row]) for row in range(len(bind))]


def require_frames(length: int, version: int, what: str) -> None:
    """Raise `ExportError` where a clip of `length` frames does not fit into a file of `version`."""
    if version >= keys.SHORT_FROM and length - 1 > LAST_FRAME:
        raise ExportError(
            f"{what} has {length} frames, but ANI 11 holds {LAST_FRAME + 1}; shorten it or export as ANI 10"
        )
