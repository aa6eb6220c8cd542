# SPDX-License-Identifier: GPL-3.0-or-later
"""A model file dropped on the 3D viewport is imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from screen import Screen

MODULE = "bl_ext.user_default.io_carnivores_dragonnest"


def handlers(suffix: str) -> list[type[bpy.types.FileHandler]]:
    """Return our file handlers for that file name extension."""
    ours = [handler for handler in bpy.types.FileHandler.__subclasses__() if handler.__module__.startswith(MODULE)]
    importers = [handler for handler in ours if getattr(handler, "bl_import_operator", "")]
    return [handler for handler in importers if suffix.lower() in handler.bl_file_extensions.lower().split(";")]


def meshes() -> list[bpy.types.Object]:
    return [thing for thing in bpy.data.objects if thing.type == "MESH"]


def test_viewport_accepts_the_file(screen: Screen, example: Path) -> None:
    (handler,) = handlers(example.suffix)
    with screen.override():
        assert handler.poll_drop(bpy.context)
    with screen.override(screen.area("PROPERTIES")):
        assert not handler.poll_drop(bpy.context)


def test_drop_imports_the_file(screen: Screen, model: Path) -> None:
    """Do what Blender's own drop target does once it has the paths."""
    with screen.override():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(model.parent), files=[{"name": model.name}])
    screen.wait(5)
    screen.photograph("dropped")
    if not meshes():
        screen.key("RET")  # a pop-up with the options, which Enter confirms
    screen.wait_until(meshes, f"{model.name} in the scene", ticks=50)
