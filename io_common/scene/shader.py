# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading shader nodes: the Principled BSDF of a material, and what leads to its sockets."""

from __future__ import annotations

from typing import Any

import bpy


def principled(material: bpy.types.Material) -> bpy.types.Node | None:
    """The Principled BSDF of a material, found by type since its name is translated."""
    if material.node_tree is None:
        return None
    return next((node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED"), None)


def socket(node: bpy.types.Node, key: str | int) -> Any:
    """An input of `node`. Which members a socket has depends on what flows through it."""
    return node.inputs[key]


def upstream_image(target: bpy.types.NodeSocket) -> bpy.types.Image | None:
    """The nearest picture that leads to an input, through any nodes; None without one."""
    seen = set()
    waiting = [link.from_node for link in target.links]
    while waiting:
        node = waiting.pop(0)
        if node.name in seen:
            continue
        seen.add(node.name)
        if isinstance(node, bpy.types.ShaderNodeTexImage) and node.image is not None:
            return node.image
        waiting.extend(link.from_node for entry in node.inputs for link in entry.links)
    return None
