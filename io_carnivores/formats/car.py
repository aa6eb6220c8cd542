# SPDX-License-Identifier: GPL-3.0-or-later
"""CAR, the character of Carnivores, Carnivores 2 and Ice Age: model, vertex animations and sounds in one file.

Name block of 32 bytes, five i32 counts, then faces, vertices, texture, animations, sounds and a table that says which
sound starts with which animation. No bone table. Verified on every known file; the oddities named below all occur.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import FormatError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from . import model as static
from .model import FACE, ROW_BYTES, TEXTURE_WIDTH, VERTEX, Model, Offsets, label, validate
from .motion import Animation, seconds

HEADER = np.dtype(
    [
        ("name", "V32"),  # a name, then leftovers of the tools; the engines ignore all of it
        ("animation_count", "<i4"),
        ("sound_count", "<i4"),
        ("vertex_count", "<i4"),
        ("face_count", "<i4"),
        ("texture_bytes", "<i4"),
    ]
)
ANIMATION = np.dtype([("name", "V32"), ("kps", "<i4"), ("frame_count", "<i4")])
SOUND = np.dtype([("name", "V32"), ("length", "<i4")])  # length in bytes; odd ones occur
TABLE_ENTRIES = 64  # animation -> sound, -1: none; tails hold -1, 0 or junk
SOUND_RATE = 22050  # signed 16-bit mono without a header
_SIZES = ("animation_count", "sound_count", "vertex_count", "face_count", "texture_bytes")


@dataclass
class Sound:
    """`name`: the raw 32-byte field; `data`: the PCM bytes, of any length."""

    name: bytes
    data: bytes

    @property
    def seconds(self) -> float:
        """How long it plays."""
        return len(self.data) // 2 / SOUND_RATE


@dataclass
class Character:
    """One CAR. `model` has no bones; `name` is the raw 32-byte block.

    `table`: the raw bytes of the sound table: 256, or fewer, or none at all; the engines take -1 for what is missing.
    `check_loops`: its check should look for animations that do not end in their first frame.
    """

    model: Model = field(default_factory=Model)
    name: bytes = b""
    animations: list[Animation] = field(default_factory=list)
    sounds: list[Sound] = field(default_factory=list)
    table: bytes = b""
    check_loops: bool = field(default=False, compare=False)

    def sound_of(self, animation: int) -> int:
        """Index of the sound that starts with `animation`, -1 when there is none or the entry points nowhere."""
        entries = np.frombuffer(self.table[: len(self.table) // 4 * 4], "<i4")
        number = int(entries[animation]) if animation < len(entries) else -1
        return number if 0 <= number < len(self.sounds) else -1


def sniff(head: bytes, size: int) -> bool:
    """Whether the counts are sane, what they promise at the least fits, and the first faces use vertices that exist."""
    if len(head) < HEADER.itemsize:
        return False
    animations, sounds, vertices, faces, texture = (int(n) for n in np.frombuffer(head, "<i4", 5, 32))
    if min(animations, sounds, faces, texture) < 0 or vertices <= 0:
        return False
    least = HEADER.itemsize + faces * FACE.itemsize + vertices * VERTEX.itemsize + texture
    if least + animations * ANIMATION.itemsize + sounds * SOUND.itemsize > size:
        return False
    shown = min(faces, (len(head) - HEADER.itemsize) // FACE.itemsize)
    return bool((np.frombuffer(head, FACE, shown, HEADER.itemsize)["corner"] < vertices).all())


def read(data: bytes) -> Character:
    """Bytes to `Character`. Raises `FormatError` with the offset of what does not fit."""
    reader = Reader(data)
    header = reader.array(HEADER, 1, "name and counts of the header")[0]
    for name in _SIZES:
        if header[name] < 0:
            raise FormatError(
                f"the {name.replace('_bytes', ' size').replace('_', ' ')} is negative",
                offset=int(HEADER.fields[name][1]) if HEADER.fields else 0,
                expected="0 or more",
                found=str(int(header[name])),
            )
    start = reader.offset
    faces = reader.array(FACE, int(header["face_count"]), "faces")
    vertices = reader.array(VERTEX, int(header["vertex_count"]), "vertices")
    size = int(header["texture_bytes"])
    words = np.frombuffer(reader.take(size - size % ROW_BYTES, "the texture"), "<u2")
    model = Model(faces, vertices, texels=words.reshape(-1, TEXTURE_WIDTH))
    model.texture_rest = bytes(reader.take(size % ROW_BYTES, "the last row of the texture"))
    if not len(vertices):
        raise FormatError("there is no vertex in this file", offset=40, expected="a model")
    validate(model, Offsets(start, start + faces.nbytes, 0))
    character = Character(model, bytes(header["name"]))
    for number in range(int(header["animation_count"])):
        character.animations.append(_animation(reader, number, len(vertices)))
    for number in range(int(header["sound_count"])):
        character.sounds.append(_sound(reader, number))
    character.table = bytes(reader.take(min(reader.left, 4 * TABLE_ENTRIES), "the sound table"))
    reader.end("the sound table")
    return character


def _animation(reader: Reader, number: int, vertices: int) -> Animation:
    at = reader.offset
    header = reader.array(ANIMATION, 1, f"fields of animation {number}")[0]
    count = int(header["frame_count"])
    if count < 0:
        raise FormatError(
            f"animation {number} has a negative number of frames",
            offset=at + 36,
            expected="0 or more",
            found=str(count),
        )
    values = reader.array("<i2", count * vertices * 3, f"coordinates of animation {number}")
    return Animation(bytes(header["name"]), int(header["kps"]), values.reshape(count, vertices, 3))


def _sound(reader: Reader, number: int) -> Sound:
    at = reader.offset
    header = reader.array(SOUND, 1, f"fields of sound {number}")[0]
    length = int(header["length"])
    if length < 0:
        raise FormatError(
            f"sound {number} has a negative length", offset=at + 32, expected="0 or more bytes", found=str(length)
        )
    return Sound(bytes(header["name"]), bytes(reader.take(length, f"sound {number}")))


def write(character: Character) -> bytes:
    """`Character` to bytes, the exact inverse of `read`."""
    model = character.model
    header = np.zeros(1, HEADER)
    header["name"] = np.void(character.name.ljust(32, b"\0")[:32])
    for name, value in zip(
        _SIZES,
        (
            len(character.animations),
            len(character.sounds),
            len(model.vertices),
            len(model.faces),
            model.texture_bytes,
        ),
        strict=True,
    ):
        header[name] = value
    parts = [header.tobytes(), model.faces.tobytes(), model.vertices.tobytes()]
    parts += [model.texels.astype("<u2", copy=False).tobytes(), model.texture_rest]
    for animation in character.animations:
        record = np.zeros(1, ANIMATION)
        record["name"] = np.void(animation.name.ljust(32, b"\0")[:32])
        record["kps"], record["frame_count"] = animation.kps, len(animation.frames)
        parts += [record.tobytes(), animation.frames.astype("<i2", copy=False).tobytes()]
    for sound in character.sounds:
        parts += [sound.name.ljust(32, b"\0")[:32], len(sound.data).to_bytes(4, "little"), sound.data]
    return b"".join([*parts, character.table])


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    found = [Section("header", 0, HEADER)]

    def add(name: str, dtype: Any, count: int = 1) -> None:
        found.append(Section(name, found[-1].end, np.dtype(dtype), count))

    character = read(data)
    model = character.model
    add("face", FACE, len(model.faces))
    add("vertex", VERTEX, len(model.vertices))
    add("texture byte", "u1", model.texture_bytes)
    frame = [("vertex", "<i2", (len(model.vertices), 3))]
    for number, animation in enumerate(character.animations):
        add(f"animation {number}", ANIMATION)
        add(f"animation {number} frame", frame, len(animation.frames))
    for number, sound in enumerate(character.sounds):
        add(f"sound {number}", SOUND)
        add(f"sound {number} byte", "u1", len(sound.data))
    add("sound table byte", "u1", len(character.table))
    return found


def summary(character: Character) -> dict[str, Any]:
    """What `info` prints of a character."""
    facts = static.summary(character.model)
    del facts["bones"]
    facts["name"] = label(character.name)
    facts["animations"] = [
        {
            "name": label(animation.name),
            "kps": animation.kps,
            "frames": len(animation.frames),
            "seconds": round(seconds(len(animation.frames), animation.kps), 3),
            "sound": label(character.sounds[sound].name) if (sound := character.sound_of(number)) >= 0 else None,
        }
        for number, animation in enumerate(character.animations)
    ]
    facts["sounds"] = [
        {"name": label(sound.name), "seconds": round(sound.seconds, 3), "bytes": len(sound.data)}
        for sound in character.sounds
    ]
    facts["sound_table"] = len(character.table) // 4
    return facts


def names(raw: list[bytes]) -> list[str]:
    """Labels of animations or sounds, in order; duplicates stay."""
    return [label(entry) for entry in raw]


def table_from(numbers: npt.NDArray[np.int32]) -> bytes:
    """A whole table whose first entries are `numbers`, the rest -1."""
    table = np.full(TABLE_ENTRIES, -1, "<i4")
    table[: len(numbers)] = numbers[:TABLE_ENTRIES]
    return table.tobytes()
