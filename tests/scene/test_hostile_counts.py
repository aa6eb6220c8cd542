# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts that small files state: nothing is made that no bytes stand for, and names stay names."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import bpy
import pytest
from addon.io_carnivores.scene import clips

from .helpers import scene

if TYPE_CHECKING:
    from pathlib import Path

MOST = 2**31 - 1


@pytest.mark.parametrize("vertices", [1, 7, 1 << 20, MOST])
@pytest.mark.parametrize("kind", ["ani", "vtl"])
def test_vertices_without_frames(kind: str, vertices: int, tmp_path: Path) -> None:
    """A header alone makes no vertex, and comes back to the byte; through a saved .blend too."""
    data = struct.pack("<3i", *((10, 0, vertices) if kind == "ani" else (vertices, 10, 0)))
    path = tmp_path / f"still.{kind}"
    path.write_bytes(data)
    getattr(bpy.ops.import_scene, f"carnivores_{kind}")(filepath=str(path))
    obj = bpy.context.view_layer.objects.active
    assert len(obj.data.vertices) == 0
    assert len(clips.animations(obj.data)) == 1
    name = obj.name
    out = tmp_path / f"out.{kind}"
    for reopened in (False, True):
        if reopened:
            scene.reopen(tmp_path / "scene.blend")
        scene.select(bpy.data.objects[name])
        getattr(bpy.ops.export_scene, f"carnivores_{kind}")(filepath=str(out))
        assert out.read_bytes() == data
        out.unlink()
