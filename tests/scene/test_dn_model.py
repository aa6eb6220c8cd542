# SPDX-License-Identifier: GPL-3.0-or-later
"""What an imported Dragon Nest model looks like in Blender: places, sides, winding, UVs, rest and motion."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_common.scene import mesh as meshes
from addon.io_dragonnest.formats import ani, msh, names, pose, rig, space, submesh, triangles
from addon.io_dragonnest.scene import rig as rigs
from mathutils import Matrix

from tests import dragons
from tests.scene.helpers import dragon_scene

HEIGHT = 1e-4  # of the model's height: what positions may be off


def odd_binds(model: msh.Msh) -> msh.Msh:
    """`model` with mirrored and unevenly scaled bind matrices, as real files have some."""
    world = dragons.bind_matrices()
    world[3, :3] *= np.array([1.0, 1.0, -1.0])[:, None]
    world[5, :3] *= np.array([2.0, -0.5, 1.0])[:, None]
    model.bones["inverse_bind"] = rig.inverses(world)
    return model


def shown(obj: bpy.types.Object) -> np.ndarray:
    """(V, 3): where the evaluated mesh has its vertices in the world, in file axes."""
    bpy.context.view_layer.update()
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    found = meshes.get_positions(evaluated.data) @ matrix[:3, :3].T + matrix[:3, 3]
    return space.AXES.undo(found)


def height(model: msh.Msh) -> float:
    return float(np.ptp(np.concatenate([part.positions for part in model.submeshes]), axis=0).max())


@pytest.mark.samples("dragonnest/synthetic/*.msh")
def test_samples_at_rest(sample: Path) -> None:
    model = msh.read(sample.read_bytes())
    dragon_scene.bring(sample)
    for obj, part in zip(dragon_scene.meshes(), model.submeshes, strict=True):
        assert np.abs(shown(obj) * 100 - part.positions).max() <= HEIGHT * height(model)


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("direction", ["CHILD", "STORED"])
def test_made_at_rest(tmp_path: Path, scale: float, direction: str) -> None:
    model = odd_binds(dragons.model())
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh", global_scale=scale, bone_direction=direction)
    for obj, part in zip(dragon_scene.meshes(), model.submeshes, strict=True):
        assert np.abs(shown(obj) / scale - part.positions).max() <= HEIGHT * height(model)


@pytest.mark.parametrize("direction", ["CHILD", "STORED"])
def test_in_motion(tmp_path: Path, direction: str) -> None:
    """Every bone where the game has it: vertices and what hangs on bones follow, mirrored and scaled binds too."""
    model = odd_binds(dragons.model())
    dragon_scene.save(tmp_path / "a.msh", model)
    clip = dragons.animation()
    (tmp_path / "A.ANI").write_bytes(ani.write(clip))
    dragon_scene.bring(tmp_path / "a.msh", global_scale=1.0, bone_direction=direction)
    matrices = pose.matched_world(model.bone_names, clip, pose.clip_world(clip, 0, [7.0]))
    expected = [pose.skinned(model, part, pose.skin_matrices(model, matrices))[0] for part in model.submeshes]
    armature = dragon_scene.rig()
    state = rigs.state(armature)
    world = space.to_blender_matrix(matrices[0])
    for row in np.argsort([len(bone.parent_recursive) for bone in armature.data.bones], kind="stable").tolist():
        at = model.bone_names.index(state.names[row])
        placed = world[at] @ np.linalg.inv(state.bind[row]) @ state.rest[row]
        armature.pose.bones[row].matrix = Matrix(placed.tolist())
        bpy.context.view_layer.update()
    for obj, vertices in zip(dragon_scene.meshes(), expected, strict=True):
        assert np.abs(shown(obj) - vertices).max() <= HEIGHT * height(model)
    place = _dummy_place("#effect01")
    bone = model.bone_names.index("Bip01 R Thigh")
    assert np.abs(place - (model.dummies[0].matrix.astype(float) @ matrices[0, bone])[3, :3]).max() < 1e-3


def _dummy_place(name: str) -> np.ndarray:
    obj = bpy.data.objects[name]
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return space.AXES.undo(np.array(obj.matrix_world.translation))


def test_sides(tmp_path: Path) -> None:
    """Left at +X, up +Z, facing -Y: the file has left at +x, up +y, facing -z."""
    part = dragons.part()
    part.positions = part.positions.copy()
    part.positions[:3] = [(7, 0, 0), (0, 8, 0), (0, 0, -9)]
    dragon_scene.save(tmp_path / "a.msh", msh.Msh(13, [part]))
    dragon_scene.bring(tmp_path / "a.msh", global_scale=1.0)
    positions = meshes.get_positions(dragon_scene.meshes()[0].data)
    assert positions[:3].tolist() == [[7, 0, 0], [0, 0, 8], [0, -9, 0]]


@pytest.mark.samples("dragonnest/synthetic/*.msh")
def test_faces_look_along_their_normals(sample: Path) -> None:
    model = msh.read(sample.read_bytes())
    dragon_scene.bring(sample)
    for obj, part in zip(dragon_scene.meshes(), model.submeshes, strict=True):
        mesh = obj.data
        corner = meshes.get_triangles(mesh).vertex
        positions = meshes.get_positions(mesh).astype(np.float64)
        a, b, c = (positions[corner[:, k]] for k in range(3))
        faces = np.cross(b - a, c - a)
        along = np.einsum("ij,ij->i", faces, meshes.get_corner_normals(mesh).reshape(-1, 3, 3).mean(axis=1))
        # As many as in the file, where the cross product points along the normal.
        own = triangles.of(part).corners
        a, b, c = (part.positions[own[:, k]].astype(np.float64) for k in range(3))
        there = np.einsum("ij,ij->i", np.cross(b - a, c - a), part.normals[own].mean(axis=1))
        assert ((along > 0) == (there > 0)).mean() > 0.99
        assert (along > 0).mean() > 0.5


def test_uvs_have_their_origin_at_the_bottom(tmp_path: Path) -> None:
    part = dragons.part(uv_sets=3)
    dragon_scene.save(tmp_path / "a.msh", msh.Msh(13, [part]))
    dragon_scene.bring(tmp_path / "a.msh")
    mesh = dragon_scene.meshes()[0].data
    corner = meshes.get_triangles(mesh).vertex.reshape(-1)
    assert [layer.name for layer in mesh.uv_layers] == ["UVMap", "UVMap_1", "UVMap_2"]
    for uv, stored in zip(meshes.get_uvs(mesh), part.uvs, strict=True):
        assert np.abs(uv - (stored * [1, -1] + [0, 1])[corner]).max() < 1e-6


def test_normals_and_colours(tmp_path: Path) -> None:
    part = dragons.part(colours=True)
    dragon_scene.save(tmp_path / "a.msh", msh.Msh(13, [part]))
    dragon_scene.bring(tmp_path / "a.msh")
    mesh = dragon_scene.meshes()[0].data
    corner = meshes.get_triangles(mesh).vertex.reshape(-1)
    assert np.abs(space.AXES.undo(meshes.get_corner_normals(mesh)) - part.normals[corner]).max() < 5e-3
    colours, domain = meshes.get_colours(mesh)
    assert domain == "POINT"
    assert (colours == part.colours[:, [2, 1, 0, 3]]).all()
    assert mesh.color_attributes[0].data_type == "BYTE_COLOR"


def test_weights(tmp_path: Path) -> None:
    model = dragons.character()
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    obj = dragon_scene.meshes()[0]
    part = model.submeshes[0]
    slots, weights, _lost = submesh.influences(part)
    labels = names.texts(part.skin.names)
    for number, vertex in enumerate(obj.data.vertices):
        here = {obj.vertex_groups[entry.group].name: entry.weight for entry in vertex.groups}
        there = {labels[s]: w for s, w in zip(slots[number], weights[number], strict=True) if w > 0}
        assert here == pytest.approx(there)


def test_degenerate_triangles_stay_out_and_duplicates_stay_in(tmp_path: Path) -> None:
    part = dragons.part()
    part.indices = np.concatenate((part.indices, part.indices[:3], [0, 0, 1])).astype("<u2")
    data = dragon_scene.save(tmp_path / "a.msh", msh.Msh(13, [part], maximum=np.float32([1, 2, 3])))
    dragon_scene.bring(tmp_path / "a.msh")
    assert len(dragon_scene.meshes()[0].data.polygons) == len(part.indices) // 3 - 1
    assert dragon_scene.export(tmp_path / "b.msh") == data


class TestHierarchy:
    """Where parents come from, and that the armature says so."""

    def test_from_the_ani_beside(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "Hero.msh", dragons.character())
        (tmp_path / "hero.ANI").write_bytes(ani.write(dragons.animation()))
        dragon_scene.bring(tmp_path / "Hero.msh")
        armature = dragon_scene.rig()
        assert armature.data["dragonnest_hierarchy"] == "ANI"
        assert armature.data["dragonnest_hierarchy_from"] == "hero.ANI"
        found = [bone.parent.name if bone.parent else None for bone in map(armature.data.bones.get, dragons.BONES)]
        assert found == [dragons.BONES[row] if row >= 0 else None for row in dragons.PARENTS]

    def test_chosen(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        (tmp_path / "other.ani").write_bytes(ani.write(dragons.animation()))
        dragon_scene.bring(tmp_path / "a.msh", hierarchy_from="other.ani")
        assert dragon_scene.rig().data["dragonnest_hierarchy"] == "ANI"

    def test_chosen_but_missing_is_refused(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        with pytest.raises(RuntimeError, match=r"none\.ani: the file does not exist"):
            dragon_scene.bring(tmp_path / "a.msh", hierarchy_from="none.ani")
        assert not bpy.data.objects

    def test_guessed(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        dragon_scene.bring(tmp_path / "a.msh")
        armature = dragon_scene.rig()
        assert armature.data["dragonnest_hierarchy"] == "INFERRED"
        assert armature.data.bones["Bip01 Head"].parent.name == "Bip01 Spine"

    def test_a_damaged_ani_beside_does_not_stop_the_model(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        (tmp_path / "a.ani").write_bytes(ani.write(dragons.animation())[:2000])
        dragon_scene.bring(tmp_path / "a.msh")
        assert dragon_scene.rig().data["dragonnest_hierarchy"] == "INFERRED"


def test_collections(tmp_path: Path) -> None:
    dragon_scene.save(tmp_path / "Hero.msh", dragons.model())
    dragon_scene.bring(tmp_path / "Hero.msh")
    home = bpy.data.collections["Hero"]
    assert [child.name for child in home.children] == ["Hero Collisions", "Hero Dummies"]
    assert len(home.children[0].objects) == 5
    assert len(home.children[1].objects) == 4
    visible = set(bpy.context.view_layer.objects)
    assert not visible & set(home.children[0].objects)
    assert not visible & set(home.children[1].objects)


def test_without_bones(tmp_path: Path) -> None:
    data = dragon_scene.save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh", use_bones=False, use_collection=False)
    assert not [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert dragon_scene.export(tmp_path / "b.msh") == data


def test_rigid_parts_may_stand_still(tmp_path: Path) -> None:
    data = dragon_scene.save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh", use_rigid=False)
    assert bpy.data.objects["Blade"].parent_type == "OBJECT"
    assert dragon_scene.export(tmp_path / "b.msh") == data
