# SPDX-License-Identifier: GPL-3.0-or-later
"""The Dragon Nest wing: what it registers."""

from __future__ import annotations

from ...io_common.ui import operators
from ..scene import effects
from . import material_operators, material_panel
from .entries import FORMATS

WING = operators.Wing(
    "Dragon Nest",
    FORMATS,
    (*effects.CLASSES, *operators.classes(FORMATS), *material_operators.CLASSES, *material_panel.CLASSES),
    (effects.Settings(),),
)
