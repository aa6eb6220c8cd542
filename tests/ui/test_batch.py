# SPDX-License-Identifier: GPL-3.0-or-later
"""What an import of several files tells at its end."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import pytest
from addon.io_carnivores.scene.options import ImportOptions
from addon.io_carnivores.ui.entries import FORMATS
from addon.io_common.formats.errors import Cancelled
from addon.io_common.scene import progress
from addon.io_common.ui import importer, report

ASSETS = Path(__file__).parents[2] / "assets"


def test_esc_does_not_count_as_a_file_that_failed() -> None:
    """Two of three files are in the scene when Esc is pressed, and that is what is said."""
    stand_in = SimpleNamespace(entry=FORMATS[0], formats=FORMATS, report=MagicMock(), _timer=None)
    stand_in._finish = partial(importer.ImportMixin._finish, stand_in)
    stand_in._batch = importer.Batch([ASSETS / "fern.3df"] * 3, ImportOptions())
    stand_in._progress = progress.Progress(stop=lambda: stand_in._stopped)
    for _ in range(2):
        stand_in._batch.step(bpy.context, FORMATS[0], FORMATS, progress.Progress())
    event = SimpleNamespace(type="ESC", value="PRESS")
    assert importer.ImportMixin.modal(stand_in, MagicMock(), event) == {"FINISHED"}
    said = [call.args[1] for call in stand_in.report.call_args_list]
    assert said == ["Imported 2 of 3 files.", "Stopped by Esc, 1 file was not imported."]


def test_when_nothing_was_imported_the_first_few_files_are_named() -> None:
    assert report.nothing_imported(["a: bad."]) == "a: bad."
    assert report.nothing_imported(["a: bad.", "b: bad."]) == "Nothing was imported. a: bad. b: bad."
    many = report.nothing_imported([f"{number}: bad." for number in range(7)])
    assert many == "Nothing was imported. 0: bad. 1: bad. 2: bad. 3: bad. 4: bad. And 2 more."


def test_a_file_that_is_being_imported_when_esc_is_pressed_leaves_nothing() -> None:
    batch = importer.Batch([ASSETS / "fern.3df"], ImportOptions())
    asked = iter([False, True])
    with pytest.raises(Cancelled):
        batch.step(bpy.context, FORMATS[0], FORMATS, progress.Progress(stop=lambda: next(asked)))
    assert (batch.done, batch.imported, batch.failures) == (0, 0, [])
    assert not len(bpy.data.meshes)
    assert not len(bpy.data.images)


def test_nested_progress_fills_its_part() -> None:
    shown: list[float] = []
    whole = progress.Progress(shown.append)
    with whole.part(0.5, 1.0), whole.part(0.0, 0.5):
        whole.update(0.5)
        whole.update(1.0)
    whole.update(1.0)
    assert shown == [0.625, 0.75, 1.0]
