# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest materials: files through Blender and back, textures, nodes, edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scene.helpers import dragon_scene, scene


@pytest.mark.samples("dragonnest/*.skn")
def test_samples(sample: Path, tmp_path: Path) -> None:
    dragon_scene.bring(sample)
    assert dragon_scene.export(tmp_path / "a.skn") == sample.read_bytes()
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "b.skn", *dragon_scene.meshes()) == sample.read_bytes()
