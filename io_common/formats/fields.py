# SPDX-License-Identifier: GPL-3.0-or-later
"""Names for byte offsets: which field of a file lies where. `verify` and the error messages speak through it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO


@dataclass(frozen=True)
class Section:
    """`count` records of `dtype`, the first at byte `offset`; `name` is the singular ("face")."""

    name: str
    offset: int
    dtype: np.dtype
    count: int = 1

    @property
    def end(self) -> int:
        """First byte behind the section."""
        return self.offset + self.count * self.dtype.itemsize


def locate(sections: Iterable[Section], offset: int) -> str:
    """Name the field at byte `offset`, for example `face 12, flags` or `header, vertex count`."""
    for section in sections:
        if section.offset <= offset < section.end:
            index, inside = divmod(offset - section.offset, section.dtype.itemsize)
            record = section.name if section.count == 1 else f"{section.name} {index}"
            field = _field(section.dtype, inside)
            return f"{record}, {field}" if field else record
    return "past the end"


def _field(dtype: np.dtype, inside: int) -> str:
    if dtype.names is None or dtype.fields is None:
        return ""
    for name in dtype.names:
        kind, start = dtype.fields[name][:2]
        if start <= inside < start + kind.itemsize:
            label = name.replace("_", " ")
            if kind.subdtype is None:
                return label
            item = kind.subdtype[0]
            return f"{label} {(inside - start) // item.itemsize}" if item.itemsize > 1 else label
    return ""


def first_difference(a: bytes, b: bytes) -> int | None:
    """Offset of the first byte that differs (the shorter length when one is a prefix of the other); None if equal."""
    if a == b:
        return None
    size = min(len(a), len(b))
    differs = np.frombuffer(a, np.uint8, size) != np.frombuffer(b, np.uint8, size)
    hits = np.flatnonzero(differs)
    return int(hits[0]) if len(hits) else size


def first_difference_of(stream: BinaryIO, pieces: Iterable[bytes]) -> tuple[int | None, int]:
    """As `first_difference`, of a file and of bytes that come in parts; and how many bytes came in all."""
    found: int | None = None
    total = 0
    for piece in pieces:
        if found is None:
            there = stream.read(len(piece))
            differs = first_difference(there, piece)
            found = None if differs is None else total + differs
        total += len(piece)
    if found is None and stream.read(1):
        found = total
    return found, total
