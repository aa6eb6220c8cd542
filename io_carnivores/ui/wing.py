# SPDX-License-Identifier: GPL-3.0-or-later
"""The Carnivores wing: what it registers."""

from __future__ import annotations

from ...io_common.ui import operators
from ..scene import clips
from . import (
    animation_operators,
    animation_panel,
    check_operators,
    flag_operators,
    name_operators,
    panel,
    state,
    transfer_operators,
)
from .entries import FORMATS
from .live import live
from .overlay import Overlay

WING = operators.Wing(
    "Carnivores",
    FORMATS,
    (
        *clips.CLASSES,
        *operators.classes(FORMATS),
        *state.CLASSES,
        *flag_operators.CLASSES,
        *check_operators.CLASSES,
        *name_operators.CLASSES,
        *panel.CLASSES,
        *animation_operators.CLASSES,
        *transfer_operators.CLASSES,
        *animation_panel.CLASSES,
    ),
    (clips, state.Settings(), live(), Overlay()),
)
