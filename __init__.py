# SPDX-License-Identifier: GPL-3.0-or-later
"""Carnivores & Dragon Nest Formats: open, show, edit and write the model files of two games in Blender.

The wings are imported inside the functions only, so that the floors that know nothing of Blender (`*/formats`) can be
imported by a Python that has no `bpy`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .io_common.ui.extension import Extension


@cache
def _extension() -> Extension:
    from .io_carnivores.ui import wing as carnivores
    from .io_common.ui.extension import Extension
    from .io_dragonnest.ui import wing as dragonnest

    return Extension((carnivores.WING, dragonnest.WING))


def register() -> None:
    """Register every class, menu entry, drop handler and command of the three wings."""
    _extension().register()


def unregister() -> None:
    """Take back, in reverse order, everything `register` added."""
    _extension().unregister()


def command(arguments: Sequence[str]) -> int:
    """Run the extension's command line, as `blender --command carnivores_dragonnest` does."""
    from .io_common.ui import command_line

    extension = _extension()
    return command_line.main(arguments, extension.formats, extension.commands)
