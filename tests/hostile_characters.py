# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged animals, animations and character texts; and odd ones that are sound and must come back to the byte."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_carnivores.formats import ani, car, vtl
from addon.io_carnivores.formats.car import Character, Sound
from addon.io_carnivores.formats.model import name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_carnivores.formats.vtl import Vtl

from tests import characters
from tests.hostile import COUNTS, Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CAT = b'carnivores_character\r\n[general]\r\ntitle = "Worm"\r\nmodel = "worm.3dn"\r\n'


def cases() -> list[Case]:
    """Every file that must be refused, for all four formats."""
    return [*_foreign(), *_car(), *_single(), *_cat()]


def _foreign() -> Iterator[Case]:
    for suffix in (".car", ".vtl", ".ani", ".cat"):
        yield Case(f"empty{suffix}", suffix, b"", "an empty file")
        yield Case(f"zeros{suffix}", suffix, bytes(4096), "a file of zeros")
        yield Case(f"picture{suffix}", suffix, b"\x89PNG\r\n\x1a\n" + bytes(200), "a PNG picture")
        yield Case(f"letter{suffix}", suffix, b"Dear friend, this is a letter.\r\n" * 9, "a text file")
    yield Case("mesh.ani", ".ani", b"Eternity Engine Ani File 0.11\0" + bytes(900), "a Dragon Nest ANI animation")


