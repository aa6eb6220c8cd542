# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged characters through the operators, and odd ones through the scene and back, byte for byte."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import ani, car, cat, model_3dn, motion, vtl
from addon.io_carnivores.formats.car import Character
from addon.io_carnivores.formats.cat import Cat, CatAnimation
from addon.io_carnivores.formats.model import FACE, VERTEX, Model, name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.formats.vtl import Vtl
from addon.io_carnivores.scene import clips

from tests import characters, hostile, hostile_characters

from .helpers import scene
from .test_bad_input import folder_state, furnish, importer, refusal, state

if TYPE_CHECKING:
    from collections.abc import Sequence

MOTIONS = ["AUTO", "BONES", "KEYS", "RELATIVE_KEYS"]
AT_ONCE = 12
MOST, TIMES = 64 << 20, 20  # bytes: what an import may need at once, beside so many times its file


@pytest.mark.parametrize("case", hostile_characters.cases(), ids=lambda case: case.id)
def test_a_bad_file_is_refused_and_nothing_is_left(case: hostile.Case, tmp_path: Path) -> None:
    """One sentence that names the file; scene and folder as they were."""
    furnish()
    path = tmp_path / f"bad one{case.suffix}"
    path.write_bytes(case.data)
    before = state()
    text = refusal(importer(case.suffix[1:]), filepath=str(path))
    assert text.startswith("bad one")
    assert case.words in text
    assert state() == before
    assert folder_state(tmp_path) == {path.name: case.data}


@pytest.mark.parametrize("start", range(0, len(hostile_characters.ODD), AT_ONCE))
@pytest.mark.parametrize("way", MOTIONS)
def test_odd_characters_come_back(way: str, start: int, tmp_path: Path) -> None:
    """Some of them in one scene, straight and through a saved .blend."""
    cargo = {}
    for number, name in enumerate(list(hostile_characters.ODD)[start : start + AT_ONCE]):
        data, obj = scene.bring_model(tmp_path / f"odd {number}.car", hostile_characters.odd(name), motion=way)
        cargo[name] = obj.name, data
    for reopened in (False, True):
        if reopened:
            scene.reopen(tmp_path / "all.blend")
        lost = [
            name
            for name, (block, data) in cargo.items()
            if scene.export(tmp_path / "out.car", bpy.data.objects[block]) != data
        ]
        assert not lost, f"after reopening: {reopened}"


@pytest.mark.parametrize("name", hostile_characters.ODD)
def test_odd_characters_can_be_worked_with(name: str, tmp_path: Path) -> None:
    """Every button of the list does its work or says why not, and the base pose can be edited."""
    _data, obj = scene.bring_model(tmp_path / "odd.car", hostile_characters.odd(name))
    scene.select(obj)
    for number in range(min(len(clips.animations(obj.data)), 3)):
        for act in (bpy.ops.carnivores.animation_play, bpy.ops.carnivores.animation_duplicate):
            said(act, number=number)
        said(bpy.ops.carnivores.animation_kps, number=number, kps=12)
        said(bpy.ops.carnivores.animation_move, number=number, direction="DOWN")
    said(bpy.ops.carnivores.animation_scene_rate, rate=50.0)
    said(bpy.ops.carnivores.animation_remove)
    bpy.ops.carnivores.check(game="C2")
    obj.data.vertices[0].co.z += 1.0
    obj.data.update()
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert [len(entry.frames) for entry in found.animations] == [entry.frames for entry in clips.animations(obj.data)]


def said(operator: Any, **arguments: Any) -> None:
    """Run it; it may refuse with one sentence, and must not fail otherwise."""
    try:
        operator(**arguments)
    except RuntimeError as error:
        text = str(error).removeprefix("Error: ").strip()
        assert hostile.is_sentence(text), text


# Large ---------------------------------------------------------------------------------------------------------------


