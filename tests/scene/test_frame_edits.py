# SPDX-License-Identifier: GPL-3.0-or-later
"""Edited animations and edited meshes: everything that was not touched is the same to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.scene import animation_files, bake, clip_edit, clips, frames, kept
from addon.io_common.scene import compat, selection

from tests import characters

from .helpers import scene

SOFT = 42  # a vertex of the last body that does as it likes
CHANNELS = 4


def softened() -> car.Character:
    """The made creature with one soft vertex in its first animation."""
    character = characters.creature()
    found = character.animations[0].frames.copy()
    found[:, SOFT, 1] += (60 + 40 * np.sin(np.arange(len(found)))).astype(np.int16)
    character.animations[0] = Animation(character.animations[0].name, 10, found)
    return character


@pytest.fixture
def soft(tmp_path: Path) -> bpy.types.Object:
    """That creature, shown by bones."""
    return scene.bring_model(tmp_path / "worm.car", softened(), motion="BONES")[1]


def bone_of(obj: bpy.types.Object, owner: int) -> bpy.types.Bone:
    """The recovered bone of an owner."""
    rig = selection.armature_of(obj)
    return next(bone for bone in rig.data.bones if bone[kept.OWNER_NUMBER] == owner)


def below(bone: bpy.types.Bone) -> list[int]:
    """The owners that a bone and all those under it stand for."""
    return [entry[kept.OWNER_NUMBER] for entry in (bone, *bone.children_recursive)]


def turn(obj: bpy.types.Object, action: bpy.types.Action, bone: str, keys: slice, angle: float = 0.5) -> None:
    """Turn a bone about its own x in some of its keyframes."""
    path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].rotation_quaternion'
    found = {curve.array_index: curve for curve in compat.all_curves(action) if curve.data_path == path}
    assert len(found) == CHANNELS
    values = np.array([[point.co.y for point in found[index].keyframe_points] for index in range(CHANNELS)])
    c, s = np.cos(angle / 2), np.sin(angle / 2)
    w, x, y, z = values[:, keys]
    values[:, keys] = (c * w - s * x, c * x + s * w, c * y + s * z, c * z - s * y)
    for index, curve in found.items():
        for point, value in zip(curve.keyframe_points, values[index], strict=True):
            point.co.y = value
        curve.update()


def shown(obj: bpy.types.Object, item: Any) -> np.ndarray:
    """Positions (N, V, 3) in file axes as Blender evaluates them."""
    times = frames.sample_times(bpy.context.scene, item)
    return bake.bake(bpy.context, [bake.Body.of(obj, None)], item.action, times, item.soft_action)[..., [0, 2, 1]]


@pytest.mark.parametrize("fps", [24, 30, 60])
def test_a_turned_bone_changes_its_own_vertices_only(tmp_path: Path, fps: int) -> None:
    """All other animations, frames and vertices keep their bytes, through a saved .blend too."""
    bpy.context.scene.render.fps = fps
    character = softened()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    bone = bone_of(obj, 3 if not bone_of(obj, 3).children else 0)
    turn(obj, clips.animations(obj.data)[0].action, bone.name, slice(4, 8))
    name, moves = obj.name, np.isin(character.model.vertices["owner"], below(bone))
    scene.reopen(tmp_path / "scene.blend")
    after = scene.export(tmp_path / "out.car", bpy.data.objects[name])
    assert len(after) == len(data)
    found = car.read(after)
    assert characters.same_animations(found.animations[1:], character.animations[1:])
    differs = (found.animations[0].frames != character.animations[0].frames).any(axis=2)
    assert not differs[:, ~moves].any()
    assert differs[4:8, moves].all()
    assert not np.delete(differs, slice(4, 8), axis=0).any()
    found.animations = character.animations
    assert car.write(found) == data


def test_a_soft_vertex_stays_soft(soft: bpy.types.Object, tmp_path: Path) -> None:
    """It keeps its distance to the vertices of its body, however that was turned."""
    before = softened().animations[0].frames
    owner = softened().model.vertices["owner"]
    bone = bone_of(soft, int(owner[SOFT]))
    item = clips.animations(soft.data)[0]
    turn(soft, item.action, bone.name, slice(0, 12), 0.8)
    after = car.read(scene.export(tmp_path / "out.car", soft)).animations[0].frames
    mates = np.flatnonzero((owner == owner[SOFT]) & (np.arange(48) != SOFT))
    old, new = (np.linalg.norm(each[:, mates] - each[:, [SOFT]].astype(float), axis=2) / 16 for each in (before, after))
    assert np.abs(after[:, SOFT] - before[:, SOFT].astype(int)).max(axis=1).min() > 16
    assert np.abs(old - new).max() < 0.25
    alone = np.linalg.norm(shown(soft, item)[:, mates] - shown(soft, item)[:, [SOFT]], axis=2)
    assert np.abs(old - alone).max() > 3, "bones alone would stiffen it"


def test_another_rate_and_another_count(soft: bpy.types.Object, tmp_path: Path) -> None:
    """KPS stretch the Action and nothing is lost; other frames than the file had are plainly baked."""
    character = softened()
    item = clips.animations(soft.data)[0]
    clips.set_kps(item, 17)
    clip_edit.retime_all(bpy.context, 60)
    bone = bone_of(soft, 3 if not bone_of(soft, 3).children else 0)
    turn(soft, item.action, bone.name, slice(4, 8))
    found = car.read(scene.export(tmp_path / "out.car", soft)).animations[0]
    still = ~np.isin(character.model.vertices["owner"], below(bone))
    assert found.kps == 17
    assert np.array_equal(found.frames[:, still], character.animations[0].frames[:, still])
    item.frames = 23
    found = car.read(scene.export(tmp_path / "out.car", soft)).animations[0]
    assert np.abs(found.frames - motion.quantise(shown(soft, item)).astype(int)).max() <= 1


def test_a_moved_vertex_and_a_turned_bone(soft: bpy.types.Object, tmp_path: Path) -> None:
    """Both edits at once: the rest of the frames is the file's own, with and without following the base."""
    character = softened()
    soft.data.vertices[SOFT].co.x += 5
    item = clips.animations(soft.data)[0]
    turn(soft, item.action, bone_of(soft, 0).name, slice(4, 8), 0.0)
    for follow in (True, False):
        found = car.read(scene.export(tmp_path / "out.car", soft, use_base_edits=follow))
        for old, new in zip(character.animations, found.animations, strict=True):
            differs = (old.frames != new.frames).any(axis=2)
            assert not np.delete(differs, SOFT, axis=1).any()
            assert differs[:, SOFT].all() == follow
            if follow:
                away = np.linalg.norm((new.frames[:, SOFT] - old.frames[:, SOFT].astype(int)) / 16, axis=1)
                assert np.abs(away - 5).max() < 0.15


