# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones under other names: by hand, from another armature, from a model; nothing loses its motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import mathutils
import numpy as np
import pytest
from addon.io_carnivores.formats import bone_source, car, model_3df, model_3dn
from addon.io_carnivores.formats.model import BONE, Model, name_field
from addon.io_carnivores.scene import clips, curves, kept
from addon.io_common.scene import compat, selection

from tests import characters

from .helpers import scene

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ["Tail End", "Tail", "Body", "Head"]


@pytest.fixture
def boned(tmp_path: Path) -> bpy.types.Object:
    """A character shown by recovered bones."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    return obj


def bones_of(obj: bpy.types.Object) -> Any:
    return selection.armature_of(obj).data.bones


def moves(obj: bpy.types.Object) -> set[str]:
    """All bones that the Actions in the list move."""
    return set().union(*(curves.bones_of(item.action) for item in clips.animations(obj.data)))


def untouched(obj: bpy.types.Object, folder: Path) -> bool:
    """Whether the export is the file it came from."""
    return scene.export(folder / "out.car", obj) == characters.written(characters.creature())


def test_renamed_by_hand(boned: bpy.types.Object, tmp_path: Path) -> None:
    """In the assigned Action and in the others; also through a saved .blend."""
    for bone, name in zip(bones_of(boned), NAMES, strict=True):
        bone.name = name
    assert moves(boned) == {*NAMES, "Bone1", "Bone2", "Bone3", "Bone4"}
    title = boned.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[title]
    assert untouched(obj, tmp_path)
    assert moves(obj) == set(NAMES)
    assert all(curves.is_sealed(item.action) for item in clips.animations(obj.data))
    assert bpy.ops.carnivores.animation_play(number=1) == {"FINISHED"}


def test_exchanged_by_hand(boned: bpy.types.Object, tmp_path: Path) -> None:
    """Two bones that swap their names are still themselves in every Action."""
    before = scene.export(tmp_path / "a.car", boned)
    first, second = bones_of(boned)[0], bones_of(boned)[3]
    one, two = first.name, second.name
    first.name, second.name = "x", one
    first.name = two
    assert scene.export(tmp_path / "b.car", boned) == before
    for item in clips.animations(boned.data):
        item.action[kept.PACKED_FRAMES] = b""
    baked = car.read(scene.export(tmp_path / "c.car", boned))
    for old, new in zip(characters.creature().animations, baked.animations, strict=True):
        assert np.abs(old.frames.astype(int) - new.frames).max() <= 2


def test_playing_puts_it_right(boned: bpy.types.Object) -> None:
    """Without an export in between."""
    bones_of(boned)[0].name = "Hips"
    scene.select(boned)
    bpy.ops.carnivores.animation_play(number=2)
    assert "Hips" in curves.bones_of(clips.animations(boned.data)[2].action)


def test_edited_actions_follow_too(boned: bpy.types.Object, tmp_path: Path) -> None:
    """They stay edited, and move the bone under its new name."""
    item = clips.animations(boned.data)[1]
    curve = next(c for c in compat.all_curves(item.action) if c.data_path.endswith("rotation_quaternion"))
    curve.keyframe_points[2].co.y += 0.4
    wanted = car.read(scene.export(tmp_path / "a.car", boned))
    bones_of(boned)[1].name = "Middle"
    assert car.read(scene.export(tmp_path / "b.car", boned)).animations == wanted.animations
    assert not curves.is_sealed(item.action)


def test_a_copy_of_a_bone_takes_nothing(boned: bpy.types.Object, tmp_path: Path) -> None:
    """It remembers the name of the bone it is a copy of, which is still there."""
    rig = selection.armature_of(boned)
    with scene.edit_mode(rig):
        old = rig.data.edit_bones[0]
        new = rig.data.edit_bones.new(f"{old.name}.001")
        new.head, new.tail = old.head, old.tail
    rig.data.bones[-1][kept.BONE_NAME] = rig.data.bones[0].name
    scene.export(tmp_path / "out.car", boned)
    assert moves(boned) == {"Bone1", "Bone2", "Bone3", "Bone4"}


def twin(obj: bpy.types.Object, names: Sequence[str], *, places: Sequence[int] = range(4)) -> bpy.types.Object:
    """An armature with bones in the places of those of `obj`, under other names."""
    heads = [bone.head_local.copy() for bone in bones_of(obj)]
    data = bpy.data.armatures.new("Twin")
    rig = bpy.data.objects.new("Twin", data)
    bpy.context.scene.collection.objects.link(rig)
    with scene.edit_mode(rig):
        for name, place in zip(names, places, strict=True):
            bone = data.edit_bones.new(name)
            bone.head = heads[place]
            bone.tail = heads[place] + mathutils.Vector((0, 5, 0))
    return rig


def test_names_of_another_armature(boned: bpy.types.Object, tmp_path: Path) -> None:
    """Even where a name is taken by another bone of the same; everything stays exact."""
    names = [bone.name for bone in bones_of(boned)]
    rig = twin(boned, [names[3], "Tail", names[0]], places=[0, 1, 2])
    scene.select(boned, rig)
    assert bpy.ops.carnivores.name_bones() == {"FINISHED"}
    assert [bone.name for bone in bones_of(boned)] == [names[3], "Tail", names[0], f"{names[3]}.001"]
    assert {group.name for group in boned.vertex_groups} == {bone.name for bone in bones_of(boned)}
    assert moves(boned) == {bone.name for bone in bones_of(boned)}
    assert untouched(boned, tmp_path)
    groups = {curve.group.name for item in clips.animations(boned.data) for curve in compat.all_curves(item.action)}
    assert groups == moves(boned)
    for item in clips.animations(boned.data):
        item.action[kept.PACKED_FRAMES] = b""
    baked = car.read(scene.export(tmp_path / "c.car", boned))
    for old, new in zip(characters.creature().animations, baked.animations, strict=True):
        assert np.abs(old.frames.astype(int) - new.frames).max() <= 2


def test_names_of_an_armature_refused(boned: bpy.types.Object) -> None:
    """One sentence, nothing renamed."""
    names = [bone.name for bone in bones_of(boned)]
    rig = twin(boned, ["left.L", "right.R"], places=[0, 3])
    with scene.edit_mode(rig):
        for bone in rig.data.edit_bones:
            bone.head.x += 5000 if bone.name == "left.L" else -5000
            bone.tail = bone.head + mathutils.Vector((0, 0, 1))
    scene.select(selection.armature_of(boned), rig)
    with pytest.raises(RuntimeError, match=r"No bone of .* lies where"):
        bpy.ops.carnivores.name_bones()
    assert [bone.name for bone in bones_of(boned)] == names


def with_bones(model: Model, order: Sequence[int] = range(4)) -> Model:
    """The tube as a 3DF: bone `order[owner]` for each owner, called after `NAMES`."""
    bones = np.zeros(len(order), BONE)
    places = np.array([(0, 30, 60.0 * number) for number in range(4)])
    for owner, number in enumerate(order):
        bones["name"][number] = np.void(name_field(NAMES[owner]))
        bones["position"][number] = places[owner]
        bones["parent"][number] = order[owner - 1] if owner else -1
    vertices = model.vertices.copy()
    vertices["owner"] = np.array(order)[vertices["owner"]]
    return Model(model.faces, vertices, bones, texels=model.texels)


def import_with(folder: Path, source: Path, **options: Any) -> bpy.types.Object:
    path = folder / "worm.car"
    path.write_bytes(characters.written(characters.creature()))
    return next(obj for obj in scene.bring(path, bones_from=str(source), **options) if obj.type == "MESH")


@pytest.mark.parametrize("suffix", [".3df", ".3dn"])
def test_names_of_a_model(tmp_path: Path, suffix: str) -> None:
    """Names, joints and parents of the bone table, where the numbers agree."""
    source = tmp_path / f"worm{suffix}"
    source.write_bytes((model_3df if suffix == ".3df" else model_3dn).write(with_bones(characters.tube())))
    obj = import_with(tmp_path, source)
    assert [bone.name for bone in bones_of(obj)] == NAMES
    assert [bone.parent.name if bone.parent else "" for bone in bones_of(obj)] == ["", *NAMES[:3]]
    heads = np.array([bone.head_local for bone in bones_of(obj)])
    assert np.abs(heads - [(0, 60.0 * number, 30) for number in range(4)]).max() < 1.0
    assert untouched(obj, tmp_path)


def test_names_of_a_model_with_other_numbers(tmp_path: Path) -> None:
    """Found by the places of their vertices; another size does not matter."""
    model = with_bones(characters.tube(), [2, 0, 3, 1])
    model.vertices["position"] *= 3
    model.bones["position"] *= 3
    (tmp_path / "other.3df").write_bytes(model_3df.write(model))
    obj = import_with(tmp_path, tmp_path / "other.3df")
    assert [bone.name for bone in bones_of(obj)] == NAMES
    assert untouched(obj, tmp_path)


def test_names_of_a_model_refused(tmp_path: Path) -> None:
    """Missing, no model, without bones, of another creature: a sentence that names the file, and nothing imported."""
    (tmp_path / "noise.3df").write_bytes(b"no model at all")
    plain = with_bones(characters.tube())
    (tmp_path / "boneless.3df").write_bytes(model_3df.write(Model(plain.faces, plain.vertices, texels=plain.texels)))
    other = with_bones(characters.tube(), [2, 0, 3, 1])
    other.vertices["owner"] = np.arange(len(other.vertices)) % 4
    other.vertices["owner"][5:] = 1
    (tmp_path / "other.3df").write_bytes(model_3df.write(other))
    (tmp_path / "worm.car").write_bytes(characters.written(characters.creature()))
    before = [len(blocks) for blocks in (bpy.data.objects, bpy.data.meshes, bpy.data.actions, bpy.data.armatures)]
    for name, match in (
        ("gone.3df", "gone.3df"),
        ("noise.3df", "noise.3df"),
        ("boneless.3df", "boneless.3df: this model has no bones"),
        ("other.3df", "other.3df: the bones of this model are not those"),
        ("worm.car", "worm.car: this is another kind of file"),
    ):
        with pytest.raises(RuntimeError, match=match):
            import_with(tmp_path, tmp_path / name)
    after = [len(blocks) for blocks in (bpy.data.objects, bpy.data.meshes, bpy.data.actions, bpy.data.armatures)]
    assert after == before


@pytest.mark.parametrize("placeholder", [False, True])
def test_a_model_with_the_recovered_bones(tmp_path: Path, placeholder: bool) -> None:
    """A 3DF made of a character has its bones, by owner, and gives them back to the character."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="BONES")
    if placeholder:  # the base pose of the file is far from where the bones rest
        base = character.model.vertices["position"].astype(np.float64)
        character.model.vertices["position"] = base @ characters.turned(0.7, 1).T + np.array([40.0, 10.0, -300.0])
        bpy.data.objects.remove(selection.armature_of(obj))
        data, obj = scene.bring_model(tmp_path / "far.car", character, motion="BONES")
    for bone, name in zip(bones_of(obj), ["Tail End", "Tail", "Body", "x" * 40], strict=True):
        bone.name = name
    owners = {bone.name: bone[kept.OWNER_NUMBER] for bone in bones_of(obj)}
    heads = {bone.name[:31]: np.array(bone.head_local) for bone in bones_of(obj)}
    parents = {bone.name[:31]: bone.parent.name[:31] if bone.parent else None for bone in bones_of(obj)}
    model = model_3df.read(scene.export(tmp_path / "worm.3df", obj))
    names = [bytes(name).split(b"\0")[0].decode() for name in model.bones["name"].tolist()]
    assert {name[:31]: owner for name, owner in owners.items()} == {name: owner for owner, name in enumerate(names)}
    assert {
        name: names[parent] if parent >= 0 else None for name, parent in zip(names, model.bones["parent"], strict=True)
    } == parents
    assert np.array_equal(model.vertices["owner"], character.model.vertices["owner"])
    path = tmp_path / ("far.car" if placeholder else "worm.car")
    made = scene.bring(path, bones_from=str(tmp_path / "worm.3df"), motion="BONES")
    again = next(entry for entry in made if entry.type == "MESH")
    assert {bone.name for bone in bones_of(again)} == set(names)
    for bone in bones_of(again):
        assert np.abs(np.array(bone.head_local) - heads[bone.name]).max() < 0.3, bone.name
        assert (bone.parent.name if bone.parent else None) == parents[bone.name]
    assert scene.export(tmp_path / "out.car", again) == data


