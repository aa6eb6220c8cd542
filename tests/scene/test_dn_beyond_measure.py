# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest: scenes that no file can hold end in a sentence; huge numbers and lists of unlike files come back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat
from addon.io_dragonnest.formats import ani, msh, names, skn
from addon.io_dragonnest.formats.collision import Collision, Kind

from tests import dragons

from .helpers import dragon_scene, scene

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")


def bring(folder: Path) -> bpy.types.Object:
    (folder / "a.msh").write_bytes(msh.write(dragons.character()))
    (folder / "a.ani").write_bytes(ani.write(dragons.animation()))
    dragon_scene.bring(folder / "a.msh")
    dragon_scene.bring(folder / "a.ani")
    return dragon_scene.rig()


def refused(path: Path, *, match: str) -> None:
    """Everything of the scene goes to `path`, which ends in a sentence and without a file."""
    scene.select(*bpy.context.scene.objects)
    operator = getattr(bpy.ops.export_scene, f"dragonnest_{path.suffix.lower()[1:]}")
    with pytest.raises(RuntimeError, match=match) as caught:
        operator(filepath=str(path), use_check=False)
    assert "Traceback" not in str(caught.value)
    assert not path.exists()


@pytest.mark.parametrize("name", ["b.msh", "b.skn", "b.ani", "b.anim"])
@pytest.mark.parametrize("scale", [(0, 0, 0), (0, 1, 1), (1e30, 1, 1), (NAN, 1, 1)], ids=str)
def test_an_armature_without_measure(name: str, scale: tuple[float, ...], tmp_path: Path) -> None:
    bring(tmp_path).scale = scale
    refused(tmp_path / name, match="scaled to nothing or beyond all measure")


@pytest.mark.parametrize("name", ["b.msh", "b.ani"])
def test_bones_without_direction(name: str, samples: Path, tmp_path: Path) -> None:
    for suffix in (".msh", ".ani"):
        dragon_scene.bring(samples / "dragonnest" / "synthetic" / f"syn_v11_biped{suffix}")
    rig = dragon_scene.rig()
    scene.select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.tail = bone.head + (bone.tail - bone.head) * 1e-7
    bpy.ops.object.mode_set(mode="OBJECT")
    if all(abs(np.linalg.det(np.array(bone.matrix_local))) > 0.5 for bone in rig.data.bones):
        pytest.skip("this Blender removes bones so short, or keeps their direction")
    refused(tmp_path / name, match="too short to have a direction")


@pytest.mark.parametrize("mark", ["dragonnest_dummy", "dragonnest_collision"])
def test_places_that_are_no_number(mark: str, tmp_path: Path) -> None:
    (tmp_path / "a.msh").write_bytes(msh.write(dragons.model()))
    dragon_scene.bring(tmp_path / "a.msh")
    next(obj for obj in bpy.data.objects if mark in obj).location.x = NAN
    refused(tmp_path / "b.msh", match="not a finite number")


@pytest.mark.parametrize("size", [1e19, 1e20, 1e30, 3e38])
def test_huge_collisions_come_back(size: float, tmp_path: Path) -> None:
    box = np.concatenate(([0, 5, 0], np.eye(3).reshape(-1), [1, 2, size])).astype("<f4")
    model = dragons.model()
    ball = np.array([1, 2, 3, size], "<f4")
    model.collisions = [
        Collision(kind, names.lpstr("Bip01"), row) for kind, row in ((Kind.BOX, box), (Kind.SPHERE, ball))
    ]
    data = dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    assert all(np.isfinite(np.array(obj.matrix_world)).all() for obj in bpy.data.objects)
    scene.reopen(tmp_path / "a.blend")
    assert dragon_scene.export(tmp_path / "b.msh", *bpy.context.scene.objects) == data


def unlike() -> dict[str, bytes]:
    """A list of files: one of all bones, one of the first alone, one without any."""
    whole, less, none = (dragons.animation() for _ in range(3))
    less.bones, less.records = less.bones[:1], less.records[:1]
    none.bones, none.records = none.bones[:0], []
    return {"whole.ani": ani.write(whole), "less.ani": ani.write(less), "none.ani": ani.write(none)}


