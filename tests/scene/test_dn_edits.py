# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of imported Dragon Nest models change what was edited, and nothing else."""

from __future__ import annotations

from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import mesh as meshes
from addon.io_dragonnest.formats import msh, names, triangles
from addon.io_dragonnest.formats.dummy import Dummy
from addon.io_dragonnest.scene import extract_msh
from addon.io_dragonnest.scene.options import ExportMshOptions

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


def test_a_moved_vertex(made: bytes, tmp_path: Path) -> None:
    mesh = dragon_scene.meshes()[0].data
    mesh.vertices[4].co.z += 100
    mesh.update()
    after = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    assert dragon_scene.differences(made, after) == {"sub-mesh 0 position 4, xyz 1", "header, maximum 1"}


def test_a_vertex_moved_within_the_box_in_edit_mode(made: bytes, tmp_path: Path) -> None:
    obj = dragon_scene.meshes()[0]
    with scene.edit_mode(obj):
        bm = bmesh.from_edit_mesh(obj.data)
        bm.verts.ensure_lookup_table()
        bm.verts[5].co.x -= 0.25
        bmesh.update_edit_mesh(obj.data)
    after = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    assert dragon_scene.differences(made, after) == {"sub-mesh 0 position 5, xyz 0"}


def test_a_uv(made: bytes, tmp_path: Path) -> None:
    mesh = dragon_scene.meshes()[1].data
    corners = np.flatnonzero(meshes.get_triangles(mesh).vertex.reshape(-1) == 4)
    for corner in corners.tolist():
        mesh.uv_layers[1].uv[corner].vector.x = 0.125
    after = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    assert dragon_scene.differences(made, after) == {"sub-mesh 1 UV set 1 vertex 4, uv 0"}


def test_a_uv_of_one_corner_splits_the_vertex(made: bytes, tmp_path: Path) -> None:
    before = msh.read(made).submeshes[1]
    mesh = dragon_scene.meshes()[1].data
    corner = int(np.flatnonzero(meshes.get_triangles(mesh).vertex.reshape(-1) == 4)[0])
    mesh.uv_layers[0].uv[corner].vector = (0.5, 0.25)
    found = again(tmp_path).submeshes[1]
    count = len(before.positions)
    assert len(found.positions) == count + 1
    assert (found.positions[:count] == before.positions).all()
    assert (found.positions[count] == before.positions[4]).all()
    assert found.uvs[0][count].tolist() == [0.5, 0.75]
    assert (found.uvs[1:, count] == before.uvs[1:, 4]).all()
    assert found.skin.weights[count].tolist() == before.skin.weights[4].tolist()
    assert found.is_strip
    assert len(triangles.of(found).corners) == len(triangles.of(before).corners)


def test_a_colour(made: bytes, tmp_path: Path) -> None:
    dragon_scene.meshes()[1].data.color_attributes[0].data[3].color_srgb = (1.0, 0.0, 0.2, 0.0)
    after = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    assert {entry.rpartition(",")[0] for entry in dragon_scene.differences(made, after)} == {"sub-mesh 1 colour 3"}
    assert msh.read(after).submeshes[1].colours[3].tolist() == [51, 0, 255, 0]


def test_painting_modes_alone_change_nothing(made: bytes, tmp_path: Path) -> None:
    """Blender gives a mesh colours when Vertex Paint is entered, white ones."""
    for thing in dragon_scene.meshes():
        scene.select(thing)
        for mode in ("SCULPT", "VERTEX_PAINT", "WEIGHT_PAINT", "TEXTURE_PAINT"):
            bpy.ops.object.mode_set(mode=mode)
            bpy.ops.object.mode_set(mode="OBJECT")
    assert any(len(thing.data.color_attributes) for thing in dragon_scene.meshes()[2:])
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == made


