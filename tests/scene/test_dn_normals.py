# SPDX-License-Identifier: GPL-3.0-or-later
"""Normals of imported models: kept where nothing happened, turned along where faces were."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat
from addon.io_common.scene import mesh as meshes
from addon.io_dragonnest.formats import msh, triangles
from mathutils import Matrix

from tests import dragons
from tests.scene.helpers import dragon_scene, scene


@pytest.fixture
def made(tmp_path: Path) -> bytes:
    """The bytes of an imported model in which every stream is used."""
    data = dragon_scene.save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    return data


def again(tmp_path: Path, **options: object) -> msh.Msh:
    return msh.read(dragon_scene.export(tmp_path / "out.msh", *dragon_scene.meshes(), **options))


def test_a_normal_kept_by_a_vertex_beside_a_deleted_one(made: bytes, tmp_path: Path) -> None:
    before = msh.read(made).submeshes[0]
    obj = dragon_scene.meshes()[0]
    scene.pick(obj.data, "VERT", 11)
    with scene.edit_mode(obj):
        bpy.ops.mesh.delete(type="VERT")
    found = again(tmp_path).submeshes[0]
    assert (found.positions == before.positions[:11]).all()
    assert (found.uvs == before.uvs[:, :11]).all()
    assert (found.skin.slots == before.skin.slots[:11]).all()
    assert (found.skin.weights == before.skin.weights[:11]).all()
    if bpy.app.version >= (4, 5):
        assert (found.normals == before.normals[:11]).all()


def facing(part: object) -> np.ndarray:
    """(T, 3) cosine between the normal of every corner and that of its triangle, in the file."""
    corners = triangles.of(part).corners
    points = part.positions[corners].astype(np.float64)
    across = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    across /= np.linalg.norm(across, axis=1)[:, None]
    return np.einsum("tk,tck->tc", across, part.normals[corners].astype(np.float64))


@pytest.mark.parametrize("use_bones", [True, False])
@pytest.mark.parametrize("edit", ["transform", "modifier", "extrude", "flip", "add"])
def test_normals_go_along_with_edits(edit: str, use_bones: bool, tmp_path: Path) -> None:
    """Of what was turned, bent, extruded, flipped or added; always of length one."""
    model = dragons.model()
    for part in model.submeshes:
        part.normals[:] = (0.0, 0.0, 1.0)
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh", use_bones=use_bones)
    before = facing(model.submeshes[0])
    obj = dragon_scene.meshes()[0]
    scene.select(obj)
    count = len(obj.data.polygons)
    if edit == "transform":
        obj.data.transform(Matrix.Rotation(1.0, 4, "X") @ Matrix.Rotation(2.0, 4, "Y"))
        obj.data.update()
    elif edit == "modifier":
        modifier = obj.modifiers.new("Bend", "SIMPLE_DEFORM")
        modifier.deform_method, modifier.deform_axis, modifier.angle = "TWIST", "X", 0.5
    else:
        with scene.edit_mode(obj):
            bpy.ops.mesh.select_all(action="SELECT")
            if edit == "extrude":
                bpy.ops.mesh.extrude_region_move(TRANSFORM_OT_translate={"value": (0, 0, 5)})
            elif edit == "flip":
                bpy.ops.mesh.flip_normals()
            else:
                bpy.ops.mesh.primitive_uv_sphere_add(radius=10)
    after = again(tmp_path).submeshes[0]
    assert np.abs(np.linalg.norm(after.normals, axis=1) - 1.0).max() < 1e-5
    found = facing(after)
    if edit == "flip":
        assert np.abs(found - before).max() < 0.02
    elif edit == "transform":
        # Blender spoils the custom normals of single corners where faces overlap.
        assert np.quantile(np.abs(found - before), 0.95) < 0.02
    elif edit == "modifier":
        assert np.abs(found - before).max() < 0.5
    elif edit == "add":
        assert len(found) > count
        assert np.abs(found[:count] - before).max() < 0.02
        assert found[count:].min() > 0.8


def test_normals_of_earlier_files_go_along(tmp_path: Path) -> None:
    """There they are free, and Blender leaves them as they are whatever the faces do."""
    if not compat.has_free_normals():
        pytest.skip("this Blender has no free normals")
    model = dragons.model()
    for part in model.submeshes:
        part.normals[:] = (0.0, 0.0, 1.0)
    data = dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    mesh = dragon_scene.meshes()[0].data
    mesh.attributes.remove(mesh.attributes["custom_normal"])
    meshes.set_vertex_normals(mesh, np.tile(np.array([[0, 1, 0]], np.float32), (len(mesh.vertices), 1)))
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == data
    before = facing(model.submeshes[0])
    mesh.transform(Matrix.Rotation(1.0, 4, "X") @ Matrix.Rotation(2.0, 4, "Y"))
    mesh.update()
    assert np.quantile(np.abs(facing(again(tmp_path).submeshes[0]) - before), 0.95) < 0.02


SQUARE = [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize(
    ("positions", "indices"),
    [
        (SQUARE, [0, 1, 2, 0, 2, 3, 2, 1, 0, 3, 2, 0]),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0], *SQUARE], [0, 1, 2, 3, 4, 5]),
        ([[0, 0, 0], [0, 0, 0], [1, 0, 0], *SQUARE], [0, 1, 2, 3, 4, 5]),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0], *SQUARE], [0, 1, 2, 3, 4, 5]),
        ([[0, 0, 0], [1e20, 0, 0], [2, 0, 1e20], *SQUARE], [0, 1, 2, 3, 4, 5]),
    ],
    ids=["both sides", "no place", "no width", "in a line", "huge"],
)
@pytest.mark.parametrize("edit", ["nothing", "edit mode", "delete"])
def test_normals_that_blender_cannot_hold(
    positions: list[list[float]], indices: list[int], edit: str, tmp_path: Path
) -> None:
    """Those of vertices whose faces lie back to back or have no area; also when a face elsewhere is gone."""
    model = dragons.character()
    part = dragons.part(1, 1, name="Cape")
    part.positions = np.array([*positions, [5, 0, 0], [6, 0, 0], [5, 0, 1]], "<f4")
    count = len(part.positions)
    part.indices = np.array([*indices, count - 3, count - 2, count - 1], "<u2")
    part.normals = np.resize(np.array([[0.6, 0.8, 0.0], [0.0, 0.6, 0.8]], "<f4"), (count, 3))
    part.uvs = np.zeros((1, count, 2), "<f4")
    model.submeshes = [part]
    model.maximum, model.minimum = msh.bounds(model)
    data = dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    obj = dragon_scene.meshes()[0]
    if edit == "edit mode":
        with scene.edit_mode(obj):
            pass
    if edit != "delete":
        assert dragon_scene.export(tmp_path / "b.msh", obj) == data
        return
    scene.pick(obj.data, "VERT", count - 1)
    with scene.edit_mode(obj):
        bpy.ops.mesh.delete(type="VERT")
    found = again(tmp_path).submeshes[0]
    assert (found.positions == part.positions[:-1]).all()
    away = np.abs(found.normals - part.normals[:-1]).max(axis=1)
    assert away.max() <= 4e-3
