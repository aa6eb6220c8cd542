# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as scripts use it: files that are written, lines, JSON and exit codes."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model as records
from addon.io_carnivores.formats import model_3df, model_3dn
from addon.io_carnivores.ui.entries import FORMATS
from addon.io_common.formats.fields import Section
from addon.io_common.formats.issues import Issue, Severity
from addon.io_common.formats.options import option
from addon.io_common.formats.registry import Format
from addon.io_common.ui import cli_options, command_line

from tools.staging import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

PC, MOBILE = FORMATS[0], FORMATS[1]


def make_model(flags: int = 0x0005, rows: int = 256) -> records.Model:
    """Two quads' worth of triangles: plain ones, and ones with `flags`; two bones; a picture with a hole in it."""
    vertices = np.zeros(8, records.VERTEX)
    square = np.array([(0, 0, 0), (32, 0, 0), (32, 64, 0), (0, 64, 0)], np.float32)
    vertices["position"] = np.concatenate((square, square + np.float32([0, 0, 16])))
    vertices["owner"][4:] = 1
    faces = np.zeros(4, records.FACE)
    faces["corner"] = [(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)]
    faces["u"] = [(0, 255, 255), (0, 255, 0)] * 2
    faces["v"] = [(255, 255, 0), (255, 0, 0)] * 2
    faces["flags"][2:] = flags
    faces["group"] = [0, 1, 2, 3]
    bones = np.zeros(2, records.BONE)
    bones["name"] = [np.void(records.name_field(name)) for name in ("Body", "Tail")]
    bones["position"][1] = (0, 64, 16)
    bones["parent"] = (-1, 0)
    texels = (np.arange(rows * 256, dtype=np.uint16) % 0x7FFF + 1).astype("<u2").reshape(rows, 256)
    texels[:32, :32] = 0
    return records.Model(faces, vertices, bones, texels)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two good models; relative paths mean files in it."""
    (tmp_path / "tree.3df").write_bytes(model_3df.write(make_model()))
    (tmp_path / "rock.3df").write_bytes(model_3df.write(make_model(flags=0)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(extension_name: str) -> Callable[..., int]:
    """The extension's command line, called as `dev.py cli` does."""
    module = importlib.import_module(extension_name)
    return lambda *words: int(module.command([str(word) for word in words]))


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


# --- convert ---------------------------------------------------------------------------------------------------------


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
    assert {bone.name for obj in bpy.data.objects if obj.type == "ARMATURE" for bone in obj.data.bones} == {"Body", "Tail"}


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


