# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of an imported model are local: the exported file differs in what was touched and in nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.model import Model
from addon.io_common.scene import mesh as meshes

from .helpers import models, scene
from .helpers.edited import Case, triangles


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, models.regular())


@pytest.fixture
def odd(tmp_path: Path) -> Case:
    return Case(tmp_path, models.odd())


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
    assert triangles(after) == triangles(expected)
    assert after.bones.tobytes() == odd.model.bones.tobytes()
    assert after.texels.tobytes() == odd.model.texels.tobytes()


def test_delete_a_vertex_of_a_degenerate_face(odd: Case) -> None:
    corner = int(odd.model.faces["corner"][0][0])
    scene.pick(odd.obj.data, "VERT", corner)
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.delete(type="VERT")
    used = (odd.model.faces["corner"] == corner).any(axis=1)
    assert used[0]
    assert triangles(odd.result()) == triangles(Model(odd.model.faces[~used], odd.model.vertices))


def test_merge_vertices(odd: Case) -> None:
    scene.pick(odd.obj.data, "VERT", 18, 19)
    with scene.edit_mode(odd.obj):
        bpy.ops.mesh.merge(type="CENTER")
    after = odd.result()
    assert len(after.vertices) == len(odd.model.vertices) - 1
    touched = np.isin(odd.model.faces["corner"], (18, 19)).any(axis=1)
    untouched = triangles(Model(odd.model.faces[~touched], odd.model.vertices))
    assert not untouched - triangles(after)
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
    assert triangles(after) == triangles(odd.model)
    assert np.array_equal(after.faces["next"], odd.model.faces["next"])


def test_hide_of_a_vertex(odd: Case) -> None:
    attribute = odd.obj.data.attributes["carnivores_hide"]
    attribute.data[4].value = 0
    attribute.data[20].value = 1
    assert odd.changes() == {"vertices.hide": [4, 20]}


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
    assert triangles(after) == triangles(odd.model)
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
    assert not triangles(Model(kept, odd.model.vertices)) - triangles(after)
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


def test_move_a_uv(odd: Case) -> None:
    odd.obj.data.uv_layers.active.uv[3 * 12].vector.x += 8 / 256
    number = _number_of(odd, 12)
    assert odd.changes() == {"faces.u": [number]}
    assert odd.result().faces["u"][number][0] == odd.model.faces["u"][number][0] + 8
