# SPDX-License-Identifier: GPL-3.0-or-later
"""CAT, the text that puts a character of the mobile game together: its 3DN, its animations (ANI) and sounds (WAV).

First line `carnivores_character`, then sections `[general]` (title, model), `[animations]` (count, then `animation_id
N` with a file and maybe a sound_index) and `[sounds]` (count, `sound_id N` with a file). Files are named without
suffix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import FormatError
from ...io_common.formats.fields import Section
from . import cat_edit, cat_text

if TYPE_CHECKING:
    from .cat_text import Line

MAGIC = "carnivores_character"
NO_SOUND = -1
MOST_ENTRIES = 1024  # of a list; the largest that came with the game has a few dozen, the other engines hold 64
_UNSAYABLE = re.compile(r'["\x00-\x1f\x7f]')
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class CatAnimation:
    """`file` without suffix; `sound`: number of its sound, -1 for none."""

    file: str
    sound: int = NO_SOUND


@dataclass
class Cat:
    """One character. `source` is the text it was read from, of which only what was changed is written anew."""

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
    number = -1
    for line in cat_text.lines(data, MAGIC):
        shown = cat_text.shown(line.text.strip())
        if _CONTROL.search(shown):
            raise FormatError(
                "a line of the character description holds characters that no text has",
                offset=line.offset,
                expected="text",
                found=f'"{shown[:40]}"',
            )
        if line.kind == cat_text.SECTION:
            number = -1
        elif line.kind == cat_text.ENTRY:
            number = line.number
            _open(cat, line.section, number, line.offset)
        elif line.kind == cat_text.PAIR:
            _set(cat, line, number)
        elif line.kind == cat_text.NONSENSE:
            raise FormatError(
                "a line of the character description cannot be understood",
                offset=line.offset,
                expected="a section, an id or a value",
                found=f'"{shown[:40]}"',
            )
    if not cat.model:
        raise FormatError("the character description names no model", offset=0, expected='model = "…" under [general]')
    return cat


def _open(cat: Cat, section: str, number: int, offset: int) -> None:
    if section not in cat_text.LISTS:
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


def _set(cat: Cat, line: Line, number: int) -> None:
    section, key, value = line.section, line.key, line.value
    if section == "general" and key in ("title", "model"):
        setattr(cat, key, value)
    elif section == "animations" and number >= 0 and key == "file":
        cat.animations[number] = CatAnimation(value, cat.animations[number].sound)
    elif section == "animations" and number >= 0 and key == "sound_index":
        if not re.fullmatch(r"-?\d{1,9}", value):
            raise FormatError(
                "a sound index is not a number", offset=line.offset, expected="a number", found=f'"{value[:40]}"'
            )
        cat.animations[number] = CatAnimation(cat.animations[number].file, int(value))
    elif section == "sounds" and number >= 0 and key == "file":
        cat.sounds[number] = value


def plain(name: str, encoding: str = "cp1252") -> str:
    """`name` as such a text can say it: what has no place in it (quotes, other alphabets) becomes an underscore."""
    known = (char.encode(encoding, errors="ignore").decode(encoding) for char in name)
    return _UNSAYABLE.sub("_", "".join(char or "_" for char in known))


def write(cat: Cat) -> bytes:
    """`Cat` to bytes: the source as it was, with the values that changed, or a new text in the style of the game's."""
    if not cat.source:
        return _new(cat)
    if read(cat.source) == cat:
        return cat.source
    encoding = cat_text.encoding(cat.source)
    wanted = Cat(
        plain(cat.title, encoding),
        plain(cat.model, encoding),
        [CatAnimation(plain(entry.file, encoding), entry.sound) for entry in cat.animations],
        [plain(name, encoding) for name in cat.sounds],
    )
    text = cat_edit.edited(
        cat_text.lines(cat.source, MAGIC),
        {"title": wanted.title, "model": wanted.model},
        {
            "animations": [{"file": entry.file, "sound_index": _index(entry.sound)} for entry in wanted.animations],
            "sounds": [{"file": name} for name in wanted.sounds],
        },
    ).encode(encoding, errors="surrogateescape")
    # What its author wrote in another way than any that is known goes into a new text.
    return text if _is(text, wanted) else _new(cat)


def _index(sound: int) -> str:
    return "" if sound == NO_SOUND else str(sound)


def _is(text: bytes, wanted: Cat) -> bool:
    try:
        return read(text) == wanted
    except FormatError:
        return False


def _new(cat: Cat) -> bytes:
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
