# SPDX-License-Identifier: GPL-3.0-or-later
"""Face flags and groups in the scene, and the check of objects: on meshes, without operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats.flags import FaceFlag
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, Model
from addon.io_carnivores.scene import build, extract, face_flags, inspect, kept, materials, part, pictures
from addon.io_carnivores.scene.options import ExportOptions, ImportOptions
from addon.io_common.formats.digest import Digest

# A strip of four triangles over six vertices.
STRIP = np.array([(0, 1, 2), (2, 1, 3), (2, 3, 4), (4, 3, 5)])


def model(flags: tuple[int, ...] = (0, 0x05, 0x10, 0x05), corner: np.ndarray[Any, Any] = STRIP) -> Model:
    """The strip with a texture whose first texel is black."""
    faces = np.zeros(len(corner), FACE)
    faces["corner"] = corner
    faces["flags"] = np.resize(np.array(flags), len(corner))
    faces["group"] = np.arange(len(corner)) % 3
    faces["next"] = -1
    vertices = np.zeros(6, VERTEX)
    vertices["position"] = [(x, y, 0) for x in range(3) for y in range(2)]
    texels = np.full((256, 256), 0x7FFF, "<u2")
    texels[0, 0] = 0
    bones = np.zeros(1, BONE)
    bones["parent"] = -1
    return Model(faces, vertices, bones, texels)


def imported(source: Model | None = None) -> bpy.types.Object:
    """The mesh object of an imported model."""
    made = build.build(
        bpy.context, source or model(), Path("strip.3df"), ImportOptions(use_bones=False), Digest(), "carnivores_3df"
    )
    bpy.context.view_layer.objects.active = made[0]
    made[0].select_set(state=True)
    return made[0]


def grid(slots: int = 0) -> bpy.types.Object:
    """A 2 x 2 grid of quads made in Blender."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=2, y_subdivisions=2)
    obj = bpy.context.object
    for number in range(slots):
        obj.data.materials.append(bpy.data.materials.new(f"mine {number}"))
    return obj


def pick(obj: bpy.types.Object, *faces: int) -> None:
    """Select just these faces."""
    mask = np.zeros(len(obj.data.polygons), bool)
    mask[list(faces)] = True
    face_flags.select(obj.data, mask, extend=False)


def looks(obj: bpy.types.Object) -> list[int]:
    """The look of every face's material, -1 for foreign ones."""
    slots = [kept.get(slot.material, kept.LOOK, -1) if slot.material else None for slot in obj.material_slots] or [None]
    return [slots[face.material_index] for face in obj.data.polygons]


def exported(obj: bpy.types.Object) -> list[int]:
    """The flags a 3DF of the object would hold, per face."""
    found = extract.extract_3df(bpy.context, [obj], ExportOptions(), Digest(), Path("x"))
    return [int(flag) for flag in found.faces["flags"]]


def test_read_is_what_is_exported() -> None:
    obj = imported()
    assert face_flags.read(obj).tolist() == [0, 5, 0x10, 5] == exported(obj)
    obj.material_slots[obj.data.polygons[0].material_index].material.use_backface_culling = False
    assert face_flags.read(obj).tolist() == [1, 5, 0x11, 5] == exported(obj)


def test_without_the_attribute_materials_say_it() -> None:
    obj = grid(slots=2)
    first, second = obj.data.materials
    first.use_backface_culling, second.use_backface_culling = True, False
    obj.data.polygons[3].material_index = 1
    assert face_flags.read(obj).tolist() == [0, 0, 0, 1]
    assert kept.FLAGS not in obj.data.attributes


def test_counts() -> None:
    found = face_flags.counts(face_flags.read(imported()))
    assert found[FaceFlag.DOUBLE_SIDE] == found[FaceFlag.OPACITY] == 2
    assert found[FaceFlag.MORTAL] == 1
    assert sum(found.values()) == 5


@pytest.mark.parametrize(("match", "faces"), [("ANY", [1, 2, 3]), ("ALL", [3]), ("NONE", [0])])
def test_matching(match: str, faces: list[int]) -> None:
    flags = np.array([0x20, 0x05, 0x10, 0x15], np.int32)
    assert np.flatnonzero(face_flags.matching(flags, 0x11, match)).tolist() == faces


def test_a_change_reaches_the_selected_faces_only_and_their_material() -> None:
    obj = imported()
    pick(obj, 0, 2)
    assert face_flags.change(obj, lambda flags: flags | 0x05) == 2
    assert face_flags.read(obj).tolist() == [5, 5, 0x15, 5] == exported(obj)
    assert looks(obj) == [5, 5, 5, 5]
    pick(obj, 3)
    assert face_flags.change(obj, lambda flags: flags & ~np.int32(4)) == 1
    assert looks(obj) == [5, 5, 5, 1]
    assert exported(obj) == [5, 5, 0x15, 1]


