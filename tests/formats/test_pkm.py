# SPDX-License-Identifier: GPL-3.0-or-later
"""ETC1 textures of the mobile game."""

from __future__ import annotations

import struct
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import pkm, texels
from addon.io_common.formats.errors import FormatError, UnknownFormatError, UnsupportedError
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path


def file(blocks: bytes, coded: tuple[int, int], size: tuple[int, int] | None = None) -> bytes:
    return b"PKM 10" + struct.pack(">HHHHH", 0, *coded, *(size or coded)) + blocks


def block(colour: bytes, table_1: int, table_2: int, differential: int, flip: int, minus: int, large: int) -> bytes:
    control = table_1 << 5 | table_2 << 2 | differential << 1 | flip
    return colour + bytes([control]) + struct.pack(">HH", minus, large)


def reds(data: bytes) -> list[list[int]]:
    return pkm.read(file(data, (4, 4)))[..., 0].tolist()


def test_individual_colours_side_by_side() -> None:
    picture = pkm.read(file(block(bytes([0x1F, 0x2E, 0x3D]), 0, 7, 0, 0, 0, 0), (4, 4)))
    left, right = [17 + 2, 34 + 2, 51 + 2, 255], [255, 238 + 47, 221 + 47, 255]
    right = [min(value, 255) for value in right]
    assert picture.tolist() == [[left, left, right, right]] * 4


def test_differential_colours_one_above_the_other() -> None:
    # Red 16 and 16 - 4; green 31 and 31 - 1; blue 0 and 0 + 3.
    picture = pkm.read(file(block(bytes([16 << 3 | 4, 31 << 3 | 7, 0 << 3 | 3]), 1, 1, 1, 1, 0xFFFF, 0), (4, 4)))
    upper, lower = [132 - 5, 255 - 5, 0, 255], [99 - 5, 247 - 5, 24 - 5, 255]
    assert picture.tolist() == [[upper] * 4, [upper] * 4, [lower] * 4, [lower] * 4]


def test_texels_are_numbered_down_the_columns() -> None:
    # Texel 1 is the second of the first column, 4 the first of the second; table 0 has 2 and 8.
    minus, large = 1 << 1 | 1 << 15, 1 << 4 | 1 << 15
    grey = block(bytes([0x88, 0x88, 0x88]), 0, 0, 0, 0, minus, large)
    assert reds(grey) == [
        [138, 144, 138, 138],
        [134, 138, 138, 138],
        [138, 138, 138, 138],
        [138, 138, 138, 128],
    ]


def test_every_modifier() -> None:
    for table, (small, large) in enumerate(
        [(2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183)]
    ):
        data = block(bytes([0x77, 0x77, 0x77]), table, table, 0, 0, 0xFF00, 0xF0F0)
        row = [119 + small, 119 + large, 119 - small, 119 - large]
        assert reds(data) == [[min(max(value, 0), 255) for value in row]] * 4


def test_a_difference_out_of_range_wraps() -> None:
    assert reds(block(bytes([31 << 3 | 3, 0, 0]), 0, 0, 1, 0, 0, 0)) == [[255, 255, 16 + 2, 16 + 2]] * 4
    assert reds(block(bytes([0 << 3 | 4, 0, 0]), 0, 0, 1, 0, 0xFFFF, 0)) == [[0, 0, 231 - 2, 231 - 2]] * 4


def test_blocks_go_row_by_row_and_are_cut_to_the_picture() -> None:
    blocks = b"".join(block(bytes([shade * 0x11] * 3), 0, 0, 0, 0, 0, 0) for shade in range(6))
    picture = pkm.read(file(blocks, (12, 8), (9, 6)))
    assert picture.shape == (6, 9, 4) and picture.flags.c_contiguous
    assert picture[0, :, 0].tolist() == [2] * 4 + [19] * 4 + [36]
    assert picture[4:, 0, 0].tolist() == [53] * 2
    assert (picture[..., 3] == 255).all()


@pytest.mark.parametrize("side", [(4, 4), (64, 16), (4, 40000), (20000, 8), (256, 256)])
def test_another_decoder_agrees(side: tuple[int, int]) -> None:
    referee = pytest.importorskip("texture2ddecoder", reason="texture2ddecoder, an optional referee, is not installed")
    blocks = np.random.default_rng(side[0]).bytes(side[0] * side[1] // 2)
    theirs = np.frombuffer(referee.decode_etc1(blocks, *side), dtype=np.uint8).reshape(side[1], side[0], 4)
    assert np.array_equal(pkm.read(file(blocks, side)), theirs[..., [2, 1, 0, 3]])


@pytest.mark.parametrize("side", [(65532, 4), (4, 65532), (2048, 2048)])
def test_memory_is_bounded(side: tuple[int, int]) -> None:
    data = file(bytes(side[0] * side[1] // 2), side, (side[0] - 1, side[1] - 1))
    tracemalloc.start()
    pkm.read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (8 << 20) + 18 * len(data)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", UnknownFormatError),
        (b"PK", UnknownFormatError),
        (b"PK\x03\x04" + bytes(40), UnknownFormatError),
        (b"PKM 20" + bytes(40), UnsupportedError),
        (b"PKM 10\0\1" + bytes(40), UnsupportedError),
        (b"PKM 10" + bytes(9), FormatError),
        (file(b"", (0, 0)), FormatError),
        (file(bytes(8), (4, 4), (0, 4)), FormatError),
        (file(bytes(8), (4, 4), (5, 4)), FormatError),
        (file(bytes(8), (3, 4)), FormatError),
        (file(bytes(8), (8, 4)), FormatError),
        (file(bytes(8), (65532, 65532)), FormatError),
    ],
)
def test_what_is_not_a_sound_texture_is_refused_in_a_sentence(data: bytes, error: type[FormatError]) -> None:
    with pytest.raises(error) as caught:
        pkm.read(data)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


@given(st.binary(max_size=60), st.integers(0, 16))
def test_any_bytes_are_a_texture_or_refused(data: bytes, keep: int) -> None:
    try:
        picture = pkm.read(file(bytes(16), (8, 4), (7, 3))[:keep] + data)
    except FormatError:
        return
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.size


def test_the_sample_is_the_picture_of_its_pc_model(samples: Path) -> None:
    picture = pkm.read((samples / "carnivores/mobile/mosh.pkm").read_bytes())
    car = (samples / "carnivores/pc/MOSH.CAR").read_bytes()
    vertices, faces, size = struct.unpack_from("<3i", car, 0x28)
    words = np.frombuffer(car, "<u2", size // 2, 0x34 + 64 * faces + 16 * vertices).reshape(-1, 256)
    pc = texels.expand(words).astype(int)
    assert picture.shape[1] == 256 and picture.shape[0] >= len(pc)
    difference = np.abs(picture[: len(pc)] - pc).mean()
    assert difference < 8
    assert difference < np.abs(picture[: len(pc)] - pc[::-1]).mean() / 2


def test_another_decoder_agrees_on_the_sample(samples: Path) -> None:
    referee = pytest.importorskip("texture2ddecoder", reason="texture2ddecoder, an optional referee, is not installed")
    data = (samples / "carnivores/mobile/mosh.pkm").read_bytes()
    picture = pkm.read(data)
    theirs = np.frombuffer(referee.decode_etc1(data[16:], 256, 256), dtype=np.uint8).reshape(256, 256, 4)
    assert np.array_equal(picture, theirs[..., [2, 1, 0, 3]])
