# SPDX-License-Identifier: GPL-3.0-or-later
"""TGA pictures of every kind that games and paint programs write."""

from __future__ import annotations

import io
import struct
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import texels, tga
from addon.io_common.formats.errors import ExportError, FormatError, UnknownFormatError, UnsupportedError
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

if TYPE_CHECKING:
    from random import Random

SIDES = st.tuples(st.integers(1, 9), st.integers(1, 9))
PICTURES = SIDES.flatmap(lambda side: hnp.arrays(np.uint8, (*side, 4)))


def header(
    kind: int,
    width: int,
    height: int,
    depth: int,
    descriptor: int = 0,
    palette: tuple[int, int, int] | None = None,
    id_length: int = 0,
) -> bytes:
    first, length, bits = palette or (0, 0, 0)
    start = struct.pack("<BBBHHB", id_length, palette is not None, kind, first, length, bits)
    return start + struct.pack("<HHHHBB", 0, 0, width, height, depth, descriptor)


def run_lengths(units: np.ndarray, lengths: list[int]) -> bytes:
    """Run-length code pixels (n, bytes) in packets of the given most lengths, in turn; equal ones as runs."""
    out, at, turn = bytearray(), 0, 0
    while at < len(units):
        part = units[at : at + lengths[turn % len(lengths)]]
        same = bool((part == part[0]).all())
        out.append(len(part) - 1 | (128 if same else 0))
        out += (part[:1] if same else part).tobytes()
        at += len(part)
        turn += 1
    return bytes(out)


@given(PICTURES)
@example(np.full((2, 3, 4), 255, dtype=np.uint8))
@example(np.zeros((2, 3, 4), dtype=np.uint8))
def test_what_is_written_reads_back(picture: np.ndarray) -> None:
    data = tga.write(picture)
    assert data[16] == (24 if (picture[..., 3] == 255).all() else 32)
    again = tga.read(data)
    assert again.flags.c_contiguous and again.flags.writeable
    assert np.array_equal(again, picture)


def test_written_bytes_are_the_bottom_row_first_in_bgr() -> None:
    picture = np.array([[[1, 2, 3, 255]], [[4, 5, 6, 255]]], dtype=np.uint8)
    data = tga.write(picture)
    assert data == header(2, 1, 2, 24) + bytes([6, 5, 4, 3, 2, 1]) + bytes(8) + b"TRUEVISION-XFILE.\0"


@given(SIDES.flatmap(lambda side: hnp.arrays("<u2", side)), st.integers(0, 3), st.booleans(), st.binary(max_size=5))
def test_16_bits_in_every_order(words: np.ndarray, order: int, footer: bool, comment: bytes) -> None:
    rows, columns = words.shape
    stored = words[:: 1 if order & 2 else -1, :: -1 if order & 1 else 1]
    data = header(2, columns, rows, 16, order << 4, id_length=len(comment)) + comment + stored.tobytes()
    picture = tga.read(data + tga.FOOTER * footer)
    assert np.array_equal(picture, texels.expand(words))


def test_the_alpha_bit_counts_if_declared_and_used() -> None:
    words = np.array([0x8001, 0x0001], dtype="<u2").tobytes()
    assert tga.read(header(2, 2, 1, 16, 1) + words)[0, :, 3].tolist() == [255, 0]
    assert tga.read(header(2, 2, 1, 16, 0) + words)[0, :, 3].tolist() == [255, 255]
    assert tga.read(header(2, 2, 1, 16, 1) + bytes(4))[0, :, 3].tolist() == [255, 255]
    assert tga.read(header(2, 2, 1, 15, 1) + words)[0, :, 3].tolist() == [255, 255]


def test_undeclared_alpha_counts_if_it_is_anywhere_set() -> None:
    assert tga.read(header(2, 1, 1, 32, 0) + bytes([3, 2, 1, 0])).tolist() == [[[1, 2, 3, 255]]]
    assert tga.read(header(2, 1, 1, 32, 0) + bytes([3, 2, 1, 7])).tolist() == [[[1, 2, 3, 7]]]
    assert tga.read(header(2, 1, 1, 32, 8) + bytes([3, 2, 1, 0])).tolist() == [[[1, 2, 3, 0]]]


def test_grey() -> None:
    assert tga.read(header(3, 1, 2, 8) + bytes([7, 9])).tolist() == [[[9, 9, 9, 255]], [[7, 7, 7, 255]]]


@pytest.mark.parametrize("packed", [False, True])
def test_palette_with_an_offset(packed: bool) -> None:
    colours = bytes([1, 2, 3, 4, 5, 6])
    pixels = np.array([[11], [10], [10]], dtype=np.uint8)
    body = run_lengths(pixels, [1, 2]) if packed else pixels.tobytes()
    data = header(9 if packed else 1, 3, 1, 8, palette=(10, 2, 24)) + colours + body
    assert tga.read(data)[0].tolist() == [[6, 5, 4, 255], [3, 2, 1, 255], [3, 2, 1, 255]]
    damaged = header(1, 1, 1, 8, palette=(10, 2, 24)) + colours + bytes([12])
    with pytest.raises(FormatError, match="palette at byte 24: expected numbers below 12, found 12"):
        tga.read(damaged)


def test_a_palette_that_is_not_used_is_skipped() -> None:
    data = header(2, 1, 1, 24, palette=(0, 1, 24)) + bytes(3) + bytes([3, 2, 1])
    assert tga.read(data).tolist() == [[[1, 2, 3, 255]]]


