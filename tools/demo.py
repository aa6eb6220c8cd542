# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job, shown on the sample models: `python3 dev.py demo [--picture PNG]`.

Imports them, renders them, saves a .blend, opens that again, exports and compares the bytes: the static dinosaur, the
same as a character with its bones, animations and sounds, and the fox with its outfit and its clips. Ends with exit
code 1 if anything differs. `--picture` names a further place for the picture of the static model, such as
docs/images/dinosaur.png.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix, Vector

from tools.embedded import PACKAGE
from tools.staging import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ASSETS = ROOT / "assets"
OUTPUT = ROOT / "build" / "demo"
NAME = "dinosaur"

# Where ferns grow: x, y, turn in radians, size.
FERNS = (
    (-2.6, -3.6, 0.4, 1.1),
    (4.6, 2.4, 1.9, 1.5),
    (-4.4, 1.5, 2.6, 1.6),
    (-7.5, -2.0, 0.9, 1.3),
    (2.2, 7.5, 0.1, 1.2),
    (-1.0, 11.0, 1.2, 1.8),
    (8.5, 9.0, 2.2, 1.5),
    (-10.0, 6.0, 0.7, 1.9),
    (-4.5, 17.0, 1.5, 1.8),
    (13.0, 16.0, 0.2, 1.9),
    (-16.0, 14.0, 2.9, 2.1),
)

# What the strip shows: animation, frame of the file.
POSES = (("walk", 3), ("idle", 8), ("roar", 14))
# From one animal of the strip to the next, and where its ferns grow.
STRIDE = Vector((7.0, 7.0, 0.0))
STRIP_FERNS = (
    (9.5, -3.5, 0.4, 1.2),
    (-8.0, 5.0, 0.9, 1.6),
    (0.0, 15.0, 1.2, 1.8),
    (13.5, 5.0, 1.9, 1.3),
    (7.0, 22.0, 0.1, 1.7),
    (-14.0, -3.0, 2.2, 1.5),
    (21.0, 17.0, 2.6, 1.4),
)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep Blender's own messages off the standard output; it writes them below Python's."""
    sys.stdout.flush()
    kept = os.dup(1)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def shown(path: Path) -> str:
    """Return *path* as it is called in this repository."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def nodes_of(block: bpy.types.World | bpy.types.Material) -> bpy.types.NodeTree:
    """Return the node tree of a new world or material; older Blenders make it on demand."""
    if block.node_tree is None:
        block.use_nodes = True
    return block.node_tree


def plant_ferns(collection: bpy.types.Collection, places: Sequence[tuple[float, float, float, float]] = FERNS) -> None:
    """Import the sample fern once, and let copies of it grow where the table says."""
    bpy.ops.import_scene.carnivores_3df(filepath=str(ASSETS / "fern.3df"), use_bones=False)
    first = bpy.context.object
    size = first.scale.x
    for number, (x, y, turn, factor) in enumerate(places):
        fern = first if number == 0 else first.copy()
        fern.location, fern.rotation_euler, fern.scale = (x, y, 0.0), (0.0, 0.0, turn), (size * factor,) * 3
        if number:
            collection.objects.link(fern)


def lay_ground(collection: bpy.types.Collection) -> None:
    """Make a wide ground of mottled moss."""
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata([(-400, -400, 0), (400, -400, 0), (400, 400, 0), (-400, 400, 0)], [], [(0, 1, 2, 3)])
    material = bpy.data.materials.new("Ground")
    tree = nodes_of(material)
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = 1.0
    shader.inputs["Specular IOR Level"].default_value = 0.0
    place, spots, ramp = (tree.nodes.new(f"ShaderNode{kind}") for kind in ("NewGeometry", "TexNoise", "ValToRGB"))
    spots.inputs["Scale"].default_value, spots.inputs["Detail"].default_value = 0.9, 8.0
    ramp.color_ramp.elements[0].position, ramp.color_ramp.elements[0].color = 0.38, (0.06, 0.11, 0.03, 1.0)
    ramp.color_ramp.elements[1].position, ramp.color_ramp.elements[1].color = 0.62, (0.22, 0.19, 0.07, 1.0)
    tree.links.new(place.outputs["Position"], spots.inputs["Vector"])
    tree.links.new(spots.outputs["Fac" if "Fac" in spots.outputs else 0], ramp.inputs[0])
    tree.links.new(ramp.outputs["Color"], shader.inputs["Base Color"])
    mesh.materials.append(material)
    collection.objects.link(bpy.data.objects.new("Ground", mesh))


