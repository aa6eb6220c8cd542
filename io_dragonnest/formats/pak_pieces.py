# SPDX-License-Identifier: GPL-3.0-or-later
"""An archive as the bytes that it is written as: header, payloads and index in their places, the rest as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.fields import Section
from . import pak, pak_check
from .pak import ENTRY, HEADER, HEADER_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .pak import Archive

_STEP = 1 << 20


def write(archive: Archive) -> bytes:
    """The bytes of an archive that was read."""
    return b"".join(pieces(archive, inflated=False))


def pieces(archive: Archive, *, inflated: bool = True) -> Iterator[bytes]:
    """The bytes of an archive, in parts of up to a MiB.

    With `inflated`, every payload is inflated as it is passed, and `UserError` is raised for the first that is damaged.
    """
    if inflated:
        pak_check.require_readable(archive)
    yield archive.header.tobytes()
    index = np.array(archive.index, ENTRY).tobytes()
    place = HEADER_SIZE
    if inflated:
        for number in sorted(archive.live.values(), key=archive.index["offset"].tolist().__getitem__):
            for _piece in archive.stream(number):
                pass
            # Up to here nothing but payloads can lie: an index in front of them comes first.
            stop = min(int(archive.index["offset"][number]), archive.index_offset)
            yield from _raw(archive, place, stop)
            place = max(place, stop)
    yield from _raw(archive, place, archive.index_offset)
    yield index
    yield from _raw(archive, archive.index_offset + len(index), archive.size)


def _raw(archive: Archive, start: int, stop: int) -> Iterator[bytes]:
    for place in range(start, stop, _STEP):
        yield bytes(archive.raw(place, min(place + _STEP, stop)))


def sections(archive: Archive) -> list[Section]:
    """The byte ranges of an archive, for messages."""
    found = [Section("header", 0, HEADER), Section("entry", archive.index_offset, ENTRY, len(archive))]
    kept = np.flatnonzero((archive.index["stored"] != 0) & ~archive.outside).tolist()
    for number in kept:
        entry = archive.index[number]
        kind = np.dtype("u1")
        found.append(Section(f'byte of "{archive.names[number]}"', int(entry["offset"]), kind, int(entry["stored"])))
    return found


def sections_of(data: bytes) -> list[Section]:
    """As `sections`, from the bytes of the archive."""
    return sections(pak.read(data))
