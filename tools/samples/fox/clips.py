# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fox does: it stands and breathes, runs on the spot, and shoots. Sixty frames a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from addon.io_dragonnest.formats import ani, keys, names
from addon.io_dragonnest.formats.keys import Record

from tools.samples.fox import moves
from tools.samples.fox.pose import local, rest, solve
from tools.samples.fox.skeleton import JOINTS, NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.samples.exact import Vector
    from tools.samples.fox.pose import Pose, Quaternion

VERSION = 11


def animation() -> ani.Ani:
    """Return skeleton and clips."""
    found = ani.Ani(
        VERSION,
        [names.field(name) for name, _, _ in moves.CLIPS],
        np.array([last + 1 for _, last, _ in moves.CLIPS], "<i4"),
        ani.bone_table(NAMES, [bone.parent for bone in JOINTS]),
    )
    found.records = [[] for _ in NAMES]
    still = rest()
    for _, last, step in moves.CLIPS:
        times = [*list(range(0, last, step)), last]
        name = moves.CLIPS[len(found.records[0])][0]
        poses = [moves.pose(name, time) for time in times]
        states = [solve(pose) for pose in poses]
        for row, bone in enumerate(NAMES):
            place, turn = local(still, bone, turned_round=False)
            places, turns = zip(*(local(state, bone) for state in states), strict=True)
            found.records[row].append(_record(bone, (place, turn), times, places, turns, poses))
    return found


def _record(
    bone: str,
    base: tuple[Vector, Quaternion],
    times: Sequence[int],
    places: Sequence[Vector],
    turns: Sequence[Quaternion],
    poses: Sequence[Pose],
) -> Record:
    """Return keys; a track that stays at its base has none, one that stays elsewhere has one."""
    found = Record()
    found.base["position"], found.base["rotation"] = base
    at = np.array(times, np.int32)
    position = np.array(places, "<f4")
    kept = _needed(position, 0.004)
    if len(kept) > 1 or np.abs(position[0] - found.base_position).max() > 0.004:
        found.positions = keys.vector_keys(VERSION, at[kept], position[kept])
    rotation = np.array(_continuous(turns), np.float64)
    kept = _needed(rotation, 0.0001)
    if len(kept) > 1 or not _alike(turns[0], base[1]):
        found.rotations = keys.rotation_keys(VERSION, at[kept], rotation[kept])
    sizes = [pose.sizes.get(bone, 1.0) for pose in poses]
    changed = [0] + [number for number in range(1, len(sizes)) if sizes[number] != sizes[number - 1]]
    if len(changed) > 1 or sizes[0] != 1.0:
        size = np.array([[sizes[number]] * 3 for number in changed], "<f4")
        found.scales = keys.vector_keys(VERSION, at[changed], size)
    return found


def _alike(one: Quaternion, other: Quaternion) -> bool:
    """Return whether two quaternions turn alike, whatever their signs."""
    dot = one[0] * other[0] + one[1] * other[1] + one[2] * other[2] + one[3] * other[3]
    return abs(dot) > 1.0 - 1e-9


def _needed(values: np.ndarray[tuple[int, ...], np.dtype[np.floating]], tolerance: float) -> list[int]:
    """Return all numbers of keys, or only the first where nothing changes."""
    spread = np.abs(values - values[0]).max()
    return [0] if spread <= tolerance else list(range(len(values)))


def _continuous(turns: Sequence[Quaternion]) -> list[Quaternion]:
    """Return quaternions none of which is more than a quarter turn from the one before."""
    found: list[Quaternion] = []
    for x, y, z, w in turns:
        if found:
            a, b, c, d = found[-1]
            if a * x + b * y + c * z + d * w < 0.0:
                x, y, z, w = -x, -y, -z, -w  # noqa: PLW2901
        found.append((x, y, z, w))
    return found