@pytest.mark.parametrize(("shade", "written"), [(1.0, False), (0.5, True)])
def test_colours_that_are_new(shade: float, written: bool, made: bytes, tmp_path: Path) -> None:
    mesh = dragon_scene.meshes()[0].data
    assert msh.read(made).submeshes[0].colours is None
    found = mesh.color_attributes.new("Colour", "BYTE_COLOR", "POINT")
    found.data.foreach_set("color_srgb", np.tile([shade, 1.0, 1.0, 1.0], len(found.data)).astype("f4"))
    after = msh.read(dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()))
    assert (after.submeshes[0].colours is not None) == written


def test_weights(made: bytes, tmp_path: Path) -> None:
    obj = dragon_scene.meshes()[0]
    for group, weight in (
        ("Bip01 Head", 0.2),
        ("Bip01", 0.6),
        ("Bip01 Spine", 0.2),
        ("Bip01 Pelvis", 0.9),
        ("Bip01 L Thigh", 0.1),
    ):
        obj.vertex_groups[group].add([2], weight, "REPLACE")
    obj.vertex_groups["Bip01 R Thigh"].remove([2])
    after = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    places = {entry.partition(",")[0] for entry in dragon_scene.differences(made, after)}
    assert places == {"sub-mesh 0 vertex 2"}
    skin = msh.read(after).submeshes[0].skin
    labels = names.texts(skin.names)
    assert [labels[slot] for slot in skin.slots[2]] == ["Bip01 Pelvis", "Bip01", "Bip01 Spine", "Bip01 Head"]
    assert skin.weights[2] == pytest.approx(np.array([0.9, 0.6, 0.2, 0.2]) / 1.9)
    said = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert '1 vertex of "Body" follows more than four bones' in said
    assert "the others had up to 5 % of the weight" in said


def test_a_group_that_is_no_bone_is_left_out(made: bytes, tmp_path: Path) -> None:
    dragon_scene.meshes()[0].vertex_groups.new(name="Selection").add([0, 1], 1.0, "REPLACE")
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == made
    text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert '"Selection" is no bone' in text


def test_a_renamed_bone(made: bytes, tmp_path: Path) -> None:
    dragon_scene.rig().data.bones["Bip01 Head"].name = "Kopf"
    model = again(tmp_path)
    assert model.bone_names[3] == "Kopf"
    assert "Kopf" in names.texts(model.submeshes[0].skin.names)
    before = msh.read(made)
    assert (model.submeshes[0].skin.slots == before.submeshes[0].skin.slots).all()
    assert bytes(model.bones["name"][2]) == bytes(before.bones["name"][2])


def test_a_moved_bone_changes_its_bind_matrix_and_what_hangs_on_it(made: bytes, tmp_path: Path) -> None:
    with scene.edit_mode(dragon_scene.rig()):
        bone = dragon_scene.rig().data.edit_bones["머리카락"]
        bone.head.z += 1.5
        bone.tail.z += 1.5
    after = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    places = {entry.partition(",")[0].partition(" byte")[0] for entry in dragon_scene.differences(made, after)}
    assert places == {"bone 6", "collision 3"}
    moved = msh.read(after).bones["inverse_bind"][6] - msh.read(made).bones["inverse_bind"][6]
    assert np.abs(moved[3, :3]).max() > 1
    assert np.abs(moved[:3]).max() < 1e-6


def test_a_deleted_bone_loses_its_row_and_its_weights(made: bytes, tmp_path: Path) -> None:
    with scene.edit_mode(dragon_scene.rig()):
        bones = dragon_scene.rig().data.edit_bones
        bones.remove(bones["Bip01 Head"])
    model = again(tmp_path)
    assert "Bip01 Head" not in model.bone_names
    skin = model.submeshes[0].skin
    assert "Bip01 Head" not in names.texts(skin.names)
    assert ((np.abs(skin.weights.sum(axis=1) - 1) < 1e-5) | (skin.weights.sum(axis=1) == 0)).all()


