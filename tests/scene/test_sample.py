# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample models: made again to the byte, through a .blend to the byte, and with in them what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import check, model_3df, model_3dn, textures
from addon.io_carnivores.formats.flags import FaceFlag
from addon.io_carnivores.formats.model import Model, bone_names

from tools import make_samples

if TYPE_CHECKING:
    from addon.io_common.formats.issues import Issue

ASSETS = make_samples.ASSETS
STILL = sorted(path.name for path in ASSETS.iterdir() if path.suffix in {".3df", ".3dn"})
MODELS = [*STILL, "dinosaur.car"]
CUT_OUT = int(FaceFlag.OPACITY)


@pytest.fixture(scope="module")
def dinosaur() -> Model:
    """The PC dinosaur."""
    return model_3df.read((ASSETS / "dinosaur.3df").read_bytes())


def _import(path: Path) -> bpy.types.Object:
    getattr(bpy.ops.import_scene, f"carnivores_{path.suffix[1:]}")(filepath=str(path))
    return next(obj for obj in bpy.context.selected_objects if obj.type == "MESH")


def _export(path: Path) -> bytes:
    getattr(bpy.ops.export_scene, f"carnivores_{path.suffix[1:]}")(filepath=str(path))
    return path.read_bytes()


def test_the_script_makes_the_same_bytes() -> None:
    """Nobody edited the assets by hand, and no platform or numpy makes others."""
    made = make_samples.make()
    assert set(made) == {path.name for path in ASSETS.iterdir() if path.suffix != ".md"}
    for name, data in made.items():
        assert (ASSETS / name).read_bytes() == data, f"{name}: run tools/make_samples.py"


@pytest.mark.parametrize("name", MODELS)
def test_bytes_survive_a_saved_blend(name: str, tmp_path: Path) -> None:
    """Import, save, open, export: the same file."""
    mesh_name = _import(ASSETS / name).name
    blend = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.data.objects[mesh_name].select_set(state=True)
    assert _export(tmp_path / name) == (ASSETS / name).read_bytes()
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"scene.blend", name}, "an untouched texture of a mobile model is not written"


def test_it_looks_like_an_animal(dinosaur: Model) -> None:
    """Size, poly count and limits of the games."""
    assert 400 <= len(dinosaur.faces) <= 1000
    assert len(dinosaur.vertices) <= 1024
    assert dinosaur.texels.shape == (256, 256)
    assert int((dinosaur.texels >> 15).max()) == 0
    assert len(np.unique(dinosaur.texels)) > 500
    low, high = dinosaur.vertices["position"].min(axis=0), dinosaur.vertices["position"].max(axis=0)
    assert 0 <= low[1] < 2, "it stands on the ground"
    assert 150 < high[1] < 350
    head = dinosaur.vertices["owner"] == bone_names(dinosaur.bones).index("Head")
    assert dinosaur.vertices["position"][head, 2].max() < 0, "it faces -z"


def test_the_flags_it_promises(dinosaur: Model) -> None:
    """Every look that an animal can have, and several face groups."""
    flags, counts = np.unique(dinosaur.faces["flags"], return_counts=True)
    assert flags.tolist() == [0x00, 0x01, 0x05, 0x08, 0x10]
    assert counts.min() >= 2
    assert np.unique(dinosaur.faces["group"]).tolist() == [0, 1, 2, 3, 4, 5]


def test_the_bones_it_promises(dinosaur: Model) -> None:
    """Parents before children, one name twice, one name outside ASCII, no bone without vertices but for the root's."""
    names = bone_names(dinosaur.bones)
    parents = dinosaur.bones["parent"].tolist()
    assert 15 <= len(names) <= 25
    assert sorted(name for name in set(names) if names.count(name) > 1) == ["Eye"]
    assert [name for name in names if not name.isascii()] == ["Crête"]
    assert parents[0] == -1
    assert all(0 <= parent < number for number, parent in enumerate(parents) if number)
    assert set(np.unique(dinosaur.vertices["owner"]).tolist()) == set(range(len(names)))


