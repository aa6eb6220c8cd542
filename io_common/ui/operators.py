# SPDX-License-Identifier: GPL-3.0-or-later
"""The classes that Blender is given for each registry entry, made from the entry alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import bpy
from bpy.props import CollectionProperty, StringProperty
from bpy_extras.io_utils import poll_file_object_drop

from ..formats import files, registry
from ..formats.errors import UserError
from . import props, report
from .exporter import ExportMixin
from .importer import ImportMixin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..formats.registry import Format
    from .command_line import Command
    from .preferences import Part


@dataclass(frozen=True)
class Wing:
    """One game: its formats and the classes Blender is given for it, in order of registration.

    `services` are what is no class: properties on Blender's own types, handlers, draw handlers. They are registered
    after the classes, in order, and taken back before them, in reverse. `commands` are its own on the command line,
    `imports` (operator, label) its own in File > Import beside those of the formats, `preferences` what it adds there.
    """

    label: str
    formats: tuple[Format, ...]
    classes: tuple[type, ...]
    services: tuple[Service, ...] = ()
    commands: tuple[Command, ...] = ()
    imports: tuple[tuple[str, str], ...] = ()
    preferences: Part | None = None


class Service(Protocol):
    """Something that is registered with Blender and is no class. Both calls may come by turns, `register` first."""

    def register(self) -> None: ...  # noqa: D102
    def unregister(self) -> None: ...  # noqa: D102


def classes(formats: tuple[Format, ...], importers: Mapping[str, type] | None = None) -> tuple[type, ...]:
    """Import operator, export operator and export handler of every format that has a place in a scene.

    `importers`: id of a format -> what its import operator is made of instead of `ImportMixin`, which it must be.
    """
    found: list[type] = []
    for entry in formats:
        if entry.build is not None:
            found.append(_import_operator(entry, formats, (importers or {}).get(entry.id, ImportMixin)))
        if entry.extract is not None:
            found += [_export_operator(entry), _export_handler(entry)]
    return tuple(found)


def _filter(entry: Format) -> str:
    return ";".join(f"*{extension}" for extension in entry.extensions)


def _short(entry: Format) -> str:
    """What fits on the button of the file dialog."""
    return entry.extensions[0].removeprefix(".").upper()


def _import_operator(entry: Format, formats: tuple[Format, ...], mixin: type) -> type:
    properties = {
        **props.annotations(entry.import_options),
        "filter_glob": StringProperty(default=_filter(entry), options={"HIDDEN"}),
    }
    body = {
        "__doc__": f"Import a {entry.label}",
        "__module__": __name__,
        "__annotations__": properties,
        "bl_idname": f"import_scene.{entry.id}",
        "bl_label": f"Import {_short(entry)}",
        "filename_ext": entry.extensions[0],
        "entry": entry,
        "formats": formats,
    }
    return type(f"IMPORT_SCENE_OT_{entry.id}", (mixin, bpy.types.Operator), body)


def _export_operator(entry: Format) -> type:
    properties = {
        **props.annotations(entry.export_options),
        "filter_glob": StringProperty(default=_filter(entry), options={"HIDDEN"}),
    }
    body = {
        "__doc__": f"Export a {entry.label}",
        "__module__": __name__,
        "__annotations__": properties,
        "bl_idname": f"export_scene.{entry.id}",
        "bl_label": f"Export {_short(entry)}",
        "filename_ext": entry.extensions[0],
        "entry": entry,
    }
    return type(f"EXPORT_SCENE_OT_{entry.id}", (ExportMixin, bpy.types.Operator), body)


def _export_handler(entry: Format) -> type:
    """Lets a collection be set up to export itself; dropping is the business of the one drop handler."""
    wing, _, name = entry.id.partition("_")
    body: dict[str, Any] = {
        "__module__": __name__,
        "bl_idname": f"{wing.upper()}_FH_{name}",
        "bl_label": entry.label,
        "bl_export_operator": f"export_scene.{entry.id}",
        "bl_file_extensions": ";".join(entry.extensions),
        "poll_drop": classmethod(lambda _cls, _context: False),
    }
    return type(body["bl_idname"], (bpy.types.FileHandler,), body)


def drop_classes(formats: tuple[Format, ...]) -> tuple[type, ...]:
    """The one drop handler for all formats, and its operator, which goes by content."""
    operator = type(
        "IMPORT_SCENE_OT_carnivores_dragonnest_drop",
        (DropMixin, bpy.types.Operator),
        {
            "__doc__": DropMixin.__doc__,
            "__module__": __name__,
            "bl_idname": "import_scene.carnivores_dragonnest_drop",
            "bl_label": "Import Game Model",
            "formats": formats,
        },
    )
    extensions = sorted({extension for entry in formats if entry.build is not None for extension in entry.extensions})
    handler = type(
        "CARNIVORES_DRAGONNEST_FH_drop",
        (bpy.types.FileHandler,),
        {
            "__module__": __name__,
            "bl_idname": "CARNIVORES_DRAGONNEST_FH_drop",
            "bl_label": "Carnivores & Dragon Nest",
            "bl_import_operator": "import_scene.carnivores_dragonnest_drop",
            "bl_file_extensions": ";".join(extensions),
            "poll_drop": classmethod(lambda _cls, context: poll_file_object_drop(context)),
        },
    )
    return operator, handler


class DropMixin:
    """Import dropped game files, each as what its content says it is"""

    # Without UNDO and REGISTER of its own, so that the import it calls is the action that can be undone and adjusted.
    bl_options = {"INTERNAL"}

    if TYPE_CHECKING:
        formats: tuple[Format, ...]
        directory: str
        files: Any
        report: Any
    else:
        directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
        files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Import at once."""
        return self.execute(context)

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Sort the files by format and hand each lot to the operator of its format."""
        folder = Path(bpy.path.abspath(self.directory))
        lots, failures = sort_by_format(
            [folder / entry.name for entry in self.files if entry.name],
            self.formats,
        )
        imported = False
        for identifier, names in lots.items():
            operator = getattr(bpy.ops.import_scene, identifier)
            chosen = [{"name": name} for name in names]
            try:
                with report.spoken_by(cast("bpy.types.Operator", self)):
                    result = operator("EXEC_DEFAULT", True, directory=str(folder), files=chosen)
            except RuntimeError as error:  # its report; Blender turns reported errors into this
                failures.append(str(error).removeprefix("Error: ").strip())
                continue
            imported = imported or "FINISHED" in result
        for failure in failures:
            self.report({"WARNING" if imported else "ERROR"}, failure)
        return {"FINISHED"} if imported else {"CANCELLED"}


def sort_by_format(paths: Sequence[Path], formats: Sequence[Format]) -> tuple[dict[str, list[str]], list[str]]:
    """Format id -> file names, and a sentence for each file that is of none.

    The formats are in the order of `formats`, where models come before the animations that go onto them. A file that
    another one brings along is not named by itself.
    """
    found: dict[Path, Format] = {}
    brought: dict[Path, list[Path]] = {}
    failures: list[str] = []
    for path in paths:
        try:
            data = files.read_file(path)
            entry = registry.identify(data, path, formats)
        except UserError as error:
            failures.append(str(error.at(path)))
            continue
        if entry.build is None:
            failures.append(f"{path.name}: a {entry.label} has nothing to show in a scene.")
            continue
        found[path] = entry
        for other in _brought(entry, data, path):
            brought.setdefault(other, []).append(path)
    for path in list(found):
        # Of two that bring each other, one is left.
        if any(other in found and other != path for other in brought.get(path, ())):
            del found[path]
    lots = {entry.id: [path.name for path, its in found.items() if its is entry] for entry in formats}
    return {identifier: names for identifier, names in lots.items() if names}, failures


def _brought(entry: Format, data: bytes, path: Path) -> list[Path]:
    """What `path` brings along; nothing if it cannot be read, which its import will say."""
    if entry.brings is None:
        return []
    try:
        return [path.parent / other.name for other in entry.brings(entry.read(data), path) if _same(other, path)]
    except UserError:
        return []


def _same(one: Path, other: Path) -> bool:
    """Whether two files lie in one folder."""
    return one.absolute().parent == other.absolute().parent
