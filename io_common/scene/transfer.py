# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of a file into the scene and back, the same for operators and command line."""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import bpy

from ..formats import files, places, registry
from ..formats.errors import ExportError, UserError
from ..formats.issues import Issue, Severity
from .progress import Progress
from .rollback import rollback
from .selection import Group, Scope, armature_of, chosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.digest import Digest
    from ..formats.registry import Format

REPORT = "Carnivores & Dragon Nest Report"
# Custom property of meshes and armatures: digests of the files they came from.
SOURCE = "carnivores_dragonnest_source"
_MOST_SOURCES = 256
_READ = 0.3  # how much of an import reading and decoding are, for the progress shown


def load(
    entry: Format,
    path: Path,
    options: Any,
    digest: Digest,
    formats: Sequence[Format],
) -> tuple[bytes, Any]:
    """Read, and check, `path` and the files that belong to it: bytes and model; no data-block is made.

    They come from the place that `options` name, if they name one, else from the disk.
    """
    data = places.of(options).read(path)
    try:
        registry.require(entry, data, path, formats)
        model = entry.read(data)
        if entry.companions is not None:
            model = entry.companions(model, path, options, digest)
    except UserError as error:
        raise error.at(path) from error
    return data, model


@dataclass(frozen=True)
class Job:
    """What the imports of one call share: `options` of the user, `digest` of warnings, all `formats`, the progress."""

    options: Any
    digest: Digest
    formats: Sequence[Format]
    shown: Progress = field(default_factory=Progress)


def import_file(context: bpy.types.Context, entry: Format, path: Path, job: Job) -> list[bpy.types.Object]:
    """Import one file; the objects made, root first. When anything is raised the scene is as it was."""
    if entry.build is None:
        raise UserError(f"a {entry.label} has nothing to show in a scene", path=path)
    data, model = load(entry, path, job.options, job.digest, job.formats)
    guard = entry.guard(context) if entry.guard is not None else contextlib.nullcontext()
    with rollback(context), guard:
        job.shown.update(_READ)
        try:
            _require_room(context)
            made = entry.build(context, model, path, job.options, job.digest)
        except UserError as error:
            raise error.at(path) from error
        digest = fingerprint(data)
        for obj in made:
            if obj.data is not None:
                remember(obj.data, digest)
        job.shown.update(1.0)
    return made


def _require_room(context: bpy.types.Context) -> None:
    """Refuse a collection that takes no new objects: one of another .blend, or an override of one."""
    collection = context.collection
    if collection.library is not None or collection.override_library is not None:
        raise UserError(
            f'the active collection "{collection.name}" belongs to another .blend file and takes no new objects; '
            "choose another one in the Outliner"
        )


def fingerprint(data: bytes) -> str:
    """A digest of a whole file, to tell whether an export is the file that was imported."""
    return f"{len(data):x}-{zlib.crc32(data):08x}"


def remember(block: bpy.types.ID, digest: str) -> None:
    """Note on a data-block that this file came to it; an armature may take many."""
    known = [entry for entry in str(block.get(SOURCE, "")).split() if entry != digest]
    block[SOURCE] = " ".join([*known, digest][-_MOST_SOURCES:])


def is_an_imported_file(group: Sequence[bpy.types.Object], data: bytes) -> bool:
    """Whether `data` is, to the byte, a file that one of these objects came from."""
    digest = fingerprint(data)
    return any(obj.data is not None and digest in str(obj.data.get(SOURCE, "")).split() for obj in group)


def select_only(context: bpy.types.Context, objects: Sequence[bpy.types.Object]) -> None:
    """Select `objects` and nothing else, the first one active, as far as the view layer shows them."""
    # From 5.2 the layer learns of new objects only here.
    context.view_layer.update()
    wanted = set(objects)
    for obj in context.view_layer.objects:
        obj.select_set(obj in wanted)
    present = [obj for obj in objects if obj.name in context.view_layer.objects]
    if present:
        context.view_layer.objects.active = present[0]


class ExportChoices(Scope, Protocol):
    """What the options of every format that can be exported have, beside its own.

    `game`: handed to the format's check; a format without games has an empty one.
    """

    @property
    def use_join(self) -> bool: ...  # noqa: D102
    @property
    def use_check(self) -> bool: ...  # noqa: D102
    @property
    def game(self) -> str: ...  # noqa: D102


@dataclass
class Export:
    """What an export would write: `bundle` path -> bytes, and the `issues` found in each model, with its objects.

    `replaced`: the files that were there with other bytes, beside the one that was named.
    """

    bundle: dict[Path, bytes] = field(default_factory=dict)
    issues: list[tuple[str, Issue]] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)

    @property
    def errors(self) -> list[tuple[str, Issue]]:
        """The issues that stop an export."""
        return [entry for entry in self.issues if entry[1].severity is Severity.ERROR]


