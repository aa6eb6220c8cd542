# SPDX-License-Identifier: GPL-3.0-or-later
"""A failed import of an animation leaves no trace on the characters that were there before."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...io_common.scene import compat, selection
from ...io_common.scene import mesh as meshes
from . import animation_files, clip_edit, clips, kept, shape_motion

if TYPE_CHECKING:
    from collections.abc import Iterator

    import bpy


@dataclass(frozen=True)
class _State:
    """What an import of an animation adds to: lists and keys of `obj`, the Actions that rig and keys play."""

    obj: bpy.types.Object
    entries: int
    chosen: int
    table: bytes
    keys: int
    played: list[tuple[bpy.types.Action | None, Any]]

    @classmethod
    def of(cls, obj: bpy.types.Object) -> _State:
        mesh = meshes.of(obj)
        keys = mesh.shape_keys
        return cls(
            obj,
            len(clips.animations(mesh)),
            getattr(mesh, clips.ACTIVE_ANIMATION),
            kept.get(mesh, kept.SOUND_TABLE, b""),
            len(keys.key_blocks) if keys is not None else 0,
            [_playing(block) for block in _players(obj)],
        )

    def restore(self) -> None:
        """Take back what was added since."""
        mesh = meshes.of(self.obj)
        while len(clips.animations(mesh)) > self.entries:
            clip_edit.remove(self.obj, len(clips.animations(mesh)) - 1)
        # Keys that no entry knows of yet.
        if mesh.shape_keys is not None and not self.keys:
            self.obj.shape_key_clear()
        elif mesh.shape_keys is None and self.keys:  # the base key, which goes with the last of an animation
            self.obj.shape_key_add(name="Basis", from_mix=False)
        elif mesh.shape_keys is not None and len(mesh.shape_keys.key_blocks) > self.keys:
            shape_motion.take_away(self.obj, range(self.keys, len(mesh.shape_keys.key_blocks)))
        setattr(mesh, clips.ACTIVE_ANIMATION, self.chosen)
        kept.put(mesh, kept.SOUND_TABLE, self.table)
        for block, (action, slot) in zip(_players(self.obj), self.played, strict=True):
            if block is not None and _playing(block)[0] != action:
                compat.assign_action(block, action, slot)


def _players(obj: bpy.types.Object) -> tuple[bpy.types.ID | None, ...]:
    """What plays the Actions of animations: armature and shape keys."""
    return selection.armature_of(obj), meshes.of(obj).shape_keys


def _playing(block: bpy.types.ID | None) -> tuple[bpy.types.Action | None, Any]:
    data = compat.animation_data(block) if block is not None else None
    return (data.action, getattr(data, "action_slot", None)) if data is not None else (None, None)


@contextlib.contextmanager
def guard(context: bpy.types.Context) -> Iterator[None]:
    """When anything is raised inside, the characters that an animation may be meant for are as they were."""
    found = [_State.of(obj) for obj in animation_files.candidates(context)]
    try:
        yield
    except BaseException:
        for state in found:
            state.restore()
        raise
