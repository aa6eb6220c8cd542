# SPDX-License-Identifier: GPL-3.0-or-later
"""The footing of all scene and interface tests: the extension is enabled and stays so, and `addon` is that very one."""

from __future__ import annotations

import importlib
import sys

import addon_utils
import bpy


def test_the_extension_is_enabled(extension_name: str) -> None:
    """Blender's own book-keeping agrees, default and loaded alike."""
    assert addon_utils.check(extension_name) == (True, True)


def test_it_stays_enabled_when_a_file_is_opened(extension_name: str) -> None:
    """The fixture that empties the scene before each test must not cost the extension."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert addon_utils.check(extension_name) == (True, True)
    assert len(bpy.data.objects) == 0


def test_addon_is_the_enabled_package(extension_name: str) -> None:
    """A class has one identity under both names, or `except FormatError` would miss."""
    for below in ("", ".io_common", ".io_common.formats", ".io_carnivores.scene"):
        alias = importlib.import_module(f"addon{below}")
        assert alias is importlib.import_module(f"{extension_name}{below}")
        assert alias.__name__ == f"{extension_name}{below}"
        assert alias.__spec__ is not None
        assert alias.__spec__.name == alias.__name__
        assert sys.modules[alias.__name__] is alias


def test_the_scene_of_one_test_does_not_reach_the_next() -> None:
    """Run twice by the parametrisation below: the second run would find the first one's mesh."""
    assert len(bpy.data.meshes) == 0
    bpy.data.meshes.new("left behind")


test_the_scene_of_the_test_before_is_gone = test_the_scene_of_one_test_does_not_reach_the_next
