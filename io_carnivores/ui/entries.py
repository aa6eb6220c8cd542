# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry entries of Carnivores: one per file format. A new format is a new entry here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...io_common.formats.files import safe_stem
from ...io_common.formats.registry import Format
from ..formats import check, model, model_3df, model_3dn, textures
from ..scene import build, extract
from ..scene.options import GAMES, Export3dnOptions, ExportOptions, Import3dnOptions, ImportOptions

if TYPE_CHECKING:
    from pathlib import Path

    from ...io_common.formats.digest import Digest


def _with_texture(found: model.Model, path: Path, options: Import3dnOptions, digest: Digest) -> model.Model:
    if not options.use_texture_search:
        return found
    return textures.attach(found, path, options.search_folders, digest)


def _texture_beside(written: model.Model, path: Path) -> dict[Path, bytes]:
    if written.texture is None:
        return {}
    # The name comes out of a file: it must not lead out of the folder.
    name = safe_stem(model.label(written.texture_name), path.stem)
    return {path.parent / f"{name}{written.texture.suffix}": textures.encode(written.texture)}


_GAMES = tuple((value, label) for value, label, _help in GAMES)

FORMATS: tuple[Format, ...] = (
    Format(
        id="carnivores_3df",
        label="Carnivores 3DF model",
        extensions=(".3df",),
        sniff=model_3df.sniff,
        read=model_3df.read,
        write=model_3df.write,
        sections=model_3df.sections,
        summary=model.summary,
        check=partial(check.check, kind="3df"),
        import_options=ImportOptions,
        export_options=ExportOptions,
        build=partial(build.build, kind="carnivores_3df"),
        extract=extract.extract_3df,
        games=_GAMES,
    ),
    Format(
        id="carnivores_3dn",
        label="Carnivores 3DN mobile model",
        extensions=(".3dn",),
        sniff=model_3dn.sniff,
        read=model_3dn.read,
        write=model_3dn.write,
        sections=model_3dn.sections,
        summary=model.summary,
        check=partial(check.check, kind="3dn"),
        import_options=Import3dnOptions,
        export_options=Export3dnOptions,
        build=partial(build.build, kind="carnivores_3dn"),
        extract=extract.extract_3dn,
        companions=_with_texture,
        finish=_texture_beside,
        games=_GAMES,
    ),
)
