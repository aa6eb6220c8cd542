# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest materials: files through Blender and back, nodes that follow the properties, edits, work of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from addon.io_common.scene import shader
from addon.io_dragonnest.formats import effects, msh, skn
from addon.io_dragonnest.formats.skn import Kind, Property

from tests import dragons
from tests.dragons import plain, texture
from tests.scene.helpers import dragon_scene, scene


def material(number: int = 0) -> bpy.types.Material:
    """The material of a sub-mesh."""
    found = dragon_scene.meshes()[number].material_slots[0].material
    assert found is not None
    return found


def item(name: str, of: bpy.types.Material | None = None) -> Any:
    """A property of a material, by its name."""
    return next(entry for entry in (of or material()).dragonnest.parameters if entry.title == name)


def node(role: str, of: bpy.types.Material | None = None) -> Any:
    """The node that was made for a property; None without one."""
    return next((entry for entry in (of or material()).node_tree.nodes if entry.get("dragonnest_role") == role), None)


def socket(name: str, of: bpy.types.Material | None = None) -> Any:
    target = shader.principled(of or material())
    assert target is not None
    return target.inputs[name]


def changed(before: bytes, after: bytes) -> list[str]:
    """What differs between two SKN, as "material.field" or "material.property"."""
    old, new = skn.read(before), skn.read(after)
    found = []
    for number, (a, b) in enumerate(zip(old.materials, new.materials, strict=True)):
        found += [
            f"{number}.{name}" for name in vars(a) if name != "properties" and getattr(a, name) != getattr(b, name)
        ]
        one, other = ([(p.name, p.kind, p.value) for p in entry.properties] for entry in (a, b))
        if [name for name, _kind, _value in one] != [name for name, _kind, _value in other]:
            found.append(f"{number}.order")
        else:
            found += [f"{number}.{p.label}" for p, x, y in zip(a.properties, one, other, strict=True) if x != y]
    heads = [skn.header_bytes(entry) for entry in (old, new)]
    return found + (["header"] if heads[0] != heads[1] else [])


@pytest.fixture
def hero(tmp_path: Path) -> bytes:
    """A model with two materials of different textures, imported; the bytes of its SKN."""
    (tmp_path / "Body.DDS").write_bytes(dragons.RED)
    (tmp_path / "hair.dds").write_bytes(dragons.CLEAR)
    _model, data = dragons.dressed(
        tmp_path,
        plain(
            "Body",
            effects.parameter("g_MaterialAmbient"),
            effects.parameter("g_MaterialDiffuse"),
            texture("g_DiffuseTex", "body.dds"),
            Property(b"g_Odd\0\xff", Kind.UNKNOWN),
        ),
        plain("Hair", texture("g_DiffuseTex", "Hair.tga"), Property.of("g_AlphaRef", Kind.FLOAT, 0.25)),
    )
    dragon_scene.bring(tmp_path / "hero.skn")
    return data


@pytest.mark.samples("dragonnest/*.skn")
def test_samples(sample: Path, tmp_path: Path) -> None:
    dragon_scene.bring(sample)
    assert dragon_scene.export(tmp_path / "a.skn") == sample.read_bytes()
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "b.skn", *dragon_scene.meshes()) == sample.read_bytes()


@pytest.mark.parametrize(("version", "order"), [(10, 77), *((11, order) for order in skn.ORDERS)])
@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_made(version: int, order: int, count: int, tmp_path: Path) -> None:
    found = dragons.materials(version, order if version > 10 else 0, count)
    found.mesh_name = dragons.junk("Some Model.MSH")
    data = skn.write(found)
    (tmp_path / "a.skn").write_bytes(data)
    dragon_scene.save(tmp_path / "some model.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.skn")
    assert dragon_scene.export(tmp_path / "b.skn") == data
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "c.skn", *dragon_scene.meshes()) == data


@pytest.mark.parametrize("seed", range(8))
def test_arbitrary(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    data = skn.write(dragons.arbitrary_skn(rng, int(rng.choice(skn.VERSIONS))))
    (tmp_path / "a.skn").write_bytes(data)
    dragon_scene.save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.skn")
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "c.skn", *dragon_scene.meshes()) == data


def test_a_model_brings_its_materials(hero: bytes, tmp_path: Path) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    dragon_scene.bring(tmp_path / "hero.msh")
    assert [material(number).name for number in range(2)] == ["Body", "Hair"]
    assert dragon_scene.export(tmp_path / "x.skn") == hero
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    dragon_scene.bring(tmp_path / "hero.msh", use_skin=False)
    assert not bpy.data.materials


