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


def armatures() -> int:
    return [thing.type for thing in bpy.data.objects].count("ARMATURE")


def test_all_files_of_a_character_make_one_character() -> None:
    names = ["fox.ani", "fox.msh", "fox.skn", "fox_ranger.msh", "fox_ranger.skn"]
    result, _ = dropped(ASSETS, *names)
    assert result == {"FINISHED"}
    assert armatures() == 1
    assert [thing.name for thing in bpy.data.objects if thing.name.startswith(("Body", "Cape"))] == ["Body", "Cape"]


def test_a_model_whose_materials_are_bad_is_imported(tmp_path: Path) -> None:
    shutil.copyfile(ASSETS / "fox.msh", tmp_path / "fox.msh")
    (tmp_path / "fox.skn").write_bytes((ASSETS / "fox.skn").read_bytes()[:2000])
    result, said = dropped(tmp_path, "fox.msh", "fox.skn")
    assert result == {"FINISHED"} and armatures() == 1
    assert any("fox.skn" in sentence for kind, sentence in said if kind == "WARNING")


def test_lists_that_name_each_other_are_not_both_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.ani").write_bytes(b"b.ani")
    (tmp_path / "b.ani").write_bytes(b"a.ani")
    lots, failures = operators.sort_by_format([tmp_path / "a.ani", tmp_path / "b.ani"], FORMATS)
    assert (lots, failures) == ({"dragonnest_ani": ["b.ani"]}, [])


def test_what_a_list_names_comes_with_it(tmp_path: Path) -> None:
    (tmp_path / "all.ani").write_bytes(b"FOX.ANI")
    shutil.copyfile(ASSETS / "fox.ani", tmp_path / "fox.ani")
    lots, _ = operators.sort_by_format([tmp_path / "fox.ani", tmp_path / "all.ani"], FORMATS)
    assert lots == {"dragonnest_ani": ["all.ani"]}


def test_a_mobile_character_brings_its_files(tmp_path: Path) -> None:
    shutil.copyfile(ASSETS / "dinosaur.3dn", tmp_path / "dinosaur.3dn")
    shutil.copyfile(ASSETS / "dinosaur.car", tmp_path / "dinosaur.car")
    bpy.ops.import_scene.carnivores_car(filepath=str(tmp_path / "dinosaur.car"))
    folder = tmp_path / "mobile"
    folder.mkdir()
    bpy.ops.export_scene.carnivores_cat(filepath=str(folder / "dino.cat"))
    names = sorted(path.name for path in folder.iterdir() if path.suffix in {".3dn", ".ani", ".cat"})
    assert len(names) == 5
    lots, failures = operators.sort_by_format([folder / name for name in names], FORMATS)
    assert (lots, failures) == ({"carnivores_cat": ["dino.cat"]}, [])


def test_afterwards_an_import_reports_itself(capfd: pytest.CaptureFixture[str]) -> None:
    dropped(ASSETS, "fern.3df")
    bpy.ops.import_scene.carnivores_3df(filepath=str(ASSETS / "fern.3df"))
    assert "Imported fern.3df." in capfd.readouterr().out
