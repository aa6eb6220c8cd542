# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations given to an edited mesh: what it shares with the character moves to the bit, the rest with its owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bmesh
import bpy
import mathutils
import numpy as np
import pytest
from addon.io_carnivores.formats import car, motion, rigid
from addon.io_carnivores.formats.rigid import Bodies
from addon.io_carnivores.scene import clip_edit, clips, frames, kept
from addon.io_common.scene import compat, selection

from tests import characters

from .helpers import scene
from .test_soft_keys import character as soft_character

if TYPE_CHECKING:
    import numpy.typing as npt
    from addon.io_carnivores.formats.car import Character

MOTIONS = ["BONES", "KEYS", "RELATIVE_KEYS"]


def bare_copy(obj: bpy.types.Object, *, shown: bool = False) -> bpy.types.Object:
    """The surface of a character as another program would bring it back: world space, no groups, nothing kept."""
    bpy.context.view_layer.update()
    if shown:
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = bpy.data.meshes.new_from_object(evaluated)
    else:
        mesh = obj.data.copy()
    points = np.empty(len(mesh.vertices) * 3)
    mesh.vertices.foreach_get("co", points)
    faces = [tuple(polygon.vertices) for polygon in mesh.polygons]
    bare = bpy.data.meshes.new("edited")
    bare.from_pydata([obj.matrix_world @ mathutils.Vector(point) for point in points.reshape(-1, 3)], [], faces)
    made = bpy.data.objects.new("edited", bare)
    bpy.context.scene.collection.objects.link(made)
    bpy.context.view_layer.update()
    return made


def subdivide(obj: bpy.types.Object, share: float = 0.5) -> None:
    """Cut the edges of the first faces in two: the old vertices stay, and stay first."""
    bm = bmesh.new()
    bm.from_mesh(obj.data)
    faces = list(bm.faces)[: int(len(bm.faces) * share)]
    edges = list({edge for face in faces for edge in face.edges})
    bmesh.ops.subdivide_edges(bm, edges=edges, cuts=1, use_grid_fill=True)
    bm.to_mesh(obj.data)
    bm.free()


def transfer(target: bpy.types.Object, source: bpy.types.Object, **options: Any) -> None:
    scene.select(target, source)
    assert bpy.ops.carnivores.transfer_animations(**options) == {"FINISHED"}


def edited(tmp_path: Path, motion_kind: str, **options: Any) -> tuple[Character, bpy.types.Object, bpy.types.Object]:
    """The made creature, its mesh object and another mesh with more vertices that has its animations."""
    made = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", made, motion=motion_kind)
    other = bare_copy(obj)
    subdivide(other)
    assert len(other.data.vertices) > len(obj.data.vertices) + 20
    transfer(other, obj, **options)
    return made, obj, other


def shared(made: Character, found: Character) -> npt.NDArray[np.int64]:
    """For every vertex of `found` the one of `made` it lies on, -1 for none."""
    old, new = (entry.model.vertices["position"].astype(float) for entry in (made, found))
    distance = np.linalg.norm(new[:, None] - old[None], axis=2)
    return np.where(distance.min(axis=1) < 0.01, distance.argmin(axis=1), -1)


def rigid_frames(made: Character, found: Character, number: int) -> npt.NDArray[np.float64]:
    """Where the owners of `made` would take every vertex of `found` in an animation, (N, P, 3) file units."""
    model = made.model
    bodies = Bodies.of(model.vertices["owner"], int(model.vertices["owner"].max()) + 1)
    points = rigid.unbiased(made.animations[number].frames)[bodies.order]
    rest = model.vertices["position"].astype(float)
    moved = rigid.fit(bodies, rest[bodies.order], points, np.ones(len(rest)))
    mine = found.model.vertices["owner"]
    base = found.model.vertices["position"].astype(float)
    return np.einsum("npij,pj->npi", moved.rotation[:, mine], base) + moved.translation[:, mine]


