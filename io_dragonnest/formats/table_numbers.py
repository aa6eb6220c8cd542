# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of a table as Python's, and back to the bit.

A float is the shortest number that is nearest to no other float of its size: 1.1 and not 1.10000002384. What no text of
a number can say is a word: "nan", "inf", "-inf", and "nan:7fa00001" for another pattern of bits that is no number.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .table import BOOL, DOUBLE, DTYPES, INT, KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

_BITS: dict[int, np.dtype[Any]] = {4: np.dtype("<u4"), 8: np.dtype("<u8")}
_NAN = re.compile("nan:([0-9a-f]{8}|[0-9a-f]{16})", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
# Python refuses to make an int of some thousand digits: no number of a table has so many.
_WHOLE = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_WORDS = {"nan": math.nan, "inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
_FLAGS = {"true": 1, "false": 0}
INT_RANGE = (-(2**31), 2**31 - 1)
ID_RANGE = (0, 2**32 - 1)


def listed(cells: npt.NDArray[Any]) -> list[int] | list[float | str]:
    """(rows,) numbers of a column as Python's: int, float, or a word for what is no finite number."""
    if cells.dtype.kind != "f":
        return cells.tolist()  # type: ignore[no-any-return]
    bits = np.ascontiguousarray(cells).view(_BITS[cells.dtype.itemsize])
    # Tables repeat their numbers: each is worked out once.
    values, where = np.unique(bits, return_inverse=True)
    words = [_said(value, cells.dtype) for value in values]
    return [words[index] for index in where.ravel().tolist()]


def _said(bits: Any, dtype: np.dtype) -> float | str:
    value = np.array([bits], _BITS[dtype.itemsize]).view(dtype)[0]
    if np.isfinite(value):
        short = float(str(value))  # numpy's text of a float32 is the shortest that comes back, but for rounding twice
        return short if np.array([short]).astype(dtype)[0] == value else float(value)
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    plain = np.array([math.nan], dtype).view(_BITS[dtype.itemsize])[0]
    return "nan" if bits == plain else f"nan:{int(bits):0{2 * dtype.itemsize}x}"


def expected(kind: int) -> str:
    """What a cell of a type wants to be, as a noun phrase."""
    if kind in {BOOL, INT}:
        return f"a whole number from {INT_RANGE[0]} to {INT_RANGE[1]}" + (", 0 or 1 as a rule" if kind == BOOL else "")
    return "a number" + (" that a float of 32 bits can hold" if kind != DOUBLE else "")


def from_text(text: str, kind: int, decimal: str = ".") -> int | float | str | None:
    """The number that a text says; a word stays a word. None where it says none of this type."""
    plain = text.strip().lower()
    if kind in {BOOL, INT}:
        if kind == BOOL and plain in _FLAGS:
            return _FLAGS[plain]
        return int(plain) if _WHOLE.fullmatch(plain) else None
    if plain in _WORDS or _NAN.fullmatch(plain):
        return plain
    plain = plain.replace(decimal, ".")
    return float(plain) if _NUMBER.fullmatch(plain) else None


def is_number(value: Any, kind: int) -> bool:
    """Whether a value, out of JSON or of `from_text`, can be a cell of this type."""
    if kind in {BOOL, INT}:
        whole = isinstance(value, int) and (kind == BOOL or not isinstance(value, bool))
        return whole and INT_RANGE[0] <= value <= INT_RANGE[1]
    if isinstance(value, str):
        match = _NAN.fullmatch(value)
        return value.lower() in _WORDS or (match is not None and _is_nan(match[1], kind))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return _fits(value, kind)


def _fits(value: float, kind: int) -> bool:
    try:
        number = float(value)
    except OverflowError:
        return False
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.array(number).astype(DTYPES[kind])))


def _is_nan(digits: str, kind: int) -> bool:
    dtype = DTYPES[kind]
    if len(digits) != 2 * dtype.itemsize:
        return False
    return bool(np.isnan(np.array([int(digits, 16)], _BITS[dtype.itemsize]).view(dtype)[0]))


def array(values: Sequence[int | float | str], kind: int) -> npt.NDArray[Any]:
    """A column of values for each of which `is_number` holds."""
    dtype = DTYPES[kind]
    if kind in {BOOL, INT}:
        return np.array(values, dtype)
    words = {index: value.lower() for index, value in enumerate(values) if isinstance(value, str)}
    plain = [0.0 if index in words else value for index, value in enumerate(values)] if words else values
    found = np.array(plain, np.float64).astype(dtype)
    bits = found.view(_BITS[dtype.itemsize])
    for index, word in words.items():
        if word in _WORDS:
            found[index] = _WORDS[word]
        else:
            bits[index] = int(word[4:], 16)
    return np.asarray(found)


def all_texts(texts: Sequence[str], kind: int, decimal: str = ".") -> npt.NDArray[Any] | None:
    """A column out of texts, each of which says a number; None where one does not. The usual case in one go."""
    try:
        if kind in {BOOL, INT}:
            found = np.fromiter(map(int, texts), np.int64, len(texts))
            good = len(found) == 0 or (found.min() >= INT_RANGE[0] and found.max() <= INT_RANGE[1])
            return found.astype(DTYPES[kind]) if good and "_" not in "".join(texts) else None
    except (ValueError, OverflowError):
        pass
    # Each different text once.
    values = {text: from_text(text, kind, decimal) for text in set(texts)}
    if not all(value is not None and is_number(value, kind) for value in values.values()):
        return None
    return array([values[text] for text in texts], kind)  # type: ignore[misc]


def all_ids(texts: Sequence[str]) -> npt.NDArray[np.uint32] | None:
    """Row ids out of texts; None where one is none."""
    if not all(map(_WHOLE.fullmatch, map(str.strip, texts))):
        return None
    found = list(map(int, texts))
    return np.array(found, "<u4") if not found or (min(found) >= 0 and max(found) <= ID_RANGE[1]) else None


def kind_name(kind: int) -> str:
    """What people call a cell type."""
    return KINDS[kind]
