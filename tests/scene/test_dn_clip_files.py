# SPDX-License-Identifier: GPL-3.0-or-later
"""Text lists, dumps, chosen clips, and files that are not as they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_common.scene import compat, curves, transfer
from addon.io_dragonnest.formats import ani, ani_list, names
from addon.io_dragonnest.formats.keys import Record
from addon.io_dragonnest.scene import clips

from tests import dragons

from .helpers import dragon_scene, scene
from .helpers.dragon_motion import again, bound, brought, calm, rig, save, stretch, worst

if TYPE_CHECKING:
    from pathlib import Path


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


def test_what_a_list_cannot_use_is_named(tmp_path: Path) -> None:
    """By the name that it has on the disk, small letters too."""
    save(tmp_path / "a.ani", dragons.animation())
    (tmp_path / "inner.ani").write_bytes(b"a.ani\r\n")
    (tmp_path / "bad.ani").write_bytes(dragons.junk("Eternity Engine Ani File 0.1") + b"\xff" * 3000)
    (tmp_path / "list.ani").write_bytes(b"a.ani\r\ninner.ani\r\nbad.ani\r\nlist.ani\r\n")
    dragon_scene.bring(tmp_path / "list.ani")
    said = bpy.data.texts[transfer.REPORT].as_string()
    assert "left out: inner.ani: this is a list of files itself" in said
    assert "left out: list.ani: this is a list of files itself" in said
    assert "left out: bad.ani: ANI version -1 is not known at byte 256" in said


@pytest.mark.parametrize("suffix", [".ani", ".skn"])
def test_a_companion_of_no_use_is_named_with_its_place(suffix: str, tmp_path: Path) -> None:
    save(tmp_path / "hero.msh", dragons.character())
    magic = "Eternity Engine Ani File 0.1" if suffix == ".ani" else "Eternity Engine Skin File 0.1"
    (tmp_path / f"hero{suffix}").write_bytes(dragons.junk(magic) + b"\xff" * 3000)
    dragon_scene.bring(tmp_path / "hero.msh")
    said = bpy.data.texts[transfer.REPORT].as_string()
    assert f"is of no use: hero{suffix}: " in said
    assert f"at byte {256 if suffix == '.ani' else 512}: expected one of 10, 11" in said
