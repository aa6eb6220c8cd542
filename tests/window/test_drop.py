# SPDX-License-Identifier: GPL-3.0-or-later
"""A model file dropped on the 3D viewport is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import pytest

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


@pytest.mark.real_events
def test_file_dragged_from_another_program_is_imported(screen: Screen, example: Path) -> None:
    """Drag and drop a file with the protocol of the X server, as a file manager does."""
    pytest.importorskip("Xlib", reason="no python-xlib: a real drop is tested on Debian's Xvfb only")
    bpy.app.use_event_simulate = False  # Blender listens to the X server from now on; there is no way back
    area = screen.area()
    x, y = area.x + area.width // 2, screen.window.height - (area.y + area.height // 2)
    command = [sys.executable, str(Path(__file__).with_name("xdnd.py")), str(example), str(x), str(y)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as source:
        screen.wait_until(lambda: source.poll() is not None, "the end of the drag")
        assert source.stderr is not None
        assert source.returncode == 0, source.stderr.read()
    screen.wait_until(meshes, f"{example.name} in the scene", ticks=100)
