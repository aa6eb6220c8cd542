# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of the static Carnivores models."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.ui.entries import FORMATS
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import transfer

from benchmarks import floors
from benchmarks.harness import Case
from tests import models

if TYPE_CHECKING:
    from addon.io_carnivores.formats.model import Model


def empty() -> None:
    """Take everything out of the file, whatever made it."""
    blocks = (
        bpy.data.objects,
        bpy.data.meshes,
        bpy.data.armatures,
        bpy.data.materials,
        bpy.data.images,
        bpy.data.texts,
    )
    bpy.data.batch_remove([block for collection in blocks for block in collection if not block.name.startswith("stay")])


def prepare_export(folder: Path) -> None:
    """An export of what is selected, up to the bytes.

    The disk, which has to confirm every file, is not the exporter's.
    """
    entry = next(entry for entry in FORMATS if entry.id == "carnivores_3df")
    transfer.prepare(bpy.context, entry, folder / "out.3df", entry.export_options(), Digest())


class _Files(Case):
    """Files on disk that go when the case does."""

    faces: ClassVar[int] = 1024
    bones: ClassVar[int] = 60

    def prepare(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        self.folder = Path(self._folder.name)
        self.model: Model = models.surface(self.faces, bones=self.bones)
        self.path = self.folder / "model.3df"
        self.path.write_bytes(model_3df.write(self.model))
        self.ready = floors.ready(self.model)

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def clean(self) -> None:
        empty()


class Import(_Files):
    name = "import 3DF, 1024 faces, texture, 60 bones"
    most_ratio = 3.0

    def run(self) -> None:
        bpy.ops.import_scene.carnivores_3df(filepath=str(self.path))

    def floor(self) -> None:
        floors.build(self.ready)


class ImportLarge(Import):
    name = "import 3DF, 200 000 faces"
    most_ratio = 2.0
    faces = 200_000


class ImportIntoFullScene(Import):
    name = "import 3DF, 1024 faces, beside 1000 objects"

    def prepare(self) -> None:
        super().prepare()
        for number in range(1000):
            mesh = bpy.data.meshes.new(f"stay {number}")
            bpy.context.collection.objects.link(bpy.data.objects.new(f"stay {number}", mesh))


class Export(_Files):
    name = "export 3DF, 1024 faces, texture, 60 bones"

    def prepare(self) -> None:
        super().prepare()
        bpy.ops.import_scene.carnivores_3df(filepath=str(self.path))
        self.object = next(obj for obj in bpy.context.selected_objects if obj.type == "MESH")

    def run(self) -> None:
        prepare_export(self.folder)

    def floor(self) -> None:
        floors.extract(self.object)

    def clean(self) -> None:
        pass


class ExportLarge(Export):
    name = "export 3DF, 200 000 faces"
    faces = 200_000


class Batch(_Files):
    name = "import of 20 files, 1024 faces each"
    most_ratio = 3.0
    count = 20

    def prepare(self) -> None:
        super().prepare()
        data = self.path.read_bytes()
        self.names = []
        for number in range(self.count):
            (self.folder / f"{number}.3df").write_bytes(data)
            self.names.append({"name": f"{number}.3df"})

    def import_first(self, count: int) -> None:
        bpy.ops.import_scene.carnivores_3df(directory=str(self.folder), files=self.names[:count])

    def run(self) -> None:
        self.import_first(self.count)

    def floor(self) -> None:
        for _ in range(self.count):
            floors.build(self.ready)

    @property
    def size(self) -> int:
        return self.count * super().size


class BatchGrowth(Batch):
    name = "growth: 40 files against 20"
    most_ratio = 2.3
    count = 40

    def floor(self) -> None:
        self.import_first(self.count // 2)


class _Growth(_Files):
    most_ratio = 2.3
    faces = 200_000
    bones = 0

    def prepare(self) -> None:
        super().prepare()
        self.half = self.folder / "half.3df"
        self.half.write_bytes(model_3df.write(models.surface(self.faces // 2, bones=self.bones)))


class ImportGrowth(_Growth):
    name = "growth: import of 200 000 faces against 100 000"

    def run(self) -> None:
        bpy.ops.import_scene.carnivores_3df(filepath=str(self.path))

    def floor(self) -> None:
        bpy.ops.import_scene.carnivores_3df(filepath=str(self.half))


class ExportGrowth(_Growth):
    name = "growth: export of 200 000 faces against 100 000"
    most_ratio = None  # shown only: what it is a ratio of is over too soon for a verdict on a busy machine

    def prepare(self) -> None:
        super().prepare()
        self.objects = []
        for path in (self.path, self.half):
            bpy.ops.import_scene.carnivores_3df(filepath=str(path))
            self.objects.append(bpy.context.active_object)

    def export(self, index: int) -> None:
        for number, obj in enumerate(self.objects):
            obj.select_set(state=number == index)
        prepare_export(self.folder)

    def run(self) -> None:
        self.export(0)

    def floor(self) -> None:
        self.export(1)

    def clean(self) -> None:
        pass


class _Codec(Case):
    """A file in memory: several megabytes, as speed is asked for, not overhead."""

    kind: ClassVar[str]

    def prepare(self) -> None:
        self.codec = models.CODECS[self.kind]
        made = models.surface(200_000, bones=60)
        self.data = self.codec.write(made if self.kind == "3df" else models.as_mobile(made))
        self.model = self.codec.read(self.data)

    @property
    def size(self) -> int:
        return len(self.data)


class _Read(_Codec):
    least_speed = 500.0

    def run(self) -> None:
        self.codec.read(self.data)


class _Write(_Codec):
    least_speed = 200.0

    def run(self) -> None:
        self.codec.write(self.model)


class Read3df(_Read):
    name = "formats.read 3DF"
    kind = "3df"


class Write3df(_Write):
    name = "formats.write 3DF"
    kind = "3df"


class Read3dn(_Read):
    name = "formats.read 3DN"
    kind = "3dn"


class Write3dn(_Write):
    name = "formats.write 3DN"
    kind = "3dn"


CASES: tuple[type[Case], ...] = (
    Import,
    ImportLarge,
    ImportIntoFullScene,
    Export,
    ExportLarge,
    Batch,
    BatchGrowth,
    ImportGrowth,
    ExportGrowth,
    Read3df,
    Write3df,
    Read3dn,
    Write3dn,
)
