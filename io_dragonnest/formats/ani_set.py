# SPDX-License-Identifier: GPL-3.0-or-later
"""The animation files that belong together: one ANI, those that a text list names, or a dump."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats import files, places
from ...io_common.formats.errors import ExportError, FormatError, UserError
from . import ani, anim, blocks, names
from .ani_list import AniList
from .check_character import check_ani
from .checks import sorted_issues

if TYPE_CHECKING:
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from ...io_common.formats.issues import Issue
    from ...io_common.formats.places import Place
    from .ani import Ani
    from .anim import Anim

DUMP = ".anim"
_SUFFIX = ".ani"
_HEAD_CLIPS = 1 << 16  # more clips than this are not listed before the file is read


@dataclass(eq=False)
class Part:
    """One file: `name` without a folder, and its content."""

    name: str
    found: Ani


@dataclass(eq=False)
class AniSet:
    """`parts` in order; `raw`: the text that lists them, empty where there is none; `is_dump`: a `.anim`."""

    parts: list[Part] = field(default_factory=list)
    raw: bytes = b""
    is_dump: bool = False


@dataclass(frozen=True)
class Entry:
    """One clip as a header lists it: number of its file, number in it, name, frames."""

    part: int
    clip: int
    name: str
    frames: int


def from_dump(found: Anim, path: Path, _options: Any = None, _digest: Digest | None = None) -> AniSet:
    """A dump as a set; its clip has the name of the file."""
    name = path.stem if not names.fits(path.stem) else "clip"
    return AniSet([Part(path.name, anim.to_ani(found, name))], is_dump=True)


def with_listed(found: Ani | AniList, path: Path, options: Any, digest: Digest) -> AniSet:
    """An ANI as a set; of a text list with the files that lie beside it, whatever the case of their names.

    What is missing or cannot be read is a warning, nothing at all a `FormatError`.
    """
    if not isinstance(found, AniList):
        return AniSet([Part(path.name, found)])
    place = places.of(options)
    listed = _listed(found, path, place)
    parts, missing, last = list[Part](), list[str](), None
    for name, target in listed:
        if target is None:
            missing.append(name)
            continue
        try:
            parts.append(Part(target.name, _no_list(ani.read(place.read(target)))))
        except UserError as error:
            last = error.at(target)
            digest.add(f"a file that the list names was left out: {str(error)[:-1]}", subject=path.name)
    if missing:
        shown = ", ".join(f'"{name}"' for name in missing)
        digest.add(f"{len(missing)} of the {len(listed)} files that the list names do not lie beside it: {shown}")
    if not parts:
        raise last or FormatError("none of the files that this list names lies beside it", expected="at least one")
    return AniSet(parts, found.raw)


def brings(found: Ani | AniList, path: Path) -> list[Path]:
    """The files that a list names, as far as they lie beside it."""
    if not isinstance(found, AniList):
        return []
    return [target for _, target in _listed(found, path, places.Disk()) if target is not None]


def _no_list(found: Ani | AniList) -> Ani:
    """The game reads no list that a list names."""
    if isinstance(found, AniList):
        raise FormatError("this is a list of files itself, which a list cannot name", expected="an ANI animation")
    return found


def _listed(found: AniList, path: Path, place: Place) -> list[tuple[str, Path | None]]:
    plain = [name.replace("\\", "/").rpartition("/")[2] for name in found.files]
    return list(zip(found.files, place.beside(path, plain), strict=True))


def merged(found: AniSet) -> tuple[Ani, list[str]]:
    """All clips over the bones of the first file, and notes; see `ani.merged`."""
    if len(found.parts) == 1:
        return found.parts[0].found, []
    return ani.merged([part.found for part in found.parts])


def identity(found: Ani) -> str:
    """What tells one file from another, whichever of its clips are chosen: a checksum of header, names and bones."""
    names_and_lengths = b"".join(found.clip_names) + found.lengths.tobytes()
    return f"{zlib.crc32(found.bones.tobytes() + names_and_lengths + found.magic + found.reserved):08x}"


def shell(found: Ani) -> Ani:
    """`found` without its clips."""
    return ani.with_clips(found, [])


def single(found: Ani, clip: int) -> Ani:
    """A file of one clip alone."""
    return replace(ani.with_clips(found, [clip]), trailing=b"")


def peek(path: Path) -> list[Entry]:
    """The clips of a file, or of all files of a list, from their headers alone. Raises `UserError`."""
    if path.suffix.lower() == DUMP:
        return [Entry(0, 0, path.stem, 0)]
    head = files.read_file(path, ani.HEADER.itemsize)
    if ani.MAGIC in head[: blocks.MAGIC_BYTES]:
        return [Entry(0, clip, name, frames) for clip, (name, frames) in enumerate(_table(path))]
    found = ani.read(files.read_file(path))
    if not isinstance(found, AniList):
        return []
    entries: list[Entry] = []
    for number, target in enumerate(
        target for _name, target in _listed(found, path, places.Disk()) if target is not None
    ):
        entries += [Entry(number, clip, name, frames) for clip, (name, frames) in enumerate(_table(target))]
    return entries


def _table(path: Path) -> list[tuple[str, int]]:
    """Name and length of each clip by the header; none where it cannot be right."""
    head = files.read_file(path, ani.HEADER.itemsize)
    if len(head) < ani.HEADER.itemsize or ani.MAGIC not in head[: blocks.MAGIC_BYTES]:
        return []
    count = int(np.frombuffer(head, ani.HEADER, 1)[0]["animation_count"])
    if not 0 < count <= _HEAD_CLIPS:
        return []
    raw = files.read_file(path, ani.HEADER.itemsize + 260 * count)[ani.HEADER.itemsize :]
    if len(raw) < 260 * count:
        return []
    lengths = np.frombuffer(raw, "<i4", count, 256 * count)
    return [(names.text(raw[256 * row : 256 * row + 256]), int(lengths[row])) for row in range(count)]


def write(found: AniSet | Ani | AniList | Anim) -> bytes:
    """The bytes of the file itself: of a list its text, `companions_of` gives the others."""
    if isinstance(found, anim.Anim):
        return anim.write(found)
    if not isinstance(found, AniSet):
        return ani.write(found)
    if found.is_dump:
        return anim.write(anim.from_ani(found.parts[0].found, 0))
    return found.raw or ani.write(found.parts[0].found)


def summary(found: AniSet) -> dict[str, Any]:
    """What `info` prints of a file with those that it lists."""
    if found.is_dump:
        return anim.summary(anim.from_ani(found.parts[0].found, 0))
    if not found.raw:
        return ani.summary(found.parts[0].found)
    listed = ani.summary(AniList(found.raw))
    return {**listed, "found": [{"file": part.name, **ani.summary(part.found)} for part in found.parts]}


def check(found: AniSet, game: str = "") -> list[Issue]:
    """Issues of all files of a set; errors first."""
    return sorted_issues([issue for part in found.parts for issue in check_ani(part.found, game)])


def companions_of(found: AniSet, path: Path) -> dict[Path, bytes]:
    """The listed files, to be written beside the list at `path`.

    Raises `ExportError` where one would replace it, or lie elsewhere: a .blend may say anything as a name.
    """
    if not found.raw:
        return {}
    bundle: dict[Path, bytes] = {}
    for part in found.parts:
        trouble = files.unsafe_name(part.name)
        if not trouble and not part.name.lower().endswith(_SUFFIX):
            trouble = f'does not end with "{_SUFFIX}"'
        if trouble:
            raise ExportError(f'the listed animation "{part.name[:80]}" cannot be written, as its name {trouble}')
        target = path.parent / part.name
        if part.name.lower() == path.name.lower():
            raise ExportError(f'the list itself would be written over "{part.name}", which it names; use another name')
        bundle[target] = ani.write(part.found)
    return bundle
