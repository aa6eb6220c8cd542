# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the pictures of the documentation: `python3 dev.py python tools/docs_pictures.py [NAME...]`.

Writes docs/images/NAME.png, of our own samples only; without NAME all of them. `dinosaur.png` is made by the demo:
`python3 dev.py demo --picture docs/images/dinosaur.png`. Screenshots of the interface need a real window:
`python3 dev.py window tests/window/docs_screenshots.py` takes them, and the NAME `screenshots` fetches them.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
from mathutils import Matrix, Vector

from tools import demo, demo_fox
from tools.staging import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

IMAGES = ROOT / "docs" / "images"
SIZE = (560, 420)
PAPER = (0.93, 0.93, 0.9)
OUTFIT = ("Cape", "Hat", "Quiver", "Bow")


def fresh_scene(
    place: tuple[float, float, float], target: tuple[float, float, float], lens: float = 34.0
) -> bpy.types.Scene:
    """Empty the file; look from *place* to *target*, through *lens* (mm), at what will come, on plain paper."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    world = bpy.data.worlds.new("Paper")
    scene.world = world
    background = next(node for node in demo.nodes_of(world).nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (*PAPER, 1.0)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.data.lens = place, lens
    camera.rotation_euler = (Vector(target) - Vector(place)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy = 2.0
    lamp = bpy.data.objects.new("Sun", sun)
    lamp.rotation_euler = Vector((-0.35, 0.7, -0.7)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(lamp)
    return scene


def render(scene: bpy.types.Scene, name: str, size: tuple[int, int] = SIZE) -> None:
    """Render to docs/images, small enough to be kept in the repository."""
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 16, True
    scene.cycles.max_bounces, scene.cycles.transparent_max_bounces = 2, 16
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "Standard"
    settings = scene.render.image_settings
    settings.file_format, settings.color_mode, settings.compression = "PNG", "RGB", 100
    scene.render.dither_intensity = 0.0
    scene.render.filepath = str(IMAGES / f"{name}.png")
    bpy.ops.render.render(write_still=True)


def paint(mesh: bpy.types.Mesh, colours: npt.NDArray[np.float32], alpha: float) -> None:
    """Show *mesh* in *colours*, linear (corners, 3), in place of its own materials."""
    layer = mesh.color_attributes.new("Shown", "FLOAT_COLOR", "CORNER")
    rgba = np.ones((len(colours), 4), np.float32)
    rgba[:, :3] = colours
    layer.data.foreach_set("color", rgba.reshape(-1))
    material = plain("Shown", (1.0, 1.0, 1.0), alpha)
    tree = demo.nodes_of(material)
    source = tree.nodes.new("ShaderNodeVertexColor")
    source.layer_name = "Shown"
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    tree.links.new(source.outputs["Color"], shader.inputs["Base Color"])
    mesh.materials.clear()
    mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", np.zeros(len(mesh.polygons), np.int32))


def plain(name: str, colour: tuple[float, float, float], alpha: float = 1.0) -> bpy.types.Material:
    """Return a matt material of one colour."""
    material = bpy.data.materials.new(name)
    shader = next(node for node in demo.nodes_of(material).nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 1.0
    shader.inputs["Specular IOR Level"].default_value = 0.0
    shader.inputs["Alpha"].default_value = alpha
    return material


def import_dinosaur() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Import the sample; return its mesh and its armature."""
    bpy.ops.import_scene.carnivores_3df(filepath=str(demo.ASSETS / "dinosaur.3df"))
    rig = bpy.context.object
    return next(child for child in rig.children if child.type == "MESH"), rig


def flags() -> None:
    """The dinosaur in the colours that the sidebar gives to face flags."""
    scene = fresh_scene((9.2, -11.8, 2.9), (-0.1, -1.4, 3.5))
    obj, _rig = import_dinosaur()
    shown = demo.module("io_carnivores.scene.face_flags").read(obj)
    colours, flagged = demo.module("io_carnivores.ui.overlay").blend(shown, 0xFFFF)
    colours = np.where(flagged[:, None], colours**2.2, np.float32(0.5)).astype(np.float32)
    paint(obj.data, np.repeat(colours, 3, axis=0), 1.0)
    render(scene, "flags")


