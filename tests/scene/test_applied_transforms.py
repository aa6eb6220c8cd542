# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms of whole characters, applied to their meshes or not: what the viewport shows is what is written."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion, vtl
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.scene import clips, curves
from addon.io_carnivores.scene import frames as extract_frames
from addon.io_carnivores.scene.options import ExportAnimationOptions as ExportOptions
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import compat

from tests import characters

from .helpers import made, scene

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


def _carry(obj: bpy.types.Object, **place: tuple[float, float, float]) -> None:
    rig = obj.parent
    for name, values in place.items():
        setattr(rig, name, values)
    scene.select(obj)
    bpy.context.view_layer.update()


@pytest.mark.parametrize(
    "place",
    [
        {"location": (3, -2, 1)},
        {"rotation_euler": (0.3, 0.5, 1.2)},
        {"scale": (0.1, 0.1, 0.1)},
        {"location": (1, 1, 1), "rotation_euler": (0, 0, 2), "scale": (1, 1, 1)},
        {"scale": (0.1, 0.05, 0.2)},
    ],
)
def test_vtl_onto_bones_that_stand_elsewhere(tmp_path: Path, place: dict[str, tuple[float, float, float]]) -> None:
    """As onto keys: it shows where the file has it, and goes back as it came, also moved together with the rest."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    _carry(obj, **place)
    frames = characters.swing(characters.tube(), 6, axis=1)
    data = scene.save(tmp_path / "nod.vtl", vtl.Vtl(Animation(b"", 12, frames)))
    assert bpy.ops.import_scene.carnivores_vtl(filepath=str(tmp_path / "nod.vtl")) == {"FINISHED"}
    assert scene.export(tmp_path / "out.vtl", obj) == data
    item = clips.animations(obj.data)[-1]
    if len(set(place.get("scale", (1, 1, 1)))) == 1:
        source = extract_frames.Source.of(bpy.context, [obj], ExportOptions(), len(obj.data.vertices), Digest())
        source.force = True
        assert np.abs(source.animation(item).frames.astype(int) - frames).max() <= 2
    obj.parent.location.x += 1
    bpy.context.view_layer.update()
    found = vtl.read(scene.export(tmp_path / "out.vtl", obj)).animation.frames
    assert np.array_equal(found, frames + np.array([32 * 16, 0, 0], np.int16))


def test_vtl_onto_a_mesh_of_its_own_that_hangs_on_bones(tmp_path: Path) -> None:
    """Its space is not that of the armature."""
    _data, old = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    obj = bpy.data.objects.new("Own", made.tube().data)
    bpy.context.collection.objects.link(obj)
    for group in old.vertex_groups:
        members = [v.index for v in old.data.vertices if any(g.group == group.index for g in v.groups)]
        obj.vertex_groups.new(name=group.name).add(members, 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = old.parent
    scene.select(obj)
    frames = characters.swing(characters.tube(), 6, axis=1)
    data = scene.save(tmp_path / "nod.vtl", vtl.Vtl(Animation(b"", 12, frames)))
    assert bpy.ops.import_scene.carnivores_vtl(filepath=str(tmp_path / "nod.vtl")) == {"FINISHED"}
    assert scene.export(tmp_path / "out.vtl", obj) == data


def test_scale_applied_to_a_mesh_on_bones(tmp_path: Path) -> None:
    """Nothing is seen of it, and nothing changes in the file."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    scene.select(obj)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    assert_frames(car.read(scene.export(tmp_path / "out.car", obj)), expected(character))
    obj.location.y += 20  # beside its bones, which turn it about other places now
    bpy.context.view_layer.update()
    found = car.read(scene.export(tmp_path / "out.car", obj)).animations[0].frames
    assert np.ptp(found.astype(int) - character.animations[0].frames, axis=0).max() > 2


def _apply(*objects: bpy.types.Object, scale_only: bool) -> None:
    scene.select(*objects)
    bpy.ops.object.transform_apply(location=not scale_only, rotation=not scale_only, scale=True)


def _shown(obj: bpy.types.Object, number: int) -> np.ndarray:
    """What Play shows of an animation at the frames of the file, in world space, (N, V, 3) steps in file axes."""
    scene.select(obj)
    bpy.ops.carnivores.animation_play(number=number)
    times = extract_frames.sample_times(bpy.context.scene, clips.animations(obj.data)[number])
    found = []
    for time in times:
        whole = int(np.floor(time + 1e-6))
        bpy.context.scene.frame_set(whole, subframe=max(0.0, float(time) - whole))
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        found.append([(evaluated.matrix_world @ vertex.co)[:] for vertex in mesh.vertices])
        evaluated.to_mesh_clear()
    return np.array(found)[..., [0, 2, 1]] * 32 * motion.STEPS


@pytest.mark.parametrize("which", ["both", "armature", "armature first"])
@pytest.mark.parametrize("scale_only", [True, False])
@pytest.mark.parametrize("first", ["play", "export"])
def test_scale_applied_to_bones(tmp_path: Path, which: str, scale_only: bool, first: str) -> None:
    """Blender leaves the keys of locations as they were; what is shown and written is the file all the same."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    rig = obj.parent
    assert any(curve.data_path.endswith("location") for curve in compat.all_curves(rig.animation_data.action))
    _apply(*((rig, obj) if which == "both" else (rig,)), scale_only=scale_only)
    if which == "armature first":
        _apply(obj, scale_only=scale_only)
    for way in (first, "play", "export", "reopen"):
        if way == "play":
            assert np.abs(_shown(obj, 1) - character.animations[1].frames).max() <= 3
        elif way == "reopen":
            name = obj.name
            scene.reopen(tmp_path / "scene.blend")
            obj = bpy.data.objects[name]
        assert scene.export(tmp_path / "out.car", obj) == data


def test_scale_applied_to_bones_that_were_moved(tmp_path: Path) -> None:
    """What the place in the scene was comes into the file once."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    obj.parent.location, obj.parent.scale = (1, 0, 0), (1 / 16,) * 3
    wanted = car.read(scene.export(tmp_path / "wanted.car", obj))
    _apply(obj.parent, obj, scale_only=False)
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert_frames(found, [animation.frames for animation in wanted.animations], within=1)


def test_an_edit_beside_a_scale_applied_to_bones(tmp_path: Path) -> None:
    """It is where it was made, and as large."""
    character = characters.creature()
    found = []
    for apply in (False, True):
        _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
        action = clips.animations(obj.data)[0].action
        curve = next(entry for entry in compat.all_curves(action) if entry.data_path.endswith("rotation_quaternion"))
        curve.keyframe_points[3].co.y += 0.3
        if apply:
            _apply(obj.parent, obj, scale_only=True)
        found.append(car.read(scene.export(tmp_path / "out.car", obj)))
    assert (found[0].animations[0].frames[3] != character.animations[0].frames[3]).any()
    assert_frames(found[1], [animation.frames for animation in found[0].animations], within=1)


def test_a_mesh_that_is_scaled_beside_its_bones_is_no_applied_scale(tmp_path: Path) -> None:
    """However the bones were edited: the keys stay as they are."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    with scene.edit_mode(obj.parent):
        obj.parent.data.edit_bones[-1].tail.z += 10
    obj.scale = (2, 2, 2)
    action = clips.animations(obj.data)[0].action
    before = curves.fingerprint(action)
    scene.export(tmp_path / "out.car", obj)
    assert curves.fingerprint(action) == before
