# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of pictures and materials of an imported model are local."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from addon.io_common.scene import mesh as meshes

from .helpers import models, scene
from .helpers.edited import Case


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, models.regular())


def _paint(image: bpy.types.Image, column: int, row: int, color: tuple[float, ...]) -> None:
    """Row from the top."""
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    grid = pixels.reshape(image.size[1], image.size[0], 4)
    grid[image.size[1] - 1 - row, column] = color
    image.pixels.foreach_set(pixels)
    image.update()


@pytest.mark.parametrize("pack", [False, True])
def test_paint_a_texel(case: Case, pack: bool) -> None:
    image = bpy.data.images["beast"]
    _paint(image, 100, 50, (1, 0, 0, 1))
    if pack:
        image.pack()
        scene.reopen(case.folder / "a.blend")
        case.obj = scene.the_mesh()
    assert case.changes() == {"texels": [50 * 256 + 100]}
    assert case.result().texels[50, 100] == 0x7C00


def test_paint_a_hole_black_and_back(case: Case) -> None:
    """A visible black on a cut-out model must not become a hole; a hole that is painted over is none any more."""
    image = bpy.data.images["beast"]
    _paint(image, 100, 50, (0, 0, 0, 1))
    _paint(image, 20, 4, (0, 0, 0, 1))
    _paint(image, 101, 50, (0.5, 0.5, 0.5, 0))
    after = case.result()
    assert after.texels[50, 100] == after.texels[4, 20] == 1
    assert after.texels[50, 101] == 0
    changed = np.flatnonzero(after.texels != case.model.texels)
    assert set(changed.tolist()) <= {50 * 256 + 100, 50 * 256 + 101, 4 * 256 + 20}


def _new_image(columns: int, rows: int, color: tuple[float, ...] = (1, 0, 0, 1)) -> bpy.types.Image:
    image = bpy.data.images.new("mine", columns, rows, alpha=True)
    image.pixels.foreach_set(np.tile(np.array(color, np.float32), columns * rows))
    return image


def _image_nodes() -> list[bpy.types.Node]:
    return [node for entry in bpy.data.materials for node in entry.node_tree.nodes if node.type == "TEX_IMAGE"]


def test_replace_the_picture(case: Case) -> None:
    image = _new_image(512, 512)
    for node in _image_nodes():
        node.image = image
    after = case.result()
    assert after.texels.shape == (256, 256)
    assert (after.texels == 0x7C00).all()
    # UVs stay on the same part of the picture, which has more rows now.
    shift = (after.faces["v"] + 0.5) / 256 - (case.model.faces["v"] + 0.5) / 97
    assert np.abs(shift).max() <= 0.5 / 256 + 1e-6
    assert np.array_equal(after.faces["u"], case.model.faces["u"])
    assert after.vertices.tobytes() == case.model.vertices.tobytes()


def test_resize_the_picture(case: Case) -> None:
    image = bpy.data.images["beast"]
    image.scale(512, 194)
    after = case.result()
    assert after.texels.shape == (97, 256)
    assert np.array_equal(after.faces["v"], case.model.faces["v"])


def test_picture_cut_to_fewer_rows(case: Case) -> None:
    bpy.data.images["beast"].scale(256, 48)
    after = case.result()
    assert after.texels.shape == (48, 256)
    inside = (case.model.faces["v"] >= 0) & (case.model.faces["v"] < 97)
    assert (after.faces["v"][inside] < 48).all()


def test_remove_the_picture(case: Case) -> None:
    """A model whose picture was taken away has no texture; its UVs stay, for the next one."""
    bpy.data.images.remove(bpy.data.images["beast"])
    assert case.changes() == {"texels": [97, 0]}


def test_external_picture(case: Case) -> None:
    image = bpy.data.images["beast"]
    image.filepath_raw = str(case.folder / "picture.png")
    image.file_format = "PNG"
    image.save()
    image.unpack(method="REMOVE")
    image.filepath = str(case.folder / "picture.png")
    image.source = "FILE"
    image.reload()
    assert image.packed_file is None
    assert case.changes() == {}


def test_lost_picture(case: Case) -> None:
    image = bpy.data.images["beast"]
    image.unpack(method="REMOVE")
    image.filepath = str(case.folder / "lost.png")
    image.reload()
    target = case.folder / "out.3df"
    target.write_bytes(b"old")
    with pytest.raises(RuntimeError, match='the picture "beast" cannot be found') as caught:
        case.out()
    assert len(str(caught.value).strip().splitlines()) == 1
    assert target.read_bytes() == b"old"


def _material(case: Case, flag: int) -> bpy.types.Material:
    index = meshes.get_attribute(case.obj.data, "material_index", "INT", "FACE")
    number = int(np.flatnonzero(case.model.faces["flags"] == flag)[0])
    material: bpy.types.Material = case.obj.material_slots[int(index[number])].material
    return material


def _where(case: Case, *flags: int) -> list[int]:
    return [int(n) for n in np.flatnonzero(np.isin(case.model.faces["flags"], flags))]


def test_culling_off_is_double_side(case: Case) -> None:
    _material(case, 0).use_backface_culling = False
    assert case.changes() == {"faces.flags": _where(case, 0x00, 0x10)}
    assert (case.result().faces["flags"][_where(case, 0x10)] == 0x11).all()


def test_culling_on_is_single_side(case: Case) -> None:
    _material(case, 1).use_backface_culling = True
    assert (case.result().faces["flags"][_where(case, 1)] == 0).all()
    assert case.changes() == {"faces.flags": _where(case, 1)}


def test_alpha_linked_is_opacity_and_unlinked_is_not(case: Case) -> None:
    plain = _material(case, 0).node_tree
    texture = next(node for node in plain.nodes if node.type == "TEX_IMAGE")
    shader = next(node for node in plain.nodes if node.type == "BSDF_PRINCIPLED")
    plain.links.new(texture.outputs["Alpha"], shader.inputs["Alpha"])
    cut = _material(case, 4).node_tree
    cut.links.remove(next(node for node in cut.nodes if node.type == "BSDF_PRINCIPLED").inputs["Alpha"].links[0])
    flags = case.result().faces["flags"]
    assert (flags[_where(case, 0x00)] == 4).all()
    assert (flags[_where(case, 0x10)] == 0x14).all()
    assert (flags[_where(case, 4)] == 0).all()
    assert case.changes() == {"faces.flags": _where(case, 0x00, 0x10, 0x04)}