@pytest.mark.samples("*.car")
def test_models_of_real_creatures(sample: Path, tmp_path: Path) -> None:
    """The bones of the 3DF are where those of the armature are, or where the base pose has them."""
    made = scene.bring(sample)
    obj = next(entry for entry in made if entry.type == "MESH")
    rig = selection.armature_of(obj)
    if rig is None:
        assert not len(clips.animations(obj.data)) or obj.data.shape_keys is not None
        return
    model = model_3df.read(scene.export(tmp_path / "out.3df", obj))
    for bone in rig.data.bones:
        record = model.bones[bone[kept.OWNER_NUMBER]]
        parent = bone.parent[kept.OWNER_NUMBER] if bone.parent else -1
        assert (bytes(record["name"]), record["parent"]) == (name_field(bone.name), parent)
    title = {bone.name: np.array(bone.head_local) for bone in rig.data.bones}
    data = scene.export(tmp_path / "one.car", obj)
    again = next(entry for entry in scene.bring(sample, bones_from=str(tmp_path / "out.3df")) if entry.type == "MESH")
    off = [np.abs(np.array(bone.head_local) - title[bone.name]).max() for bone in bones_of(again)]
    assert max(off) < 0.1
    assert scene.export(tmp_path / "two.car", again) == data


def test_names_of_another_creature(tmp_path: Path) -> None:
    """As many owners, of the same numbers: other places and other shares of the vertices give it away."""
    model = with_bones(characters.tube())
    other = model.vertices["position"].copy()
    other[:, 2] = other[:, 2] ** 2 / 240  # everything at one end
    model.vertices["position"] = other[:, [1, 0, 2]]
    model.vertices["owner"] = np.searchsorted([20, 24, 26], np.arange(len(other)), side="right")
    (tmp_path / "other.3df").write_bytes(model_3df.write(model))
    with pytest.raises(RuntimeError, match=r"other\.3df: the bones of this model are not those of the creature: no"):
        import_with(tmp_path, tmp_path / "other.3df")


