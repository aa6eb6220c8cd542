# SPDX-License-Identifier: GPL-3.0-or-later
"""Importing out of mounted archives: what is chosen in the list, or a character by its name in the actor table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...io_common.formats.digest import Digest
from ...io_common.formats.errors import UserError
from ...io_common.formats.options import describe
from ...io_common.scene import transfer
from ...io_common.ui import preferences, props, report
from ...io_common.ui.importer import ImportMixin
from ..formats import mount_actors, mount_place, pak_names
from ..formats.library import Library
from ..formats.mount_place import ArchivePlace
from ..formats.mounts import Mark
from ..scene import archive_import
from ..scene.archive_import import ImportArchiveOptions, Request
from . import archive_state, table_operators
from .archive_steps import StepsMixin
from .clip_chooser import ClipChooser
from .entries import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...io_common.scene.progress import Progress
    from ..formats.actors import Actor
    from ..formats.mount_session import Session

_MOST_FOUND = 200  # of a search field


def _search_animations(_self: Any, _context: bpy.types.Context, typed: str) -> list[str]:
    here = archive_state.session().catalogue
    words = typed.lower().replace("/", pak_names.SEPARATOR).split()
    rows = (
        row for row in here.with_suffix(*archive_import.ANIMATIONS) if all(word in here.keys[row] for word in words)
    )
    return [here.name(row) for row, _number in zip(rows, range(_MOST_FOUND), strict=False)]


def _options(**defaults: Any) -> dict[str, Any]:
    """The properties of the options, with a search of the archives where one of them names an entry."""
    found = props.annotations(ImportArchiveOptions)
    info = describe(ImportArchiveOptions)["hierarchy_from"][0]
    found["hierarchy_from"] = StringProperty(
        name=info.label,
        description=info.help,
        search=_search_animations,
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE"},  # the next model has another one
    )
    if "use_animation" in defaults:
        about = describe(ImportArchiveOptions)["use_animation"][0]
        found["use_animation"] = BoolProperty(
            name=about.label, description=about.help, default=defaults["use_animation"]
        )
    return found


class _ImportMixin(StepsMixin):
    """Shared by the operators that import: options, progress, what is said at the end."""

    if TYPE_CHECKING:
        names: str
        layout: Any
        _request: Request

    def wanted(self, context: bpy.types.Context, place: ArchivePlace) -> tuple[list[int], ImportArchiveOptions]:
        """The rows to import, and how. Raises `UserError`."""
        raise NotImplementedError

    def chosen_options(self, context: bpy.types.Context) -> ImportArchiveOptions:
        """The options, as they are set."""
        found: ImportArchiveOptions = props.collect(
            self, ImportArchiveOptions, search_folders=preferences.search_folders(context)
        )
        return found

    def steps(self, context: bpy.types.Context, shown: Progress) -> Iterator[tuple[float, str]]:
        """Import entry by entry."""
        with archive_state.place(context) as place:
            rows, options = self.wanted(context, place)
            self._request = Request(place, rows, FORMATS, options, Digest())
            self._request.failures += archive_state.session().problems.values()
            yield from self._request.steps(context, shown)

    def finish(self, context: bpy.types.Context) -> set[str]:
        """Select what was made, and say what was not."""
        request = getattr(self, "_request", None)
        operator: Any = self
        if request is None or not (request.objects or request.texts):
            failures = request.failures if request is not None else []
            self.report({"ERROR"}, report.nothing_imported(failures) if failures else "Nothing was imported.")
            return {"CANCELLED"}
        if request.objects:
            transfer.select_only(context, request.objects)
            preferences.show_textures(context)
        for text in request.texts:
            table_operators.show(context, text)
        rows = request.rows
        first = pak_names.base_name(request.place.catalogue.name(rows[0]))
        what = first if len(rows) == 1 else f"{len(rows)} entries"
        texts = ", ".join(f'"{text.name}"' for text in request.texts[:3]) + ", ..." * (len(request.texts) > 3)
        where = f" Tables are CSV in Texts now: {texts}." if request.texts else ""
        report.tell(operator, request.digest, request.failures, f"Imported {what}.{where}")
        return {"FINISHED"}


class ArchiveImport(_ImportMixin):
    """Import models and animations straight out of the archives, with materials, textures and hierarchy"""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Archives are mounted."""
        return len(archive_state.listed(context)) > 0

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Import what is chosen in the list, so that the window lives."""
        self.names = ""
        return self._go(context, modal=True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Import at once: by `names`, or what is chosen in the list."""
        return self._go(context, modal=False)

    def _go(self, context: bpy.types.Context, *, modal: bool) -> set[str]:
        if not self.names:
            try:
                self.names = "\n".join(_chosen_names(archive_state.require(context)))
            except UserError as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
        return self.run(context, modal=modal and "\n" in self.names)

    def wanted(self, context: bpy.types.Context, place: ArchivePlace) -> tuple[list[int], ImportArchiveOptions]:
        """By their names, so that the import can be repeated with other options."""
        rows = [mount_place.find(place.catalogue, name) for name in self.names.split("\n") if name]
        return rows, self.chosen_options(context)

    def draw(self, _context: bpy.types.Context) -> None:
        """The options, in the panel for adjusting the last action."""
        props.draw(self.layout, self, ImportArchiveOptions)