def test_a_flag_that_does_not_show_makes_no_material() -> None:
    obj = imported()
    before = len(bpy.data.materials)
    pick(obj, 0, 1)
    face_flags.change(obj, lambda flags: flags | 0x10)
    assert len(bpy.data.materials) == before
    assert exported(obj) == [0x10, 0x15, 0x10, 5]


def test_a_material_edited_by_hand_stays_and_is_counted_once() -> None:
    obj = imported()
    plain = obj.material_slots[obj.data.polygons[0].material_index].material
    plain.use_backface_culling = False  # faces 0 and 2 are Double Side now
    pick(obj, 0)
    face_flags.change(obj, lambda flags: flags | 0x10)
    assert exported(obj) == [0x11, 5, 0x11, 5]
    assert obj.material_slots[obj.data.polygons[0].material_index].material == plain
    pick(obj, 2)
    face_flags.change(obj, lambda flags: flags & ~np.int32(1))
    assert exported(obj) == [0x11, 5, 0x10, 5]
    back = obj.material_slots[obj.data.polygons[2].material_index].material
    assert back != plain
    assert back.use_backface_culling


def test_a_material_of_ones_own_stays() -> None:
    obj = grid(slots=1)
    obj.data.materials[0].use_backface_culling = True
    pick(obj, 1, 2)
    assert face_flags.change(obj, lambda flags: flags | 0x05) == 2
    assert [material.name for material in obj.data.materials] == ["mine 0"]
    assert face_flags.read(obj).tolist() == [0, 5, 5, 0]
    assert exported(obj) == [0, 0, 5, 5, 5, 5, 0, 0]


def test_a_mesh_without_material_gets_one_for_the_changed_faces_alone() -> None:
    obj = grid()
    pick(obj, 3)
    face_flags.change(obj, lambda flags: flags | 0x08)
    assert looks(obj) == [None, None, None, 8]
    assert face_flags.read(obj).tolist() == [0, 0, 0, 8]


def test_the_key_colour_shows_with_the_first_cut_out_face() -> None:
    obj = imported(model(flags=(0,)))
    image = materials.image_of(obj.material_slots[0].material)
    assert image is not None
    assert pictures.read(image)[0, 0, 3] == 255
    pick(obj, 1)
    face_flags.change(obj, lambda flags: flags | 0x04)
    assert pictures.read(image)[0, 0, 3] == 0
    assert pictures.read(image)[0, 1, 3] == 255
    found = extract.extract_3df(bpy.context, [obj], ExportOptions(), Digest(), Path("x"))
    assert (found.texels == model().texels).all()


def test_nothing_but_flags_changes_in_the_export() -> None:
    obj = imported()
    before = extract.extract_3df(bpy.context, [obj], ExportOptions(), Digest(), Path("x"))
    pick(obj, 0, 1, 2, 3)
    face_flags.change(obj, lambda flags: flags ^ 0x0F)
    face_flags.change(obj, lambda flags: flags ^ 0x0F)
    assert extract.extract_3df(bpy.context, [obj], ExportOptions(), Digest(), Path("x")) == before


