# SPDX-License-Identifier: GPL-3.0-or-later
"""Game texels to pictures and back."""

from __future__ import annotations

import numpy as np
import pytest
from addon.io_carnivores.formats import texels
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

ROWS = st.integers(1, 12)
WORDS = ROWS.flatmap(lambda rows: hnp.arrays("<u2", (rows, 256), fill=st.integers(0, 0xFFFF)))
SMALL_PICTURES = hnp.arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(4)))


def test_every_word_expands_by_its_bits() -> None:
    words = np.arange(0x10000, dtype="<u2").reshape(256, 256)
    picture = texels.expand(words)
    assert picture.flags.c_contiguous and picture.dtype == np.uint8
    assert picture[0, 1].tolist() == [0, 0, 8, 255]
    assert picture[0x7C, 0].tolist() == [255, 0, 0, 255]
    assert picture[0x03, 0xE0].tolist() == [0, 255, 0, 255]
    assert picture[0x80, 0].tolist() == [0, 0, 0, 255]
    assert picture[0x40, 0x10].tolist() == [132, 0, 132, 255]


def test_key_is_black_with_or_without_bit_15() -> None:
    words = np.array([[0, 0x8000, 1, 0x8001, 0x7FFF]], dtype="<u2")
    assert texels.expand_keyed(words)[0, :, 3].tolist() == [0, 0, 255, 255, 255]
    assert texels.expand(words)[0, :, 3].tolist() == [255] * 5


@pytest.mark.parametrize("dither", [True, False])
def test_exact_colours_are_never_dithered(dither: bool) -> None:
    words = np.arange(0x8000, dtype="<u2").reshape(128, 256)
    assert np.array_equal(texels.quantise(texels.expand(words), keyed=False, dither=dither), words)


def test_dither_averages_to_the_colour() -> None:
    shown = np.empty((256, 64, 64, 4), dtype=np.uint8)
    for value in range(256):
        flat = np.full((64, 64, 4), value, dtype=np.uint8)
        flat[..., 3] = 255
        shown[value] = texels.expand(texels.quantise(flat, keyed=False))
    mean = shown[..., :3].mean(axis=(1, 2, 3))
    assert np.abs(mean - np.arange(256)).max() < 0.1
    assert (np.ptp(shown[..., 0].astype(int), axis=(1, 2)) <= 9).all()


def test_without_dither_it_is_the_nearest() -> None:
    ramp = np.full((1, 256, 4), 255, dtype=np.uint8)
    ramp[0, :, :3] = np.arange(256)[:, None]
    shown = texels.expand(texels.quantise(ramp, keyed=False, dither=False))
    assert np.abs(shown.astype(int) - ramp).max() <= 4


@given(SMALL_PICTURES, st.booleans())
def test_bits_and_key(picture: np.ndarray, keyed: bool) -> None:
    words = texels.quantise(picture, keyed=keyed)
    assert words.dtype == np.uint16 and words.max() < 0x8000
    hidden = picture[..., 3] < 128
    assert (words[hidden] == 0).all()
    if keyed:
        assert (words[~hidden] != 0).all()
        black = ~hidden & (picture[..., :3] == 0).all(axis=2)
        assert (words[black] == 1).all()


@given(SMALL_PICTURES, st.booleans(), st.data())
def test_dither_looks_at_no_neighbour(picture: np.ndarray, keyed: bool, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, picture.shape[0] - 1))
    column = data.draw(st.integers(0, picture.shape[1] - 1))
    before = texels.quantise(picture, keyed=keyed)
    picture[row, column] = data.draw(hnp.arrays(np.uint8, 4))
    changed = texels.quantise(picture, keyed=keyed) != before
    changed[row, column] = False
    assert not changed.any()


def shown(words: np.ndarray, keyed: bool) -> np.ndarray:
    return texels.expand_keyed(words) if keyed else texels.expand(words)


@given(WORDS, st.booleans(), st.sampled_from([None, True, False]))
def test_an_unedited_picture_gives_its_words_back(words: np.ndarray, was_keyed: bool, keyed: bool | None) -> None:
    again = texels.requantise(shown(words, was_keyed), words, was_keyed=was_keyed, keyed=keyed)
    assert again.tobytes() == words.tobytes()


@pytest.mark.parametrize("keyed", [True, False])
def test_bit_15_of_untouched_key_texels_stays(keyed: bool) -> None:
    words = np.array([[0, 0x8000, 1, 0x8001]], dtype="<u2")
    assert np.array_equal(texels.requantise(shown(words, keyed), words, was_keyed=keyed), words)


@given(WORDS, st.booleans(), st.data())
def test_an_edited_texel_changes_only_its_word(words: np.ndarray, keyed: bool, data: st.DataObject) -> None:
    picture = shown(words, keyed)
    row = data.draw(st.integers(0, picture.shape[0] - 1))
    column = data.draw(st.integers(0, 255))
    was = picture[row, column].copy()
    picture[row, column] = data.draw(hnp.arrays(np.uint8, 4))
    again = texels.requantise(picture, words, was_keyed=keyed)
    others = again != words
    others[row, column] = False
    assert not others.any()
    now = picture[row, column]
    seen, was_seen = now[3] >= 128, was[3] >= 128
    if seen != was_seen or (seen and (now[:3] != was[:3]).any()):
        assert again[row, column] == texels.quantise(picture, keyed=keyed)[row, column]
    else:
        assert again[row, column] == words[row, column]


def test_black_painted_on_the_key_becomes_visible() -> None:
    words = np.array([[0, 0x8000, 0x8123]], dtype="<u2")
    picture = texels.expand_keyed(words)
    picture[0, :2] = (0, 0, 0, 255)
    picture[0, 2] = (9, 9, 9, 0)
    assert texels.requantise(picture, words, was_keyed=True).tolist() == [[1, 1, 0]]


def test_a_picture_of_another_size_is_quantised_as_a_whole() -> None:
    words = np.full((2, 256), 0x8123, dtype="<u2")
    picture = np.concatenate([texels.expand(words), texels.expand(words)])
    assert (texels.requantise(picture, words, was_keyed=False) == 0x0123).all()


def test_pictures_that_were_only_shifted_are_exact() -> None:
    """Some tools make 248 of white: such a picture comes back without a dithered texel."""
    words = np.arange(0x8000, dtype=np.uint16).reshape(128, 256)
    picture = np.full((128, 256, 4), 255, np.uint8)
    for channel, shift in enumerate((10, 5, 0)):
        picture[..., channel] = (words >> shift & 31) << 3
    assert np.array_equal(texels.quantise(picture, keyed=False), words)
