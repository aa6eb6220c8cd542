# SPDX-License-Identifier: GPL-3.0-or-later
"""An imported model can be seen in the 3D viewport, in Material Preview as it is in the game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
from screen import pixels
from test_sidebar import import_model

if TYPE_CHECKING:
    from pathlib import Path

    from screen import Screen


CHANGE = 0.03  # difference of a channel, 0..1, that counts as a changed pixel
PART = 0.01  # of the viewport's pixels that a model covers at least
VARIETY = 0.01  # standard deviation of a channel over the model's pixels
MOST_LOOKS = 40


def test_model_is_visible(screen: Screen, model: Path) -> None:
    area = screen.area()
    bpy.context.scene.eevee.taa_samples = 1  # no noise is smoothed away over many redraws
    area.spaces.active.overlay.show_overlays = False
    for shading in ("MATERIAL", "SOLID", "MATERIAL"):  # the first time in a session the light is not complete
        area.spaces.active.shading.type = shading
        screen.wait(3)
    before = viewport(screen, "empty")
    import_model(screen, model)
    with screen.override():
        bpy.ops.object.select_all(action="DESELECT")
        bpy.ops.view3d.view_all(use_all_regions=True)
    for _ in range(MOST_LOOKS):  # shaders are compiled meanwhile
        screen.wait(3)
        after = viewport(screen, "model")
        changed = (np.abs(after - before) > CHANGE).any(axis=2)
        if changed.mean() > PART and after[changed].std(axis=0).max() > VARIETY:
            return
    assert changed.mean() > PART, "the viewport looks as it did without the model"
    raise AssertionError("the model is one flat colour")


def viewport(screen: Screen, name: str) -> np.ndarray:
    """Return the picture of the 3D viewport, (height, width, 3)."""
    region = screen.region("WINDOW", screen.area())
    picture = pixels(screen.photograph(name, redraw=False))
    return picture[region.y : region.y + region.height, region.x : region.x + region.width]


def test_overlay_colours_faces_by_flag(screen: Screen, example: Path) -> None:
    """Draw the colours over the model, in Object Mode and in Edit Mode."""
    import_model(screen, example)
    with screen.override():
        bpy.ops.object.select_all(action="DESELECT")
        bpy.ops.view3d.view_all(use_all_regions=True)
    for mode in ("OBJECT", "EDIT"):
        with screen.override():
            bpy.ops.object.mode_set(mode=mode)
        settings = bpy.context.window_manager.carnivores
        settings.show_flags = False
        screen.redraw()
        before = viewport(screen, f"{mode.lower()}-without")
        settings.show_flags = True
        screen.redraw()
        after = viewport(screen, f"{mode.lower()}-with")
        assert (np.abs(after - before) > CHANGE).any(axis=2).mean() > PART, f"nothing was painted in {mode}"
