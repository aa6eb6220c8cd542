# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of any kind and number to the one sheet of a model: what the game shows is what Blender shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.model import Model

from tests.scene.helpers import models, scene

Pixels = npt.NDArray[np.float32]


def image_of(pixels: npt.ArrayLike, name: str = "picture", **options: Any) -> bpy.types.Image:
    """An image of `pixels` (rows, columns, 4), top row first, floats."""
    values = np.asarray(pixels, np.float32)
    rows, columns = values.shape[:2]
    image = bpy.data.images.new(name, columns, rows, alpha=True, **options)
    image.pixels.foreach_set(np.ascontiguousarray(values[::-1]).ravel())
    image.update()
    return image


def material_of(image: bpy.types.Image, name: str = "look", *, cut: bool = False) -> bpy.types.Material:
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    material.use_backface_culling = True
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    if cut:
        tree.links.new(texture.outputs["Alpha"], shader.inputs["Alpha"])
    return material


def plain(color: tuple[float, ...], name: str = "plain") -> bpy.types.Material:
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    material.use_backface_culling = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = color
    return material


def grid(uvs: npt.ArrayLike, materials: list[bpy.types.Material], name: str = "Grid") -> bpy.types.Object:
    """One quad per row of `uvs` (n, 4, 2), side by side; quad i has material i (or the last one)."""
    corners = np.asarray(uvs, np.float32)
    count = len(corners)
    points = [(2 * n + x, 0, z) for n in range(count) for x, z in ((0, 0), (1, 0), (1, 1), (0, 1))]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], [tuple(range(4 * n, 4 * n + 4)) for n in range(count)])
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", corners.ravel())
    for material in materials:
        mesh.materials.append(material)
    for polygon in mesh.polygons:
        polygon.material_index = min(polygon.index, len(materials) - 1)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


WHOLE = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32)


def written(folder: Path, obj: bpy.types.Object, **options: Any) -> Model:
    read: Model = model_3df.read(scene.export(folder / "out.3df", obj, **options))
    return read


def expand(words: npt.NDArray[np.uint16]) -> npt.NDArray[np.int_]:
    """(…,) texels to (…, 3) 8-bit colours."""
    five = np.stack([words.astype(int) >> shift & 31 for shift in (10, 5, 0)], axis=-1)
    return five << 3 | five >> 2


def smooth(rows: int, columns: int, turn: float = 0.0) -> Pixels:
    """A picture without edges, so that resampling keeps its colours."""
    y, x = np.mgrid[0:rows, 0:columns]
    s, t = (x + 0.5) / columns, (y + 0.5) / rows
    color = np.stack((0.2 + 0.6 * s, 0.2 + 0.6 * t, np.full_like(s, 0.2 + turn), np.ones_like(s)), axis=-1)
    return color.astype(np.float32)


def compare(model: Model, obj: bpy.types.Object, pictures: list[Pixels], *, tolerance: float) -> None:
    """At every corner and the middle of every face: the texel of the sheet against the picture at Blender's UV."""
    mesh = obj.data
    mesh.calc_loop_triangles()
    uv = np.array([entry.vector[:] for entry in mesh.uv_layers.active.uv])
    for number, triangle in enumerate(mesh.loop_triangles):
        picture = pictures[mesh.polygons[triangle.polygon_index].material_index]
        face = model.faces[number]
        # File corners run the other way round; the first one is the same.
        ours = uv[list(triangle.loops)][[0, 2, 1]]
        for weights in (np.full(3, 1 / 3), *(np.eye(3) * 0.9 + 1 / 30)):
            u, v = weights @ face["u"], weights @ face["v"]
            texel = model.texels[int(np.rint(v)) % len(model.texels), int(np.rint(u)) % 256]
            s, t = weights @ ours % 1.0
            rows, columns = picture.shape[:2]
            source = picture[min(int((1 - t) * rows), rows - 1), min(int(s * columns), columns - 1), :3] * 255
            assert np.abs(expand(texel) - source).max() <= tolerance, (number, weights, expand(texel), source)


def test_exact_where_the_picture_fits_the_game(tmp_path: Path) -> None:
    """256 wide, colours that are 5-bit ones: every texel as it is."""
    words = models.words(131) & 0x7FFF
    pixels = np.ones((131, 256, 4), np.float32)
    pixels[..., :3] = expand(words) / 255
    obj = grid([WHOLE], [material_of(image_of(pixels))])
    assert np.array_equal(written(tmp_path, obj).texels, words)


