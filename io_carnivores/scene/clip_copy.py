# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of the lists of one character, taken over into those of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import clips, kept

if TYPE_CHECKING:
    import bpy

# Everything of an animation but its motion: Action and keys.
_FIELDS = (
    "name",
    "raw_name",
    "kps",
    "frames",
    "rate",
    "own_rate",
    "use_length",
    "use_scene",
    "start",
    "end",
    "sound",
    "table_value",
    "last_index",
    "is_missing",
)
# What belongs to the file as a whole.
_FILE = (
    kept.KIND,
    kept.SCALE,
    kept.NAME_BLOCK,
    kept.SOUND_TABLE,
    kept.CAT,
    kept.CAT_TITLE,
    kept.CAT_MODEL,
    kept.TEXTURE_NAME,
    kept.SPRITE_NAME,
    kept.HAS_SPRITE,
    kept.BONES,
)


def entry(mesh: bpy.types.Mesh, source: Any) -> Any:
    """Append an animation like `source`, without its motion."""
    item = clips.animations(mesh).add()
    for name in _FIELDS:
        setattr(item, name, getattr(source, name))
    return item


def sound(mesh: bpy.types.Mesh, source: Any) -> int:
    """The number of a sound of the list that is `source`, which is appended where there is none yet."""
    listed = clips.sounds(mesh)
    for number, item in enumerate(listed):
        if item.sound == source.sound and clips.raw_name(item) == clips.raw_name(source):
            return number
    item = listed.add()
    item.name, item.raw_name, item.sound = source.name, source.raw_name, source.sound
    return len(listed) - 1


def lists(source: bpy.types.Mesh, target: bpy.types.Mesh) -> list[tuple[Any, Any]]:
    """Replace the lists of `target` by those of `source`; the entries without motion, each with the one it is of."""
    clips.sounds(target).clear()
    for item in clips.sounds(source):
        copied = clips.sounds(target).add()
        copied.name, copied.raw_name, copied.sound = item.name, item.raw_name, item.sound
    clips.animations(target).clear()
    for item in clips.animations(source):
        entry(target, item)
    for name in (clips.ACTIVE_ANIMATION, clips.ACTIVE_SOUND):
        setattr(target, name, getattr(source, name))
    # Only now: an entry that is added may move those before it in memory.
    return list(zip(clips.animations(source), clips.animations(target), strict=True))


def file_facts(source: bpy.types.Mesh, target: bpy.types.Mesh) -> None:
    """Give `target` what was kept of the file that `source` came from, but for its faces and texture."""
    own = kept.has(target, kept.KIND)
    for name in _FILE:
        kept.copy(source, target, name)
    if not own:
        # A mesh that came from elsewhere looks as the character does, so its corners and UVs mean the same.
        for name in (kept.FLIP, kept.ROWS):
            kept.copy(source, target, name)
