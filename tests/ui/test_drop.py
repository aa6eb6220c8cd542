# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drop of several files imports, in which order, and what it tells."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import pytest
from addon.io_carnivores.ui import entries as carnivores
from addon.io_common.ui import operators
from addon.io_dragonnest.ui import entries as dragonnest

ASSETS = Path(__file__).parents[2] / "assets"
FORMATS = carnivores.FORMATS + dragonnest.FORMATS


def dropped(folder: Path, *names: str) -> tuple[set[str], list[tuple[str, str]]]:
    """Drop these files; return what the operator returned and what it reported itself, as (kind, sentence)."""
    files = [SimpleNamespace(name=name) for name in names]
    stand_in = SimpleNamespace(formats=FORMATS, directory=str(folder), files=files, report=MagicMock())
    result = operators.DropMixin.execute(stand_in, bpy.context)
    return result, [(next(iter(call.args[0])), call.args[1]) for call in stand_in.report.call_args_list]


def test_a_drop_says_what_was_imported() -> None:
    """Not the import that it calls, whose reports Blender would show to nobody."""
    assert dropped(ASSETS, "fern.3df") == ({"FINISHED"}, [("INFO", "Imported fern.3df.")])


def test_a_drop_passes_warnings_on(tmp_path: Path) -> None:
    shutil.copyfile(ASSETS / "fox.msh", tmp_path / "fox.msh")
    shutil.copyfile(ASSETS / "fox.skn", tmp_path / "fox.skn")
    result, said = dropped(tmp_path, "fox.msh")
    assert result == {"FINISHED"}
    assert ("INFO", "Imported fox.msh.") in said
    assert any(kind == "WARNING" and "fox_body" in sentence for kind, sentence in said), said


def test_a_bad_file_among_good_ones_is_named(tmp_path: Path) -> None:
    shutil.copyfile(ASSETS / "fern.3df", tmp_path / "fern.3df")
    (tmp_path / "bad.3df").write_bytes(b"\0" * 10)
    result, said = dropped(tmp_path, "bad.3df", "fern.3df")
    assert result == {"FINISHED"}
    assert [kind for kind, _ in said] == ["INFO", "WARNING"]
    assert "bad.3df" in said[1][1]


@pytest.mark.parametrize("names", [("fox.ani", "fox.msh"), ("fox.msh", "fox.ani")])
def test_models_come_before_what_goes_onto_them(names: tuple[str, str]) -> None:
    """In whatever order the files were picked, there is one armature, and it has the clips."""
    result, _ = dropped(ASSETS, *names)
    assert result == {"FINISHED"}
    assert [thing.type for thing in bpy.data.objects].count("ARMATURE") == 1
    assert len(bpy.data.actions) > 1


def test_afterwards_an_import_reports_itself(capfd: pytest.CaptureFixture[str]) -> None:
    dropped(ASSETS, "fern.3df")
    bpy.ops.import_scene.carnivores_3df(filepath=str(ASSETS / "fern.3df"))
    assert "Imported fern.3df." in capfd.readouterr().out
