# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of the extension in the preferences."""

from __future__ import annotations

from unittest.mock import MagicMock

import bpy
from addon.io_common.ui import preferences


def test_the_page_draws_properties_that_exist() -> None:
    """Blender's own among them: a wrong name would only be a line in the console."""
    page, layout = preferences.of(bpy.context), MagicMock()
    preferences._Preferences.draw(MagicMock(wraps=page, layout=layout, parts=()), bpy.context)
    shown = [call.args[1] for call in layout.prop.call_args_list]
    assert shown == ["show_textures", "use_file_compression"]
    for source, name in [(page, shown[0]), (bpy.context.preferences.filepaths, shown[1])]:
        assert name in source.bl_rna.properties