@given(
    st.sampled_from([(11, 8), (10, 16), (10, 24), (10, 32)]),
    SIDES,
    st.integers(0, 3),
    st.lists(st.integers(1, 128), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_run_length_coding(
    kind: tuple[int, int], side: tuple[int, int], order: int, lengths: list[int], random: Random
) -> None:
    size = kind[1] // 8
    palette = bytes(random.randrange(256) for _ in range(2 * size))
    units = np.array(
        [list(palette[size * pick :][:size]) for pick in random.choices([0, 1], k=side[0] * side[1])], dtype=np.uint8
    )
    head = (side[1], side[0], kind[1], order << 4)
    plain = tga.read(header(kind[0] - 8, *head) + units.tobytes())
    packed = header(kind[0], *head) + run_lengths(units, lengths)
    assert np.array_equal(tga.read(packed + tga.FOOTER), plain)
    with pytest.raises(FormatError):
        tga.read(packed[:-1])


def test_a_run_past_the_end_is_refused() -> None:
    with pytest.raises(FormatError, match="goes past the end of the picture at byte 18: expected at most 2"):
        tga.read(header(10, 2, 1, 24) + bytes([130, 1, 2, 3]))


@pytest.mark.parametrize("kind", [2, 10])
def test_lies_about_the_size_are_refused_before_anything_is_allocated(kind: int) -> None:
    data = header(kind, 65535, 65535, 32) + bytes(20)
    tracemalloc.start()
    with pytest.raises(FormatError):
        tga.read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize(("kind", "depth"), [(11, 8), (10, 16), (10, 24), (10, 32), (9, 8)])
@pytest.mark.parametrize("side", [2048, 2290, 4096])
def test_a_run_length_bomb_stays_within_memory(kind: int, depth: int, side: int) -> None:
    palette = (0, 1, 24) if kind == 9 else None
    packets = (bytes([255]) + bytes(depth // 8)) * (side * side // 128 + 1)
    data = header(kind, side, side, depth, palette=palette) + bytes(3 if palette else 0) + packets
    tracemalloc.start()
    try:
        picture = tga.read(data[: -1 - depth // 8] if side * side % 128 == 0 else data)
        assert picture.shape == (side, side, 4) and side < 4096
    except FormatError:
        assert side > 2048
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (64 << 20) + 20 * len(data)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", FormatError),
        (b"short", FormatError),
        (b"This is a text, certainly not a picture.", UnknownFormatError),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), UnknownFormatError),
        (header(2, 1, 1, 64) + bytes(8), UnsupportedError),
        (header(1, 1, 1, 16, palette=(0, 1, 24)) + bytes(8), UnsupportedError),
        (header(2, 1, 1, 24, 0x40) + bytes(8), UnsupportedError),
        (header(2, 0, 1, 24) + bytes(8), FormatError),
        (header(2, 1, 0, 24) + bytes(8), FormatError),
        (header(1, 1, 1, 8) + bytes(8), FormatError),
        (header(1, 1, 1, 8, palette=(0, 1, 9)) + bytes(8), FormatError),
        (header(1, 1, 1, 8, palette=(300, 1, 24)) + bytes(8), FormatError),
        (header(2, 1, 1, 24, palette=(0, 65535, 32)) + bytes(8), FormatError),
        (header(2, 1, 1, 24, id_length=200) + bytes(8), FormatError),
    ],
)
def test_what_is_not_a_sound_picture_is_refused_in_a_sentence(data: bytes, error: type[FormatError]) -> None:
    with pytest.raises(error) as caught:
        tga.read(data)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


@given(st.binary(max_size=80), st.sampled_from([1, 2, 3, 9, 10, 11]), st.sampled_from([8, 15, 16, 24, 32]))
def test_any_bytes_are_a_picture_or_refused(data: bytes, kind: int, depth: int) -> None:
    start = bytearray(header(kind, 3, 3, depth, palette=(0, 2, 24)))
    start[: min(len(data), 3)] = data[: min(len(data), 3)] if len(data) % 7 == 0 else start[: min(len(data), 3)]
    for attempt in (data, bytes(start) + data):
        try:
            picture = tga.read(attempt)
        except FormatError:
            continue
        assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 4 and picture.size


@pytest.mark.parametrize("cut", range(18 + 24))
def test_truncation_at_every_byte_is_refused(cut: int) -> None:
    data = (header(2, 2, 4, 24) + bytes(24))[:cut]
    with pytest.raises(FormatError):
        tga.read(data)


@pytest.mark.parametrize("shape", [(0, 4, 4), (4, 0, 4), (1, 65536, 4)])
def test_a_picture_of_a_size_that_does_not_fit_is_not_written(shape: tuple[int, ...]) -> None:
    with pytest.raises(ExportError):
        tga.write(np.zeros(shape, dtype=np.uint8))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P"])
def test_another_program_agrees(packed: bool, mode: str) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="Pillow, an optional referee, is not installed")
    picture = np.random.default_rng(1).integers(0, 4, (17, 23, 4), dtype=np.uint8) * 60 + 20
    image = image_module.fromarray(picture, "RGBA").convert(mode)
    file = io.BytesIO()
    image.save(file, "TGA", compression="tga_rle" if packed else None)
    assert np.array_equal(tga.read(file.getvalue()), np.asarray(image.convert("RGBA")))
    again = np.asarray(image_module.open(io.BytesIO(tga.write(picture))).convert("RGBA"))
    assert np.array_equal(again, picture)
