# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands for archives, as scripts use them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from addon.io_common.ui import cli_output
from addon.io_dragonnest.formats import pak

from tests import archives
from tests.archives import Item

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., int]
    Output = pytest.CaptureFixture[str]

ITEMS = [Item("\\char\\hero.msh", b"hero" * 20), Item("\\char\\hero.skn", b"skin" * 20), Item("\\tree.msh", b"tree")]
LATER = [Item("\\CHAR\\Hero.msh", b"later"), archives.deleted("\\tree.msh"), Item("\\x", b"1"), Item("\\x", b"2")]


@pytest.fixture
def two(folder: Path) -> Path:
    """A folder with two archives, of which the second overrides a file of the first."""
    (folder / "a.pak").write_bytes(archives.make(ITEMS))
    (folder / "b.pak").write_bytes(archives.make(LATER))
    return folder


def content(path: Path) -> dict[str, bytes]:
    with pak.open_archive(path) as archive:
        return {key: archive.read(number) for key, number in archive.live.items()}


def document(capfd: Output) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


@pytest.mark.parametrize(
    "words",
    [
        ["pak"],
        ["pak", "dance"],
        ["pak", "list"],
        ["pak", "extract", "a.pak"],
        ["pak", "extract", "a.pak", "--out", "x", "--entry-limit", "much"],
        ["pak", "extract", "a.pak", "--out", "x", "--total-limit", "9" * 400],
        ["pak", "pack", "folder"],
        ["pak", "pack", "folder", "x.pak", "--pak-version", "12"],
        ["pak", "pack", "folder", "x.pak", "--level", "0"],
        ["pak", "patch", "a.pak"],
        ["pak", "patch", "a.pak", "--add", "tree.3df"],
        ["pak", "patch", "a.pak", "--add", "tree.3df", "x", "--add", "rock.3df", "/x"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_two(words: list[str], two: Path, command: Command) -> None:
    before = {path.name: path.read_bytes() for path in two.iterdir()}
    assert command(*words) == 2
    assert {path.name: path.read_bytes() for path in two.iterdir()} == before


@pytest.mark.parametrize("action", ["", "list", "find", "extract", "pack", "patch", "verify"])
def test_help(action: str, command: Command, capfd: Output) -> None:
    assert command("pak", *([action] if action else []), "--help") == 0
    assert f"usage: carnivores_dragonnest pak {action}".strip() in capfd.readouterr().out


def test_list(two: Path, command: Command, capfd: Output) -> None:
    assert command("pak", "list", "a.pak", "b.pak", "-q") == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split()[::2] == ["80", "overridden"]
    assert [line.split()[2:] for line in lines[1:7]] == [
        ["live", "\\char\\hero.skn"],
        ["live", "\\tree.msh"],
        ["live", "\\CHAR\\Hero.msh"],
        ["deleted", "\\tree.msh"],
        ["shadowed", "\\x"],
        ["live", "\\x"],
    ]
    assert lines[7] == "7 entries: 4 live, 0 failed, 1 overridden, 1 deleted, 1 shadowed"
    assert command("pak", "list", ".", "--live", "--json") == 0
    found = document(capfd)
    assert [entry["name"] for entry in found["entries"]] == [
        "\\char\\hero.skn",
        "\\tree.msh",
        "\\CHAR\\Hero.msh",
        "\\x",
    ]
    assert found["counts"] == {"entries": 4, "live": 4, "failed": 0}


def test_find(two: Path, command: Command, capfd: Output) -> None:
    assert command("pak", "find", "HERO char", "a.pak", "--json") == 0
    assert [entry["number"] for entry in document(capfd)["entries"]] == [0, 1]
    assert command("pak", "find", "*.msh", "a.pak", "b.pak", "--live", "--json") == 0
    assert [(entry["archive"], entry["name"]) for entry in document(capfd)["entries"]] == [
        ("a.pak", "\\tree.msh"),
        ("b.pak", "\\CHAR\\Hero.msh"),
    ]
    assert command("pak", "find", "nothing", "a.pak", "--json") == 0
    assert document(capfd) == {"entries": [], "counts": {"entries": 0, "live": 0, "failed": 0}}


def test_extract(two: Path, command: Command, capfd: Output) -> None:
    assert command("pak", "extract", "a.pak", "b.pak", "--out", "out", "-q") == 0
    said = capfd.readouterr().out.splitlines()
    assert said[0] == f"\\char\\hero.skn -> {Path('out/char/hero.skn')}"
    assert said[-1] == "4 entries: 4 extracted, 0 failed"
    assert (two / "out/x").read_bytes() == b"2"
    found = [path for path in (two / "out").rglob("*") if path.name.lower() == "hero.msh"]
    assert [path.read_bytes() for path in found] == [b"later"]
    assert command("pak", "extract", "a.pak", "--out", "out", "--only", "*.skn", "-q") == 1
    assert "exists already" in capfd.readouterr().err
    (two / "out/char/hero.skn").write_bytes(b"mine")
    assert command("pak", "extract", "a.pak", "--out", "out", "--only", "*.skn", "--overwrite") == 0
    assert (two / "out/char/hero.skn").read_bytes() == b"skin" * 20
    assert command("pak", "extract", "a.pak", "--out", "flat", "--find", "hero msh", "--flat", "--json") == 0
    assert [path.name for path in (two / "flat").iterdir()] == ["hero.msh"]
    capfd.readouterr()
    assert command("pak", "extract", "a.pak", "--out", "none", "--only", "nothing") == 1
    assert "failed nothing: no entry has such a name." in capfd.readouterr().err
    assert command("pak", "extract", "a.pak", "--out", "small", "--entry-limit", "79", "--json", "-q") == 1
    assert document(capfd)["counts"] == {"entries": 3, "extracted": 1, "failed": 2}


def test_extract_what_is_hostile(two: Path, command: Command, capfd: Output) -> None:
    items = [Item("..\\..\\evil", b"evil"), Item("\\good", b"good"), Item("C:\\evil", b"evil"), Item("\\nul.txt", b"x")]
    (two / "bad.pak").write_bytes(archives.make(items))
    before = sorted(path.name for path in two.iterdir())
    assert command("pak", "extract", "bad.pak", "--out", "deep/out", "-q") == 1
    said = capfd.readouterr()
    assert said.out.splitlines()[-1] == "4 entries: 1 extracted, 3 failed"
    assert said.err.count("failed bad.pak: ") == 3
    assert sorted(path.name for path in two.iterdir()) == sorted([*before, "deep"])
    assert [path.name for path in (two / "deep").rglob("*")] == ["out", "good"]


def test_names_do_not_steer_the_terminal(two: Path, command: Command, capfd: Output) -> None:
    """Colours, titles and line breaks in names are shown, not done; JSON has the names as they are."""
    name = "\\evil\x1b]0;title\x07\x1b[31m\r\n0 0 live \\fake\x7f"
    (two / "bad.pak").write_bytes(archives.make([Item(name, b"evil")]))
    commands = (["list"], ["find", "evil"], ["verify"], ["extract", "--out", "out"])
    for words in commands:
        command("pak", *words, "bad.pak")
        said = capfd.readouterr()
        assert not {char for char in said.out + said.err if char < " " or char == "\x7f"} - {"\n"}
        assert "\\x1b]0;title\\x07" in said.out + said.err
        assert not [line for line in said.out.splitlines() if line.startswith("0 0 live")]
    assert command("pak", "list", "bad.pak", "--json") == 0
    assert document(capfd)["entries"][0]["name"] == name


def test_pack_and_patch(two: Path, command: Command, capfd: Output) -> None:
    assert command("pak", "extract", "a.pak", "--out", "out") == 0
    assert command("pak", "pack", "out", "new.pak", "-q") == 0
    assert (two / "new.pak").read_bytes() == (two / "a.pak").read_bytes()
    assert command("pak", "pack", "out", "new.pak") == 1
    assert "exists already" in capfd.readouterr().err
    assert command("pak", "pack", "out", "new.pak", "--overwrite", "--below", "/res/", "--pak-version", "10") == 0
    assert sorted(content(two / "new.pak")) == ["res\\char\\hero.msh", "res\\char\\hero.skn", "res\\tree.msh"]
    capfd.readouterr()
    words = ["--add", "tree.3df", "char/HERO.msh", "--folder", "out", "--below", "more", "--delete", "*.skn"]
    assert command("pak", "patch", "a.pak", *words, "--json", "-q") == 0
    (record,) = document(capfd)["files"]
    assert (record["replaced"], record["deleted"]) == (["\\char\\hero.msh"], ["\\char\\hero.skn"])
    assert len(record["added"]) == 3
    found = content(two / "a.pak")
    assert found["char\\hero.msh"] == (two / "tree.3df").read_bytes()
    assert sorted(found) == [
        "char\\hero.msh",
        *("more\\char\\hero.msh", "more\\char\\hero.skn", "more\\tree.msh"),
        "tree.msh",
    ]
    before = (two / "a.pak").read_bytes()
    assert command("pak", "patch", "a.pak", "--compact", "--out", "small.pak") == 0
    assert (two / "a.pak").read_bytes() == before
    assert content(two / "small.pak") == found
    assert (two / "small.pak").stat().st_size < len(before)
    assert command("pak", "patch", "a.pak", "--compact", "--out", "small.pak") == 1
    assert command("pak", "patch", "a.pak", "--delete", "nothing") == 1
    assert command("pak", "patch", "a.pak", "--add", "missing", "x") == 1
    assert command("pak", "patch", "missing.pak", "--compact") == 1
    assert (two / "a.pak").read_bytes() == before


def test_pack_refuses_links_and_nothing(two: Path, command: Command, capfd: Output) -> None:
    (two / "out").mkdir()
    for word in ("out", "missing", "tree.3df"):
        assert command("pak", "pack", word, "new.pak") == 1
    try:
        (two / "out" / "link").symlink_to(two / "tree.3df")
    except OSError:
        pytest.skip("this user may not make links")
    assert command("pak", "pack", "out", "new.pak") == 1
    assert "this is a link, which is not packed" in capfd.readouterr().err
    assert not (two / "new.pak").exists()


@pytest.mark.skipif(os.name == "nt", reason="names that Windows has not")
@pytest.mark.parametrize(
    ("name", "words"),
    [("a\\b.txt", "holds a backslash"), ("..\\..\\x", "holds a backslash"), ("CON", "reserved by Windows")],
)
def test_pack_refuses_names_of_other_systems(name: str, words: str, two: Path, command: Command, capfd: Output) -> None:
    (two / "odd").mkdir()
    (two / "odd" / name).write_bytes(b"x")
    assert command("pak", "pack", "odd", "odd.pak") == 1
    assert words in capfd.readouterr().err
    assert not (two / "odd.pak").exists()


def test_pack_into_its_own_folder(two: Path, command: Command) -> None:
    """The archive that is being written is not packed into itself."""
    (two / "out").mkdir()
    (two / "out" / "a.txt").write_bytes(b"a")
    for _ in range(2):
        assert command("pak", "pack", "out", "out/new.pak", "--overwrite") == 0
        assert content(two / "out" / "new.pak") == {"a.txt": b"a"}


def test_verify(two: Path, command: Command, capfd: Output) -> None:
    assert command("pak", "verify", "a.pak", "b.pak", "-q") == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "sound a.pak: 3 sound, 0 damaged"
    assert lines[2].endswith("[shadowed-entries]")
    assert lines[-1] == "2 files: 2 sound, 0 damaged, 0 failed"
    data = bytearray((two / "a.pak").read_bytes())
    data[1024 + 8] ^= 0x40
    (two / "a.pak").write_bytes(data)
    (two / "locked.pak").write_bytes(archives.make([Item("\\a", payload=archives.ENCRYPTED * 4, original=9)]))
    (two / "new.pak").write_bytes(archives.header(12, 3, 1024))
    for words in (["pak", "verify"], ["verify"]):
        assert command(*words, ".", "--json", "-q") == 1
        said = capfd.readouterr()
        found = json.loads(said.out)
        assert found["counts"]["files"] >= 4
        results = {Path(entry["file"]).name: entry["result"] for entry in found["files"]}
        assert results["a.pak"] == ("damaged" if words[0] == "pak" else "failed")
        assert results["b.pak"] == ("sound" if words[0] == "pak" else "same")
        assert "locked.pak: this client's archives are encrypted; not supported" in said.err
        assert "new.pak: this is an archive of version 12" in said.err


def test_info_check_and_verify_take_archives(two: Path, command: Command, capfd: Output) -> None:
    assert command("info", "b.pak", "--json") == 0
    (record,) = document(capfd)["files"]
    assert record["bytes"] == (two / "b.pak").stat().st_size
    assert {key: record["summary"][key] for key in ("entries", "live", "deleted", "shadowed")} == {
        "entries": 4,
        "live": 2,
        "deleted": 1,
        "shadowed": 1,
    }
    (two / "c.pak").write_bytes(archives.make(ITEMS, flag=1))
    assert command("check", "c.pak") == 1
    assert "[unfinished]" in capfd.readouterr().out
    assert command("pak", "list", "c.pak") == 0
    assert "warning c.pak: it was never finished" in capfd.readouterr().err
    assert command("verify", "a.pak", "b.pak", "c.pak") == 0
    assert capfd.readouterr().out.splitlines()[-1] == "3 files: 3 same, 0 differs, 0 failed"
    assert command("convert", "a.pak", "a.glb") == 1
    assert "failed a.pak: a Dragon Nest PAK archive has nothing to show in a scene." in capfd.readouterr().err


def test_a_reader_that_leaves_ends_the_command(two: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: Any, **_more: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(cli_output, "write", broken)
    monkeypatch.setattr("os.dup2", lambda *_descriptors: None)
    assert command("pak", "list", "a.pak") == 1
