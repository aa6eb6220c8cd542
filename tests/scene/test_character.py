# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters through the scene: bytes survive, edits stay where they are made, and files of one animation fit on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bmesh
import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import ani, car, cat, model_3dn, sound_data, vtl
from addon.io_carnivores.formats.cat import Cat, CatAnimation
from addon.io_carnivores.formats.model import BONE, name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.formats.vtl import Vtl
from addon.io_carnivores.scene import clip_edit, clips, kept
from addon.io_common.scene import selection

from tests import characters, creature

from .helpers import scene
from .helpers.memory import measured

if TYPE_CHECKING:
    from collections.abc import Callable

MOTIONS = ["BONES", "KEYS", "RELATIVE_KEYS"]


def meshes(objects: list[bpy.types.Object]) -> bpy.types.Object:
    """The mesh object among those of an import."""
    return next(obj for obj in objects if obj.type == "MESH")


def rate(fps: float) -> None:
    """Frames per second of the scene."""
    bpy.context.scene.render.fps = round(fps)
    bpy.context.scene.render.fps_base = round(fps) / fps


@pytest.mark.parametrize("fps", [24, 30, 60, 23.976])
@pytest.mark.parametrize("motion", MOTIONS)
def test_untouched_bytes_through_a_saved_blend(tmp_path: Path, motion: str, fps: float) -> None:
    """Names with leftovers, odd sounds, junk in the table, all of it."""
    rate(fps)
    data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion=motion)
    assert (selection.armature_of(obj) is not None) == (motion == "BONES")
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    assert scene.export(tmp_path / "out.car", bpy.data.objects[name]) == data


@pytest.mark.samples("*.car", "*.cat")
@pytest.mark.parametrize("fps", [24, 30, 60])
@pytest.mark.parametrize("motion", ["BONES", "KEYS"])
def test_samples_through_a_saved_blend(sample: Path, tmp_path: Path, motion: str, fps: int) -> None:
    """The same with real files, at every rate and in both ways to show the motion."""
    rate(fps)
    obj = meshes(scene.bring(sample, motion=motion))
    frames = [item.frames for item in clips.animations(obj.data)]
    assert (selection.armature_of(obj) is not None) == (motion == "BONES" and any(frames))
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    assert scene.export(tmp_path / sample.name, bpy.data.objects[name]) == sample.read_bytes()


@pytest.mark.samples("*.vtl", "*mobile/*.ani")
@pytest.mark.parametrize("fps", [24, 30, 60])
def test_sample_animations_through_a_saved_blend(sample: Path, tmp_path: Path, fps: int) -> None:
    """Animations without a model, which bring vertices of their own."""
    rate(fps)
    name = meshes(scene.bring(sample)).name
    scene.reopen(tmp_path / "scene.blend")
    assert scene.export(tmp_path / sample.name, bpy.data.objects[name]) == sample.read_bytes()


def test_automatic_shows_bones_where_they_fit(tmp_path: Path) -> None:
    """A body that is rigid gets bones, one that melts gets shape keys."""
    _data, obj = scene.bring_model(tmp_path / "stiff.car", characters.creature())
    assert selection.armature_of(obj) is not None
    _data, obj = scene.bring_model(tmp_path / "soft.car", characters.creature(soft=True))
    assert selection.armature_of(obj) is None
    assert len(obj.data.shape_keys.key_blocks) == 1 + 12 + 9 + 7


def differing(before: bytes, after: bytes) -> list[int]:
    """Offsets of the bytes that differ between files of one length."""
    assert len(before) == len(after)
    return np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)).tolist()


