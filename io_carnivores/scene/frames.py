# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of an animation in the list: straight from shape keys, as they came, or baked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.formats.errors import ExportError
from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import affine, motion, residual
from ..formats.motion import Animation
from . import (
    bake,
    base_edits,
    beside,
    bone_motion,
    bone_rename,
    clips,
    curves,
    kept,
    originals,
    part,
    shape_motion,
    stray_keys,
)
from .frame_edits import Case
from .vertices import Vertices

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

    from ...io_common.formats.digest import Digest
    from .options import ExportCatOptions, ExportCharacterOptions

    Positions = npt.NDArray[np.floating]


_MOST_FRAMES = 32767  # of an animation; twenty minutes at a rate that no game file reaches
_SAME = 1e-5  # of spaces
_LAST = 1048574.0  # frame of a scene
_NOISE = 1e-3  # scene frames by which single precision may be off


@dataclass
class Source:
    """The objects of a character as they are written, made once for all of its animations."""

    context: bpy.types.Context
    bodies: list[bake.Body]
    vertices: int
    digest: Digest
    follow_base: bool = True
    force: bool = False
    _now: Vertices | None = None
    _last: tuple[bpy.types.Action, originals.Original | None] | None = None

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
        """One animation of the list, read in Object Mode. Raises `ExportError` when its motion cannot be had."""
        with selection.object_mode(self.context, [body.obj for body in self.bodies]):
            return self._animation(item)

    def _animation(self, item: Any) -> Animation:
        _require_sane(item)
        if not item.use_scene and item.action is None and item.first_key < 0:
            if item.frames:
                raise ExportError(f'the animation "{item.name}" has no Action any more; choose one or remove it')
            return Animation(clips.raw_name(item), item.kps, np.zeros((0, self.vertices, 3), np.int16))
        positions = None if self.force or item.use_scene else self._known(item)
        if positions is None:
            positions = self._baked(item)
        frames = motion.quantise(positions)
        return Animation(clips.raw_name(item), item.kps, frames, motion.outside(positions))

    @property
    def _owner(self) -> bpy.types.Mesh:
        return clips.list_owner([body.obj for body in self.bodies])

    @property
    def now(self) -> Vertices:
        """The vertices as they are written."""
        if self._now is None:
            modifiers = not self.bodies[0].still
            objects = [body.obj for body in self.bodies]
            self._now = Vertices.of(self.context, objects, self._owner, modifiers=modifiers)
        return self._now

    def _known(self, item: Any) -> Positions | None:
        """Positions that need no evaluation of the scene, (N, V, 3) file axes."""
        keyed = self._keyed(item)
        obj = self.bodies[0].obj
        if keyed is not None and beside.keys_alone(obj, modifiers=not self.bodies[0].still):
            return self._placed(self._with_base_edits(item, keyed))
        case = self._case(item)
        if case is not None and case.is_adrift:
            self.digest.add(
                "the bones are gone, so animations are written with the frames they came with", subject=obj.name
            )
            return self._placed(case.adrift(), self._space(item))
        original = case.untouched() if case is not None else None
        return self._placed(original, self._space(item)) if original is not None else None

    def _keyed(self, item: Any) -> Positions | None:
        """The shape keys of an animation as they are, (N, V, 3) file axes; None when it is not shown by such."""
        obj = self.bodies[0].obj
        if self.force or item.use_scene or len(self.bodies) != 1 or obj.type != "MESH":
            return None
        return shape_motion.frames_of(meshes.of(obj), item) if len(obj.data.vertices) == self.vertices else None

    def _case(self, item: Any) -> Case | None:
        """An animation whose Action was made of frames that bear on those to be written; None for all others."""
        if self.force or item.use_scene or item.action is None:
            return None
        original = self._original(item.action)
        if original is None or len(original.frames) != frame_count(selection.scene(self.context), item):
            return None
        if len(self.now.number) != self.vertices:
            return None
        objects, space, now = [body.obj for body in self.bodies], self._space(item), self.now
        if space is not None:
            there = affine.moved(FILE_Y_UP.apply(now.position), space)
            shape = FILE_Y_UP.undo(there).astype(np.float32)
            known = original.known(now.number)
            rest = original.rest[np.where(known, now.number, 0)]
            same = known & affine.close(rest, shape)
            now = replace(now, position=np.where(same[:, None], rest, shape))
        return Case(item, original, now, objects, self.follow_base, self._is_carried(item, objects, space))

    def _original(self, action: bpy.types.Action) -> originals.Original | None:
        """What an Action was made of; asked for several times on the way of one animation, and unpacked once."""
        if self._last is None or self._last[0] != action:
            self._last = (action, originals.of(action, self._owner))
        return self._last[1]

    def _space(self, item: Any) -> npt.NDArray[np.float64] | None:
        """(4, 4) from the space of the mesh, as it is now, to that of the frames an Action keeps; None: the same.

        A transform that was applied to the mesh is a part of it.
        """
        space = originals.place(item.action)
        original = self._original(item.action)
        known = original.known(self.now.number) if original is not None else None
        if original is not None and known is not None and known.any():
            rest = FILE_Y_UP.apply(original.rest[self.now.number[known]])
            now = affine.moved(FILE_Y_UP.apply(self.now.position[known]), space)
            applied = affine.between(rest, now) if affine.close(rest, now).mean() < 0.5 else None
            if applied is not None:
                space = np.linalg.inv(applied) @ space
        return None if np.array_equal(space, np.eye(4)) else space

    def _is_carried(self, item: Any, objects: list[bpy.types.Object], space: npt.NDArray[np.float64] | None) -> bool:
        """Whether the vertices stand to their bones as they did when an Action was made."""
        wanted = originals.place(item.action, kept.CARRIED)
        for obj in objects:
            rig = selection.armature_of(obj)
            if rig is not None:
                carried = bone_motion.into_frames(obj, rig, np.eye(4) if space is None else space)
                if not bone_motion.is_near(np.eye(4) if carried is None else carried, wanted):
                    return False
        return True

    def _with_base_edits(self, item: Any, keyed: Positions) -> Positions:
        """Frames of keys, moved along with an edited base pose or not."""
        return base_edits.applied(meshes.of(self.bodies[0].obj), item, keyed, follow=self.follow_base)

    def _placed(self, positions: Positions, space: npt.NDArray[np.float64] | None = None) -> Positions:
        """Positions (N, V, 3) in the axes of the file, moved along with objects that were moved.

        `space` (4, 4) leads from the space of the objects to that of the positions; None: the same.
        """
        matrices = [body.matrix for body in self.bodies]
        if space is not None:
            back = np.asarray(np.linalg.inv(space), np.float64)
            whole = [back if matrix is None else np.asarray(matrix @ back, np.float64) for matrix in matrices]
            matrices = [None if np.allclose(matrix, np.eye(4), rtol=0, atol=_SAME) else matrix for matrix in whole]
        if all(matrix is None for matrix in matrices):
            return positions
        counts = self.now.counts if len(matrices) > 1 else [positions.shape[1]]
        parts = np.split(FILE_Y_UP.apply(positions), np.cumsum(counts)[:-1], axis=1)
        moved = [
            part if matrix is None else part.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
            for part, matrix in zip(parts, matrices, strict=True)
        ]
        return np.asarray(FILE_Y_UP.undo(np.concatenate(moved, axis=1)))

    def _baked(self, item: Any) -> Positions:
        if not item.use_scene and item.action is None:
            raise ExportError(f'the animation "{item.name}" has lost some of its shape keys, and has no Action')
        times = sample_times(selection.scene(self.context), item)
        if not len(times):
            return np.zeros((0, self.vertices, 3), np.float32)
        action = None if item.use_scene else item.action
        if action is not None:
            self._warn_of_lost_bones(item.name, action)
        case = self._case(item)
        keyed = self._keyed(item)
        # What an Action was made of is known in the space of the mesh.
        known = case is not None or keyed is not None
        bodies = [replace(body, matrix=None) for body in self.bodies] if known else self.bodies
        values = self._sampled(item, bodies, action, times)
        if values.shape[1] != self.vertices:
            raise ExportError(
                f'the animation "{item.name}" moves {values.shape[1]} vertices, but the model that is written has '
                f"{self.vertices}; modifiers must not change their number, or be applied to both"
            )
        positions = np.asarray(FILE_Y_UP.undo(values), np.float32)
        if keyed is not None:
            return self._placed(self._beside_keys(item, keyed, positions))
        if case is None:
            return positions
        space = self._space(item)
        if space is not None:
            positions = FILE_Y_UP.undo(affine.moved(values, space)).astype(np.float32)
        return self._placed(case.mended(positions), space)

    def _sampled(
        self,
        item: Any,
        bodies: list[bake.Body],
        action: bpy.types.Action | None,
        times: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float32]:
        """What plays at `times`, (N, V, 3) Blender axes."""
        if action is None or item.use_length or self.force:
            return bake.bake(self.context, bodies, action, times, item.soft_action if action is not None else None)
        with stray_keys.counted(action, times) as (played, strays):
            if strays:
                some = "1 key lies" if strays == 1 else f"{strays} keys lie"
                self.digest.note(
                    f'"{item.name}": {some} beside the frames of the file and {"was" if strays == 1 else "were"} taken '
                    "for the nearest; Play sets the scene to the rate of an animation"
                )
            return bake.bake(self.context, bodies, played, times, item.soft_action)

    def _beside_keys(self, item: Any, keyed: Positions, baked: Positions) -> Positions:
        """What else moves vertices that have keys: those that it does not move are as their keys have them."""
        shown = self._with_base_edits(item, keyed)
        moved = np.abs(baked - keyed).max(axis=2, keepdims=True) > residual.TOLERANCE
        return np.where(moved, shown + (baked - keyed), shown)

    def _warn_of_lost_bones(self, name: str, action: bpy.types.Action) -> None:
        """Blender renames bones in the Actions that are assigned, and in no others."""
        rigs = [rig for body in self.bodies if (rig := selection.armature_of(body.obj)) is not None]
        known = {bone.name for rig in rigs for bone in rig.data.bones}
        lost = sorted(curves.bones_of(action) - known)
        if lost and known:
            named = ", ".join(f'"{bone}"' for bone in lost[:3])
            self.digest.add(f'the animation "{name}" moves bones that are not there any more: {named}')


