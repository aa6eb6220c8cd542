# SPDX-License-Identifier: GPL-3.0-or-later
"""3DF to 3DN and back: nothing but import and export."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import crt, model_3df, model_3dn, tga
from addon.io_carnivores.formats.model import Model, bone_names, label

from tests.scene.helpers import models, scene


def _same_faces(one: Model, other: Model) -> None:
    for name in ("corner", "u", "v", "flags", "dmask", "distant", "next", "group", "reserved"):
        assert np.array_equal(one.faces[name], other.faces[name]), name


def _restart() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.mark.parametrize("rows", [97, 256])
def test_there_and_back(tmp_path: Path, rows: int) -> None:
    model = models.odd(rows)
    model.texels = model.texels & 0x7FFF
    _data, obj = scene.bring_model(tmp_path / "beast.3df", model)
    (tmp_path / "mobile").mkdir()
    mobile = model_3dn.read(scene.export(tmp_path / "mobile" / "beast.3dn", obj))
    _same_faces(mobile, model)
    assert mobile.vertices.tobytes() == model.vertices.tobytes()
    assert mobile.bones.tobytes() == model.bones.tobytes()
    assert label(mobile.texture_name) == "beast"
    assert not mobile.has_sprite
    picture = tga.read((tmp_path / "mobile" / "beast.tga").read_bytes())
    assert picture.shape == (256, 256, 4)
    shown = np.stack([model.texels.astype(int) >> shift & 31 for shift in (10, 5, 0)], axis=-1)
    assert np.array_equal(picture[:rows, :, :3], (shown << 3 | shown >> 2).astype(np.uint8))
    assert np.array_equal(picture[:rows, :, 3] == 0, model.texels == 0)

    _restart()
    scene.bring(tmp_path / "mobile" / "beast.3dn")
    back = model_3df.read(scene.export(tmp_path / "back.3df", scene.the_mesh()))
    _same_faces(back, model)
    assert back.vertices.tobytes() == model.vertices.tobytes()
    assert back.bones.tobytes() == model.bones.tobytes()
    assert back.texels.shape == (256, 256)
    assert np.array_equal(back.texels[:rows], model.texels)


def test_crt_texture(tmp_path: Path) -> None:
    _data, obj = scene.bring_model(tmp_path / "beast.3df", models.regular(256))
    scene.export(tmp_path / "m.3dn", obj, texture_format="CRT", texture_name="hide")
    read = crt.read((tmp_path / "hide.crt").read_bytes())
    assert read.picture.shape == (256, 256, 4)
    assert not (tmp_path / "m.tga").exists()
    assert label(model_3dn.read((tmp_path / "m.3dn").read_bytes()).texture_name) == "hide"


@pytest.mark.parametrize(("texture", "expected"), [("AUTO", True), ("ALWAYS", True), ("NEVER", False)])
def test_texture_of_a_pc_model(tmp_path: Path, texture: str, expected: bool) -> None:
    _data, obj = scene.bring_model(tmp_path / "beast.3df", models.regular())
    scene.export(tmp_path / "m.3dn", obj, texture=texture)
    assert (tmp_path / "m.tga").exists() == expected


@pytest.mark.parametrize(
    ("texture", "painted", "expected"),
    [("AUTO", False, False), ("AUTO", True, True), ("ALWAYS", False, True), ("NEVER", True, False)],
)
def test_texture_of_a_mobile_model(tmp_path: Path, texture: str, painted: bool, expected: bool) -> None:
    """Its file is left alone until it is painted on, and then has the name that is inside the model."""
    picture = np.random.default_rng(0).integers(0, 256, (64, 64, 4)).astype(np.uint8)
    picture[..., 3] = 255
    (tmp_path / "Skin_Of_It.TGA").write_bytes(tga.write(picture))
    data, obj = scene.bring_model(tmp_path / "m.3dn", models.mobile())
    if painted:
        image = bpy.data.images["skin_of_it"]
        pixels = np.empty(64 * 64 * 4, np.float32)
        image.pixels.foreach_get(pixels)
        pixels[:4] = 1
        image.pixels.foreach_set(pixels)
        picture[-1, 0] = 255
    out = tmp_path / "out"
    out.mkdir()
    assert scene.export(out / "other.3dn", obj, texture=texture) == data
    assert (out / "skin_of_it.tga").exists() == expected
    if expected:
        assert np.array_equal(tga.read((out / "skin_of_it.tga").read_bytes()), picture)


def test_without_the_texture_search(tmp_path: Path) -> None:
    (tmp_path / "skin_of_it.tga").write_bytes(tga.write(np.full((8, 8, 4), 255, np.uint8)))
    data, obj = scene.bring_model(tmp_path / "m.3dn", models.mobile(), use_texture_search=False)
    assert not bpy.data.images
    assert scene.export(tmp_path / "n.3dn", obj) == data


def test_character_without_bones_gets_them_on_the_pc(tmp_path: Path) -> None:
    model = models.mobile(bones=False)
    _data, obj = scene.bring_model(tmp_path / "m.3dn", model)
    assert obj.parent is None
    after = model_3df.read(scene.export(tmp_path / "n.3df", obj))
    assert len(after.bones) == 13
    assert bone_names(after.bones)[12] == "Owner 12"
    assert (after.bones["parent"] == -1).all()
    owner = np.maximum(model.vertices["owner"], 0)
    assert np.array_equal(after.vertices["owner"], owner)
    assert not (after.vertices["hide"] < 0).any()
    for number in np.unique(owner):
        middle = model.vertices["position"][owner == number].mean(axis=0)
        assert np.allclose(after.bones["position"][number], middle, atol=1e-3)
    _same_faces(after, model)


def test_size_is_the_same_in_both_games(tmp_path: Path) -> None:
    """Also where it was imported at another scale."""
    model = models.regular()
    _data, obj = scene.bring_model(tmp_path / "m.3df", model, global_scale=0.01)
    after = model_3dn.read(scene.export(tmp_path / "n.3dn", obj))
    assert after.vertices.tobytes() == model.vertices.tobytes()


def test_uv_beyond_16_bits_is_refused(tmp_path: Path) -> None:
    model = models.regular()
    model.faces["u"][3, 1] = 40000
    _data, obj = scene.bring_model(tmp_path / "m.3df", model)
    with pytest.raises(RuntimeError, match="UV of face 3 is too far outside"):
        scene.export(tmp_path / "n.3dn", obj)
    assert not (tmp_path / "n.3dn").exists()
    assert not (tmp_path / "n.tga").exists()


@pytest.mark.samples("*.3df")
def test_real_models(sample: Path, tmp_path: Path) -> None:
    before = model_3df.read(sample.read_bytes())
    scene.bring(sample)
    scene.export(tmp_path / "m.3dn", scene.the_mesh())
    _restart()
    scene.bring(tmp_path / "m.3dn")
    after = model_3df.read(scene.export(tmp_path / "n.3df", scene.the_mesh()))
    _same_faces(after, before)
    assert after.vertices.tobytes() == before.vertices.tobytes()
    assert after.bones.tobytes() == before.bones.tobytes()
    rows = len(before.texels)
    assert np.array_equal(after.texels[:rows] & 0x7FFF, before.texels & 0x7FFF)
