# SPDX-License-Identifier: GPL-3.0-or-later
"""An imported model can be seen in the 3D viewport, in Material Preview as it is in the game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
from screen import pixels
from test_sidebar import import_model

if TYPE_CHECKING:
    from screen import Screen


MOST_LOOKS = 60


def test_model_is_visible(screen: Screen, model: Path) -> None:
    area = screen.area()
    bpy.context.scene.eevee.taa_samples = 1  # no noise is smoothed away over many redraws
    area.spaces.active.shading.type = "MATERIAL"
    area.spaces.active.overlay.show_overlays = False
    before = viewport(screen, "empty")
    import_model(screen, model)
    with screen.override():
        bpy.ops.view3d.view_all()
        bpy.ops.object.select_all(action="DESELECT")
    after = viewport(screen, "model")
    changed = (np.abs(after - before) > 0.03).any(axis=2)
    assert changed.mean() > 0.01, "the viewport looks as it did without the model"
    colours = after[changed]
    assert colours.std(axis=0).max() > 0.01, "the model is one flat colour"


def viewport(screen: Screen, name: str) -> np.ndarray:
    """Return the picture of the 3D viewport, (height, width, 3), once shaders are compiled and it stands still."""
    region = screen.region("WINDOW", screen.area())
    screen.redraw()
    previous = None
    for _ in range(MOST_LOOKS):
        screen.wait(5)
        picture = pixels(screen.photograph(name, redraw=False))
        picture = picture[region.y : region.y + region.height, region.x : region.x + region.width]
        if previous is not None and np.array_equal(picture, previous):
            return picture
        previous = picture
    raise AssertionError(f"the viewport still changes after {MOST_LOOKS} looks")
