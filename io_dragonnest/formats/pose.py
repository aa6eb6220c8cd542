# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones and vertices are in the world at a frame, as the game computes it; the reference for scenes.

Row vectors: local = scale x rotation x translation, world = local x world of the parent (whose scale is inherited in
full), vertex = sum of weight x (v x inverse bind x world).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import hierarchy, names, rig, sampling, space
from . import submesh as submeshes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .ani import Ani
    from .msh import Msh
    from .space import Floats
    from .submesh import Submesh


def world(local: npt.NDArray[Any], parents: npt.NDArray[Any]) -> Floats:
    """Matrices relative to the parent (..., b, 4, 4) to world matrices. `parents` (b,) has no loops."""
    out = np.array(local, np.float64)
    for row in hierarchy.order(parents).tolist():
        parent = int(parents[row])
        if parent >= 0:
            out[..., row, :, :] = out[..., row, :, :] @ out[..., parent, :, :]
    return out


def local(matrices: npt.NDArray[Any], parents: npt.NDArray[Any]) -> Floats:
    """World matrices (..., b, 4, 4) to matrices relative to the parent; those of flat parents stay as they are."""
    found = np.asarray(matrices, np.float64)
    above = np.asarray(parents)
    out = found.copy()
    rows = np.flatnonzero(above >= 0)
    if len(rows):
        base = found[..., above[rows], :, :]
        good = np.abs(np.linalg.det(base[..., :3, :3])) > 1e-30
        base = np.where(good[..., None, None], base, np.eye(4))
        out[..., rows, :, :] = found[..., rows, :, :] @ np.linalg.inv(base)
    return out


def clip_world(found: Ani, clip: int, at: npt.ArrayLike) -> Floats:
    """World matrices (f, b, 4, 4) of the bones of an ANI in a clip at the frames `at` (f,)."""
    return world(sampling.sample(found, clip, at).matrices(), hierarchy.from_ani(found).parents)


def matched_world(bone_names: Sequence[str], found: Ani, matrices: npt.NDArray[Any]) -> Floats:
    """World matrices (..., n, 4, 4) of other bones, by name without regard to case; the identity for what is missing.

    `matrices` (..., b, 4, 4) are those of the bones of `found`. The game gives bones that the ANI lacks the identity.
    """
    rows = hierarchy.lookup(found.bone_names)
    out = np.zeros((*matrices.shape[:-3], len(bone_names), 4, 4))
    out[..., range(4), range(4)] = 1.0
    for row, name in enumerate(bone_names):
        if names.key(name) in rows:
            out[..., row, :, :] = matrices[..., rows[names.key(name)], :, :]
    return out


def skin_matrices(model: Msh, matrices: npt.NDArray[Any]) -> Floats:
    """Inverse bind x world (..., b, 4, 4) of the bones of an MSH whose world matrices are `matrices` (..., b, 4, 4)."""
    return model.bones["inverse_bind"].astype(np.float64) @ np.asarray(matrices, np.float64)


def bone_rows(model: Msh, bone_names: Sequence[str]) -> npt.NDArray[np.intp]:
    """Number in the model's bone table of each name (n,), -1 where it has no such bone."""
    rows = hierarchy.lookup(model.bone_names)
    return np.array([rows.get(names.key(name), -1) for name in bone_names], np.intp)


def skinned(model: Msh, part: Submesh, skins: npt.NDArray[Any]) -> Floats:
    """Vertices (f, v, 3) of a sub-mesh at the skin matrices `skins` (f, b, 4, 4), in file space.

    Weights are divided by their sum; a vertex without any stays where it is. A part without a skin follows its parent
    bone as if all its weights were one.
    """
    at = part.positions.astype(np.float64)
    if part.skin is None:
        row = -1 if names.is_root(part.parent) else int(bone_rows(model, [names.text(part.parent)])[0])
        return np.repeat(at[None], len(skins), axis=0) if row < 0 else space.points(at, skins[:, row])
    slots, weights, _lost = submeshes.influences(part)
    table = bone_rows(model, names.texts(part.skin.names))
    rows = table[slots] if len(table) else np.full(slots.shape, -1)
    weights = np.where(rows >= 0, weights, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1.0)
    out = np.zeros((len(skins), len(at), 3))
    for slot in range(submeshes.SLOTS):
        moved = np.einsum("vi,fvij->fvj", at, skins[:, rows[:, slot], :3, :3]) + skins[:, rows[:, slot], 3, :3]
        out += weights[:, slot, None] * moved
    return np.where(total[:, 0, None] > 0, out, at)


def shown(model: Msh, found: Ani, clip: int, at: npt.ArrayLike) -> list[Floats]:
    """Vertices (f, v, 3) of every sub-mesh of `model` in a clip of `found` at the frames `at` (f,), in file space."""
    matrices = matched_world(model.bone_names, found, clip_world(found, clip, at))
    skins = skin_matrices(model, matrices)
    return [skinned(model, part, skins) for part in model.submeshes]


def pose_matrices(parts: rig.Parts, matrices: npt.NDArray[Any]) -> Floats:
    """Where Blender's bones have to be (..., b, 4, 4), file space, to skin as the game does at world `matrices`.

    Blender skins with inverse rest x pose, and its rest pose lacks the remainder: pose = inverse remainder x world.
    `world_matrices` undoes it. A remainder that is flat is left out.
    """
    return _undone(parts) @ np.asarray(matrices, np.float64)


def world_matrices(parts: rig.Parts, poses: npt.NDArray[Any]) -> Floats:
    """World matrices of the game (..., b, 4, 4) from where Blender's bones are: remainder x pose."""
    return np.asarray(np.linalg.inv(_undone(parts)) @ np.asarray(poses, np.float64), np.float64)


def _undone(parts: rig.Parts) -> Floats:
    found = parts.remainder_matrices()
    found[np.abs(np.linalg.det(found)) < 1e-12] = np.eye(4)
    found[parts.plain] = np.eye(4)
    return np.asarray(np.linalg.inv(found), np.float64)
