# SPDX-License-Identifier: GPL-3.0-or-later
"""The way along the ground that an import in place took from root bones, for the export to put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..formats import hierarchy, root_motion, space
from ..formats.clip_records import Track
from ..formats.root_motion import Way
from . import kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    import bpy

    from ..formats.ani import Ani
    from .placement import Floats


def ways(
    action: bpy.types.Action, clip: Ani | None, sources: Mapping[int, int], start: int, whole: Floats
) -> dict[int, Way]:
    """For bones of the file, how far they have to be moved at which frames counted from `start`.

    `sources`: the bone of the `clip` that each of them is; `whole` (4, 4) turns what came with the clip.
    """
    if clip is None or not kept.get(action, kept.IN_PLACE, 0):
        return {}
    links, length = hierarchy.from_ani(clip).parents, int(clip.lengths[0])
    found: dict[int, Way] = {}
    for row, source in sources.items():
        if source < 0 or links[source] >= 0:
            continue
        way = root_motion.way(clip.records[source][0], length)
        if len(way.frames):
            places = space.AXES.undo(space.AXES.apply(way.places) @ whole[:3, :3].T)
            found[row] = Way(way.frames - start, places)
    return found


def along(way: Way | None, frames: npt.NDArray[Any]) -> Floats | float:
    """(n, 3) what a way adds at `frames` (n,)."""
    if way is None:
        return 0.0
    return np.stack([np.interp(frames, way.frames, way.places[:, axis]) for axis in range(3)], axis=1)


def put_back(track: Track, way: Way | None, length: int) -> Track:
    """A linear track of positions with the way added, at the frames of both."""
    if way is None:
        return track
    inside = way.frames[(way.frames >= 0) & (way.frames < length)]
    ends = np.array([0, length - 1])
    frames = np.unique(np.concatenate([track.frames, inside, ends])).astype(np.int64)
    places = np.stack([np.interp(frames, track.frames, track.values[:, axis]) for axis in range(3)], axis=1)
    return Track(frames, places + along(way, frames))
