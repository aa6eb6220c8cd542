# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of bodies as Blender keys it: each bone in its own space, under its parent. Pure numbers, no Blender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
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


def to_quaternions(rotation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(..., 3, 3) rotations to (..., 4) unit quaternions w, x, y, z, by the largest of the four squares."""
    m = rotation
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    squares = np.stack((trace, m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]), axis=-1)
    # Row k holds 4 q_k times the quaternion.
    rows = np.empty((*trace.shape, 4, 4))
    rows[..., 0, 0] = 1 + trace
    for axis in range(3):
        rows[..., axis + 1, axis + 1] = 1 - trace + 2 * m[..., axis, axis]
        first, second = (axis + 1) % 3, (axis + 2) % 3
        rows[..., 0, axis + 1] = rows[..., axis + 1, 0] = m[..., second, first] - m[..., first, second]
        rows[..., first + 1, second + 1] = rows[..., second + 1, first + 1] = (
            m[..., first, second] + m[..., second, first]
        )
    best = np.argmax(squares, axis=-1)[..., None, None]
    chosen = np.take_along_axis(rows, best, axis=-2)[..., 0, :]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=-1, keepdims=True))


def continuous(quaternions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, B, 4) with signs chosen so that no quaternion jumps to its opposite from one frame to the next."""
    if len(quaternions) < 2:
        return quaternions
    dots = np.einsum("nbk,nbk->nb", quaternions[1:], quaternions[:-1])
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    out = quaternions.copy()
    out[1:] *= signs[..., None]
    return out


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
