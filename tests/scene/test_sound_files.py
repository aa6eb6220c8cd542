# SPDX-License-Identifier: GPL-3.0-or-later
"""Sounds from files of many kinds, and everything that must go on where Blender was built without its audio system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import car, sound_data
from addon.io_carnivores.scene import clips
from addon.io_common.scene import compat

from tests import characters

from .helpers import scene
from .test_bad_input import refusal, state

if TYPE_CHECKING:
    from pathlib import Path

RATE = 22050
SECONDS = 0.3
MOTIONS = ["BONES", "KEYS", "RELATIVE_KEYS"]


@pytest.fixture(params=["as built", "without audio"])
def audio(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether this Blender can decode and play sounds: as it was built, and as if it was built without."""
    if request.param == "without audio":
        monkeypatch.setattr(compat, "_aud", lambda: None)
        assert not compat.has_audio()
    return compat.has_audio()


def worm(folder: Path, motion: str = "KEYS") -> tuple[bytes, bpy.types.Object]:
    """A character with two sounds, selected."""
    data, obj = scene.bring_model(folder / "worm.car", characters.creature(), motion=motion)
    scene.select(obj)
    return data, obj


def wav(path: Path, rate: int, form: int, bits: int, values: np.ndarray) -> Path:
    """A WAV of raw samples (n, channels), which have the type that `form` and `bits` say."""
    import struct

    channels = values.shape[1]
    block = channels * bits // 8
    if bits == 24:
        raw = np.ascontiguousarray(values.astype("<i4")).view(np.uint8).reshape(*values.shape, 4)[..., :3].tobytes()
    else:
        raw = values.tobytes()
    head = struct.pack(
        "<4sI4s4sIHHIIHH", b"RIFF", 36 + len(raw), b"WAVE", b"fmt ", 16, form, channels, rate, rate * block, block, bits
    )
    path.write_bytes(head + struct.pack("<4sI", b"data", len(raw)) + raw)
    return path


def tone(rate: int, channels: int, loud: float = 0.5) -> np.ndarray:
    """A sine of 400 Hz; the second channel is silent, so that a mix has half of it."""
    wave = np.zeros((round(rate * SECONDS), channels))
    wave[:, 0] = loud * np.sin(2 * np.pi * 400 * np.arange(len(wave)) / rate)
    return wave


