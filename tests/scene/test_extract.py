# SPDX-License-Identifier: GPL-3.0-or-later
"""An untouched import goes back byte for byte, whatever happens to the scene around it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tests.scene.helpers import models, scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from addon.io_carnivores.formats.model import Model

KINDS: dict[str, Callable[[], Model]] = {
    "regular.3df": models.regular,
    "odd.3df": models.odd,
    "full_height.3df": lambda: models.regular(256),
    "mobile.3dn": models.mobile,
    "character.3dn": lambda: models.mobile(bones=False),
}


@pytest.fixture(params=list(KINDS))
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of each kind."""
    path = tmp_path / request.param
    scene.save(path, KINDS[request.param]())
    return path


def _out(source: Path) -> Path:
    folder = source.parent / "out"
    folder.mkdir(exist_ok=True)
    return folder / source.name


def test_untouched(source: Path) -> None:
    scene.bring(source)
    assert scene.export(_out(source)) == source.read_bytes()


OPTIONS: list[dict[str, Any]] = [
    {"use_bones": False},
    {"use_collection": True},
    {"global_scale": 1 / 64},
    {"global_scale": 1.0},
    {"global_scale": 0.01},
    {"global_scale": 123.4},
    {"global_scale": 0.01, "use_bones": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_untouched_with_every_option(source: Path, options: dict[str, Any]) -> None:
    scene.bring(source, **options)
    assert scene.export(_out(source)) == source.read_bytes()
    assert scene.export(_out(source), use_mesh_modifiers=False, use_transform=False) == source.read_bytes()
    assert scene.export(_out(source), use_join=True) == source.read_bytes()


def test_untouched_with_flipped_faces(tmp_path: Path) -> None:
    data, obj = scene.bring_model(tmp_path / "a.3dn", models.mobile(), flip_faces=True)
    assert scene.export(tmp_path / "b.3dn", obj) == data


def test_untouched_without_the_import_scale(source: Path) -> None:
    scene.bring(source, global_scale=1 / 64)
    assert scene.export(_out(source), use_import_scale=False, global_scale=1 / 64) == source.read_bytes()


def test_saved_and_reloaded(source: Path) -> None:
    scene.bring(source)
    for name in ("one.blend", "two.blend"):
        scene.reopen(source.parent / name)
    assert scene.export(_out(source), scene.the_mesh()) == source.read_bytes()


@pytest.mark.parametrize("second", [{}, {"global_scale": 0.01, "use_bones": False}], ids=str)
def test_two_imports_of_one_file(source: Path, second: dict[str, Any]) -> None:
    for options in ({}, second):
        scene.bring(source, **options)
    meshes = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    assert len(meshes) == 2
    for obj in meshes:
        assert scene.export(_out(source), obj) == source.read_bytes()
    scene.select(*meshes)
    operator = getattr(bpy.ops.export_scene, f"carnivores_{source.suffix[1:]}")
    assert operator(filepath=str(_out(source)), use_check=False) == {"FINISHED"}
    written = sorted(path for path in _out(source).parent.iterdir() if path.suffix == source.suffix)
    assert len(written) == 2
    assert [path.read_bytes() for path in written] == [source.read_bytes()] * 2


def test_undo_and_redo(source: Path) -> None:
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    scene.bring(source)
    bpy.ops.ed.undo_push(message="import")
    scene.the_mesh().location.x += 3
    scene.the_mesh().data.vertices[0].co.x += 3
    bpy.ops.ed.undo_push(message="edit")
    try:
        bpy.ops.ed.undo()
    except RuntimeError:
        pytest.skip("this Blender has no undo without a window")
    assert scene.export(_out(source), scene.the_mesh()) == source.read_bytes()
    bpy.ops.ed.undo()
    assert not bpy.data.meshes
    bpy.ops.ed.redo()
    assert scene.export(_out(source), scene.the_mesh()) == source.read_bytes()


def test_after_edit_mode(source: Path) -> None:
    for obj in scene.bring(source):
        with scene.edit_mode(obj, "all"):
            pass
    assert scene.export(_out(source)) == source.read_bytes()


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "WEIGHT_PAINT", "VERTEX_PAINT", "TEXTURE_PAINT"])
def test_from_within_another_mode(source: Path, mode: str) -> None:
    scene.bring(source)
    obj = scene.the_mesh()
    scene.select(obj)
    bpy.ops.object.mode_set(mode=mode)
    assert scene.export(_out(source)) == source.read_bytes()
    assert obj.mode == mode


def test_from_within_pose_and_edit_mode_of_the_armature(tmp_path: Path) -> None:
    data, obj = scene.bring_model(tmp_path / "a.3df", models.odd())
    for mode in ("POSE", "EDIT"):
        scene.select(obj.parent)
        bpy.ops.object.mode_set(mode=mode)
        assert scene.export(tmp_path / "b.3df") == data
        assert obj.parent.mode == mode
        bpy.ops.object.mode_set(mode="OBJECT")


def test_selection_of_one_part_alone(source: Path) -> None:
    for obj in scene.bring(source):
        assert scene.export(_out(source), obj) == source.read_bytes()


def test_nothing_selected_takes_the_active_object(source: Path) -> None:
    root = scene.bring(source)[0]
    scene.select(root)
    root.select_set(False)
    assert scene.export(_out(source)) == source.read_bytes()


def test_a_pose_is_not_written(tmp_path: Path) -> None:
    data, obj = scene.bring_model(tmp_path / "a.3df", models.odd())
    obj.parent.pose.bones["Leg"].location = (10, 20, 30)
    bpy.context.view_layer.update()
    assert scene.export(tmp_path / "b.3df", obj) == data


def test_export_leaves_the_scene_as_it_was(tmp_path: Path) -> None:
    data, obj = scene.bring_model(tmp_path / "a.3df", models.odd())
    del data
    obj.modifiers.new("Subdivision", "SUBSURF")
    bpy.context.view_layer.update()
    scene.select(obj)
    before = {name: len(getattr(bpy.data, name)) for name in ("meshes", "objects", "images", "materials", "armatures")}
    shown = [entry.show_viewport for entry in obj.modifiers]
    scene.export(tmp_path / "b.3df")
    assert {name: len(getattr(bpy.data, name)) for name in before} == before
    assert [entry.show_viewport for entry in obj.modifiers] == shown
    assert list(bpy.context.selected_objects) == [obj]
    assert bpy.context.view_layer.objects.active == obj


def test_renamed_everything(source: Path) -> None:
    scene.bring(source)
    obj = scene.the_mesh()
    obj.name = obj.data.name = "Another"
    for kind in (bpy.data.materials, bpy.data.images, bpy.data.armatures):
        for block in kind:
            block.name = "Another"
    assert scene.export(_out(source)) == source.read_bytes()


@pytest.mark.samples("*.3df", "*.3dn")
def test_real_files(sample: Path, tmp_path: Path) -> None:
    scene.bring(sample)
    with scene.edit_mode(scene.the_mesh(), "all"):
        pass
    scene.reopen(tmp_path / "a.blend")
    assert scene.export(tmp_path / sample.name, scene.the_mesh()) == sample.read_bytes()
