# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of Carnivores characters: a CAR of the size of the largest original one, and of 600 and 2400 frames."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import ClassVar

import bpy
from addon.io_carnivores.formats import car
from addon.io_carnivores.scene import bake, clips
from addon.io_carnivores.ui.entries import FORMATS
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import compat, transfer

from benchmarks import motion_floors
from benchmarks.harness import Case
from tests import creature

LARGEST = (22, 31, 20, 25, 12, 18, 30, 23, 20, 20)  # frames of each animation, 221 in all


def empty() -> None:
    """Take everything out of the file."""
    blocks = (
        *(bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.materials),
        *(bpy.data.images, bpy.data.actions, bpy.data.sounds, bpy.data.texts),
    )
    bpy.data.batch_remove([block for kind in blocks for block in kind])


def bring(path: Path, motion: str) -> bpy.types.Object:
    """Import a CAR; its mesh."""
    bpy.ops.import_scene.carnivores_car(filepath=str(path), motion=motion)
    return next(obj for obj in bpy.context.selected_objects if obj.type == "MESH")


class _Character(Case):
    """A CAR on disk that goes when the case does."""

    lengths: ClassVar[tuple[int, ...]] = LARGEST
    motion: ClassVar[str] = "BONES"

    def prepare(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        self.folder = Path(self._folder.name)
        self.character = creature.character(self.lengths)
        self.path = self.folder / "creature.car"
        self.path.write_bytes(car.write(self.character))

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def clean(self) -> None:
        empty()


class Import(_Character):
    name = "import CAR, 221 frames, bones"
    most_ratio = 5.0
    ready: motion_floors.Moving | None = None

    @property
    def most_peak(self) -> int:
        return (64 << 20) + 20 * self.size

    def run(self) -> None:
        bring(self.path, self.motion)

    def floor(self) -> None:
        if self.ready is None:
            # Not before the first run, so that its memory is all new; the first floor is not timed.
            self.ready = motion_floors.ready(bring(self.path, self.motion), self.character)
            empty()
        motion_floors.build(self.ready)


class ImportKeys(Import):
    name = "import CAR, 221 frames, shape keys"
    motion = "KEYS"
    most_ratio = 2.0


class Import600(Import):
    name = "import CAR, 600 frames, bones"
    lengths = (60,) * 10


class ImportKeys600(ImportKeys):
    name = "import CAR, 600 frames, shape keys"
    lengths = (60,) * 10


class Import2400(Import):
    name = "import CAR, 2400 frames, bones"
    lengths = (240,) * 10


class ImportKeys2400(ImportKeys):
    name = "import CAR, 2400 frames, shape keys"
    lengths = (240,) * 10


class _Growth(_Character):
    lengths = (240,) * 10
    part: ClassVar[int] = 2
    most_ratio = 2.3

    def prepare(self) -> None:
        super().prepare()
        self.fewer = self.folder / "fewer.car"
        lengths = tuple(length // self.part for length in self.lengths)
        self.fewer.write_bytes(car.write(creature.character(lengths)))

    def run(self) -> None:
        bring(self.path, self.motion)

    def floor(self) -> None:
        bring(self.fewer, self.motion)


class Growth(_Growth):
    name = "growth: 2400 frames against 1200, bones"


class Growth600(_Growth):
    name = "growth: 2400 frames against 600, bones"
    part = 4
    most_ratio = 4.5


class GrowthKeys(_Growth):
    name = "growth: 2400 frames against 1200, shape keys"
    motion = "KEYS"


class Export(_Character):
    name = "export CAR, 221 frames, untouched bones"
    most_ratio = 3.0

    def prepare(self) -> None:
        super().prepare()
        self.object = bring(self.path, self.motion)

    def run(self) -> None:
        entry = next(entry for entry in FORMATS if entry.id == "carnivores_car")
        transfer.prepare(bpy.context, entry, self.folder / "out.car", entry.export_options(), Digest())

    def floor(self) -> None:
        motion_floors.extract(self.object)

    def clean(self) -> None:
        pass


class Export2400(Export):
    name = "export CAR, 2400 frames, untouched bones"
    lengths = (240,) * 10


class ExportKeys(Export):
    name = "export CAR, 221 frames, shape keys"
    motion = "KEYS"


class ExportKeys2400(ExportKeys):
    name = "export CAR, 2400 frames, shape keys"
    lengths = (240,) * 10


class ExportEdited(Export):
    name = "export CAR, 221 frames, every Action edited"

    def prepare(self) -> None:
        super().prepare()
        for item in clips.animations(self.object.data):
            curve = compat.all_curves(item.action)[0]
            curve.keyframe_points[0].co.y += 0.01
            curve.update()

    def floor(self) -> None:
        super().floor()
        for item in clips.animations(self.object.data):
            times = bake.frame_times(*item.action.frame_range, item.frames)
            motion_floors.evaluate(self.object, item.action, times.tolist())


class Saved(_Character):
    name = "compressed .blend of a CAR, 221 frames, bones"
    most_ratio = 1.5
    compress: ClassVar[bool] = True

    def prepare(self) -> None:
        super().prepare()
        bring(self.path, self.motion)
        self.saved = self.folder / "saved.blend"

    def run(self) -> None:
        bpy.ops.wm.save_as_mainfile(filepath=str(self.saved), compress=self.compress, copy=True)

    def share(self) -> float:
        return self.saved.stat().st_size / self.size

    def clean(self) -> None:
        pass


class Saved2400(Saved):
    name = "compressed .blend of a CAR, 2400 frames, bones"
    lengths = (240,) * 10


class SavedKeys(Saved):
    name = "compressed .blend of a CAR, 221 frames, keys"
    motion = "KEYS"


class SavedKeys2400(SavedKeys):
    name = "compressed .blend of a CAR, 2400 frames, keys"
    lengths = (240,) * 10


class Plain(Saved):
    # Shown only: Blender takes 72 bytes for a keyframe and 12 for a vertex of a shape key, for which a CAR takes 6.
    name = "plain .blend of a CAR, 221 frames, bones"
    most_ratio = None
    compress = False


class PlainKeys(Plain):
    name = "plain .blend of a CAR, 221 frames, keys"
    motion = "KEYS"


class _Codec(Case):
    """A file in memory: several megabytes, as speed is asked for, not overhead."""

    def prepare(self) -> None:
        self.data = car.write(creature.character((240,) * 40))
        self.model = car.read(self.data)

    @property
    def size(self) -> int:
        return len(self.data)


class Read(_Codec):
    name = "formats.read CAR"
    least_speed = 500.0

    def run(self) -> None:
        car.read(self.data)


class Write(_Codec):
    name = "formats.write CAR"
    least_speed = 200.0

    def run(self) -> None:
        car.write(self.model)


CASES: tuple[type[Case], ...] = (
    Import,
    Import600,
    Import2400,
    ImportKeys,
    ImportKeys600,
    ImportKeys2400,
    Growth,
    Growth600,
    GrowthKeys,
    Export,
    Export2400,
    ExportKeys,
    ExportKeys2400,
    ExportEdited,
    Saved,
    Saved2400,
    SavedKeys,
    SavedKeys2400,
    Plain,
    PlainKeys,
    Read,
    Write,
)