def set_sky(scene: bpy.types.Scene) -> None:
    """Make a sky that pales towards the horizon."""
    world = bpy.data.worlds.new("Sky")
    scene.world = world
    tree = nodes_of(world)
    background = next(node for node in tree.nodes if node.type == "BACKGROUND")
    place, parts, ramp = (tree.nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "SeparateXYZ", "ValToRGB"))
    ramp.color_ramp.elements[0].position, ramp.color_ramp.elements[0].color = 0.0, (0.90, 0.74, 0.50, 1.0)
    ramp.color_ramp.elements[1].position, ramp.color_ramp.elements[1].color = 0.45, (0.12, 0.36, 0.68, 1.0)
    tree.links.new(place.outputs["Generated"], parts.inputs[0])
    tree.links.new(parts.outputs["Z"], ramp.inputs[0])
    tree.links.new(ramp.outputs["Color"], background.inputs["Color"])
    background.inputs["Strength"].default_value = 0.8


def add_light(collection: bpy.types.Collection, way: tuple[float, float, float] = (-0.35, 0.6, -0.75)) -> None:
    """Add an afternoon sun that shines along `way`: from the front left."""
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 5.0, 0.02, (1.0, 0.93, 0.80)
    lamp = bpy.data.objects.new("Sun", sun)
    lamp.rotation_euler = Vector(way).to_track_quat("-Z", "Y").to_euler()
    collection.objects.link(lamp)


def add_camera(scene: bpy.types.Scene, place: Vector, target: Vector, lens: float) -> None:
    """Look from *place* to *target* through *lens* (mm)."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.data.lens = place, lens
    camera.rotation_euler = (target - place).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera


def render(scene: bpy.types.Scene, path: Path, size: tuple[int, int] = (800, 600)) -> None:
    """Render the scene on the processor; the picture is the same on every run on one machine."""
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples = "CPU", 12
    scene.cycles.use_denoising = True
    scene.cycles.max_bounces, scene.cycles.transparent_max_bounces = 3, 16
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGB"
    scene.render.image_settings.compression = 100
    scene.render.dither_intensity = 0.0  # it would double the size of the file
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    scene.render.filepath = f"//{path.name}"


def write_small(picture: Path, target: Path) -> None:
    """Write the picture once more, at 464 x 348: for a page, and small enough to be kept in the repository."""
    image = bpy.data.images.load(str(picture))
    image.scale(464, 348)
    target.parent.mkdir(parents=True, exist_ok=True)
    settings = bpy.context.scene.render.image_settings
    settings.file_format, settings.color_mode, settings.compression = "PNG", "RGB", 100
    image.save(filepath=str(target.resolve()))
    bpy.data.images.remove(image)


def surround(scene: bpy.types.Scene, ferns: Sequence[tuple[float, float, float, float]]) -> None:
    """Put a landscape around what is there."""
    surroundings = bpy.data.collections.new("Surroundings")
    scene.collection.children.link(surroundings)
    plant_ferns(surroundings, ferns)
    lay_ground(surroundings)
    add_light(surroundings)
    set_sky(scene)


def build_scene() -> bpy.types.Scene:
    """Import the static dinosaur and put it into a landscape; look at it from the front and a little from its left."""
    scene = bpy.context.scene
    bpy.ops.import_scene.carnivores_3df(filepath=str(ASSETS / f"{NAME}.3df"))
    surround(scene, FERNS)
    add_camera(scene, Vector((9.2, -11.8, 2.9)), Vector((-0.1, -1.4, 3.5)), 36.0)
    return scene


def module(name: str) -> Any:
    """Return a module of the enabled extension."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def import_character() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Import the animated dinosaur; return its mesh and its armature."""
    bpy.ops.import_scene.carnivores_car(filepath=str(ASSETS / f"{NAME}.car"))
    mesh = next(obj for obj in bpy.context.selected_objects if obj.type == "MESH")
    bpy.context.view_layer.objects.active = mesh
    return mesh, mesh.parent


def describe(obj: bpy.types.Object) -> list[str]:
    """Return one line per animation of a character: name, KPS, frames, length and sound, as its list in the sidebar."""
    clips, frames = module("io_carnivores.scene.clips"), module("io_carnivores.scene.frames")
    motion = module("io_carnivores.formats.motion")
    names = [sound.name for sound in clips.sounds(obj.data)]
    lines = []
    for item in clips.animations(obj.data):
        count = frames.frame_count(bpy.context.scene, item)
        sound = f"  sound {names[item.sound]}" if item.sound >= 0 else ""
        lines.append(f"{item.name:<6}{item.kps} KPS  {count} frames  {motion.seconds(count, item.kps):.2f} s{sound}")
    return lines


