# SPDX-License-Identifier: GPL-3.0-or-later
"""A character of the mobile game (CAT with 3DN, ANI, WAV), to Blender data-blocks and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import ExportError
from ...io_common.formats.files import safe_stem
from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import cat, cat_set
from ..formats.car import Character
from ..formats.cat import Cat, CatAnimation
from ..formats.cat_set import CatSet
from ..formats.model import BONE, label, name_field
from ..formats.motion import Animation
from . import build, character, clips, extract, frames, kept, sound_table, sounds, unlisted

if TYPE_CHECKING:
    from pathlib import Path

    import bpy

    from ...io_common.formats.digest import Digest
    from .options import CatOptions, ExportCatOptions

KIND = "carnivores_cat"


def read_files(found: CatSet, path: Path, options: CatOptions, digest: Digest) -> CatSet:
    """Read the files that a CAT names."""
    folders = options.search_folders
    return cat_set.companions(found, path, folders, digest, with_texture=options.use_texture_search)


def build_cat(
    context: bpy.types.Context, found: CatSet, path: Path, options: CatOptions, digest: Digest
) -> list[bpy.types.Object]:
    """One character: mesh, motion and sounds, as a CAR would come in."""
    if found.model is None:
        raise ExportError("the model of the character was not read")
    made = build.build(context, found.model, path, options, digest, kind=KIND)
    mesh = meshes.of(made[-1])
    kept.put(mesh, kept.CAT, found.cat.source)
    kept.put(mesh, kept.CAT_TITLE, found.cat.title)
    kept.put(mesh, kept.CAT_MODEL, found.cat.model)
    count = len(found.model.vertices)
    listed: list[Animation] = []
    for entry, animation in zip(found.cat.animations, found.animations, strict=True):
        shown = animation or Animation(b"", 0, np.zeros((0, count, 3), np.int16))
        shown = Animation(name_field(entry.file), shown.kps, shown.frames)
        item = character.add_item(mesh, shown, entry.file)
        item.is_missing = animation is None
        item.table_value = entry.sound
        item.sound = entry.sound if 0 <= entry.sound < len(found.cat.sounds) else clips.NO_SOUND
        listed.append(shown)
    packed: dict[int, bpy.types.Sound] = {}
    for number, (name, data) in enumerate(zip(found.cat.sounds, found.sounds, strict=True)):
        item = clips.sounds(mesh).add()
        item.name = name
        if data is not None:
            if id(data) not in packed:  # a file that is named again
                title = clips.block_title(name, number, len(found.sounds), "Sound")
                packed[id(data)] = sounds.pack_file(title, data, ".wav")
            item.sound = packed[id(data)]
    return character.show_motion(context, made, Character(found.model, animations=listed), path, options, digest)


def extract_cat(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportCatOptions,
    digest: Digest,
    path: Path,
) -> CatSet:
    """The character that `objects` show, as a CAT with all its files."""
    with selection.object_mode(context, objects):
        return _extract(context, objects, options, digest, path)


def _extract(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportCatOptions,
    digest: Digest,
    path: Path,
) -> CatSet:
    model = extract.extract_3dn(context, objects, options, digest, path)
    mesh = clips.list_owner(objects)
    if kept.get(mesh, kept.KIND, "") == "carnivores_car" or not len(kept.get_array(mesh, kept.BONES, BONE)):
        # No character of the game has a bone table; a recovered skeleton is not one of the file's.
        model.bones = np.zeros(0, BONE)
    source = frames.Source.of(context, objects, options, len(model.vertices), digest)
    items, listed = unlisted.entries(context, objects, digest), list(clips.sounds(mesh))
    own = kept.get(mesh, kept.KIND, "") == KIND
    names = _names([item.name for item in items], "" if own else path.stem, "animation")
    titles = _names([item.name for item in listed], "" if own else path.stem, "sound")
    title = kept.get(mesh, kept.CAT_TITLE, "")
    if not (own and kept.has(mesh, kept.CAT)):  # a text may well have none
        title = title or label(kept.get(mesh, kept.NAME_BLOCK, b"")) or path.stem
    text = Cat(
        title=title,
        model=kept.get(mesh, kept.CAT_MODEL, "") or f"{safe_stem(path.stem)}.3dn",
        animations=[
            CatAnimation(name, sound_table.entry(item, len(listed))) for name, item in zip(names, items, strict=True)
        ],
        sounds=titles,
        source=kept.get(mesh, kept.CAT, b""),
    )
    found = CatSet(
        text,
        model,
        [None if item.is_missing and item.action is None else source.animation(item) for item in items],
        [sounds.wav_of(item.sound) if item.sound is not None else None for item in listed],
        check_loops=options.use_loop_check,
    )
    _tell_missing(found, digest, path)
    return found


def _tell_missing(found: CatSet, digest: Digest, path: Path) -> None:
    """The text names them all the same, as it did when it was read; who copies the files should know."""
    names = cat_set.absent(found)
    if names:
        number = "1 file is" if len(names) == 1 else f"{len(names)} files are"
        digest.add(f"{number} named but not written, as there was none to read: {', '.join(names)}", subject=path.name)


def _names(names: list[str], prefix: str, default: str) -> list[str]:
    """File names for the entries of a list: as they are with no prefix, else plain, unique and led by the prefix."""
    if not prefix:
        return names
    used: set[str] = set()
    found = []
    for number, name in enumerate(names):
        plain = safe_stem(cat.plain(name), f"{default}_{number}")  # other alphabets would all be alike in the end
        stem = plain if plain.lower().startswith(prefix.lower()) else f"{prefix}_{plain}"
        stem = safe_stem(stem)  # leaves room for a number
        unique, count = stem, 1
        while unique.lower() in used:
            count += 1
            unique = f"{stem}_{count}"
        used.add(unique.lower())
        found.append(unique)
    return found
