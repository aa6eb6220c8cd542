# SPDX-License-Identifier: GPL-3.0-or-later
"""Shader nodes that know what they are for, so that they are found again and nobody else's are touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import kept

if TYPE_CHECKING:
    import bpy

# Where a node goes beside the shader: columns to the left, rows down.
_PLACES = {
    "g_DiffuseTex": (-3.6, 0.0),
    "g_MaskTex": (-3.6, -1.0),
    "g_EmissiveTex": (-3.6, -2.0),
    "g_NormalTex": (-3.6, -3.0),
    "g_SpecularTex": (-5.0, 0.0),
    "g_EnvTex": (-5.0, -1.0),
    "g_ReflectTex": (-5.0, -2.0),
    "g_TatooTex": (-5.0, -3.0),
    "tint": (-2.2, 0.0),
    "mask": (-2.2, -0.9),
    "skin": (-1.1, 0.0),
    "alpha": (-1.1, -0.9),
    "glow": (-1.1, -1.7),
    "power": (-1.1, -2.4),
    "normal": (-1.1, -3.0),
}
_COLUMN, _ROW = 190, 290


@dataclass
class Wires:
    """The nodes of `tree` that were made for a property, around `shader`."""

    tree: bpy.types.NodeTree
    shader: Any

    def get(self, role: str) -> Any:
        """The node for `role`, None without one."""
        return next((node for node in self.tree.nodes if kept.get(node, kept.ROLE, "") == role), None)

    def node(self, role: str, kind: str) -> Any:
        """The node for `role`, made if need be."""
        found = self.get(role)
        if found is None:
            found = self.tree.nodes.new(kind)
            found[kept.ROLE] = role
            column, row = _PLACES.get(role, (-6.0, 0.0))
            found.location = (self.shader.location[0] + column * _COLUMN, self.shader.location[1] + row * _ROW)
        return found

    def drop(self, role: str) -> None:
        """Remove the node for `role`."""
        found = self.get(role)
        if found is not None:
            self.tree.nodes.remove(found)

    def link(self, out: Any, target: Any) -> None:
        """Link, unless something that was not made here leads there already."""
        source = target.links[0].from_node if target.is_linked else None
        if source is None or (kept.has(source, kept.ROLE) and target.links[0].from_socket != out):
            self.tree.links.new(out, target)

    def math(self, role: str, operation: str, value: float) -> Any:
        """A math node whose second input is `value`."""
        found = self.node(role, "ShaderNodeMath")
        found.operation = operation
        found.inputs[1].default_value = value
        return found

    def multiply(self, role: str, out: Any, color: tuple[float, ...], factor: Any = None) -> Any:
        """The output of a node that multiplies the colour `out` by `color`, as far as `factor` says."""
        found = self.node(role, "ShaderNodeMix")
        found.data_type, found.blend_type = "RGBA", "MULTIPLY"
        # Its sockets of all data types share names; only the index tells those of colours: 6 and 7, and output 2.
        found.inputs[0].default_value = 1.0
        found.inputs[7].default_value = color
        self.link(out, found.inputs[6])
        if factor is not None:
            self.link(factor, found.inputs[0])
        return found.outputs[2]
