# SPDX-License-Identifier: GPL-3.0-or-later
"""An imported model moved, copied, separated, joined, modified."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import bpy
import mathutils
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df

from .helpers import models, scene
from .helpers.edited import Case, triangles


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, models.regular())


@pytest.fixture
def odd(tmp_path: Path) -> Case:
    return Case(tmp_path, models.odd())


@pytest.mark.parametrize("which", ["both", "armature", "mesh"])
def test_apply_the_scale(case: Case, which: str) -> None:
    chosen = {"both": (case.rig, case.obj), "armature": (case.rig,), "mesh": (case.obj,)}[which]
    scene.select(*chosen)
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    assert case.changes() == {}


def test_move_the_object(case: Case) -> None:
    case.rig.location = (1, 2, 3)
    assert case.changes() == {
        "vertices.position": list(range(len(case.model.vertices))),
        "bones.position": [0, 1, 2, 3],
    }
    after = case.result()
    for table in ("vertices", "bones"):
        moved = getattr(after, table)["position"] - getattr(case.model, table)["position"]
        assert np.allclose(moved, (32, 96, 64), atol=1e-3)
    assert case.changes(use_transform=False) == {}


def test_turn_the_object(case: Case) -> None:
    case.rig.rotation_euler = (0, 0, np.pi / 2)
    after = case.result()
    x, y, z = case.model.vertices["position"].T
    # A quarter turn about Blender's z, which is the file's y.
    assert np.allclose(after.vertices["position"], np.stack((-z, y, x), axis=1), atol=1e-3)
    assert models.volume(after.vertices["position"], after.faces["corner"]) > 0
    assert case.changes(use_transform=False) == {}


def test_mirror_the_object(case: Case) -> None:
    """A negative scale turns the model inside out in the numbers, not in the game."""
    case.rig.scale.x *= -1
    after = case.result()
    assert np.allclose(after.vertices["position"], case.model.vertices["position"] * (-1, 1, 1), atol=1e-3)
    assert models.volume(after.vertices["position"], after.faces["corner"]) > 0
    expected = case.model.faces
    order = [0, 2, 1]
    for name in ("corner", "u", "v"):
        assert np.array_equal(after.faces[name], expected[name][:, order])


def test_scale_the_object(case: Case) -> None:
    case.rig.scale = (2 / 32,) * 3
    assert np.allclose(case.result().vertices["position"], case.model.vertices["position"] * 2, rtol=1e-6)


def test_duplicate_the_object(case: Case) -> None:
    scene.select(case.rig, case.obj)
    bpy.ops.object.duplicate()
    copy = next(obj for obj in bpy.context.selected_objects if obj.type == "MESH")
    assert copy != case.obj
    assert scene.export(case.folder / "copy.3df", copy) == case.data
    assert case.changes() == {}


def test_linked_duplicate_in_another_place(case: Case) -> None:
    copy = case.obj.copy()
    copy.parent = None
    copy.modifiers.clear()
    copy.matrix_world = mathutils.Matrix.Translation((1, 0, 0)) @ mathutils.Matrix.Scale(1 / 32, 4)
    bpy.context.scene.collection.objects.link(copy)
    written = model_3df.read(scene.export(case.folder / "copy.3df", copy))
    assert np.allclose(written.vertices["position"] - case.model.vertices["position"], (32, 0, 0), atol=1e-3)
    assert case.changes() == {}


def test_separate(odd: Case) -> None:
    scene.pick(odd.obj.data, "FACE", *range(30, len(odd.obj.data.polygons)))
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.separate(type="SELECTED")
    parts = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    assert len(parts) == 2
    written = [model_3df.read(scene.export(odd.folder / f"part{n}.3df", part)) for n, part in enumerate(parts)]
    for model in written:
        assert model.bones.tobytes() == odd.model.bones.tobytes()
        assert model.texels.tobytes() == odd.model.texels.tobytes()
        assert int(model.faces["corner"].max()) < len(model.vertices)
    whole = [face for face in triangles(odd.model) if len({corner[:3] for corner in face[:3]}) == 3]
    joined = sum((triangles(model) for model in written), Counter())
    assert not [face for face in whole if face not in joined]


def test_join_with_another_model(tmp_path: Path) -> None:
    """Ctrl+J of two imports: faces of both, each vertex on the bone of its name, one texture with both pictures."""
    first = Case(tmp_path, models.odd())
    second = models.regular(60, seed=5)
    second.vertices["position"] += np.float32(300)
    second.bones["name"][3] = np.void(b"Fin".ljust(32, b"\0"))
    _data, other = scene.bring_model(tmp_path / "other.3df", second)
    scene.select(first.obj, other)
    bpy.ops.object.join()
    after = first.result()
    assert len(after.faces) == len(first.model.faces) + len(second.faces)
    assert len(after.vertices) == len(first.model.vertices) + len(second.vertices)
    assert after.bones.tobytes() == first.model.bones.tobytes()
    size = len(first.model.vertices)
    assert np.array_equal(after.vertices["owner"][:size], first.model.vertices["owner"])
    # Root and the legs are there in both; a fin is not known to the first one's armature.
    expected = np.where(second.vertices["owner"] == 3, 0, second.vertices["owner"])
    assert np.array_equal(after.vertices["owner"][size:], expected)
    assert np.allclose(after.vertices["position"][size:], second.vertices["position"], atol=1e-3)
    flags = np.concatenate((first.model.faces["flags"], second.faces["flags"]))
    assert Counter(after.faces["flags"].tolist()) == Counter(flags.tolist())
    assert len(after.texels) <= 256
    corner = after.faces["corner"]
    assert int(corner.max()) < len(after.vertices)
    # Degenerate faces of the first model still lie on its own vertices.
    repeated = (corner[:, 0] == corner[:, 1]) | (corner[:, 1] == corner[:, 2]) | (corner[:, 2] == corner[:, 0])
    old = first.model.faces["corner"]
    assert int(repeated.sum()) == 3
    assert int(corner[repeated].max()) < size
    assert {tuple(face) for face in corner[repeated].tolist()} == {tuple(old[n].tolist()) for n in (0, 11, -1)}


def test_join_of_two_imports_of_one_file_keeps_the_texture(tmp_path: Path) -> None:
    first = Case(tmp_path, models.regular())
    other = next(obj for obj in scene.bring(tmp_path / "beast.3df") if obj.type == "MESH")
    other.parent.location.x += 10
    scene.select(first.obj, other)
    bpy.ops.object.join()
    after = first.result()
    assert after.texels.tobytes() == first.model.texels.tobytes()
    assert np.array_equal(after.faces["v"], np.tile(first.model.faces["v"], (2, 1)))


def test_join_a_new_mesh_into_an_imported_one(case: Case) -> None:
    """The new faces take their flags from their material, the old ones keep theirs."""
    mesh = bpy.data.meshes.new("new")
    mesh.from_pydata([(0, 0, 9), (1, 0, 9), (0, 1, 9)], [], [(0, 1, 2)])
    material = bpy.data.materials.new("two sides")
    material.use_backface_culling = False
    mesh.materials.append(material)
    new = bpy.data.objects.new("new", mesh)
    bpy.context.scene.collection.objects.link(new)
    scene.select(case.obj, new)
    bpy.ops.object.join()
    after = case.result()
    assert np.array_equal(after.faces["flags"][:-1], case.model.faces["flags"])
    assert after.faces["flags"][-1] == 1
    assert after.faces["next"][-1] == -1
    assert np.allclose(after.vertices["position"][-3:], np.array([(0, 9, 0), (1, 9, 0), (0, 9, 1)]) * 32, atol=1e-3)


def test_a_modifier_on_an_import(odd: Case) -> None:
    """Applied on the rest pose, with the picture, the bones and the flags still there; not when it is switched off."""
    odd.obj.modifiers.new("Mirror", "MIRROR").use_mirror_merge = False
    odd.rig.pose.bones["Leg"].location = (0, 50, 0)
    bpy.context.view_layer.update()
    after = odd.result()
    shown = len(odd.obj.data.polygons)
    assert len(after.faces) == len(odd.model.faces) + shown
    assert after.bones.tobytes() == odd.model.bones.tobytes()
    assert after.texels.tobytes() == odd.model.texels.tobytes()
    size = len(odd.model.vertices)
    assert np.array_equal(after.vertices["position"][:size], odd.model.vertices["position"])
    assert np.array_equal(after.vertices["position"][size:], odd.model.vertices["position"] * np.float32((-1, 1, 1)))
    assert odd.changes(use_mesh_modifiers=False) == {}


def test_shape_keys_count_as_mixed(case: Case) -> None:
    case.obj.shape_key_add(name="Basis")
    key = case.obj.shape_key_add(name="up")
    key.data[7].co.z += 10
    key.value = 0.5
    assert case.changes() == {"vertices.position": [7]}
    moved = case.result().vertices["position"][7] - case.model.vertices["position"][7]
    assert np.allclose(moved, (0, 5, 0), atol=1e-3)
    key.value = 0
    assert case.changes() == {}
