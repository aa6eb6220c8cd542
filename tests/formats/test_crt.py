# SPDX-License-Identifier: GPL-3.0-or-later
"""The raw textures of the mobile game."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import crt
from addon.io_common.formats.errors import ExportError, FormatError, UnsupportedError
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

if TYPE_CHECKING:
    from pathlib import Path

SIDES = st.tuples(st.integers(1, 9), st.integers(1, 9))


@given(SIDES.flatmap(lambda side: hnp.arrays(np.uint8, (*side, 4))), st.sampled_from([24, 32]))
def test_what_is_written_reads_back(picture: np.ndarray, bits: int) -> None:
    if bits == 24:
        picture[..., 3] = 255
    data = crt.write(crt.Crt(picture, bits))
    again = crt.read(data)
    assert again.bits == bits and again.picture.flags.c_contiguous
    assert np.array_equal(again.picture, picture)
    assert crt.write(again) == data


def test_layout() -> None:
    assert crt.read(struct.pack("<HHB", 1, 2, 24) + bytes(range(6))).picture.tolist() == [
        [[0, 1, 2, 255]],
        [[3, 4, 5, 255]],
    ]


def test_the_compressed_kind_has_an_error_of_its_own() -> None:
    data = struct.pack("<HHBI", 32, 32, 0xA0, 512) + bytes(512)
    with pytest.raises(crt.CompressedTextureError, match="compressed"):
        crt.read(data)
    assert issubclass(crt.CompressedTextureError, UnsupportedError)
    for damaged in (data[:-1], data + b"x", data[:7]):
        with pytest.raises(FormatError) as caught:
            crt.read(damaged)
        assert not isinstance(caught.value, crt.CompressedTextureError)


@pytest.mark.parametrize("bits", [0, 8, 16, 25, 255])
def test_other_numbers_of_bits_are_refused(bits: int) -> None:
    with pytest.raises(FormatError, match="24 or 32 bits"):
        crt.read(struct.pack("<HHB", 1, 1, bits) + bytes(4))


@pytest.mark.parametrize("size", [(0, 1), (1, 0), (65535, 65535)])
def test_impossible_sizes_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(FormatError):
        crt.read(struct.pack("<HHB", *size, 32) + bytes(4))


@given(st.binary(max_size=40))
def test_any_bytes_are_refused_or_written_back_the_same(data: bytes) -> None:
    try:
        texture = crt.read(data)
    except FormatError:
        return
    assert crt.write(texture) == data


def test_every_length_but_the_right_one_is_refused() -> None:
    data = struct.pack("<HHB", 3, 2, 32) + bytes(24)
    for length in [*range(len(data)), len(data) + 1]:
        with pytest.raises(FormatError):
            crt.read((data + b"x")[:length])


@pytest.mark.parametrize(("shape", "bits"), [((0, 1, 4), 32), ((1, 65536, 4), 32), ((1, 1, 4), 16), ((1, 1, 4), 24)])
def test_what_the_format_cannot_hold_is_not_written(shape: tuple[int, ...], bits: int) -> None:
    with pytest.raises(ExportError):
        crt.write(crt.Crt(np.zeros(shape, dtype=np.uint8), bits))


def test_the_samples_are_written_back_the_same(samples: Path) -> None:
    files = sorted(samples.rglob("*.crt"))
    assert files
    for file in files:
        assert crt.write(crt.read(file.read_bytes())) == file.read_bytes(), file.name
