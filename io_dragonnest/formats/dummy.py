# SPDX-License-Identifier: GPL-3.0-or-later
"""Dummies of an MSH: named places to hang weapons and effects on.

MSH 13 stores name, parent and a matrix. Older ones store name and position, and only if the name begins with `L` a
parent follows: the `L` is a mark and no part of the name. A dummy without a parent whose real name starts with L can
therefore not be written there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError, FormatError
from . import blocks, names

if TYPE_CHECKING:
    from ...io_common.formats.reader import Reader

MATRIX_FROM = 13
_MARK = b"L"


def _identity() -> npt.NDArray[np.float32]:
    return np.eye(4, dtype="<f4")


@dataclass(eq=False)
class Dummy:
    """`name`: raw bytes, without the mark; `parent`: the raw 256-byte field, None where the file has none.

    `matrix` (4, 4) f32 relative to the parent, rows for row vectors, translation in the last row. Of files before
    MSH 13 only the translation is stored, the rest is the identity.
    """

    name: bytes = b""
    parent: bytes | None = None
    matrix: npt.NDArray[np.float32] = field(default_factory=_identity)

    @property
    def label(self) -> str:
        """The name as text."""
        return names.text(self.name)


def least(version: int) -> int:
    """Bytes that any dummy takes at the least."""
    return 2 * names.FIELD + 64 if version >= MATRIX_FROM else names.FIELD + 12


def read(reader: Reader, number: int, version: int) -> Dummy:
    """The next dummy. Raises `FormatError` where it is not whole or its place is no number."""
    what = f"dummy {number}"
    name = bytes(reader.take(names.FIELD, f"the name of {what}"))
    if version >= MATRIX_FROM:
        parent = bytes(reader.take(names.FIELD, f"the parent of {what}"))
        start = reader.offset
        matrix = reader.array("<f4", 16, f"numbers of {what}").reshape(4, 4)
        blocks.require_finite_rows(matrix, start, f"{what}: matrix row")
        return Dummy(name, parent, matrix)
    found = Dummy(name)
    start = reader.offset
    found.matrix[3, :3] = reader.array("<f4", 3, f"coordinates of {what}")
    blocks.require_finite_rows(found.matrix[3:, :3], start, f"{what}: position")
    if name.startswith(_MARK):
        found.name = name[len(_MARK) :]
        found.parent = bytes(reader.take(names.FIELD, f"the parent of {what}"))
    return found


def read_all(reader: Reader, count: int, version: int) -> list[Dummy]:
    """The next `count` dummies. Raises `FormatError` likewise, with the likely cause in files older than MSH 13."""
    found: list[Dummy] = []
    marked = b""
    for number in range(count):
        start = reader.offset
        if not marked and version < MATRIX_FROM and reader.data[start : start + 1] == _MARK:
            marked = bytes(reader.data[start : start + names.FIELD])
        try:
            found.append(read(reader, number, version))
        except FormatError as error:
            if marked:
                error.found += (
                    f'; the name "{names.text(marked)[:80]}" begins with an L, which marks a dummy with a parent in '
                    f"MSH {version}: if it has none, nothing can read this file, so rename the dummy where it was "
                    "made, or write it as MSH 13"
                )
            raise
    return found


def write(dummy: Dummy, version: int) -> bytes:
    """The inverse of `read`. Raises `ExportError` for the one name that MSH 12 and older cannot hold."""
    if version >= MATRIX_FROM:
        matrix = np.ascontiguousarray(dummy.matrix, "<f4").tobytes()
        return names.padded(dummy.name) + names.padded(dummy.parent or b"") + matrix
    trouble = unwritable(dummy, version)
    if trouble:
        raise ExportError(trouble)
    place = np.ascontiguousarray(dummy.matrix[3, :3], "<f4").tobytes()
    if dummy.parent is None:
        return names.padded(dummy.name) + place
    return names.padded(_MARK + dummy.name) + place + names.padded(dummy.parent)


def unwritable(dummy: Dummy, version: int) -> str:
    """Why an MSH of `version` cannot hold the dummy, as a clause; empty if it can."""
    if version >= MATRIX_FROM:
        return ""
    if dummy.parent is None and dummy.name.startswith(_MARK):
        return (
            f'the dummy "{dummy.label}" has no parent, and MSH {version} would take the L that its name begins with '
            f"for the mark of one; give it a parent bone (or {names.SCENE_ROOT}), rename it, or export as MSH 13"
        )
    if dummy.parent is not None and len(dummy.name.split(b"\0", 1)[0]) > names.LONGEST:
        return (
            f'the name of the dummy "{dummy.label[:80]}" is one byte too long for MSH {version}, which marks dummies '
            "with a parent by a letter; shorten it, or export as MSH 13"
        )
    return ""


def converted(dummy: Dummy, version: int) -> Dummy:
    """The dummy as an MSH of `version` holds it; what older versions cannot hold (rotation, scale) is lost there."""
    if version >= MATRIX_FROM:
        return Dummy(dummy.name, dummy.parent or bytes(names.FIELD), dummy.matrix)
    place = _identity()
    place[3, :3] = dummy.matrix[3, :3]
    parent = dummy.parent if dummy.parent and names.text(dummy.parent) else None
    return Dummy(dummy.name, parent, place)