@pytest.mark.parametrize(
    "size", [(300, 500), (16, 16), (1024, 1024), (64, 512), (512, 64), (256, 256), (1, 1)], ids=str
)
def test_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    pixels = smooth(*size)
    obj = grid([WHOLE, WHOLE * 0.5 + 0.2], [material_of(image_of(pixels))])
    model = written(tmp_path, obj)
    assert model.texels.shape[1] == 256
    assert len(model.texels) <= 256
    # Half a source texel of a coarse picture, and a 5-bit step.
    compare(
        model, obj, [pixels], tolerance=12 + 0.6 * 255 * 1.1 / min(size) * (max(size) > 1) if min(size) < 64 else 14
    )


def test_several_pictures_and_colours_on_one_sheet(tmp_path: Path) -> None:
    pictures = [smooth(200, 300), smooth(64, 64, 0.3), smooth(512, 128, 0.6)]
    looks = [material_of(image_of(pixels, f"p{n}"), f"m{n}") for n, pixels in enumerate(pictures)]
    colors = [(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)]
    looks += [plain(color, f"c{n}") for n, color in enumerate(colors)]
    pictures += [np.broadcast_to(np.float32(color), (4, 4, 4)) for color in colors]
    obj = grid([WHOLE, WHOLE * 0.8 + 0.1, WHOLE, WHOLE, WHOLE * 7], looks)
    model = written(tmp_path, obj)
    assert len(model.texels) <= 256
    compare(model, obj, pictures, tolerance=16)
    # No corner may touch a neighbour's texels.
    boxes = []
    for quad in range(3):
        faces = model.faces[2 * quad : 2 * quad + 2]
        boxes.append((faces["u"].min(), faces["u"].max(), faces["v"].min(), faces["v"].max()))
    for n, a in enumerate(boxes):
        for b in boxes[n + 1 :]:
            assert a[1] < b[0] or b[1] < a[0] or a[3] < b[2] or b[3] < a[2]


def test_one_plain_colour(tmp_path: Path) -> None:
    obj = grid([WHOLE], [plain((0.0, 1.0, 0.0, 1.0))])
    model = written(tmp_path, obj)
    assert (model.texels == 0x03E0).all()
    assert (model.faces["v"] < len(model.texels)).all()


def test_a_face_in_another_tile_is_moved_back(tmp_path: Path) -> None:
    pictures = [smooth(64, 64), smooth(64, 64, 0.5)]
    looks = [material_of(image_of(pixels, f"p{n}"), f"m{n}") for n, pixels in enumerate(pictures)]
    obj = grid([WHOLE * 0.8 + 3.1, WHOLE * 0.8 - 1.9], looks)
    compare(written(tmp_path, obj), obj, pictures, tolerance=20)


def test_a_picture_that_repeats_downwards_fills_all_rows(tmp_path: Path) -> None:
    """The games repeat a texture after 256 rows, whatever its height."""
    pixels = smooth(128, 256)
    obj = grid([WHOLE * (1, 2.5)], [material_of(image_of(pixels))])
    model = written(tmp_path, obj)
    assert len(model.texels) == 256
    compare(model, obj, [pixels], tolerance=14)


def test_the_edge_of_the_picture_is_its_last_texel(tmp_path: Path) -> None:
    model = written(tmp_path, grid([WHOLE], [material_of(image_of(smooth(128, 256)))]))
    assert set(model.faces["u"].ravel().tolist()) == {0, 255}
    assert set(model.faces["v"].ravel().tolist()) == {0, 127}


def test_no_uv_map(tmp_path: Path) -> None:
    obj = grid([WHOLE], [material_of(image_of(smooth(16, 16)))])
    obj.data.uv_layers.remove(obj.data.uv_layers[0])
    model = written(tmp_path, obj)
    assert len(model.faces) == 2
    assert "no UV map" in bpy.data.texts[-1].as_string()


