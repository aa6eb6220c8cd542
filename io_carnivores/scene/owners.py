# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone each vertex belongs to: from the vertex groups where they say it, else as it was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.scene import mesh as meshes
from . import kept

if TYPE_CHECKING:
    import bpy

    from ...io_common.formats.digest import Digest
    from .skeleton import Table


def owners(mesh: bpy.types.Mesh, obj: bpy.types.Object, table: Table, digest: Digest) -> npt.NDArray[np.int16]:
    """(V,) bone numbers of `mesh`, which is the data of `obj`, maybe evaluated.

    The heaviest bone group wins. Among equals wins one that the vertex did not come with, since Blender's Assign adds
    a vertex to a group without taking it out of the old one; then the lower number. A vertex without a bone group
    keeps its number, unless it was taken out of that bone's group; then it goes to the first bone, or to the one that
    carries the whole object.
    """
    old = meshes.get_attribute(mesh, kept.OWNER, "INT", "POINT")
    stored = table.renumber(old) if old is not None else np.full(len(mesh.vertices), -1, np.int32)
    wanted = np.array([table.number(group.name) for group in obj.vertex_groups], np.int32)
    grouped = meshes.heaviest_group(mesh, wanted, stored)
    homeless = grouped < 0
    if old is not None:
        homeless &= _left_its_group(old, obj, table)
    carrier = table.number(obj.parent_bone) if obj.parent is not None and obj.parent_type == "BONE" else -1
    if len(table.bones) > 1 and carrier < 0 and bool(homeless.any()):
        digest.add("some vertices have no bone group; they go to the first bone", subject=obj.name)
    found = np.where(grouped >= 0, grouped, np.where(homeless, max(carrier, 0), stored))
    return found.astype(np.int16)


def _left_its_group(old: npt.NDArray[np.int32], obj: bpy.types.Object, table: Table) -> npt.NDArray[np.bool_]:
    """(V,): whether the bone a vertex came with still has a group, or never had one in this file.

    Meant for vertices that are in no bone's group. `old`: their numbers in the file they came from, which is another
    one for those that were joined to this mesh.
    """
    present = {group.name for group in obj.vertex_groups}
    count = len(table.origin_groups)
    there = np.array([name in present for name in table.origin_groups] or [False])
    known = (old >= 0) & (old < count)
    foreign = (old >= count) & (count > 0) & bool(present)
    return np.where(known, there[np.where(known, old, 0)], foreign)
