# SPDX-License-Identifier: GPL-3.0-or-later
"""Models, animations and tables back into a patch archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ...io_common.formats.digest import Digest
from ...io_common.formats.errors import UserError
from ...io_common.scene import progress
from ...io_common.ui import props, report
from ..formats import mounts, pak_write
from ..scene import archive_export, table_block
from ..scene.archive_export import ExportArchiveOptions
from . import archive_state, table_operators
from .entries import FORMATS

if TYPE_CHECKING:
    from ..formats.mounts import Catalogue


class PatchMixin(ExportHelper):
    """Shared by the operators that write into a patch archive: which entry, which archive, mounting it last."""

    filename_ext = ".pak"

    if TYPE_CHECKING:
        filepath: str
        entry_name: str
        report: Any
        layout: Any
        check_existing: bool

    def proposed(self, context: bpy.types.Context) -> str:
        """The entry that is written to where none is named; may be empty."""
        raise NotImplementedError

    def bundle(self, context: bpy.types.Context, catalogue: Catalogue, name: str, digest: Digest) -> dict[str, bytes]:
        """Names of entries -> what they shall hold. Raises `UserError`."""
        raise NotImplementedError

    def written(self, path: Path, name: str) -> None:
        """Called when the entry called `name` is in the archive at `path`."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Propose the entry and the archive; ask for the archive."""
        if not self.entry_name:
            self.entry_name = self.proposed(context)
        if not self.filepath:
            self.filepath = str(proposed_archive(context))
        result: Any = super().invoke(context, event)
        return result

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the bytes, check them, put them into the archive, mount it last."""
        digest = Digest()
        try:
            path = self._path(context)
            name = self.entry_name.strip() or self.proposed(context)
            with progress.pointer(context) as shown:
                here = archive_state.refresh(context)
                files = self.bundle(context, here.catalogue, name, digest)
                shown.update(0.5)
                done = pak_write.put(path, files)
            others = [other for other in archive_state.paths(context) if other != path]
            archive_state.set_paths(context, [*others, path])
            here = archive_state.refresh(context)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        here.patch = path
        here.choose(name)
        archive_state.show(context)
        self.written(path, name)
        later = mounts.taken_after(path, others)
        if later:
            digest.add(
                f"the archive {later[-1].name} lies in the same folder and has a name that comes later; a game that "
                "goes by names takes that for the last one, so rename one of them"
            )
        written = [*done.added, *done.replaced]
        what = ", ".join(written) if written else "nothing, as it holds all this already"
        report.tell(cast("bpy.types.Operator", self), digest, [], f"Wrote to {path.name}: {what}.")
        return {"FINISHED"}

    def _path(self, context: bpy.types.Context) -> Path:
        if not self.filepath:
            raise UserError("no archive was named to write to")
        path = Path(bpy.path.abspath(self.filepath)).absolute()
        path = path if path.suffix.lower() == ".pak" else path.with_name(f"{path.name}.pak")
        if path in archive_state.paths(context)[:-1] and path.exists():
            raise UserError(
                "other archives are mounted behind this one and could override what is written; move it to the end of "
                "the list, or choose another",
                path=path,
            )
        return path


class ArchiveExport(PatchMixin):
    """Write the selected model or animation into a patch archive, under the name of an entry, and mount that last"""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something is selected."""
        if not context.selected_objects:
            cast("Any", cls).poll_message_set("Select the model that shall be written")
            return False
        return True

    def proposed(self, context: bpy.types.Context) -> str:
        """The entry that the model came from, or that the list has chosen."""
        return proposed(context)

    def bundle(self, context: bpy.types.Context, catalogue: Catalogue, name: str, digest: Digest) -> dict[str, bytes]:
        """The model, and what goes with it."""
        options = props.collect(self, ExportArchiveOptions)
        return archive_export.bundle(context, catalogue, name, FORMATS, options, digest)

    def draw(self, _context: bpy.types.Context) -> None:
        """The entry, and the options, in the file dialog."""
        self.layout.prop(self, "entry_name")
        props.draw(self.layout, self, ExportArchiveOptions)


class ArchiveTable(PatchMixin):
    """Write the table in the Text Editor into a patch archive, under the name of an entry, and mount that last"""

    if TYPE_CHECKING:
        text: str
        encoding: str

    def _block(self, context: bpy.types.Context) -> bpy.types.Text:
        block = table_operators.named(context, self.text)
        if block is None:
            raise UserError("show a Text that holds a table as CSV in the Text Editor, or name one")
        return block

    def proposed(self, context: bpy.types.Context) -> str:
        """The entry that the table came from, or else the one of its name in the archives, or else a new one."""
        block = table_operators.named(context, self.text)
        return "" if block is None else table_block.proposed_entry(block, archive_state.session().catalogue)

    def bundle(self, context: bpy.types.Context, catalogue: Catalogue, name: str, digest: Digest) -> dict[str, bytes]:
        """The one table."""
        return table_block.bundle(self._block(context), catalogue, name, digest, table_operators.chosen(self.encoding))

    def written(self, path: Path, name: str) -> None:
        """From now on that is where it is from."""
        table_block.remember_entry(self._block(bpy.context), path, name)

    def draw(self, _context: bpy.types.Context) -> None:
        """The entry and the encoding, in the file dialog."""
        self.layout.prop(self, "entry_name")
        self.layout.prop(self, "encoding")


def proposed_archive(context: bpy.types.Context) -> Path:
    """The archive that was written to, while it is mounted last; else a new one, which the game takes last."""
    found = archive_state.paths(context)
    if not found:
        return Path("patch.pak")
    if found[-1] == archive_state.session().patch:
        return found[-1]
    folder = found[-1].parent
    return folder / mounts.patch_name([path for path in found if path.parent == folder])


def proposed(context: bpy.types.Context) -> str:
    """The entry that the selection came from, or else the one that the list has chosen; empty without either."""
    own = archive_export.entries_of(context.selected_objects)
    if own:
        return next(iter(own.values()))
    here = archive_state.session()
    entry = here.entry(here.active)
    return entry.name if entry is not None else ""


def _operator(name: str, mixin: type, idname: str, entry: str, properties: dict[str, Any]) -> type:
    shared = {
        "entry_name": StringProperty(name="Entry", description=entry, options={"SKIP_SAVE"}),
        "filter_glob": StringProperty(default="*.pak", options={"HIDDEN"}),
        # An archive that is there is added to, not replaced.
        "check_existing": BoolProperty(default=False, options={"HIDDEN"}),
    }
    body = {
        "__doc__": mixin.__doc__,
        "__module__": __name__,
        "__annotations__": {**properties, **shared},
        "bl_idname": idname,
        "bl_label": "Write into Patch Archive",
        "bl_options": {"REGISTER"},
    }
    return type(name, (mixin, bpy.types.Operator), body)


CLASSES = (
    _operator(
        "DRAGONNEST_OT_archive_export",
        ArchiveExport,
        "dragonnest.archive_export",
        "The entry that the model becomes; its extension says what is written: MSH, SKN or ANI. "
        "Empty: the one it came from, or else the one chosen in the list",
        props.annotations(ExportArchiveOptions),
    ),
    _operator(
        "DRAGONNEST_OT_archive_table",
        ArchiveTable,
        "dragonnest.archive_table",
        "The entry that the table becomes, a DNT or EXT. Empty: the one it came from, or else one of its name",
        {
            "text": StringProperty(name="Text", options={"HIDDEN", "SKIP_SAVE"}),
            "encoding": table_operators.encoding_property(),
        },
    ),
)
