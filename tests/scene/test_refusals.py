# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be done to a character is said in one sentence, and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.formats.vtl import Vtl
from addon.io_carnivores.scene import animation_files, clips, shape_motion, untouched_lists
from addon.io_common.formats.errors import Cancelled
from addon.io_common.scene import selection

from tests import characters

from .helpers import scene

MOTIONS = ["BONES", "KEYS", "RELATIVE_KEYS"]


def walk(path: Path) -> Path:
    """A VTL for the made creature."""
    scene.save(path, Vtl(Animation(b"", 12, characters.swing(characters.tube(), 6))))
    return path


def state(obj: bpy.types.Object) -> dict[str, Any]:
    """All that an import of an animation could change."""
    keys = obj.data.shape_keys
    rig = selection.armature_of(obj)
    return {
        "names": [item.name for item in clips.animations(obj.data)],
        "chosen": obj.data.carnivores_animation_index,
        "keys": [(block.name, block.frame) for block in keys.key_blocks] if keys is not None else None,
        "key action": keys.animation_data.action if keys is not None and keys.animation_data is not None else None,
        "rig action": rig.animation_data.action if rig is not None else None,
        "actions": {action.name for action in bpy.data.actions},
        "blocks": (len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.shape_keys)),
    }


@pytest.mark.parametrize("way", MOTIONS)
def test_vtl_onto_an_object_of_no_size(tmp_path: Path, way: str) -> None:
    """There is no place for a vertex in it."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion=way)
    root = obj.parent or obj
    root.scale = (0, 1, 1)
    scene.select(obj)
    before = state(obj)
    with pytest.raises(RuntimeError, match="has a scale of 0"):
        bpy.ops.import_scene.carnivores_vtl(filepath=str(walk(tmp_path / "walk.vtl")))
    assert state(obj) == before
    with pytest.raises(RuntimeError, match="has a scale of 0"):
        bpy.ops.carnivores.animation_replace(number=0, filepath=str(tmp_path / "walk.vtl"))
    assert state(obj) == before


@pytest.mark.parametrize("way", [*MOTIONS, "", "BASIS"])
@pytest.mark.parametrize("error", [Cancelled, ValueError])
def test_a_stopped_import_leaves_the_list_alone(
    tmp_path: Path, way: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped by Esc at the very end, or by a bug half way; also on a mesh that had no animation."""
    if way in MOTIONS:
        _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion=way)
    else:
        mesh = bpy.data.meshes.new("Plain")
        mesh.vertices.add(len(characters.tube().vertices))
        obj = bpy.data.objects.new("Plain", mesh)
        bpy.context.collection.objects.link(obj)
        if way == "BASIS":
            obj.shape_key_add(name="Basis")
    scene.select(obj)
    before = state(obj)
    animation = Animation(b"", 12, characters.swing(characters.tube(), 6))

    def stop() -> None:
        with untouched_lists.guard(bpy.context):
            if error is ValueError:  # before the entry knows of its keys
                monkeypatch.setattr(shape_motion, "_action", _broken)
            animation_files.add(bpy.context, obj, animation, "walk")
            raise error("stopped")

    with pytest.raises(error):
        stop()
    made = {name: value for name, value in state(obj).items() if name != "actions"}
    assert made == {name: value for name, value in before.items() if name != "actions"}


def _broken(*_args: Any) -> None:
    raise ValueError


@pytest.mark.parametrize("override", [False, True])
@pytest.mark.parametrize("way", ["BONES", "KEYS"])
def test_meshes_of_another_file(tmp_path: Path, way: str, *, override: bool) -> None:
    """A list that is not saved is not changed."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion=way)
    name = obj.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_source, target):
        target.objects = [name]
    (obj,) = target.objects
    if override:
        mesh = obj.data.override_create(remap_local_usages=True)
        obj = obj.override_create(remap_local_usages=True)
        if obj is None:
            pytest.skip("this Blender overrides no object that is in no scene")
        obj.data = mesh
    bpy.context.scene.collection.objects.link(obj)
    scene.select(obj)
    before = [item.name for item in clips.animations(obj.data)]
    with pytest.raises(RuntimeError, match=r"another \.blend file"):
        bpy.ops.import_scene.carnivores_vtl(filepath=str(walk(tmp_path / "walk.vtl")))
    for operator in ("add", "remove", "move", "duplicate", "replace", "kps", "scene_rate"):
        assert not getattr(bpy.ops.carnivores, f"animation_{operator}").poll()
    for operator in ("add", "remove", "link"):
        assert not getattr(bpy.ops.carnivores, f"sound_{operator}").poll()
    assert bpy.ops.carnivores.animation_play.poll()
    assert [item.name for item in clips.animations(obj.data)] == before


def test_more_frames_than_could_be_baked(tmp_path: Path) -> None:
    """A rate with too many zeros is no reason to hang."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    item = clips.animations(obj.data)[0]
    item.use_length, item.kps = True, 100_000_000
    with pytest.raises(RuntimeError, match="lower its KPS, which is 100000000"):
        scene.export(tmp_path / "out.car", obj)
    item.use_length, item.use_scene = False, True
    with pytest.raises(RuntimeError, match="32767 at most"):
        scene.export(tmp_path / "out.car", obj)


@pytest.mark.parametrize("side", ["source", "target"])
def test_retarget_with_an_armature_of_no_size(tmp_path: Path, side: str) -> None:
    """Neither from it nor onto it."""
    rigs = []
    for name in ("source", "target"):
        _data, obj = scene.bring_model(tmp_path / f"{name}.car", characters.creature(), motion="BONES")
        rigs.append(selection.armature_of(obj))
    rigs[side == "target"].scale = (0, 0, 0)
    scene.select(rigs[1], rigs[0])
    before = {action.name for action in bpy.data.actions}
    with pytest.raises(RuntimeError, match="has a scale of 0"):
        bpy.ops.carnivores.retarget_actions()
    assert {action.name for action in bpy.data.actions} == before
