# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounting archives, taking them away, and their order."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import CollectionProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ImportHelper, poll_file_object_drop

from ...io_common.formats.errors import UserError
from ...io_common.formats.order import natural
from ...io_common.ui import preferences
from ..formats import mount_index, mounts, pak_inflate
from . import archive_state
from .archive_steps import StepsMixin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...io_common.scene.progress import Progress

ACTIVE = f"{archive_state.NAME}_active"


# What was mounted, and a sentence for each that could not be.
Mounted = tuple[list[Path], list[str]]
Mounting = Generator[tuple[float, str], None, Mounted]


def mounting(context: bpy.types.Context, found: Sequence[Path]) -> Mounting:
    """Mount archives after those that are there, and read what they hold, archive by archive.

    One that cannot be read is not in the list then; one that is mounted already keeps its place. Nothing changes before
    the end, so that it can be left off at any step.
    """
    wanted = [path.absolute() for path in found]
    before = archive_state.paths(context)
    every = [*before, *(path for path in dict.fromkeys(wanted) if path not in before)]
    here = archive_state.session()
    yield from here.reading(every, archive_state.cache_folder())
    failures = [here.problems[path] for path in wanted if path in here.problems]
    good = [path for path in wanted if path not in here.problems]
    bad = {path for path in wanted if path in here.problems and path not in before}
    archive_state.set_paths(context, [path for path in every if path not in bad])
    archive_state.refresh(context)
    return good, failures


def mounting_folders(context: bpy.types.Context) -> Mounting:
    """Mount what lies in the game folders, in order, before what was mounted by hand. Raises `UserError` for none."""
    folders = archive_state.game_folders(context)
    if not folders:
        raise UserError("no game folder is set in the preferences of the extension")
    found = [path.absolute() for path in mounts.archives_in(folders)]
    places = {folder.absolute() for folder in folders}
    # What was put behind the game's own by hand, as a patch is, stays there.
    others = [path for path in archive_state.paths(context) if path.parent not in places]
    here = archive_state.session()
    yield from here.reading([*found, *others], archive_state.cache_folder())
    archive_state.set_paths(context, [*found, *others])
    archive_state.show(context)
    if not found:
        raise UserError("there is no .pak archive in the game folders")
    good = [path for path in found if path not in here.problems]
    return good, [here.problems[path] for path in found if path in here.problems]


class MountMixin(StepsMixin):
    """Shared by the operators that mount: progress, Esc, what is said at the end."""

    after_stop = "nothing was mounted"

    if TYPE_CHECKING:
        _result: Mounted | None
        _lives: bool
    else:
        _result = None
        _lives = False

    def mounting(self, context: bpy.types.Context) -> Mounting:
        """Do it step by step; raises `UserError`."""
        raise NotImplementedError

    def steps(self, context: bpy.types.Context, _shown: Progress) -> Iterator[tuple[float, str]]:
        """Mount archive by archive."""
        self._result = yield from self.mounting(context)

    def finish(self, _context: bpy.types.Context) -> set[str]:
        """Say what was mounted; nothing was after Esc."""
        if self._result is None:
            return {"CANCELLED"}
        return tell(cast("bpy.types.Operator", self), *self._result)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """From a button: with progress and Esc."""
        self._lives = True
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Mount, at once from a script."""
        self._result = None
        return self.run(context, modal=self._lives)


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def tell(operator: bpy.types.Operator, good: Sequence[Path], failures: Sequence[str]) -> set[str]:
    """Report what was mounted; the result of the operator."""
    if good:
        here = archive_state.session()
        count = sum(len(listing) for listing in here.catalogue.listings if listing.path in good)
        what = good[0].name if len(good) == 1 else f"{len(good)} archives"
        operator.report({"INFO"}, f"Mounted {what}, {_entries(count)}.")
        for listing in here.catalogue.listings:
            if listing.encrypted and listing.path in good:
                operator.report({"WARNING"}, f"{listing.path.name}: {pak_inflate.ENCRYPTED}.")
    for failure in failures:
        operator.report({"WARNING" if good else "ERROR"}, failure)
    return {"FINISHED"} if good else {"CANCELLED"}


class ArchiveMount(MountMixin, ImportHelper):
    """Mount PAK archives: search them in the sidebar, and import straight out of them"""

    filename_ext = ".pak"

    if TYPE_CHECKING:
        filepath: str
        directory: str
        files: Any
        report: Any

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Mount at once what was dropped, else open the file dialog."""
        self._lives = True
        if self.directory and any(entry.name for entry in self.files):
            return self.execute(context)
        result: Any = ImportHelper.invoke(self, context, event)
        return result

    def mounting(self, context: bpy.types.Context) -> Mounting:
        """Every chosen file, in the natural order of their names."""
        names = sorted((entry.name for entry in self.files if entry.name), key=natural)
        folder = Path(bpy.path.abspath(self.directory or str(Path(self.filepath).parent)))
        found = [folder / name for name in names] or [Path(bpy.path.abspath(self.filepath))] * bool(self.filepath)
        if not found:
            raise UserError("no file was chosen")
        return (yield from mounting(context, found))