@pytest.mark.parametrize("motion_kind", MOTIONS)
def test_more_vertices_same_animations(tmp_path: Path, motion_kind: str) -> None:
    """Through a saved .blend: names, rates, sounds and frames of the old vertices, the new ones with their owners."""
    made, obj, other = edited(tmp_path, motion_kind)
    before = scene.export(tmp_path / "worm2.car", obj)
    assert before == characters.written(made), "the character itself is as it was"
    name = other.name
    scene.reopen(tmp_path / "scene.blend")
    found = car.read(scene.export(tmp_path / "out.car", bpy.data.objects[name]))
    assert found.name == made.name
    assert found.table == made.table
    assert [(s.name, s.data) for s in found.sounds] == [(s.name, s.data) for s in made.sounds]
    same = shared(made, found)
    new = np.flatnonzero(same < 0)
    assert sorted(same[same >= 0].tolist()) == list(range(len(made.model.vertices)))
    assert len(new) > 20
    assert np.array_equal(found.model.vertices["owner"][same >= 0], made.model.vertices["owner"][same[same >= 0]])
    for number, (old, now) in enumerate(zip(made.animations, found.animations, strict=True)):
        assert (now.name, now.kps, len(now.frames)) == (old.name, old.kps, len(old.frames))
        assert np.array_equal(now.frames[:, same >= 0], old.frames[:, same[same >= 0]])
        wanted = rigid_frames(made, found, number)[:, new] * motion.STEPS
        assert np.abs(now.frames[:, new] - wanted).max() <= 2.0
        assert np.ptp(now.frames[:, new].astype(int), axis=0).max() > 50, "it moves"


@pytest.mark.parametrize("motion_kind", ["BONES", "KEYS"])
def test_any_place_and_size_in_the_scene(tmp_path: Path, motion_kind: str) -> None:
    """Both moved, turned, scaled; the mesh mirrored by its object."""
    made = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", made, motion=motion_kind)
    root = obj.parent or obj
    other = bare_copy(obj)
    away = mathutils.Matrix.LocRotScale((3, -2, 5), mathutils.Euler((0.4, 1.1, -2)), (1.5, 1.5, 1.5))
    mirror = mathutils.Matrix.Diagonal((-1, 1, 1, 1))
    other.data.transform(mirror)
    other.data.flip_normals()
    root.matrix_world = away @ root.matrix_world
    other.matrix_world = away @ mirror
    transfer(other, obj)
    bpy.context.view_layer.update()
    assert np.allclose(np.array(other.matrix_world), np.array(obj.matrix_world), atol=1e-6)
    found = car.read(scene.export(tmp_path / "out.car", other, use_transform=False))
    assert np.array_equal(found.model.vertices, made.model.vertices)
    assert np.array_equal(found.model.faces["corner"], made.model.faces["corner"])
    assert characters.same_animations(found.animations, car.read(data).animations)


def test_the_mesh_a_modeller_exported_in_a_pose(tmp_path: Path) -> None:
    """What an OBJ holds is what was shown; it comes back to rest by itself."""
    made = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", made, motion="BONES")
    bpy.context.scene.frame_set(5)
    other = bare_copy(obj, shown=True)
    subdivide(other, 0.3)
    transfer(other, obj)
    found = car.read(scene.export(tmp_path / "out.car", other))
    same = shared(made, found)
    assert sorted(same[same >= 0].tolist()) == list(range(len(made.model.vertices)))
    for number, (old, now) in enumerate(zip(made.animations, found.animations, strict=True)):
        assert np.array_equal(now.frames[:, same >= 0], old.frames[:, same[same >= 0]])
        wanted = rigid_frames(made, found, number)[:, same < 0] * motion.STEPS
        # Corners of a cut face may belong to several bodies, and then lie where the pose had them.
        assert np.median(np.abs(now.frames[:, same < 0] - wanted)) <= 2.0


