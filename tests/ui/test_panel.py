# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab: its panels draw in every state, its operators work in Edit Mode, and nothing of it stays behind."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.flags import FLAGS, FaceFlag
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, Model
from addon.io_carnivores.scene import curves, face_flags, kept
from addon.io_carnivores.ui import flag_operators, overlay, panel, state
from addon.io_carnivores.ui.live import live
from addon.io_common.scene import compat
from addon.io_common.ui import sidebar

ASSETS = Path(__file__).parents[2] / "assets"
STRIP = np.array([(0, 1, 2), (2, 1, 3), (2, 3, 4), (4, 3, 5)])


@pytest.fixture
def strip(tmp_path: Path) -> bpy.types.Object:
    """An imported strip of four triangles with flags 0, 5, 16, 5 and groups 0, 1, 2, 0; the active object."""
    faces = np.zeros(4, FACE)
    faces["corner"] = STRIP
    faces["flags"] = (0, 5, 0x10, 5)
    faces["group"] = (0, 1, 2, 0)
    vertices = np.zeros(6, VERTEX)
    vertices["position"] = [(x, y, 0) for x in range(3) for y in range(2)]
    bones = np.zeros(1, BONE)
    bones["parent"] = -1
    path = tmp_path / "strip.3df"
    path.write_bytes(model_3df.write(Model(faces, vertices, bones, np.full((256, 256), 0x7FFF, "<u2"))))
    bpy.ops.import_scene.carnivores_3df(filepath=str(path))
    obj = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(state=True)
    bpy.context.view_layer.objects.active = obj
    return obj


def edit(*faces: int) -> None:
    """Enter Edit Mode with just these faces of the active object selected."""
    obj = bpy.context.view_layer.objects.active
    mask = np.zeros(len(obj.data.polygons), bool)
    mask[list(faces)] = True
    face_flags.select(obj.data, mask, extend=False)
    bpy.context.tool_settings.mesh_select_mode = (False, False, True)
    bpy.ops.object.mode_set(mode="EDIT")


def leave() -> bpy.types.Object:
    """Back to Object Mode; the active object."""
    assert bpy.context.mode == "EDIT_MESH"  # operators come back to where they were called
    bpy.ops.object.mode_set(mode="OBJECT")
    return bpy.context.view_layer.objects.active


def selected(obj: bpy.types.Object) -> list[int]:
    return [face.index for face in obj.data.polygons if face.select]


@pytest.mark.parametrize(
    ("operator", "flags", "result"),
    [
        ("flags_set", {"MORTAL"}, [0x10, 5, 0x10, 5]),
        ("flags_set", {"TRANSPARENT", "ENV_MAP"}, [0x48, 5, 0x58, 5]),
        ("flags_clear", {"MORTAL", "OPACITY"}, [0, 5, 0, 5]),
        ("flags_toggle", {"MORTAL", "DARK"}, [0x8010, 5, 0x8000, 5]),
    ],
)
def test_flags_of_selected_faces(strip: bpy.types.Object, operator: str, flags: set[str], result: list[int]) -> None:
    edit(0, 2)
    assert getattr(bpy.ops.carnivores, operator)(flags=flags) == {"FINISHED"}
    assert face_flags.read(leave()).tolist() == result
    assert selected(strip) == [0, 2]


def test_all_edited_objects_change(strip: bpy.types.Object) -> None:
    other = strip.copy()
    other.data = strip.data.copy()
    linked = strip.copy()  # shares the mesh: must not be changed twice
    for obj in (other, linked):
        bpy.context.collection.objects.link(obj)
        obj.select_set(state=True)
    edit(0)
    bpy.ops.mesh.select_all(action="SELECT")
    assert len(flag_operators.edited(bpy.context)) == 2
    assert flag_operators.edited(bpy.context)[0].data == strip.data
    assert live().numbers(panel.shown_objects(bpy.context)).faces == 8
    bpy.ops.carnivores.flags_toggle(flags={"MORTAL"})
    leave()
    for mesh_object in (strip, other):
        assert face_flags.read(mesh_object).tolist() == [0x10, 0x15, 0, 0x15]


def test_nothing_selected_is_said(strip: bpy.types.Object) -> None:
    edit()
    assert bpy.ops.carnivores.flags_set(flags={"MORTAL"}) == {"CANCELLED"}
    assert bpy.ops.carnivores.group_set(group=3) == {"CANCELLED"}
    with pytest.raises(RuntimeError, match="Choose at least one flag"):
        bpy.ops.carnivores.flags_set(flags=set())
    assert face_flags.read(leave()).tolist() == [0, 5, 0x10, 5]


