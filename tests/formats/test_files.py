# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading and saving: a failure leaves the disk as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from addon.io_common.formats import files
from addon.io_common.formats.errors import FileAccessError
from hypothesis import given
from hypothesis import strategies as st

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes of POSIX file systems")


def listing(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert files.read_file(tmp_path / "a") == b"abc"
    assert files.read_file(str(tmp_path / "a")) == b"abc"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing.3df", "missing.3df: the file does not exist."),
        ("folder", "folder: this is a folder, expected a file."),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileAccessError) as caught:
        files.read_file(tmp_path / name)
    assert str(caught.value) == sentence


@POSIX
def test_what_never_ends_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.3df"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(FileAccessError, match="this is a pipe or a device, expected a file"):
            files.read_file(path)


def test_what_no_memory_holds_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.3df"
    with path.open("wb") as stream:
        stream.truncate((1 << 30) + 1)  # without content, so it takes no room on most disks
    with pytest.raises(FileAccessError, match=r"huge\.3df: the file is too large for a game file \(1073741825 bytes\)"):
        files.read_file(path)


def test_a_nul_in_a_name(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError):
        files.read_file(tmp_path / "a\0b")
    with pytest.raises(FileAccessError):
        files.save(tmp_path / "a\0b", b"")
    assert listing(tmp_path) == {}


def test_save_replaces_in_one_step(tmp_path: Path) -> None:
    target = tmp_path / "a.3df"
    files.save(target, b"old")
    files.save(target, b"new")
    assert listing(tmp_path) == {"a.3df": b"new"}


@POSIX
def test_modes(tmp_path: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    files.save(tmp_path / "new", b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask
    (tmp_path / "old").write_bytes(b"")
    (tmp_path / "old").chmod(0o640)
    files.save(tmp_path / "old", b"x")
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640


def test_a_bundle_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(FileAccessError, match="b: cannot be written"):
        files.save_all({tmp_path / "a": b"new", tmp_path / "missing" / "b": b"new"})
    assert listing(tmp_path) == {"a": b"old"}
    (tmp_path / "c").mkdir()
    with pytest.raises(FileAccessError, match="c: this is a folder"):
        files.save_all({tmp_path / "a": b"new", tmp_path / "c": b"new"})
    assert listing(tmp_path) == {"a": b"old"}
    files.save_all({tmp_path / "a": b"new", tmp_path / "b": b""})
    assert listing(tmp_path) == {"a": b"new", "b": b""}


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileAccessError, match=r"^a: cannot be written \(No space left on device\)\.$"):
        files.save(tmp_path / "a", b"new")
    assert listing(tmp_path) == {"a": b"old"}


def test_a_target_that_cannot_be_replaced_leaves_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(_self: Path, _target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", locked)
    with pytest.raises(FileAccessError, match=r"^a: cannot be replaced \(Permission denied\)\.$"):
        files.save(tmp_path / "a", b"new")
    assert listing(tmp_path) == {}


@pytest.mark.parametrize("links", [True, False], ids=["links", "copies"])
def test_what_fails_on_the_way_puts_the_others_back(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of four cannot be replaced: the two that were there are as they were, the new one is gone."""
    for name in ("a", "b", "d"):
        (tmp_path / name).write_bytes(name.encode())
    genuine = Path.replace

    def locked(self: Path, target: Path) -> Path:
        if target.name == "d":
            raise PermissionError(13, "Permission denied")
        return genuine(self, target)

    def without(*_paths: object, **_options: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "replace", locked)
    if not links:
        monkeypatch.setattr(os, "link", without)
    with pytest.raises(FileAccessError, match=r"^d: cannot be replaced \(Permission denied\)\.$"):
        files.save_all({tmp_path / name: b"new" for name in "abcd"})
    assert listing(tmp_path) == {"a": b"a", "b": b"b", "d": b"d"}


def test_what_cannot_be_put_back_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"old")
    genuine = Path.replace

    def locked(self: Path, target: Path) -> Path:
        if target.name == "b" or self.suffix == ".old":
            raise PermissionError(13, "Permission denied")
        return genuine(self, target)

    monkeypatch.setattr(Path, "replace", locked)
    with pytest.raises(FileAccessError, match=r"^a: was written alone .*; the old file is \.a.*\.old\.$"):
        files.save_all({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert sorted(listing(tmp_path).values()) == [b"new", b"old"]


def test_refuse_changes(tmp_path: Path) -> None:
    (tmp_path / "same").write_bytes(b"x")
    (tmp_path / "other").write_bytes(b"y")
    files.refuse_changes({tmp_path / "same": b"x", tmp_path / "new": b"z"})
    with pytest.raises(FileAccessError, match="other: the file exists already and is left as it is"):
        files.refuse_changes({tmp_path / "same": b"x", tmp_path / "other": b"x"})


def test_no_path_at_all() -> None:
    """It is not called a folder."""
    with pytest.raises(FileAccessError, match=r"(?i)^no file is named"):
        files.read_file("")
    with pytest.raises(FileAccessError, match=r"(?i)^no file is named"):
        files.save("", b"x")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Allosaurus", "Allosaurus"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("C:\\windows\\x", "C__windows_x"),
        ("a/b", "a_b"),
        ("con", "_con"),
        ("LPT1.tga", "_LPT1.tga"),
        ("console", "console"),
        ("  . ", "model"),
        ("", "model"),
        ("a\nb\0", "a_b_"),
        ("Ä ö", "Ä ö"),
        ("n" * 300, "n" * 200),
        ("ä" * 300, "ä" * 100),
        ("n" * 199 + " .tail", "n" * 199),
        ("a\udcffb", "a_b"),
    ],
)
def test_safe_stem(name: str, stem: str) -> None:
    assert files.safe_stem(name) == stem


@given(st.text(max_size=300))
def test_a_safe_stem_stays_in_its_folder(name: str) -> None:
    stem = files.safe_stem(name, "default")
    assert stem
    assert len(stem) <= 200
    assert stem not in {".", ".."}
    assert not set(stem) & set('<>:"/\\|?*\0\n\r\t')
    assert Path("folder", stem).parent == Path("folder")