def test_one_vertex_of_one_key_changes_only_its_bytes(tmp_path: Path) -> None:
    """The frame it belongs to is found in the file, and nothing else moves."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="KEYS")
    frame, vertex = 4, 17
    block = obj.data.shape_keys.key_blocks[1 + len(character.animations[0].frames) + frame]
    block.data[vertex].co.x += 2.0
    after = scene.export(tmp_path / "out.car", obj)
    first = characters.first_animation(character)
    second = first + 40 + character.animations[0].frames.nbytes + 40
    place = second + (frame * len(character.model.vertices) + vertex) * 6
    assert set(differing(data, after)) <= {place, place + 1}
    found = car.read(after).animations[1].frames[frame, vertex]
    assert (found - character.animations[1].frames[frame, vertex]).tolist() == [32, 0, 0]


def test_the_base_pose_of_keys_is_the_base_pose_of_the_file(tmp_path: Path) -> None:
    """With frames left as they are, just that vertex changes."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="KEYS")
    obj.data.vertices[5].co.z += 1.5
    after = scene.export(tmp_path / "out.car", obj, use_base_edits=False)
    start = 52 + character.model.faces.nbytes
    assert set(differing(data, after)) <= set(range(start + 5 * 16, start + 5 * 16 + 12))
    assert car.read(after).model.vertices["position"][5, 1] == character.model.vertices["position"][5, 1] + 1.5


def _by_script(obj: bpy.types.Object) -> None:
    """What Edit Mode would take along stays where it is."""
    obj.data.vertices[20].co.z += 5.0
    if obj.data.shape_keys is not None:
        obj.data.shape_keys.reference_key.data[20].co.z += 5.0


def _by_hand(obj: bpy.types.Object) -> None:
    obj.active_shape_key_index = 0
    with scene.edit_mode(obj):
        vertices = bmesh.from_edit_mesh(obj.data).verts
        vertices.ensure_lookup_table()
        vertices[20].co.z += 5.0


@pytest.mark.parametrize("follow", [True, False])
@pytest.mark.parametrize("edit", [_by_script, _by_hand])
@pytest.mark.parametrize("motion", ["BONES", "KEYS", "RELATIVE_KEYS"])
def test_the_base_pose_takes_the_frames_along(
    tmp_path: Path, motion: str, edit: Callable[[bpy.types.Object], None], follow: bool
) -> None:
    """An edited vertex moves with its bone in every frame, or leaves the frames alone; all others keep their bytes."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=motion)
    edit(obj)
    if motion != "BONES":
        clip_edit.duplicate(obj, 2)
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    after = car.read(scene.export(tmp_path / "out.car", bpy.data.objects[name], use_base_edits=follow))
    if motion != "BONES":
        assert np.array_equal(after.animations[3].frames, after.animations[2].frames)
    for old, new in zip(character.animations, after.animations[:3], strict=True):
        moved = (old.frames != new.frames).any(axis=2)
        others = np.delete(moved, 20, axis=1)
        assert not others.any()
        assert moved[:, 20].all() == follow
        if follow:
            away = np.linalg.norm((new.frames[:, 20] - old.frames[:, 20].astype(int)) / 16, axis=1)
            assert np.abs(away - 5.0).max() < 0.3, "the same way out, whichever way the bone has turned"
        else:
            assert not moved.any()


@pytest.mark.parametrize("motion", ["BONES", "KEYS"])
@pytest.mark.parametrize("last_index", [False, True])
def test_a_vtl_goes_onto_the_selected_character(tmp_path: Path, motion: str, last_index: bool) -> None:
    """As bone motion on recovered bones, as keys otherwise; it and all the rest come back to the byte."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=motion)
    frames = characters.swing(character.model, 8, strength=0.25, axis=1)
    path = tmp_path / "Nod.vtl"
    data = vtl.write(Vtl(Animation(b"", 12, frames), last_index))
    path.write_bytes(data)
    before = set(bpy.data.objects)
    assert bpy.ops.import_scene.carnivores_vtl(filepath=str(path)) == {"FINISHED"}
    assert set(bpy.data.objects) == before
    item = clips.animations(obj.data)[3]
    assert (item.name, item.kps, item.frames) == ("Nod", 12, 8)
    assert (item.first_key >= 0) == (motion == "KEYS")
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    assert scene.export(tmp_path / "out.vtl", obj) == data
    assert scene.export(tmp_path / "idle.vtl", obj, animation="walk") == vtl.write(Vtl(character.animations[0]))
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert characters.same_animations(found.animations[:3], character.animations)
    assert found.animations[3] == Animation(name_field("Nod"), 12, frames)
    assert found.table[4 * 4 :] == character.table[3 * 4 : -4]


