# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sidebar shows of the faces, worked out again only after they changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..scene import face_flags
from . import state

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..formats.flags import FaceFlag
    from ..scene.face_flags import EditedFaces, Flags

_SMALL = 1024  # group numbers below it are counted by the quickest way
_HANDLERS = ("depsgraph_update_post", "undo_post", "redo_post", "load_post")


@dataclass(frozen=True)
class Numbers:
    """Faces per flag and per group, of all and of the selected ones.

    `faces`, `selected`: how many there are. `active`: flags and group of the active face, None where there is none.
    """

    flags: dict[FaceFlag, int]
    selected_flags: dict[FaceFlag, int]
    groups: dict[int, int]
    selected_groups: dict[int, int]
    faces: int
    selected: int
    active: tuple[int, int] | None = None


class Live:
    """Knows when a mesh changed, by Blender's own notices; a service, the one that keeps numbers of meshes."""

    def __init__(self) -> None:
        """Nothing is watched before `register`."""
        self._versions: dict[int, int] = {}
        self._epoch = 0
        self._edited: dict[int, tuple[tuple[int, int], EditedFaces]] = {}
        self._remembered: dict[tuple[str, int], tuple[tuple[int, ...], str]] = {}
        self._added: list[tuple[str, Any]] = []

    def register(self) -> None:
        """Start watching. The handlers are functions of their own, as Blender keeps only such when a file is opened."""

        @persistent  # type: ignore[untyped-decorator]
        def updated(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
            self._note(depsgraph)

        @persistent  # type: ignore[untyped-decorator]
        def changed(*_args: object) -> None:
            self.touch()

        @persistent  # type: ignore[untyped-decorator]
        def loaded(*_args: object) -> None:
            self._forget()

        for name, handler in zip(_HANDLERS, (updated, changed, changed, loaded), strict=True):
            getattr(bpy.app.handlers, name).append(handler)
            self._added.append((name, handler))

    def unregister(self) -> None:
        """Stop watching and forget."""
        while self._added:
            name, handler = self._added.pop()
            getattr(bpy.app.handlers, name).remove(handler)
        self._versions.clear()
        self._edited.clear()
        self._remembered.clear()

    def touch(self) -> None:
        """Everything may have changed."""
        self._epoch += 1

    def version(self, obj: bpy.types.Object) -> tuple[int, int, int]:
        """A value that differs once the surface of `obj` may have changed."""
        mesh = cast("bpy.types.Mesh", obj.data)
        return self._epoch, self._versions.get(mesh.session_uid, 0), self._versions.get(obj.session_uid, 0)

    def changes(self, block: bpy.types.ID) -> tuple[int, int]:
        """A value that differs once an Action may have changed."""
        return self._epoch, self._versions.get(block.session_uid, 0)

    def remembered(self, key: tuple[str, int], version: tuple[int, ...], make: Callable[[], str]) -> str:
        """What `make` gave for `key` at this `version`."""
        found = self._remembered.get(key)
        if found is None or found[0] != version:
            found = version, make()
            self._remembered[key] = found
        return found[1]

    def _note(self, depsgraph: bpy.types.Depsgraph) -> None:
        for update in depsgraph.updates:
            block = update.id
            if isinstance(block, (bpy.types.Mesh, bpy.types.Action)) or (
                isinstance(block, bpy.types.Object) and update.is_updated_geometry
            ):
                uid = block.original.session_uid
                self._versions[uid] = self._versions.get(uid, 0) + 1
            elif isinstance(block, bpy.types.Material):
                self.touch()  # culling and alpha of a material count as flags

    def _forget(self) -> None:
        self._versions.clear()
        self._edited.clear()
        self._remembered.clear()
        self.touch()
        shown = state.sidebar(bpy.context)
        shown.findings.clear()
        shown.checked = ""

    def edited(self, obj: bpy.types.Object) -> EditedFaces:
        """The faces of an object in Edit Mode."""
        mesh = cast("bpy.types.Mesh", obj.data)
        epoch, version, _ = self.version(obj)
        found = self._edited.get(mesh.session_uid)
        if found is None or found[0] != (epoch, version):
            found = (epoch, version), face_flags.read_edited(obj)
            self._edited[mesh.session_uid] = found
        return found[1]

    def numbers(self, objects: list[bpy.types.Object]) -> Numbers:
        """The numbers of `objects` together: all in Edit Mode, or none."""
        if not objects:
            return _numbers(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.bool_))
        if objects[0].mode != "EDIT":
            # In Object Mode the arrays are at hand; a script's changes, of which nobody tells, show too.
            self._edited.clear()
            flags = np.concatenate([face_flags.read(obj) for obj in objects])
            groups = np.concatenate([face_flags.read_groups(cast("bpy.types.Mesh", obj.data)) for obj in objects])
            return _numbers(flags, groups, np.zeros(len(flags), np.bool_))
        tables = [self.edited(obj) for obj in objects]
        first = tables[0]
        active = None
        if 0 <= first.active < len(first.flags):
            active = int(first.flags[first.active]), int(first.groups[first.active])
        return _numbers(
            np.concatenate([table.flags for table in tables]),
            np.concatenate([table.groups for table in tables]),
            np.concatenate([table.selected for table in tables]),
            active,
        )


def _numbers(
    flags: Flags, groups: Flags, selected: np.ndarray[Any, np.dtype[np.bool_]], active: tuple[int, int] | None = None
) -> Numbers:
    return Numbers(
        face_flags.counts(flags),
        face_flags.counts(flags[selected]),
        _tally(groups),
        _tally(groups[selected]),
        len(flags),
        int(np.count_nonzero(selected)),
        active,
    )


def _tally(values: Flags) -> dict[int, int]:
    if len(values) and int(values.min()) >= 0 and int(values.max()) < _SMALL:
        totals = np.bincount(values)
        return {int(number): int(totals[number]) for number in np.flatnonzero(totals)}
    numbers, totals = np.unique(values, return_counts=True)
    return dict(zip(numbers.tolist(), totals.tolist(), strict=True))


@cache
def live() -> Live:
    """The one watcher of the loaded extension."""
    return Live()
