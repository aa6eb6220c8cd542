# SPDX-License-Identifier: GPL-3.0-or-later
"""One pose of three animations by bones and by shape keys: the pictures must agree. `tests/window` does the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from addon.io_carnivores.formats import car

from tests import characters, pictures

PROBE = """
import bpy
scene = bpy.context.scene
scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
scene.collection.objects.link(scene.camera)
scene.render.engine = "BLENDER_WORKBENCH"
scene.render.resolution_x = scene.render.resolution_y = 16
bpy.ops.render.render()
print("drawn", flush=True)
"""


@pytest.fixture(scope="module", autouse=True)
def can_draw() -> None:
    """Skip where this Blender finds no OpenGL: one with a window, which `tests/window` starts, has it for sure."""
    probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False, timeout=300)
    if "drawn" not in probe.stdout:
        pytest.skip("the wheel cannot draw here (no EGL with OpenGL 4.3); the window tests compare these pictures")


def empty() -> None:
    """Start anew."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.mark.parametrize("name", ["figure", "worm"])
def test_bones_and_keys_show_the_same(name: str, tmp_path: Path) -> None:
    """And each pose looks different."""
    character = pictures.figure() if name == "figure" else characters.creature()
    path = tmp_path / f"{name}.car"
    path.write_bytes(car.write(character))
    pictures.both(path, character, tmp_path, empty)


@pytest.mark.parametrize("way", ["BONES", "KEYS", "RELATIVE_KEYS"])
def test_the_figure_is_upright_and_not_mirrored(way: str, tmp_path: Path) -> None:
    """Its head is above its feet and its left arm where it belongs."""
    character = pictures.figure()
    path = tmp_path / "figure.car"
    path.write_bytes(car.write(character))
    pictures.check_upright(pictures.poses(path, character, way, tmp_path)[0])


@pytest.mark.samples("*ALLO.CAR", "*MOSH.CAR", "*PISTOL.CAR")
def test_samples_show_the_same(sample: Path, tmp_path: Path) -> None:
    """Real animals; nothing of the pictures is kept."""
    pictures.both(sample, car.read(sample.read_bytes()), tmp_path, empty)