def prepare(
    context: bpy.types.Context,
    entry: Format,
    path: Path,
    options: ExportChoices,
    digest: Digest,
) -> Export:
    """Everything of an export but the writing. One file per group of objects.

    One group goes to `path`; several go to its folder, see `_targets`.
    """
    if entry.extract is None:
        raise ExportError(f"a {entry.label} cannot be made from a scene", path=path)
    groups = (entry.gather or _gather)(context, options)
    targets = [path] if len(groups) == 1 else _targets(path, [group.name for group in groups])
    result = Export()
    for target, group in zip(targets, groups, strict=True):
        try:
            model = entry.extract(context, group.objects, options, digest, target)
            data = entry.write(model)
            untouched = is_an_imported_file(group.objects, data)
            for issue in entry.check(model, options.game):
                # What came out of a file may go back into it, whatever a game thinks of it.
                known = replace(issue, severity=Severity.WARNING) if untouched else issue
                result.issues.append((group.name, known))
            result.bundle[target] = data
            if entry.finish is not None:
                _add_companions(result.bundle, entry.finish(model, target))
        except UserError as error:
            raise error.at(target) from error
    return result


def _gather(context: bpy.types.Context, options: ExportChoices) -> list[Group]:
    """Every object with a surface by itself, or all of them in one with `options.use_join`."""
    objects = chosen(context, options)
    parts = [objects] if options.use_join else [[obj] for obj in objects]
    return [Group(part[0].name, part) for part in parts]


def _add_companions(bundle: dict[Path, bytes], files_beside: dict[Path, bytes]) -> None:
    for path, data in files_beside.items():
        if bundle.setdefault(path, data) != data:
            raise ExportError(f'two of the models would write different files named "{path.name}"')


def export(
    context: bpy.types.Context,
    entry: Format,
    path: Path,
    options: ExportChoices,
    digest: Digest,
    *,
    overwrite: bool = True,
) -> Export:
    """Prepare, stop at what the game could not load, then write all files in one go.

    Without `overwrite` a file that would change stops it too.
    """
    result = checked(context, entry, path, options, digest)
    if not overwrite:
        files.refuse_changes(result.bundle)
    result.replaced = [changed for changed in files.changes(result.bundle) if changed != path]
    files.save_all(result.bundle)
    return result


def checked(context: bpy.types.Context, entry: Format, path: Path, options: ExportChoices, digest: Digest) -> Export:
    """Prepare, and stop at what the game could not load; nothing is written. `digest` gets the other issues."""
    result = prepare(context, entry, path, options, digest)
    if result.errors and options.use_check:
        name, issue = result.errors[0]
        more = len(result.errors) - 1
        rest = f" (and {more} more {'error' if more == 1 else 'errors'})" if more else ""
        advice = (
            "nothing was written; the sidebar's check shows where, "
            'and without "Stop at Errors" it is written all the same'
        )
        raise ExportError(f'"{name}": {issue.message}{rest}; {advice}', path=path)
    for name, issue in result.issues:
        digest.add(issue.message, subject=name)
    return result


def suggested_name(context: bpy.types.Context, entry: Format, options: ExportChoices) -> str:
    """What a file is called in the dialog: as the model of the active object, else as the first.

    Raises `ExportError` where there is nothing to export.
    """
    groups = (entry.gather or _gather)(context, options)
    active = context.view_layer.objects.active or groups[0].objects[0]
    found = next((group for group in groups if active in [*group.objects, *map(armature_of, group.objects)]), groups[0])
    return _stems([group.name for group in groups])[groups.index(found)]


def _targets(path: Path, names: list[str]) -> list[Path]:
    """A file per model in the folder of `path`.

    They have the names of the models, by which others know them in the game, whatever that of `path` is.
    """
    return [path.parent / f"{stem}{path.suffix}" for stem in _stems(names)]


def _stems(names: list[str]) -> list[str]:
    """A file name per model, free of what file systems refuse and unique without regard to case."""
    used: set[str] = set()
    stems = [""] * len(names)
    # Names without a number go first: "Tree" keeps its name, whatever comes before it in the scene.
    for index, name in sorted(enumerate(names), key=lambda entry: (_numbered(entry[1]), entry[0])):
        stem = name.rpartition(".")[0]
        plain = files.safe_stem(stem if _numbered(name) and stem.lower() not in used else name)
        unique, count = plain, 1
        while unique.lower() in used:
            count += 1
            unique = f"{plain}_{count}"
        used.add(unique.lower())
        stems[index] = unique
    return stems


def _numbered(name: str) -> bool:
    stem, _, number = name.rpartition(".")
    return bool(stem) and number.isdigit()


def write_report(title: str, lines: Sequence[str]) -> None:
    """Put the full list of warnings into a Text data-block, replacing the last one."""
    text = bpy.data.texts.get(REPORT) or bpy.data.texts.new(REPORT)
    text.clear()
    text.write("\n".join([title, "", *lines, ""]))
