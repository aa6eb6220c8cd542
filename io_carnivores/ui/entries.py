# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry entries of Carnivores: one per file format. A new format is a new entry here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...io_common.formats.files import safe_stem
from ...io_common.formats.registry import Format
from ..formats import ani, car, cat_set, check, check_character, model, model_3df, model_3dn, textures, vtl
from ..scene import animation_files, build, character, character_set, extract, rebake, untouched_lists
from ..scene.options import (
    GAMES,
    AnimationOptions,
    CatOptions,
    CharacterOptions,
    Export3dnOptions,
    ExportAnimationOptions,
    ExportAniOptions,
    ExportCatOptions,
    ExportCharacterOptions,
    ExportOptions,
    Import3dnOptions,
    ImportOptions,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from ...io_common.formats.issues import Issue


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


def _check_vtl(found: vtl.Vtl, game: str) -> list[Issue]:
    return check_character.check_animation(found.animation, game)


def _check_cat(found: cat_set.CatSet, game: str) -> list[Issue]:
    animations = [animation for animation in found.animations if animation is not None]
    shown = car.Character(found.model or model.Model(), animations=animations, check_loops=found.check_loops)
    return check_character.check(shown, game, kind="3dn")


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
    Format(
        id="carnivores_car",
        label="Carnivores CAR character",
        extensions=(".car",),
        sniff=car.sniff,
        read=car.read,
        write=car.write,
        sections=car.sections,
        summary=car.summary,
        check=check_character.check,
        import_options=CharacterOptions,
        export_options=ExportCharacterOptions,
        build=character.build_car,
        extract=character.extract_car,
        rebake=rebake.rebake,
        games=_GAMES,
    ),
    Format(
        id="carnivores_vtl",
        label="Carnivores VTL animation",
        extensions=(".vtl",),
        sniff=vtl.sniff,
        read=vtl.read,
        write=vtl.write,
        sections=vtl.sections,
        summary=vtl.summary,
        check=_check_vtl,
        import_options=AnimationOptions,
        export_options=ExportAnimationOptions,
        build=animation_files.build_vtl,
        guard=untouched_lists.guard,
        extract=animation_files.extract_vtl,
        rebake=rebake.rebake,
        games=_GAMES,
    ),
    Format(
        id="carnivores_ani",
        label="Carnivores ANI mobile animation",
        extensions=(".ani",),
        sniff=ani.sniff,
        read=ani.read,
        write=ani.write,
        sections=ani.sections,
        summary=ani.summary,
        check=check_character.check_animation,
        import_options=AnimationOptions,
        export_options=ExportAniOptions,
        build=animation_files.build_ani,
        guard=untouched_lists.guard,
        extract=animation_files.extract_ani,
        rebake=rebake.rebake,
        games=_GAMES,
    ),
    Format(
        id="carnivores_cat",
        label="Carnivores CAT mobile character",
        extensions=(".cat",),
        sniff=cat_set.sniff,
        brings=cat_set.brings,
        read=cat_set.read,
        write=cat_set.write,
        sections=cat_set.sections,
        summary=cat_set.summary,
        check=_check_cat,
        import_options=CatOptions,
        export_options=ExportCatOptions,
        build=character_set.build_cat,
        extract=character_set.extract_cat,
        rebake=rebake.rebake,
        companions=character_set.read_files,
        finish=cat_set.beside,
        games=_GAMES,
    ),
)
