# SPDX-License-Identifier: GPL-3.0-or-later
"""What is odd about an archive: what the game refuses, and what other tools have left there."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import UnsupportedError, UserError
from . import pak_inflate, pak_names
from .checks import error, sorted_issues, warning
from .pak import HEADER_SIZE, State

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...io_common.formats.issues import Issue
    from .pak import Archive

_PROBES = 8
# Code of a finding -> what makes the issue, and what several entries do.
_TEXTS = {
    "outside": (error, "entries lie outside of the file, which is cut off, or the index is wrong"),
    "overlapping": (warning, "entries overlap with others"),
    "allocated": (warning, "entries state less space than they take"),
    "shadowed-entries": (warning, "entries are hidden by later ones of the same name"),
    "unsafe-name": (warning, "entries have names that are not extracted"),
}


def is_encrypted(archive: Archive) -> bool:
    """Whether the first payloads all start as those of encrypted archives do."""
    sound = (number for number in archive.live.values() if not archive.outside[number])
    marks = [pak_inflate.is_encrypted(archive.payload(number)[:16]) for number in islice(sound, _PROBES)]
    return bool(marks) and all(marks)


def require_readable(archive: Archive) -> None:
    """Refuse an encrypted archive as a whole, rather than each of its entries."""
    if is_encrypted(archive):
        raise UnsupportedError(pak_inflate.ENCRYPTED, path=archive.path)


def check(archive: Archive, _game: str = "") -> list[Issue]:
    """Issues of an archive by its index alone, errors first; no payload is inflated."""
    found = [warning("encrypted", pak_inflate.ENCRYPTED)] if is_encrypted(archive) else []
    if archive.unfinished:
        found.append(error("unfinished", "the header says that it was never finished; the game refuses it"))
    index, kept = archive.index, archive.index["stored"] != 0
    masks = {
        "outside": archive.outside & kept,
        "overlapping": overlapping(archive),
        "allocated": (index["allocated"] < index["stored"]) & kept,
        "shadowed-entries": archive.states == State.SHADOWED,
        "unsafe-name": unsafe(archive),
    }
    for code, (make, text) in _TEXTS.items():
        numbers = np.flatnonzero(masks[code])
        if len(numbers):
            first = archive.names[int(numbers[0])][:80]
            found.append(make(code, f'{text}: {len(numbers)}, the first is "{first}"'))
    return sorted_issues(found)


def overlapping(archive: Archive) -> npt.NDArray[np.bool_]:
    """Which payloads start inside another one, or lie in the index, (n,). To share one payload is no overlap."""
    index = archive.index
    mask = np.zeros(len(index), bool)
    rows = np.flatnonzero(index["stored"] != 0)
    start = index["offset"][rows].astype(np.int64)
    stop = start + index["stored"][rows]
    order = np.lexsort((stop, start))
    rows, start, stop = rows[order], start[order], stop[order]
    reached = np.maximum.accumulate(stop)
    before = np.concatenate([[0], reached[:-1]])[: len(stop)]
    same = np.concatenate([[False], (start[1:] == start[:-1]) & (stop[1:] == stop[:-1])])[: len(stop)]
    end_of_index = archive.index_offset + index.nbytes
    mask[rows] = ((start < before) & ~same) | ((start < end_of_index) & (stop > archive.index_offset))
    return mask


def unsafe(archive: Archive) -> npt.NDArray[np.bool_]:
    """Which live entries have names that are refused on extraction, (n,)."""
    mask = np.zeros(len(archive), bool)
    for number in archive.live.values():
        try:
            pak_names.safe_parts(archive.names[number])
        except UserError:
            mask[number] = True
    return mask


def unused(archive: Archive) -> int:
    """Bytes of the file that no live entry takes: what writing it compacted would save."""
    index = archive.index
    rows = np.fromiter(archive.live.values(), np.int64, len(archive.live))
    ranges = np.stack([index[name][rows].astype(np.int64) for name in ("offset", "stored")], axis=1)
    taken = int(np.unique(ranges, axis=0)[:, 1].sum()) if len(ranges) else 0
    return max(0, archive.size - HEADER_SIZE - taken - len(rows) * index.dtype.itemsize)


def summary(archive: Archive) -> dict[str, Any]:
    """What `info` prints."""
    states = np.bincount(archive.states, minlength=len(State))
    rows = np.fromiter(archive.live.values(), np.int64, len(archive.live))
    return {
        "version": archive.version,
        "entries": len(archive),
        "live": int(states[State.LIVE]),
        "deleted": int(states[State.DELETED]),
        "shadowed": int(states[State.SHADOWED]),
        "packed_bytes": int(archive.index["stored"][rows].sum(dtype=np.int64)),
        "unpacked_bytes": int(archive.index["original"][rows].sum(dtype=np.int64)),
        "unused_bytes": unused(archive),
        "finished": not archive.unfinished,
        "encrypted": is_encrypted(archive),
        "by_extension": _by_extension(archive),
    }


def _by_extension(archive: Archive) -> dict[str, int]:
    counts: dict[str, int] = {}
    for key in archive.live:
        _stem, dot, extension = pak_names.base_name(key).rpartition(".")
        counts[dot + extension] = counts.get(dot + extension, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
