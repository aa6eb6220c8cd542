# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of mounted archives: their paths in the preferences, all else only while Blender runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty

from ...io_common.formats.errors import UserError
from ...io_common.ui import preferences
from ..formats import mounts
from ..formats.mount_place import ArchivePlace
from ..formats.mount_session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = "dragonnest_archives"  # of the properties of the window manager, and of the list in the preferences
FOLDERS = "dragonnest_folders"  # of the list of game folders in the preferences
_CACHE = "archives"  # below the extension's own folder


class DRAGONNEST_PG_archive(bpy.types.PropertyGroup):
    """A mounted archive."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(name="Archive", subtype="FILE_PATH")


class PreferencesPart:
    """What the preferences of the extension have of Dragon Nest: game folders, and the archives that are mounted."""

    classes = (DRAGONNEST_PG_archive,)

    @staticmethod
    def annotations() -> dict[str, Any]:
        """The properties."""
        return {
            FOLDERS: CollectionProperty(type=preferences.CARNIVORES_DRAGONNEST_PG_folder),
            NAME: CollectionProperty(type=DRAGONNEST_PG_archive),
            f"{NAME}_active": IntProperty(name="Active Archive", description="The archive that the list has chosen"),
        }

    @staticmethod
    def draw(layout: bpy.types.UILayout, source: Any) -> None:
        """The list of game folders."""
        text = "Dragon Nest game folders, whose archives are mounted"
        preferences.draw_folders(layout, source, FOLDERS, text)
        layout.operator("dragonnest.archive_mount_folders", icon="FILE_REFRESH")


class Archives:
    """The one session of a running Blender, and the properties by which the sidebar shows it."""

    def __init__(self) -> None:
        """Nothing is mounted, nothing is read."""
        self.session = Session()

    def register(self) -> None:
        """Add the properties."""
        setattr(bpy.types.WindowManager, NAME, PointerProperty(type=DRAGONNEST_PG_archives))
        bpy.app.handlers.load_post.append(_after_loading)

    def unregister(self) -> None:
        """Remove them, and let go of what was read."""
        bpy.app.handlers.load_post.remove(_after_loading)
        delattr(bpy.types.WindowManager, NAME)
        self.session = Session()


ARCHIVES = Archives()


def session() -> Session:
    """The session of this Blender."""
    return ARCHIVES.session


def listed(context: bpy.types.Context) -> Any:
    """The collection of mounted archives in the preferences."""
    return getattr(preferences.of(context), NAME)


def paths(context: bpy.types.Context) -> list[Path]:
    """The mounted archives in order, the last one wins."""
    return [Path(entry.path) for entry in listed(context)]


def game_folders(context: bpy.types.Context) -> list[Path]:
    """The game folders of the preferences."""
    return [Path(bpy.path.abspath(entry.path)) for entry in getattr(preferences.of(context), FOLDERS) if entry.path]


def cache_folder() -> Path | None:
    """Where listings of archives are kept, in the user's folder of the extension; None where there can be none."""
    try:
        return Path(bpy.utils.extension_path_user(preferences.ROOT_PACKAGE, path=_CACHE, create=True))
    except (OSError, ValueError):  # read-only; not installed as an extension
        return None


def set_paths(context: bpy.types.Context, found: Sequence[Path]) -> None:
    """Mount exactly these archives, in this order; the preferences are to be saved then."""
    entries = listed(context)
    entries.clear()
    for path in found:
        entries.add().path = str(path)
    context.preferences.is_dirty = True


def refresh(context: bpy.types.Context) -> Session:
    """The session with all archives as they are now; those of the game folders if none is mounted yet.

    Raises `UserError` where a game folder cannot be listed.
    """
    for _step in reading(context):
        pass
    return session()


def reading(context: bpy.types.Context) -> Iterator[tuple[float, str]]:
    """As `refresh`, archive by archive; left off before the end, nothing is changed."""
    wanted = paths(context)
    found = wanted or mounts.archives_in(game_folders(context))
    yield from session().reading(found, cache_folder())
    if found != wanted:
        set_paths(context, found)
    show(context)


def require(context: bpy.types.Context) -> Session:
    """As `refresh`. Raises `UserError` where no archive is mounted that can be read."""
    here = refresh(context)
    if not here.catalogue.listings:
        raise UserError(next(iter(here.problems.values()), "no archive is mounted").rstrip("."))
    return here


def place(context: bpy.types.Context) -> ArchivePlace:
    """A place that reads out of the mounted archives, to be used by `with`. Raises `UserError` as `require`."""
    return ArchivePlace(require(context).catalogue)


def show(context: bpy.types.Context) -> None:
    """Let the list have as many rows as there are matches, and redraw what shows it."""
    rows = getattr(context.window_manager, NAME).rows
    wanted = len(session().matches)
    while len(rows) > wanted:
        rows.remove(len(rows) - 1)
    while len(rows) < wanted:
        number = len(rows)
        rows.add().number = number
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PREFERENCES"}:
                area.tag_redraw()


@persistent  # type: ignore[untyped-decorator]
def _after_loading(*_arguments: Any) -> None:
    """The window manager may be another one now: its rows are made to fit. Nothing is read."""
    show(bpy.context)


def _ticked(row: Any) -> bool:
    return session().is_ticked(row.number)


def _tick(row: Any, value: bool) -> None:  # noqa: FBT001
    session().tick(row.number, use=value)


class DRAGONNEST_PG_archive_row(bpy.types.PropertyGroup):
    """A row of the list of entries: nothing but its number, as the session knows what stands there."""

    if TYPE_CHECKING:
        number: int
        use: bool
    else:
        number: IntProperty()
        use: BoolProperty(
            name="Select",
            description="Import and extract the entries that are ticked, instead of the highlighted one",
            get=_ticked,
            set=_tick,
        )


def _searched(context: bpy.types.Context, **change: Any) -> None:
    here = session()
    try:
        if not here.is_read:
            refresh(context)
    except UserError:
        return  # an operator says it
    here.search(**change)
    show(context)


# Blender evaluates annotations in a scope of its own: their functions must have names here.


def _query(_self: Any) -> str:
    return session().query


def _only_live(_self: Any) -> bool:
    return session().only_live


def _active(_self: Any) -> int:
    return session().active


def _set_query(_self: Any, value: str) -> None:
    _searched(bpy.context, query=value)


def _set_only_live(_self: Any, value: bool) -> None:  # noqa: FBT001
    _searched(bpy.context, only_live=value)


def _set_active(_self: Any, value: int) -> None:
    session().active = value


class DRAGONNEST_PG_archives(bpy.types.PropertyGroup):
    """What the sidebar shows of the session. Nothing of it is saved: the session holds it."""

    if TYPE_CHECKING:
        query: str
        only_live: bool
        active: int
        rows: Any
    else:
        query: StringProperty(
            name="Search",
            description="Words that names must hold, in any order; * and ? stand for any characters. "
            'Examples: "archer face", "*.skn", "\\resource\\char\\*.ani"',
            options={"TEXTEDIT_UPDATE", "SKIP_SAVE"},
            get=_query,
            set=_set_query,
        )
        only_live: BoolProperty(
            name="Only Live",
            description="Leave out what the game does not see: deleted entries, and those that a later one overrides",
            get=_only_live,
            set=_set_only_live,
        )
        active: IntProperty(name="Active Entry", get=_active, set=_set_active)
        rows: CollectionProperty(type=DRAGONNEST_PG_archive_row)


CLASSES = (DRAGONNEST_PG_archive_row, DRAGONNEST_PG_archives)
