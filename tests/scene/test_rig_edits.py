# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of owners, bones and armature of an imported model are local."""

from __future__ import annotations

from pathlib import Path

import bpy
import mathutils
import numpy as np
import pytest
from addon.io_carnivores.formats.model import label

from .helpers import models, scene
from .helpers.edited import Case


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, models.regular())


def test_assign_a_vertex_to_another_group(case: Case) -> None:
    """As the Assign button does: it leaves the vertex in the old group, so both weigh the same."""
    case.obj.vertex_groups["Schwänzchen"].add([0], 1.0, "REPLACE")
    case.obj.vertex_groups["Root"].add([len(case.model.vertices) - 1], 1.0, "REPLACE")
    assert case.changes() == {"vertices.owner": [0, len(case.model.vertices) - 1]}
    assert case.result().vertices["owner"][[0, -1]].tolist() == [3, 0]


def test_move_a_vertex_to_another_group(case: Case) -> None:
    case.obj.vertex_groups["Root"].remove([0])
    case.obj.vertex_groups["Leg.001"].add([0], 0.4, "REPLACE")
    assert case.changes() == {"vertices.owner": [0]}
    assert case.result().vertices["owner"][0] == 2


def test_groups_that_are_no_bones_do_not_count(case: Case) -> None:
    case.obj.vertex_groups.new(name="Selection of mine").add([0, 5], 1.0, "REPLACE")
    assert case.changes() == {}


def test_rename_a_bone(case: Case) -> None:
    case.rig.data.bones["Leg.001"].name = "Right Arm"
    assert case.changes() == {"bones.name": [2]}
    assert label(bytes(case.result().bones["name"][2])) == "Right Arm"


def test_rename_a_bone_to_a_numbered_name(case: Case) -> None:
    """What is seen is what is written."""
    case.rig.data.bones["Root"].name = "Spine.007"
    assert label(bytes(case.result().bones["name"][0])) == "Spine.007"


def test_move_a_bone(case: Case) -> None:
    with scene.edit_mode(case.rig):
        bone = case.rig.data.edit_bones["Leg"]
        bone.translate(mathutils.Vector((4, 0, 0)))
    assert case.changes() == {"bones.position": [1]}
    moved = case.result().bones["position"][1] - case.model.bones["position"][1]
    assert np.allclose(moved, (4, 0, 0), atol=1e-3)


def test_reparent_a_bone(case: Case) -> None:
    with scene.edit_mode(case.rig):
        bones = case.rig.data.edit_bones
        bones["Leg.001"].parent = bones["Leg"]
    assert case.changes() == {"bones.parent": [2]}
    assert case.result().bones["parent"][2] == 1


def test_add_a_bone(case: Case) -> None:
    with scene.edit_mode(case.rig):
        bone = case.rig.data.edit_bones.new("Jaw")
        bone.head, bone.tail = (1, 2, 3), (4, 5, 6)
        bone.parent = case.rig.data.edit_bones["Schwänzchen"]
    after = case.result()
    assert after.bones[:4].tobytes() == case.model.bones.tobytes()
    assert label(bytes(after.bones["name"][4])) == "Jaw"
    assert after.bones["parent"][4] == 3
    assert np.allclose(after.bones["position"][4], (1, 3, 2), atol=1e-3)
    assert after.vertices.tobytes() == case.model.vertices.tobytes()


def test_duplicate_a_bone(case: Case) -> None:
    with scene.edit_mode(case.rig, "none"):
        bone = case.rig.data.edit_bones["Leg"]
        bone.select = bone.select_head = bone.select_tail = True
        bpy.ops.armature.duplicate()
    after = case.result()
    assert len(after.bones) == 5
    assert after.bones[:4].tobytes() == case.model.bones.tobytes()
    assert after.vertices.tobytes() == case.model.vertices.tobytes()


def _delete_bone(case: Case, name: str) -> None:
    with scene.edit_mode(case.rig):
        case.rig.data.edit_bones.remove(case.rig.data.edit_bones[name])


def test_delete_a_bone(case: Case) -> None:
    """Its vertices go to its parent; the others keep their bone under its new number."""
    _delete_bone(case, "Leg")
    after = case.result()
    assert after.bones.tobytes() == np.delete(case.model.bones, 1).tobytes()
    owner = np.array([0, 0, 1, 2])[case.model.vertices["owner"]]
    assert np.array_equal(after.vertices["owner"], owner)


def test_delete_a_bone_below_another(tmp_path: Path) -> None:
    model = models.regular()
    model.bones["parent"] = [-1, 0, 1, 2]
    case = Case(tmp_path, model)
    _delete_bone(case, "Leg.001")
    _delete_bone(case, "Schwänzchen")
    after = case.result()
    assert after.bones.tobytes() == model.bones[:2].tobytes()
    assert np.array_equal(after.vertices["owner"], np.array([0, 1, 1, 1])[model.vertices["owner"]])


@pytest.mark.parametrize("scale", [1 / 32, 0.01])
@pytest.mark.parametrize("clear", ["delete", "remove", "unparent"])
def test_delete_the_armature(tmp_path: Path, scale: float, clear: str) -> None:
    """Nothing changes: not the size in the scene, not the file."""
    data, obj = scene.bring_model(tmp_path / "a.3df", models.odd(), global_scale=scale)
    bpy.context.view_layer.update()
    before = np.array(obj.matrix_world)
    if clear == "delete":
        scene.select(obj.parent)
        bpy.ops.object.delete()
    elif clear == "remove":
        bpy.data.armatures.remove(obj.parent.data)
    else:
        scene.select(obj)
        bpy.ops.object.parent_clear(type="CLEAR")
    bpy.context.view_layer.update()
    assert np.allclose(np.array(obj.matrix_world), before, rtol=1e-6)
    assert scene.export(tmp_path / "b.3df", obj) == data
