# SPDX-License-Identifier: GPL-3.0-or-later
"""A character of the mobile game as a whole: the CAT text and the files it names (3DN, ANI, WAV)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, FormatError, UserError
from . import ani, cat, model_3dn, sound_data, textures
from . import model as static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...io_common.formats.digest import Digest
    from ...io_common.formats.fields import Section
    from .cat import Cat
    from .model import Model
    from .motion import Animation


@dataclass
class CatSet:
    """`model`, `animations` and `sounds` (whole WAV files) in the order of `cat`; None where a file is missing."""

    cat: Cat
    model: Model | None = None
    animations: list[Animation | None] = field(default_factory=list)
    sounds: list[bytes | None] = field(default_factory=list)
    check_loops: bool = False


def sniff(head: bytes, size: int) -> bool:
    """Whether the first line is the magic word."""
    return cat.sniff(head, size)


def read(data: bytes) -> CatSet:
    """The text alone; `companions` reads the rest."""
    return CatSet(cat.read(data))


def write(found: CatSet) -> bytes:
    """The text alone; `beside` makes the rest."""
    return cat.write(found.cat)


def sections(data: bytes) -> list[Section]:
    """A text has only characters."""
    return cat.sections(data)


def summary(found: CatSet) -> dict[str, Any]:
    """What `info` prints: the text, and the counts of the files that were found."""
    facts = cat.summary(found.cat)
    for entry, animation in zip(facts["animations"], found.animations, strict=False):
        entry.update(
            {"kps": animation.kps, "frames": len(animation.frames)} if animation is not None else {"found": False}
        )
    if found.model is not None:
        facts |= {name: value for name, value in static.summary(found.model).items() if name != "bones"}
    return facts


def companions(found: CatSet, path: Path, folders: Sequence[str], digest: Digest, *, with_texture: bool) -> CatSet:
    """Read the files that the text at `path` names. A missing model is an error, all else a warning, in one list."""
    place = _Places(path, folders)
    model_path = place.find(found.cat.model, ".3dn")
    if model_path is None:
        name = f"{_stem(found.cat.model, '.3dn')}.3dn"
        raise FormatError("the model of the character was not found", expected=f'"{name}" beside it', path=path)
    try:
        found.model = model_3dn.read(files.read_file(model_path))
    except UserError as error:
        raise error.at(model_path) from error
    if with_texture:
        found.model = textures.attach(found.model, model_path, folders, digest)
    missing: list[str] = []
    found.animations = [_animation(place, entry.file, found.model, digest, missing) for entry in found.cat.animations]
    found.sounds = [_sound(place, name, digest, missing) for name in found.cat.sounds]
    if missing:
        number = "1 file was" if len(missing) == 1 else f"{len(missing)} files were"
        digest.add(f"{number} not found: {', '.join(missing)}", subject=path.name)
    return found


def _stem(name: str, suffix: str) -> str:
    """A name without its suffix: the game's own texts state that of the model, and no other."""
    return name[: -len(suffix)] if name.lower().endswith(suffix) else name


def _file_stem(name: str, suffix: str) -> str:
    """What a part of that name is called on the disk: names come out of a file, and must not lead out of the folder."""
    return files.safe_stem(cat.plain(_stem(name, suffix)), "")


def _animation(place: _Places, name: str, model: Model, digest: Digest, missing: list[str]) -> Animation | None:
    name = _stem(name, ".ani")
    path = place.find(name, ".ani")
    if path is None:
        missing.append(f"{name}.ani")
        return None
    try:
        animation = ani.read(files.read_file(path))
    except UserError as error:
        digest.add(str(error.at(path)).rstrip("."))
        return None
    if animation.frames.shape[1] != len(model.vertices):
        digest.add(
            f"it moves {animation.frames.shape[1]} vertices, but the model has {len(model.vertices)}", subject=path.name
        )
        return None
    return animation


def _sound(place: _Places, name: str, digest: Digest, missing: list[str]) -> bytes | None:
    name = _stem(name, ".wav")
    path = place.find(name, ".wav")
    if path is None:
        missing.append(f"{name}.wav")
        return None
    try:
        data = files.read_file(path)
        sound_data.chunks(data)
    except UserError as error:
        digest.add(str(error.at(path)).rstrip("."))
        return None
    return data


class _Places:
    """Where the files of a character may be: beside the text, in folders next to it, in those of the preferences."""

    def __init__(self, path: Path, folders: Sequence[str]) -> None:
        near = path.absolute().parent
        around = [near, *self._folders_in(near), *self._folders_in(near.parent)]
        for text in folders:
            around += [Path(text), *self._folders_in(Path(text))]
        self._listings: list[dict[str, Path]] = []
        self._folders = list(dict.fromkeys(around))

    @staticmethod
    def _folders_in(base: Path) -> list[Path]:
        try:
            return sorted(entry for entry in base.iterdir() if entry.is_dir())
        except OSError:
            return []

    def find(self, name: str, suffix: str) -> Path | None:
        """The file, in any letter case; folders are listed once, as far as they are needed.

        Folders in `name` are not followed: they could lead anywhere, and those nearby are searched anyway. Then it is
        looked for under the name that `beside` would give it.
        """
        stem = _stem(name, suffix)
        wanted = [f"{word}{suffix}".lower() for word in (re.split(r"[\\/]", stem)[-1], _file_stem(name, suffix))]
        for number, folder in enumerate(self._folders):
            if number == len(self._listings):
                self._listings.append(self._files_in(folder))
            for candidate in wanted:
                if candidate in self._listings[number]:
                    return self._listings[number][candidate]
        return None

    @staticmethod
    def _files_in(folder: Path) -> dict[str, Path]:
        try:
            return {entry.name.lower(): entry for entry in folder.iterdir()}
        except OSError:
            return {}


def beside(found: CatSet, path: Path) -> dict[Path, bytes]:
    """The files that go beside the text at `path`: path -> bytes. What was missing is not written."""
    written: dict[Path, bytes] = {}

    def add(name: str, suffix: str, data: bytes) -> None:
        target = path.parent / f"{_file_stem(name, suffix) or path.stem}{suffix}"
        if written.setdefault(target, data) != data:
            raise ExportError(f'two parts of the character would be written to "{target.name}"; rename one of them')

    if found.model is not None:
        add(found.cat.model, ".3dn", model_3dn.write(found.model))
        if found.model.texture is not None:
            name = static.label(found.model.texture_name) or path.stem
            add(name, found.model.texture.suffix, textures.encode(found.model.texture))
    for entry, animation in zip(found.cat.animations, found.animations, strict=True):
        if animation is not None:
            add(entry.file, ".ani", ani.write(animation))
    for name, sound in zip(found.cat.sounds, found.sounds, strict=True):
        if sound is not None:
            add(name, ".wav", sound)
    return written
