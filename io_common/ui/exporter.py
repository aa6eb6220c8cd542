# SPDX-License-Identifier: GPL-3.0-or-later
"""The export operator of every format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import bpy
from bpy_extras.io_utils import ExportHelper

from ..formats import files
from ..formats.digest import Digest
from ..formats.errors import UserError
from ..scene import progress, transfer
from . import props, report

if TYPE_CHECKING:
    from ..formats.registry import Format


class ExportMixin(ExportHelper):
    """Shared by the generated export operators, which set `entry`."""

    bl_options = {"REGISTER", "PRESET"}

    if TYPE_CHECKING:
        entry: ClassVar[Format]
        filepath: str
        filename_ext: str
        report: Any
        layout: Any

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Open the file dialog with the name of the model filled in."""
        active = context.active_object
        if active is not None and not self.filepath:
            stem = self._suggested(context) or active.name.removesuffix(" Armature")
            folder = Path(bpy.data.filepath).parent if bpy.data.filepath else Path()
            self.filepath = str(folder / f"{files.safe_stem(stem)}{self.filename_ext}")
        result: Any = super().invoke(context, event)
        return result

    def _suggested(self, context: bpy.types.Context) -> str:
        try:
            return transfer.suggested_name(context, self.entry, props.collect(self, self.entry.export_options))
        except UserError:  # it will be said when the export is tried
            return ""

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Prepare everything, check it, then write all files in one go."""
        digest = Digest()
        try:
            path = self._path()
            options = props.collect(self, self.entry.export_options)
            with progress.pointer(context) as shown:
                done = transfer.export(context, self.entry, path, options, digest)
                shown.update(1.0)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        _tell_names(done, path, options, digest)
        names = [written.name for written in done.bundle]
        what = names[0] if len(names) == 1 else f"{len(names)} files to {path.parent}"
        report.tell(cast("bpy.types.Operator", self), digest, [], f"Exported {what}.")
        return {"FINISHED"}

    def _path(self) -> Path:
        if not self.filepath:
            raise UserError("No file name was given")
        path = Path(bpy.path.abspath(self.filepath))
        if not path.name:
            raise UserError("this is a folder, expected a file name to write to", path=path)
        if path.suffix.lower() not in self.entry.extensions:
            path = path.with_name(f"{path.name}{self.entry.extensions[0]}")
        return path

    def draw(self, _context: bpy.types.Context) -> None:
        """The options, in the file dialog."""
        props.draw(self.layout, self, self.entry.export_options)


def _tell_names(done: transfer.Export, path: Path, options: transfer.ExportChoices, digest: Digest) -> None:
    """Name the files that were replaced unasked, and say where a name that was chosen is that of no file."""
    if done.replaced:
        told = f"files that were there were replaced: {', '.join(written.name for written in done.replaced)}"
        if options.collection:  # which writes the same files again and again
            digest.note(told)
        else:
            digest.add(told)
    if path.name.lower() not in {written.name.lower() for written in done.bundle}:
        digest.note(f"each file has the name of its model, none of them is called {path.name}")
