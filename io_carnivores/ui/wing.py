# SPDX-License-Identifier: GPL-3.0-or-later
"""The Carnivores wing: what it registers."""

from __future__ import annotations

from ...io_common.ui import operators
from .entries import FORMATS

WING = operators.Wing("Carnivores", FORMATS, operators.classes(FORMATS))
