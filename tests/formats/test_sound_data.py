# SPDX-License-Identifier: GPL-3.0-or-later
"""Sounds of any WAV to 16-bit mono at 22050 Hz."""

from __future__ import annotations

import io
import struct
import wave

import numpy as np
import pytest
from addon.io_carnivores.formats import sound_data
from addon.io_common.formats.errors import FormatError, UnsupportedError


def made(values: np.ndarray, rate: int, width: int) -> bytes:
    """A PCM WAV by the standard library; `values` (n, channels) of -1 to 1."""
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(values.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        if width == 1:
            raw = (np.rint(values * 127) + 128).astype(np.uint8).tobytes()
        else:
            numbers = np.rint(values * (2 ** (8 * width - 1) - 1)).astype("<i8")
            raw = numbers.reshape(-1, 1).view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
        file.writeframes(raw)
    return stream.getvalue()


def tone(rate: int, hertz: float, seconds: float = 0.25) -> np.ndarray:
    """One channel of a sine."""
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)[:, None]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_widths(width: int) -> None:
    """All widths of PCM say the same."""
    values = tone(8000, 300)
    found, rate = sound_data.decode(made(values, 8000, width))
    assert rate == 8000
    assert np.abs(found - values).max() < 1.5 / 2 ** (8 * min(width, 2) - 1)


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 48000, 44056])
def test_resampled_tone_stays_that_tone(rate: int) -> None:
    """Length, pitch and loudness survive; the ends aside."""
    pcm = np.frombuffer(sound_data.convert(tone(rate, 440).astype(np.float32), rate), "<i2") / 0x7FFF
    wanted = tone(22050, 440)[:, 0]
    assert abs(len(pcm) - 22050 / 4) <= 1
    middle = slice(500, 5000)
    assert np.abs(pcm[middle] - wanted[middle]).max() < 0.01


def test_what_cannot_be_heard_at_half_the_rate_is_left_out() -> None:
    """A tone above the band does not come back as another one."""
    pcm = np.frombuffer(sound_data.convert(tone(48000, 15000).astype(np.float32), 48000), "<i2")
    assert np.abs(pcm[500:5000]).max() < 60


def test_channels_are_mixed_and_peaks_bent() -> None:
    """Too loud sounds keep their shape below the knee and never wrap."""
    mono = np.array([0.1, -0.5, 3.0, -9.0, 0.79])
    bent = sound_data.soft_clip(mono)
    assert np.array_equal(bent[[0, 1, 4]], mono[[0, 1, 4]])
    assert np.abs(bent).max() <= 1.0
    stereo = np.stack((np.full(100, 0.5), np.zeros(100)), axis=1).astype(np.float32)
    pcm = np.frombuffer(sound_data.convert(stereo, 22050), "<i2")
    assert np.abs(pcm - 0x7FFF * 0.25).max() <= 1


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8])
def test_wav_of_any_length_is_exact(size: int) -> None:
    """Odd lengths too."""
    data = bytes(range(size))
    file = sound_data.wav(data)
    assert sound_data.exact(file) == data
    assert len(file) % 2 == 0


def test_ima_adpcm() -> None:
    """Two blocks of an encoder written for this test decode to what it made."""
    wanted = (np.sin(np.arange(2 * 505) * 0.05) * 12000).astype(np.int32)
    blocks = b"".join(_encode(wanted[start : start + 505]) for start in (0, 505))
    head = struct.pack("<4sI4s4sIHHIIHHHH", b"RIFF", 0, b"WAVE", b"fmt ", 20, 0x11, 1, 22050, 11100, 256, 4, 2, 505)
    found, rate = sound_data.decode(head + struct.pack("<4sI", b"data", len(blocks)) + blocks)
    assert rate == 22050
    assert found.shape == (1010, 1)
    assert np.abs(found[:, 0] * 0x8000 - wanted).max() < 900


def test_what_is_far_too_long_is_refused_before_it_swells() -> None:
    """A song, or a rate that lies."""
    with pytest.raises(FormatError, match=r"found 301 seconds"):
        sound_data.convert(np.zeros((301 * 8000, 1), np.float32), 8000)
    assert len(sound_data.convert(np.zeros((14 * 8000, 1), np.float32), 8000)) == 2 * 14 * 22050
    with pytest.raises(FormatError, match="impossible format"):
        sound_data.decode(made(np.zeros((10, 1)), 999, 2))


@pytest.mark.parametrize("rate", [1000, 1009, 44101, 96_000, 192_000, 1_048_573])
def test_any_rate_gives_the_length_it_says(rate: int) -> None:
    """Prime ones too, which have no factor in common with 22050."""
    found = sound_data.convert(np.full((rate // 10, 2), 0.25, np.float32), rate)
    assert abs(len(found) / 2 - 2205) <= 25


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 8, 9, 200])
@pytest.mark.parametrize("block", [40, 48_424, 65_528])
def test_ima_adpcm_of_any_length(channels: int, size: int, block: int) -> None:
    """No data, less than a head, a block that is said to be larger than the file: as many samples as there are."""
    data = bytes(np.random.default_rng(size).integers(0, 256, size).astype(np.uint8))
    form = struct.pack("<HHIIHHHH", 0x11, channels, 22050, 11100, block, 4, 2, 505)
    head = struct.pack("<4sI4s4sI", b"RIFF", 0, b"WAVE", b"fmt ", 20) + form
    found, _rate = sound_data.decode(head + struct.pack("<4sI", b"data", len(data)) + data)
    heads = -(-size // block)
    wanted = heads + max(size - heads * 4 * channels, 0) * 2 // channels
    assert abs(len(found) - wanted) <= 1
    assert found.shape[1] == channels
    assert np.abs(found).max(initial=0.0) <= 1.0


def _encode(values: np.ndarray) -> bytes:
    """One block of IMA ADPCM, sample by sample, as the description of the codec has it."""
    steps, change = sound_data._STEPS.tolist(), (-1, -1, -1, -1, 2, 4, 6, 8)
    value, index, codes = int(values[0]), 40, []
    for wanted in values[1:].tolist():
        step, rest, code = steps[index], abs(wanted - value), 8 if wanted < value else 0
        move = step >> 3
        for bit, part in ((4, step), (2, step >> 1), (1, step >> 2)):
            if rest >= part:
                code, rest, move = code | bit, rest - part, move + part
        value = max(-0x8000, min(0x7FFF, value - move if code & 8 else value + move))
        index = max(0, min(88, index + change[code & 7]))
        codes.append(code)
    packed = bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True))
    return struct.pack("<hBB", int(values[0]), 40, 0) + packed


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"OggS" + bytes(60), FormatError),
        (b"RIFF\0\0\0\0WAVE", FormatError),
        (sound_data.wav(b"")[:20] + b"\x55\0" + sound_data.wav(b"")[22:], UnsupportedError),
        (sound_data.wav(b"")[:22] + b"\0\0" + sound_data.wav(b"")[24:], FormatError),
    ],
)
def test_what_cannot_be_read(data: bytes, error: type[Exception]) -> None:
    """A sentence, not a crash."""
    with pytest.raises(error):
        sound_data.decode(data)
    assert sound_data.exact(data) is None
