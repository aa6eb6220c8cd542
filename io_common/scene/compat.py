# SPDX-License-Identifier: GPL-3.0-or-later
"""The one file that asks what this Blender can do; by feature where possible, by version where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy

if TYPE_CHECKING:
    from pathlib import Path


def node_tree(material: bpy.types.Material) -> bpy.types.NodeTree:
    """The node tree of `material`; before 5.0 it has to be switched on, from 5.0 switching it on warns."""
    if material.node_tree is None:
        material.use_nodes = True
    return cast("bpy.types.NodeTree", material.node_tree)


def set_blended(material: bpy.types.Material, *, blended: bool) -> None:
    """Whether the material is sorted and blended like glass, or dithered, which shows a hard edge of alpha as it is."""
    if hasattr(material, "surface_render_method"):
        material.surface_render_method = "BLENDED" if blended else "DITHERED"
    if hasattr(material, "use_transparency_overlap"):
        material.use_transparency_overlap = not blended


def name_limit(kind: type = bpy.types.ID) -> int:
    """Bytes that the name of such a thing may have: data-blocks 63 up to 4.5 and 255 from 5.0, bones 63 in all."""
    return int(cast("Any", kind).bl_rna.properties["name"].length_max) - 1


def write_png(image: bpy.types.Image, path: Path) -> None:
    """Write the pixels of `image` to `path`; what the image says of its own file may change."""
    image.file_format = "PNG"
    rna: Any = bpy.types.Image.bl_rna
    if "save_copy" in rna.functions["save"].parameters:  # from 4.3; without it the image may be packed anew
        image.save(filepath=str(path), save_copy=True)
    else:
        image.save(filepath=str(path))
