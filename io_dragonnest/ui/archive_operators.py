# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounting archives, taking them away, and their order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import CollectionProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ImportHelper, poll_file_object_drop

from ...io_common.formats.errors import UserError
from ...io_common.ui import preferences
from ..formats import mount_index, mounts
from . import archive_state

if TYPE_CHECKING:
    from collections.abc import Sequence

ACTIVE = f"{archive_state.NAME}_active"


def mount(context: bpy.types.Context, found: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Mount archives after those that are there, and read what they hold.

    Those that were mounted, and a sentence for each that could not be, which then is not in the list. One that is
    mounted already keeps its place.
    """
    wanted = [path.absolute() for path in found]
    before = archive_state.paths(context)
    archive_state.set_paths(context, [*before, *(path for path in dict.fromkeys(wanted) if path not in before)])
    here = archive_state.refresh(context)
    failures = [here.problems[path] for path in wanted if path in here.problems]
    good = [path for path in wanted if path not in here.problems]
    if failures:
        bad = {path for path in wanted if path in here.problems and path not in before}
        archive_state.set_paths(context, [path for path in archive_state.paths(context) if path not in bad])
        archive_state.refresh(context)
    return good, failures


def tell(operator: bpy.types.Operator, good: Sequence[Path], failures: Sequence[str]) -> set[str]:
    """Report what was mounted; the result of the operator."""
    if good:
        here = archive_state.session()
        count = sum(len(listing) for listing in here.catalogue.listings if listing.path in good)
        what = good[0].name if len(good) == 1 else f"{len(good)} archives"
        operator.report({"INFO"}, f"Mounted {what}, {count} entries.")
    for failure in failures:
        operator.report({"WARNING" if good else "ERROR"}, failure)
    return {"FINISHED"} if good else {"CANCELLED"}


def mount_folders(operator: bpy.types.Operator, context: bpy.types.Context) -> set[str]:
    """Mount what lies in the game folders, in order, before what was mounted by hand; the result of the operator."""
    folders = archive_state.game_folders(context)
    if not folders:
        operator.report({"ERROR"}, "No game folder is set in the preferences of the extension.")
        return {"CANCELLED"}
    try:
        found = [path.absolute() for path in mounts.archives_in(folders)]
        places = {folder.absolute() for folder in folders}
        # What was put behind the game's own by hand, as a patch is, stays there.
        others = [path for path in archive_state.paths(context) if path.parent not in places]
        archive_state.set_paths(context, [*found, *others])
        here = archive_state.refresh(context)
    except UserError as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    if not found:
        operator.report({"ERROR"}, "There is no .pak archive in the game folders.")
        return {"CANCELLED"}
    good = [path for path in found if path not in here.problems]
    return tell(operator, good, [here.problems[path] for path in found if path in here.problems])


class ArchiveMount(ImportHelper):
    """Mount PAK archives: search them in the sidebar, and import straight out of them"""

    filename_ext = ".pak"

    if TYPE_CHECKING:
        filepath: str
        directory: str
        files: Any
        report: Any

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Mount at once what was dropped, else open the file dialog."""
        if self.directory and any(entry.name for entry in self.files):
            return self.execute(context)
        result: Any = super().invoke(context, event)
        return result

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Mount every chosen file, in the natural order of their names."""
        names = sorted((entry.name for entry in self.files if entry.name), key=mounts.natural)
        folder = Path(bpy.path.abspath(self.directory or str(Path(self.filepath).parent)))
        found = [folder / name for name in names] or [Path(bpy.path.abspath(self.filepath))] * bool(self.filepath)
        if not found:
            self.report({"ERROR"}, "No file was chosen.")
            return {"CANCELLED"}
        try:
            good, failures = mount(context, found)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return tell(cast("bpy.types.Operator", self), good, failures)


DRAGONNEST_OT_archive_mount = type(
    "DRAGONNEST_OT_archive_mount",
    (ArchiveMount, bpy.types.Operator),
    {
        "__doc__": ArchiveMount.__doc__,
        "__module__": __name__,
        "__annotations__": {
            "files": CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"}),
            "directory": StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"}),
            "filter_glob": StringProperty(default="*.pak", options={"HIDDEN"}),
        },
        "bl_idname": "dragonnest.archive_mount",
        "bl_label": "Mount Archives",
        "bl_options": {"REGISTER"},
    },
)


class DRAGONNEST_OT_archive_mount_folders(bpy.types.Operator):
    """Mount all archives of the game folders in the preferences, 2 before 10; the last one with a file wins"""

    bl_idname = "dragonnest.archive_mount_folders"
    bl_label = "Mount Game Folders"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """List the folders, keep what was mounted by hand behind."""
        return mount_folders(self, context)


class DRAGONNEST_OT_archive_folder_add(bpy.types.Operator):
    """Choose a folder of the game, remember it in the preferences, and mount its archives"""

    bl_idname = "dragonnest.archive_folder_add"
    bl_label = "Add Game Folder"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        directory: str
    else:
        directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Open the file dialog."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remember the folder, then mount it like the others."""
        folder = Path(bpy.path.abspath(self.directory))
        if not self.directory or not folder.is_dir():
            self.report({"ERROR"}, f"{folder.name or self.directory}: this is no folder.")
            return {"CANCELLED"}
        if folder not in archive_state.game_folders(context):
            getattr(preferences.of(context), archive_state.FOLDERS).add().path = str(folder)
            context.preferences.is_dirty = True
        return mount_folders(self, context)


class DRAGONNEST_OT_archive_unmount(bpy.types.Operator):
    """Take archives out of the list; the files stay where they are"""

    bl_idname = "dragonnest.archive_unmount"
    bl_label = "Unmount"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        which: str
    else:
        which: EnumProperty(
            name="Which",
            items=[("ACTIVE", "Chosen", "The archive that the list has chosen"), ("ALL", "All", "All archives")],
            options={"SKIP_SAVE"},
        )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something is mounted."""
        return len(archive_state.listed(context)) > 0

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Take it out, and forget its listing."""
        paths = archive_state.paths(context)
        active = min(getattr(preferences.of(context), ACTIVE), len(paths) - 1)
        gone = paths if self.which == "ALL" else [paths[active]]
        archive_state.set_paths(context, [path for path in paths if path not in gone])
        folder = archive_state.cache_folder()
        for path in gone:
            if folder is not None:
                mount_index.forget(path, folder)
        setattr(preferences.of(context), ACTIVE, max(0, min(active, len(paths) - len(gone) - 1)))
        _reread(context)
        return {"FINISHED"}


class DRAGONNEST_OT_archive_move(bpy.types.Operator):
    """Change the order: of entries with the same name the one in the last archive counts"""

    bl_idname = "dragonnest.archive_move"
    bl_label = "Move Archive"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        direction: str
    else:
        direction: EnumProperty(
            name="Direction",
            items=[("UP", "Up", "Earlier"), ("DOWN", "Down", "Later: overrides what stands before it")],
        )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There are two."""
        return len(archive_state.listed(context)) > 1

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Change places with its neighbour."""
        paths = archive_state.paths(context)
        active = min(getattr(preferences.of(context), ACTIVE), len(paths) - 1)
        other = active + (1 if self.direction == "DOWN" else -1)
        if not 0 <= other < len(paths):
            return {"CANCELLED"}
        paths[active], paths[other] = paths[other], paths[active]
        archive_state.set_paths(context, paths)
        setattr(preferences.of(context), ACTIVE, other)
        _reread(context)
        return {"FINISHED"}


class DRAGONNEST_OT_archive_refresh(bpy.types.Operator):
    """Read what the mounted archives hold; those that did not change since the last time are not read again"""

    bl_idname = "dragonnest.archive_refresh"
    bl_label = "Read Archives"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read, and say what is missing."""
        try:
            here = archive_state.refresh(context)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for problem in here.problems.values():
            self.report({"WARNING"}, problem)
        self.report({"INFO"}, f"{len(here.catalogue.listings)} archives with {len(here.catalogue)} entries.")
        return {"FINISHED"}


def _reread(context: bpy.types.Context) -> None:
    """After a change of the list. Before anything was read it is left at that."""
    if archive_state.session().is_read:
        here = archive_state.session()
        here.refresh(archive_state.paths(context), archive_state.cache_folder())
        archive_state.show(context)


class DRAGONNEST_FH_archive(bpy.types.FileHandler):
    """Mounts archives that are dropped on a 3D viewport"""

    bl_idname = "DRAGONNEST_FH_archive"
    bl_label = "Dragon Nest archive"
    bl_import_operator = "dragonnest.archive_mount"
    bl_file_extensions = ".pak"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        """Where models can be dropped, too."""
        return bool(poll_file_object_drop(context))


CLASSES = (
    DRAGONNEST_OT_archive_mount,
    DRAGONNEST_OT_archive_mount_folders,
    DRAGONNEST_OT_archive_folder_add,
    DRAGONNEST_OT_archive_unmount,
    DRAGONNEST_OT_archive_move,
    DRAGONNEST_OT_archive_refresh,
    DRAGONNEST_FH_archive,
)
