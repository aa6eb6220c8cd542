# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sidebar remembers while Blender runs: settings of its buttons and the findings of the last check."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...io_common.formats.errors import UserError
from ...io_common.ui.sidebar import redraw
from ..formats.flags import FLAGS, FaceFlag, FlagInfo
from ..scene import clips, playback
from ..scene.options import GAMES
from .target import target

NAME = "carnivores"
PICKED = "carnivores_animation_picked"  # on a mesh: the number of the chosen animation, as a click sets it
FLAG_ITEMS = [(str(info.flag.name), info.label, info.help, int(info.flag)) for info in FLAGS]
MATCH_ITEMS = [
    ("ANY", "Any", "Faces with at least one of the flags"),
    ("ALL", "All", "Faces with every one of the flags"),
    ("NONE", "None", "Faces with none of the flags"),
]


def flags_property(**details: Any) -> Any:
    """A property that holds any number of face flags."""
    return EnumProperty(name="Flags", description="Face flags", items=FLAG_ITEMS, options={"ENUM_FLAG"}, **details)


def bits(names: set[str]) -> int:
    """The number that a set of flag names stands for."""
    total = FaceFlag(0)
    for name in names:
        total |= FaceFlag[name]
    return int(total)


def sentence(error: UserError) -> str:
    """An error as a message by itself: its name of a file stays, all else starts with a capital letter."""
    text = str(error)
    return text if error.path is not None else f"{text[:1].upper()}{text[1:]}"


def _redraw(_self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    redraw(context)


class CARNIVORES_PG_finding(bpy.types.PropertyGroup):
    """One finding of the check; what it is about is looked up again when it is to be selected."""

    if TYPE_CHECKING:
        object_name: str
        code: str
        message: str
        is_error: bool
        count: int
    else:
        object_name: StringProperty(name="Object", description="The object that was checked")
        code: StringProperty(name="Code", description="Short name of the rule")
        message: StringProperty(name="Message", description="What is wrong and what to do")
        is_error: BoolProperty(name="Error", description="Whether it stops an export")
        count: IntProperty(name="Count", description="How many faces or vertices it is about; 0: the model as a whole")


def _swatch(info: FlagInfo) -> Any:
    return FloatVectorProperty(
        name=info.label,
        description=f"Colour of {info.label} faces in the viewport",
        subtype="COLOR_GAMMA",  # drawn as it is, as the viewport does with the overlay's
        min=0.0,
        max=1.0,
        get=lambda _self: info.color,
    )


# A colour button needs a property to show; these can only be looked at.
CARNIVORES_PG_legend = type(
    "CARNIVORES_PG_legend",
    (bpy.types.PropertyGroup,),
    {
        "__doc__": "The colours of the face flags.",
        "__module__": __name__,
        "__annotations__": {str(info.flag.name): _swatch(info) for info in FLAGS},
    },
)


class CARNIVORES_PG_sidebar(bpy.types.PropertyGroup):
    """Settings of the sidebar."""

    if TYPE_CHECKING:
        flags: set[str]
        match: str
        extend: bool
        group: int
        show_flags: bool
        shown_flags: set[str]
        opacity: float
        game: str
        findings: Any
        checked: str
        checked_print: str
        checked_names: str
        show_chosen: bool
        legend: Any
    else:
        flags: flags_property()
        match: EnumProperty(name="Match", description="Which faces are meant", items=MATCH_ITEMS)
        extend: BoolProperty(name="Extend", description="Keep what is selected already")
        group: IntProperty(name="Group", description="Face group of the games' editor", min=0, soft_max=31)
        show_flags: BoolProperty(
            name="Colour by Flag", description="Paint faces over in the colours of their flags", update=_redraw
        )
        shown_flags: flags_property(default={info.flag.name for info in FLAGS}, update=_redraw)
        opacity: FloatProperty(
            name="Opacity", description="Strength of the colours", default=0.5, min=0.05, max=1.0, update=_redraw
        )
        game: EnumProperty(
            name="Game",
            description="The game whose limits are checked",
            items=[tuple(entry) for entry in GAMES],
            default="C2",
        )
        findings: CollectionProperty(type=CARNIVORES_PG_finding)
        checked: StringProperty(name="Checked", description="What the findings are of; empty before the first check")
        checked_print: StringProperty(options={"HIDDEN"}, description="What the checked objects were like")
        checked_names: StringProperty(options={"HIDDEN"}, description="Names of the checked objects, one a line")
        show_chosen: BoolProperty(
            name="Show Chosen",
            description="Show the animation that is chosen in the list: assign its Action, set the range of the scene",
            default=True,
        )
        legend: PointerProperty(type=CARNIVORES_PG_legend)


def sidebar(context: bpy.types.Context) -> CARNIVORES_PG_sidebar:
    """The settings of this run of Blender."""
    found: CARNIVORES_PG_sidebar = getattr(context.window_manager, NAME)
    return found


def show_chosen(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Show the animation chosen in the list of `obj`, where the user wants that and there is something to show."""
    item = clips.active(obj.data)
    if item is None or obj.mode == "EDIT" or not sidebar(context).show_chosen:
        return
    # An entry without motion is chosen like any other: nothing is wrong with that.
    with contextlib.suppress(UserError):
        playback.show(context, [obj], item)


def _picked(mesh: bpy.types.Mesh) -> int:
    return int(getattr(mesh, clips.ACTIVE_ANIMATION))


def _pick(mesh: bpy.types.Mesh, number: int) -> None:
    setattr(mesh, clips.ACTIVE_ANIMATION, number)
    obj = target(bpy.context)
    if obj is not None and obj.data == mesh:
        show_chosen(bpy.context, obj)


class Settings:
    """The property that holds the settings. On the window manager: they belong to no scene and no file.

    And the one by which the list of animations is chosen from. What a click does is no update of the stored number, so
    that undo, opening a file and operators that choose an entry are none.
    """

    def register(self) -> None:
        """Add them."""
        setattr(bpy.types.WindowManager, NAME, PointerProperty(type=CARNIVORES_PG_sidebar))
        picked = IntProperty(
            name="Animation", description="The animation chosen in the list", min=0, get=_picked, set=_pick
        )
        setattr(bpy.types.Mesh, PICKED, picked)

    def unregister(self) -> None:
        """Remove them."""
        delattr(bpy.types.Mesh, PICKED)
        delattr(bpy.types.WindowManager, NAME)


CLASSES = (CARNIVORES_PG_finding, CARNIVORES_PG_legend, CARNIVORES_PG_sidebar)
