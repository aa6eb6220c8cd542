# SPDX-License-Identifier: GPL-3.0-or-later
"""Which sound starts with which animation: the table of a CAR, with whatever tools left in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats.car import TABLE_ENTRIES
from . import clips, kept

if TYPE_CHECKING:
    import bpy


def value(table: bytes, number: int) -> int:
    """The raw entry of a sound table; -1 beyond its end."""
    entries = np.frombuffer(table[: len(table) // 4 * 4], "<i4")
    return int(entries[number]) if number < len(entries) else clips.NO_SOUND


def table(mesh: bpy.types.Mesh, sound_count: int) -> bytes:
    """The sound table: kept entries where they still say the same, the kept tail, none where the file had none."""
    raw = kept.get(mesh, kept.SOUND_TABLE, b"")
    items: list[Any] = list(clips.animations(mesh))
    wanted = [entry(item, sound_count) for item in items]
    if not raw and all(value == clips.NO_SOUND for value in wanted) and kept.get(mesh, kept.NAME_BLOCK, b""):
        return b""
    entries = np.full(TABLE_ENTRIES, clips.NO_SOUND, "<i4")
    old = np.frombuffer(raw[: len(raw) // 4 * 4], "<i4")[:TABLE_ENTRIES]
    entries[: len(old)] = old
    entries[: len(wanted)] = wanted[:TABLE_ENTRIES]
    whole = entries.tobytes()
    if len(raw) < len(whole) and raw and entries[len(old) :].max(initial=clips.NO_SOUND) == clips.NO_SOUND:
        return whole[: len(old) * 4] + raw[len(old) * 4 :]
    return whole


def entry(item: Any, sound_count: int) -> int:
    """The table entry of an animation: as it was while it stands for the same sound, junk included."""
    shown = item.table_value if 0 <= item.table_value < sound_count else clips.NO_SOUND
    return int(item.table_value if shown == item.sound else item.sound)


def insert(mesh: bpy.types.Mesh, number: int) -> None:
    """Make room in the kept table, so that what stands behind the entries in use stays there."""
    found = kept.get_array(mesh, kept.SOUND_TABLE, "<i4")
    if len(found) and number < TABLE_ENTRIES:
        wider = np.insert(found, min(number, len(found)), clips.NO_SOUND)[:TABLE_ENTRIES]
        kept.put(mesh, kept.SOUND_TABLE, wider.astype("<i4").tobytes())


def remove(mesh: bpy.types.Mesh, number: int) -> None:
    """Close the gap that a removed animation leaves in the kept table."""
    found = kept.get_array(mesh, kept.SOUND_TABLE, "<i4")
    if number < len(found):
        left = np.append(np.delete(found, number), found[-1])
        kept.put(mesh, kept.SOUND_TABLE, left.astype("<i4").tobytes())
