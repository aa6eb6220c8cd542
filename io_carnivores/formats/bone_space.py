# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of bodies as Blender keys it: each bone in its own space, under its parent. Pure numbers, no Blender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ...io_common.formats.quaternions import continuous, to_quaternions
from . import rigid
from .residual import Poses

if TYPE_CHECKING:
    from .recover import Clip


def to_matrices(clip: Clip) -> npt.NDArray[np.float64]:
    """The motion of each body in file axes as (N, B, 4, 4) in Blender's axes."""
    order = list(FILE_Y_UP.order)
    matrices = np.zeros((*clip.rotation.shape[:2], 4, 4))
    matrices[..., :3, :3] = clip.rotation[..., order, :][..., order] * clip.scale[..., None, None]
    matrices[..., :3, 3] = clip.translation[..., order]
    matrices[..., 3, 3] = 1.0
    return matrices


@dataclass(frozen=True)
class Local:
    """What Blender keys, in each bone's own space: `rotation` (N, B, 4), `location` (N, B, 3), `scale` (N, B)."""

    rotation: npt.NDArray[np.float64]
    location: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]


def local_motion(
    world: npt.NDArray[np.float64], rest: npt.NDArray[np.float64], parents: npt.NDArray[np.integer]
) -> Local:
    """Keys that make every bone carry its body.

    `world` (N, B, 4, 4) moves the rest shape of each body in armature space, with an even scale at most; `rest`
    (B, 4, 4) are the bones' rest matrices. With M the rest matrix and D the motion, the key is M^-1 D_parent^-1 D M.
    """
    # Rotations, scales and places apart: to invert them costs nothing, and matrices by the thousand cost the most here.
    scale = np.linalg.norm(world[..., :3, 0], axis=-1)
    turn, place = world[..., :3, :3] / scale[..., None, None], world[..., :3, 3]
    child = np.flatnonzero(parents >= 0)
    above = parents[child]
    size, own, moved = scale.copy(), turn.copy(), place.copy()
    size[:, child] /= scale[:, above]
    back = turn[:, above].swapaxes(2, 3)
    own[:, child] = back @ turn[:, child]
    away = back @ (place[:, child] - place[:, above])[..., None]
    moved[:, child] = away[..., 0] / scale[:, above, None]
    # To the bone's own axes, around its head.
    axes, head = rest[:, :3, :3], rest[:, :3, 3]
    moved += size[..., None] * (own @ head[..., None])[..., 0] - head
    location = (axes.swapaxes(1, 2) @ moved[..., None])[..., 0]
    return Local(continuous(to_quaternions(axes.swapaxes(1, 2) @ own @ axes)), location, size)


def world_motion(
    local: Local, rest: npt.NDArray[np.float64], parents: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    """What Blender makes of keys: `local_motion` undone, (N, B, 4, 4) in armature space."""
    basis = np.zeros((*local.scale.shape, 4, 4))
    unit = local.rotation / np.linalg.norm(local.rotation, axis=-1, keepdims=True)
    basis[..., :3, :3] = rigid.matrices(unit) * local.scale[..., None, None]
    basis[..., :3, 3] = local.location
    basis[..., 3, 3] = 1.0
    world = rest @ basis @ np.linalg.inv(rest)
    for bone in downwards(parents):
        if parents[bone] >= 0:
            world[:, bone] = world[:, parents[bone]] @ world[:, bone]
    return world


def poses(world: npt.NDArray[np.float64]) -> Poses:
    """(N, B, 4, 4) motion of bodies in Blender's axes, with even scales, in file axes."""
    order = list(FILE_Y_UP.order)
    turned = world[..., order, :][..., order]
    scale = np.cbrt(np.linalg.det(turned))
    rotation = turned / np.maximum(scale, 1e-9)[..., None, None]
    return Poses.of(to_quaternions(rotation), world[..., order, 3], scale)


def downwards(parent: npt.NDArray[np.integer]) -> list[int]:
    """Numbers with parents before children; `parent` (B,), -1 at a root."""
    depth = np.zeros(len(parent), np.int64)
    above = np.asarray(parent)
    while (above >= 0).any() and depth.max(initial=0) <= len(parent):
        depth += above >= 0
        above = np.where(above >= 0, np.asarray(parent)[above], -1)
    return [int(body) for body in np.argsort(depth, kind="stable")]
