# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that hold one animation and no model: onto a mesh that is there, and out of the list of a character.

With no mesh selected at all, a mesh of loose vertices in the place of the first frame carries the animation, so that
nothing of the file is lost and any mesh made over those vertices can take it. Without a frame there are no vertices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.formats.errors import ExportError, UserError
from ...io_common.scene import armature, selection
from ...io_common.scene import mesh as meshes
from ..formats import motion
from ..formats.motion import Animation
from ..formats.vtl import Vtl
from . import bone_motion, character, clips, frames, kept, own, part, shape_motion, skeleton, sound_table
from .options import ExportOptions

if TYPE_CHECKING:
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from .options import AnimationOptions, ExportAnimationOptions

_FLAT = 1e-30  # of a determinant


def build_vtl(
    context: bpy.types.Context, found: Vtl, path: Path, options: AnimationOptions, digest: Digest
) -> list[bpy.types.Object]:
    """The animation of a VTL on the selected mesh, or on one of its own."""
    obj, item = _build(context, found.animation, path, options, "carnivores_vtl", digest)
    item.last_index = found.last_index
    return [obj]


def build_ani(
    context: bpy.types.Context, found: Animation, path: Path, options: AnimationOptions, digest: Digest
) -> list[bpy.types.Object]:
    """The animation of an ANI on the selected mesh, or on one of its own."""
    return [_build(context, found, path, options, "carnivores_ani", digest)[0]]


def _build(
    context: bpy.types.Context, animation: Animation, path: Path, options: AnimationOptions, kind: str, digest: Digest
) -> tuple[bpy.types.Object, Any]:
    count = animation.frames.shape[1]
    obj = _fitting(context, count) or _loose(context, animation, path, options, kind)
    before = [entry.name for entry in clips.animations(obj.data)]
    item = add(context, obj, animation, path.stem)
    if item.name in before:
        place, first = len(before) + 1, before.index(item.name) + 1
        digest.note(f'"{item.name}" stands at place {place} of the list; place {first} has that name, too')
    return obj, item


def candidates(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The meshes that an animation may be meant for: what is selected, or hangs on it, the active one first."""
    layer = context.view_layer.objects
    chosen = [obj for obj in layer if obj.select_get()]
    if layer.active is not None:
        chosen.insert(0, layer.active)
    rigs = [obj for obj in chosen if obj.type == "ARMATURE"]
    chosen += [obj for obj in layer if selection.armature_of(obj) in rigs]
    return [obj for obj in dict.fromkeys(chosen) if obj.type == "MESH"]


def _fitting(context: bpy.types.Context, count: int) -> bpy.types.Object | None:
    """The selected mesh with `count` vertices, the active one first; None when nothing is selected that has vertices.

    Raises `UserError` when something is, and nothing fits.
    """
    found = candidates(context)
    fitting = next((obj for obj in found if len(obj.data.vertices) == count), None)
    if found and fitting is None:
        first = found[0]
        raise UserError(
            f'this animation needs a mesh of {count} vertices, and "{first.name}" has {len(first.data.vertices)}'
        )
    if fitting is not None:
        own.require(fitting)
    return fitting


def _loose(
    context: bpy.types.Context, animation: Animation, path: Path, options: AnimationOptions, kind: str
) -> bpy.types.Object:
    name = armature.fit_name(path.stem) or "Animation"
    mesh = bpy.data.meshes.new(name)
    if len(animation.frames):
        mesh.vertices.add(animation.frames.shape[1])
        points = FILE_Y_UP.apply(motion.positions(animation.frames[0]))
        meshes.set_attribute(mesh, "position", "FLOAT_VECTOR", "POINT", points)
    else:  # a count that no bytes stand for may be anything
        mesh[kept.VERTICES] = animation.frames.shape[1]
    mesh.update()
    mesh[kept.KIND] = kind
    mesh[kept.SCALE] = float(np.float32(options.global_scale))
    obj = bpy.data.objects.new(name, mesh)
    obj.scale = (options.global_scale,) * 3
    context.collection.objects.link(obj)
    return obj


def add(context: bpy.types.Context, obj: bpy.types.Object, animation: Animation, name: str) -> Any:
    """Append an animation to the list of `obj`, whose mesh has as many vertices: on recovered bones, else as keys.

    Raises `UserError`, and then nothing has changed, where the object has no size.
    """
    to_own_space(context, obj)
    item = character.add_item(meshes.of(obj), animation, name)
    sound_table.insert(meshes.of(obj), len(clips.animations(obj.data)) - 1)
    show(context, obj, item, animation)
    setattr(obj.data, clips.ACTIVE_ANIMATION, len(clips.animations(obj.data)) - 1)
    return item


def to_own_space(context: bpy.types.Context, obj: bpy.types.Object) -> Any:
    """(4, 4) f64 from Blender axes in file units, where the file shows things, to the space of `obj`; None: the same.

    Raises `UserError` where there is no such space.
    """
    context.view_layer.update()
    to_file = part.file_matrix(obj, obj, ExportOptions())
    if to_file is None:
        return None
    if abs(np.linalg.det(to_file[:3, :3])) < _FLAT:
        raise UserError(f'"{obj.name}" has a scale of 0, so that no frame has room in it; give it another one')
    return np.linalg.inv(to_file).astype(np.float64, copy=False)


def show(context: bpy.types.Context, obj: bpy.types.Object, item: Any, animation: Animation) -> None:
    """Give an entry of the list the motion of `animation`, in the way that `obj` shows motion."""
    fps = frames.scene_rate(selection.scene(context))
    rig = selection.armature_of(obj)
    keyed = any(entry.first_key >= 0 for entry in clips.animations(obj.data))
    if rig is not None and not keyed and skeleton.is_recovered(rig):
        if len(animation.frames):
            bone_motion.fit(obj, rig, item, animation, fps, to_own_space(context, obj))
        return
    first = obj.data.shape_keys is None
    shape_motion.add(obj, item, animation, fps, matrix=to_own_space(context, obj))
    if first and item.action is not None:
        shape_motion.assign(obj, item.action)


def extract_vtl(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportAnimationOptions,
    digest: Digest,
    path: Path,
) -> Vtl:
    """The chosen animation of the character that `objects` are."""
    del path
    item = _chosen(clips.list_owner(objects), objects[0].name, options.animation)
    return Vtl(_extract(context, objects, options, item, digest), last_index=item.last_index)


def extract_ani(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportAnimationOptions,
    digest: Digest,
    path: Path,
) -> Animation:
    """The chosen animation of the character that `objects` are."""
    del path
    item = _chosen(clips.list_owner(objects), objects[0].name, options.animation)
    return _extract(context, objects, options, item, digest)


def _chosen(mesh: bpy.types.Mesh, title: str, name: str) -> Any:
    item = clips.active(mesh)
    if item is None:
        raise ExportError(f'"{title}" has no animation, add one in the sidebar under Carnivores')
    if not name:
        return item
    named = next((entry for entry in clips.animations(mesh) if entry.name == name), None)
    if named is None:
        listed = ", ".join(f'"{entry.name}"' for entry in clips.animations(mesh))
        raise ExportError(f'"{title}" has no animation "{name}", it has {listed}')
    return named


def _extract(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportAnimationOptions,
    item: Any,
    digest: Digest,
) -> Animation:
    with selection.object_mode(context, objects):
        with selection.at_rest(context, objects):
            count = frames.evaluated_count(context, objects, options)
        if not count:
            count = kept.get(clips.list_owner(objects), kept.VERTICES, 0)
        return frames.Source.of(context, objects, options, count, digest).animation(item)
