# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of an animation in the list: straight from shape keys, as they came, or baked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.formats.errors import ExportError
from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import motion, offsets
from ..formats.motion import Animation
from . import bake, bone_motion, bone_rename, clips, curves, kept, part, shape_motion

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

    from ...io_common.formats.digest import Digest
    from .options import ExportCatOptions, ExportCharacterOptions

    Frames = npt.NDArray[np.int16]


@dataclass
class Source:
    """The objects of a character as they are written, made once for all of its animations."""

    context: bpy.types.Context
    bodies: list[bake.Body]
    vertices: int
    digest: Digest
    follow_base: bool = True
    force: bool = False

    @classmethod
    def of(
        cls,
        context: bpy.types.Context,
        objects: Sequence[bpy.types.Object],
        options: ExportCharacterOptions | ExportCatOptions,
        vertices: int,
        digest: Digest,
    ) -> Source:
        """`vertices`: how many the written model has. Their place in the scene is taken as it is now."""
        for obj in objects:
            bone_rename.mend(obj)
        still = not options.use_mesh_modifiers
        bodies = [bake.Body.of(obj, part.file_matrix(obj, obj, options), still=still) for obj in objects]
        return cls(context, bodies, vertices, digest, options.use_base_edits)

    def animation(self, item: Any) -> Animation:
        """One animation of the list. Raises `ExportError` when its motion cannot be had."""
        frames = None if self.force else self._known(item)
        if frames is not None:
            return Animation(clips.raw_name(item), item.kps, frames)
        baked = self._baked(item)
        frames = motion.quantise(baked)
        if not self.force:
            frames = self._with_originals(item, frames)
        return Animation(clips.raw_name(item), item.kps, frames, motion.outside(baked))

    def _known(self, item: Any) -> Frames | None:
        """Frames that need no evaluation of the scene."""
        if item.use_scene:
            return None
        if item.action is None and item.first_key < 0:
            if item.frames:
                raise ExportError(f'the animation "{item.name}" has no Action any more; choose one or remove it')
            return np.zeros((0, self.vertices, 3), np.int16)
        if len(self.bodies) != 1:
            return None
        obj = self.bodies[0].obj
        if obj.type != "MESH" or len(obj.data.vertices) != self.vertices:
            return None
        keyed = shape_motion.frames_of(meshes.of(obj), item)
        if keyed is not None or item.action is None:
            return None if keyed is None else self._placed(self._with_base_edits(obj, keyed))
        return self._original(obj, item)

    def _original(self, obj: bpy.types.Object, item: Any) -> Frames | None:
        """The frames that an Action still stands for."""
        original = bone_motion.original_frames(obj, item.action)
        if original is None or len(original) != frame_count(selection.scene(self.context), item):
            return None
        if self.follow_base and bone_motion.edited_vertices(meshes.of(obj)).any():
            return None
        return self._placed(motion.positions(original))

    def _with_base_edits(self, obj: bpy.types.Object, keyed: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Frames of absolute keys, moved along with an edited base pose; relative ones Blender takes along itself."""
        mesh = meshes.of(obj)
        rest = meshes.get_attribute(mesh, kept.REST, "FLOAT_VECTOR", "POINT")
        owner = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
        relative = mesh.shape_keys is not None and mesh.shape_keys.use_relative
        if not self.follow_base or relative or rest is None or owner is None or not len(keyed):
            return keyed
        offset = meshes.get_positions(mesh) - rest
        if not offset.any():
            return keyed
        return offsets.carried(owner, FILE_Y_UP.undo(rest), keyed, FILE_Y_UP.undo(offset))

    def _placed(self, positions: npt.NDArray[np.float32]) -> Frames:
        """Frames of positions (N, V, 3) in the axes of the file, moved along with an object that was moved."""
        matrix = self.bodies[0].matrix
        if matrix is None:
            return motion.quantise(positions)
        moved = FILE_Y_UP.apply(positions).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        return motion.quantise(FILE_Y_UP.undo(moved))

    def _baked(self, item: Any) -> npt.NDArray[np.float32]:
        if not item.use_scene and item.action is None:
            raise ExportError(f'the animation "{item.name}" has lost some of its shape keys, and has no Action')
        times = sample_times(selection.scene(self.context), item)
        if not len(times):
            return np.zeros((0, self.vertices, 3), np.float32)
        action = None if item.use_scene else item.action
        if action is not None:
            self._warn_of_lost_bones(item.name, action)
        values = bake.bake(self.context, self.bodies, action, times)
        if values.shape[1] != self.vertices:
            raise ExportError(
                f'the animation "{item.name}" moves {values.shape[1]} vertices, but the model that is written has '
                f"{self.vertices}; modifiers must not change their number, or be applied to both"
            )
        return np.asarray(FILE_Y_UP.undo(values), np.float32)

    def _warn_of_lost_bones(self, name: str, action: bpy.types.Action) -> None:
        """Blender renames bones in the Actions that are assigned, and in no others."""
        rigs = [rig for body in self.bodies if (rig := selection.armature_of(body.obj)) is not None]
        known = {bone.name for rig in rigs for bone in rig.data.bones}
        lost = sorted(curves.bones_of(action) - known)
        if lost and known:
            named = ", ".join(f'"{bone}"' for bone in lost[:3])
            self.digest.add(f'the animation "{name}" moves bones that are not there any more: {named}')

    def _with_originals(self, item: Any, frames: Frames) -> Frames:
        """Vertices whose rest place was not edited keep the frames they came with."""
        obj = self.bodies[0].obj
        if item.use_scene or item.action is None or len(self.bodies) != 1 or obj.type != "MESH":
            return frames
        original = bone_motion.original_frames(obj, item.action)
        if original is None or original.shape != frames.shape:
            return frames
        kept_frames = self._placed(motion.positions(original))
        return np.where(bone_motion.edited_vertices(meshes.of(obj))[:, None], frames, kept_frames)


def scene_rate(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return float(scene.render.fps / scene.render.fps_base)


def set_scene_rate(scene: bpy.types.Scene, rate: float) -> None:
    """Frames per second of a scene, fractions included."""
    scene.render.fps = max(1, round(rate))
    scene.render.fps_base = scene.render.fps / rate


def span(item: Any) -> tuple[float, float]:
    """First and last scene frame of an animation's motion."""
    if item.use_scene:
        return item.start, item.end
    if item.action is None:
        return 1.0, 1.0
    start, end = item.action.frame_range
    return float(start), float(end)


def frame_count(scene: bpy.types.Scene, item: Any) -> int:
    """How many frames of an animation are written."""
    if not (item.use_length or item.use_scene):
        return int(item.frames)
    start, end = span(item)
    return motion.count_for((end - start) / (item.rate or scene_rate(scene)), item.kps)


def sample_times(scene: bpy.types.Scene, item: Any) -> npt.NDArray[np.float64]:
    """Scene frames at which an animation is sampled when it is baked."""
    start, end = span(item)
    return bake.frame_times(start, end, frame_count(scene, item))


def evaluated_count(
    context: bpy.types.Context, objects: Sequence[bpy.types.Object], options: ExportCharacterOptions
) -> int:
    """How many vertices `objects` have as they are written."""
    total = 0
    for obj in objects:
        with selection.shape(context, obj, modifiers=options.use_mesh_modifiers, keys=part.keys_count(obj)) as mesh:
            total += len(mesh.vertices)
    return total