def test_an_animation_of_a_name_that_is_there_is_said(tmp_path: Path, capfd: Any) -> None:
    """It is appended all the same, as places count and not names."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character)
    path = tmp_path / "idle.vtl"
    path.write_bytes(vtl.write(Vtl(character.animations[1])))
    capfd.readouterr()
    assert bpy.ops.import_scene.carnivores_vtl(filepath=str(path)) == {"FINISHED"}
    assert '"idle" stands at place 4 of the list; place 2 has that name, too.' in capfd.readouterr().out
    assert [item.name for item in clips.animations(obj.data)] == ["walk", "idle", "idle", "idle"]


def test_an_animation_that_fits_nothing_changes_nothing(tmp_path: Path) -> None:
    """One sentence says how many vertices it needs."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature())
    path = tmp_path / "other.ani"
    path.write_bytes(ani.write(Animation(b"", 12, np.zeros((2, 7, 3), "<i2"))))
    with pytest.raises(RuntimeError, match=r'needs a mesh of 7 vertices, and "worm" has 48'):
        bpy.ops.import_scene.carnivores_ani(filepath=str(path))
    assert len(clips.animations(obj.data)) == 3
    assert len(bpy.data.meshes) == 1


@pytest.mark.parametrize("fps", [24, 30, 60])
@pytest.mark.parametrize("kind", ["vtl", "ani"])
def test_with_nothing_selected_vertices_of_its_own(tmp_path: Path, kind: str, fps: int) -> None:
    """A mesh without faces in the place of the first frame."""
    rate(fps)
    animation = Animation(b"", 15, characters.swing(characters.tube(), 6))
    path = tmp_path / f"Nod.{kind}"
    path.write_bytes(ani.write(animation) if kind == "ani" else vtl.write(Vtl(animation)))
    obj = meshes(scene.bring(path))
    assert (len(obj.data.vertices), len(obj.data.polygons)) == (48, 0)
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    assert scene.export(tmp_path / f"out.{kind}", bpy.data.objects[name]) == path.read_bytes()


def test_onto_a_mesh_made_in_blender(tmp_path: Path) -> None:
    """Its own scale counts: the frames show at the size of the mesh and come back to the byte."""
    model = characters.tube()
    mesh = bpy.data.meshes.new("Made")
    points = model.vertices["position"][:, [0, 2, 1]] / 32
    mesh.from_pydata(points.tolist(), [], model.faces["corner"][:, ::-1].tolist())
    obj = bpy.data.objects.new("Made", mesh)
    bpy.context.collection.objects.link(obj)
    scene.select(obj)
    path = tmp_path / "Nod.ani"
    path.write_bytes(ani.write(Animation(b"", 15, characters.swing(model, 6))))
    bpy.ops.import_scene.carnivores_ani(filepath=str(path))
    first = np.array([point.co[:] for point in obj.data.shape_keys.key_blocks[1].points])
    assert np.abs(first - points).max() < 0.1 / 32
    assert scene.export(tmp_path / "out.ani", obj) == path.read_bytes()


def test_a_moved_and_scaled_character_takes_its_frames_along(tmp_path: Path) -> None:
    """Applied transforms reach base pose and frames alike."""
    character = characters.creature()
    for motion in ("BONES", "KEYS"):
        _data, obj = scene.bring_model(tmp_path / "worm.car", character, motion=motion)
        root = obj.parent or obj
        root.scale = [2 * value for value in root.scale]
        bpy.context.view_layer.update()
        after = car.read(scene.export(tmp_path / f"{motion}.car", obj))
        assert np.allclose(after.model.vertices["position"], 2 * character.model.vertices["position"], atol=1e-3)
        for old, new in zip(character.animations, after.animations, strict=True):
            assert np.abs(new.frames - 2 * old.frames.astype(int)).max() <= 1


def cat_folder(folder: Path) -> Path:
    """A character of the mobile game with two animations, one missing, and a sound."""
    folder.mkdir()
    model = characters.tube(0)
    model.texture_name = name_field("skin")
    model.vertices["owner"][:2] = model.vertices["hide"][:2] = -1
    (folder / "worm.3dn").write_bytes(model_3dn.write(model))
    for number, name in enumerate(("worm_walk", "worm_idle")):
        (folder / f"{name}.ani").write_bytes(ani.write(Animation(b"", 10, characters.swing(model, 8 + number))))
    (folder / "roar.wav").write_bytes(sound_data.wav(characters.sound().data) + b"LIST\4\0\0\0abcd")
    text = Cat(
        "Worm", "worm.3dn", [CatAnimation("worm_walk", 0), CatAnimation("gone"), CatAnimation("worm_idle")], ["roar"]
    )
    (folder / "worm.cat").write_bytes(b"# mine\r\n".join([cat.write(text), b""]))
    return folder / "worm.cat"


