# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of collisions and dummies change what was edited, and nothing else."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import transfer
from addon.io_dragonnest.formats import msh, names
from addon.io_dragonnest.formats import rig as binds
from addon.io_dragonnest.formats.collision import Kind
from addon.io_dragonnest.formats.dummy import Dummy
from addon.io_dragonnest.scene import carriers, extract_msh, rig
from addon.io_dragonnest.scene.options import ExportMshOptions

from tests import dragons
from tests.scene.helpers import dragon_scene


@pytest.fixture
def made(tmp_path: Path) -> bytes:
    """The bytes of an imported model in which every stream is used."""
    data = dragon_scene.save(tmp_path / "a.msh", dragons.model())
    dragon_scene.bring(tmp_path / "a.msh")
    return data


def again(tmp_path: Path, **options: object) -> msh.Msh:
    return msh.read(dragon_scene.export(tmp_path / "out.msh", *dragon_scene.meshes(), **options))


def test_extras_are_written_though_hidden_and_local_when_moved(made: bytes, tmp_path: Path) -> None:
    bpy.data.objects["Sphere"].location.x += 2
    bpy.data.objects["#effect01"].location.z += 3
    before, after = msh.read(made), again(tmp_path)
    assert [entry.values.tolist() for entry in after.collisions[:1]] == [before.collisions[0].values.tolist()]
    assert after.collisions[1].values == pytest.approx(before.collisions[1].values + np.float32([2, 0, 0, 0]), abs=1e-4)
    assert after.collisions[1].parent == before.collisions[1].parent
    expected = before.dummies[0].matrix.copy()
    expected[3, 1] += 3
    assert after.dummies[0].matrix == pytest.approx(expected, abs=1e-4)
    assert after.dummies[0].name == before.dummies[0].name
    assert (after.dummies[1].matrix == before.dummies[1].matrix).all()


@pytest.mark.parametrize("kind", ["Box", "Capsule", "Sphere"])
def test_a_scaled_primitive(made: bytes, tmp_path: Path, kind: str) -> None:
    obj = bpy.data.objects[kind]
    obj.scale = [2 * value for value in obj.scale]
    number = {"Box": 0, "Sphere": 1, "Capsule": 2}[kind]
    before, after = (entry.collisions[number].values for entry in (msh.read(made), again(tmp_path)))
    sizes = {"Box": [12, 13, 14], "Sphere": [3], "Capsule": [4, 6]}[kind]
    expected = before.copy()
    expected[sizes] *= 2
    assert after == pytest.approx(expected, abs=1e-4)


def test_a_moved_corner_of_a_collision_mesh(made: bytes, tmp_path: Path) -> None:
    obj = bpy.data.objects["Collision"]
    obj.data.vertices[0].co.x += 1
    before, after = msh.read(made), again(tmp_path)
    assert after.collisions[3].kind is Kind.TRIANGLES
    away = np.abs(after.collisions[3].triangles - before.collisions[3].triangles)
    assert away.max() == pytest.approx(1, abs=1e-4)
    assert (away > 1e-3).sum() == 1


def test_empties_that_are_no_dummies_are_named(made: bytes, tmp_path: Path) -> None:
    obj = bpy.data.objects.new("Muzzle", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent, obj.parent_type, obj.parent_bone = dragon_scene.rig(), "BONE", "Bip01 Head"
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == made
    assert '"Muzzle"' in bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
    obj.name = "#Muzzle"
    assert len(again(tmp_path).dummies) == len(msh.read(made).dummies) + 1


@pytest.mark.parametrize("place", ["beside", "alone"])
def test_empties_in_a_collection_of_dummies_are_named(place: str, tmp_path: Path) -> None:
    """In the collection of the import, or in one that was made for a model without any."""
    model = dragons.model()
    if place == "alone":
        model.dummies = []
    data = dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    home = bpy.data.collections["a"]
    if place == "alone":
        home.children.link(bpy.data.collections.new("My Dummies"))
    collection = next(child for child in home.children if "Dummies" in child.name)
    collection.objects.link(bpy.data.objects.new("Muzzle", None))
    assert dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes()) == data
    assert '"Muzzle"' in bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()


@pytest.mark.parametrize("version", ["10", "11", "12", "13"])
def test_what_an_older_version_cannot_hold_is_said(version: str, tmp_path: Path) -> None:
    model = dragons.model()
    dragon_scene.save(tmp_path / "a.msh", model)
    made = dragon_scene.bring(tmp_path / "a.msh")
    digest = Digest()
    parts = [obj for obj in made if obj.type != "ARMATURE"]
    extract_msh.extract_with_pieces(bpy.context, parts, ExportMshOptions(version=version), digest)
    said = "; ".join(digest.lines)
    assert "x2" not in said
    assert ("4 dummies are turned or scaled" in said) == (version != "13")
    assert ("collisions hang on a bone, which MSH 10 cannot hold" in said) == (version == "10")


def test_a_dummy_that_was_turned_here_is_said_once(tmp_path: Path) -> None:
    model = dragons.model(12)
    dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    next(obj for obj in bpy.data.objects if obj.name == "#FX_01").rotation_euler = (1.0, 0.0, 0.0)
    dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    said = bpy.data.texts[transfer.REPORT].as_string()
    assert said.count("1 dummy is turned or scaled, which MSH 12 cannot hold") == 1


def shrinking_chain(count: int) -> np.ndarray:
    """Inverse binds (b, 4, 4) of a chain that turns at random and is scaled unevenly, smaller and smaller."""
    rng = np.random.default_rng(5)
    world, place = np.zeros((count, 4, 4)), np.eye(4)
    for row in range(count):
        axis, _upper = np.linalg.qr(rng.normal(size=(3, 3)))
        step = np.eye(4)
        step[:3, :3] = np.diag(rng.uniform(0.3, 1.2, 3)) @ axis * np.sign(np.linalg.det(axis))
        step[3, :3] = rng.normal(0, 40, 3)
        place = step @ place
        world[row] = place
    return binds.inverses(world)


def test_dummies_of_shrunken_bones_are_untouched_when_bones_are_hung_elsewhere(tmp_path: Path) -> None:
    """Their own matrices go through inverses of small ones, which swell every rounding."""
    count = 24
    model = msh.Msh(13, [dragons.part()], bones=np.zeros(count, msh.BONE))
    model.bones["name"] = names.fields([names.field(f"Bone{row}") for row in range(count)])
    model.bones["inverse_bind"] = shrinking_chain(count)
    model.dummies = [Dummy(names.field(f"#{row}"), names.field(f"Bone{row}")) for row in range(count)]
    data = dragon_scene.save(tmp_path / "a.msh", model)
    dragon_scene.bring(tmp_path / "a.msh")
    skeleton = dragon_scene.rig()
    for step in (1, 2, 3, 1):
        rig.reparent(bpy.context, skeleton, {f"Bone{row}": f"Bone{row - step}" for row in range(step, count)})
    carriers.add(bpy.context, skeleton, [f"Bone{row}" for row in range(1, count)], Digest())
    assert dragon_scene.differences(data, dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())) == set()
    bpy.data.objects["#9"].location.x += 1
    after = dragon_scene.export(tmp_path / "b.msh", *dragon_scene.meshes())
    assert {entry.partition(" byte")[0] for entry in dragon_scene.differences(data, after)} == {"dummy 9"}
