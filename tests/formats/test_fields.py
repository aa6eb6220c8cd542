# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of byte offsets."""

from __future__ import annotations

import numpy as np
import pytest
from addon.io_common.formats.fields import Section, first_difference, locate
from hypothesis import given
from hypothesis import strategies as st

HEADER = np.dtype([("magic", "V4"), ("vertex_count", "<u4")])
FACE = np.dtype([("corner", "<u4", 3), ("flags", "<u2"), ("dmask", "<u2"), ("name", "u1", 8)])
# The one byte at 56 belongs to nothing.
SECTIONS = (
    Section("header", 0, HEADER),
    Section("face", 8, FACE, 2),
    Section("texel", 57, np.dtype("<u2"), 3),
    Section("nothing", 63, FACE, 0),
)


@pytest.mark.parametrize(
    ("offset", "name"),
    [
        (0, "header, magic"),
        (4, "header, vertex count"),
        (7, "header, vertex count"),
        (8, "face 0, corner 0"),
        (19, "face 0, corner 2"),
        (20, "face 0, flags"),
        (22, "face 0, dmask"),
        (24, "face 0, name"),
        (32, "face 1, corner 0"),
        (55, "face 1, name"),
        (57, "texel 0"),
        (62, "texel 2"),
        (56, "past the end"),
        (63, "past the end"),
        (10**9, "past the end"),
    ],
)
def test_locate(offset: int, name: str) -> None:
    assert locate(SECTIONS, offset) == name


def test_a_gap_inside_a_record_has_the_name_of_the_record() -> None:
    padded = np.dtype({"names": ["a", "b"], "formats": ["<u2", "<u2"], "offsets": [0, 6], "itemsize": 8})
    assert [locate([Section("bone", 0, padded, 2)], offset) for offset in (1, 3, 7, 11)] == [
        "bone 0, a",
        "bone 0",
        "bone 0, b",
        "bone 1",
    ]


def test_end() -> None:
    assert [section.end for section in SECTIONS] == [8, 56, 63, 63]


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_first_difference_is_the_end_of_the_common_start(a: bytes, b: bytes) -> None:
    found = first_difference(a, b)
    if found is None:
        assert a == b
    else:
        assert a != b
        assert a[:found] == b[:found]
        assert a[found : found + 1] != b[found : found + 1]


def test_first_difference_of_a_prefix_is_its_length() -> None:
    assert first_difference(b"abc", b"abcd") == 3
    assert first_difference(b"abcd", b"") == 0
