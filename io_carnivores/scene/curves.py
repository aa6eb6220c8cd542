# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves: written in one call each, told apart by a digest, stretched in time."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.scene import compat
from ...io_common.scene.curves import BONE, LINEAR, bone_of, bone_path, bones_of, stretched
from . import kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    # Of a curve: path, index, number of keys, whether it is muted, number of modifiers.
    _Head = tuple[str, int, int, bool, int]

__all__ = [
    "LINEAR", "START", "Pen", "bone_of", "bones_of", "drop", "fingerprint", "is_sealed", "renamed", "seal",
    "seal_again", "stretch", "write_curve",
]  # fmt: skip

_STEADY = 1e-6  # values closer together are one; it moves nothing by a hundredth of a step of a file
START = 1.0  # scene frame at which imported animations start


def write_curve(bag: Any, path: str, points: npt.NDArray[np.float64]) -> None:
    """One F-curve through `points` (n, 2) of frame and value, linear in between."""
    Pen(bag).write(path, points[:, 0], points[:, 1:])


class Pen:
    """Writes new F-curves, and knows what `fingerprint` will find in an Action that has no others."""

    def __init__(self, bag: Any) -> None:
        self._bag = bag
        self._print = _Print()

    def fingerprint(self, times: npt.NDArray[np.float64]) -> str:
        """Of all curves written, in an Action sealed for `times`; those of a group must stand one after the other."""
        return self._print.digest((float(times[0]), float(times[-1])))

    def write(
        self, path: str, times: npt.NDArray[np.float64], values: npt.NDArray[np.float64], group: Any = None
    ) -> None:
        """One F-curve for each element of a property: `values` (n, width) at frames `times` (n,), linear in between.

        A property that stays as it is, to within `_STEADY`, has a single key. Handles lie on their keys, as linear
        curves do not use them: so a saved file has twice as much to repeat, and needs half the space when it is
        compressed. Blender puts them where their kind says as soon as a curve is edited.
        """
        count = len(times) if np.ptp(values, axis=0).max() > _STEADY else 1
        points = np.empty((values.shape[1], count, 2), np.float32)
        points[..., 0], points[..., 1] = times[:count], values[:count].T
        kinds = np.full(count, LINEAR, np.uint8)
        for index, flat in enumerate(points.reshape(len(points), -1)):
            curve = self._bag.fcurves.new(path, index=index)
            if group is not None:
                curve.group = group
            keys = curve.keyframe_points
            keys.add(count)
            for name in ("co", "handle_left", "handle_right"):
                keys.foreach_set(name, flat)
            keys.foreach_set("interpolation", kinds)
            self._print.add((path, index, count, False, 0), flat, kinds)


def seal(action: bpy.types.Action, times: npt.NDArray[np.float64], printed: str = "") -> None:
    """Say in an Action where it starts and ends, and remember its curves as they are.

    `printed`: their fingerprint, where it is known.
    """
    action.use_frame_range = True
    action.frame_start, action.frame_end = float(times[0]), float(times[-1])
    action[kept.CURVES_PRINT] = printed or fingerprint(action)


def seal_again(action: bpy.types.Action) -> None:
    """Remember its curves as they are now."""
    action[kept.CURVES_PRINT] = fingerprint(action)


def is_sealed(action: bpy.types.Action) -> bool:
    """Whether the curves are still those it was made with."""
    return kept.has(action, kept.CURVES_PRINT) and kept.get(action, kept.CURVES_PRINT, "") == fingerprint(action)


def fingerprint(action: bpy.types.Action, names: Mapping[str, str] | None = None) -> str:
    """A digest of every curve of an action: paths, keyframes, interpolation and modifiers; and of its frame range.

    `names`: bones that are to count under other names.
    """
    found = compat.all_curves(action)
    points = [curve.keyframe_points for curve in found]
    counts = [len(keys) for keys in points]
    heads = [
        (curve.data_path, curve.array_index, count, curve.mute, len(curve.modifiers))
        for curve, count in zip(found, counts, strict=True)
    ]
    if names:
        heads = [(renamed(path, names), *head) for path, *head in heads]
    # One array for all of them, as curves are short and many; of the types that Blender holds, so nothing is cast.
    ends = np.cumsum([0, *counts]).tolist()
    values, kinds = np.empty(2 * ends[-1], np.float32), np.empty(ends[-1], np.uint8)
    for keys, start, end in zip(points, ends, ends[1:], strict=False):
        keys.foreach_get("co", values[2 * start : 2 * end])
        keys.foreach_get("interpolation", kinds[start:end])
    span = (float(action.frame_start), float(action.frame_end)) if action.use_frame_range else ()
    return _digest(heads, values, kinds, span)


class _Print:
    """Collects curves as they are written, thousands of short ones often, and digests all of them at once."""

    def __init__(self) -> None:
        self._heads: list[_Head] = []
        self._values: list[npt.NDArray[np.float32]] = [np.zeros(0, np.float32)]
        self._kinds: list[npt.NDArray[np.uint8]] = [np.zeros(0, np.uint8)]

    def add(self, head: _Head, values: npt.NDArray[np.float32], kinds: npt.NDArray[np.uint8]) -> None:
        self._heads.append(head)
        self._values.append(values)
        self._kinds.append(kinds)

    def digest(self, span: tuple[float, ...] = ()) -> str:
        """As `fingerprint` of an Action that has them; `span` is its range of frames."""
        return _digest(self._heads, np.concatenate(self._values), np.concatenate(self._kinds), span)


def _digest(
    heads: list[_Head], values: npt.NDArray[np.float32], kinds: npt.NDArray[np.uint8], span: tuple[float, ...]
) -> str:
    """`span`: the range of frames that is played, since an Action sampled over another one shows another motion."""
    digest = hashlib.blake2b(repr(heads).encode(), digest_size=16)
    digest.update(np.array(span, np.float32).tobytes())
    digest.update(values.data)
    digest.update(kinds.data)
    return digest.hexdigest()


def path_of(bone: str, channel: str) -> str:
    """The data path of a property of a pose bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def renamed(path: str, names: Mapping[str, str]) -> str:
    """A data path with the bone it leads to under its name in `names`, where it stands there."""
    match = BONE.match(path)
    name = names.get(bpy.utils.unescape_identifier(match[1])) if match is not None else None
    if match is None or name is None:
        return path
    return f"{bone_path(name)}{path[match.end() :]}"


def stretch(action: bpy.types.Action, factor: float) -> None:
    """Move every keyframe to `factor` times its distance from the start; a sealed action stays sealed."""
    if factor == 1.0:
        return
    sealed = is_sealed(action)
    start = float(action.frame_range[0])
    stretched([action], factor, start)
    if action.use_frame_range:
        action.frame_end = start + (float(action.frame_end) - start) * factor
    if sealed:
        action[kept.CURVES_PRINT] = fingerprint(action)


def drop(action: bpy.types.Action) -> None:
    """Let go of an Action that was made here: it goes when the file is saved, unless something else uses it."""
    if kept.has(action, kept.CURVES_PRINT):
        action.use_fake_user = False