@pytest.mark.parametrize("motion", ["BONES", "KEYS"])
def test_a_cat_and_all_its_files_come_back(tmp_path: Path, motion: str) -> None:
    """The text to the byte, model, animations and sounds too; what was missing is not made up."""
    path = cat_folder(tmp_path / "in")
    obj = meshes(scene.bring(path, motion=motion))
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    out = tmp_path / "out"
    out.mkdir()
    scene.export(out / "worm.cat", bpy.data.objects[name])
    assert {entry.name for entry in out.iterdir()} == {entry.name for entry in path.parent.iterdir()}
    for entry in path.parent.iterdir():
        assert (out / entry.name).read_bytes() == entry.read_bytes(), entry.name


def test_a_cat_as_a_car_and_a_car_as_a_cat(tmp_path: Path) -> None:
    """Frames and rates are the same in both."""
    obj = meshes(scene.bring(cat_folder(tmp_path / "in"), motion="KEYS"))
    clips.animations(obj.data).remove(1)
    found = car.read(scene.export(tmp_path / "worm.car", obj))
    walk = ani.read((tmp_path / "in" / "worm_walk.ani").read_bytes())
    assert np.array_equal(found.animations[0].frames, walk.frames)
    assert [animation.kps for animation in found.animations] == [10, 10]
    assert found.model.vertices["owner"].min() == 0
    assert found.model.vertices["hide"].min() == 0
    assert len(found.sounds[0].data) == len(characters.sound().data)
    assert [found.sound_of(number) for number in range(2)] == [0, -1]

    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "tube.car", character, motion="BONES")
    out = tmp_path / "out"
    out.mkdir()
    text = cat.read(scene.export(out / "Worm.cat", obj))
    assert [entry.file for entry in text.animations] == ["Worm_walk", "Worm_idle", "Worm_idle_2"]
    assert text.sounds == ["Worm_lone", "Worm_roar"]
    for entry, old in zip(text.animations, character.animations, strict=True):
        new = ani.read((out / f"{entry.file}.ani").read_bytes())
        assert (new.kps, new.frames.tobytes()) == (old.kps, old.frames.tobytes())
    model = model_3dn.read((out / "Worm.3dn").read_bytes())
    assert len(model.bones) == 0
    assert np.array_equal(model.vertices["owner"], character.model.vertices["owner"])
    assert sound_data.exact((out / "Worm_lone.wav").read_bytes()) == character.sounds[0].data


@pytest.mark.parametrize("motion", ["BONES", "KEYS"])
def test_a_bone_table_in_a_character_of_the_mobile_game_comes_back(tmp_path: Path, motion: str) -> None:
    """The bones that are shown are recovered from the motion; the file's own are kept, alone and in a CAT."""
    path = cat_folder(tmp_path / "in")
    model = model_3dn.read((path.parent / "worm.3dn").read_bytes())
    model.bones = np.zeros(4, BONE)
    model.bones["name"] = [np.void(name_field(f"b{number}").replace(b"\0\0", b"\0x", 1)) for number in range(4)]
    model.bones["parent"], model.bones["position"][:, 2] = np.arange(-1, 3), np.arange(4) * 61.3
    (path.parent / "worm.3dn").write_bytes(model_3dn.write(model))
    name = meshes(scene.bring(path, motion=motion)).name
    scene.reopen(tmp_path / "scene.blend")
    out = tmp_path / "out"
    out.mkdir()
    for suffix in (".cat", ".3dn"):
        scene.export(out / f"worm{suffix}", bpy.data.objects[name])
        assert (out / "worm.3dn").read_bytes() == (path.parent / "worm.3dn").read_bytes()
        (out / "worm.3dn").unlink()


def warnings(captured: str) -> list[str]:
    return [line.removeprefix("Warning: ") for line in captured.splitlines() if line.startswith("Warning: ")]