@pytest.mark.samples("*/ALLO.CAR")
def test_names_of_another_real_creature(sample: Path, tmp_path: Path) -> None:
    """A 3DF of one creature is refused for every other, and the same one of the other game gives its names."""
    obj = next(entry for entry in scene.bring(sample, motion="BONES") if entry.type == "MESH")
    scene.export(tmp_path / "allo.3df", obj)
    tried = 0
    for path in sorted(sample.parent.glob("*.[cC][aA][rR]")):
        character = car.read(path.read_bytes())
        if path == sample or len(np.unique(character.model.vertices["owner"])) < 4 or not character.animations:
            continue
        with pytest.raises(RuntimeError, match="not those of the creature"):
            scene.bring(path, bones_from=str(tmp_path / "allo.3df"))
        tried += 1
    assert tried > 4
    vertices = car.read(sample.read_bytes()).model.vertices
    model = model_3df.read((tmp_path / "allo.3df").read_bytes())
    shuffled = np.random.default_rng(1).permutation(len(model.bones))  # other numbers, and a part of it cut away
    model.vertices, model.bones = model.vertices[40:].copy(), model.bones.copy()
    model.vertices["owner"] = shuffled[model.vertices["owner"]]
    names = model.bones["name"].copy()
    model.bones["name"][shuffled] = names
    found = bone_source.table(model, vertices, sample)
    used = np.unique(vertices["owner"])
    assert np.mean(found["name"][used] == names[used]) > 0.9
