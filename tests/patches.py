# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes to archives, for the tests of writing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from addon.io_dragonnest.formats import pak

from tests import archives
from tests.archives import Item

if TYPE_CHECKING:
    from pathlib import Path

CHANGES: dict[str, bytes | Path | None] = {
    "\\resource\\folder1\\file1.txt": b"changed" * 3000,
    "\\new\\file.txt": b"new" * 500,
    "\\resource\\folder2\\FILE2.txt": None,
}


def content(path: Path) -> dict[str, bytes]:
    """Key of a name -> content of every live entry."""
    with pak.open_archive(path) as archive:
        return {key: archive.read(number) for key, number in archive.live.items()}


def start(folder: Path, *, version: int = 11, **facts: Any) -> Path:
    items = [*archives.plain(), archives.deleted("\\gone"), Item("\\twice", b"1"), Item("\\twice", b"2")]
    path = folder / "a.pak"
    path.write_bytes(archives.make(items, version=version, **facts))
    return path


def expected(before: dict[str, bytes]) -> dict[str, bytes]:
    after = dict(before)
    for name, source in CHANGES.items():
        key = name.lower().lstrip("\\")
        if source is None:
            del after[key]
        else:
            after[key] = bytes(source)  # type: ignore[arg-type]
    return after
