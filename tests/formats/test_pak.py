# SPDX-License-Identifier: GPL-3.0-or-later
"""PAK archives: what is in them, in whatever state they are."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_common.formats import fields
from addon.io_common.formats.errors import FileAccessError, FormatError, UnsupportedError, UserError
from addon.io_dragonnest.formats import pak, pak_check, pak_inflate, pak_names, pak_pieces
from addon.io_dragonnest.formats.pak import State
from hypothesis import given
from hypothesis import strategies as st

from tests import archives, hostile
from tests.archives import Item

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def texts_of(archive: pak.Archive) -> dict[str, bytes]:
    return {archive.names[number]: archive.read(number) for number in archive.live.values()}


def refusal(call: Callable[[], Any], kind: type[UserError] = UserError) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert hostile.is_sentence(str(caught.value))
    return str(caught.value)


# --- what is there ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [10, 11])
def test_entries_are_read(version: int, tmp_path: Path) -> None:
    items = archives.plain()
    path = tmp_path / "a.pak"
    path.write_bytes(archives.make(items, version=version))
    with pak.open_archive(path) as archive:
        assert archive.version == version
        assert len(archive) == len(items)
        assert archive.names == [item.name for item in items]
        assert texts_of(archive) == {item.name: item.content for item in items}
        for number, item in enumerate(items):
            assert archive.find(str(item.name).upper().replace("\\", "/")[1:]) == number
            for chunk in (1, 7, 100_000):
                pieces = list(archive.stream(number, chunk))
                assert b"".join(pieces) == item.content
                assert max(map(len, pieces), default=0) <= chunk
            assert zlib.decompress(archive.payload(number)) == item.content
        assert archive.find("\\nothing") is None
        assert pak_check.check(archive) == []
    with pytest.raises(ValueError, match="closed"):
        archive.read(0)
    # The index outlives the file.
    assert archive.index["original"].tolist() == [len(item.content) for item in items]


@pytest.mark.samples("dragonnest/**/syn_v11.pak")
def test_an_archive_of_another_writer(sample: Path) -> None:
    with pak.open_archive(sample) as archive:
        assert len(archive.live) == 3
        assert archive.state(3) is State.DELETED
        for number in archive.live.values():
            file = sample.parent / pak_names.base_name(archive.names[number])
            assert archive.read(number) == file.read_bytes()
        assert b"".join(pak_pieces.pieces(archive)) == sample.read_bytes()


def test_an_archive_of_nothing() -> None:
    for version in pak.VERSIONS:
        for place in (0, 1024, 5000):
            data = archives.header(version, 0, place) + b"rest"
            archive = pak.read(data)
            assert (len(archive), archive.names, archive.live) == (0, [], {})
            assert pak_pieces.write(archive) == data
            assert pak_check.summary(archive)["entries"] == 0


def test_deleted_and_doubled() -> None:
    """A deleted entry is none, whatever it is called; of several of a name the last one counts."""
    items = [
        Item("\\a.txt", b"first"),
        Item("/A.TXT", b"second"),
        archives.deleted("\\b.txt"),
        Item("\\b.txt", b"third"),
        archives.deleted("\\a.txt"),
        Item("\\c.txt", b"fourth", stored=0),
    ]
    archive = pak.read(archives.make(items))
    assert archive.states.tolist() == [State.SHADOWED, State.LIVE, State.DELETED, State.LIVE, *[State.DELETED] * 2]
    assert texts_of(archive) == {"/A.TXT": b"second", "\\b.txt": b"third"}
    assert archive.read(0) == b"first"
    assert "deleted" in refusal(lambda: archive.read(4))
    assert [issue.code for issue in pak_check.check(archive)] == ["shadowed-entries"]
    assert pak_check.summary(archive)["shadowed"] == 1


def test_empty_files_are_files() -> None:
    archive = pak.read(archives.make([Item("\\empty.txt")]))
    assert archive.state(0) is State.LIVE
    assert archive.read(0) == b""
    assert list(archive.stream(0)) == []


def test_wrong_space_is_of_no_matter() -> None:
    """Stated space that is too small, far too large, and payloads that lie in one another."""
    items = [
        Item("\\small", b"one" * 50, allocated=1),
        Item("\\large", b"two" * 50, allocated=0xFFFFFFFF),
        Item("\\slack", b"three" * 50, slack=100),
        Item("\\same", b"one" * 50, payload=b"", stored=len(zlib.compress(b"one" * 50, 1)), offset=1024),
    ]
    archive = pak.read(archives.make(items))
    assert texts_of(archive) == {str(item.name): item.content for item in items}
    assert [issue.code for issue in pak_check.check(archive)] == ["allocated"]
    inner = zlib.compress(b"inner", 1)
    outer = zlib.compress(inner, 0)
    start = outer.index(inner)
    items = [Item("\\outer", inner, payload=outer), Item("\\inner", b"inner", b"", len(inner), offset=1024 + start)]
    archive = pak.read(archives.make(items))
    assert texts_of(archive) == {"\\outer": inner, "\\inner": b"inner"}
    assert [issue.code for issue in pak_check.check(archive)] == ["overlapping", "allocated"]


def test_an_unfinished_archive_is_read_and_named() -> None:
    archive = pak.read(archives.make(archives.plain(), flag=1))
    assert archive.unfinished
    assert len(texts_of(archive)) == 6
    assert [issue.code for issue in pak_check.check(archive)] == ["unfinished"]


# --- names -----------------------------------------------------------------------------------------------------------


def test_names_of_all_kinds() -> None:
    raws = [
        b"\\plain.txt",
        "\\한국어\\파일.dds".encode("cp949"),
        b"\\leftover.txt\0garbage\xff\xfe",
        b"\\odd\xff\x81",
        b"\\" + b"x" * 255,
        b"",
    ]
    archive = pak.read(archives.make([Item(raw) for raw in raws]))
    assert archive.names[:3] == ["\\plain.txt", "\\한국어\\파일.dds", "\\leftover.txt"]
    assert archive.names == [pak_names.text(raw) for raw in raws]
    for name, raw in zip(archive.names[:4], raws, strict=False):
        assert pak_names.encode(name).rstrip(b"\0") == raw.split(b"\0")[0]
    # An odd byte is no path separator.
    assert pak_names.safe_parts(archive.names[3]) == (archive.names[3][1:],)


@given(st.lists(st.binary(max_size=256), max_size=8))
def test_names_at_once_are_names_one_by_one(raws: list[bytes]) -> None:
    fields_of = pak_names.fields_of([raw.ljust(256, b"\0") for raw in raws])
    found = pak_names.texts(fields_of)
    assert found == [pak_names.text(raw) for raw in raws]
    assert pak_names.keys(found) == [pak_names.key(name) for name in found]


@given(st.binary(min_size=1, max_size=255).filter(lambda raw: 0 not in raw))
def test_names_lose_nothing(raw: bytes) -> None:
    name = pak_names.text(raw)
    again = pak_names.encode(name).rstrip(b"\0")
    # A few characters of CP949 have two codes.
    assert again == raw or pak_names.text(again) == name
    name.encode()


def test_names_that_cannot_be_written() -> None:
    for name in ("\\" + "x" * 255, "\\" + "가" * 128, "a\0b", "\\emoji\N{GRINNING FACE}", ""):
        refusal(lambda name=name: pak_names.encode(name))  # type: ignore[misc]


# --- damage ----------------------------------------------------------------------------------------------------------


def test_what_is_no_archive(tmp_path: Path) -> None:
    sound = archives.make(archives.plain())
    cases = {
        "empty": b"",
        "other": b"PK\3\4" + sound[4:],
        "header": sound[:1000],
        "cut in the index": sound[:-1],
        "cut in the payloads": sound[:2000],
        "many": archives.header(11, 0x7FFFFFFF, 1024) + bytes(400),
        "negative": archives.header(11, -1, 1024) + bytes(400),
        "index in the header": archives.header(11, 1, 500) + bytes(400),
        "index beyond": archives.header(11, 1, 0xFFFFFFFF) + bytes(400),
        "old and cut": archives.make(archives.plain(), version=10)[:-1],
    }
    for name, data in cases.items():
        path = tmp_path / "a.pak"
        path.write_bytes(data)
        text = refusal(lambda: pak.open_archive(path), FormatError)  # noqa: B023
        assert text.startswith("a.pak: "), name
        if "cut" in name:
            assert "cut off" in text
    for name, kind in (("missing", FileAccessError), ("", FileAccessError)):
        refusal(lambda name=name: pak.open_archive(tmp_path / name), kind)  # type: ignore[misc]


def test_other_versions_are_named() -> None:
    sound = bytearray(archives.make(archives.plain()))
    for version, words in ((12, "private servers"), (13, "not known"), (0, "not known"), (-5, "not known")):
        sound[256:260] = np.int32(version).tobytes()
        text = refusal(lambda: pak.read(bytes(sound)), UnsupportedError)
        assert f"version {version}" in text
        assert words in text


def test_one_entry_beyond_the_end_spoils_only_itself() -> None:
    items = [*archives.plain(), Item("\\far", b"far", offset=0xFFFFFF00), Item("\\head", b"head", offset=0)]
    archive = pak.read(archives.make(items))
    assert len([number for number in range(6) if archive.read(number) is not None]) == 6
    for number in (6, 7):
        assert "does not lie inside the file" in refusal(lambda number=number: archive.read(number))  # type: ignore[misc]
    assert {issue.code for issue in pak_check.check(archive)} >= {"outside"}


CONTENT = bytes(range(256)) * 40
SOUND = zlib.compress(CONTENT, 1)


@pytest.mark.parametrize(
    ("payload", "original", "words"),
    [
        (SOUND, len(CONTENT) - 1, "more than the 10239 bytes"),
        (SOUND, 0, "more than the 0 bytes"),
        (SOUND, len(CONTENT) + 1, "ends early"),
        (SOUND, 0xFFFFFFFF, "ends early"),
        (SOUND[:-1], len(CONTENT), "ends early"),
        (SOUND[:40], len(CONTENT), "ends early"),
        (SOUND[:2], len(CONTENT), "ends early"),
        (SOUND[:1], len(CONTENT), "not compressed"),
        (SOUND[:-1] + b"x", len(CONTENT), "damaged"),
        (SOUND[:30] + b"\xff" * 8 + SOUND[38:], len(CONTENT), "damaged"),
        (zlib.compress(bytes(50_000_000), 9), 10_000, "more than the 10000 bytes"),
        (CONTENT, len(CONTENT), "not compressed"),
        (archives.ENCRYPTED + SOUND, len(CONTENT), "this client's archives are encrypted; not supported"),
    ],
)
def test_payloads_that_lie(payload: bytes, original: int, words: str) -> None:
    archive = pak.read(archives.make([Item("\\a", payload=payload, original=original), Item("\\b", b"fine")]))
    for limit in (0xFFFFFFFF, 1 << 16):
        text = refusal(lambda limit=limit: archive.read(0, limit))  # type: ignore[misc]
        assert words in text or (original > limit and "more than the 65536 that are allowed" in text)
        assert '"\\a"' in text
    for chunk in (100, 1 << 20):
        assert words in refusal(lambda chunk=chunk: list(archive.stream(0, chunk)))  # type: ignore[misc]
    assert archive.read(1) == b"fine"


def test_bytes_behind_the_stream_are_ignored() -> None:
    archive = pak.read(archives.make([Item("\\a", b"abc", payload=zlib.compress(b"abc") + b"padding")]))
    assert archive.read(0) == b"abc"
    assert b"".join(archive.stream(0)) == b"abc"


def test_encrypted_archives_are_refused_as_a_whole() -> None:
    items = [Item(f"\\{number}", payload=archives.ENCRYPTED + bytes(50), original=50) for number in range(9)]
    archive = pak.read(archives.make(items))
    assert pak_check.is_encrypted(archive)
    text = refusal(lambda: pak_check.require_readable(archive), UnsupportedError)
    assert pak_inflate.ENCRYPTED in text
    refusal(lambda: list(pak_pieces.pieces(archive)), UnsupportedError)
    mixed = pak.read(archives.make([*items[:1], Item("\\x", b"x")]))
    assert not pak_check.is_encrypted(mixed)


def test_memory_stays_small_whatever_is_stated() -> None:
    import tracemalloc

    bomb = zlib.compress(bytes(100_000_000), 9)
    archive = pak.read(archives.make([Item("\\bomb", payload=bomb, original=100_000_000)]))
    tracemalloc.start()
    try:
        assert sum(map(len, archive.stream(0, 1 << 16))) == 100_000_000
        refusal(lambda: archive.read(0, 1 << 20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 << 20


# --- written back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [10, 11])
def test_written_back_to_the_byte(version: int) -> None:
    for tail in (b"", b"tail" * 1000):
        if version == 10 and tail:
            continue
        items = [*archives.plain(9), archives.deleted("\\x"), Item("\\y", b"y", slack=30), Item("\\y", b"y2")]
        data = archives.make(items, version=version, tail=tail)
        archive = pak.read(data)
        assert pak_pieces.write(archive) == data
        assert b"".join(pak_pieces.pieces(archive)) == data


def test_verify_raises_for_damage_and_names_fields() -> None:
    data = bytearray(archives.make(archives.plain()))
    archive = pak.read(bytes(data))
    place = int(archive.index["offset"][3]) + 20
    data[place] ^= 0x55
    damaged = pak.read(bytes(data))
    refusal(lambda: list(pak_pieces.pieces(damaged)), FormatError)
    found = pak_pieces.sections(archive)
    assert fields.locate(found, place) == f'byte of "{archive.names[3]}" 20'
    assert fields.locate(found, archive.index_offset + 316 + 260) == "entry 1, original"
    assert fields.locate(found, 260) == "header, count"
