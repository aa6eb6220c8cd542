# SPDX-License-Identifier: GPL-3.0-or-later
"""Command-line flags made from the option dataclasses, and option objects made from the flags that were given."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..formats.errors import UserError
from ..formats.options import OptionInfo, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_PREFIX = "option_"

# A command line has no selection to speak of: it takes all that is in the file, and a file that was named gets it all.
WHOLE_SCENE: tuple[tuple[str, Any], ...] = (("use_selection", False), ("use_join", True))


@dataclass
class Flags:
    """The options a user gave, by name, and which of them some file could use."""

    given: Mapping[str, Any]
    used: set[str] = field(default_factory=set)

    def build(self, options: type, label: str, **preset: Any) -> Any:
        """An `options` object of the format `label`; `preset` fills what was not given, where there is such a field."""
        known = {entry.name for entry in fields(options)}
        values = {name: value for name, value in preset.items() if name in known}
        for name, (info, _default) in describe(options).items():
            if name not in self.given:
                continue
            value = self.given[name]
            allowed = [choice.value for choice in info.choices]
            if allowed and value not in allowed:
                raise UserError(f"{flag(name)} {value} is not for a {label}, expected {' or '.join(allowed)}")
            values[name] = value
            self.used.add(name)
        return options(**values)

    def unused(self) -> list[str]:
        """The flags that were given and that none of the files could use."""
        return [flag(name) for name in self.given if name not in self.used]


def flag(name: str) -> str:
    """`use_bones` -> `--use-bones`."""
    return f"--{name.replace('_', '-')}"


def collect(arguments: argparse.Namespace) -> Flags:
    """The options that were given on the command line."""
    return Flags(
        {key.removeprefix(_PREFIX): value for key, value in vars(arguments).items() if key.startswith(_PREFIX)}
    )


def add(parser: argparse.ArgumentParser, groups: Mapping[str, Iterable[type]], preset: Mapping[str, Any]) -> None:
    """Add a flag for each option of the dataclasses; one that stands in several is one flag, which sets them all.

    `groups` is title -> dataclasses; `preset` are the defaults of the command line that differ from the dialogs'.
    """
    merged: dict[str, _Merged] = {}
    for title, classes in groups.items():
        for options in classes:
            for name, (info, default) in describe(options).items():
                entry = merged.setdefault(name, _Merged(title, info, type(default)))
                if entry.kind is not type(default):
                    raise TypeError(f"the option {name} is {entry.kind} here and {type(default)} there")
                entry.add(info, preset.get(name, default))
    sections = {title: parser.add_argument_group(title) for title in groups}
    for name, entry in merged.items():
        entry.add_to(sections[entry.title], name)


@dataclass
class _Merged:
    title: str
    info: OptionInfo
    kind: type
    defaults: list[Any] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)

    def add(self, info: OptionInfo, default: Any) -> None:
        self.defaults += [default] if default not in self.defaults else []
        self.choices += [choice.value for choice in info.choices if choice.value not in self.choices]

    def add_to(self, group: argparse._ArgumentGroup, name: str) -> None:
        details: dict[str, Any] = {"dest": f"{_PREFIX}{name}", "default": argparse.SUPPRESS, "help": self._help()}
        if self.kind is bool:
            group.add_argument(flag(name), action=argparse.BooleanOptionalAction, **details)
            return
        if self.choices:
            # The type comes before the choices, so that `--game mee` will do.
            details |= {"choices": self.choices, "type": _chooser(self.choices)}
        else:
            metavar = {float: "NUMBER", int: "NUMBER"}.get(self.kind, "FILE" if self.info.is_file else "TEXT")
            details |= {"type": number(self.kind, self.info), "metavar": metavar}
        group.add_argument(flag(name), **details)

    def _help(self) -> str:
        shown = " or ".join(_shown(default) for default in self.defaults)
        return f"{self.info.help} (default: {shown})".replace("%", "%%")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        # As 1/32 rather than 0.03125 where it is that exactly.
        near = Fraction(value).limit_denominator(1024)
        return str(near) if near == value else str(value)
    return str(value) or "none"


def _chooser(choices: list[str]) -> Callable[[str], str]:
    known = {choice.lower(): choice for choice in choices}

    def choose(text: str) -> str:
        return known.get(text.lower(), text)

    return choose


def number(kind: type, info: OptionInfo) -> Callable[[str], Any]:
    """An argparse type for `kind`: numbers as 0.5 or 1/32, within the limits of `info`; anything else as it is."""
    if kind not in (int, float):
        return kind

    def parse(text: str) -> Any:
        try:
            value = int(text) if kind is int else float(Fraction(text))
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
        if info.minimum is not None and value < info.minimum:
            raise argparse.ArgumentTypeError(f"{text} is below {info.minimum:g}")
        if info.maximum is not None and value > info.maximum:
            raise argparse.ArgumentTypeError(f"{text} is above {info.maximum:g}")
        return value

    return parse
