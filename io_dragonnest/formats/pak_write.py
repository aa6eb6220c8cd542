# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing archives: a new one from files, and changes to one that is there.

Changes are appended or the archive is written anew. Appending leaves every byte that the old index speaks of as it is:
new payloads and a new index go behind the end of the file, and only when both are on the disk the sixteen bytes of the
header that say where the index is are switched, in one write. Whatever ends the process before leaves the old archive
with a tail that nobody looks at, whatever ends it after leaves the new one. Version 10 has its index at the end of the
file and cannot be appended to like that: it is always written anew, to a temporary file that takes the place of the old
one when it is whole. Payloads that do not change are copied as they are.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError, FormatError
from . import pak, pak_disk, pak_lock, pak_plan
from .pak import HEADER, HEADER_SIZE
from .pak_disk import Output
from .pak_plan import Outcome, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from .pak import Archive
    from .pak_disk import Source
    from .pak_plan import Changes, Progress

LEVEL = 1  # of zlib; what the game's own tool uses
_SWITCHED = slice(256, 272)  # version, count, place of the index, "unfinished"


def pack(
    path: Path,
    sources: Mapping[str, Source],
    *,
    version: int = 11,
    level: int = LEVEL,
    progress: Progress | None = None,
) -> Outcome:
    """Write an archive of `sources` (name -> file or bytes), tight, in their order; it replaces what is at `path`."""
    plan = pak_plan.new(sources)
    pak_plan.require_sources(plan, path)
    before = path.stat().st_size if path.is_file() else 0
    with _alone(path), files.replacing(path) as stream:
        output = Output(stream)
        output.write(bytes(HEADER_SIZE))
        _place_jobs(plan, output, level, progress)
        header = np.zeros((), HEADER)
        header["magic"] = np.void(pak.MAGIC_FIELD)
        header["version"] = version
        _finish(header, plan.index, output)
    return _outcome(path, plan, before, output.position)


def patch(
    path: Path,
    changes: Changes,
    *,
    out: Path | None = None,
    compact: bool = False,
    level: int = LEVEL,
    progress: Progress | None = None,
) -> Outcome:
    """Add, replace and delete entries of the archive at `path`.

    The changes are appended, unless `compact` (what is deleted, shadowed or unused is left out), `out` (the result goes
    there, `path` stays) or version 10 has it written anew. An archive marked as unfinished is finished by it. Raises
    `UserError`; the archive is then as it was.
    """
    target = path.resolve() if out is None else out
    with _alone(target), pak.open_archive(path) as archive:
        plan = pak_plan.made(archive, changes)
        before = archive.size
        anew = compact or out is not None or archive.version == 10
        if not (plan.changes or archive.unfinished or compact or out is not None):
            return _outcome(path, plan, before, before)
        pak_plan.require_sources(plan, target)
        place_jobs = partial(_place_jobs, plan, level=level, progress=progress)
        write = partial(_anew, compact=compact) if anew else _append
        size = write(archive, target, plan, place_jobs)
    return _outcome(target if out is not None else path, plan, before, size)


def _alone(path: Path) -> contextlib.AbstractContextManager[None]:
    """The lock of the archive at `path`; there is none where there is no file yet."""
    return pak_lock.alone(path) if path.is_file() else contextlib.nullcontext()


def put(path: Path, sources: Mapping[str, Source], *, level: int = LEVEL, progress: Progress | None = None) -> Outcome:
    """Bring `sources` into the archive at `path`, which is made if there is none."""
    if path.exists():
        return patch(path, dict(sources), level=level, progress=progress)
    return pack(path, sources, level=level, progress=progress)


def _append(archive: Archive, path: Path, plan: Plan, place_jobs: Callable[[Output], None]) -> int:
    header, end = archive.header, archive.size
    old = header.tobytes()
    # Windows cuts no file that is mapped.
    archive.close()
    switched = False
    try:
        with path.open("r+b", buffering=0) as stream:
            output = Output(stream, stream.seek(0, 2))
            _require_untouched(stream, old, end)
            stream.seek(end)
            try:
                pak_disk.require_place(end, "what is added")
                place_jobs(output)
                pak_disk.require_place(output.position, "the index")
                new = _header_for(header, plan.index, output.position).tobytes()
                output.write(plan.index.tobytes())
                output.sync()
                _require_untouched(stream, old, output.position)
                switched = True
                output.switch(_SWITCHED.start, new[_SWITCHED])
                output.sync()
            except BaseException:
                if _is_old(stream, old) if not switched else _switched_back(output, old):
                    output.cut(end)
                raise
    except OSError as error:
        raise FileAccessError(f"cannot be written ({error.strerror or error})", path=path) from error
    return output.position


def _require_untouched(stream: BinaryIO, old: bytes, size: int) -> None:
    if stream.seek(0, 2) != size or not _is_old(stream, old):
        raise FormatError("the archive was changed by another program meanwhile and is left as it is", path=stream.name)


