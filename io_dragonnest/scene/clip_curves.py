# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips as Actions: curves written in bulk, and what tells later whether a bone's curves were touched."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import compat, curves
from ..formats import names
from . import kept, rig

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .bone_motion import Clip
    from .rig import Rig

_BYTES = 4  # of a checksum
OBJECT_GROUP = "Root Motion"
UNMOVED = b"\0" * _BYTES


def write(
    obj: bpy.types.Object, action: bpy.types.Action, clip: Clip, labels: Sequence[str], used: set[tuple[int, str]]
) -> dict[int, bytes]:
    """The curves of a clip; bone -> checksum of its curves and those of its carrier. `labels`: see `Mapping`."""
    bag = compat.curves(obj, action)
    groups: dict[int, Any] = {}
    sums: dict[int, int] = {}
    kinds: dict[tuple[int, int], npt.NDArray[np.uint8]] = {}
    for key in sorted(used & clip.channels.keys()):
        bone, name = key
        if bone not in groups:
            groups[bone] = bag.groups.new(labels[bone])
            sums[bone] = 0
        channel = clip.channels[key]
        count, width = channel.values.shape
        kind = curves.CONSTANT if channel.stepped else curves.LINEAR
        alike = kinds.setdefault((count, kind), np.full(count, kind, np.uint8))
        points = np.empty((width, count, 2), np.float32)
        points[..., 0] = channel.frames
        points[..., 1] = channel.values.T
        flat = points.reshape(width, -1)
        path = f"{curves.bone_path(labels[bone])}.{name}"
        for index in range(width):
            curves.new_curve(bag, path, index, groups[bone], (flat[index], alike))
            sums[bone] = _add(sums[bone], name, index, (flat[index], alike), "")
    prints = {bone: entry.to_bytes(_BYTES, "little") for bone, entry in sums.items()}
    count = len(labels) // 2
    own = {bone % count for bone in prints}
    return {bone: joined(prints.get(bone, UNMOVED), prints.get(bone + count, UNMOVED)) for bone in own}


def joined(own: bytes, carrier: bytes) -> bytes:
    """The checksum of a bone and its carrier from those of each."""
    return own if carrier == UNMOVED else zlib.crc32(carrier, zlib.crc32(own)).to_bytes(_BYTES, "little")


def _add(total: int, name: str, index: int, arrays: tuple[Any, Any], odd: str) -> int:
    """The checksum of a bone with one more curve: frames and values f4, kinds u1; `odd`: what else it is."""
    total = zlib.crc32(f"{name}|{index}|{odd}|".encode(), total)
    return zlib.crc32(arrays[1], zlib.crc32(arrays[0], total))


@dataclass(frozen=True)
class Read:
    """A curve as it is in Blender. `odd`: what makes it more than its keyframes, empty for nothing."""

    curve: Any
    name: str
    index: int
    points: npt.NDArray[np.float32]
    kinds: npt.NDArray[np.int32]
    odd: str


def read(entries: Iterable[Any]) -> dict[str, list[Read]]:
    """Name of a bone, "" for the object itself -> its curves, in the order of property and component."""
    found: dict[str, list[Read]] = {}
    for curve in entries:
        path = curve.data_path
        channel = curves.channel_of(path) or (("", path) if "[" not in path else None)
        if channel is None:
            continue
        points, kinds = curves.read_curve(curve)
        found.setdefault(channel[0], []).append(Read(curve, channel[1], curve.array_index, points, kinds, _odd(curve)))
    for listed in found.values():
        listed.sort(key=lambda entry: (entry.name, entry.index))
    return found


def follow_names(obj: bpy.types.Object, entries: Iterable[Any]) -> None:
    """Let curves of bones that were renamed lead to them: Blender sees to the Action in use only."""
    bones = cast("bpy.types.Armature", obj.data).bones
    known: dict[str, str] | None = None
    for curve in entries:
        channel = curves.channel_of(curve.data_path)
        if channel is None or channel[0] in bones:
            continue
        known = rig.lookup(obj) if known is None else known
        now = known.get(names.key(channel[0]))
        if now is not None:
            curve.data_path = f"{curves.bone_path(now)}.{channel[1]}"


