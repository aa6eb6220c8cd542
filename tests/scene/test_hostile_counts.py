# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts that small files state: nothing is made that no bytes stand for, and names stay names."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import bpy
import pytest
from addon.io_carnivores.formats.car import Sound
from addon.io_carnivores.formats.model import name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.scene import clips

from tests import characters

from .helpers import scene

if TYPE_CHECKING:
    from collections.abc import Callable
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


NAMES = [b"\xff" * 31, b"\xe0" * 30, b"\x80" * 20, b"a" + b"\x80" * 20, b"ab" + b"\x80" * 20]


@pytest.mark.parametrize("way", ["BONES", "KEYS", "RELATIVE_KEYS"])
@pytest.mark.parametrize("correctives", [False, True])
def test_names_are_cut_between_characters(way: str, correctives: bool, tmp_path: Path) -> None:
    """Letters of several bytes everywhere; Blender would cut inside one, and cannot tell the name any more."""
    character = characters.creature()
    for number, entry in enumerate([*character.animations, *character.sounds]):
        entry.name = NAMES[number % len(NAMES)].ljust(32, b"\0")
    character.animations[0].name = character.animations[1].name
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=way, use_correctives=correctives)
    keys = [block.name for block in obj.data.shape_keys.key_blocks] if obj.data.shape_keys is not None else []
    for names in (keys, [block.name for block in bpy.data.actions], [block.name for block in bpy.data.sounds]):
        assert len(set(names)) == len(names)
    for _action in clips.animations(obj.data)[:]:
        bpy.ops.carnivores.animation_duplicate(number=0)
        bpy.ops.carnivores.animation_remove(number=1)
    assert scene.export(tmp_path / "out.car", obj) == data


@pytest.mark.parametrize("way", ["BONES", "KEYS"])
def test_long_lists_of_one_name(way: str, tmp_path: Path) -> None:
    """Data-blocks of long lists are led by their number, the lists themselves say what the file says."""
    many = clips.MANY + 10
    character = characters.creature()
    moved = character.animations[0]
    character.animations = [Animation(name_field("a"), 10, moved.frames[:2]) for _ in range(many)]
    character.sounds = [Sound(name_field("s"), b"\1\0" if number % 2 else b"") for number in range(many)]
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=way)
    assert {item.name for item in clips.animations(obj.data)} == {"a"}
    assert clips.animations(obj.data)[7].action.name == "00007 a"
    assert clips.sounds(obj.data)[7].sound.name == "00007 s"
    assert len(bpy.data.sounds) == many // 2 + 1, "silent ones share a data-block"
    assert scene.export(tmp_path / "out.car", obj) == data


def refused(act: Callable[[], object]) -> str:
    """What an operator says when it does not do its work, else "done"."""
    try:
        act()
    except RuntimeError as error:
        return str(error)
    return "done"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e30, -1.0])
@pytest.mark.parametrize("name", ["start", "end", "rate", "own_rate"])
def test_numbers_that_are_none(name: str, value: float, tmp_path: Path) -> None:
    """What a script or a damaged scene holds: every button works or says why not, and so does the export."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature())
    scene.select(obj)
    item = clips.animations(obj.data)[0]
    item.use_scene = True
    setattr(item, name, value)
    for act in (
        lambda: bpy.ops.carnivores.animation_play(number=0),
        lambda: bpy.ops.carnivores.animation_duplicate(number=0),
        lambda: bpy.ops.carnivores.animation_scene_rate(rate=25.0),
        lambda: bpy.ops.export_scene.carnivores_car(filepath=str(tmp_path / "out.car")),
    ):
        said = refused(act)
        assert "Traceback" not in said
        assert said.startswith(("Error: ", "done"))
    item = clips.animations(obj.data)[0]
    setattr(item, name, value)
    if name in ("start", "end") and value != -1.0:
        with pytest.raises(RuntimeError, match=r"which no scene can have"):
            bpy.ops.export_scene.carnivores_car(filepath=str(tmp_path / "out.car"))


@pytest.mark.parametrize("raw", ["zz", "abc", "\u00e4", "00ff00f"])
def test_a_field_that_is_no_hexadecimal(raw: str, tmp_path: Path) -> None:
    """The name that is shown counts."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature())
    item = clips.animations(obj.data)[0]
    name = item.name
    item.raw_name = raw
    assert clips.raw_name(item) == name_field(name)
