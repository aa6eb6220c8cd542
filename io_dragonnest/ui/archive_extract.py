# SPDX-License-Identifier: GPL-3.0-or-later
"""Out of archives into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...io_common.formats.digest import Digest
from ...io_common.formats.errors import UserError
from ...io_common.ui import report
from ..formats.mount_place import ArchivePlace
from ..formats.mounts import Mark
from ..formats.pak_extract import Extraction
from . import archive_state
from .archive_steps import StepsMixin

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from ...io_common.scene.progress import Progress
    from ..formats.mount_session import Session

_WHICH = (
    ("SELECTED", "Selected", "The ticked entries, or else the highlighted one"),
    ("MATCHES", "All Matches", "All that the search finds, listed or not, as far as the game sees it"),
    ("ALL", "All", "All files of all archives, as the game sees them"),
)


class ArchiveExtract(StepsMixin):
    """Write entries of the archives into a folder, under their names and folders"""

    if TYPE_CHECKING:
        directory: str
        which: str
        overwrite: bool
        flat: bool
        _files: int
        _bytes: int
        _failures: list[str]
        _from_dialog: bool
    else:
        _from_dialog = False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Archives are mounted."""
        return len(archive_state.listed(context)) > 0

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask for the folder."""
        self._from_dialog = True
        context.window_manager.fileselect_add(cast("bpy.types.Operator", self))
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Extract; with progress and Esc after the dialog."""
        if not self.directory:
            self.report({"ERROR"}, "No folder was chosen.")
            return {"CANCELLED"}
        self._files, self._bytes, self._failures = 0, 0, []
        return self.run(context, modal=self._from_dialog)

    def steps(self, context: bpy.types.Context, _shown: Progress) -> Iterator[tuple[float, str]]:
        """Extract entry by entry, archive by archive."""
        here = archive_state.require(context)
        self._failures += here.problems.values()
        rows = _rows(here, self.which)
        folder = Path(bpy.path.abspath(self.directory))
        extraction = Extraction(folder, overwrite=self.overwrite, flat=self.flat)
        done = 0
        with ArchivePlace(here.catalogue) as place:
            for number in np.unique(here.catalogue.archive[rows]).tolist():
                own = rows[here.catalogue.archive[rows] == number]
                entries = here.catalogue.number[own].tolist()
                for result in extraction.run(place.archive(number), entries):
                    done += 1
                    if result.error is not None:
                        self._failures.append(str(result.error))
                    else:
                        self._files += 1
                        self._bytes += result.size
                    yield done / len(rows), result.name

    def finish(self, _context: bpy.types.Context) -> set[str]:
        """Say how much was written, and what was not."""
        what = f"Extracted {self._files} {'file' if self._files == 1 else 'files'}, {size(self._bytes)}."
        if not self._files and self._failures:
            more = len(self._failures) - 1
            rest = f" And {more} more were not extracted." if more else ""
            self.report({"ERROR"}, self._failures[0] + rest)
            return {"CANCELLED"}
        report.tell(cast("bpy.types.Operator", self), Digest(), self._failures, what)
        return {"FINISHED"}


def _rows(here: Session, which: str) -> npt.NDArray[np.int64]:
    """What is to be extracted. Raises `UserError` for nothing."""
    catalogue = here.catalogue
    if which == "SELECTED":
        rows = np.array(here.selected(), np.int64)
        gone = rows[catalogue.marks[rows] == Mark.DELETED] if len(rows) else rows
        if len(gone):
            entry = catalogue.entry(int(gone[0]))
            raise UserError(f'the entry "{entry.name[:120]}" is deleted and cannot be extracted', path=entry.archive)
    else:
        rows = here.all_matches() if which == "MATCHES" else np.arange(len(catalogue))
        rows = rows[catalogue.marks[rows] == Mark.LIVE]
    if not len(rows):
        raise UserError("there is no entry to extract")
    return rows


def size(count: int) -> str:
    """Bytes as people read them."""
    value, unit = float(count), "bytes"
    for larger in ("KB", "MB", "GB"):
        if value < 1000:
            break
        value, unit = value / 1024, larger
    if unit == "bytes":
        return f"{count} byte" if count == 1 else f"{count} bytes"
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


DRAGONNEST_OT_archive_extract = type(
    "DRAGONNEST_OT_archive_extract",
    (ArchiveExtract, bpy.types.Operator),
    {
        "__doc__": ArchiveExtract.__doc__,
        "__module__": __name__,
        "__annotations__": {
            "directory": StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"}),
            "which": EnumProperty(name="Which", items=_WHICH, options={"SKIP_SAVE"}),
            "overwrite": BoolProperty(
                name="Overwrite", description="Replace files that exist; else they are kept and named"
            ),
            "flat": BoolProperty(
                name="Without Folders", description="All files into the folder itself, without those of their names"
            ),
        },
        "bl_idname": "dragonnest.archive_extract",
        "bl_label": "Extract",
        "bl_options": {"REGISTER"},
    },
)

CLASSES = (DRAGONNEST_OT_archive_extract,)
