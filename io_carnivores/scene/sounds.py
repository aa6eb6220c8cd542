# SPDX-License-Identifier: GPL-3.0-or-later
"""PCM of a CAR to packed Sounds and back, bit for bit; works without Blender's audio system."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import bpy

from ...io_common.formats.errors import ExportError
from ...io_common.formats.files import safe_stem
from ..formats.car import SOUND_RATE

_RIFF = struct.Struct("<4sI4s4sIHHIIHH4sI")
PCM = 1


def wav(data: bytes) -> bytes:
    """`data` (16-bit mono, 22050 Hz) as a WAV file; an odd length is stated as it is and padded, as RIFF asks."""
    head = _RIFF.pack(
        b"RIFF",
        36 + len(data) + len(data) % 2,
        b"WAVE",
        b"fmt ",
        16,
        PCM,
        1,
        SOUND_RATE,
        2 * SOUND_RATE,
        2,
        16,
        b"data",
        len(data),
    )
    return head + data + b"\0" * (len(data) % 2)


def pack(name: str, data: bytes) -> bpy.types.Sound:
    """A packed Sound of raw PCM. Blender can only pack what is on disk, so a file exists for that moment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{safe_stem(name, 'sound')}.wav"
        path.write_bytes(wav(data))
        sound = bpy.data.sounds.load(str(path))
        sound.pack()
    sound.name = name or "Sound"
    sound.filepath = f"//{path.name}"
    return sound


def pcm(sound: bpy.types.Sound) -> bytes | None:
    """The PCM of a Sound that is already what a CAR holds; None when it has to be converted first."""
    if sound.packed_file is None:
        return None
    return payload(bytes(sound.packed_file.data))


def payload(data: bytes) -> bytes | None:
    """The samples of a WAV file when it is 16-bit mono PCM at 22050 Hz, else None."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return None
    offset, fits = 12, False
    while offset + 8 <= len(data):
        kind, size = data[offset : offset + 4], int.from_bytes(data[offset + 4 : offset + 8], "little")
        body = data[offset + 8 : offset + 8 + size]
        if kind == b"fmt " and len(body) >= 16:
            form, channels, rate, _bytes, _align, bits = struct.unpack("<HHIIHH", body[:16])
            fits = (form, channels, rate, bits) == (PCM, 1, SOUND_RATE, 16)
        elif kind == b"data":
            return body if fits else None
        offset += 8 + size + size % 2
    return None


def samples(sound: bpy.types.Sound) -> bytes:
    """The PCM of any Sound. Raises `ExportError` when it cannot be had."""
    exact = pcm(sound)
    if exact is None:
        raise ExportError(f'the sound "{sound.name}" is not 16-bit mono at 22050 Hz')
    return exact
