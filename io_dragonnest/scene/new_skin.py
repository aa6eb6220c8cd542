# SPDX-License-Identifier: GPL-3.0-or-later
"""A material made in Blender as a record of an SKN: what its Principled BSDF says, as far as the game can show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import ExportError
from ...io_common.scene import shader
from ..formats import effects, names
from ..formats.skn import Kind, Material, Property
from . import images, kept, materials, records

if TYPE_CHECKING:
    import bpy

EFFECT = "Diffuse.fx"
_OPAQUE = 1.0 - 1e-6
NONE = "Material"


def gamma(value: float) -> float:
    """A linear channel as the game has it; the inverse of `materials.linear`."""
    value = max(value, 0.0)
    return value * 12.92 if value <= 0.0031308 else float(1.055 * value ** (1 / 2.4) - 0.055)


def record(material: bpy.types.Material | None) -> Material:
    """The record; of no material, plain grey. Raises `ExportError` for names a file cannot hold."""
    title = material.name if material is not None else NONE
    found = Material(names.field(title, "material"), names.field(EFFECT, "effect"))
    found.properties = [effects.parameter("g_MaterialAmbient"), effects.parameter("g_MaterialDiffuse")]
    target = shader.principled(material) if material is not None else None
    if material is None:
        return found
    if target is None:
        red, green, blue, alpha = material.diffuse_color
        found.properties[1] = _colour("g_MaterialDiffuse", (red, green, blue))
        found.alpha = np.float32(alpha)
        return found
    pictures = materials.linked_images(material)
    if materials.DIFFUSE in pictures:
        found.properties.append(_texture(materials.DIFFUSE, pictures[materials.DIFFUSE]))
    else:
        found.properties[1] = _colour("g_MaterialDiffuse", shader.socket(target, "Base Color").default_value)
    alpha = shader.socket(target, "Alpha")
    if alpha.is_linked:
        found.blend = int(getattr(material, "surface_render_method", "") == "BLENDED")
        if not found.blend:
            found.properties.append(Property.of("g_AlphaRef", Kind.FLOAT, _edge(alpha)))
    elif alpha.default_value < _OPAQUE:
        found.alpha = np.float32(alpha.default_value)
        found.blend = 1
    _add_glow(found, target, pictures)
    if materials.NORMAL in pictures:
        found.properties.append(_texture(materials.NORMAL, pictures[materials.NORMAL]))
    return found


def _edge(alpha: Any) -> float:
    """Where the hard edge of alpha is: what a node that compares says, else a half."""
    node = alpha.links[0].from_node
    if getattr(node, "operation", "") == "GREATER_THAN" and not node.inputs[1].is_linked:
        return float(shader.socket(node, 1).default_value)
    return 0.5


def _add_glow(found: Material, target: bpy.types.Node, pictures: dict[str, bpy.types.Image]) -> None:
    strength = shader.socket(target, "Emission Strength")
    tint = shader.socket(target, "Emission Color")
    value = 1.0 if strength.is_linked else float(strength.default_value)
    if materials.EMISSIVE in pictures:
        found.properties.append(_texture(materials.EMISSIVE, pictures[materials.EMISSIVE]))
    elif value <= 0 or max(tint.default_value[:3]) <= 0:
        return
    else:
        found.properties.append(_colour("g_EmissiveColor", tint.default_value))
    found.properties.append(Property.of("g_EmissivePower", Kind.FLOAT, value))


def _colour(name: str, value: tuple[float, ...]) -> Property:
    return Property.of(name, Kind.VECTOR, (*(gamma(channel) for channel in tuple(value)[:3]), 1.0))


def _texture(name: str, image: bpy.types.Image) -> Property:
    return Property.of(name, Kind.TEXTURE, images.file_name(image))


def adopt(material: bpy.types.Material) -> None:
    """Make a material one whose properties are edited here, starting from what its nodes say.

    Raises `ExportError` for names a file cannot hold.
    """
    made = record(material)
    group = materials.settings(material)
    if group.is_used:
        raise ExportError(f'"{material.name}" has Dragon Nest properties already')
    group.parameters.clear()
    records.fill(group, made)
    for entry in group.parameters:
        entry.source = 0
    # The nodes are the user's own; from here on they follow, as far as they can be told apart.
    for role, image in materials.linked_images(material).items():
        node = next((n for n in material.node_tree.nodes if getattr(n, "image", None) == image), None)
        if node is not None and not kept.has(node, kept.ROLE):
            node[kept.ROLE] = role
    group.is_shown = True