def sheet(count: int, owners: int, frames: int) -> Character:
    """A wavy square of `count` vertices in `owners` strips that go up and down."""
    side = int(np.ceil(count**0.5))
    number = np.arange(count)
    vertices = np.zeros(count, VERTEX)
    vertices["position"] = np.stack((number % side, np.sin(number / 50), number // side), 1) * (1500 / side)
    vertices["owner"] = (number % side * owners // side) if owners < side else number % owners
    left = number[(number % side < side - 1) & (number + side + 1 < count)]
    faces = np.zeros(2 * len(left), FACE)
    faces["corner"] = np.concatenate(
        [np.stack((left, left + 1, left + side), 1), np.stack((left + 1, left + side + 1, left + side), 1)]
    )
    faces["next"] = -1
    time = np.arange(frames)[:, None]
    moved = np.repeat(vertices["position"][None].astype(np.float64), frames, axis=0)
    moved[..., 1] += 20 * np.sin(time / 3 + vertices["owner"][None])
    return Character(Model(faces, vertices), b"Big", [Animation(name_field("wave"), 10, motion.quantise(moved))])


@pytest.mark.parametrize(
    ("count", "owners", "frames", "bones"),
    [(100_000, 4, 3, True), (100_000, 32_768, 3, False), (2000, 2000, 10, False), (12, 2, 2000, True)],
)
def test_large_characters_need_bounded_memory(
    count: int, owners: int, frames: int, bones: bool, tmp_path: Path
) -> None:
    """Many vertices, many frames, an owner for every vertex: which no skeleton can show."""
    character = sheet(count, owners, frames)
    data = scene.save(tmp_path / "big.car", character)
    tracemalloc.start()
    try:
        obj = next(obj for obj in scene.bring(tmp_path / "big.car", motion="BONES") if obj.type == "MESH")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST + TIMES * len(data)
    assert (obj.parent is not None) == bones
    assert scene.export(tmp_path / "out.car", obj) == data


# Animations of another model, texts with strange names ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["vtl", "ani"])
@pytest.mark.parametrize("count", [1, 47, 49])
def test_an_animation_of_another_model_changes_nothing(kind: str, count: int, tmp_path: Path) -> None:
    """The vertex count is said, and the scene stays as it was."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature())
    scene.select(obj)
    animation = Animation(b"", 12, np.zeros((3, count, 3), "<i2"))
    path = tmp_path / f"other.{kind}"
    path.write_bytes(vtl.write(Vtl(animation)) if kind == "vtl" else ani.write(animation))
    before = state()
    assert f"needs a mesh of {count} vertices" in refusal(importer(kind), filepath=str(path))
    assert state() == before


@pytest.mark.parametrize("name", ["KPS is 0", "no frames at all", "single frames", "frames at both ends"])
@pytest.mark.parametrize("kind", ["vtl", "ani"])
@pytest.mark.parametrize("way", ["BONES", "KEYS", "alone"])
def test_odd_animations_come_back(kind: str, name: str, way: str, tmp_path: Path) -> None:
    """Onto a character and with nothing selected."""
    animation = hostile_characters.odd(name).animations[0]
    path = tmp_path / f"odd.{kind}"
    path.write_bytes(vtl.write(Vtl(animation)) if kind == "vtl" else ani.write(animation))
    if way == "alone":
        obj = next(obj for obj in scene.bring(path) if obj.type == "MESH")
    else:
        _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion=way)
        scene.select(obj)
        scene.bring(path)
    assert scene.export(tmp_path / f"out.{kind}", obj) == path.read_bytes()


def character_folder(folder: Path, files: Sequence[str]) -> None:
    """A model and animations for it under any names."""
    model = characters.tube(0)
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() == ".3dn":
            path.write_bytes(model_3dn.write(model))
        else:
            path.write_bytes(ani.write(Animation(b"", 10, characters.swing(model, 5))))


@pytest.mark.parametrize(
    ("model", "file", "on_disk"),
    [
        ("worm.3dn", "walk", "walk.ani"),
        ("WORM.3DN", "Walk", "wALK.ANI"),
        ("worm", "walk.ani", "walk.ani"),
        ("worm.3dn", "moves/walk", "moves/walk.ani"),
        ("worm.3dn", "moves\\walk", "moves/walk.ani"),
        ("models\\worm.3dn", "C:\\game\\walk", "walk.ani"),
        ("../worm.3dn", "/etc/walk", "walk.ani"),
        ("worm.3dn", "../../../walk", "walk.ani"),
        ("worm.3dn", "wa:lk?", "wa_lk_.ani"),
    ],
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_files_are_found_whatever_a_text_calls_them(
    model: str, file: str, on_disk: str, mark: bytes, tmp_path: Path
) -> None:
    """In any case, with and without suffix; folders in names lead nowhere. The text comes back to the byte."""
    character_folder(tmp_path / "in", ["worm.3dn", on_disk])
    path = tmp_path / "in" / "worm.cat"
    path.write_bytes(mark + cat.write(Cat("Worm", model, [CatAnimation(file)])))
    obj = next(obj for obj in scene.bring(path) if obj.type == "MESH")
    (item,) = clips.animations(obj.data)
    assert (item.frames, item.is_missing) == (5, False)
    out = tmp_path / "out"
    out.mkdir()
    assert scene.export(out / "worm.cat", obj) == path.read_bytes()
    assert {entry.suffix.lower() for entry in out.iterdir()} == {".cat", ".3dn", ".ani"}
    assert {entry.parent for entry in out.rglob("*")} == {out}
    again = next(obj for obj in scene.bring(out / "worm.cat") if obj.type == "MESH")
    assert clips.animations(again.data)[0].frames == 5


def test_a_text_that_names_what_is_no_such_file(tmp_path: Path) -> None:
    """Missing, a folder, itself, damaged, of another model: the model comes, and each is said by name."""
    folder = tmp_path / "in"
    character_folder(folder, ["worm.3dn", "walk.ani"])
    (folder / "folder.ani").mkdir()
    (folder / "folder.wav").mkdir()
    (folder / "torn.ani").write_bytes((folder / "walk.ani").read_bytes()[:-1])
    (folder / "torn.wav").write_bytes(b"RIFF")
    (folder / "other.ani").write_bytes(ani.write(Animation(b"", 10, np.zeros((2, 3, 3), "<i2"))))
    names = ["walk", "gone", "worm.cat", "folder", "torn", "other", "", ".", ".."]
    path = folder / "worm.cat"
    text = cat.write(Cat("Worm", "worm.3dn", [CatAnimation(name, 77) for name in names], ["folder", "torn", "gone"]))
    path.write_bytes(text)
    obj = next(obj for obj in scene.bring(path) if obj.type == "MESH")
    assert [item.is_missing for item in clips.animations(obj.data)] == [False] + [True] * 8
    report = "".join(entry.as_string() for entry in bpy.data.texts)
    for words in ("gone.ani", "worm.cat.ani", "folder.ani", "torn.ani", "other.ani", "folder.wav", "torn.wav"):
        assert words in report
    out = tmp_path / "out"
    out.mkdir()
    assert scene.export(out / "worm.cat", obj) == text
    assert {entry.name for entry in out.iterdir()} == {"worm.cat", "worm.3dn", "walk.ani"}


@pytest.mark.parametrize("damage", ["missing", "empty", "torn", "folder", "text"])
def test_a_text_with_a_broken_model_changes_nothing(damage: str, tmp_path: Path) -> None:
    """The sentence names the model's file."""
    furnish()
    tmp_path = tmp_path / "alone"  # the folders beside a character are searched: here those of other tests
    character_folder(tmp_path, ["worm.3dn", "walk.ani"])
    model = tmp_path / "worm.3dn"
    data = {"empty": b"", "torn": model.read_bytes()[:99], "text": b"Dear friend"}.get(damage)
    model.unlink()
    if damage == "folder":
        model.mkdir()
    elif data is not None:
        model.write_bytes(data)
    path = tmp_path / "worm.cat"
    path.write_bytes(cat.write(Cat("Worm", "worm.3dn", [CatAnimation("walk")])))
    before, files = state(), folder_state(tmp_path)
    assert "worm.3dn" in refusal(importer("cat"), filepath=str(path))
    assert (state(), folder_state(tmp_path)) == (before, files)


def test_a_text_without_a_title_keeps_none(tmp_path: Path) -> None:
    """Nothing is made up for it."""
    character_folder(tmp_path / "in", ["worm.3dn", "walk.ani"])
    path = tmp_path / "in" / "worm.cat"
    path.write_bytes(cat.write(Cat("", "worm.3dn", [CatAnimation("walk")])).replace(b'title = ""\r\n', b""))
    obj = next(obj for obj in scene.bring(path) if obj.type == "MESH")
    out = tmp_path / "out"
    out.mkdir()
    assert scene.export(out / "worm.cat", obj) == path.read_bytes()


@pytest.mark.parametrize("name", ['wa"lk', "идти", "fast/walk", "w\u0448lk.ani", "con", " walk "])
def test_a_renamed_animation_is_found_again(name: str, tmp_path: Path) -> None:
    """Whatever it is called, text and file agree on it."""
    character_folder(tmp_path / "in", ["worm.3dn", "walk.ani"])
    path = tmp_path / "in" / "worm.cat"
    path.write_bytes(cat.write(Cat("Worm", "worm.3dn", [CatAnimation("walk")])))
    obj = next(obj for obj in scene.bring(path) if obj.type == "MESH")
    clips.animations(obj.data)[0].name = name
    out = tmp_path / "out"
    out.mkdir()
    scene.export(out / "worm.cat", obj)
    again = next(obj for obj in scene.bring(out / "worm.cat") if obj.type == "MESH")
    (item,) = clips.animations(again.data)
    assert (item.frames, item.is_missing) == (5, False)
