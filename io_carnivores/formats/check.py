# SPDX-License-Identifier: GPL-3.0-or-later
"""What a game would trip over in a static model, looked for before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...io_common.formats.issues import Issue
    from .model import Model


def check(model: Model, game: str, kind: str) -> list[Issue]:
    """Issues of `model` (to be written as `kind`, "3df" or "3dn") for `game`, errors first."""
    del model, game, kind
    return []
