# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of animations in the sidebar: every button does what it says and leaves the other entries to the byte."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import ani, car, motion, vtl
from addon.io_carnivores.formats.car import Character
from addon.io_carnivores.formats.model import label, name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.formats.vtl import Vtl
from addon.io_carnivores.scene import clips, curves, playback
from addon.io_carnivores.ui import animation_panel
from addon.io_common.scene import compat, selection

from tests import characters

MOTIONS = ["BONES", "KEYS", "RELATIVE_KEYS"]


class Scene:
    """An imported character and what was in its file."""

    def __init__(self, folder: Path, motion_kind: str) -> None:
        """Import it, its mesh active."""
        self.folder = folder
        self.made: Character = characters.creature()
        path = folder / "worm.car"
        path.write_bytes(characters.written(self.made))
        bpy.ops.import_scene.carnivores_car(filepath=str(path), motion=motion_kind)
        self.obj = next(obj for obj in bpy.data.objects if obj.type == "MESH")
        bpy.ops.object.select_all(action="DESELECT")
        self.obj.select_set(state=True)
        bpy.context.view_layer.objects.active = self.obj

    @property
    def items(self) -> Any:
        """The list."""
        return clips.animations(self.obj.data)

    @property
    def chosen(self) -> int:
        """The number of the chosen entry."""
        return int(self.obj.data.carnivores_animation_index)

    def export(self) -> Character:
        """What a CAR of it holds now."""
        path = self.folder / "out.car"
        assert bpy.ops.export_scene.carnivores_car(filepath=str(path), use_check=False) == {"FINISHED"}
        return car.read(path.read_bytes())