def test_both_go_back_in_one_go(hero: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    dragon_scene.export(folder / "HERO.MSH", use_skin=True, use_check=True)
    assert (folder / "HERO.skn").read_bytes() == hero
    assert (folder / "HERO.MSH").read_bytes() == (tmp_path / "hero.msh").read_bytes()
    dragon_scene.export(folder / "other.msh", use_skin=True)
    assert changed(hero, (folder / "other.skn").read_bytes()) == ["header"]
    assert skn.summary(skn.read((folder / "other.skn").read_bytes()))["mesh"] == "other.msh"
    dragon_scene.export(folder / "third.skn", use_model=True)
    assert (folder / "third.msh").read_bytes() == (tmp_path / "hero.msh").read_bytes()


def test_materials_of_two_models_stay_apart(hero: bytes, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "body.dds").write_bytes(dragons.BLUE)
    data = dragons.dressed(other, plain("Body", texture("g_DiffuseTex", "body.dds")))[1]
    dragon_scene.bring(other / "hero.skn")
    groups = {obj.data["dragonnest_part"]: [] for obj in dragon_scene.meshes()}
    for obj in dragon_scene.meshes():
        groups[obj.data["dragonnest_part"]].append(obj)
    first, second = sorted(groups.values(), key=len, reverse=True)
    assert first[0].material_slots[0].material != second[0].material_slots[0].material
    images = [node("g_DiffuseTex", group[0].material_slots[0].material).image for group in (first, second)]
    assert [tuple(image.size) for image in images] == [(8, 8), (8, 4)]
    assert dragon_scene.export(tmp_path / "a.skn", *first) == hero
    assert dragon_scene.export(tmp_path / "b.skn", *second) == data


def test_materials_follow_the_sub_meshes(hero: bytes, tmp_path: Path) -> None:
    one, other = (obj.material_slots[0] for obj in dragon_scene.meshes())
    one.material, other.material = other.material, one.material
    found = skn.read(dragon_scene.export(tmp_path / "a.skn"))
    assert [entry.label for entry in found.materials] == ["Hair", "Body"]
    before = skn.read(hero)
    assert [skn.material_bytes(entry) for entry in found.materials] == [
        skn.material_bytes(entry) for entry in reversed(before.materials)
    ]


def test_only_what_was_edited_changes(hero: bytes, tmp_path: Path) -> None:
    group = material().dragonnest
    item("g_MaterialAmbient").vector[0] = 0.25
    assert changed(hero, dragon_scene.export(tmp_path / "a.skn")) == ["0.g_MaterialAmbient"]
    group.alpha, group.use_blend = 0.5, True
    assert changed(hero, dragon_scene.export(tmp_path / "b.skn")) == ["0.alpha", "0.blend", "0.g_MaterialAmbient"]
    material().name = "Körper"[:1] + "umgenannt"
    group.effect = "Other.fx"
    assert changed(hero, dragon_scene.export(tmp_path / "c.skn"))[:2] == ["0.name", "0.effect"]
    group.parameters.move(3, 0)
    scene.reopen(tmp_path / "a.blend")
    found = skn.read(dragon_scene.export(tmp_path / "d.skn", *dragon_scene.meshes()))
    assert found.materials[0].properties[0].name == b"g_Odd\0\xff"
    assert [entry.label for entry in found.materials[0].properties][1:] == [
        "g_MaterialAmbient",
        "g_MaterialDiffuse",
        "g_DiffuseTex",
    ]


def test_other_versions(hero: bytes, tmp_path: Path) -> None:
    old = skn.read(dragon_scene.export(tmp_path / "a.skn", skin_version="10"))
    assert (old.version, old.order) == (10, 0)
    assert [skn.material_bytes(a) for a in old.materials] == [skn.material_bytes(a) for a in skn.read(hero).materials]
    assert dragon_scene.export(tmp_path / "b.skn", skin_version="11") == hero


def test_new_work_is_a_scrambled_file(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    made = bpy.data.materials.new("Glass")
    made.use_nodes = True
    socket("Base Color", made).default_value = (1.0, 0.0, 0.0, 1.0)
    socket("Alpha", made).default_value = 0.5
    socket("Emission Strength", made).default_value = 2.0
    bpy.context.object.data.materials.append(made)
    found = skn.read(dragon_scene.export(tmp_path / "glass.skn", use_check=True))
    assert (found.version, found.order, skn.summary(found)["mesh"]) == (11, 0, "glass.msh")
    (entry,) = found.materials
    assert (entry.label, skn.names.text(entry.effect), float(entry.alpha), entry.blend) == (
        "Glass",
        "Diffuse.fx",
        0.5,
        1,
    )
    assert entry.get("g_MaterialDiffuse").numbers.tolist() == pytest.approx([1, 0, 0, 1])
    assert entry.get("g_EmissivePower").numbers.tolist() == [2.0]
    # It comes back as it was.
    dragon_scene.export(tmp_path / "glass.msh")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    dragon_scene.bring(tmp_path / "glass.skn")
    assert tuple(socket("Base Color").default_value) == pytest.approx((1, 0, 0, 1), abs=1e-5)
    assert socket("Alpha").default_value == 0.5


def test_new_work_with_a_picture(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    made = bpy.data.materials.new("Skin")
    made.use_nodes = True
    picture = made.node_tree.nodes.new("ShaderNodeTexImage")
    picture.image = bpy.data.images.new("살갗", 4, 4)
    made.node_tree.links.new(picture.outputs["Color"], socket("Base Color", made))
    bpy.context.object.data.materials.append(made)
    found = skn.read(dragon_scene.export(tmp_path / "a.skn", use_textures=True, texture_format="PNG"))
    assert found.materials[0].get("g_DiffuseTex").texture == "살갗.png"
    assert (tmp_path / "살갗.png").read_bytes().startswith(b"\x89PNG")
    # An object without a material gets one, as the game wants one for each sub-mesh.
    bpy.context.object.data.materials.clear()
    assert [entry.label for entry in skn.read(dragon_scene.export(tmp_path / "b.skn")).materials] == ["Material"]


def test_adopted_materials_are_written_as_their_properties_say(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    made = bpy.data.materials.new("Own")
    made.use_nodes = True
    bpy.context.object.data.materials.append(made)
    before = dragon_scene.export(tmp_path / "a.skn")
    assert bpy.ops.dragonnest.material_adopt() == {"FINISHED"}
    assert dragon_scene.export(tmp_path / "b.skn").replace(b"b.msh", b"a.msh") == before
    assert bpy.ops.dragonnest.parameter_add(title="g_Mine") == {"FINISHED"}
    made.dragonnest.parameters[made.dragonnest.active].number = 3.5
    found = skn.read(dragon_scene.export(tmp_path / "c.skn"))
    assert found.materials[0].get("g_Mine").numbers.tolist() == [3.5]


@pytest.mark.parametrize("count", [1, 3])
def test_more_or_fewer_materials_than_sub_meshes(count: int, tmp_path: Path) -> None:
    data = dragons.dressed(tmp_path, *(plain(f"M{number}") for number in range(count)))[1]
    model = dragons.character()
    model.submeshes = [dragons.part(name="A", bones=dragons.BONES[:2]), dragons.part(name="B", bones=dragons.BONES[:2])]
    dragon_scene.save(tmp_path / "hero.msh", model)
    dragon_scene.bring(tmp_path / "hero.skn")
    text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert f"{count} materials for 2 sub-meshes" in text
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "b.skn", *dragon_scene.meshes()) == data


def test_a_missing_model_is_one_sentence(tmp_path: Path) -> None:
    dragons.dressed(tmp_path, plain())
    (tmp_path / "hero.msh").unlink()
    with pytest.raises(RuntimeError, match=r'the model of these materials is missing: "HERO\.MSH", which'):
        dragon_scene.bring(tmp_path / "hero.skn")
    assert not bpy.data.materials
    assert not bpy.data.objects


def test_ten_thousand_properties(tmp_path: Path) -> None:
    many = [Property.of(f"g_{number}", Kind.FLOAT, number) for number in range(10_000)]
    data = dragons.dressed(tmp_path, plain("M", *many))[1]
    dragon_scene.bring(tmp_path / "hero.skn")
    item("g_77").number = -1.0
    assert changed(data, dragon_scene.export(tmp_path / "a.skn")) == ["0.g_77"]
    assert len(material().node_tree.nodes) == 2


def test_an_unknown_type_is_refused(tmp_path: Path) -> None:
    data = dragons.dressed(tmp_path, plain("M", Property(b"g_X\0", Kind.NOTHING)), version=10)[1]
    (tmp_path / "hero.skn").write_bytes(data[:-4] + (9).to_bytes(4, "little"))
    with pytest.raises(RuntimeError, match="unknown type"):
        dragon_scene.bring(tmp_path / "hero.skn")
    dragon_scene.bring(tmp_path / "hero.msh")
    assert not bpy.data.materials


def test_names_that_no_file_holds(hero: bytes, tmp_path: Path) -> None:
    for change, message in (
        (lambda: setattr(material(), "name", "Ünïcode"), "CP949"),
        (lambda: setattr(material().dragonnest, "effect", "한" * 128), "256 bytes"),
    ):
        change()
        with pytest.raises(RuntimeError, match=message):
            dragon_scene.export(tmp_path / "a.skn")
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        dragon_scene.bring(tmp_path / "hero.skn")
    assert not (tmp_path / "a.skn").exists()


def test_checks_stop_the_game_from_falling_over(hero: bytes, tmp_path: Path) -> None:
    material().dragonnest.effect = ""
    for kind, options in (("skn", {}), ("msh", {"use_skin": True})):
        with pytest.raises(RuntimeError, match="names no effect file"):
            dragon_scene.export(tmp_path / f"out.{kind}", use_check=True, **options)
    assert not (tmp_path / "out.skn").exists()
    assert not (tmp_path / "out.msh").exists()
    assert msh.read((tmp_path / "hero.msh").read_bytes()).version == 13


def test_every_added_sub_mesh_has_a_material(hero: bytes, tmp_path: Path) -> None:
    """Also one that has none in Blender: the game wants as many as there are sub-meshes."""
    before = skn.read(hero)
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.parent = dragon_scene.rig()
    dragon_scene.export(tmp_path / "out.msh", *dragon_scene.meshes(), bpy.context.object, use_skin=True, use_check=True)
    found = skn.read((tmp_path / "out.skn").read_bytes())
    assert len(msh.read((tmp_path / "out.msh").read_bytes()).submeshes) == len(found.materials)
    assert len(found.materials) == len(before.materials) + 1
    assert [skn.material_bytes(a) for a in before.materials] == [skn.material_bytes(a) for a in found.materials[:-1]]
