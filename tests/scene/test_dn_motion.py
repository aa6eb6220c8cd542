# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations: onto the bones of their models, shown as the game shows them, and back into files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat, curves, posing
from addon.io_dragonnest.formats import ani, ani_list, anim, hierarchy, keys, msh, names, pose, sampling, space
from addon.io_dragonnest.formats import rig as binds
from addon.io_dragonnest.formats.keys import Record
from addon.io_dragonnest.scene import clips
from mathutils import Quaternion

from tests import dragons

from .helpers import dragon_scene, scene

if TYPE_CHECKING:
    from pathlib import Path


def save(path: Path, model: Any) -> bytes:
    codec = anim if isinstance(model, anim.Anim) else msh if isinstance(model, msh.Msh) else ani
    data: bytes = codec.write(model)
    path.write_bytes(data)
    return data


def rig() -> bpy.types.Object:
    return dragon_scene.rig()


@pytest.mark.samples("dragonnest/*.ani", "dragonnest/*.anim")
def test_samples_come_back_to_the_byte(sample: Path, tmp_path: Path) -> None:
    """Alone, through a saved file."""
    before = sample.read_bytes()
    dragon_scene.bring(sample)
    scene.reopen(tmp_path / "scene.blend")
    out = tmp_path / "out" / sample.name
    out.parent.mkdir()
    assert dragon_scene.export(out, rig()) == before
    for other in out.parent.iterdir():
        assert other.read_bytes() == (sample.parent / other.name).read_bytes()


PAIRS = (
    ("syn_v10_biped.msh", "syn_v10_biped.ani"),
    ("syn_v11_biped.msh", "syn_v11_biped.ani"),
    ("syn_v12_biped.msh", "syn_v11_biped.ani"),
    ("syn_v13_biped.msh", "syn_multi.ani"),
    ("plain_v13_biped.msh", "syn_v10_biped.ani"),
    ("syn_v13_biped.msh", "syn_biped_stand.anim"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=["+".join(pair) for pair in PAIRS])
def test_samples_come_back_from_their_model(samples: Path, pair: tuple[str, str], tmp_path: Path) -> None:
    folder = samples / "dragonnest" / "synthetic"
    dragon_scene.bring(folder / pair[0])
    assert not dragon_scene.bring(folder / pair[1])
    count = len(clips.listed(rig()))
    scene.reopen(tmp_path / "scene.blend")
    assert len(clips.listed(rig())) == count > 0
    assert all(item.action is not None and item.action.use_fake_user for item in clips.listed(rig()))
    out = tmp_path / pair[1]
    assert dragon_scene.export(out, rig()) == (folder / pair[1]).read_bytes()
    assert dragon_scene.export(tmp_path / "model.msh", *dragon_scene.meshes()) == (folder / pair[0]).read_bytes()


def evaluated(obj: bpy.types.Object) -> np.ndarray:
    """Vertices (v, 3) of an object as Blender shows them now, in file axes and units."""
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    shown.to_mesh_clear()
    world = np.array(rig().matrix_world, np.float64)
    matrix = np.linalg.inv(world) @ np.array(shown.matrix_world, np.float64)
    at = points.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return at[:, [0, 2, 1]]


def play(item: Any) -> None:
    """From rest: channels without curves keep what was there."""
    posing.rest_pose(rig())
    compat.assign_action(rig(), item.action)


def tall(model: msh.Msh) -> float:
    """The height of mesh and skeleton: the sheets of made models lie far below their bones."""
    heads = np.linalg.inv(model.bones["inverse_bind"].astype(np.float64))[:, 3, 1]
    return float(np.ptp(np.concatenate([heads, *(part.positions[:, 1] for part in model.submeshes)])))


def worst(model: msh.Msh, found: ani.Ani, clip: int, item: Any, frames: Any, matched: Any = None) -> float:
    """How far any vertex is from where the game has it, at any of the frames, of the height of the model."""
    wanted = pose.shown(model, found, clip, frames) if matched is None else matched
    height = tall(model)
    play(item)
    away = 0.0
    for number, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame), subframe=float(frame) - int(frame))
        for obj, shown in zip(dragon_scene.meshes(), wanted, strict=True):
            away = max(away, float(np.abs(evaluated(obj) - shown[number]).max(initial=0.0)))
    return away / height


