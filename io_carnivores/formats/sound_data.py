# SPDX-License-Identifier: GPL-3.0-or-later
"""Sounds of any kind to what a CAR holds: signed 16-bit mono at 22050 Hz.

WAV files are read here: integers of 8 to 32 bits, floats, and IMA ADPCM, in which the mobile game keeps its sounds.
Waves are (n, channels) f32 arrays of -1 to 1.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.errors import FormatError, UnsupportedError
from .car import SOUND_RATE

if TYPE_CHECKING:
    import numpy.typing as npt

    Wave = npt.NDArray[np.float32]

_RIFF = struct.Struct("<4sI4s4sIHHIIHH4sI")
PCM, FLOAT, IMA_ADPCM, EXTENSIBLE = 1, 3, 0x11, 0xFFFE
_LEAST_RATE = 1000  # Hz; what is said to be slower would swell to many times its size
LONGEST = 300.0  # seconds that are converted; the longest sound of any known file has 14
_KNEE = 0.8  # above it, too loud sounds are bent instead of cut


@dataclass(frozen=True)
class Chunks:
    """A WAV file: `form`, `channels`, `rate` (Hz), `block` (bytes) and `bits` of its format, and its `data`."""

    form: int
    channels: int
    rate: int
    block: int
    bits: int
    data: bytes


def wav(data: bytes) -> bytes:
    """`data` (16-bit mono, 22050 Hz) as a WAV file; an odd length is stated as it is and padded, as RIFF asks."""
    pad = len(data) % 2
    head = _RIFF.pack(
        *(b"RIFF", 36 + len(data) + pad, b"WAVE", b"fmt ", 16, PCM, 1, SOUND_RATE, 2 * SOUND_RATE, 2, 16),
        *(b"data", len(data)),
    )
    return head + data + b"\0" * pad


def is_wav(data: bytes) -> bool:
    """Whether these are the bytes of a WAV file."""
    return data[:4] == b"RIFF" and data[8:12] == b"WAVE"


def chunks(data: bytes) -> Chunks:
    """The format and the samples of a WAV file. Raises `FormatError` when one of the two is missing or impossible."""
    if not is_wav(data):
        raise FormatError("this is not a WAV sound", offset=0, expected="RIFF and WAVE")
    offset, head = 12, None
    while offset + 8 <= len(data):
        kind, size = data[offset : offset + 4], int.from_bytes(data[offset + 4 : offset + 8], "little")
        body = data[offset + 8 : offset + 8 + size]
        if kind == b"fmt " and len(body) >= 16:
            head = struct.unpack("<HHIIHH", body[:16])
            if head[0] == EXTENSIBLE and len(body) >= 26:
                head = (int.from_bytes(body[24:26], "little"), *head[1:])
        elif kind == b"data" and head is not None:
            form, channels, rate, _speed, block, bits = head
            if not 0 < channels <= 64 or not _LEAST_RATE <= rate <= 1 << 20:
                raise FormatError("the sound has an impossible format", offset=20, expected="channels and a rate")
            return Chunks(form, channels, rate, block, bits, body)
        offset += 8 + size + size % 2
    raise FormatError("the sound has no samples", offset=offset, expected="a format and a data chunk")


def exact(data: bytes) -> bytes | None:
    """The samples of a WAV file when they are what a CAR holds already, else None."""
    if not is_wav(data):
        return None
    try:
        found = chunks(data)
    except FormatError:
        return None
    fits = (found.form, found.channels, found.rate, found.bits) == (PCM, 1, SOUND_RATE, 16)
    return found.data if fits else None


def decode(data: bytes) -> tuple[Wave, int]:
    """A WAV file as a wave and its rate. Raises `FormatError`, `UnsupportedError` for codecs not known here."""
    found = chunks(data)
    if found.form == IMA_ADPCM:
        return _adpcm(found), found.rate
    return _plain(found), found.rate


def _plain(found: Chunks) -> Wave:
    width = found.bits // 8
    whole = found.data[: len(found.data) // max(width * found.channels, 1) * width * found.channels]
    if found.form == FLOAT and found.bits in (32, 64):
        values = np.frombuffer(whole, f"<f{width}").astype(np.float32)
        values = np.where(np.isfinite(values), values, np.float32(0))
    elif found.form == PCM and found.bits == 8:
        values = (np.frombuffer(whole, np.uint8).astype(np.float32) - np.float32(128)) / np.float32(128)
    elif found.form == PCM and found.bits in (16, 32):
        values = np.frombuffer(whole, f"<i{width}").astype(np.float32) / np.float32(1 << (found.bits - 1))
    elif found.form == PCM and found.bits == 24:
        parts = np.frombuffer(whole, np.uint8).reshape(-1, 3).astype(np.int32)
        numbers = parts[:, 0] | parts[:, 1] << 8 | parts[:, 2].astype(np.int8).astype(np.int32) << 16
        values = numbers.astype(np.float32) / np.float32(1 << 23)
    else:
        raise UnsupportedError(
            "the samples of the sound cannot be read",
            offset=20,
            expected="PCM, floats or IMA ADPCM",
            found=f"format {found.form} with {found.bits} bits",
        )
    return np.asarray(values, np.float32).reshape(-1, found.channels)


_STEPS = np.array(
    [
        *(7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97),
        *(107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796),
        *(876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428),
        *(
            4871,
            5358,
            5894,
            6484,
            7132,
            7845,
            8630,
            9493,
            10442,
            11487,
            12635,
            13899,
            15289,
            16818,
            18500,
            20350,
            22385,
        ),
        *(24623, 27086, 29794, 32767),
    ],
    np.int32,
)
_CHANGE = np.array([-1, -1, -1, -1, 2, 4, 6, 8], np.int32)


def _adpcm(found: Chunks) -> Wave:
    """IMA ADPCM, 4 bits: blocks stand alone, so that all of them are decoded side by side, sample after sample."""
    head = 4 * found.channels
    if found.bits != 4 or found.block <= head or (found.block - head) % head:
        raise UnsupportedError("the ADPCM sound has an impossible block size", offset=32, found=f"{found.block} bytes")
    if not found.data:
        return np.zeros((0, found.channels), np.float32)
    count = -(-len(found.data) // found.block)
    rest = len(found.data) - (count - 1) * found.block
    # A block that is stated to be larger than all of the file must not cost more than the file.
    groups = (found.block if count > 1 else max(-(-rest // head), 1) * head) // head - 1
    width = head * (groups + 1)
    blocks = np.frombuffer(found.data.ljust(count * width, b"\0"), np.uint8).reshape(count, width)
    state = blocks[:, :head].reshape(count, found.channels, 4)
    value = np.ascontiguousarray(state[..., :2]).view("<i2")[..., 0].astype(np.int32)
    index = np.minimum(state[..., 2].astype(np.int32), 88)
    # Groups of 4 bytes by turns for each channel; in a byte the low half comes first.
    parts = blocks[:, head:].reshape(count, groups, found.channels, 4)
    body = parts.transpose(1, 3, 0, 2).reshape(4 * groups, count, found.channels)
    out = np.empty((2 * len(body) + 1, count, found.channels), np.int32)
    out[0] = value
    for number, byte in enumerate(body):
        for half, code in enumerate((byte & 15, byte >> 4)):
            step = _STEPS[index]
            size = (code & 7).astype(np.int32)
            change = (step >> 3) + (step >> 2) * (size & 1) + (step >> 1) * (size >> 1 & 1) + step * (size >> 2)
            value = np.clip(value + np.where(code & 8, -change, change), -0x8000, 0x7FFF)
            index = np.clip(index + _CHANGE[size], 0, 88)
            out[2 * number + half + 1] = value
    samples = out.transpose(1, 0, 2)
    last = 1 + max(rest - head, 0) * 2 // found.channels
    flat = np.concatenate([samples[:-1].reshape(-1, found.channels), *samples[-1:, :last]])
    return np.asarray(flat.astype(np.float32) / np.float32(0x8000), np.float32)


def convert(wave: Wave, rate: int) -> bytes:
    """A wave at `rate` Hz as a CAR holds it: channels mixed evenly, resampled, too loud peaks bent, 16 bits.

    Raises `FormatError` for what is far too long to be a sound of a game.
    """
    if len(wave) > LONGEST * rate:
        raise FormatError(
            "the sound is too long for a game",
            expected=f"{LONGEST:g} seconds at the most",
            found=f"{len(wave) / rate:.0f} seconds",
        )
    mono = wave.mean(axis=1, dtype=np.float64) if wave.size else np.zeros(0)
    return (np.rint(soft_clip(resample(mono, rate, SOUND_RATE)) * 0x7FFF)).astype("<i2").tobytes()


def resample(mono: npt.NDArray[np.float64], rate: int, wanted: int) -> npt.NDArray[np.float64]:
    """(n,) at `rate` to `wanted` Hz, with everything above the lower one's band left out; through the spectrum."""
    if rate == wanted or not len(mono):
        return mono
    common = gcd(rate, wanted)
    down, up = rate // common, wanted // common
    length = round(len(mono) * wanted / rate)
    # Silence at the end keeps the ends from touching; a multiple of `down` makes both lengths whole numbers.
    periods = -(-(len(mono) + rate // 50) // down)
    spectrum = np.fft.rfft(mono, periods * down)
    bins = min(len(spectrum), periods * up // 2 + 1)
    result: npt.NDArray[np.float64] = np.fft.irfft(spectrum[:bins], periods * up) * (up / down)
    return result[:length]


def soft_clip(mono: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """As it is while nothing exceeds 1; else everything above 0.8 is bent so that the loudest stays below 1."""
    if not len(mono) or np.abs(mono).max() <= 1.0:
        return mono
    over = np.maximum(np.abs(mono) - _KNEE, 0.0)
    bent = _KNEE + (1.0 - _KNEE) * np.tanh(over / (1.0 - _KNEE))
    return np.where(over > 0, np.copysign(bent, mono), mono)
