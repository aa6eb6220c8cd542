# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons of the animation list do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ...io_common.formats.errors import UserError
from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ...io_common.ui import sidebar
from ..formats import check_character
from ..scene import clip_edit, clips, frames, own, playback
from . import state
from .target import target

# To the type checker the mixins are operators; at run time only the classes that use them are.
if TYPE_CHECKING:
    _Base = bpy.types.Operator

    class _ChoosesFile(bpy.types.Operator):
        filepath: str
else:
    _Base = object
    _ChoosesFile = ImportHelper


class _OnList(_Base):
    """An operator on the list of the mesh that the panels are about; `number` -1 means the chosen entry."""

    bl_options = {"REGISTER", "UNDO"}
    changes_list = True

    if TYPE_CHECKING:
        number: int

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is a mesh to speak of, and no mode in the way."""
        obj = target(context)
        if obj is None:
            cls.poll_message_set("Select a character")
            return False
        if obj.mode == "EDIT":
            cls.poll_message_set("Leave Edit Mode first")
            return False
        why = own.refusal(obj) if cls.changes_list else ""
        if why:
            cls.poll_message_set(f"{why[0].upper()}{why[1:]}")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it; what the user can mend is one sentence."""
        obj = target(context)
        if obj is None:
            return {"CANCELLED"}
        try:
            self.act(context, obj)
        except UserError as error:
            self.report({"ERROR"}, state.sentence(error))
            return {"CANCELLED"}
        sidebar.redraw(context)
        return {"FINISHED"}

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        raise NotImplementedError

    def entry(self, obj: bpy.types.Object) -> int:
        """The number of the entry that is meant. Raises `UserError` when there is none."""
        count = len(clips.animations(obj.data))
        number = self.number if self.number >= 0 else min(getattr(obj.data, clips.ACTIVE_ANIMATION), count - 1)
        if not 0 <= number < count:
            raise UserError(f'"{obj.name}" has no animation {self.number if self.number >= 0 else "in its list"}')
        return number


def _number() -> Any:
    return IntProperty(
        name="Number",
        description="Place in the list, -1 for the chosen one",
        default=-1,
        min=-1,
        options={"SKIP_SAVE", "HIDDEN"},
    )


class CARNIVORES_OT_animation_add(_OnList, bpy.types.Operator):
    """Add an Action to the animations of the character; it is baked when the character is exported"""

    bl_idname = "carnivores.animation_add"
    bl_label = "Add Animation"

    if TYPE_CHECKING:
        source: str
        action: str
    else:
        source: EnumProperty(
            name="Source",
            description="Where the motion comes from",
            items=[
                ("ACTION", "Action", "An Action of its bones, its shape keys or the object"),
                ("SCENE", "Scene Range", "What the scene shows over its range: mesh caches, simulations, drivers"),
            ],
        )
        action: StringProperty(name="Action", description="The Action to add; empty: the one that plays now")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Let an Action be chosen."""
        obj = target(context)
        playing = _playing(obj) if obj is not None else None
        self.action = playing.name if playing is not None else ""
        result: Any = context.window_manager.invoke_props_dialog(self)
        return result

    def draw(self, _context: bpy.types.Context) -> None:
        """Source, and the Actions there are."""
        layout = self.layout
        layout.prop(self, "source", expand=True)
        if self.source == "ACTION":
            layout.prop_search(self, "action", bpy.data, "actions")

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Append the entry."""
        if self.source == "SCENE":
            clip_edit.add_range(context, obj)
            state.show_chosen(context, obj)
            return
        action = bpy.data.actions.get(self.action) if self.action else _playing(obj)
        if action is None:
            raise UserError(f'there is no Action "{self.action}"' if self.action else "choose an Action to add")
        clip_edit.add_action(context, obj, action)
        state.show_chosen(context, obj)