def bones() -> None:
    """The bones of the dinosaur, and each vertex in the colour of the bone that owns it."""
    scene = fresh_scene((14.5, -4.0, 4.4), (0.0, -0.6, 3.6), 35.0)
    obj, rig = import_dinosaur()
    show_owners(obj, rig)
    render(scene, "bones")


def creature_bones() -> None:
    """The same of the character in the middle of its roar; these bones are recovered from the motion."""
    scene = fresh_scene((14.5, -6.0, 4.8), (0.0, -0.4, 4.1), 33.0)
    obj, rig = demo.import_character()
    demo.show(obj, "roar", 14)
    show_owners(obj, rig)
    render(scene, "creature-skeleton")


def creature_poses() -> None:
    """What the character does, pose by pose."""
    poses = (("walk", 0), ("walk", 6), ("idle", 8), ("roar", 14))
    middle = 1.5 * demo.STRIDE + Vector((-0.8, -1.4, 3.9))
    scene = fresh_scene(tuple(middle + Vector((28.0, -28.0, 7.5))), tuple(middle), 33.0)
    scene.camera.data.clip_end = 1e4
    obj, _rig = demo.import_character()
    demo.freeze_poses(obj, poses, demo.STRIDE)
    lay_paper(scene)
    render(scene, "creature-poses", (960, 264))


def lay_paper(scene: bpy.types.Scene) -> None:
    """Give what is there a ground that fades into the paper."""
    ground = bpy.data.meshes.new("Ground")
    ground.from_pydata([(-900, -900, 0), (900, -900, 0), (900, 900, 0), (-900, 900, 0)], [], [(0, 1, 2, 3)])
    ground.materials.append(plain("Ground", PAPER))
    scene.collection.objects.link(bpy.data.objects.new("Ground", ground))


def fox_scene(count: int, stride: Vector, lens: float) -> bpy.types.Scene:
    """Look at a row of so many foxes from where their clips face."""
    middle = stride * (0.5 * (count - 1)) + demo_fox.CENTRE + Vector((0.0, 0.0, 0.03))
    scene = fresh_scene(tuple(middle + Vector((0.0, 8.0, 1.6))), tuple(middle), lens)
    scene.camera.data.clip_end = 1e4
    lamp = scene.objects["Sun"]
    lamp.rotation_euler = Vector((0.35, -0.7, -0.7)).to_track_quat("-Z", "Y").to_euler()
    lay_paper(scene)
    return scene


def fox_poses() -> None:
    """What the fox does, clip by clip."""
    poses = (("Fox_Stand", 50), ("Fox_Run", 4), ("Fox_Attack", 14), ("Fox_Attack", 47), ("Fox_Attack", 58))
    scene = fox_scene(len(poses), demo_fox.STRIDE, 58.0)
    demo_fox.freeze_poses(demo_fox.import_fox(), poses, demo_fox.STRIDE, -0.55)
    render(scene, "fox-poses", (960, 264))


def fox_parts() -> None:
    """The body as it comes, the outfit by itself, and both on one armature; at rest, so turned to face us."""
    stride = Vector((-1.05, 0.0, 0.0))
    scene = fox_scene(3, stride, 80.0)
    rig = demo_fox.import_fox()
    for number, left_out in enumerate((OUTFIT, ("Body", "Head"), ())):
        for obj in demo_fox.parts(rig):
            obj.hide_viewport = obj.name in left_out or obj.name == "Arrow"
        rig.data.pose_position = "REST"
        bpy.context.view_layer.update()
        demo_fox.freeze(rig, f"{number}", Matrix.Translation(stride * number) @ Matrix.Rotation(2.7, 4, "Z"))
        for obj in rig.children:
            obj.hide_viewport = False
    for obj in demo_fox.parts(rig):
        obj.hide_render = True
    render(scene, "fox-parts", (720, 300))


def fox_skeleton() -> None:
    """The armature in the middle of the shot, in a fox of glass."""
    scene = fox_scene(1, demo_fox.STRIDE, 165.0)
    rig = demo_fox.import_fox()
    demo_fox.show(rig, "Fox_Attack", 46)
    rig.rotation_euler.z = -0.9
    bpy.context.view_layer.update()
    glass = plain("Glass", (0.45, 0.13, 0.03), 0.26)
    for obj in demo_fox.parts(rig):
        obj.data.materials.clear()
        obj.data.materials.append(glass)
    dark = plain("Bone", (0.02, 0.02, 0.03))
    for bone in rig.pose.bones:
        made = stick(bone.name, rig.matrix_world @ bone.head, rig.matrix_world @ bone.tail, dark)
        scene.collection.objects.link(made)
    render(scene, "fox-skeleton")


