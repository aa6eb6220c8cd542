# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials that show a face as the game does: one per combination of flags that changes the look, all on one image."""

from __future__ import annotations

from typing import Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import compat
from ...io_common.scene.armature import fit_name
from ...io_common.scene.shader import principled, socket, upstream_image
from ..formats.flags import FaceFlag
from . import kept

LOOK_MASK = (
    FaceFlag.DOUBLE_SIDE
    | FaceFlag.DARK_BACK
    | FaceFlag.OPACITY
    | FaceFlag.TRANSPARENT
    | FaceFlag.PHONG
    | FaceFlag.ENV_MAP
)
GLASS_ALPHA = 0x70 / 0xFF  # what the Direct3D renderer gives transparent faces
_WORDS = (
    (FaceFlag.DOUBLE_SIDE, "double"),
    (FaceFlag.DARK_BACK, "dark back"),
    (FaceFlag.OPACITY, "cut-out"),
    (FaceFlag.TRANSPARENT, "glass"),
    (FaceFlag.PHONG, "phong"),
    (FaceFlag.ENV_MAP, "env map"),
)


def assign(mesh: bpy.types.Mesh, flags: npt.NDArray[np.int32], name: str, image: bpy.types.Image | None) -> None:
    """Give each face the material of its flags, making those that are missing. `flags` is (F,)."""
    shown = flags & int(LOOK_MASK)
    slots = np.zeros(int(LOOK_MASK) + 1, np.int32)
    # Counting is much faster than the sorting of np.unique.
    for look in np.flatnonzero(np.bincount(shown)).tolist() or [0]:
        slots[look] = _slot(mesh, look, name, image)
    indices = slots[shown]
    attribute = mesh.attributes.get("material_index") or mesh.attributes.new("material_index", "INT", "FACE")
    if len(indices):
        cast("bpy.types.IntAttribute", attribute).data.foreach_set("value", indices)


def _slot(mesh: bpy.types.Mesh, look: int, name: str, image: bpy.types.Image | None) -> int:
    for number, material in enumerate(mesh.materials):
        if material is not None and kept.get(material, kept.LOOK, -1) == look:
            return number
    mesh.materials.append(make(name, look, image))
    return len(mesh.materials) - 1


def make(name: str, look: int, image: bpy.types.Image | None) -> bpy.types.Material:
    """A new material for faces with the flags `look` on the texture `image`."""
    words = [word for flag, word in _WORDS if look & flag]
    material = bpy.data.materials.new(fit_name(" ".join((name, *words))))
    material[kept.LOOK] = look
    material.use_backface_culling = culled(look)
    glass = bool(look & FaceFlag.TRANSPARENT)
    keyed = bool(look & (FaceFlag.OPACITY | FaceFlag.TRANSPARENT))
    compat.set_blended(material, blended=glass)
    tree = compat.node_tree(material)
    shader = principled(material)
    if shader is None:
        return material
    socket(shader, "Roughness").default_value = 0.35 if look & FaceFlag.PHONG else 1.0
    socket(shader, "Specular IOR Level").default_value = 0.5 if look & FaceFlag.PHONG else 0.0
    socket(shader, "Metallic").default_value = 0.5 if look & FaceFlag.ENV_MAP else 0.0
    if image is None:
        socket(shader, "Alpha").default_value = GLASS_ALPHA if glass else 1.0
        return material
    texture: Any = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    tree.nodes.active = texture  # what Solid mode shows, and what Texture Paint paints on
    texture.location = (shader.location[0] - 560, shader.location[1])
    tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    if keyed:
        _link_alpha(tree, texture, shader, GLASS_ALPHA if glass else 1.0)
    return material


def _link_alpha(tree: bpy.types.NodeTree, texture: bpy.types.Node, shader: bpy.types.Node, strength: float) -> None:
    """Alpha of the picture as a hard edge, which glTF export too takes for a cut-out; times `strength` for glass."""
    edge: Any = tree.nodes.new("ShaderNodeMath")
    edge.operation = "GREATER_THAN"
    edge.inputs[1].default_value = 0.5
    edge.location = (shader.location[0] - 260, shader.location[1] - 240)
    tree.links.new(texture.outputs["Alpha"], edge.inputs[0])
    out = edge.outputs[0]
    if strength < 1.0:
        times: Any = tree.nodes.new("ShaderNodeMath")
        times.operation = "MULTIPLY"
        times.inputs[1].default_value = strength
        times.location = (shader.location[0] - 90, shader.location[1] - 240)
        tree.links.new(out, times.inputs[0])
        out = times.outputs[0]
    tree.links.new(out, shader.inputs["Alpha"])


def image_of(material: bpy.types.Material | None) -> bpy.types.Image | None:
    """The picture a material shows: the one that leads to the base colour, else the active, else the first one."""
    if material is None or material.node_tree is None:
        return None
    shader = principled(material)
    if shader is not None:
        found = upstream_image(shader.inputs["Base Color"])
        if found is not None:
            return found
    nodes = material.node_tree.nodes
    textures = [node for node in nodes if isinstance(node, bpy.types.ShaderNodeTexImage) and node.image is not None]
    if not textures:
        return None
    return next((node for node in textures if node == nodes.active), textures[0]).image


def base_color(material: bpy.types.Material | None) -> tuple[float, float, float, float]:
    """The plain colour of a material without a picture, scene-linear RGBA."""
    if material is None:
        return (0.8, 0.8, 0.8, 1.0)
    shader = principled(material)
    if shader is None:
        red, green, blue, alpha = material.diffuse_color
        return (red, green, blue, alpha)
    red, green, blue, _ = socket(shader, "Base Color").default_value
    return (red, green, blue, 1.0)


def flags_of(material: bpy.types.Material | None) -> int:
    """Face flags that a material stands for, as it is set up now.

    Backface culling off: double side. Alpha from a picture: opacity. A constant alpha below one: transparent. A
    material made here starts from the flags it was made for and changes only in what was changed on it.
    """
    if material is None:
        return 0
    look = kept.get(material, kept.LOOK, -1)
    shader = principled(material)
    alpha = socket(shader, "Alpha") if shader is not None else None
    linked = alpha is not None and alpha.is_linked
    if look < 0:
        flags = 0 if material.use_backface_culling else int(FaceFlag.DOUBLE_SIDE)
        if linked:
            return flags | int(FaceFlag.OPACITY)
        return flags | (int(FaceFlag.TRANSPARENT) if alpha is not None and alpha.default_value < 1.0 else 0)
    if material.use_backface_culling and not culled(look):
        look &= ~int(FaceFlag.DOUBLE_SIDE)
    elif not material.use_backface_culling and culled(look):
        look = (look | int(FaceFlag.DOUBLE_SIDE)) & ~int(FaceFlag.DARK_BACK)
    return _with_alpha(look, shader) if shader is not None else look


def _with_alpha(look: int, shader: bpy.types.Node) -> int:
    """The flags of a material that was made for `look`, after what may have been done to its alpha."""
    alpha = socket(shader, "Alpha")
    holes, glass = int(FaceFlag.OPACITY), int(FaceFlag.TRANSPARENT)
    if alpha.is_linked:
        return look if look & (holes | glass) else look | holes
    if alpha.default_value < 1.0:
        return look | glass
    # Without a picture there is no alpha that could have been unlinked.
    return look & ~(holes | glass) if shader.inputs["Base Color"].is_linked else look & ~glass


def culled(look: int) -> bool:
    """Whether the games hide the back of a face with these flags."""
    return not look & FaceFlag.DOUBLE_SIDE or bool(look & FaceFlag.DARK_BACK)
