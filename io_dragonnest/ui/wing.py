# SPDX-License-Identifier: GPL-3.0-or-later
"""The Dragon Nest wing: what it registers."""

from __future__ import annotations

from ...io_common.ui import operators
from ..scene import clips, effects
from . import (
    archive_extract,
    archive_import,
    archive_operators,
    archive_panel,
    archive_patch,
    archive_state,
    check_operators,
    cli_pak,
    cli_table,
    clip_chooser,
    clip_operators,
    clip_panel,
    material_operators,
    material_panel,
    model_panel,
    table_operators,
)
from .entries import FORMATS

WING = operators.Wing(
    "Dragon Nest",
    FORMATS,
    (
        *effects.CLASSES,
        *clips.CLASSES,
        *clip_chooser.CLASSES,
        *operators.classes(FORMATS, archive_import.IMPORTERS),
        *check_operators.CLASSES,
        *model_panel.CLASSES,
        *clip_operators.CLASSES,
        *clip_panel.CLASSES,
        *material_operators.CLASSES,
        *material_panel.CLASSES,
        *archive_state.CLASSES,
        *archive_operators.CLASSES,
        *archive_import.CLASSES,
        *archive_extract.CLASSES,
        *archive_patch.CLASSES,
        *archive_panel.CLASSES,
        *table_operators.CLASSES,
    ),
    (effects.Settings(), check_operators.Settings(), clips, archive_state.ARCHIVES, table_operators.WRITTEN),
    (cli_pak.COMMAND, cli_table.COMMAND),
    imports=(
        ("dragonnest.archive_mount", "Dragon Nest archive (.pak)"),
        ("dragonnest.table_open", "Dragon Nest table (.dnt/.ext)"),
    ),
    preferences=archive_state.PreferencesPart(),
)
