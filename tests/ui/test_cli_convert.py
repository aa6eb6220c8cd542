# SPDX-License-Identifier: GPL-3.0-or-later
"""`convert`: what is in the files it writes, and what it leaves alone."""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model as records
from addon.io_carnivores.formats import model_3df, model_3dn

from tests.ui.helpers.command import make_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def gltf_document(path: Path) -> dict[str, Any]:
    """The JSON chunk of a .glb."""
    data = path.read_bytes()
    magic, version, length, chunk, kind = struct.unpack("<4sIII4s", data[:20])
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    document: dict[str, Any] = json.loads(data[20 : 20 + chunk])
    return document


def open_scene(path: Path) -> list[str]:
    """Names of the mesh objects of a .blend."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    return sorted(obj.name for obj in bpy.data.objects if obj.type == "MESH")


def test_glb_has_the_picture_and_the_cut_out(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "tree.glb") == 0
    document = gltf_document(folder / "tree.glb")
    assert [image["mimeType"] for image in document["images"]] == ["image/png"]
    by_mode = {material.get("alphaMode", "OPAQUE"): material for material in document["materials"]}
    assert set(by_mode) == {"OPAQUE", "MASK"}
    assert by_mode["MASK"]["doubleSided"] is True
    assert not by_mode["OPAQUE"].get("doubleSided", False)
    assert all("baseColorTexture" in material["pbrMetallicRoughness"] for material in document["materials"])
    assert {node["name"] for node in document["nodes"]} >= {"tree", "Body", "Tail"}
    assert len(document["skins"][0]["joints"]) == 2
    assert sum(document["accessors"][part["indices"]]["count"] for part in document["meshes"][0]["primitives"]) == 12


def test_obj_has_material_and_picture_beside_it(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "out.obj") == 0
    lines = (folder / "out.obj").read_text().splitlines()
    assert "mtllib out.mtl" in lines
    assert sum(line.startswith("f ") for line in lines) == 4
    assert sum(line.startswith("v ") for line in lines) == 8
    assert "map_Kd out.png" in (folder / "out.mtl").read_text().splitlines()
    assert sorted(path.name for path in folder.glob("out*")) == ["out.mtl", "out.obj", "out.png"]
    image = bpy.data.images.load(str(folder / "out.png"))
    assert tuple(image.size) == (256, 256)
    pixels = np.array(image.pixels[:]).reshape(256, 256, 4)[::-1]
    assert np.all(pixels[:32, :32, 3] == 0)
    assert np.all(pixels[64:, 64:, 3] == 1)
    word = int(make_model().texels[100, 100])
    assert np.rint(pixels[100, 100, :3] * 31).tolist() == [word >> 10, word >> 5 & 31, word & 31]


def test_fbx_has_the_picture_inside_and_comes_back(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "tree.fbx") == 0
    data = (folder / "tree.fbx").read_bytes()
    assert data.startswith(b"Kaydara FBX Binary")
    picture = data[data.index(b"\x89PNG\r\n\x1a\n") :]
    assert struct.unpack(">II", picture[16:24]) == (256, 256)
    assert [path.name for path in folder.glob("tree*") if path.suffix != ".3df"] == ["tree.fbx"]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.fbx(filepath=str(folder / "tree.fbx"))
    mesh = next(obj.data for obj in bpy.data.objects if obj.type == "MESH")
    assert (len(mesh.vertices), len(mesh.polygons)) == (8, 4)
    assert {bone.name for obj in bpy.data.objects if obj.type == "ARMATURE" for bone in obj.data.bones} == {
        "Body",
        "Tail",
    }


def test_blend_holds_only_the_model_and_goes_back_to_the_same_bytes(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "tree.blend") == 0
    assert command("convert", "tree.blend", "again.3df") == 0
    assert (folder / "again.3df").read_bytes() == (folder / "tree.3df").read_bytes()
    assert open_scene(folder / "tree.blend") == ["tree"]
    assert all(image.packed_file for image in bpy.data.images if image.type == "IMAGE")


def test_several_models_go_into_one_scene(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "rock.3df", "both.blend") == 0
    assert open_scene(folder / "both.blend") == ["rock", "tree"]
    assert command("convert", "*.3df", "both.glb") == 0
    assert {"rock", "tree"} <= {node["name"] for node in gltf_document(folder / "both.glb")["nodes"]}


def test_several_models_join_into_one_game_file_or_stay_apart(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "rock.3df", "both.3df") == 0
    assert len(model_3df.read((folder / "both.3df").read_bytes()).faces) == 8
    assert command("convert", "tree.3df", "rock.3df", "both.blend") == 0
    (folder / "apart").mkdir()
    assert command("convert", "both.blend", "apart/any.3df", "--no-use-join") == 0
    assert sorted(path.name for path in (folder / "apart").iterdir()) == ["rock.3df", "tree.3df"]


def test_pc_to_mobile_and_back_keeps_the_geometry(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "mobile.3dn") == 0
    mobile = model_3dn.read((folder / "mobile.3dn").read_bytes())
    name = records.label(mobile.texture_name)
    assert (folder / f"{name}.tga").is_file()
    assert command("convert", "mobile.3dn", "back.3df") == 0
    before, after = make_model(), model_3df.read((folder / "back.3df").read_bytes())
    for field in ("corner", "u", "v", "flags", "group"):
        assert np.array_equal(after.faces[field], before.faces[field]), field
    assert np.array_equal(after.vertices["position"], before.vertices["position"])
    assert np.array_equal(after.vertices["owner"], before.vertices["owner"])
    assert records.bone_names(after.bones) == ["Body", "Tail"]
    assert np.array_equal(after.texels == 0, before.texels == 0)


def test_a_folder_keeps_its_structure(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    deep = folder / "game" / "areas" / "one"
    deep.mkdir(parents=True)
    for target in (deep / "TREE.3DF", folder / "game" / "rock.3df"):
        target.write_bytes((folder / "tree.3df").read_bytes())
    (deep / "notes.txt").write_text("no model")
    assert command("convert", "game", "--to", "3dn", "--out", "out") == 0
    made = sorted(path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*.3dn"))
    assert made == ["areas/one/TREE.3dn", "rock.3dn"]
    assert "2 files: 2 converted, 0 failed" in capfd.readouterr().out
    assert command("convert", "game/**/*.3*", "--to", ".glb", "--out", "glb") == 0
    assert (folder / "glb" / "areas" / "one" / "TREE.glb").is_file()


def test_a_folder_as_output_needs_to_know_what_to_write(folder: Path, command: Callable[..., int]) -> None:
    (folder / "out").mkdir()
    assert command("convert", "tree.3df", "rock.3df", "out") == 2
    assert command("convert", "tree.3df", "rock.3df", "out", "--to", "obj") == 0
    assert sorted(path.name for path in (folder / "out").glob("*.obj")) == ["rock.obj", "tree.obj"]
    assert command("convert", "tree.3df", "new/", "--to", "carnivores_3dn") == 0
    assert (folder / "new" / "tree.3dn").is_file()


@pytest.mark.skipif(os.name == "nt", reason="making a link needs a privilege on Windows")
def test_nothing_is_written_outside_of_the_folder(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "game" / "sub").mkdir(parents=True)
    (folder / "game" / "sub" / "tree.3df").write_bytes((folder / "tree.3df").read_bytes())
    (folder / "elsewhere").mkdir()
    (folder / "out").mkdir()
    (folder / "out" / "sub").symlink_to(folder / "elsewhere")
    assert command("convert", "game", "--to", "glb", "--out", "out") == 1
    assert list((folder / "elsewhere").iterdir()) == []
    assert "would lie outside of the folder out." in capfd.readouterr().err


def test_files_that_exist_are_kept(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    old = folder / "out.glb"
    old.write_bytes(b"precious")
    assert command("convert", "tree.3df", "out.glb") == 1
    assert old.read_bytes() == b"precious"
    assert "failed out.glb: the file exists already; --overwrite replaces it." in capfd.readouterr().err.splitlines()
    assert command("convert", "tree.3df", "out.glb", "--overwrite") == 0
    assert gltf_document(old)["images"]


def test_a_texture_beside_the_target_is_kept_too(folder: Path, command: Callable[..., int]) -> None:
    (folder / "new.tga").write_bytes(b"precious")
    assert command("convert", "tree.3df", "new.3dn") == 1
    assert not (folder / "new.3dn").exists()
    assert (folder / "new.tga").read_bytes() == b"precious"
    assert command("convert", "tree.3df", "new.3dn", "--overwrite") == 0
    # The very same texture is no reason to refuse.
    (folder / "new.3dn").unlink()
    assert command("convert", "tree.3df", "new.3dn") == 0


def test_one_bad_file_does_not_stop_the_others(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    data = (folder / "tree.3df").read_bytes()
    (folder / "broken.3df").write_bytes(data[:100])
    (folder / "text.3df").write_text("this is a letter to a friend, and no model at all")
    assert command("convert", ".", "--to", "glb", "--out", "out") == 1
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["rock.glb", "tree.glb"]
    said = capfd.readouterr()
    assert "4 files: 2 converted, 2 failed" in said.out
    failures = [line for line in said.err.splitlines() if line.startswith("failed ")]
    assert len(failures) == 2
    assert failures[0].startswith("failed broken.3df: ")
    assert "at byte" in failures[0]
    assert failures[1].startswith("failed text.3df: ")
    assert "a text file" in failures[1]
    assert "Traceback" not in said.err


def test_two_files_that_would_become_one_are_named(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "tree.3dn").write_bytes(model_3dn.write(make_model()))
    assert command("convert", "tree.3df", "tree.3dn", "--to", "glb", "--out", "out") == 1
    assert "failed tree.3dn: its result would have the same name as that of tree.3df." in capfd.readouterr().err
    assert [path.name for path in (folder / "out").iterdir()] == ["tree.glb"]


def test_options_reach_import_and_export(folder: Path, command: Callable[..., int]) -> None:
    assert command("convert", "tree.3df", "half.blend", "--global-scale", "1/64", "--no-use-bones") == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "half.blend"), load_ui=False)
    assert [obj.type for obj in bpy.data.objects] == ["MESH"]
    assert tuple(bpy.data.objects["tree"].scale) == (1 / 64, 1 / 64, 1 / 64)
    assert command("convert", "tree.3df", "named.3dn", "--texture-name", "bark", "--texture-format", "crt") == 0
    assert records.label(model_3dn.read((folder / "named.3dn").read_bytes()).texture_name) == "bark"
    assert (folder / "bark.crt").is_file()


def test_an_option_without_effect_is_pointed_out(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert command("convert", "tree.3df", "tree.glb", "--flip-faces", "--no-use-bones") == 0
    notes = [line for line in capfd.readouterr().err.splitlines() if line.startswith("note: ")]
    assert notes == ["note: --flip-faces made no difference to any of these files"]
