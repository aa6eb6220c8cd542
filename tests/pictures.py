# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a character drawn by Workbench, and what is expected of them; for the wheel and for a real window.

Workbench needs OpenGL or Vulkan. Nothing here starts or chooses it: `tests/window` has a screen, `tests/scene` asks
first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt
from addon.io_carnivores.formats import motion
from addon.io_carnivores.formats.car import Character
from addon.io_carnivores.formats.model import FACE, VERTEX, Model, name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.scene import clips, playback
from mathutils import Vector

from tests import characters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Picture = npt.NDArray[np.float32]  # (height, width, 3) of 0 to 1, top row first
    Colour = tuple[int, int, int]

SIZE = 200
# Two pictures of one pose: bones miss a vertex by up to an eighth of a unit, so that outlines move by less than a
# pixel, and only pixels on them differ. Measured on made and real characters: up to 0.0004, and up to 1.0 %.
SAME_MEAN, SAME_SHARE = 0.001, 0.02
# Two poses have to differ by more, or the comparison would say nothing. Measured: 20 % and more, but 4 % between two
# poses of a weapon of which only one part moves.
OTHER_SHARE = 0.03
PAPER = (0.8, 0.5, 0.8)
CHANGE = 0.1  # of a channel, that makes a pixel another one

# 15-bit colours as the texture holds them: five bits each of red, green and blue.
RED, GREEN, BLUE, YELLOW, GREY = 0x7C00, 0x03E0, 0x001F, 0x7FE0, 0x4210
HEAD, BODY, LEFT_ARM, RIGHT_ARM, FEET = range(5)
COLOURS = (RED, GREY, GREEN, BLUE, YELLOW)


def figure() -> Character:
    """A standing figure that looks along file -Z. It nods, waves its left arm, and bows.

    Its head is red, its left arm (file +X) green, the right one blue, its feet yellow.
    """
    boxes = {
        HEAD: ((-12, 110, -14), (12, 138, 10)),
        BODY: ((-18, 30, -10), (18, 108, 10)),
        LEFT_ARM: ((20, 88, -6), (70, 100, 6)),
        RIGHT_ARM: ((-70, 88, -6), (-20, 100, 6)),
        FEET: ((-16, 0, -20), (16, 28, 10)),
    }
    vertices = np.zeros(8 * len(boxes), VERTEX)
    faces = np.zeros(12 * len(boxes), FACE)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    triangles = np.array([[(q[0], q[1], q[2]), (q[0], q[2], q[3])] for q in quads]).reshape(-1, 3)
    for owner, (low, high) in boxes.items():
        corner = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
        vertices["position"][8 * owner : 8 * owner + 8] = corner
        vertices["owner"][8 * owner : 8 * owner + 8] = owner
        own = faces[12 * owner : 12 * owner + 12]
        own["corner"] = triangles + 8 * owner
        own["u"], own["v"], own["flags"] = 20 + 40 * owner, 8, 1
    faces["next"] = -1
    texels = np.zeros((16, 256), "<u2")
    for owner, colour in enumerate(COLOURS):
        texels[:, 40 * owner : 40 * owner + 40] = colour
    model = Model(faces, vertices, texels=texels)
    return Character(
        model,
        b"Figure",
        [
            Animation(name_field("nod"), 10, _turned(model, (HEAD,), 0, (0, 110, 0), 0.9)),
            Animation(name_field("wave"), 10, _turned(model, (LEFT_ARM,), 2, (20, 94, 0), 1.2)),
            Animation(name_field("bow"), 10, _turned(model, (HEAD, BODY, LEFT_ARM, RIGHT_ARM), 0, (0, 29, 0), -0.7)),
        ],
    )


def _turned(model: Model, owners: tuple[int, ...], axis: int, centre: Any, angle: float, count: int = 9) -> Any:
    rest = model.vertices["position"].astype(np.float64)
    moved = np.isin(model.vertices["owner"], owners)
    frames = np.repeat(rest[None], count, axis=0)
    for frame in range(count):
        turn = characters.turned(angle * np.sin(np.pi * frame / (count - 1)), axis)
        frames[frame, moved] = (rest[moved] - centre) @ turn.T + centre
    return motion.quantise(frames)


# Drawing -------------------------------------------------------------------------------------------------------------


