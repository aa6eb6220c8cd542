# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the sidebar draw, in Object Mode and in Edit Mode."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import bpy
import pytest
from screen import watched

if TYPE_CHECKING:
    from pathlib import Path

    from screen import Screen

CATEGORY = "Carnivores"


def panels() -> list[type[bpy.types.Panel]]:
    """Return our panels that stand in the sidebar of the 3D viewport."""
    return [
        panel
        for panel in bpy.types.Panel.__subclasses__()
        if getattr(panel, "bl_category", "") == CATEGORY and panel.bl_space_type == "VIEW_3D"
    ]


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Give, per panel, the modes in which its draw() came to its end."""
    seen: dict[str, list[str]] = {}
    for panel in panels():
        seen[panel.__name__] = []
        monkeypatch.setattr(panel, "draw", watched(panel.draw, partial(note_mode, seen[panel.__name__])))
    return seen


def note_mode(modes: list[str], context: bpy.types.Context) -> None:
    modes.append(context.mode)


def test_sidebar_draws(screen: Screen, example: Path, draws: dict[str, list[str]]) -> None:
    assert draws, f"no panel in the sidebar's tab {CATEGORY}"
    import_model(screen, example)
    open_sidebar(screen)
    open_subpanels(screen, draws)
    screen.photograph("object")
    with screen.override():
        bpy.ops.object.mode_set(mode="EDIT")
    screen.redraw()
    screen.photograph("edit")
    for mode in ("OBJECT", "EDIT_MESH"):
        missing = [name for name, modes in draws.items() if mode not in modes]
        assert not missing, f"never drawn in {mode}: {missing}"


def test_sidebar_draws_without_a_model(screen: Screen, draws: dict[str, list[str]]) -> None:
    open_sidebar(screen)
    screen.photograph("empty")
    bpy.ops.mesh.primitive_cube_add()
    screen.redraw()
    bpy.ops.object.light_add()
    screen.redraw()
    screen.photograph("light")


def open_sidebar(screen: Screen) -> None:
    """Show the sidebar of the 3D viewport, with our tab in front."""
    area = screen.area()
    area.spaces.active.show_region_ui = True
    sidebar = screen.region("UI", area)
    screen.wait_until(lambda: sidebar.width > 1, "the sidebar to open")
    screen.redraw()
    sidebar.active_panel_category = CATEGORY
    screen.redraw()
    assert sidebar.active_panel_category == CATEGORY


def open_subpanels(screen: Screen, draws: dict[str, list[str]]) -> None:
    """Click with Ctrl on the header of the first panel, which opens all those inside it."""
    sidebar = screen.region("UI", screen.area())
    for depth in range(10, 70, 10):  # the header lies somewhere below the upper edge
        screen.click(sidebar.x + sidebar.width // 2 - 30, sidebar.y + sidebar.height - depth, ctrl=True)
        screen.redraw()
        if all(draws.values()):
            return


def import_model(screen: Screen, model: Path) -> None:
    """Import a model file and make its mesh the active object."""
    operator = getattr(bpy.ops.import_scene, f"carnivores_{model.suffix[1:].lower()}")
    with screen.override():
        assert operator(filepath=str(model)) == {"FINISHED"}
        mesh = next(thing for thing in bpy.data.objects if thing.type == "MESH")
        bpy.context.view_layer.objects.active = mesh
        mesh.select_set(True)
    screen.wait(3)