def test_smooth_weights(tmp_path: Path) -> None:
    """By option a vertex between two bones follows both; otherwise each follows one."""
    made, _obj, hard = edited(tmp_path, "BONES")
    assert all(len(vertex.groups) == 1 for vertex in hard.data.vertices)
    _made, _obj, soft = edited(tmp_path, "BONES", use_blend=True)
    counts = {len(vertex.groups) for vertex in soft.data.vertices}
    assert counts == {1, 2}
    sums = [sum(entry.weight for entry in vertex.groups) for vertex in soft.data.vertices]
    assert np.allclose(sums, 1, atol=0.01)
    first, second = (car.read(scene.export(tmp_path / "out.car", obj)) for obj in (hard, soft))
    same = shared(made, second)
    assert np.array_equal(second.animations[0].frames[:, same >= 0], made.animations[0].frames[:, same[same >= 0]])
    assert not np.array_equal(first.animations[0].frames, second.animations[0].frames)


def test_an_armature_of_its_own(tmp_path: Path) -> None:
    """By option a copy, which plays the copies of the Actions; without it both hang on the same bones."""
    _made, obj, other = edited(tmp_path, "BONES")
    assert selection.armature_of(other) == selection.armature_of(obj)
    made, obj, other = edited(tmp_path, "BONES", use_rig_copy=True)
    rig, own = selection.armature_of(obj), selection.armature_of(other)
    assert own != rig
    assert own.data != rig.data
    assert other.parent == own
    assert own.animation_data.action == clips.animations(other.data)[0].action
    assert rig.animation_data.action == clips.animations(obj.data)[0].action
    bpy.data.objects.remove(rig)
    bpy.data.objects.remove(obj)
    found = car.read(scene.export(tmp_path / "out.car", other))
    same = shared(made, found)
    assert np.array_equal(found.animations[1].frames[:, same >= 0], made.animations[1].frames[:, same[same >= 0]])


def test_edited_actions_go_over_as_they_would_be_written(tmp_path: Path) -> None:
    """An Action that was changed gives the frames that the character itself would export."""
    made = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", made, motion="BONES")
    action = clips.animations(obj.data)[0].action
    for curve in compat.all_curves(action):
        if curve.data_path.endswith("location"):
            curve.mute = True
    curve = next(c for c in compat.all_curves(action) if c.data_path.endswith("rotation_quaternion"))
    curve.keyframe_points[3].co.y += 0.3
    other = bare_copy(obj)
    subdivide(other)
    transfer(other, obj)
    wanted = car.read(scene.export(tmp_path / "a.car", obj))
    found = car.read(scene.export(tmp_path / "b.car", other))
    same = shared(made, found)
    assert not np.array_equal(wanted.animations[0].frames, made.animations[0].frames)
    assert np.array_equal(found.animations[0].frames[:, same >= 0], wanted.animations[0].frames[:, same[same >= 0]])


