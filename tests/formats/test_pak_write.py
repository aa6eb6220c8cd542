# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing archives: what comes out, and that whatever goes wrong leaves the old archive or the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_common.formats.errors import Cancelled, UserError
from addon.io_dragonnest.formats import pak, pak_check, pak_disk, pak_plan, pak_write
from addon.io_dragonnest.formats.pak import State
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import archives, hostile
from tests.archives import Item
from tools.staging import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

CHANGES: dict[str, bytes | Path | None] = {
    "\\resource\\folder1\\file1.txt": b"changed" * 3000,
    "\\new\\file.txt": b"new" * 500,
    "\\resource\\folder2\\FILE2.txt": None,
}


def content(path: Path) -> dict[str, bytes]:
    """Key of a name -> content of every live entry."""
    with pak.open_archive(path) as archive:
        return {key: archive.read(number) for key, number in archive.live.items()}


def payloads(path: Path) -> dict[str, bytes]:
    with pak.open_archive(path) as archive:
        return {key: bytes(archive.payload(number)) for key, number in archive.live.items()}


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(UserError) as caught:
        call()
    assert hostile.is_sentence(str(caught.value))
    return str(caught.value)


def start(folder: Path, *, version: int = 11, **facts: Any) -> Path:
    items = [*archives.plain(), archives.deleted("\\gone"), Item("\\twice", b"1"), Item("\\twice", b"2")]
    path = folder / "a.pak"
    path.write_bytes(archives.make(items, version=version, **facts))
    return path


def expected(before: dict[str, bytes]) -> dict[str, bytes]:
    after = dict(before)
    for name, source in CHANGES.items():
        key = name.lower().lstrip("\\")
        if source is None:
            del after[key]
        else:
            after[key] = bytes(source)  # type: ignore[arg-type]
    return after


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


# --- what goes wrong -------------------------------------------------------------------------------------------------

STEPS = ("write", "copy", "sync", "switch")


class Failing:
    """Makes the n-th thing that is done to the disk fail: before it, or when a part of it is done."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, number: int, error: type[BaseException], *, partly: bool
    ) -> None:
        self.left = number
        self.error = error
        self.partly = partly
        for name in STEPS:
            monkeypatch.setattr(pak_disk.Output, name, self.wrapped(name, getattr(pak_disk.Output, name)))
        monkeypatch.setattr(Path, "replace", self.wrapped("replace", Path.replace))

    def wrapped(self, name: str, call: Any) -> Any:
        def wrapper(target: Any, *arguments: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                if self.partly and name == "write":
                    target.stream.write(arguments[0][: len(arguments[0]) // 2])
                if self.partly and name in {"switch", "sync"}:
                    call(target, *arguments)
                raise self.error(28, "No space left on device") if self.error is OSError else self.error("stop")
            return call(target, *arguments)

        return wrapper


@pytest.mark.parametrize("partly", [False, True])
@pytest.mark.parametrize("error", [OSError, Cancelled, KeyboardInterrupt])
@pytest.mark.parametrize(("version", "compact"), [(11, False), (11, True), (10, False)])
def test_whatever_fails_the_old_archive_stays(
    version: int, compact: bool, error: type[BaseException], partly: bool, tmp_path: Path
) -> None:
    """Every write, copy, wait, switch and rename fails once."""
    path = start(tmp_path, version=version)
    old, before = path.read_bytes(), content(path)
    number = 0
    sentences: list[str] = []
    while True:
        number += 1
        with pytest.MonkeyPatch.context() as monkeypatch:
            failing = Failing(monkeypatch, number, error, partly=partly)
            try:
                pak_write.patch(path, CHANGES, compact=compact)
            except UserError as caught:
                sentences.append(str(caught))
            except KeyboardInterrupt:
                pass
        if failing.left > 0:
            break
        assert path.read_bytes() == old
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.pak"]
    assert number > 6
    assert all(map(hostile.is_sentence, sentences))
    assert len(sentences) == (0 if error is KeyboardInterrupt else number - 1)
    assert content(path) == expected(before)


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("version", [10, 11])
def test_a_full_disk_leaves_the_old_archive(version: int, tmp_path: Path) -> None:
    """The system itself stops the file from growing, at many sizes."""
    path = start(tmp_path, version=version)
    old, before = path.read_bytes(), content(path)
    program = PROGRAM + (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "for size in range(int(sys.argv[3]), int(sys.argv[3]) + 4500, 150):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))\n"
        "    try:\n"
        "        run(Path(sys.argv[1]))\n"
        "    except UserError as error:\n"
        "        print(error)\n"
        "        assert Path(sys.argv[1]).read_bytes() == Path(sys.argv[2]).read_bytes()\n"
        "    else:\n"
        "        break\n"
    )
    (tmp_path / "old").write_bytes(old)
    size = len(old) if version == 11 else 1000
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(tmp_path / "old"), str(size)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.stdout.count("cannot be written (File too large)") > 5
    assert content(path) in (before, expected(before))


PROGRAM = """
import sys
sys.path.insert(0, ".")
from pathlib import Path
from tools import addon_alias
addon_alias.install(addon_alias.load_root_package)
from addon.io_common.formats.errors import UserError
from addon.io_dragonnest.formats import pak_disk, pak_write
from tests.formats.test_pak_write import CHANGES

