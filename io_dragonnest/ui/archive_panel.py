# SPDX-License-Identifier: GPL-3.0-or-later
"""The archives in the sidebar: which are mounted, what is searched in them, what can be done with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.ui import preferences
from ..formats import pak_names
from ..formats.mounts import Entry, Mark
from . import archive_state
from .archive_extract import size
from .archive_operators import ACTIVE

if TYPE_CHECKING:
    from ..formats.mount_session import Session

# What stands in the list in place of the size.
_SHORT = {Mark.DELETED: "deleted", Mark.SHADOWED: "shadowed", Mark.OVERRIDDEN: "overridden"}
_SAID = {
    Mark.LIVE: "Live",
    Mark.DELETED: "Deleted",
    Mark.SHADOWED: "Shadowed by a later entry of this archive",
    Mark.OVERRIDDEN: "Overridden by a later archive",
}


class DRAGONNEST_UL_archives(bpy.types.UIList):
    """Mounted archives, in the order of the game: later ones override earlier ones"""

    bl_idname = "DRAGONNEST_UL_archives"

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
        """File name, and how many entries it has or that it cannot be read."""
        here = archive_state.session()
        path = Path(item.path)
        listing = next((entry for entry in here.catalogue.listings if entry.path == path), None)
        row = layout.row(align=True)
        locked = listing is not None and listing.encrypted
        row.label(text=path.name, icon="ERROR" if path in here.problems else "LOCKED" if locked else "PACKAGE")
        sub = row.row()
        sub.alignment = "RIGHT"
        sub.label(text=f"{len(listing):,}" if listing is not None else "")


class DRAGONNEST_UL_archive_entries(bpy.types.UIList):
    """What the search found; there are no more rows than are looked at"""

    bl_idname = "DRAGONNEST_UL_archive_entries"

    def draw_filter(self, _context: bpy.types.Context, _layout: bpy.types.UILayout) -> None:
        """Nothing: the search field above finds in all archives."""

    def filter_items(self, _context: bpy.types.Context, _data: Any, _name: str) -> tuple[list[int], list[int]]:
        """All, in the order found."""
        return [], []

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        _active_data: Any,
        _active_property: str,
        index: int,
    ) -> None:
        """Tick, name, size and mark."""
        entry = archive_state.session().entry(index)
        if entry is None:
            return
        row = layout.row(align=True)
        row.prop(item, "use", text="")
        split = row.split(factor=0.66, align=True)
        split.active = entry.mark == Mark.LIVE
        split.label(text=entry.base_name)
        right = split.row()
        right.alignment = "RIGHT"
        right.label(text=_SHORT.get(entry.mark) or size(entry.size))


class DRAGONNEST_PT_archives(bpy.types.Panel):
    """PAK archives: what is mounted, and what is in them"""

    bl_idname = "DRAGONNEST_PT_archives"
    bl_label = "Archives"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dragon Nest"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw(self, context: bpy.types.Context) -> None:
        """The list of archives, then what the search finds, then the buttons. Nothing is read here."""
        source = preferences.of(context)
        mounted = getattr(source, archive_state.NAME)
        if not len(mounted):
            column = self.layout.column(align=True)
            column.operator("dragonnest.archive_mount", text="Mount Archives…", icon="ADD")
            column.operator("dragonnest.archive_folder_add", text="Add Game Folder…", icon="FILE_FOLDER")
            if archive_state.game_folders(context):
                column.operator("dragonnest.archive_mount_folders", icon="FILE_REFRESH")
            return
        self._mounted(source, len(mounted))
        here = archive_state.session()
        if here.is_read:
            self._search(context, here)
        else:
            self.layout.operator("dragonnest.archive_refresh", icon="FILE_REFRESH")
        self.layout.operator("dragonnest.archive_actor", text="Import Actor…", icon="OUTLINER_OB_ARMATURE")
        self.layout.operator("dragonnest.archive_export", text="Write into Patch Archive…", icon="EXPORT")

    def _mounted(self, source: Any, count: int) -> None:
        for path, problem in archive_state.session().problems.items():
            column = self.layout.column(align=True)
            column.alert = True
            column.label(text=path.name, icon="ERROR")
            # The sentence begins with the name; a sidebar is narrow.
            reason = problem.removeprefix(f"{path.name}: ")
            column.label(text=reason[:1].upper() + reason[1:])
        header, body = self.layout.panel("dragonnest_mounted")
        header.label(text=f"{count} Mounted")
        header.operator("dragonnest.archive_refresh", text="", icon="FILE_REFRESH", emboss=False)
        if body is None:
            return
        row = body.row()
        row.template_list("DRAGONNEST_UL_archives", "", source, archive_state.NAME, source, ACTIVE, rows=4, maxrows=8)
        column = row.column(align=True)
        column.operator("dragonnest.archive_mount", text="", icon="ADD")
        column.operator("dragonnest.archive_unmount", text="", icon="REMOVE")
        column.operator("dragonnest.archive_folder_add", text="", icon="FILE_FOLDER")
        column.separator()
        move: Any = column.operator("dragonnest.archive_move", text="", icon="TRIA_UP")
        move.direction = "UP"
        move = column.operator("dragonnest.archive_move", text="", icon="TRIA_DOWN")
        move.direction = "DOWN"

    def _search(self, context: bpy.types.Context, here: Session) -> None:
        shown = getattr(context.window_manager, archive_state.NAME)
        column = self.layout.column(align=True)
        row = column.row(align=True)
        row.prop(shown, "query", text="", icon="VIEWZOOM")
        row.prop(shown, "only_live", text="", icon="FILTER")
        column.template_list("DRAGONNEST_UL_archive_entries", "", shown, "rows", shown, "active", rows=8, maxrows=16)
        count, ticked = len(here.matches), len(here.ticked())
        text = f"{here.total:,} entries" if count == here.total else f"The first {count:,} of {here.total:,} entries"
        column.label(text=text + (f", {ticked} ticked" if ticked else ""))
        entry = here.entry(here.active)
        if entry is not None:
            self._entry(entry)
        row = self.layout.row(align=True)
        row.operator("dragonnest.archive_import", text="Import", icon="IMPORT")
        extract: Any = row.operator("dragonnest.archive_extract", text="Extract…")
        extract.which = "SELECTED"
        row.menu("DRAGONNEST_MT_archive_extract", text="", icon="DOWNARROW_HLT")

    def _entry(self, entry: Entry) -> None:
        """Where the highlighted entry is, and what became of it."""
        column = self.layout.column(align=True)
        column.scale_y = 0.8
        folder = entry.name[: len(entry.name) - len(pak_names.base_name(entry.name))]
        column.label(text=folder or pak_names.SEPARATOR)
        column.label(text=f"{entry.archive.name}, {size(entry.size)}")
        column.label(text=_SAID[entry.mark])


class DRAGONNEST_MT_archive_extract(bpy.types.Menu):
    """What is extracted"""

    bl_idname = "DRAGONNEST_MT_archive_extract"
    bl_label = "Extract"

    def draw(self, _context: bpy.types.Context) -> None:
        """One item for each choice."""
        for which, label in (("SELECTED", "Selected…"), ("MATCHES", "All Matches…"), ("ALL", "Everything…")):
            item: Any = self.layout.operator("dragonnest.archive_extract", text=label)
            item.which = which
        self.layout.separator()
        self.layout.operator("dragonnest.archive_untick")


class DRAGONNEST_OT_archive_untick(bpy.types.Operator):
    """Take the ticks from all entries"""

    bl_idname = "dragonnest.archive_untick"
    bl_label = "Untick All"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Untick."""
        archive_state.session().untick()
        archive_state.show(context)
        return {"FINISHED"}


CLASSES = (
    DRAGONNEST_UL_archives,
    DRAGONNEST_UL_archive_entries,
    DRAGONNEST_OT_archive_untick,
    DRAGONNEST_MT_archive_extract,
    DRAGONNEST_PT_archives,
)
