# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that carry their own label, help and limits."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import pytest
from addon.io_common.formats.options import Choice, NoOptions, describe, option


@dataclass(frozen=True)
class Base:
    """One option, and two fields that code sets."""

    scale: float = option(0.5, "Scale", "Size", minimum=0.1, maximum=2.0, presets=((1.0, "One", "As it is"),))
    folders: tuple[str, ...] = field(default=())
    flip: bool = field(default=False)


@dataclass(frozen=True)
class Extended(Base):
    """A field of the base becomes an option; more are added."""

    flip: bool = option(default=True, label="Flip", help="Turn round", group="Geometry")
    game: str = option("B", "Game", "Which", choices=(("A", "First", "The first"), ("B", "Second", "The second")))
    secret: str = option("", "Secret", "Not drawn", hidden=True)


def test_describe_lists_what_a_user_sees_in_order() -> None:
    assert list(describe(Base)) == ["scale"]
    assert list(describe(Extended)) == ["scale", "flip", "game", "secret"]
    assert describe(NoOptions) == {}


def test_the_description_is_whole() -> None:
    found = describe(Extended)
    info, default = found["scale"]
    assert (info.label, info.help, info.minimum, info.maximum, default) == ("Scale", "Size", 0.1, 2.0, 0.5)
    assert info.presets == ((1.0, "One", "As it is"),)
    assert found["game"][0].choices == (Choice("A", "First", "The first"), Choice("B", "Second", "The second"))
    assert found["game"][1] == "B"
    assert (found["flip"][0].group, found["flip"][1]) == ("Geometry", True)
    assert [name for name, (info, _) in found.items() if info.hidden] == ["secret"]


def test_an_option_is_a_plain_field() -> None:
    assert Extended() == Extended(scale=0.5, folders=(), flip=True, game="B", secret="")
    assert dataclasses.replace(Extended(), game="A").game == "A"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Extended().game = "A"  # type: ignore[misc]


def test_a_detail_that_does_not_exist_is_a_bug() -> None:
    with pytest.raises(TypeError, match="minimun"):
        option(1, "Label", "Help", minimun=0)