def test_an_action_of_the_user_keeps_its_rate(tmp_path: Path) -> None:
    """The one it was made at, whatever the scene was set to since."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    action = clips.animations(obj.data)[0].action.copy()
    made = clip_edit.add_action(bpy.context, obj, action)
    rate = made.own_rate
    clip_edit.retime_all(bpy.context, 2 * rate)
    other = bare_copy(obj)
    subdivide(other)
    transfer(other, obj)
    (first, second) = (clips.animations(entry.data)[-1] for entry in (obj, other))
    assert (first.own_rate, second.own_rate) == (rate, rate)
    assert frames.own_rate(bpy.context.scene, second) == rate


def test_what_melts_hangs_on_triangles(tmp_path: Path) -> None:
    """Owners that are no bodies: a new vertex keeps its place on the face it lies on."""
    made = characters.creature(soft=True)
    _data, obj = scene.bring_model(tmp_path / "soft.car", made)
    assert selection.armature_of(obj) is None
    other = bare_copy(obj)
    subdivide(other)
    transfer(other, obj)
    found = car.read(scene.export(tmp_path / "out.car", other))
    same = shared(made, found)
    assert (same >= 0).sum() == len(made.model.vertices)
    rest = made.model.vertices["position"].astype(float)
    for old, now in zip(made.animations, found.animations, strict=True):
        assert np.array_equal(now.frames[:, same >= 0], old.frames[:, same[same >= 0]])
        for vertex in np.flatnonzero(same < 0)[:20]:
            ends = np.linalg.norm((rest[:, None] + rest[None]) / 2 - found.model.vertices["position"][vertex], axis=2)
            a, b = np.unravel_index(ends.argmin(), ends.shape)
            middle = (old.frames[:, a].astype(float) + old.frames[:, b]) / 2
            assert np.abs(now.frames[:, vertex] - middle).max() <= 2


def test_a_copy_made_in_blender(tmp_path: Path) -> None:
    """It brings lists, groups and attributes along, which are replaced."""
    made = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", made, motion="BONES")
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(other)
    subdivide(other, 0.2)
    transfer(other, obj)
    assert len(clips.animations(other.data)) == 3
    found = car.read(scene.export(tmp_path / "out.car", other))
    same = shared(made, found)
    for old, now in zip(made.animations, found.animations, strict=True):
        assert np.array_equal(now.frames[:, same >= 0], old.frames[:, same[same >= 0]])
    assert scene.export(tmp_path / "worm2.car", obj) == characters.written(made)


def test_smooth_rigs_of_a_modeller_keep_their_weights(tmp_path: Path) -> None:
    """Actions that were made in Blender are shared, since the same weights show the same."""
    made = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", made, motion="BONES")
    for item in clips.animations(obj.data):
        for name in (kept.PACKED_FRAMES, kept.CURVES_PRINT):
            del item.action[name]
    half = [vertex.index for vertex in obj.data.vertices if vertex.groups[0].group == 1]
    obj.vertex_groups[2].add(half, 1.0, "REPLACE")
    other = bare_copy(obj)
    subdivide(other)
    transfer(other, obj)
    assert [item.action for item in clips.animations(other.data)] == [
        item.action for item in clips.animations(obj.data)
    ]
    wanted = car.read(scene.export(tmp_path / "a.car", obj))
    found = car.read(scene.export(tmp_path / "b.car", other))
    same = shared(made, found)
    steps = found.animations[0].frames[:, same >= 0].astype(int) - wanted.animations[0].frames[:, same[same >= 0]]
    assert np.abs(steps).max() <= 1


def refused(match: str, target: bpy.types.Object, *sources: bpy.types.Object) -> None:
    scene.select(target, *sources)
    before = {block.name for block in (*bpy.data.actions, *bpy.data.objects, *bpy.data.meshes)}
    points = [tuple(vertex.co) for vertex in target.data.vertices] if target.type == "MESH" else []
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.carnivores.transfer_animations()
    assert {block.name for block in (*bpy.data.actions, *bpy.data.objects, *bpy.data.meshes)} == before
    assert points == ([tuple(vertex.co) for vertex in target.data.vertices] if target.type == "MESH" else [])


def test_refusals_change_nothing(tmp_path: Path) -> None:
    """One sentence each."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    rig = selection.armature_of(obj)
    far = bare_copy(obj)
    far.location.x += 100
    refused("does not lie over", far, obj)
    twin = bpy.data.objects.new("twin", obj.data)
    bpy.context.scene.collection.objects.link(twin)
    refused("is the same mesh", twin, obj)
    empty = bpy.data.objects.new("empty", bpy.data.meshes.new("empty"))
    bpy.context.scene.collection.objects.link(empty)
    refused("has no vertices", empty, obj)
    plain = bare_copy(obj)
    refused("has no animations", far, plain)
    refused("one character only", plain, obj, far)
    refused("has to be the mesh", rig, obj)
    flat = bare_copy(obj)
    flat.scale.x = 0
    refused("scale of 0", flat, obj)