def _is_old(stream: BinaryIO, old: bytes) -> bool:
    """Whether the header is the one that was read: if not, what follows is no longer ours to cut."""
    try:
        stream.seek(0)
        return stream.read(HEADER_SIZE) == old
    except OSError:
        return False


def _switched_back(output: Output, old: bytes) -> bool:
    """Whether the header is the old one again after a switch that failed: then what was appended may go."""
    try:
        output.switch(_SWITCHED.start, old[_SWITCHED])
        output.sync()
    except OSError:
        return False
    return True


def _anew(archive: Archive, target: Path, plan: Plan, place_jobs: Callable[[Output], None], *, compact: bool) -> int:
    header, size = archive.header, archive.size
    source_path = archive.path or target
    with files.replacing(target) as stream:
        output = Output(stream)
        with files.open_file(source_path) as source:
            _require_untouched(source, header.tobytes(), size)
            output.write(header.tobytes())
            if compact:
                jobs = {slot for slot, _name, _source in plan.jobs}
                _copy_live(archive, plan, jobs, source, output)
            else:
                end = _end_of_data(archive)
                if plan.jobs or archive.version != 10:
                    pak_disk.require_place(end, "what is added")
                output.copy(source, HEADER_SIZE, end)
            place_jobs(output)
            _require_untouched(source, header.tobytes(), size)
        # Closed before the new file takes its place: Windows replaces no file that is mapped.
        archive.close()
        _finish(header, plan.index, output)
    return output.position


def _end_of_data(archive: Archive) -> int:
    """Where payloads end: at the index if that is the last of the file, else nobody knows."""
    if len(archive) and archive.index_offset + archive.index.nbytes == archive.size:
        last = archive.index["offset"].astype(np.int64) + archive.index["stored"]
        if not np.any(last[archive.index["stored"] != 0] > archive.index_offset):
            return archive.index_offset
    return archive.size


def _copy_live(archive: Archive, plan: Plan, jobs: set[int], source: BinaryIO, output: Output) -> None:
    """Copy the payloads of all live entries that do not change, in their order, and leave the others out of the plan.

    Entries that share a payload go on sharing it.
    """
    live = np.zeros(len(plan.index), bool)
    live[list(archive.live.values())] = True
    live &= plan.index["stored"] != 0
    live[list(jobs)] = False
    rows = np.flatnonzero(live)
    for number in rows[archive.outside[rows]].tolist()[:1]:
        archive.payload(number)  # raises with what is wrong with it
    ranges = np.stack([plan.index[field][rows].astype(np.int64) for field in ("offset", "stored")], axis=1)
    unique, inverse = np.unique(ranges, axis=0, return_inverse=True)
    places = HEADER_SIZE + np.concatenate([[0], np.cumsum(unique[:, 1])[:-1]]) if len(unique) else np.zeros(0, np.int64)
    pak_disk.require_place(int(places[-1]) if len(places) else 0, "the last of the files")
    for start, stop in _runs(unique):
        output.copy(source, start, stop)
    plan.index["offset"][rows] = places[inverse.reshape(-1)]
    plan.index["allocated"][rows] = plan.index["stored"][rows]
    kept = live.copy()
    kept[list(jobs)] = True
    moved = np.cumsum(kept) - 1
    plan.index = plan.index[kept]
    plan.jobs = [(int(moved[slot]), name, content) for slot, name, content in plan.jobs]


def _runs(ranges: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """(start, size) rows in order as (start, stop) of which neighbours are joined."""
    if not len(ranges):
        return []
    starts, stops = ranges[:, 0], ranges[:, 0] + ranges[:, 1]
    first = np.concatenate([[True], starts[1:] != stops[:-1]])
    last = np.concatenate([first[1:], [True]])
    return list(zip(starts[first].tolist(), stops[last].tolist(), strict=True))


def _place_jobs(plan: Plan, output: Output, level: int, progress: Progress | None) -> None:
    """Write the new payloads and enter them in the index."""
    for number, (slot, name, source) in enumerate(plan.jobs, start=1):
        if progress is not None:
            progress(number, len(plan.jobs), name)
        pak_disk.require_place(output.position, f'"{name}"')
        offset = output.position
        stored, original = pak_disk.deflated(source, name, level, output)
        pak_disk.require_stored(stored, name)
        entry = plan.index[slot]
        entry["stored"], entry["original"], entry["allocated"], entry["offset"] = stored, original, stored, offset


def _finish(header: Any, index: npt.NDArray[Any], output: Output) -> None:
    """Write the index, then the header that points at it."""
    pak_disk.require_place(output.position, "the index")
    new = _header_for(header, index, output.position)
    output.write(index.tobytes())
    output.switch(0, new.tobytes())


def _header_for(header: Any, index: npt.NDArray[Any], offset: int) -> Any:
    new = np.array(header, HEADER)
    new["count"] = len(index)
    if new["version"] != 10:
        new["index_offset"] = offset
    new["unfinished"] = 0
    return new


def _outcome(path: Path, plan: Plan, before: int, after: int) -> Outcome:
    return Outcome(path, plan.added, plan.replaced, plan.deleted, plan.unchanged, before, after)
