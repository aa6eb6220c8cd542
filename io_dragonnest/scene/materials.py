# SPDX-License-Identifier: GPL-3.0-or-later
"""Shader nodes that resemble the game, kept in step with the properties of a material.

Only nodes that were made here are changed; what a user puts between them or beside them stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy

from ...io_common.scene import compat, shader
from ..formats import effects, names, textures
from . import images, kept
from .wires import Wires

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIFFUSE, EMISSIVE, NORMAL, MASK, SPECULAR = (
    "g_DiffuseTex",
    "g_EmissiveTex",
    "g_NormalTex",
    "g_MaskTex",
    "g_SpecularTex",
)
TEXTURES = (DIFFUSE, EMISSIVE, NORMAL, MASK, SPECULAR, "g_EnvTex", "g_ReflectTex", "g_TatooTex")
DATA = {NORMAL, MASK}
_GREY = cast("tuple[float, ...]", effects.PARAMETERS["g_MaterialDiffuse"][1])[:3]
_ALPHA_REF = 0.5  # of a material that does not say

texture_name = images.file_name


def settings(material: bpy.types.Material) -> Any:
    """The properties of a material; registered by this extension, so unknown to the stubs."""
    return cast("Any", material).dragonnest


def find(material: bpy.types.Material, name: str, kind: str) -> Any:
    """The first property of that name, in any case, if it is of that type; else None."""
    wanted = names.key(name)
    for item in settings(material).parameters:
        if names.key(item.title) == wanted:
            return item if item.kind == kind else None
    return None


def number(material: bpy.types.Material, name: str) -> float | None:
    """The number a property holds, whole or not; None without it."""
    item = find(material, name, "FLOAT")
    if item is not None:
        return float(item.number)
    item = find(material, name, "INTEGER")
    return float(item.integer) if item is not None else None


def linear(value: float) -> float:
    """A channel of a colour as the game has it, in Blender's linear space."""
    value = max(value, 0.0)
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def colour(material: bpy.types.Material, name: str) -> tuple[float, float, float, float] | None:
    """A colour property in linear space, alpha as it is; None without it."""
    item = find(material, name, "VECTOR")
    if item is None:
        return None
    red, green, blue, alpha = item.vector
    return (linear(red), linear(green), linear(blue), alpha)


def set_up(material: bpy.types.Material, picture: Callable[..., bpy.types.Image]) -> None:
    """The nodes of a new material, and from here on its properties live. `picture(name, data=)` gives an image."""
    compat.node_tree(material)
    settings(material).is_shown = True
    refresh(material, picture)


def refresh(material: bpy.types.Material, picture: Callable[..., bpy.types.Image] | None = None) -> None:
    """Bring the nodes in step with the properties; images that are in the nodes stay."""
    target = shader.principled(material)
    if target is None or material.node_tree is None:
        return
    wires = Wires(material.node_tree, target)
    _images(material, wires, picture)
    _base(material, wires)
    _alpha(material, wires)
    _glow(material, wires)
    _surface(material, wires)


def _images(material: bpy.types.Material, wires: Wires, picture: Callable[..., bpy.types.Image] | None) -> None:
    """An image node for each texture that is named, linked or not."""
    for role in TEXTURES:
        item = find(material, role, "TEXTURE")
        if item is None or not item.texture:
            wires.drop(role)
            continue
        node = wires.get(role)
        if node is not None and node.image is not None:
            continue
        node = wires.node(role, "ShaderNodeTexImage")
        node.label = role
        if picture is not None:
            node.image = picture(item.texture, data=role in DATA)
        else:
            node.image = images.find(item.texture, _near(material))
        if role == DIFFUSE:
            wires.tree.nodes.active = node  # what Solid mode shows, and what Texture Paint paints on


def _near(material: bpy.types.Material) -> list[bpy.types.Image]:
    return [image for _role, image in shown_images(material)]


