# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry entries of Dragon Nest: one per file format. A new format is a new entry here."""

from __future__ import annotations

from ...io_common.formats.registry import Format
from ..formats import check_skn, checks, msh, skn
from ..scene import build_skn, extract_msh, extract_skn
from ..scene.options import ExportMshOptions, ExportSknOptions, ImportMshOptions, ImportSknOptions

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
        build=build_skn.build_model,
        gather=extract_msh.gather,
        extract=extract_skn.extract_model,
        companions=build_skn.read_model,
        finish=extract_skn.finish,
    ),
    Format(
        id="dragonnest_skn",
        label="Dragon Nest SKN materials",
        extensions=(".skn",),
        sniff=skn.sniff,
        read=skn.read,
        write=skn.write,
        sections=skn.sections,
        summary=skn.summary,
        check=check_skn.check,
        import_options=ImportSknOptions,
        export_options=ExportSknOptions,
        build=build_skn.build,
        gather=extract_msh.gather,
        extract=extract_skn.extract,
        companions=build_skn.read_skin,
        finish=extract_skn.finish,
    ),
)
