# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of a CAT as they stand: sections, entries, values, and what is only for people."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_END = re.compile(r"(\r\n|\n|\r)")
_COMMENT = r"\s*(?:(?://|;|#).*)?$"
_SECTION = re.compile(r"\s*\[([^\]]*)\]" + _COMMENT)
_ENTRY = re.compile(r"\s*(?:animation_id|sound_id)\b\s*=?\s*(-?\d{1,9})" + _COMMENT, re.IGNORECASE)
_QUOTED = re.compile(r'\s*([\w.-]+)\s*=\s*"([^"]*)"' + _COMMENT)
_PLAIN = re.compile(r"\s*([\w.-]+)\s*=\s*")
_BEHIND = re.compile(r"\s(?://|;|# )")  # starts a remark behind a value without quotes
_REMARK = re.compile(r"\s*(?:#|//|;|$)")
_TAIL = "\0\x1a \t\r\n"  # with NULs or Ctrl+Z old editors end a text

SECTION, ENTRY, PAIR, OTHER, NONSENSE = "section", "entry", "pair", "other", "nonsense"
LISTS = ("animations", "sounds")
_KNOWN = ("", "general", *LISTS)


@dataclass(frozen=True)
class Line:
    """One line: what `kind` it is, in which `section` (small letters), its `text`, its `end`, its `offset` in bytes.

    `number` of an entry; `key` (small letters) and `value` of a pair, which stands at `start` to `stop` of the text.
    To the end belongs what old editors put behind a whole text.
    """

    kind: str
    section: str
    text: str
    end: str = ""
    offset: int = 0
    number: int = -1
    key: str = ""
    start: int = 0
    stop: int = 0

    @property
    def value(self) -> str:
        """What a pair says, as it can be shown."""
        return shown(self.text[self.start : self.stop])


def encoding(data: bytes) -> str:
    """UTF-8 where the bytes of a text are such, else Windows-1252; plain texts are both."""
    try:
        bytes(data).decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "cp1252" if bytes(data).isascii() else "utf-8"


def shown(text: str) -> str:
    """Bytes that mean nothing in their alphabet, as the sign for such."""
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text)


def lines(data: bytes, magic: str) -> list[Line]:
    """The lines of a text, in order. `magic`: the word that it starts with."""
    code, offset, section = encoding(data), 0, ""
    found: list[Line] = []
    whole = bytes(data).decode(code, errors="surrogateescape")
    parts = _END.split(whole)
    left = len(whole.rstrip(_TAIL))
    for text, end in zip(parts[::2], [*parts[1::2], ""], strict=True):
        said = text[: max(left, 0)]
        line = replace(_told(said, section, magic), end=text[len(said) :] + end, offset=offset)
        section = line.section
        found.append(line)
        offset += len((text + end).encode(code, errors="surrogateescape"))
        left -= len(text + end)
    return found


def _told(text: str, section: str, magic: str) -> Line:
    plain = text.removeprefix("\ufeff").strip()
    if header := _SECTION.match(plain):
        return Line(SECTION, header[1].strip().lower(), text)
    if plain == magic or _REMARK.match(plain) or section not in _KNOWN:
        return Line(OTHER, section, text)
    if entry := _ENTRY.match(plain):
        return Line(ENTRY, section, text, number=int(entry[1]))
    if pair := _QUOTED.match(text):
        return Line(PAIR, section, text, key=pair[1].lower(), start=pair.start(2), stop=pair.end(2))
    if pair := _PLAIN.match(text):
        remark = _BEHIND.search(text, max(pair.end() - 1, 0))
        value = text[pair.end() : remark.start() if remark else None].rstrip()
        return Line(PAIR, section, text, key=pair[1].lower(), start=pair.end(), stop=pair.end() + len(value))
    return Line(NONSENSE, section, text)
