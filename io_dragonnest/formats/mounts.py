# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives mounted together, as the game does it: of entries with one name the one in the last archive is the file.

Within one archive it is the last that is not deleted (see `pak.State`). That a later archive overrides an earlier one
is what the tools for the game agree on; that the game takes its archives in the order of their names is their practice.
"""

from __future__ import annotations

import bisect
import enum
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import FileAccessError
from ...io_common.formats.order import natural
from . import pak_names
from .pak import State
from .pak_search import NameIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from .mount_index import Listing


class Mark(enum.IntEnum):
    """What an entry is good for among all that are mounted; the first three as in `pak.State`."""

    LIVE = 0
    DELETED = 1
    SHADOWED = 2
    OVERRIDDEN = 3


@dataclass(frozen=True)
class Entry:
    """One entry of a catalogue: where it is, what it is called there, and what became of it."""

    archive: Path
    name: str
    number: int
    size: int
    mark: Mark

    @property
    def base_name(self) -> str:
        """The last part of its name."""
        return pak_names.base_name(self.name)


class Catalogue:
    """The entries of all mounted archives in the order of their names, those of one name in mount order.

    Entries are called by their row. `listings` are in mount order; per row (n,): `archive` its place among them,
    `number` its place in that archive, `original` its size in bytes, `marks` its `Mark`.
    """

    def __init__(self, listings: Sequence[Listing] = ()) -> None:
        """Nothing is read; the rows are put in order."""
        self.listings = tuple(listings)
        every = [key for listing in self.listings for key in listing.keys]
        counts = [len(listing) for listing in self.listings]
        order = sorted(range(len(every)), key=every.__getitem__)
        rows = np.array(order, np.int64)
        self.keys = [every[number] for number in order]
        self.archive = np.repeat(np.arange(len(counts)), counts)[rows].astype(np.int32)
        self.number = (np.concatenate([np.arange(count) for count in counts]) if counts else np.zeros(0, int))[rows]
        self.original = _joined([listing.original for listing in self.listings], np.uint32)[rows]
        states = _joined([listing.states for listing in self.listings], np.uint8)[rows]
        self.marks = _marks(self.keys, states)

    def __len__(self) -> int:
        return len(self.keys)

    def prepare(self) -> None:
        """Make what searching needs, so that the first letter typed does not wait for it."""
        self._index.prepare()

    @cached_property
    def _index(self) -> NameIndex:
        return NameIndex(self.keys)

    @cached_property
    def _live(self) -> dict[str, int]:
        return {self.keys[row]: row for row in np.flatnonzero(self.marks == Mark.LIVE).tolist()}

    @cached_property
    def _bases(self) -> dict[str, int]:
        """Base name -> row; of several the one in the last archive."""
        live = np.flatnonzero(self.marks == Mark.LIVE)
        live = live[np.argsort(self.archive[live], kind="stable")].tolist()
        return {self.keys[row].rpartition(pak_names.SEPARATOR)[2]: row for row in live}

    def name(self, row: int) -> str:
        """The name of an entry as it stands in its archive."""
        return self.listings[int(self.archive[row])].names[int(self.number[row])]

    def entry(self, row: int) -> Entry:
        """All there is to say of an entry."""
        archive = self.listings[self.archive[row]].path
        return Entry(
            archive, self.name(row), int(self.number[row]), int(self.original[row]), Mark(int(self.marks[row]))
        )

    def find(self, name: str) -> int | None:
        r"""The live entry with this full name, in either case, with `/` or `\`; None where there is none."""
        return self._live.get(pak_names.key(name))

    def by_base_name(self, name: str) -> int | None:
        """The live entry whose last part is that of `name`, whatever its folder; None where there is none."""
        return self._bases.get(pak_names.key(pak_names.base_name(name)))

    def beside(self, row: int, name: str) -> int | None:
        """The live entry called `name` in the folder of entry `row`, else in any folder; None where there is none."""
        base = pak_names.key(pak_names.base_name(name))
        folder, separator, _own = self.keys[row].rpartition(pak_names.SEPARATOR)
        near = self._live.get(folder + separator + base)
        return self._bases.get(base) if near is None else near

    def row_of(self, archive: Path, name: str) -> int | None:
        """The last entry of this name in this archive, whatever became of it; None where there is none."""
        key = pak_names.key(name)
        low = bisect.bisect_left(self.keys, key)
        found = None
        while low < len(self.keys) and self.keys[low] == key:
            if self.listings[self.archive[low]].path == archive:
                found = low
            low += 1
        return found

    def search(self, query: str, *, only_live: bool = False) -> npt.NDArray[np.int64]:
        """The rows that `query` finds, in order: by words or wildcards, see `NameIndex.search`."""
        rows = self._index.search(query)
        return rows[self.marks[rows] == Mark.LIVE] if only_live else rows

    def with_suffix(self, *suffixes: str) -> list[int]:
        """The live entries whose names end with one of `suffixes` (lower case), in order."""
        return [row for key, row in self._live.items() if key.endswith(suffixes)]


def _joined(arrays: list[npt.NDArray[np.generic]], kind: type) -> npt.NDArray[np.generic]:
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)


def _marks(keys: list[str], states: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    """Of live entries with one name only the last stays so. The order of one name is that of the archives."""
    marks: npt.NDArray[np.uint8] = states.astype(np.uint8)
    live = np.flatnonzero(states == State.LIVE)
    found = [keys[row] for row in live.tolist()]
    same = np.fromiter((one == other for one, other in pairwise(found)), bool, max(len(live) - 1, 0))
    marks[live[:-1][same] if len(live) else live] = Mark.OVERRIDDEN
    return marks


def patch_name(found: Sequence[Path]) -> str:
    """A file name for a new archive that comes after those of `found`: that of the last, with the next number."""
    last = max((path.name for path in found), key=natural, default="")
    numbered = re.fullmatch(r"(.*?)([0-9]+)(\.[^.]*)", last)
    if numbered is None:
        return f"{last.rpartition('.')[0]}_patch.pak" if last else "patch.pak"
    start, number, suffix = numbered.groups()
    return f"{start}{int(number) + 1:0{len(number)}}{suffix}"


def taken_after(path: Path, others: Iterable[Path]) -> list[Path]:
    """Those of `others` that the game takes after `path`, as they lie in the same folder and their names come later."""
    return [other for other in others if other.parent == path.parent and natural(other.name) > natural(path.name)]


def archives_in(folders: Iterable[Path]) -> list[Path]:
    """All archives that lie in the game folders themselves, folder by folder, in the natural order of their names.

    Raises `FileAccessError` for a folder that cannot be listed.
    """
    found: list[Path] = []
    for folder in folders:
        try:
            paths = [path for path in folder.iterdir() if path.suffix.lower() == ".pak" and path.is_file()]
        except OSError as error:
            raise FileAccessError(f"this folder cannot be listed ({error.strerror or error})", path=folder) from error
        found += sorted(paths, key=lambda path: natural(path.name))
    return found
