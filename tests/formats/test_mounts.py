# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives mounted together: which entry counts, searching, kept listings, reading as the place of an import."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from addon.io_common.formats.errors import Cancelled, FormatError, UserError
from addon.io_dragonnest.formats import mount_index, mount_place, mounts, pak_names
from addon.io_dragonnest.formats.mount_place import ArchivePlace
from addon.io_dragonnest.formats.mount_session import MOST, Session
from addon.io_dragonnest.formats.mounts import Catalogue, Mark
from hypothesis import given
from hypothesis import strategies as st

from tests import archives
from tests.archives import Item


def make(path: Path, *items: Item) -> Path:
    path.write_bytes(archives.make(items))
    return path


def catalogue(*paths: Path) -> Catalogue:
    return Catalogue([mount_index.load(path) for path in paths])


def marks(found: Catalogue) -> list[tuple[str, str, Mark]]:
    entries = [found.entry(row) for row in range(len(found))]
    return [(entry.name, entry.archive.stem, entry.mark) for entry in entries]


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Give three archives; `a.msh` is in all of them, in the last one as deleted."""
    return [
        make(tmp_path / "one.pak", Item("\\r\\a.msh", b"old"), Item("\\r\\b.dds", b"b"), Item("\\r\\a.msh", b"one")),
        make(tmp_path / "two.pak", Item("\\R\\A.MSH", b"two"), Item("\\other\\B.dds", b"far")),
        make(tmp_path / "three.pak", archives.deleted("\\r\\a.msh"), Item("\\z.txt", b"z")),
    ]


def test_the_last_archive_wins_and_a_deleted_entry_hides_nothing(three: list[Path]) -> None:
    assert marks(catalogue(*three)) == [
        ("\\other\\B.dds", "two", Mark.LIVE),
        ("\\r\\a.msh", "one", Mark.SHADOWED),
        ("\\r\\a.msh", "one", Mark.OVERRIDDEN),
        ("\\R\\A.MSH", "two", Mark.LIVE),
        ("\\r\\a.msh", "three", Mark.DELETED),
        ("\\r\\b.dds", "one", Mark.LIVE),
        ("\\z.txt", "three", Mark.LIVE),
    ]


def test_another_order_gives_another_winner(three: list[Path]) -> None:
    found = catalogue(*reversed(three))
    row = found.find("/r/A.msh")
    assert row is not None
    assert found.entry(row).archive.stem == "one"
    with ArchivePlace(found) as place:
        assert place.content(row) == b"one"


def test_entries_are_found_by_name_by_base_name_and_beside_others(three: list[Path]) -> None:
    found = catalogue(*three)
    assert found.find("r\\nothing") is None
    near, far = found.find("\\r\\b.dds"), found.find("\\other\\b.dds")
    assert near is not None
    assert far is not None
    assert found.by_base_name("c:\\art\\B.DDS") == far, "the one in the last archive"
    model = found.find("r\\a.msh")
    assert model is not None
    assert found.beside(model, "b.dds") == near, "the one in the same folder"
    assert found.beside(model, "z.txt") == found.find("z.txt")
    assert found.beside(model, "nothing.dds") is None
    assert found.row_of(three[0], "\\r\\A.msh") == 2
    assert found.with_suffix(".dds", ".txt") == [0, 5, 6]


def test_no_archive_at_all() -> None:
    found = Catalogue()
    assert (len(found), found.search("a").tolist(), found.find("a"), found.by_base_name("a")) == (0, [], None, None)


@given(st.lists(st.lists(st.tuples(st.sampled_from("abcAB"), st.booleans()), max_size=6), min_size=1, max_size=4))
def test_marks_are_what_one_would_expect(content: list[list[tuple[str, bool]]]) -> None:
    """Entry by entry, in mount order, the naive way: the last that is not deleted is the file."""
    listings, last = [], {}
    for number, entries in enumerate(content):
        stored = np.array([not gone for _name, gone in entries], "<u4")
        own: dict[str, int] = {}
        for place, (name, gone) in enumerate(entries):
            if not gone:
                own[name.lower()] = place
                last[name.lower()] = (number, place)
        states = np.array(
            [1 if gone else 0 if own[name.lower()] == place else 2 for place, (name, gone) in enumerate(entries)], "u1"
        )
        stamp = mount_index.Stamp(0, number)
        listings.append(
            mount_index.Listing(Path(f"{number}.pak"), stamp, [name for name, _gone in entries], stored, stored, states)
        )
    found = Catalogue(listings)
    live = {
        found.keys[row]: (int(found.archive[row]), int(found.number[row]))
        for row in np.flatnonzero(found.marks == Mark.LIVE).tolist()
    }
    assert live == last
    assert {key: found.find(key) is not None for key in last} == dict.fromkeys(last, True)


def test_natural_order_of_a_folder(tmp_path: Path) -> None:
    for name in ("Resource10.pak", "resource2.PAK", "Resource01.pak", "notes.txt"):
        make(tmp_path / name)
    (tmp_path / "folder.pak").mkdir()
    assert [path.name for path in mounts.archives_in([tmp_path])] == [
        "Resource01.pak",
        "resource2.PAK",
        "Resource10.pak",
    ]
    with pytest.raises(UserError, match="cannot be listed"):
        mounts.archives_in([tmp_path / "nowhere"])


# Kept listings.


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Give an archive with names of every kind."""
    return make(
        tmp_path / "odd.pak", Item("\\자원\\얼굴.dds", b"k"), Item(b"\\bad\xff\xfe.txt", b"b"), archives.deleted("\\x")
    )


