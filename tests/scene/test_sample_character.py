# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample character: it moves like an animal, gets its bones back, and the guide's first steps work on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, check_character, model_3df, recover
from addon.io_carnivores.formats.model import bone_names, label
from mathutils import Quaternion, Vector

from tools import demo, make_samples

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

PATH = make_samples.ASSETS / "dinosaur.car"
HINGE = Vector((0.0, -146.0, 196.0))  # of the jaw, in Blender's axes
GROUND_STEP = 102 / 0.6 / 24  # file units that a foot on the ground goes back per frame


@pytest.fixture(scope="module")
def character() -> car.Character:
    """The CAR."""
    return car.read(PATH.read_bytes())


@pytest.fixture(scope="module")
def names() -> list[str]:
    """The names of its owners, which are the bones of the static model."""
    return bone_names(model_3df.read((make_samples.ASSETS / "dinosaur.3df").read_bytes()).bones)


def test_bones_are_named_by_what_they_are(character: car.Character) -> None:
    """Although the legs are in the middle of a step in every frame that the rest shape could be of."""
    listed = [entry.frames for entry in character.animations]
    names = recover.recover(character.model.vertices, character.model.faces, listed, recover.Options(scales=True)).names
    legs = {f"Leg{number}.{side}" for number in range(1, 5) for side in "LR"}
    assert {"Root", "Hips", "Head", "Jaw", "Tail1", "Tail2", "Tail3", "Tail4", *legs} <= set(names)


def _frames(character: car.Character, name: str) -> npt.NDArray[np.float64]:
    found = next(entry for entry in character.animations if label(entry.name) == name)
    return found.frames / 16.0


def _middles(character: car.Character, names: list[str], animation: str, part: str) -> npt.NDArray[np.float64]:
    """The mean of a part's vertices over the frames, (N, 3)."""
    own = character.model.vertices["owner"] == names.index(part)
    return _frames(character, animation)[:, own].mean(axis=1)


def test_it_is_the_same_animal(character: car.Character) -> None:
    """Faces, vertices and texture are those of the static model."""
    still = model_3df.read((make_samples.ASSETS / "dinosaur.3df").read_bytes())
    for table in ("faces", "vertices", "texels"):
        assert getattr(character.model, table).tobytes() == getattr(still, table).tobytes()
    assert label(character.name) == "dinosaur"


def test_what_it_does(character: car.Character) -> None:
    """Three animations in this order, which all end as they begin, two of them with a sound."""
    facts = [
        (label(entry.name), entry.kps, len(entry.frames), character.sound_of(number))
        for number, entry in enumerate(character.animations)
    ]
    assert facts == [("walk", 20, 25, 0), ("idle", 15, 41, -1), ("roar", 20, 37, 1)]
    for entry in character.animations:
        assert np.array_equal(entry.frames[0], entry.frames[-1]), label(entry.name)
    assert np.array_equal(_frames(character, "idle")[0], _frames(character, "roar")[0]), "one follows the other"
    assert [label(sound.name) for sound in character.sounds] == ["steps", "roar"]


@pytest.mark.parametrize("game", ["C1", "C2", "ICE_AGE", "MEE"])
def test_the_games_would_take_it(game: str, character: car.Character) -> None:
    """The check before export finds nothing, loops included."""
    looped = car.Character(**{**vars(character), "check_loops": True})
    assert check_character.check(looped, game) == []


def test_its_sounds_can_be_heard(character: car.Character) -> None:
    """Loud, not clipped, silent at the ends."""
    for sound in character.sounds:
        wave = np.frombuffer(sound.data, "<i2").astype(np.float64)
        assert 1.0 < sound.seconds < 2.0
        assert 20000 < np.abs(wave).max() < 32767
        assert np.sqrt((wave**2).mean()) > 3000
        assert np.abs(wave[[0, -1]]).max() < 500
        assert abs(wave.mean()) < 500


def test_feet_stay_on_the_ground(character: car.Character, names: list[str]) -> None:
    """None sinks in; in the walk one at least is down at any time, and goes back as evenly as the ground."""
    for name in ("walk", "idle", "roar"):
        assert (_frames(character, name)[:, :, 1] >= 0.0).all(), name
    steps, down = [], []
    for side in ("L", "R"):
        own = character.model.vertices["owner"] == names.index(f"{side} Toes")
        toes = _frames(character, "walk")[:, own]
        down.append(toes[:, :, 1].max(axis=1) < toes[:, :, 1].max(axis=1).min() + 0.2)
        back = np.diff(toes[:, :, 2].mean(axis=1))
        steps.append(back[down[-1][1:] & down[-1][:-1]])
    assert (down[0] | down[1]).all()
    assert min(map(len, steps)) >= 9
    assert np.allclose(np.concatenate(steps), GROUND_STEP, atol=0.1)
    for name in ("idle", "roar"):
        for side in ("L", "R"):
            assert np.ptp(_middles(character, names, name, f"{side} Toes"), axis=0).max() == 0.0