def test_painted_weights_count(soft: bpy.types.Object, tmp_path: Path) -> None:
    """A vertex given to another bone follows it in Actions nobody touched, and leaves its softness behind."""
    character = softened()
    owner = int(character.model.vertices["owner"][SOFT])
    other = 0
    soft.vertex_groups[bone_of(soft, owner).name].remove([SOFT])
    soft.vertex_groups[bone_of(soft, other).name].add([SOFT], 1.0, "REPLACE")
    found = car.read(scene.export(tmp_path / "out.car", soft))
    assert found.model.vertices["owner"][SOFT] == other
    for item, old, new in zip(clips.animations(soft.data), character.animations, found.animations, strict=True):
        assert np.array_equal(np.delete(new.frames, SOFT, 1), np.delete(old.frames, SOFT, 1))
        assert np.abs(new.frames[:, SOFT] - motion.quantise(shown(soft, item))[:, SOFT].astype(int)).max() <= 1


def test_a_modifier_that_moves_vertices_counts(soft: bpy.types.Object, tmp_path: Path) -> None:
    """Base and frames are both written as they are shown; vertices out of its reach keep theirs."""
    character = softened()
    group = soft.vertex_groups.new(name="lifted")
    group.add([5], 1.0, "REPLACE")
    lift = soft.modifiers.new("Lift", "DISPLACE")
    lift.direction, lift.mid_level, lift.strength, lift.vertex_group = "Z", 0.0, 6.0, "lifted"
    soft.modifiers.move(1, 0)
    found = car.read(scene.export(tmp_path / "out.car", soft))
    assert found.model.vertices["position"][5, 1] == pytest.approx(
        character.model.vertices["position"][5, 1] + 6, abs=0.01
    )
    for old, new in zip(character.animations, found.animations, strict=True):
        assert np.array_equal(np.delete(new.frames, 5, 1), np.delete(old.frames, 5, 1))
        away = np.linalg.norm((new.frames[:, 5] - old.frames[:, 5].astype(int)) / 16, axis=1)
        assert np.abs(away - 6).max() < 0.15
    plain = car.read(scene.export(tmp_path / "out.car", soft, use_mesh_modifiers=False))
    assert characters.same_animations(plain.animations, character.animations)


