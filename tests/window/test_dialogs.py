# SPDX-License-Identifier: GPL-3.0-or-later
"""The file dialogs draw the options of our operators, and import and export the chosen file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import pytest
from screen import watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from screen import Screen

IMPORTERS = ["IMPORT_SCENE_OT_carnivores_3df", "IMPORT_SCENE_OT_carnivores_3dn"]
CHECKOUT = Path(__file__).resolve().parents[2]
BATCH = 5
EXPORTERS = ["EXPORT_SCENE_OT_carnivores_3df", "EXPORT_SCENE_OT_carnivores_3dn"]


@pytest.fixture
def count_draws(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Give a function that, for an operator's class, returns a list growing by one word per completed draw()."""

    def start(identifier: str) -> list[str]:
        operator = getattr(bpy.types, identifier)
        draws: list[str] = []
        monkeypatch.setattr(operator, "draw", watched(operator.draw, lambda context: draws.append(context.area.type)))
        return draws

    return start


def meshes() -> list[bpy.types.Object]:
    return [thing for thing in bpy.data.objects if thing.type == "MESH"]


def call(identifier: str, screen: Screen, **arguments: object) -> None:
    """Call an operator as its menu entry does."""
    group, name = identifier.lower().split("_ot_")
    with screen.override():
        assert getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT", **arguments) == {"RUNNING_MODAL"}


@pytest.mark.parametrize("identifier", IMPORTERS + EXPORTERS)
def test_dialog_draws_the_options(screen: Screen, identifier: str, count_draws: Callable[[str], list[str]]) -> None:
    draws = count_draws(identifier)
    bpy.ops.mesh.primitive_cube_add()
    call(identifier, screen)
    dialog = screen.wait_for_dialog()
    screen.photograph("dialog")
    assert "FILE_BROWSER" in draws, "the options were never drawn"
    area = screen.area("FILE_BROWSER", dialog)
    assert area.spaces.active.active_operator.bl_rna.identifier == identifier
    options = screen.region("TOOL_PROPS", area)
    assert options.width > 50, "the dialog has no column of options"


def test_dialog_imports_the_chosen_file(screen: Screen, example: Path) -> None:
    call(f"IMPORT_SCENE_OT_carnivores_{example.suffix[1:].lower()}", screen)
    dialog = screen.wait_for_dialog()
    parameters = screen.area("FILE_BROWSER", dialog).spaces.active.params
    parameters.directory, parameters.filename = str(example.parent).encode(), example.name
    screen.wait(20)  # the list of files is read by a job
    parameters.filename = example.name
    screen.photograph("dialog")
    confirm(screen, dialog)
    screen.wait_until(lambda: screen.dialog is None, "the dialog to close")
    assert meshes(), f"{example.name} was not imported"


def test_another_file_is_chosen_inside_the_dialog(screen: Screen) -> None:
    """Blender opens no second file browser: a click lists the models in the folder shown."""
    call("IMPORT_SCENE_OT_carnivores_car", screen)
    dialog = screen.wait_for_dialog()
    area = screen.area("FILE_BROWSER", dialog)
    area.spaces.active.params.directory = str(CHECKOUT / "assets").encode()
    screen.wait(20)
    options, scale = screen.region("TOOL_PROPS", area), bpy.context.preferences.system.ui_scale
    screen.click(round(options.x + options.width - 60 * scale), round(options.y + options.height - 167 * scale), dialog)
    screen.wait(10)
    screen.photograph("list")
    screen.key("DOWN_ARROW", None, dialog)
    screen.key("RET", None, dialog)
    screen.wait(5)
    screen.photograph("chosen")
    assert area.spaces.active.active_operator.bones_from == str(CHECKOUT / "assets" / "dinosaur.3df")


@pytest.mark.console(r"broken\.3df")
def test_dialog_imports_a_batch(screen: Screen, tmp_path: Path) -> None:
    """Choose all files of a folder, one of them broken: the others arrive, while the window stays alive."""
    for number in range(BATCH):
        shutil.copyfile(CHECKOUT / "assets" / "fern.3df", tmp_path / f"fern{number}.3df")
    (tmp_path / "broken.3df").write_bytes((tmp_path / "fern0.3df").read_bytes()[:100])
    call("IMPORT_SCENE_OT_carnivores_3df", screen)
    dialog = screen.wait_for_dialog()
    area = screen.area("FILE_BROWSER", dialog)
    area.spaces.active.params.directory = str(tmp_path).encode()
    screen.wait(20)
    files = screen.region("WINDOW", area)
    screen.move(files.x + files.width // 2, files.y + files.height // 2, dialog)
    screen.key("A", "a", dialog)
    screen.photograph("dialog")
    confirm(screen, dialog)
    screen.wait_until(lambda: len(meshes()) == BATCH, f"{BATCH} models in the scene")
    screen.wait(5)
    assert len(meshes()) == BATCH


def test_dialog_exports_to_the_chosen_file(screen: Screen, tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    call("EXPORT_SCENE_OT_carnivores_3df", screen)
    dialog = screen.wait_for_dialog()
    parameters = screen.area("FILE_BROWSER", dialog).spaces.active.params
    parameters.directory, parameters.filename = str(tmp_path).encode(), "cube.3df"
    screen.wait(20)
    parameters.filename = "cube.3df"
    screen.photograph("dialog")
    confirm(screen, dialog)
    screen.wait_until(lambda: screen.dialog is None, "the dialog to close")
    assert (tmp_path / "cube.3df").stat().st_size > 0


def confirm(screen: Screen, dialog: bpy.types.Window) -> None:
    """Click the dialog's blue button, the last one in its lower right corner."""
    area = screen.area("FILE_BROWSER", dialog)
    buttons = screen.region("EXECUTE", area)
    screen.click(buttons.x + buttons.width - 60, buttons.y + buttons.height // 2, dialog)
