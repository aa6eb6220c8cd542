# SPDX-License-Identifier: GPL-3.0-or-later
"""Textures are found by name, near ones first, in folders that are listed once."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING

import pytest
from addon.io_dragonnest.formats import textures

if TYPE_CHECKING:
    from pathlib import Path


def tree(root: Path, *files: str) -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")


@pytest.fixture
def game(tmp_path: Path) -> Path:
    tree(
        tmp_path,
        "char/player/warrior/body.msh",
        "char/player/warrior/Body.DDS",
        "char/player/warrior/body.png",
        "char/player/warrior/tex/Face.tga",
        "char/player/body.dds",
        "char/player/shared.BMP",
        "char/player/archer/hair.dds",
        "char/player/archer/deep/far.dds",
        "char/above.jpg",
        "elsewhere/a/b/c/own.dds",
        "elsewhere/body.dds",
    )
    return tmp_path


def test_near_ones_win_and_case_does_not_matter(game: Path) -> None:
    index = textures.around(game / "char/player/warrior/body.msh", [game / "elsewhere"])
    found, missing = textures.located(
        [
            "BODY.dds",
            "face.TGA",
            "shared.bmp",
            "Hair.dds",
            "above.jpg",
            "own.dds",
            "far.dds",
            "none.dds",
            "",
            "none.dds",
        ],
        index,
    )
    where = {name: path.relative_to(game).as_posix() for name, path in found.items()}
    assert where == {
        "BODY.dds": "char/player/warrior/Body.DDS",
        "face.TGA": "char/player/warrior/tex/Face.tga",
        "shared.bmp": "char/player/shared.BMP",
        "Hair.dds": "char/player/archer/hair.dds",
        "above.jpg": "char/above.jpg",
        "own.dds": "elsewhere/a/b/c/own.dds",
    }
    assert missing == ["far.dds", "none.dds"] and not index.truncated


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("body.tga", "Body.DDS"),
        ("body", "Body.DDS"),
        ("body.png", "body.png"),
        ("..\\warrior\\BODY.dds", "Body.DDS"),
        ("c:/some where/body.dds", "Body.DDS"),
        (" body.dds ", "Body.DDS"),
    ],
)
def test_other_extensions_and_paths(game: Path, name: str, wanted: str) -> None:
    found = textures.around(game / "char/player/warrior/body.msh").find(name)
    assert found is not None and found.name == wanted


def test_dots_in_names_and_nothing_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "folder"  # beside it, other tests leave theirs
    tree(folder, "a.b.dds", "c.dds")
    index = textures.around(folder / "x.msh")
    assert index.find("A.B") is not None and index.find("a") is None
    assert index.find("") is None and index.find("..\\..") is None and index.find("c.exe") is None


def test_korean_names_in_either_form(tmp_path: Path) -> None:
    tree(tmp_path, unicodedata.normalize("NFD", "살갗.dds"))
    assert textures.around(tmp_path / "x.msh").find("살갗.DDS") is not None


def test_folders_are_listed_once(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    scan = os.scandir

    def counting(path: str) -> object:
        listed.append(os.path.realpath(path))
        return scan(path)

    monkeypatch.setattr(textures.os, "scandir", counting)
    index = textures.around(game / "char/player/warrior/body.msh", [game / "char", game / "elsewhere"])
    textures.located([f"texture {number}.dds" for number in range(200)], index)
    assert len(listed) == len(set(listed))
    assert os.path.realpath(game / "char/player/archer/deep") in listed  # by way of the user's own folder


def test_limits_and_folders_that_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, *(f"{number}.dds" for number in range(20)), "a/b/c/d/e/f/g/h/i.dds")
    if hasattr(os, "symlink"):
        (tmp_path / "a/loop").symlink_to(tmp_path, target_is_directory=True)
    index = textures.Index()
    index.add(tmp_path / "missing", 3)
    index.add("nul\0", 3)
    index.add(tmp_path, 100)
    assert len(index) == 20 and not index.truncated
    monkeypatch.setattr(textures, "MOST_ENTRIES", 10)
    index = textures.around(tmp_path / "x.msh")
    assert index.truncated and len(index) <= 10
    monkeypatch.setattr(textures, "MOST_ENTRIES", 10**6)
    monkeypatch.setattr(textures, "MOST_FOLDERS", 2)
    index = textures.Index()
    index.add(tmp_path, 6)
    assert index.truncated


def test_a_large_folder(tmp_path: Path) -> None:
    """5 000 files beside the model, 300 names: one listing, and no look at any file."""
    for number in range(5000):
        (tmp_path / f"T{number}.dds").touch()
    index = textures.around(tmp_path / "x.msh")
    found, missing = textures.located([f"t{number}.DDS" for number in range(0, 6000, 20)], index)
    assert len(found) == 250 and len(missing) == 50
