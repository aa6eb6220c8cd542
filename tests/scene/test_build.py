# SPDX-License-Identifier: GPL-3.0-or-later
"""What an import looks like: sides, normals, skeleton, materials, picture, names, and a scene left alone."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.model import Model
from addon.io_common.scene import mesh as meshes

from tests.scene.helpers import models, scene


@pytest.fixture
def made(tmp_path: Path) -> tuple[bpy.types.Object, bpy.types.Object]:
    """The armature and the mesh of an imported regular model."""
    scene.save(tmp_path / "COMPAS.3df", models.regular())
    root, mesh = scene.bring(tmp_path / "COMPAS.3df")
    return root, mesh


def _world(obj: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    matrix = np.array(obj.matrix_world)
    return meshes.get_positions(obj.data) @ matrix[:3, :3].T + matrix[:3, 3]


def test_normals_point_outward(made: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    _root, obj = made
    triangles = meshes.get_triangles(obj.data).vertex
    assert models.volume(meshes.get_positions(obj.data), triangles) > 0
    positions = meshes.get_positions(obj.data)
    middles = positions[triangles].mean(axis=1)
    normals = np.array([polygon.normal for polygon in obj.data.polygons])
    assert (np.einsum("ij,ij->i", middles, normals) > 0).all()


def test_flip_faces_turns_every_face(tmp_path: Path) -> None:
    _data, obj = scene.bring_model(tmp_path / "a.3dn", models.mobile(), flip_faces=True)
    assert models.volume(meshes.get_positions(obj.data), meshes.get_triangles(obj.data).vertex) < 0


def _letter() -> Model:
    """A flat sign that faces the viewer of a held model, on which the texture reads from left to right."""
    model = models.regular()
    vertices = model.vertices[:4].copy()
    # x right, y up, z away from the viewer: seen from -z.
    vertices["position"] = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    faces = model.faces[:2].copy()
    faces["corner"] = [(0, 1, 2), (0, 2, 3)]
    faces["u"] = [(0, 100, 100), (0, 100, 0)]
    faces["v"] = [(90, 90, 10), (90, 10, 10)]
    faces["flags"] = faces["next"] = 0
    return Model(faces, vertices, model.bones, model.texels)


def _reading(obj: bpy.types.Object) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """For every triangle the directions in space (3,) in which its picture runs to the right and up.

    Left out are those that show no more than a line of their picture.
    """
    positions, triangles, uv = _world(obj), meshes.get_triangles(obj.data), meshes.get_uv(obj.data)
    found = {}
    for number, (corners, loops) in enumerate(zip(triangles.vertex, triangles.loop, strict=True)):
        edges = positions[corners[1:]] - positions[corners[0]]
        across = (uv[loops[1:]] - uv[loops[0]]).astype(float)
        if abs(np.linalg.det(across)) > 1e-9:
            right, up = np.linalg.inv(across) @ edges
            found[number] = (right, up)
    return found


def test_letters_are_upright_and_not_mirrored(tmp_path: Path) -> None:
    """File x right, y up, z away from the viewer is Blender's front view: x right, z up, y away."""
    _data, obj = scene.bring_model(tmp_path / "sign.3df", _letter())
    readings = _reading(obj)
    assert len(readings) == 2
    for right, up in readings.values():
        assert right[0] > 0
        assert abs(right[1:]).max() < 1e-6
        assert up[2] > 0
        assert abs(up[:2]).max() < 1e-6


@pytest.mark.samples("*compas.3df")
def test_letters_of_the_compass(sample: Path) -> None:
    """Looked down upon, every face of the dial shows its picture unmirrored, and as a map does: north is up.

    A mirrored import would fail on every face.
    """
    obj = next(obj for obj in scene.bring(sample) if obj.type == "MESH")
    dial = {number: reading for number, reading in _reading(obj).items() if obj.data.polygons[number].normal[2] > 0.9}
    assert len(dial) >= 32
    for right, up in dial.values():
        assert np.cross(right, up)[2] > 0
        assert right[0] > 0.9 * np.linalg.norm(right)
        assert up[1] > 0.9 * np.linalg.norm(up)


