# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line with characters and their animations."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_carnivores.formats import ani, car, model_3dn, sound_data, vtl
from addon.io_carnivores.formats.model import name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.formats.vtl import Vtl

from tests import characters

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a file of each format."""
    character = characters.creature()
    (tmp_path / "worm.car").write_bytes(characters.written(character))
    (tmp_path / "soft.car").write_bytes(characters.written(characters.creature(soft=True)))
    frames = characters.swing(character.model, 8, axis=1)
    (tmp_path / "nod.vtl").write_bytes(vtl.write(Vtl(Animation(b"", 12, frames), last_index=True)))
    (tmp_path / "nod.ani").write_bytes(ani.write(Animation(b"", 12, frames)))
    model = characters.tube(0)
    model.texture_name = name_field("skin")
    (tmp_path / "tube.3dn").write_bytes(model_3dn.write(model))
    (tmp_path / "tube.cat").write_bytes(
        b'carnivores_character\n[general]\ntitle = "Tube"\nmodel = "tube.3dn"\n[animations]\ncount = 2\n'
        b'animation_id 0\n\tfile = "nod"\n    sound_index = 0\nanimation_id 1\n\tfile = "gone"\n'
        b'[sounds]\ncount = 1\nsound_id 0\n\tfile = "roar"\n'
    )
    (tmp_path / "roar.wav").write_bytes(sound_data.wav(characters.sound().data))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(extension_name: str) -> Callable[..., int]:
    """The extension's command line, called as `dev.py cli` does."""
    module = importlib.import_module(extension_name)
    return lambda *words: int(module.command([str(word) for word in words]))


def result(capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The files of the JSON document on the standard output."""
    files: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["files"]
    return files


@pytest.mark.parametrize("fps", [24, 30, 60])
def test_verify_all_of_them(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str], fps: int
) -> None:
    """Every format, at every rate."""
    assert command("verify", folder, "--fps", fps, "--json", "-q") == 0
    found = {Path(entry["file"]).name: entry["result"] for entry in result(capfd)}
    names = ("nod.ani", "nod.vtl", "soft.car", "tube.3dn", "tube.cat", "worm.car")
    assert found == dict.fromkeys(names, "same")


@pytest.mark.parametrize("motion", ["AUTO", "BONES", "KEYS", "RELATIVE_KEYS"])
def test_rebake(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str], motion: str) -> None:
    """Shares within 1, 2, 4 and 16 steps, of the evaluated mesh."""
    assert command("verify", "--rebake", "worm.car", "nod.ani", "--motion", motion, "--json", "-q") == 0
    for entry in result(capfd):
        facts = entry["rebake"]
        assert list(facts["within"]) == ["1", "2", "4", "16"]
        assert facts["within"]["2"] > 99.5
        assert facts["soft_vertices"] == []
        if motion.endswith("KEYS"):
            assert facts["within"]["1"] == 100.0
    assert (folder / "worm.car").is_file()


def test_rebake_for_people(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    """One more line, which names the vertices that no bone carries."""
    assert command("verify", "--rebake", "soft.car", "worm.car", "--motion", "BONES", "-q") == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == f"same {Path('soft.car')}"
    assert "% of 4032 coordinates within 1 / 2 / 4 / 16 steps; 48 soft vertices: 0, 1, 2" in lines[1]
    assert lines[3].endswith("no soft vertices")
    assert folder.is_dir()


def test_info(folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    """What is in them, the files a CAT names too; what is missing is a warning."""
    assert command("info", folder, "--json", "-q") == 0
    found = {Path(entry["file"]).name: entry for entry in result(capfd)}
    assert [entry["name"] for entry in found["worm.car"]["summary"]["animations"]] == ["walk", "idle", "idle"]
    assert found["worm.car"]["summary"]["animations"][0]["sound"] == "roar"
    assert found["nod.vtl"]["summary"]["frame_field"] == "last frame index"
    assert found["tube.cat"]["summary"]["animations"][1]["found"] is False
    assert found["tube.cat"]["warnings"][-1] == "1 file was not found: gone.ani"


def test_an_animation_goes_onto_what_came_before_it(folder: Path, command: Callable[..., int]) -> None:
    """Model and animation into one character."""
    assert command("convert", "worm.car", "nod.vtl", "both.car", "-q") == 0
    found = car.read((folder / "both.car").read_bytes())
    assert len(found.animations) == 4
    assert found.animations[3].frames.tobytes() == ani.read((folder / "nod.ani").read_bytes()).frames.tobytes()
    assert command("convert", "worm.car", "walk.ani", "--animation", "walk", "-q") == 0
    assert np.array_equal(
        ani.read((folder / "walk.ani").read_bytes()).frames, characters.creature().animations[0].frames
    )


def test_a_cat_becomes_a_car_and_back(folder: Path, command: Callable[..., int]) -> None:
    """With a placeholder for what was missing left to the user: a game cannot load it, which stops the export."""
    assert command("convert", "tube.cat", "tube.car", "-q") == 1
    assert not (folder / "tube.car").exists()
    assert command("convert", "tube.cat", "tube.car", "--game", "MEE", "-q") == 0
    found = car.read((folder / "tube.car").read_bytes())
    assert [len(entry.frames) for entry in found.animations] == [8, 0]
    assert found.sounds[0].data == characters.sound().data
    out = folder / "out"
    assert command("convert", "worm.car", "--to", "cat", "--out", out, "-q") == 0
    suffixes = sorted(path.suffix for path in out.iterdir())
    assert suffixes == [".3dn", ".ani", ".ani", ".ani", ".cat", ".tga", ".wav", ".wav"]


def test_rebake_without_animations(
    folder: Path, command: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    """No share of nothing is claimed."""
    character = characters.creature()
    character.animations = []
    (folder / "still.car").write_bytes(characters.written(character))
    assert command("verify", "--rebake", "still.car", "-q") == 0
    assert capfd.readouterr().out.splitlines()[1] == "  nothing to bake: there is no animation"
