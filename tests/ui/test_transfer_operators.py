# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons that take from another character: when they can be pressed, and what they say afterwards."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, model_3df
from addon.io_carnivores.formats.model import BONE, Model, name_field
from addon.io_carnivores.scene import clips
from addon.io_common.scene import selection

from tests import characters

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATORS = ["transfer_animations", "retarget_actions", "name_bones"]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two characters in one place, the second one without animations of its own."""
    path = tmp_path / "worm.car"
    path.write_bytes(characters.written(characters.creature()))
    made = []
    for _ in range(2):
        before = set(bpy.data.objects)
        bpy.ops.import_scene.carnivores_car(filepath=str(path), motion="BONES")
        made.append(next(obj for obj in bpy.data.objects if obj not in before and obj.type == "MESH"))
    clips.animations(made[1].data).clear()
    clips.sounds(made[1].data).clear()
    return made[0], made[1]


def choose(active: bpy.types.Object | None, *others: bpy.types.Object) -> None:
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == active or obj in others)
    bpy.context.view_layer.objects.active = active


@pytest.mark.parametrize("name", OPERATORS)
def test_grey_until_two_are_selected(pair: tuple[bpy.types.Object, bpy.types.Object], name: str) -> None:
    """Nothing, one, two, and two in Edit Mode."""
    operator = getattr(bpy.ops.carnivores, name)
    source, receiver = pair
    choose(None)
    assert not operator.poll()
    choose(receiver)
    assert not operator.poll()
    choose(receiver, source)
    assert operator.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not operator.poll()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_transfer_says_what_is_exact(pair: tuple[bpy.types.Object, bpy.types.Object], capfd: Any) -> None:
    """Either the mesh or its armature may be the one to take from; the result is exported as the original."""
    source, receiver = pair
    receiver.data.vertices[7].co.x += 3
    choose(receiver, selection.armature_of(source))
    capfd.readouterr()
    assert bpy.ops.carnivores.transfer_animations() == {"FINISHED"}
    said = capfd.readouterr().out
    assert f'"{receiver.name}" has 3 animations of "{source.name}" now: 47 of 48 vertices move exactly as there' in said
    assert selection.armature_of(receiver) == selection.armature_of(source)


def test_nothing_exact_is_a_warning(pair: tuple[bpy.types.Object, bpy.types.Object], capfd: Any) -> None:
    """It may well be a mesh in the wrong place."""
    source, receiver = pair
    for vertex in receiver.data.vertices:
        vertex.co.x += 3
    choose(receiver, source)
    capfd.readouterr()
    bpy.ops.carnivores.transfer_animations()
    assert "Warning: " in capfd.readouterr().out


def test_retarget_says_how_bones_were_matched(pair: tuple[bpy.types.Object, bpy.types.Object], capfd: Any) -> None:
    """By name, by place, not at all."""
    source, receiver = pair
    for rig in map(selection.armature_of, pair):
        rig.data.bones[0].name = "Root"
    choose(selection.armature_of(receiver), source)
    capfd.readouterr()
    assert bpy.ops.carnivores.retarget_actions() == {"FINISHED"}
    assert "Copied 3 animations: of 4 bones 1 matched by name, 3 by place." in capfd.readouterr().out
    assert [item.name for item in clips.animations(receiver.data)] == ["walk", "idle", "idle"]


def test_name_bones_says_how_many(pair: tuple[bpy.types.Object, bpy.types.Object], capfd: Any) -> None:
    """All of them here."""
    source, receiver = pair
    for number, bone in enumerate(selection.armature_of(source).data.bones):
        bone.name = f"Part {number}"
    choose(receiver, source)
    capfd.readouterr()
    assert bpy.ops.carnivores.name_bones() == {"FINISHED"}
    assert "4 of 4 bones have names of" in capfd.readouterr().out
    assert [bone.name for bone in selection.armature_of(receiver).data.bones] == [f"Part {n}" for n in range(4)]


def test_skeleton_from_on_the_command_line(
    tmp_path: Path, extension_name: str, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path beside the working folder; a missing one is a sentence and a code."""
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(extension_name)
    command: Callable[[list[str]], int] = module.command
    (tmp_path / "worm.car").write_bytes(characters.written(characters.creature()))
    model = characters.tube()
    bones = np.zeros(4, BONE)
    bones["name"] = [np.void(name_field(f"Part {number}")) for number in range(4)]
    bones["position"] = [(0, 30, 60.0 * number) for number in range(4)]
    bones["parent"] = [-1, 0, 1, 2]
    (tmp_path / "worm.3df").write_bytes(model_3df.write(Model(model.faces, model.vertices, bones, texels=model.texels)))
    assert command(["convert", "worm.car", "out.blend", "--bones-from", "worm.3df"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    (rig,) = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert [bone.name for bone in rig.data.bones] == [f"Part {number}" for number in range(4)]
    assert command(["verify", "worm.car", "--bones-from", "worm.3df"]) == 0
    capfd.readouterr()
    assert command(["convert", "worm.car", "other.blend", "--bones-from", "gone.3df"]) != 0
    assert "gone.3df" in "".join(capfd.readouterr())
    assert not (tmp_path / "other.blend").exists()
    assert car.read((tmp_path / "worm.car").read_bytes())
