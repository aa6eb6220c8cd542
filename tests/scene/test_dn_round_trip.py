# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest models through Blender and back, untouched: the same bytes, also from a saved and reopened .blend."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from addon.io_dragonnest.formats import msh

from tests import dragons
from tests.scene.helpers import dragon_scene, scene


@pytest.mark.samples("dragonnest/*.msh")
def test_samples(sample: Path, tmp_path: Path) -> None:
    dragon_scene.bring(sample)
    assert dragon_scene.export(tmp_path / "a.msh") == sample.read_bytes()
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == sample.read_bytes()


@pytest.mark.parametrize("version", msh.VERSIONS)
def test_made(version: int, tmp_path: Path) -> None:
    data = dragon_scene.save(tmp_path / "a.msh", dragons.model(version))
    dragon_scene.bring(tmp_path / "a.msh")
    assert dragon_scene.export(tmp_path / "b.msh") == data
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "c.msh", *dragon_scene.meshes()) == data


@pytest.mark.parametrize("seed", range(12))
def test_arbitrary(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    data = dragon_scene.save(tmp_path / "a.msh", dragons.arbitrary_msh(rng, int(rng.choice(msh.VERSIONS))))
    dragon_scene.bring(tmp_path / "a.msh")
    assert dragon_scene.export(tmp_path / "b.msh") == data
