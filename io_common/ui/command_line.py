# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: `blender --command carnivores_dragonnest …`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.registry import Format


def main(arguments: Sequence[str], formats: Sequence[Format]) -> int:
    """Run one command and return its exit code."""
    del arguments, formats
    print("not yet", file=sys.stderr)
    return 2