def show(obj: bpy.types.Object, name: str, frame: int) -> None:
    """Show a frame of the file in an animation of a character."""
    clips, frames = module("io_carnivores.scene.clips"), module("io_carnivores.scene.frames")
    items = clips.animations(obj.data)
    number = [item.name for item in items].index(name)
    bpy.ops.carnivores.animation_play(number=number)
    scene, item = bpy.context.scene, items[number]
    count = frames.frame_count(scene, item)
    seconds = module("io_carnivores.formats.motion").times(count, item.kps)[frame]
    place = scene.frame_start + seconds * scene.render.fps / scene.render.fps_base
    scene.frame_set(int(place), subframe=place % 1.0)


def freeze(obj: bpy.types.Object, name: str, shift: Vector) -> bpy.types.Object:
    """Add a still copy of how an object looks now."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    copy = bpy.data.objects.new(name, bpy.data.meshes.new_from_object(evaluated))
    copy.matrix_world = Matrix.Translation(shift) @ obj.matrix_world
    bpy.context.scene.collection.objects.link(copy)
    return copy


def freeze_poses(obj: bpy.types.Object, poses: Sequence[tuple[str, int]], stride: Vector) -> list[bpy.types.Object]:
    """Add a still copy of each pose of a character, in a row; what is rendered are the copies alone."""
    copies = []
    for number, (name, frame) in enumerate(poses):
        show(obj, name, frame)
        copies.append(freeze(obj, f"{name} {frame}", stride * number))
    bpy.ops.carnivores.animation_stop()
    obj.hide_render = True
    return copies


def render_strip(obj: bpy.types.Object, path: Path) -> None:
    """Render poses of a character side by side, and take them away again."""
    scene = bpy.context.scene
    copies = freeze_poses(obj, POSES, STRIDE)
    surround(scene, STRIP_FERNS)
    middle = STRIDE + Vector((-0.6, -1.2, 3.6))
    add_camera(scene, middle + Vector((21.0, -21.0, 4.5)), middle, 31.0)
    render(scene, path, (1200, 440))
    for copy in copies:
        bpy.data.meshes.remove(copy.data)
    obj.hide_render = False


def export_again(blend: Path, model: Path) -> None:
    """Open the saved file and export the dinosaur, and only it."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    dinosaur = bpy.data.objects[NAME]
    for other in bpy.context.view_layer.objects:
        other.select_set(state=other == dinosaur)
    bpy.context.view_layer.objects.active = dinosaur
    getattr(bpy.ops.export_scene, f"carnivores_{model.suffix[1:]}")(filepath=str(model), use_selection=True)


def compare(original: Path, copy: Path) -> int:
    """Say in plain words whether two files hold the same bytes; return the exit code."""
    before, after = original.read_bytes(), copy.read_bytes()
    if before == after:
        print(f"The exported file is the same as {shown(original)}, all {len(before)} bytes of it.")
        return 0
    differing = (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    first = next(differing, min(len(before), len(after)))
    print(f"The exported file is NOT the same as {shown(original)}: the first difference is at offset 0x{first:X}.")
    return 1


def save_and_compare(blend: Path, model: Path) -> int:
    """Save the scene, open it again, export the dinosaur and compare it with the original; return the exit code."""
    with silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    print(f"Saved     {shown(blend)}", flush=True)
    with silence():
        export_again(blend, model)
    print(f"Exported  {shown(model)}", flush=True)
    return compare(ASSETS / model.name, model)


def run_model(picture: Path, blend: Path, model: Path) -> int:
    """Show the static model; return the exit code."""
    with silence():
        scene = build_scene()
    print(f"Imported  {shown(ASSETS / model.name)}", flush=True)
    with silence():
        render(scene, picture)
    print(f"Rendered  {shown(picture)}", flush=True)
    return save_and_compare(blend, model)


def run_character(picture: Path, blend: Path, model: Path) -> int:
    """Show the character; return the exit code."""
    with silence():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj, rig = import_character()
    print(f"Imported  {shown(ASSETS / model.name)}: {len(rig.data.bones)} bones recovered from the motion")
    print("\n".join(f"          {line}" for line in describe(obj)), flush=True)
    with silence():
        render_strip(obj, picture)
    print(f"Rendered  {shown(picture)}", flush=True)
    return save_and_compare(blend, model)


def main(arguments: list[str]) -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="dev.py demo", description="Import, render and export the samples.")
    parser.add_argument("--picture", type=Path, metavar="PNG", help="a further place for the picture")
    options = parser.parse_args(arguments)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    still = [OUTPUT / f"{NAME}{suffix}" for suffix in (".png", ".blend", ".3df")]
    moving = [OUTPUT / f"{NAME}{suffix}" for suffix in ("-poses.png", "-character.blend", ".car")]
    for old in (*still, *moving):
        old.unlink(missing_ok=True)
    code = run_model(*still)
    if options.picture is not None:
        write_small(still[0], options.picture)
    code = run_character(*moving) or code
    from tools import demo_fox  # which builds on this module

    return demo_fox.run(OUTPUT) or code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