def studio(character: Character, scale: float) -> None:
    """A camera that looks at the front of an animal from a little to its left and above, and Workbench with textures.

    Its place depends on the numbers of the file alone, so it is the same however the file is imported.
    """
    scene = bpy.context.scene
    shown = [character.animations[number].frames for number in played(character)]
    points = np.concatenate([motion.positions(frames[len(frames) // 2]) for frames in shown])
    low, high = (scale * limit[[0, 2, 1]] for limit in (points.min(axis=0), points.max(axis=0)))
    centre, size = Vector(((low + high) / 2).tolist()), float(np.linalg.norm(high - low))
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 1.05 * size
    camera.data.clip_end = 10 * size
    camera.location = centre + Vector((0.25, -1.0, 0.2)).normalized() * 3 * size
    camera.rotation_euler = (centre - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("Paper")
    scene.world.color = PAPER
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.render.film_transparent = False
    scene.view_settings.view_transform = "Standard"
    scene.render.dither_intensity = 0.0
    scene.display.render_aa = "OFF"
    shading = scene.display.shading
    shading.light, shading.color_type = "FLAT", "TEXTURE"
    shading.show_backface_culling = False


def draw(path: Path) -> Picture:
    """What the camera sees now."""
    scene = bpy.context.scene
    settings = scene.render.image_settings
    settings.file_format, settings.color_mode, settings.color_depth = "PNG", "RGB", "8"
    scene.render.filepath = str(path)
    assert bpy.ops.render.render(write_still=True) == {"FINISHED"}
    image = bpy.data.images.load(str(path), check_existing=False)
    try:
        width, height = image.size
        flat = np.empty(width * height * image.channels, np.float32)
        image.pixels.foreach_get(flat)
        return flat.reshape(height, width, image.channels)[::-1, :, :3].copy()
    finally:
        bpy.data.images.remove(image)


def poses(source: Path, character: Character, way: str, folder: Path) -> list[Picture]:
    """A picture of the pose in the middle of each of the first three animations, imported with that kind of motion.

    The scene must be empty.
    """
    before = set(bpy.data.objects)
    operator = getattr(bpy.ops.import_scene, f"carnivores_{source.suffix[1:].lower()}")
    assert operator(filepath=str(source), motion=way) == {"FINISHED"}
    obj = next(obj for obj in bpy.data.objects if obj.type == "MESH" and obj not in before)
    assert (obj.parent is not None) == (way == "BONES"), "the motion is not shown in the way that was asked for"
    studio(character, (obj.parent or obj).scale[0])
    found = []
    for number in played(character):
        item = clips.animations(obj.data)[number]
        playback.play(bpy.context, [obj], item)
        # On a frame of the file: between two, bones turn and keys go straight.
        count = len(character.animations[number].frames)
        start, end = item.action.frame_range
        time = start + (end - start) * (count // 2) / (count - 1)
        bpy.context.scene.frame_set(int(time), subframe=time % 1.0)
        found.append(draw(folder / f"{source.stem}-{way.lower()}-{number}.png"))
    return found


def both(source: Path, character: Character, folder: Path, clear: Callable[[], object]) -> None:
    """Draw the poses by bones and by shape keys, each in an empty scene that `clear` makes, and compare them."""
    found = []
    for way in ("BONES", "KEYS"):
        clear()
        found.append(poses(source, character, way, folder))
    check_alike(*found)


def played(character: Character) -> list[int]:
    """The first three animations with a motion."""
    return [number for number, each in enumerate(character.animations) if len(each.frames) > 1][:3]


# Looking -------------------------------------------------------------------------------------------------------------


def difference(first: Picture, second: Picture) -> tuple[float, float]:
    """Mean difference of a channel, and the share of the pixels drawn on either picture that differ."""
    away = np.abs(first - second)
    other = (away > CHANGE).any(axis=2)
    return float(away.mean()), float(other.sum() / max(1, (drawn(first) | drawn(second)).sum()))


def drawn(picture: Picture) -> npt.NDArray[np.bool_]:
    """The pixels that are not background, (height, width)."""
    return np.asarray((np.abs(picture - picture[0, 0]) > 0.02).any(axis=2))


def middle(picture: Picture, owner: int) -> tuple[float, float]:
    """Where the part of `figure` with that colour is seen: pixels from the left and from the top."""
    wanted = [(COLOURS[owner] >> shift & 31) / 31 for shift in (10, 5, 0)]
    rows, columns = np.nonzero((np.abs(picture - np.array(wanted, np.float32)) < 0.15).all(axis=2))
    assert len(rows) > 20, f"part {owner} of the figure is not in the picture"
    return float(columns.mean()), float(rows.mean())


def check_alike(bones: list[Picture], keys: list[Picture]) -> None:
    """Both ways show the same in each pose, and something else than in the other poses."""
    assert len(bones) == len(keys) >= 1
    for number, (one, two) in enumerate(zip(bones, keys, strict=True)):
        assert drawn(two).mean() > 0.01, "nothing is in the picture"
        mean, share = difference(one, two)
        assert mean < SAME_MEAN, f"animation {number}: bones and keys differ by {mean:.4f}"
        assert share < SAME_SHARE, f"animation {number}: bones and keys differ in {100 * share:.1f} % of the pixels"
    for one in range(len(bones)):
        for two in range(one):
            share = difference(bones[one], keys[two])[1]
            assert share > OTHER_SHARE, f"animations {one} and {two} look alike ({100 * share:.1f} %)"


def check_upright(picture: Picture) -> None:
    """The figure stands on its feet, and faces the camera with its left arm on the right of the picture."""
    assert middle(picture, HEAD)[1] < middle(picture, BODY)[1] < middle(picture, FEET)[1]
    assert middle(picture, RIGHT_ARM)[0] < middle(picture, BODY)[0] < middle(picture, LEFT_ARM)[0]