def test_world_size_is_the_scale_of_the_import(tmp_path: Path) -> None:
    for scale in (1 / 32, 1 / 64, 1.0, 123.4):
        data, obj = scene.bring_model(tmp_path / "a.3df", models.regular(), global_scale=scale)
        expected = model_3df.read(data).vertices["position"][:, [0, 2, 1]] * scale
        assert np.allclose(_world(obj), expected, rtol=1e-5)


def test_bones(made: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    root, _obj = made
    bones = root.data.bones
    assert [bone.name for bone in bones] == ["Root", "Leg", "Leg.001", "Schwänzchen"]
    assert [bone.parent.name if bone.parent else None for bone in bones] == [None, "Root", "Root", "Root"]
    table = models.bone_table()["position"][:, [0, 2, 1]]
    assert np.allclose([bone.head_local for bone in bones], table, atol=1e-3)
    assert min(bone.length for bone in bones) > 1
    assert not any(bone.use_connect for bone in bones)
    # A bone without children goes on in the direction it comes from.
    for bone in list(bones)[1:]:
        onward = bone.tail_local - bone.head_local
        assert onward.dot(bone.head_local - bones["Root"].head_local) > 0


def test_a_posed_bone_moves_its_own_vertices_only(made: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    root, obj = made
    owner = models.regular().vertices["owner"]
    depsgraph = bpy.context.evaluated_depsgraph_get()
    rest = meshes.get_positions(obj.evaluated_get(depsgraph).data)
    assert np.allclose(rest, meshes.get_positions(obj.data), atol=1e-3)
    root.pose.bones["Leg.001"].location = (0, 20, 0)
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    moved = np.abs(meshes.get_positions(obj.evaluated_get(depsgraph).data) - rest).max(axis=1) > 1
    assert np.array_equal(moved, owner == 2)


def test_materials_are_one_per_look(made: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    _root, obj = made
    flags = np.resize(np.array(models.FLAGS), len(obj.data.polygons))
    assert len(obj.material_slots) == 7  # mortal looks like any other
    index = meshes.get_attribute(obj.data, "material_index", "INT", "FACE")
    for flag in models.FLAGS:
        (slot,) = set(index[flags == flag].tolist())
        material = obj.material_slots[slot].material
        assert material.use_backface_culling == (not flag & 1)
        shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
        assert shader.inputs["Base Color"].links[0].from_node.image == bpy.data.images["COMPAS"]
        assert shader.inputs["Alpha"].is_linked == bool(flag & 0x0C)
        assert material.surface_render_method == ("BLENDED" if flag & 8 else "DITHERED")


def test_picture(made: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    del made
    image = bpy.data.images["COMPAS"]
    assert image.packed_file is not None
    assert tuple(image.size) == (256, 97)
    assert image.colorspace_settings.name == "sRGB"
    assert len(bpy.data.images) == 1
    pixels = np.empty(256 * 97 * 4, np.float32)
    image.pixels.foreach_get(pixels)
    shown = np.rint(pixels.reshape(97, 256, 4)[::-1] * 255).astype(int)
    words = models.words().astype(int)
    for channel, shift in enumerate((10, 5, 0)):
        five = words >> shift & 31
        assert np.array_equal(shown[..., channel], five << 3 | five >> 2)
    assert np.array_equal(shown[..., 3] == 0, words & 0x7FFF == 0)


def test_a_model_without_cut_out_is_opaque(tmp_path: Path) -> None:
    model = models.regular()
    model.faces["flags"] = 0
    scene.bring_model(tmp_path / "a.3df", model)
    pixels = np.empty(256 * 97 * 4, np.float32)
    bpy.data.images["a"].pixels.foreach_get(pixels)
    assert (pixels[3::4] == 1).all()


def test_flags_owner_and_groups_can_be_seen(made: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    _root, obj = made
    flags = meshes.get_attribute(obj.data, "carnivores_flags", "INT", "FACE")
    assert np.array_equal(flags, np.resize(np.array(models.FLAGS), len(flags)))
    groups = [obj.vertex_groups[vertex.groups[0].group].name for vertex in obj.data.vertices]
    names = ["Root", "Leg", "Leg.001", "Schwänzchen"]
    assert groups == [names[number] for number in models.regular().vertices["owner"]]


def test_root_is_active_and_all_is_selected(made: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    root, obj = made
    assert (root.type, obj.type, obj.parent) == ("ARMATURE", "MESH", root)
    assert bpy.context.view_layer.objects.active == root
    assert set(bpy.context.selected_objects) == {root, obj}
    assert bpy.context.mode == "OBJECT"


def test_names_that_are_taken(tmp_path: Path) -> None:
    scene.save(tmp_path / "COMPAS.3df", models.regular())
    scene.bring(tmp_path / "COMPAS.3df")
    root, obj = scene.bring(tmp_path / "COMPAS.3df")
    assert (root.name, obj.name) == ("COMPAS.001 Armature", "COMPAS.001")
    assert set(bpy.context.selected_objects) == {root, obj}
    assert obj.modifiers["Armature"].object == root


def _settings() -> dict[str, object]:
    view = bpy.context.scene
    return {
        "frame": (view.frame_current, view.frame_start, view.frame_end, view.render.fps),
        "cursor": tuple(view.cursor.location),
        "world": view.world,
        "units": (view.unit_settings.system, view.unit_settings.scale_length),
        "engine": view.render.engine,
        "color": (view.view_settings.view_transform, view.display_settings.display_device),
        "collections": [entry.name for entry in bpy.data.collections],
        "select": tuple(bpy.context.tool_settings.mesh_select_mode),
    }


def test_the_scene_is_left_alone(tmp_path: Path) -> None:
    view = bpy.context.scene
    view.frame_current, view.cursor.location = 37, (1, 2, 3)
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    view.collection.objects.link(cube)
    before = _settings()
    scene.save(tmp_path / "a.3df", models.regular())
    scene.bring(tmp_path / "a.3df")
    assert _settings() == before
    scene.export(tmp_path / "b.3df")
    assert _settings() == before


def test_import_from_edit_mode_of_another_armature_leaves_it_as_it_was(tmp_path: Path) -> None:
    data = bpy.data.armatures.new("Mine")
    rig = bpy.data.objects.new("Mine", data)
    bpy.context.scene.collection.objects.link(rig)
    with scene.edit_mode(rig):
        bone = data.edit_bones.new("bone")
        bone.tail = (0.1, 0.7, 0.3)
        bone.roll = 0.3
    before = [tuple(row) for row in data.bones["bone"].matrix_local]
    scene.select(rig)
    scene.save(tmp_path / "a.3df", models.regular())
    scene.bring(tmp_path / "a.3df")
    assert [tuple(row) for row in data.bones["bone"].matrix_local] == before
    assert [bone.name for bone in data.bones] == ["bone"]
    assert rig.mode == "OBJECT"
    assert not rig.select_get()


def test_own_collection(tmp_path: Path) -> None:
    scene.save(tmp_path / "a.3df", models.regular())
    objects = scene.bring(tmp_path / "a.3df", use_collection=True)
    (collection,) = bpy.data.collections
    assert set(collection.objects) == set(objects)
    assert collection.name == "a"
    assert collection.name in bpy.context.collection.children


def test_without_armature(tmp_path: Path) -> None:
    scene.save(tmp_path / "a.3df", models.regular())
    (obj,) = scene.bring(tmp_path / "a.3df", use_bones=False)
    assert len(bpy.data.armatures) == 0
    assert not obj.modifiers
    assert [group.name for group in obj.vertex_groups] == ["Root", "Leg", "Leg.001", "Schwänzchen"]


def test_faces_that_blender_cannot_hold_are_kept_out(tmp_path: Path) -> None:
    model = models.odd()
    _data, obj = scene.bring_model(tmp_path / "a.3df", model)
    assert len(obj.data.polygons) == len(model.faces) - 3
    with scene.edit_mode(obj):
        pass
    assert len(obj.data.polygons) == len(model.faces) - 3
