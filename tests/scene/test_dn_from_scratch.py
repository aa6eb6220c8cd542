# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest models made in Blender."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_common.formats.digest import Digest
from addon.io_dragonnest.formats import checks, msh, names, submesh, triangles
from addon.io_dragonnest.formats import rig as binds
from addon.io_dragonnest.scene import extract_msh
from addon.io_dragonnest.scene.options import ExportMshOptions

from tests.scene.helpers import dragon_scene, scene


def grid(name: str = "Sheet", count: int = 4) -> bpy.types.Object:
    """A flat sheet of quads, one metre across, with a UV map."""
    points = [(x / count, 0.0, z / count) for z in range(count + 1) for x in range(count + 1)]
    faces = [
        (a, a + 1, a + count + 2, a + count + 1)
        for a in (z * (count + 1) + x for z in range(count) for x in range(count))
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    layer = mesh.uv_layers.new(name="UVMap")
    corner = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corner)
    layer.uv.foreach_set("vector", np.array(points, np.float32)[corner][:, [0, 2]].reshape(-1))
    mesh.shade_smooth()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    return obj


def skeleton(count: int) -> bpy.types.Object:
    """A chain of bones upwards."""
    data = bpy.data.armatures.new("Rig")
    made = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(made)
    with scene.edit_mode(made):
        above = None
        for number in range(count):
            bone = data.edit_bones.new(f"Bone {number}")
            bone.head, bone.tail = (0, 0, number / count), (0, 0, (number + 1) / count)
            bone.parent, above = above, bone
    return made


def read(path: Path, *objects: bpy.types.Object, **options: object) -> msh.Msh:
    return msh.read(dragon_scene.export(path, *objects, **options))


