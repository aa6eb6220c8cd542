# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the textures of one import come from: folders, each listed once, then other sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...io_common.formats import files
from ...io_common.formats.errors import UserError
from . import textures
from .pictures import Picture

if TYPE_CHECKING:
    from pathlib import Path

# A file name without a path -> the bytes of that file, None where there is none.
Resolver = Callable[[str], "bytes | None"]


@dataclass(eq=False)
class Library:
    """One for each call of an import, so that many models in one folder cost one listing.

    `resolvers` are asked in order for what no folder has; a name is tried as it stands, then with other extensions.
    Without `use_around` the folders around a model are left alone: what came out of an archive has none.
    """

    resolvers: list[Resolver] = field(default_factory=list)
    use_around: bool = True
    _indexes: dict[tuple[Path | None, tuple[str, ...]], textures.Index] = field(default_factory=dict, repr=False)

    def index(self, model: Path, folders: Iterable[str] = ()) -> textures.Index:
        """The index around `model`, made at the first need."""
        key = (model.absolute().parent if self.use_around else None, tuple(folders))
        if key not in self._indexes:
            self._indexes[key] = textures.around(model if self.use_around else None, key[1])
        return self._indexes[key]

    def find(self, name: str, model: Path, folders: Iterable[str] = ()) -> Picture | None:
        """The picture that a file at `model` calls `name`; None where there is none, or it cannot be read.

        Only the last part of a name counts: a path in a file never leads anywhere.
        """
        wanted = textures.base_name(name)
        if not wanted:
            return None
        path = self.index(model, folders).find(wanted)
        if path is not None:
            try:
                return Picture(name, files.read_file(path), path)
            except UserError:
                return None
        for resolver in self.resolvers:
            for candidate in candidates(wanted):
                data = resolver(candidate)
                if data is not None:
                    return Picture(name, data)
        return None


def candidates(name: str) -> list[str]:
    """The names under which a texture may lie: as it stands, then with the other extensions, best first."""
    stem, dot, extension = name.rpartition(".")
    if dot + extension.lower() not in textures.EXTENSIONS:
        stem = name
    return list(dict.fromkeys([name, *(stem + suffix for suffix in textures.EXTENSIONS)]))