def test_it_walks_like_an_animal(character: car.Character, names: list[str]) -> None:
    """Opposite legs; the tail swings; hips go up and down twice a cycle, and the head less than the tail."""
    left, right = (_middles(character, names, "walk", f"{side} Foot")[:, 2] for side in ("L", "R"))
    assert np.corrcoef(left, right)[0, 1] < -0.7
    assert np.allclose(left[:12], right[12:24], atol=8.0), "each leg does what the other did half a cycle ago"
    assert np.ptp(_middles(character, names, "walk", "Tail 4")[:, 0]) > 40
    assert np.ptp(_middles(character, names, "walk", "Head")[:, 0]) < 15
    hips = _middles(character, names, "walk", "Pelvis")[:24, 1]
    spectrum = np.abs(np.fft.rfft(hips - hips.mean()))
    assert spectrum.argmax() == 2


def test_it_roars_with_its_mouth_open(character: car.Character, names: list[str]) -> None:
    """The jaw goes down from the head, which goes up; the body lunges."""
    head, jaw = (_middles(character, names, "roar", part) for part in ("Head", "Jaw"))
    gap = np.linalg.norm(head - jaw, axis=1)
    assert gap.argmax() in range(11, 24)
    assert gap.max() > gap[0] + 10
    assert head[14, 1] > head[0, 1] + 15
    hips = _middles(character, names, "roar", "Pelvis")
    assert hips[14, 2] < hips[6, 2] - 20, "it lunges forward from where it drew back to"


def test_its_bones_come_back(character: car.Character) -> None:
    """Every owner moves as one piece, so the recovered rig repeats nearly all to within a tenth of a unit."""
    model = character.model
    rig = recover.recover(model.vertices, model.faces, [entry.frames for entry in character.animations])
    assert rig.fit.good
    assert rig.fit.distances[0] > 0.99
    assert len(rig.fit.soft) == 0


def test_the_demo_says_what_it_shows() -> None:
    """One line per animation, as the list in the sidebar."""
    obj, rig = demo.import_character()
    assert len(rig.data.bones) == 25
    assert demo.describe(obj) == [
        "walk  20 KPS  25 frames  1.25 s  sound steps",
        "idle  15 KPS  41 frames  2.73 s",
        "roar  20 KPS  37 frames  1.85 s  sound roar",
    ]
    copies = demo.freeze_poses(obj, [("walk", 6), ("roar", 14)], Vector((10.0, 0.0, 0.0)))
    heights = [max((copy.matrix_world @ vertex.co).z for vertex in copy.data.vertices) for copy in copies]
    assert heights[1] > heights[0] + 0.5, "the head is thrown up"
    assert [round(copy.matrix_world.translation.x, 3) for copy in copies] == [0.0, 10.0]


def test_the_jaw_is_dragged_as_in_the_guide(character: car.Character, tmp_path: Path) -> None:
    """One key of the jaw is changed: other animations are written as they came, and of this one only that frame."""
    obj, rig = demo.import_character()
    bpy.ops.carnivores.animation_scene_rate(number=2)
    demo.show(obj, "roar", 14)
    assert bpy.context.scene.frame_current_final == pytest.approx(15.0, abs=1e-3), "keys lie on whole frames"
    jaw = min(rig.pose.bones, key=lambda bone: (bone.bone.head_local - HINGE).length)
    jaw.rotation_quaternion = jaw.rotation_quaternion @ Quaternion((1.0, 0.0, 0.0), 0.2)
    jaw.keyframe_insert("rotation_quaternion", frame=15.0)
    bpy.ops.export_scene.carnivores_car(filepath=str(tmp_path / "edited.car"))
    edited = car.read((tmp_path / "edited.car").read_bytes())
    assert edited.animations[:2] == character.animations[:2]
    assert edited.sounds == character.sounds
    change = np.abs(edited.animations[2].frames.astype(np.int32) - character.animations[2].frames).max(axis=(1, 2))
    assert change[14] > 50
    assert np.delete(change, 14).max() <= 2
