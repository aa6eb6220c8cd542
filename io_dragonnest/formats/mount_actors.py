# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters out of mounted archives: the actor table and, where that counts instead of naming, the file names.

In the one real actor table that is known, models and animations are numbers of rows in another table. What that is
called is not known, so it is found by what it says: the table whose texts at these rows are models of the archives.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import UserError
from . import actors, dnt, pak_names
from .table import TEXT

if TYPE_CHECKING:
    from .actors import Actor
    from .mount_place import ArchivePlace
    from .table import Table

TABLE = "actortable.dnt"
_TABLES = ".dnt"
_HEAD = 1 << 16  # bytes of a table that are looked at before it is read
_MOST = 1 << 26  # bytes of a table of file names
_COVERED = 0.5  # how many of the numbers have to be rows of a table of file names


def read(place: ArchivePlace) -> list[Actor]:
    """The characters that have a model. Raises `UserError` where there is no table of them, or a bad one."""
    row = place.catalogue.by_base_name(TABLE)
    if row is None:
        raise UserError(f'no mounted archive holds "{TABLE}", the table of characters')
    try:
        table = dnt.read_dnt(place.content(row))
        found = actors.of(table)
        if actors.needs_file_names(found):
            found = _named(place, table, found)
    except UserError as error:
        raise error.at(TABLE) from error
    named = [actor for actor in found if actor.skin]
    if not named and any(actor.skin_number for actor in found):
        raise UserError(
            "the table has numbers instead of the names of models, and no table in the archives has their names",
            path=TABLE,
        )
    if not named:
        raise UserError("the table of characters names no model", path=TABLE)
    return named


def _named(place: ArchivePlace, table: Table, found: list[Actor]) -> list[Actor]:
    """`found` with the file names of the table that names most models of the archives; as it is without one."""
    numbers = np.unique([actor.skin_number for actor in found if actor.skin_number])
    best, most = found, 0
    for row in _candidates(place, len(numbers)):
        with contextlib.suppress(UserError):  # a damaged table is none that names anything
            other = dnt.read_dnt(place.content(row))
            if np.isin(numbers, other.ids).mean() < _COVERED:
                continue
            named = actors.of(table, other)
            here = sum(1 for actor in named if actor.skin and place.catalogue.by_base_name(actor.skin) is not None)
            if here > most:
                best, most = named, here
    return best


def _candidates(place: ArchivePlace, count: int) -> list[int]:
    """The tables that can have so many file names, by their headers."""
    catalogue = place.catalogue
    own = pak_names.SEPARATOR + TABLE
    rows = [
        row for row in catalogue.with_suffix(_TABLES) if not (pak_names.SEPARATOR + catalogue.keys[row]).endswith(own)
    ]
    sizes = catalogue.original[rows].astype(np.int64)
    # A row has an id and the length of a text at the least.
    fitting = np.flatnonzero((sizes >= 6 * _COVERED * count) & (sizes <= _MOST)).tolist()
    return [rows[number] for number in fitting if _can_name(place, rows[number], count)]


def _can_name(place: ArchivePlace, row: int, count: int) -> bool:
    try:
        head = place.head(row, _HEAD)
        rows, kinds = dnt.peek(head)
    except UserError:
        return False
    return TEXT in kinds and rows >= _COVERED * count
