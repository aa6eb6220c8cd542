# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters exported and checked while they are edited: what is pending counts, and the mode comes back."""

from __future__ import annotations

from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion
from addon.io_carnivores.scene import clips, shape_motion

from tests import characters

from .helpers import scene

MOTIONS = ["BONES", "KEYS", "RELATIVE_KEYS"]


@pytest.mark.parametrize("way", MOTIONS)
def test_export_in_edit_mode(tmp_path: Path, way: str) -> None:
    """Of the character and of one animation, to the byte; the check runs too."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=way)
    with scene.edit_mode(obj):
        assert scene.export(tmp_path / "out.car") == data
        assert bpy.ops.carnivores.check() == {"FINISHED"}
        for suffix in (".vtl", ".ani"):
            found = scene.CODECS[suffix].read(scene.export(tmp_path / f"out{suffix}"))
            frames = getattr(found, "animation", found).frames
            assert np.array_equal(frames, character.animations[0].frames)
        scene.export(tmp_path / "out.cat")
        assert bpy.context.mode == "EDIT_MESH"


def test_pending_edit_of_a_key_is_exported(tmp_path: Path) -> None:
    """Although Blender writes it to the key only when Edit Mode is left."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="RELATIVE_KEYS")
    numbers = shape_motion.block_numbers(obj.data, clips.animations(obj.data)[0])
    assert numbers is not None
    obj.active_shape_key_index = numbers[2]
    with scene.edit_mode(obj):
        edited = bmesh.from_edit_mesh(obj.data)
        edited.verts.ensure_lookup_table()
        edited.verts[5].co.x += 3
        bmesh.update_edit_mesh(obj.data)
        found = car.read(scene.export(tmp_path / "out.car"))
    wanted = character.animations[0].frames.copy()
    wanted[2, 5, 0] += 3 * motion.STEPS
    assert np.array_equal(found.animations[0].frames, wanted)