def test_a_renamed_and_a_deleted_sub_mesh(made: bytes, tmp_path: Path) -> None:
    first, _second, third, fourth = dragon_scene.meshes()
    first.name = "Body2"
    bpy.data.objects.remove(third)
    bpy.data.objects.remove(fourth)
    model = again(tmp_path)
    assert [part.label for part in model.submeshes] == ["Body2", "Hair_0"]
    assert bytes(model.submeshes[1].name) == bytes(msh.read(made).submeshes[1].name)


def test_an_added_sub_mesh_comes_last(made: bytes, tmp_path: Path) -> None:
    mesh = bpy.data.meshes.new("New")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [], [(0, 1, 2)])
    obj = bpy.data.objects.new("New", mesh)
    bpy.context.collection.objects.link(obj)
    obj.parent = dragon_scene.rig()
    data = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes(), obj)
    before, after = msh.read(made), msh.read(data)
    assert [part.label for part in after.submeshes] == [*(part.label for part in before.submeshes), "New"]
    assert after.submeshes[-1].positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_the_parent_bone_of_a_rigid_part(made: bytes, tmp_path: Path) -> None:
    blade = bpy.data.objects["Blade"]
    scene.select(blade)
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    rig = dragon_scene.rig()
    blade.parent, blade.parent_type, blade.parent_bone = rig, "BONE", "Bip01 Head"
    model = again(tmp_path)
    assert names.text(model.submeshes[2].parent) == "Bip01 Head"


def test_versions(made: bytes, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match='the dummy "Lamp" has no parent'):
        again(tmp_path, version="10")
    bpy.data.objects.remove(bpy.data.objects["Lamp"])
    for version in (10, 11, 12):
        model = again(tmp_path, version=str(version))
        assert model.version == version
        assert [len(part.positions) for part in model.submeshes] == [
            len(part.positions) for part in msh.read(made).submeshes
        ]
        assert model.trailing == b""


def test_layouts(made: bytes, tmp_path: Path) -> None:
    before = msh.read(made)
    for layout, strip in (("LIST", False), ("STRIP", True)):
        model = again(tmp_path, face_layout=layout)
        for old, new in zip(before.submeshes, model.submeshes, strict=True):
            assert new.is_strip is strip
            a, b = (np.unique(triangles.turned(triangles.of(part).corners), axis=0) for part in (old, new))
            assert (a == b).all()


def test_materials_make_sub_meshes(made: bytes, tmp_path: Path) -> None:
    obj = dragon_scene.meshes()[0]
    for name in ("Skin", "Cloth"):
        obj.data.materials.append(bpy.data.materials.new(name))
    values = np.arange(len(obj.data.polygons)) % 2
    obj.data.polygons.foreach_set("material_index", values.astype(np.int32))
    model = again(tmp_path)
    assert [part.label for part in model.submeshes][:3] == ["Body_0", "Body_1", "Hair_0"]
    old = msh.read(made).submeshes[0]
    assert sum(len(part.indices) for part in model.submeshes[:2]) == len(old.indices)


def test_only_what_is_selected(made: bytes, tmp_path: Path) -> None:
    model = msh.read(dragon_scene.export(tmp_path / "b.msh", dragon_scene.meshes()[1]))
    assert [part.label for part in model.submeshes] == ["Hair_0"]
    assert len(model.bones) == len(msh.read(made).bones)
    assert len(model.collisions) == 5


def test_the_place_of_the_armature_does_not_count(made: bytes, tmp_path: Path) -> None:
    dragon_scene.rig().location = (5, 6, 7)
    dragon_scene.rig().rotation_euler = (0.1, 0.2, 0.3)
    dragon_scene.rig().pose.bones["Bip01 Spine"].location = (3, 2, 1)
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == made


def test_a_copied_sub_mesh_is_a_new_one_behind_the_old(made: bytes, tmp_path: Path) -> None:
    scene.select(dragon_scene.meshes()[0])
    bpy.ops.object.duplicate()
    model = again(tmp_path)
    assert [part.label for part in model.submeshes][:3] == ["Body", "Body.001", "Hair_0"]
    assert bytes(model.submeshes[0].name) == bytes(msh.read(made).submeshes[0].name)


