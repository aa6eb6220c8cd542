# SPDX-License-Identifier: GPL-3.0-or-later
"""Renew the parts of the documentation that follow from the code: `python3 dev.py python tools/docs_reference.py`.

Tables of formats, options, flags and limits, and the help of the command line stand in docs/*.md between
`<!-- generated: NAME -->` and `<!-- end -->`. A test compares them with what this script would write.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tools.staging import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DOCS = ROOT / "docs"
BLOCK = re.compile(r"(<!-- generated: ([\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)
COMMANDS = (
    *("convert", "verify", "info", "check"),
    *(f"pak {action}" for action in ("list", "find", "extract", "pack", "patch", "verify")),
    *(f"table {action}" for action in ("export", "import", "get", "set", "add", "delete", "diff")),
)
HELP_COLUMNS = "88"


def pages() -> list[Path]:
    """Return the pages that have a generated part."""
    return [path for path in sorted(DOCS.rglob("*.md")) if BLOCK.search(path.read_text(encoding="utf-8"))]


def renewed(text: str, package: str) -> str:
    """Return the page *text* with every generated part as the extension *package* has it now."""
    source = Source(package)
    return BLOCK.sub(lambda match: f"{match[1]}\n{source.block(match[2])}\n\n{match[3]}", text)


class Source:
    """The extension as a source of text."""

    def __init__(self, package: str) -> None:
        self.package = package
        wings = [self.module(f"{game}.ui.wing").WING for game in ("io_carnivores", "io_dragonnest")]
        self.formats = tuple(entry for wing in wings for entry in wing.formats)
        self.commands = tuple(entry for wing in wings for entry in wing.commands)

    def module(self, name: str) -> Any:
        """Return a module of the extension."""
        return importlib.import_module(f"{self.package}.{name}")

    def block(self, name: str) -> str:
        """Return the part called *name*, without blank lines around it."""
        kind, _, rest = name.partition(" ")
        makers: dict[str, Callable[[str], str]] = {
            "formats": lambda _rest: self.format_table(),
            "options": self.option_tables,
            "flags": lambda _rest: self.flag_table(),
            "games": lambda _rest: self.game_table(),
            "help": self.help_text,
        }
        return makers[kind](rest)

    def format_table(self) -> str:
        """Return one row per registry entry."""
        rows = [
            (
                entry.label,
                ", ".join(f"`{ending}`" for ending in entry.extensions),
                yes(entry.build),
                yes(entry.extract),
                f"`{entry.id}`",
            )
            for entry in self.formats
        ]
        return table(("Format", "File name ends in", "Import", "Export", "Id"), rows)

    def option_tables(self, identifier: str) -> str:
        """Return the options of one format, import first."""
        entry = next(entry for entry in self.formats if entry.id == identifier)
        parts = []
        for verb, options, there in (
            ("Import", entry.import_options, entry.build),
            ("Export", entry.export_options, entry.extract),
        ):
            rows = list(self.option_rows(options))
            if there is not None and rows:
                title = f"**{verb}**: `bpy.ops.{verb.lower()}_scene.{entry.id}`"
                parts.append(f"{title}\n\n{table(('Option', 'In scripts', 'At first', 'What it does'), rows)}")
        return "\n\n".join(parts)

    def option_rows(self, options: type) -> Iterator[tuple[str, ...]]:
        """Yield label, name, default and explanation of every option."""
        for name, (info, default) in self.module("io_common.formats.options").describe(options).items():
            label = f"*{info.label}* (scripts only)" if info.hidden else info.label
            text = f"{info.help}."
            if info.choices:
                text += "<br>" + "<br>".join(f"**{c.label}** `{c.value}`: {c.help}" for c in info.choices)
            if info.presets:
                text += "<br>" + "<br>".join(f"**{title}**: {words}" for _value, title, words in info.presets)
            yield label, f"`{name}`", shown(default, info), text

    def flag_table(self) -> str:
        """Return one row per face flag."""
        rows = [
            (info.label, f"`0x{int(info.flag):04X}`", f"{info.help}.")
            for info in self.module("io_carnivores.formats.flags").FLAGS
        ]
        return table(("Flag", "Value", "What the games do with it"), rows)

    def game_table(self) -> str:
        """Return one row per game that models are checked for."""
        limits = self.module("io_carnivores.formats.limits").LIMITS
        rows = []
        for value, label, words in self.module("io_carnivores.scene.options").GAMES:
            limit = limits[value]
            sizes = [
                size(limit.vertices, limit.advised_vertices),
                size(limit.faces, limit.advised_faces),
                size(limit.bones, None),
            ]
            texture = "one file beside the model" if limit.texture is None else f"256 x {limit.texture // 512}, inside"
            rows.append((f"{label}<br>{words}", f"`{value}`", limit.extension.upper(), *sizes, texture))
        return table(("Game", "In scripts", "Loads", "Vertices", "Faces", "Bones", "Texture"), rows)

    def help_text(self, command: str) -> str:
        """Return what `--help` prints, for a command or for the whole."""
        words = [*command.split(), "--help"]
        before = os.environ.get("COLUMNS")
        os.environ["COLUMNS"] = HELP_COLUMNS
        try:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self.module("io_common.ui.command_line").main(words, self.formats, self.commands)
        finally:
            os.environ.pop("COLUMNS")
            os.environ |= {"COLUMNS": before} if before is not None else {}
        lines = (line.rstrip() for line in output.getvalue().rstrip().splitlines())
        return "```text\n" + "\n".join(lines) + "\n```"


def yes(function: object) -> str:
    """Return a table's word for what is there or not."""
    return "yes" if function is not None else "no"


def size(most: int | None, advised: int | None) -> str:
    """Return a limit in words: a hard one, a mere advice, none, or both."""
    parts = [f"{most}"] if most is not None else []
    parts += [f"{advised} advised"] if advised is not None else []
    return "; ".join(parts) or "not known"


def shown(value: object, info: Any) -> str:
    """Return a default as a user sees it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and Fraction(value).denominator <= 4096:  # noqa: PLR2004 (a fraction one can read)
        return str(Fraction(value))
    return next((choice.label for choice in info.choices if choice.value == value), str(value) or "empty")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def main() -> None:
    """Renew all pages."""
    from tools.embedded import PACKAGE

    for page in pages():
        old = page.read_text(encoding="utf-8")
        new = renewed(old, PACKAGE)
        page.write_text(new, encoding="utf-8", newline="\n")
        print(f"{page.relative_to(ROOT).as_posix()}: {'same' if new == old else 'renewed'}")


if __name__ == "__main__":
    main()
