# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of Dragon Nest animations: onto an armature that is there, and back into bytes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar

import bpy
import numpy as np
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import compat, transfer
from addon.io_dragonnest.formats import ani
from addon.io_dragonnest.scene import clips
from addon.io_dragonnest.ui.entries import FORMATS

from benchmarks.harness import Case
from tests import dragons

_LINEAR = 1


def animation(bones: int, count: int, frames: int) -> ani.Ani:
    """Clips in which every bone moves and turns at every frame."""
    parents = [-1, *((row - 1) // 2 for row in range(1, bones))]
    fields = [f"clip {clip}".encode().ljust(256, b"\0") for clip in range(count)]
    table = ani.bone_table([f"Bone {row}" for row in range(bones)], parents)
    found = ani.Ani(11, fields, np.full(count, frames, "<i4"), table)
    for row in range(bones):
        records = [dragons.record(11, row + clip, np.arange(frames)) for clip in range(count)]
        for record in records:
            record.base, record.scales = records[0].base, record.scales[:0]
        found.records.append(records)
    return found


class _Clips(Case):
    """A file, and the armature of its bones."""

    bones: ClassVar[int] = 80
    count: ClassVar[int]
    frames: ClassVar[int]

    def prepare(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        self.path = Path(self._folder.name) / "hero.ani"
        self.path.write_bytes(ani.write(animation(self.bones, self.count, self.frames)))
        bpy.ops.import_scene.dragonnest_ani(filepath=str(self.path))
        self.obj = bpy.context.active_object
        self.ready = [self._curves(action) for action in bpy.data.actions]
        self.clean()

    @staticmethod
    def _curves(action: bpy.types.Action) -> list[tuple[str, int, str, Any]]:
        found = []
        for curve in compat.all_curves(action):
            points = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", points)
            found.append((curve.data_path, curve.array_index, curve.group.name, points))
        return found

    def clean(self) -> None:
        clips.listed(self.obj).clear()
        bpy.data.batch_remove(list(bpy.data.actions))

    def floor(self) -> None:
        """The curves of all clips, from arrays that are ready."""
        for entries in self.ready:
            bag = compat.curves(self.obj, bpy.data.actions.new("floor"))
            groups: dict[str, Any] = {}
            for path, index, name, points in entries:
                curve = bag.fcurves.new(path, index=index)
                if name not in groups:
                    groups[name] = bag.groups.new(name)
                curve.group = groups[name]
                keys = curve.keyframe_points
                keys.add(len(points) // 2)
                keys.foreach_set("co", points)
                keys.foreach_set("interpolation", np.full(len(points) // 2, _LINEAR, np.uint8))
                curve.update()


class ImportLong(_Clips):
    name = "import ANI: 80 bones, 300 frames"
    most_ratio = 3.0
    count, frames = 1, 300

    def run(self) -> None:
        bpy.ops.import_scene.dragonnest_ani(filepath=str(self.path))


class ImportMany(ImportLong):
    name = "import ANI: 80 bones, 30 clips of 60 frames"
    count, frames = 30, 60


class ImportGrowth(ImportMany):
    name = "growth: import of 60 clips against 30"
    most_ratio = 2.3
    count = 60

    def prepare(self) -> None:
        super().prepare()
        self.half = ";".join(f"clip {clip}" for clip in range(30))

    def floor(self) -> None:
        bpy.ops.import_scene.dragonnest_ani(filepath=str(self.path), clips=self.half)


class Export(_Clips):
    """Untouched clips: the floor is to read the curves, to see that nobody touched them."""

    name = "export ANI: 80 bones, 30 clips of 60 frames"
    count, frames = 30, 60

    def prepare(self) -> None:
        super().prepare()
        bpy.ops.import_scene.dragonnest_ani(filepath=str(self.path))
        self.entry = next(entry for entry in FORMATS if entry.id == "dragonnest_ani")

    def run(self) -> None:
        options = self.entry.export_options(**self.choices())
        transfer.prepare(bpy.context, self.entry, self.path, options, Digest())

    def choices(self) -> dict[str, Any]:
        return {}

    def floor(self) -> None:
        for action in bpy.data.actions:
            self._curves(action)

    def clean(self) -> None:
        if not hasattr(self, "entry"):
            super().clean()


class Bake(Export):
    """The floor is to let Blender evaluate every frame."""

    name = "export ANI, baked: 80 bones, 300 frames"
    count, frames = 1, 300

    def choices(self) -> dict[str, Any]:
        return {"key_mode": "BAKE"}

    def floor(self) -> None:
        for frame in range(self.frames):
            bpy.context.scene.frame_set(frame)


CASES: tuple[type[Case], ...] = (ImportLong, ImportMany, ImportGrowth, Export, Bake)
