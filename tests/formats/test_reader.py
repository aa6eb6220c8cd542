# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds-checked reading."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from addon.io_common.formats.errors import FormatError
from addon.io_common.formats.reader import Reader, require_finite
from hypothesis import given
from hypothesis import strategies as st

RECORD = np.dtype([("a", "<u2"), ("b", "u1")])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_reading_in_order(kind: type) -> None:
    data = kind(bytes(range(12)))
    reader = Reader(data)
    assert reader.integer("<u2", "a number") == 0x0100
    assert bytes(reader.take(2, "a word")) == b"\x02\x03"
    table = reader.array(RECORD, 2, "records")
    assert table["a"].tolist() == [0x0504, 0x0807]
    assert (reader.offset, reader.left) == (10, 2)
    assert reader.array("<i2", 1, "rest").tolist() == [0x0B0A]
    reader.end("the rest")


def test_arrays_are_views() -> None:
    data = bytes(8)
    found = Reader(data).array("<u4", 2, "numbers")
    assert found.base is not None
    assert not found.flags.writeable


@pytest.mark.parametrize(
    ("count", "dtype"), [(3, "<u4"), (-1, "<u4"), (2**31 - 1, "<u4"), (2**63, "V64"), (-(2**31), "u1")]
)
def test_a_lying_count_is_refused_before_anything_is_allocated(count: int, dtype: str) -> None:
    reader = Reader(b"headtable567")
    reader.take(4, "the head")
    tracemalloc.start()
    try:
        with pytest.raises(FormatError) as caught:
            reader.array(dtype, count, "faces")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert caught.value.offset == 4
    size = np.dtype(dtype).itemsize
    assert str(caught.value) == (
        f"the faces do not fit into the file at byte 4: expected {count} of {size} bytes each, "
        "found 8 bytes before the end."
    )
    assert reader.offset == 4


@pytest.mark.parametrize("size", [5, -1, 2**40])
def test_taking_too_much(size: int) -> None:
    reader = Reader(b"four")
    with pytest.raises(FormatError, match=r"the head does not fit into the file at byte 0: expected .* found 4 bytes"):
        reader.take(size, "the head")
    assert reader.offset == 0


def test_nothing_may_be_left() -> None:
    reader = Reader(b"abc")
    reader.take(1, "a")
    with pytest.raises(FormatError, match="2 bytes are left over after a at byte 1: expected the end of the file"):
        reader.end("a")
    reader.take(1, "b")
    with pytest.raises(FormatError, match="1 byte is left over after b"):
        reader.end("b")


@given(st.binary(max_size=64), st.lists(st.tuples(st.sampled_from(["u1", "<i2", "<f4", "V7"]), st.integers(-3, 20))))
def test_it_never_reads_past_the_end(data: bytes, steps: list[tuple[str, int]]) -> None:
    reader = Reader(data)
    for dtype, count in steps:
        before = reader.offset
        try:
            found = reader.array(dtype, count, "items")
        except FormatError:
            assert reader.offset == before
            assert count < 0 or count * np.dtype(dtype).itemsize > len(data) - before
        else:
            assert found.tobytes() == data[before : reader.offset]
            assert len(found) == count


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(value: float) -> None:
    values = np.zeros((5, 3), np.float32)
    require_finite(values, 100, 16, "vertex")
    values[3, 1] = value
    with pytest.raises(FormatError) as caught:
        require_finite(values, 100, 16, "vertex")
    assert caught.value.offset == 148
    assert "vertex 3 has a coordinate that is not a finite number at byte 148" in str(caught.value)
    assert f"found 0.0, {float(value)}, 0.0." in str(caught.value)
