# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables for tests: made here, small, and any table that a file can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_dragonnest.formats import dnt
from addon.io_dragonnest.formats.table import DNT, DTYPES, EXT, NAME_FIELD, TEXT, TRAILER, Column, Table, Texts
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL_KINDS = (1, 2, 3, 4, 5, 6)


def table(names: Sequence[str], kinds: Sequence[int], rows: Sequence[Sequence[Any]], form: str = DNT) -> Table:
    """A table of rows (id, cell, cell …); texts are bytes."""
    columns = []
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True), start=1):
        cells = [row[number] for row in rows]
        made = Texts.of(cells) if kind == TEXT else np.array(cells, DTYPES[kind])
        columns.append(Column(name.encode("cp949"), kind, made))
    return Table(form, np.array([row[0] for row in rows], "<u4"), tuple(columns))


def mixed(form: str = DNT) -> Table:
    """Every type, two rows with one id, Korean, what spreadsheets spoil."""
    rows = [
        (1, "전사".encode("cp949"), 1, -5, 0.25, 1.1, 0.1, b""),
        (2, b"007", 0, 2147483647, 0.0, -1.0, 1e300, b'a "quoted", text\nin two lines'),
        (2, b"=1+1", 7, -2147483648, 1e-45, 3.4028235e38, -0.0, b"back\\slash \\x41"),
        (4294967295, b"\xff\xfe\x80", 1, 0, 1 / 3, 16777216.0, 5e-324, b"\x00\x01\r\n'"),
    ]
    return table(("_Name", "_Flag", "_N", "_Rate", "_X", "_D", "_Text"), (1, 2, 3, 4, 5, 6, 1), rows, form)


def actors(*, numbers: bool) -> Table:
    """A table of three actors, with file names or with the rows of `file_names`."""
    files = (
        [(2075, 2567), (2076, 2568), (0, 2567)]
        if numbers
        else [(b"warrior.skn", b"Warrior.ani"), (b"resource\\char\\archer.msh", b"archer"), (b"", b"warrior.ani")]
    )
    kind = 3 if numbers else 1
    rows = [(1, b"Warrior", *files[0], 100), (2, b"Archer", *files[1], 100), (7, b"Ghost", *files[2], 90)]
    return table(("_StaticName", "_SkinName", "_AniName", "_Height"), (1, kind, kind, 3), rows)


def file_names() -> Table:
    """The table of file names that `actors` count in."""
    rows = [(2075, b"x", b"warrior.skn"), (2076, b"y", b"archer.skn"), (2567, b"z", b"warrior.ani")]
    return table(("_Note", "_FileName"), (1, 1), rows)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Any table: names and texts of any bytes, numbers of any bits, any ids, any tail."""
    form = draw(st.sampled_from([DNT, EXT]))
    count = draw(st.integers(0, 4))
    columns = []
    for kind in draw(st.lists(st.sampled_from(ALL_KINDS), max_size=5)):
        name = draw(st.binary(max_size=NAME_FIELD)).rstrip(b"\0")
        if kind == TEXT:
            raws = draw(st.lists(_TEXT, min_size=count, max_size=count))
            columns.append(Column(name, kind, Texts.of(raws)))
        else:
            size = DTYPES[kind].itemsize * count
            bits = draw(st.one_of(st.just(b"\0" * size), st.binary(min_size=size, max_size=size)))
            columns.append(Column(name, kind, np.frombuffer(bits, DTYPES[kind])))
    ids = np.array(draw(st.lists(st.integers(0, 0xFFFFFFFF), min_size=count, max_size=count)), "<u4")
    tail = draw(st.one_of(st.just(TRAILER), st.binary(max_size=9)))
    if form == EXT:
        return Table(form, ids, tuple(columns), draw(st.integers(-(2**31), 2**31 - 1)), b"", tail)
    return Table(form, ids, tuple(columns), draw(st.integers(0, 0xFFFF)), draw(st.binary(max_size=5)), tail)


_TEXT = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [b"", b"007", b"\\x41", b"'", b"=A1", b"1.5", b"TRUE", b"\r\n", b"\0", b"a,b", b'"', b"\\", b" x "]
    ),
    st.text("\\x40a", max_size=8).map(str.encode),
    st.text("가나\\x41\n\t", max_size=6).map(lambda text: text.encode("cp949")),
    st.text("가è中\u0085\u2028", max_size=6).map(str.encode),
)


def read(data: bytes, form: str) -> Table:
    """The reader of a form."""
    return dnt.read_ext(data) if form == EXT else dnt.read_dnt(data)
