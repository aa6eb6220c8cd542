# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry entries of Dragon Nest: one per file format. A new format is a new entry here."""

from __future__ import annotations

from ...io_common.formats.registry import Format
from ..formats import ani, ani_set, anim, check_skn, checks, msh, skn
from ..scene import build_ani, build_skn, extract_ani, extract_msh, extract_skn
from ..scene.options import (
    ExportAnimOptions,
    ExportAniOptions,
    ExportMshOptions,
    ExportSknOptions,
    ImportAniOptions,
    ImportMshOptions,
    ImportSknOptions,
)

_GAMES = (("DN", "Dragon Nest"),)

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
        games=_GAMES,
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
        games=_GAMES,
        import_options=ImportSknOptions,
        export_options=ExportSknOptions,
        build=build_skn.build,
        gather=extract_msh.gather,
        extract=extract_skn.extract,
        companions=build_skn.read_skin,
        finish=extract_skn.finish,
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
        games=_GAMES,
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
        games=_GAMES,
        import_options=ImportAniOptions,
        export_options=ExportAnimOptions,
        build=build_ani.build,
        gather=extract_ani.gather,
        extract=extract_ani.extract_dump,
        companions=ani_set.from_dump,
    ),
)
