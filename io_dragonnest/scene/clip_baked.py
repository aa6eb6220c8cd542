# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of what Blender shows, a key at every frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ..formats import clip_records, fitting, hierarchy, names, sampling, space
from ..formats.keys import Record
from . import clips, ground, pose_bake, rig
from .clip_job import Job

if TYPE_CHECKING:
    from ..formats.root_motion import Way
    from .placement import Floats


_SHEAR = 1e-3  # file units, of the reach: what is worth a warning


def records(
    job: Job,
    action: bpy.types.Action,
    length: int,
    stored: list[Record | None],
    known: tuple[list[npt.NDArray[Any]], dict[int, Way]],
) -> dict[int, Record]:
    """Records of what Blender shows, for the bones that have none in `stored`."""
    onto = job.table.onto
    start, _end = clips.span(action)
    shown, stands = pose_bake.poses(job.context, job.obj, action, np.arange(start, start + length))
    world = _world(job, shown, stands, stored, length)
    count = len(job.table.bones)
    made = fitting.links(world, job.table.parents, np.repeat(np.eye(4)[None], count, axis=0))
    radius = np.zeros(count)
    radius[onto.row[onto.known]] = onto.length[onto.known]
    away = fitting.misses(world, made.reached, radius)
    if away.max(initial=0.0) > _SHEAR * onto.reach:
        worst = int(np.argmax(away))
        job.digest.add(
            f'"{names.text(bytes(job.table.bones["name"][worst]))}" and others are sheared, which a file cannot say; '
            f"they are as near as can be, off by up to {away[worst]:.3g} file units",
            subject=action.name,
        )
    todo = [row for row, entry in enumerate(stored) if entry is None]
    stills, ways = known
    places = space.AXES.undo(made.locations[:, todo].swapaxes(0, 1))
    for number, row in enumerate(todo):
        places[number] += ground.along(ways.get(row), np.arange(length))
    turns = space.to_file_quaternion(made.quaternions[:, todo].swapaxes(0, 1))
    sizes = _rounded(space.to_blender_scale(made.scales[:, todo].swapaxes(0, 1)))
    entries = clip_records.baked([stills[row] for row in todo], places, turns, sizes, job.style)
    return dict(zip(todo, entries, strict=True))


def _rounded(sizes: Floats) -> Floats:
    """Scales without the noise of single precision, so that they hold where nothing happens."""
    return np.round(sizes, 5)


def _world(job: Job, shown: Floats, stands: Floats, stored: list[Record | None], length: int) -> Floats:
    """World matrices of the game (f, b, 4, 4), column vectors, of poses (f, B, 4, 4) in the armature's units."""
    onto, whole = job.table.onto, job.table.whole
    moved = (
        stands @ shown.swapaxes(0, 1) if np.abs(stands - np.eye(4)).max(initial=0.0) > 1e-6 else shown.swapaxes(0, 1)
    )
    state = rig.state(job.obj)
    out = np.repeat(np.eye(4)[None, None], len(shown), axis=0).repeat(len(job.table.bones), axis=1)
    size = job.table.grow
    for bone, row in enumerate(onto.row.tolist()):
        if row >= 0:
            found = whole @ moved[bone] @ (np.linalg.inv(state.rest[bone]) @ state.bind[bone])
            found[:, :3, :3] /= size
            out[:, row] = found
    known = set(onto.row[onto.known].tolist())
    lacking = [row for row in hierarchy.order(job.table.parents).tolist() if row not in known]
    for row in lacking:
        record = stored[row]
        if record is not None:
            local = space.to_blender_matrix(_local(record, length))
            above = int(job.table.parents[row])
            out[:, row] = out[:, above] @ local if above >= 0 else local
    return out


def _local(record: Record, length: int) -> Floats:
    """(f, 4, 4) of a record at every frame, as the file has it."""
    at = np.arange(length)
    parts = (sampling.positions(record, at), sampling.rotations(record, at), sampling.scales(record, at))
    return space.matrix(*parts)
