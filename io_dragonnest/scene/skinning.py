# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex groups to the skin of a sub-mesh; vertices whose weights were not edited keep their slots and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.scene.weights import Weights
from ..formats import names
from ..formats.submesh import SLOTS, Skin
from . import rig, shown, submesh

if TYPE_CHECKING:
    import bpy

    from ...io_common.formats.digest import Digest
    from .shown import Shown
    from .surface import Surface

_HEARD = 0.01  # of the weight of a vertex: less than that nobody sees


@dataclass(eq=False)
class Binding:
    """The bones that move an object. `fields`: their name fields, those of the file first, at their slots there.

    `old` is how many of them came with the file; `alive` (len(fields),) whether the bone still exists. `weights`: as
    `Weights`, groups being places in `fields`. `same` (V,): vertices whose weights were not edited.
    """

    fields: list[bytes]
    old: int
    alive: npt.NDArray[np.bool_]
    weights: Weights
    same: npt.NDArray[np.bool_]
    numbers: npt.NDArray[np.int64]
    before: Skin | None

    @property
    def untouched(self) -> bool:
        """Whether all is as it came."""
        return bool(self.same.all()) and len(self.fields) == self.old and bool(self.alive.all())


def bind(
    obj: bpy.types.Object,
    skeleton: bpy.types.Object | None,
    surface: Surface,
    before: Shown | None,
    table: set[str],
    digest: Digest,
) -> Binding:
    """Which bones move `obj`. `table`: keys of the bones that the file had. Raises `ExportError` for bad bone names."""
    stored = before.source.skin if before is not None else None
    raws = [bytes(raw) for raw in stored.names.tolist()] if stored is not None else []
    texts = [names.text(raw) for raw in raws]
    titles = submesh.group_names(texts, skeleton)
    slot = shown.group_of_slot([names.key(text) for text in texts])
    bones = {bone.name: bone for bone in rig.bones_of(skeleton)} if skeleton is not None else {}
    # A name that was never a bone of the file stays what it is; a bone that was deleted moves nothing.
    alive = [
        title in bones or skeleton is None or names.key(text) not in table
        for title, text in zip(titles, texts, strict=True)
    ]
    fields = [
        rig.field(bones[title]) if title in bones and rig.is_renamed(bones[title]) else raw
        for title, raw in zip(titles, raws, strict=True)
    ]
    places = {title: int(slot[row]) for row, title in reversed(list(enumerate(titles))) if alive[row]}
    used = _used(obj, surface.weights, _places(obj, bones, places, fields, alive), digest)
    same = _same(used, before, slot, surface.numbers)
    return Binding(fields, len(raws), np.array(alive, bool), used, same, surface.numbers, stored)


def _used(obj: bpy.types.Object, found: Weights, places: npt.NDArray[np.int64], digest: Digest) -> Weights:
    """The weights of bones; a group that is none is named once. `places`: of each group in the list of bones, or -1."""
    inside = found.group < len(places)
    target = np.full(len(found.group), -1)
    target[inside] = places[found.group[inside]]
    good = (target >= 0) & (found.value > 0)
    for index in np.unique(found.group[inside & (target < 0) & (found.value > 0)]).tolist():
        name = obj.vertex_groups[index].name
        digest.add(f'the vertex group "{name}" is no bone of the armature and was left out', subject=obj.name)
    used = Weights.of(found.vertex[good], target[good], found.value[good])
    _warn_of_many(obj, used, digest)
    return used


def _warn_of_many(obj: bpy.types.Object, used: Weights, digest: Digest) -> None:
    """Name the vertices that will move otherwise than here, as a file holds four bones for each."""
    counts = np.bincount(used.vertex)
    if counts.max(initial=0) <= SLOTS:
        return
    order, rank = _ranked(used)
    total = np.bincount(used.vertex, used.value)
    lost = np.bincount(used.vertex[order], np.where(rank < SLOTS, 0.0, used.value[order]))
    count = int((lost > _HEARD * total).sum())
    if count:
        most = 100 * float((lost / np.where(total > 0, total, 1.0)).max())
        vertices, follow = ("1 vertex", "follows") if count == 1 else (f"{count} vertices", "follow")
        digest.add(
            f'{vertices} of "{obj.name}" {follow} more than four bones; the four heaviest count, and the others had up '
            f"to {most:.0f} % of the weight"
        )


