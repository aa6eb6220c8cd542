# SPDX-License-Identifier: GPL-3.0-or-later
"""One pose of three animations, shown by bones and by shape keys and drawn by Workbench: the pictures must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import checkout  # noqa: F401 (before the names below)
import pytest
from addon.io_carnivores.formats import car

from tests import characters, pictures

if TYPE_CHECKING:
    from pathlib import Path

    from screen import Screen

SAMPLES = ("ALLO.CAR", "MOSH.CAR", "PISTOL.CAR")


@pytest.mark.parametrize("name", ["figure", "worm"])
def test_bones_and_keys_show_the_same(screen: Screen, name: str, tmp_path: Path) -> None:
    character = pictures.figure() if name == "figure" else characters.creature()
    path = tmp_path / f"{name}.car"
    path.write_bytes(car.write(character))
    pictures.both(path, character, tmp_path, screen.new_file)


@pytest.mark.parametrize("way", ["BONES", "KEYS", "RELATIVE_KEYS"])
def test_the_figure_is_upright_and_not_mirrored(screen: Screen, way: str, tmp_path: Path) -> None:
    character = pictures.figure()
    path = tmp_path / "figure.car"
    path.write_bytes(car.write(character))
    screen.new_file()
    pictures.check_upright(pictures.poses(path, character, way, tmp_path)[0])


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_show_the_same(screen: Screen, name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Real animals; nothing of the pictures is kept."""
    folder = request.config.getoption("--samples")
    if folder is None:
        pytest.skip("needs real game files: --samples DIR")
    sample = next(path for path in folder.rglob("*") if path.name == name)
    pictures.both(sample, car.read(sample.read_bytes()), tmp_path, screen.new_file)
    screen.new_file()
