# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone hangs on which: from an ANI, or guessed from names and places where there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import biped, names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .ani import Ani

ROOT = -1
_WINDOW = 2048  # bones that may be a guessed parent: all of any real model, and no quadratic work for a bad one


class Source(Enum):
    """Where a parent comes from; the last three are guesses."""

    FILE = "file"
    NAME = "name"
    PLACE = "place"
    NONE = "none"


@dataclass
class Hierarchy:
    """`parents` (b,) number of each bone's parent, -1 for none, without loops. `sources`: where each comes from.

    `notes`: what was odd about the names, one sentence each without a full stop.
    """

    parents: npt.NDArray[np.int32]
    sources: list[Source]
    notes: list[str] = field(default_factory=list)

    @property
    def inferred(self) -> bool:
        """Whether any parent is a guess."""
        return any(source is not Source.FILE for source in self.sources)


def lookup(bone_names: Sequence[str]) -> dict[str, int]:
    """Key of a name -> number of the first bone that has it."""
    return {names.key(name): row for row, name in reversed(list(enumerate(bone_names)))}


def duplicates(bone_names: Sequence[str]) -> list[int]:
    """The bones whose name, without regard to case, another bone before them has."""
    first = lookup(bone_names)
    return [row for row, name in enumerate(bone_names) if first[names.key(name)] != row]


def from_names(bone_names: Sequence[str], parent_names: Sequence[str]) -> Hierarchy:
    """The hierarchy that an ANI spells out. Unknown parents become roots, loops are cut; both are noted."""
    rows, notes = lookup(bone_names), list[str]()
    parents = np.full(len(bone_names), ROOT, np.int32)
    for row, parent in enumerate(parent_names):
        if names.is_root(parent):
            continue
        found = rows.get(names.key(parent), ROOT)
        if found == ROOT:
            notes.append(f'the bone "{bone_names[row]}" hangs on "{parent}", which does not exist; it stands alone')
        parents[row] = found
    repeated = duplicates(bone_names)
    if repeated:
        many = "1 bone has" if len(repeated) == 1 else f"{len(repeated)} bones have"
        notes.append(f'{many} the name of another one, "{bone_names[repeated[0]]}" first')
    for row in cut_loops(parents):
        notes.append(f'the bone "{bone_names[row]}" hangs on itself by way of others; it stands alone')
    return Hierarchy(parents, [Source.FILE] * len(bone_names), notes)


def from_ani(found: Ani) -> Hierarchy:
    """The hierarchy of an ANI, in the order of its bones."""
    return from_names(found.bone_names, found.parent_names)


def matched(bone_names: Sequence[str], source: Hierarchy, source_names: Sequence[str]) -> Hierarchy:
    """`source` for other bones, matched by name without regard to case.

    A parent that is missing here is stepped over. Bones that `source` lacks have no parent and `Source.NONE`.
    """
    there, here = lookup(source_names), lookup(bone_names)
    parents = np.full(len(bone_names), ROOT, np.int32)
    sources = [Source.NONE] * len(bone_names)
    for row, name in enumerate(bone_names):
        found = there.get(names.key(name), ROOT)
        if found == ROOT:
            continue
        sources[row] = source.sources[found]
        while (found := int(source.parents[found])) != ROOT:
            known = here.get(names.key(source_names[found]), ROOT)
            if known not in {ROOT, row}:
                parents[row] = known
                break
    cut_loops(parents)
    return Hierarchy(parents, sources)


def cut_loops(parents: npt.NDArray[np.int32]) -> list[int]:
    """Make a root, in place, of the first bone of every loop; returns those bones. Numbers out of range become -1."""
    parents[(parents < ROOT) | (parents >= len(parents))] = ROOT
    table, cut = parents.tolist(), list[int]()
    state = [0] * len(table)  # the number of the walk that came by, from 1
    for start in range(len(table)):
        row = start
        while row != ROOT and not state[row]:
            state[row] = start + 1
            row = table[row]
        if row != ROOT and state[row] == start + 1:
            first, at = row, table[row]
            while at != row:
                first, at = min(first, at), table[at]
            table[first] = ROOT
            cut.append(first)
    parents[:] = table
    return cut


def order(parents: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """The bones (b,) so that parents come before their children, otherwise in file order. `parents` has no loops."""
    depth = depths(parents)
    return np.argsort(depth, kind="stable")


def depths(parents: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """How many ancestors each bone has (b,). `parents` has no loops."""
    depth = np.zeros(len(parents), np.int32)
    at = np.asarray(parents).copy()
    while (at >= 0).any():
        depth += at >= 0
        at = np.where(at >= 0, np.asarray(parents)[np.maximum(at, 0)], ROOT)
    return depth


def inferred(bone_names: Sequence[str], heads: npt.NDArray[Any]) -> Hierarchy:
    """A guess for bones without an ANI; `heads` (b, 3) are their places in the bind pose.

    Bones of a 3ds Max Biped know their parent by name. Any other bone hangs on the nearest bone that stands before it
    in the file (tools write parents first) or belongs to the Biped.
    """
    known = biped.parents(bone_names)
    parents = np.array([ROOT if row is None else row for row in known], np.int32)
    sources = [Source.NONE if row is None else Source.NAME for row in known]
    places = np.nan_to_num(np.asarray(heads, np.float64))
    of_biped = np.flatnonzero([row is not None for row in known])
    rig_rows = of_biped[:_WINDOW]
    for row in (row for row, parent in enumerate(known) if parent is None):
        first = max(0, row - _WINDOW)
        rows = np.concatenate((np.arange(first, row), rig_rows[rig_rows > row], rig_rows[rig_rows < first]))
        if len(rows):
            away = np.square(places[rows] - places[row]).sum(axis=1)
            parents[row], sources[row] = rows[np.argmin(away)], Source.PLACE
    cut_loops(parents)
    return Hierarchy(parents, sources)
