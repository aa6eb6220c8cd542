# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry entries of Dragon Nest: one per file format. A new format is a new entry here."""

from __future__ import annotations

from ...io_common.formats.registry import Format
from ..formats import ani, ani_set, anim, checks, msh
from ..scene import build_ani, build_msh, extract_ani, extract_msh
from ..scene.options import (
    ExportAnimOptions,
    ExportAniOptions,
    ExportMshOptions,
    ImportAniOptions,
    ImportMshOptions,
)

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
    Format(
        id="dragonnest_ani",
        label="Dragon Nest ANI animation",
        extensions=(".ani",),
        sniff=ani.sniff,
        read=ani.read,
        write=ani_set.write,
        sections=ani.sections,
        summary=ani_set.summary,
        check=ani_set.check,
        import_options=ImportAniOptions,
        export_options=ExportAniOptions,
        build=build_ani.build,
        gather=extract_ani.gather,
        extract=extract_ani.extract,
        companions=ani_set.with_listed,
        finish=ani_set.companions_of,
    ),
    Format(
        id="dragonnest_anim",
        label="Dragon Nest .anim dump",
        extensions=(".anim",),
        sniff=anim.sniff,
        read=anim.read,
        write=ani_set.write,
        sections=anim.sections,
        summary=ani_set.summary,
        check=ani_set.check,
        import_options=ImportAniOptions,
        export_options=ExportAnimOptions,
        build=build_ani.build,
        gather=extract_ani.gather,
        extract=extract_ani.extract_dump,
        companions=ani_set.from_dump,
    ),
)
