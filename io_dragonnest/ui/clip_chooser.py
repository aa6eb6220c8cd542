# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of clips in the file dialog: what the chosen file holds, to be ticked before it is imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from ...io_common.formats.errors import UserError
from ...io_common.ui.importer import ImportMixin
from ..formats import ani_set
from ..scene import clips

if TYPE_CHECKING:
    from collections.abc import Callable

_ROWS = 12


class DRAGONNEST_PG_clip_choice(bpy.types.PropertyGroup):
    """A clip of the file that is chosen in the dialog."""

    if TYPE_CHECKING:
        name: str
        part: int
        clip: int
        frames: int
        use: bool
    else:
        part: IntProperty()
        clip: IntProperty()
        frames: IntProperty()
        use: BoolProperty(name="Import", description="Import this clip", default=True)


class DRAGONNEST_UL_clip_choices(bpy.types.UIList):
    """Clips that can be ticked; the search field below finds them by name"""

    bl_idname = "DRAGONNEST_UL_clip_choices"

    if TYPE_CHECKING:
        filter_name: str
        bitflag_filter_item: int
        use_filter_show: bool

    def filter_items(self, _context: bpy.types.Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """By name, without regard to case. The search field is open from the start: a class has hundreds of clips."""
        self.use_filter_show = True
        if not self.filter_name:
            return [], []
        items = getattr(data, name)
        helper: Any = bpy.types.UI_UL_list
        return helper.filter_items_by_name(self.filter_name, self.bitflag_filter_item, items, "name"), []

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        _active_data: Any,
        _active_property: str,
        _index: int,
    ) -> None:
        """Tick, name, length."""
        row = layout.row(align=True)
        row.prop(item, "use", text="")
        row.label(text=item.name or "(no name)")
        sub = row.row()
        sub.alignment = "RIGHT"
        sub.label(text=str(item.frames) if item.frames else "")


def _tick(choose: Callable[[bool], bool]) -> Any:
    """A button that ticks: a property that is never set, and does something when it is."""

    def apply(self: Any, _value: bool) -> None:  # noqa: FBT001
        for item in self.choices:
            item.use = choose(item.use)

    return apply


def _never(_self: Any) -> bool:
    return False


class ClipChooser(ImportMixin):
    """Adds the list to the import operators of animations. Without a window, the option `clips` chooses by name."""

    if TYPE_CHECKING:
        choices: Any
        choice_index: int
        listed: str
        all_clips: bool
        no_clips: bool
        other_clips: bool
        clips: str
    else:
        choices: CollectionProperty(type=DRAGONNEST_PG_clip_choice, options={"HIDDEN", "SKIP_SAVE"})
        choice_index: IntProperty(options={"HIDDEN", "SKIP_SAVE"})
        listed: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
        all_clips: BoolProperty(
            name="All",
            description="Tick every clip",
            options={"SKIP_SAVE"},
            get=_never,
            set=_tick(lambda _use: True),
        )
        no_clips: BoolProperty(
            name="None",
            description="Untick every clip",
            options={"SKIP_SAVE"},
            get=_never,
            set=_tick(lambda _use: False),
        )
        other_clips: BoolProperty(
            name="Invert",
            description="Tick what is not ticked, and the other way round",
            options={"SKIP_SAVE"},
            get=_never,
            set=_tick(lambda use: not use),
        )

    def check(self, context: bpy.types.Context) -> bool:
        """Called by the dialog when another file is chosen, or an option changed."""
        return self.show_clips_of(context, Path(bpy.path.abspath(self.filepath)))

    def show_clips_of(self, context: bpy.types.Context, path: Path) -> bool:
        """List the clips of `path`, unless they are listed; whether the list changed.

        Clips that the fitting armature has from this file already are not ticked.
        """
        if str(path) == self.listed:
            return False
        self.listed = str(path)
        self.choices.clear()
        try:
            entries = ani_set.peek(path) if path.is_file() else []
        except (UserError, OSError):
            entries = []  # the import itself says what is wrong with the file
        known = clips_here(context, path)
        for entry in entries:
            item = self.choices.add()
            item.name, item.part, item.clip, item.frames = entry.name, entry.part, entry.clip, entry.frames
            item.use = (entry.part, entry.clip) not in known
        if entries and len(known) >= len(entries):
            self.all_clips = True
        return True

    def code_options(self, context: bpy.types.Context) -> dict[str, Any]:
        """What was ticked, for the one file whose clips are listed."""
        found = super().code_options(context)
        paths = self.paths()
        if self.clips or len(paths) != 1 or str(paths[0]) != self.listed or not len(self.choices):
            return found
        ticked = tuple((item.part, item.clip) for item in self.choices if item.use)
        if not ticked:
            raise UserError("no clip is ticked in the list", path=paths[0])
        return found | {"chosen": ticked if len(ticked) < len(self.choices) else None}

    def draw(self, context: bpy.types.Context) -> None:
        """The list above the options."""
        # Not every way to choose a file calls `check`.
        browser = context.space_data
        if isinstance(browser, bpy.types.SpaceFileBrowser) and browser.params is not None:
            folder = browser.params.directory
            text = folder.decode(errors="surrogateescape") if isinstance(folder, bytes) else folder
            if browser.params.filename:
                self.show_clips_of(context, Path(bpy.path.abspath(text)) / browser.params.filename)
        if len(self.choices):
            self._draw_choices(self.layout)
        super().draw(context)

    def _draw_choices(self, layout: bpy.types.UILayout) -> None:
        column = layout.column()
        ticked = sum(1 for item in self.choices if item.use)
        column.label(text=f"Clips: {ticked} of {len(self.choices)}")
        column.template_list(
            "DRAGONNEST_UL_clip_choices",
            "",
            self,
            "choices",
            self,
            "choice_index",
            rows=min(max(len(self.choices), 3), _ROWS),
        )
        row = column.row(align=True)
        for name in ("all_clips", "no_clips", "other_clips"):
            row.prop(self, name, toggle=True)
        column.active = not self.clips


def clips_here(context: bpy.types.Context, path: Path) -> set[tuple[int, int]]:
    """File and number of the clips of `path` that the active armature has already."""
    obj = context.object
    if obj is None or obj.type != "ARMATURE":
        return set()
    ids = {entry["id"] for entry in clips.files(obj) if entry.get("path") == str(path)}
    return {place for identifier, place in clips.places(obj) if identifier in ids}


CLASSES = (DRAGONNEST_PG_clip_choice, DRAGONNEST_UL_clip_choices)
