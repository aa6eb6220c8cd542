# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry entries of Dragon Nest: one per file format. A new format is a new entry here."""

from __future__ import annotations

from ...io_common.formats.registry import Format
from ..formats import checks, msh
from ..scene import build_msh, extract_msh
from ..scene.options import ExportMshOptions, ImportMshOptions

FORMATS: tuple[Format, ...] = (
    Format(
        id="dragonnest_msh",
        label="Dragon Nest MSH model",
        extensions=(".msh",),
        sniff=msh.sniff,
        read=msh.read,
        write=msh.write,
        sections=msh.sections,
        summary=msh.summary,
        check=checks.check_msh,
        import_options=ImportMshOptions,
        export_options=ExportMshOptions,
        build=build_msh.build,
        gather=extract_msh.gather,
        extract=extract_msh.extract,
        companions=build_msh.read_companions,
    ),
)
