# SPDX-License-Identifier: GPL-3.0-or-later
"""How close Blender's own evaluation of an imported character comes to the frames of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.digest import Digest
from ...io_common.scene import selection
from ..formats.fit_report import SOFT_SHARE, SOFT_STEPS, WITHIN
from ..formats.model import label
from ..formats.motion import Animation
from ..formats.vtl import Vtl
from . import clips, frames
from .options import ExportCharacterOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy


def rebake(context: bpy.types.Context, objects: Sequence[bpy.types.Object], model: Any) -> dict[str, Any]:
    """Bake every animation of `objects` and compare with `model`, what a file was read as.

    Gives the `coordinates` compared, the share `within` so many steps in percent (none without animations), and the
    numbers of `soft_vertices`, which are more than 2 steps off in more than 2 % of the frames; of all animations
    together, and of each.
    """
    with selection.object_mode(context, objects), selection.at_rest(context, objects):
        count = frames.evaluated_count(context, objects, ExportCharacterOptions())
    source = frames.Source.of(context, objects, ExportCharacterOptions(), count, Digest())
    source.force = True
    tally = _Tally(count)
    listed = []
    for item, original in zip(clips.animations(clips.list_owner(objects)), _animations(model), strict=True):
        if original is None or not len(original.frames):
            continue
        steps = np.abs(source.animation(item).frames.astype(np.int32) - original.frames)
        own = _Tally(count)
        for entry in (own, tally):
            entry.add(steps)
        listed.append({"name": label(original.name) or item.name, **own.facts()})
    return {**tally.facts(), "animations": listed}


def _animations(model: Any) -> list[Animation | None]:
    if isinstance(model, Animation):
        return [model]
    if isinstance(model, Vtl):
        return [model.animation]
    return list(model.animations)


class _Tally:
    """Counts of how far coordinates are off."""

    def __init__(self, vertices: int) -> None:
        self._frames = 0
        self._within = dict.fromkeys(WITHIN, 0)
        self._off = np.zeros(vertices, np.int64)

    def add(self, steps: Any) -> None:
        """`steps` (N, V, 3): absolute differences."""
        self._frames += len(steps)
        for limit in WITHIN:
            self._within[limit] += int(np.count_nonzero(steps <= limit))
        self._off += np.count_nonzero((steps > SOFT_STEPS).any(axis=2), axis=0)

    def facts(self) -> dict[str, Any]:
        total = self._frames * len(self._off) * 3
        return {
            "coordinates": total,
            "within": {str(limit): round(100 * n / total, 3) for limit, n in self._within.items()} if total else {},
            "soft_vertices": np.flatnonzero(self._off > SOFT_SHARE * self._frames).tolist(),
        }
