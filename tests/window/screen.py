# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand, an eye and a clock for the window tests: mouse and keys, screenshots, and waiting for Blender.

Blender runs its event loop once per tick of the clock: it handles the queued events, then redraws what asks for it. So
"wait two ticks" is exact on a slow machine, too; no test depends on how fast anything is.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import bpy
import greenlet
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TICK = 0.02  # seconds between two ticks; Blender may take longer
FILE_MENU = 42  # pixels from the left edge of the window to the middle of its File menu


class Screen:
    """Blender's main window, what lies on it, and the means to use it."""

    def __init__(self, folder: Path, test: str) -> None:
        self.folder = folder
        self.test = re.sub(r"[^\w.-]+", "_", test).strip("_")
        self.pictures: list[Path] = []
        self._pointer: dict[int, tuple[int, int]] = {}

    # Clock

    def wait(self, ticks: int = 3) -> None:
        """Let Blender's event loop turn that many times."""
        for _ in range(ticks):
            greenlet.getcurrent().parent.switch(TICK)

    def wait_until(self, condition: Callable[[], object], what: str, ticks: int = 500) -> None:
        """Let the event loop turn until the condition holds; fail with `what` if it never does."""
        for _ in range(ticks):
            if condition():
                return
            self.wait(1)
        raise AssertionError(f"waited in vain for: {what}")

    # What is there

    @property
    def window(self) -> bpy.types.Window:
        """The main window."""
        return bpy.context.window_manager.windows[0]

    @property
    def dialog(self) -> bpy.types.Window | None:
        """The newest window beside the main one: the file dialog."""
        windows = bpy.context.window_manager.windows
        return windows[-1] if len(windows) > 1 else None

    def area(self, kind: str = "VIEW_3D", window: bpy.types.Window | None = None) -> bpy.types.Area:
        """Return the area of that type in the window (the main one by default)."""
        areas = [area for area in (window or self.window).screen.areas if area.type == kind]
        assert areas, f"no {kind} on the screen"
        return areas[0]

    def region(self, kind: str, area: bpy.types.Area) -> bpy.types.Region:
        """Return the region of that type in the area."""
        return next(region for region in area.regions if region.type == kind)

    def override(self, area: bpy.types.Area | None = None, region: str = "WINDOW") -> Any:
        """Return the context in which operators act on that area (the 3D viewport by default). Never wait inside."""
        area = area or self.area()
        owner = next(window for window in bpy.context.window_manager.windows if area in window.screen.areas[:])
        return bpy.context.temp_override(window=owner, area=area, region=self.region(region, area))

    # Hand

    def move(self, x: int, y: int, window: bpy.types.Window | None = None) -> None:
        """Move the pointer to a pixel of the window, counted from its lower left corner."""
        target = window or self.window
        target.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x - 1, y=y)
        self.wait(1)
        target.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        self._pointer[target.as_pointer()] = (x, y)
        self.wait(2)

    def click(self, x: int, y: int, window: bpy.types.Window | None = None, *, ctrl: bool = False) -> None:
        """Click with the left button."""
        self.move(x, y, window)
        target = window or self.window
        target.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y, ctrl=ctrl)
        self.wait(1)
        target.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x, y=y, ctrl=ctrl)
        self.wait(3)

    def key(self, kind: str, character: str | None = None, window: bpy.types.Window | None = None) -> None:
        """Press and release a key, where the pointer is."""
        target = window or self.window
        x, y = self._pointer.get(target.as_pointer(), (target.width // 2, target.height // 2))
        target.event_simulate(type=kind, value="PRESS", unicode=character, x=x, y=y)
        self.wait(1)
        target.event_simulate(type=kind, value="RELEASE", x=x, y=y)
        self.wait(3)

    def wait_for_dialog(self) -> bpy.types.Window:
        """Wait for the file dialog, put it fully on the screen, return its window."""
        self.wait_until(lambda: self.dialog is not None, "a file dialog")
        self.wait(3)
        if os.environ.get("WINDOW_SCREENSHOT") == "import":
            # Without a window manager a dialog hangs around the pointer, half of it outside the screen.
            find = ["xdotool", "search", "--onlyvisible", "--name", "Blender File View"]
            for number in subprocess.run(find, capture_output=True, text=True, check=True).stdout.split():
                subprocess.run(["xdotool", "windowmove", number, "200", "120"], check=True)
        self.redraw()
        dialog = self.dialog
        assert dialog is not None
        return dialog

    def open_in_file_menu(self, row: int) -> None:
        """Open File in the top bar by a click, then the submenu so many pixels below the top of the window."""
        self.click(FILE_MENU, self.window.height - 14)
        self.move(FILE_MENU + 60, self.window.height - row)
        self.key("RIGHT_ARROW")

    # State

    def new_file(self) -> None:
        """Start from the factory's scene without its objects."""
        with bpy.context.temp_override(window=self.window):
            bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True, load_ui=True)
        self.wait(3)
        for thing in list(bpy.data.objects):
            bpy.data.objects.remove(thing)
        self.wait(3)

    def close_dialogs(self) -> None:
        """Close whatever is open over the main window."""
        while self.dialog is not None:
            with bpy.context.temp_override(window=self.dialog):
                bpy.ops.wm.window_close()
            self.wait(2)

    # Eye

    def redraw(self) -> None:
        """Have every area of every window drawn anew."""
        for window in bpy.context.window_manager.windows:
            for area in window.screen.areas:
                area.tag_redraw()
        self.wait(3)

    def photograph(self, name: str = "", *, redraw: bool = True) -> Path:
        """Keep a picture of what the screen shows now, named after the test."""
        if redraw:
            self.redraw()
        path = self.folder / f"{self.test}{'-' if name else ''}{name}.png"
        if os.environ.get("WINDOW_SCREENSHOT") == "import":
            # Blender's own operator gives a black picture on a software-drawn screen.
            subprocess.run(["import", "-window", "root", str(path)], check=True)
        else:
            with bpy.context.temp_override(window=self.window):
                bpy.ops.screen.screenshot(filepath=str(path))
        self.pictures.append(path)
        return path


def watched(draw: Callable[..., None], done: Callable[[bpy.types.Context], object]) -> Callable[..., None]:
    """Return a draw() that calls the given one, and `done` when it came to its end.

    It has exactly the two parameters of a draw(): Blender crashes on a function with more, even with default values.
    """

    def draw_and_tell(self: Any, context: bpy.types.Context) -> None:
        draw(self, context)
        done(context)

    return draw_and_tell


def pixels(path: Path) -> np.ndarray:
    """Return a picture file as (height, width, 3) float32 in 0..1, bottom row first."""
    image = bpy.data.images.load(str(path), check_existing=False)
    try:
        flat = np.empty(image.size[0] * image.size[1] * image.channels, dtype=np.float32)
        image.pixels.foreach_get(flat)
        return flat.reshape(image.size[1], image.size[0], image.channels)[..., :3].copy()
    finally:
        bpy.data.images.remove(image)
