# SPDX-License-Identifier: GPL-3.0-or-later
"""`table`: the words of its commands, and those that make texts of whole tables and tables of texts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, UserError
from ...io_common.ui import cli_inputs
from ...io_common.ui.cli_inputs import Source, UsageError
from ..formats import dnt, table_encoding, table_guess, table_text
from . import cli_table_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...io_common.formats.registry import Format
    from ...io_common.ui.cli_output import Console
    from ...io_common.ui.command_line import AddParser, Subparsers

_EXPORT = """Texts lie beside their tables, or below --out. A CSV opens in every spreadsheet, which may save it
again; with --bom
Excel sees that it is in UTF-8. `table import` makes the same table of either, to the byte where nothing was changed.
Bytes that are no text become \\xHH, and come back."""
_IMPORT = """FILE is a CSV or JSON lines, as `table export` writes them. Its first line says whether the table is a
DNT or an EXT."""


class TableCommand:
    """The group of commands."""

    def add(self, commands: Subparsers, add_parser: AddParser) -> None:
        """Make the parsers of the group."""
        group = commands.add_parser(
            "table",
            help="Dragon Nest tables (DNT, EXT) to CSV and JSON lines and back; read, edit and compare their rows",
            description="Work on Dragon Nest tables.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        actions = group.add_subparsers(dest="action", required=True, metavar="COMMAND", title="commands")
        parser = add_parser(actions, "export", "make a CSV or JSON lines of tables", _EXPORT)
        parser.add_argument("paths", nargs="+", metavar="TABLE", help="tables, folders, patterns")
        parser.add_argument("--to", choices=("csv", "jsonl"), default="csv", help="what to write (default: csv)")
        parser.add_argument("--bom", action="store_true", help="begin a CSV with the mark by which Excel knows UTF-8")
        _add_target(parser)
        add_encoding(parser, "encoding of the texts in the tables (default: guessed for each table)")
        parser.set_defaults(run=export)
        parser = add_parser(actions, "import", "make tables of CSVs or JSON lines", _IMPORT)
        parser.add_argument("paths", nargs="+", metavar="FILE", help="texts, folders, patterns")
        _add_target(parser)
        add_encoding(parser, "encoding of the texts in the tables (default: what the file says)")
        parser.set_defaults(run=import_texts)
        cli_table_rows.add(actions, add_parser, add_encoding)


COMMAND = TableCommand()


def add_encoding(parser: argparse.ArgumentParser, text: str) -> None:
    """The option that names an encoding."""
    parser.add_argument("--encoding", choices=tuple(table_encoding.ENCODINGS), default="", help=text)


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", help="folder to write to, made if need be; nothing is written outside")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")


def export(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `table export`; the exit code."""
    if arguments.bom and arguments.to != table_text.CSV:
        raise UsageError("--bom is for a CSV")
    for source in _sources(arguments.paths, table_text.TABLE_SUFFIXES, console):
        try:
            table = table_text.read_table(files.read_file(source.path), source.path)
            encoding = arguments.encoding or table_guess.guess(table)
            target = _target(source, f".{arguments.to}", arguments)
            _save(target, table_text.pieces(table, arguments.to, encoding, bom=arguments.bom))
        except UserError as error:
            console.failure(source.path, error.at(source.path))
            continue
        record = {"file": str(source.path), "result": "exported", "to": str(target), "rows": len(table)}
        line = f"{source.path} -> {target}: {len(table)} rows, texts in {encoding}"
        console.result(record | {"encoding": encoding}, line)
    return console.finish("exported")


def import_texts(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `table import`; the exit code."""
    for source in _sources(arguments.paths, table_text.TEXT_SUFFIXES, console):
        try:
            table = table_text.read_text(files.read_file(source.path), source.path, arguments.encoding)
            target = _target(source, f".{table.form}", arguments)
            _save(target, dnt.pieces(table))
        except UserError as error:
            console.failure(source.path, error.at(source.path))
            continue
        record = {"file": str(source.path), "result": "imported", "to": str(target), "rows": len(table)}
        console.result(record, f"{source.path} -> {target}: {len(table)} rows")
    return console.finish("imported")


def _sources(words: Sequence[str], suffixes: set[str], console: Console) -> Iterable[Source]:
    """The files that `words` name; what is missing is reported, and progress told."""
    sources, missing = cli_inputs.expand(words, suffixes)
    for error in missing:
        console.failure(error.path or Path(), error)
    for number, source in enumerate(sources, start=1):
        console.progress(number, len(sources), str(source.path))
        yield source


def _target(source: Source, suffix: str, arguments: argparse.Namespace) -> Path:
    if arguments.out is None:
        target = source.path.with_suffix(suffix)
    else:
        folder = Path(arguments.out)
        target = cli_inputs.place(source, folder, suffix)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileAccessError(f"the folder cannot be made ({error.strerror})", path=target.parent) from error
    if target.exists() and not arguments.overwrite:
        raise FileAccessError("the file exists already; --overwrite replaces it", path=target)
    return target


def _save(target: Path, pieces: Iterable[bytes]) -> None:
    """Write a file in parts; the old one stays where anything fails."""
    with files.replacing(target) as stream:
        for piece in pieces:
            files.write_all(stream, piece)
