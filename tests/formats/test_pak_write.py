# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing archives: what comes out of packing, patching and compacting."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_common.formats import files
from addon.io_common.formats.errors import UserError
from addon.io_dragonnest.formats import pak, pak_check, pak_disk, pak_names, pak_plan, pak_write
from addon.io_dragonnest.formats.pak import State
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import archives, hostile
from tests.archives import Item
from tests.patches import CHANGES, content, expected, start

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def payloads(path: Path) -> dict[str, bytes]:
    with pak.open_archive(path) as archive:
        return {key: bytes(archive.payload(number)) for key, number in archive.live.items()}


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(UserError) as caught:
        call()
    assert hostile.is_sentence(str(caught.value))
    return str(caught.value)


# --- packing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [10, 11])
def test_pack_is_tight_and_of_level_one(version: int, tmp_path: Path) -> None:
    """The bytes are those that the game's own tool would write."""
    items = archives.plain()
    target = tmp_path / "new.pak"
    outcome = pak_write.pack(target, {str(item.name): item.content for item in items}, version=version)
    assert target.read_bytes() == archives.make(items, version=version)
    assert outcome.size_after == target.stat().st_size
    assert outcome.added == [item.name for item in items]


def test_pack_reads_files_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = np.random.default_rng(3).integers(0, 9, 3 << 20).astype(np.uint8).tobytes()
    (tmp_path / "large").write_bytes(large)
    (tmp_path / "empty").write_bytes(b"")
    for most in (1 << 24, 1 << 10):
        monkeypatch.setattr(pak_disk, "_AT_ONCE", most)
        pak_write.pack(tmp_path / "a.pak", {"large": tmp_path / "large", "empty": tmp_path / "empty"})
        assert content(tmp_path / "a.pak") == {"large": large, "empty": b""}


def test_pack_of_what_cannot_be(tmp_path: Path) -> None:
    target = tmp_path / "a.pak"
    target.write_bytes(b"old")
    for sources in (
        {"a": tmp_path / "missing"},
        {"a": tmp_path},
        {"x" * 300: b""},
        {"": b""},
        {"a\\B": b"", "/A/b": b""},
        {"\N{GRINNING FACE}": b""},
    ):
        refusal(lambda sources=sources: pak_write.pack(target, sources))  # type: ignore[misc]
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.pak": b"old"}


@pytest.mark.samples("dragonnest/**/syn_v11.pak")
def test_an_archive_of_another_writer_is_rebuilt_to_the_byte(sample: Path, tmp_path: Path) -> None:
    same, small, again = tmp_path / "same.pak", tmp_path / "small.pak", tmp_path / "again.pak"
    pak_write.patch(sample, {}, out=same)
    assert same.read_bytes() == sample.read_bytes()
    pak_write.patch(sample, {}, out=small, compact=True)
    with pak.open_archive(small) as archive:
        seeds = archive.index["seed"].copy()
        pak_write.pack(again, {archive.names[number]: archive.read(number) for number in archive.live.values()})
    data = np.frombuffer(again.read_bytes(), np.uint8).copy()
    with pak.open_archive(again) as archive:
        index = archive.index.copy()
        # The one number of an entry that is drawn by lot.
        index["seed"] = seeds
        data[archive.index_offset :] = np.frombuffer(index.tobytes(), np.uint8)
    assert data.tobytes() == small.read_bytes()


# --- patching --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_patch(version: int, compact: bool, elsewhere: bool, tmp_path: Path) -> None:
    path = start(tmp_path, version=version)
    old, before, raw = path.read_bytes(), content(path), payloads(path)
    out = tmp_path / "out.pak" if elsewhere else None
    outcome = pak_write.patch(path, CHANGES, out=out, compact=compact)
    result = out or path
    assert content(result) == expected(before)
    assert (outcome.added, outcome.replaced, outcome.deleted) == (
        ["\\new\\file.txt"],
        ["\\resource\\folder1\\file1.txt"],
        ["\\resource\\folder2\\file2.txt"],
    )
    assert (outcome.size_before, outcome.size_after) == (len(old), result.stat().st_size)
    if elsewhere:
        assert path.read_bytes() == old
    after = payloads(result)
    changed = {"new\\file.txt", "resource\\folder1\\file1.txt"}
    assert all(after[key] == raw[key] for key in after.keys() - changed)
    with pak.open_archive(result) as archive:
        assert archive.version == version
        assert pak_check.unused(archive) == 0 if compact else pak_check.unused(archive) > 0
        # Slots are lost by compacting only.
        assert len(archive) == (7 if compact else 10)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_appending_leaves_every_old_byte(tmp_path: Path) -> None:
    path = start(tmp_path, tail=b"unknown tail")
    old = path.read_bytes()
    pak_write.patch(path, CHANGES)
    new = path.read_bytes()
    assert new[272 : len(old)] == old[272:]
    assert new[:256] == old[:256]


