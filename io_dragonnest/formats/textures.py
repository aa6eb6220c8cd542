# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding textures by name: an SKN names files without a path, in any case, often with another extension.

Folders are listed once each, so that a model with many textures beside 50 000 files costs one listing.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

EXTENSIONS = (".dds", ".tga", ".png", ".jpg", ".jpeg", ".bmp")  # best first
MOST_ENTRIES = 200_000  # of all folders together; beyond it the search stops and says so
MOST_DEPTH = 6  # of folders in folders
MOST_FOLDERS = 4_000


def base_name(name: str) -> str:
    """The last part of a name that may hold a path of either kind of slash."""
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2].strip()


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@dataclass
class Index:
    """What lies where, nearest folder first. `truncated`: the limits were met, so that something may be missing."""

    truncated: bool = False
    _whole: dict[str, str] = field(default_factory=dict, repr=False)
    _stems: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    _listed: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _entries: int = field(default=0, repr=False)

    def __len__(self) -> int:
        """How many pictures are known."""
        return len(self._whole)

    def add(self, folder: str | Path, depth: int = 0) -> None:
        """List `folder` and, `depth` levels deep, the folders in it; level by level, so that what is nearer wins.

        A folder that is missing or may not be read holds nothing.
        """
        level = [os.fspath(folder)]
        for _level in range(min(depth, MOST_DEPTH) + 1):
            below: list[str] = []
            for path in level:
                below += self._list(path)
            level = below

    def _list(self, path: str) -> list[str]:
        """Take in the pictures of one folder, once; the folders in it."""
        try:
            place = os.path.realpath(path)
        except (OSError, ValueError):  # a loop of links, a NUL in the name
            return []
        if place in self._listed:
            return self._listed[place]
        if len(self._listed) >= MOST_FOLDERS:
            self.truncated = True
            return []
        folders = self._listed[place] = []
        found: list[str] = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    self._entries += 1
                    if self._entries > MOST_ENTRIES:
                        self.truncated = True
                        break
                    if os.path.splitext(entry.name)[1].lower() in EXTENSIONS:  # noqa: PTH122  (50 000 times)
                        found.append(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:  # missing, no permission
            return folders
        for name in sorted(found):
            self._take(path, name)
        folders.sort()
        return folders

    def _take(self, folder: str, name: str) -> None:
        key = _key(name)
        whole = os.path.join(folder, name)  # noqa: PTH118  (50 000 times)
        self._whole.setdefault(key, whole)
        stem, dot, extension = key.rpartition(".")
        self._stems.setdefault(stem, {}).setdefault(dot + extension, whole)

    def find(self, name: str) -> Path | None:
        """The picture called `name` in any case, or else one of that name with another extension; None without any."""
        key = _key(base_name(name))
        if key in self._whole:
            return Path(self._whole[key])
        stem, dot, extension = key.rpartition(".")
        if dot + extension not in EXTENSIONS:
            stem = key
        others = self._stems.get(stem, {})
        return next((Path(others[extension]) for extension in EXTENSIONS if extension in others), None)


def around(model: str | Path | None, extra: Iterable[str | Path] = ()) -> Index:
    """An index of the folder of `model` and those in it, its parent and its siblings, then the folders of `extra`.

    `extra` are the user's own folders, searched to their full depth. Without a `model` there are only these.
    """
    index = Index()
    if model is not None:
        folder = Path(model).absolute().parent
        index.add(folder, depth=1)
        if folder.parent != folder:
            index.add(folder.parent, depth=1)
        if folder.parent.parent not in {folder.parent, Path(folder.anchor)}:
            index.add(folder.parent.parent)
    for other in extra:
        index.add(other, depth=MOST_DEPTH)
    return index


def located(names: Iterable[str], index: Index) -> tuple[dict[str, Path], list[str]]:
    """Name -> picture of all `names`, and the names that were not found, each once, in order."""
    found: dict[str, Path] = {}
    missing: list[str] = []
    for name in dict.fromkeys(name for name in names if base_name(name)):
        path = index.find(name)
        if path is None:
            missing.append(name)
        else:
            found[name] = path
    return found, missing
