# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects an export takes, where it puts them, and what happens when it cannot."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.scene.options import Export3dnOptions, ExportOptions, Import3dnOptions
from addon.io_carnivores.ui import entries as carnivores
from addon.io_common.formats.errors import ExportError
from addon.io_common.formats.options import describe
from addon.io_common.scene import transfer
from addon.io_common.ui import exporter, props
from addon.io_dragonnest.ui import entries as dragons

from tests.scene.helpers import models, scene

if TYPE_CHECKING:
    from addon.io_common.formats.registry import Format

COVERED_ELSEWHERE = {
    "game": "tests of the check",
    "use_check": "tests of the check",
    "search_folders": "tests of the texture search, and of the preferences",
}


def _triangle(name: str, x: float, collection: bpy.types.Collection | None = None) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, 0, 0), (x + 1, 0, 0), (x, 0, 1)], [], [(0, 1, 2)])
    obj = bpy.data.objects.new(name, mesh)
    (collection or bpy.context.scene.collection).objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def three() -> list[bpy.types.Object]:
    """Three objects: the first in a collection, the third hidden."""
    collection = bpy.data.collections.new("Shown")
    bpy.context.scene.collection.children.link(collection)
    objects = [_triangle("a", 0, collection), _triangle("b", 1), _triangle("c", 2)]
    objects[2].hide_set(True)
    return objects


def _export(out: Path, **options: object) -> set[str]:
    assert bpy.ops.export_scene.carnivores_3df(filepath=str(out / "given.3df"), **options) == {"FINISHED"}
    return _names(out)


def test_selection(three: list[bpy.types.Object], out: Path) -> None:
    scene.select(three[1])
    assert _export(out) == {"given.3df"}
    assert model_3df.read((out / "given.3df").read_bytes()).vertices["position"][0, 0] == 32


def test_visible(three: list[bpy.types.Object], out: Path) -> None:
    scene.select(three[1])
    assert _export(out, use_selection=False, use_visible=True) == {"a.3df", "b.3df"}


def test_visible_wins_over_the_selection(three: list[bpy.types.Object], out: Path) -> None:
    """Selected Objects is on by default: ticking Visible must be enough."""
    scene.select(three[1])
    assert _export(out, use_visible=True) == {"a.3df", "b.3df"}


def test_active_collection(three: list[bpy.types.Object], out: Path) -> None:
    scene.select(three[1])
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection.children["Shown"]
    assert _export(out, use_active_collection=True) == {"given.3df"}
    assert model_3df.read((out / "given.3df").read_bytes()).vertices["position"][0, 0] == 0


def test_named_collection(three: list[bpy.types.Object], out: Path) -> None:
    scene.select(three[1])
    assert _export(out, collection="Shown") == {"given.3df"}
    with pytest.raises(RuntimeError, match='there is no collection named "Gone"'):
        _export(out, collection="Gone")


def test_the_whole_scene(three: list[bpy.types.Object], out: Path) -> None:
    scene.select(three[1])
    assert _export(out, use_selection=False) == {"a.3df", "b.3df", "c.3df"}


def test_a_name_that_none_of_several_files_has_is_said(three: list[bpy.types.Object], out: Path) -> None:
    scene.select(*three[:2])
    assert any("none of them is called given.3df" in line for line in _said(out / "given.3df"))
    assert _names(out) == {"a.3df", "b.3df"}
    assert not any("none of them" in line for line in _said(out / "B.3df"))


def test_files_that_were_there_are_named(three: list[bpy.types.Object], out: Path) -> None:
    """All but the one that was chosen, which Blender asks about, and those that stay as they are."""
    scene.select(*three[:2])
    for name in ("a.3df", "b.3df"):
        (out / name).write_bytes(b"something else")
    said = _said(out / "a.3df")
    assert [line for line in said if "replaced" in line] == ["Files that were there were replaced: b.3df."]
    assert not [line for line in _said(out / "a.3df") if "replaced" in line]


