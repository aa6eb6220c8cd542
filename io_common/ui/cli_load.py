# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a file for a command: which format it is, its model, and the model in Blender's scene."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy

from ..formats import files, registry
from ..formats.digest import Digest
from ..formats.errors import UserError
from ..scene import transfer
from . import preferences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..formats.registry import Format
    from .cli_options import Flags


@dataclass(frozen=True)
class Loaded:
    """A file that was read; `model` is what the reader of `entry` made of its `size` bytes, with its companions."""

    path: Path
    size: int
    entry: Format
    model: Any
    digest: Digest


def identify(path: Path, formats: Sequence[Format]) -> Format:
    """The format of a file by its content."""
    head, size = files.read_head(path, registry.HEAD)
    return registry.identify(head, path, formats, size)


@contextlib.contextmanager
def opened(path: Path, formats: Sequence[Format], flags: Flags) -> Iterator[Loaded]:
    """Read a file without touching the scene. The model of a lazy format is of use inside the block only."""
    entry = identify(path, formats)
    if entry.lazy is None:
        yield load(path, formats, flags)
        return
    with entry.lazy.open(path) as model:
        yield Loaded(path, files.read_head(path, 0)[1], entry, model, Digest())


def load(path: Path, formats: Sequence[Format], flags: Flags) -> Loaded:
    """Read a file whole, without touching the scene."""
    data = files.read_file(path)
    entry = registry.identify(data, path, formats)
    digest = Digest()
    try:
        model = entry.read(data)
        if entry.companions is not None:
            model = entry.companions(model, path, import_options(entry, flags), digest)
    except UserError as error:
        raise error.at(path) from error
    return Loaded(path, len(data), entry, model, digest)


def import_file(
    path: Path, entry: Format, formats: Sequence[Format], flags: Flags, digest: Digest
) -> list[bpy.types.Object]:
    """Bring a file into the scene, as the import operator does."""
    return transfer.import_file(bpy.context, entry, path, transfer.Job(import_options(entry, flags), digest, formats))


def import_options(entry: Format, flags: Flags) -> Any:
    """The import options of a format as the user set them, with the texture folders of the preferences."""
    folders = preferences.search_folders(bpy.context)
    return flags.build(entry.import_options, entry.label, search_folders=folders)
