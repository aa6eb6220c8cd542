# SPDX-License-Identifier: GPL-3.0-or-later
"""Models and animations into the scene straight out of mounted archives, with everything that they need."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from ...io_common.formats import registry
from ...io_common.formats.errors import Cancelled, UserError
from ...io_common.formats.options import option
from ...io_common.scene import transfer
from ..formats import mount_place, root_motion
from . import kept, table_block
from .options import ROOT_MOTIONS, ImportMshOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import bpy

    from ...io_common.formats.digest import Digest
    from ...io_common.formats.registry import Format
    from ...io_common.scene.progress import Progress
    from ..formats.mount_place import ArchivePlace

MODELS = (".msh", ".skn")
ANIMATIONS = (".ani",)
TABLES = (".dnt", ".ext")
_KINDS = {".msh": kept.MSH_ENTRY, ".skn": kept.SKN_ENTRY, ".ani": kept.ANI_ENTRY}


@dataclass(frozen=True)
class ImportArchiveOptions(ImportMshOptions):
    """Options of an import out of archives: those of a model, and what is needed of those of an animation."""

    hierarchy_from: str = option(
        "",
        "Hierarchy From",
        "The ANI in the archives that says which bone hangs on which; empty: one that is imported too, or else the one "
        "named as the model",
        group="Bones",
    )
    use_skin: bool = option(
        True, "Materials", "Take the materials from the SKN of the same name, with their textures", group="Materials"
    )
    use_textures: bool = option(
        True,
        "Find Textures",
        "Look for the textures that the materials name: in the folders of the preferences, then in the archives",
        group="Materials",
    )
    use_pack: bool = field(default=True)
    use_animation: bool = option(
        False, "Animations Too", "Import the clips of the ANI that the hierarchy comes from", group="Animations"
    )
    clips: str = option(
        "",
        "Clips",
        'Names of the clips to import, separated by ";"; * and ? stand for any characters. Empty: all of them',
        group="Animations",
    )
    root_motion: str = option(
        root_motion.STORED,
        "Root Motion",
        "Where the way goes that the root bone walks over the ground",
        choices=ROOT_MOTIONS,
        group="Animations",
    )
    use_fps: bool = option(
        True,
        "Set 60 fps",
        "Set the frame rate of the game, and the frame range of the first clip, where nothing in the scene is "
        "animated yet",
        group="Animations",
    )


@dataclass
class Request:
    """What is to be imported of the catalogue of `place`: `rows`; `failures`: what went wrong with some of them.

    Tables become `texts`, all else `objects`.
    """

    place: ArchivePlace
    rows: list[int]
    formats: Sequence[Format]
    options: ImportArchiveOptions
    digest: Digest
    objects: list[bpy.types.Object] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    texts: list[bpy.types.Text] = field(default_factory=list)

    def steps(self, context: bpy.types.Context, shown: Progress) -> Iterator[tuple[float, str]]:
        """Import one after the other; the part that is done, and what comes next, are told before each.

        One that cannot be imported is noted and does not stop the others.
        """
        rows = _ordered(self.place, self.rows)
        hierarchy = self._hierarchy(rows)
        ready = replace(self.options, hierarchy_from=hierarchy, library=self.place.library(), place=self.place)
        for number, row in enumerate(rows):
            yield number / len(rows), self.place.path_of(row).name
            try:
                if self.place.catalogue.keys[row].endswith(TABLES):
                    self.texts.append(self._table(row))
                    continue
                with shown.part(number / len(rows), (number + 1) / len(rows)):
                    self.objects += self._one(context, row, ready, shown)
            except Cancelled:
                raise
            except UserError as error:
                self.failures.append(str(error.at(self.place.path_of(row))))

    def _table(self, row: int) -> bpy.types.Text:
        block, _rows = table_block.from_bytes(self.place.path_of(row), self.place.content(row))
        entry = self.place.catalogue.entry(row)
        table_block.remember_entry(block, entry.archive, entry.name)
        return block

    def _hierarchy(self, rows: list[int]) -> str:
        """The path of the ANI that was chosen, or else of the first that is to be imported; empty without one."""
        if self.options.hierarchy_from:
            return str(self.place.path_of(mount_place.find(self.place.catalogue, self.options.hierarchy_from)))
        with_bones = [row for row in rows if self.place.catalogue.keys[row].endswith(ANIMATIONS)]
        models = [row for row in rows if self.place.catalogue.keys[row].endswith(MODELS)]
        return str(self.place.path_of(with_bones[0])) if models and len(with_bones) == 1 else ""

    def _one(
        self, context: bpy.types.Context, row: int, ready: ImportArchiveOptions, shown: Progress
    ) -> list[bpy.types.Object]:
        made, taken = self._file(context, row, ready, shown)
        animations = [other for other in taken if self.place.catalogue.keys[other].endswith(ANIMATIONS)]
        if self.options.use_animation and row not in animations and animations and animations[0] not in self.rows:
            transfer.select_only(context, made)
            # The armature is among what was made already.
            self._file(context, animations[0], ready, shown)
        return made

    def _file(
        self, context: bpy.types.Context, row: int, ready: ImportArchiveOptions, shown: Progress
    ) -> tuple[list[bpy.types.Object], list[int]]:
        """Import one entry: the objects, and the entries that were read for it."""
        path, start = self.place.path_of(row), len(self.place.taken)
        entry = registry.identify(self.place.content(row), path, self.formats)
        job = transfer.Job(_options_for(entry, ready), self.digest, self.formats, shown)
        made = transfer.import_file(context, entry, path, job)
        taken = list(dict.fromkeys(self.place.taken[start:]))
        for sentence in self.place.unreadable:
            self.digest.add(sentence.rstrip("."))
        self.place.unreadable.clear()
        _remember(made, self.place, row, taken)
        return made, taken


def import_from_archives(
    context: bpy.types.Context,
    place: ArchivePlace,
    names: Sequence[str],
    job: transfer.Job,
) -> list[bpy.types.Object]:
    """Import the entries called `names` (whole names, or last parts) and what they need; the objects made.

    `job.options` are `ImportArchiveOptions`. Raises `UserError` where an entry is missing, or none could be imported;
    others that could not are in the digest.
    """
    rows = [mount_place.find(place.catalogue, name) for name in names]
    request = Request(place, rows, job.formats, job.options, job.digest)
    for fraction, _name in request.steps(context, job.shown):
        job.shown.update(fraction)
    if not request.objects:
        raise UserError(request.failures[0].rstrip(".") if request.failures else "no entry was named")
    for failure in request.failures:
        job.digest.add(failure.rstrip("."))
    return request.objects


def _ordered(place: ArchivePlace, rows: Sequence[int]) -> list[int]:
    """Each once, models before animations; materials are left out whose model is among them and brings them."""
    keys = place.catalogue.keys
    unique = list(dict.fromkeys(rows))
    there = {keys[row] for row in unique}
    needed = [row for row in unique if not (keys[row].endswith(".skn") and f"{keys[row][:-4]}.msh" in there)]
    return sorted(needed, key=lambda row: keys[row].endswith(ANIMATIONS))


def _options_for(entry: Format, options: ImportArchiveOptions) -> Any:
    """`options` as those of one format."""
    known = {item.name for item in fields(entry.import_options)}
    given = {item.name: getattr(options, item.name) for item in fields(options) if item.name in known}
    return entry.import_options(**given)


def _remember(made: Sequence[bpy.types.Object], place: ArchivePlace, row: int, taken: Sequence[int]) -> None:
    """Note on the data of the objects where they came from, so that they can be put back."""
    catalogue = place.catalogue
    archive = str(catalogue.listings[catalogue.archive[row]].path)
    names = {catalogue.keys[other][-4:]: catalogue.name(other) for other in reversed(taken)}
    own = catalogue.keys[row][-4:]
    for obj in made:
        if obj.data is None or not (own in ANIMATIONS or kept.has(obj.data, kept.HEADER)):
            continue  # an armature of a model, a collision
        kept.put(obj.data, kept.ARCHIVE, archive)
        for suffix, title in _KINDS.items():
            # The ANI that the hierarchy came from is not what the model is.
            if suffix in names and (suffix not in ANIMATIONS or own in ANIMATIONS):
                kept.put(obj.data, title, names[suffix])
