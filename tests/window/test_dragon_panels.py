# SPDX-License-Identifier: GPL-3.0-or-later
"""The material panel of Dragon Nest on a real screen: drawn open, in the sidebar and in the Properties editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import checkout  # noqa: F401 (before the names below)
import pytest
from addon.io_dragonnest.formats import effects
from screen import watched
from test_fox import HEADER, SECOND_HEADER, THIRD_HEADER, click_header, open_tab

from tests import dragons

if TYPE_CHECKING:
    from pathlib import Path

    from screen import Screen


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Give, per panel, how often its draw() came to its end."""
    seen: dict[str, int] = {}

    def count(name: str) -> None:
        seen[name] = seen.get(name, 0) + 1

    for panel in bpy.types.Panel.__subclasses__():
        if panel.__name__.startswith("DRAGONNEST_PT_material"):
            name = panel.__name__
            monkeypatch.setattr(panel, "draw", watched(panel.draw, lambda _context, name=name: count(name)))
    return seen


def test_material_panel_draws(screen: Screen, draws: dict[str, int], tmp_path: Path) -> None:
    names = ("g_MaterialDiffuse", "g_EmissivePower", "g_SkinCoeffA", "g_EmissiveColor")
    record = dragons.plain("Cloth", *map(effects.parameter, names), dragons.texture("g_DiffuseTex", "cloth.dds"))
    dragons.dressed(tmp_path, record)
    (tmp_path / "cloth.dds").write_bytes(dragons.RED)
    with screen.override():
        assert bpy.ops.import_scene.dragonnest_skn(filepath=str(tmp_path / "hero.skn")) == {"FINISHED"}
    sidebar = open_tab(screen)
    # Above it stand the panel of the model, and that of clips if there are any, which are folded up for a while.
    clicked = []
    for depth in (HEADER, SECOND_HEADER, THIRD_HEADER):
        if "DRAGONNEST_PT_material" in draws:
            break
        click_header(screen, sidebar, depth)
        clicked.append(depth)
    screen.photograph("materials")
    assert draws["DRAGONNEST_PT_material"]
    for number in range(5):
        obj = next(thing for thing in bpy.data.objects if thing.type == "MESH")
        obj.active_material.dragonnest.active = number
        screen.redraw()
    screen.photograph("texture")
    for depth in reversed(clicked[:-1]):
        click_header(screen, sidebar, depth)
