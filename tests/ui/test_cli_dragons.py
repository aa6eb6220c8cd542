# SPDX-License-Identifier: GPL-3.0-or-later
"""`convert` with a character of Dragon Nest: its files into a .blend, and out of it again in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture
def blend(folder: Path, command: Callable[..., int]) -> Path:
    """The dressed fox with its clips."""
    files = [ASSETS / name for name in ("fox.skn", "fox_ranger.skn", "fox.ani")]
    assert command("convert", *files, folder / "edited.blend") == 0
    return folder / "edited.blend"


def test_a_blend_becomes_model_materials_and_clips(blend: Path, folder: Path, command: Callable[..., int]) -> None:
    words = ("--no-use-join", "--use-skin", "--use-animation")
    assert command("convert", blend, folder / "out" / "fox.msh", *words) == 0
    found = sorted((folder / "out").iterdir())
    assert [path.name for path in found] == ["fox.ani", "fox.msh", "fox.skn", "fox_ranger.msh", "fox_ranger.skn"]
    assert all(path.read_bytes() == (ASSETS / path.name).read_bytes() for path in found)


def test_a_file_that_is_there_stops_all_of_them(blend: Path, folder: Path, command: Callable[..., int]) -> None:
    (folder / "out.ani").write_bytes(b"mine")
    words = ("convert", blend, folder / "out.msh", "--use-skin", "--use-animation")
    assert command(*words) == 1
    assert [path.name for path in folder.glob("out*")] == ["out.ani"]
    assert command(*words, "--overwrite") == 0
    assert sorted(path.name for path in folder.glob("out*")) == ["out.ani", "out.msh", "out.skn"]
    assert (folder / "out.ani").read_bytes() == (ASSETS / "fox.ani").read_bytes()
