# SPDX-License-Identifier: GPL-3.0-or-later
"""What was not edited of an animation, told apart vertex by vertex and frame by frame: it keeps what the file had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.scene import mesh as meshes
from ..formats import motion, residual
from . import beside, bone_motion, curves, soft_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

    from ..formats.residual import Origin
    from .originals import Original
    from .vertices import Vertices

    Positions = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """An animation `item` made of `original`, on V vertices as they are `now`.

    `objects`: whose vertices they are; `follow_base`: edits of the base pose count in the frames;
    `carried`: they stand to their bones as they did.
    """

    item: Any
    original: Original
    now: Vertices
    objects: Sequence[bpy.types.Object]
    follow_base: bool
    carried: bool = True

    @property
    def _shifted(self) -> npt.NDArray[np.bool_]:
        """(V,): vertices that are not where the animation was made for."""
        known = self.original.known(self.now.number)
        rest = self.original.rest[np.where(known, self.now.number, 0)]
        return np.asarray((self.now.position != rest).any(axis=1) & known)

    @property
    def _is_untouched(self) -> bool:
        """Whether Actions and bones are as they were made; the vertices may not be."""
        beside = self.item.soft_action
        whole = beside is None or curves.is_sealed(beside)
        return whole and self.carried and all(bone_motion.is_untouched(obj, self.item.action) for obj in self.objects)

    @property
    def _has_keys(self) -> bool:
        """Whether keys show soft vertices beside the bones."""
        return bool(self.item.soft_first >= 0) and self.original.soft is not None

    def _changed_keys(self, origin: Origin) -> npt.NDArray[np.bool_]:
        """(V,): vertices whose keys for soft places were edited."""
        if not self._has_keys or len(self.objects) != 1 or not self.now.as_is:
            return np.zeros(len(origin.known), np.bool_)
        _strays, busy = self.original.strays()
        plan = soft_keys.Plan.of(origin, self.original.softness(self.now.number), busy)
        return soft_keys.changed(meshes.of(self.objects[0]), self.item, origin, plan)

    def untouched(self) -> Positions | None:
        """The frames as the file had them, (N, V, 3); None when anything that bears on them was edited."""
        now, original = self.now, self.original
        if not (now.as_is and original.known(now.number).all() and self._is_untouched):
            return None
        if original.strangers(now.number, now.weights)[0].any():
            return None
        if self.follow_base and self._shifted.any():
            return None
        if self._has_keys and self._changed_keys(original.origin(now.number)).any():
            return None
        return motion.positions(original.frames[:, now.number])

    @property
    def is_adrift(self) -> bool:
        """Whether the bones that moved the vertices are gone, of which every one has frames."""
        return not any(beside.is_bound(obj) for obj in self.objects) and bool(
            self.original.known(self.now.number).all()
        )

    def adrift(self) -> Positions:
        """The frames without the bones, (N, V, 3): as the file had them, and edits of the base turned as bones were."""
        origin = self.original.origin(self.now.number)
        edit = residual.Edit(
            source=origin.rest,
            target=self.now.position if self.follow_base else origin.rest,
            certain=~(self._shifted & self.follow_base),
            loose=np.zeros(len(origin.known), np.bool_),
            edges=self.now.edges,
        )
        return residual.restored(origin, origin.shown, edit)

    def mended(self, baked: Positions) -> Positions:
        """Baked positions (N, V, 3), with what the file had where nothing was edited, and softness where it was."""
        now = self.now
        origin = self.original.origin(now.number)
        changed = self._changed_keys(origin)
        shifted = self._shifted
        # Absolute keys do not take an edit of the base along.
        hidden = shifted & ~changed & self._has_keys
        rest = np.where(origin.known[:, None], origin.rest, now.position)
        regrouped, loose = self.original.strangers(now.number, now.weights)
        certain = ~(regrouped | changed | (shifted & self.follow_base))
        edit = residual.Edit(
            source=np.where(hidden[:, None], rest, now.position),
            target=now.position if self.follow_base else rest,
            certain=certain & (now.as_is and self._is_untouched),
            loose=loose,
            edges=now.edges,
        )
        if self._has_keys:
            _strays, busy = self.original.strays()
            origin = origin.with_shapes(self.original.softness(now.number), busy)
        return residual.restored(origin, baked, edit)
