# SPDX-License-Identifier: GPL-3.0-or-later
"""A failed import leaves no data-block behind."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from collections.abc import Iterator


def _blocks() -> dict[int, bpy.types.ID]:
    found: dict[int, bpy.types.ID] = {}
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            for block in getattr(bpy.data, prop.identifier):
                if isinstance(block, bpy.types.ID):
                    found[block.session_uid] = block
    return found


@contextlib.contextmanager
def rollback(context: bpy.types.Context) -> Iterator[None]:
    """Object Mode inside; when anything is raised, the scene is again as it was.

    Every data-block made is taken back, and selection, active object and mode are restored.
    """
    before = set(_blocks())
    layer = context.view_layer
    active = layer.objects.active
    mode = active.mode if active is not None else "OBJECT"
    selected = list(context.selected_objects)
    try:
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        yield
    except BaseException:
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        made = [block for uid, block in _blocks().items() if uid not in before]
        bpy.data.batch_remove(made)
        layer.update()
        for candidate in layer.objects:
            candidate.select_set(candidate in selected)
        layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)
        raise
