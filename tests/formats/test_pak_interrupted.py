# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever goes wrong while an archive is written leaves the old one or the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from addon.io_common.formats import files
from addon.io_common.formats.errors import Cancelled, UserError
from addon.io_dragonnest.formats import pak_disk, pak_lock, pak_write
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import hostile
from tests.patches import CHANGES, content, expected, start
from tools.staging import ROOT

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
from tests.patches import CHANGES

def run(path, **options):
    pak_write.patch(path, CHANGES, **options)
"""
KILLED = (
    PROGRAM
    + """
import os, signal
partly, compact = sys.argv[1] == "partly", sys.argv[2] == "compact"
left = 0
def wrapped(name, call):
    def wrapper(target, *arguments):
        global left
        left -= 1
        if left == 0:
            if partly and name == "write":
                target.stream.write(arguments[0][: len(arguments[0]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return call(target, *arguments)
    return wrapper
for name in ("write", "copy", "sync", "switch"):
    setattr(pak_disk.Output, name, wrapped(name, getattr(pak_disk.Output, name)))
Path.replace = wrapped("replace", Path.replace)
for number, path in enumerate(sys.argv[3:], start=1):
    child = os.fork()
    if not child:
        left = number
        run(Path(path), compact=compact)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is copied before each kill")
@pytest.mark.parametrize("partly", ["partly", "before"])
@pytest.mark.parametrize(("version", "compact"), [(11, False), (11, True), (10, False)])
def test_killed_at_every_step(version: int, compact: bool, partly: str, tmp_path: Path) -> None:
    """`kill -9` before or within each thing that is done to the disk: what is left opens, with old or new content."""
    old = start(tmp_path, version=version).read_bytes()
    before = content(tmp_path / "a.pak")
    paths = [tmp_path / f"{number}.pak" for number in range(1, 17)]
    for path in paths:
        path.write_bytes(old)
    command = [sys.executable, "-c", KILLED, partly, "compact" if compact else "", *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    codes = [int(word) for word in done.stdout.split()]
    assert codes.count(-signal.SIGKILL) >= 6
    assert codes[-1] == 0
    done_well = [content(path) == expected(before) for path in paths]
    assert done_well == sorted(done_well)
    # Only what comes after the switch of an appended archive, waiting for the disk, may be killed and yet be done.
    assert sum(done_well) - codes.count(0) == (1 if version == 11 and not compact else 0)
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
    changes = {"one": byte * 200_000, "two": byte * 9}
    pak_write.patch(Path(sys.argv[1]), changes, compact=sys.argv[2] == "compact")
"""
)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize(("version", "compact"), [(11, False), (11, True), (10, False)])
def test_killed_at_any_time(version: int, compact: bool, tmp_path: Path) -> None:
    """A process that does nothing but patch is killed again and again: its two entries are always of one age."""
    path = start(tmp_path, version=version)
    command = [sys.executable, "-c", ENDLESS, str(path), "compact" if compact else ""]
    before = content(path)
    rng = np.random.default_rng(11)
    for _ in range(8):
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
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


# --- a computer that dies ---------------------------------------------------------------------------------------------

SECTOR = 512


def recorded(path: Path) -> list[tuple[int, bytes] | None]:
    """Patch, and keep every sector's worth that is written, with its place; None where the disk is waited for."""
    log: list[tuple[int, bytes] | None] = []

    def write(stream: Any, data: bytes | memoryview) -> None:
        place, whole = stream.tell(), bytes(data)
        log.extend((place + start, whole[start : start + SECTOR]) for start in range(0, len(whole), SECTOR))
        stream.write(whole)

    def sync(_self: pak_disk.Output) -> None:
        log.append(None)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(files, "write_all", write)
        monkeypatch.setattr(pak_disk.Output, "sync", sync)
        pak_write.patch(path, CHANGES)
    return log


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_computer_that_dies_at_any_time(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of what was not yet waited for, a disk writes whatever it likes, in any order; holes are zeros."""
    folder = tmp_path_factory.mktemp("dead")
    path = start(folder)
    old, before = path.read_bytes(), content(path)
    log = recorded(path)
    after = content(path)
    assert log.count(None) == 2
    stop = data.draw(st.integers(0, len(log)))
    sure = max((place for place in range(stop) if log[place] is None), default=0)
    kept = data.draw(st.lists(st.booleans(), min_size=stop - sure, max_size=stop - sure))
    found = bytearray(old)
    for place, piece in enumerate(log[:stop]):
        if piece is not None and (place < sure or kept[place - sure]):
            found.extend(bytes(max(0, piece[0] + len(piece[1]) - len(found))))
            found[piece[0] : piece[0] + len(piece[1])] = piece[1]
    path.write_bytes(found)
    assert content(path) in (before, after)
    assert after == expected(before)


# --- several programs -------------------------------------------------------------------------------------------------


def between(monkeypatch: pytest.MonkeyPatch, name: str, call: Any) -> None:
    """Let `call` happen once, in the midst of a patch."""
    own = getattr(pak_disk.Output, name)
    left = [call]

    def wrapper(self: pak_disk.Output, *arguments: Any) -> None:
        own(self, *arguments)
        if left:
            left.pop()()

    monkeypatch.setattr(pak_disk.Output, name, wrapper)


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("compact", [False, True])
def test_of_two_at_once_the_second_gives_up(
    compact: bool, bare: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the locks of this system, and with those of one that has no `flock`."""
    if bare:
        monkeypatch.setattr(pak_lock, "_HAS_FLOCK", False)
    path = start(tmp_path)
    before = content(path)
    sentences: list[str] = []

    def second() -> None:
        for call in (
            lambda: pak_write.patch(path, {"\\twice": b"second"}),
            lambda: pak_write.patch(path, {}, compact=True),
            lambda: pak_write.pack(path, {"\\twice": b"second"}),
        ):
            with pytest.raises(UserError, match="is being changed by another program") as caught:
                call()
            sentences.append(str(caught.value))

    between(monkeypatch, "write", second)
    pak_write.patch(path, CHANGES, compact=compact)
    assert len(sentences) == 3
    assert all(map(hostile.is_sentence, sentences))
    assert content(path) == expected(before)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.pak"]
    # The lock is free again.
    pak_write.patch(path, {"\\twice": b"second"})


def test_nothing_is_cut_that_another_program_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that heeds no lock brings in an archive of its own."""
    path = start(tmp_path)
    other = tmp_path / "other.pak"
    pak_write.pack(other, {"\\theirs": b"theirs" * 5000})
    theirs = other.read_bytes()

    def meddle() -> None:
        with path.open("r+b") as stream:
            stream.write(theirs)

    between(monkeypatch, "sync", meddle)
    with pytest.raises(UserError, match="changed by another program"):
        pak_write.patch(path, CHANGES)
    assert path.read_bytes()[: len(theirs)] == theirs


@pytest.mark.parametrize("compact", [False, True])
def test_an_archive_that_was_replaced_meanwhile(compact: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another one, after the entries were looked up: their numbers mean nothing in it."""
    path = start(tmp_path)
    other = tmp_path / "other.pak"
    pak_write.pack(other, {"\\theirs": b"theirs"})
    theirs = other.read_bytes()
    made = pak_write.pak_plan.made

    def meddle(*arguments: Any) -> Any:
        plan = made(*arguments)
        other.replace(path)
        return plan

    monkeypatch.setattr(pak_write.pak_plan, "made", meddle)
    with pytest.raises(UserError, match="changed by another program"):
        pak_write.patch(path, CHANGES, compact=compact)
    assert path.read_bytes() == theirs
