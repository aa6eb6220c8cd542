# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures of bind matrices: what is made of them, and what they say afterwards."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from addon.io_dragonnest.formats import names
from addon.io_dragonnest.formats import rig as binds
from addon.io_dragonnest.scene import options, placement, rig

from tests import dragons


def table() -> tuple[list[bytes], np.ndarray]:
    """The bones of the made model, two of them mirrored, one scaled unevenly."""
    world = dragons.bind_matrices()
    world[3, :3] *= np.array([1.0, 1.0, -1.0])[:, None]
    world[5, :3] *= np.array([2.0, 2.0, -2.0])[:, None]
    world[6, :3] *= np.array([1.0, 3.0, 0.5])[:, None]
    return [dragons.junk(bone) for bone in dragons.BONES], binds.inverses(world)


@pytest.fixture(params=["CHILD", "STORED"])
def made(request: pytest.FixtureRequest) -> bpy.types.Object:
    raws, inverse = table()
    chosen = options.ImportMshOptions(bone_direction=request.param)
    return rig.build(bpy.context, "Made", raws, inverse, dragons.PARENTS, bpy.context.collection, chosen)


def test_state_gives_the_bind_matrices_back(made: bpy.types.Object) -> None:
    found = rig.state(made)
    assert not found.edited.any()
    rows = [found.names.index(bone) for bone in dragons.BONES]
    assert np.abs(rig.inverse_binds(found.bind[rows]) - table()[1]).max() < 1e-6
    assert [found.names[row] for row in found.parent[rows[1:]]] == [dragons.BONES[row] for row in dragons.PARENTS[1:]]
    heads = found.rest[:, :3, 3]
    assert np.abs(heads - found.bind[:, :3, 3]).max() < 1e-4
    assert np.abs(np.linalg.det(found.rest) - 1).max() < 1e-5


def test_children_are_pointed_at() -> None:
    raws, inverse = table()
    made = rig.build(bpy.context, "Made", raws, inverse, dragons.PARENTS, bpy.context.collection)
    bones = made.data.bones
    spine, head = bones["Bip01 Spine"], bones["Bip01 Head"]
    assert (spine.tail_local - (head.head_local + bones["BoxBone01"].head_local) / 2).length < 1e-4
    # A bone that is scaled unevenly keeps its stored axes, up to order and sign.
    stored = rig.bind_matrices(inverse[6:7])[0, :3, :3]
    stored = stored / np.linalg.norm(stored, axis=0)
    turned = np.abs(np.array(bones["머리카락"].matrix_local)[:3, :3].T @ stored)
    assert np.abs(np.sort(turned, axis=1) - (0, 0, 1)).max() < 1e-4


def test_stored_direction_keeps_the_axes() -> None:
    raws, inverse = table()
    chosen = options.ImportMshOptions(bone_direction="STORED")
    made = rig.build(bpy.context, "Made", raws, inverse, dragons.PARENTS, bpy.context.collection, chosen)
    found = rig.state(made)
    row = found.names.index("Bip01 L Thigh")
    assert np.abs(found.rest[row] - found.bind[row]).max() < 1e-4


def test_names_without_regard_to_case(made: bpy.types.Object) -> None:
    assert rig.match(["BIP01 head", "nothing", "머리카락"], made) == ["Bip01 Head", None, "머리카락"]
    made.data.bones["Bip01 Head"].name = "Kopf"
    assert rig.match(["bip01 HEAD", "kopf"], made) == ["Kopf", "Kopf"]
    assert names.text(rig.field(made.data.bones["Kopf"])) == "Kopf"
    assert rig.field(made.data.bones["Bip01"]) == dragons.junk("Bip01")


