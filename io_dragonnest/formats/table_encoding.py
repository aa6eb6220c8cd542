# SPDX-License-Identifier: GPL-3.0-or-later
r"""The texts of a table as bytes, in whatever encoding its client used, and as Unicode, without loss.

A byte that is no text in the encoding becomes `\xHH`; so does every byte of a character that would not survive a
spreadsheet or an editor (control characters but tab and line feed). A backslash is itself, but where it would begin
such an escape it becomes `\x5c`. So any bytes come back, and what looks like an escape always is one.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from ...io_common.formats.errors import ExportError
from .table import LONGEST, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The names that users choose from -> (Python's name, what people call it).
ENCODINGS = {
    "cp949": ("cp949", "Korean (CP949)"),
    "utf-8": ("utf-8", "Unicode (UTF-8)"),
    "gb18030": ("gb18030", "Simplified Chinese (GB18030)"),
    "big5": ("big5", "Traditional Chinese (Big5)"),
    "tis-620": ("tis_620", "Thai (TIS-620)"),
    "windows-1252": ("cp1252", "Western (windows-1252)"),
}

_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")
# What must not be shown as it is: control characters, the other line ends of Unicode, a backslash before `xHH`.
_AWKWARD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\\\\(?=x[0-9a-fA-F]{2})")
# Bytes that stand for themselves in every encoding here and never are part of a longer character.
_SEPARATORS = (b"\0", b"\x1e", b"\x1f", b"\n")


def codec_of(encoding: str) -> str:
    """Python's name of one of `ENCODINGS`."""
    return ENCODINGS[encoding][0]


def decode(raw: bytes, encoding: str) -> str:
    """Any bytes as a text; `encode` gives them back."""
    codec = codec_of(encoding)
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError:
        return _decoded_in_parts(raw, codec)
    return _tidy(text, codec) if text.encode(codec, "replace") == raw else _decoded_by_characters(raw, codec)


def _decoded_in_parts(raw: bytes, codec: str) -> str:
    parts: list[str] = []
    while raw:
        try:
            raw.decode(codec)
            parts.append(_decoded_by_characters(raw, codec))
            break
        except UnicodeDecodeError as error:
            parts.append(_decoded_by_characters(raw[: error.start], codec))
            end = max(error.end, error.start + 1)
            parts.append(_escaped(raw[error.start : end]))
            raw = raw[end:]
    return "".join(parts)


def _decoded_by_characters(raw: bytes, codec: str) -> str:
    """Bytes that are text, where two codes may mean one character, of which only one comes back."""
    if raw.decode(codec).encode(codec, "replace") == raw:
        return _tidy(raw.decode(codec), codec)
    decoder = codecs.getincrementaldecoder(codec)()
    parts: list[str] = []
    waiting = b""
    for number in range(len(raw)):
        byte = raw[number : number + 1]
        waiting += byte
        char = decoder.decode(byte)
        if char:
            same = char.encode(codec, "replace") == waiting
            parts.append(_tidy(char, codec) if same else _escaped(waiting))
            waiting = b""
    # Characters were made tidy one by one, so a backslash may stand before "xHH" yet.
    return _joined(parts)


def _joined(parts: list[str]) -> str:
    """Characters and escapes as one text; a lone backslash must not become an escape by what follows it."""
    text = ""
    for part in reversed(parts):
        literal = part == "\\" and _ESCAPE.match("\\" + text)
        text = (r"\x5c" if literal else part) + text
    return text


def _tidy(text: str, codec: str) -> str:
    return _AWKWARD.sub(lambda match: _escaped(match[0].encode(codec)), text)


def _escaped(raw: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in raw)


def encode(text: str, encoding: str) -> bytes:
    """The bytes of a text. `ExportError` for a character that the encoding does not have."""
    codec = codec_of(encoding)
    try:
        if "\\x" not in text:
            return text.encode(codec)
        # Literal and digits of an escape in turn.
        parts = _ESCAPE.split(text)
        return b"".join(bytes.fromhex(part) if number % 2 else part.encode(codec) for number, part in enumerate(parts))
    except UnicodeEncodeError as error:
        char = error.object[error.start]
        shown = f'"{char}" (U+{ord(char):04X})' if char.isprintable() else f"U+{ord(char):04X}"
        name = ENCODINGS[encoding][1]
        raise ExportError(f"the text holds the character {shown}, which the encoding {name} does not have") from error


def decode_all(texts: Texts, encoding: str) -> list[str]:
    """`decode` of every text of a column, all at once where its bytes are text."""
    codec = codec_of(encoding)
    if not len(texts):
        return []
    for separator in _SEPARATORS:
        joined = texts.joined(separator[0])
        if joined.count(separator) != len(texts):
            continue  # a text holds it
        try:
            whole = joined.decode(codec)
        except UnicodeDecodeError:
            break
        if whole.encode(codec, "replace") != joined:
            break
        found = whole[:-1].split(separator.decode())
        return [_tidy(text, codec) for text in found] if _troubled(whole, separator.decode()) else found
    known: dict[bytes, str] = {}
    raws = (texts[row] for row in range(len(texts)))
    return [known[raw] if raw in known else known.setdefault(raw, decode(raw, encoding)) for raw in raws]


def _troubled(whole: str, separator: str) -> bool:
    return _AWKWARD.search(whole.replace(separator, "")) is not None


def encode_all(texts: Sequence[str], encoding: str) -> Texts:
    """`encode` of every text. `ExportError` for the first that cannot be, which does not say which it is."""
    joined = "\0".join(texts)
    if "\\x" not in joined and joined.count("\0") == len(texts) - 1:
        raws = encode(joined, encoding).split(b"\0")
    else:
        raws = [encode(text, encoding) for text in texts]
    return Texts.of(raws)


def trouble(text: str, encoding: str) -> str:
    """Why a text cannot be a cell, as a clause; empty if it can."""
    try:
        size = len(encode(text, encoding))
    except ExportError as error:
        return error.reason
    return f"the text takes {size} bytes, more than the {LONGEST} that a table holds" if size > LONGEST else ""


def choose(wanted: str, guess: Callable[[], str]) -> str:
    """The encoding that a user named, or where that is "auto", what `guess` says."""
    return guess() if wanted in {"", "auto"} else wanted
