# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: `blender --command carnivores_dragonnest …`.

Results go to the standard output, progress and trouble to the standard error. Exit codes: 0 all is well, 1 a file
failed, differs or has errors, 2 the words of the command line make no sense.
"""

from __future__ import annotations

import argparse
import os
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from . import cli_convert, cli_info, cli_options, cli_verify
from .cli_inputs import UsageError
from .cli_output import Console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.registry import Format

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  (argparse has no public name)


class AddParser(Protocol):
    """Make the parser of one command, with the flags that all commands have: `add_parser` below."""

    def __call__(  # noqa: D102
        self, commands: Subparsers, name: str, text: str, epilog: str = ""
    ) -> argparse.ArgumentParser: ...


class Command(Protocol):
    """A command, or a group of them, that a game's wing brings along.

    `add` makes its parsers with `add_parser` and gives each, by `set_defaults(run=…)`, a function that is called with
    (arguments, formats, console) and returns the exit code; `noun` may say what it counts, if not files. A group makes
    its own `add_subparsers(dest="action")`.
    """

    def add(self, commands: Subparsers, add_parser: AddParser) -> None: ...  # noqa: D102


_WORDS = """
FILE and IN may be files, folders (every model file below them is taken) and patterns such as "models/**/*.3df".
Exit codes: 0 all is well; 1 a file failed, differs or has errors; 2 wrong usage."""

_CONVERT = """examples:
  convert ALLO.3df allo.blend                 one file
  convert a.3df b.3df both.glb                both in one scene
  convert tree.3df tree.3dn                   from PC to mobile
  convert edited.blend tree.3df               what a Blender file holds
  convert GAME --to glb --out EXPORTED        a whole folder; its sub-folders are kept

A file that exists is left alone, which counts as a failure, unless --overwrite is given; a file beside the target
(a texture) may also be there already when it is the same. Folders are searched for game files only: name a .blend
to convert it. One bad file does not stop the others. Options apply to the formats that have them."""

# The highest frame rate that a scene of Blender's takes.
_RATE_LIMIT = 32767


def main(arguments: Sequence[str], formats: Sequence[Format], commands: Sequence[Command] = ()) -> int:
    """Run one command and return its exit code."""
    parser = make_parser(formats, commands)
    try:
        parsed = parser.parse_args(list(arguments))
    except SystemExit as end:  # argparse has said everything: help, or what is wrong
        return end.code if isinstance(end.code, int) else 2
    noun = getattr(parsed, "noun", "file")
    console = Console(as_json=parsed.json, quiet=parsed.quiet, verbose=parsed.verbose, noun=noun)
    try:
        code: int = parsed.run(parsed, formats, console)
    except BrokenPipeError:  # whoever read the results has seen enough: `… | head`
        _discard_output()
        return 1
    except UsageError as error:
        words = " ".join(filter(None, (parsed.command, getattr(parsed, "action", ""))))
        console.note(f"{parser.prog} {words}: {error} (see {words} --help)")
        return 2
    return code


def _discard_output() -> None:
    """Let what is still in the buffer of the standard output go nowhere, instead of failing when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def make_parser(formats: Sequence[Format], commands: Sequence[Command] = ()) -> argparse.ArgumentParser:
    """The parser of all commands; the options of convert and verify come from `formats`, `commands` from the wings."""
    parser = argparse.ArgumentParser(
        prog="carnivores_dragonnest",
        description="Convert, verify and inspect the model files of Carnivores and Dragon Nest.",
        epilog=_WORDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    _add_convert(subparsers, formats)
    _add_verify(subparsers, formats)
    _add_info(subparsers)
    _add_check(subparsers, formats)
    for command in commands:
        command.add(subparsers, add_parser)
    return parser


def add_parser(commands: Subparsers, name: str, text: str, epilog: str = "") -> argparse.ArgumentParser:
    """The parser of one command, with the flags that all commands have."""
    parser = commands.add_parser(
        name,
        help=text,
        description=f"{text[:1].upper()}{text[1:]}.",
        epilog=f"{epilog}\n{_WORDS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on the standard error")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show Blender's own messages, on the standard error"
    )
    return parser


def _add_convert(commands: Subparsers, formats: Sequence[Format]) -> None:
    parser = add_parser(
        commands, "convert", "read game files or a .blend, write .blend, .glb, .fbx, .obj or a game format", _CONVERT
    )
    parser.usage = (
        "%(prog)s IN... OUT [options]\n       %(prog)s IN... DIR --to EXT [options]\n"
        "       %(prog)s IN... --to EXT --out DIR [options]"
    )
    parser.add_argument(
        "paths", nargs="+", metavar="IN", help="files, folders, patterns; without --out, OUT comes last"
    )
    parser.add_argument("--to", metavar="EXT", help="extension of the files to write, or the id of a format")
    parser.add_argument(
        "--out", metavar="DIR", help="folder to write to, made if need be; nothing is written outside of it"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    _add_options(parser, formats)
    parser.set_defaults(run=cli_convert.run)


def _add_verify(commands: Subparsers, formats: Sequence[Format]) -> None:
    parser = add_parser(
        commands,
        "verify",
        "import, save as .blend, reload, export and compare: prints `same FILE`, or the first byte that differs",
    )
    parser.usage = "%(prog)s FILE... [--fps N] [--rebake] [--json] [options]"
    parser.add_argument("paths", nargs="+", metavar="FILE", help="files, folders, patterns; nothing is written to them")
    parser.add_argument("--fps", type=_rate, metavar="N", help="frame rate of the scene, for files with animations")
    parser.add_argument(
        "--rebake",
        action="store_true",
        help="bake all animations anew too, and say how many coordinates come within 1, 2, 4 and 16 steps",
    )
    _add_options(parser, formats)
    parser.set_defaults(run=cli_verify.run)


def _add_options(parser: argparse.ArgumentParser, formats: Sequence[Format]) -> None:
    groups = {
        "import options": [entry.import_options for entry in formats if entry.build is not None],
        "export options": [entry.export_options for entry in formats if entry.extract is not None],
    }
    cli_options.add(parser, groups, dict(cli_options.WHOLE_SCENE))


def _add_info(commands: Subparsers) -> None:
    parser = add_parser(commands, "info", "say what is in files")
    parser.add_argument("paths", nargs="+", metavar="FILE", help="files, folders, patterns")
    parser.add_argument("--all", action="store_true", help="show long lists whole")
    parser.set_defaults(run=cli_info.info)


def _add_check(commands: Subparsers, formats: Sequence[Format]) -> None:
    games = dict(game for entry in formats for game in entry.games)
    listed = "\n".join(f"  {value:<10}{label}" for value, label in games.items())
    parser = add_parser(commands, "check", "list what a game would trip over in files", f"games:\n{listed}")
    parser.add_argument("paths", nargs="+", metavar="FILE", help="files, folders, patterns")
    known = {value.lower(): value for value in games}
    parser.add_argument(
        "--game",
        metavar="NAME",
        choices=list(games),
        type=lambda text: known.get(text.lower(), text),
        help="one of the games below (default: that of the export dialog)",
    )
    parser.set_defaults(run=cli_info.check)


def _rate(text: str) -> float:
    try:
        value = float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
    if not 1 <= value <= _RATE_LIMIT:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {_RATE_LIMIT}")
    return value
