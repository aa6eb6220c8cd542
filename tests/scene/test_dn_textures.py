# SPDX-License-Identifier: GPL-3.0-or-later
"""Textures of Dragon Nest models: found, missing, damaged, packed, painted, written; the nodes that show them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import bpy
import pytest
from addon.io_dragonnest.formats import effects, skn
from addon.io_dragonnest.formats.skn import Kind, Property
from addon.io_dragonnest.scene import images

from tests import dragons
from tests.dragons import plain, texture
from tests.scene.helpers import dragon_scene, scene
from tests.scene.test_dn_materials import item, material, node, socket

REPORT = "Carnivores & Dragon Nest Report"


def bring(folder: Path, *properties: Property, **options: Any) -> bpy.types.Material:
    """A model of one sub-mesh with these properties, imported; its material."""
    dragons.dressed(folder, plain("M", *properties))
    dragon_scene.bring(folder / "hero.skn", **options)
    return material()


def report() -> str:
    return str(bpy.data.texts[REPORT].as_string()) if REPORT in bpy.data.texts else ""


def pixel(image: bpy.types.Image) -> tuple[float, ...]:
    return tuple(image.pixels[:4])


@pytest.mark.parametrize(
    "place", ["Body.DDS", "sub/body.dds", "../body.dds", "../other/BODY.dds", "body.png", "body.tga.dds"]
)
def test_found_around_the_model(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "game" / "hero"
    folder.mkdir(parents=True)
    target = folder / place
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(dragons.RED)
    found = bring(folder, texture("g_DiffuseTex", "body.tga"))
    if place == "body.tga.dds":
        assert node("g_DiffuseTex", found).image["dragonnest_missing"]
        return
    image = node("g_DiffuseTex", found).image
    assert Path(bpy.path.abspath(image.filepath)).resolve() == target.resolve()
    assert pixel(image) == pytest.approx((1, 0, 0, 1))
    assert "not found" not in report()


def test_missing_ones_are_listed_once(tmp_path: Path) -> None:
    (tmp_path / "there.dds").write_bytes(dragons.RED)
    data = dragons.dressed(
        tmp_path,
        plain("A", texture("g_DiffuseTex", "gone.dds"), texture("g_MaskTex", "gone.dds")),
        plain("B", texture("g_DiffuseTex", "GONE.dds"), texture("g_NormalTex", "lost.dds")),
        plain("C", texture("g_DiffuseTex", "there.dds"), texture("g_MaskTex", "")),
    )[1]
    dragon_scene.bring(tmp_path / "hero.skn")
    (line,) = [line for line in report().splitlines() if "not found" in line]
    assert line.count("gone.dds") == 1
    assert line.count("lost.dds") == 1
    image = node("g_DiffuseTex", material(0)).image
    assert image == node("g_MaskTex", material(0)).image
    assert image.source == "GENERATED"
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "out.skn", *dragon_scene.meshes(), use_textures=True) == data
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "Gone.dds").write_bytes(dragons.CLEAR)
    assert bpy.ops.dragonnest.textures_find(directory=str(tmp_path)) == {"FINISHED"}
    assert node("g_DiffuseTex", material(1)).image.size[:] == (8, 8)
    assert socket("Alpha", material(0)).is_linked
    assert dragon_scene.export(tmp_path / "out.skn", *dragon_scene.meshes()) == data


@pytest.mark.parametrize("name", ["..\\..\\secret.dds", "../secret.dds", "/{0}/secret.dds", "C:\\x\\secret.dds"])
def test_paths_in_names_lead_nowhere(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c" / "d"
    folder.mkdir(parents=True)
    (tmp_path / "secret.dds").write_bytes(dragons.RED)
    found = bring(folder, texture("g_DiffuseTex", name.format(tmp_path.as_posix())))
    assert node("g_DiffuseTex", found).image["dragonnest_missing"]
    out = folder / "out" / "deep"
    out.mkdir(parents=True)
    node("g_DiffuseTex", found).image.pixels[0] = 0.5
    node("g_DiffuseTex", found).image.update()
    dragon_scene.export(out / "x.skn", use_textures=True)
    assert {path.name for path in out.iterdir()} <= {"x.skn", "secret.tga"}


DAMAGED = {
    "cut": dragons.RED[:-1],
    "header": dragons.RED[:90],
    "huge": dragons.RED[:12] + struct.pack("<II", 60000, 60000) + dragons.RED[20:],
    "lying": dragons.RED[:12] + struct.pack("<II", 16384, 16384) + dragons.RED[20:],
    "code": dragons.dds(b"BC7U", 8, 8, dragons.dxt1()),
    "volume": dragons.RED[:112] + struct.pack("<I", 0x200000) + dragons.RED[116:],
    "text": b"this is no picture at all, but long enough to be one",
    "empty": b"",
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 8, 8) + bytes(40),
}


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("use_pack", [False, True])
def test_damaged_pictures(kind: str, use_pack: bool, tmp_path: Path) -> None:
    (tmp_path / "a.dds").write_bytes(DAMAGED[kind])
    found = bring(tmp_path, texture("g_DiffuseTex", "a.dds"), use_pack=use_pack)
    assert 'the texture "a.dds" is not shown' in report()
    assert node("g_DiffuseTex", found).image.source == "GENERATED"
    assert len(bpy.data.images) == 1


@pytest.mark.parametrize("use_pack", [False, True])
def test_files_go_back_as_they_are(use_pack: bool, tmp_path: Path) -> None:
    content = {"A.dds": dragons.RED, "b.dds": dragons.CLEAR, "c.dds": dragons.dds(b"DXT3", 4, 4, b"\x7f" * 16)}
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    data = dragons.dressed(
        tmp_path,
        plain("M", texture("g_DiffuseTex", "a.dds"), texture("g_EmissiveTex", "b.dds")),
        plain("N", texture("g_DiffuseTex", "c.dds"), texture("g_MaskTex", "A.DDS")),
    )[1]
    dragon_scene.bring(tmp_path / "hero.skn", use_pack=use_pack)
    assert len(bpy.data.images) == 3 + 1  # the mask is no colour, so the picture is there a second time
    scene.reopen(tmp_path / "a.blend")
    out = tmp_path / "out"
    out.mkdir()
    assert dragon_scene.export(out / "x.skn", *dragon_scene.meshes(), use_textures=True) == data
    written = {path.name.lower(): path.read_bytes() for path in out.iterdir() if path.suffix.lower() == ".dds"}
    assert written == {name.lower(): value for name, value in content.items()}


@pytest.mark.parametrize("kind", ["TGA", "PNG"])
def test_painted_pictures_are_written_anew(kind: str, tmp_path: Path) -> None:
    (tmp_path / "a.dds").write_bytes(dragons.RED)
    found = bring(tmp_path, texture("g_DiffuseTex", "a.dds"), use_pack=True)
    image = node("g_DiffuseTex", found).image
    image.pixels[:4] = (0.0, 1.0, 0.0, 0.2)
    image.update()
    out = tmp_path / "out"
    out.mkdir()
    written = skn.read(dragon_scene.export(out / "x.skn", use_textures=True, texture_format=kind))
    assert written.materials[0].get("g_DiffuseTex").texture == f"a.{kind.lower()}"
    again = bpy.data.images.load(str(out / f"a.{kind.lower()}"))
    again.alpha_mode = "CHANNEL_PACKED"
    assert pixel(again) == pytest.approx((0, 1, 0, 0.2))
    assert "not as DDS" in report()


def test_another_picture_in_the_node_changes_the_name(tmp_path: Path) -> None:
    for name in ("a.dds", "b.dds"):
        (tmp_path / name).write_bytes(dragons.RED)
    found = bring(tmp_path, texture("g_DiffuseTex", "a.dds"))
    node("g_DiffuseTex", found).image = bpy.data.images.load(str(tmp_path / "b.dds"))
    written = skn.read(dragon_scene.export(tmp_path / "x.skn"))
    assert written.materials[0].get("g_DiffuseTex").texture == "b.dds"
    # A node of the user's own, between which and the shader there may be others.
    own = found.node_tree.nodes.new("ShaderNodeTexImage")
    own.image = bpy.data.images.new("Mine", 4, 4)
    found.node_tree.links.new(own.outputs["Color"], socket("Base Color", found))
    item("g_DiffuseTex", found)
    found.dragonnest.alpha = 0.5
    assert socket("Base Color", found).links[0].from_node == own
    written = skn.read(dragon_scene.export(tmp_path / "x.skn"))
    assert written.materials[0].get("g_DiffuseTex").texture == "Mine.tga"


def test_a_typed_name_finds_the_picture(tmp_path: Path) -> None:
    for name in ("a.dds", "Other.dds"):
        (tmp_path / name).write_bytes(dragons.RED if name == "a.dds" else dragons.BLUE)
    found = bring(tmp_path, texture("g_DiffuseTex", "a.dds"))
    item("g_DiffuseTex", found).texture = "other.dds"
    assert tuple(node("g_DiffuseTex", found).image.size) == (8, 4)
    item("g_DiffuseTex", found).texture = "nowhere.dds"
    assert images.is_placeholder(node("g_DiffuseTex", found).image)
    assert skn.read(dragon_scene.export(tmp_path / "x.skn")).materials[0].get("g_DiffuseTex").texture == "nowhere.dds"
    item("g_DiffuseTex", found).texture = ""
    assert node("g_DiffuseTex", found) is None
    assert bpy.ops.dragonnest.texture_open(filepath=str(tmp_path / "a.dds")) == {"FINISHED"}
    assert node("g_DiffuseTex", found).image.size[:] == (8, 8)
    assert item("g_DiffuseTex", found).texture == "a.dds"


def test_nodes_follow_the_game(tmp_path: Path) -> None:
    for name, data in (("d.dds", dragons.CLEAR), ("e.dds", dragons.RED), ("n.dds", dragons.BLUE)):
        (tmp_path / name).write_bytes(data)
    found = bring(
        tmp_path,
        effects.parameter("g_MaterialDiffuse"),
        texture("g_DiffuseTex", "d.dds"),
        texture("g_EmissiveTex", "e.dds"),
        texture("g_NormalTex", "n.dds"),
        Property.of("g_EmissivePower", Kind.FLOAT, 0.5),
    )
    assert socket("Base Color", found).links[0].from_node == node("g_DiffuseTex", found)
    assert node("alpha", found).operation == "GREATER_THAN"
    assert socket("Emission Color", found).links[0].from_node == node("g_EmissiveTex", found)
    assert socket("Emission Strength", found).default_value == 0.5
    assert node("g_NormalTex", found).image.colorspace_settings.is_data
    assert not node("g_DiffuseTex", found).image.colorspace_settings.is_data
    assert socket("Normal", found).links[0].from_node.type == "NORMAL_MAP"


def test_values_reach_the_nodes_at_once(tmp_path: Path) -> None:
    (tmp_path / "d.dds").write_bytes(dragons.CLEAR)
    found = bring(
        tmp_path,
        effects.parameter("g_MaterialDiffuse"),
        texture("g_DiffuseTex", "d.dds"),
        Property.of("g_AlphaRef", Kind.INTEGER, 51),
    )
    assert node("alpha", found).inputs[1].default_value == pytest.approx(0.2)
    found.dragonnest.alpha = 0.5
    assert node("alpha", found).operation == "MULTIPLY"
    assert node("alpha", found).inputs[1].default_value == 0.5
    assert getattr(found, "surface_render_method", "BLENDED") == "BLENDED"
    found.dragonnest.alpha = 1.0
    assert getattr(found, "surface_render_method", "DITHERED") == "DITHERED"
    item("g_MaterialDiffuse", found).color = (0.682, 0.0, 0.0, 1.0)
    assert tuple(node("tint", found).inputs[7].default_value) == pytest.approx((1, 0, 0, 1))
    assert socket("Base Color", found).links[0].from_node == node("tint", found)
    assert bpy.ops.dragonnest.parameter_add(known="g_EmissiveColor") == {"FINISHED"}
    item("g_EmissiveColor", found).color = (0.0, 1.0, 0.0, 1.0)
    assert tuple(socket("Emission Color", found).default_value) == pytest.approx((0, 1, 0, 1))
    assert socket("Emission Strength", found).default_value == 1.0


def test_masks_are_shown_on_demand(tmp_path: Path) -> None:
    for name in ("d.dds", "m.dds"):
        (tmp_path / name).write_bytes(dragons.RED)
    found = bring(
        tmp_path,
        texture("g_DiffuseTex", "d.dds"),
        texture("g_MaskTex", "m.dds"),
        effects.parameter("g_EmissiveColor"),
        effects.parameter("g_SkinColor"),
    )
    assert node("mask", found) is None
    found.dragonnest.use_mask = True
    assert socket("Emission Strength", found).links[0].from_node == node("power", found)
    assert node("skin", found).inputs[0].links[0].from_node == node("mask", found)
    found.dragonnest.use_mask = False
    assert node("mask", found) is None
    assert socket("Emission Strength", found).default_value == 1.0
    assert socket("Base Color", found).links[0].from_node == node("g_DiffuseTex", found)


def test_preference_folders_are_searched(tmp_path: Path, extension_name: str) -> None:
    far = tmp_path / "far" / "away" / "textures"
    far.mkdir(parents=True)
    (far / "a.dds").write_bytes(dragons.RED)
    folder = tmp_path / "1" / "2" / "3"
    folder.mkdir(parents=True)
    preferences = bpy.context.preferences.addons[extension_name].preferences
    preferences.folders.add().path = str(tmp_path / "far")
    try:
        found = bring(folder, texture("g_DiffuseTex", "a.dds"))
    finally:
        preferences.folders.clear()
    assert node("g_DiffuseTex", found).image.source == "FILE"


def test_archives_can_serve_textures(tmp_path: Path) -> None:
    """What has no file on disk is packed, whatever the options say, and lies beside nothing."""
    from addon.io_common.formats.digest import Digest
    from addon.io_common.scene import transfer
    from addon.io_dragonnest.formats.library import Library
    from addon.io_dragonnest.scene.options import ImportSknOptions
    from addon.io_dragonnest.ui.entries import FORMATS

    dragons.dressed(tmp_path, plain("M", texture("g_DiffuseTex", r"textures\archived.tga")))
    served = Library([{"archived.dds": dragons.CLEAR}.get])
    job = transfer.Job(ImportSknOptions(library=served), Digest(), FORMATS)
    entry = next(entry for entry in FORMATS if entry.id == "dragonnest_skn")
    transfer.import_file(bpy.context, entry, tmp_path / "hero.skn", job)
    image = node("g_DiffuseTex").image
    assert image.packed_file is not None
    assert image.filepath == "//archived.dds"
    assert not any("not found" in line for line in job.digest.lines)


def test_a_failed_import_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.dds").write_bytes(dragons.RED)
    dragons.dressed(tmp_path, plain("M", texture("g_DiffuseTex", "a.dds"), texture("g_MaskTex", "gone.dds")))
    from addon.io_common.formats.errors import UserError
    from addon.io_dragonnest.scene import build_msh

    def fail(*_rest: Any) -> None:
        raise UserError("no")

    monkeypatch.setattr(build_msh, "build", fail)
    with pytest.raises(RuntimeError, match="no"):
        dragon_scene.bring(tmp_path / "hero.skn")
    assert not bpy.data.materials
    assert not bpy.data.images
