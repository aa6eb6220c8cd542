# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as CSV in Text data-blocks, out of files or archives and back."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, FileAccessError, UserError, one_line
from ...io_common.scene import armature
from ..formats import dnt, pak_names, table_csv, table_encoding, table_guess, table_text
from . import kept

if TYPE_CHECKING:
    from ...io_common.formats.digest import Digest
    from ..formats.mounts import Catalogue
    from ..formats.table import Table

# Where archives of the game have their tables.
_FOLDER = "\\resource\\ext\\"
_SUFFIXES = tuple(table_text.TABLE_SUFFIXES)
_HEAD = re.compile(r'"?id[" ,;\t]', re.IGNORECASE)


def open_table(path: Path, encoding: str = "") -> tuple[bpy.types.Text, int]:
    """A new Text that holds the table at `path` as a CSV, and the number of its rows.

    `encoding`: that of the texts in the table, one of `table_encoding.ENCODINGS`; "" guesses it. Raises `UserError`; no
    data-block is made then.
    """
    data = files.read_file(path)
    block, rows = from_bytes(path, data, encoding)
    _remember(block, path, data)
    return block, rows


def from_bytes(path: Path, data: bytes, encoding: str = "") -> tuple[bpy.types.Text, int]:
    """As `open_table`, of a table that is called as `path` and does not lie on the disk."""
    try:
        table = table_text.read_table(data, path)
    except UserError as error:
        raise error.at(path) from error
    content = table_csv.write(table, encoding or table_guess.guess(table), plain=True).decode()
    block = bpy.data.texts.new(armature.fit_name(one_line(path.name), bpy.types.Text))
    block.from_string(content)
    block.cursor_set(0)
    return block, len(table)


def _remember(block: bpy.types.Text, path: Path, data: bytes) -> None:
    """Note where the table lies, and what it holds there. A path that is no text cannot be kept."""
    name = str(path.absolute())
    if one_line(name) == name:
        kept.put(block, kept.TABLE, name)
        kept.put(block, kept.TABLE_SUM, _sum(data))


def _sum(data: bytes) -> str:
    return f"{len(data)}-{zlib.crc32(data):08x}"


def known(block: bpy.types.Text) -> str:
    """What says which content the file of a Text had when it was read or written last. Undo takes it back, too."""
    return str(kept.get(block, kept.TABLE_SUM, ""))


def is_csv(block: bpy.types.Text | None) -> bool:
    """Whether a Text begins as the CSV of a table does."""
    return block is not None and len(block.lines) > 0 and _HEAD.match(block.lines[0].body) is not None


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


def _table(block: bpy.types.Text, path: Path, encoding: str) -> Table:
    try:
        return table_csv.read(block.as_string().encode("utf-8", "surrogateescape"), encoding)
    except UserError as error:
        raise ExportError(f'the Text "{block.name}" makes no table: {error}', path=path) from error


def write_table(
    block: bpy.types.Text, path: Path, encoding: str = "", *, overwrite: bool = False, written: str = ""
) -> int:
    """Write the table that the CSV in a Text says to `path`; the number of its rows.

    `encoding`, if given, takes the place of the one that the first line names. Raises `UserError` with line and column
    where the CSV makes no table, and where the file is not as this Text knows it (nor `written`, see `known`), unless
    `overwrite` is set; the file is as it was then.
    """
    table = _table(block, path, encoding)
    if path.is_file() and not overwrite and _sum(files.read_file(path)) not in {known(block), written}:
        raise FileAccessError(
            "another program has changed the file since it was opened, and it is left as it is; tick Overwrite, or "
            "write to another file",
            path=path,
        )
    data = dnt.write(table)
    files.save_all({path: data})
    if not is_table(block) or place(block) == path:
        _remember(block, path, data)
    return len(table)


def remember_entry(block: bpy.types.Text, archive: Path, name: str) -> None:
    """Note that a table came out of the entry called `name` of an archive. A path that is no text cannot be kept."""
    place = str(archive)
    kept.put(block, kept.TABLE_ENTRY, name)
    kept.put(block, kept.ARCHIVE, place if one_line(place) == place else one_line(archive.name))


def entry_of(block: bpy.types.Text) -> tuple[str, str] | None:
    """The last part of the entry that a table came out of, and the file name of the archive; None without one."""
    if not kept.has(block, kept.TABLE_ENTRY):
        return None
    name, archive = str(kept.get(block, kept.TABLE_ENTRY, "")), str(kept.get(block, kept.ARCHIVE, ""))
    return pak_names.base_name(name), Path(archive).name


def proposed_entry(block: bpy.types.Text, catalogue: Catalogue) -> str:
    """The entry that a table goes back to: its own, or else the one with its file name, or else a new one.

    A new one is proposed where the known archives have their tables.
    """
    if kept.has(block, kept.TABLE_ENTRY):
        return str(kept.get(block, kept.TABLE_ENTRY, ""))
    base = place(block).name if is_table(block) else block.name
    if not base.lower().endswith(_SUFFIXES):
        base = f"{base}.dnt"
    row = catalogue.by_base_name(base)
    return catalogue.name(row) if row is not None else _FOLDER + base.lower()


def bundle(
    block: bpy.types.Text, catalogue: Catalogue, name: str, digest: Digest, encoding: str = ""
) -> dict[str, bytes]:
    """The table of a Text as the entry called `name`, spelt as the one that is there: name -> what it shall hold.

    Raises `UserError` where the CSV makes no table, or `name` is not that of one.
    """
    base = pak_names.base_name(name)
    if not base.lower().endswith(_SUFFIXES):
        raise ExportError(f'"{base[:80]}" is no table, expected the name of a DNT or EXT entry')
    table = _table(block, Path(base), encoding)
    if not base.lower().endswith(f".{table.form}"):
        digest.add(f'the first line says format={table.form}, so "{base[:80]}" holds that, whatever it is called')
    row = catalogue.find(name)
    return {name if row is None else catalogue.name(row): dnt.write(table)}
