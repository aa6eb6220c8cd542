# SPDX-License-Identifier: GPL-3.0-or-later
r"""Names of archive entries: `\resource\char\hero.msh` in fields of 256 bytes, CP949, compared without regard to case.

Bytes that are no CP949 become the private characters U+F780 to U+F7FF, one for each, and go back to the same bytes:
unlike an escape with a backslash they are no path separator, and unlike halves of a character every file system takes
them, so that extracting and packing again loses nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, UserError
from . import names

SEPARATOR = "\\"

# The halves of a character that Python decodes a foreign byte to <-> the characters that stand for them here.
_SHOWN = {0xDC80 + byte: 0xF780 + byte for byte in range(128)}
_BYTES = {0xF780 + byte: 0xDC80 + byte for byte in range(128)}


def text(raw: bytes) -> str:
    """The text of a raw name, which ends at the first NUL."""
    return raw.split(b"\0", 1)[0].decode(names.ENCODING, "surrogateescape").translate(_SHOWN)


def texts(fields: npt.NDArray[Any]) -> list[str]:
    """The text of every field of a (n,) array of `names.FIELD_DTYPE`; as `text`, but all of them at once."""
    if not len(fields):
        return []
    # As strings of numpy they come without the NULs at their end; within one there are NULs if there are leftovers.
    raws = fields.view(f"S{names.FIELD}").tolist()
    joined = b"\0".join(raws)
    if joined.count(0) != len(raws) - 1:
        raws = [raw.split(b"\0", 1)[0] for raw in raws]
        joined = b"\0".join(raws)
    try:
        # No character of CP949 goes across a NUL: the whole is decoded to the same as its parts.
        return joined.decode("ascii" if joined.isascii() else names.ENCODING).split("\0")
    except UnicodeDecodeError:
        return [text(raw) for raw in raws]


def encode(name: str) -> bytes:
    """`name` as a field of 256 bytes. Raises `ExportError` where it has no place in one."""
    if "\0" in name:
        raise ExportError(f'the archive name "{name[:80]}" holds a NUL character; rename it')
    try:
        raw = name.translate(_BYTES).encode(names.ENCODING, "surrogateescape")
    except UnicodeEncodeError as error:
        character = name[error.start]
        raise ExportError(
            f'the archive name "{name[:80]}" holds "{character}", which Korean Windows text (CP949) does not have; '
            "rename it"
        ) from error
    if not raw or len(raw) > names.LONGEST:
        raise ExportError(
            f'the archive name "{name[:80]}" takes {len(raw)} bytes in CP949, expected 1 to {names.LONGEST}; rename it'
        )
    return raw.ljust(names.FIELD, b"\0")


def key(name: str) -> str:
    r"""What names that mean the same entry have in common: no case, `\` between the parts, none in front."""
    return name.replace("/", SEPARATOR).lstrip(SEPARATOR).lower()


def keys(found: list[str]) -> list[str]:
    """The key of every name."""
    if not found:
        return []
    lowered = ("\0" + "\0".join(found)).replace("/", SEPARATOR).lower()
    while "\0" + SEPARATOR in lowered:
        lowered = lowered.replace("\0" + SEPARATOR, "\0")
    return lowered[1:].split("\0")


def base_name(name: str) -> str:
    """The last part of a name."""
    return name.replace("/", SEPARATOR).rpartition(SEPARATOR)[2]


def safe_parts(name: str) -> tuple[str, ...]:
    """The folders and the file that `name` is extracted to, below whatever folder was chosen.

    Raises `UserError` for a name that is `unsafe`.
    """
    trouble = unsafe(name)
    if trouble:
        raise UserError(f'the entry "{name[:80]}" is not extracted: {trouble}')
    return _parts(name)


def unsafe(name: str) -> str:
    r"""Why `name` would lead out of a folder, or Windows has no file for it, as a clause; empty if it is sound.

    `..`, drives, `\\server\share`, reserved names such as CON and COM1.txt, streams (`a.txt:b`), dots or spaces at the
    end, control characters. They are refused on every system, so that what is extracted is the same everywhere.
    """
    plain = name.replace("/", SEPARATOR)
    if plain.startswith(SEPARATOR * 2):
        return "its name is that of a network path"
    parts = _parts(name)
    if not parts or plain.endswith(SEPARATOR):
        return "its name has no file in it"
    for part in parts:
        trouble = "leads out of the folder" if part in {".", ".."} else files.unsafe_name(part)
        if trouble:
            return f'"{part[:80]}" in its name {trouble}'
    return ""


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.replace("/", SEPARATOR).split(SEPARATOR) if part)


def fields_of(raws: list[bytes]) -> npt.NDArray[Any]:
    """Fields of 256 bytes as a (n,) array."""
    return np.frombuffer(b"".join(raws), names.FIELD_DTYPE)
