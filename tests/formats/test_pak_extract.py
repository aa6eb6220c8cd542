# SPDX-License-Identifier: GPL-3.0-or-later
"""Extracting: nothing is written outside of the folder, whatever an archive says."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest
from addon.io_common.formats import files
from addon.io_common.formats.errors import UserError
from addon.io_dragonnest.formats import pak, pak_names
from addon.io_dragonnest.formats.pak_extract import Extracted, Extraction

from tests import archives, hostile
from tests.archives import Item

RESERVED = ["CON", "nul", "Aux", "PRN", "COM1", "lpt9", "COM0", "CONIN$", "conout$", "COM\N{SUPERSCRIPT ONE}"]
HOSTILE = [
    "..\\evil.txt",
    "\\..\\..\\evil.txt",
    "\\a\\..\\..\\evil.txt",
    "\\a\\..\\evil.txt",
    "../evil.txt",
    "a/../../evil.txt",
    "\\.\\evil.txt",
    "\\..",
    "..",
    ".",
    "\\",
    "\\\\",
    "",
    "\\folder\\",
    "C:\\evil.txt",
    "\\C:\\evil.txt",
    "C:evil.txt",
    "\\\\server\\share\\evil.txt",
    "//server/share/evil.txt",
    "\\\\?\\C:\\evil.txt",
    "\\\\.\\pipe\\evil",
    "\\a.txt:stream",
    "\\a.txt::$DATA",
    "\\evil.txt.",
    "\\evil.txt ",
    "\\folder.\\evil.txt",
    "\\folder \\evil.txt",
    "\\...\\evil.txt",
    "\\.. \\evil.txt",
    "\\evil\ttab.txt",
    "\\evil\nline.txt",
    "\\evil\x01.txt",
    "\\evil\x1f",
    "\\a|b",
    "\\a<b",
    "\\a>b",
    '\\a"b',
    "\\a?b",
    "\\a*b",
    *(f"\\{name}" for name in RESERVED if name.isascii()),
    *(f"\\{name}.txt" for name in RESERVED if name.isascii()),
    *(f"\\{name} .x.y" for name in RESERVED if name.isascii()),
    *(f"\\{name}\\evil.txt" for name in RESERVED if name.isascii()),
]


def opened(folder: Path, items: list[Item]) -> pak.Archive:
    path = folder / "a.pak"
    path.write_bytes(archives.make(items))
    return pak.open_archive(path)


def run(archive: pak.Archive, extraction: Extraction) -> list[Extracted]:
    with archive:
        found = list(extraction.run(archive, sorted(archive.live.values())))
    for result in found:
        assert result.error is None or hostile.is_sentence(str(result.error))
    return found


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder; None for a folder."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")
    }


def test_everything_is_extracted(tmp_path: Path) -> None:
    items = [*archives.plain(), Item("/with/slashes.txt", b"x"), Item("no\\root.txt", b"y"), Item("\\a\\\\b.txt", b"z")]
    found = run(opened(tmp_path, items), Extraction(tmp_path / "deep" / "out"))
    assert [result.error for result in found] == [None] * len(items)
    for item, result in zip(items, found, strict=True):
        assert result.path is not None
        assert result.path.read_bytes() == item.content
        assert result.size == len(item.content)
    assert (tmp_path / "deep/out/with/slashes.txt").read_bytes() == b"x"
    assert (tmp_path / "deep/out/a/b.txt").read_bytes() == b"z"


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    """Every trick in one archive: all are refused one by one, what is sound between them is extracted."""
    home = tmp_path / "home"
    home.mkdir()
    for victim in ("evil.txt", "a.txt"):
        (home / victim).write_bytes(b"mine")
    items = [Item(f"\\good{number}.txt", b"good") for number in range(3)]
    for number, name in enumerate(HOSTILE):
        items.insert(2 * number % len(items), Item(name, b"evil"))
    archive = opened(tmp_path, items)
    before = {key: value for key, value in tree(tmp_path).items() if not key.startswith("home/out")}
    work = Path.cwd()
    found = run(archive, Extraction(home / "out"))
    assert Path.cwd() == work
    assert sorted(tree(home / "out")) == [f"good{number}.txt" for number in range(3)]
    assert {key: value for key, value in tree(tmp_path).items() if not key.startswith("home/out")} == before
    assert not Path("evil.txt").exists()
    refused = {result.name for result in found if result.error is not None}
    assert refused == {archive.names[number] for number in archive.live.values()} - {
        f"\\good{number}.txt" for number in range(3)
    }


@pytest.mark.parametrize("name", [*HOSTILE, *RESERVED, "\\evil\0.txt\\..\\..", "\\x\\" + "y" * 300])
def test_hostile_names_one_by_one(name: str) -> None:
    if "\0" in name:
        # What stands behind a NUL is no part of a name.
        archive = pak.read(archives.make([Item(name.encode())]))
        assert pak_names.safe_parts(archive.names[0]) == ("evil",)
        return
    with pytest.raises(UserError) as caught:
        pak_names.safe_parts(name)
    assert hostile.is_sentence(str(caught.value))


def test_a_name_that_no_file_system_takes_is_refused_alone(tmp_path: Path) -> None:
    """Korean letters take three bytes where a file system allows 255 in all."""
    found = run(opened(tmp_path, [Item("\\" + "가" * 120), Item("\\b", b"b")]), Extraction(tmp_path / "out"))
    assert (tmp_path / "out" / "b").read_bytes() == b"b"
    if os.name == "posix":
        assert found[0].error is not None


@pytest.mark.parametrize("overwrite", [False, True])
def test_links_are_not_followed(overwrite: bool, tmp_path: Path) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside"
    out.mkdir()
    outside.mkdir()
    (outside / "victim.txt").write_bytes(b"mine")
    try:
        (out / "folder").symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("this user may not make links")
    (out / "file.txt").symlink_to(outside / "victim.txt")
    (out / "loose.txt").symlink_to(outside / "new.txt")
    (out / "real").mkdir()
    (out / "real" / "deep").symlink_to(outside, target_is_directory=True)
    names = ["\\folder\\victim.txt", "\\folder\\x\\y.txt", "\\file.txt", "\\loose.txt", "\\real\\deep\\z", "\\fine.txt"]
    found = run(opened(tmp_path, [Item(name, b"evil") for name in names]), Extraction(out, overwrite=overwrite))
    assert [result.error is None for result in found] == [False] * 5 + [True]
    assert tree(outside) == {"victim.txt": b"mine"}
    assert (out / "file.txt").is_symlink()
    assert (out / "loose.txt").is_symlink()


def test_the_chosen_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    try:
        (tmp_path / "out").symlink_to(tmp_path / "real", target_is_directory=True)
    except OSError:
        pytest.skip("this user may not make links")
    run(opened(tmp_path, [Item("\\a\\b", b"x")]), Extraction(tmp_path / "out"))
    assert (tmp_path / "real" / "a" / "b").read_bytes() == b"x"


def test_files_that_exist_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "folder.txt").mkdir(parents=True)
    (out / "a.txt").write_bytes(b"mine")
    (out / "file").write_bytes(b"mine")
    items = [Item(name, b"new") for name in ("\\a.txt", "\\folder.txt", "\\file\\below.txt", "\\b.txt")]
    found = run(opened(tmp_path, items), Extraction(out))
    assert [result.error is None for result in found] == [False, False, False, True]
    assert "exists already" in str(found[0].error)
    assert (out / "a.txt").read_bytes() == b"mine"
    found = run(opened(tmp_path, items), Extraction(out, overwrite=True))
    assert [result.error is None for result in found] == [True, False, False, True]
    assert (out / "a.txt").read_bytes() == b"new"
    assert (out / "file").read_bytes() == b"mine"


def test_names_that_are_one_file_elsewhere(tmp_path: Path) -> None:
    """Names that the archive tells apart and some file system does not; folders are spelt as they came first."""
    items = [
        Item("\\Stra\xdfe.txt".encode(), b"1"),
        Item("\\one\\a.txt", b"2"),
        Item("\\one\\\\a.txt", b"3"),
        Item("\\ONE\\b.txt", b"4"),
        Item("\\a", b"5"),
        Item("\\a\\b", b"6"),
    ]
    found = run(opened(tmp_path, items), Extraction(tmp_path / "out"))
    assert [result.error is None for result in found] == [True, True, False, True, True, False]
    assert "same file" in str(found[2].error)
    assert (tmp_path / "out" / "one" / "a.txt").read_bytes() == b"2"
    assert (tmp_path / "out" / "one" / "b.txt").read_bytes() == b"4"
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == ["one"]


def test_flat_names_that_meet_are_reported(tmp_path: Path) -> None:
    items = [Item("\\x\\a.txt", b"1"), Item("\\y\\A.txt", b"2"), Item("\\y\\b.txt", b"3")]
    found = run(opened(tmp_path, items), Extraction(tmp_path / "out", flat=True))
    assert [result.error is None for result in found] == [True, False, True]
    assert tree(tmp_path / "out") == {"a.txt": b"1", "b.txt": b"3"}


def test_limits(tmp_path: Path) -> None:
    items = [Item("\\small", bytes(10)), Item("\\large", bytes(1000)), *(Item(f"\\{n}", bytes(40)) for n in range(4))]
    found = run(opened(tmp_path, items), Extraction(tmp_path / "out", entry_limit=100, total_limit=100))
    assert [result.error is None for result in found] == [True, False, True, True, False, False]
    assert "more than the limit of 100 for one file" in str(found[1].error)
    assert "the total to 130 bytes, more than the limit of 100" in str(found[4].error)
    assert sum(len(value or b"") for value in tree(tmp_path / "out").values()) == 90


@pytest.mark.parametrize("stated", [100, 10_000_000])
def test_bombs_and_lies_leave_no_file(stated: int, tmp_path: Path) -> None:
    """Small and large: more inside than stated, less than stated, damaged, encrypted."""
    bomb = zlib.compress(bytes(60_000_000), 9)
    sound = zlib.compress(bytes(stated), 1)
    items = [
        Item("\\bomb", payload=bomb, original=stated),
        Item("\\less", payload=zlib.compress(b"abc"), original=stated),
        Item("\\cut", payload=sound[:-3], original=stated),
        Item("\\wrong", payload=sound[:-3] + b"xyz", original=stated),
        Item("\\locked", payload=archives.ENCRYPTED + bytes(99), original=stated),
        Item("\\beyond", payload=sound, original=stated, offset=0xFFFFFF00),
        *(Item(f"\\{number}", bytes(stated)) for number in range(2)),
    ]
    found = run(opened(tmp_path, items), Extraction(tmp_path / "out"))
    assert [result.error is None for result in found] == [False] * 6 + [True] * 2
    assert sorted(tree(tmp_path / "out")) == ["0", "1"]
    (tmp_path / "out" / "bomb").write_bytes(b"old")
    found = run(opened(tmp_path, items), Extraction(tmp_path / "out", overwrite=True))
    assert [result.error is None for result in found] == [False] * 6 + [True] * 2
    assert sorted(tree(tmp_path / "out")) == ["0", "1", "bomb"]
    assert (tmp_path / "out" / "bomb").read_bytes() == b"old"


@pytest.mark.parametrize("size", [10, 5_000_000])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_full_disk_leaves_no_half_file(
    size: int, overwrite: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = opened(tmp_path, [Item("\\a", bytes(size)), Item("\\b", bytes(size))])
    if overwrite:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "a").write_bytes(b"old")
    write = files.write_all
    calls = 0

    def full(stream: object, data: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            write(stream, data[: len(data) // 2])  # type: ignore[arg-type]
            raise OSError(28, "No space left on device")
        write(stream, data)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write_all", full)
    found = run(archive, Extraction(tmp_path / "out", overwrite=overwrite))
    assert [result.error is None for result in found] == [False, True]
    assert "No space left on device" in str(found[0].error)
    assert tree(tmp_path / "out") == ({"a": b"old"} if overwrite else {}) | {"b": bytes(size)}


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"a file")
    found = run(opened(tmp_path, archives.plain()), Extraction(tmp_path / "out"))
    assert all("cannot be made" in str(result.error) for result in found)
    assert (tmp_path / "out").read_bytes() == b"a file"


@pytest.mark.parametrize("size", [50, 5_000_000])
def test_extracted_and_packed_again_is_the_same(size: int, tmp_path: Path) -> None:
    """Names that are no CP949 too."""
    from addon.io_dragonnest.formats import pak_write

    items = [Item(b"\\folder\\odd\xff\x81.txt", bytes(size)), Item("\\folder\\파일.txt", b"korean")]
    archive = opened(tmp_path, items)
    data = (tmp_path / "a.pak").read_bytes()
    found = run(archive, Extraction(tmp_path / "out"))
    sources = {result.name: result.path for result in found if result.path is not None}
    pak_write.pack(tmp_path / "b.pak", sources)
    assert (tmp_path / "b.pak").read_bytes() == data
