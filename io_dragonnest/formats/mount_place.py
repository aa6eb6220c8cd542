# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading out of mounted archives: as the place that an import asks for files, and as a source of textures.

An entry has a path below that of its archive, `Resource01.pak/resource/char/hero.msh`, which exists nowhere: it is what
messages and names are made of, and where an import asks for what belongs beside it. Nothing is written to the disk.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, UserError
from . import mount_index, pak, pak_names
from .library import Library

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from .mounts import Catalogue
    from .pak import Archive

LIMIT = 1 << 28  # bytes of one file for an import; the largest of the game have some ten megabytes


class ArchivePlace:
    """The files of a catalogue, for one operation: archives are opened when needed, and closed at its end.

    They are not held any longer, as Windows lets nobody replace a file that is mapped, the game's patcher neither.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        """To be used by `with`, or closed."""
        self.catalogue = catalogue
        self._open: dict[int, Archive] = {}
        self._stack = contextlib.ExitStack()
        self._rows: dict[Path, int] = {}
        # The entries that were read by their paths, in order: what an import took in.
        self.taken: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all archives."""
        self._open.clear()
        self._stack.close()

    def archive(self, place: int) -> Archive:
        """The archive of number `place` in the catalogue, open. Raises `UserError` where it is not what was listed."""
        if place not in self._open:
            listing = self.catalogue.listings[place]
            if mount_index.stamp_of(listing.path) != listing.stamp:
                raise FileAccessError("the archive was changed meanwhile; list it anew", path=listing.path)
            self._open[place] = self._stack.enter_context(pak.open_archive(listing.path))
        return self._open[place]

    def content(self, row: int) -> bytes:
        """What an entry holds."""
        archive = self.archive(int(self.catalogue.archive[row]))
        return archive.read(int(self.catalogue.number[row]), LIMIT)

    def path_of(self, row: int) -> Path:
        """The path by which this place knows an entry."""
        listing = self.catalogue.listings[int(self.catalogue.archive[row])]
        parts = [
            part for part in self.catalogue.name(row).replace("/", "\\").split("\\") if part not in {"", ".", ".."}
        ]
        path = listing.path.joinpath(*(part.replace(":", "_").replace("\0", "_") for part in parts or ["entry"]))
        self._rows[path] = row
        return path

    def row_of(self, path: Path) -> int | None:
        """The entry that has been given this path; None for a file on the disk."""
        return self._rows.get(path)

    def read(self, path: Path) -> bytes:
        """As `places.Place`: an entry, or a file on the disk."""
        row = self.row_of(path)
        if row is None:
            return files.read_file(path)
        try:
            data = self.content(row)
        except UserError as error:
            raise error.at(path) from error
        self.taken.append(row)
        return data

    def beside(self, path: Path, names: Sequence[str]) -> list[Path | None]:
        """As `places.Place`: the folder of an entry comes first, then all the others, as the game knows no folders."""
        row = self.row_of(path)
        found = [None if row is None or not name else self.catalogue.beside(row, name) for name in names]
        return [None if other is None else self.path_of(other) for other in found]

    def texture(self, name: str) -> bytes | None:
        """As `library.Resolver`: the file of that name in any folder; None where there is none that can be read."""
        row = self.catalogue.by_base_name(name)
        if row is None:
            return None
        with contextlib.suppress(UserError):
            return self.content(row)
        return None

    def library(self) -> Library:
        """Where an import out of these archives looks for textures: the user's folders first, then the archives."""
        return Library(resolvers=[self.texture], use_around=False)


def find(catalogue: Catalogue, name: str) -> int:
    """The live entry called `name`, by its full name or else by its last part. Raises `UserError` without one."""
    row = catalogue.find(name)
    if row is None and pak_names.SEPARATOR not in name.replace("/", pak_names.SEPARATOR).strip(pak_names.SEPARATOR):
        row = catalogue.by_base_name(name)
    if row is None:
        raise UserError(f'no mounted archive has an entry "{name[:120]}"')
    return row