def test_a_copy_of_the_whole_is_another_file(made: bytes, tmp_path: Path) -> None:
    objects = [dragon_scene.rig(), *dragon_scene.meshes()]
    scene.select(*objects)
    bpy.ops.object.duplicate()
    (tmp_path / "out").mkdir()
    scene.select(*bpy.context.view_layer.objects)
    bpy.ops.export_scene.dragonnest_msh(filepath=str(tmp_path / "out" / "x.msh"), use_check=False)
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) == 2
    assert made in [path.read_bytes() for path in files]


def test_joined_sub_meshes(made: bytes, tmp_path: Path) -> None:
    first, second, _third, _fourth = dragon_scene.meshes()
    scene.select(first, second)
    bpy.ops.object.join()
    before, after = msh.read(made), again(tmp_path)
    assert [part.label for part in after.submeshes] == ["Body", "Blade", "파란 망토"]
    old, new = before.submeshes, after.submeshes[0]
    count = len(old[0].positions)
    assert (new.positions == np.concatenate((old[0].positions, old[1].positions))).all()
    assert (new.skin.weights[:count] == old[0].skin.weights).all()
    labels, there = names.texts(new.skin.names), names.texts(old[1].skin.names)
    for row in range(len(old[1].positions)):
        now = {
            labels[s]: w
            for s, w in zip(new.skin.slots[count + row], new.skin.weights[count + row], strict=True)
            if w > 0
        }
        was = {there[s]: w for s, w in zip(old[1].skin.slots[row], old[1].skin.weights[row], strict=True) if w > 0}
        assert now == pytest.approx(was, abs=1e-6)


def test_two_files_joined_into_one(made: bytes, tmp_path: Path) -> None:
    dragon_scene.bring(tmp_path / "a.msh", existing_armature="ALWAYS")
    model = msh.read(dragon_scene.export(tmp_path / "b.msh", dragon_scene.rig(), use_join=True))
    labels = [part.label for part in msh.read(made).submeshes]
    assert [part.label for part in model.submeshes] == labels + labels
    assert len(model.bones) == len(msh.read(made).bones)
    assert len(model.dummies) == 8


def test_reordered(made: bytes, tmp_path: Path) -> None:
    for obj, order in zip(dragon_scene.meshes(), (3, 1, 4, 2), strict=True):
        obj.data["dragonnest_order"] = order
    assert [part.label for part in again(tmp_path).submeshes] == ["Hair_0", "파란 망토", "Body", "Blade"]


def test_subdivided(made: bytes, tmp_path: Path) -> None:
    obj = dragon_scene.meshes()[0]
    with scene.edit_mode(obj, "all"):
        bpy.ops.mesh.subdivide()
    before, part = msh.read(made).submeshes[0], again(tmp_path).submeshes[0]
    count = len(before.positions)
    assert (part.positions[:count] == before.positions).all()
    assert (part.uvs[:, :count] == before.uvs).all()
    assert (part.skin.weights[:count] == before.skin.weights).all()
    assert len(triangles.of(part).corners) >= 4 * len(triangles.of(before).corners)
    assert np.abs(part.skin.weights.sum(axis=1) - 1).max() < 1e-5


def test_shape_keys_count_as_they_are_mixed(made: bytes, tmp_path: Path) -> None:
    obj = dragon_scene.meshes()[0]
    obj.shape_key_add(name="Basis")
    smile = obj.shape_key_add(name="Smile")
    smile.data[3].co.z += 1
    smile.value = 0.0
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == made
    smile.value = 1.0
    after = dragon_scene.export(tmp_path / "c.msh", *dragon_scene.meshes())
    assert {entry for entry in dragon_scene.differences(made, after) if "position" in entry} == {
        "sub-mesh 0 position 3, xyz 1"
    }


