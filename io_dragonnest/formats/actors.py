# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters as the game's actor table names them: which model and which animations each has.

The table is actortable.dnt. Its column `_StaticName` is what the game's scripts call an actor; `_SkinName` and
`_AniName`
are file names, or in newer clients numbers of rows in a table of file names, which then has to be at hand as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import FormatError, UserError
from . import dnt, table_encoding, table_guess
from .table import INT, TEXT, Column, Table, Texts

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME, _SKIN, _ANI = "_staticname", "_skinname", "_aniname"
_SUFFIXES = (".skn", ".ani")
_MODELS = (".skn", ".msh")


@dataclass(frozen=True)
class Actor:
    """One row. `skin` and `ani` are file names with their extensions, empty where the table names none.

    `skin_number` and `ani_number` are the row ids in the table of file names; 0 where the actor table has names itself
    or the actor has no such file. With a number but no name, the table of file names lacks it, or was not given.
    """

    id: int
    name: str
    skin: str
    ani: str
    skin_number: int = 0
    ani_number: int = 0


def read(data: bytes, file_names: bytes | None = None, encoding: str = "auto") -> list[Actor]:
    """All actors of a table, in its order. `data` and `file_names` are DNT files.

    Raises `FormatError` where the table is no actor table or cannot be read.
    """
    return of(dnt.read_dnt(data), None if file_names is None else dnt.read_dnt(file_names), encoding)


def of(table: Table, file_names: Table | None = None, encoding: str = "auto") -> list[Actor]:
    """As `read`, of tables."""
    found = {column.name.decode("latin-1").lower(): column for column in reversed(table.columns)}
    missing = [name for name in (_NAME, _SKIN, _ANI) if name not in found]
    if missing or not isinstance(found[_NAME].cells, Texts):
        raise FormatError(
            "this is no table of actors",
            expected="text column _StaticName and columns _SkinName and _AniName",
            found=f"no column {' or '.join(missing)}" if missing else "numbers in _StaticName",
        )
    chosen = table_encoding.choose(encoding, lambda: table_guess.guess(table))
    labels = _texts(found[_NAME], chosen)
    skins, skin_numbers = _files(found[_SKIN], ".skn", file_names, chosen)
    anis, ani_numbers = _files(found[_ANI], ".ani", file_names, chosen)
    rows = zip(table.ids.tolist(), labels, skins, anis, skin_numbers, ani_numbers, strict=True)
    return [Actor(*row) for row in rows]


def needs_file_names(actors: Iterable[Actor]) -> bool:
    """Whether an actor has the number of a file but not its name: a table of file names is wanted."""
    return any((actor.skin_number and not actor.skin) or (actor.ani_number and not actor.ani) for actor in actors)


def names_files_of(actors: Iterable[Actor], content: bytes) -> bool:
    """Whether a DNT is the table of file names that actors count in: it has models for at least half of them."""
    wanted = [actor.skin_number for actor in actors if actor.skin_number]
    if not wanted or not any(suffix.encode() in content.lower() for suffix in _MODELS):
        return False
    try:
        known = _named(dnt.read_dnt(content))
    except UserError:  # another kind of table, or a damaged one
        return False
    return 2 * sum(known.get(number, "").lower().endswith(_MODELS) for number in wanted) >= len(wanted)


def search(actors: Iterable[Actor], words: str) -> list[Actor]:
    """The actors whose name, file names or id hold every word, in any letter case; all for no words."""
    wanted = words.lower().split()
    return [actor for actor in actors if all(word in _haystack(actor) for word in wanted)]


def _haystack(actor: Actor) -> str:
    return f"{actor.id} {actor.name} {actor.skin} {actor.ani}".lower()


def _texts(column: Column, encoding: str) -> list[str]:
    cells = column.cells
    return table_encoding.decode_all(cells, encoding) if isinstance(cells, Texts) else [""] * len(cells)


def _files(column: Column, suffix: str, names: Table | None, encoding: str) -> tuple[list[str], list[int]]:
    """The file name and the number of a file of every row."""
    if column.kind == TEXT:
        found = [_with_suffix(text, suffix) for text in _texts(column, encoding)]
        return found, [0] * len(found)
    if column.kind != INT:
        raise FormatError(f"column {column.name.decode('latin-1')} holds neither names nor whole numbers")
    numbers = np.maximum(np.asarray(column.cells), 0).tolist()
    known = {} if names is None else _named(names)
    return [_with_suffix(known.get(number, ""), suffix) if number else "" for number in numbers], numbers


def _named(names: Table) -> dict[int, str]:
    """Row id -> file name: of the text column that names most models and animations, or else of the first."""
    columns = [column for column in names.columns if column.kind == TEXT]
    if not columns:
        raise UserError("the table of file names has no column of texts")
    encoding = table_guess.guess(names)
    listed = [_texts(column, encoding) for column in columns]
    best = max(listed, key=lambda texts: sum(text.lower().endswith(_SUFFIXES) for text in texts))
    # The game takes the first of rows with one id.
    return dict(zip(reversed(names.ids.tolist()), reversed(best), strict=True))


def _with_suffix(name: str, suffix: str) -> str:
    """A file name out of a table: no folders, and its extension."""
    plain = name.replace("/", "\\").rpartition("\\")[2].strip()
    if not plain or plain.lower().endswith(suffix):
        return plain
    stem, dot, extension = plain.rpartition(".")
    # A model may be named by its mesh; its materials are what leads to everything.
    return stem + suffix if dot and extension.lower() in {"msh", "skn", "ani"} else plain + suffix
