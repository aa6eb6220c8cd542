# SPDX-License-Identifier: GPL-3.0-or-later
"""What one character gives to another: its animations to an edited mesh or another skeleton, its names to bones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...io_common.formats.errors import UserError
from ...io_common.scene import selection
from ...io_common.ui import sidebar
from ..scene import bone_titles, clips, mesh_transfer, retarget
from . import state
from .target import target

if TYPE_CHECKING:
    _Base = bpy.types.Operator
else:
    _Base = object


class _FromOther(_Base):
    """An operator whose subject is the active object, and whose source the other selected one."""

    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        report: Any

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is one to give and one to take."""
        if target(context) is None and getattr(context.active_object, "type", "") != "ARMATURE":
            cls.poll_message_set("Select the character to take from, then the one to give to")
            return False
        if len(context.selected_objects) < 2:
            cls.poll_message_set("Select two: the character to take from first, the one to give to last")
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        try:
            cls.sides(context)
        except UserError as error:
            cls.poll_message_set(state.sentence(error).removesuffix("."))
            return False
        return True

    @classmethod
    def sides(cls, context: bpy.types.Context) -> tuple[Any, Any]:
        """Who takes and who gives. Raises `UserError` unless what is selected fits."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it; what the user can mend is one sentence."""
        try:
            said, warned = self.act(context)
        except UserError as error:
            self.report({"ERROR"}, state.sentence(error))
            return {"CANCELLED"}
        self.report({"WARNING" if warned else "INFO"}, said)
        sidebar.redraw(context)
        return {"FINISHED"}

    def act(self, context: bpy.types.Context) -> tuple[str, bool]:
        """What was done, and whether that is a warning."""
        raise NotImplementedError


def _others(context: bpy.types.Context) -> list[bpy.types.Object]:
    return [obj for obj in context.selected_objects if obj != context.active_object]


def _source_mesh(context: bpy.types.Context, receiver: bpy.types.Object) -> bpy.types.Object:
    """The mesh of the character that is selected beside `receiver`. Raises `UserError` unless there is just one."""
    others = _others(context)
    rigs = {obj for obj in others if obj.type == "ARMATURE"}
    named = [obj for obj in others if obj.type == "MESH"]
    carried = [
        obj
        for obj in context.view_layer.objects
        if obj.type == "MESH" and obj != receiver and selection.armature_of(obj) in rigs
    ]
    # A selected mesh stands for itself, an armature for the meshes it carries, those with animations before others.
    listed = [obj for obj in carried if len(clips.animations(obj.data))]
    found = named or listed or carried
    if len(found) != 1:
        many = "one character only" if found else "a character"
        raise UserError(f'select {many} to take animations from, beside "{receiver.name}"')
    return found[0]


class CARNIVORES_OT_transfer_animations(_FromOther, bpy.types.Operator):
    """Give the active mesh the bones, animations and sounds of the other selected character it lies over.

    For meshes with another number of vertices: edited, remeshed or decimated ones
    """

    bl_idname = "carnivores.transfer_animations"
    bl_label = "Transfer Animations"

    if TYPE_CHECKING:
        shape: str
        use_blend: bool
        use_rig_copy: bool
    else:
        shape: EnumProperty(
            name="Made Over",
            description="The shape of the character that the mesh was made over",
            items=[
                ("AUTO", "Automatic", "Whichever lies nearest"),
                ("REST", "Rest Shape", "The mesh as it stands without a pose"),
                ("BASE", "Base Pose", "The base pose of the file, where the bones move another shape"),
                ("SHOWN", "Shown Pose", "As the viewport shows it now, which is what an OBJ export holds"),
            ],
        )
        use_blend: BoolProperty(
            name="Smooth Weights",
            description="New vertices between two bones follow both; without it each follows one, as in the games",
        )
        use_rig_copy: BoolProperty(
            name="Own Armature", description="Give the mesh a copy of the armature instead of the same one"
        )

    @classmethod
    def sides(cls, context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Object]:
        """A mesh and another."""
        receiver = context.active_object
        if receiver is None or receiver.type != "MESH":
            raise UserError("the active object has to be the mesh that gets the animations")
        return receiver, _source_mesh(context, receiver)

    def act(self, context: bpy.types.Context) -> tuple[str, bool]:
        """Transfer to the mesh."""
        receiver, source = self.sides(context)
        settings = mesh_transfer.Settings(self.shape, self.use_blend, self.use_rig_copy)
        done = mesh_transfer.transfer(context, receiver, source, settings)
        animations = f"{done.animations} animation{'' if done.animations == 1 else 's'}"
        over = {"REST": "", "BASE": ", by the base pose", "SHOWN": ", by the pose shown"}[done.shape]
        return (
            f'"{receiver.name}" has {animations} of "{source.name}" now{over}: {done.exact} of {done.vertices} '
            "vertices move exactly as there, the others with the nearest place."
        ), not done.exact


