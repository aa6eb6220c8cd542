# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene frames visited one after the other, as playing does: a simulation knows nothing of a frame that is left out."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import selection

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIMULATED = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT", "PARTICLE_SYSTEM"}
_ZONE = "GeometryNodeSimulationInput"


def visited(context: bpy.types.Context, times: npt.NDArray[np.float64], *, whole_scene: bool) -> Iterator[int]:
    """Set the scene to each of `times` (N,), rising scene frames, and give its number.

    Where something is simulated, and where the `whole_scene` counts, every whole frame on the way is passed, from the
    start of the scene or of the simulation.
    """
    scene = selection.scene(context)
    simulated = is_simulated(context)
    if not (simulated or whole_scene) or not len(times):
        for number, time in enumerate(times.tolist()):
            _go(scene, time)
            yield number
        return
    with contextlib.ExitStack() as undo:
        caches = _caches(context)
        if not whole_scene:
            # What was simulated for another Action holds for this one as little as this one's will for the next.
            _forget(caches)
            undo.callback(_forget, caches)
        first = min(scene.frame_start, int(np.floor(times[0])), *(cache.frame_start for cache in caches))
        if simulated and (times % 1).any():
            # Between two frames Blender shows the mean of both, so the later one must be known.
            _pass(scene, first, int(np.ceil(times[-1])))
        for number, time in enumerate(times.tolist()):
            frame = int(np.floor(time))
            _pass(scene, first, frame - (time == frame))
            first = max(first, frame + 1)
            _go(scene, time)
            yield number


def _pass(scene: bpy.types.Scene, first: int, last: int) -> None:
    for frame in range(first, last + 1):
        scene.frame_set(frame)


def _go(scene: bpy.types.Scene, time: float) -> None:
    frame = int(np.floor(time))
    scene.frame_set(frame, subframe=time - frame)


def is_simulated(context: bpy.types.Context) -> bool:
    """Whether anything in the scene depends on the frame before."""
    scene = selection.scene(context)
    if scene.rigidbody_world is not None and scene.rigidbody_world.enabled and scene.rigidbody_world.collection:
        return True
    return any(_simulates(entry) for obj in context.view_layer.objects for entry in obj.modifiers)


def _simulates(modifier: bpy.types.Modifier) -> bool:
    if not modifier.show_viewport:
        return False
    if isinstance(modifier, bpy.types.NodesModifier):
        return modifier.node_group is not None and _has_zone(modifier.node_group, set())
    return modifier.type in _SIMULATED


def _has_zone(tree: bpy.types.NodeTree, known: set[str]) -> bool:
    known.add(tree.name)
    if any(node.bl_idname == _ZONE for node in tree.nodes):
        return True
    groups = [inner for node in tree.nodes if (inner := getattr(node, "node_tree", None)) is not None]
    return any(_has_zone(inner, known) for inner in groups if inner.name not in known)


def _caches(context: bpy.types.Context) -> list[bpy.types.PointCache]:
    """Where the simulations of the scene are kept in memory."""
    world = selection.scene(context).rigidbody_world
    found: list[Any] = [world.point_cache] if world is not None else []
    for obj in context.view_layer.objects:
        for entry in obj.modifiers:
            if isinstance(entry, bpy.types.ClothModifier | bpy.types.SoftBodyModifier):
                found.append(entry.point_cache)
            elif isinstance(entry, bpy.types.ParticleSystemModifier):
                found.append(entry.particle_system.point_cache)
            elif isinstance(entry, bpy.types.DynamicPaintModifier) and entry.canvas_settings is not None:
                found += [surface.point_cache for surface in entry.canvas_settings.canvas_surfaces]
    return found


def _forget(caches: list[bpy.types.PointCache]) -> None:
    """Let Blender simulate anew; what was baked by hand stays."""
    for cache in caches:
        if not cache.is_baked:
            cache.frame_start = cache.frame_start  # an edit of any value does, and this one changes nothing
