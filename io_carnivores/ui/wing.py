# SPDX-License-Identifier: GPL-3.0-or-later
"""The Carnivores wing: what it registers."""

from __future__ import annotations

from ...io_common.ui import operators
from . import check_operators, flag_operators, name_operators, panel, state
from .entries import FORMATS
from .live import live
from .overlay import Overlay

WING = operators.Wing(
    "Carnivores",
    FORMATS,
    (
        *operators.classes(FORMATS),
        *state.CLASSES,
        *flag_operators.CLASSES,
        *check_operators.CLASSES,
        *name_operators.CLASSES,
        *panel.CLASSES,
    ),
    (state.Settings(), live(), Overlay()),
)
