# SPDX-License-Identifier: GPL-3.0-or-later
"""`table get`, `set`, `add`, `delete` and `diff`: rows by their ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, UserError
from ...io_common.ui.cli_inputs import UsageError
from ..formats import dnt, table_diff, table_guess, table_text
from ..formats.table_edit import Editor

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from ...io_common.formats.registry import Format
    from ...io_common.ui.cli_output import Console
    from ...io_common.ui.command_line import AddParser, Subparsers
    from ..formats.table import Table

_ROWS = """Rows are found by their ids. Where several rows have one id, --row says which: rows count from 0, and
`table get` shows their numbers. A column is called by its name, with or without "_" before it, or by its number: "#3".
Values are written as in a CSV of `table export`, without quotes."""
_DIFF = """Rows are compared by id, cells by the name of their column. Of several rows with one id, the first in one
table belongs to the first in the other, and so on. Exit code 1 if the tables differ."""
_SHOWN = 60  # characters of a text


def add(
    actions: Subparsers, add_parser: AddParser, add_encoding: Callable[[argparse.ArgumentParser, str], None]
) -> None:
    """Make the parsers."""
    encoding = "encoding of the texts in the table (default: guessed)"
    parser = add_parser(actions, "get", "show rows of a table", _ROWS)
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("ids", nargs="*", type=int, metavar="ID", help="ids of rows (default: all)")
    parser.add_argument("--column", action="append", metavar="NAME", help="show this column only; may be repeated")
    parser.set_defaults(run=get, noun="row")
    add_encoding(parser, encoding)
    parser = add_parser(actions, "set", "change cells of a row", _ROWS)
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("id", type=int, metavar="ID")
    parser.add_argument("values", nargs="+", metavar="COLUMN=VALUE")
    _add_row(parser)
    _add_out(parser)
    parser.set_defaults(run=set_cells)
    add_encoding(parser, encoding)
    parser = add_parser(actions, "add", "add a row at the end of a table", _ROWS)
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("id", type=int, metavar="ID")
    parser.add_argument("values", nargs="*", metavar="COLUMN=VALUE", help="the other columns are 0 or empty")
    parser.add_argument("--twice", action="store_true", help="allow an id that another row has")
    _add_out(parser)
    parser.set_defaults(run=add_row)
    add_encoding(parser, encoding)
    parser = add_parser(actions, "delete", "delete rows of a table", _ROWS)
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("ids", nargs="+", type=int, metavar="ID")
    _add_row(parser)
    _add_out(parser)
    parser.set_defaults(run=delete, encoding="")
    parser = add_parser(actions, "diff", "compare two tables by id and column", _DIFF)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.set_defaults(run=diff, noun="difference")
    add_encoding(parser, "encoding of the texts in both tables (default: guessed for each)")


def _add_row(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--row", type=int, metavar="N", help="which of the rows that have the id, counted from 0")


def _add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", help="write the result there and leave the table as it is")
    parser.add_argument("--overwrite", action="store_true", help="replace the file of --out if it exists")


def get(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `table get`; the exit code."""
    path = Path(arguments.table)
    try:
        edit = _opened(path, arguments.encoding)
        names = edit.names
        shown = [edit.column(name) for name in arguments.column or ()] or list(range(len(names)))
    except UserError as error:
        console.failure(path, error.at(path))
        return console.finish("found")
    for wanted in arguments.ids or [None]:
        try:
            rows: Sequence[int] = range(len(edit.table)) if wanted is None else edit.rows(wanted)
        except UserError as error:
            console.failure(path, error.at(path))
            continue
        for row in rows:
            identifier = int(edit.table.ids[row])
            cells = [(names[column], edit.value(row, column)) for column in shown]
            record = {"file": str(path), "result": "found", "row": row, "id": identifier, "cells": cells}
            console.result(record, f"id {identifier}, row {row}: {', '.join(f'{n} {_said(v)}' for n, v in cells)}")
    return console.finish("found")