def test_a_plain_mesh(tmp_path: Path) -> None:
    model = read(tmp_path / "a.msh", grid())
    (part,) = model.submeshes
    assert (model.version, model.lod_count, part.is_strip, part.skin, part.colours) == (13, 1, False, None, None)
    assert len(part.positions) == 25
    assert len(part.indices) == 32 * 3
    assert model.maximum.tolist() == [100, 100, 0]
    assert model.minimum.tolist() == [0, 0, 0]
    assert names.text(part.parent) == names.SCENE_ROOT
    # UVs have their origin at the top left; the sheet faces -y, the file -z.
    assert np.abs(part.uvs[0] - (part.positions[:, :2] / 100 * [1, -1] + [0, 1])).max() < 1e-6
    assert np.abs(part.normals - (0, 0, -1)).max() < 1e-6
    corner = triangles.of(part).corners
    a, b, c = (part.positions[corner[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] < 0).all()
    assert not [issue for issue in checks.check_msh(model) if issue.severity.value == "error"]


def test_corners_that_differ_split_the_vertex_and_no_others(tmp_path: Path) -> None:
    obj = grid()
    obj.data.uv_layers[0].uv[5].vector = (0.9, 0.9)
    part = read(tmp_path / "a.msh", obj).submeshes[0]
    assert len(part.positions) == 26
    flat = grid("Flat")
    flat.data.polygons.foreach_set("use_smooth", np.zeros(16, bool))
    flat.data.vertices[12].co.y = -0.3
    flat.data.update()
    part = read(tmp_path / "b.msh", flat).submeshes[0]
    assert 25 < len(part.positions) <= 64


def test_modifiers_colours_and_strips(tmp_path: Path) -> None:
    obj = grid()
    obj.data.color_attributes.new("Paint", "FLOAT_COLOR", "CORNER")
    modifier = obj.modifiers.new("Array", "ARRAY")
    modifier.count = 2
    part = read(tmp_path / "a.msh", obj, face_layout="STRIP").submeshes[0]
    assert part.is_strip
    assert len(triangles.of(part).corners) == 64
    assert part.colours.shape == (len(part.positions), 4)


@pytest.mark.parametrize(("kind", "note"), [("SUBSURF", True), ("MIRROR", True), ("TRIANGULATE", False)])
@pytest.mark.parametrize("behind", [True, False])
def test_modifiers_behind_the_armature_are_named(kind: str, note: bool, behind: bool) -> None:
    """A file can only move what they make, not make it of what was moved."""
    obj, rig = grid(), skeleton(2)
    order = [("Skin", "ARMATURE"), ("Other", kind)]
    for name, type_ in order if behind else order[::-1]:
        obj.modifiers.new(name, type_)
    obj.modifiers["Skin"].object = rig
    obj.vertex_groups.new(name="Bone 0").add(range(25), 1.0, "REPLACE")
    digest = Digest()
    for _ in range(2):
        extract_msh.extract_with_pieces(bpy.context, [obj], ExportMshOptions(), digest)
    assert len(digest.notes) == (note and behind)
    assert all('"Other"' in said and "behind its Armature" in said for said in digest.notes)
    plain = Digest()
    extract_msh.extract_with_pieces(bpy.context, [obj], ExportMshOptions(use_mesh_modifiers=False), plain)
    assert not plain.notes


def test_a_rigged_mesh(tmp_path: Path) -> None:
    obj, rig = grid(), skeleton(3)
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    for number in range(3):
        members = [v.index for v in obj.data.vertices if number / 3 <= v.co.z <= (number + 1) / 3]
        obj.vertex_groups.new(name=f"Bone {number}").add(members, 0.4, "REPLACE")
    obj.vertex_groups.new(name="Pinned").add([0], 1.0, "REPLACE")
    model = read(tmp_path / "a.msh", obj)
    assert model.bone_names == ["Bone 0", "Bone 1", "Bone 2"]
    heads = binds.binds(model.bones["inverse_bind"])[0][:, 3, :3]
    assert heads == pytest.approx(np.array([[0, 0, 0], [0, 100 / 3, 0], [0, 200 / 3, 0]]), abs=1e-3)
    skin = model.submeshes[0].skin
    assert np.abs(skin.weights.sum(axis=1) - 1).max() < 1e-6
    assert (np.diff(skin.weights, axis=1) <= 0).all()
    # And it comes back as it was.
    for entry in list(bpy.data.objects):
        bpy.data.objects.remove(entry)
    dragon_scene.bring(tmp_path / "a.msh")
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == (tmp_path / "a.msh").read_bytes()


def test_a_part_on_a_bone(tmp_path: Path) -> None:
    obj, rig = grid(), skeleton(2)
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "Bone 1"
    model = read(tmp_path / "a.msh", obj)
    part = model.submeshes[0]
    assert names.text(part.parent) == "Bone 1"
    assert part.skin is None
    assert part.positions.min(axis=0)[1] == pytest.approx(100, abs=1e-3)


def test_marks_make_collisions_and_dummies(tmp_path: Path) -> None:
    obj, rig, box = grid(), skeleton(2), grid("@wall", 1)
    obj.parent = box.parent = rig
    empty = bpy.data.objects.new("#FX_01", None)
    bpy.context.collection.objects.link(empty)
    empty.parent, empty.parent_type, empty.parent_bone = rig, "BONE", "Bone 1"
    model = read(tmp_path / "a.msh", obj)
    assert [part.label for part in model.submeshes] == ["Sheet"]
    assert [entry.triangles.shape for entry in model.collisions] == [(2, 3, 3)]
    (dummy,) = model.dummies
    assert (dummy.label, names.text(dummy.parent)) == ("#FX_01", "Bone 1")
    assert np.abs(dummy.matrix[3, :3]).sum() == pytest.approx(50, abs=1e-3)


def test_too_many_bones_are_refused_or_split(tmp_path: Path) -> None:
    obj, rig = grid(count=8), skeleton(60)
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    for number in range(60):
        obj.vertex_groups.new(name=f"Bone {number}").add([number], 1.0, "REPLACE")
    scene.select(obj)
    with pytest.raises(RuntimeError, match="60 bones"):
        bpy.ops.export_scene.dragonnest_msh(filepath=str(tmp_path / "a.msh"))
    model = read(tmp_path / "a.msh", obj, use_split=True)
    assert [part.label for part in model.submeshes] == ["Sheet_0", "Sheet_1"]
    assert all(len(part.skin.names) <= 50 for part in model.submeshes)
    assert sum(len(part.indices) for part in model.submeshes) == 128 * 3
    for part in model.submeshes:
        labels = names.texts(part.skin.names)
        slots, weights, _lost = submesh.influences(part)
        for place, slot, weight in zip(part.positions, slots[:, 0], weights[:, 0], strict=True):
            number = round(place[0] / 12.5) + 9 * round(place[1] / 12.5)
            assert labels[slot] == f"Bone {number}" if number < 60 else weight == 0


def test_too_many_vertices_are_refused_or_split(tmp_path: Path) -> None:
    obj = grid(count=260)
    scene.select(obj)
    with pytest.raises(RuntimeError, match="68121 vertices, but a sub-mesh holds 65535"):
        bpy.ops.export_scene.dragonnest_msh(filepath=str(tmp_path / "a.msh"))
    model = read(tmp_path / "a.msh", obj, use_split=True)
    assert len(model.submeshes) == 2
    assert all(len(part.positions) <= 65535 for part in model.submeshes)
    assert sum(len(part.indices) for part in model.submeshes) == 260 * 260 * 6


def test_names_are_measured_in_cp949(tmp_path: Path) -> None:
    model = read(tmp_path / "a.msh", grid("갑옷"))
    assert model.submeshes[0].name.startswith("갑옷".encode("cp949") + b"\0")
    obj = grid("Ω ÿ")
    scene.select(obj)
    with pytest.raises(RuntimeError, match="Korean Windows text"):
        bpy.ops.export_scene.dragonnest_msh(filepath=str(tmp_path / "b.msh"))
    assert not (tmp_path / "b.msh").exists()


def test_mirrored_objects_keep_their_outside_out(tmp_path: Path) -> None:
    obj = grid()
    obj.scale = (-1, 1, 1)
    part = read(tmp_path / "a.msh", obj).submeshes[0]
    corner = triangles.of(part).corners
    a, b, c = (part.positions[corner[:, k]] for k in range(3))
    along = np.einsum("ij,ij->i", np.cross(b - a, c - a), part.normals[corner[:, 0]])
    assert (along > 0).all()
    assert part.positions[:, 0].min() == -100
