# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the demo about Dragon Nest: the sample fox, its outfit on the same armature, and its clips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from mathutils import Matrix, Vector

from tools import demo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NAME = "fox"
MODELS = ("fox.skn", "fox_ranger.skn")
# Every file that the demo writes again.
FILES = ("fox.msh", "fox.skn", "fox_ranger.msh", "fox_ranger.skn", "fox.ani")
# What the strip shows: clip, frame.
POSES = (("Fox_Stand", 50), ("Fox_Run", 4), ("Fox_Attack", 14), ("Fox_Attack", 47))
STRIDE = Vector((-0.92, 0.0, 0.0))  # clips face away from Blender's front view, so the row goes to the left
CENTRE = Vector((0.0, 0.0, 0.53))


def import_fox() -> bpy.types.Object:
    """Import body, outfit and clips; return the armature that carries all of it."""
    for name in MODELS:
        bpy.ops.import_scene.dragonnest_skn(filepath=str(demo.ASSETS / name))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.import_scene.dragonnest_ani(filepath=str(demo.ASSETS / f"{NAME}.ani"))
    return rig


def describe(rig: bpy.types.Object) -> list[str]:
    """Return one line per clip: name, frames and length, as its list in the sidebar."""
    clips = demo.module("io_dragonnest.scene.clips")
    return [f"{item.name:<12}{item.length:>4} frames  {item.length / 60:.2f} s" for item in clips.listed(rig)]


def show(rig: bpy.types.Object, name: str, frame: int) -> None:
    """Show a frame of a clip."""
    clips = demo.module("io_dragonnest.scene.clips")
    number = [item.name for item in clips.listed(rig)].index(name)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.dragonnest.clip_play(number=number)
    bpy.context.scene.frame_set(frame)


def parts(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the meshes that an armature carries and that are seen."""
    return [obj for obj in rig.children if obj.type == "MESH" and obj.visible_get()]


def freeze(rig: bpy.types.Object, name: str, shift: Matrix) -> list[bpy.types.Object]:
    """Add still copies of how all parts look now, moved by `shift`."""
    copies = []
    for obj in parts(rig):
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        copy = bpy.data.objects.new(f"{name} {obj.name}", bpy.data.meshes.new_from_object(evaluated))
        copy.matrix_world = shift @ evaluated.matrix_world
        bpy.context.scene.collection.objects.link(copy)
        copies.append(copy)
    return copies


def freeze_poses(
    rig: bpy.types.Object, poses: Sequence[tuple[str, int]], stride: Vector, turn: float = 0.0
) -> list[bpy.types.Object]:
    """Add still copies of each pose in a row, turned about their own axes; what is rendered are the copies alone."""
    copies = []
    for number, (name, frame) in enumerate(poses):
        show(rig, name, frame)
        shift = Matrix.Translation(stride * number) @ Matrix.Rotation(turn, 4, "Z")
        copies += freeze(rig, f"{name} {frame}", shift)
    for obj in parts(rig):
        obj.hide_render = True
    return copies


def render_strip(rig: bpy.types.Object, path: Path) -> None:
    """Render poses side by side, and take them away again."""
    scene = bpy.context.scene
    copies = freeze_poses(rig, POSES, STRIDE, -0.55)
    stage = bpy.data.collections.new("Stage")
    scene.collection.children.link(stage)
    demo.lay_ground(stage)
    demo.add_light(stage, (0.35, -0.6, -0.75))
    demo.set_sky(scene)
    middle = STRIDE * (0.5 * (len(POSES) - 1)) + CENTRE
    demo.add_camera(scene, middle + Vector((0.0, 8.0, 1.5)), middle, 74.0)
    demo.render(scene, path, (1200, 440))
    for copy in copies:
        bpy.data.meshes.remove(copy.data)
    for obj in parts(rig):
        obj.hide_render = False


def export_again(blend: Path, folder: Path) -> None:
    """Open the saved file and export all of the fox: two models with their materials, and the clips."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    for obj in bpy.context.view_layer.objects:
        obj.select_set(state=rig in {obj, obj.parent})
    bpy.context.view_layer.objects.active = rig
    bpy.ops.export_scene.dragonnest_skn(filepath=str(folder / MODELS[0]), use_model=True)
    bpy.ops.export_scene.dragonnest_ani(filepath=str(folder / f"{NAME}.ani"))


def run(folder: Path) -> int:
    """Show the fox; return the exit code."""
    picture, blend = folder / f"{NAME}-poses.png", folder / f"{NAME}.blend"
    for old in (picture, blend, *(folder / name for name in FILES)):
        old.unlink(missing_ok=True)
    with demo.silence():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = import_fox()
    pieces, bones = len(parts(rig)), len(rig.data.bones)
    print(f"Imported  {demo.shown(demo.ASSETS / MODELS[0])} and what it wears: {pieces} parts, {bones} bones")
    print("\n".join(f"          {line}" for line in describe(rig)), flush=True)
    with demo.silence():
        render_strip(rig, picture)
    print(f"Rendered  {demo.shown(picture)}", flush=True)
    with demo.silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    print(f"Saved     {demo.shown(blend)}", flush=True)
    with demo.silence():
        export_again(blend, folder)
    print(f"Exported  {', '.join(demo.shown(folder / name) for name in FILES)}", flush=True)
    return max([demo.compare(demo.ASSETS / name, folder / name) for name in FILES])