def test_two_objects_of_one_creature(soft: bpy.types.Object, tmp_path: Path) -> None:
    """Separated and written together, every vertex still has its frames."""
    character = softened()
    scene.pick(soft.data, "FACE", *range(40))
    with scene.edit_mode(soft):
        bpy.ops.mesh.separate(type="SELECTED")
    parts = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    scene.select(soft, *[obj for obj in parts if obj != soft])
    found = car.read(scene.export(tmp_path / "out.car", use_join=True))
    assert len(found.model.vertices) > 48
    place = character.model.vertices["position"]
    known = 0
    for column, position in enumerate(found.model.vertices["position"]):
        (source,) = np.flatnonzero((place == position).all(axis=1))
        same = [
            np.array_equal(new.frames[:, column], old.frames[:, source])
            for old, new in zip(character.animations, found.animations, strict=True)
        ]
        known += all(same)
    assert known >= 48, "the seam is there twice, and one of the two is baked"


def sources(found: car.Character, character: car.Character) -> np.ndarray:
    """(V,): the vertex of the made creature at the same base position, -1 where there is none."""
    old, new = character.model.vertices["position"], found.model.vertices["position"]
    near = np.abs(new[:, None] - old[None]).max(axis=2) < 1e-4
    return np.where(near.any(axis=1), near.argmax(axis=1), -1)


@pytest.mark.parametrize("change", ["delete", "sort", "subdivide", "extrude", "merge"])
@pytest.mark.parametrize("touched", [False, True])
def test_vertices_keep_their_frames_through_edit_mode(
    soft: bpy.types.Object, tmp_path: Path, change: str, touched: bool
) -> None:
    """Old ones to the byte, by their number and not by their place; new ones between their neighbours."""
    character = softened()
    gone = {"delete": (3, 4, 20, 21), "merge": (3, 4)}.get(change, ())
    scene.pick(soft.data, "VERT", *gone)
    with scene.edit_mode(soft, "" if gone else "all"):
        if change == "delete":
            bpy.ops.mesh.delete(type="VERT")
        elif change == "merge":
            bpy.ops.mesh.merge(type="CENTER")
        elif change == "sort":
            bpy.ops.mesh.sort_elements(type="RANDOMIZE", elements={"VERT"}, seed=3)
        elif change == "subdivide":
            bpy.ops.mesh.subdivide()
        else:
            bpy.ops.mesh.extrude_region_shrink_fatten(TRANSFORM_OT_shrink_fatten={"value": 4.0})
    item = clips.animations(soft.data)[0]
    moved = np.zeros(48, bool)
    if touched:
        bone = bone_of(soft, 3 if not bone_of(soft, 3).children else 0)
        turn(soft, item.action, bone.name, slice(4, 8))
        moved = np.isin(character.model.vertices["owner"], below(bone))
    name = soft.name
    scene.reopen(tmp_path / "scene.blend")
    found = car.read(scene.export(tmp_path / "out.car", bpy.data.objects[name]))
    source = sources(found, character)
    old_places = np.unique(source[source >= 0])
    assert set(range(48)) - set(old_places.tolist()) == set(gone)
    expected = {"delete": 44, "sort": 48, "merge": 47}.get(change)
    assert expected is None or len(source) == expected
    assert len(source) != 48 or change == "sort"
    if change == "sort":
        assert not np.array_equal(source, np.arange(48))
    known = np.flatnonzero(source >= 0)
    for number, (old, new) in enumerate(zip(character.animations, found.animations, strict=True)):
        still = known[~moved[source[known]]] if number == 0 else known
        assert np.array_equal(new.frames[:, still], old.frames[:, source[still]])
        fresh = np.flatnonzero(source < 0)
        if len(fresh):
            _plausible(new.frames / 16, found.model, fresh)


