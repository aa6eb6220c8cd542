# SPDX-License-Identifier: GPL-3.0-or-later
"""The text form of an ANI: names of other ANI files, one a line.

The first gives skeleton and clips, the others clips.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import names

_LINES = re.compile(rb"[\r\n]+")
_PADDING = b' \t\0\x1a"'
_EXTENSION = b".ani"
# Editors put it before a text in UTF-8, which the names are then in, too.
_MARK = b"\xef\xbb\xbf"
_FIRST_OF_THREE_BYTES = "\u0800"
_MOST = 1 << 20  # bytes; a list of every file of the game is far smaller


@dataclass(frozen=True)
class AniList:
    """`raw`: the whole text as it stands, line ends included."""

    raw: bytes

    @property
    def files(self) -> list[str]:
        """The names, in order, without empty lines; they may hold a path."""
        lines = [line.strip(_PADDING) for line in _LINES.split(self.raw.removeprefix(_MARK))]
        if _is_utf8(self.raw):
            return [line.decode("utf-8", errors="backslashreplace") for line in lines if line]
        return [names.text(line) for line in lines if line]

    @staticmethod
    def of(files: list[str]) -> AniList:
        """A list of these names. Raises `ExportError` for a name that is no CP949."""
        return AniList(b"".join(names.encode(name, "file") + b"\r\n" for name in files))


def sniff(head: bytes, size: int) -> bool:
    """Whether every line of `head` names an ANI file; the last one may be cut off when the file goes on."""
    if not 0 < size <= _MOST:
        return False
    lines = _LINES.split(head.removeprefix(_MARK))
    if len(head) < size:
        lines = lines[:-1]
    found = [line.strip(_PADDING) for line in lines]
    found = [line for line in found if line]
    return bool(found) and all(_is_name(line) for line in found)


def _is_utf8(raw: bytes) -> bool:
    """Whether an editor of today wrote it, with a mark in front or without.

    Hangul is two bytes in CP949, and three in UTF-8, which CP949 reads as rare Chinese characters if at all; text in
    CP949 is UTF-8 by chance only where that means letters below U+0800.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.startswith(_MARK)
    return max(text, default="") >= _FIRST_OF_THREE_BYTES


def _is_name(line: bytes) -> bool:
    return line.lower().endswith(_EXTENSION) and len(line) <= names.LONGEST and all(byte >= 32 for byte in line)
