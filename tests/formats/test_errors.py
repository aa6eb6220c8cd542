# SPDX-License-Identifier: GPL-3.0-or-later
"""Every error of the family is one plain sentence."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from addon.io_common.formats import errors
from addon.io_common.formats.errors import FormatError, UserError

FAMILY = [entry for _name, entry in inspect.getmembers(errors, inspect.isclass) if issubclass(entry, errors.UserError)]


def test_the_family() -> None:
    assert {entry.__name__ for entry in FAMILY} >= {
        "UserError",
        "FileAccessError",
        "Cancelled",
        "ExportError",
        "FormatError",
        "UnknownFormatError",
        "UnsupportedError",
    }


@pytest.mark.parametrize("kind", FAMILY)
def test_the_file_is_named_once(kind: type[UserError]) -> None:
    error = kind("it is wrong")
    assert str(error) == "it is wrong."
    assert error.at("folder/a.3df") is error
    assert str(error) == "a.3df: it is wrong."
    error.at("folder/b.3df")
    assert error.path == Path("folder/a.3df")
    assert str(kind("it is wrong", path=Path("x/c.3df"))) == "c.3df: it is wrong."


def test_it_is_one_line_whatever_the_file_is_called() -> None:
    assert (
        str(UserError("it is wrong", path="two\nlines\t\x1b[1m\u2028\udcff.3df"))
        == "two?lines??[1m??.3df: it is wrong."
    )
    assert (
        str(UserError("it is wrong", path="\u043c\U0001f996 \u00e4.3df")) == "\u043c\U0001f996 \u00e4.3df: it is wrong."
    )


def test_a_path_without_a_name_is_shown_whole() -> None:
    assert str(UserError("this is a folder", path=Path())) == ".: this is a folder."


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({}, "it is wrong."),
        ({"offset": 0}, "it is wrong at byte 0."),
        ({"offset": 12, "expected": "a"}, "it is wrong at byte 12: expected a."),
        ({"found": "b"}, "it is wrong: found b."),
        ({"offset": 12, "expected": "a", "found": "b"}, "it is wrong at byte 12: expected a, found b."),
    ],
)
def test_place_and_expectation(details: dict[str, object], text: str) -> None:
    error = FormatError("it is wrong", **details)  # type: ignore[arg-type]
    assert str(error) == text
    assert error.reason == "it is wrong"
    assert error.offset == details.get("offset")