def test_a_folder_keeps_its_structure(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
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


def test_files_that_exist_are_kept(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
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


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["dance"],
        ["convert"],
        ["convert", "tree.3df"],
        ["convert", "tree.3df", "tree.zip"],
        ["convert", "tree.3df", "tree"],
        ["convert", "tree.3df", "--out", "dir"],
        ["convert", "tree.3df", "--to", "nothing", "--out", "dir"],
        ["convert", "tree.3df", "tree.glb", "--to", "fbx"],
        ["convert", "tree.3df", "--to", "glb", "--out", "rock.3df"],
        ["convert", "tree.3df", "tree.glb", "--global-scale", "wide"],
        ["convert", "tree.3df", "tree.glb", "--global-scale", "0"],
        ["convert", "tree.3df", "tree.glb", "--game", "DOOM"],
        ["verify"],
        ["verify", "tree.3df", "--fps", "0"],
        ["verify", "tree.3df", "--fps", "nan"],
        ["check", "tree.3df", "--game", "DOOM"],
        ["info", "tree.3df", "--nonsense"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_two(words: list[str], folder: Path, command: Callable[..., int]) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert command(*words) == 2
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("words", [[], ["convert"], ["verify"], ["info"], ["check"]], ids=" ".join)
def test_help(words: list[str], command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    assert command(*words, "--help") == 0
    said = capfd.readouterr().out
    assert "usage: carnivores_dragonnest" in said
    assert "Exit codes: 0 all is well" in said
    if words == ["convert"]:
        assert "--no-use-bones" in said
        assert "(default: 1/32)" in said
        assert "{AUTO,ALWAYS,NEVER}" in said


@pytest.mark.parametrize("word", ["missing.3df", "nothing*.3df", "empty"])
def test_what_is_not_there_is_said(
    word: str, folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").mkdir()
    for words in (["verify", word], ["info", word], ["check", word], ["convert", word, "x.glb"]):
        assert command(*words) == 1
        assert f"failed {word}: " in capfd.readouterr().err


# --- verify ----------------------------------------------------------------------------------------------------------


def test_verify_same(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    assert command("verify", "tree.3df", "rock.3df", "--fps", "29.97") == 0
    said = capfd.readouterr()
    assert said.out.splitlines() == ["same tree.3df", "same rock.3df", "2 files: 2 same, 0 differs, 0 failed"]
    assert said.err.splitlines() == ["[1/2] tree.3df", "[2/2] rock.3df"]
    assert len(bpy.data.objects) == 0


@pytest.mark.samples("carnivores/*.3df", "carnivores/*.3dn")
def test_verify_real_files(sample: Path, command: Callable[..., int]) -> None:
    assert command("verify", sample, "--no-use-bones", "--global-scale", "1/64", "-q") == 0


def lossy(entry: Format, spoil: Callable[[Any], None]) -> Format:
    """`entry`, as it would be if its importer lost something: `spoil` is done to the first mesh made."""
    build = entry.build
    assert build is not None

    def worse(*arguments: Any) -> list[bpy.types.Object]:
        made = build(*arguments)
        spoil(next(obj for obj in made if obj.type == "MESH"))
        return made

    return dataclasses.replace(entry, build=worse)


def _lose_groups(obj: bpy.types.Object) -> None:
    obj.data.attributes.remove(obj.data.attributes["carnivores_group"])


def _move_vertex(obj: bpy.types.Object) -> None:
    obj.data.vertices[5].co.x += 1


@pytest.mark.parametrize(("spoil", "field"), [(_lose_groups, "face 1, group"), (_move_vertex, "vertex 5, position 0")])
def test_verify_names_the_field_that_differs(
    spoil: Callable[[Any], None], field: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    formats = (lossy(PC, spoil), MOBILE)
    assert command_line.main(["verify", "tree.3df", "--json"], formats) == 1
    (found,) = json.loads(capfd.readouterr().out)["files"]
    assert (found["result"], found["field"]) == ("differs", field)
    assert command_line.main(["verify", "tree.3df"], formats) == 1
    line = capfd.readouterr().out.splitlines()[0]
    assert line == f"differs tree.3df at byte {found['offset']}: {field}"
    # 16 bytes of header, faces of 64 bytes with the group at 48, vertices of 16.
    base = 16 + 64 + 48 if field.startswith("face") else 16 + 4 * 64 + 5 * 16
    assert base <= found["offset"] < base + 4
    assert found["bytes"] == found["written_bytes"] == (folder / "tree.3df").stat().st_size


def test_verify_says_when_the_length_differs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    longer = dataclasses.replace(PC, write=lambda model: model_3df.write(model) + b"more")
    assert command_line.main(["verify", "tree.3df"], (longer,)) == 1
    size = (folder / "tree.3df").stat().st_size
    assert f"differs tree.3df at byte {size}: past the end ({size} bytes became {size + 4})" in capfd.readouterr().out


def test_verify_goes_on_after_a_bad_file(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.3df").write_bytes((folder / "tree.3df").read_bytes()[:-1])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert command("verify", ".", "--json", "--quiet") == 1
    said = capfd.readouterr()
    document = json.loads(said.out)
    assert document["counts"] == {"files": 3, "same": 2, "differs": 0, "failed": 1}
    assert {entry["file"]: entry["result"] for entry in document["files"]} == {
        "broken.3df": "failed",
        "rock.3df": "same",
        "tree.3df": "same",
    }
    assert said.err.startswith("failed broken.3df: ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def note_format() -> Format:
    """A format that has no place in a scene, as tables have not."""
    return Format(
        id="test_note",
        label="test note",
        extensions=(".note",),
        sniff=lambda head, _size: head.startswith(b"note"),
        read=lambda data: {"text": data[4:].rstrip().decode()},
        write=lambda model: b"note" + model["text"].encode(),
        sections=lambda data: [Section("letter", 0, np.dtype("u1"), len(data))],
        summary=lambda model: model,
        check=lambda _model, _game: [],
    )


def test_a_format_without_a_scene(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    formats = (*FORMATS, note_format())
    (folder / "a.note").write_bytes(b"noteabc")
    (folder / "b.note").write_bytes(b"noteabc ")
    assert command_line.main(["verify", "a.note"], formats) == 0
    assert command_line.main(["verify", "b.note"], formats) == 1
    assert "differs b.note at byte 7: letter 7 (8 bytes became 7)" in capfd.readouterr().out
    assert command_line.main(["info", "a.note"], formats) == 0
    assert "  text: abc" in capfd.readouterr().out.splitlines()
    assert command_line.main(["convert", "a.note", "a.glb"], formats) == 1
    assert "failed a.note: a test note has nothing to show in a scene." in capfd.readouterr().err
    assert command_line.main(["convert", "tree.3df", "tree.note"], formats) == 2
    assert command_line.main(["check", "a.note"], formats) == 1
    assert "there is nothing to check in a test note" in capfd.readouterr().err


# --- info and check --------------------------------------------------------------------------------------------------


def test_info(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    assert command("info", "tree.3df", "-q") == 0
    said = capfd.readouterr()
    size = (folder / "tree.3df").stat().st_size
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0] == f"tree.3df: Carnivores 3DF model, {size} bytes"
    assert "  vertices: 8" in lines
    assert "    1: name Tail, parent 0" in lines
    assert "  face flags: 0x0000 2, 0x0005 2" in lines
    assert "  texture: width 256, rows 256, bytes 131072" in lines


def test_info_as_json(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.3df").write_bytes(b"")
    assert command("info", "tree.3df", "bad.3df", "--json") == 1
    good, bad = json.loads(capfd.readouterr().out)["files"]
    assert (good["format"], good["bytes"]) == ("carnivores_3df", (folder / "tree.3df").stat().st_size)
    assert good["summary"]["faces"] == 4
    assert [bone["name"] for bone in good["summary"]["bones"]] == ["Body", "Tail"]
    assert bad["result"] == "failed"
    assert "an empty file" in bad["error"]


def test_info_finds_the_texture_of_a_mobile_model(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert command("convert", "tree.3df", "mobile.3dn") == 0
    capfd.readouterr()
    assert command("info", "mobile.3dn", "--json") == 0
    (found,) = json.loads(capfd.readouterr().out)["files"]
    assert found["summary"]["texture"] == {"name": "mobile", "format": "TGA", "width": 256, "rows": 256}
    (folder / "mobile.tga").unlink()
    assert command("info", "mobile.3dn") == 0
    assert '  warning: the texture "mobile" was not found' in capfd.readouterr().out


def test_info_cuts_long_lists_short_for_people_only(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    model = make_model()
    model.bones = np.repeat(model.bones[:1], 40)
    (folder / "many.3df").write_bytes(model_3df.write(model))
    assert command("info", "many.3df") == 0
    assert "    ... 16 more, shown with --all" in capfd.readouterr().out
    assert command("info", "many.3df", "--all") == 0
    assert "    39: name Body, parent -1" in capfd.readouterr().out
    assert command("info", "many.3df", "--json") == 0
    assert len(json.loads(capfd.readouterr().out)["files"][0]["summary"]["bones"]) == 40


def strict(games: list[str]) -> Format:
    """3DF with a check of its own: it notes the game, dislikes flags and warns of four faces."""

    def check(model: records.Model, game: str) -> list[Issue]:
        games.append(game)
        flagged = np.flatnonzero(model.faces["flags"])
        found = [Issue(Severity.WARNING, "few_faces", "there are only four faces")]
        if len(flagged):
            found.insert(0, Issue(Severity.ERROR, "flags", "flags are not wanted", faces=flagged))
        return found

    return dataclasses.replace(PC, check=check)


def test_check_lists_errors_and_warnings(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    games: list[str] = []
    formats = (strict(games), MOBILE)
    assert command_line.main(["check", "rock.3df", "--game", "mee"], formats) == 0
    assert capfd.readouterr().out.splitlines() == [
        "passable rock.3df",
        "  warning: there are only four faces [few_faces]",
        "1 file: 0 good, 1 passable, 0 bad, 0 failed",
    ]
    assert command_line.main(["check", "rock.3df", "tree.3df", "--json"], formats) == 1
    _rock, tree = json.loads(capfd.readouterr().out)["files"]
    assert tree["result"] == "bad"
    assert tree["issues"][0] == {
        "severity": "error",
        "code": "flags",
        "message": "flags are not wanted",
        "faces": [2, 3],
        "vertices": [],
    }
    assert games == ["MEE", "C2", "C2"]


def test_check_of_the_shipped_formats(folder: Path, command: Callable[..., int]) -> None:
    for game in dict(PC.games):
        assert command("check", "rock.3df", "--game", game) in (0, 1)
    assert command("check", "rock.3df", "--game", "C2") == 0


# --- the process -----------------------------------------------------------------------------------------------------


def test_as_a_process_of_its_own(folder: Path) -> None:
    """Exit code, paths relative to the caller, and a standard output that holds the JSON and nothing of Blender's."""
    (folder / "broken.3df").write_bytes(b"\x01\x00")
    script = [sys.executable, str(ROOT / "tools" / "embedded.py"), "command"]
    commands = {
        "convert": ["convert", "tree.3df", "rock.3df", "both.glb", "--json"],
        "verify": ["verify", "tree.3df", "broken.3df", "--json"],
    }
    said = {
        name: subprocess.run([*script, *words], cwd=folder, capture_output=True, text=True, check=False)
        for name, words in commands.items()
    }
    assert said["convert"].returncode == 0, said["convert"].stderr
    assert json.loads(said["convert"].stdout)["files"][0]["written"] == ["both.glb"]
    assert (folder / "both.glb").is_file()
    assert said["verify"].returncode == 1, said["verify"].stderr
    assert json.loads(said["verify"].stdout)["counts"] == {"files": 2, "same": 1, "differs": 0, "failed": 1}
    assert "Traceback" not in said["verify"].stderr


def test_blenders_words_are_shown_when_asked_for(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert command("verify", "tree.3df", "--json", "--verbose") == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["counts"]["same"] == 1
    assert "scene.blend" in said.err


# --- flags -----------------------------------------------------------------------------------------------------------


def test_every_option_of_every_format_has_a_flag() -> None:
    text = command_line.make_parser(FORMATS)._subparsers._group_actions[0].choices["convert"].format_help()
    for entry in FORMATS:
        for options in (entry.import_options, entry.export_options):
            for name in cli_options.describe(options):
                assert cli_options.flag(name) in text


@dataclasses.dataclass(frozen=True)
class PinballOptions(MOBILE.export_options):  # type: ignore[misc, name-defined]
    """3DN options with another list of games."""

    game: str = option("PINBALL", "Game", "Another one", choices=(("PINBALL", "Pinball", "A table"),))


def test_a_choice_of_another_format_is_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Two formats may offer different values of one option: the flag takes all, the format only its own."""
    formats = (PC, dataclasses.replace(MOBILE, export_options=PinballOptions, check=lambda _model, _game: []))
    assert command_line.main(["convert", "tree.3df", "tree.3dn", "--game", "pinball"], formats) == 0
    assert command_line.main(["convert", "tree.3df", "new.3df", "--game", "PINBALL"], formats) == 1
    said = capfd.readouterr().err
    assert "failed tree.3df: --game PINBALL is not for a Carnivores 3DF model, expected C1 or" in said
