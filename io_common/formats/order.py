# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of names."""

from __future__ import annotations

import re


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts names as people do: "Resource2.pak" before "Resource10.pak", without regard to case."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"([0-9]+)", name.lower())]