def _base(material: bpy.types.Material, wires: Wires) -> None:
    """Base colour: the texture, tinted where the diffuse colour is not the grey that the game's tools always write."""
    tint = find(material, "g_MaterialDiffuse", "VECTOR")
    values = tuple(tint.vector)[:3] if tint is not None else _GREY
    image = wires.get(DIFFUSE)
    target = shader.socket(wires.shader, "Base Color")
    if image is None:
        wires.drop("tint")
        target.default_value = (*(linear(value) for value in (values if tint is not None else (0.8, 0.8, 0.8))), 1.0)
        return
    # In the game's numbers: 0.682 is what "as painted" looks like under its light.
    ratio = [linear(min(value / grey, 4.0)) for value, grey in zip(values, _GREY, strict=True)]
    out = image.outputs["Color"]
    if wires.get("tint") is not None or any(abs(value - 1.0) > 1e-3 for value in ratio):
        out = wires.multiply("tint", out, (*ratio, 1.0))
    skin = colour(material, "g_SkinColor")
    channels = _mask(material, wires)
    if channels is not None and skin is not None:
        out = wires.multiply("skin", out, (*skin[:3], 1.0), factor=channels.outputs[2])
    else:
        wires.drop("skin")
    wires.link(out, target)


def _mask(material: bpy.types.Material, wires: Wires) -> Any:
    """The channels of the mask texture while it is to be shown; None else."""
    image = wires.get(MASK)
    if image is None or not settings(material).use_mask:
        wires.drop("mask")
        return None
    node = wires.node("mask", "ShaderNodeSeparateColor")
    wires.link(image.outputs["Color"], node.inputs[0])
    return node


def _alpha(material: bpy.types.Material, wires: Wires) -> None:
    """Blended by alpha where the whole is not opaque or the flag is set, else a hard edge at g_AlphaRef."""
    group = settings(material)
    blended = group.use_blend or group.alpha < 1.0
    compat.set_blended(material, blended=blended)
    target = shader.socket(wires.shader, "Alpha")
    image = wires.get(DIFFUSE)
    clear = image is not None and image.image is not None and images.has_alpha(image.image)
    opacity = min(max(group.alpha, 0.0), 1.0) if blended else 1.0
    if not clear:
        wires.drop("alpha")
        target.default_value = opacity
        return
    if blended:
        node = wires.math("alpha", "MULTIPLY", opacity)
    else:
        edge = number(material, "g_AlphaRef")
        edge = _ALPHA_REF if edge is None else edge
        node = wires.math("alpha", "GREATER_THAN", edge / 255.0 if edge > 1.0 else edge)
    wires.link(image.outputs["Alpha"], node.inputs[0])
    wires.link(node.outputs[0], target)


def _glow(material: bpy.types.Material, wires: Wires) -> None:
    """Emission: colour, texture, whose alpha says where, and power; of a mask the red channel says where."""
    image = wires.get(EMISSIVE)
    tint = colour(material, "g_EmissiveColor")
    power = number(material, "g_EmissivePower")
    channels = _mask(material, wires)
    target = shader.socket(wires.shader, "Emission Color")
    strength = shader.socket(wires.shader, "Emission Strength")
    glows = image is not None or tint is not None
    value = max(power if power is not None else 1.0, 0.0) if glows else 0.0
    tint = tint or (1.0, 1.0, 1.0, 1.0)
    if image is None:
        wires.drop("glow")
        target.default_value = (*tint[:3], 1.0)
    else:
        out = image.outputs["Color"]
        if wires.get("glow") is not None or any(abs(channel - 1.0) > 1e-3 for channel in tint[:3]):
            out = wires.multiply("glow", out, (*tint[:3], 1.0))
        wires.link(out, target)
    where = None
    if image is not None and image.image is not None and images.has_alpha(image.image):
        where = image.outputs["Alpha"]
    elif glows and channels is not None:
        where = channels.outputs[0]
    if where is None:
        wires.drop("power")
        strength.default_value = value
        return
    node = wires.math("power", "MULTIPLY", value)
    wires.link(where, node.inputs[0])
    wires.link(node.outputs[0], strength)


