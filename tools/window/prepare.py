# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by Blender without a window, before the tests: install the extension's zip as a user does, and set preferences.

`blender --background --python prepare.py -- ZIP`, with BLENDER_USER_RESOURCES naming a fresh folder.
"""

from __future__ import annotations

import sys

import bpy

MODULE = "bl_ext.user_default.io_carnivores_dragonnest"


def main() -> None:
    """Install, enable, save the preferences; leave with exit code 1 if the extension is not enabled afterwards."""
    archive = sys.argv[sys.argv.index("--") + 1]
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    if MODULE not in bpy.context.preferences.addons:
        raise SystemExit(f"prepare: {MODULE} is not enabled after installing {archive}")
    view = bpy.context.preferences.view
    view.show_splash = False  # it would lie over the window and take the first click
    view.show_tooltips = False
    bpy.ops.wm.save_userpref()


main()
