# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of PAK archives: a large index, searching it, extracting, patching, and an archive of 4 GiB."""

from __future__ import annotations

import shutil
import tempfile
import zlib
from pathlib import Path
from typing import ClassVar

import numpy as np
from addon.io_dragonnest.formats import pak, pak_extract, pak_search, pak_write

from benchmarks.harness import Case

ENTRIES = 200_000
FILES = 1000
FOUR_GIB = 1 << 32
HUGE_ENTRIES, HUGE_FILE = 20_000, 20_000_000


def require(*, done: bool) -> None:
    """Stop the run if it did not do what is measured."""
    if not done:
        raise SystemExit("the case did not do its work")


def header(count: int, index_offset: int) -> bytes:
    """The header of an archive of version 11."""
    record = np.zeros((), pak.HEADER)
    record["magic"] = np.void(pak.MAGIC_FIELD)
    record["version"], record["count"], record["index_offset"] = 11, count, index_offset
    return record.tobytes()


def index(count: int, payload: bytes, original: int, offset: int) -> np.ndarray:
    """An index of `count` entries that all share one payload; one name in eight is Korean."""
    found = np.zeros(count, pak.ENTRY)
    stems = ("hero", "dragon", "archer", "tree", "wing", "sword", "face", "\uc5fc\uc0c8")
    names = [
        f"\\resource\\char\\part{number % 977:03}\\{stems[number % 8]}_{number:06}.{('msh', 'skn', 'dds')[number % 3]}"
        for number in range(count)
    ]
    found["name"] = np.array([name.encode("cp949") for name in names], "S256").view("V256")
    found["stored"] = found["allocated"] = len(payload)
    found["original"], found["offset"] = original, offset
    return found


class _Archive(Case):
    """An archive on disk that goes when the case does."""

    def prepare(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        self.folder = Path(self._folder.name)
        self.path = self.folder / "archive.pak"
        self.make()

    def make(self) -> None:
        payload = zlib.compress(bytes(100), 1)
        place = 1024 + len(payload)
        self.path.write_bytes(header(ENTRIES, place) + payload + index(ENTRIES, payload, 100, 1024).tobytes())

    @property
    def size(self) -> int:
        return ENTRIES * pak.ENTRY.itemsize


class Index(_Archive):
    name = "open PAK, 200 000 entries, names and states"
    most_ratio = 3.0
    most_peak = 300 << 20

    def run(self) -> None:
        with pak.open_archive(self.path) as archive:
            require(done=len(archive.names) == len(archive.states) == ENTRIES)

    def floor(self) -> None:
        """Read the bytes of the index, and decode the names with numpy's help."""
        with self.path.open("rb") as stream:
            stream.seek(self.path.stat().st_size - self.size)
            found = np.frombuffer(stream.read(), pak.ENTRY)
        require(done=len(b"\0".join(found["name"].view("S256").tolist()).decode("cp949").split("\0")) == ENTRIES)


class Search(_Archive):
    name = "search 200 000 names by two words"
    size = 0

    def prepare(self) -> None:
        super().prepare()
        with pak.open_archive(self.path) as archive:
            self.index = pak_search.NameIndex(archive.keys)

    def run(self) -> None:
        require(done=len(self.index.search("dragon dds")) > 0)


class Wildcard(Search):
    name = "search 200 000 names by a wildcard"

    def run(self) -> None:
        require(done=len(self.index.search("dragon*1.dds")) > 0)


class _Files(_Archive):
    """1000 files of 60 KB which compress to a half or so, as models do."""

    def make(self) -> None:
        rng = np.random.default_rng(7)
        self.contents = {
            f"\\resource\\folder{number % 20}\\file{number}.msh": np.repeat(
                rng.integers(0, 256, 15_000).astype(np.uint8), rng.integers(2, 7)
            ).tobytes()
            for number in range(FILES)
        }
        pak_write.pack(self.path, self.contents)
        self.target = self.folder / "out"

    @property
    def size(self) -> int:
        return sum(map(len, self.contents.values()))

    def clean(self) -> None:
        shutil.rmtree(self.target, ignore_errors=True)


class Extract(_Files):
    name = "extract 1000 files from a PAK"
    most_ratio = 1.3

    def make(self) -> None:
        super().make()
        with pak.open_archive(self.path) as archive:
            self.payloads = [bytes(archive.payload(number)) for number in range(FILES)]

    def run(self) -> None:
        extraction = pak_extract.Extraction(self.target)
        with pak.open_archive(self.path) as archive:
            done = sum(result.error is None for result in extraction.run(archive, range(FILES)))
        require(done=done == FILES)

    def floor(self) -> None:
        """Only zlib and writing."""
        self.target.mkdir()
        for number in range(20):
            (self.target / str(number)).mkdir()
        for number, payload in enumerate(self.payloads):
            (self.target / str(number % 20) / str(number)).write_bytes(zlib.decompress(payload))


class Patch(_Files):
    name = "replace one file of a PAK of 1000, appended"
    size = 0

    def run(self) -> None:
        self.turn = getattr(self, "turn", 0) + 1
        outcome = pak_write.patch(self.path, {"\\resource\\folder0\\file0.msh": self.turn.to_bytes(60_000, "little")})
        require(done=len(outcome.replaced) == 1)


class Compact(_Files):
    name = "write a PAK of 1000 anew, compacted"
    most_ratio = 3.0

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def run(self) -> None:
        pak_write.patch(self.path, {}, out=self.folder / "new.pak", compact=True)

    def floor(self) -> None:
        """Copy the file."""
        shutil.copyfile(self.path, self.folder / "new.pak")


class Huge(_Archive):
    """Most of the file is a hole, which takes no room on the disk."""

    name = "open PAK of 4 GiB, list it, extract one file"
    most_peak = 64 << 20
    size: ClassVar[int] = 0

    def make(self) -> None:
        content = np.random.default_rng(7).integers(0, 9, HUGE_FILE).astype(np.uint8).tobytes()
        payload = zlib.compress(content, 1)
        place = FOUR_GIB - 1 - HUGE_ENTRIES * pak.ENTRY.itemsize
        with self.path.open("wb") as stream:
            stream.write(header(HUGE_ENTRIES, place))
            stream.seek(place - len(payload))
            stream.write(payload + index(HUGE_ENTRIES, payload, len(content), place - len(payload)).tobytes())
        self.target = self.folder / "out"

    def run(self) -> None:
        with pak.open_archive(self.path) as archive:
            require(done=archive.size == FOUR_GIB - 1)
            require(done=len(archive.names) == HUGE_ENTRIES)
            (done,) = pak_extract.Extraction(self.target).run(archive, [HUGE_ENTRIES - 1])
        require(done=done.size == HUGE_FILE)

    def clean(self) -> None:
        shutil.rmtree(self.target, ignore_errors=True)


CASES: tuple[type[Case], ...] = (Index, Search, Wildcard, Extract, Patch, Compact, Huge)