@pytest.mark.parametrize(
    "name", ["flags_set", "flags_clear", "flags_toggle", "flags_select", "flags_hide", "group_set", "group_select"]
)
def test_object_mode_is_refused_with_a_reason(strip: bpy.types.Object, name: str) -> None:
    operator = getattr(bpy.ops.carnivores, name)
    assert not operator.poll()
    with pytest.raises(RuntimeError, match="Enter Edit Mode first"):
        operator()
    assert "UNDO" in getattr(bpy.types, f"CARNIVORES_OT_{name}").bl_options


@pytest.mark.parametrize(
    ("flags", "match", "extend", "result"),
    [
        ({"OPACITY"}, "ANY", False, [1, 3]),
        ({"OPACITY", "MORTAL"}, "ANY", False, [1, 2, 3]),
        ({"OPACITY", "MORTAL"}, "ALL", False, []),
        ({"OPACITY", "DOUBLE_SIDE"}, "ALL", True, [0, 1, 3]),
        ({"OPACITY"}, "NONE", False, [0, 2]),
    ],
)
def test_select_by_flags(strip: bpy.types.Object, flags: set[str], match: str, extend: bool, result: list[int]) -> None:
    edit(0)
    # Vertex mode would select the faces between the found ones as well.
    bpy.context.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.carnivores.flags_select(flags=flags, match=match, extend=extend)
    assert selected(leave()) == result


def test_hide_and_reveal_by_flags(strip: bpy.types.Object) -> None:
    edit()
    bpy.ops.carnivores.flags_hide(flags={"OPACITY"})
    obj = leave()
    assert [face.hide for face in obj.data.polygons] == [False, True, False, True]
    edit()
    bpy.ops.carnivores.flags_hide(flags={"OPACITY"}, reveal=True)
    obj = leave()
    assert not any(face.hide for face in obj.data.polygons)
    assert selected(obj) == [1, 3]


def test_groups(strip: bpy.types.Object) -> None:
    edit(1)
    bpy.ops.carnivores.group_set(group=2)
    bpy.ops.carnivores.group_select(group=2)
    obj = leave()
    assert face_flags.read_groups(obj.data).tolist() == [0, 2, 2, 0]
    assert selected(obj) == [1, 2]