def _said(path: Path) -> list[str]:
    """The reports of an export of what is selected."""
    reported: list[str] = []
    operator = SimpleNamespace(
        filepath=str(path),
        entry=carnivores.FORMATS[0],
        report=lambda _kind, text: reported.append(text),
        **{name: default for name, (_info, default) in describe(carnivores.FORMATS[0].export_options).items()},
    )
    operator._path = partial(exporter.ExportMixin._path, operator)
    assert exporter.ExportMixin.execute(operator, bpy.context) == {"FINISHED"}
    return reported


def test_the_dialog_suggests_the_name_of_the_active_model(three: list[bpy.types.Object]) -> None:
    scene.select(*three[:2])
    bpy.context.view_layer.objects.active = three[1]
    options = carnivores.FORMATS[0].export_options()
    assert transfer.suggested_name(bpy.context, carnivores.FORMATS[0], options) == "b"
    scene.select(*three[:1])
    three[0].select_set(False)
    bpy.context.view_layer.objects.active = None
    with pytest.raises(ExportError):
        transfer.suggested_name(bpy.context, carnivores.FORMATS[0], options)


def test_join(three: list[bpy.types.Object], out: Path) -> None:
    scene.select(*three[:2])
    assert _export(out, use_join=True) == {"given.3df"}
    model = model_3df.read((out / "given.3df").read_bytes())
    assert len(model.faces) == 2
    assert len(model.bones) == 2


def test_join_of_imports_keeps_each_ones_bones(tmp_path: Path, out: Path) -> None:
    """Exporting two imports into one file: the second one's owners and parents are counted on."""
    first = models.odd()
    second = models.regular(97)
    _data, one = scene.bring_model(tmp_path / "one.3df", first)
    _data, two = scene.bring_model(tmp_path / "two.3df", second)
    scene.select(one, two)
    model = model_3df.read(scene.export(out / "x.3df", one, two, use_join=True))
    assert model.bones[:4].tobytes() == first.bones.tobytes()
    assert model.bones["name"][4:].tobytes() == second.bones["name"].tobytes()
    assert model.bones["parent"][4:].tolist() == [-1, 4, 4, 4]
    size = len(first.vertices)
    assert np.array_equal(model.vertices["owner"][:size], first.vertices["owner"])
    assert np.array_equal(model.vertices["owner"][size:], second.vertices["owner"] + 4)
    assert len(model.faces) == len(first.faces) + len(second.faces)
    # Both have the same texture: it is written once, as it is.
    assert model.texels.tobytes() == first.texels.tobytes()


def test_an_armature_beside_another_mesh_brings_its_own(tmp_path: Path, out: Path) -> None:
    _data, obj = scene.bring_model(tmp_path / "one.3df", models.regular())
    other = _triangle("other", 0)
    scene.select(obj.parent, other)
    assert _export(out) == {"one.3df", "other.3df"}


def test_one_of_two_meshes_of_an_armature(tmp_path: Path, out: Path) -> None:
    data, obj = scene.bring_model(tmp_path / "one.3df", models.regular())
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    scene.select(obj.parent, obj)
    assert _export(out) == {"given.3df"}
    assert (out / "given.3df").read_bytes() == data


def test_second_import_alone_goes_to_the_chosen_path(tmp_path: Path, out: Path) -> None:
    data, _obj = scene.bring_model(tmp_path / "COMPAS.3df", models.regular())
    scene.bring(tmp_path / "COMPAS.3df")
    assert {obj.name for obj in bpy.context.selected_objects} == {"COMPAS.001", "COMPAS.001 Armature"}
    assert _export(out) == {"given.3df"}
    assert (out / "given.3df").read_bytes() == data


def test_two_imports_of_one_name_become_two_files(tmp_path: Path, out: Path) -> None:
    scene.bring_model(tmp_path / "COMPAS.3df", models.regular())
    scene.bring(tmp_path / "COMPAS.3df")
    bpy.data.objects["COMPAS.001"].data.vertices[0].co.x = 99
    scene.select(*[obj for obj in bpy.data.objects if obj.type == "MESH"])
    assert _export(out) == {"COMPAS.3df", "COMPAS.001.3df"}
    assert model_3df.read((out / "COMPAS.001.3df").read_bytes()).vertices["position"][0, 0] == 99
    assert model_3df.read((out / "COMPAS.3df").read_bytes()).vertices["position"][0, 0] != 99


