# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of clips: names and lengths that can be changed in it or at the Actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import pytest
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import compat, transfer
from addon.io_dragonnest.formats import ani
from addon.io_dragonnest.scene import clips, extract_ani
from addon.io_dragonnest.scene.options import ExportAniOptions

from tests import dragons

from .helpers import dragon_motion, dragon_scene, scene

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def rig(tmp_path: Path) -> bpy.types.Object:
    """A character with its three clips."""
    dragon_scene.save(tmp_path / "hero.msh", dragons.character())
    (tmp_path / "hero.ani").write_bytes(ani.write(dragons.animation()))
    dragon_scene.bring(tmp_path / "hero.msh")
    dragon_scene.bring(tmp_path / "hero.ani")
    return dragon_scene.rig()


def again(tmp_path: Path, **options: object) -> ani.Ani:
    found = ani.read(dragon_scene.export(tmp_path / "again.ani", dragon_scene.rig(), **options))
    assert isinstance(found, ani.Ani)
    return found


@pytest.mark.parametrize("where", ["list", "action"])
def test_a_clip_is_renamed_in_either_place(where: str, rig: bpy.types.Object, tmp_path: Path) -> None:
    before = dragons.animation().clip_names
    item = clips.listed(rig)[0]
    owner = item if where == "list" else item.action
    owner.name = "서다"
    assert (item.title, item.action.name) == ("서다", "서다")
    scene.reopen(tmp_path / "scene.blend")
    found = again(tmp_path)
    assert found.clips == ["서다", "공격", "Rest"]
    # Of the others the leftovers behind the name, too.
    assert found.clip_names[1:] == before[1:]
    assert again(tmp_path, clips="서*").clips == ["서다"]


def test_the_last_of_two_names_counts(rig: bpy.types.Object, tmp_path: Path) -> None:
    item = clips.listed(rig)[0]
    item.action.name = "one"
    item.name = "two"
    assert item.action.name == "two"
    assert again(tmp_path).clips[0] == "two"
    item.action.name = "three"
    assert again(tmp_path).clips[0] == "three"


def test_a_name_given_back_is_the_one_it_came_with(rig: bpy.types.Object, tmp_path: Path) -> None:
    item = clips.listed(rig)[0]
    for owner in (item, item.action):
        owner.name = "other"
        assert again(tmp_path).clips[0] == "other"
        owner.name = "Stand"
        assert again(tmp_path).clip_names == dragons.animation().clip_names


def test_numbers_of_blender_are_no_names(rig: bpy.types.Object, tmp_path: Path) -> None:
    """Actions of another character with clips of these names; what Blender puts behind a name when it copies."""
    (tmp_path / "other.ani").write_bytes((tmp_path / "hero.ani").read_bytes())
    made = dragon_scene.bring(tmp_path / "hero.msh")
    other = next(obj for obj in made if obj.type == "ARMATURE")
    scene.select(other)
    dragon_scene.bring(tmp_path / "other.ani")
    assert [item.action.name for item in clips.listed(other)] == ["Stand.001", "공격.001", "Rest.001"]
    assert dragon_scene.export(tmp_path / "b.ani", other) == (tmp_path / "hero.ani").read_bytes()
    clips.listed(rig)[0].action.name = "Stand.007"
    assert dragon_scene.export(tmp_path / "a.ani", rig) == (tmp_path / "hero.ani").read_bytes()


def test_another_action_in_an_entry_keeps_its_name(rig: bpy.types.Object, tmp_path: Path) -> None:
    item = clips.listed(rig)[0]
    copy = item.action.copy()
    copy.name = "try"
    item.action = rig.animation_data.action = copy
    assert item.title == "Stand"
    assert (tmp_path / "hero.ani").read_bytes() == dragon_scene.export(tmp_path / "a.ani", rig)
    copy.name = "kept"
    assert again(tmp_path).clips[0] == "kept"


def test_names_that_cannot_be_written_are_refused(rig: bpy.types.Object, tmp_path: Path) -> None:
    clips.listed(rig)[0].action.name = "caf\u00e9"
    with pytest.raises(RuntimeError, match="Korean Windows text"):
        again(tmp_path)


