# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex animations as shape keys."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import motion
from addon.io_carnivores.scene import clips, curves, shape_motion
from addon.io_common.scene import compat

from tests import characters

from .helpers import scene


@pytest.fixture
def keyed(tmp_path: Path) -> bpy.types.Object:
    """A character shown by absolute keys."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="KEYS")
    return obj


def test_one_curve_of_two_keys_per_animation(keyed: bpy.types.Object) -> None:
    """Absolute keys need no more, because the games space frames evenly."""
    for item in clips.animations(keyed.data):
        (curve,) = compat.all_curves(item.action)
        assert (curve.data_path, len(curve.keyframe_points)) == ("eval_time", 2)
        start, end = (point.co.x for point in curve.keyframe_points)
        assert end - start == pytest.approx(24 * motion.seconds(item.frames, item.kps), rel=1e-5)
        assert tuple(item.action.frame_range) == pytest.approx((start, end))
    assert sum(len(compat.all_curves(action)) for action in bpy.data.actions) == len(clips.animations(keyed.data))


def test_a_curve_per_key_in_relative_mode(tmp_path: Path) -> None:
    """For exporters that know only morphs with weights: each key alone is on at its time."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="RELATIVE_KEYS")
    assert obj.data.shape_keys.use_relative
    assert [len(compat.all_curves(item.action)) for item in clips.animations(obj.data)] == [12, 9, 7]
    assert all(block.value == 0.0 for block in obj.data.shape_keys.key_blocks[13:])


def test_keys_are_found_whatever_is_done_to_others(keyed: bpy.types.Object) -> None:
    """By their place on the time line, not by their number."""
    last = clips.animations(keyed.data)[2]
    assert shape_motion.block_numbers(keyed.data, last) == range(22, 29)
    keyed.shape_key_remove(keyed.data.shape_keys.key_blocks[2])
    keyed.shape_key_remove(keyed.data.shape_keys.key_blocks[2])
    assert shape_motion.block_numbers(keyed.data, last) == range(20, 27)
    keyed.shape_key_remove(keyed.data.shape_keys.key_blocks[22])
    assert shape_motion.block_numbers(keyed.data, last) is None


def test_new_keys_go_behind_all_others_wherever_the_time_line_stands(keyed: bpy.types.Object) -> None:
    """Blender would put them among the others."""
    character = characters.creature()
    bpy.context.scene.frame_set(9)
    item = clips.animations(keyed.data).add()
    item.name, item.kps, item.frames = "new", 10, 12
    shape_motion.add(keyed, item, character.animations[0], 24.0)
    assert shape_motion.block_numbers(keyed.data, item) == range(29, 41)
    found = shape_motion.frames_of(keyed.data, item)
    assert np.array_equal(motion.quantise(found), character.animations[0].frames)


def test_another_curve_is_another_motion(keyed: bpy.types.Object, tmp_path: Path) -> None:
    """An Action that was made to run backwards is written backwards."""
    item = clips.animations(keyed.data)[0]
    (curve,) = compat.all_curves(item.action)
    first, last = (point.co.y for point in curve.keyframe_points)
    curve.keyframe_points[0].co.y, curve.keyframe_points[1].co.y = last, first
    curve.update()
    assert not curves.is_sealed(item.action)
    assert shape_motion.frames_of(keyed.data, item) is None
    from addon.io_carnivores.formats import car

    found = car.read(scene.export(tmp_path / "out.car", keyed)).animations[0]
    old = characters.creature().animations[0].frames
    assert np.abs(found.frames.astype(int) - old[::-1]).max() <= 1


def test_stretching_keeps_the_start_and_the_seal(keyed: bpy.types.Object) -> None:
    """Handles move too."""
    action = clips.animations(keyed.data)[1].action
    (curve,) = compat.all_curves(action)
    before = curve.keyframe_points[1].co.x
    curves.stretch(action, 2.5)
    assert curve.keyframe_points[0].co.x == 1.0
    assert curve.keyframe_points[1].co.x == pytest.approx(1 + 2.5 * (before - 1), rel=1e-6)
    assert curves.is_sealed(action)
    assert action.frame_end == pytest.approx(curve.keyframe_points[1].co.x, rel=1e-6)