def _playing(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The Action that moves an object now: of its bones, its keys or itself."""
    blocks = [selection.armature_of(obj), getattr(obj.data, "shape_keys", None), obj]
    found = (block.animation_data.action for block in blocks if block is not None and block.animation_data is not None)
    return next((action for action in found if action is not None), None)


class CARNIVORES_OT_animation_remove(_OnList, bpy.types.Operator):
    """Take an animation out of the list, with its shape keys"""

    bl_idname = "carnivores.animation_remove"
    bl_label = "Remove Animation"

    if not TYPE_CHECKING:
        number: _number()

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Remove the entry."""
        clip_edit.remove(obj, self.entry(obj))
        state.show_chosen(context, obj)


class CARNIVORES_OT_animation_move(_OnList, bpy.types.Operator):
    """Move an animation up or down in the order of export"""

    bl_idname = "carnivores.animation_move"
    bl_label = "Move Animation"

    if TYPE_CHECKING:
        direction: str
    else:
        number: _number()
        direction: EnumProperty(
            name="Direction",
            description="Where to",
            items=[("UP", "Up", "Towards the start"), ("DOWN", "Down", "Towards the end")],
        )

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Swap the entry with its neighbour; at an end nothing happens."""
        del context
        number = self.entry(obj)
        to = number + (-1 if self.direction == "UP" else 1)
        if 0 <= to < len(clips.animations(obj.data)):
            clip_edit.move(meshes.of(obj), number, to)


class CARNIVORES_OT_animation_duplicate(_OnList, bpy.types.Operator):
    """Add a copy of an animation behind it, with its own motion"""

    bl_idname = "carnivores.animation_duplicate"
    bl_label = "Duplicate Animation"

    if not TYPE_CHECKING:
        number: _number()

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Append and move the copy."""
        clip_edit.duplicate(obj, self.entry(obj))
        state.show_chosen(context, obj)


class CARNIVORES_OT_animation_replace(_OnList, _ChoosesFile, bpy.types.Operator):
    """Give an animation the motion of a VTL, an ANI or an animation of another CAR; its name and sound stay"""

    bl_idname = "carnivores.animation_replace"
    bl_label = "Replace Animation"

    if TYPE_CHECKING:
        animation: str
    else:
        number: _number()
        filter_glob: StringProperty(default="*.vtl;*.ani;*.car", options={"HIDDEN"})
        animation: StringProperty(
            name="Animation", description="Name of the animation in a CAR; empty: its first", options={"SKIP_SAVE"}
        )

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Read the file first, so that a bad one changes nothing."""
        number = self.entry(obj)
        clip_edit.replace(context, obj, number, Path(bpy.path.abspath(self.filepath)), self.animation)


class CARNIVORES_OT_animation_play(_OnList, bpy.types.Operator):
    """Play an animation: the scene takes its range and its rate, and its sound goes on the timeline"""

    bl_idname = "carnivores.animation_play"
    bl_label = "Play Animation"
    changes_list = False

    if TYPE_CHECKING:
        use_rate: bool
    else:
        number: _number()
        use_rate: BoolProperty(
            name="Its Own Rate",
            description="Set the scene to the rate at which the frames of the file are whole frames of the scene, and "
            "move the keyframes of all characters along, so that nothing gets slower",
            default=True,
        )

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Set everything up, and start the playback where there is a window."""
        number = self.entry(obj)
        item = clips.animations(obj.data)[number]
        playback.play(context, [obj], item, use_rate=self.use_rate)
        setattr(obj.data, clips.ACTIVE_ANIMATION, number)
        self.report({"INFO"}, f'"{item.name}": {_shown_as(selection.scene(context))}.')
        if not bpy.app.background and context.screen is not None and not context.screen.is_animation_playing:
            bpy.ops.screen.animation_play()


def _shown_as(scene: bpy.types.Scene) -> str:
    rate = frames.scene_rate(scene)
    return f"frames {scene.frame_start} to {scene.frame_end} at {rate:.4g} frames a second"


class CARNIVORES_OT_animation_stop(bpy.types.Operator):
    """Stop the playback and take the sound off the timeline"""

    bl_idname = "carnivores.animation_stop"
    bl_label = "Stop"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave Action and range as they are."""
        if not bpy.app.background and context.screen is not None and context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        playback.stop(selection.scene(context))
        return {"FINISHED"}


class CARNIVORES_OT_animation_kps(_OnList, bpy.types.Operator):
    """Set the keys per second of an animation; the keyframes of an imported one move along"""

    bl_idname = "carnivores.animation_kps"
    bl_label = "Set KPS"

    if TYPE_CHECKING:
        kps: int
    else:
        number: _number()
        kps: IntProperty(name="KPS", description="Keys per second", default=20, min=1, soft_max=60)

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Stretch and set."""
        del context
        clips.set_kps(clips.animations(obj.data)[self.entry(obj)], self.kps)


class CARNIVORES_OT_animation_scene_rate(_OnList, bpy.types.Operator):
    """Set the scene to the rate at which the frames of the file are whole frames of the scene, and to its range.

    The keyframes of all characters move along, so that nothing gets slower
    """

    bl_idname = "carnivores.animation_scene_rate"
    bl_label = "Set Scene to Its Rate"

    if TYPE_CHECKING:
        rate: float
    else:
        number: _number()
        rate: FloatProperty(
            name="Rate",
            description="Frames per second; 0: that of the keys, so that they lie on whole frames",
            default=0.0,
            min=0.0,
            max=32767.0,
        )

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Rate and range; a list without animations has no range."""
        scene = selection.scene(context)
        item = clips.animations(obj.data)[self.entry(obj)] if not self.rate or clips.active(obj.data) else None
        clip_edit.retime_all(context, max(self.rate or frames.own_rate(scene, item), 1.0))
        if item is not None:
            frames.take_range(scene, item)
        self.report({"INFO"}, f"The scene shows {_shown_as(scene)}.")


class CARNIVORES_OT_sound_add(_OnList, _ChoosesFile, bpy.types.Operator):
    """Add a sound file, mixed to mono and resampled to what the games play; the chosen animation starts it"""

    bl_idname = "carnivores.sound_add"
    bl_label = "Add Sound"

    if not TYPE_CHECKING:
        number: _number()
        filter_glob: StringProperty(default="*.wav;*.mp3;*.ogg;*.flac;*.aif;*.aiff;*.m4a;*.opus", options={"HIDDEN"})

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Append the sound, and link it to the chosen animation when that has none."""
        del context
        item = clip_edit.add_sound(meshes.of(obj), Path(bpy.path.abspath(self.filepath)))
        chosen = clips.active(obj.data)
        if chosen is not None and chosen.sound == clips.NO_SOUND:
            chosen.sound = len(clips.sounds(obj.data)) - 1
        length = clip_edit.seconds_of(item)
        if length > check_character.LONGEST_SOUND:
            self.report({"WARNING"}, f'"{item.name}" lasts {length:.1f} s, longer than any sound of the games.')


class CARNIVORES_OT_sound_remove(_OnList, bpy.types.Operator):
    """Take the chosen sound out of the list; animations that started it are silent then"""

    bl_idname = "carnivores.sound_remove"
    bl_label = "Remove Sound"

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Remove the entry."""
        del context
        count = len(clips.sounds(obj.data))
        if not count:
            raise UserError(f'"{obj.name}" has no sound in its list')
        clip_edit.remove_sound(meshes.of(obj), min(getattr(obj.data, clips.ACTIVE_SOUND), count - 1))


class CARNIVORES_OT_sound_link(_OnList, bpy.types.Operator):
    """Let the chosen animation start this sound, or none"""

    bl_idname = "carnivores.sound_link"
    bl_label = "Link Sound"

    if TYPE_CHECKING:
        sound: int
    else:
        number: _number()
        sound: IntProperty(name="Sound", description="Number of the sound, -1 for none", default=-1, min=-1)

    def act(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Set the number."""
        del context
        if self.sound >= len(clips.sounds(obj.data)):
            raise UserError(f'"{obj.name}" has no sound {self.sound}')
        clips.animations(obj.data)[self.entry(obj)].sound = self.sound


CLASSES = (
    CARNIVORES_OT_animation_add,
    CARNIVORES_OT_animation_remove,
    CARNIVORES_OT_animation_move,
    CARNIVORES_OT_animation_duplicate,
    CARNIVORES_OT_animation_replace,
    CARNIVORES_OT_animation_play,
    CARNIVORES_OT_animation_stop,
    CARNIVORES_OT_animation_kps,
    CARNIVORES_OT_animation_scene_rate,
    CARNIVORES_OT_sound_add,
    CARNIVORES_OT_sound_remove,
    CARNIVORES_OT_sound_link,
)