def test_the_length_is_that_which_is_written(rig: bpy.types.Object, tmp_path: Path) -> None:
    """Keys moved behind the end, and back; a range that was set."""
    item = clips.listed(rig)[0]
    assert [entry.length for entry in clips.listed(rig)] == again(tmp_path).lengths.tolist() == [12, 5, 1]
    curve = next(entry for entry in compat.all_curves(item.action) if len(entry.keyframe_points) == 12)
    for frame, length in ((20.0, 21), (11.5, 13), (10.5, 12)):
        curve.keyframe_points[-1].co.x = frame
        curve.update()
        assert item.length == again(tmp_path).lengths[0] == length
    item.length = 30
    assert item.length == again(tmp_path).lengths[0] == 30


@pytest.mark.parametrize("length", [0, 1, 3])
def test_lengths_that_the_file_says_otherwise(length: int, tmp_path: Path) -> None:
    """No frame at all, or keys behind the end: what it came with is what is shown and written."""
    found = dragons.animation()
    found.lengths[:] = length
    (tmp_path / "odd.ani").write_bytes(ani.write(found))
    dragon_scene.bring(tmp_path / "odd.ani")
    assert [item.length for item in clips.listed(dragon_scene.rig())] == [length] * 3
    assert again(tmp_path).lengths.tolist() == [length] * 3


def test_the_length_of_an_action_made_here(rig: bpy.types.Object) -> None:
    action = bpy.data.actions.new("new")
    rig.animation_data.action = action
    rig.pose.bones[0].keyframe_insert("location", frame=7)
    item = clips.add(rig, action)
    assert (item.name, item.length) == ("new", 8)
    rig.pose.bones[0].keyframe_insert("location", frame=11)
    assert item.length == 12


def test_only_numbers_of_three_digits_are_blenders(rig: bpy.types.Object, tmp_path: Path) -> None:
    first, second, _third = clips.listed(rig)
    first.action.name, second.action.name = "Stand.5", "공격.012"
    assert again(tmp_path).clips == ["Stand.5", "공격", "Rest"]


def test_all_actions_are_clips_where_there_is_no_list(rig: bpy.types.Object, tmp_path: Path) -> None:
    """Of an armature made in Blender, those that move its bones and are nobody else's; poses are no clips."""
    keys = {"10 Jump": 9, "2 run": 5, "Pose": 0}
    for name, last in keys.items():
        dragon_motion.new_action(name, "Bip01", "location", [(0, 0, 1.0), *([(last, 0, 2.0)] if last else [])])
    dragon_motion.new_action("Other", "Camera", "location", [(0, 0, 1.0), (9, 0, 2.0)])
    copy = bpy.data.armatures.new("Own")
    own = bpy.data.objects.new("Own", copy)
    bpy.context.collection.objects.link(own)
    with scene.edit_mode(own):
        bone = copy.edit_bones.new("Bip01")
        bone.tail = (0.0, 0.0, 1.0)
    found = ani.read(dragon_scene.export(tmp_path / "own.ani", own))
    assert found.clips == ["2 run", "10 Jump"]
    assert found.lengths.tolist() == [6, 10]
    compat.assign_action(rig, bpy.data.actions["2 run"])
    assert ani.read(dragon_scene.export(tmp_path / "own.ani", own)).clips == ["10 Jump"], "the other one plays it"


def test_actions_made_here_that_are_left_out_are_named(rig: bpy.types.Object, tmp_path: Path) -> None:
    """Those that only lie in the file, made one after the other in the Action Editor."""
    own, played = (
        dragon_motion.new_action(name, "Bip01", "location", [(0, 0, 1.0), (9, 0, 2.0)]) for name in ("Run", "Jump")
    )
    foreign = bpy.data.actions.new("Camera")
    compat.assign_action(rig, played)
    assert again(tmp_path).clips == ["Stand", "공격", "Rest", "Jump"]
    said = bpy.data.texts[transfer.REPORT].as_string()
    assert 'not in its list of clips and was left out: "Run"' in said
    assert foreign.name not in said
    clips.add(rig, own)
    assert again(tmp_path).clips == ["Stand", "공격", "Rest", "Run", "Jump"]
    digest = Digest()
    extract_ani.extract(bpy.context, [rig], ExportAniOptions(), digest, tmp_path / "again.ani")
    assert not digest.lines
