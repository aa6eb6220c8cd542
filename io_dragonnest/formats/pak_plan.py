# SPDX-License-Identifier: GPL-3.0-or-later
"""What changes in an archive: the new index, and which files go into which of its slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError, UserError
from . import pak_disk, pak_names
from .pak import ENTRY

if TYPE_CHECKING:
    from .pak import Archive
    from .pak_disk import Source

# Name -> what the entry shall hold; None deletes it.
Changes = Mapping[str, "Source | None"]
# Called with the number of the file (from 1), how many there are, and its name; may raise `Cancelled`.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Outcome:
    """What was done: names of entries, and sizes of the archive in bytes."""

    path: Path
    added: list[str]
    replaced: list[str]
    deleted: list[str]
    unchanged: list[str]
    size_before: int
    size_after: int


@dataclass
class Plan:
    """`index` is the new one, whose payloads are not yet placed; `jobs` are (slot, name, source)."""

    index: npt.NDArray[Any]
    jobs: list[tuple[int, str, Source]] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.jobs or self.deleted)


def made(archive: Archive, changes: Changes) -> Plan:
    """The plan for `changes`. Nothing is written; raises `UserError` for a name that cannot be."""
    wanted = _by_key(changes)
    slots: dict[str, list[int]] = {key: [] for key in wanted}
    for number, key in enumerate(archive.keys):
        if key in slots:
            slots[key].append(number)
    plan = Plan(archive.index.copy())
    fresh: list[bytes] = []
    for key, (name, source) in wanted.items():
        live = archive.live.get(key)
        if source is None:
            if live is None:
                raise UserError(f'there is no entry "{name}" to delete', path=archive.path)
            # Every copy of the name: else an earlier one would come to life.
            plan.index["stored"][slots[key]] = 0
            plan.index["original"][slots[key]] = 0
            plan.deleted.append(archive.names[live])
        elif live is not None and _holds(archive, live, source):
            plan.unchanged.append(archive.names[live])
        elif live is not None:
            plan.jobs.append((live, name, source))
            plan.replaced.append(archive.names[live])
        else:
            # A deleted entry of that name lends its slot.
            slot = slots[key][-1] if slots[key] else len(archive) + len(fresh)
            if not slots[key]:
                fresh.append(_field(name))
            plan.jobs.append((slot, name, source))
            plan.added.append(name)
    if fresh:
        more = np.zeros(len(fresh), ENTRY)
        more["name"] = pak_names.fields_of(fresh)
        plan.index = np.concatenate([plan.index, more])
    return plan


def new(sources: Mapping[str, Source]) -> Plan:
    """The plan for an archive of `sources` alone, in their order."""
    wanted = _by_key(sources)
    plan = Plan(np.zeros(len(wanted), ENTRY))
    raws = []
    for slot, (name, source) in enumerate(wanted.values()):
        if source is not None:
            raws.append(_field(name))
            plan.jobs.append((slot, name, source))
            plan.added.append(name)
    if raws:
        plan.index["name"] = pak_names.fields_of(raws)
    return plan


def rooted(name: str) -> str:
    r"""`name` as an index has it: with `\` between its parts and in front."""
    plain = name.replace("/", pak_names.SEPARATOR).lstrip(pak_names.SEPARATOR)
    if not plain:
        raise ExportError("an entry without a name cannot be written")
    return pak_names.SEPARATOR + plain


def _field(name: str) -> bytes:
    """The field of a new entry. Raises `ExportError` for a name that nobody could extract again."""
    full = rooted(name)
    trouble = pak_names.unsafe(full)
    if trouble:
        raise ExportError(f'"{name[:80]}" cannot become an entry: {trouble}; rename it')
    return pak_names.encode(full)


def require_sources(plan: Plan, target: Path) -> None:
    """Refuse a file that is missing, that no archive can hold, or that is `target` itself, before it is written to."""
    for _slot, name, source in plan.jobs:
        pak_disk.require_size(len(source) if isinstance(source, bytes) else pak_disk.file_size(source), name)
        if isinstance(source, Path) and target.exists() and source.samefile(target):
            raise ExportError(f'the archive cannot become "{name[:80]}" in itself', path=target)


def _by_key(changes: Changes) -> dict[str, tuple[str, Source | None]]:
    found: dict[str, tuple[str, Source | None]] = {}
    for name, source in changes.items():
        other = found.setdefault(pak_names.key(name), (name, source))[0]
        if other is not name:
            raise ExportError(
                f'"{other}" and "{name}" are one and the same in an archive, where the case of letters does not count'
            )
    return found


def _holds(archive: Archive, number: int, source: Source) -> bool:
    """Whether an entry has this content already. One that cannot be read has not."""
    original = int(archive.index["original"][number])
    size = len(source) if isinstance(source, bytes) else pak_disk.file_size(source)
    if size != original or archive.outside[number]:
        return False
    there = pak_disk.chunks(source) if isinstance(source, Path) else iter([source])
    rest = b""
    try:
        for piece in archive.stream(number):
            while len(rest) < len(piece):
                more = next(there, b"")
                if not more:
                    return False
                rest += more
            if not rest.startswith(piece):
                return False
            rest = rest[len(piece) :]
    except UserError:
        return False
    return True