def test_key_colour_is_where_cut_outs_are(dinosaur: Model) -> None:
    """Holes on cut-out and glass faces only: with one cut-out face, the Direct3D games make every texel 0 a hole."""
    keyed = (dinosaur.faces["flags"] & (CUT_OUT | int(FaceFlag.TRANSPARENT))) != 0
    for faces, holes in ((dinosaur.faces[keyed], True), (dinosaur.faces[~keyed], False)):
        seen = False
        for u, v in zip(faces["u"], faces["v"], strict=True):
            box = dinosaur.texels[v.min() : v.max() + 1, u.min() : u.max() + 1]
            seen = seen or bool((box == 0).any())
        assert seen == holes


def test_no_texel_outside_the_texture() -> None:
    """Every corner of every sample, mobile ones against their 256 rows."""
    for name in STILL:
        data = (ASSETS / name).read_bytes()
        model = (model_3df if name.endswith(".3df") else model_3dn).read(data)
        rows = len(model.texels) or 256
        assert model.faces["u"].min() >= 0
        assert model.faces["u"].max() < 256
        assert model.faces["v"].min() >= 0
        assert model.faces["v"].max() < rows


@pytest.mark.parametrize("game", ["C1", "C2", "ICE_AGE", "MEE"])
def test_the_games_would_take_them(game: str, dinosaur: Model) -> None:
    """The checks before export find nothing to say about our own models."""
    fern = model_3df.read((ASSETS / "fern.3df").read_bytes())
    found: list[Issue] = [issue for model in (dinosaur, fern) for issue in check.check(model, game, "3df")]
    assert found == []


def test_closed_parts_are_wound_outwards(dinosaur: Model) -> None:
    """The raw cross product of single-sided faces looks out: the volume they enclose is positive, as in the games."""
    solid = dinosaur.faces[dinosaur.faces["flags"] & 1 == 0]
    a, b, c = (dinosaur.vertices["position"][solid["corner"][:, corner]].astype(np.float64) for corner in range(3))
    volume = float((np.cross(a, b) * c).sum() / 6)
    size = np.ptp(dinosaur.vertices["position"].astype(np.float64), axis=0).prod()
    assert volume > 0.03 * size


def test_normals_look_outwards_in_blender() -> None:
    """The trunk's faces look away from the plane that cuts the animal in half; mirrored, they would look inwards."""
    mesh = _import(ASSETS / "dinosaur.3df").data
    normals, centers = np.empty((2, len(mesh.polygons), 3), np.float32)
    groups = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("normal", normals.reshape(-1))
    mesh.polygons.foreach_get("center", centers.reshape(-1))
    mesh.attributes["carnivores_group"].data.foreach_get("value", groups)
    flank = (groups == 0) & (np.abs(normals[:, 0]) > 0.3)
    assert flank.sum() > 100
    assert (normals[flank, 0] * centers[flank, 0] > 0).all()


def test_the_mobile_one_finds_its_texture(dinosaur: Model) -> None:
    """By the name inside, with the same colours and holes as the PC one's."""
    path = ASSETS / "dinosaur.3dn"
    found = textures.find("dinosaur", path)
    assert found == ASSETS / "dinosaur.tga"
    picture = textures.read(found).picture
    assert picture is not None
    assert ((picture[..., 3] == 0) == (dinosaur.texels == 0)).all()
    obj = _import(path)
    images = {
        node.image.name
        for material in obj.data.materials
        for node in material.node_tree.nodes
        if node.type == "TEX_IMAGE"
    }
    assert len(images) == 1


def test_both_dinosaurs_are_one_animal(dinosaur: Model) -> None:
    """PC and mobile differ in nothing but where the texture is."""
    mobile = model_3dn.read((ASSETS / "dinosaur.3dn").read_bytes())
    for table in ("faces", "vertices", "bones"):
        assert getattr(mobile, table).tobytes() == getattr(dinosaur, table).tobytes()
