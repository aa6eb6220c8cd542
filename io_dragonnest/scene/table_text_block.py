# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as texts in Blender: a Text data-block holds the CSV, which says all that the file needs to be written back."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, FormatError, UserError, one_line
from ..formats import dnt, table_csv, table_text
from . import kept

if TYPE_CHECKING:
    from ..formats.table import Table

# A text of more characters makes the Text Editor too slow to be of use; a spreadsheet takes it.
MOST_CHARACTERS = 1 << 26


def is_table(text: bpy.types.Text | None) -> bool:
    """Whether a text came from a table."""
    return text is not None and kept.has(text, kept.TABLE)


def path_of(text: bpy.types.Text) -> Path:
    """The file that a text of a table came from, or was written to last."""
    return Path(os.fsdecode(kept.get(text, kept.TABLE, b"")))


def open_table(path: Path, encoding: str = "auto") -> tuple[bpy.types.Text, Table]:
    """A new text with the table at `path`, which it can be written back to. Raises as `from_bytes`."""
    data = files.read_file(path)
    text, table = from_bytes(path, data, encoding)
    _remember(text, path, data)
    return text, table


def from_bytes(path: Path, data: bytes, encoding: str = "auto") -> tuple[bpy.types.Text, Table]:
    """A new text with a table that is called as `path`. Raises `UserError`, and nothing was made then."""
    try:
        table = table_text.read_table(data, path)
        content = table_csv.write(table, encoding, plain=True).decode()
    except UserError as error:
        raise error.at(path) from error
    if len(content) > MOST_CHARACTERS:
        raise FileAccessError("the table is too large for the Text Editor; the command `table export` makes a CSV", path=path)
    text = bpy.data.texts.new(one_line(f"{path.stem}.csv"))
    text.from_string(content)
    return text, table


def written(text: bpy.types.Text, encoding: str = "") -> tuple[Table, bytes]:
    """The table that a text says, and its bytes. `encoding`: of its texts, if not what the first line says.

    Raises `UserError` that names line and column of the text for what makes no table.
    """
    try:
        table = table_csv.read(text.as_string().encode(errors="surrogatepass"), encoding)
        return table, dnt.write(table)
    except UserError as error:
        raise error.at(text.name) from error


def write_back(text: bpy.types.Text, path: Path, encoding: str = "", *, overwrite: bool = False) -> Table:
    """Write the table that a text says to `path`; the table.

    A file that is neither as it was when it was opened nor as it was written last stays, unless `overwrite` is set.
    Raises `UserError`, and neither the file nor the text has changed then.
    """
    table, data = written(text, encoding)
    if path.suffix.lower() not in table_text.TABLE_SUFFIXES:
        raise FileAccessError("the name of a table ends in .dnt or .ext", path=path)
    if path.suffix.lower() != f".{table.form}":
        raise FormatError(
            f"line 1, column 1 of the CSV says format={table.form}, which the name of the file does not", path=path
        )
    if not overwrite and path.is_file() and not _is_as_known(text, path):
        raise FileAccessError("the file is not the one that was opened, or was changed since, and is left as it is", path=path)
    files.save(path, data)
    _remember(text, path, data)
    return table


def _remember(text: bpy.types.Text, path: Path, data: bytes) -> None:
    kept.put(text, kept.TABLE, os.fsencode(path.absolute()))  # a file name need not be text
    kept.put(text, kept.TABLE_SUM, _sum(data))


def _is_as_known(text: bpy.types.Text, path: Path) -> bool:
    return is_table(text) and path.absolute() == path_of(text) and kept.get(text, kept.TABLE_SUM, "") == _sum(files.read_file(path))


def _sum(data: bytes) -> str:
    return f"{len(data)}-{zlib.crc32(data):08x}"
