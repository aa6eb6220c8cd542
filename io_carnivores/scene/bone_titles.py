# SPDX-License-Identifier: GPL-3.0-or-later
"""Names for the bones of one armature, taken from another of the same creature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...io_common.formats.errors import UserError
from ...io_common.scene import armature
from . import bone_rename, retarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy


@dataclass(frozen=True)
class Outcome:
    """How many bones were `named`, and the names of those that were `left` alone."""

    named: int
    left: list[str]


def take(context: bpy.types.Context, rig: bpy.types.Object, source: bpy.types.Object) -> Outcome:
    """Name every bone of `rig` after the one of `source` in the same place, its Actions with it.

    Raises `UserError`, and then nothing has changed, when no place fits.
    """
    if rig.library is not None or rig.data.library is not None:
        raise UserError(f'"{rig.name}" belongs to another .blend file and cannot be changed')
    if rig.data == source.data:
        raise UserError(f'"{rig.name}" and "{source.name}" are the same armature')
    plan = retarget.laid_out(context, rig, source, by_name=False)
    matched = [(number, other) for number, other in enumerate(plan.match.source.tolist()) if other >= 0]
    if not matched:
        raise UserError(f'no bone of "{rig.name}" lies where one of "{source.name}" does')
    old = plan.target.names
    given = {old[number]: armature.fit_bone_name(plan.source.names[other]) for number, other in matched}
    bone_rename.rename(rig, _unique(old, given))
    return Outcome(len(given), [name for name in old if name not in given])


def _unique(names: Sequence[str], given: dict[str, str]) -> dict[str, str]:
    """`given` and, for bones that are to keep a name which one of them takes, a number behind it."""
    used = set(given.values()) | {name for name in names if name not in given}
    result = dict(given)
    for name in names:
        if name in given or name not in set(given.values()):
            continue
        number = 1
        while f"{name}.{number:03d}" in used:
            number += 1
        result[name] = f"{name}.{number:03d}"
        used.add(result[name])
    return result
