# SPDX-License-Identifier: GPL-3.0-or-later
"""Picture files before anything decodes them: sizes, lies, alpha; where they are looked for."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from addon.io_dragonnest.formats import library, pictures
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import dragons


def patched(data: bytes, at: int, number: int) -> bytes:
    return data[:at] + struct.pack("<I", number) + data[at + 4 :]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (dragons.RED, ""),
        (dragons.CLEAR, ""),
        (dragons.RED[:-1], "cut off"),
        (dragons.RED[:100], "damaged"),
        (b"DDS ", "ends within its header"),
        (patched(dragons.RED, 4, 7), "damaged"),
        (patched(dragons.RED, 12, 0), "8 x 0 pixels"),
        (patched(dragons.RED, 12, 1 << 31), "pixels, expected 1 to 16384"),
        (patched(dragons.RED, 16, 16384), "cut off"),
        (patched(dragons.RED, 84, 0x30315844), 'compression "DX10" is not known'),
        (patched(dragons.RED, 80, 0), "kind of DDS that cannot be read"),
        (patched(dragons.RED, 112, 0x200), "cube or volume"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 8, 8), ""),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 1 << 20, 8), "1048576 x 8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 16384, 16384), "at most"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">IIB", 2048, 2048, 8), ""),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">IIB", 2048, 2048, 16), "at most"),
        (b"BM" + bytes(16) + struct.pack("<ii", 16384, -16384), "at most"),
        (b"\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x0b\x08\x40\0\x40\0\1\1\x11\0", "at most"),
        (bytes((0, 0, 10, *bytes(9), 0, 64, 0, 64, 32, 8)), "at most"),
        (b"BM" + bytes(16) + struct.pack("<ii", 4, -4), ""),
        (b"\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x0b\x08\0\x10\0\x20\1\1\x11\0", ""),
        (b"\xff\xd8\xff\xe0\0\4ab", "cut off before its size"),
        (bytes((0, 0, 2, *bytes(9), 2, 0, 2, 0, 32, 8)) + bytes(16), ""),
        (bytes((0, 0, 2, *bytes(9), 2, 0, 2, 0, 32, 8)) + bytes(15), "cut off"),
        (bytes(40), "no picture of a known kind"),
    ],
)
def test_trouble(data: bytes, words: str) -> None:
    found = pictures.trouble(data)
    assert words in found
    assert bool(words) == bool(found)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=160), st.sampled_from([b"", b"DDS \x7c\0\0\0", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"BM"]))
def test_any_bytes(rest: bytes, head: bytes) -> None:
    data = head + rest
    if not pictures.trouble(data):
        assert pictures.has_alpha(data) in (False, True)


@pytest.mark.parametrize(
    ("block", "code", "alpha"),
    [
        (dragons.dxt1(), b"DXT1", False),
        (dragons.dxt1(5, 5, 0xFFFFFFFF), b"DXT1", True),
        (dragons.dxt1(5, 6, 0xAAAAAAAA), b"DXT1", False),
        (dragons.dxt1(5, 6, 0x3 << 30), b"DXT1", True),
        (dragons.dxt1(6, 5, 0xFFFFFFFF), b"DXT1", False),
        (b"\xff" * 8 + dragons.dxt1(), b"DXT3", False),
        (b"\xff" * 7 + b"\xef" + dragons.dxt1(), b"DXT3", True),
        *((dragons.dxt5(255, 255, index), b"DXT5", index == 6) for index in range(8)),
        *((dragons.dxt5(255, 0, index), b"DXT5", index != 0) for index in range(8)),
        *((dragons.dxt5(0, 255, index), b"DXT5", index not in (1, 7)) for index in range(8)),
    ],
)
def test_alpha_of_blocks(block: bytes, code: bytes, alpha: bool) -> None:
    opaque = {b"DXT1": dragons.dxt1(), b"DXT3": b"\xff" * 8 + dragons.dxt1(), b"DXT5": dragons.dxt5(255, 255)}[code]
    data = dragons.dds(code, 64, 64, opaque)
    assert not pictures.has_alpha(data)
    assert pictures.has_alpha(data[: -len(block)] + block) is alpha


def test_kinds_go_by_content() -> None:
    assert pictures.suffix_of(dragons.RED, "a.tga") == ".dds"
    assert pictures.suffix_of(b"\x89PNG\r\n\x1a\n", "a.dds") == ".png"
    assert pictures.suffix_of(bytes(18), "a.dds") == ".tga"
    assert pictures.suffix_of(bytes(18), "plain") == ".tga"


def test_resolvers_are_asked_for_what_no_folder_has(tmp_path: Path) -> None:
    (tmp_path / "a.dds").write_bytes(b"here")
    asked: list[str] = []

    def resolver(name: str) -> bytes | None:
        asked.append(name)
        return b"archive" if name == "only_archived.tga" else None

    found = library.Library([resolver])
    model = tmp_path / "m.skn"
    assert found.find("A.DDS", model).data == b"here"
    assert not asked
    picture = found.find(r"..\..\x\only_archived.dds", model)
    assert (picture.data, picture.path) == (b"archive", None)
    assert asked == ["only_archived.dds", "only_archived.tga"]
    assert found.find("nowhere_at_all.dds", model) is None
    assert found.find("..", model) is None


def test_folders_are_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many names in many models beside a sibling folder of 50 000 files: each folder is read once."""
    model = tmp_path / "hero"
    other = tmp_path / "textures"
    model.mkdir()
    other.mkdir()
    listed: list[str] = []
    real = os.scandir

    class Entry:
        def __init__(self, number: int) -> None:
            self.name = f"t{number}.DDS"

        def is_dir(self, *, follow_symlinks: bool) -> bool:
            return not follow_symlinks and False

    class Many:
        def __enter__(self) -> list[Entry]:
            return [Entry(number) for number in range(50_000)]

        def __exit__(self, *_rest: object) -> None: ...

    def scandir(path: str) -> object:
        listed.append(str(path))
        return Many() if Path(path) == other else real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = library.Library()
    for number in range(300):
        index = found.index(model / f"{number}.skn")
        assert index.find(f"T{number * 7}.dds") == other / f"t{number * 7}.DDS"
        assert index.find(f"missing{number}.dds") is None
    assert len(listed) == len(set(listed)) <= 4
    assert np.unique(listed).size == len(listed)