def test_names_that_a_file_cannot_hold_are_said(tmp_path: Path, capfd: Any) -> None:
    """Each with what becomes of it; names that came with a file are none of them."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature())
    capfd.readouterr()
    scene.export(tmp_path / "out.car", obj)
    assert "does not fit" not in capfd.readouterr().out
    clips.animations(obj.data)[0].name = "Шипит"
    clips.sounds(obj.data)[1].name = "a name of a sound that is far too long"
    scene.export(tmp_path / "out.car", obj)
    said = warnings(capfd.readouterr().out)
    assert any('name of the animation "Шипит" does not fit' in line for line in said)
    assert any('name of the sound "a name of a sound that is far too long" does not fit' in line for line in said)


def test_a_sound_that_is_gone_is_said(tmp_path: Path, capfd: Any) -> None:
    """Its place in the list is kept, for the numbers of the others."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature())
    bpy.data.sounds.remove(clips.sounds(obj.data)[0].sound)
    capfd.readouterr()
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert [len(sound.data) for sound in found.sounds] == [0, len(characters.sound().data)]
    assert any('sound "lone" has no samples any more' in line for line in warnings(capfd.readouterr().out))


def test_files_of_a_cat_that_are_not_written_are_said(tmp_path: Path, capfd: Any) -> None:
    """In one warning."""
    path = cat_folder(tmp_path / "in")
    (path.parent / "roar.wav").unlink()
    obj = meshes(scene.bring(path))
    out = tmp_path / "out"
    out.mkdir()
    capfd.readouterr()
    scene.export(out / "worm.cat", obj)
    assert any(
        "2 files are named but not written" in line and "gone.ani, roar.wav" in line
        for line in warnings(capfd.readouterr().out)
    )


def test_a_car_with_russian_names_as_a_cat(tmp_path: Path) -> None:
    """The text cannot say them; each has a file of its own all the same, by which it is found again."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character)
    for item, name in zip(clips.animations(obj.data), ("идти", "шить", "пить"), strict=True):
        item.name = name
    out = tmp_path / "out"
    out.mkdir()
    scene.export(out / "worm.cat", obj)
    again = meshes(scene.bring(out / "worm.cat"))
    assert [item.frames for item in clips.animations(again.data)] == [12, 9, 7]


def test_an_edit_of_a_cat_keeps_what_its_author_wrote(tmp_path: Path) -> None:
    """Remarks and values that mean nothing here."""
    path = cat_folder(tmp_path / "in")
    text = path.read_bytes().replace(b"animation_id 1", b"\tspeed = 2 // faster\r\nanimation_id 1")
    path.write_bytes(text)
    obj = meshes(scene.bring(path))
    clips.animations(obj.data)[0].name = "worm_run"
    out = tmp_path / "out"
    out.mkdir()
    assert scene.export(out / "worm.cat", obj) == text.replace(b"worm_walk", b"worm_run")
    assert (out / "worm_run.ani").read_bytes() == (path.parent / "worm_walk.ani").read_bytes()


def test_an_action_that_is_gone_is_said(tmp_path: Path) -> None:
    """Nothing is written in its place."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="BONES")
    bpy.data.actions.remove(clips.animations(obj.data)[1].action)
    with pytest.raises(RuntimeError, match='"idle" has no Action any more'):
        scene.export(tmp_path / "out.car", obj)


@pytest.mark.parametrize("kps", [0, -3])
def test_placeholders_come_back(tmp_path: Path, kps: int) -> None:
    """BLANK records, single frames and rates no engine could use."""
    character = characters.creature()
    character.animations.insert(0, Animation(name_field("BLANK"), kps, characters.swing(character.model, 1)[:0]))
    character.animations.append(Animation(name_field("still"), kps, characters.swing(character.model, 1)))
    for motion in MOTIONS:
        data, obj = scene.bring_model(tmp_path / f"{motion}.car", character, motion=motion)
        assert scene.export(tmp_path / "out.car", obj) == data


