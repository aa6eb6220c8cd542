# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Actions are those of a rig: what it plays, and what fits it and belongs to nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..formats.order import natural
from . import compat, curves

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    Actions = list[bpy.types.Action]


def played(blocks: Iterable[bpy.types.ID | None]) -> Actions:
    """The Actions that data-blocks have on them, in strips of the NLA editor too, each once."""
    found: dict[bpy.types.Action, None] = {}
    for block in blocks:
        data = compat.animation_data(block) if block is not None else None
        if data is not None:
            strips = [strip.action for track in data.nla_tracks for strip in track.strips]
            found |= dict.fromkeys(action for action in (data.action, *strips) if action is not None)
    return list(found)


def fitting(bones: Collection[str], actions: Iterable[bpy.types.Action] | None = None) -> Actions:
    """Those of `actions`, by default of the file, of whose bones more than half are called as one of `bones`."""
    names = frozenset(bones)
    found = []
    for action in bpy.data.actions if actions is None else actions:
        moved = curves.bones_of(action)
        if moved and 2 * len(moved & names) > len(moved):
            found.append(action)
    return found


def free(bones: Collection[str], taken: Collection[bpy.types.Action]) -> Actions:
    """Those that fit `bones` and are nobody's; `taken`: those that are. What a library lends is the library's."""
    return [action for action in fitting(bones) if action not in taken and action.library is None]


def moving(actions: Iterable[bpy.types.Action]) -> Actions:
    """Those that are no pose of one frame, by their names: "2 run" before "10 roar"."""
    found = (action for action in actions if action.frame_range[1] > action.frame_range[0])
    return sorted(found, key=lambda action: natural(action.name))
