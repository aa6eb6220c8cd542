# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations that nobody baked: exported as they play, whatever the rate of the animation."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car
from addon.io_carnivores.scene import clip_edit, clips, passing
from addon.io_common.scene import compat, selection

from .helpers import made, scene

END = 21


def _cloth(obj: bpy.types.Object) -> None:
    group = obj.vertex_groups.new(name="pinned")
    group.add(list(range(8)), 1.0, "REPLACE")
    settings = obj.modifiers.new("Cloth", "CLOTH").settings
    settings.vertex_group_mass = "pinned"


def _soft(obj: bpy.types.Object) -> None:
    obj.modifiers.new("Softbody", "SOFT_BODY").settings.use_goal = False


def _rigid(obj: bpy.types.Object) -> None:
    scene.select(obj)
    bpy.ops.rigidbody.object_add(type="ACTIVE")


def _nodes(obj: bpy.types.Object) -> None:
    """Every frame moves the mesh a bit further."""
    tree: Any = bpy.data.node_groups.new("Grow", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes = [
        tree.nodes.new(kind)
        for kind in (
            "NodeGroupInput",
            "GeometryNodeSimulationInput",
            "GeometryNodeSetPosition",
            "GeometryNodeSimulationOutput",
            "NodeGroupOutput",
        )
    ]
    nodes[1].pair_with_output(nodes[3])
    nodes[2].inputs["Offset"].default_value = (0, 0, 1)
    for first, second in itertools.pairwise(nodes):
        source = first.outputs["Geometry"] if "Geometry" in first.outputs else first.outputs[0]
        target = second.inputs["Geometry"] if "Geometry" in second.inputs else second.inputs[0]
        tree.links.new(source, target)
    obj.modifiers.new("Nodes", "NODES").node_group = tree


SIMULATIONS = {"cloth": _cloth, "soft": _soft, "rigid": _rigid, "nodes": _nodes}


def sheet() -> bpy.types.Object:
    """A small square of cloth, a Blender unit each way."""
    bpy.context.scene.render.fps = 24
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, END
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=7, y_subdivisions=7, size=2, location=(0, 0, 4))
    obj = bpy.context.object
    obj.data.uv_layers.new(name="UVMap")
    return obj


def played(obj: bpy.types.Object) -> np.ndarray:
    """World positions (END, V, 3) of every frame, one after the other, as the play button shows them."""
    found = []
    for frame in range(1, END + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.to_mesh().vertices])
        evaluated.to_mesh_clear()
        found.append(points)
    return np.array(found)


def at(frames: np.ndarray, count: int) -> np.ndarray:
    """`count` frames out of those of `played`, straight lines in between."""
    time = np.linspace(0, len(frames) - 1, count)
    before = np.minimum(time.astype(int), len(frames) - 2)
    share = (time - before)[:, None, None]
    return frames[before] * (1 - share) + frames[before + 1] * share


@pytest.mark.parametrize("kps", [24, 11, 6])
@pytest.mark.parametrize("kind", list(SIMULATIONS))
def test_a_range_of_a_simulation(kind: str, kps: int, tmp_path: Path) -> None:
    """Nobody has played it before; at lower rates the frames between are passed all the same."""
    obj = sheet()
    SIMULATIONS[kind](obj)
    bpy.context.view_layer.update()
    assert passing.is_simulated(bpy.context)
    item = clip_edit.add_range(bpy.context, obj)
    item.kps = kps
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    bpy.context.scene.frame_set(9)
    found = car.read(scene.export(tmp_path / "out.car", obj)).animations[0]
    bpy.context.scene.frame_set(1)
    whole = played(obj)
    assert np.abs(whole[-1] - whole[0]).max() > 0.3, "nothing is simulated at all"
    wanted = at(whole, len(found.frames))
    shown = found.frames[..., [0, 2, 1]] / 16
    wanted = (wanted - whole[0].mean(axis=0)) * 32 + shown[0].mean(axis=0)
    assert np.abs(shown - wanted).max() < (0.15 if kind != "rigid" else 0.8)


def test_an_action_with_cloth_on_top(tmp_path: Path) -> None:
    """Every Action is simulated for itself, in whatever order they are written."""
    bpy.context.scene.render.fps = 24
    obj = made.tube()
    rig = made.rig(obj)
    scene.select(obj)
    bpy.context.view_layer.update()
    angles = (0.3, 1.2)
    for number, angle in enumerate(angles):
        item = clip_edit.add_action(bpy.context, obj, made.bend(rig, f"bend {number}", angle=angle))
        item.kps = 10
    group = obj.vertex_groups.new(name="pinned")
    group.add(list(range(24)), 1.0, "REPLACE")
    obj.modifiers.new("Cloth", "CLOTH").settings.vertex_group_mass = "pinned"
    found = car.read(scene.export(tmp_path / "out.car", obj))
    first = [entry.frames.astype(int) for entry in found.animations]
    clips.animations(obj.data).move(0, 1)
    again = [entry.frames.astype(int) for entry in car.read(scene.export(tmp_path / "out.car", obj)).animations]
    for old, new in zip(first, again[::-1], strict=True):
        assert np.abs(old - new).max() <= 2
    for item, written in zip(clips.animations(obj.data), again, strict=True):
        compat.assign_action(selection.armature_of(obj), item.action)
        passing._forget(passing._caches(bpy.context))
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 25
        shown = []
        for frame in range(1, 26):
            bpy.context.scene.frame_set(frame)
            evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            shown.append(np.array([vertex.co for vertex in evaluated.to_mesh().vertices]))
            evaluated.to_mesh_clear()
        wanted = at(np.array(shown)[..., [0, 2, 1]] * 32, len(written))
        # Between two frames what swings fast does not go straight; frames 0, 3, 6 and 9 of ten are whole ones.
        assert np.abs(written / 16 - wanted).max() < 2
        assert np.abs(written / 16 - wanted)[::3].max() < 0.15
        assert np.ptp(wanted[:, 24:], axis=0).max() > 10