def _chosen_names(here: Session) -> list[str]:
    rows = here.selected()
    if not rows:
        raise UserError("no entry is chosen in the list of archives")
    entries = [here.catalogue.entry(row) for row in rows]
    for entry in entries:
        if here.catalogue.find(entry.name) is None:
            raise UserError(f'the entry "{entry.name[:120]}" is deleted and cannot be imported', path=entry.archive)
    hidden = [entry for entry in entries if entry.mark != Mark.LIVE]
    if hidden:
        raise UserError(
            f'the entry "{hidden[0].name[:120]}" is overridden by a later one; choose that, or extract this one',
            path=hidden[0].archive,
        )
    return [entry.name for entry in entries]


def table(context: bpy.types.Context) -> list[Actor]:
    """The characters that the mounted archives name, read once. Raises `UserError` without a table of them."""
    with archive_state.place(context) as place:
        here = archive_state.session()
        if here.actors is None:
            here.actors = mount_actors.read(place)
        return here.actors


def _label(actor: Actor) -> str:
    return f"{actor.name} ({actor.id})"


class ArchiveActor(_ImportMixin):
    """Import a character by its name: the actor table says which model and animations it has"""

    if TYPE_CHECKING:
        actor: str

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Archives are mounted."""
        return len(archive_state.listed(context)) > 0

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Read the table, then ask for the character."""
        try:
            table(context)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        dialog: Any = context.window_manager.invoke_props_dialog
        result: set[str] = dialog(self, width=420)
        return result

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Import it at once."""
        return self.run(context, modal=False)

    def wanted(self, context: bpy.types.Context, place: ArchivePlace) -> tuple[list[int], ImportArchiveOptions]:
        """The model of the character; its animations say what hangs on what, unless the user chose others."""
        wanted = self.actor.strip()
        if not wanted:
            raise UserError("no character was chosen")
        found = [actor for actor in table(context) if wanted.lower() in {_label(actor).lower(), actor.name.lower()}]
        if not found:
            raise UserError(f'the table has no character "{wanted[:80]}" that has a model')
        actor, options = found[0], self.chosen_options(context)
        ani = place.catalogue.by_base_name(actor.ani) if actor.ani and not options.hierarchy_from else None
        if ani is not None:
            options = replace(options, hierarchy_from=place.catalogue.name(ani))
        return [mount_place.find(place.catalogue, actor.skin)], options

    def draw(self, _context: bpy.types.Context) -> None:
        """The character, and the options."""
        self.layout.prop(self, "actor", icon="VIEWZOOM")
        props.draw(self.layout, self, ImportArchiveOptions, folded=True)


def search_actors(_self: Any, _context: bpy.types.Context, typed: str) -> list[str]:
    """By name, number and model; a label that was chosen is found again, too."""
    known = archive_state.session().actors or []
    words = typed.lower().split()
    found = (actor for actor in known if all(word in f"{_label(actor)} {actor.skin}".lower() for word in words))
    return [_label(actor) for actor, _number in zip(found, range(_MOST_FOUND), strict=False)]


def textures(context: bpy.types.Context) -> Library:
    """Where an import from the disk looks for textures: around the model as ever, then in the mounted archives.

    Nothing is read of the archives until a texture is missing.
    """
    if preferences.ROOT_PACKAGE not in context.preferences.addons or not len(archive_state.listed(context)):
        return Library()

    def resolve(name: str) -> bytes | None:
        try:
            with archive_state.place(context) as place:
                return place.texture(name)
        except UserError:
            return None

    return Library(resolvers=[resolve])


class ModelImport(ImportMixin):
    """The import of a model from the disk, whose textures may lie in archives."""

    def code_options(self, context: bpy.types.Context) -> dict[str, Any]:
        """With the archives behind the folders."""
        return super().code_options(context) | {"library": textures(context)}


IMPORTERS = {
    "dragonnest_msh": ModelImport,
    "dragonnest_skn": ModelImport,
    "dragonnest_ani": ClipChooser,
    "dragonnest_anim": ClipChooser,
}


def _operator(name: str, mixin: type, idname: str, label: str, properties: dict[str, Any]) -> type:
    body = {
        "__doc__": mixin.__doc__,
        "__module__": __name__,
        "__annotations__": properties,
        "bl_idname": idname,
        "bl_label": label,
        "bl_options": {"REGISTER", "UNDO"},
    }
    return type(name, (mixin, bpy.types.Operator), body)


CLASSES = (
    _operator(
        "DRAGONNEST_OT_archive_import",
        ArchiveImport,
        "dragonnest.archive_import",
        "Import from Archives",
        {
            **_options(),
            "names": StringProperty(
                name="Entries",
                description="Names of the entries, one a line; empty: those chosen in the list",
                options={"HIDDEN", "SKIP_SAVE"},
            ),
        },
    ),
    _operator(
        "DRAGONNEST_OT_archive_actor",
        ArchiveActor,
        "dragonnest.archive_actor",
        "Import Actor",
        {
            **_options(use_animation=True),
            "actor": StringProperty(
                name="Actor",
                description="The character as the actor table calls it",
                search=search_actors,
                search_options={"SORT", "SUGGESTION"},
                options={"SKIP_SAVE"},
            ),
        },
    ),
)