def _odd(curve: Any) -> str:
    parts = [f"modifiers{len(curve.modifiers)}"] if len(curve.modifiers) else []
    parts += ["mute"] if curve.mute else []
    parts += ["extrapolation"] if curve.extrapolation != "CONSTANT" else []
    return ",".join(parts)


def checksum(entries: Sequence[Read]) -> bytes:
    """The checksum of curves in the order of `read`; of none `UNMOVED`."""
    if not entries:
        return UNMOVED
    total = 0
    for entry in entries:
        total = _add(total, entry.name, entry.index, (entry.points, entry.kinds.astype(np.uint8)), entry.odd)
    return total.to_bytes(_BYTES, "little")


def seal(
    action: bpy.types.Action,
    row: npt.NDArray[np.intp],
    bones: int,
    prints: Mapping[int, bytes],
    walk: Sequence[Any] = (),
) -> None:
    """Remember the curves as they are: a checksum for each bone of the file and one for the object.

    `row` (B,): see `Mapping`; `prints`: as `write` gives them, by bone of the armature; `walk`: curves of the object.
    """
    table = [UNMOVED] * bones
    for bone, number in enumerate(row.tolist()):
        if number >= 0:
            table[number] = prints.get(bone, UNMOVED)
    table.append(checksum(read(walk).get("", [])))
    kept.put(action, kept.CURVES, b"".join(table))


def seal_spare(action: bpy.types.Action, prints: Mapping[str, bytes]) -> None:
    """Remember curves of bones that the file of this clip does not have: other files of its list do."""
    kept.put(action, kept.SPARE, json.dumps({name: entry.hex() for name, entry in prints.items()}) if prints else "")


def spare(action: bpy.types.Action) -> set[str]:
    """The bones whose curves are as `seal_spare` remembers them: none was made here."""
    try:
        before = json.loads(kept.get(action, kept.SPARE, "") or "{}")
    except ValueError:  # somebody else wrote there
        return set()
    if not isinstance(before, dict) or not before:
        return set()
    found = read(compat.all_curves(action))
    return {name for name, entry in before.items() if checksum(found.get(name, [])).hex() == entry}


def sealed(action: bpy.types.Action) -> list[bytes]:
    """The checksums that `seal` kept: of each bone of the file, then of the object."""
    raw = kept.get(action, kept.CURVES, b"")
    return [raw[start : start + _BYTES] for start in range(0, len(raw), _BYTES)]


_RIG = np.dtype([("rest", "<f4", (4, 4)), ("bind", "<f4", (4, 4)), ("parent", "<i4"), ("known", "<i4")])


def rig_record(rig: Rig, row: npt.NDArray[np.intp], bones: int) -> bytes:
    """The bones of a file (b,) as the armature has them, `row` (B,) as in `Mapping`; for `kept.RIG`."""
    return zlib.compress(rig_table(rig, row, bones).tobytes(), 1)


def rig_table(rig: Rig, row: npt.NDArray[np.intp], bones: int) -> npt.NDArray[Any]:
    """(bones,) rest and bind matrix and the bone of the file that is the parent in Blender, -1 for none, -2 for others.

    `known`: 1 where the armature has the bone.
    """
    table = np.zeros(bones, _RIG)
    for bone, number in enumerate(row.tolist()):
        if number < 0:
            continue
        above = int(rig.parent[bone])
        table[number] = (rig.rest[bone], rig.bind[bone], row[above] if above >= 0 else -1, 1)
        if above >= 0 and row[above] < 0:
            table["parent"][number] = -2
    return table


def kept_rig(action: bpy.types.Action) -> npt.NDArray[Any]:
    """What `rig_record` was kept of an Action; empty without it."""
    try:
        raw = zlib.decompress(kept.get(action, kept.RIG, b""))
    except zlib.error:  # nothing, or somebody else wrote there
        raw = b""
    return np.frombuffer(raw, _RIG) if len(raw) % _RIG.itemsize == 0 else np.zeros(0, _RIG)
