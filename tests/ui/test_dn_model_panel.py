# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of Dragon Nest in the sidebar: what it is, and the check of what an export would write."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest
from addon.io_common.formats.digest import Digest
from addon.io_dragonnest.formats import checks, msh
from addon.io_dragonnest.scene import inspect
from addon.io_dragonnest.ui import check_operators, model_panel

from tests import dragons
from tests.scene.helpers import dragon_scene, scene

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture
def fox() -> list[bpy.types.Object]:
    """The sub-meshes of the sample, its armature active."""
    bpy.ops.import_scene.dragonnest_msh(filepath=str(ASSETS / "fox.msh"))
    bpy.ops.import_scene.dragonnest_ani(filepath=str(ASSETS / "fox.ani"))
    return dragon_scene.meshes()


def check() -> list[Any]:
    assert bpy.ops.dragonnest.check() == {"FINISHED"}
    return list(check_operators.last(bpy.context).findings)


def drawn(kind: type) -> list[str]:
    """The texts that a panel shows, of boxes and rows in it too."""
    layout = MagicMock()
    for name in ("row", "column", "box", "split"):
        getattr(layout, name).return_value = layout
    panel = SimpleNamespace(layout=layout)
    for name in ("_facts", "_files", "_finding"):
        if hasattr(kind, name):
            setattr(panel, name, getattr(kind, name).__get__(panel))
    kind.draw(panel, bpy.context)
    return [call.kwargs["text"] for call in layout.method_calls if "text" in call.kwargs]


def test_facts_of_a_model(fox: list[bpy.types.Object]) -> None:
    shown = drawn(model_panel.DRAGONNEST_PT_model)
    model = msh.read((ASSETS / "fox.msh").read_bytes())
    facts = dict(zip(shown[:10:2], shown[1:10:2], strict=True))
    assert facts == {
        "Format": f"MSH {model.version}",
        "Sub-meshes": str(len(model.submeshes)),
        "Vertices": str(sum(len(thing.data.vertices) for thing in fox)),
        "Faces": str(sum(len(thing.data.polygons) for thing in fox)),
        "Bones": str(len(dragon_scene.rig().data.bones)),
    }
    assert "Export MSH, SKN and ANI" in shown


def test_an_empty_scene_says_what_to_do() -> None:
    shown = drawn(model_panel.DRAGONNEST_PT_model)
    assert shown[0] == "Drop a SKN or MSH here, or select a model"
    assert not model_panel.DRAGONNEST_PT_check.poll(bpy.context)
    with pytest.raises(RuntimeError, match="Select the model to check"):
        bpy.ops.dragonnest.check()


def test_the_sample_has_nothing_to_complain_of(fox: list[bpy.types.Object], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert check() == []
    assert "Nothing to complain of" in drawn(model_panel.DRAGONNEST_PT_check)
    assert sorted(tmp_path.iterdir()) == before
    assert len(fox) == len(dragon_scene.meshes())


def test_a_finding_selects_its_vertices(fox: list[bpy.types.Object]) -> None:
    body = fox[0]
    for group in body.vertex_groups:
        group.remove([3, 5])
    (found,) = check()
    assert (found.code, found.object_name, found.count, found.is_error) == ("no-weight", body.name, 2, False)
    shown = drawn(model_panel.DRAGONNEST_PT_check)
    assert any("follow no bone at all" in " ".join(shown[start : start + 4]) for start in range(len(shown)))
    assert bpy.ops.dragonnest.check_select(object_name=body.name, code="no-weight") == {"FINISHED"}
    assert (bpy.context.mode, bpy.context.view_layer.objects.active) == ("EDIT_MESH", body)
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = np.zeros(len(body.data.vertices), bool)
    body.data.vertices.foreach_get("select", chosen)
    assert np.flatnonzero(chosen).tolist() == [3, 5]


def test_what_stops_an_export_is_listed_first(fox: list[bpy.types.Object]) -> None:
    """Here a name that Korean Windows text has not; what else there is to say waits until it can be written."""
    body = fox[0]
    for group in body.vertex_groups:
        group.remove([3])
    fox[1].name = "Köpf\U0001f98a"
    found = check()
    assert [entry.is_error for entry in found] == [True]
    assert "Korean Windows text" in found[0].message
    fox[1].name = "Head"
    scene.select(dragon_scene.rig())
    assert [entry.code for entry in check()] == ["no-weight"]


def test_a_modifier_that_makes_vertices_leaves_the_object_to_be_selected(fox: list[bpy.types.Object]) -> None:
    body = fox[0]
    body.modifiers.new("Mirror", "MIRROR")
    body.modifiers.move(1, 0)
    for group in body.vertex_groups:
        group.remove([3])
    found = [entry for entry in check() if entry.code == "no-weight"]
    assert [(entry.object_name, entry.count) for entry in found] == [(body.name, 0)]
    assert bpy.ops.dragonnest.check_select(object_name=body.name, code="no-weight") == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"
    assert [thing.name for thing in bpy.context.selected_objects] == [body.name]


def test_what_a_file_came_with_is_a_warning(tmp_path: Path) -> None:
    """It goes back as it came, whatever the game thinks of it."""
    model = dragons.model()
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    codes = {issue.code for issue in checks.check_msh(model)}
    found = {entry.code for entry in check() if entry.title == "a.msh"}
    assert found == codes
    assert not any(entry.is_error for entry in check_operators.last(bpy.context).findings if entry.title == "a.msh")


def test_parts_of_a_file_are_told_apart(tmp_path: Path) -> None:
    """Numbers of vertices count within their sub-mesh."""
    dragon_scene.save(tmp_path / "a.msh", dragons.character())
    dragon_scene.bring(tmp_path / "a.msh")
    blade = dragon_scene.meshes()[1]
    mesh = blade.data
    corner = next(loop.index for loop in mesh.loops if loop.vertex_index == 4)
    mesh.uv_layers[0].uv[corner].vector = (float("nan"), 0.0)
    found = [finding for finding in inspect.inspect(bpy.context, Digest()) if finding.issue.code == "uv-no-number"]
    assert [(finding.obj, finding.issue.part, finding.vertices.tolist()) for finding in found] == [(blade, 1, [4])]


@pytest.mark.parametrize("name", ["", "Nobody"])
def test_a_finding_of_what_is_gone_is_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match="cannot be seen in this view layer"):
        bpy.ops.dragonnest.check_select(object_name=name, code="no-weight")