def test_the_active_uv_map_counts(tmp_path: Path) -> None:
    obj = grid([WHOLE * 0.0], [material_of(image_of(smooth(256, 256)))])
    layer = obj.data.uv_layers.new(name="second")
    layer.uv.foreach_set("vector", WHOLE.ravel())
    obj.data.uv_layers.active = layer
    assert written(tmp_path, obj).faces["u"].max() == 255


# Alpha


def _holes() -> Pixels:
    pixels = smooth(64, 256)
    pixels[:16, :, :3] = 0
    pixels[32:, :, 3] = 0
    return pixels


def test_cut_out(tmp_path: Path) -> None:
    """Transparent becomes texel 0, black that is seen becomes 1."""
    model = written(tmp_path, grid([WHOLE], [material_of(image_of(_holes()), cut=True)]))
    assert (model.faces["flags"] == 4).all()
    assert (model.texels[:16] == 1).all()
    assert model.texels[16:32].all()
    assert not model.texels[32:].any()


def test_alpha_that_is_not_shown_does_not_count(tmp_path: Path) -> None:
    """Many pictures carry gloss or nothing at all in their alpha."""
    pixels = smooth(64, 256)
    pixels[..., 3] = 0
    model = written(tmp_path, grid([WHOLE], [material_of(image_of(pixels))]))
    assert not model.faces["flags"].any()
    assert model.texels.all()


def test_cut_out_beside_opaque(tmp_path: Path) -> None:
    """The holes of one picture must not make holes in the black of another: the games key the whole sheet."""
    black = np.zeros((64, 64, 4), np.float32)
    black[..., 3] = 1
    hidden = np.ones((64, 64, 4), np.float32)
    hidden[..., 3] = 0
    pictures = [material_of(image_of(pixels, f"p{n}"), f"m{n}", cut=n == 0) for n, pixels in enumerate((hidden, black))]
    model = written(tmp_path, grid([WHOLE, WHOLE], pictures))
    for quad, word in ((0, 0), (1, 1)):
        faces = model.faces[2 * quad : 2 * quad + 2]
        box = model.texels[faces["v"].min() : faces["v"].max() + 1, faces["u"].min() : faces["u"].max() + 1]
        assert (box == word).all()


def test_alpha_mode_none(tmp_path: Path) -> None:
    image = image_of(_holes())
    image.alpha_mode = "NONE"
    model = written(tmp_path, grid([WHOLE], [material_of(image, cut=True)]))
    assert model.texels.all()


# Kinds of images


def test_24_bit_picture_is_dithered(tmp_path: Path) -> None:
    pixels = np.ones((128, 256, 4), np.float32)
    pixels[..., :3] = np.array((101, 102, 103)) / 255
    model = written(tmp_path, grid([WHOLE], [material_of(image_of(pixels))]))
    shown = expand(model.texels)
    assert len(np.unique(model.texels)) > 1
    assert np.abs(shown.mean(axis=(0, 1)) - (101, 102, 103)).max() < 1
    assert np.abs(shown - (101, 102, 103)).max() <= 9


def test_png_file_beside_the_scene(tmp_path: Path) -> None:
    words = models.words(64) & 0x7FFF
    pixels = np.ones((64, 256, 4), np.float32)
    pixels[..., :3] = expand(words) / 255
    made = image_of(pixels)
    made.filepath_raw, made.file_format = str(tmp_path / "skin.png"), "PNG"
    made.save()
    image = bpy.data.images.load(str(tmp_path / "skin.png"))
    bpy.data.images.remove(made)
    assert np.array_equal(written(tmp_path, grid([WHOLE], [material_of(image)])).texels, words)


def test_non_color_picture_keeps_its_bytes(tmp_path: Path) -> None:
    words = models.words(64) & 0x7FFF
    pixels = np.ones((64, 256, 4), np.float32)
    pixels[..., :3] = expand(words) / 255
    image = bpy.data.images.new("mask", 256, 64)
    image.colorspace_settings.name = "Non-Color"  # Blender drops what was painted before
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1]).ravel())
    assert np.array_equal(written(tmp_path, grid([WHOLE], [material_of(image)])).texels, words)


