# SPDX-License-Identifier: GPL-3.0-or-later
"""The import operator of every format: file dialog, drop, script, batch with progress and Esc."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import bpy
from bpy.props import CollectionProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ..formats.digest import Digest
from ..formats.errors import Cancelled, UserError
from ..scene import progress, transfer
from . import preferences, props, report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.registry import Format

# With fewer files a dialog import is over before a hand finds Esc.
_MODAL_FROM = 3


@dataclass
class Batch:
    """The state of one import of several files."""

    paths: list[Path]
    options: Any
    digest: Digest = field(default_factory=Digest)
    objects: list[bpy.types.Object] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    done: int = 0
    imported: int = 0

    def step(
        self,
        context: bpy.types.Context,
        entry: Format,
        formats: Sequence[Format],
        shown: progress.Progress,
    ) -> None:
        """Import the next file; a bad one is noted and does not stop the others.

        Raises `Cancelled`, and leaves nothing of the file, when the user asked to stop.
        """
        path = self.paths[self.done]
        job = transfer.Job(self.options, self.digest, formats, shown)
        self.done += 1
        try:
            self.objects += transfer.import_file(context, entry, path, job)
            self.imported += 1
        except Cancelled:
            self.done -= 1
            raise
        except UserError as error:
            self.failures.append(str(error))


class ImportMixin(ImportHelper):
    """Shared by the generated import operators, which set `entry` and `formats`."""

    bl_options = {"REGISTER", "UNDO", "PRESET"}

    # Blender evaluates the annotations it finds at run time: only properties may have one.
    if TYPE_CHECKING:
        entry: ClassVar[Format]
        formats: ClassVar[tuple[Format, ...]]
        filepath: str
        directory: str
        files: Any
        report: Any
        layout: Any
        _batch: Batch | None
        _timer: Any
        _from_dialog: bool
        _stopped: bool
        _progress: progress.Progress
    else:
        files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
        directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})

        _batch = None
        _timer = None
        _from_dialog = False
        _stopped = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Import at once what was dropped, else open the file dialog."""
        if self.directory and any(entry.name for entry in self.files):
            return self.execute(context)
        self._from_dialog = True
        result: Any = super().invoke(context, event)
        return result

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Import every chosen file."""
        paths = self.paths()
        if not paths:
            self.report({"ERROR"}, "No file was chosen.")
            return {"CANCELLED"}
        try:
            options = props.collect(self, self.entry.import_options, **self.code_options(context))
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        batch = Batch(paths, options)
        if self._from_dialog and len(paths) >= _MODAL_FROM and not bpy.app.background:
            return self._start_modal(context, batch)
        with progress.pointer(context) as shown:
            for number in range(len(paths)):
                with shown.part(number / len(paths), (number + 1) / len(paths)):
                    batch.step(context, self.entry, self.formats, shown)
        return self._finish(context, batch)

    def code_options(self, context: bpy.types.Context) -> dict[str, Any]:
        """The options that are no property of the operator. Raises `UserError`."""
        return {"search_folders": preferences.search_folders(context)}

    def paths(self) -> list[Path]:
        """The chosen files: `directory` with `files`, or `filepath` alone."""
        names = [entry.name for entry in self.files if entry.name]
        if names:
            folder = Path(bpy.path.abspath(self.directory or str(Path(self.filepath).parent)))
            return [folder / name for name in names]
        return [Path(bpy.path.abspath(self.filepath))] if self.filepath else []

    def _start_modal(self, context: bpy.types.Context, batch: Batch) -> set[str]:
        self._batch = batch
        self._stopped = False
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0, progress.STEPS)
        self._progress = progress.Progress(
            lambda fraction: manager.progress_update(fraction * progress.STEPS), lambda: self._stopped
        )
        manager.modal_handler_add(cast("bpy.types.Operator", self))
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """One file per turn of the event loop, so that the window lives and Esc is heard."""
        batch = self._batch
        if batch is None:
            return {"CANCELLED"}
        self._stopped = event.type == "ESC" and event.value == "PRESS"
        if event.type != "TIMER" and not self._stopped:
            return {"RUNNING_MODAL"}
        count = len(batch.paths)
        try:
            self._progress.update(batch.done / count)
            with self._progress.part(batch.done / count, (batch.done + 1) / count):
                batch.step(context, self.entry, self.formats, self._progress)
        except Cancelled:
            left = count - batch.done
            batch.failures.append(f"Stopped by Esc, {left} {'file was' if left == 1 else 'files were'} not imported.")
        else:
            context.workspace.status_text_set(f"Importing {batch.done} of {count}; Esc stops")
            if batch.done < count:
                return {"RUNNING_MODAL"}
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        return self._finish(context, batch)

    def _finish(self, context: bpy.types.Context, batch: Batch) -> set[str]:
        if not batch.objects:
            self.report({"ERROR"}, report.nothing_imported(batch.failures))
            return {"CANCELLED"}
        transfer.select_only(context, batch.objects)
        preferences.show_textures(context)
        what = batch.paths[0].name if len(batch.paths) == 1 else f"{batch.imported} of {len(batch.paths)} files"
        report.tell(cast("bpy.types.Operator", self), batch.digest, batch.failures, f"Imported {what}.")
        return {"FINISHED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The options, in the file dialog and in the panel for adjusting the last action."""
        props.draw(self.layout, self, self.entry.import_options)
