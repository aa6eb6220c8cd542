# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces painted over in the colours of their flags, in the 3D viewport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import mesh as meshes
from ..formats.flags import FLAGS
from ..scene import face_flags, kept
from . import state
from .live import live

if TYPE_CHECKING:
    from ..scene.face_flags import Flags

# How much nearer to the eye than the surface itself, as a share of the distance, so that it does not flicker.
_NEARER = 0.001


@dataclass(frozen=True)
class Painted:
    """Triangles to draw: `positions` (n, 3) f32 in the object's space, `colors` (n, 4) f32, three rows a triangle."""

    positions: npt.NDArray[np.float32]
    colors: npt.NDArray[np.float32]


def blend(flags: Flags, bits: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Colour (F, 3) of each face, the mean of its flags' among `bits`, and which faces (F,) have any of them."""
    total = np.zeros((len(flags), 3), np.float32)
    number = np.zeros(len(flags), np.float32)
    for info in FLAGS:
        if bits & info.flag:
            has = (flags & np.int32(info.flag)) != 0
            total[has] += np.array(info.color, np.float32)
            number[has] += 1
    return total / np.maximum(number, 1)[:, None], number > 0


def paint(obj: bpy.types.Object, mesh: bpy.types.Mesh, bits: int, opacity: float) -> Painted:
    """What to draw over `mesh`, the evaluated surface of `obj`."""
    colors, flagged = blend(face_flags.read(obj, mesh), bits)
    hidden = meshes.get_attribute(mesh, ".hide_poly", "BOOLEAN", "FACE")
    if hidden is not None:
        flagged &= ~hidden
    triangles = meshes.get_triangles(mesh)
    shown = flagged[triangles.face]
    positions = meshes.get_positions(mesh)[triangles.vertex[shown]].reshape(-1, 3)
    rgba = np.full((len(positions), 4), opacity, np.float32)
    rgba[:, :3] = np.repeat(colors[triangles.face[shown]], 3, axis=0)
    return Painted(positions, rgba)


class Overlay:
    """The draw handler, a service. There is none where there is no window: Blender in the background cannot draw."""

    def __init__(self) -> None:
        """Nothing is drawn before `register`."""
        self._handle: Any = None
        self._batches: dict[int, tuple[tuple[Any, ...], Any]] = {}

    def register(self) -> None:
        """Draw in every 3D viewport from now on, once the sidebar's switch is on."""
        if not bpy.app.background:
            self._handle = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_VIEW")

    def unregister(self) -> None:
        """Stop drawing."""
        if self._handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None
        self._batches.clear()

    def _draw(self) -> None:
        context = bpy.context
        settings = state.sidebar(context)
        if not settings.show_flags:
            self._batches.clear()
            return
        space = cast("bpy.types.SpaceView3D", context.space_data)
        if not space.overlay.show_overlays:
            return
        objects = [obj for obj in painted_objects(context) if obj.visible_in_viewport_get(space)]
        present = {obj.session_uid for obj in objects}
        self._batches = {uid: batch for uid, batch in self._batches.items() if uid in present}
        batches = [(obj, self._batch(context, obj, settings)) for obj in objects]
        shown = [(obj, batch) for obj, batch in batches if batch is not None]
        if shown:
            _draw_batches(context, shown)

    def _batch(self, context: bpy.types.Context, obj: bpy.types.Object, settings: state.CARNIVORES_PG_sidebar) -> Any:
        import gpu  # not at the top: nothing of it can be used in the background
        from gpu_extras.batch import batch_for_shader

        bits = state.bits(settings.shown_flags)
        key = (*live().version(obj), obj.mode, bits, settings.opacity)
        found = self._batches.get(obj.session_uid)
        if found is None or found[0] != key:
            painted = surface(context, obj, bits, settings.opacity)
            batch = None  # of no triangles none can be made
            if len(painted.positions):
                content: dict[str, Any] = {"pos": painted.positions, "color": painted.colors}
                batch = batch_for_shader(gpu.shader.from_builtin("FLAT_COLOR"), "TRIS", content)
            found = key, batch
            self._batches[obj.session_uid] = found
        return found[1]


def painted_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The mesh objects in view whose faces have flags of their own."""
    return [
        obj
        for obj in context.view_layer.objects
        if obj.type == "MESH" and kept.FLAGS in cast("bpy.types.Mesh", obj.data).attributes and obj.visible_get()
    ]


def surface(context: bpy.types.Context, obj: bpy.types.Object, bits: int, opacity: float) -> Painted:
    """What to draw over `obj` as it is shown now: posed, modified, or in the middle of being edited."""
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    # Without arguments: asked to keep all layers, Blender evaluates anew, and from the mesh as it was before Edit Mode.
    mesh = evaluated.to_mesh()
    try:
        return paint(obj, mesh, bits, opacity)
    finally:
        evaluated.to_mesh_clear()


def _draw_batches(context: bpy.types.Context, batches: list[tuple[bpy.types.Object, Any]]) -> None:
    import gpu

    shader = gpu.shader.from_builtin("FLAT_COLOR")
    projection = gpu.matrix.get_projection_matrix()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(False)
    try:
        gpu.matrix.load_projection_matrix(_nearer(projection, cast("bpy.types.RegionView3D", context.region_data)))
        for obj, batch in batches:
            gpu.matrix.push()
            gpu.matrix.multiply_matrix(obj.matrix_world)
            batch.draw(shader)
            gpu.matrix.pop()
    finally:
        gpu.matrix.load_projection_matrix(projection)
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def _nearer(projection: Any, view: bpy.types.RegionView3D) -> Any:
    """`projection` with the depth of everything shifted towards the eye."""
    moved = projection.copy()
    if view.is_perspective:
        moved[2][3] *= 1.0 + _NEARER
    else:
        moved[2][3] += moved[2][2] * _NEARER * view.view_distance
    return moved
