# SPDX-License-Identifier: GPL-3.0-or-later
"""The bone table of a model: rows of the file while their bones were not edited, new rows for what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..formats import msh, names
from . import kept, placement, rig

if TYPE_CHECKING:
    from collections.abc import Iterable

    import bpy

    from .placement import Floats


def raw(blocks: Iterable[bpy.types.ID]) -> npt.NDArray[Any]:
    """The bone table of the file that these meshes came from; empty for what was made in Blender."""
    for block in blocks:
        found = kept.get_array(block, kept.BONES, msh.BONE)
        if len(found):
            return found
    return msh.no_bones()


def table(
    skeleton: bpy.types.Object | None,
    stored: npt.NDArray[Any],
    used: Iterable[bytes],
    whole: Floats,
    *,
    all_bones: bool,
    with_parents: bool = False,
) -> npt.NDArray[Any]:
    """(n,) of `msh.BONE`. `stored`: the rows of the file; `used`: name fields that sub-meshes and dummies speak of.

    Bones that were deleted lose their row. Of bones the file does not have, those in `used` are added, `with_parents`
    those above them too, or all. `whole` (4, 4) takes the armature to file units.
    """
    if skeleton is None:
        return stored
    state = rig.state(skeleton)
    rows = {name: row for row, name in enumerate(state.names)}
    bones = skeleton.data.bones
    found = rig.match(names.texts(stored["name"]), skeleton)
    out = [
        _row(entry, bones[name], state, rows[name], whole)
        for entry, name in zip(stored, found, strict=True)
        if name is not None
    ]
    listed = {name for name in found if name is not None}
    extra = {name for name in rig.match([names.text(entry) for entry in used], skeleton) if name is not None}
    if with_parents:
        extra |= {above.name for name in extra for above in bones[name].parent_recursive}
    fresh = [name for name in state.names if name not in listed and (all_bones or name in extra)]
    for name in fresh:
        entry = np.zeros(1, msh.BONE)[0]
        entry["name"] = np.void(rig.field(bones[name]))
        bone = kept.get_array(bones[name], kept.BIND, "<f4")
        if not state.edited[rows[name]] and placement.is_plain(whole) and bone.shape == (16,):
            entry["inverse_bind"] = bone.reshape(4, 4)
        else:
            entry["inverse_bind"] = rig.inverse_binds(in_file_units(state.bind[rows[name]], whole)[None])[0]
        out.append(entry)
    return np.array(out, msh.BONE) if out else msh.no_bones()


def _row(entry: Any, bone: bpy.types.Bone, state: rig.Rig, row: int, whole: Floats) -> Any:
    out = np.zeros(1, msh.BONE)[0]
    out["name"], out["inverse_bind"] = entry["name"], entry["inverse_bind"]
    if rig.is_renamed(bone):
        out["name"] = np.void(rig.field(bone))
    if state.edited[row] or not placement.is_plain(whole):
        # Parts of one armature may each have a bind pose of their own: what was done to the bone is done to it.
        bind = rig.bind_matrices(entry["inverse_bind"])[0]
        known = rig.kept_bind(bone)
        if state.edited[row] and known is not None:
            bind = state.rest[row] @ np.linalg.inv(known[0]) @ bind
        out["inverse_bind"] = rig.inverse_binds(in_file_units(bind, whole)[None])[0]
    return out


def in_file_units(bind: Floats, whole: Floats) -> Floats:
    """A bind matrix moved by `whole`, without taking on its scale."""
    if placement.is_plain(whole):
        return bind
    size = np.cbrt(abs(np.linalg.det(whole[:3, :3]))) or 1.0
    out = np.asarray(whole @ bind, np.float64)
    out[:3, :3] /= size
    return out
