# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations of a character that was made in Blender and has no list of them yet: the Actions that move it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import bpy

from ...io_common.scene import actions, selection
from . import bake, bone_motion, clips, frames, kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...io_common.formats.digest import Digest

_NAMED = 8  # in a message


@dataclass(frozen=True)
class Unlisted:
    """What an entry of the list would say of `action` if it were put there; see `clips.CARNIVORES_PG_animation`."""

    action: bpy.types.Action
    rate: float
    raw_name: str = ""
    frames: int = 2
    first_key: float = -1.0
    last_key: float = -1.0
    soft_action: bpy.types.Action | None = None
    use_length: bool = True
    use_scene: bool = False
    sound: int = clips.NO_SOUND
    table_value: int = clips.NO_SOUND
    is_missing: bool = False

    @property
    def name(self) -> str:
        """That of the Action."""
        return self.action.name

    @property
    def own_rate(self) -> float:
        """It was made at the rate of the scene."""
        return self.rate

    @property
    def kps(self) -> int:
        """One key for each frame of the scene."""
        return max(1, round(self.rate))


def entries(context: bpy.types.Context, objects: Sequence[bpy.types.Object], digest: Digest) -> list[Any]:
    """The animations to write for `objects`: those of the list, or of the Actions where there never was a list.

    A character that came from a file has the list of that file, even where it is empty.
    """
    mesh = clips.list_owner(objects)
    listed = list(clips.animations(mesh))
    if listed or kept.has(mesh, kept.NAME_BLOCK) or kept.has(mesh, kept.CAT):
        return listed
    found = _actions(objects)
    if found:
        named = ", ".join(f'"{action.name}"' for action in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        digest.note(
            f'"{objects[0].name}" lists no animations, so the Actions that move it were written, by name: '
            f"{named}{more}; list them in the sidebar for another order, KPS and sounds"
        )
    rate = frames.scene_rate(selection.scene(context))
    return [Unlisted(action, rate) for action in found]


def _actions(objects: Sequence[bpy.types.Object]) -> list[bpy.types.Action]:
    """What `objects`, their armatures and shape keys play, and what fits their bones and is nobody else's."""
    rigs = list(dict.fromkeys(rig for obj in objects if (rig := selection.armature_of(obj)) is not None))
    keys = [getattr(obj.data, "shape_keys", None) for obj in objects]
    own = actions.played([*rigs, *objects, *keys])
    bones = {bone.name for rig in rigs for bone in cast("bpy.types.Armature", rig.data).bones}
    others = [obj for obj in bpy.data.objects if obj not in objects and obj not in rigs]
    taken = {*own, *actions.played(others)}
    for mesh in bpy.data.meshes:
        taken.update(action for item in clips.animations(mesh) for action in clips.actions(item))
    # What was recovered from a file belongs to the skeleton it was recovered with.
    prints = {"", *map(bone_motion.rig_print, rigs)}
    fitting = [action for action in actions.free(bones, taken) if kept.get(action, kept.RIG_PRINT, "") in prints]
    found = [*own, *fitting]
    return actions.moving(action for action in found if bake.targets(objects, action))