def same(one: mount_index.Listing, other: mount_index.Listing) -> bool:
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("stored", "original", "states"))
    return arrays and (one.names, one.path, one.stamp) == (other.names, other.path, other.stamp)


def test_a_kept_listing_is_the_listing(odd: Path, tmp_path: Path) -> None:
    fresh = mount_index.load(odd)
    assert same(mount_index.decode(mount_index.encode(fresh), odd, fresh.stamp), fresh)
    assert same(mount_index.load(odd, tmp_path / "kept"), fresh)
    (kept,) = (tmp_path / "kept").iterdir()
    before = kept.stat().st_mtime_ns
    assert same(mount_index.load(odd, tmp_path / "kept"), fresh)
    assert kept.stat().st_mtime_ns == before, "it was written again"
    mount_index.forget(odd, tmp_path / "kept")
    assert not list((tmp_path / "kept").iterdir())


def test_an_empty_archive_is_kept_too(tmp_path: Path) -> None:
    empty = mount_index.load(make(tmp_path / "empty.pak"))
    assert len(mount_index.decode(mount_index.encode(empty), empty.path, empty.stamp)) == 0


def test_every_damaged_listing_is_refused_and_made_anew(odd: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    fresh = mount_index.load(odd, folder)
    (kept,) = folder.iterdir()
    good = kept.read_bytes()
    for at in range(len(good)):
        damaged = good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :]
        with pytest.raises(FormatError):
            mount_index.decode(damaged, odd, fresh.stamp)
        with pytest.raises(FormatError):
            mount_index.decode(good[:at], odd, fresh.stamp)
    kept.write_bytes(good[: len(good) // 2])
    assert same(mount_index.load(odd, folder), fresh)
    assert kept.read_bytes() == good


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(odd: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    assert same(mount_index.load(odd, blocked / "below"), mount_index.load(odd))


def test_a_changed_archive_is_read_again(odd: Path, tmp_path: Path) -> None:
    mount_index.load(odd, tmp_path / "kept")
    make(odd, Item("\\new", b"n"))
    assert mount_index.load(odd, tmp_path / "kept").names == ["\\new"]
    first = odd.stat()
    make(odd, Item("\\old", b"n"))
    os.utime(odd, ns=(first.st_atime_ns, first.st_mtime_ns + 1))
    assert odd.stat().st_size == first.st_size
    assert mount_index.load(odd, tmp_path / "kept").names == ["\\old"], "same size, another time"


# The place of an import.


def test_a_place_reads_entries_by_their_paths(three: list[Path], tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_bytes(b"disk")
    found = catalogue(*three)
    with ArchivePlace(found) as place:
        model = found.find("r\\a.msh")
        assert model is not None
        path = place.path_of(model)
        assert (path.name, path.parent.name) == ("A.MSH", "R")
        assert place.read(path) == b"two"
        beside = place.beside(path, ["B.dds", "no.dds", ""])
        assert beside[1:] == [None, None]
        assert beside[0] is not None
        assert place.read(beside[0]) == b"b"
        assert place.taken == [model, found.find("r\\b.dds")]
        assert place.read(tmp_path / "plain.txt") == b"disk"
        assert place.texture("B.DDS") == b"far"
        assert place.texture("none.dds") is None


def test_a_name_that_climbs_makes_no_path_that_does(tmp_path: Path) -> None:
    found = catalogue(make(tmp_path / "bad.pak", Item("..\\..\\c:\\evil.msh", b"x"), Item("\\..", b"y")))
    with ArchivePlace(found) as place:
        for row in range(2):
            assert place.path_of(row).is_relative_to(tmp_path / "bad.pak")
            assert ".." not in place.path_of(row).parts


def test_an_archive_that_changed_meanwhile_is_not_read_by_old_numbers(three: list[Path]) -> None:
    found = catalogue(*three)
    make(three[1], Item("\\shifted", b"?"))
    with ArchivePlace(found) as place, pytest.raises(UserError, match=r"two\.pak: the archive was changed meanwhile"):
        place.content(found.find("r\\a.msh") or 0)


def test_what_is_missing_is_said(three: list[Path]) -> None:
    with pytest.raises(UserError, match=r'no mounted archive has an entry "hero\.skn"'):
        mount_place.find(catalogue(*three), "hero.skn")
    assert mount_place.find(catalogue(*three), "Z.TXT") == mount_place.find(catalogue(*three), "/z.txt")


# The session.


def test_nothing_is_read_before_it_is_asked_for() -> None:
    assert not Session().is_read


def test_a_session_takes_in_what_changed(three: list[Path], tmp_path: Path) -> None:
    here = Session()
    assert here.refresh(three, tmp_path / "kept")
    assert not here.refresh(three, tmp_path / "kept"), "nothing changed"
    here.search("a.msh")
    here.active = 0
    make(three[2], Item("\\r\\0.txt", b""), Item("\\r\\a.msh", b"three"))
    three[0].unlink()
    assert here.refresh(three, tmp_path / "kept")
    assert [str(problem) for problem in here.problems.values()] == ["one.pak: the archive does not exist any more."]
    entry = here.entry(0)
    assert entry is not None
    assert (entry.archive.stem, entry.mark) == ("three", Mark.LIVE)


def test_a_session_searches_ticks_and_lists_the_first_thousand(tmp_path: Path) -> None:
    items = [Item(f"\\f{number % 7}\\x{number}.dds", b"") for number in range(MOST + 500)]
    path = make(tmp_path / "many.pak", *items, Item("\\f1\\hero.msh", b"m"))
    here = Session()
    here.refresh([path], None)
    here.search("*.dds")
    assert (len(here.matches), here.total) == (MOST, MOST + 500)
    here.search("hero")
    assert (len(here.matches), here.total) == (1, 1)
    assert here.selected() == [here.catalogue.find("f1\\hero.msh")]
    here.tick(0, use=True)
    here.search("x1.dds")
    here.tick(0, use=True)
    assert here.is_ticked(0)
    names = {here.catalogue.name(row) for row in here.selected()}
    assert names == {"\\f1\\hero.msh", "\\f1\\x1.dds"}
    here.tick(0, use=False)
    assert len(here.selected()) == 1
    here.untick()
    here.search("nothing of this name")
    assert here.selected() == []


def test_only_live_entries_unless_asked(three: list[Path]) -> None:
    here = Session()
    here.refresh(three, None)
    here.search("a.msh")
    assert here.total == 1
    here.search(only_live=False)
    assert here.total == 4


def test_a_stopped_refresh_changes_nothing(three: list[Path]) -> None:
    here = Session()
    here.refresh(three[:1], None)
    before = here.catalogue

    def stop(fraction: float) -> None:
        if fraction > 0:
            raise Cancelled("stopped by Esc")

    with pytest.raises(Cancelled):
        here.refresh(three, None, stop)
    assert here.catalogue is before


def test_keys_are_those_of_the_archives(odd: Path) -> None:
    found = catalogue(odd)
    assert found.keys == sorted(pak_names.key(found.name(row)) for row in range(len(found)))