def _ranked(found: Weights) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The order by vertex, then from the heaviest on, and the rank of each weight in it within its vertex."""
    order = np.lexsort((found.group, -found.value.astype(np.float64), found.vertex))
    vertex = found.vertex[order]
    return order, np.arange(len(vertex)) - np.searchsorted(vertex, vertex)


def _places(
    obj: bpy.types.Object,
    bones: dict[str, bpy.types.Bone],
    places: dict[str, int],
    fields: list[bytes],
    alive: list[bool],
) -> npt.NDArray[np.int64]:
    """For each vertex group its place in `fields`, which grows by new bones; -1 for none."""
    found = []
    for entry in obj.vertex_groups:
        place = places.get(entry.name, -1)
        if place < 0 and entry.name in bones:
            place = places[entry.name] = len(fields)
            fields.append(rig.field(bones[entry.name]))
            alive.append(True)
        found.append(place)
    return np.array(found, np.int64)


def _same(
    now: Weights,
    before: Shown | None,
    slot: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """(V,): whether each vertex has exactly the weights it was given at import."""
    count = len(numbers)
    same = numbers >= 0
    if before is None or before.source.skin is None:
        same &= np.bincount(now.vertex, minlength=count)[:count] == 0
        return same if before is not None else np.zeros(count, bool)
    old = before.weights(slot)
    span = max(int(old.group.max(initial=0)), int(now.group.max(initial=0))) + 1
    codes = old.vertex * span + old.group
    number = numbers[now.vertex]
    wanted = number * span + now.group
    at = np.minimum(np.searchsorted(codes, wanted), max(len(codes) - 1, 0))
    hit = (
        (number >= 0) & (codes[at] == wanted) & (old.value[at] == now.value)
        if len(codes)
        else np.zeros(len(wanted), bool)
    )
    same[now.vertex[~hit]] = False
    had = np.bincount(old.vertex, minlength=len(before.positions))
    has = np.bincount(now.vertex, minlength=count)[:count]
    same &= has == had[np.maximum(numbers, 0)]
    return same


def skin(binding: Binding, origin: npt.NDArray[np.int64], *, only_used: bool = False) -> Skin | None:
    """The skin of the vertices `origin` (n,), numbers in the mesh; None where nothing moves them and nothing did.

    At most four influences, strongest first, that add up to one. Bones are listed where they are used, those of the
    file in its order, and all of them unless `only_used`.
    """
    if binding.before is None and not len(binding.weights.vertex):
        return None
    slots, weights = _strongest(binding, origin)
    number = binding.numbers[origin]
    keep = binding.same[origin] & (number >= 0) & (binding.before is not None)
    if binding.before is not None:
        slots[keep] = binding.before.slots[number[keep]]
        weights.view(np.uint32)[keep] = np.ascontiguousarray(binding.before.weights).view(np.uint32)[number[keep]]
    if binding.untouched and not only_used:
        return Skin(slots.astype("<i2"), weights, names.fields(binding.fields))
    return _listed(binding, slots, weights, only_used=only_used)


def _strongest(
    binding: Binding, origin: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Slots and weights (n, 4) from Blender's weights."""
    found = binding.weights
    order, rank = _ranked(found)
    vertex = found.vertex[order]
    inside = rank < SLOTS
    count = len(binding.numbers)
    slots, weights = np.zeros((count, SLOTS), np.int64), np.zeros((count, SLOTS))
    slots[vertex[inside], rank[inside]] = found.group[order][inside]
    weights[vertex[inside], rank[inside]] = found.value[order][inside]
    slots, weights = slots[origin], weights[origin]
    total = weights.sum(axis=1, keepdims=True)
    weights = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 0.0)
    return slots, weights.astype("<f4")


def _listed(
    binding: Binding, slots: npt.NDArray[np.int64], weights: npt.NDArray[np.float32], *, only_used: bool
) -> Skin:
    """Number the bones anew: those of the file that live, without `only_used`, and new ones that are used."""
    wanted = binding.alive.copy()
    wanted[0 if only_used else binding.old :] = False
    with np.errstate(invalid="ignore"):
        counts = (weights > 0) & (slots >= 0) & (slots < len(binding.fields))
    wanted[np.unique(slots[counts])] = True
    place = np.where(wanted, np.cumsum(wanted) - 1, 0)
    if not wanted.all():
        inside = (slots >= 0) & (slots < len(place))
        slots = np.where(inside, place[np.where(inside, slots, 0)], slots)
    fields = [raw for raw, use in zip(binding.fields, wanted.tolist(), strict=True) if use]
    return Skin(slots.astype("<i2"), weights, names.fields(fields) if fields else np.zeros(0, names.FIELD_DTYPE))