def test_faces_joined_to_an_import_can_lose_their_flags() -> None:
    obj = imported(model(flags=(0x10,)))
    grid(slots=1).select_set(state=True)
    obj.select_set(state=True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.join()
    assert face_flags.read(obj).tolist() == [0x10] * 4 + [1] * 4
    pick(obj, 4, 5)
    assert face_flags.change(obj, lambda flags: flags & ~np.int32(1)) == 2
    assert face_flags.read(obj).tolist() == [0x10] * 4 + [0, 0, 1, 1]
    assert exported(obj) == [0x10] * 4 + [0] * 4 + [1] * 4
    bpy.ops.object.mode_set(mode="EDIT")
    assert face_flags.read_edited(obj).flags.tolist() == [0x10] * 4 + [0, 0, 1, 1]


def test_what_a_material_adds_stays_its_business() -> None:
    obj = imported(model(flags=(0,)))
    material = obj.material_slots[0].material
    material.use_backface_culling = False
    pick(obj, 0)
    face_flags.change(obj, lambda flags: flags | 0x10)
    material.use_backface_culling = True
    assert face_flags.read(obj).tolist()[1:] == [0, 0, 0]


def test_select_flushes_and_extends() -> None:
    obj = imported()
    pick(obj, 0)
    assert [face.select for face in obj.data.polygons] == [True, False, False, False]
    assert [vertex.select for vertex in obj.data.vertices] == [True, True, True, False, False, False]
    assert sum(edge.select for edge in obj.data.edges) == 3
    mask = np.array([False, False, False, True])
    assert face_flags.select(obj.data, mask, extend=True) == 1
    assert [face.select for face in obj.data.polygons] == [True, False, False, True]
    assert all(vertex.select for vertex in obj.data.vertices)
    assert sum(edge.select for edge in obj.data.edges) == 6


def test_hide_and_reveal() -> None:
    obj = imported()
    mask = np.array([True, True, False, False])
    assert face_flags.hide(obj.data, mask) == 2
    assert [face.hide for face in obj.data.polygons] == [True, True, False, False]
    assert [vertex.hide for vertex in obj.data.vertices] == [True, True, False, False, False, False]
    assert face_flags.select(obj.data, np.ones(4, bool), extend=False) == 2
    assert [face.select for face in obj.data.polygons] == [False, False, True, True]
    assert face_flags.reveal(obj.data, np.ones(4, bool)) == 2
    assert not any(face.hide for face in obj.data.polygons)
    assert not any(vertex.hide for vertex in obj.data.vertices)
    assert not any(edge.hide for edge in obj.data.edges)
    assert all(face.select for face in obj.data.polygons)


def test_hidden_faces_are_not_changed() -> None:
    obj = imported(model(flags=(0,)))
    pick(obj, 0, 1, 2, 3)
    face_flags.hide(obj.data, np.array([True, False, False, False]))
    assert face_flags.change(obj, lambda flags: flags | 0x10) == 3
    assert face_flags.read(obj).tolist() == [0, 16, 16, 16]


def test_groups() -> None:
    obj = imported()
    assert face_flags.read_groups(obj.data).tolist() == [0, 1, 2, 0]
    pick(obj, 0, 1)
    assert face_flags.change_group(obj.data, 1) == 1
    assert face_flags.read_groups(obj.data).tolist() == [1, 1, 2, 0]
    fresh = grid()
    pick(fresh, 2)
    face_flags.change_group(fresh.data, 6)
    assert face_flags.read_groups(fresh.data).tolist() == [0, 0, 6, 0]


def test_edit_mode_is_read_the_same() -> None:
    obj = imported()
    pick(obj, 1, 2)
    flags, groups = face_flags.read(obj), face_flags.read_groups(obj.data)
    bpy.context.tool_settings.mesh_select_mode = (False, False, True)
    bpy.ops.object.mode_set(mode="EDIT")
    found = face_flags.read_edited(obj)
    assert (found.flags == flags).all()
    assert (found.groups == groups).all()
    assert found.selected.tolist() == [False, True, True, False]


def degenerate() -> Model:
    """The strip with faces before, within and behind it that Blender cannot hold."""
    return model(flags=(0x80,), corner=np.insert(STRIP, (0, 2, 2, 4), (1, 1, 2), axis=0))


def test_written_order() -> None:
    obj = imported(degenerate())
    entry = part.extract(bpy.context, obj, ExportOptions(), Digest())
    assert extract.written_order(entry).tolist() == [-1, 0, 1, -1, -1, 2, 3, -1]


@pytest.mark.parametrize("modifier", ["", "TRIANGULATE", "MIRROR"])
def test_a_finding_is_selected_in_the_mesh(modifier: str) -> None:
    source = degenerate()
    source.faces["flags"] = (0x80, 0, 0, 0, 0, 0x80, 0, 0)
    obj = imported(source)
    if modifier:
        obj.modifiers.new("changes the faces", modifier)
    issue = next(entry for entry in inspect.inspect(bpy.context, obj, "C1", Digest()) if entry.code == "run-time-flags")
    assert inspect.select(bpy.context, obj, "C1", issue) == 1
    assert [face.select for face in obj.data.polygons] == [False, False, True, False]
    names = {attribute.name for attribute in obj.data.attributes}
    assert not any("origin" in name for name in names)


def test_a_finding_of_an_ngon_selects_it_once() -> None:
    obj = grid()
    pick(obj, 2)
    face_flags.change(obj, lambda flags: flags | 0x80)
    issue = next(entry for entry in inspect.inspect(bpy.context, obj, "C1", Digest()) if entry.code == "run-time-flags")
    assert len(issue.faces) == 2
    assert inspect.select(bpy.context, obj, "C1", issue) == 1
    assert [face.select for face in obj.data.polygons] == [False, False, True, False]


def test_a_finding_about_vertices() -> None:
    source = model()
    source.vertices["owner"] = (0, 0, 7, 7, 7, 0)
    obj = imported(source)
    issue = next(entry for entry in inspect.inspect(bpy.context, obj, "C1", Digest()) if len(entry.vertices))
    assert issue.code == "missing-owner"
    assert inspect.select(bpy.context, obj, "C1", issue) == 3
    assert [vertex.select for vertex in obj.data.vertices] == [False, False, True, True, True, False]
    assert [face.select for face in obj.data.polygons] == [False, False, True, False]


def test_inspect_leaves_the_scene_alone() -> None:
    obj = imported()
    before = {
        block.session_uid for block in (*bpy.data.meshes, *bpy.data.images, *bpy.data.materials, *bpy.data.objects)
    }
    for game in ("C1", "C2", "ICE_AGE", "MEE", "MOBILE"):
        inspect.inspect(bpy.context, obj, game, Digest())
    after = {
        block.session_uid for block in (*bpy.data.meshes, *bpy.data.images, *bpy.data.materials, *bpy.data.objects)
    }
    assert after == before
