# SPDX-License-Identifier: GPL-3.0-or-later
"""`info` and `check`: what is in a file, and what a game would trip over in it. Neither touches the scene."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..formats.errors import UserError
from ..formats.issues import Issue, Severity
from . import cli_inputs, cli_load, cli_options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from ..formats.registry import Format
    from .cli_load import Loaded
    from .cli_output import Console

# Longer lists are cut short for people; JSON has them whole.
_SHOWN = 24
# A table of more letters than this gets a line for each of its names.
_WIDE = 60


def info(arguments: argparse.Namespace, formats: Sequence[Format], console: Console) -> int:
    """Run `info`; the exit code."""
    for loaded in _each(arguments, formats, console):
        facts = loaded.entry.summary(loaded.model)
        record = {
            "file": str(loaded.path),
            "result": "read",
            "format": loaded.entry.id,
            "label": loaded.entry.label,
            "bytes": loaded.size,
            "summary": facts,
            "warnings": loaded.digest.lines,
        }
        head = f"{loaded.path}: {loaded.entry.label}, {loaded.size} bytes"
        lines = [head, *layout(facts, whole=arguments.all), *(f"  warning: {line}" for line in loaded.digest.lines)]
        console.result(record, *lines)
    return console.finish()


def layout(facts: Any, depth: int = 1, *, whole: bool = False) -> Iterator[str]:
    """The facts of a summary as indented lines, one for each name; what is one line long stays in one line."""
    space = "  " * depth
    for name, value in facts.items():
        title = str(name).replace("_", " ")
        if isinstance(value, dict) and value and depth == 1 and len(str(value)) > _WIDE:
            yield f"{space}{title}:"
            yield from layout(value, depth + 1, whole=whole)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{space}{title}: {len(value)}"
            shown = value if whole else value[:_SHOWN]
            yield from (f"{space}  {number}: {_flat(entry)}" for number, entry in enumerate(shown))
            if len(shown) < len(value):
                yield f"{space}  ... {len(value) - len(shown)} more, shown with --all"
        else:
            yield f"{space}{title}: {_flat(value)}"


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{str(name).replace('_', ' ')} {_flat(entry)}" for name, entry in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(_flat(entry) for entry in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value != "" else '""'


def check(arguments: argparse.Namespace, formats: Sequence[Format], console: Console) -> int:
    """Run `check`; the exit code."""
    for loaded in _each(arguments, formats, console):
        try:
            game = _game(loaded.entry, arguments.game)
        except UserError as error:
            console.failure(loaded.path, error)
            continue
        issues = loaded.entry.check(loaded.model, game)
        bad = any(issue.severity is Severity.ERROR for issue in issues)
        outcome = "bad" if bad else "passable" if issues else "good"
        record = {
            "file": str(loaded.path),
            "result": outcome,
            "format": loaded.entry.id,
            "game": game,
            "issues": [_record(issue) for issue in issues],
        }
        listed = (f"  {issue.severity.value}: {issue.message} [{issue.code}]" for issue in issues)
        console.result(record, f"{outcome} {loaded.path}", *listed, bad=bad)
    return console.finish("good", "passable", "bad")


def _record(issue: Issue) -> dict[str, Any]:
    return {
        "severity": issue.severity.value,
        "code": issue.code,
        "message": issue.message,
        "faces": issue.faces.tolist(),
        "vertices": issue.vertices.tolist(),
    }


def _game(entry: Format, wanted: str | None) -> str:
    """The game to check for: the one named, else the one that the export dialog of the format starts with."""
    values = [value for value, _label in entry.games]
    if not values:
        raise UserError(f"there is nothing to check in a {entry.label}")
    if wanted is None:
        return str(getattr(entry.export_options(), "game", "")) or values[0]
    if wanted not in values:
        raise UserError(f"a {entry.label} is not for {wanted}, expected {' or '.join(values)}")
    return wanted


def _each(arguments: argparse.Namespace, formats: Sequence[Format], console: Console) -> Iterator[Loaded]:
    """Every file that can be read; the others are reported."""
    sources, missing = cli_inputs.expand(arguments.paths, cli_inputs.extensions_of(formats))
    for error in missing:
        console.failure(error.path or Path(), error)
    flags = cli_options.Flags({})
    for number, source in enumerate(sources, start=1):
        console.progress(number, len(sources), str(source.path))
        with contextlib.ExitStack() as stack:
            try:
                loaded = stack.enter_context(cli_load.opened(source.path, formats, flags))
            except UserError as error:
                console.failure(source.path, error)
                continue
            yield loaded