def test_float_picture_is_encoded(tmp_path: Path) -> None:
    """Float images are scene-linear: 0.2140 is the middle grey of a byte image, 188/255 is linear 0.5."""
    pixels = np.ones((64, 256, 4), np.float32)
    pixels[..., :3] = 0.5
    pixels[:8, :, :3] = 7.0
    pixels[8:16, :, :3] = np.nan
    model = written(tmp_path, grid([WHOLE], [material_of(image_of(pixels, float_buffer=True))]))
    shown = expand(model.texels)
    assert np.abs(shown[16:].mean() - 188) < 1
    assert (shown[:8] == 255).all()
    assert (shown[8:16] == 0).all()


def test_float_picture_with_soft_edges(tmp_path: Path) -> None:
    """Float colours are kept multiplied by alpha; the game needs them as they were."""
    pixels = np.full((64, 256, 4), 0.6, np.float32)
    pixels[..., :3] = 0.5 * 0.6
    image = image_of(pixels, float_buffer=True)
    model = written(tmp_path, grid([WHOLE], [material_of(image, cut=True)]))
    assert np.abs(expand(model.texels).mean() - 188) < 1


def test_generated_picture_that_was_never_looked_at(tmp_path: Path) -> None:
    image = bpy.data.images.new("grid", 256, 256)
    image.generated_type = "COLOR_GRID"
    model = written(tmp_path, grid([WHOLE], [material_of(image)]))
    assert model.texels.shape == (256, 256)
    assert len(np.unique(model.texels)) > 20


@pytest.mark.parametrize("name", ["Ящер", "zurück", "a file name that is longer than 31 letters"])
def test_a_mobile_texture_is_found_under_any_file_name(name: str, tmp_path: Path) -> None:
    """The name in the model and that of the file beside it agree, whatever the model's file is called."""
    obj = grid([WHOLE], [material_of(image_of(np.ones((8, 8, 4))))])
    scene.select(obj)
    path = tmp_path / f"{name}.3dn"
    assert bpy.ops.export_scene.carnivores_3dn(filepath=str(path)) == {"FINISHED"}
    bpy.data.objects.remove(obj)
    assert bpy.ops.import_scene.carnivores_3dn(filepath=str(path)) == {"FINISHED"}
    assert [image.size[:] for image in bpy.data.images if image.packed_file] == [(8, 8)]


def test_missing_file_ends_in_one_sentence(tmp_path: Path) -> None:
    image = bpy.data.images.new("skin", 8, 8)
    image.source = "FILE"
    image.filepath = str(tmp_path / "gone.png")
    image.reload()
    obj = grid([WHOLE], [material_of(image)])
    with pytest.raises(RuntimeError, match='the picture "skin" cannot be found') as caught:
        written(tmp_path, obj)
    assert len(str(caught.value).strip().splitlines()) == 1
    assert not (tmp_path / "out.3df").exists()


def test_picture_behind_other_nodes_is_found(tmp_path: Path) -> None:
    words = models.words(64) & 0x7FFF
    pixels = np.ones((64, 256, 4), np.float32)
    pixels[..., :3] = expand(words) / 255
    material = material_of(image_of(pixels))
    tree = material.node_tree
    link = next(link for link in tree.links if link.to_socket.name == "Base Color")
    texture, target = link.from_node, link.to_socket
    tree.links.remove(link)
    mix = tree.nodes.new("ShaderNodeGamma")
    tree.links.new(texture.outputs["Color"], mix.inputs["Color"])
    tree.links.new(mix.outputs["Color"], target)
    assert np.array_equal(written(tmp_path, grid([WHOLE], [material])).texels, words)


def test_new_picture_joins_an_imported_one_without_harm(tmp_path: Path) -> None:
    """The imported texture stays as it is, to the bit, where the sheet has room for both."""
    data, obj = scene.bring_model(tmp_path / "a.3df", models.regular(97))
    before = model_3df.read(data)
    obj.data.materials.append(material_of(image_of(smooth(32, 32))))
    obj.data.polygons[3].material_index = len(obj.data.materials) - 1
    after = written(tmp_path, obj)
    rows = [n for n in range(len(after.texels) - 96) if np.array_equal(after.texels[n : n + 97], before.texels)]
    assert rows
    inside = (before.faces["v"] >= 0) & (before.faces["v"] < 97) & (np.arange(len(before.faces)) != 3)[:, None]
    whole = inside.all(axis=1)
    assert np.array_equal(after.faces["v"][whole], before.faces["v"][whole] + rows[0])
    assert np.array_equal(after.faces["u"][whole], before.faces["u"][whole])