def test_the_whole_way_of_a_mesh_made_in_blender(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    edit(0)
    bpy.ops.carnivores.flags_set(flags={"DOUBLE_SIDE"})
    leave()
    path = tmp_path / "cube.3df"
    bpy.ops.export_scene.carnivores_3df(filepath=str(path))
    flags = model_3df.read(path.read_bytes()).faces["flags"]
    assert sorted(flags.tolist()) == [0] * 10 + [1] * 2


class TestNumbers:
    """Live counts."""

    def test_object_mode(self, strip: bpy.types.Object) -> None:
        numbers = live().numbers(panel.shown_objects(bpy.context))
        assert numbers.faces == 4
        assert numbers.flags[FaceFlag.OPACITY] == 2
        assert numbers.groups == {0: 2, 1: 1, 2: 1}
        assert numbers.selected == 0

    def test_edit_mode_follows_every_change(self, strip: bpy.types.Object) -> None:
        edit(1, 2)

        def now() -> Any:
            bpy.context.view_layer.update()
            return live().numbers(panel.shown_objects(bpy.context))

        assert now().selected_flags[FaceFlag.OPACITY] == 1
        assert now().selected_groups == {1: 1, 2: 1}
        bpy.ops.carnivores.flags_set(flags={"MORTAL"})
        assert now().flags[FaceFlag.MORTAL] == 2
        bpy.ops.mesh.select_all(action="SELECT")
        assert now().selected == 4
        bpy.ops.mesh.duplicate()
        assert now().faces == 8
        assert now().flags[FaceFlag.MORTAL] == 4
        bpy.ops.mesh.delete(type="FACE")
        assert now().flags[FaceFlag.MORTAL] == 2

    def test_nothing_is_read_twice(self, strip: bpy.types.Object) -> None:
        edit(1)
        bpy.context.view_layer.update()
        first = live().edited(strip)
        assert live().edited(strip) is first


class TestCheck:
    """The check of the sidebar."""

    def test_a_clean_model(self, strip: bpy.types.Object) -> None:
        strip.data.attributes[kept.FLAGS].data.foreach_set("value", np.array([0, 1, 0x10, 1], np.int32))
        assert bpy.ops.carnivores.check(game="C1") == {"FINISHED"}
        shown = state.sidebar(bpy.context)
        assert shown.checked == "strip for Carnivores"
        assert len(shown.findings) == 0

    def test_findings_are_listed_and_selected(self, strip: bpy.types.Object) -> None:
        bpy.ops.carnivores.check(game="C2")
        finding = state.sidebar(bpy.context).findings[0]
        assert (finding.object_name, finding.code, finding.count, finding.is_error) == (
            "strip",
            "opacity-without-key",
            2,
            False,
        )
        assert bpy.ops.carnivores.check_select(object_name="strip", code=finding.code, game="C2") == {"FINISHED"}
        assert selected(leave()) == [1, 3]

    def test_in_edit_mode_pending_changes_count(self, strip: bpy.types.Object) -> None:
        edit(1, 3)
        bpy.ops.mesh.delete(type="ONLY_FACE")
        bpy.ops.carnivores.check(game="C2")
        assert len(state.sidebar(bpy.context).findings) == 0
        assert bpy.context.mode == "EDIT_MESH"

    def test_errors_come_first(self, strip: bpy.types.Object) -> None:
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=40, y_subdivisions=40)
        strip.select_set(state=True)
        bpy.ops.carnivores.check(game="C1")
        shown = state.sidebar(bpy.context)
        kinds = [finding.is_error for finding in shown.findings]
        assert kinds[0]
        assert kinds == sorted(kinds, reverse=True)
        assert {finding.object_name for finding in shown.findings} == {"strip", "Grid"}
        assert bpy.ops.carnivores.check_select(object_name="Grid", code="too-many-faces", game="C1") == {"FINISHED"}
        assert len(selected(leave())) == 1600 - 512

    def test_a_finding_that_is_gone(self, strip: bpy.types.Object) -> None:
        assert bpy.ops.carnivores.check_select(object_name="strip", code="run-time-flags", game="C2") == {"CANCELLED"}
        with pytest.raises(RuntimeError, match="no mesh object"):
            bpy.ops.carnivores.check_select(object_name="gone", code="x", game="C2")

    def test_another_file_forgets_the_findings(self, strip: bpy.types.Object, tmp_path: Path) -> None:
        bpy.ops.carnivores.check(game="C2")
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "x.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "x.blend"))
        assert len(state.sidebar(bpy.context).findings) == 0
        assert state.sidebar(bpy.context).checked == ""

    def test_an_export_that_stops_says_why_and_writes_nothing(self, strip: bpy.types.Object, tmp_path: Path) -> None:
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=40, y_subdivisions=40)
        path = tmp_path / "grid.3df"
        with pytest.raises(
            RuntimeError, match=r"1681 vertices, but Carnivores 2 holds no more than 1024.*1 more error.*Stop at Errors"
        ):
            bpy.ops.export_scene.carnivores_3df(filepath=str(path))
        assert not path.exists()
        assert bpy.ops.export_scene.carnivores_3df(filepath=str(path), use_check=False) == {"FINISHED"}


def test_names_of_a_mobile_model(strip: bpy.types.Object) -> None:
    assert bpy.ops.carnivores.name_set(which="TEXTURE", text="skin") == {"FINISHED"}
    assert kept.get(strip.data, kept.TEXTURE_NAME, b"") == b"skin".ljust(32, b"\0")
    raw = b"skin\0bmp".ljust(32, b"\0")
    kept.put(strip.data, kept.TEXTURE_NAME, raw)
    assert bpy.ops.carnivores.name_set(which="TEXTURE", text="skin") == {"CANCELLED"}
    assert kept.get(strip.data, kept.TEXTURE_NAME, b"") == raw
    bpy.ops.carnivores.name_set(which="SPRITE", text="far")
    assert kept.get(strip.data, kept.HAS_SPRITE, 0) == 1
    bpy.ops.carnivores.name_set(which="SPRITE", text="")
    assert kept.HAS_SPRITE not in strip.data
    assert kept.SPRITE_NAME not in strip.data
    with pytest.raises(RuntimeError, match="at most 31"):
        bpy.ops.carnivores.name_set(which="SPRITE", text="x" * 32)
    with pytest.raises(RuntimeError, match="only Latin"):
        bpy.ops.carnivores.name_set(which="TEXTURE", text="Ящер")
    assert kept.get(strip.data, kept.TEXTURE_NAME, b"") == raw


