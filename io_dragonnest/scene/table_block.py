# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as CSV in Text data-blocks."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, UserError
from ...io_common.scene import armature
from ..formats import dnt, table_csv, table_encoding, table_guess, table_text
from . import kept


def open_table(path: Path, encoding: str = "") -> tuple[bpy.types.Text, int]:
    """A new Text that holds the table at `path` as a CSV, and the number of its rows.

    `encoding`: that of the texts in the table, one of `table_encoding.ENCODINGS`; "" guesses it. Raises `UserError`; no
    data-block is made then.
    """
    try:
        table = table_text.read_table(files.read_file(path), path)
    except UserError as error:
        raise error.at(path) from error
    content = table_csv.write(table, encoding or table_guess.guess(table), plain=True).decode()
    block = bpy.data.texts.new(armature.fit_name(path.name, bpy.types.Text))
    block.from_string(content)
    block.cursor_set(0)
    block[kept.TABLE] = str(path.absolute())
    return block, len(table)


def is_table(block: bpy.types.Text | None) -> bool:
    """Whether a Text was opened out of a table."""
    return block is not None and isinstance(block.get(kept.TABLE), str)


def place(block: bpy.types.Text) -> Path:
    """Where the table of a Text lies."""
    return Path(bpy.path.abspath(block[kept.TABLE]))


def encoding_of(block: bpy.types.Text) -> str:
    """What people call the encoding that the first line of a Text names; "" where it names none that is known."""
    first = block.lines[0].body if len(block.lines) else ""
    named = next(
        (word.partition("=")[2] for word in first.replace(",", " ").split() if word.startswith("encoding=")), ""
    )
    return table_encoding.ENCODINGS.get(named.strip('"'), ("", ""))[1]


def write_table(block: bpy.types.Text, path: Path, encoding: str = "") -> int:
    """Write the table that the CSV in a Text says to `path`; the number of its rows.

    `encoding`, if given, takes the place of the one that the first line names. Raises `UserError` with line and column
    where the CSV makes no table; the file is as it was then.
    """
    try:
        table = table_csv.read(block.as_string().encode("utf-8", "surrogateescape"), encoding)
    except UserError as error:
        raise ExportError(f'the Text "{block.name}" makes no table: {error}', path=path) from error
    files.save_all({path: dnt.write(table)})
    return len(table)
