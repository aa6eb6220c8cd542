# SPDX-License-Identifier: GPL-3.0-or-later
"""The fuzz harness finds what it is made to find, and a short, fixed run of it finds nothing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_common.formats.errors import FormatError

from tests.fuzz import __main__ as fuzz
from tests.fuzz.mutate import mutated
from tests.fuzz.promise import broken_promise
from tests.fuzz.readers import Reader, readers

if TYPE_CHECKING:
    from pathlib import Path


class _Stammer(FormatError):
    def __str__(self) -> str:
        return self.reason


def _raise(error: Exception) -> object:
    raise error


def _warn(data: bytes) -> bytes:
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    return data


def test_a_sound_reader_breaks_no_promise() -> None:
    """Neither by a model nor by a refusal."""
    assert broken_promise(Reader("good", bytes, [], bytes), b"1234") == ""
    refuses = Reader("refuses", lambda _data: _raise(FormatError("this is no model", offset=3)), [])
    assert broken_promise(refuses, b"1234") == ""


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (Reader("loses a byte", bytes, [], lambda data: data[:-1]), "other bytes"),
        (Reader("needs too much", lambda _data: len(bytes(65 << 20)), []), "needed"),
        (Reader("stammers", lambda _data: _raise(_Stammer("two\nlines")), []), "not one plain sentence"),
        (Reader("fails", lambda _data: _raise(KeyError("x")), []), "KeyError"),
        (Reader("warns", _warn, []), "RuntimeWarning"),
    ],
    ids=lambda value: value.name if isinstance(value, Reader) else "",
)
def test_findings_are_found_and_kept(
    reader: Reader, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each kind of broken promise is printed, and the input that does it saved."""
    monkeypatch.setattr(fuzz, "FINDINGS", tmp_path)
    assert not fuzz.attempt(reader, b"the input")
    assert words in capsys.readouterr().out
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"the input"]


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_three_hundred_damaged_files(reader: Reader) -> None:
    """The same ones every time; `dev.py fuzz` goes on from here."""
    rng = np.random.default_rng(7)
    for data in reader.seeds:
        assert broken_promise(reader, data) == ""
    for _ in range(300):
        data = mutated(rng, reader.seeds[int(rng.integers(len(reader.seeds)))], reader.seeds)
        assert broken_promise(reader, data) == "", data