@pytest.mark.parametrize("direction", ["CHILD", "STORED"])
@pytest.mark.parametrize("pair", PAIRS[:4], ids=["+".join(pair) for pair in PAIRS[:4]])
def test_samples_move_as_in_the_game(samples: Path, pair: tuple[str, str], direction: str) -> None:
    """Every vertex at three frames of every clip."""
    folder = samples / "dragonnest" / "synthetic"
    model = msh.read((folder / pair[0]).read_bytes())
    listed = ani.read((folder / pair[1]).read_bytes())
    found = listed if isinstance(listed, ani.Ani) else merged(folder, listed)
    dragon_scene.bring(folder / pair[0], bone_direction=direction)
    dragon_scene.bring(folder / pair[1])
    for clip, item in enumerate(clips.listed(rig())):
        last = int(found.lengths[clip]) - 1
        assert worst(model, found, clip, item, [0, last // 2, last]) < 1e-4


def merged(folder: Path, listed: ani_list.AniList) -> ani.Ani:
    there = {path.name.lower(): path for path in folder.iterdir()}
    return ani.merged([ani.read_binary(there[name.lower()].read_bytes()) for name in listed.files])[0]


# Characters made for what goes wrong elsewhere.


def turned(angle: float, axis: int) -> np.ndarray:
    half = np.zeros(4)
    half[axis], half[3] = np.sin(angle / 2), np.cos(angle / 2)
    return half


def stretch(found: ani.Ani, row: int, size: tuple[float, float, float]) -> None:
    """Give a bone another scale, in its base and in every clip."""
    for record in found.records[row]:
        record.base = record.base.copy()
        record.base["scale"] = size
        record.scales = record.scales[:0]


def grown() -> tuple[msh.Msh, ani.Ani]:
    """A bone scaled evenly in bind pose and clips, with children, which are scaled once more in a clip."""
    found = dragons.animation()
    stretch(found, 2, (2.0, 2.0, 2.0))
    stretch(found, 1, (0.5, 0.5, 0.5))
    return bound(found), found


def uneven() -> tuple[msh.Msh, ani.Ani]:
    """Bones at the ends of chains scaled unevenly, in bind pose and differently in clips."""
    found = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    for row, size in ((6, (1.0, 3.0, 0.5)), (7, (2.0, 2.0, 0.25)), (4, (1.0, 1.5, 1.0))):
        stretch(found, row, size)
    model = bound(found)
    found.records[7][0].scales = keys.vector_keys(11, [0, 4, 9], np.array([[2, 2, 0.25], [1, 1, 1], [3, 2, 1.0]]))
    return model, found


def mirrored() -> tuple[msh.Msh, ani.Ani]:
    """Bind matrices that mirror, over clips that do not, one in the middle of a chain."""
    found = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    model = bound(found)
    flip = np.diag((1.0, 1.0, -1.0, 1.0)).astype("<f4")
    for row in (3, 5, 7):
        model.bones["inverse_bind"][row] = model.bones["inverse_bind"][row] @ flip
    return model, found


def far() -> tuple[msh.Msh, ani.Ani]:
    """Turns of up to 170 degrees between keys that lie ten frames apart, keys of each kind at frames of their own."""
    found = dragons.animation(10, frames=41)
    at = np.array([0, 10, 11, 20, 40])
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
        turns = np.stack([turned(np.deg2rad(angle), row % 3) for angle in (0, 170, 290, 300, 130)])
        turns[2::2] *= -1.0
        found.records[row][0].rotations = keys.rotation_keys(10, at, turns)
        found.records[row][0].positions = found.records[row][0].positions[[1, 7, 30]]
        found.records[row][0].scales = keys.vector_keys(
            10, [0, 5, 33], np.array([[1, 1, 1], [1.2, 1.2, 1.2], [0.8, 0.8, 0.8]])
        )
    return bound(found), found


def bound(found: ani.Ani) -> msh.Msh:
    """A model whose bind pose is the base of `found`."""
    model = dragons.character()
    world = pose.world(sampling.base(found).matrices(), hierarchy.from_ani(found).parents)[0]
    model.bones["inverse_bind"] = binds.inverses(world)
    return model


MADE = {"grown": grown, "uneven": uneven, "mirrored": mirrored, "far": far}


def brought(folder: Path, model: msh.Msh, found: ani.Ani, *, beside: bool = False, **options: Any) -> None:
    """Import a model and its animation; `beside`: the animation lies beside the model already then."""
    save(folder / "hero.msh", model)
    if beside:
        save(folder / "hero.ani", found)
    dragon_scene.bring(folder / "hero.msh", bone_direction=options.pop("bone_direction", "CHILD"))
    save(folder / "hero.ani", found)
    dragon_scene.bring(folder / "hero.ani", **options)


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "later"])
@pytest.mark.parametrize("direction", ["CHILD", "STORED"])
@pytest.mark.parametrize("kind", MADE)
def test_made_characters_move_as_in_the_game(kind: str, direction: str, beside: bool, tmp_path: Path) -> None:
    model, found = MADE[kind]()
    brought(tmp_path, model, found, beside=beside, bone_direction=direction)
    for clip, item in enumerate(clips.listed(rig())):
        last = max(int(found.lengths[clip]) - 1, 0)
        frames = np.arange(last + 1) if kind == "far" else [0, last // 2, last]
        assert worst(model, found, clip, item, frames) < 1e-4
    scene.reopen(tmp_path / "scene.blend")
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()


def test_shear_is_as_near_as_can_be_and_said(tmp_path: Path) -> None:
    """A bone scaled unevenly in the middle of a chain whose children turn."""
    found = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    stretch(found, 1, (1.0, 1.4, 1.0))
    model = bound(found)
    brought(tmp_path, model, found)
    text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert "sheared" in text
    assert "file units" in text
    item = clips.listed(rig())[0]
    # Where each bone is, is right all the same; so is the bone that is scaled.
    frames = [0, 5, 11]
    shown = bones_shown(item, frames)
    world = space.to_blender_matrix(pose.clip_world(found, 0, frames))
    rows = [found.bone_names.index(bone.name) for bone in rig().data.bones]
    for bone in (0, 1, 2):
        assert np.abs(shown[:, rows.index(bone), :3, 3] - world[:, bone, :3, 3]).max() < 1e-3
    assert worst(model, found, 0, item, frames) < 0.5
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()


def turns_of(action: bpy.types.Action) -> dict[str, np.ndarray]:
    """Bone -> its rotation keys (n, 4)."""
    found: dict[str, list[np.ndarray]] = {}
    for curve in compat.all_curves(action):
        channel = curves.channel_of(curve.data_path)
        if channel is not None and channel[1] == "rotation_quaternion":
            found.setdefault(channel[0], []).append(curves.read_curve(curve)[0][:, 1])
    return {name: np.stack(values, axis=1) for name, values in found.items()}


@pytest.mark.parametrize("kind", MADE)
def test_quaternions_never_flip(kind: str, tmp_path: Path) -> None:
    model, found = MADE[kind]()
    brought(tmp_path, model, found)
    for item in clips.listed(rig()):
        for values in turns_of(item.action).values():
            assert ((values[1:] * values[:-1]).sum(axis=1) > 0).all()


def test_interpolation_and_frames(tmp_path: Path) -> None:
    """Keys at their own frames; scales are stepped; ranges, rate, users and slots are set."""
    model, found = far()
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    for curve in compat.all_curves(item.action):
        points, kinds = curves.read_curve(curve)
        stepped = curve.data_path.endswith("scale")
        assert (kinds == (curves.CONSTANT if stepped else curves.LINEAR)).all()
        if stepped:
            assert points[:, 0].tolist() == [0, 5, 33]
        if curve.data_path.endswith("location"):
            assert points[:, 0].tolist() == [1, 7, 30]
    assert [clips.span(entry.action) for entry in clips.listed(rig())] == [(0, 40), (0, 4), (0, 0)]
    assert [entry.length for entry in clips.listed(rig())] == found.lengths.tolist()
    assert [entry.name for entry in clips.listed(rig())] == ["Stand", "공격", "Rest"]
    scene_ = bpy.context.scene
    assert (scene_.render.fps, scene_.frame_start, scene_.frame_end) == (60, 0, 40)
    assert rig().animation_data.action == item.action
    assert getattr(rig().animation_data, "action_slot", True)


def test_a_scene_that_is_animated_keeps_rate_and_range(tmp_path: Path) -> None:
    cube = bpy.data.objects.new("cube", None)
    bpy.context.collection.objects.link(cube)
    cube.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_end = 77
    rate = bpy.context.scene.render.fps
    brought(tmp_path, *grown())
    assert (bpy.context.scene.render.fps, bpy.context.scene.frame_end) == (rate, 77)


def again(tmp_path: Path, name: str = "again.ani", **options: Any) -> ani.Ani:
    """What is exported now, as it reads."""
    found = ani.read(dragon_scene.export(tmp_path / name, rig(), **options))
    assert isinstance(found, ani.Ani)
    return found


def bones_shown(item: Any, frames: Any) -> np.ndarray:
    """World matrices (f, B, 4, 4) as Blender shows an armature, in file units, by the order of `rest_of`."""
    play(item)
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        pose_ = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose
        out.append([np.array(bone.matrix) for bone in pose_.bones])
    return np.array(out, np.float64)


def skins(item: Any, frames: Any) -> np.ndarray:
    """What each bone does to points of the bind pose (f, B, 4, 4)."""
    rest = np.array([np.array(bone.matrix_local) for bone in rig().data.bones], np.float64)
    return bones_shown(item, frames) @ np.linalg.inv(rest)


def skins_of(found: ani.Ani, clip: int, frames: Any, model: msh.Msh) -> np.ndarray:
    """The same of a file, in the order of the armature's bones."""
    matched = pose.matched_world(model.bone_names, found, pose.clip_world(found, clip, frames))
    every = space.to_blender_matrix(pose.skin_matrices(model, matched))
    rows = [model.bone_names.index(bone.name) for bone in rig().data.bones]
    return every[:, rows]


def skins_by_row(found: ani.Ani, clip: int, frames: Any, model: msh.Msh) -> np.ndarray:
    """`skins_of` where bones of the armature have other names: by the order of file and model."""
    every = space.to_blender_matrix(pose.skin_matrices(model, pose.clip_world(found, clip, frames)))
    rows = [found.bone_names.index(bone.name) for bone in rig().data.bones]
    return every[:, rows]


def away(shown: np.ndarray, wanted: np.ndarray, model: msh.Msh) -> float:
    """How far points a height away from the origin are moved apart, of that height."""
    height = tall(model)
    points = np.concatenate([np.eye(3) * height, -np.eye(3) * height, np.zeros((1, 3))])
    points = np.concatenate((points, np.ones((7, 1))), axis=1)
    return float(np.abs((shown - wanted) @ points.T)[..., :3, :].max() / height)


def calm(version: int = 11, frames: int = 24) -> tuple[msh.Msh, ani.Ani]:
    """No scales at all."""
    found = dragons.animation(version, frames=frames)
    for row in range(len(dragons.BONES)):
        stretch(found, row, (1.0, 1.0, 1.0))
    return bound(found), found


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("mode", ["AUTO", "KEYS", "BAKE"])
@pytest.mark.parametrize("kind", ["calm", "grown", "uneven", "mirrored", "far"])
def test_what_is_written_anew_shows_the_same(kind: str, mode: str, version: int, tmp_path: Path) -> None:
    model, found = {**MADE, "calm": calm}[kind]()
    brought(tmp_path, model, found)
    # Forget what was kept of the clips: all has to come out of the curves.
    for item in clips.listed(rig()):
        del item.action["dragonnest_curves"]
    written = again(tmp_path, key_mode=mode, version=str(version))
    assert written.version == version
    assert written.bones.tobytes() == found.bones.tobytes()
    assert written.lengths.tolist() == found.lengths.tolist()
    for clip, item in enumerate(clips.listed(rig())):
        frames = np.arange(max(int(found.lengths[clip]), 1))
        assert away(skins(item, frames), skins_of(written, clip, frames, model), model) < 1e-3
        assert away(skins_of(found, clip, frames, model), skins_of(written, clip, frames, model), model) < 1e-3


def test_keys_stay_keys(tmp_path: Path) -> None:
    """An edited clip keeps its key frames; bones that were not touched keep their records to the byte."""
    model, found = far()
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    path = 'pose.bones["Bip01 Head"].location'
    curve = next(entry for entry in compat.all_curves(item.action) if entry.data_path == path)
    curve.keyframe_points[1].co.y += 3
    curve.update()
    written = again(tmp_path)
    for row, name in enumerate(found.bone_names):
        before, after = found.records[row][0], written.records[row][0]
        if name == "Bip01 Head":
            assert after.positions["frame"].tolist() == [1, 7, 30]
            moved = np.sqrt(np.square(after.positions["value"] - before.positions["value"]).sum(axis=1))
            assert moved.round(3).tolist() == [0, 3, 0]
            assert after.scales["frame"].tolist() == [0, 5, 33]
        else:
            assert b"".join(keys.parts(after, 10)) == b"".join(keys.parts(before, 10))
    frames = np.arange(41)
    assert away(skins(item, frames), skins_of(written, 0, frames, model), model) < 1e-3


def new_action(name: str, bone: str, prop: str, values: list[tuple[float, int, float]]) -> bpy.types.Action:
    """An Action on the armature with keys (frame, component, value)."""
    action = bpy.data.actions.new(name)
    bag = compat.curves(rig(), action)
    path = f"{curves.bone_path(bone)}.{prop}"
    for index in sorted({entry[1] for entry in values}):
        curve = bag.fcurves.new(path, index=index)
        for frame, _index, value in (entry for entry in values if entry[1] == index):
            curve.keyframe_points.insert(frame, value)
    return action


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "YXZ", "AXIS_ANGLE"])
def test_other_rotations_are_baked(mode: str, tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    rig().pose.bones["Bip01 Spine"].rotation_mode = mode
    prop = "rotation_axis_angle" if mode == "AXIS_ANGLE" else "rotation_euler"
    values = [(1, 0, 0.0), (12, 0, 2.0), (1, 1, 0.5), (12, 1, -1.0), (5, 2, 1.0), (12, 2, 0.3)]
    action = new_action("turn", "Bip01 Spine", prop, values)
    item = clips.add(rig(), action)
    written = again(tmp_path, clips="turn")
    assert written.clips == ["turn"]
    assert written.lengths.tolist() == [13]
    frames = np.arange(13)
    shown = skins(item, frames)
    assert np.abs(shown[0] - shown[-1]).max() > 0.1
    assert away(shown, skins_of(written, 0, frames, model), model) < 1e-3


def test_constraints_drivers_and_subframes_are_baked(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    aim = bpy.data.objects.new("aim", None)
    bpy.context.collection.objects.link(aim)
    aim.location = (5, 5, 5)
    aim.keyframe_insert("location", frame=0)
    aim.location = (-5, 2, 0)
    aim.keyframe_insert("location", frame=20)
    track = rig().pose.bones["Bip01 Head"].constraints.new("DAMPED_TRACK")
    track.target = aim
    driver = rig().pose.bones["BoxBone01"].driver_add("location", 1).driver
    driver.expression = "frame * 0.25"
    action = new_action("look", "Bip01 Pelvis", "location", [(0.0, 0, 0.0), (3.5, 0, 4.0), (20.0, 0, 1.0)])
    item = clips.add(rig(), action)
    frames = np.arange(21)
    shown = skins(item, frames)
    written = again(tmp_path, clips="look")
    assert written.lengths.tolist() == [21]
    assert away(shown, skins_of(written, 0, frames, model), model) < 1e-3
    # The state of the scene is the user's again.
    assert rig().animation_data.action == action


def test_channels_without_keys_are_at_rest(tmp_path: Path) -> None:
    """Whatever pose the armature has now."""
    model, found = calm()
    brought(tmp_path, model, found)
    action = new_action("still", "Bip01 Head", "location", [(0, 0, 0.0), (9, 0, 0.0)])
    clips.add(rig(), action)
    bone = rig().pose.bones["Bip01 L Thigh"]
    bone.location = (9, 9, 9)
    for mode in ("AUTO", "BAKE"):
        written = again(tmp_path, clips="still", key_mode=mode)
        shown = skins_of(written, 0, [0, 5], model)
        assert np.abs(shown - np.eye(4)).max() < 2e-2
    assert tuple(bone.location) == (9, 9, 9)


def test_reduced_keys_stay_within_the_tolerance(tmp_path: Path) -> None:
    model, found = calm(10, 120)
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    whole = again(tmp_path, key_mode="BAKE")
    few = again(tmp_path, key_mode="BAKE", tolerance=0.05)

    def count(file: ani.Ani) -> int:
        return sum(len(track) for bone in file.records for track in bone[0].tracks)

    assert count(few) < 0.7 * count(whole)
    frames = np.arange(120)
    for row in range(len(found.bones)):
        there, back = (sampling.positions(file.records[row][0], frames) for file in (whole, few))
        assert np.abs(there - back).max() < 0.051
    assert away(skins(item, frames), skins_of(few, 0, frames, model), model) < 0.05


def test_frames_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    clips.add(rig(), new_action("long", "Bip01", "location", [(0, 0, 0.0), (40_000, 0, 1.0)]))
    with pytest.raises(RuntimeError, match="40001 frames, but ANI 11 holds 32768"):
        again(tmp_path, clips="long", key_mode="KEYS")
    assert not (tmp_path / "again.ani").exists()
    written = again(tmp_path, clips="long", key_mode="KEYS", version="10")
    assert written.lengths.tolist() == [40_001]


def test_a_clip_of_one_frame_has_no_two_keys(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    clips.add(rig(), new_action("one", "Bip01", "location", [(0, 0, 1.0)]))
    for mode in ("AUTO", "BAKE"):
        written = again(tmp_path, clips="one", key_mode=mode)
        assert written.lengths.tolist() == [1]
        assert all(len(track) < 2 for bone in written.records for track in bone[0].tracks)


# Root motion.


def walking() -> tuple[msh.Msh, ani.Ani]:
    model, found = calm(10)
    at = np.arange(24)
    places = np.stack((at * 0.5, 40 + np.sin(at), at * -1.5), axis=1)
    found.records[0][0].positions = keys.vector_keys(10, at, places)
    return model, found


def test_root_motion_in_place(tmp_path: Path) -> None:
    model, found = walking()
    brought(tmp_path, model, found, root_motion="IN_PLACE")
    item = clips.listed(rig())[0]
    frames = np.arange(24)
    wanted = skins_of(found, 0, frames, model)
    wanted[:, :, 0, 3] -= frames[:, None] * 0.5
    wanted[:, :, 1, 3] -= frames[:, None] * -1.5
    assert away(skins(item, frames), wanted, model) < 1e-4
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_root_motion_on_the_object(scale: float, tmp_path: Path) -> None:
    model, found = walking()
    save(tmp_path / "hero.msh", model)
    dragon_scene.bring(tmp_path / "hero.msh", global_scale=scale)
    rig().location = (1, 2, 3)
    rig().rotation_euler = (0, 0, 1.0)
    bpy.context.view_layer.update()
    before = np.array(rig().matrix_world, np.float64)
    save(tmp_path / "hero.ani", found)
    dragon_scene.bring(tmp_path / "hero.ani", root_motion="OBJECT")
    item = clips.listed(rig())[0]
    play(item)
    for frame in (0, 11, 23):
        bpy.context.scene.frame_set(frame)
        evaluated_rig = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
        rest = np.array([np.array(bone.matrix_local) for bone in rig().data.bones], np.float64)
        shown = np.array([np.array(bone.matrix) for bone in evaluated_rig.pose.bones]) @ np.linalg.inv(rest)
        stands = np.linalg.inv(before) @ np.array(evaluated_rig.matrix_world)
        assert away(stands @ shown, skins_of(found, 0, [frame], model)[0], model) < 1e-4
        assert np.abs(stands[:3, 3] - (frame * 0.5, frame * -1.5, 0)).max() < 1e-3
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == (tmp_path / "hero.ani").read_bytes()
    # Written anew, the way is in the root bone again.
    del item.action["dragonnest_curves"]
    written = again(tmp_path)
    frames = np.arange(24)
    assert away(skins_of(written, 0, frames, model), skins_of(found, 0, frames, model), model) < 1e-3


# Files that belong together, and parts of files.


def test_a_text_list_goes_back_with_its_files(tmp_path: Path) -> None:
    first, second = dragons.animation(11), dragons.animation(10, frames=30)
    second.bones = second.bones[::-1].copy()
    second.records = second.records[::-1]
    second.clip_names = [names.field("Run"), names.field("Jump"), names.field("Run")]
    second.trailing = b"rest"
    folder = tmp_path / "in"
    folder.mkdir()
    save(folder / "One.ANI", first)
    save(folder / "two.ani", second)
    listed = ani_list.AniList(b"one.ani\r\nsub\\TWO.ani\n\nmissing.ani\r\n")
    save(folder / "all.ani", listed)
    save(folder / "hero.msh", bound(first))
    dragon_scene.bring(folder / "hero.msh")
    dragon_scene.bring(folder / "all.ani")
    assert [item.name for item in clips.listed(rig())] == ["Stand", "공격", "Rest", "Run", "Jump", "Run"]
    scene.reopen(tmp_path / "scene.blend")
    out = tmp_path / "out"
    out.mkdir()
    assert dragon_scene.export(out / "all.ani", rig()) == listed.raw
    assert {path.name for path in out.iterdir()} == {"all.ani", "One.ANI", "two.ani"}
    for name in ("One.ANI", "two.ani"):
        assert (out / name).read_bytes() == (folder / name).read_bytes()
    one = again(tmp_path, use_list=False)
    assert one.clips == ["Stand", "공격", "Rest", "Run", "Jump", "Run"]
    with pytest.raises(RuntimeError, match="over"):
        dragon_scene.export(out / "two.ani", rig())


def test_chosen_clips(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found, clips="sta*; 공격")
    assert [item.name for item in clips.listed(rig())] == ["Stand", "공격"]
    clips.listed(rig())[0].use_export = False
    assert again(tmp_path).clips == ["공격"]
    assert again(tmp_path, clips="stand").clips == ["Stand"]
    with pytest.raises(RuntimeError, match="no clip named"):
        again(tmp_path, clips="nothing")
    clips.listed(rig())[1].use_export = False
    with pytest.raises(RuntimeError, match="is ticked"):
        again(tmp_path)
    with pytest.raises(RuntimeError, match='no clip named "nothing"'):
        dragon_scene.bring(tmp_path / "hero.ani", clips="nothing")


def test_renamed_clips_and_bones(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    clips.listed(rig())[0].name = "서다"
    play(clips.listed(rig())[0])
    rig().data.bones["Bip01 Pelvis"].name = "Hips"
    written = again(tmp_path)
    assert written.clips == ["서다", "공격", "Rest"]
    assert written.bone_names[1] == "Hips"
    assert written.parent_names[2] == "Hips"
    assert written.bone_names[2:] == found.bone_names[2:]
    # Blender renames in the Action in use only; the others still go back as they came, and play.
    for before, after in zip(found.records, written.records, strict=True):
        for one, other in zip(before, after, strict=True):
            assert b"".join(keys.parts(one, 11)) == b"".join(keys.parts(other, 11))
    bpy.ops.dragonnest.clip_play(number=1)
    assert away(skins(clips.listed(rig())[1], [2]), skins_by_row(written, 1, [2], model), model) < 1e-3


def test_a_bone_hung_elsewhere(tmp_path: Path) -> None:
    model, found = calm()
    brought(tmp_path, model, found)
    item = clips.listed(rig())[0]
    scene.select(rig())
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig().data.edit_bones
    edit["BoxBone01"].parent = edit["Bip01 Head"]
    bpy.ops.object.mode_set(mode="OBJECT")
    written = again(tmp_path)
    assert written.parent_names[7] == "Bip01 Head"
    frames = np.arange(24)
    assert away(skins(item, frames), skins_of(written, 0, frames, model), model) < 1e-3


def test_bones_that_the_armature_lacks(tmp_path: Path) -> None:
    """A warning with names; the rest moves as in the game, in between missing ones too; all bones go back."""
    model, found = calm()
    part = bound(found)
    left = [row for row, name in enumerate(dragons.BONES) if name not in {"Bip01 Pelvis", "BoxBone01"}]
    part.bones = part.bones[left]
    part.submeshes = [dragons.part(4, 4, bones=tuple(dragons.BONES[row] for row in left))]
    brought(tmp_path, part, found)
    text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    assert '"Bip01 Pelvis", "BoxBone01"' in text
    item = clips.listed(rig())[0]
    assert worst(part, found, 0, item, [0, 11, 23]) < 1e-4
    data = (tmp_path / "hero.ani").read_bytes()
    assert dragon_scene.export(tmp_path / "again.ani", rig()) == data
    for entry in clips.listed(rig()):
        del entry.action["dragonnest_curves"]
    written = again(tmp_path)
    frames = np.arange(24)
    assert written.bone_names == found.bone_names
    assert away(skins_of(found, 0, frames, part), skins_of(written, 0, frames, part), part) < 1e-3
    del model


def test_missing_bones_can_be_added(tmp_path: Path) -> None:
    _model, found = calm()
    part = bound(found)
    part.bones = part.bones[[0, 1, 2]]
    part.submeshes = [dragons.part(4, 4, bones=tuple(dragons.BONES[:3]))]
    brought(tmp_path, part, found, use_missing=True)
    assert {bone.name for bone in rig().data.bones} == set(dragons.BONES)
    assert rig().data.bones["Bip01 Head"].parent.name == "Bip01 Spine"


def test_another_hierarchy_shows_the_same_pose(tmp_path: Path) -> None:
    """Two files whose bones hang differently, on one armature."""
    model, found = calm()
    brought(tmp_path, model, found)
    other = dragons.animation()
    for row in range(len(dragons.BONES)):
        stretch(other, row, (1.0, 1.0, 1.0))
    links = (-1, 0, 1, 2, 0, 0, 2, -1)
    other.bones = ani.bone_table(dragons.BONES, links)
    other.clip_names = [names.field(name) for name in ("a", "b", "c")]
    data = save(tmp_path / "other.ani", other)
    dragon_scene.bring(tmp_path / "other.ani")
    for clip, item in enumerate(list(clips.listed(rig()))[3:]):
        assert worst(model, other, clip, item, [0, 5, 11][: 1 if clip == 2 else 3]) < 1e-4
    assert dragon_scene.export(tmp_path / "again.ani", rig(), clips="a;b;c") == data
    # All in one file: those that hang otherwise are written anew for the bones of the first.
    written = again(tmp_path)
    assert written.clips == ["Stand", "공격", "Rest", "a", "b", "c"]
    frames = np.arange(12)
    assert away(skins_of(other, 0, frames, model), skins_of(written, 3, frames, model), model) < 1e-3


def test_made_in_blender(tmp_path: Path) -> None:
    """Never imported, in metres: frames one for one, first key at 1, with a note about the rate."""
    data = bpy.data.armatures.new("Own")
    obj = bpy.data.objects.new("Own", data)
    bpy.context.collection.objects.link(obj)
    scene.select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number in range(3):
        bone = data.edit_bones.new(f"Bone {number}")
        bone.head, bone.tail = (0, 0, number * 0.5), (0, 0.1, number * 0.5 + 0.5)
        bone.parent, above = above, bone
    control = data.edit_bones.new("Control")
    control.head, control.tail, control.use_deform = (1, 0, 0), (1, 0, 1), False
    bpy.ops.object.mode_set(mode="OBJECT")
    action = new_action("wave", "Bone 1", "rotation_quaternion", [(1, 0, 1.0), (10, 0, 0.8), (1, 1, 0.0), (10, 1, 0.6)])
    compat.assign_action(obj, action)
    written = again(tmp_path)
    assert (written.version, written.clips, written.lengths.tolist()) == (11, ["wave"], [11])
    assert written.bone_names == ["Bone 0", "Bone 1", "Bone 2"]
    assert written.parent_names == ["Scene Root", "Bone 0", "Bone 1"]
    world = pose.clip_world(written, 0, [0, 10])
    assert np.abs(world[0, :, 3, :3] - [[0, 0, 0], [0, 50, 0], [0, 100, 0]]).max() < 1e-2
    bpy.context.scene.frame_set(10)
    head = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["Bone 2"].head
    assert np.abs(world[1, 2, 3, :3] - np.array(head)[[0, 2, 1]] * 100).max() < 1e-1
    assert "24 frames a second" in bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()


def test_dumps(tmp_path: Path) -> None:
    data = save(tmp_path / "walk.anim", dragons.dump())
    dragon_scene.bring(tmp_path / "walk.anim")
    (item,) = clips.listed(rig())
    assert item.name == "walk"
    scene.reopen(tmp_path / "scene.blend")
    assert dragon_scene.export(tmp_path / "again.anim", rig()) == data
    found = ani.read(dragon_scene.export(tmp_path / "again.ani", rig()))
    assert found.clips == ["walk"]
    assert dragon_scene.export(tmp_path / "two.anim", rig(), key_mode="BAKE")[:6] == b"Bip01\0"


# Bad input.


def hostile(kind: str) -> ani.Ani:  # noqa: C901, PLR0912
    found = dragons.animation(10)
    record = found.records[2][0]
    if kind == "unsorted":
        record.positions = record.positions[::-1].copy()
        record.rotations = np.concatenate((record.rotations[5:], record.rotations[:7]))
    elif kind == "repeated":
        record.positions = np.repeat(record.positions, 2)
        record.scales = np.concatenate((record.scales, record.scales))
    elif kind == "loop":
        found.bones = ani.bone_table(dragons.BONES, (3, 0, 1, 2, 1, 1, 3, 7))
    elif kind == "duplicates":
        found.bones["name"][5] = found.bones["name"][4]
        found.bones["name"][6] = np.void(names.field("BIP01 HEAD"))
    elif kind == "no clips":
        found = ani.with_clips(found, [])
    elif kind == "no bones":
        found.bones, found.records = found.bones[:0], []
    elif kind == "nothing":
        found = ani.with_clips(found, [])
        found.bones, found.records = found.bones[:0], []
    elif kind == "zero quaternion":
        record.base["rotation"] = 0
        record.rotations["value"][3] = 0
    elif kind == "no numbers":
        record.base["position"] = np.nan
        record.positions["value"][2] = np.inf
        record.rotations["value"][:] = np.nan
        found.records[3][1].base["scale"] = np.nan
    elif kind == "far out":
        record.positions["value"][:] = 3e38
        record.scales["value"][:] = 3e38
        found.records[0][0].base["position"] = 3e38
    elif kind == "frames":
        record.positions["frame"][:] = [2**31 - 1 - row for row in range(12)][::-1]
        found.records[3][0].rotations["frame"][0] = -(2**31)
        found.lengths[:] = [2**31 - 1, -5, 0]
    elif kind == "flat":
        for row in range(len(dragons.BONES)):
            stretch(found, row, (0.0, 1.0, 0.0))
    elif kind == "names":
        found.clip_names = [b"\xff" * 256, b"\0" * 256, names.field("x" * 200)]
        found.bones["name"][4] = np.void(b"\xff" * 256)
        found.bones["name"][5] = np.void(names.field("y" * 150))
        found.bones["name"][6] = np.void(names.field("y" * 149 + "z"))
    return found


HOSTILE = (
    "unsorted", "repeated", "loop", "duplicates", "no clips", "no bones", "nothing", "zero quaternion", "no numbers",
    "far out", "frames", "flat", "names",
)  # fmt: skip


@pytest.mark.parametrize("model", [False, True], ids=["alone", "model"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_open_and_come_back(kind: str, model: bool, tmp_path: Path) -> None:
    found = hostile(kind)
    data = save(tmp_path / "odd.ani", found)
    if model:
        save(tmp_path / "hero.msh", dragons.character())
        dragon_scene.bring(tmp_path / "hero.msh")
    dragon_scene.bring(tmp_path / "odd.ani")
    obj = bpy.context.view_layer.objects.active
    for action in bpy.data.actions:
        for curve in compat.all_curves(action):
            assert np.isfinite(curves.read_curve(curve)[0]).all()
    bpy.context.view_layer.update()
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    assert dragon_scene.export(tmp_path / "again.ani", bpy.data.objects[name]) == data


@pytest.mark.parametrize("kind", ["unsorted", "repeated"])
def test_odd_keys_show_what_the_game_shows(kind: str, tmp_path: Path) -> None:
    found = hostile(kind)
    model = bound(found)
    brought(tmp_path, model, found)
    assert worst(model, found, 0, clips.listed(rig())[0], np.arange(12)) < 1e-4


def test_nothing_stays_of_an_import_that_fails(tmp_path: Path) -> None:
    brought(tmp_path, *calm())
    before = {action.name for action in bpy.data.actions}, [bone.name for bone in rig().data.bones]
    (tmp_path / "bad.ani").write_bytes((tmp_path / "hero.ani").read_bytes()[:5000])
    with pytest.raises(RuntimeError, match=r"bad\.ani"):
        dragon_scene.bring(tmp_path / "bad.ani")
    save(tmp_path / "list.ani", ani_list.AniList(b"nowhere.ani\r\n"))
    with pytest.raises(RuntimeError, match="lies beside it"):
        dragon_scene.bring(tmp_path / "list.ani")
    assert ({action.name for action in bpy.data.actions}, [bone.name for bone in rig().data.bones]) == before
    assert Record is not None


def spun(degrees: float) -> tuple[float, ...]:
    """A quaternion w, x, y, z about z, on the side that `degrees` say."""
    half = np.radians(degrees) / 2
    return (float(np.cos(half)), 0.0, 0.0, float(np.sin(half)))


@pytest.mark.parametrize("degrees", [60.0, 170.0, 200.0, 340.0])
def test_linear_keys_turn_as_blender_shows_them(degrees: float, tmp_path: Path) -> None:
    """Blender blends components, the long way too where signs say so; the game goes the shortest arc."""
    save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    bone = rig().pose.bones["Bip01"]
    for frame, turn in ((0, spun(0.0)), (30, spun(degrees))):
        bone.rotation_quaternion = turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    action = rig().animation_data.action
    for curve in compat.all_curves(action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    wanted = []
    for frame in range(31):
        bpy.context.scene.frame_set(frame)
        wanted.append(np.array(bone.matrix.to_quaternion()))
    found = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    record = found.records[found.bone_names.index("Bip01")][0]
    assert 2 < len(record.rotations) <= 31
    shown = space.matrix(np.zeros((31, 3)), sampling.rotations(record, np.arange(31)), np.ones((31, 3)))
    seen = space.to_blender_matrix(shown)[:, :3, :3]
    there = np.array([np.array(Quaternion(turn).to_matrix()) for turn in wanted])
    # Relative to the first frame: what the bone's rest adds stays out.
    moved = there @ there[:1].swapaxes(1, 2)
    again = seen @ seen[:1].swapaxes(1, 2)
    assert np.abs(moved - again).max() < 5e-4


def walker(tmp_path: Path, **options: Any) -> tuple[ani.Ani, bpy.types.Action]:
    """A clip whose root walks, imported; the file and the Action."""
    save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    bone = rig().pose.bones["Bip01"]
    for frame in (0, 30):
        bone.location = (frame * 2.0, frame * 0.5, frame)
        bone.keyframe_insert("location", frame=frame)
    for curve in compat.all_curves(rig().animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    found = ani.read(dragon_scene.export(tmp_path / "walk.ani", rig()))
    assert int(found.lengths[0]) == 31
    bpy.ops.wm.read_homefile(use_empty=True)
    dragon_scene.bring(tmp_path / "a.msh")
    dragon_scene.bring(tmp_path / "walk.ani", **options)
    return found, clips.listed(rig())[0].action


@pytest.mark.parametrize("key_mode", ["AUTO", "BAKE"])
@pytest.mark.parametrize("root_motion", ["IN_PLACE", "STORED"])
def test_an_edited_clip_walks_as_far_as_it_did(root_motion: str, key_mode: str, tmp_path: Path) -> None:
    found, action = walker(tmp_path, root_motion=root_motion)
    for curve in compat.all_curves(action):
        if curve.array_index == 2:
            for point in curve.keyframe_points:
                point.co[1] += 0.5
    after = ani.read(dragon_scene.export(tmp_path / "out.ani", rig(), key_mode=key_mode))
    row = found.bone_names.index("Bip01")
    frames = np.arange(31)
    before, now = (
        sampling.positions(model.records[model.bone_names.index("Bip01")][0], frames) for model in (found, after)
    )
    assert row >= 0
    assert np.ptp(before, axis=0).max() > 10
    away = (now - now[0]) - (before - before[0])
    assert np.abs(away).max() < 1e-2


def test_a_key_behind_the_end_makes_a_clip_longer(tmp_path: Path) -> None:
    _found, action = walker(tmp_path)
    compat.assign_action(rig(), action)
    bone = rig().pose.bones["Bip01"]
    bone.location = (7.0, 0.0, 0.0)
    bone.keyframe_insert("location", frame=45)
    after = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    assert after.lengths.tolist() == [46]
    action.frame_end = 20
    after = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    assert after.lengths.tolist() == [21]
    assert "left out" in bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()


@pytest.mark.parametrize(("first", "last", "length", "key"), [(10, 22, 23, 10), (0, 12, 13, 0), (-4, 8, 13, 0)])
def test_frames_are_those_of_the_file(first: int, last: int, length: int, key: int, tmp_path: Path) -> None:
    save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    bone = rig().pose.bones["Bip01"]
    for frame in (first, last):
        bone.location = (frame, 0.0, 0.0)
        bone.keyframe_insert("location", frame=frame)
    for curve in compat.all_curves(rig().animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    found = ani.read(dragon_scene.export(tmp_path / "out.ani", rig()))
    assert found.lengths.tolist() == [length]
    record = found.records[found.bone_names.index("Bip01")][0]
    assert keys.frames(record.positions, length).tolist() == [key, length - 1]
