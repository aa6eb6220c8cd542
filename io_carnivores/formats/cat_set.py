# SPDX-License-Identifier: GPL-3.0-or-later
"""A character of the mobile game as a whole: the CAT text and the files it names (3DN, ANI, WAV)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, FormatError, UserError
from . import ani, cat, cat_text, model_3dn, sound_data, textures
from . import model as static

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...io_common.formats.digest import Digest
    from ...io_common.formats.fields import Section
    from .cat import Cat
    from .model import Model
    from .motion import Animation

_Part = TypeVar("_Part")
# How much larger the frames of all entries may be than the files they come from: times, and bytes beside that.
_TIMES, _MOST_BYTES = 4, 8 << 20


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
    shelf: _Shelf[Animation] = _Shelf(place, ".ani", missing)
    model = found.model
    found.animations = [
        shelf.take(entry.file, lambda path: _animation(path, model, digest)) for entry in found.cat.animations
    ]
    _refuse_swelling(found.animations, path)
    waves: _Shelf[bytes] = _Shelf(place, ".wav", missing)
    found.sounds = [waves.take(name, lambda path: _sound(path, digest)) for name in found.cat.sounds]
    missing = list(dict.fromkeys(missing))
    if missing:
        number = "1 file was" if len(missing) == 1 else f"{len(missing)} files were"
        digest.add(f"{number} not found: {', '.join(missing)}", subject=path.name)
    return found


def brings(found: CatSet, path: Path) -> list[Path]:
    """The model and the animations that `companions` would read for the text at `path`, as far as they are there."""
    place = _Places(path, ())
    wanted = [(found.cat.model, ".3dn"), *((entry.file, ".ani") for entry in found.cat.animations)]
    return [there for there in (place.find(*words) for words in dict.fromkeys(wanted)) if there is not None]


def _stem(name: str, suffix: str) -> str:
    """A name without its suffix: the game's own texts state that of the model, and no other."""
    return name[: -len(suffix)] if name.lower().endswith(suffix) else name


def _file_stem(name: str, suffix: str, encoding: str) -> str:
    """What a part of that name is called on the disk, as a text in `encoding` can say it.

    Names come out of a file, and must not lead out of the folder.
    """
    return files.safe_stem(cat.plain(_stem(name, suffix), encoding), "", 255 - len(suffix))


def _in_russian(name: str) -> str:
    """What the bytes of a name mean in the alphabet of its Russian modders: nothing in a text tells which one it is."""
    return name.encode("cp1252", errors="replace").decode("cp1251", errors="replace")


def absent(found: CatSet) -> list[str]:
    """The files that the text names and that there are no parts for, each once."""
    names = [
        f"{_stem(name, suffix)}{suffix}"
        for suffix, listed, parts in (
            (".ani", [entry.file for entry in found.cat.animations], found.animations),
            (".wav", found.cat.sounds, found.sounds),
        )
        for name, part in zip(listed, parts, strict=True)
        if part is None
    ]
    return list(dict.fromkeys(names))


def _refuse_swelling(animations: Sequence[Animation | None], path: Path) -> None:
    """A text of a few lines can name one file a thousand times, and each time asks for as much memory again."""
    sizes = {id(entry): entry.frames.nbytes for entry in animations if entry is not None}
    read, named = sum(sizes.values()), sum(sizes.get(id(entry), 0) for entry in animations)
    if named > _TIMES * read + _MOST_BYTES:
        raise FormatError(
            "the character names the same large animations too often",
            expected=f"{_TIMES * read + _MOST_BYTES} bytes of frames at the most",
            found=f"{named} bytes from files of {read}",
            path=path,
        )


def _animation(path: Path, model: Model, digest: Digest) -> Animation | None:
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


def _sound(path: Path, digest: Digest) -> bytes | None:
    try:
        data = files.read_file(path)
        sound_data.chunks(data)
    except UserError as error:
        digest.add(str(error.at(path)).rstrip("."))
        return None
    return data


class _Shelf(Generic[_Part]):
    """The files of one kind that a text names. However often it names one, it is read once, and complained of once."""

    def __init__(self, place: _Places, suffix: str, missing: list[str]) -> None:
        self._place, self._suffix, self._missing = place, suffix, missing
        self._read: dict[Path, _Part | None] = {}

    def take(self, name: str, read: Callable[[Path], _Part | None]) -> _Part | None:
        """What `read` makes of the file; None, and the name in the list of missing ones, when there is none."""
        name = _stem(name, self._suffix)
        path = self._place.find(name, self._suffix)
        if path is None:
            self._missing.append(f"{name}{self._suffix}")
            return None
        if path not in self._read:
            self._read[path] = read(path)
        return self._read[path]


class _Places:
    """Where the files of a character may be: beside the text, in folders next to it, in those of the preferences."""

    def __init__(self, path: Path, folders: Sequence[str]) -> None:
        near = path.absolute().parent
        around = [near, *self._folders_in(near), *self._folders_in(near.parent)]
        for text in folders:
            around += [Path(text), *self._folders_in(Path(text))]
        self._listings: list[tuple[dict[str, Path], dict[str, Path]]] = []
        self._folders = list(dict.fromkeys(around))

    @staticmethod
    def _folders_in(base: Path) -> list[Path]:
        try:
            return sorted(entry for entry in base.iterdir() if entry.is_dir())
        except OSError:
            return []

    def find(self, name: str, suffix: str) -> Path | None:
        """The file, in any letter case, though that of the name comes first; folders are listed once, when needed.

        Folders in `name` are not followed: they could lead anywhere, and those nearby are searched anyway. Then it is
        looked for under the name that `beside` would give it.
        """
        stem = _stem(name, suffix)
        last = re.split(r"[\\/]", stem)[-1]
        written = [_file_stem(name, suffix, encoding) for encoding in ("cp1252", "utf-8")]
        wanted = [f"{word}{suffix}" for word in dict.fromkeys((last, *written, _in_russian(last)))]
        for number, folder in enumerate(self._folders):
            if number == len(self._listings):
                self._listings.append(self._files_in(folder))
            exact, any_case = self._listings[number]
            for candidate in wanted:
                found = exact.get(candidate) or any_case.get(candidate.lower())
                if found is not None:
                    return found
        return None

    @staticmethod
    def _files_in(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
        """The files of a folder under their names, and under these in small letters, the first of each."""
        try:
            exact = {entry.name: entry for entry in sorted(folder.iterdir())}
        except OSError:
            return {}, {}
        any_case: dict[str, Path] = {}
        for name, entry in exact.items():
            any_case.setdefault(name.lower(), entry)
        return exact, any_case


def beside(found: CatSet, path: Path) -> dict[Path, bytes]:
    """The files that go beside the text at `path`: path -> bytes. What was missing is not written."""
    written: dict[Path, bytes] = {}
    encoding = cat_text.encoding(cat.write(found.cat))
    on_disk: dict[str, tuple[str, bytes]] = {}

    def add(name: str, suffix: str, data: bytes) -> None:
        target = path.parent / f"{_file_stem(name, suffix, encoding) or path.stem}{suffix}"
        # Most disks of players do not tell capital letters from small ones: the second would go over the first.
        first, there = on_disk.setdefault(target.name.lower(), (target.name, data))
        if there != data:
            also = f', which many disks do not tell from "{first}"' if first != target.name else ""
            raise ExportError(
                f'two parts of the character would be written to "{target.name}"{also}; rename one of them'
            )
        written[target] = data

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