def test_patch_with_the_same_changes_nothing(tmp_path: Path) -> None:
    path = start(tmp_path)
    pak_write.patch(path, CHANGES)
    once = path.read_bytes()
    changes = {name: source for name, source in CHANGES.items() if source is not None}
    outcome = pak_write.patch(path, changes)
    assert path.read_bytes() == once
    assert (outcome.added, outcome.replaced, len(outcome.unchanged)) == ([], [], 2)


def test_a_deleted_name_stays_deleted_and_lends_its_slot(tmp_path: Path) -> None:
    path = start(tmp_path)
    pak_write.patch(path, {"\\TWICE": None})
    assert "twice" not in content(path)
    assert "no entry" in refusal(lambda: pak_write.patch(path, {"\\twice": None}))
    pak_write.patch(path, {"gone": b"back", "twice": b"3"})
    assert content(path)["gone"] == b"back"
    with pak.open_archive(path) as archive:
        assert len(archive) == 9
        assert archive.names[6:] == ["\\gone", "\\twice", "\\twice"]
        assert archive.states[6:].tolist() == [State.LIVE, State.DELETED, State.LIVE]


def test_an_unfinished_archive_is_finished(tmp_path: Path) -> None:
    path = start(tmp_path, flag=1)
    before = content(path)
    pak_write.patch(path, {})
    with pak.open_archive(path) as archive:
        assert not archive.unfinished
    assert content(path) == before


def test_compacting_again_changes_nothing_and_keeps_what_is_shared(tmp_path: Path) -> None:
    one = zlib.compress(b"one" * 50, 1)
    items = [
        Item("\\a", b"one" * 50),
        Item("\\b", b"b", slack=40),
        Item("\\c", b"one" * 50, b"", len(one), offset=1024),
    ]
    path = tmp_path / "a.pak"
    path.write_bytes(archives.make(items))
    before = content(path)
    pak_write.patch(path, {}, compact=True)
    once = path.read_bytes()
    assert content(path) == before
    assert len(once) == 1024 + len(one) + len(zlib.compress(b"b", 1)) + 3 * 316
    pak_write.patch(path, {}, compact=True)
    assert path.read_bytes() == once


def test_a_damaged_entry_stops_compacting_until_it_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.pak"
    path.write_bytes(archives.make([*archives.plain(), Item("\\far", b"far", offset=0xFFFFFF00)]))
    old = path.read_bytes()
    assert "does not lie inside the file" in refusal(lambda: pak_write.patch(path, {}, compact=True))
    assert path.read_bytes() == old
    pak_write.patch(path, {"\\far": None}, compact=True)
    assert len(content(path)) == 6


