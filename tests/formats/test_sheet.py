# SPDX-License-Identifier: GPL-3.0-or-later
"""Any pictures into one sheet of 256 columns and at most 256 rows, and the UVs with them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from addon.io_carnivores.formats import resample, sheet
from addon.io_common.formats.errors import ExportError
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SIDE = st.integers(1, 12)
PICTURES = st.tuples(SIDE, SIDE).flatmap(lambda side: hnp.arrays(np.uint8, (*side, 4)))
COLOURS = hnp.arrays(np.uint8, 4)
SIZES = st.lists(st.tuples(st.integers(1, 400), st.integers(1, 400)), min_size=2, max_size=24)


def flat(width: int, height: int, colour: object = (200, 100, 50, 255)) -> np.ndarray:
    picture = np.empty((height, width, 4), dtype=np.uint8)
    picture[:] = colour
    return picture


def noise(width: int, height: int, seed: int = 0) -> np.ndarray:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)
    picture[..., 3] = 255
    return picture


def numbered(sizes: list[tuple[int, int]]) -> list[np.ndarray]:
    return [flat(*size, (index * 9 + 5, 255 - index, 0, 255)) for index, size in enumerate(sizes)]


def test_srgb_bytes_survive_linear_light() -> None:
    values = np.arange(256, dtype=np.uint8)
    linear = resample.decode_srgb(values)
    assert linear.dtype == np.float32 and linear[0] == 0 and linear[255] == 1
    assert np.array_equal(resample.encode_srgb(linear), values)


@given(PICTURES)
def test_the_same_size_is_the_same_picture(picture: np.ndarray) -> None:
    same = sheet.resize(picture, picture.shape[1], picture.shape[0])
    assert np.array_equal(same, picture) and not np.shares_memory(same, picture)


@given(SIDE, SIDE, SIDE, SIDE, COLOURS)
def test_one_colour_stays_one_colour(a: int, b: int, c: int, d: int, colour: np.ndarray) -> None:
    out = sheet.resize(flat(a, b, colour), c, d)
    wanted = flat(c, d, colour)
    if colour[3] == 0 and (a, b) != (c, d):
        wanted[..., :3] = 0
    assert out.shape == (d, c, 4) and out.dtype == np.uint8 and out.flags.c_contiguous
    assert np.array_equal(out, wanted)


@given(PICTURES, st.integers(1, 30), st.integers(1, 30))
def test_resizing_never_leaves_the_range_of_the_visible_colours(picture: np.ndarray, width: int, height: int) -> None:
    out = sheet.resize(picture, width, height)
    assert out[..., 3].min() >= picture[..., 3].min() and out[..., 3].max() <= picture[..., 3].max()
    visible = picture[picture[..., 3] > 0]
    shown = out[out[..., 3] > 0]
    if len(shown) and (width, height) != picture.shape[1::-1]:
        assert (shown[:, :3] >= visible[:, :3].min(axis=0)).all()
        assert (shown[:, :3] <= visible[:, :3].max(axis=0)).all()


@given(PICTURES, st.integers(1, 30), st.integers(1, 30), st.integers(0, 3))
def test_resizing_treats_all_directions_alike(picture: np.ndarray, width: int, height: int, turn: int) -> None:
    flip = (slice(None, None, -1 if turn & 1 else 1), slice(None, None, -1 if turn & 2 else 1))
    turned = sheet.resize(np.ascontiguousarray(picture[flip]), width, height)[flip].astype(int)
    straight = sheet.resize(picture, width, height).astype(int)
    solid = straight[..., 3] > 8  # a last bit of alpha decides over much colour elsewhere
    assert np.abs(turned[..., 3] - straight[..., 3]).max() <= 1
    assert np.abs(turned - straight)[solid].max(initial=0) <= 1


def test_halving_averages_light_not_bytes() -> None:
    board = np.zeros((8, 8, 4), dtype=np.uint8)
    board[..., 3] = 255
    board[::2, ::2, :3] = board[1::2, 1::2, :3] = 255
    assert sheet.resize(board, 4, 4).tolist() == flat(4, 4, (188, 188, 188, 255)).tolist()


def test_hidden_colour_leaves_no_fringe() -> None:
    picture = flat(8, 8, (0, 255, 0, 0))
    picture[:, ::2] = (250, 240, 10, 255)
    assert sheet.resize(picture, 4, 4).tolist() == flat(4, 4, (250, 240, 10, 128)).tolist()
    grown = sheet.resize(picture, 19, 21)
    assert (grown[grown[..., 3] > 0][:, :3] == (250, 240, 10)).all()


def test_uneven_shrinking_weighs_by_area() -> None:
    alpha = np.zeros((1, 3, 4), dtype=np.uint8)
    alpha[0, :, 3] = (0, 90, 240)
    assert sheet.resize(alpha, 2, 1)[0, :, 3].tolist() == [30, 190]


def test_growing_is_linear_between_texel_centres() -> None:
    alpha = np.zeros((2, 1, 4), dtype=np.uint8)
    alpha[:, 0, 3] = (0, 200)
    assert sheet.resize(alpha, 1, 4)[:, 0, 3].tolist() == [0, 50, 150, 200]


def test_shrinking_a_large_picture_needs_little_memory() -> None:
    picture = noise(2048, 2048)
    tracemalloc.start()
    sheet.fit(picture)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < picture.nbytes


@pytest.mark.parametrize("rows", [1, 32, 140, 253, 256])
def test_a_game_picture_fits_unchanged(rows: int) -> None:
    picture = noise(256, rows)
    assert np.array_equal(sheet.fit(picture), picture)
    packed, places = sheet.pack([picture])
    assert np.array_equal(packed, picture) and places.tolist() == [[0, 0, 256, rows]]


@pytest.mark.parametrize(
    ("size", "rows"),
    [((512, 512), 256), ((512, 128), 64), ((100, 50), 128), ((256, 257), 256), ((64, 1024), 256), ((4096, 3), 1)],
)
def test_other_pictures_keep_their_shape(size: tuple[int, int], rows: int) -> None:
    assert sheet.fit(flat(*size)).shape == (rows, 256, 4)


def check_sheet(packed: np.ndarray, places: np.ndarray, pictures: list[np.ndarray]) -> None:
    """Everything lies inside, nothing overlaps, each place and the texel around it hold the right picture."""
    assert packed.dtype == np.uint8 and packed.flags.c_contiguous
    assert packed.shape[1:] == (256, 4) and packed.shape[0] <= 256
    assert places.shape == (len(pictures), 4)
    owner = np.full(packed.shape[:2], -1)
    for index in np.unique(places, axis=0, return_index=True)[1]:
        x, y, width, height = places[index]
        assert x >= 0 and y >= 0 and width >= 1 and height >= 1 and x + width <= 256 and y + height <= len(packed)
        top, left = max(y - 1, 0), max(x - 1, 0)
        assert (owner[y : y + height, x : x + width] == -1).all()
        owner[y : y + height, x : x + width] = index
        around = packed[top : y + height + 1, left : x + width + 1]
        assert (around == pictures[index][0, 0]).all()
        assert width == 256 or (x >= 1 and x + width <= 255) or width == 255
        assert height == 256 or (y >= 1 and y + height <= 255) or height == 255


@given(SIZES)
@settings(max_examples=60, deadline=None)
def test_packed_pictures_keep_out_of_each_others_way(sizes: list[tuple[int, int]]) -> None:
    pictures = numbered(sizes)
    packed, places = sheet.pack(pictures)
    check_sheet(packed, places, pictures)
    again, places_again = sheet.pack(pictures)
    assert np.array_equal(again, packed) and np.array_equal(places_again, places)
    grown = places[:, 2:] > np.array(sizes)
    assert not grown.any()


@given(SIZES)
@settings(max_examples=40, deadline=None)
def test_pictures_shrink_by_one_factor(sizes: list[tuple[int, int]]) -> None:
    places = sheet.pack(numbered(sizes))[1]
    before = np.array(sizes, dtype=float)
    free = places[:, 2:] > 16  # not held at the least size
    low = ((places[:, 2:] - 0.5) / before)[free].max(initial=0)
    high = ((places[:, 2:] + 0.5) / before)[free & (places[:, 2:] < before)].min(initial=np.inf)
    assert low <= high + 1e-9


def test_what_fits_is_not_scaled() -> None:
    pictures = [noise(126, 126, seed) for seed in range(4)]
    packed, places = sheet.pack(pictures)
    assert packed.shape == (256, 256, 4)
    for picture, (x, y, width, height) in zip(pictures, places, strict=True):
        assert np.array_equal(packed[y : y + height, x : x + width], picture)
        padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
        assert np.array_equal(packed[y - 1 : y + height + 1, x - 1 : x + width + 1], padded)


def test_a_game_texture_stays_exact_beside_a_swatch() -> None:
    texture = noise(256, 140)
    packed, places = sheet.pack([sheet.swatch((1, 0, 0, 1)), texture])
    x, y, width, height = places[1]
    assert (x, width, height) == (0, 256, 140)
    assert np.array_equal(packed[y : y + 140], texture)
    assert len(packed) == 142 + 6


def test_four_equal_large_pictures_use_the_sheet_well() -> None:
    places = sheet.pack(numbered([(1024, 1024)] * 4))[1]
    assert (places[:, 2:] >= 124).all()


def test_small_pictures_beside_a_huge_one_keep_16_texels() -> None:
    places = sheet.pack(numbered([(4096, 4096)] + [(64, 64)] * 8 + [(2, 3)]))[1]
    assert (places[1:9, 2:] == 16).all() and places[9, 2:].tolist() == [2, 3]
    assert places[0, 2] > 190


def test_equal_pictures_share_a_place() -> None:
    first, second = noise(40, 30), noise(30, 40)
    packed, places = sheet.pack([first, second, first.copy(), second])
    assert places[0].tolist() == places[2].tolist() and places[1].tolist() == places[3].tolist()
    assert packed.shape[0] == 42
    assert np.array_equal(sheet.pack([noise(256, 9)] * 3)[1], [[0, 0, 256, 9]] * 3)


def test_the_same_bytes_in_another_shape_are_another_picture() -> None:
    places = sheet.pack([flat(8, 2), flat(2, 8)])[1]
    assert places[:, 2:].tolist() == [[8, 2], [2, 8]]


def test_weights_shift_the_texels() -> None:
    places = sheet.pack(numbered([(512, 512)] * 3), weights=[3.0, 1.0, 1.0])[1]
    assert places[0, 2] > 2.8 * places[1, 2] and places[1, 2] == places[2, 2]
    small = sheet.pack(numbered([(20, 20)] * 3), weights=[3.0, 1.0, 0.01])[1]
    assert (small[:, 2:] == 20).all()


def test_what_no_picture_covers_is_transparent() -> None:
    packed, _ = sheet.pack(numbered([(10, 10), (10, 20)]))
    assert packed[-1, -1].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("count", [64, 196, 500, 1764])
def test_very_many_pictures(count: int) -> None:
    pictures = [flat(64, 64, (index & 255, index >> 8, 9, 255)) for index in range(count)]
    packed, places = sheet.pack(pictures)
    check_sheet(packed, places, pictures)
    assert places[:, 2:].min() >= (16 if count <= 196 else 8 if count <= 625 else 4)


def test_too_many_pictures_end_in_a_sentence() -> None:
    with pytest.raises(ExportError, match="1765 different pictures are too many"):
        sheet.pack([flat(4, 4, (index & 255, index >> 8, 9, 255)) for index in range(1765)])


def test_a_picture_without_texels_ends_in_a_sentence() -> None:
    for pictures in ([np.zeros((0, 256, 4), np.uint8)], [flat(4, 4), np.zeros((4, 0, 4), np.uint8)]):
        with pytest.raises(ExportError, match="empty"):
            sheet.pack(pictures)


def test_a_swatch_is_the_colour_the_material_shows() -> None:
    assert sheet.swatch((0.0, 1.0, 0.21586, 0.5)).tolist() == flat(4, 4, (0, 255, 128, 128)).tolist()
    assert sheet.swatch((-1.0, 9.0, float("nan"), 1.0), 1).tolist() == [[[0, 255, 0, 255]]]


# UVs ------------------------------------------------------------------------------------------------------------


def remap_one(corners: list[list[float]], place: tuple[int, int, int, int], rows: int) -> tuple[np.ndarray, bool]:
    uv, spans = sheet.remap(corners, [0], [0], [place], rows)
    return uv, bool(spans[0])


def test_the_only_picture_keeps_its_uvs_to_the_bit() -> None:
    uv = np.random.default_rng(0).uniform(-3, 3, (30, 2))
    out, spans = sheet.remap(uv, np.arange(0, 30, 3), np.zeros(10, int), [[0, 0, 256, 256]], 256)
    assert out.tobytes() == uv.tobytes() and not spans.any()


def test_corners_land_on_their_texels() -> None:
    uv, spans = remap_one([[0.5, 0.5], [0.25, 0.25], [0.25, 0.75]], (64, 32, 128, 64), 200)
    assert not spans
    assert np.allclose(uv * (256, 200), [[128, 200 - 64], [96, 200 - 80], [96, 200 - 48]])


@given(
    hnp.arrays(np.float64, (4, 2), elements=st.floats(0, 1)),
    st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
)
def test_a_face_in_another_tile_moves_by_whole_tiles(corners: np.ndarray, tile: tuple[int, int]) -> None:
    place = (8, 16, 100, 50)
    home, spans = remap_one(corners, place, 200)
    assert not spans
    texel = home * (256, 200)
    assert (texel[:, 0] >= 8.5 - 1e-9).all() and (texel[:, 0] <= 107.5 + 1e-9).all()
    assert (200 - texel[:, 1] >= 16.5 - 1e-9).all() and (200 - texel[:, 1] <= 65.5 + 1e-9).all()
    if (np.ptp(corners, axis=0) > 1e-3).all():
        moved, spans = remap_one(corners + tile, place, 200)
        assert not spans and np.allclose(moved, home, atol=1e-6)


def test_faces_that_span_tiles_are_told_apart() -> None:
    faces = np.array(
        [
            [[0, 0], [1, 0], [1, 1]],
            [[0, 0], [2, 0], [2, 1]],
            [[0.9, 0.1], [1.1, 0.1], [1.1, 0.2]],
            [[2, 3], [3, 3], [3, 4]],
            [[-0.004, 0], [1.004, 0], [1, 1]],
            [[0, 0.5], [0.5, 0.5], [0.5, 7.5]],
        ]
    )
    uv, spans = sheet.remap(faces.reshape(-1, 2), np.arange(0, 18, 3), np.zeros(6, int), [[10, 10, 100, 100]], 200)
    assert spans.tolist() == [False, True, True, False, False, True]
    texel = uv * (256, 200)
    assert texel[:, 0].min() >= 10.5 and texel[:, 0].max() <= 109.5
    assert np.allclose(texel[3:6, 0], [10.5, 109.5, 109.5])


def test_a_face_on_the_very_edge_stays_there() -> None:
    uv, spans = remap_one([[1, 0], [1, 1], [1, 1]], (10, 10, 100, 100), 200)
    assert not spans
    assert np.allclose(uv * (256, 200), [[109.5, 90.5], [109.5, 189.5], [109.5, 189.5]])


def test_along_a_full_axis_the_game_repeats_by_itself() -> None:
    uv, spans = remap_one([[0, 0.5], [5, 0.5], [5, 1.5]], (0, 0, 256, 256), 256)
    assert not spans and uv[1].tolist() == [5, 0.5]
    uv, spans = remap_one([[0, 0.25], [5, 0.5], [5, 0.75]], (0, 20, 256, 100), 200)
    assert not spans and uv[1, 0] == 5 and np.isclose(uv[1, 1], (200 - 70) / 200)
    assert remap_one([[0, 0.25], [5, 0.5], [5, 2.75]], (0, 20, 256, 100), 200)[1]


def test_faces_of_different_pictures_and_sizes() -> None:
    places = [[1, 1, 10, 10], [20, 1, 30, 10], [1, 1, 10, 10]]
    corners = np.full((12, 2), 0.5)
    uv, spans = sheet.remap(corners, [0, 3, 8], [0, 1, 2], places, 64)
    assert np.allclose(uv[:, 0] * 256, [6] * 3 + [35] * 5 + [6] * 4) and not spans.any()


def test_no_faces() -> None:
    uv, spans = sheet.remap(np.zeros((0, 2)), [], [], [[0, 0, 256, 256]], 256)
    assert uv.shape == (0, 2) and spans.shape == (0,)


@given(SIZES, st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_packed_and_remapped_corners_show_their_picture(sizes: list[tuple[int, int]], seed: int) -> None:
    pictures = numbered(sizes)
    packed, places = sheet.pack(pictures)
    random = np.random.default_rng(seed)
    of_face = random.integers(0, len(pictures), 50)
    corners = random.choice([0.0, 0.25, 0.5, 1.0], (150, 2)) + np.repeat(random.integers(-3, 4, (50, 2)), 3, axis=0)
    uv, spans = sheet.remap(corners, np.arange(0, 150, 3), of_face, places, len(packed))
    assert not spans.any()
    column = np.rint(uv[:, 0] * 256 - 0.5).astype(int)
    row = np.rint((1 - uv[:, 1]) * len(packed) - 0.5).astype(int)
    wide = np.repeat(places[of_face, 2] == 256, 3)
    high = np.repeat(places[of_face, 3] == 256, 3)
    column, row = np.where(wide, column % 256, column), np.where(high, row % 256, row)
    wanted = np.array([picture[0, 0] for picture in pictures])[np.repeat(of_face, 3)]
    assert np.array_equal(packed[row, column], wanted)