class _FromRig(_FromOther):
    """From one armature to another."""

    @classmethod
    def sides(cls, context: bpy.types.Context) -> tuple[retarget.Party, retarget.Party]:
        """An armature and another."""
        receiver = retarget.Party.of(context, cast("bpy.types.Object", context.active_object))
        return receiver, _source_rig(context, receiver)


class CARNIVORES_OT_retarget_actions(_FromRig, bpy.types.Operator):
    """Give the active armature the animations of the other selected one, fitted to its bones.

    Bones are matched by name, then by place; left and right are never exchanged
    """

    bl_idname = "carnivores.retarget_actions"
    bl_label = "Copy Animations From Rig"

    if TYPE_CHECKING:
        use_sounds: bool
    else:
        use_sounds: BoolProperty(
            name="Sounds", description="Copy the sounds that start with the animations, too", default=True
        )

    def act(self, context: bpy.types.Context) -> tuple[str, bool]:
        """Copy to the armature."""
        receiver, source = self.sides(context)
        done = retarget.retarget(context, receiver, source, with_sounds=self.use_sounds)
        count = len(done.actions)
        text = f"Copied {count} animation{'' if count == 1 else 's'}"
        if done.skipped:
            text += f" of {count + done.skipped}, as bones do not show the others"
        total = len(done.by_name) + len(done.by_place) + len(done.lost)
        text += f": of {total} bones {len(done.by_name)} matched by name, {len(done.by_place)} by place"
        if not done.lost:
            return f"{text}.", bool(done.skipped)
        named = ", ".join(f'"{name}"' for name in done.lost[:3])
        more = f" and {len(done.lost) - 3} more" if len(done.lost) > 3 else ""
        return f"{text}, {len(done.lost)} not at all: {named}{more}.", True


class CARNIVORES_OT_name_bones(_FromRig, bpy.types.Operator):
    """Name the bones of the active armature after those of the other selected one that lie in the same places.

    All Actions in the list follow; an untouched animation stays exact
    """

    bl_idname = "carnivores.name_bones"
    bl_label = "Name Bones From"

    def act(self, context: bpy.types.Context) -> tuple[str, bool]:
        """Rename."""
        receiver, giver = self.sides(context)
        source = giver.rig
        done = bone_titles.take(context, receiver.rig, source)
        text = f'{done.named} of {done.named + len(done.left)} bones have names of "{source.name}" now'
        if not done.left:
            return f"{text}.", False
        named = ", ".join(f'"{name}"' for name in done.left[:3])
        more = f" and {len(done.left) - 3} more" if len(done.left) > 3 else ""
        return f"{text}; in the place of {named}{more} it has none.", True


def _source_rig(context: bpy.types.Context, receiver: retarget.Party) -> retarget.Party:
    """The other armature that is selected, by itself or by its mesh. Raises `UserError` unless there is just one."""
    found: dict[bpy.types.Object, retarget.Party] = {}
    for obj in context.selected_objects:
        rig = obj if obj.type == "ARMATURE" else selection.armature_of(obj)
        if rig is not None and rig != receiver.rig and (rig not in found or obj.type == "MESH"):
            found[rig] = retarget.Party.of(context, obj)
    if len(found) != 1:
        many = "one armature only" if found else "another armature"
        raise UserError(f'select {many} to take from, beside "{receiver.rig.name}"')
    return next(iter(found.values()))


CLASSES = (CARNIVORES_OT_transfer_animations, CARNIVORES_OT_retarget_actions, CARNIVORES_OT_name_bones)