def show_owners(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Give each vertex the colour of its owner, let light through, and draw the bones as they stand now."""
    kept = demo.module("io_carnivores.scene.kept")
    owner = demo.module("io_common.scene.mesh").get_attribute(obj.data, kept.OWNER, "INT", "POINT")
    hue = (np.arange(owner.max() + 1) * 0.618) % 1.0
    table = 0.5 + 0.4 * np.cos(2 * np.pi * (hue[:, None] + np.array([0.0, 0.33, 0.67])))
    corner = np.zeros(len(obj.data.loops), np.int32)
    obj.data.loops.foreach_get("vertex_index", corner)
    paint(obj.data, table[owner[corner]].astype(np.float32), 0.3)
    dark = plain("Bone", (0.02, 0.02, 0.03))
    for bone in rig.pose.bones:
        made = stick(bone.name, rig.matrix_world @ bone.head, rig.matrix_world @ bone.tail, dark)
        bpy.context.scene.collection.objects.link(made)


def stick(name: str, head: Vector, tail: Vector, material: bpy.types.Material) -> bpy.types.Object:
    """Return an octahedron from *head* to *tail*, as Blender draws a bone."""
    along = tail - head
    side = along.orthogonal().normalized() * min(0.12 * along.length, 0.12)
    other = along.normalized().cross(side)
    ring = [head + along * 0.15 + way for way in (side, other, -side, -other)]
    faces = [(0, 2 + i, 2 + (i + 1) % 4) for i in range(4)] + [(1, 2 + (i + 1) % 4, 2 + i) for i in range(4)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([head, tail, *ring], [], faces)
    mesh.materials.append(material)
    return bpy.data.objects.new(f"Stick {name}", mesh)


def from_scratch() -> None:
    """A watchtower of several objects and four materials, exported as one model, and what came out, imported again."""
    fresh_scene((0, 0, 0), (0, 1, 0))
    for obj in (tower := build_tower()):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = tower[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "watchtower.3df"
        bpy.ops.export_scene.carnivores_3df(filepath=str(path), use_join=True)
        scene = fresh_scene((7.5, -9.5, 4.6), (0.0, 0.0, 3.5), 38.0)
        bpy.ops.import_scene.carnivores_3df(filepath=str(path))
    image = next(image for image in bpy.data.images if image.source == "FILE")
    ground = bpy.data.meshes.new("Ground")
    ground.from_pydata([(-60, -60, 0), (60, -60, 0), (60, 60, 0), (-60, 60, 0)], [], [(0, 1, 2, 3)])
    ground.materials.append(plain("Ground", (0.35, 0.4, 0.2)))
    scene.collection.objects.link(bpy.data.objects.new("Ground", ground))
    render(scene, "from-scratch")
    save_sheet(image, IMAGES / "from-scratch-sheet.png")


def save_sheet(image: bpy.types.Image, path: Path) -> None:
    """Write the texture of a game model, its holes in a chequered grey."""
    columns, rows = image.size
    pixels = np.empty(columns * rows * 4, np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(rows, columns, 4)
    y, x = np.mgrid[0:rows, 0:columns]
    board = np.where((x // 8 + y // 8) % 2, 0.55, 0.7).astype(np.float32)
    pixels[..., :3] = np.where(pixels[..., 3:] < 0.5, board[..., None], pixels[..., :3])  # noqa: PLR2004 (half seen)
    pixels[..., 3] = 1.0
    shown = bpy.data.images.new("Sheet", columns, rows)
    shown.pixels.foreach_set(pixels.reshape(-1))
    shown.filepath_raw, shown.file_format = str(path), "PNG"
    shown.save()


def painted(
    name: str, colour: npt.NDArray[np.float32], alpha: npt.NDArray[np.bool_] | None = None
) -> bpy.types.Material:
    """Return a material that shows a picture (rows, columns, 3); with *alpha* its holes are cut out."""
    rows, columns = colour.shape[:2]
    pixels = np.ones((rows, columns, 4), np.float32)
    pixels[..., :3] = np.clip(colour, 0.02, 1.0)
    if alpha is not None:
        pixels[..., 3] = alpha
    image = bpy.data.images.new(name, columns, rows, alpha=True)
    image.pixels.foreach_set(pixels.reshape(-1))
    image.pack()
    material = plain(name, (1.0, 1.0, 1.0))
    tree = demo.nodes_of(material)
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    if alpha is not None:
        tree.links.new(texture.outputs["Alpha"], shader.inputs["Alpha"])
    material.use_backface_culling = alpha is None
    return material


def build_tower() -> list[bpy.types.Object]:
    """Model the watchtower with Blender's own primitives and give it pictures of several sizes."""
    random = np.random.default_rng(4)
    y, x = np.mgrid[0:200, 0:300]
    grain = random.random((200, 1)) * 0.12 + random.random((200, 300)) * 0.05
    planks = np.array([0.45, 0.28, 0.13]) * (0.75 + 2 * grain[..., None]) * np.where(y % 40 // 3, 1.0, 0.4)[..., None]
    y, x = np.mgrid[0:128, 0:128]
    straw = np.array([0.72, 0.56, 0.22]) * (0.55 + 0.45 * random.random((1, 128)) * (0.6 + (y % 32) / 60))[..., None]
    rope = np.array([0.6, 0.5, 0.35]) * (0.7 + 0.3 * random.random((64, 64, 1)))
    y, x = np.mgrid[0:64, 0:64]
    net = ((x + y) % 16 < 4) | ((x - y) % 16 < 4) | (y > 58) | (y < 4)  # noqa: PLR2004 (sizes of a pattern)
    wood, thatch = painted("Planks", planks), painted("Straw", straw)
    netting, paint_red = painted("Net", rope, net), plain("Red", (0.5, 0.03, 0.02))
    corners = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    made = [box("Leg", (*corner, 2.4), (0.22, 0.22, 4.8), wood) for corner in corners]
    made.append(box("Platform", (0.0, 0.0, 2.7), (2.8, 2.8, 0.16), wood))
    for angle in range(4):
        turn = angle * np.pi / 2
        bpy.ops.mesh.primitive_plane_add(
            size=1, rotation=(np.pi / 2, 0.0, turn), location=(1.3 * np.sin(turn), -1.3 * np.cos(turn), 3.15)
        )
        made.append(dressed("Net", (2.6, 0.75, 1.0), netting))
    bpy.ops.mesh.primitive_cone_add(vertices=8, radius1=2.3, depth=1.7, location=(0.0, 0.0, 5.6))
    made.append(dressed("Roof", (1.0, 1.0, 1.0), thatch))
    made.append(box("Flag", (0.45, 0.0, 6.9), (0.9, 0.03, 0.5), paint_red))
    made.append(box("Pole", (0.0, 0.0, 6.6), (0.07, 0.07, 1.2), wood))
    return made


def box(
    name: str, place: tuple[float, float, float], size: tuple[float, float, float], material: bpy.types.Material
) -> bpy.types.Object:
    """Add a box."""
    bpy.ops.mesh.primitive_cube_add(size=1, location=place)
    return dressed(name, size, material)


def dressed(name: str, size: tuple[float, float, float], material: bpy.types.Material) -> bpy.types.Object:
    """Name, scale and clothe the object that was just added."""
    obj = bpy.context.object
    obj.name, obj.scale = name, size
    obj.data.materials.append(material)
    return obj


def screenshots() -> None:
    """Fetch what `dev.py window tests/window/docs_screenshots.py` has taken."""
    taken = sorted((ROOT / "build" / "window").glob("docs-*.png"))
    if not taken:
        raise SystemExit("there are no screenshots in build/window")
    for path in taken:
        shutil.copyfile(path, IMAGES / path.name.removeprefix("docs-"))


PICTURES: dict[str, Callable[[], None]] = {
    "flags": flags,
    "bones": bones,
    "from-scratch": from_scratch,
    "creature-skeleton": creature_bones,
    "creature-poses": creature_poses,
    "fox-poses": fox_poses,
    "fox-parts": fox_parts,
    "fox-skeleton": fox_skeleton,
}
FETCHED = {"screenshots": screenshots}


def main() -> None:
    """Render what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=[*PICTURES, *FETCHED], help=", ".join([*PICTURES, *FETCHED])
    )
    options = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in options.names or PICTURES:
        (PICTURES | FETCHED)[name]()
        print(name, flush=True)


if __name__ == "__main__":
    main()
