# SPDX-License-Identifier: GPL-3.0-or-later
"""Model, materials and clips of a character, written in one go or each alone."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_dragonnest.formats import ani, msh, names, skn

from tests import dragons

from .helpers import dragon_scene, scene

ASSETS = Path(__file__).parents[2] / "assets"
FOX = ("fox.msh", "fox.skn", "fox_ranger.msh", "fox_ranger.skn", "fox.ani")


def same(folder: Path, *wanted: str) -> None:
    """The folder holds these files of the assets, and nothing else."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(wanted)
    for name in wanted:
        assert (folder / name).read_bytes() == (ASSETS / name).read_bytes(), name


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def fox(tmp_path: Path) -> bpy.types.Object:
    """The dressed fox with its clips, out of a saved .blend."""
    dragon_scene.bring(ASSETS / "fox.skn")
    dragon_scene.bring(ASSETS / "fox_ranger.skn")
    dragon_scene.bring(ASSETS / "fox.ani")
    scene.reopen(tmp_path / "fox.blend")
    return dragon_scene.rig()


@pytest.mark.parametrize("suffix", ["msh", "skn"])
def test_all_of_a_character_in_one_go(suffix: str, fox: bpy.types.Object, out: Path) -> None:
    """Two parts on one armature: a model and materials each, and one file of clips."""
    scene.select(fox)
    kind = {"use_skin": True} if suffix == "msh" else {"use_model": True}
    dragon_scene.export(out / f"fox.{suffix}", use_animation=True, **kind)
    same(out, *FOX)


@pytest.mark.parametrize("suffix", ["msh", "skn", "ani"])
def test_each_alone(suffix: str, fox: bpy.types.Object, out: Path) -> None:
    scene.select(fox)
    dragon_scene.export(out / f"fox.{suffix}")
    same(out, *(name for name in FOX if name.endswith(suffix)))


def test_a_part_alone_takes_the_clips_under_its_name(fox: bpy.types.Object, out: Path) -> None:
    part = [obj for obj in dragon_scene.meshes() if obj.users_collection[0].name == "fox_ranger"]
    dragon_scene.export(out / "hat.msh", *part, use_skin=True, use_animation=True)
    assert sorted(path.name for path in out.iterdir()) == ["hat.ani", "hat.msh", "hat.skn"]
    assert (out / "hat.ani").read_bytes() == (ASSETS / "fox.ani").read_bytes()
    assert (out / "hat.msh").read_bytes() == (ASSETS / "fox_ranger.msh").read_bytes()
    assert names.text(skn.read((out / "hat.skn").read_bytes()).mesh_name) == "hat.msh"


def test_models_on_armatures_of_their_own_have_their_own_clips(tmp_path: Path, out: Path) -> None:
    wanted = {}
    for name, frames in (("one", 12), ("two", 7)):
        model = dragons.character(1.0 if name == "one" else 2.0)
        wanted[f"{name}.msh"] = dragon_scene.save(tmp_path / f"{name}.msh", model)
        wanted[f"{name}.ani"] = ani.write(dragons.animation(frames=frames))
        (tmp_path / f"{name}.ani").write_bytes(wanted[f"{name}.ani"])
        made = dragon_scene.bring(tmp_path / f"{name}.msh")
        scene.select(made[0])
        dragon_scene.bring(tmp_path / f"{name}.ani")
    for obj in bpy.context.view_layer.objects:
        obj.select_set(state=True)
    dragon_scene.export(out / "one.msh", use_animation=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == wanted


def test_versions_of_new_work(fox: bpy.types.Object, out: Path) -> None:
    """13, 11 and 11, whatever is beside it."""
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [], [(0, 1, 2)])
    mesh.uv_layers.new()
    box = bpy.data.objects.new("Box", mesh)
    armature = bpy.data.objects.new("Box Armature", bpy.data.armatures.new("Box Armature"))
    for obj in (box, armature):
        bpy.context.scene.collection.objects.link(obj)
    with scene.edit_mode(armature):
        bone = armature.data.edit_bones.new("Root")
        bone.tail = (0, 0, 1)
    box.parent = armature
    box.vertex_groups.new(name="Root").add([0, 1, 2], 1.0, "REPLACE")
    box.modifiers.new("", "ARMATURE").object = armature
    armature.pose.bones["Root"].keyframe_insert("location", frame=3)
    dragon_scene.export(out / "box.msh", box, use_skin=True, use_animation=True, use_check=True)
    found = (msh.read((out / "box.msh").read_bytes()), skn.read((out / "box.skn").read_bytes()))
    assert [entry.version for entry in found] == [13, 11]
    clip = ani.read((out / "box.ani").read_bytes())
    assert (clip.version, clip.lengths.tolist()) == (11, [4])
    assert names.text(found[1].mesh_name) == "box.msh"


