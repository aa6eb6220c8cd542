# SPDX-License-Identifier: GPL-3.0-or-later
"""CAT, the text that puts a character of the mobile game together: its 3DN, its animations (ANI) and sounds (WAV).

First line `carnivores_character`, then sections `[general]` (title, model), `[animations]` (count, then `animation_id
N` with a file and maybe a sound_index) and `[sounds]` (count, `sound_id N` with a file). Files are named without
suffix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...io_common.formats.errors import FormatError
from ...io_common.formats.fields import Section

MAGIC = "carnivores_character"
NO_SOUND = -1
MOST_ENTRIES = 1024  # of a list; the largest that came with the game has a few dozen, the other engines hold 64
_PAIR = re.compile(r'^(\w+)\s*=\s*(?:"([^"]*)"|(\S.*?))\s*$')
_ENTRY = re.compile(r"^(animation_id|sound_id)\s+(-?\d{1,9})\s*$")
_UNSAYABLE = re.compile(r'["\x00-\x1f\x7f]')
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class CatAnimation:
    """`file` without suffix; `sound`: number of its sound, -1 for none."""

    file: str
    sound: int = NO_SOUND


@dataclass
class Cat:
    """One character. `source` is the text it was read from, which goes back as it was while nothing was changed."""

    title: str = ""
    model: str = ""
    animations: list[CatAnimation] = field(default_factory=list)
    sounds: list[str] = field(default_factory=list)
    source: bytes = field(default=b"", compare=False)


def sniff(head: bytes, size: int) -> bool:
    """Whether the first line is the magic word."""
    del size
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(MAGIC.encode())


def read(data: bytes) -> Cat:
    """Bytes to `Cat`. Raises `FormatError` with the offset of the first line that makes no sense."""
    cat = Cat(source=bytes(data))
    if not sniff(data[:64], len(data)):
        raise FormatError("this is not a character description", offset=0, expected=f'the word "{MAGIC}"')
    section, number, offset = "", -1, 0
    for raw in data.split(b"\n"):
        line = raw.decode("cp1252", errors="replace").strip().removeprefix("ï»¿")
        if _CONTROL.search(line):
            raise FormatError(
                "a line of the character description holds characters that no text has",
                offset=offset,
                expected="text",
                found=f'"{line[:40]}"',
            )
        if line.startswith("[") and line.endswith("]"):
            section, number = line[1:-1].strip().lower(), -1
        elif entry := _ENTRY.match(line):
            number = int(entry[2])
            _open(cat, section, number, offset)
        elif pair := _PAIR.match(line):
            _set(cat, section, number, pair[1].lower(), pair[2] if pair[2] is not None else pair[3], offset)
        elif line and line != MAGIC and not line.startswith(("#", "//", ";")):
            raise FormatError(
                "a line of the character description cannot be understood",
                offset=offset,
                expected="a section, an id or a value",
                found=f'"{line[:40]}"',
            )
        offset += len(raw) + 1
    if not cat.model:
        raise FormatError("the character description names no model", offset=0, expected='model = "…" under [general]')
    return cat


def _open(cat: Cat, section: str, number: int, offset: int) -> None:
    if section not in ("animations", "sounds"):
        raise FormatError(
            "an entry of the character description stands in no list",
            offset=offset,
            expected="[animations] or [sounds] above it",
            found=f"[{section[:40]}]" if section else "no section",
        )
    listed: list[Any] = cat.animations if section == "animations" else cat.sounds
    if number != len(listed):
        raise FormatError(
            f"the entries under [{section}] are not numbered in order",
            offset=offset,
            expected=str(len(listed)),
            found=str(number),
        )
    if number >= MOST_ENTRIES:
        raise FormatError(
            f"there are too many entries under [{section}]", offset=offset, expected=f"{MOST_ENTRIES} at the most"
        )
    listed.append(CatAnimation("") if section == "animations" else "")


def _set(cat: Cat, section: str, number: int, key: str, value: str, offset: int) -> None:
    if section == "general" and key in ("title", "model"):
        setattr(cat, key, value)
    elif section == "animations" and number >= 0 and key == "file":
        cat.animations[number] = CatAnimation(value, cat.animations[number].sound)
    elif section == "animations" and number >= 0 and key == "sound_index":
        if not re.fullmatch(r"-?\d{1,9}", value):
            raise FormatError("a sound index is not a number", offset=offset, expected="a number", found=f'"{value}"')
        cat.animations[number] = CatAnimation(cat.animations[number].file, int(value))
    elif section == "sounds" and number >= 0 and key == "file":
        cat.sounds[number] = value


def plain(name: str) -> str:
    """`name` as such a text can say it: what has no place in it (quotes, other alphabets) becomes an underscore."""
    known = (char.encode("cp1252", errors="ignore").decode("cp1252") for char in name)
    return _UNSAYABLE.sub("_", "".join(char or "_" for char in known))


def write(cat: Cat) -> bytes:
    """`Cat` to bytes: the source as it was, or a new text in the style of the game's own when something changed."""
    if cat.source and read(cat.source) == cat:
        return cat.source
    lines = [MAGIC, "", "[general]", f'title = "{plain(cat.title)}"', f'model = "{plain(cat.model)}"', ""]
    lines += ["[animations]", f"count = {len(cat.animations)}", ""]
    for number, animation in enumerate(cat.animations):
        lines += [f"animation_id {number}", f'\tfile = "{plain(animation.file)}"']
        if animation.sound != NO_SOUND:
            lines.append(f"\tsound_index = {animation.sound}")
    lines += ["", "[sounds]", f"count = {len(cat.sounds)}", ""]
    for number, file in enumerate(cat.sounds):
        lines += [f"sound_id {number}", f'\tfile = "{plain(file)}"']
    return "\r\n".join([*lines, ""]).encode("cp1252")


def sections(data: bytes) -> list[Section]:
    """A text has only characters."""
    return [Section("character", 0, np.dtype("u1"), len(data))]


def summary(cat: Cat) -> dict[str, Any]:
    """What `info` prints of a character description."""
    return {
        "title": cat.title,
        "model": cat.model,
        "animations": [{"file": entry.file, "sound": entry.sound} for entry in cat.animations],
        "sounds": list(cat.sounds),
    }
