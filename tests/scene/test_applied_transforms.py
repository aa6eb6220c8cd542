# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms of whole characters, applied to their meshes or not: what the viewport shows is what is written."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion

from tests import characters

from .helpers import scene

KEYS = ["KEYS", "RELATIVE_KEYS"]


def expected(character: car.Character, move: tuple[float, float, float] = (0, 0, 0)) -> list[np.ndarray]:
    """The frames of all animations, moved by file units."""
    return [animation.frames + (np.array(move) * motion.STEPS).astype(np.int16) for animation in character.animations]


def assert_frames(found: car.Character, wanted: list[np.ndarray], within: int = 0) -> None:
    """All animations, to steps of a file."""
    for animation, frames in zip(found.animations, wanted, strict=True):
        assert np.abs(animation.frames.astype(int) - frames).max() <= within


@pytest.mark.parametrize("way", KEYS)
def test_apply_scale(tmp_path: Path, way: str) -> None:
    """The file stays the same: the keys have shrunk with the base."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=way)
    scene.select(obj)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    for follow in (True, False):
        assert_frames(car.read(scene.export(tmp_path / "out.car", obj, use_base_edits=follow)), expected(character))


@pytest.mark.parametrize("way", KEYS)
def test_apply_location(tmp_path: Path, way: str) -> None:
    """One Blender unit is 32 of the file, once."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=way)
    obj.location = (1, 0, 0)
    scene.select(obj)
    bpy.ops.object.transform_apply(location=True, rotation=False, scale=False)
    assert_frames(car.read(scene.export(tmp_path / "out.car", obj)), expected(character, (32, 0, 0)))


@pytest.mark.parametrize("way", KEYS)
def test_set_origin(tmp_path: Path, way: str) -> None:
    """Nothing moves by it."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=way)
    scene.select(obj)
    bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY")
    assert_frames(car.read(scene.export(tmp_path / "out.car", obj)), expected(character))


@pytest.mark.parametrize("way", KEYS)
def test_edit_of_the_base_beside_an_applied_scale(tmp_path: Path, way: str) -> None:
    """The edit is followed as it is without; the rest stays."""
    character = characters.creature()
    found = []
    for apply in (False, True):
        _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=way)
        scene.select(obj)
        if apply:
            bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
        obj.data.vertices[3].co.z += 4 * (1 / 32 if apply else 1)
        if not obj.data.shape_keys.use_relative:
            obj.data.shape_keys.key_blocks[0].data[3].co = obj.data.vertices[3].co
        found.append(car.read(scene.export(tmp_path / "out.car", obj)))
    assert_frames(found[1], [animation.frames for animation in found[0].animations], within=1)
    moved = found[1].animations[0].frames != character.animations[0].frames
    assert set(np.flatnonzero(moved.any(axis=(0, 2)))) == {3}


def test_base_moved_without_its_keys_is_an_edit(tmp_path: Path) -> None:
    """Absolute keys do not follow it in the viewport, but the frames do: that is what the option is for."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="KEYS")
    for vertex in obj.data.vertices:
        vertex.co.z += 4
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert (found.animations[0].frames != character.animations[0].frames).any()
    plain = car.read(scene.export(tmp_path / "out.car", obj, use_base_edits=False))
    assert_frames(plain, expected(character))
