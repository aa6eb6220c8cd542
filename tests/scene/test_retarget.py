# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions of one armature on another: the same motion whatever the bones look like at rest, larger on a larger one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import mathutils
import numpy as np
import pytest
from addon.io_carnivores.formats import car
from addon.io_carnivores.scene import bake, clips, frames, rig_motion
from addon.io_carnivores.scene import retarget as retargeting
from addon.io_common.scene import compat, selection

from tests import characters

from .helpers import scene

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt


def worm(tmp_path: Path) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Mesh and armature of the made creature."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    return obj, selection.armature_of(obj)


def another(
    obj: bpy.types.Object,
    rig: bpy.types.Object,
    *,
    name: Callable[[str], str] = str,
    change: mathutils.Matrix | None = None,
    swing: float = 0.0,
    mode: str = "QUATERNION",
) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A mesh and an armature like those given, without animations.

    `change`: applied to both in their own space; `swing`: rolls and directions of the bones at rest are others.
    """
    matrix = change or mathutils.Matrix()
    data = bpy.data.armatures.new("Other")
    other = bpy.data.objects.new("Other", data)
    bpy.context.scene.collection.objects.link(other)
    other.matrix_world = rig.matrix_world
    facts = [(b.name, b.head_local.copy(), b.tail_local.copy(), b.parent and b.parent.name) for b in rig.data.bones]
    with scene.edit_mode(other):
        for number, (title, head, tail, parent) in enumerate(facts):
            bone = data.edit_bones.new(name(title))
            bone.head = matrix @ head
            turn = mathutils.Euler((swing * (number + 1), -swing, swing / 2)).to_matrix()
            bone.tail = matrix @ (head + turn @ (tail - head))
            bone.roll = swing * 2
            if parent:
                bone.parent = data.edit_bones[name(parent)]
    for bone in other.pose.bones:
        bone.rotation_mode = mode
    mesh = obj.data.copy()
    clips.animations(mesh).clear()
    clips.sounds(mesh).clear()
    mesh.transform(matrix)
    made = bpy.data.objects.new("Other Mesh", mesh)
    bpy.context.scene.collection.objects.link(made)
    for group in made.vertex_groups:
        group.name = name(group.name)
    made.parent = other
    made.modifiers.new("Armature", "ARMATURE").object = other
    bpy.context.view_layer.update()
    return made, other


def retarget(target: bpy.types.Object, source: bpy.types.Object, **options: Any) -> None:
    scene.select(target, source)
    assert bpy.ops.carnivores.retarget_actions(**options) == {"FINISHED"}


def shown(obj: bpy.types.Object, number: int) -> npt.NDArray[np.float64]:
    """Vertices of an animation in the object's armature's space, (N, V, 3)."""
    item = clips.animations(obj.data)[number]
    times = frames.sample_times(bpy.context.scene, item)
    return bake.bake(bpy.context, [bake.Body.of(obj, None)], item.action, times).astype(np.float64)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "YXZ", "AXIS_ANGLE"])
def test_other_rolls_and_directions(tmp_path: Path, mode: str) -> None:
    """The vertices go the same way, however the bones rotate."""
    obj, rig = worm(tmp_path)
    mesh, other = another(obj, rig, swing=0.5, mode=mode)
    retarget(mesh, obj)
    assert len(clips.animations(mesh.data)) == 3
    for number in range(3):
        assert np.abs(shown(mesh, number) - shown(obj, number)).max() < 0.02
    assert other.animation_data.action == clips.animations(mesh.data)[0].action


@pytest.mark.parametrize("size", [2.0, 0.25])
def test_another_size(tmp_path: Path, size: float) -> None:
    """Travel grows with the creature."""
    obj, rig = worm(tmp_path)
    mesh, _other = another(obj, rig, swing=-0.7, change=mathutils.Matrix.Scale(size, 4))
    retarget(mesh, rig)
    for number in range(3):
        assert np.abs(shown(mesh, number) - size * shown(obj, number)).max() < 0.03 * size


def test_a_scale_that_was_applied_to_the_source(tmp_path: Path) -> None:
    """Blender leaves the keys of locations as they were; that is no motion of the creature."""
    obj, rig = worm(tmp_path)
    mesh, _other = another(obj, rig, swing=0.5)
    wanted = [shown(obj, number) for number in range(3)]
    scene.select(rig, obj)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    retarget(mesh, obj)
    for number in range(3):
        assert np.abs(shown(mesh, number) - wanted[number]).max() < 0.03


def test_an_armature_that_lies_on_its_back(tmp_path: Path) -> None:
    """As FBX brings them: turned at rest, and back by its object."""
    obj, rig = worm(tmp_path)
    turn = mathutils.Matrix.Rotation(-np.pi / 2, 4, "X")
    mesh, other = another(obj, rig, name=lambda title: f"mixamorig:{title}_joint", change=turn)
    other.matrix_world = rig.matrix_world @ turn.inverted()
    bpy.context.view_layer.update()
    retarget(mesh, obj)
    wanted = shown(obj, 0) @ np.array(turn.to_3x3()).T
    assert np.abs(shown(mesh, 0) - wanted).max() < 0.02


def test_list_sounds_and_export(tmp_path: Path) -> None:
    """Rates, frames and sounds come along, and the other mesh exports what the first would."""
    obj, rig = worm(tmp_path)
    mesh, _other = another(obj, rig, swing=0.3)
    retarget(mesh, obj)
    old, new = (list(clips.animations(each.data)) for each in (obj, mesh))
    assert [(i.name, i.kps, i.frames) for i in new] == [(i.name, i.kps, i.frames) for i in old]
    assert [clips.sounds(mesh.data)[i.sound].name if i.sound >= 0 else "" for i in new] == [
        clips.sounds(obj.data)[i.sound].name if i.sound >= 0 else "" for i in old
    ]
    made = characters.creature()
    found = car.read(scene.export(tmp_path / "out.car", mesh))
    for before, after in zip(made.animations, found.animations, strict=True):
        assert np.abs(before.frames.astype(int) - after.frames).max() <= 2
    mesh, _other = another(obj, rig)
    retarget(mesh, obj, use_sounds=False)
    assert not len(clips.sounds(mesh.data))
    assert [item.sound for item in clips.animations(mesh.data)] == [-1, -1, -1]


def test_keys_are_linear_and_do_not_jump(tmp_path: Path) -> None:
    """One key per frame and channel; a quaternion never flips to its opposite."""
    obj, rig = worm(tmp_path)
    mesh, _other = another(obj, rig, swing=1.0)
    retarget(mesh, obj)
    item = clips.animations(mesh.data)[0]
    curves = compat.all_curves(item.action)
    assert {len(curve.keyframe_points) for curve in curves} == {item.frames}
    assert {point.interpolation for curve in curves for point in curve.keyframe_points} == {"LINEAR"}
    by_bone: dict[str, list[list[float]]] = {}
    for curve in curves:
        if curve.data_path.endswith("rotation_quaternion"):
            by_bone.setdefault(curve.data_path, []).append([point.co.y for point in curve.keyframe_points])
    for values in by_bone.values():
        steps = np.array(values).T
        assert (np.einsum("nk,nk->n", steps[1:], steps[:-1]) > 0).all()


def said(capfd: Any) -> str:
    return str(capfd.readouterr().out)


def test_bones_without_a_counterpart_keep_to_their_parents(tmp_path: Path, capfd: Any) -> None:
    """They are named, up to three."""
    obj, rig = worm(tmp_path)
    mesh, other = another(obj, rig)
    with scene.edit_mode(other):
        bones = other.data.edit_bones
        last = bones[-1]
        for number in range(4):
            extra = bones.new(f"Horn{number}")
            extra.head = last.head + mathutils.Vector((90 + 10 * number, 200, 300))
            extra.tail = extra.head + mathutils.Vector((0, 0, 5))
            extra.parent = last
    capfd.readouterr()
    retarget(mesh, obj)
    assert '4 not at all: "Horn0", "Horn1", "Horn2" and 1 more.' in said(capfd)
    action = clips.animations(mesh.data)[0].action
    assert not any("Horn" in curve.data_path for curve in compat.all_curves(action))
    moved = rig_motion.motion(bpy.context, other, bake.Aim(other, action), [1.0, 5.0])
    parent, child = (list(other.data.bones.keys()).index(title) for title in (last_name(other), "Horn0"))
    assert np.abs(moved[:, parent] - moved[:, child]).max() < 1e-3


def last_name(rig: bpy.types.Object) -> str:
    return str(rig.data.bones["Horn0"].parent.name)


def test_left_stays_left(tmp_path: Path) -> None:
    """A biped whose sides step in turn, onto one with other names."""
    del tmp_path
    source = biped("Leg.L", "Leg.R")
    step(source, "Leg.L", 0.8)
    target = biped("oberschenkel_links_l", "oberschenkel_rechts_r", size=3.0)
    scene.select(target, source)
    assert bpy.ops.carnivores.retarget_actions() == {"FINISHED"}
    bpy.context.scene.frame_set(10)
    bpy.context.view_layer.update()
    left, right = (target.pose.bones[name] for name in ("oberschenkel_links_l", "oberschenkel_rechts_r"))
    wanted = source.pose.bones["Leg.L"]
    assert np.allclose(left.matrix_channel.to_3x3(), wanted.matrix_channel.to_3x3(), atol=1e-4)
    assert np.allclose(right.matrix_channel.to_3x3(), np.eye(3), atol=1e-4)
    assert np.allclose(
        target.pose.bones["body"].matrix_channel.translation,
        3 * source.pose.bones["body"].matrix_channel.translation,
        atol=1e-3,
    )


def biped(left: str, right: str, size: float = 1.0) -> bpy.types.Object:
    data = bpy.data.armatures.new("Biped")
    rig = bpy.data.objects.new("Biped", data)
    bpy.context.scene.collection.objects.link(rig)
    with scene.edit_mode(rig):
        for name, head in (
            ("body", (0, 0, 1)),
            ("head", (0, -0.5, 1.5)),
            (left, (0.3, 0, 0.9)),
            (right, (-0.3, 0, 0.9)),
        ):
            bone = data.edit_bones.new(name)
            bone.head = mathutils.Vector(head) * size
            bone.tail = bone.head + mathutils.Vector((0, 0, -0.3 if head[0] else 0.3)) * size
            bone.parent = data.edit_bones["body"] if name != "body" else None
    return rig


def step(rig: bpy.types.Object, name: str, angle: float) -> None:
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.0), (10, angle)):
        rig.pose.bones[name].rotation_euler.x = turn
        rig.pose.bones[name].keyframe_insert("rotation_euler", frame=frame)
        rig.pose.bones["body"].location.y = turn
        rig.pose.bones["body"].keyframe_insert("location", frame=frame)


def test_the_assigned_action_without_a_list(tmp_path: Path) -> None:
    """Any armature will do as the source; a list that is there gets an entry."""
    obj, rig = worm(tmp_path)
    mesh, other = another(obj, rig)
    bpy.data.objects.remove(obj)
    before = rig.animation_data.action
    retarget(mesh, rig)
    assert rig.animation_data.action == before
    assert other.animation_data.action != before
    (item,) = clips.animations(mesh.data)
    assert item.action == other.animation_data.action


def refused(match: str, *objects: bpy.types.Object) -> None:
    scene.select(*objects)
    before = len(bpy.data.actions)
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.carnivores.retarget_actions()
    assert len(bpy.data.actions) == before


def test_refusals(tmp_path: Path) -> None:
    """One sentence each."""
    obj, rig = worm(tmp_path)
    mesh, other = another(obj, rig, name=lambda title: f"x{title}")
    refused("another armature", rig, obj)
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.active_object
    refused("no armature with bones", cube, rig)
    refused("has no list of animations and plays no Action", rig, other)
    idle = biped("a", "b")
    refused("one armature only", mesh, rig, idle)
    with scene.edit_mode(idle):
        for bone in list(idle.data.edit_bones)[1:]:
            idle.data.edit_bones.remove(bone)
    assert idle.data.bones[0].name == "body"


def test_eulers_are_those_of_blender() -> None:
    """All six orders, at their poles too."""
    rng = np.random.default_rng(2)
    quaternions = rng.normal(size=(60, 4))
    quaternions[:4] = [(1, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, -1)]
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    for order in ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"):
        found = rig_motion.eulers(quaternions, order)
        back = np.array([mathutils.Euler(angles, order).to_matrix() for angles in found.tolist()])
        wanted = np.array([mathutils.Quaternion(q).to_matrix() for q in quaternions.tolist()])
        assert np.abs(back - wanted).max() < 1e-5
        jumps = np.abs(np.diff(found, axis=0))
        assert jumps.max() <= np.pi + 1e-6


@pytest.mark.samples("*ALLO.CAR")
def test_a_sample_on_its_own_bones(sample: Path, tmp_path: Path) -> None:
    """A real creature with other rests and twice the size moves as it does."""
    obj = next(obj for obj in scene.bring(sample) if obj.type == "MESH")
    rig = selection.armature_of(obj)
    mesh, _other = another(obj, rig, swing=0.4, change=mathutils.Matrix.Scale(2, 4))
    retarget(mesh, obj)
    count = len(clips.animations(obj.data))
    assert len(clips.animations(mesh.data)) == count
    for number in range(0, count, 3):
        assert np.abs(shown(mesh, number) - 2 * shown(obj, number)).max() < 0.1


@pytest.mark.samples("*/MOSH.CAR")
def test_a_hanging_tail_on_a_long_one(sample: Path, tmp_path: Path) -> None:
    """It swings by the same angles: no further than so much longer a tail does."""
    source = next(obj for obj in scene.bring(sample, motion="BONES") if obj.type == "MESH")
    target = next(obj for obj in scene.bring(sample.with_name("ALLO.CAR"), motion="BONES") if obj.type == "MESH")
    rigs = [selection.armature_of(obj) for obj in (source, target)]
    lengths = [sum(bone.length for bone in rig.data.bones if bone.name.startswith("Tail")) for rig in rigs]
    old = car.read(sample.read_bytes()).animations
    count = len(clips.animations(target.data))
    retargeting.retarget(bpy.context, *(retargeting.Party.of(bpy.context, rig) for rig in reversed(rigs)))
    new = car.read(scene.export(tmp_path / "out.car", target)).animations[count:]
    assert len(new) == len(old)
    for before, after in zip(old, new, strict=True):
        steps = [np.linalg.norm(np.diff(entry.frames.astype(float), axis=0), axis=2).max() for entry in (before, after)]
        assert steps[1] <= max(1.5 * steps[0] * lengths[1] / lengths[0], 16)
