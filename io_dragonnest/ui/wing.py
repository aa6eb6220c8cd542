# SPDX-License-Identifier: GPL-3.0-or-later
"""The Dragon Nest wing: what it registers."""

from __future__ import annotations

from ...io_common.ui import operators
from ..scene import clips, effects
from . import cli_pak, clip_chooser, clip_operators, clip_panel, material_operators, material_panel
from .entries import FORMATS

WING = operators.Wing(
    "Dragon Nest",
    FORMATS,
    (
        *effects.CLASSES,
        *clips.CLASSES,
        *clip_chooser.CLASSES,
        *operators.classes(
            FORMATS,
            {"dragonnest_ani": clip_chooser.ClipChooser, "dragonnest_anim": clip_chooser.ClipChooser},
        ),
        *clip_operators.CLASSES,
        *clip_panel.CLASSES,
        *material_operators.CLASSES,
        *material_panel.CLASSES,
    ),
    (effects.Settings(), clips),
    (cli_pak.COMMAND,),
)
