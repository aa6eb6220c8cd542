# SPDX-License-Identifier: GPL-3.0-or-later
"""The material panel of Dragon Nest: it draws in every state, its buttons do what they say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import bpy
import pytest
from addon.io_dragonnest.formats import effects, skn
from addon.io_dragonnest.formats.skn import Kind, Property
from addon.io_dragonnest.ui import material_operators, material_panel

from tests import dragons
from tests.scene.helpers import dragon_scene, scene


@pytest.fixture
def material(tmp_path: Path) -> bpy.types.Material:
    """The material of an imported model, with a property of each type; the active one."""
    record = dragons.plain(
        "M",
        effects.parameter("g_MaterialDiffuse"),
        dragons.texture("g_DiffuseTex", "gone.dds"),
        Property.of("g_Coefficients", Kind.VECTOR, (1, 2, 3, 4)),
        Property.of("g_Whole", Kind.INTEGER, 7),
        Property.of("g_SpecPower", Kind.FLOAT, 2.5),
        Property.of("g_Nothing", Kind.NOTHING),
        Property.of("g_Unknown", Kind.UNKNOWN),
    )
    dragons.dressed(tmp_path, record)
    dragon_scene.bring(tmp_path / "hero.skn")
    (obj,) = dragon_scene.meshes()
    scene.select(obj)
    found = obj.active_material
    assert found is not None
    return found


def titles(material: bpy.types.Material) -> list[str]:
    return [entry.title for entry in material.dragonnest.parameters]


def drawn(panel: Any) -> list[str]:
    """The texts of the labels of a panel."""
    layout = MagicMock()
    for name in ("row", "column", "box", "split"):
        getattr(layout, name).return_value = layout
    panel.draw(SimpleNamespace(layout=layout), bpy.context)
    return [call.kwargs.get("text", "") for call in layout.label.call_args_list]


PANELS = [material_panel.DRAGONNEST_PT_material, material_panel.DRAGONNEST_PT_material_properties]


@pytest.mark.parametrize("panel", PANELS)
def test_draws_each_property(panel: Any, material: bpy.types.Material) -> None:
    for number in range(len(titles(material))):
        material.dragonnest.active = number
        assert "Textures are missing" in drawn(panel)
    material.dragonnest.active = 99
    drawn(panel)


@pytest.mark.parametrize("panel", PANELS)
def test_draws_without(panel: Any, material: bpy.types.Material) -> None:
    material.dragonnest.is_used = False
    assert "Exported as its nodes say" in drawn(panel)
    bpy.context.view_layer.objects.active.data.materials.clear()
    assert "Select an object with a material" in drawn(panel)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert "Select an object with a material" in drawn(panel)


def test_rows_show_name_and_value(material: bpy.types.Material) -> None:
    shown = [material_operators.value_of(entry) for entry in material.dragonnest.parameters]
    assert shown == ["0.682 0.682 0.682 1", "gone.dds", "1 2 3 4", "7", "2.5", "", ""]
    for entry in material.dragonnest.parameters:
        layout = MagicMock()
        material_panel.DRAGONNEST_UL_parameters.draw_item(None, bpy.context, layout, None, entry, 0, None, "", 0)
        fields = [call.args[1] for call in layout.split.return_value.prop.call_args_list]
        assert fields == (["color"] if entry.title == "g_MaterialDiffuse" else [])


def test_texts_that_do_not_fit_are_said(material: bpy.types.Material) -> None:
    material.dragonnest.effect = "한" * 128
    material.dragonnest.parameters[0].title = "Ü"
    material.dragonnest.active = 0
    said = " ".join(drawn(PANELS[0]))
    assert "The effect takes 256 bytes in CP949" in said
    assert 'The name holds "Ü"' in said


def test_add_move_remove(material: bpy.types.Material, tmp_path: Path) -> None:
    before = titles(material)
    material.dragonnest.active = 0
    assert bpy.ops.dragonnest.parameter_add(known="g_EmissivePower") == {"FINISHED"}
    assert titles(material) == [before[0], "g_EmissivePower", *before[1:]]
    assert bpy.ops.dragonnest.parameter_move(direction="UP") == {"FINISHED"}
    assert titles(material)[:2] == ["g_EmissivePower", before[0]]
    assert bpy.ops.dragonnest.parameter_move(direction="UP") == {"CANCELLED"}
    written = skn.read(dragon_scene.export(tmp_path / "a.skn"))
    assert [entry.label for entry in written.materials[0].properties] == titles(material)
    assert bpy.ops.dragonnest.parameter_remove() == {"FINISHED"}
    assert titles(material) == before
    assert dragon_scene.export(tmp_path / "b.skn") == (tmp_path / "hero.skn").read_bytes()
    while titles(material):
        assert bpy.ops.dragonnest.parameter_remove() == {"FINISHED"}
    assert bpy.ops.dragonnest.parameter_remove() == {"CANCELLED"}
    assert not skn.read(dragon_scene.export(tmp_path / "c.skn")).materials[0].properties


@pytest.mark.parametrize("name", effects.PARAMETERS)
def test_every_known_property_can_be_added(name: str, material: bpy.types.Material, tmp_path: Path) -> None:
    assert bpy.ops.dragonnest.parameter_add(known=name) == {"FINISHED"}
    group = material.dragonnest
    written = skn.read(dragon_scene.export(tmp_path / "a.skn")).materials[0].properties[group.active]
    assert (written.name, written.kind, written.value) == (
        (made := effects.parameter(name)).name,
        made.kind,
        made.value,
    )


@pytest.mark.parametrize(
    ("kind", "field", "value", "numbers"),
    [
        ("INTEGER", "integer", -5, [-5]),
        ("FLOAT", "number", 0.5, [0.5]),
        ("VECTOR", "vector", (1, 2, 3, 4), [1, 2, 3, 4]),
        ("TEXTURE", "texture", "살갗.dds", []),
        ("NOTHING", None, None, []),
        ("UNKNOWN", None, None, []),
    ],
)
def test_types_can_be_changed(
    kind: str, field: str | None, value: Any, numbers: list[float], material: bpy.types.Material, tmp_path: Path
) -> None:
    for number in range(len(titles(material))):
        entry = material.dragonnest.parameters[number]
        entry.kind = kind
        if field is not None:
            setattr(entry, field, value)
    for entry in skn.read(dragon_scene.export(tmp_path / "a.skn")).materials[0].properties:
        assert entry.kind.name == kind
        assert entry.numbers.tolist() == numbers
        assert entry.texture == (value if kind == "TEXTURE" else "")


def test_search_offers_known_names(material: bpy.types.Material) -> None:
    from addon.io_dragonnest.scene import effects as groups

    material.dragonnest.effect = "Mine.fx"
    offered = groups._search_effect(None, bpy.context, "")
    assert {"Diffuse.fx", "Mine.fx"} <= set(offered)
    assert groups._search_parameter(None, bpy.context, "") == list(effects.PARAMETERS)
    assert "gone.dds" in groups._search_texture(None, bpy.context, "")


def test_operators_need_a_material() -> None:
    assert not bpy.ops.dragonnest.parameter_add.poll()
    assert not bpy.ops.dragonnest.material_adopt.poll()
    assert not bpy.ops.dragonnest.textures_find.poll()
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.data.materials.append(bpy.data.materials.new("Plain"))
    assert bpy.ops.dragonnest.material_adopt.poll()
    assert not bpy.ops.dragonnest.parameter_add.poll()


def test_the_list_can_be_searched(material: bpy.types.Material) -> None:
    look = SimpleNamespace(filter_name="tex", bitflag_filter_item=1 << 30)
    flags, order = material_panel.DRAGONNEST_UL_parameters.filter_items(
        look, bpy.context, material.dragonnest, "parameters"
    )
    assert [bool(flag) for flag in flags] == [title == "g_DiffuseTex" for title in titles(material)]
    assert not order