def test_names_can_be_changed_right_after_an_import() -> None:
    """When the armature is active, under which the mesh hangs."""
    bpy.ops.import_scene.carnivores_3dn(filepath=str(ASSETS / "dinosaur.3dn"))
    assert bpy.context.active_object.type == "ARMATURE"
    assert bpy.ops.carnivores.name_set(which="TEXTURE", text="skin") == {"FINISHED"}
    mesh = next(obj for obj in bpy.data.objects if obj.type == "MESH").data
    assert kept.get(mesh, kept.TEXTURE_NAME, b"") == b"skin".ljust(32, b"\0")


def draw(cls: type) -> list[str]:
    """Draw a panel; the texts of its labels and buttons."""
    if hasattr(cls, "poll") and not cls.poll(bpy.context):
        return []
    layout = MagicMock()
    texts: list[str] = []
    for name in ("row", "column", "box", "split", "grid_flow"):
        getattr(layout, name).return_value = layout
    layout.panel.return_value = (layout, layout)
    layout.label.side_effect = lambda text="", **_: texts.append(text)
    layout.operator.side_effect = lambda _name, text="", **_: texts.append(text) or MagicMock()
    # The class itself is registered and cannot be made by hand: its methods are called on a stand-in.
    stand_in = SimpleNamespace(layout=layout)
    for name in dir(cls):
        if name.startswith("_") and not name.startswith("__") and callable(getattr(cls, name)):
            setattr(stand_in, name, getattr(cls, name).__get__(stand_in))
    if hasattr(cls, "draw_header"):
        cls.draw_header(stand_in, bpy.context)
    cls.draw(stand_in, bpy.context)
    for call in layout.prop.call_args_list:
        assert call.args[1] in call.args[0].bl_rna.properties, call
    return texts


def draw_all() -> str:
    return "\n".join(text for cls in panel.CLASSES for text in draw(cls))


def test_panels_are_of_the_sidebar() -> None:
    for cls in panel.CLASSES:
        assert (cls.bl_space_type, cls.bl_region_type, cls.bl_category) == ("VIEW_3D", "UI", "Carnivores")
        assert getattr(bpy.types, cls.__name__) is cls


def test_draw_without_an_object() -> None:
    assert draw_all() == "Select a model"


def test_draw_in_object_mode(strip: bpy.types.Object) -> None:
    texts = draw_all()
    for part in ("3DF", "1/32", "Opacity 2", "Mortal 1", "0: 2", "Set flags in Edit Mode", "Faces in the File"):
        assert part in texts
    assert "Need VC" not in "\n".join(draw(panel.CARNIVORES_PT_flags))


def test_draw_in_edit_mode(strip: bpy.types.Object) -> None:
    edit(1, 2)
    texts = draw_all()
    for part in ("Opacity 1/2", "Mortal 1/1", "2 of 4 faces selected", "2: 1/1"):
        assert part in texts


