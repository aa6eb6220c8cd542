# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as scripts use it: files that are written, lines, JSON and exit codes."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model as records
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.flags import FaceFlag
from addon.io_carnivores.ui.entries import FORMATS
from addon.io_common.formats.fields import Section
from addon.io_common.formats.issues import Issue, Severity
from addon.io_common.formats.options import option
from addon.io_common.formats.registry import Format
from addon.io_common.ui import cli_options, command_line

from tests.ui.helpers.command import make_model
from tools.staging import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

PC, MOBILE = FORMATS[0], FORMATS[1]


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
        assert "(default: 1/32 or 0.01)" in " ".join(said.split())
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


def test_check_of_the_shipped_formats(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    model = make_model(flags=int(FaceFlag.MORTAL))
    model.faces["u"][0, 0] = 100_000
    (folder / "far.3df").write_bytes(model_3df.write(model))
    for game in dict(PC.games):
        assert command("check", "rock.3df", "--game", game) == 0
    capfd.readouterr()
    command("check", "far.3df", "--game", "C2", "--json")
    (found,) = json.loads(capfd.readouterr().out)["files"]
    assert found["game"] == "C2"
    assert any(issue["faces"] == [0] for issue in found["issues"])


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
