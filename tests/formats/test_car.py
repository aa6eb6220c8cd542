# SPDX-License-Identifier: GPL-3.0-or-later
"""CAR: whatever a file can hold comes back, and what it cannot hold is refused with a sentence."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_carnivores.formats import car
from addon.io_carnivores.formats.car import Character, Sound
from addon.io_carnivores.formats.model import name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_common.formats.errors import FormatError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import characters
from tests.strategies import models

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = st.integers(-(2**31), 2**31 - 1)
NAME = st.binary(min_size=32, max_size=32)


@st.composite
def any_character(draw: st.DrawFn) -> Character:
    """A character of any values, counts small."""
    model = draw(models())
    model.bones = model.bones[:0]
    count = len(model.vertices)
    animations = []
    for _ in range(draw(st.integers(0, 3))):
        frames = draw(st.integers(0, 3))
        raw = draw(st.binary(min_size=6 * count * frames, max_size=6 * count * frames))
        animations.append(Animation(draw(NAME), draw(NUMBER), np.frombuffer(raw, "<i2").reshape(frames, count, 3)))
    sounds = [Sound(draw(NAME), draw(st.binary(max_size=9))) for _ in range(draw(st.integers(0, 3)))]
    return Character(model, draw(NAME), animations, sounds, draw(st.binary(max_size=256)))


@settings(max_examples=120, deadline=None)
@given(any_character())
def test_what_is_written_is_read(character: Character) -> None:
    """read(write(c)) == c, and the bytes are the same again."""
    data = car.write(character)
    found = car.read(data)
    assert found == character
    assert car.write(found) == data
    assert car.sections(data)[-1].end == len(data)


@pytest.mark.samples("*.car")
def test_samples(sample: Path) -> None:
    """Real files come back to the byte."""
    data = sample.read_bytes()
    assert car.sniff(data[:1024], len(data))
    assert car.write(car.read(data)) == data


def test_every_truncation_is_refused_or_is_a_shorter_table() -> None:
    """A file cut anywhere before its table is refused; the table itself may be short or missing."""
    data = characters.written(characters.creature())
    table = len(data) - 256
    for size in [*range(60), *range(60, table, 97), table - 1]:
        with pytest.raises(FormatError, match=r"."):
            car.read(data[:size])
    for size in (table, table + 3, table + 100):
        assert car.read(data[:size]).table == data[table:size]


@pytest.mark.parametrize("field", range(5))
@pytest.mark.parametrize("count", [0x7FFFFFFF, -1, -0x80000000, 0x10000000])
def test_hostile_counts_of_the_header(field: int, count: int) -> None:
    """Nothing is allocated for a count that the file cannot hold."""
    data = characters.written(characters.creature())
    with pytest.raises(FormatError) as caught:
        car.read(characters.replaced(data, 32 + 4 * field, count))
    assert caught.value.offset is not None


@pytest.mark.parametrize("count", [0x7FFFFFFF, -1, -0x80000000])
@pytest.mark.parametrize("what", ["frames", "sound"])
def test_hostile_counts_further_in(what: str, count: int) -> None:
    """The same for the frames of an animation and the length of a sound."""
    character = characters.creature()
    data = characters.written(character)
    start = characters.first_animation(character)
    if what == "frames":
        offset = start + 36
    else:
        offset = start + sum(40 + entry.frames.nbytes for entry in character.animations) + 32
    with pytest.raises(FormatError) as caught:
        car.read(characters.replaced(data, offset, count))
    assert offset - 4 <= (caught.value.offset or 0) <= offset + 4


@pytest.mark.parametrize(("kps", "frames"), [(0, 0), (0, 2), (-5, 3), (190, 1), (2**31 - 1, 2), (-(2**31), 0)])
def test_blank_single_and_rateless_animations(kps: int, frames: int) -> None:
    """Placeholders of forks and rates that no engine could divide by are kept as they are."""
    character = characters.creature()
    blank = Animation(name_field("BLANK"), kps, characters.swing(character.model, max(frames, 1))[:frames])
    character.animations.insert(1, blank)
    data = characters.written(character)
    found = car.read(data)
    assert found.animations[1] == blank
    assert car.write(found) == data
    assert np.isfinite([entry["seconds"] for entry in car.summary(found)["animations"]]).all()


def test_more_than_sixty_four_animations() -> None:
    """The table ends at 64; what has no entry starts no sound."""
    character = characters.creature()
    character.animations = character.animations[:1] * 70
    found = car.read(characters.written(character))
    assert len(found.animations) == 70
    assert [found.sound_of(number) for number in (0, 1, 2, 63, 64, 69)] == [1, -1, 1, -1, -1, -1]


def test_odd_sounds_and_junk_entries() -> None:
    """An odd byte stays, an entry that points nowhere is no sound."""
    character = car.read(characters.written(characters.creature()))
    assert len(character.sounds[0].data) % 2 == 1
    assert [character.sound_of(number) for number in range(3)] == [1, -1, 1]


def test_bytes_behind_the_table_are_refused() -> None:
    """Nothing may be left over."""
    with pytest.raises(FormatError, match="left over"):
        car.read(characters.written(characters.creature()) + b"\0")


def test_a_corner_without_vertex_is_named() -> None:
    """As in the static models."""
    character: Any = characters.creature()
    character.model.faces["corner"][3, 1] = len(character.model.vertices)
    with pytest.raises(FormatError, match="face 3 uses a vertex"):
        car.read(characters.written(character))


def test_sniff_knows_it_from_others() -> None:
    """By its counts alone."""
    data = characters.written(characters.creature())
    assert car.sniff(data[:1024], len(data))
    assert not car.sniff(data[:40], 40)
    assert not car.sniff(b"RIFF" + struct.pack("<20i", *range(20)), 84)
