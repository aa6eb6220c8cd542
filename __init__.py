# SPDX-License-Identifier: GPL-3.0-or-later
"""Carnivores & Dragon Nest Formats: open, show, edit and write the model files of two games in Blender.

The three wings are imported inside `register` only, so that the floors that know nothing of Blender (`*/formats`) can
be imported by a Python that has no `bpy`.
"""


def register() -> None:
    """Register every class, menu entry, drop handler and command of the three wings."""
    from .io_common.ui import extension

    extension.register(__package__)


def unregister() -> None:
    """Take back, in reverse order, everything `register` added."""
    from .io_common.ui import extension

    extension.unregister()
