# SPDX-License-Identifier: GPL-3.0-or-later
"""PCM of a CAR to packed Sounds and back, bit for bit; works without Blender's audio system."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, FormatError, UserError
from ...io_common.scene import armature, compat
from ..formats import sound_data

if TYPE_CHECKING:
    from collections.abc import Iterable

_STEM = 55  # bytes of a file's name, which the Sound is called after at first


def pack(name: str, data: bytes) -> bpy.types.Sound:
    """A packed Sound of raw PCM."""
    return pack_all([(name, data)])[0]


def pack_all(entries: Iterable[tuple[str, bytes]]) -> list[bpy.types.Sound]:
    """A packed Sound for each name and its raw PCM; all that are silent from the start share one."""
    made: list[bpy.types.Sound] = []
    silent: bpy.types.Sound | None = None
    with tempfile.TemporaryDirectory() as folder:
        for name, data in entries:
            sound = silent if silent is not None and not data else None
            sound = sound or _pack(Path(folder), name, sound_data.wav(data), ".wav")
            silent = silent if data else sound
            made.append(sound)
    return made


def pack_file(name: str, data: bytes, suffix: str) -> bpy.types.Sound:
    """A packed Sound of a whole sound file."""
    with tempfile.TemporaryDirectory() as folder:
        return _pack(Path(folder), name, data, suffix)


def _pack(folder: Path, name: str, data: bytes, suffix: str) -> bpy.types.Sound:
    """Blender can only pack what is on disk, so a file exists in `folder`, which has to go afterwards."""
    name = armature.fit_name(name) or "Sound"
    path = folder / f"{armature.cut_name(files.safe_stem(name, 'sound'), _STEM)}{suffix}"
    path.write_bytes(data)
    sound = bpy.data.sounds.load(str(path))
    sound.pack()
    sound.name = name
    sound.filepath = f"//{path.name}"
    return sound


def load(path: Path) -> bpy.types.Sound:
    """A sound file of any kind as a packed Sound that a CAR can hold. Raises `UserError` when it cannot be read."""
    data = files.read_file(path)
    try:
        converted = _converted(data, path.suffix)
    except UserError as error:
        raise error.at(path) from error
    return pack(path.stem, converted)


def file_of(sound: bpy.types.Sound) -> bytes:
    """The sound file of a Sound: packed, or on disk. Raises `ExportError` when there is none."""
    if sound.packed_file is not None:
        return bytes(sound.packed_file.data)
    try:
        return files.read_file(bpy.path.abspath(sound.filepath, library=sound.library))
    except UserError as error:
        raise ExportError(f'the sound "{sound.name}" has no file any more ({str(error).rstrip(".")})') from error


def samples(sound: bpy.types.Sound) -> bytes:
    """The PCM of any Sound. Raises `ExportError` when it cannot be had."""
    try:
        return _converted(file_of(sound), Path(sound.filepath).suffix)
    except FormatError as error:
        raise ExportError(f'the sound "{sound.name}": {str(error).rstrip(".")}') from error


def wav_of(sound: bpy.types.Sound) -> bytes:
    """A Sound as a WAV file: its own where it is one, else converted. Raises `ExportError`."""
    data = file_of(sound)
    return data if sound_data.is_wav(data) else sound_data.wav(samples(sound))


def _converted(data: bytes, suffix: str) -> bytes:
    """The bytes of a sound file as PCM for a CAR; those that are it already stay as they are."""
    exact = sound_data.exact(data)
    if exact is not None:
        return exact
    if sound_data.is_wav(data):
        try:
            return sound_data.convert(*sound_data.decode(data))
        except FormatError:
            if not compat.has_audio():
                raise
    if not compat.has_audio():
        raise FormatError("only WAV sounds can be read, because this Blender was built without its audio system")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"sound{suffix or '.wav'}"
        path.write_bytes(data)
        wave = compat.read_audio(path)
    if wave is None:
        raise FormatError("this is no sound that Blender can read", offset=0)
    values, rate = wave
    return sound_data.convert(np.asarray(values, np.float32), rate)
