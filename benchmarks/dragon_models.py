# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of Dragon Nest models: one large mesh, many strips, what comes out again, and the codecs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
import numpy as np
from addon.io_common.formats.digest import Digest
from addon.io_common.scene import transfer
from addon.io_dragonnest.formats import ani, msh, names, skn
from addon.io_dragonnest.ui.entries import FORMATS

from benchmarks import dragon_floors
from benchmarks.dragon_motion import animation
from benchmarks.harness import Case
from tests import dragons

if TYPE_CHECKING:
    from addon.io_dragonnest.formats.msh import Msh

BONES = tuple(f"Bone {number:02}" for number in range(40))


def model(vertices: int, *, parts: int = 1, weights: int = 4, strip: bool = False) -> Msh:
    """Sheets of `vertices` each, moved by `weights` bones a vertex, without any when it is 0."""
    rows = vertices // 200 - 1
    bones = BONES if weights else ()
    found = msh.Msh(13)
    for number in range(parts):
        part = dragons.part(199, rows, name=f"Part {number}", bones=bones, strip=strip)
        if part.skin is not None:
            shares = np.array([0.4, 0.3, 0.2, 0.1])[:weights]
            part.skin.weights[:] = 0
            part.skin.weights[:, :weights] = shares / shares.sum()
            part.skin.slots[:] = (np.arange(len(part.positions))[:, None] // 700 + np.arange(4)) % len(BONES)
        found.submeshes.append(part)
    found.bones = np.zeros(len(bones), msh.BONE)
    if bones:
        found.bones["name"] = names.fields([names.field(name) for name in bones])
        found.bones["inverse_bind"] = np.eye(4)
        found.bones["inverse_bind"][:, 3, 1] = -np.arange(len(bones))
    found.maximum, found.minimum = msh.bounds(found)
    return found


def empty() -> None:
    """Take everything out of the file."""
    blocks = (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.materials, bpy.data.collections)
    bpy.data.batch_remove([block for kind in blocks for block in kind])


class _Model(Case):
    """An MSH on disk that goes when the case does."""

    vertices: ClassVar[int] = 60_000
    facts: ClassVar[dict[str, Any]] = {}

    def prepare(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        self.folder = Path(self._folder.name)
        self.model = model(self.vertices, **self.facts)
        self.path = self.folder / "model.msh"
        self.path.write_bytes(msh.write(self.model))

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def clean(self) -> None:
        empty()


class Import(_Model):
    name = "import MSH, 60 000 vertices, 4 weights each"
    most_ratio = 2.0

    @property
    def most_peak(self) -> int:
        return (64 << 20) + 20 * self.size

    def prepare(self) -> None:
        super().prepare()
        self.ready = dragon_floors.ready(self.model)

    def run(self) -> None:
        bpy.ops.import_scene.dragonnest_msh(filepath=str(self.path))

    def floor(self) -> None:
        dragon_floors.build(*self.ready)


class ImportOne(Import):
    name = "import MSH, 60 000 vertices, 1 weight each"
    facts: ClassVar[dict[str, Any]] = {"weights": 1}


class ImportPlain(Import):
    name = "import MSH, 60 000 vertices, no weights"
    facts: ClassVar[dict[str, Any]] = {"weights": 0}


class ImportStrips(Import):
    name = "import MSH, 20 strips of 3000 vertices"
    most_ratio = 3.0
    vertices = 3000
    facts: ClassVar[dict[str, Any]] = {"parts": 20, "strip": True}


class _Growth(_Model):
    most_ratio = 2.3
    fewer: ClassVar[dict[str, Any]]

    def prepare(self) -> None:
        super().prepare()
        self.half = self.folder / "half.msh"
        self.half.write_bytes(msh.write(model(**self.fewer)))

    def run(self) -> None:
        bpy.ops.import_scene.dragonnest_msh(filepath=str(self.path))

    def floor(self) -> None:
        bpy.ops.import_scene.dragonnest_msh(filepath=str(self.half))


class Growth(_Growth):
    name = "growth: MSH of 60 000 vertices against 30 000"
    fewer: ClassVar[dict[str, Any]] = {"vertices": 30_000}


class GrowthParts(_Growth):
    name = "growth: MSH of 80 strips against 40"
    vertices = 3000
    facts: ClassVar[dict[str, Any]] = {"parts": 80, "strip": True}
    fewer: ClassVar[dict[str, Any]] = {"vertices": 3000, "parts": 40, "strip": True}


class Export(_Model):
    """Up to the bytes: the disk, which has to confirm every file, is not the exporter's."""

    name = "export MSH, 60 000 vertices, untouched"
    most_ratio = 5.0

    def prepare(self) -> None:
        super().prepare()
        bpy.ops.import_scene.dragonnest_msh(filepath=str(self.path))
        self.objects = [obj for obj in bpy.context.selected_objects if obj.type == "MESH"]
        self.entry = next(entry for entry in FORMATS if entry.id == "dragonnest_msh")

    def run(self) -> None:
        transfer.prepare(
            bpy.context, self.entry, self.folder / "out.msh", self.entry.export_options(use_check=False), Digest()
        )

    def floor(self) -> None:
        dragon_floors.extract(self.objects)

    def clean(self) -> None:
        pass


class ExportEdited(Export):
    """Vertices moved, so that positions and normals are new."""

    name = "export MSH, 60 000 vertices, all moved"

    def prepare(self) -> None:
        super().prepare()
        for obj in self.objects:
            places = np.empty(3 * len(obj.data.vertices), np.float32)
            obj.data.attributes["position"].data.foreach_get("vector", places)
            obj.data.attributes["position"].data.foreach_set("vector", places * np.float32(1.25))
            obj.data.update()


class ExportNew(Export):
    """Made in Blender: nothing is kept, so vertices have to be found anew where corners differ."""

    name = "export MSH, 60 000 vertices, made in Blender"

    def prepare(self) -> None:
        super().prepare()
        for obj in self.objects:
            for key in list(obj.data.keys()):
                del obj.data[key]
            for entry in [entry for entry in obj.data.attributes if entry.name.startswith("dragonnest_")]:
                obj.data.attributes.remove(entry)


class ExportChecked(Export):
    name = "export MSH, 60 000 vertices, with the checks"

    def run(self) -> None:
        transfer.prepare(bpy.context, self.entry, self.folder / "out.msh", self.entry.export_options(), Digest())


class ExportGrowth(Export):
    name = "growth: export of 60 000 vertices against 30 000"
    most_ratio = 2.3

    def prepare(self) -> None:
        super().prepare()
        half = self.folder / "half.msh"
        half.write_bytes(msh.write(model(30_000)))
        self.large = list(bpy.context.selected_objects)
        bpy.ops.import_scene.dragonnest_msh(filepath=str(half))
        self.small = list(bpy.context.selected_objects)

    def choose(self, objects: list[bpy.types.Object]) -> None:
        for obj in bpy.context.view_layer.objects:
            obj.select_set(state=obj in objects)

    def run(self) -> None:
        self.choose(self.large)
        super().run()

    def floor(self) -> None:
        self.choose(self.small)
        super().run()


class _Codec(Case):
    """A file in memory: several megabytes, as speed is asked for, not overhead."""

    codec: ClassVar[Any]

    def prepare(self) -> None:
        self.data = self.codec.write(self.made())
        self.model = self.codec.read(self.data)

    def made(self) -> Any:
        raise NotImplementedError

    @property
    def size(self) -> int:
        return len(self.data)


class _Msh(_Codec):
    codec = msh

    def made(self) -> Msh:
        return model(60_000, parts=4)


class _Ani(_Codec):
    codec = ani

    def made(self) -> Any:
        return animation(80, 8, 1200)


class _Skn(_Codec):
    codec = skn

    def made(self) -> Any:
        return dragons.materials(count=300)


class ReadMsh(_Msh):
    name = "formats.read MSH"
    least_speed = 500.0

    def run(self) -> None:
        self.codec.read(self.data)


class WriteMsh(_Msh):
    name = "formats.write MSH"
    least_speed = 200.0

    def run(self) -> None:
        self.codec.write(self.model)


class ReadAni(_Ani):
    name = "formats.read ANI"
    least_speed = 500.0

    def run(self) -> None:
        self.codec.read(self.data)


class WriteAni(_Ani):
    name = "formats.write ANI"
    least_speed = 200.0

    def run(self) -> None:
        self.codec.write(self.model)


class ReadSkn(_Skn):
    # Shown only: a material file is a kilobyte or two of short texts.
    name = "formats.read SKN, 300 materials"

    def run(self) -> None:
        self.codec.read(self.data)


class WriteSkn(_Skn):
    name = "formats.write SKN, 300 materials"

    def run(self) -> None:
        self.codec.write(self.model)


CASES: tuple[type[Case], ...] = (
    Import,
    ImportOne,
    ImportPlain,
    ImportStrips,
    Growth,
    GrowthParts,
    Export,
    ExportEdited,
    ExportNew,
    ExportChecked,
    ExportGrowth,
    ReadMsh,
    WriteMsh,
    ReadAni,
    WriteAni,
    ReadSkn,
    WriteSkn,
)
