# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons of the list of clips do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import EnumProperty, IntProperty

from ...io_common.formats.errors import UserError
from ...io_common.scene import actions
from ..formats import pak_names
from ..scene import clips, kept, playback
from .target import armature

# To the type checker the mixin is an operator; at run time only the classes that use it are.
if TYPE_CHECKING:
    _Base = bpy.types.Operator
else:
    _Base = object


class _OnClips(_Base):
    """An operator on the list of the armature that the panel is about; `number` -1 means the chosen entry."""

    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        number: int

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is an armature to speak of, and no mode in the way."""
        obj = armature(context)
        if obj is None or obj.library is not None or obj.data.library is not None:
            cls.poll_message_set("Select an armature")
            return False
        if obj.mode == "EDIT":
            cls.poll_message_set("Leave Edit Mode first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it; what the user can mend is one sentence."""
        obj = armature(context)
        if obj is None:
            return {"CANCELLED"}
        try:
            self.act(context, obj)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        raise NotImplementedError

    def entry(self, obj: bpy.types.Object) -> int:
        """The number of the entry that is meant. Raises `UserError` when there is none."""
        count = len(clips.listed(obj))
        number = self.number if self.number >= 0 else min(getattr(obj.data, clips.ACTIVE), count - 1)
        if not 0 <= number < count:
            raise UserError(f'"{obj.name}" has no clip {self.number if self.number >= 0 else "in its list"}')
        return number


def _number() -> Any:
    return IntProperty(
        name="Number", description="Place in the list, -1 for the chosen one", default=-1, min=-1, options={"SKIP_SAVE"}
    )


class DRAGONNEST_OT_clip_play(_OnClips, bpy.types.Operator):
    """Play a clip: the armature starts from rest, the scene takes its frame range and 60 frames per second"""

    bl_idname = "dragonnest.clip_play"
    bl_label = "Play Clip"

    if not TYPE_CHECKING:
        number: _number()

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Set everything up, and start the playback where there is a window."""
        number = self.entry(obj)
        playback.play(context, obj, clips.listed(obj)[number])
        setattr(obj.data, clips.ACTIVE, number)
        if not bpy.app.background and context.screen is not None and not context.screen.is_animation_playing:
            bpy.ops.screen.animation_play()


class DRAGONNEST_OT_clip_stop(bpy.types.Operator):
    """Stop the playback"""

    bl_idname = "dragonnest.clip_stop"
    bl_label = "Stop"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave Action and range as they are."""
        if not bpy.app.background and context.screen is not None and context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        return {"FINISHED"}


class DRAGONNEST_OT_clip_add(_OnClips, bpy.types.Operator):
    """Add Actions to the list: the one that the armature plays, or all of the file that move its bones"""

    bl_idname = "dragonnest.clip_add"
    bl_label = "Add Clips"

    if TYPE_CHECKING:
        what: str
    else:
        number: _number()
        what: EnumProperty(
            name="Add",
            items=[
                ("ACTIVE", "Active Action", "The Action that the armature plays"),
                ("FITTING", "All That Fit", "Every Action of the file that moves bones of the armature"),
            ],
        )

    def act(self, _context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Append what is not in the list."""
        known = {item.action for item in clips.listed(obj)}
        data = obj.animation_data
        active = [data.action] if data is not None and data.action is not None else []
        found = actions.fitting(obj.data.bones.keys(), active if self.what == "ACTIVE" else None)
        new = [action for action in found if action not in known]
        if not found:
            raise UserError(f'there is no Action that moves bones of "{obj.name}"')
        if not new:
            raise UserError("all of them stand in the list")
        for action in new:
            clips.add(obj, action)
            action.use_fake_user = True
        setattr(obj.data, clips.ACTIVE, len(clips.listed(obj)) - 1)


class DRAGONNEST_OT_clip_remove(_OnClips, bpy.types.Operator):
    """Take a clip out of the list; its Action goes when the file is saved, unless something else uses it"""

    bl_idname = "dragonnest.clip_remove"
    bl_label = "Remove Clip"

    if not TYPE_CHECKING:
        number: _number()

    def act(self, _context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Remove the entry."""
        clips.remove(obj, self.entry(obj), with_action=True)


class DRAGONNEST_OT_clip_move(_OnClips, bpy.types.Operator):
    """Change the order in which clips are written"""

    bl_idname = "dragonnest.clip_move"
    bl_label = "Move Clip"

    if TYPE_CHECKING:
        direction: str
    else:
        number: _number()
        direction: EnumProperty(name="Direction", items=[("UP", "Up", ""), ("DOWN", "Down", "")])

    def act(self, _context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Swap the entry with its neighbour; at an end nothing happens."""
        number = self.entry(obj)
        to = number + (-1 if self.direction == "UP" else 1)
        if 0 <= to < len(clips.listed(obj)):
            clips.listed(obj).move(number, to)
            setattr(obj.data, clips.ACTIVE, to)


class DRAGONNEST_OT_clip_tick(_OnClips, bpy.types.Operator):
    """Tick clips for export"""

    bl_idname = "dragonnest.clip_tick"
    bl_label = "Tick Clips"

    if TYPE_CHECKING:
        what: str
    else:
        number: _number()
        what: EnumProperty(
            name="Tick",
            items=[
                ("ALL", "All", "Tick every clip"),
                ("NONE", "None", "Untick every clip"),
                ("INVERT", "Invert", "Tick what is not ticked, and the other way round"),
            ],
        )

    def act(self, _context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Set the ticks."""
        for item in clips.listed(obj):
            item.use_export = self.what == "ALL" or (self.what == "INVERT" and not item.use_export)


class DRAGONNEST_OT_clip_load(_OnClips, bpy.types.Operator):
    """Import further clips of the file that the last ones came from; those that are here are not ticked"""

    bl_idname = "dragonnest.clip_load"
    bl_label = "Load More Clips"
    bl_options = {"INTERNAL"}

    if not TYPE_CHECKING:
        number: _number()

    def act(self, _context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Open the file dialog where that file lies."""
        path = clips.path_of(obj)
        entry = str(kept.get(cast("bpy.types.ID", obj.data), kept.ANI_ENTRY, ""))
        if entry and pak_names.base_name(entry) == path.name and not path.exists():
            raise UserError("this came out of an archive; import it from there again, with those clips", path=path)
        kind = "anim" if path.suffix.lower() == ".anim" else "ani"
        operator = getattr(bpy.ops.import_scene, f"dragonnest_{kind}")
        if bpy.app.background:
            raise UserError("there is no window for a file dialog; import the file by its operator", path=path)
        operator("INVOKE_DEFAULT", filepath=str(path if path != Path() else ""))


CLASSES = (
    DRAGONNEST_OT_clip_play,
    DRAGONNEST_OT_clip_stop,
    DRAGONNEST_OT_clip_add,
    DRAGONNEST_OT_clip_remove,
    DRAGONNEST_OT_clip_move,
    DRAGONNEST_OT_clip_tick,
    DRAGONNEST_OT_clip_load,
)