def scene_rate(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return float(scene.render.fps / scene.render.fps_base)


def set_scene_rate(scene: bpy.types.Scene, rate: float) -> None:
    """Frames per second of a scene, fractions included."""
    scene.render.fps = max(1, round(rate))
    scene.render.fps_base = scene.render.fps / rate


def _require_sane(item: Any) -> None:
    """Raise `ExportError` for numbers that scripts can write into the list, and that nothing can be made of."""
    numbers = {"start": item.start, "end": item.end} if item.use_scene else {}
    numbers |= {"rate": item.rate, "own rate": item.own_rate} if item.use_length or item.use_scene else {}
    for name, value in numbers.items():
        if not abs(value) <= _LAST:  # or no number at all
            raise ExportError(f'the {name} of the animation "{item.name}" is {value:g}, which no scene can have')


def _frame(value: float) -> float:
    """`value` where a scene can have such a frame, else its first."""
    return float(value) if abs(value) <= _LAST else 1.0


def span(item: Any) -> tuple[float, float]:
    """First and last scene frame of an animation's motion."""
    if item.use_scene:
        return _frame(item.start), _frame(item.end)
    if item.action is None:
        return 1.0, 1.0
    start, end = item.action.frame_range
    return float(start), float(end)


def frame_count(scene: bpy.types.Scene, item: Any) -> int:
    """How many frames of an animation are written."""
    if not (item.use_length or item.use_scene):
        return int(item.frames)
    start, end = span(item)
    return motion.count_for((end - start) / (clips.rate_of(item) or scene_rate(scene)), item.kps)


def own_rate(scene: bpy.types.Scene, item: Any) -> float:
    """Frames per second of a scene in which an animation's keys lie on whole frames.

    The N - 1 intervals between the frames of a file are stretched over N / KPS seconds. A slow one, below a frame per
    second, gets whole multiples. What was added in Blender keeps the rate it was made at.
    """
    if item.use_length or item.use_scene:
        return clips.possible_rate(item.own_rate) or clips.rate_of(item) or scene_rate(scene)
    count = frame_count(scene, item)
    if count < 2:
        return scene_rate(scene)
    rate = max(item.kps, 1) * (count - 1) / count
    return min(rate * math.ceil(1 / rate), clips.FASTEST)


def take_range(scene: bpy.types.Scene, item: Any) -> None:
    """The scene's first and last frame are those of an animation, the last rounded up."""
    start, end = span(item)
    scene.frame_start = math.floor(start + _NOISE)
    scene.frame_end = max(scene.frame_start, math.ceil(end - _NOISE))


def require_bearable(scene: bpy.types.Scene, item: Any) -> None:
    """Raise `ExportError` when length and KPS of an animation ask for more frames than could ever be baked."""
    if (item.use_length or item.use_scene) and frame_count(scene, item) > _MOST_FRAMES:
        raise ExportError(
            f'the animation "{item.name}" would have {frame_count(scene, item)} frames, and {_MOST_FRAMES} at most can '
            f"be made; lower its KPS, which is {item.kps}, or make it shorter"
        )


def sample_times(scene: bpy.types.Scene, item: Any) -> npt.NDArray[np.float64]:
    """Scene frames at which an animation is sampled when it is baked. Raises `ExportError` for far too many."""
    require_bearable(scene, item)
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