def _car() -> Iterator[Case]:
    character = characters.creature()
    data = characters.written(character)
    table = len(data) - 256
    for size in (7, 31, 51, 60, 2000, table // 2, table - 1):
        yield Case(f"first {size} bytes.car", ".car", data[:size], "fit")
    yield Case("trailing byte.car", ".car", data + b"\1", "left over after the sound table")
    for field, name in enumerate(("animations", "sounds", "vertices", "faces", "texture")):
        for count in COUNTS:
            yield Case(
                f"count of {name} is {count:#x}.car", ".car", characters.replaced(data, 32 + 4 * field, count), ""
            )
    yield Case("no vertices.car", ".car", bytes(52), "zeros")
    yield Case("name and nothing else.car", ".car", b"Worm".ljust(52, b"\0"), "there is no vertex")
    yield from _further_in(character, data)
    for name, number in (("nan", np.nan), ("infinity", np.inf), ("minus infinity", -np.inf)):
        broken = characters.creature()
        broken.model.vertices["position"][2, 1] = number
        yield Case(f"vertex is {name}.car", ".car", characters.written(broken), "vertex 2 has a coordinate")
    broken = characters.creature()
    broken.model.faces["corner"][3, 1] = len(broken.model.vertices)
    yield Case("corner behind the last vertex.car", ".car", characters.written(broken), "face 3 uses a vertex")


def _further_in(character: Character, data: bytes) -> Iterator[Case]:
    """Counts of frames, lengths of sounds."""
    frames = characters.first_animation(character) + 36
    sound = frames - 36 + sum(40 + entry.frames.nbytes for entry in character.animations) + 32
    for count in COUNTS:
        words = "negative" if count >> 31 else "fit"
        yield Case(f"count of frames is {count:#x}.car", ".car", characters.replaced(data, frames, count), words)
        yield Case(f"count of samples is {count:#x}.car", ".car", characters.replaced(data, sound, count), words)
    yield Case("one frame too many.car", ".car", characters.replaced(data, frames, 13), "fit")
    yield Case("a sound that is longer.car", ".car", characters.replaced(data, sound, 1 << 15), "fit")


def _single() -> Iterator[Case]:
    """VTL and ANI."""
    animation = Animation(b"", 10, characters.swing(characters.tube(), 5))
    for suffix, data, places in (
        (".vtl", vtl.write(Vtl(animation)), (0, 2)),
        (".ani", ani.write(animation), (1, 2)),
    ):
        for size in (3, 11, 12, 13, len(data) // 2, len(data) - 1):
            yield Case(f"first {size} bytes{suffix}", suffix, data[:size], "")
        yield Case(f"trailing byte{suffix}", suffix, data + b"\1", "")
        for place in places:
            for count in (*COUNTS, 7):
                # The first 12 bytes are numbers of which two are counts, in another order in each format.
                changed = characters.replaced(data, 4 * place, count)
                yield Case(f"count {place} is {count:#x}{suffix}", suffix, changed, "")
    for suffix, counts in ((".vtl", (0, 10, 2)), (".ani", (0, 2, 0))):
        yield Case(f"no vertices{suffix}", suffix, struct.pack("<3i", *counts), "a vertex count above 0")


def _cat() -> Iterator[Case]:
    yield Case("no model.cat", ".cat", b'carnivores_character\n[general]\ntitle = "a"\n', "names no model")
    yield Case("two bytes a letter.cat", ".cat", CAT.decode().encode("utf-16"), "")
    yield Case("binary inside.cat", ".cat", CAT + bytes(range(256)), "characters that no text has")
    yield Case("numbers out of order.cat", ".cat", CAT + b"[animations]\nanimation_id 1\n", "not numbered in order")
    yield Case("negative number.cat", ".cat", CAT + b"[sounds]\nsound_id -1\n", "not numbered in order")
    yield Case("endless number.cat", ".cat", CAT + b"[sounds]\nsound_id " + b"9" * 9000, "cannot be understood")
    yield Case("entry in no list.cat", ".cat", CAT + b"animation_id 0\n", "stands in no list")
    text = CAT + b"[animations]\nanimation_id 0\nsound_index = "
    yield Case("a word for a number.cat", ".cat", text + b"many\n", "not a number")
    yield Case("endless sound index.cat", ".cat", text + b"9" * 9000, "not a number")
    yield Case("a line without sense.cat", ".cat", CAT + b"x" * 100_000, "cannot be understood")


# Odd and sound -------------------------------------------------------------------------------------------------------


def _owners(numbers: Any) -> Callable[[Character], None]:
    def change(character: Character) -> None:
        vertices = character.model.vertices
        vertices["owner"] = np.resize(np.asarray(numbers), len(vertices))

    return change


def _base(positions: Any) -> Callable[[Character], None]:
    def change(character: Character) -> None:
        character.model.vertices["position"] = positions

    return change


def _frames(value: int, count: int = 5) -> Callable[[Character], None]:
    def change(character: Character) -> None:
        vertices = len(character.model.vertices)
        for animation in character.animations:
            animation.frames = np.full((count, vertices, 3), value, "<i2")

    return change


def _kps(rate: int) -> Callable[[Character], None]:
    def change(character: Character) -> None:
        for animation in character.animations:
            animation.kps = rate

    return change


def _named(name: bytes) -> Callable[[Character], None]:
    def change(character: Character) -> None:
        character.name = name
        for entry in (*character.animations, *character.sounds):
            entry.name = name

    return change


def _cut(count: int) -> Callable[[Character], None]:
    def change(character: Character) -> None:
        for animation in character.animations:
            animation.frames = animation.frames[:count]

    return change


def _set(**values: Any) -> Callable[[Character], None]:
    def change(character: Character) -> None:
        for name, value in values.items():
            setattr(character, name, value)

    return change


def _many(character: Character) -> None:
    character.animations = [
        Animation(name_field(f"a{number}"), 10 + number, character.animations[number % 3].frames[:2])
        for number in range(70)
    ]


def _few_vertices(character: Character) -> None:
    model = character.model
    model.vertices, model.faces = model.vertices[:1], model.faces[:1]
    model.faces["corner"] = 0
    for animation in character.animations:
        animation.frames = animation.frames[:, :1]


def _no_faces(character: Character) -> None:
    character.model.faces = character.model.faces[:0]


def _nothing_but_vertices(character: Character) -> None:
    _no_faces(character)
    character.model.texels = character.model.texels[:0]
    character.animations, character.sounds, character.table = [], [], b""


def _mixed_lengths(character: Character) -> None:
    for count, animation in enumerate(character.animations):
        animation.frames = animation.frames[:count]


def _extremes(character: Character) -> None:
    for number, animation in enumerate(character.animations):
        animation.frames = np.where(animation.frames % 2 == number % 2, 0x7FFF, -0x8000).astype("<i2")


def _swelling(character: Character) -> None:
    model = character.model
    for animation in character.animations:
        size = np.linspace(0.2, 3.0, len(animation.frames))[:, None, None]
        animation.frames = (model.vertices["position"][None] * size * 8).astype("<i2")


_JUNK = np.random.default_rng(5).integers(-(2**31), 2**31, 64).astype("<i4").tobytes()

ODD: dict[str, Callable[[Character], None]] = {
    "as made": lambda _character: None,
    "KPS is 0": _kps(0),
    "KPS is negative": _kps(-7),
    "KPS is the smallest number": _kps(-(2**31)),
    "KPS is the largest number": _kps(2**31 - 1),
    "no frames at all": _cut(0),
    "single frames": _cut(1),
    "two frames": _cut(2),
    "none, one, two frames": _mixed_lengths,
    "no animations": _set(animations=[]),
    "seventy animations": _many,
    "no sounds, but a table": _set(sounds=[]),
    "no table": _set(table=b""),
    "half an entry": _set(table=b"\1\0"),
    "a short table": _set(table=np.array([1, -1, 0, 99], "<i4").tobytes() + b"\7"),
    "a table of junk": _set(table=_JUNK),
    "empty sounds": _set(sounds=[Sound(name_field("hush"), b""), Sound(bytes(32), b"\x7f")]),
    "names without NUL": _named(b"x" * 32),
    "names of nothing": _named(bytes(32)),
    "names of junk": _named(b"walk\0" + bytes(range(200, 227))),
    "names of another code page": _named("рычание".encode("cp1251").ljust(32, b"\0")),
    "names that no code page has": _named(b"\x81\x8d\x8f\x90\x9d".ljust(32, b"\0")),
    "names of control characters": _named(b"\1\2\n\r\t\x7f".ljust(32, b"\0")),
    "names that are blank": _named(b"   ".ljust(32, b"\0")),
    "one owner": _owners(0),
    "no owner": _owners(-1),
    "an owner for each vertex": _owners(np.arange(48)),
    "owners with gaps": _owners([0, 3, 90, 7]),
    "groups of two vertices": _owners(np.arange(48) // 2),
    "groups of one and many": _owners([0] * 47 + [5]),
    "owners by turns": _owners([0, 1]),
    "owners out of range": _owners([32767, -32768, -1, -2]),
    "hidden vertices": lambda character: character.model.vertices["hide"].__setitem__(slice(None), 0x7FFF),
    "base in one place": _base(0.0),
    "base at minus zero": _base(-0.0),
    "base of denormal numbers": _base(1e-42),
    "base far from every frame": _base(np.float32(90_000.0)),
    "base of huge numbers": _base(np.resize(np.float32([1e30, -1e30, 3.4e38]), (48, 3))),
    "base in a line": _base(np.arange(144, dtype=np.float32).reshape(48, 3) * [0, 1, 0]),
    "frames at 0": _frames(0),
    "frames at -32768": _frames(-0x8000),
    "frames at 32767": _frames(0x7FFF),
    "frames at both ends": _extremes,
    "frames that swell": _swelling,
    "one vertex": _few_vertices,
    "no faces": _no_faces,
    "nothing but vertices": _nothing_but_vertices,
    "faces with repeated corners": lambda character: character.model.faces["corner"].__setitem__((slice(9), 1), 0),
    "no texture": lambda character: setattr(character.model, "texels", character.model.texels[:0]),
    "an incomplete row": lambda character: setattr(character.model, "texture_rest", b"\1\2\3"),
}


def odd(name: str) -> Character:
    """A sound character with that oddity."""
    character = characters.creature()
    character.model.vertices = character.model.vertices.copy()
    ODD[name](character)
    # What it says of itself must be what is in it.
    assert car.read(car.write(character)) == character
    return character
