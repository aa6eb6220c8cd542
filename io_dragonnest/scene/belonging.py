# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armature of the scene a further part of a character plainly belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from ...io_common.scene import selection
from ..formats import hierarchy, msh, names
from . import kept, rig

if TYPE_CHECKING:
    import bpy

    from ..formats.msh import Msh
    from .placement import Floats

SAME = 1e-3  # how far bind poses of two parts may be apart, of the height of the skeleton, and still be one
_SHARED = 0.5  # how many of its bones an armature has to have
_TURNED = 0.1  # how many of these may be turned or scaled otherwise: an ANI knows no mirrored bones


@dataclass(frozen=True, eq=False)
class Meeting:
    """The bones that a model and an armature share.

    `here` (n,): rows of the model, of bones with one name the first. `there` (n,): the bind matrices apart, (n, 4, 4).
    `height`: of the armature's heads.
    """

    here: npt.NDArray[np.intp]
    away: Floats
    heads: Floats
    height: float

    @property
    def moved(self) -> npt.NDArray[np.bool_]:
        """(n,) whose heads lie elsewhere."""
        return np.asarray(self.away[:, :3, 3].max(axis=1, initial=0.0) > SAME * self.height, bool)

    @property
    def turned(self) -> npt.NDArray[np.bool_]:
        """(n,) whose axes go elsewhere."""
        return np.asarray(self.away[:, :3, :3].max(axis=(1, 2), initial=0.0) > SAME, bool)


def meet(model: Msh, obj: bpy.types.Object) -> Meeting:
    """The bones that `model` shares with an armature."""
    state = rig.state(obj)
    rows = {title: row for row, title in enumerate(state.names)}
    first = hierarchy.lookup(model.bone_names)
    shared = [
        (row, rows[label])
        for row, label in enumerate(rig.match(model.bone_names, obj))
        if label is not None and first[names.key(model.bone_names[row])] == row
    ]
    here, there = np.array(shared, np.intp).reshape(-1, 2).T
    own = rig.bind_matrices(model.bones["inverse_bind"])[here]
    every = np.concatenate((own[:, :3, 3], state.bind[:, :3, 3]))
    height = max(float(np.ptp(every, axis=0).max(initial=0.0)), 1e-3)
    return Meeting(here, np.abs(own - state.bind[there]), own[:, :3, 3], height)


def fitting(context: bpy.types.Context, model: Msh) -> list[bpy.types.Object]:
    """The armatures that `model` plainly belongs to: they came from the game and have its bones in its bind pose."""
    return [entry for entry in rig.sharing(context, model.bone_names) if _is_fitting(context, model, entry)]


def _is_fitting(context: bpy.types.Context, model: Msh, obj: bpy.types.Object) -> bool:
    if not kept.has(cast("bpy.types.ID", obj.data), kept.HIERARCHY):
        return False
    found = meet(model, obj)
    count = len(hierarchy.lookup(model.bone_names))
    if len(found.here) < _SHARED * count or found.moved.any() or found.turned.mean() > _TURNED:
        return False
    # A single bone at the origin is like any other one of its name.
    if not (np.abs(found.heads) > SAME * found.height).any():
        return False
    return not _is_there(context, model, obj)


def _is_there(context: bpy.types.Context, model: Msh, obj: bpy.types.Object) -> bool:
    """Whether an armature carries the same file already: it was opened once more, to have it twice."""
    header, bones = msh.header_bytes(model), model.bones.tobytes()
    return any(
        selection.armature_of(entry) == obj
        and entry.data is not None
        and kept.get(entry.data, kept.HEADER, b"") == header
        and kept.get(entry.data, kept.BONES, b"") == bones
        for entry in selection.scene(context).objects
    )
