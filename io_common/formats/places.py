# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the files of an import lie: on the disk, or somewhere else that gives them paths, such as archives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from . import files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Place(Protocol):
    """What an import asks for files. A path that it hands out need not exist on the disk."""

    def read(self, path: Path) -> bytes:
        """All bytes of the file at `path`. Raises `UserError` where it is missing or cannot be read."""
        ...

    def beside(self, path: Path, names: Sequence[str]) -> list[Path | None]:
        """For each of `names` the file called so, in any case, that belongs beside `path`; None without one."""
        ...


class Disk:
    """Files are where their paths say."""

    def read(self, path: Path) -> bytes:
        """As `files.read_file`."""
        return files.read_file(path)

    def beside(self, path: Path, names: Sequence[str]) -> list[Path | None]:
        """The files in the folder of `path`, which is listed once."""
        wanted = {name.lower() for name in names}
        try:
            found = sorted((entry for entry in path.parent.iterdir() if entry.name.lower() in wanted), reverse=True)
        except OSError:
            found = []
        there = {entry.name.lower(): entry for entry in found}
        return [there.get(name.lower()) for name in names]


def of(options: Any) -> Place:
    """The place that the options of an import name; the disk where they name none."""
    found: Place | None = getattr(options, "place", None)
    return Disk() if found is None else found
