# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures from joint positions: every bone gets a length and points along its chain."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Vector

from .compat import name_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FARTHEST = 1e15
_ALWAYS_FITS = 59
_DIGITS = 3  # of the numbers that Blender puts behind names, at the least


def sane_parents(parents: Sequence[int]) -> list[int]:
    """Parents with every number out of range, and every link that would close a loop, replaced by -1."""
    count = len(parents)
    result = [parent if 0 <= parent < count else -1 for parent in parents]
    state = [0] * count  # 0 unseen, 1 on the current path, 2 done
    for start in range(count):
        path = []
        bone = start
        while bone >= 0 and state[bone] == 0:
            state[bone] = 1
            path.append(bone)
            bone = result[bone]
        if bone >= 0 and state[bone] == 1:
            result[path[-1]] = -1
        for visited in path:
            state[visited] = 2
    return result


def bearable(heads: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """`heads` with what is too far out pulled in: Blender's float32 matrices turn into NaN where squares overflow."""
    return np.clip(heads, -FARTHEST, FARTHEST)


def tails(heads: npt.NDArray[np.float64], parents: Sequence[int]) -> npt.NDArray[np.float64]:
    """A tail for every head (B, 3): at the only child, else towards the middle of the children, else onwards.

    No two are closer than a hundredth of the skeleton's size, nor than float32 can tell apart there, since Blender
    deletes bones without length.
    """
    count = len(heads)
    extent = float(np.ptp(heads, axis=0).max()) if count else 0.0
    farthest = float(np.abs(heads).max()) if count else 0.0
    shortest = max(extent * 0.01, farthest * 1e-5, 1e-3)
    usual = max(extent * 0.08, shortest) if extent > 0 else 10.0
    children: list[list[int]] = [[] for _ in range(count)]
    for bone, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(bone)
    head = [Vector(point) for point in heads.tolist()]
    tail = [Vector()] * count
    for bone in _roots_first(parents):
        parent = parents[bone]
        below = children[bone]
        away = sum((head[child] for child in below), Vector()) / len(below) - head[bone] if below else Vector()
        if away.length < shortest:
            incoming = head[bone] - head[parent] if parent >= 0 else Vector()
            if incoming.length < shortest:
                incoming = tail[parent] - head[parent] if parent >= 0 else Vector((0.0, 0.0, usual))
            away = incoming * (max(min(incoming.length * 0.5, usual), shortest) / incoming.length)
        tail[bone] = head[bone] + away
    return np.array([point.to_tuple() for point in tail], np.float64).reshape(-1, 3)


def _roots_first(parents: Sequence[int]) -> list[int]:
    order: list[int] = []
    placed = [False] * len(parents)
    for start in range(len(parents)):
        chain = []
        bone = start
        while bone >= 0 and not placed[bone]:
            placed[bone] = True
            chain.append(bone)
            bone = parents[bone]
        order.extend(reversed(chain))
    return order


def build(
    context: bpy.types.Context,
    name: str,
    names: Sequence[str],
    heads: npt.NDArray[np.float64],
    parents: Sequence[int],
    ends: npt.NDArray[np.float64] | None = None,
) -> bpy.types.Object:
    """An armature object that is not linked to any collection yet.

    `names` must be unique and short enough (see `fit_bone_name`); `heads` is (B, 3) in the armature's space; `parents`
    must be sane (see `sane_parents`). `ends` (B, 3): the tails, chosen by `tails` when not given.
    """
    title = fit_name(name)
    data = bpy.data.armatures.new(title)
    obj = bpy.data.objects.new(title, data)
    ends = tails(heads, parents) if ends is None else ends
    with edit_mode(context, obj):
        bones = []
        for label, head, tail in zip(names, heads.tolist(), ends.tolist(), strict=True):
            bone = data.edit_bones.new(label)
            bone.head = head
            bone.tail = tail
            bones.append(bone)
        for bone, parent in zip(bones, parents, strict=True):
            if parent >= 0:
                bone.parent = bones[parent]
    return obj


def fit_name(text: str, kind: type = bpy.types.ID) -> str:
    """`text` cut to what this Blender can hold as a name of `kind`, leaving room for a number that makes it unique.

    Blender itself would cut inside a character, and then cannot tell the name any more. Bytes of a file name that are
    no text become "?".
    """
    return cut_name(text, max(_ALWAYS_FITS, name_limit(kind) - 4))


def without_number(name: str) -> str:
    """`name` without the number that Blender puts behind what it would hold twice: `Body` for `Body.001`.

    It has three digits at the least; `hair.01` is a name that somebody gave.
    """
    stem, _, number = name.rpartition(".")
    return stem if stem and len(number) >= _DIGITS and number.isdecimal() else name


def is_same_name(name: str, label: str) -> bool:
    """Whether `name` is `label`, or what Blender makes of it where that is taken: `Body.001` or `Body.002`.

    Of `hair.01` it makes `hair.001`.
    """
    if name == label:
        return True
    stem, before = without_number(name), label.rpartition(".")
    return stem != name and (stem == label or (stem == before[0] and before[2].isdecimal()))


def cut_name(text: str, most: int) -> str:
    """`text` cut to `most` bytes of UTF-8, between two characters."""
    return text.encode(errors="replace")[:most].decode(errors="ignore")


def fit_bone_name(text: str) -> str:
    """`text` as the name of a bone and of its vertex group."""
    return fit_name(text, bpy.types.Bone)


@contextlib.contextmanager
def edit_mode(context: bpy.types.Context, obj: bpy.types.Object) -> Iterator[None]:
    """Edit Mode on an object in a scene of its own: in the user's, every change of mode would evaluate all of it."""
    scene = bpy.data.scenes.new("Armature")
    try:
        scene.collection.objects.link(obj)
        layer = scene.view_layers[0]
        layer.update()
        layer.objects.active = obj
        with context.temp_override(scene=scene, view_layer=layer, object=obj, active_object=obj):
            bpy.ops.object.mode_set(mode="EDIT")
            yield
            bpy.ops.object.mode_set(mode="OBJECT")
    finally:
        bpy.data.scenes.remove(scene)