def test_beyond_four_gib_is_refused_and_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = start(tmp_path)
    old = path.read_bytes()
    for most in (len(old) - 1, len(old) + 10, 2000):
        monkeypatch.setattr(pak_disk, "MOST", most)
        for compact in (False, True):
            words = refusal(lambda compact=compact: pak_write.patch(path, CHANGES, compact=compact))  # type: ignore[misc]
            assert "4 GiB" in words
            assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"a.pak": old}


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file with a hole takes its whole size")
@pytest.mark.parametrize("version", [10, 11])
def test_what_cannot_be_written_is_known_before(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing at all is written for a file beyond 4 GiB, or one that is missing, even if it is the last."""
    path = start(tmp_path, version=version)
    old = path.read_bytes()
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate((1 << 32) + 5)

    def never(*_arguments: object) -> None:
        pytest.fail("something was written")

    monkeypatch.setattr(files, "write_all", never)
    monkeypatch.setattr(pak_disk.Output, "copy", never)
    for source, words in (("large", "more than 4 GiB"), ("missing", "does not exist")):
        sources: dict[str, bytes | Path] = {"a": b"small", "b": tmp_path / source}
        for compact in (False, True):
            assert words in refusal(lambda c=compact, s=sources: pak_write.patch(path, s, compact=c))  # type: ignore[misc]
        assert words in refusal(lambda s=sources: pak_write.pack(tmp_path / "new.pak", s, version=version))  # type: ignore[misc]
    assert path.read_bytes() == old
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.pak", "large"]


def test_another_program_came_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = start(tmp_path)
    before = content(path)
    sync = pak_disk.Output.sync

    def meddle(self: pak_disk.Output) -> None:
        sync(self)
        with path.open("r+b") as stream:
            stream.seek(600)
            stream.write(b"x")

    monkeypatch.setattr(pak_disk.Output, "sync", meddle)
    assert "another program" in refusal(lambda: pak_write.patch(path, CHANGES))
    assert content(path) == before


def test_an_archive_is_not_put_into_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would grow as fast as it is read."""
    monkeypatch.setattr(pak_disk, "_AT_ONCE", 10)
    path = tmp_path / "a.pak"
    pak_write.pack(path, {"\\a": b"a" * 100})
    before = path.read_bytes()
    link = tmp_path / "link"
    os.link(path, link)
    assert "cannot become" in refusal(lambda: pak_write.patch(path, {"\\self": path}))
    assert "cannot become" in refusal(lambda: pak_write.patch(path, {"\\self": link}))
    assert path.read_bytes() == before
    pak_write.patch(path, {"\\old": path}, out=tmp_path / "b.pak")
    assert content(tmp_path / "b.pak")["old"] == before


@pytest.mark.parametrize(
    "name", ["../x", "\\a\\..\\x", "C:\\x", "\\con", "/a/COM1.txt", "\\a.", "\\a ", "a:b", "\\a\\", "\x1b", "a?"]
)
def test_names_that_nobody_could_extract_are_not_made(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pak"
    assert "cannot become an entry" in refusal(lambda: pak_write.pack(path, {name: b"x"}))
    assert not path.exists()
    path.write_bytes(archives.make([Item(name, b"old"), Item("\\b", b"b")]))
    new = "\\d\\" + name
    before = path.read_bytes()
    assert "cannot become an entry" in refusal(lambda: pak_write.patch(path, {new: b"x"}))
    assert path.read_bytes() == before
    pak_write.patch(path, {name: b"new"})  # one that is there can be mended
    assert content(path)[pak_names.key(name)] == b"new"


def test_put_makes_or_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.pak"
    pak_write.put(path, {"\\a": b"1"})
    pak_write.put(path, {"\\A": b"2", "\\b": b"3"})
    assert content(path) == {"a": b"2", "b": b"3"}


NAMES = st.sampled_from(["\\a", "\\A", "\\b", "\\c\\d", "\\c\\e"])


@settings(max_examples=60, deadline=None)
@given(
    version=st.sampled_from([10, 11]),
    steps=st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=40), st.booleans()), max_size=9),
)
def test_any_row_of_changes_is_that_of_a_dictionary(
    version: int, steps: list[tuple[str, bytes | None, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("row") / "a.pak"
    pak_write.pack(path, {}, version=version)
    wanted: dict[str, bytes] = {}
    for name, data, compact in steps:
        key = name.lower().lstrip("\\")
        if data is None and key not in wanted:
            refusal(lambda name=name: pak_write.patch(path, {name: None}))  # type: ignore[misc]
            continue
        pak_write.patch(path, {name: data}, compact=compact)
        wanted.pop(key, None)
        wanted |= {} if data is None else {key: data}
        assert content(path) == wanted


def test_progress_names_every_file(tmp_path: Path) -> None:
    path = start(tmp_path)
    seen: list[tuple[int, int, str]] = []
    pak_write.patch(path, CHANGES, progress=lambda *words: seen.append(words))
    assert [words[:2] for words in seen] == [(1, 2), (2, 2)]
    assert pak_plan.rooted("a/b") == "\\a\\b"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file with a hole takes its whole size")
def test_an_archive_of_four_gib(tmp_path: Path) -> None:
    """Read to its last byte and patched by compacting; what is appended would lie where no number reaches."""
    payload = zlib.compress(b"far" * 1000, 1)
    last = 0xFFFFFFFF - len(payload)
    item = Item("\\far", b"far" * 1000)
    path = tmp_path / "a.pak"
    with path.open("wb") as stream:
        stream.write(archives.header(11, 1, last - 316))
        stream.seek(last - 316)
        stream.write(archives.entry(item, payload, last) + payload + b"tail")
    with pak.open_archive(path) as archive:
        assert archive.size == (1 << 32) + 3
        assert archive.read(0) == item.content
    size = path.stat().st_size
    assert "4 GiB" in refusal(lambda: pak_write.patch(path, {"\\new": b"new"}))
    assert path.stat().st_size == size
    pak_write.patch(path, {"\\new": b"new"}, compact=True)
    assert content(path) == {"far": item.content, "new": b"new"}
    assert path.stat().st_size < 3000