def test_applied_scale_keeps_the_size(made: bytes, tmp_path: Path) -> None:
    rig = dragon_scene.rig()
    scene.select(rig, *dragon_scene.meshes())
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    before, after = msh.read(made), again(tmp_path)
    for old, new in zip(before.submeshes, after.submeshes, strict=True):
        if names.is_root(old.parent):  # Blender itself moves what is parented to a bone
            assert np.abs(old.positions - new.positions).max() < 1e-3
        assert np.abs(old.normals - new.normals).max() < 5e-3
    assert np.abs(before.bones["inverse_bind"] - after.bones["inverse_bind"]).max() < 1e-2


def test_a_model_twice_as_large(made: bytes, tmp_path: Path) -> None:
    dragon_scene.rig().scale = [2 * value for value in dragon_scene.rig().scale]
    before, after = msh.read(made), again(tmp_path)
    assert after.submeshes[0].positions == pytest.approx(2 * before.submeshes[0].positions, abs=1e-3)
    heads = (np.linalg.inv(model.bones["inverse_bind"].astype(float))[:, 3, :3] for model in (before, after))
    assert np.abs(2 * next(heads) - next(heads)).max() < 1e-3
    assert after.dummies[0].matrix[3, :3] == pytest.approx(2 * before.dummies[0].matrix[3, :3], abs=1e-3)
    assert after.collisions[1].values == pytest.approx(2 * before.collisions[1].values, abs=1e-3)


def test_a_texture_is_called_one(made: bytes, tmp_path: Path) -> None:
    (tmp_path / "c.msh").write_bytes(b"DDS " + made)
    with pytest.raises(RuntimeError, match="DDS texture"):
        dragon_scene.bring(tmp_path / "c.msh")


@pytest.mark.parametrize(
    ("stored", "now", "wanted"),
    [
        ("hair.01", "hair.02", "hair.02"),
        ("Hair.001", "Hair", "Hair"),
        ("Body", "Body.5", "Body.5"),
        # What Blender makes of a name that is taken where an object is appended.
        ("Body", "Body.001", "Body"),
        ("hair.01", "hair.001", "hair.01"),
        ("Hair.001", "Hair.002", "Hair.001"),
    ],
)
def test_names_with_dots_and_numbers(stored: str, now: str, wanted: str, tmp_path: Path) -> None:
    """Of sub-meshes and dummies; only three digits and more are a number of Blender's."""
    model = dragons.character()
    model.submeshes[0].name = dragons.junk(stored)
    model.dummies = [Dummy(dragons.junk(f"#{stored}"), dragons.junk("Bip01"))]
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    dragon_scene.meshes()[0].name = now
    next(obj for obj in bpy.data.objects if obj.name == f"#{stored}").name = f"#{now}"
    found = msh.read(dragon_scene.export(tmp_path / "out.msh", *dragon_scene.meshes()))
    assert found.submeshes[0].label == wanted
    if stored != "Hair.001":
        assert found.dummies[0].label == f"#{wanted}"
    if wanted == stored:
        assert found.submeshes[0].name == model.submeshes[0].name


def test_sub_meshes_that_are_not_selected_are_named(made: bytes) -> None:
    """Hidden ones cannot be selected, and would be missed."""
    digest = Digest()
    first, *others = dragon_scene.meshes()
    extract_msh.extract_with_pieces(bpy.context, [first, *others], ExportMshOptions(), digest)
    assert not digest.notes
    for _ in range(2):
        extract_msh.extract_with_pieces(bpy.context, others, ExportMshOptions(), digest)
    assert digest.notes == [f'1 sub-mesh of the same import was not selected and left out: "{first.name}"']