def test_two_models_that_would_write_one_texture(tmp_path: Path, out: Path) -> None:
    """Two copies of a mobile model, one painted: neither picture may silently win."""
    for number in range(2):
        model = models.mobile()
        scene.bring_model(tmp_path / f"m{number}.3dn", model)
        obj = bpy.data.objects[f"m{number}"]
        image = bpy.data.images.new(f"p{number}", 8, 8)
        image.pixels.foreach_set(np.full(8 * 8 * 4, number * 0.5 + 0.3, np.float32))
        for slot in obj.material_slots:
            tree = slot.material.node_tree
            node = tree.nodes.new("ShaderNodeTexImage")
            node.image = image
            shader = next(n for n in tree.nodes if n.type == "BSDF_PRINCIPLED")
            tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    scene.select(bpy.data.objects["m0"], bpy.data.objects["m1"])
    with pytest.raises(RuntimeError, match=r'different files named "skin_of_it\.tga"'):
        bpy.ops.export_scene.carnivores_3dn(filepath=str(out / "x.3dn"), use_check=False)
    assert _names(out) == set()


def test_extension_is_added(out: Path) -> None:
    scene.select(_triangle("a", 0))
    bpy.ops.export_scene.carnivores_3df(filepath=str(out / "name.v2"))
    assert _names(out) == {"name.v2.3df"}


def test_a_failed_export_leaves_the_old_files(three: list[bpy.types.Object], out: Path) -> None:
    """One object of three cannot be written: none is."""
    for name in ("a.3df", "b.3df"):
        (out / name).write_bytes(b"old")
    empty = bpy.data.objects.new("empty", bpy.data.meshes.new("empty"))
    bpy.context.scene.collection.objects.link(empty)
    scene.select(three[0], three[1], empty)
    with pytest.raises(RuntimeError, match='"empty" has no vertices'):
        _export(out)
    assert _names(out) == {"a.3df", "b.3df"}
    assert {path.read_bytes() for path in out.iterdir()} == {b"old"}


def test_every_option_is_tested() -> None:
    """A new option needs a test: its name must occur in one of the scene tests."""
    text = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    names = {entry.name for kind in (ExportOptions, Export3dnOptions, Import3dnOptions) for entry in fields(kind)}
    missing = sorted(
        name for name in names - COVERED_ELSEWHERE.keys() if f"{name}=" not in text and f'"{name}":' not in text
    )
    assert not missing


def test_a_file_is_chosen_without_a_second_browser(tmp_path: Path) -> None:
    """Blender opens none inside the import dialog: a plain text, which lists the files that lie beside."""
    named = bpy.ops.import_scene.carnivores_car.get_rna_type().properties["bones_from"]
    assert named.subtype == "NONE"
    search = props._files_beside((".3df", ".3dn"))
    for name in ("Allo.3DF", "mosh.3dn", "allo.car", "a.txt"):
        (tmp_path / name).touch()
    context = SimpleNamespace(space_data=None)
    dialog = SimpleNamespace(directory="", filepath=str(tmp_path / "allo.car"))
    assert search(dialog, context, "") == [str(tmp_path / "Allo.3DF"), str(tmp_path / "mosh.3dn")]
    assert search(dialog, context, "mosh") == [str(tmp_path / "mosh.3dn")]
    browser = SimpleNamespace(space_data=SimpleNamespace(params=SimpleNamespace(directory=str(tmp_path).encode())))
    assert len(search(SimpleNamespace(directory="/none", filepath=""), browser, "")) == 2
    assert search(SimpleNamespace(directory=str(tmp_path / "none"), filepath=""), context, "") == []


@pytest.mark.parametrize("entry", [*carnivores.FORMATS, *dragons.FORMATS], ids=lambda entry: entry.id)
def test_no_option_hides_what_every_operator_has(entry: Format) -> None:
    """An option that is called `layout` leaves the dialog without one."""
    names = {name for kind in (entry.import_options, entry.export_options) for name in describe(kind)}
    own = set(bpy.types.Operator.bl_rna.properties.keys()) | set(bpy.types.Operator.bl_rna.functions.keys())
    assert "layout" in own
    assert not names & own