def test_draw_with_the_armature_active(strip: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = strip.parent
    assert strip.parent.type == "ARMATURE"
    assert "Opacity 2" in draw_all()
    bpy.ops.object.mode_set(mode="POSE")
    assert "Opacity 2" in draw_all()


def test_draw_with_something_else_active() -> None:
    bpy.ops.object.empty_add()
    assert "Select a model" in draw_all()


def test_draw_findings(strip: bpy.types.Object) -> None:
    bpy.ops.carnivores.check(game="C2")
    texts = draw_all()
    assert "strip for Carnivores 2" in texts
    assert "Select 2" in texts
    strip.data.attributes[kept.FLAGS].data.foreach_set("value", np.array([0, 1, 0x10, 1], np.int32))
    bpy.ops.carnivores.check(game="C2")
    assert "Nothing to complain of" in draw_all()


def test_findings_grow_old(strip: bpy.types.Object) -> None:
    """What was changed since is said; entering and leaving Edit Mode is no change."""
    old = "Changed since, check again"

    def check() -> None:
        bpy.ops.carnivores.check(game="C2")
        assert old not in draw_all()

    check()
    edit(0)
    assert old not in draw_all()
    bpy.ops.transform.translate(value=(0, 0, 5))
    bpy.context.view_layer.update()
    assert old in draw_all()
    check()
    leave()
    assert old not in draw_all()
    strip.data.vertices[0].co.x += 1
    strip.data.update()
    bpy.context.view_layer.update()
    assert old in draw_all()
    check()
    bpy.context.view_layer.objects.active = strip
    item = strip.data.carnivores_animations.add()
    assert old in draw_all()
    item.action = bpy.data.actions.new("a")
    curves.write_curve(compat.curves(strip, item.action), "location", np.array([(1.0, 0.0), (10.0, 5.0)]))
    item.use_length = True
    check()
    item.kps = 0
    assert old in draw_all()
    check()
    strip.location.x = 0.0
    strip.keyframe_insert("location", frame=3)  # another Action
    assert old not in draw_all()
    bpy.data.objects.remove(strip)
    bpy.ops.mesh.primitive_cube_add()
    assert old in draw_all()


def test_faces_are_counted_as_triangles() -> None:
    """As a file has them: 600 quads are more than a game holds."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=30, y_subdivisions=20)
    assert "1200 of 1024" in draw_all()
    bpy.ops.object.mode_set(mode="EDIT")
    assert "1200 of 1024" in draw_all()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_the_hint_names_the_mesh_while_its_armature_is_active(strip: bpy.types.Object) -> None:
    """Edit Mode of an armature has no faces."""
    assert "Set flags in Edit Mode" in draw_all()
    bpy.context.view_layer.objects.active = strip.parent
    assert "Select the mesh to set flags" in draw_all()
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Select the mesh to set flags" in draw_all()
    with pytest.raises(RuntimeError, match="Select the mesh and enter Edit Mode first"):
        bpy.ops.carnivores.flags_set(flags={"MORTAL"})
    bpy.ops.object.mode_set(mode="OBJECT")


def test_wrap() -> None:
    assert sidebar.wrap("one two three", 7) == ["one two", "three"]
    assert sidebar.wrap("immeasurable x", 4) == ["immeasurable", "x"]


class TestOverlay:
    """What the overlay draws; the drawing itself needs a window."""

    def test_colors_are_means_of_the_flags(self) -> None:
        flags = np.array([0, 0x01, 0x11, 0x02], np.int32)
        colors, any_flag = overlay.blend(flags, 0x11)
        assert any_flag.tolist() == [False, True, True, False]
        by_flag = {info.flag: np.array(info.color) for info in FLAGS}
        assert np.allclose(colors[1], by_flag[FaceFlag.DOUBLE_SIDE])
        assert np.allclose(colors[2], (by_flag[FaceFlag.DOUBLE_SIDE] + by_flag[FaceFlag.MORTAL]) / 2)

    def test_the_surface_as_shown(self, strip: bpy.types.Object) -> None:
        bits = 0xFFFF
        found = overlay.surface(bpy.context, strip, bits, 0.25)
        assert found.positions.shape == (9, 3)
        assert found.colors.shape == (9, 4)
        assert (found.colors[:, 3] == 0.25).all()
        strip.modifiers.new("twice", "MIRROR").use_mirror_merge = False
        bpy.context.view_layer.update()
        assert len(overlay.surface(bpy.context, strip, bits, 1.0).positions) == 18

    def test_edit_mode_shows_pending_changes(self, strip: bpy.types.Object) -> None:
        edit(1)
        bpy.ops.mesh.delete(type="FACE")
        assert len(overlay.surface(bpy.context, strip, 0xFFFF, 1.0).positions) == 6
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.transform.translate(value=(0, 0, 5))
        found = overlay.surface(bpy.context, strip, 0xFFFF, 1.0)
        assert found.positions[:, 2].min() > 1

    def test_hidden_faces_are_not_painted(self, strip: bpy.types.Object) -> None:
        edit(1)
        bpy.ops.mesh.hide()
        assert len(overlay.surface(bpy.context, strip, 0xFFFF, 1.0).positions) == 6

    def test_none_in_the_background(self) -> None:
        made = overlay.Overlay()
        made.register()
        try:
            assert (made._handle is None) == bpy.app.background
        finally:
            made.unregister()


def test_nothing_stays_behind(extension_name: str) -> None:
    """Unregistering takes back the settings and the handlers, and all of it may come again."""
    extension = importlib.import_module(extension_name)._extension()
    handlers = [
        list(getattr(bpy.app.handlers, name))
        for name in ("depsgraph_update_post", "load_post", "undo_post", "redo_post")
    ]
    types = set(dir(bpy.types))
    for _ in range(3):
        extension.unregister()
        try:
            assert not hasattr(bpy.types.WindowManager, "carnivores")
            assert not [name for name in dir(bpy.types) if name.startswith("CARNIVORES_")]
            for name in ("depsgraph_update_post", "load_post", "undo_post", "redo_post"):
                ours = [
                    found for found in getattr(bpy.app.handlers, name) if found.__module__.startswith(extension_name)
                ]
                assert ours == []
        finally:
            extension.register()
    assert set(dir(bpy.types)) == types
    now = [getattr(bpy.app.handlers, name) for name in ("depsgraph_update_post", "load_post", "undo_post", "redo_post")]
    assert [len(found) for found in now] == [len(found) for found in handlers]
