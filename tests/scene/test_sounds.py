# SPDX-License-Identifier: GPL-3.0-or-later
"""Sounds in the scene: packed, bit-exact, and made from any file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, sound_data
from addon.io_carnivores.scene import clip_edit, clips, sounds
from addon.io_common.formats.errors import UserError
from addon.io_common.scene import compat

from tests import characters

from .helpers import scene


def wav(path: Path, rate: int, values: np.ndarray) -> Path:
    """A WAV of 16-bit samples (n, channels)."""
    import wave

    with wave.open(str(path), "wb") as file:
        file.setnchannels(values.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(values.astype("<i2").tobytes())
    return path


@pytest.mark.parametrize("size", [0, 1, 2, 3, 9152])
def test_any_pcm_is_packed_and_comes_back(tmp_path: Path, size: int) -> None:
    """Through a saved .blend too, and no file is left behind."""
    before = set(Path(tempfile.gettempdir()).glob("*.wav"))
    data = bytes(np.arange(size) % 251)
    sound = sounds.pack("Roar/\\: of it", data)
    sound.use_fake_user = True
    name = sound.name
    assert sound.packed_file is not None
    assert sounds.samples(sound) == data
    scene.reopen(tmp_path / "scene.blend")
    assert sounds.samples(bpy.data.sounds[name]) == data
    assert set(Path(tempfile.gettempdir()).glob("*.wav")) == before


def test_shared_unreferenced_odd_and_junk(tmp_path: Path) -> None:
    """All of it goes back; a sound that is shared is one Sound."""
    character = characters.creature()
    data, obj = scene.bring_model(tmp_path / "worm.car", character)
    items = clips.animations(obj.data)
    assert [item.sound for item in items] == [1, -1, 1]
    assert len(bpy.data.sounds) == 2
    assert scene.export(tmp_path / "out.car", obj) == data


@pytest.mark.parametrize("size", [0, 2, 4, 64, 255, 256])
def test_short_and_missing_tables(tmp_path: Path, size: int) -> None:
    """As many bytes as there were while they say enough; a link that is new makes a whole table."""
    character = characters.creature()
    character.table = character.table[:size]
    data, obj = scene.bring_model(tmp_path / "worm.car", character)
    assert scene.export(tmp_path / "out.car", obj) == data
    clips.animations(obj.data)[1].sound = 0
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert found.sound_of(1) == 0


def test_a_link_that_is_changed_replaces_junk(tmp_path: Path) -> None:
    """And only there."""
    character = characters.creature()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character)
    clips.animations(obj.data)[0].sound = -1
    old, new = (np.frombuffer(table, "<i4") for table in (character.table, _table(tmp_path, obj)))
    assert new[0] == -1
    assert np.array_equal(new[1:], old[1:])


def _table(tmp_path: Path, obj: bpy.types.Object) -> bytes:
    table: bytes = car.read(scene.export(tmp_path / "out.car", obj)).table
    return table


def test_junk_stays_junk_when_sounds_are_added(tmp_path: Path) -> None:
    """An entry that pointed nowhere must not come to mean a new sound."""
    character = characters.creature()
    table = np.frombuffer(character.table, "<i4").copy()
    table[1] = 2
    character.table = table.tobytes()
    _data, obj = scene.bring_model(tmp_path / "worm.car", character)
    assert clips.animations(obj.data)[1].sound == -1
    clip_edit.add_sound(obj.data, wav(tmp_path / "new.wav", 22050, np.zeros((50, 1))))
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert [found.sound_of(number) for number in range(3)] == [1, -1, 1]


@pytest.mark.parametrize("rate", [11025, 44100, 48000])
def test_a_stereo_file_of_any_rate(tmp_path: Path, rate: int) -> None:
    """Mixed and resampled when it is added, so that what is heard is what is exported."""
    tone = np.sin(np.arange(rate // 5) * 2 * np.pi * 400 / rate) * 12000
    path = wav(tmp_path / "tone.wav", rate, np.stack((tone, tone / 2), axis=1))
    sound = sounds.load(path)
    found = np.frombuffer(sounds.samples(sound), "<i2")
    assert sound_data.exact(sounds.file_of(sound)) == found.tobytes()
    assert abs(len(found) - 4410) <= 1
    wanted = np.sin(np.arange(4410) * 2 * np.pi * 400 / 22050) * 9000
    assert np.abs(found[400:4000] - wanted[400:4000]).max() < 200


def test_what_blender_alone_can_read(tmp_path: Path) -> None:
    """FLAC where there is an audio system; a sentence where there is none."""
    path = tmp_path / "tone.flac"
    if not compat.has_audio():
        path.write_bytes(b"fLaC" + bytes(100))
        with pytest.raises(UserError, match="only WAV sounds can be read"):
            sounds.load(path)
        return
    import aud

    tone = (np.sin(np.arange(9600) * 0.05) * 0.4).astype(np.float32)[:, None]
    source: Any = aud.Sound.buffer(tone, 48000)
    source.write(str(path), 48000, 1, aud.FORMAT_S16, aud.CONTAINER_FLAC, aud.CODEC_FLAC, 0, 4096)
    found = np.frombuffer(sounds.samples(sounds.load(path)), "<i2")
    assert abs(len(found) - 4410) <= 1
    assert np.abs(found).max() > 12000


def test_a_sound_that_was_put_in_by_hand_is_converted_at_export(tmp_path: Path) -> None:
    """One on disk, not packed, at another rate."""
    _data, obj = scene.bring_model(tmp_path / "worm.car", characters.creature())
    path = wav(tmp_path / "hand.wav", 11025, np.full((100, 1), 1000))
    clips.sounds(obj.data)[0].sound = bpy.data.sounds.load(str(path))
    found = car.read(scene.export(tmp_path / "out.car", obj))
    assert len(found.sounds[0].data) == 2 * 200
    path.unlink()
    with pytest.raises(RuntimeError, match=r'"hand\.wav" has no file any more'):
        scene.export(tmp_path / "out.car", obj)