def test_more_than_sixty_four_animations_are_stopped(tmp_path: Path) -> None:
    """Unless they are what was imported."""
    character = characters.creature()
    character.animations = [Animation(name_field(f"a{n}"), 10, character.animations[2].frames[:2]) for n in range(66)]
    data, obj = scene.bring_model(tmp_path / "worm.car", character, motion="KEYS")
    assert scene.export(tmp_path / "same.car", obj, use_check=True) == data
    clips.animations(obj.data)[3].name = "another"
    with pytest.raises(RuntimeError, match="66 animations"):
        scene.export(tmp_path / "out.car", obj, use_check=True)


def test_the_check_of_the_sidebar_sees_a_character(tmp_path: Path) -> None:
    """It speaks of animations, and not of a format that is not meant."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature(), motion="KEYS")
    clips.animations(obj.data)[0].kps = 0
    scene.select(obj)
    bpy.ops.carnivores.check(game="C2")
    found: Any = bpy.context.window_manager.carnivores.findings
    codes = {finding.code for finding in found}
    assert "no-rate" in codes
    assert not codes & {"other-format", "no-bone"}
    assert kept.get(obj.data, kept.KIND, "") == "carnivores_car"


@pytest.mark.parametrize("owners", [37, 409])
@pytest.mark.parametrize("motion", ["AUTO", "KEYS"])
def test_memory_of_an_import(tmp_path: Path, motion: str, owners: int) -> None:
    """No more than 64 MiB and twenty times the file, even when every vertex is owned by itself."""
    character = creature.character((240,) * 10, sounds=1)
    if owners == len(character.model.vertices):
        character.model.vertices["owner"] = np.arange(owners)
    data = scene.save(tmp_path / "creature.car", character)
    with measured() as peak:
        scene.bring(tmp_path / "creature.car", motion=motion)
    assert peak() < (64 << 20) + 20 * len(data)


def _by_way_of_a_cat(path: Path, title: str, folder: Path) -> bytes:
    """The CAR that becomes of a CAR as a CAT with all its files and back."""
    scene.export(folder / f"{title}.cat", next(obj for obj in scene.bring(path) if obj.type == "MESH"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    back = next(obj for obj in scene.bring(folder / f"{title}.cat") if obj.type == "MESH")
    return scene.export(folder / "back.car", back)


def test_there_and_back_by_the_other_game(tmp_path: Path) -> None:
    """Names, texels, frames and sounds are the same again; only what a CAT has no place for is lost."""
    character = characters.creature()
    character.model = characters.tube(rows=200)
    character.animations[2].name = name_field("worm_in_its_name")
    character.animations[1].name = name_field("idle")
    (tmp_path / "worm.car").write_bytes(characters.written(character))
    found = car.read(_by_way_of_a_cat(tmp_path / "worm.car", "worm", tmp_path))
    labels = [bytes(entry.name).split(b"\0")[0] for entry in (*found.animations, *found.sounds)]
    assert labels == [b"walk", b"idle", b"in_its_name", b"lone", b"roar"]
    assert found.name == name_field("Tube")
    assert np.array_equal(found.model.texels, character.model.texels)
    assert np.array_equal(found.model.faces, character.model.faces)
    for old, new in zip(character.animations, found.animations, strict=True):
        assert np.array_equal(old.frames, new.frames)


@pytest.mark.samples("*/ALLO.CAR")
def test_a_real_creature_there_and_back(sample: Path, tmp_path: Path) -> None:
    """Nothing changes but the last bytes of the block with its name."""
    data = sample.read_bytes()
    after = _by_way_of_a_cat(sample, "allo", tmp_path)
    assert after[32:] == data[32:]
    assert after[:24] == data[:24]


def test_names_without_a_common_beginning_stay(tmp_path: Path) -> None:
    """A prefix that one of them has not was not put there."""
    character = characters.creature()
    (tmp_path / "worm.car").write_bytes(characters.written(character))
    scene.export(tmp_path / "worm.cat", next(obj for obj in scene.bring(tmp_path / "worm.car") if obj.type == "MESH"))
    back = meshes(scene.bring(tmp_path / "worm.cat"))
    clips.animations(back.data)[0].name = "other"
    found = car.read(scene.export(tmp_path / "back.car", back))
    names = [bytes(entry.name).split(b"\0")[0].decode() for entry in found.animations]
    assert names[0] == "other"
    assert all(name.startswith("worm_") for name in names[1:])