def _plausible(positions: np.ndarray, model: Any, fresh: np.ndarray) -> None:
    """New vertices stay about as far from their neighbours as they are in the base pose."""
    corner = model.faces["corner"].astype(int)
    edges = np.concatenate([corner[:, [0, 1]], corner[:, [1, 2]], corner[:, [2, 0]]])
    edges = edges[np.isin(edges, fresh).any(axis=1)]
    place = model.vertices["position"]
    base = np.linalg.norm(place[edges[:, 0]] - place[edges[:, 1]], axis=1)
    now = np.linalg.norm(positions[:, edges[:, 0]] - positions[:, edges[:, 1]], axis=2)
    assert np.median(np.abs(now - base)) < 0.3
    assert (now / np.maximum(base, 1)).max() < 3


def test_keys_take_new_vertices_along(tmp_path: Path) -> None:
    """Shown by shape keys, old vertices keep their frames and new ones are in the middle of theirs."""
    character = softened()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="KEYS")
    with scene.edit_mode(obj, "all"):
        bpy.ops.mesh.subdivide()
    found = car.read(scene.export(tmp_path / "out.car", obj))
    for old, new in zip(character.animations, found.animations, strict=True):
        assert np.array_equal(new.frames[:, :48], old.frames)
        _plausible(new.frames / 16, found.model, np.arange(48, new.frames.shape[1]))


def test_an_animation_for_the_edited_mesh(soft: bpy.types.Object, tmp_path: Path) -> None:
    """It joins the old ones: each has the frames it came with, of the vertices it came with."""
    character = softened()
    scene.pick(soft.data, "VERT", 3, 4)
    with scene.edit_mode(soft):
        bpy.ops.mesh.delete(type="VERT")
    with scene.edit_mode(soft, "all"):
        bpy.ops.mesh.subdivide()
    soft.data.vertices[10].co.x += 7
    first = car.read(scene.export(tmp_path / "one.car", soft))
    added = first.animations[1].frames[::-1].copy()
    added[:, 100] += np.array([0, 30, 0], np.int16)
    animation_files.add(bpy.context, soft, Animation(b"", 15, added), "back")
    name = soft.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    again = car.read(scene.export(tmp_path / "two.car", obj))
    assert np.array_equal(again.animations[3].frames, added)
    source = sources(first, character)
    for old, new in zip(character.animations, again.animations[:3], strict=True):
        known = np.flatnonzero((source >= 0) & (source != 12))
        assert np.array_equal(new.frames[:, known], old.frames[:, source[known]])
    assert np.array_equal(again.model.vertices["position"], first.model.vertices["position"])
    scene.pick(obj.data, "VERT", 50)
    with scene.edit_mode(obj):
        bpy.ops.mesh.delete(type="VERT")
    third = car.read(scene.export(tmp_path / "three.car", obj))
    assert np.array_equal(third.animations[3].frames, np.delete(added, 50, axis=1))


def test_a_copied_number_is_not_believed(soft: bpy.types.Object, tmp_path: Path) -> None:
    """A loose copy of the whole mesh has every number twice; the vertices that were there keep the frames."""
    character = softened()
    bm = bmesh.new()
    bm.from_mesh(soft.data)
    bmesh.ops.duplicate(bm, geom=[*bm.verts, *bm.edges, *bm.faces])
    bm.to_mesh(soft.data)
    bm.free()
    found = car.read(scene.export(tmp_path / "out.car", soft))
    for old, new in zip(character.animations, found.animations, strict=True):
        assert new.frames.shape[1] == 96
        assert np.array_equal(new.frames[:, :48], old.frames)
        assert np.abs(np.delete(new.frames[:, 48:], SOFT, 1) - np.delete(old.frames, SOFT, 1).astype(int)).max() <= 2


