# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Dragon Nest files: CP949 text in 256-byte fields or behind a length, measured in bytes.

The text ends at the first NUL. What follows the NUL is undefined (the games write it from uninitialised memory), so the
raw bytes are what the models hold, and the functions here turn them into text and back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError

ENCODING = "cp949"
FIELD = 256
LONGEST = FIELD - 1  # bytes of text in a field: readers want the NUL
SCENE_ROOT = "Scene Root"  # stands for "no parent"
FIELD_DTYPE = np.dtype(f"V{FIELD}")


def text(raw: bytes) -> str:
    r"""The text of a raw name. Bytes that are no CP949 become `\xff`, so that different names stay different."""
    return raw.split(b"\0", 1)[0].decode(ENCODING, errors="backslashreplace")


def texts(fields: npt.NDArray[Any]) -> list[str]:
    """The text of every field of a (n,) array of `FIELD_DTYPE`."""
    return [text(bytes(raw)) for raw in fields.tolist()]


def key(name: str | bytes) -> str:
    """What two names have in common that mean the same node: the game compares without regard to case."""
    return (text(name) if isinstance(name, bytes) else name).rstrip(" ").lower()


def is_root(parent: str | bytes | None) -> bool:
    """Whether a parent's name stands for no parent: empty or "Scene Root"."""
    return parent is None or key(parent) in {"", SCENE_ROOT.lower()}


def fits(name: str, most: int = LONGEST) -> str:
    """Why `name` cannot stand in a file, as the end of a sentence; empty if it can."""
    try:
        size = len(name.encode(ENCODING))
    except UnicodeEncodeError as error:
        return f'holds "{name[error.start]}", which Korean Windows text (CP949) does not have'
    if "\0" in name:
        return "holds a NUL character"
    return f"takes {size} bytes in CP949, more than the {most} that a file holds" if size > most else ""


def encode(name: str, what: str, most: int = LONGEST) -> bytes:
    """`name` as CP949 without a NUL. Raises `ExportError` that names `what` ("bone") where it cannot be."""
    trouble = fits(name, most)
    if trouble:
        raise ExportError(f'the {what} name "{name[:80]}" {trouble}; rename it')
    return name.encode(ENCODING)


def field(name: str, what: str = "node") -> bytes:
    """`name` as a field of 256 bytes, NUL-padded. Raises `ExportError` like `encode`."""
    return encode(name, what).ljust(FIELD, b"\0")


def lpstr(name: str, what: str = "node") -> bytes:
    """`name` as the bytes that stand behind a length: with one NUL, which the length counts."""
    return encode(name, what, 0x7FFF) + b"\0"


def kept(raw: bytes, name: str, what: str = "node") -> bytes:
    """The field `raw` while it still says `name` (its leftovers are kept then), else a new field."""
    return raw.ljust(FIELD, b"\0") if text(raw) == name else field(name, what)


def padded(raw: bytes) -> bytes:
    """`raw` as exactly 256 bytes."""
    return raw[:FIELD].ljust(FIELD, b"\0")


def fields(raws: list[bytes]) -> npt.NDArray[Any]:
    """Raw names as a (n,) array of `FIELD_DTYPE`."""
    return np.frombuffer(b"".join(padded(raw) for raw in raws), FIELD_DTYPE)