@pytest.fixture(params=MOTIONS)
def worm(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    """Shown in each of the ways."""
    return Scene(tmp_path, request.param)


@pytest.fixture
def bones(tmp_path: Path) -> Scene:
    """Shown by bones."""
    return Scene(tmp_path, "BONES")


def test_remove_leaves_the_others_exact(worm: Scene) -> None:
    """Frames, names, sounds and the junk behind the table."""
    assert bpy.ops.carnivores.animation_remove(number=1) == {"FINISHED"}
    found = worm.export()
    assert characters.same_animations(found.animations, [worm.made.animations[0], worm.made.animations[2]])
    table, old = (np.frombuffer(entry.table, "<i4") for entry in (found, worm.made))
    assert table.tolist() == [*old[[0, 2]], *old[3:], old[-1]]
    if worm.obj.data.shape_keys is not None:
        assert len(worm.obj.data.shape_keys.key_blocks) == 1 + 12 + 7


def test_remove_all(worm: Scene) -> None:
    """Down to none, and no key is left."""
    for _ in range(3):
        bpy.ops.carnivores.animation_remove()
    assert worm.obj.data.shape_keys is None
    assert worm.export().animations == []
    with pytest.raises(RuntimeError, match="no animation in its list"):
        bpy.ops.carnivores.animation_remove()


def test_move_changes_the_order_alone(worm: Scene) -> None:
    """At the ends nothing happens."""
    worm.obj.data.carnivores_animation_index = 2
    bpy.ops.carnivores.animation_move(direction="UP")
    assert worm.chosen == 1
    bpy.ops.carnivores.animation_move(direction="UP")
    bpy.ops.carnivores.animation_move(direction="UP")
    assert worm.chosen == 0
    found = worm.export()
    old = worm.made.animations
    assert characters.same_animations(found.animations, [old[2], old[0], old[1]])
    assert [found.sound_of(number) for number in range(3)] == [1, 1, -1]


def test_duplicate_has_a_motion_of_its_own(worm: Scene) -> None:
    """Same frames; a change of the copy leaves the original to the byte."""
    bpy.ops.carnivores.animation_duplicate(number=0)
    assert [item.name for item in worm.items] == ["walk", "walk copy", "idle", "idle"]
    found = worm.export()
    assert np.array_equal(found.animations[1].frames, worm.made.animations[0].frames)
    assert worm.items[1].action != worm.items[0].action
    bpy.ops.carnivores.animation_kps(number=1, kps=31)
    found = worm.export()
    assert found.animations[1].kps == 31
    old = worm.made.animations
    assert characters.same_animations([found.animations[0], *found.animations[2:]], old)


def test_rename(worm: Scene) -> None:
    """A new name is written plainly, an old one with what stood behind it."""
    worm.items[1].name = "sleep"
    names = [entry.name for entry in worm.export().animations]
    assert names == [worm.made.animations[0].name, name_field("sleep"), worm.made.animations[2].name]


@pytest.mark.parametrize("kind", ["vtl", "ani", "car"])
def test_replace_from_a_file(worm: Scene, kind: str) -> None:
    """Name and sound stay, the motion is the file's."""
    frames = characters.swing(worm.made.model, 5, axis=2)
    other = Animation(name_field("other"), 33, frames)
    path = worm.folder / f"other.{kind}"
    if kind == "car":
        first = Animation(name_field("first"), 3, frames[:2])
        path.write_bytes(car.write(Character(worm.made.model, b"", [first, other])))
    else:
        path.write_bytes(ani.write(other) if kind == "ani" else vtl.write(Vtl(other, last_index=True)))
    name = {"animation": "other"} if kind == "car" else {}
    assert bpy.ops.carnivores.animation_replace(number=0, filepath=str(path), **name) == {"FINISHED"}
    found = worm.export()
    assert found.animations[0] == Animation(worm.made.animations[0].name, 33, frames)
    assert characters.same_animations(found.animations[1:], worm.made.animations[1:])
    assert found.sound_of(0) == 1


def test_replace_refuses_what_does_not_fit(worm: Scene) -> None:
    """And nothing has changed."""
    path = worm.folder / "other.ani"
    path.write_bytes(ani.write(Animation(b"", 10, np.zeros((2, 3, 3), "<i2"))))
    with pytest.raises(RuntimeError, match="needs a mesh of 3 vertices"):
        bpy.ops.carnivores.animation_replace(number=0, filepath=str(path))
    with pytest.raises(RuntimeError, match="does not exist"):
        bpy.ops.carnivores.animation_replace(number=0, filepath=str(worm.folder / "none.vtl"))
    with pytest.raises(RuntimeError, match='no animation "x" in this file, it has "walk"'):
        bpy.ops.carnivores.animation_replace(number=0, filepath=str(worm.folder / "worm.car"), animation="x")
    assert car.write(worm.export()) == characters.written(worm.made)


def seconds(item: Any) -> np.ndarray:
    """When the keyframes of an entry's longest curve are, in seconds from the start."""
    longest = max(compat.all_curves(item.action), key=lambda curve: len(curve.keyframe_points))
    times = np.array([point.co.x for point in longest.keyframe_points])
    render = bpy.context.scene.render
    return (times - 1) / (render.fps / render.fps_base)


@pytest.mark.parametrize("kps", [1, 7, 60])
def test_kps_moves_the_keyframes(bones: Scene, kps: int) -> None:
    """Frame k is at k N / ((N - 1) KPS) seconds; the frames in the file stay as they are."""
    bpy.ops.carnivores.animation_kps(number=1, kps=kps)
    assert np.allclose(seconds(bones.items[1]), motion.times(9, kps), rtol=1e-4, atol=1e-3)
    assert bones.items[1].action.frame_range[1] == pytest.approx(1 + 9 / kps * 24, rel=1e-4)
    found = bones.export()
    assert (found.animations[1].kps, found.animations[1].frames.tobytes()) == (
        kps,
        bones.made.animations[1].frames.tobytes(),
    )
    assert found.animations[0] == bones.made.animations[0]


def test_the_shown_kps_does_the_same(worm: Scene) -> None:
    """The field in the panel is the operator."""
    end = worm.items[0].action.frame_range[1]
    worm.items[0].shown_kps = 5
    assert worm.items[0].kps == 5
    assert worm.items[0].action.frame_range[1] - 1 == pytest.approx(2 * (end - 1), rel=1e-4)
    assert np.array_equal(worm.export().animations[0].frames, worm.made.animations[0].frames)


@pytest.mark.parametrize("rate", [0.0, 60.0, 23.976])
def test_the_scene_takes_another_rate(worm: Scene, rate: float) -> None:
    """Seconds stay, bytes stay; rate 0 puts the keys on whole frames."""
    before = [item.action.frame_range[1] - 1 for item in worm.items]
    bpy.ops.carnivores.animation_scene_rate(number=0, rate=rate)
    render = bpy.context.scene.render
    new = render.fps / render.fps_base
    assert new == pytest.approx(rate or 10 * 11 / 12, rel=1e-5)
    after = [item.action.frame_range[1] - 1 for item in worm.items]
    assert np.allclose(after, np.array(before) * new / 24, rtol=1e-4)
    if not rate:
        assert after[0] == pytest.approx(11, abs=1e-3)
    assert car.write(worm.export()) == characters.written(worm.made)


@pytest.mark.parametrize("use_rate", [True, False])
def test_play_and_stop(worm: Scene, *, use_rate: bool) -> None:
    """Action, range and rate of the scene; the sound lies on the timeline until it is stopped, where there is sound."""
    scene = bpy.context.scene
    scene.render.fps = 50
    assert bpy.ops.carnivores.animation_play(number=2, use_rate=use_rate) == {"FINISHED"}
    item = worm.items[2]
    block = selection.armature_of(worm.obj) or worm.obj.data.shape_keys
    assert block.animation_data.action == item.action
    if hasattr(block.animation_data, "action_slot"):
        assert block.animation_data.action_slot is not None
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (1, 7 if use_rate else 25, 1)
    assert scene.render.fps / scene.render.fps_base == pytest.approx(7 * 6 / 7 if use_rate else 24)
    assert worm.chosen == 2
    strips = [strip for strip in compat.strips_if_any(scene) if playback.STRIP in strip]
    if compat.has_audio():
        assert [strip.sound for strip in strips] == [clips.sounds(worm.obj.data)[1].sound]
    else:
        assert strips == []
    assert len(bpy.data.sounds) == 2
    bpy.ops.carnivores.animation_play(number=1)  # silent
    assert [strip for strip in compat.strips_if_any(scene) if playback.STRIP in strip] == []
    bpy.ops.carnivores.animation_play(number=0)
    bpy.ops.carnivores.animation_stop()
    assert [strip for strip in compat.strips_if_any(scene) if playback.STRIP in strip] == []
    assert car.write(worm.export()) == characters.written(worm.made)


def test_play_puts_the_frames_of_the_file_on_whole_frames(worm: Scene) -> None:
    """Of that animation; all others last as long as before, and an Action of the user's own comes back as it was."""
    scene = bpy.context.scene
    own = bpy.data.actions.new("own")
    bag = compat.curves(worm.obj, own)
    curves.write_curve(bag, "location", np.array([(1.0, 0.0), (10.0, 5.0), (20.0, 0.0)]))
    bpy.ops.carnivores.animation_add(action="own")
    before = [len(entry.frames) / entry.kps for entry in worm.made.animations]
    for number, (kps, count) in enumerate([(10, 12), (20, 9), (7, 7)]):
        bpy.ops.carnivores.animation_play(number=number)
        rate = scene.render.fps / scene.render.fps_base
        assert rate == pytest.approx(kps * (count - 1) / count)
        assert (scene.frame_start, scene.frame_end) == (1, count)
        ends = [item.action.frame_range[1] - 1 for item in worm.items]
        assert np.allclose(np.array(ends) / rate, [*before, 19 / 24], rtol=1e-4)
    bpy.ops.carnivores.animation_play(number=3)
    assert scene.render.fps / scene.render.fps_base == pytest.approx(24)
    assert (scene.frame_start, scene.frame_end) == (1, 20)
    times = [point.co.x for point in compat.all_curves(own)[0].keyframe_points]
    assert np.allclose(times, [1, 10, 20], atol=1e-3)
    bpy.ops.carnivores.animation_remove(number=3)
    assert car.write(worm.export()) == characters.written(worm.made)


@pytest.mark.parametrize(("kps", "rate"), [(0, 11 / 6), (-3, 11 / 6), (1, 11 / 6), (2**31 - 1, 32767)])
def test_strange_rates_can_be_played(bones: Scene, kps: int, rate: float) -> None:
    """No division by nothing, and nothing Blender cannot take."""
    bones.items[0].kps = kps
    assert bpy.ops.carnivores.animation_play(number=0) == {"FINISHED"}
    render = bpy.context.scene.render
    assert render.fps / render.fps_base == pytest.approx(rate, rel=1e-4)


def test_a_click_shows_the_animation(worm: Scene) -> None:
    """Its Action and range, at the rate of the scene; not when that is switched off, and not by undo or scripts."""
    scene, block = bpy.context.scene, selection.armature_of(worm.obj) or worm.obj.data.shape_keys
    data = block.animation_data
    worm.obj.data.carnivores_animation_picked = 1
    assert (worm.chosen, data.action, scene.render.fps) == (1, worm.items[1].action, 24)
    assert (scene.frame_start, scene.frame_end) == (1, 12)
    settings = bpy.context.window_manager.carnivores
    settings.show_chosen = False
    worm.obj.data.carnivores_animation_picked = 2
    assert (worm.chosen, data.action) == (2, worm.items[1].action)
    settings.show_chosen = True
    worm.obj.data.carnivores_animation_index = 0
    assert (worm.obj.data.carnivores_animation_picked, data.action) == (0, worm.items[1].action)
    worm.items[2].action = None
    worm.obj.data.carnivores_animation_picked = 2
    assert (worm.chosen, data.action) == (2, worm.items[1].action), "nothing to show"
    bpy.context.view_layer.objects.active = None
    worm.obj.data.carnivores_animation_picked = 0
    assert (worm.chosen, data.action) == (0, worm.items[1].action), "nobody's list"


def test_a_copy_is_shown(worm: Scene) -> None:
    """And what is chosen after a removal, too."""
    bpy.ops.carnivores.animation_duplicate(number=1)
    block = selection.armature_of(worm.obj) or worm.obj.data.shape_keys
    assert (worm.chosen, worm.items[2].name) == (2, "idle copy")
    assert block.animation_data.action == worm.items[2].action
    bpy.ops.carnivores.animation_remove()
    assert block.animation_data.action == worm.items[worm.chosen].action


@pytest.mark.parametrize("cursor", [0, 4, 4.5, 11])
@pytest.mark.parametrize("use_rate", [True, False])
def test_what_is_played_is_what_the_game_shows(worm: Scene, cursor: float, *, use_rate: bool) -> None:
    """Frame k is on screen at k N / ((N - 1) KPS) s, and between two of them their blend; bones turn in between."""
    bpy.ops.carnivores.animation_play(number=1, use_rate=use_rate)
    bpy.ops.carnivores.animation_play(number=0, use_rate=use_rate)
    render = bpy.context.scene.render
    time = 1 + cursor / 11 * motion.seconds(12, 10) * render.fps / render.fps_base
    bpy.context.scene.frame_set(int(time), subframe=time % 1)
    shown = worm.obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.array([vertex.co[:] for vertex in shown.vertices])[:, [0, 2, 1]]
    frames = worm.made.animations[0].frames / 16
    low = int(cursor)
    wanted = frames[low] + (frames[min(low + 1, 11)] - frames[low]) * (cursor - low)
    if worm.obj.data.shape_keys is not None:
        assert np.abs(points - wanted).max() < 0.01
    elif cursor == low:
        assert np.abs(points - wanted).max() < 0.1
    else:
        assert np.abs(points - wanted).max() < 8, "a chord of the arc that the bone goes"


def test_add_the_playing_action_and_a_named_one(bones: Scene) -> None:
    """Added Actions take as many frames as their length asks for."""
    first = bones.items[0].action
    assert bpy.ops.carnivores.animation_add(action=first.name) == {"FINISHED"}
    item = bones.items[3]
    assert (item.action, item.use_length, bones.chosen) == (first, True, 3)
    found = bones.export()
    assert len(found.animations[3].frames) == motion.count_for(12 / 10, 24) == 29
    assert characters.same_animations(found.animations[:3], bones.made.animations)
    with pytest.raises(RuntimeError, match='no Action "none"'):
        bpy.ops.carnivores.animation_add(action="none")


def test_an_edited_action_is_baked_and_the_others_are_not(bones: Scene) -> None:
    """One key of one bone moved: other frames of that animation stay within a step, other animations to the byte."""
    action = bones.items[1].action
    assert curves.is_sealed(action)
    turns = (entry for entry in compat.all_curves(action) if entry.data_path.endswith("rotation_quaternion"))
    curve = next(entry for entry in turns if entry.array_index == 1)
    curve.keyframe_points[4].co.y += 0.3
    curve.update()
    assert not curves.is_sealed(action)
    found = bones.export()
    assert found.animations[0] == bones.made.animations[0]
    assert found.animations[2] == bones.made.animations[2]
    steps = np.abs(found.animations[1].frames.astype(int) - bones.made.animations[1].frames).max(axis=(1, 2))
    assert steps[4] > 16
    assert np.delete(steps, 4).max() <= 2


def test_a_deleted_key_is_not_taken_for_another(tmp_path: Path) -> None:
    """Keys removed by hand: the animations behind them keep their frames to the byte."""
    worm = Scene(tmp_path, "KEYS")
    worm.obj.shape_key_remove(worm.obj.data.shape_keys.key_blocks[3])
    found = worm.export()
    assert characters.same_animations(found.animations[1:], worm.made.animations[1:])
    assert len(found.animations[0].frames) == 12


def wav_file(folder: Path, rate: int, seconds_long: float) -> Path:
    """A stereo WAV."""
    import wave

    path = folder / "Growl.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        tone = (np.sin(np.arange(int(rate * seconds_long)) * 0.05) * 20000).astype("<i2")
        file.writeframes(np.repeat(tone, 2).tobytes())
    return path


def test_sounds_are_added_linked_and_removed(worm: Scene) -> None:
    """A new one goes to the chosen animation; what was there stays to the byte."""
    worm.obj.data.carnivores_animation_index = 1
    assert bpy.ops.carnivores.sound_add(filepath=str(wav_file(worm.folder, 44100, 0.1))) == {"FINISHED"}
    found = worm.export()
    assert [label(entry.name) for entry in found.sounds] == ["lone", "roar", "Growl"]
    assert [entry.data for entry in found.sounds[:2]] == [entry.data for entry in worm.made.sounds]
    assert len(found.sounds[2].data) == 2 * 2205
    assert [found.sound_of(number) for number in range(3)] == [1, 2, 1]
    bpy.ops.carnivores.sound_link(number=0, sound=2)
    worm.obj.data.carnivores_sound_index = 0
    bpy.ops.carnivores.sound_remove()
    found = worm.export()
    assert [label(entry.name) for entry in found.sounds] == ["roar", "Growl"]
    assert [found.sound_of(number) for number in range(3)] == [1, 1, 0]
    assert characters.same_animations(found.animations, worm.made.animations)
    with pytest.raises(RuntimeError, match="no sound 7"):
        bpy.ops.carnivores.sound_link(number=0, sound=7)


def test_a_file_that_is_no_sound_is_said(worm: Scene) -> None:
    """Nothing is added."""
    path = worm.folder / "worm.car"
    with pytest.raises(RuntimeError, match=r"worm\.car"):
        bpy.ops.carnivores.sound_add(filepath=str(path))
    assert len(clips.sounds(worm.obj.data)) == 2


def test_panels_draw_in_every_state(worm: Scene) -> None:
    """With a list, without, and for each kind of entry."""
    context = bpy.context
    for panel_class in animation_panel.CLASSES[2:]:
        panel = SimpleNamespace(layout=MagicMock(), _buttons=MagicMock(), _chosen=lambda *_words: None)
        panel_class.draw(panel, context)
        assert panel.layout.row.called or panel.layout.column.called
    assert animation_panel.CARNIVORES_PT_animations.poll(context)
    for index, item in enumerate(worm.items):
        item.is_missing = index == 1
        item.use_scene = index == 2
        layout = MagicMock()
        words = (context, layout, worm.obj.data, item, 0, None, "", index)
        animation_panel.CARNIVORES_UL_animations.draw_item(None, *words)
        animation_panel.CARNIVORES_PT_animations._chosen(SimpleNamespace(layout=layout), context, worm.obj.data, item)
        assert layout.row.return_value.operator.called
    for index, item in enumerate(clips.sounds(worm.obj.data)):
        animation_panel.CARNIVORES_UL_sounds.draw_item(
            None, context, MagicMock(), worm.obj.data, item, 0, None, "", index
        )
    wide = SimpleNamespace(region=SimpleNamespace(width=500), preferences=context.preferences, scene=context.scene)
    worm.items[0].kps = 0
    for index, item in enumerate(worm.items):
        layout, texts = MagicMock(), []
        for part in (layout, layout.row.return_value):
            part.split.return_value = part.row.return_value = part
            part.label.side_effect = lambda text="", said=texts, **_words: said.append(text)
        words = (wide, layout, worm.obj.data, item, 0, None, "", index)
        animation_panel.CARNIVORES_UL_animations.draw_item(None, *words)
        assert texts[0] == str(index + 1)
        assert ("no length" in texts) == (index == 0)
    worm.obj.select_set(state=False)
    context.view_layer.objects.active = None
    assert not animation_panel.CARNIVORES_PT_animations.poll(context)
    assert not bpy.ops.carnivores.animation_remove.poll()
