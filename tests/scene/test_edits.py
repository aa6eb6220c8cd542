# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of an imported model are local: the exported file differs in what was touched and in nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import bpy
import mathutils
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.model import Model, label
from addon.io_common.scene import mesh as meshes

from tests.scene.helpers import models, scene


class Case:
    """One imported model, to be edited and exported."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.model = model
        self.folder = folder
        self.data, self.obj = scene.bring_model(folder / "beast.3df", model)
        self.rig = self.obj.parent

    def out(self, **options: Any) -> bytes:
        return scene.export(self.folder / "out.3df", self.obj, **options)

    def result(self, **options: Any) -> Model:
        read: Model = model_3df.read(self.out(**options))
        return read

    def changes(self, **options: Any) -> dict[str, list[int]]:
        return scene.changes(self.data, self.out(**options))


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, models.regular())


@pytest.fixture
def odd(tmp_path: Path) -> Case:
    return Case(tmp_path, models.odd())


def _triangles(model: Model) -> Counter[tuple[Any, ...]]:
    """The faces as a bag: what each shows and where, whatever the numbers of its vertices and its place."""
    found: Counter[tuple[Any, ...]] = Counter()
    for face in model.faces:
        corners = [
            (*model.vertices["position"][face["corner"][slot]].tolist(), int(face["u"][slot]), int(face["v"][slot]))
            for slot in range(3)
        ]
        found[(*corners, int(face["flags"]), int(face["group"]), int(face["distant"]))] += 1
    return found


# Vertices


def test_move_a_vertex(odd: Case) -> None:
    odd.obj.data.vertices[7].co.x += 1.0
    assert odd.changes() == {"vertices.position": [7]}


def test_move_a_vertex_in_edit_mode_and_export_from_there(odd: Case) -> None:
    import bmesh

    scene.select(odd.obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bm = bmesh.from_edit_mesh(odd.obj.data)
    bm.verts.ensure_lookup_table()
    bm.verts[7].co.z -= 2.5
    bmesh.update_edit_mesh(odd.obj.data)
    written = scene.export(odd.folder / "out.3df")
    assert odd.obj.mode == "EDIT"
    assert scene.changes(odd.data, written) == {"vertices.position": [7]}
    moved = model_3df.read(written).vertices["position"][7] - odd.model.vertices["position"][7]
    assert np.allclose(moved, (0, -2.5, 0))


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same scene", "another scene"])
def test_what_is_edited_is_exported_while_another_object_is_active(odd: Case, *, elsewhere: bool) -> None:
    import bmesh

    scene.select(odd.obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bm = bmesh.from_edit_mesh(odd.obj.data)
    bm.verts.ensure_lookup_table()
    bm.verts[7].co.z -= 2.5
    bmesh.update_edit_mesh(odd.obj.data)
    here = bpy.data.scenes.new("Other") if elsewhere else bpy.context.scene
    layer = here.view_layers[0]
    if elsewhere:
        for obj in (odd.obj, odd.rig):
            here.collection.objects.link(obj)
    layer.objects.active = odd.rig
    with bpy.context.temp_override(scene=here, view_layer=layer):
        written = scene.export(odd.folder / "out.3df", use_selection=False)
    assert (odd.obj.mode, odd.rig.mode) == ("EDIT", "OBJECT")
    assert layer.objects.active == odd.rig
    assert scene.changes(odd.data, written) == {"vertices.position": [7]}


def test_export_leaves_the_same_objects_in_edit_mode(odd: Case) -> None:
    others = []
    for name in ("Edited", "Only Selected"):
        other = bpy.data.objects.new(name, odd.obj.data.copy())
        bpy.context.collection.objects.link(other)
        others.append(other)
    edited, waiting = others
    scene.select(odd.obj)
    edited.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    edited.select_set(False)
    waiting.select_set(True)
    assert (odd.obj.mode, edited.mode, waiting.mode) == ("EDIT", "EDIT", "OBJECT")
    scene.export(odd.folder / "out.3df", use_join=True)
    assert (odd.obj.mode, edited.mode, waiting.mode) == ("EDIT", "EDIT", "OBJECT")
    assert not edited.select_get()
    assert waiting.select_get()


def test_delete_a_vertex(odd: Case) -> None:
    scene.pick(odd.obj.data, "VERT", 7)
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.delete(type="VERT")
    after = odd.result()
    used = (odd.model.faces["corner"] == 7).any(axis=1)
    assert len(after.vertices) == len(odd.model.vertices) - 1
    assert after.vertices.tobytes() == np.delete(odd.model.vertices, 7).tobytes()
    expected = Model(odd.model.faces[~used], odd.model.vertices)
    assert _triangles(after) == _triangles(expected)
    assert after.bones.tobytes() == odd.model.bones.tobytes()
    assert after.texels.tobytes() == odd.model.texels.tobytes()


def test_delete_a_vertex_of_a_degenerate_face(odd: Case) -> None:
    corner = int(odd.model.faces["corner"][0][0])
    scene.pick(odd.obj.data, "VERT", corner)
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.delete(type="VERT")
    used = (odd.model.faces["corner"] == corner).any(axis=1)
    assert used[0]
    assert _triangles(odd.result()) == _triangles(Model(odd.model.faces[~used], odd.model.vertices))


def test_merge_vertices(odd: Case) -> None:
    scene.pick(odd.obj.data, "VERT", 18, 19)
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.merge(type="CENTER")
    after = odd.result()
    assert len(after.vertices) == len(odd.model.vertices) - 1
    touched = np.isin(odd.model.faces["corner"], (18, 19)).any(axis=1)
    untouched = _triangles(Model(odd.model.faces[~touched], odd.model.vertices))
    assert not untouched - _triangles(after)
    # What spanned the two is gone; of a face that was a line before it does not matter.
    both = np.isin(odd.model.faces["corner"], (18, 19)).sum(axis=1) >= 2
    assert _area_faces(after) == _area_faces(odd.model) - _area_faces(Model(odd.model.faces[both]))


def _area_faces(model: Model) -> int:
    """How many faces have three different corners."""
    return sum(len(set(corner)) == 3 for corner in model.faces["corner"].tolist())


def test_vertices_in_another_order(odd: Case) -> None:
    with scene.edit_mode(odd.obj, "all"):
        bpy.ops.mesh.sort_elements(type="REVERSE", elements={"VERT"})
    after = odd.result()
    assert after.vertices.tobytes() == odd.model.vertices[::-1].tobytes()
    assert _triangles(after) == _triangles(odd.model)
    assert np.array_equal(after.faces["next"], odd.model.faces["next"])


def test_hide_of_a_vertex(odd: Case) -> None:
    attribute = odd.obj.data.attributes["carnivores_hide"]
    attribute.data[4].value = 0
    attribute.data[20].value = 1
    assert odd.changes() == {"vertices.hide": [4, 20]}


# Faces


def test_delete_a_face(odd: Case) -> None:
    scene.pick(odd.obj.data, "FACE", 12)
    gone = int(meshes.get_attribute(odd.obj.data, "carnivores_face", "INT", "FACE")[12]) - 1
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.delete(type="ONLY_FACE")
    after = odd.result()
    expected = np.delete(odd.model.faces, gone)
    links = expected["next"].copy()
    expected["next"] = np.where(links == gone, -1, np.where(links > gone, links - 1, links))
    assert after.faces.tobytes() == expected.tobytes()
    assert after.vertices.tobytes() == odd.model.vertices.tobytes()


@pytest.mark.parametrize("links", ["zero", "none", "junk"])
def test_delete_a_face_where_there_is_no_draw_list(tmp_path: Path, links: str) -> None:
    """Links that lead nowhere are not links: they stay as they are."""
    model = models.regular()
    model.faces["next"] = {"zero": 0, "none": -1, "junk": 1234567}[links]
    case = Case(tmp_path, model)
    scene.pick(case.obj.data, "FACE", 0)
    with scene.edit_mode(case.obj):
        bpy.ops.mesh.delete(type="ONLY_FACE")
    assert case.result().faces.tobytes() == model.faces[1:].tobytes()


def test_faces_in_another_order(odd: Case) -> None:
    with scene.edit_mode(odd.obj, "all"):
        bpy.ops.mesh.sort_elements(type="REVERSE", elements={"FACE"})
    after = odd.result()
    assert _triangles(after) == _triangles(odd.model)
    assert after.vertices.tobytes() == odd.model.vertices.tobytes()
    # The draw list still runs over the same faces in the same order.
    assert _walk(after) == _walk(odd.model)


def _walk(model: Model) -> list[int]:
    starts = sorted(set(range(len(model.faces))) - set(model.faces["next"].tolist()))
    found, at = [], starts[0]
    while at >= 0:
        found.append(int(model.faces["distant"][at]))
        at = int(model.faces["next"][at])
    return found


def test_extrude(odd: Case) -> None:
    scene.pick(odd.obj.data, "FACE", 12)
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.extrude_region()
    size = len(odd.model.vertices)
    for vertex in odd.obj.data.vertices[size:]:
        vertex.co *= 1.5
    after = odd.result()
    assert len(after.faces) == len(odd.model.faces) + 6  # three quads
    assert len(after.vertices) == len(odd.model.vertices) + 3
    assert not set(after.faces["corner"].ravel().tolist()) - set(range(len(after.vertices)))
    kept = np.delete(odd.model.faces, int(_number_of(odd, 12)))
    assert not _triangles(Model(kept, odd.model.vertices)) - _triangles(after)
    assert models.volume(after.vertices["position"], after.faces["corner"]) > models.volume(
        odd.model.vertices["position"], odd.model.faces["corner"]
    )
    assert set(after.vertices["owner"][-3:].tolist()) <= set(odd.model.vertices["owner"].tolist())


def _number_of(case: Case, polygon: int) -> int:
    corner = case.model.faces["corner"]
    degenerate = (corner[:, 0] == corner[:, 1]) | (corner[:, 1] == corner[:, 2]) | (corner[:, 2] == corner[:, 0])
    return int(np.flatnonzero(~degenerate)[polygon])


def test_subdivide_keeps_flags_and_places(case: Case) -> None:
    with scene.edit_mode(case.obj, "all"):
        bpy.ops.mesh.subdivide()
    after = case.result()
    assert len(after.faces) == 4 * len(case.model.faces)
    before = Counter(case.model.faces["flags"].tolist())
    assert Counter(after.faces["flags"].tolist()) == {flag: 4 * count for flag, count in before.items()}
    assert np.array_equal(after.vertices["position"][: len(case.model.vertices)], case.model.vertices["position"])
    assert after.vertices["owner"].max() <= 3
    assert after.texels.tobytes() == case.model.texels.tobytes()


def test_fill_a_hole(case: Case) -> None:
    scene.pick(case.obj.data, "FACE", 12)
    with scene.edit_mode(case.obj):
        bpy.ops.mesh.delete(type="ONLY_FACE")
    corners = case.model.faces["corner"][12].tolist()
    scene.pick(case.obj.data, "VERT", *corners)
    with scene.edit_mode(case.obj):
        bpy.ops.mesh.edge_face_add()
    after = case.result()
    assert len(after.faces) == len(case.model.faces)
    assert set(after.faces["corner"][-1].tolist()) == set(corners)
    assert np.array_equal(after.faces["corner"][:-1], np.delete(case.model.faces["corner"], 12, axis=0))
    assert after.faces["next"][-1] == -1


def test_flags(case: Case) -> None:
    case.obj.data.attributes["carnivores_flags"].data[12].value = 0x11
    assert case.changes() == {"faces.flags": [12]}
    assert case.result().faces["flags"][12] == 0x11


def test_group(case: Case) -> None:
    case.obj.data.attributes["carnivores_group"].data[12].value = 77
    assert case.changes() == {"faces.group": [12]}


def test_flip_normals_of_a_face(case: Case) -> None:
    scene.pick(case.obj.data, "FACE", 12)
    with scene.edit_mode(case.obj):
        bpy.ops.mesh.flip_normals()
    assert {name.partition(".")[2] for name in case.changes()} <= {"corner", "u", "v"}
    old, new = case.model.faces["corner"][12], case.result().faces["corner"][12]
    turned = [tuple(np.roll(new, turn)) for turn in range(3)]
    assert tuple(old[::-1]) in turned


# UVs and picture


def test_move_a_uv(odd: Case) -> None:
    odd.obj.data.uv_layers.active.uv[3 * 12].vector.x += 8 / 256
    number = _number_of(odd, 12)
    assert odd.changes() == {"faces.u": [number]}
    assert odd.result().faces["u"][number][0] == odd.model.faces["u"][number][0] + 8


def _paint(image: bpy.types.Image, column: int, row: int, color: tuple[float, ...]) -> None:
    """Row from the top."""
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    grid = pixels.reshape(image.size[1], image.size[0], 4)
    grid[image.size[1] - 1 - row, column] = color
    image.pixels.foreach_set(pixels)
    image.update()


@pytest.mark.parametrize("pack", [False, True])
def test_paint_a_texel(case: Case, pack: bool) -> None:
    image = bpy.data.images["beast"]
    _paint(image, 100, 50, (1, 0, 0, 1))
    if pack:
        image.pack()
        scene.reopen(case.folder / "a.blend")
        case.obj = scene.the_mesh()
    assert case.changes() == {"texels": [50 * 256 + 100]}
    assert case.result().texels[50, 100] == 0x7C00


def test_paint_a_hole_black_and_back(case: Case) -> None:
    """A visible black on a cut-out model must not become a hole; a hole that is painted over is none any more."""
    image = bpy.data.images["beast"]
    _paint(image, 100, 50, (0, 0, 0, 1))
    _paint(image, 20, 4, (0, 0, 0, 1))
    _paint(image, 101, 50, (0.5, 0.5, 0.5, 0))
    after = case.result()
    assert after.texels[50, 100] == after.texels[4, 20] == 1
    assert after.texels[50, 101] == 0
    changed = np.flatnonzero(after.texels != case.model.texels)
    assert set(changed.tolist()) <= {50 * 256 + 100, 50 * 256 + 101, 4 * 256 + 20}


def _new_image(columns: int, rows: int, color: tuple[float, ...] = (1, 0, 0, 1)) -> bpy.types.Image:
    image = bpy.data.images.new("mine", columns, rows, alpha=True)
    image.pixels.foreach_set(np.tile(np.array(color, np.float32), columns * rows))
    return image


def _image_nodes() -> list[bpy.types.Node]:
    return [node for entry in bpy.data.materials for node in entry.node_tree.nodes if node.type == "TEX_IMAGE"]


def test_replace_the_picture(case: Case) -> None:
    image = _new_image(512, 512)
    for node in _image_nodes():
        node.image = image
    after = case.result()
    assert after.texels.shape == (256, 256)
    assert (after.texels == 0x7C00).all()
    # UVs stay on the same part of the picture, which has more rows now.
    shift = (after.faces["v"] + 0.5) / 256 - (case.model.faces["v"] + 0.5) / 97
    assert np.abs(shift).max() <= 0.5 / 256 + 1e-6
    assert np.array_equal(after.faces["u"], case.model.faces["u"])
    assert after.vertices.tobytes() == case.model.vertices.tobytes()


def test_resize_the_picture(case: Case) -> None:
    image = bpy.data.images["beast"]
    image.scale(512, 194)
    after = case.result()
    assert after.texels.shape == (97, 256)
    assert np.array_equal(after.faces["v"], case.model.faces["v"])


def test_picture_cut_to_fewer_rows(case: Case) -> None:
    bpy.data.images["beast"].scale(256, 48)
    after = case.result()
    assert after.texels.shape == (48, 256)
    inside = (case.model.faces["v"] >= 0) & (case.model.faces["v"] < 97)
    assert (after.faces["v"][inside] < 48).all()


def test_remove_the_picture(case: Case) -> None:
    """A model whose picture was taken away has no texture; its UVs stay, for the next one."""
    bpy.data.images.remove(bpy.data.images["beast"])
    assert case.changes() == {"texels": [97, 0]}


def test_external_picture(case: Case) -> None:
    image = bpy.data.images["beast"]
    image.filepath_raw = str(case.folder / "picture.png")
    image.file_format = "PNG"
    image.save()
    image.unpack(method="REMOVE")
    image.filepath = str(case.folder / "picture.png")
    image.source = "FILE"
    image.reload()
    assert image.packed_file is None
    assert case.changes() == {}


def test_lost_picture(case: Case) -> None:
    image = bpy.data.images["beast"]
    image.unpack(method="REMOVE")
    image.filepath = str(case.folder / "lost.png")
    image.reload()
    target = case.folder / "out.3df"
    target.write_bytes(b"old")
    with pytest.raises(RuntimeError, match='the picture "beast" cannot be found') as caught:
        case.out()
    assert len(str(caught.value).strip().splitlines()) == 1
    assert target.read_bytes() == b"old"


# Materials


def _material(case: Case, flag: int) -> bpy.types.Material:
    index = meshes.get_attribute(case.obj.data, "material_index", "INT", "FACE")
    number = int(np.flatnonzero(case.model.faces["flags"] == flag)[0])
    material: bpy.types.Material = case.obj.material_slots[int(index[number])].material
    return material


def _where(case: Case, *flags: int) -> list[int]:
    return [int(n) for n in np.flatnonzero(np.isin(case.model.faces["flags"], flags))]


def test_culling_off_is_double_side(case: Case) -> None:
    _material(case, 0).use_backface_culling = False
    assert case.changes() == {"faces.flags": _where(case, 0x00, 0x10)}
    assert (case.result().faces["flags"][_where(case, 0x10)] == 0x11).all()


def test_culling_on_is_single_side(case: Case) -> None:
    _material(case, 1).use_backface_culling = True
    assert (case.result().faces["flags"][_where(case, 1)] == 0).all()
    assert case.changes() == {"faces.flags": _where(case, 1)}


def test_alpha_linked_is_opacity_and_unlinked_is_not(case: Case) -> None:
    plain = _material(case, 0).node_tree
    texture = next(node for node in plain.nodes if node.type == "TEX_IMAGE")
    shader = next(node for node in plain.nodes if node.type == "BSDF_PRINCIPLED")
    plain.links.new(texture.outputs["Alpha"], shader.inputs["Alpha"])
    cut = _material(case, 4).node_tree
    cut.links.remove(next(node for node in cut.nodes if node.type == "BSDF_PRINCIPLED").inputs["Alpha"].links[0])
    flags = case.result().faces["flags"]
    assert (flags[_where(case, 0x00)] == 4).all()
    assert (flags[_where(case, 0x10)] == 0x14).all()
    assert (flags[_where(case, 4)] == 0).all()
    assert case.changes() == {"faces.flags": _where(case, 0x00, 0x10, 0x04)}


# Bones and owners


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


# Objects


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
    whole = [face for face in _triangles(odd.model) if len({corner[:3] for corner in face[:3]}) == 3]
    joined = sum((_triangles(model) for model in written), Counter())
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
