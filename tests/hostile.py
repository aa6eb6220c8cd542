# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are not what they claim to be, for the tests of readers and operators."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from addon.io_carnivores.formats import model_3df, model_3dn

from tests import models

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTS = (0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 0x10000000, 0x04000000)


@dataclass(frozen=True)
class Case:
    """A file that has to be refused: `words` must stand in the sentence that refuses it."""

    id: str
    suffix: str
    data: bytes
    words: str


def cases() -> list[Case]:
    """Every file that must be refused, for both formats."""
    return [*_foreign(), *_of(".3df", _PC), *_of(".3dn", _MOBILE)]


_PC = model_3df.write(models.small())
_MOBILE = model_3dn.write(models.as_mobile(models.small()))


def _foreign() -> Iterator[Case]:
    car = b"animal\0".ljust(24, b"\0") + b"msc: 4\0\0" + struct.pack("<5i", 1, 0, 8, 12, 0) + bytes(12 * 64 + 8 * 16)
    for suffix in (".3df", ".3dn"):
        yield Case(f"empty{suffix}", suffix, b"", "an empty file")
        yield Case(f"one byte{suffix}", suffix, b"\x07", "do not fit")
        yield Case(f"zeros{suffix}", suffix, bytes(4096), "a file of zeros")
        yield Case(f"text{suffix}", suffix, b"carnivores_character\r\n[general]\r\n" * 20, "a text file")
        yield Case(f"picture{suffix}", suffix, b"\x89PNG\r\n\x1a\n" + bytes(200), "a PNG picture")
        yield Case(f"program{suffix}", suffix, b"MZ\x90\0" + bytes(500), "a Windows program")
        yield Case(f"animal{suffix}", suffix, car, "a Carnivores CAR character")
    yield Case("kiev.3df", ".3df", b"Kiev" + struct.pack("<I", 6) + bytes(1000), "Vivisector")
    yield Case("mobile.3df", ".3df", _MOBILE, "a Carnivores 3DN mobile model")
    yield Case("pc.3dn", ".3dn", _PC, "a Carnivores 3DF model")


def _of(suffix: str, sound: bytes) -> Iterator[Case]:
    for size in (3, 15, 20, 60, len(sound) * 2 // 5, len(sound) - 1):
        yield Case(f"first {size} bytes{suffix}", suffix, sound[:size], "fit")
    yield Case(f"trailing byte{suffix}", suffix, sound + b"\1", "left over")
    for field in range(3):
        for count in COUNTS:
            data = sound[: 4 * field] + struct.pack("<I", count) + sound[4 * field + 4 :]
            yield Case(f"count {field} is {count:#x}{suffix}", suffix, data, "fit")
    model = models.small()
    model.faces["corner"][1, 2] = len(model.vertices)
    yield Case(f"corner behind the last vertex{suffix}", suffix, _write(suffix, model), "face 1 uses a vertex")
    model.faces["corner"][1, 2] = 0xFFFFFFFF
    yield Case(f"corner is -1{suffix}", suffix, _write(suffix, model), "face 1 uses a vertex")
    for name, number in (("nan", np.nan), ("infinity", np.inf), ("minus infinity", -np.inf)):
        model = models.small()
        model.vertices["position"][2, 1] = number
        yield Case(f"vertex is {name}{suffix}", suffix, _write(suffix, model), "vertex 2 has a coordinate")
        model = models.small()
        model.bones["position"][1, 0] = number
        yield Case(f"bone is {name}{suffix}", suffix, _write(suffix, model), "bone 1 has a coordinate")


def _write(suffix: str, model: models.Model) -> bytes:
    return model_3df.write(model) if suffix == ".3df" else model_3dn.write(models.as_mobile(model))


def is_sentence(text: str) -> bool:
    """One plain sentence: no line break, a full stop at its end and not a word of Python but in quotes."""
    python = ("Traceback", "Error(", "numpy", "dtype", "None", "<class", "Errno", "0x")
    own = re.sub('"[^"]*"', "", text)
    return text.endswith(".") and not text.endswith("..") and "\n" not in text and not any(w in own for w in python)
