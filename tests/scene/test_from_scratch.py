# SPDX-License-Identifier: GPL-3.0-or-later
"""Models made in Blender, without anything that an import leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import mathutils
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.model import Model, bone_names

from tests.scene.helpers import models, scene

if TYPE_CHECKING:
    from collections.abc import Sequence


def add(data: Any, name: str = "Thing") -> bpy.types.Object:
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def cube(name: str = "Cube", size: float = 2.0) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=size, calc_uvs=True)
    obj: bpy.types.Object = bpy.context.active_object
    obj.name = obj.data.name = name
    return obj


def rig_of(names: Sequence[str], heads: Sequence[Sequence[float]], parents: Sequence[int]) -> bpy.types.Object:
    obj = add(bpy.data.armatures.new("Rig"), "Rig")
    with scene.edit_mode(obj):
        bones = []
        for name, head, parent in zip(names, heads, parents, strict=True):
            bone = obj.data.edit_bones.new(name)
            bone.head, bone.tail = head, mathutils.Vector(head) + mathutils.Vector((0, 0, 0.5))
            bone.parent = bones[parent] if parent >= 0 else None
            bones.append(bone)
    return obj


def carry(rig: bpy.types.Object, obj: bpy.types.Object) -> None:
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()


def written(folder: Path, *objects: bpy.types.Object, **options: Any) -> Model:
    read: Model = model_3df.read(scene.export(folder / "out.3df", *objects, **options))
    return read


def outward(model: Model) -> bool:
    return models.volume(model.vertices["position"], model.faces["corner"]) > 0


def test_cube(tmp_path: Path) -> None:
    model = written(tmp_path, cube())
    assert len(model.vertices) == 8
    assert len(model.faces) == 12
    assert np.array_equal(np.abs(model.vertices["position"]), np.full((8, 3), 32, np.float32))
    assert outward(model)
    assert (model.faces["next"] == -1).all()
    assert not model.faces["distant"].any()
    assert bone_names(model.bones) == ["Cube"]
    assert not model.vertices["owner"].any()
    assert model.texels.shape[1] == 256
    assert 0 < len(model.texels) <= 256
    assert (model.faces["u"] >= 0).all()
    assert (model.faces["u"] <= 255).all()
    assert (model.faces["v"] >= 0).all()
    assert (model.faces["v"] < len(model.texels)).all()


def test_result_can_be_imported_and_goes_back_the_same(tmp_path: Path) -> None:
    data = scene.export(tmp_path / "a.3df", cube())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene.bring(tmp_path / "a.3df")
    assert scene.export(tmp_path / "b.3df") == data


def test_n_gons_keep_their_uvs_and_flags(tmp_path: Path) -> None:
    corners = [(np.cos(a), np.sin(a)) for a in 2 * np.pi * np.arange(7) / 7]
    mesh = bpy.data.meshes.new("heptagon")
    mesh.from_pydata([(x, 0, z) for x, z in corners], [], [tuple(range(7))])
    layer = mesh.uv_layers.new(name="UVMap")
    layer.uv.foreach_set("vector", np.array(corners, np.float32).ravel() * 0.25 + 0.5)
    mesh.attributes.new("carnivores_flags", "INT", "FACE").data[0].value = 0x15
    mesh.materials.append(picture_material("m", noise(256, 256)))
    model = written(tmp_path, add(mesh))
    assert len(model.faces) == 5
    assert (model.faces["flags"] == 0x15).all()
    assert set(model.faces["corner"].ravel().tolist()) == set(range(7))
    for slot in range(3):
        u, v = model.faces["u"][:, slot], model.faces["v"][:, slot]
        x, y, _z = model.vertices["position"][model.faces["corner"][:, slot]].T / 32
        assert np.abs((u + 0.5) / 256 - (x * 0.25 + 0.5)).max() <= 0.5 / 256 + 1e-6
        assert np.abs(1 - (v + 0.5) / 256 - (y * 0.25 + 0.5)).max() <= 0.5 / 256 + 1e-6
    a, b, c = (model.vertices["position"][model.faces["corner"][:, slot]].astype(float) for slot in range(3))
    # One side of the sheet for all of them, and no hole: the areas add up.
    normals = np.cross(b - a, c - a)
    assert (normals[:, 2] * normals[0, 2] > 0).all()
    assert np.isclose(np.abs(normals[:, 2]).sum() / 2, 32 * 32 * 7 / 2 * np.sin(2 * np.pi / 7), rtol=1e-5)


def noise(columns: int, rows: int, seed: int = 0, *, alpha: bool = False) -> bpy.types.Image:
    image = bpy.data.images.new(f"noise{seed}", columns, rows, alpha=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (rows, columns, 4)).astype(np.float32) / 255
    pixels[..., 3] = np.round(pixels[..., 3]) if alpha else 1
    image.pixels.foreach_set(pixels.ravel())
    return image


def picture_material(name: str, image: bpy.types.Image | None, *, culling: bool = True) -> bpy.types.Material:
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    material.use_backface_culling = culling
    if image is not None:
        tree = material.node_tree
        shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
        texture = tree.nodes.new("ShaderNodeTexImage")
        texture.image = image
        tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    return material


def shader_of(material: bpy.types.Material) -> bpy.types.Node:
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def test_monkey_with_modifiers(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_monkey_add()
    obj = bpy.context.active_object
    obj.scale = (-1, 1, 2)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    faces = sum(len(polygon.vertices) for polygon in obj.data.polygons) * 2
    model = written(tmp_path, obj)
    assert len(model.faces) == faces
    assert outward(model)
    assert model.vertices["owner"].max() == 0
    plain = written(tmp_path, obj, use_mesh_modifiers=False)
    assert len(plain.vertices) == len(obj.data.vertices)
    assert outward(plain)
    local = written(tmp_path, obj, use_mesh_modifiers=False, use_transform=False)
    assert outward(local)
    expected = np.array([vertex.co for vertex in obj.data.vertices])[:, [0, 2, 1]] * 32
    assert np.allclose(local.vertices["position"], expected, atol=1e-4)


def test_modifiers_in_the_viewport_count_and_hidden_ones_do_not(tmp_path: Path) -> None:
    obj = cube()
    obj.modifiers.new("Subdivision", "SUBSURF").show_viewport = False
    assert len(written(tmp_path, obj).faces) == 12
    assert not obj.modifiers[0].show_viewport


@pytest.mark.parametrize("hide", ["eye", "monitor", "excluded", "hidden collection"])
def test_what_is_hidden_is_written_as_it_would_be_seen(tmp_path: Path, hide: str) -> None:
    """The whole of a named collection is written, hidden objects and their modifiers too, and stays hidden."""
    collection = bpy.data.collections.new("mine")
    bpy.context.scene.collection.children.link(collection)
    obj = cube()
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    obj.location.x = 1
    layer = bpy.context.view_layer.layer_collection.children["mine"]
    if hide == "eye":
        obj.hide_set(True)
    elif hide == "monitor":
        obj.hide_viewport = True
    elif hide == "excluded":
        layer.exclude = True
    else:
        collection.hide_viewport = True
    model = written(tmp_path, collection="mine")
    assert len(model.faces) == 48
    assert np.allclose(np.mean(model.vertices["position"], axis=0), (32, 0, 0), atol=1e-3)
    assert obj.hide_viewport == (hide == "monitor")
    assert layer.exclude == (hide == "excluded")
    assert list(bpy.context.scene.collection.objects) == []
    if hide == "eye":
        assert obj.hide_get()
    with pytest.raises(RuntimeError, match="there is no mesh object"):
        scene.export(tmp_path / "b.3df", use_selection=False, use_visible=True)


def test_a_pose_is_left_out(tmp_path: Path) -> None:
    obj = cube()
    rig = rig_of(["a", "b"], [(0, 0, 0), (0, 0, 1)], [-1, 0])
    obj.vertex_groups.new(name="b").add(list(range(8)), 1.0, "REPLACE")
    carry(rig, obj)
    obj.modifiers.new("Mirror", "MIRROR")
    before = written(tmp_path, obj)
    rig.pose.bones["b"].location = (1, 2, 3)
    rig.pose.bones["a"].rotation_mode, rig.pose.bones["a"].rotation_euler = "XYZ", (1, 1, 1)
    bpy.context.view_layer.update()
    after = written(tmp_path, obj)
    assert after == before
    assert rig.data.pose_position == "POSE"


def test_geometry_that_follows_a_bone_belongs_to_it(tmp_path: Path) -> None:
    """Parented to a bone without any vertex group: in its place at rest, owned by that bone."""
    rig = rig_of(["a", "b"], [(0, 0, 0), (0, 0, 1)], [-1, 0])
    obj = cube()
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "b"
    bpy.context.view_layer.update()
    model = written(tmp_path, obj)
    assert (model.vertices["owner"] == 1).all()
    assert bone_names(model.bones) == ["a", "b"]
    rig.pose.bones["b"].location = (5, 5, 5)
    bpy.context.view_layer.update()
    assert written(tmp_path, obj) == model


def test_shape_keys(tmp_path: Path) -> None:
    obj = cube()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="long")
    key.data[0].co.x -= 4
    key.value = 0.25
    base = written(tmp_path, obj).vertices["position"]
    key.value = 0.0
    moved = base - written(tmp_path, obj).vertices["position"]
    assert np.allclose(moved[0], (-32, 0, 0), atol=1e-3)
    assert not moved[1:].any()


# Owners and bones


def test_owner_is_the_heaviest_bone_group(tmp_path: Path) -> None:
    obj = cube()
    rig = rig_of(["first", "second", "third"], [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [-1, 0, 1])
    weights = {
        "not a bone": [1.0] * 8,
        "third": [0.0, 0.2, 0.6, 0.5, 0.0, 0.1, 0.0, 0.9],
        "second": [0.0, 0.8, 0.3, 0.5, 0.0, 0.1, 0.7, 0.8],
        "first": [0.0, 0.1, 0.1, 0.0, 1.0, 0.1, 0.7, 0.1],
    }
    for name, values in weights.items():
        group = obj.vertex_groups.new(name=name)
        for vertex, weight in enumerate(values):
            group.add([vertex], weight, "REPLACE")
    carry(rig, obj)
    assert written(tmp_path, obj).vertices["owner"].tolist() == [0, 1, 2, 1, 0, 0, 0, 2]


def test_bones_are_in_file_units_wherever_the_objects_are(tmp_path: Path) -> None:
    obj = cube()
    rig = rig_of(["root", "tip"], [(0, 0, 0), (0, 1, 2)], [-1, 0])
    carry(rig, obj)
    rig.location, rig.scale = (1, 0, 0), (2, 2, 2)
    bpy.context.view_layer.update()
    model = written(tmp_path, obj)
    assert np.allclose(model.bones["position"], [(32, 0, 0), (32, 128, 64)], atol=1e-3)
    assert model.bones["parent"].tolist() == [-1, 0]
    assert np.allclose(np.abs(model.vertices["position"] - (32, 0, 0)), 64, atol=1e-3)
    local = written(tmp_path, obj, use_transform=False)
    assert np.allclose(local.bones["position"], [(0, 0, 0), (0, 64, 32)], atol=1e-3)
    assert np.allclose(np.abs(local.vertices["position"]), 32, atol=1e-3)


def test_an_armature_that_stands_apart_keeps_its_distance_without_transforms(tmp_path: Path) -> None:
    obj = cube()
    obj.location = (0, 0, 7)
    rig = rig_of(["root"], [(0, 0, 0)], [-1])
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    local = written(tmp_path, obj, use_transform=False)
    assert np.allclose(local.bones["position"], [(0, -7 * 32, 0)], atol=1e-3)


def test_scale_option(tmp_path: Path) -> None:
    obj = cube()
    for scale in (1.0, 1 / 64, 0.01):
        model = written(tmp_path, obj, global_scale=scale)
        assert np.allclose(np.abs(model.vertices["position"]), 1 / np.float32(scale), rtol=1e-6)


def test_one_bone_named_after_the_object_stands_at_its_origin(tmp_path: Path) -> None:
    obj = cube("Crate.001")
    obj.location = (1, 2, 3)
    bpy.context.view_layer.update()
    model = written(tmp_path, obj)
    assert bone_names(model.bones) == ["Crate.001"]
    assert np.allclose(model.bones["position"], [(32, 96, 64)])


# Kinds of objects


def test_text_and_curve(tmp_path: Path) -> None:
    text = bpy.data.curves.new("text", "FONT")
    text.body, text.extrude = "abc", 0.1
    model = written(tmp_path, add(text, "Text"))
    assert len(model.faces) > 50
    assert bone_names(model.bones) == ["Text"]
    assert outward(model)
    curve = bpy.data.curves.new("curve", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", 0.2
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(1)
    spline.bezier_points[1].co = (0, 0, 5)
    assert len(written(tmp_path, add(curve, "Curve")).faces) > 20


def test_what_has_no_surface_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for obj in (add(bpy.data.meshes.new("empty"), "Empty Mesh"), add(bpy.data.curves.new("c", "CURVE"), "Thin")):
        with pytest.raises(RuntimeError, match=f'"{obj.name}" has no') as caught:
            written(tmp_path, obj)
        assert len(str(caught.value).strip().splitlines()) == 1
    light = add(bpy.data.lights.new("l", "POINT"), "Lamp")
    with pytest.raises(RuntimeError, match="there is no mesh object in the selection"):
        written(tmp_path, light)
    assert not (tmp_path / "out.3df").exists()


# Several objects


def test_join_without_an_armature_gives_one_bone_per_object(tmp_path: Path) -> None:
    first, second = cube("one"), cube("two")
    second.location.x = 5
    bpy.context.view_layer.update()
    model = written(tmp_path, first, second, use_join=True)
    assert bone_names(model.bones) == ["one", "two"]
    assert model.vertices["owner"].tolist() == [0] * 8 + [1] * 8
    assert np.allclose(model.bones["position"], [(0, 0, 0), (160, 0, 0)])
    assert model.faces["corner"][:12].max() == 7
    assert model.faces["corner"][12:].min() == 8
    assert outward(model)


def test_join_under_one_armature_writes_it_once(tmp_path: Path) -> None:
    rig = rig_of(["a", "b"], [(0, 0, 0), (0, 0, 1)], [-1, 0])
    objects = [cube("one"), cube("two")]
    for obj, bone in zip(objects, "ba", strict=True):
        obj.vertex_groups.new(name=bone).add(list(range(8)), 1.0, "REPLACE")
        carry(rig, obj)
    model = written(tmp_path, *objects, use_join=True)
    assert bone_names(model.bones) == ["a", "b"]
    assert model.vertices["owner"].tolist() == [1] * 8 + [0] * 8


def test_join_merges_the_pictures(tmp_path: Path) -> None:
    objects = []
    for number, name in enumerate(("one", "two")):
        obj = cube(name)
        obj.data.materials.append(picture_material(name, noise(64, 64, number)))
        objects.append(obj)
    model = written(tmp_path, *objects, use_join=True)
    assert len(model.texels) <= 256
    boxes = [
        tuple((int(model.faces[axis][part].min()), int(model.faces[axis][part].max())) for axis in "uv")
        for part in (slice(0, 12), slice(12, 24))
    ]
    apart = boxes[0][0][1] < boxes[1][0][0] or boxes[1][0][1] < boxes[0][0][0]
    above = boxes[0][1][1] < boxes[1][1][0] or boxes[1][1][1] < boxes[0][1][0]
    assert apart or above


def test_several_objects_become_files_of_their_own_names(tmp_path: Path) -> None:
    names = ["Tree.001", "Tree", "a/b:c", "CON", "tree", "Tree.002"]
    objects = []
    for number, name in enumerate(names):
        obj = cube("x")
        obj.name = name
        obj.location.x = number
        objects.append(obj)
    bpy.context.view_layer.update()
    scene.select(*objects)
    assert bpy.ops.export_scene.carnivores_3df(filepath=str(tmp_path / "given.3df")) == {"FINISHED"}
    found = {path.name: model_3df.read(path.read_bytes()) for path in tmp_path.iterdir()}
    assert len({name.lower() for name in found}) == len(names)
    assert "given.3df" not in found
    centre = {name: round(float(model.vertices["position"][:, 0].mean()) / 32) for name, model in found.items()}
    assert centre["Tree.3df"] == 1
    assert centre["a_b_c.3df"] == 2
    assert centre["_CON.3df"] == 3
    assert sorted(centre.values()) == list(range(6))


def test_linked_duplicates_are_written_where_they_stand(tmp_path: Path) -> None:
    first = cube("one")
    second = add(first.data, "two")
    second.location, second.scale = (3, 0, 0), (-2, 2, 2)
    bpy.context.view_layer.update()
    scene.select(first, second)
    bpy.ops.export_scene.carnivores_3df(filepath=str(tmp_path / "x.3df"))
    one, two = (model_3df.read((tmp_path / name).read_bytes()) for name in ("one.3df", "two.3df"))
    assert outward(one)
    assert outward(two)
    assert np.allclose(two.vertices["position"], one.vertices["position"] * (-2, 2, 2) + (96, 0, 0), atol=1e-3)


# Flags from materials


def test_flags_from_the_material(tmp_path: Path) -> None:
    obj = cube()
    looks = []
    for number in range(5):
        material = picture_material(f"m{number}", noise(16, 16, number), culling=number != 1)
        looks.append(material)
        obj.data.materials.append(material)
    texture = next(node for node in looks[2].node_tree.nodes if node.type == "TEX_IMAGE")
    looks[2].node_tree.links.new(texture.outputs["Alpha"], shader_of(looks[2]).inputs["Alpha"])
    shader_of(looks[3]).inputs["Alpha"].default_value = 0.4
    for polygon in obj.data.polygons:
        polygon.material_index = min(polygon.index, 4)
    flags = written(tmp_path, obj).faces["flags"].reshape(6, 2)
    assert flags.tolist() == [[0, 0], [1, 1], [4, 4], [8, 8], [0, 0], [0, 0]]


def test_no_material(tmp_path: Path) -> None:
    model = written(tmp_path, cube())
    assert not model.faces["flags"].any()
    assert len(np.unique(model.texels)) <= 2  # one grey, perhaps dithered


def test_materials_of_geometry_nodes(tmp_path: Path) -> None:
    obj = cube()
    tree = bpy.data.node_groups.new("nodes", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    given, out, put = (
        tree.nodes.new(kind) for kind in ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeSetMaterial")
    )
    material = picture_material("red", None, culling=False)
    shader_of(material).inputs["Base Color"].default_value = (1, 0, 0, 1)
    put.inputs["Material"].default_value = material
    tree.links.new(given.outputs[0], put.inputs["Geometry"])
    tree.links.new(put.outputs[0], out.inputs[0])
    obj.modifiers.new("Nodes", "NODES").node_group = tree
    bpy.context.view_layer.update()
    model = written(tmp_path, obj)
    assert (model.faces["flags"] == 1).all()
    assert (model.texels == 0x7C00).all()


@pytest.mark.parametrize("value", [float("nan"), 3e38])
def test_a_vertex_that_no_file_can_hold_stops_the_export(value: float, tmp_path: Path) -> None:
    """The second is a number in Blender, and none any more in units of the file."""
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.active_object.data.vertices[0].co.x = value
    with pytest.raises(RuntimeError, match="the position of vertex 0 is not a finite number"):
        bpy.ops.export_scene.carnivores_3df(filepath=str(tmp_path / "x.3df"))
    assert not list(tmp_path.iterdir())