@pytest.mark.samples("*allo.car")
def test_the_jaw_of_a_real_creature(sample: Path, tmp_path: Path) -> None:
    """One leaf bone turned in a few keyframes of one animation."""
    character = car.read(sample.read_bytes())
    obj = next(entry for entry in scene.bring(sample, motion="BONES") if entry.type == "MESH")
    rig = selection.armature_of(obj)
    owner = character.model.vertices["owner"]
    leaves = [bone for bone in rig.data.bones if not bone.children and (owner == bone[kept.OWNER_NUMBER]).sum() > 6]
    # The jaw is far in front.
    bone = max(leaves, key=lambda entry: entry.head_local.y)
    number = max(range(len(character.animations)), key=lambda index: len(character.animations[index].frames))
    item = clips.animations(obj.data)[number]
    turn(obj, item.action, bone.name, slice(5, 12), 0.4)
    found = car.read(scene.export(tmp_path / "out.car", obj))
    body = np.array(obj.data.attributes.get(kept.BODY, obj.data.attributes[kept.OWNER]).data.items(), object)[:, 1]
    moves = np.array([entry.value for entry in body]) == bone[kept.OWNER_NUMBER]
    for index, (old, new) in enumerate(zip(character.animations, found.animations, strict=True)):
        differs = (old.frames != new.frames).any(axis=2)
        if index != number:
            assert not differs.any()
            continue
        assert not differs[:, ~moves].any()
        assert not np.delete(differs, slice(5, 12), axis=0).any()
        assert differs[5:12, moves].mean() > 0.9


@pytest.mark.parametrize("how", ["deleted", "unbound", "modifier", "edited", "cut"])
def test_bones_that_are_gone(soft: bpy.types.Object, tmp_path: Path, how: str) -> None:
    """The Actions still have the frames they were made of, and a warning says that nothing else counts."""
    character = softened()
    data = car.write(character)
    rig = selection.armature_of(soft)
    if how == "edited":
        turn(soft, clips.animations(soft.data)[0].action, rig.data.bones[0].name, slice(0, 4))
    if how in ("unbound", "modifier"):
        soft.modifiers.clear()
        if how == "unbound":
            soft.parent = None
    else:
        bpy.data.objects.remove(rig)
    if how == "cut":
        scene.pick(soft.data, "VERT", 3, 4)
        with scene.edit_mode(soft):
            bpy.ops.mesh.delete(type="VERT")
    name = soft.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    after = scene.export(tmp_path / "out.car", obj)
    if how != "cut":
        assert after == data
        obj.data.vertices[SOFT].co.x += 5
    for follow in (True, False):
        found = car.read(scene.export(tmp_path / "out.car", obj, use_base_edits=follow))
        for old, new in zip(character.animations, found.animations, strict=True):
            same = np.delete(old.frames, (3, 4) if how == "cut" else SOFT, axis=1)
            assert np.array_equal(np.delete(new.frames, () if how == "cut" else SOFT, axis=1), same)
            if how != "cut":
                away = np.linalg.norm(new.frames[:, SOFT] - old.frames[:, SOFT].astype(float), axis=1) / 16
                assert np.allclose(away, 5 if follow else 0, atol=0.1)


def test_bones_that_are_gone_are_told(
    soft: bpy.types.Object, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Once, however many animations there are; an Action that was made elsewhere needs its bones."""
    bpy.data.objects.remove(selection.armature_of(soft))
    scene.export(tmp_path / "out.car", soft)
    assert capfd.readouterr().out.count("bones are gone") == 1
    clips.animations(soft.data)[0].frames += 1
    scene.select(soft)
    with pytest.raises(RuntimeError, match="moves nothing of"):
        bpy.ops.export_scene.carnivores_car(filepath=str(tmp_path / "out.car"))
