# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters are found in the actor table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from addon.io_common.formats.errors import FormatError
from addon.io_dragonnest.formats import actors, dnt
from addon.io_dragonnest.formats.actors import Actor

from tests import tables

if TYPE_CHECKING:
    from pathlib import Path


def test_a_table_that_names_files() -> None:
    found = actors.read(dnt.write(tables.actors(numbers=False)))
    assert found == [
        Actor(1, "Warrior", "warrior.skn", "Warrior.ani"),
        Actor(2, "Archer", "archer.skn", "archer.ani"),
        Actor(7, "Ghost", "", "warrior.ani"),
    ]
    assert not actors.needs_file_names(found)


def test_a_table_that_counts_in_another() -> None:
    data = dnt.write(tables.actors(numbers=True))
    alone = actors.read(data)
    assert alone[0] == Actor(1, "Warrior", "", "", 2075, 2567)
    assert actors.needs_file_names(alone)
    named = actors.read(data, dnt.write(tables.file_names()))
    assert named[0] == Actor(1, "Warrior", "warrior.skn", "warrior.ani", 2075, 2567)
    assert named[1] == Actor(2, "Archer", "archer.skn", "", 2076, 2568)
    assert named[2] == Actor(7, "Ghost", "", "warrior.ani", 0, 2567)
    assert actors.needs_file_names(named)


def test_the_table_of_file_names_is_told_by_what_it_names() -> None:
    found = actors.read(dnt.write(tables.actors(numbers=True)))
    names = tables.file_names()
    assert actors.names_files_of(found, dnt.write(names))
    assert not actors.names_files_of(found, dnt.write(names)[:-30])
    assert not actors.names_files_of(found, dnt.write(tables.mixed()))
    other = names.rebuilt(names.ids + 5000, [column.cells for column in names.columns])
    assert not actors.names_files_of(found, dnt.write(other))


def test_search_is_by_words_in_any_case() -> None:
    found = actors.read(dnt.write(tables.actors(numbers=False)))
    assert [entry.name for entry in actors.search(found, "ARCH skn")] == ["Archer"]
    assert [entry.name for entry in actors.search(found, "warrior.ani")] == ["Warrior", "Ghost"]
    assert actors.search(found, "") == found


def test_another_table_is_refused() -> None:
    with pytest.raises(FormatError, match="this is no table of actors: expected text column _StaticName"):
        actors.read(dnt.write(tables.mixed()))


@pytest.mark.samples("*actortable.dnt")
def test_the_real_table(sample: Path) -> None:
    found = actors.read(sample.read_bytes())
    assert found[1].name == "Archer"
    assert (found[1].skin_number, found[1].ani_number, found[1].skin) == (2076, 2568, "")
    assert len(found) == 1587