def set_cells(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `table set`; the exit code."""

    def change(edit: Editor) -> Table:
        return edit.set(edit.row(arguments.id, arguments.row), _values(edit, arguments.values))

    return _edit(arguments, console, change)


def add_row(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `table add`; the exit code."""

    def change(edit: Editor) -> Table:
        return edit.add(arguments.id, _values(edit, arguments.values), twice=arguments.twice)

    return _edit(arguments, console, change)


def delete(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `table delete`; the exit code."""
    if arguments.row is not None and len(arguments.ids) > 1:
        raise UsageError("--row goes with one ID")

    def change(edit: Editor) -> Table:
        return edit.delete([edit.row(wanted, arguments.row) for wanted in arguments.ids])

    return _edit(arguments, console, change)


def _edit(arguments: argparse.Namespace, console: Console, change: Callable[[Editor], Table]) -> int:
    """Write what `change` makes of a table, in its place or to --out."""
    path = Path(arguments.table)
    target = path if arguments.out is None else Path(arguments.out)
    try:
        if arguments.out is not None and target.exists() and not arguments.overwrite:
            raise FileAccessError("the file exists already; --overwrite replaces it", path=target)
        edit = _opened(path, arguments.encoding)
        made = change(edit)
        changes = list(_changes(edit, Editor(made, edit.encoding), table_diff.compare(edit.table, made)))
        with files.replacing(target) as stream:
            for piece in dnt.pieces(made):
                files.write_all(stream, piece)
    except UserError as error:
        console.failure(path, error.at(path))
        return console.finish("written")
    record = {"file": str(path), "result": "written", "to": str(target), "rows": len(made)}
    console.result(record | {"changes": [record for record, _line in changes]}, *(line for _record, line in changes))
    return console.finish("written")


def _values(edit: Editor, words: Sequence[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise UsageError(f'"{word}" is no COLUMN=VALUE')
        column = edit.column(name)
        if column in found:
            raise UsageError(f'column "{name}" is named twice')
        found[column] = value
    return found


def diff(arguments: argparse.Namespace, _formats: Sequence[Format], console: Console) -> int:
    """Run `table diff`; the exit code, 1 where anything differs."""
    paths = Path(arguments.old), Path(arguments.new)
    editors = []
    for path in paths:
        try:
            editors.append(_opened(path, arguments.encoding))
        except UserError as error:
            console.failure(path, error.at(path))
    if len(editors) == 2:
        found = table_diff.compare(editors[0].table, editors[1].table)
        for record, line in _changes(editors[0], editors[1], found):
            console.result(record, line, bad=True)
    return console.finish("removed", "added", "changed")


def _changes(old: Editor, new: Editor, found: table_diff.Difference) -> Iterator[tuple[dict[str, Any], str]]:
    """Record and line of every difference."""
    for fact in found.facts:
        yield {"result": "other", "what": fact}, fact
    for mark, result, edit, columns in (
        ("-", "removed", old, found.removed_columns),
        ("+", "added", new, found.added_columns),
    ):
        for column in columns:
            yield {"result": result, "column": edit.names[column]}, f"{mark} column {edit.names[column]}"
    for mark, result, edit, rows in (("-", "removed", old, found.removed), ("+", "added", new, found.added)):
        for row in rows.tolist():
            identifier = int(edit.table.ids[row])
            yield {"result": result, "id": identifier, "row": row}, f"{mark} id {identifier}, row {row}"
    names = old.names
    for change in found.changed:
        for before, after in zip(change.old_rows.tolist(), change.new_rows.tolist(), strict=True):
            identifier, name = int(old.table.ids[before]), names[change.old_column]
            values = old.value(before, change.old_column), new.value(after, change.new_column)
            record = {"result": "changed", "id": identifier, "row": before, "column": name}
            line = f"  id {identifier}, row {before}, {name}: {_said(values[0])} -> {_said(values[1])}"
            yield record | {"old": values[0], "new": values[1]}, line


def _opened(path: Path, encoding: str) -> Editor:
    table = table_text.read_table(files.read_file(path), path)
    return Editor(table, encoding or table_guess.guess(table))


def _said(value: float | str) -> str:
    if not isinstance(value, str):
        return str(value)
    short = value if len(value) <= _SHOWN else f"{value[: _SHOWN - 3]}..."
    return '"' + short.replace("\n", "\\n") + '"'
