# SPDX-License-Identifier: GPL-3.0-or-later
"""The Dragon Nest wing: what it registers."""

from __future__ import annotations

from ...io_common.ui import operators
from ..scene import clips
from .entries import FORMATS

WING = operators.Wing("Dragon Nest", FORMATS, (*clips.CLASSES, *operators.classes(FORMATS)), (clips,))