def list_of(folder: Path) -> dict[str, bytes]:
    content = {"list.ani": b"whole.ani\r\nless.ani\r\nnone.ani\r\n", **unlike()}
    for name, data in content.items():
        (folder / name).write_bytes(data)
    dragon_scene.bring(folder / "list.ani")
    return content


def test_files_of_a_list_keep_their_own_bones(tmp_path: Path) -> None:
    content = list_of(tmp_path)
    scene.reopen(tmp_path / "a.blend")
    out = tmp_path / "out"
    out.mkdir()
    dragon_scene.export(out / "list.ani", dragon_scene.rig())
    assert {path.name: path.read_bytes() for path in out.iterdir()} == content


def test_bones_that_were_moved_since_are_added_to_their_file(tmp_path: Path) -> None:
    list_of(tmp_path)
    action = next(
        item.action for item in dragon_scene.rig().data.dragonnest_clips if item.action["dragonnest_ani_part"] == 2
    )
    name = next(iter(json.loads(action["dragonnest_spare"])))
    curve = next(curve for curve in compat.all_curves(action) if f'"{name}"' in curve.data_path)
    curve.keyframe_points[0].co.y += 1.0
    out = tmp_path / "out"
    out.mkdir()
    dragon_scene.export(out / "list.ani", dragon_scene.rig())
    found = ani.read_binary((out / "less.ani").read_bytes())
    assert name in found.bone_names
    assert (out / "none.ani").read_bytes() == unlike()["none.ani"]


SPOILT = ("", "{", "[1, {}]", '[{"id": 1}]', '[{"id": "a", "list": "?", "parts": [{"name": "x", "shell": "AAAA"}]}]')


@pytest.mark.parametrize("text", SPOILT)
def test_spoilt_properties_are_as_none(text: str, tmp_path: Path) -> None:
    rig = bring(tmp_path)
    rig.data["dragonnest_anis"] = text
    for item in rig.data.dragonnest_clips:
        item.raw_name = "no number"
        for name in ("dragonnest_clip", "dragonnest_rig"):
            del item.action[name]
            item.action[name] = b"no stream"
        item.action["dragonnest_end"] = NAN
    rig.data.bones[0]["dragonnest_rest"] = b"\xff" * 64
    found = ani.read(dragon_scene.export(tmp_path / "b.ani", rig))
    assert found.clip_names
    assert msh.read(dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())).submeshes


def test_a_skin_that_names_no_model_stays_so(tmp_path: Path) -> None:
    dragons.dressed(tmp_path, dragons.plain("M"))
    found = skn.read((tmp_path / "hero.skn").read_bytes())
    found.mesh_name = bytes(256)
    data = skn.write(found)
    (tmp_path / "hero.skn").write_bytes(data)
    dragon_scene.bring(tmp_path / "hero.skn")
    assert dragon_scene.export(tmp_path / "b.skn", *dragon_scene.meshes()) == data


def test_what_is_no_picture_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "a.dds").write_bytes(dragons.RED)
    dragons.dressed(tmp_path, dragons.plain("M", dragons.texture("g_DiffuseTex", "a.dds")))
    dragon_scene.bring(tmp_path / "hero.skn")
    (tmp_path / "secret").write_bytes(b"root:x:0:0, which is no picture of any kind")
    (image,) = (entry for entry in bpy.data.images if entry.source == "FILE")
    image.filepath = str(tmp_path / "secret")
    out = tmp_path / "out"
    out.mkdir()
    dragon_scene.export(out / "b.skn", *dragon_scene.meshes(), use_textures=True)
    assert [path.name for path in out.iterdir()] == ["b.skn"]


def test_a_property_that_no_file_can_name_is_not_made(tmp_path: Path) -> None:
    dragons.dressed(tmp_path, dragons.plain("M"))
    dragon_scene.bring(tmp_path / "hero.skn")
    obj = dragon_scene.meshes()[0]
    bpy.context.view_layer.objects.active = obj
    before = len(obj.active_material.dragonnest.parameters)
    with pytest.raises(RuntimeError, match="which Korean Windows text") as caught:
        bpy.ops.dragonnest.parameter_add(title="\u00e9")
    assert "Traceback" not in str(caught.value)
    assert len(obj.active_material.dragonnest.parameters) == before
