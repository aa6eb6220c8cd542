# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be changed: a .blend saves nothing of the lists and keys of meshes that belong to another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_common.formats.errors import UserError

if TYPE_CHECKING:
    import bpy


def refusal(obj: bpy.types.Object) -> str:
    """Why lists, keys and frames of `obj` cannot be changed, a sentence without its point; empty where they can."""
    for block in (obj.data, getattr(obj.data, "shape_keys", None), obj):
        if block is not None and block.library is not None:
            return f'"{obj.name}" belongs to another .blend file and cannot be changed here'
    if obj.data is not None and obj.data.override_library is not None:
        return f'the mesh of "{obj.name}" overrides one of another .blend file, so changes of it would not be saved'
    return ""


def require(obj: bpy.types.Object) -> None:
    """Raise `UserError` where `obj` cannot be changed."""
    why = refusal(obj)
    if why:
        raise UserError(f"{why}; make it local first (Object > Relations > Make Local)")