@pytest.mark.parametrize("select", ["all", "armature"])
def test_what_hangs_on_sub_meshes_comes_along(select: str, tmp_path: Path) -> None:
    """Through any number of parents, and moved by the bone that carries them."""
    dragon_scene.save(tmp_path / "a.msh", dragons.character())
    dragon_scene.bring(tmp_path / "a.msh")
    body, blade = dragon_scene.meshes()
    hung = []
    for name, parent in (("Badge", body), ("Handle", blade), ("Knob", None)):
        bpy.ops.mesh.primitive_cube_add(size=0.2, location=(0.1, 0.2, 0.3))
        cube = bpy.context.object
        cube.name, cube.parent = name, parent or hung[-1]
        hung.append(cube)
    bpy.context.view_layer.update()
    wanted = [np.array(cube.matrix_world @ cube.data.vertices[0].co) for cube in hung]
    rig = dragon_scene.rig()
    chosen = [rig] if select == "armature" else list(bpy.context.view_layer.objects)
    found = msh.read(dragon_scene.export(tmp_path / "out.msh", *chosen))
    assert len(list(tmp_path.glob("out*.msh"))) == 1
    assert [part.label for part in found.submeshes] == ["Body", "Blade", "Badge", "Handle", "Knob"]
    assert [names.text(part.parent) for part in found.submeshes[2:]] == ["Scene Root", *["Bip01 R Thigh"] * 2]
    for part, place in zip(found.submeshes[2:], wanted, strict=True):
        near = np.abs(part.positions[:, [0, 2, 1]] * 0.01 - place).max(axis=1).min()
        assert near < 1e-4


def test_a_part_taken_from_its_armature_stays_in_its_file(tmp_path: Path) -> None:
    model = dragons.character()
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    _body, blade = dragon_scene.meshes()
    scene.select(blade)
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    found = again(tmp_path)
    assert [part.label for part in found.submeshes] == ["Body", "Blade"]
    assert names.text(found.submeshes[1].parent) == "Scene Root"
    assert np.abs(found.submeshes[1].positions - model.submeshes[1].positions).max() < 1e-4


def corner_facts(model: msh.Msh) -> list[object]:
    """All that the corners of the triangles are, whatever sub-mesh, vertex or slot holds it."""
    found = []
    for part in model.submeshes:
        bones = names.texts(part.skin.names)
        facts = [
            (
                *part.positions[row].tolist(),
                *part.normals[row].tolist(),
                *sorted((bones[s], w) for s, w in zip(part.skin.slots[row], part.skin.weights[row], strict=True) if w),
            )
            for row in range(len(part.positions))
        ]
        found += [tuple(facts[row] for row in corner) for corner in triangles.turned(triangles.of(part).corners)]
    return sorted(found, key=lambda corner: sorted(map(repr, corner)))


@pytest.mark.parametrize("used", [8, 60])
def test_an_imported_part_with_too_many_bones_is_split(used: int, tmp_path: Path) -> None:
    """Each piece lists the bones that move it; names that nothing uses go first."""
    bones = tuple(f"bone {number}" for number in range(60))
    model = dragons.character()
    model.bones = np.zeros(60, msh.BONE)
    model.bones["name"] = names.fields([name.encode() for name in bones])
    model.bones["inverse_bind"] = np.eye(4)
    model.bones["inverse_bind"][:, 3, 1] = -np.arange(60)
    part = dragons.part(12, 12, name="Many", bones=bones)
    part.skin.slots = np.where(part.skin.weights > 0, part.skin.slots % used, part.skin.slots).astype("<i2")
    model.submeshes = [part]
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    with pytest.raises(RuntimeError, match="60 bones"):
        again(tmp_path, face_layout="STRIP", use_check=True)
    found = again(tmp_path, use_split=True, use_check=True)
    assert len(found.submeshes) == 1 if used == 8 else len(found.submeshes) > 1
    assert max(len(part.skin.names) for part in found.submeshes) <= 50
    weights = [repr(corner) for corner in corner_facts(found)]
    assert len(weights) == 288
    if used == 60:  # else a bone may stand there twice for a vertex
        assert sorted(weights) == sorted(map(repr, corner_facts(model)))