def test_extend_adds_what_is_missing_only(made: bpy.types.Object) -> None:
    before = rig.state(made)
    _raws, inverse = table()
    added = rig.extend(
        bpy.context, made, ["bip01 HEAD", "Hat", "hat", "Feather"], inverse[[3, 4, 5, 6]], [-1, 0, 0, 1], helper=True
    )
    assert added == ["Hat", "Feather"]
    after = rig.state(made)
    assert made.data.bones["Hat"].parent.name == "Bip01 Head"
    assert made.data.bones["Feather"].parent.name == "Hat"
    rows = [after.names.index(name) for name in before.names]
    assert not after.edited.any()
    assert np.abs(after.bind[rows] - before.bind).max() == 0


def test_reparent_keeps_places_and_makes_no_loop(made: bpy.types.Object) -> None:
    before = rig.state(made)
    assert rig.reparent(bpy.context, made, {"Bip01 Head": "Bip01 L Thigh", "Bip01 R Thigh": "", "Bip01": "none"}) == 2
    assert made.data.bones["Bip01 Head"].parent.name == "Bip01 L Thigh"
    assert made.data.bones["Bip01 R Thigh"].parent is None
    rig.reparent(bpy.context, made, {"Bip01": "Bip01 Spine"})
    after = rig.state(made)
    assert not after.edited.any()
    assert sorted(after.names) == sorted(before.names)


def test_find_takes_the_active_one_else_the_only_one(made: bpy.types.Object) -> None:
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = None
    assert rig.find(bpy.context, ["BIP01"]) is made
    assert rig.find(bpy.context, ["other"]) is None
    raws, inverse = table()
    other = rig.build(bpy.context, "Other", raws, inverse, dragons.PARENTS, bpy.context.collection)
    bpy.context.view_layer.update()
    assert rig.find(bpy.context, ["BIP01"]) is None
    bpy.context.view_layer.objects.active = other
    assert rig.find(bpy.context, ["BIP01"]) is other


def test_a_moved_bone_moves_its_bind_matrix(made: bpy.types.Object) -> None:
    before = rig.state(made)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    bone = made.data.edit_bones["Bip01 R Thigh"]
    bone.head.x += 2
    bone.tail.x += 2
    bpy.ops.object.mode_set(mode="OBJECT")
    after = rig.state(made)
    row = after.names.index("Bip01 R Thigh")
    assert after.edited.nonzero()[0].tolist() == [row]
    moved = after.bind[row] - before.bind[row]
    assert moved[0, 3] == pytest.approx(2, abs=1e-4)
    moved[0, 3] = 0
    assert np.abs(moved).max() < 1e-4


def far_chain(count: int) -> tuple[list[bytes], np.ndarray]:
    """A chain of bones that turns at random and goes far out."""
    rng = np.random.default_rng(7)
    world = np.zeros((count, 4, 4))
    place = np.eye(4)
    for row in range(count):
        axis, _upper = np.linalg.qr(rng.normal(size=(3, 3)))
        step = np.eye(4)
        step[:3, :3] = axis * np.sign(np.linalg.det(axis))
        step[3, :3] = rng.normal(0, 40, 3)
        place = step @ place
        world[row] = place
    return [names.field(f"Bone{row}") for row in range(count)], binds.inverses(world)


def test_what_hangs_on_a_bone_stays_when_bones_are_hung_elsewhere() -> None:
    """To single precision: more would look like an edit, and its vertices would be written anew."""
    raws, inverse = far_chain(60)
    parents = np.arange(-1, 59)
    made = rig.build(bpy.context, "Made", raws, inverse, parents, bpy.context.collection)
    hung = [bpy.data.objects.new(f"Thing{row}", bpy.data.meshes.new("Thing")) for row in range(60)]
    for row, thing in enumerate(hung):
        bpy.context.collection.objects.link(thing)
        placement.hang(thing, made, f"Bone{row}", 0.01)
    for step in (2, 3, 5):
        rig.reparent(bpy.context, made, {f"Bone{row}": f"Bone{row - step}" for row in range(step, 60)})
    reach = np.abs([bone.matrix_local for bone in made.data.bones]).max()
    away = np.abs([placement.within(thing, made) - np.eye(4) for thing in hung])
    assert away[:, :3, :3].max() < 5e-7
    assert away[:, :3, 3].max() < 5e-7 * reach