def _surface(material: bpy.types.Material, wires: Wires) -> None:
    """Normals, and a highlight only where the material asks for one: the game lights most things flatly."""
    image = wires.get(NORMAL)
    if image is None:
        wires.drop("normal")
    else:
        node = wires.node("normal", "ShaderNodeNormalMap")
        wires.link(image.outputs["Color"], node.inputs["Color"])
        wires.link(node.outputs[0], shader.socket(wires.shader, "Normal"))
    highlight = colour(material, "g_MaterialSpecular")
    level = max(highlight[:3]) if highlight is not None else (1.0 if wires.get(SPECULAR) is not None else 0.0)
    power = number(material, "g_SpecPower")
    shader.socket(wires.shader, "Specular IOR Level").default_value = min(level, 1.0) * 0.5
    sharp = (2.0 / (max(power, 0.0) + 2.0)) ** 0.25 if power is not None else 0.5
    shader.socket(wires.shader, "Roughness").default_value = sharp if level > 0 else 1.0


def texture_changed(material: bpy.types.Material, item: Any) -> None:
    """A file name was typed: show that picture."""
    role = next((entry for entry in TEXTURES if names.key(entry) == names.key(item.title)), None)
    if role is not None and item.texture and item.kind == "TEXTURE" and find(material, role, "TEXTURE") == item:
        for name, image in shown_images(material):
            node = Wires(cast("Any", material.node_tree), None).get(name)
            if name == role and node is not None and not images.means(image, item.texture):
                node.image = images.find(item.texture, _near(material))
    refresh(material)


def shown_images(material: bpy.types.Material) -> Iterator[tuple[str, bpy.types.Image]]:
    """Property name and image of every image node that stands for a texture of the material."""
    for node in material.node_tree.nodes if material.node_tree is not None else ():
        role = kept.get(node, kept.ROLE, "")
        if role in TEXTURES and isinstance(node, bpy.types.ShaderNodeTexImage) and node.image is not None:
            yield role, node.image


def linked_images(material: bpy.types.Material) -> dict[str, bpy.types.Image]:
    """Property name -> the picture it stands for now: the one that leads to the socket, else that of its own node."""
    found = dict(shown_images(material))
    target = shader.principled(material)
    if target is None:
        return found
    for role, name in ((DIFFUSE, "Base Color"), (EMISSIVE, "Emission Color"), (NORMAL, "Normal")):
        image = shader.upstream_image(target.inputs[name])
        if image is not None:
            found[role] = image
    return found


def edited_textures(material: bpy.types.Material) -> dict[str, str]:
    """Key of a texture property -> file name, where the nodes show another picture than the property names."""
    changed = {}
    for role, image in linked_images(material).items():
        item = find(material, role, "TEXTURE")
        if item is not None and not images.means(image, item.texture):
            changed[names.key(role)] = images.file_name(image)
    return changed


def put_image(material: bpy.types.Material, item: Any, image: bpy.types.Image) -> None:
    """Let a texture property show `image`, and name its file."""
    item.texture = images.file_name(image)
    role = next((entry for entry in TEXTURES if names.key(entry) == names.key(item.title)), None)
    if role is None or find(material, role, "TEXTURE") != item or material.node_tree is None:
        return
    node = Wires(material.node_tree, None).get(role)
    if node is not None:
        node.image = image
    refresh(material)


def find_missing(folders: list[str]) -> tuple[int, int]:
    """Put pictures that lie in `folders` in the place of their checkers; how many, and how many are still missing."""
    index = textures.Index()
    for folder in folders:
        index.add(folder, depth=textures.MOST_DEPTH)
    found = left = 0
    for image in [entry for entry in bpy.data.images if images.is_placeholder(entry)]:
        name = images.file_name(image)
        path = index.find(name)
        real = images.from_disk(name, path) if path is not None else None
        if real is None:
            left += 1
            continue
        found += 1
        image.user_remap(real)
        bpy.data.images.remove(image)
    if found:
        for material in bpy.data.materials:
            if settings(material).is_shown:
                refresh(material)
    return found, left
