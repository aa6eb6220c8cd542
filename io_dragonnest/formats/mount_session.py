# SPDX-License-Identifier: GPL-3.0-or-later
"""The mounted archives of a running Blender: which there are, what was searched, what was found and ticked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import UserError
from . import mount_index, pak_names
from .mounts import Catalogue, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from .actors import Actor
    from .mount_index import Listing

MOST = 1000  # matches that are listed


class Session:
    """Nothing is read before `refresh`; then `catalogue` holds what all archives hold that can be read.

    `problems`: archive -> the sentence that says why it cannot be read. `matches`: the first `MOST` rows
    that the search found, `total`: how many it found in all.
    """

    def __init__(self) -> None:
        """Nothing is mounted."""
        self.catalogue = Catalogue()
        self.problems: dict[Path, str] = {}
        self.matches: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.total = 0
        self.is_read = False
        self.active = 0
        # The characters of the catalogue, once they were asked for.
        self.actors: list[Actor] | None = None
        # The archive that was last written to.
        self.patch: Path | None = None
        self._query = ""
        self._only_live = True
        self._ticked: set[tuple[Path, str]] = set()

    def refresh(self, paths: Sequence[Path], folder: Path | None, step: Callable[[float], None] | None = None) -> bool:
        """Take in what changed on the disk since the last time; whether anything did. `folder` keeps listings.

        `step` is called with the part that is done, and may raise `Cancelled`; all stays as it was then.
        """
        reading = self.reading(paths, folder)
        while True:
            try:
                fraction, _name = next(reading)
            except StopIteration as done:
                return bool(done.value)
            if step is not None:
                step(fraction)

    def reading(self, paths: Sequence[Path], folder: Path | None) -> Generator[tuple[float, str], None, bool]:
        """As `refresh`, archive by archive: before each the part that is done, and its name.

        Nothing changes before the last step, so that it can be left off at any.
        """
        known = {listing.path: listing for listing in self.catalogue.listings}
        listings: list[Listing] = []
        problems: dict[Path, str] = {}
        for number, path in enumerate(paths):
            yield number / len(paths), path.name
            try:
                old = known.get(path)
                listings.append(
                    old if old and mount_index.stamp_of(path) == old.stamp else mount_index.load(path, folder)
                )
            except UserError as error:
                problems[path] = str(error.at(path))
        same = self.is_read and listings == list(self.catalogue.listings)
        if same:
            self.problems = problems
            return False
        yield 1.0, "names"
        catalogue = Catalogue(listings)
        catalogue.prepare()
        chosen = self.entry(self.active)
        self.catalogue, self.problems, self.is_read, self.actors = catalogue, problems, True, None
        self._search()
        self._choose(chosen)
        return True

    @property
    def query(self) -> str:
        """What is searched."""
        return self._query

    @property
    def only_live(self) -> bool:
        """Whether only the entries are found that the game would take."""
        return self._only_live

    def search(self, query: str | None = None, *, only_live: bool | None = None) -> None:
        """Search anew, with what is given changed."""
        self._query = self._query if query is None else query
        self._only_live = self._only_live if only_live is None else only_live
        self._search()
        self.active = 0

    def all_matches(self) -> npt.NDArray[np.int64]:
        """The rows of all matches, listed or not."""
        return self.catalogue.search(self._query, only_live=self._only_live)

    def _search(self) -> None:
        found = self.all_matches()
        self.total, self.matches = len(found), found[:MOST]

    def entry(self, place: int) -> Entry | None:
        """The match at `place` in the list; None where there is none."""
        return self.catalogue.entry(int(self.matches[place])) if 0 <= place < len(self.matches) else None

    def choose(self, name: str) -> bool:
        """Make the match called `name` the active one; whether there is one."""
        place = self._place(self.catalogue.find(name))
        self.active = self.active if place is None else place
        return place is not None

    def _choose(self, entry: Entry | None) -> None:
        row = self.catalogue.row_of(entry.archive, entry.name) if entry is not None else None
        self.active = self._place(row) or 0

    def _place(self, row: int | None) -> int | None:
        """Where a row is in the list; None where it is not."""
        places = np.flatnonzero(self.matches == (-1 if row is None else row))
        return int(places[0]) if len(places) else None

    # Ticks stay with their entries, whatever is searched next.

    def is_ticked(self, place: int) -> bool:
        """Whether the match at `place` is ticked."""
        entry = self.entry(place)
        return entry is not None and (entry.archive, pak_names.key(entry.name)) in self._ticked

    def tick(self, place: int, *, use: bool) -> None:
        """Tick the match at `place`, or take its tick away."""
        entry = self.entry(place)
        if entry is not None:
            key = (entry.archive, pak_names.key(entry.name))
            (self._ticked.add if use else self._ticked.discard)(key)

    def untick(self) -> None:
        """Take all ticks away."""
        self._ticked.clear()

    def ticked(self) -> list[int]:
        """The rows that are ticked, in order, found by the search or not."""
        rows = (self.catalogue.row_of(archive, name) for archive, name in self._ticked)
        return sorted(row for row in rows if row is not None)

    def selected(self) -> list[int]:
        """The rows that buttons are about: those that are ticked, or else the active one."""
        rows = self.ticked()
        if not rows and 0 <= self.active < len(self.matches):
            rows = [int(self.matches[self.active])]
        return rows
