# SPDX-License-Identifier: GPL-3.0-or-later
"""Searching names by words and by wildcards."""

from __future__ import annotations

import fnmatch

import pytest
from addon.io_dragonnest.formats import pak_names
from addon.io_dragonnest.formats.pak_search import NameIndex
from hypothesis import given
from hypothesis import strategies as st

NAMES = [
    "\\resource\\char\\Warrior_Body.msh",
    "\\resource\\char\\warrior_body.skn",
    "\\resource\\char\\archer\\head.msh",
    "\\resource\\script\\char.lua",
    "charset.txt",
    "\\한국\\[odd] name?.dds",
    "",
]
INDEX = NameIndex(pak_names.keys(NAMES))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6]),
        ("warrior", [0, 1]),
        ("WARRIOR skn", [1]),
        ("msh char", [0, 2]),
        ("nothing", []),
        ("warrior nothing", []),
        ("*.msh", [0, 2]),
        ("warrior*.m?h", [0]),
        ("char*", [3, 4]),
        ("\\resource\\char\\*", [0, 1, 2]),
        ("resource/char/*.skn", [1]),
        ("/char*", [4]),
        ("\\char", [0, 1, 2, 3, 4]),
        ("/resource/s", [3]),
        ("[hw]*.msh", [0, 2]),
        ("[!h]*.msh", [0]),
        ("한국", [5]),
        ("[[]odd*", [5]),
        ("[odd]", [5]),
        ("*a*a*a*a*a*a*a*a*a*a*a*b", []),
        ("\0", []),
        ("[", [5]),
    ],
)
def test_search(query: str, found: list[int]) -> None:
    assert INDEX.search(query).tolist() == found


def test_matching_takes_a_name_as_it_is() -> None:
    assert INDEX.matching("WARRIOR_BODY.msh").tolist() == [0]
    assert INDEX.matching("\\resource\\script\\char.lua").tolist() == [3]
    assert INDEX.matching("char").tolist() == []
    assert INDEX.matching(NAMES[5]).tolist() == [5]
    assert INDEX.matching("[[]odd] name[?].dds").tolist() == [5]
    assert INDEX.matching("* name*").tolist() == [5]
    assert NameIndex([]).search("x").tolist() == []
    assert NameIndex([]).search("").tolist() == []


LETTERS = st.text(alphabet="ab\\.", max_size=6)
PATTERNS = st.text(alphabet="ab\\.*?[]!", min_size=1, max_size=6)


@given(st.lists(LETTERS, max_size=6), PATTERNS)
def test_patterns_are_those_of_the_library(names: list[str], pattern: str) -> None:
    keys = pak_names.keys(names)
    wanted = []
    for number, name in enumerate(keys):
        tail = name if "\\" in pattern else pak_names.base_name(name)
        if fnmatch.fnmatchcase(tail, pattern.lstrip("\\")):
            wanted.append(number)
    assert NameIndex(keys).matching(pattern).tolist() == wanted


@given(st.lists(LETTERS, max_size=6), st.text(alphabet="ab.", min_size=1, max_size=3))
def test_words_are_found_anywhere(names: list[str], word: str) -> None:
    keys = pak_names.keys(names)
    assert NameIndex(keys).search(word).tolist() == [number for number, key in enumerate(keys) if word in key]
