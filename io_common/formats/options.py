# SPDX-License-Identifier: GPL-3.0-or-later
"""Options as frozen dataclasses whose fields carry their own label, help and limits.

Operators, the command line and the documentation are all made from these fields, so an option is written once. Fields
without it are set by code only.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Choice:
    """One value of an option that offers a list."""

    value: str
    label: str
    help: str


@dataclass(frozen=True)
class OptionInfo:
    """What a user sees of an option. `group` is the panel it is drawn in; hidden options have no group.

    `is_file`: a text that is the path of a file, whose name ends in one of `suffixes`.
    """

    label: str
    help: str
    group: str = ""
    choices: tuple[Choice, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    presets: tuple[tuple[float, str, str], ...] = ()
    precision: int = 5
    hidden: bool = False
    is_file: bool = False
    suffixes: tuple[str, ...] = ()


_KEY = "option"


def option(default: Any, label: str, help: str, **details: Any) -> Any:  # noqa: A002  (a dataclass field takes any type; `help` is the word argparse uses)
    """A dataclass field with its `OptionInfo`. `choices` may be given as (value, label, help) triples."""
    choices: Sequence[tuple[str, str, str]] = details.pop("choices", ())
    info = OptionInfo(label, help, choices=tuple(Choice(*entry) for entry in choices), **details)
    return field(default=default, metadata={_KEY: info})


def describe(options: type) -> dict[str, tuple[OptionInfo, Any]]:
    """Name -> (info, default) of every option of the dataclass `options`, in order."""
    found: dict[str, tuple[OptionInfo, Any]] = {}
    for entry in fields(options):
        info = entry.metadata.get(_KEY)
        if info is not None:
            found[entry.name] = (info, None if entry.default is MISSING else entry.default)
    return found


@dataclass(frozen=True)
class NoOptions:
    """For a format that has nothing to choose."""
