# SPDX-License-Identifier: GPL-3.0-or-later
"""What an Action was made of: the frames of a file, and how the bones stood that were to show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP
from ..formats.residual import Origin, Poses
from . import kept, numbering

if TYPE_CHECKING:
    import bpy

    from .vertices import Weights

    Frames = npt.NDArray[np.int16]
    Flags = npt.NDArray[np.bool_]

_ABSENT = -2  # in place of a body: there was no such vertex


@dataclass(frozen=True)
class Binding:
    """V vertices that an Action is made for: `number` (V,), `body` (V,), -1 for none, `rest` (V, 3), file axes.

    `prints` (V,) u32 of their weights, where those are not the ones they came with. `place` (4, 4): from the space of
    the mesh to that of the frames and of `rest`, Blender axes; `carried` (4, 4): from that of the armature; None: the
    same.
    """

    number: npt.NDArray[np.integer]
    body: npt.NDArray[np.integer]
    rest: npt.NDArray[np.float32]
    prints: npt.NDArray[np.uint32] | None = None
    place: npt.NDArray[np.float64] | None = None
    carried: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Original:
    """What an Action was made of, by the numbers of M vertices, file axes and units.

    `frames` (N, M, 3) i16; `body` (M,), -1 for none, -2 where there was no such vertex; `rest` (M, 3); `soft` (M,):
    vertices that shape keys take to where bones do not, None where there are no such keys; `prints` (M,) u32 of their
    weights, None where those were the ones they came with.
    """

    frames: Frames
    poses: Poses
    body: npt.NDArray[np.int16]
    rest: npt.NDArray[np.float32]
    soft: npt.NDArray[np.bool_] | None
    prints: npt.NDArray[np.uint32] | None

    def known(self, number: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """(V,): whether there are frames for vertices of these numbers."""
        inside = (number >= 0) & (number < len(self.body))
        inside[inside] = self.body[number[inside]] != _ABSENT
        return inside

    def origin(self, number: npt.NDArray[np.integer]) -> Origin:
        """For vertices of these numbers, (V,)."""
        known = self.known(number)
        at = np.where(known, number, 0)
        return Origin.of(self.frames[:, at], self.poses, self.body[at], self.rest[at], known)

    def strays(self) -> tuple[Flags, Flags]:
        """Vertices (M,) that bones alone show too far off somewhere, deleted ones too, and frames (N,) in which."""
        found = self.origin(np.arange(len(self.body))).strays()
        return np.asarray(found.any(axis=0)), np.asarray(found.any(axis=1))

    def strangers(self, number: npt.NDArray[np.integer], weights: Weights) -> tuple[Flags, Flags]:
        """(V,) twice: vertices whose weights are not those it was made for, and those that no single body stands for.

        Several bones with the same weights as before are not strange, but no one body says where they take a vertex.
        """
        if self.prints is None:
            return weights.regrouped, weights.astray
        same = self.known(number)
        same[same] = self.prints[number[same]] == weights.prints[same]
        return ~same, np.where(same, weights.mixed, weights.astray)

    def softness(self, number: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """(V,): which vertices of these numbers keys take along."""
        if self.soft is None:
            return np.zeros(len(number), np.bool_)
        known = self.known(number)
        return known & self.soft[np.where(known, number, 0)]


def keep(action: bpy.types.Action, mesh: bpy.types.ID, frames: Frames, poses: Poses, binding: Binding) -> None:
    """Remember on `action` the `frames` (N, V, 3) of the vertices `binding` of `mesh`, and how their bodies stood."""
    shape = FILE_Y_UP.undo(numbering.reference(mesh))
    count = len(shape)
    body = np.full(count, _ABSENT, "<i2")
    body[binding.number] = binding.body
    whole, rest = frames, shape.copy()
    if not np.array_equal(binding.number, np.arange(count)):
        whole = np.zeros((len(frames), count, 3), np.int16)
        whole[:, binding.number] = frames
    rest[binding.number] = binding.rest
    kept.put_frames(action, whole)
    kept.put(action, kept.BODIES, body.tobytes())
    kept.put(action, kept.MOTION, poses.packed())
    for name, matrix in ((kept.PLACE, binding.place), (kept.CARRIED, binding.carried)):
        kept.put(action, name, b"" if matrix is None else matrix.astype("<f8").tobytes())
    if binding.prints is not None:
        prints = np.zeros(count, "<u4")
        prints[binding.number] = binding.prints
        kept.put(action, kept.WEIGHTS, prints.tobytes())
    kept.put(action, kept.REST_SHAPE, b"" if np.array_equal(rest, shape) else rest.astype("<f4").tobytes())


def keep_soft(action: bpy.types.Action, soft: Flags) -> None:
    """Remember which vertices keys take along, (M,) by their numbers."""
    kept.put(action, kept.SOFT, soft.astype(np.uint8).tobytes())


def place(action: bpy.types.Action, name: str = kept.PLACE) -> npt.NDArray[np.float64]:
    """(4, 4): from the space of the mesh, or of what `name` says, to that of the frames kept, Blender axes."""
    values = kept.get_array(action, name, "<f8")
    return values.reshape(4, 4) if len(values) == 16 else np.eye(4)


def of(action: bpy.types.Action, mesh: bpy.types.ID) -> Original | None:
    """What `action` was made of for `mesh`; None when it was not, or nothing fits together any more."""
    body = kept.get_array(action, kept.BODIES, "<i2")
    count = len(body)
    frames = kept.get_frames(action, count)
    if frames is None:
        return None
    poses = Poses.read(kept.get(action, kept.MOTION, b""), len(frames))
    own = kept.get_array(action, kept.REST_SHAPE, "<f4")
    rest = own.reshape(-1, 3) if len(own) == 3 * count else FILE_Y_UP.undo(numbering.reference(mesh))[:count]
    if poses is None or len(rest) != count:
        return None
    soft = kept.get_array(action, kept.SOFT, np.uint8)
    prints = kept.get_array(action, kept.WEIGHTS, "<u4")
    return Original(
        frames, poses, body, rest, soft > 0 if len(soft) == count else None, prints if len(prints) == count else None
    )