class ArchiveMountFolders(MountMixin):
    """Mount all archives of the game folders in the preferences, 2 before 10; the last one with a file wins"""

    def mounting(self, context: bpy.types.Context) -> Mounting:
        """List the folders, keep what was mounted by hand behind."""
        return mounting_folders(context)


class ArchiveFolderAdd(MountMixin):
    """Choose a folder of the game, remember it in the preferences, and mount its archives"""

    if TYPE_CHECKING:
        directory: str

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Open the file dialog."""
        self._lives = True
        context.window_manager.fileselect_add(cast("bpy.types.Operator", self))
        return {"RUNNING_MODAL"}

    def mounting(self, context: bpy.types.Context) -> Mounting:
        """Remember the folder, then mount it like the others."""
        folder = Path(bpy.path.abspath(self.directory))
        if not self.directory or not folder.is_dir():
            raise UserError("this is no folder", path=self.directory or "nothing")
        if folder not in archive_state.game_folders(context):
            getattr(preferences.of(context), archive_state.FOLDERS).add().path = str(folder)
            context.preferences.is_dirty = True
        return (yield from mounting_folders(context))


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


class ArchiveRefresh(StepsMixin):
    """Read what the mounted archives hold; those that did not change since the last time are not read again"""

    after_stop = "nothing was read"

    if TYPE_CHECKING:
        _stopped_early: bool

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """From a button: with progress and Esc."""
        return self.run(context, modal=True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """At once."""
        return self.run(context, modal=False)

    def steps(self, context: bpy.types.Context, _shown: Progress) -> Iterator[tuple[float, str]]:
        """Archive by archive."""
        self._stopped_early = True
        yield from archive_state.reading(context)
        self._stopped_early = False

    def finish(self, _context: bpy.types.Context) -> set[str]:
        """Say what is there, and what is missing."""
        if self._stopped_early:
            return {"CANCELLED"}
        here = archive_state.session()
        for problem in here.problems.values():
            self.report({"WARNING"}, problem)
        count = len(here.catalogue.listings)
        what = "1 archive" if count == 1 else f"{count} archives"
        self.report({"INFO"}, f"{what} with {_entries(len(here.catalogue))}.")
        return {"FINISHED"}


def _operator(mixin: type, name: str, label: str, properties: dict[str, Any] | None = None) -> type:
    body = {
        "__doc__": mixin.__doc__,
        "__module__": __name__,
        "__annotations__": properties or {},
        "bl_idname": f"dragonnest.{name}",
        "bl_label": label,
        "bl_options": {"REGISTER"},
    }
    return type(f"DRAGONNEST_OT_{name}", (mixin, bpy.types.Operator), body)


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
    _operator(
        ArchiveMount,
        "archive_mount",
        "Mount Archives",
        {
            "files": CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"}),
            "directory": StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"}),
            "filter_glob": StringProperty(default="*.pak", options={"HIDDEN"}),
        },
    ),
    _operator(ArchiveMountFolders, "archive_mount_folders", "Mount Game Folders"),
    _operator(
        ArchiveFolderAdd,
        "archive_folder_add",
        "Add Game Folder",
        {"directory": StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})},
    ),
    DRAGONNEST_OT_archive_unmount,
    DRAGONNEST_OT_archive_move,
    _operator(ArchiveRefresh, "archive_refresh", "Read Archives"),
    DRAGONNEST_FH_archive,
)