def run(path):
    pak_write.patch(path, CHANGES)
"""
KILLED = (
    PROGRAM
    + """
import os, signal
left = 0
def wrapped(call):
    def wrapper(*arguments):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments)
    return wrapper
for name in ("write", "copy", "sync", "switch"):
    setattr(pak_disk.Output, name, wrapped(getattr(pak_disk.Output, name)))
Path.replace = wrapped(Path.replace)
for number, path in enumerate(sys.argv[1:], start=1):
    child = os.fork()
    if not child:
        left = number
        run(Path(path))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is copied before each kill")
@pytest.mark.parametrize("version", [10, 11])
def test_killed_at_every_step(version: int, tmp_path: Path) -> None:
    """`kill -9` before each thing that is done to the disk: what is left opens, with the old or the new content."""
    old = start(tmp_path, version=version).read_bytes()
    before = content(tmp_path / "a.pak")
    paths = [tmp_path / f"{number}.pak" for number in range(1, 13)]
    for path in paths:
        path.write_bytes(old)
    command = [sys.executable, "-c", KILLED, *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    codes = [int(word) for word in done.stdout.split()]
    assert codes.count(-signal.SIGKILL) >= 6
    assert codes[-1] == 0
    done_well = [content(path) == expected(before) for path in paths]
    assert done_well == sorted(done_well)
    # Only what comes after the switch of an appended archive, waiting for the disk, may be killed and yet be done.
    assert sum(done_well) - codes.count(0) == (1 if version == 11 else 0)
    for path, well in zip(paths, done_well, strict=True):
        assert well or content(path) == before
        # And can be worked on.
        pak_write.patch(path, {"\\after": b"after"}, compact=True)
        assert content(path)["after"] == b"after"


ENDLESS = (
    PROGRAM
    + """
import itertools
print("ready", flush=True)
for number in itertools.count():
    byte = bytes([number % 251])
    pak_write.patch(Path(sys.argv[1]), {"one": byte * 200_000, "two": byte * 9})
"""
)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_at_any_time(tmp_path: Path) -> None:
    """A process that does nothing but patch is killed again and again: its two entries are always of one age."""
    path = start(tmp_path)
    before = content(path)
    rng = np.random.default_rng(11)
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)], stdout=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            try:
                process.wait(float(rng.uniform(0.0, 0.06)))
            except subprocess.TimeoutExpired:
                process.kill()
            assert process.wait() == -signal.SIGKILL
        found = content(path)
        assert {key: found[key] for key in before} == before
        assert found.keys() - before.keys() in ({"one", "two"}, set())
        assert found.get("one", b"x")[:1] == found.get("two", b"x")[:1]
        assert len(found.get("one", bytes(200_000))) == 200_000


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