def test_versions_can_be_chosen_for_each_kind(fox: bpy.types.Object, out: Path) -> None:
    scene.select(fox)
    chosen = {"version": "12", "skin_version": "10", "ani_version": "10"}
    dragon_scene.export(out / "fox.msh", use_skin=True, use_animation=True, **chosen)
    versions = (msh.read((out / "fox.msh").read_bytes()).version, skn.read((out / "fox.skn").read_bytes()).version)
    assert (*versions, ani.read((out / "fox.ani").read_bytes()).version) == (12, 10, 10)


def test_clips_keys_and_lists(fox: bpy.types.Object, out: Path) -> None:
    scene.select(fox)
    options = {"clips": "*run", "key_mode": "BAKE", "tolerance": 0.5, "use_list": False}
    dragon_scene.export(out / "fox.msh", use_animation=True, **options)
    baked = ani.read((out / "fox.ani").read_bytes())
    dragon_scene.export(out / "alone.ani", fox, **options)
    assert (out / "alone.ani").read_bytes() == ani.write(baked)
    assert [names.text(raw) for raw in baked.clip_names] == ["Fox_Run"]


@pytest.mark.parametrize("trouble", ["clip name", "game", "material", "target"])
def test_nothing_is_written_where_one_part_is_refused(
    trouble: str, fox: bpy.types.Object, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FOX:
        (out / name).write_bytes(b"old")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    options = {"use_skin": True, "use_animation": True}
    match = {
        "clip name": "fox.ani: .*cp949|Korean",
        "game": "the animations cannot be written",
        "material": "the materials cannot be written",
        "target": "cannot be replaced",
    }[trouble]
    if trouble == "clip name":
        fox.data.dragonnest_clips[0].name = "caf\u00e9"
    elif trouble == "game":
        curve = fox.data.dragonnest_clips[0]
        curve.action.use_frame_range = True
        options |= {"ani_version": "11"}
        curve.length = 40000
    elif trouble == "material":
        dragon_scene.meshes()[0].active_material.dragonnest.effect = ""
    else:
        genuine = Path.replace

        def locked(self: Path, target: Path) -> Path:
            if target.suffix == ".ani":
                raise PermissionError(13, "Permission denied")
            return genuine(self, target)

        monkeypatch.setattr(Path, "replace", locked)
    scene.select(fox)
    with pytest.raises(RuntimeError, match=match) as caught:
        bpy.ops.export_scene.dragonnest_msh(filepath=str(out / "fox.msh"), **options)
    assert "Traceback" not in str(caught.value)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_model_without_clips_is_written_without(tmp_path: Path, out: Path) -> None:
    dragon_scene.save(tmp_path / "a.msh", dragons.character())
    dragon_scene.bring(tmp_path / "a.msh")
    dragon_scene.export(out / "a.msh", dragon_scene.rig(), use_animation=True)
    assert [path.name for path in out.iterdir()] == ["a.msh"]


def test_a_collection_exports_all_of_a_character(fox: bpy.types.Object, out: Path) -> None:
    """The options of its exporter are those of the dialog."""
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection.children["fox"]
    bpy.ops.collection.exporter_add(name="DRAGONNEST_FH_msh")
    exporter = layer.active_layer_collection.collection.exporters[0]
    settings = exporter.export_properties
    settings.filepath, settings.use_skin, settings.use_animation = str(out / "fox.msh"), True, True
    assert bpy.ops.collection.exporter_export(index=0) == {"FINISHED"}
    same(out, "fox.msh", "fox.skn", "fox.ani")


def test_frames_are_the_same(fox: bpy.types.Object, out: Path) -> None:
    """What is written beside a model is what is written alone, edits included."""
    item = fox.data.dragonnest_clips[0]
    bone = fox.pose.bones[1]
    bone.rotation_mode = "QUATERNION"
    fox.animation_data.action = item.action
    bone.location = (0.0, 3.0, 0.0)
    bone.keyframe_insert("location", frame=2)
    dragon_scene.export(out / "alone.ani", fox)
    scene.select(fox)
    dragon_scene.export(out / "fox.msh", use_animation=True)
    assert (out / "fox.ani").read_bytes() == (out / "alone.ani").read_bytes()
    assert not np.array_equal((out / "fox.ani").read_bytes(), (ASSETS / "fox.ani").read_bytes())