@pytest.mark.samples("*ALLO.CAR", "*X_BOW.CAR", "*EXPLO.CAR")
def test_samples_with_more_vertices(sample: Path, tmp_path: Path) -> None:
    """A real creature, a real weapon, and one without bones."""
    made = car.read(sample.read_bytes())
    obj = next(obj for obj in scene.bring(sample) if obj.type == "MESH")
    other = bare_copy(obj)
    subdivide(other)
    transfer(other, obj)
    found = car.read(scene.export(tmp_path / "out.car", other))
    assert len(found.model.vertices) > len(made.model.vertices)
    old = meshes_same(obj, other)
    assert (old >= 0).sum() == len(made.model.vertices)
    assert [entry.kps for entry in found.animations] == [entry.kps for entry in made.animations]
    for before, after in zip(made.animations, found.animations, strict=True):
        assert np.array_equal(after.frames[:, old >= 0], before.frames[:, old[old >= 0]])
    assert [entry.data for entry in found.sounds] == [entry.data for entry in made.sounds]


def meshes_same(obj: bpy.types.Object, other: bpy.types.Object) -> npt.NDArray[np.int64]:
    """By number: cutting edges leaves the old vertices first."""
    count = len(obj.data.vertices)
    numbers = np.arange(len(other.data.vertices))
    return np.where(numbers < count, numbers, -1)


def test_later_edits_stay_where_they_are_made(tmp_path: Path) -> None:
    """A key of the new mesh's Action, moved: other frames keep theirs, and so does the character."""
    made, obj, other = edited(tmp_path, "BONES")
    before = car.read(scene.export(tmp_path / "before.car", other)).animations
    action = clips.animations(other.data)[0].action
    curve = next(c for c in compat.all_curves(action) if c.data_path.endswith("rotation_quaternion"))
    curve.keyframe_points[4].co.y += 0.2
    after = car.read(scene.export(tmp_path / "after.car", other)).animations
    changed = (before[0].frames != after[0].frames).any(axis=(1, 2))
    assert np.flatnonzero(changed).tolist() == [4]
    assert characters.same_animations(before[1:], after[1:])
    assert scene.export(tmp_path / "worm2.car", obj) == characters.written(made)


def test_soft_vertices_beside_bones(tmp_path: Path) -> None:
    """The new mesh gets keys of its own for them, and plays them."""
    made = soft_character()
    data, obj = scene.bring_model(tmp_path / "soft.car", made, motion="BONES", use_correctives=True)
    other = bare_copy(obj)
    subdivide(other)
    transfer(other, obj, shape="REST")
    count = len(obj.data.vertices)
    assert other.data.shape_keys is not None
    assert other.data.shape_keys != obj.data.shape_keys
    found = car.read(scene.export(tmp_path / "out.car", other))
    for before, after in zip(made.animations, found.animations, strict=True):
        assert np.array_equal(after.frames[:, :count], before.frames)
    assert scene.export(tmp_path / "same.car", obj) == data
    for number, animation in enumerate(made.animations):
        scene.select(other)
        assert bpy.ops.carnivores.animation_play(number=number) == {"FINISHED"}
        start, end = clips.animations(other.data)[number].action.frame_range
        middle = len(animation.frames) // 2
        time = start + (end - start) * middle / (len(animation.frames) - 1)
        bpy.context.scene.frame_set(int(time), subframe=time % 1)
        shown = posed(other)[:count, [0, 2, 1]] * motion.STEPS
        assert np.abs(shown - animation.frames[middle]).max() <= 2.5


def posed(obj: bpy.types.Object) -> npt.NDArray[np.float64]:
    """The vertices as they are shown now."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    points = np.empty(len(mesh.vertices) * 3)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)