KINDS = {
    "44100 Hz stereo 24 bits": lambda loud: (44100, 1, 24, np.rint(tone(44100, 2, loud) * (2**23 - 1))),
    "48000 Hz stereo 16 bits": lambda loud: (48000, 1, 16, np.rint(tone(48000, 2, loud) * 32767).astype("<i2")),
    "8000 Hz mono 8 bits": lambda loud: (8000, 1, 8, np.rint(tone(8000, 1, loud) * 127 + 128).astype(np.uint8)),
    "22050 Hz mono floats": lambda loud: (22050, 3, 32, tone(22050, 1, loud).astype("<f4")),
    "96000 Hz stereo doubles": lambda loud: (96000, 3, 64, tone(96000, 2, loud).astype("<f8")),
    "11025 Hz mono 32 bits": lambda loud: (11025, 1, 32, np.rint(tone(11025, 1, loud) * (2**31 - 1)).astype("<i4")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_wav_can_be_added(audio: bool, kind: str, tmp_path: Path) -> None:
    """It comes out of the CAR as 16-bit mono at 22050 Hz, with the same tone as loud as before."""
    del audio  # not needed for a WAV
    _data, obj = worm(tmp_path)
    rate, form, bits, values = KINDS[kind](0.5)
    path = wav(tmp_path / "tone.wav", rate, form, bits, values)
    assert bpy.ops.carnivores.sound_add(filepath=str(path)) == {"FINISHED"}
    path.unlink()
    pcm = np.frombuffer(car.read(scene.export(tmp_path / "out.car", obj)).sounds[2].data, "<i2") / 32767
    assert abs(len(pcm) - RATE * SECONDS) <= 2
    wanted = 0.5 / values.shape[1] * np.sin(2 * np.pi * 400 * np.arange(len(pcm)) / RATE)
    inside = slice(400, -400)
    assert np.abs(pcm[inside] - wanted[inside]).max() < 0.015


@pytest.mark.parametrize("loud", [0.9, 1.0, 1.5, 40.0])
def test_what_is_too_loud_is_bent_and_never_wraps(loud: float, tmp_path: Path) -> None:
    """A float WAV beyond full scale: every sample keeps its sign, and the loud stays loud."""
    _data, obj = worm(tmp_path)
    path = wav(tmp_path / "tone.wav", RATE, 3, 32, tone(RATE, 1, loud).astype("<f4"))
    bpy.ops.carnivores.sound_add(filepath=str(path))
    pcm = np.frombuffer(car.read(scene.export(tmp_path / "out.car", obj)).sounds[2].data, "<i2").astype(int)
    wave = tone(RATE, 1, loud)[:, 0]
    heard = np.abs(wave) > 0.01
    assert (np.sign(pcm[heard]) == np.sign(wave[heard])).all()
    assert 0.8 * 32767 < np.abs(pcm).max() <= 32767
    quiet = np.abs(wave) < 0.79
    assert np.abs(pcm[quiet] / 32767 - wave[quiet]).max() < 0.001, "what is not too loud is as it was"


@pytest.mark.parametrize("codec", ["flac", "ogg", "mp3"])
def test_other_formats(audio: bool, codec: str, tmp_path: Path) -> None:
    """Decoded where Blender can; where it cannot, one sentence says that a WAV would do, and nothing changes."""
    _data, obj = worm(tmp_path)
    path = tmp_path / f"tone.{codec}"
    if not audio:
        path.write_bytes({"flac": b"fLaC", "ogg": b"OggS", "mp3": b"\xff\xfb\x90\x64"}[codec] + bytes(400))
        before = state()
        text = refusal(bpy.ops.carnivores.sound_add, filepath=str(path))
        assert text.startswith(f"tone.{codec}: only WAV sounds can be read")
        assert (state(), len(clips.sounds(obj.data))) == (before, 2)
        return
    import aud

    kind: Any = {
        "flac": (aud.CONTAINER_FLAC, aud.CODEC_FLAC),
        "ogg": (aud.CONTAINER_OGG, aud.CODEC_VORBIS),
        "mp3": (aud.CONTAINER_MP3, aud.CODEC_MP3),
    }[codec]
    source: Any = aud.Sound.buffer(tone(44100, 2).astype(np.float32), 44100)
    source.write(str(path), 44100, 2, aud.FORMAT_S16, *kind, 128_000, 4096)
    assert bpy.ops.carnivores.sound_add(filepath=str(path)) == {"FINISHED"}
    pcm = np.frombuffer(car.read(scene.export(tmp_path / "out.car", obj)).sounds[2].data, "<i2") / 32767
    assert RATE * SECONDS - 200 < len(pcm) < RATE * SECONDS + 3000, "encoders of lossy formats work in blocks"
    spectrum = np.abs(np.fft.rfft(pcm))
    assert abs(np.argmax(spectrum) * RATE / len(pcm) - 400) < 5
    assert 0.2 < np.abs(pcm).max() < 0.3


def test_a_long_sound_is_warned_of(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """When it is added, and by the check."""
    _data, obj = worm(tmp_path)
    path = wav(tmp_path / "song.wav", RATE, 1, 16, np.zeros((16 * RATE, 1), "<i2"))
    assert bpy.ops.carnivores.sound_add(filepath=str(path)) == {"FINISHED"}
    assert '"song" lasts 16.0 s, longer than any sound of the games' in capfd.readouterr().out
    bpy.ops.carnivores.check(game="C2")
    window: Any = bpy.context.window_manager
    assert "long-sound" in {finding.code for finding in window.carnivores.findings}
    assert len(clips.sounds(obj.data)) == 3


def test_what_is_no_sound_is_refused(audio: bool, tmp_path: Path) -> None:
    """Text, a torn WAV, an unknown codec, a folder, nothing: one sentence each, and the list stays as it is."""
    del audio
    _data, obj = worm(tmp_path)
    whole = sound_data.wav(bytes(100))
    files = {
        "text.wav": b"Dear friend",
        "torn.wav": whole[:30],
        "codec.wav": whole[:20] + b"\xee\x7e" + whole[22:],
        "noise.mp3": bytes(range(256)) * 9,
        "empty.wav": b"",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder.wav").mkdir()
    before = state()
    for name in (*files, "folder.wav", "gone.wav"):
        assert refusal(bpy.ops.carnivores.sound_add, filepath=str(tmp_path / name)).startswith(name)
    assert (state(), len(clips.sounds(obj.data))) == (before, 2)


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_character_is_whole_with_and_without_audio(audio: bool, motion: str, tmp_path: Path) -> None:
    """Sounds are kept and come back to the byte; an animation plays, with a strip only where there is audio."""
    data, obj = worm(tmp_path, motion)
    assert [entry.sound.packed_file is not None for entry in clips.sounds(obj.data)] == [True, True]
    name = obj.name
    scene.reopen(tmp_path / "scene.blend")
    obj = bpy.data.objects[name]
    assert scene.export(tmp_path / "out.car", obj) == data
    scene.select(obj)
    assert bpy.ops.carnivores.animation_play(number=0) == {"FINISHED"}
    start, end = clips.animations(obj.data)[0].action.frame_range
    world = bpy.context.scene
    assert (world.frame_start, world.frame_end) == (int(start), int(np.ceil(end)))
    strips = compat.strips_if_any(world)
    assert len(strips) == int(audio)
    assert [strip.sound for strip in strips] == [clips.sounds(obj.data)[1].sound] * int(audio)
    assert bpy.ops.carnivores.animation_stop() == {"FINISHED"}
    assert compat.strips_if_any(world) == []
    assert len(bpy.data.sounds) == 2
    assert scene.export(tmp_path / "again.car", obj) == data
