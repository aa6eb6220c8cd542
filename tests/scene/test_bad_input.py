# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged files through the operators, and files full of strange values through the scene and back, byte for byte."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df, model_3dn, textures
from addon.io_carnivores.scene import build as building
from addon.io_common.formats.errors import FormatError

from tests import hostile, models

from .helpers.memory import measured

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("3df", "3dn")


def importer(kind: str) -> Any:
    """The import operator of a kind."""
    return getattr(bpy.ops.import_scene, f"carnivores_{kind}")


def exporter(kind: str) -> Any:
    """The export operator of a kind."""
    return getattr(bpy.ops.export_scene, f"carnivores_{kind}")


def state() -> dict[str, Any]:
    """Everything a failed operator must leave alone."""
    blocks = {
        prop.identifier: sorted(
            (block.name, block.session_uid, block.users) for block in getattr(bpy.data, prop.identifier)
        )
        for prop in bpy.data.bl_rna.properties
        if prop.type == "COLLECTION"
    }
    layer = bpy.context.view_layer
    active = layer.objects.active
    return blocks | {
        "active": active.name if active else None,
        "selected": sorted(obj.name for obj in layer.objects if obj.select_get()),
        "mode": bpy.context.mode,
        "linked": sorted(obj.name for obj in bpy.context.scene.collection.all_objects),
    }


def folder_state(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, None for folders."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def furnish(mode: str = "OBJECT") -> None:
    """A scene somebody works in: two objects, one selected, the other active, in `mode`."""
    for name in ("cube", "other"):
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        bpy.context.collection.objects.link(bpy.data.objects.new(name, mesh))
    bpy.context.view_layer.objects.active = bpy.data.objects["cube"]
    bpy.data.objects["other"].select_set(state=True)
    bpy.data.objects["cube"].select_set(state=mode != "OBJECT")
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode=mode)


def refusal(call: Callable[..., Any], **arguments: Any) -> str:
    """The sentence with which an operator fails."""
    with pytest.raises(RuntimeError) as caught:
        call(**arguments)
    text = str(caught.value).removeprefix("Error: ").strip()
    assert hostile.is_sentence(text), text
    return text


# Refused files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", hostile.cases(), ids=lambda case: case.id)
def test_a_bad_file_is_refused_and_nothing_is_left(case: hostile.Case, tmp_path: Path) -> None:
    """One sentence that names the file; scene and folder as they were."""
    furnish()
    path = tmp_path / f"bad one{case.suffix}"
    path.write_bytes(case.data)
    before = state()
    text = refusal(importer(case.suffix[1:]), filepath=str(path))
    assert text.startswith("bad one")
    assert case.words in text
    assert state() == before
    assert folder_state(tmp_path) == {path.name: case.data}


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "VERTEX_PAINT", "WEIGHT_PAINT"])
def test_a_bad_file_does_not_change_the_mode(mode: str, tmp_path: Path) -> None:
    """Nobody is thrown out of Edit Mode for nothing."""
    furnish(mode)
    path = tmp_path / "bad.3df"
    path.write_bytes(b"not a model at all")
    before = state()
    refusal(importer("3df"), filepath=str(path))
    assert state() == before


@pytest.mark.parametrize("name", ["missing.3df", "folder", "no/such/folder.3df", "x" * 300 + ".3df"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file(name: str, kind: str, tmp_path: Path) -> None:
    """Missing, a folder, a name that is too long."""
    (tmp_path / "folder").mkdir()
    before = state()
    text = refusal(importer(kind), filepath=str(tmp_path / name))
    assert text.startswith(Path(name).name)
    assert state() == before


def test_no_file_name(tmp_path: Path) -> None:
    """A script that forgot the path."""
    before = state()
    assert "file" in refusal(importer("3df")).lower()
    assert "file" in refusal(importer("3df"), directory=str(tmp_path)).lower()
    assert state() == before


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_a_failure_half_way_takes_everything_back(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the last step of building fails, all of the steps before it are undone, whatever kind of error it is."""
    furnish(mode)
    path = tmp_path / "model.3df"
    path.write_bytes(model_3df.write(models.surface(50, bones=3)))
    before = state()
    for error, words in ((FormatError("it broke"), "model.3df: it broke."), (ZeroDivisionError("a bug"), "a bug")):

        def fail(*_arguments: Any, error: Exception = error) -> None:
            assert len(bpy.data.meshes) == 3
            assert len(bpy.data.images) == 1
            assert len(bpy.data.armatures) == 1
            raise error

        monkeypatch.setattr(building, "_note", fail)
        with pytest.raises(RuntimeError, match=re.escape(words)):
            importer("3df")(filepath=str(path), use_collection=True)
        assert state() == before


# Batches -------------------------------------------------------------------------------------------------------------


def batch(folder: Path, kind: str, bad: int) -> list[dict[str, str]]:
    """Twenty files on disk, one of them damaged; how the operator is told of them."""
    for number in range(20):
        model = models.surface(12, bones=2, rows=4, seed=number)
        data = models.CODECS[kind].write(model if kind == "3df" else models.as_mobile(model))
        (folder / f"model {number:02}.{kind}").write_bytes(data[: len(data) // 3] if number == bad else data)
    return [{"name": f"model {number:02}.{kind}"} for number in range(20)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [0, 7, 19])
def test_one_bad_file_of_twenty(kind: str, bad: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The other nineteen are there, and the report names the bad one."""
    names = batch(tmp_path, kind, bad)
    assert importer(kind)(directory=str(tmp_path), files=names) == {"FINISHED"}
    made = sorted(obj.name for obj in bpy.data.objects if obj.type == "MESH")
    assert made == [f"model {number:02}" for number in range(20) if number != bad]
    assert sorted(mesh.name for mesh in bpy.data.meshes) == made
    assert len(bpy.data.armatures) == 19
    assert len(bpy.data.images) == (19 if kind == "3df" else 0)
    report = bpy.data.texts[0].as_string()
    assert f"model {bad:02}.{kind}: " in report
    assert "19 of 20" in report
    shown = capfd.readouterr()
    assert f"model {bad:02}.{kind}: " in shown.out + shown.err


def test_all_bad(tmp_path: Path) -> None:
    """A batch of which nothing is left fails, and every file is named."""
    names = []
    for number in range(3):
        (tmp_path / f"{number}.3df").write_bytes(b"\x07" * 100)
        names.append({"name": f"{number}.3df"})
    before = state()
    with pytest.raises(RuntimeError, match=r"Nothing was imported\. 0\.3df: .* 1\.3df: .* 2\.3df: "):
        importer("3df")(directory=str(tmp_path), files=names)
    assert state() == before


# Export --------------------------------------------------------------------------------------------------------------


def imported(folder: Path, kind: str = "3df") -> bytes:
    """A model in the scene that came from a file, which is gone; its bytes."""
    model = models.surface(40, bones=3, rows=8)
    data = models.CODECS[kind].write(model if kind == "3df" else models.as_mobile(model))
    path = folder / f"source.{kind}"
    path.write_bytes(data)
    importer(kind)(filepath=str(path))
    path.unlink()
    return data


def full(*_arguments: Any) -> None:
    """What the system says when the disk is full."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["fsync", "fdopen", "replace"])
def test_a_failed_write_leaves_the_old_file(
    kind: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Disk full, no permission: the old file is whole, and no temporary one stays."""
    imported(tmp_path, kind)
    target = tmp_path / f"target.{kind}"
    target.write_bytes(b"the old file")
    before = state()
    with monkeypatch.context() as patch:
        if step == "replace":
            patch.setattr(Path, "replace", full)
        else:
            patch.setattr(os, step, full)
        text = refusal(exporter(kind), filepath=str(target))
    assert text.startswith(target.name)
    assert os.strerror(errno.ENOSPC) in text
    assert folder_state(tmp_path) == {target.name: b"the old file"}
    assert state() == before


@pytest.mark.parametrize("kind", KINDS)
def test_the_target_cannot_be_written_to(kind: str, tmp_path: Path) -> None:
    """A folder of that name, no such folder, a name that is too long."""
    imported(tmp_path, kind)
    (tmp_path / f"folder.{kind}").mkdir()
    before = state(), folder_state(tmp_path)
    for name in (f"folder.{kind}", f"no/such/place.{kind}", f"{'x' * 300}.{kind}"):
        assert refusal(exporter(kind), filepath=str(tmp_path / name)).startswith(Path(name).name)
    assert (state(), folder_state(tmp_path)) == before


def test_the_root_of_the_disk_is_no_file_name(tmp_path: Path) -> None:
    """It has no name that an extension could be added to."""
    imported(tmp_path)
    before = state()
    assert "this is a folder" in refusal(exporter("3df"), filepath=tmp_path.anchor)
    assert state() == before


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_nothing_to_export(mode: str, tmp_path: Path) -> None:
    """An empty scene, an object without vertices."""
    before = state()
    refusal(exporter("3df"), filepath=str(tmp_path / "a.3df"))
    assert state() == before
    mesh = bpy.data.meshes.new("empty")
    bpy.context.collection.objects.link(bpy.data.objects.new("empty", mesh))
    bpy.context.view_layer.objects.active = bpy.data.objects["empty"]
    bpy.ops.object.mode_set(mode=mode)
    before = state()
    refusal(exporter("3df"), filepath=str(tmp_path / "a.3df"))
    assert state() == before
    assert folder_state(tmp_path) == {}


def test_a_second_object_that_fails_stops_the_first_file_too(tmp_path: Path) -> None:
    """Several files are written together or not at all."""
    imported(tmp_path)
    mesh = bpy.data.meshes.new("empty")
    obj = bpy.data.objects.new("empty", mesh)
    bpy.context.collection.objects.link(obj)
    obj.select_set(state=True)
    refusal(exporter("3df"), filepath=str(tmp_path / "a.3df"))
    assert folder_state(tmp_path) == {}


# Strange files that are sound: through the scene and back ------------------------------------------------------------


class Traveller:
    """Imports files into one scene and exports them again."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.kind = kind
        self.cargo: list[tuple[str, bytes, str]] = []
        self.refusals: list[str] = []

    def arrive(self, data: bytes, label: str, **options: Any) -> bool:
        """Import `data`; False when it is refused as it should be."""
        path = self.folder / f"in.{self.kind}"
        path.write_bytes(data)
        try:
            importer(self.kind)(filepath=str(path), **options)
        except RuntimeError as error:
            self.refusals.append(str(error).removeprefix("Error: ").strip())
            return False
        mesh = next(obj for obj in bpy.context.selected_objects if obj.type == "MESH")
        mesh.name = f"cargo {len(self.cargo)}"
        self.cargo.append((mesh.name, data, label))
        return True

    def leave(self) -> None:
        """Export every object on its own; each file must be the one it came as."""
        path = self.folder / f"out.{self.kind}"
        lost = []
        for name, data, label in self.cargo:
            bpy.ops.object.select_all(action="DESELECT")
            obj = bpy.data.objects[name]
            obj.select_set(state=True)
            bpy.context.view_layer.objects.active = obj
            exporter(self.kind)(filepath=str(path), use_check=False)
            if path.read_bytes() != data:
                lost.append(f"{label}: {first_loss(self.kind, data, path.read_bytes())}")
        assert not lost, "\n".join(lost)
        assert [text for text in self.refusals if not hostile.is_sentence(text)] == []

    def clear(self) -> None:
        """Take the last models out again: a scene with hundreds of armatures is slow."""
        self.cargo.clear()
        blocks = (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.images, bpy.data.materials)
        bpy.data.batch_remove([block for collection in blocks for block in collection])

    def toggle_edit_mode(self) -> None:
        """Into Edit Mode and out again, on every object, meshes and armatures."""
        for obj in list(bpy.context.view_layer.objects):
            bpy.ops.object.select_all(action="DESELECT")
            bpy.context.view_layer.objects.active = obj
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.object.mode_set(mode="OBJECT")


def first_loss(kind: str, wanted: bytes, found: bytes) -> str:
    """Where two files begin to differ, in words."""
    from addon.io_common.formats.fields import first_difference, locate

    offset = first_difference(wanted, found)
    assert offset is not None
    return f"byte {offset}, {locate(models.CODECS[kind].sections(wanted), offset)}"


def strange(kind: str, seed: int) -> bytes:
    """A file in which every field has any value."""
    return models.CODECS[kind].write(models.arbitrary(np.random.default_rng(seed), mobile=kind == "3dn"))


@pytest.mark.parametrize("kind", KINDS)
def test_any_model_comes_back_through_the_scene(kind: str, tmp_path: Path) -> None:
    """Two hundred models in which every field has any value."""
    traveller = Traveller(tmp_path, kind)
    for seed in range(200):
        traveller.arrive(strange(kind, seed), f"seed {seed}", use_bones=seed % 4 != 0)
        if seed % 20 == 19:
            assert len(traveller.cargo) == 20
            traveller.leave()
            traveller.clear()


@pytest.mark.parametrize("kind", KINDS)
def test_any_byte_of_a_model_comes_back_through_the_scene(kind: str, tmp_path: Path) -> None:
    """Three hundred one-byte changes of a sound file that a reader accepts."""
    model = models.small()
    sound = models.CODECS[kind].write(model if kind == "3df" else models.as_mobile(model))
    changes = list(models.changed_bytes(sound, lambda old: [0, 1, 0x7F, 0x80, 0xFF, old ^ 0x80]))
    traveller = Traveller(tmp_path, kind)
    accepted = 0
    for pick in np.random.default_rng(models.SEED).permutation(len(changes))[:300]:
        offset, data = changes[pick]
        accepted += traveller.arrive(data, f"byte {offset} is {data[offset]}")
        if len(traveller.cargo) == 20:
            traveller.leave()
            traveller.clear()
    traveller.leave()
    assert accepted > 250


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edit", [False, True], ids=["saved", "edited and saved"])
def test_any_model_comes_back_from_a_saved_blend(kind: str, edit: bool, tmp_path: Path) -> None:
    """Fifty of them in one scene, through Edit Mode if wanted, saved and opened again."""
    traveller = Traveller(tmp_path, kind)
    for seed in range(1000, 1050):
        traveller.arrive(strange(kind, seed), f"seed {seed}")
    if edit:
        traveller.toggle_edit_mode()
    blend = str(tmp_path / "all.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend, check_existing=False)
    bpy.ops.wm.open_mainfile(filepath=blend)
    if edit:
        traveller.toggle_edit_mode()
    traveller.leave()


def _with(change: Callable[[Any], None]) -> Any:
    model = models.small()
    change(model)
    return model


def _field(table: str, field: str, values: Any) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        getattr(model, table)[field] = np.asarray(values, getattr(model, table).dtype[field].base)

    return change


def _only(**counts: int) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        for table, count in counts.items():
            setattr(model, table, getattr(model, table)[:count])

    return change


STRANGE: dict[str, Callable[[Any], None]] = {
    "no faces": _only(faces=0),
    "no faces, no texture": _only(faces=0, texels=0),
    "no bones": _only(bones=0),
    "no texture": _only(texels=0),
    "one vertex": lambda model: (_only(vertices=1)(model), _field("faces", "corner", 0)(model)),
    "all vertices in one place": _field("vertices", "position", 0.0),
    "denormal coordinates": _field("vertices", "position", 1e-42),
    "huge coordinates": _field("vertices", "position", 3.4e38),
    "minus zero": _field("vertices", "position", -0.0),
    "bones in one place": _field("bones", "position", [5.0, 5.0, 5.0]),
    "bones almost in one place": _field("bones", "position", [[0, 0, 0], [1e-30, 0, 0], [0, 1e-20, 0]]),
    "bones close together far out": _field("bones", "position", [[1e9, 0, 0], [1e9, 1, 0], [1e9, 2, 0]]),
    "bones at the end of the world": _field("bones", "position", [[3e38, 0, 0], [-3e38, 0, 0], [0, 3e38, -3e38]]),
    "bones near and far": _field("bones", "position", [[1e12, 0, 0], [1, 2, 3], [0.5, 0.25, 0.125]]),
    "bones at minus zero": _field("bones", "position", -0.0),
    "bone is its own parent": _field("bones", "parent", [0, 1, 2]),
    "bones in a loop": _field("bones", "parent", [1, 2, 0]),
    "parents behind their children": _field("bones", "parent", [2, 0, -1]),
    "parents that do not exist": _field("bones", "parent", [-2, 77, 0x7FFF]),
    "bones without names": _field("bones", "name", [b"", b"", b""]),
    "bones of one name": _field("bones", "name", [b"jaw", b"jaw", b"jaw"]),
    "bones numbered like Blender does": _field("bones", "name", [b"jaw", b"jaw.001", b"jaw"]),
    "bones named like owners": _field("bones", "name", [b"Owner 2", b"Owner 7", b"Owner 0"]),
    "bones named like owners without a bone": lambda model: (
        _field("bones", "name", [b"Owner 7", b"Owner 07", b"Owner 9"])(model),
        _field("vertices", "owner", [0, 1, 2, 7, 9, 300])(model),
    ),
    "names without NUL": _field("bones", "name", [b"x" * 32, b"x" * 32, b"y" * 32]),
    "names that are not ASCII": _field("bones", "name", [b"\xff" * 32, b"\xe4\xf6\xfc", b"\x81\x8d\x9d"]),
    "owners that do not exist": _field("vertices", "owner", [-1, -2, 3, 300, 0x7FFF, -0x8000]),
    "hidden vertices": _field("vertices", "hide", [1, -1, 0x7FFF, -0x8000, 2, 0]),
    "all flags": _field("faces", "flags", [0xFFFF, 0x8000, 0x7FFF, 0x0F0F]),
    "links anywhere": _field("faces", "next", [0x7FFFFFFF, -0x80000000, -1, 99]),
    "keys anywhere": _field("faces", "distant", [0x7FFFFFFF, -0x80000000, -1, 1]),
    "groups anywhere": _field("faces", "group", [0x7FFFFFFF, -0x80000000, -1, 1]),
    "masks": _field("faces", "dmask", [0xFFFF, 0x8000, 1, 0]),
    "one face four times": _field("faces", "corner", [0, 1, 2]),
    "a face and its back": _field("faces", "corner", [[0, 1, 2], [0, 2, 1], [1, 2, 0], [2, 1, 0]]),
    "corners repeated": _field("faces", "corner", [[0, 0, 0], [0, 1, 1], [2, 1, 2], [3, 3, 0]]),
    "repeated corners between sound faces": _field("faces", "corner", [[0, 1, 2], [1, 1, 2], [2, 1, 3], [3, 3, 0]]),
    "UVs far outside": _field("faces", "u", [[0x7FFF, -0x8000, 256], [-1, 255, 0], [300, -300, 1], [0, 0, 0]]),
}
STRANGE_PC: dict[str, Callable[[Any], None]] = {
    "UVs of 32 bits": _field(
        "faces", "v", [[0x7FFFFFFF, -0x80000000, 1 << 24], [-1, 256, 0], [1 << 30, 3, 9], [0, 0, 0]]
    ),
    "texels with bit 15": lambda model: model.texels.fill(0x8001),
    "half of the key texels with bit 15": lambda model: model.texels.__setitem__((0, slice(0, 256, 2)), 0x8000),
    "an incomplete row": lambda model: setattr(model, "texture_rest", b"\1\2\3"),
    "less than a row": lambda model: (_only(texels=0)(model), setattr(model, "texture_rest", b"\1\2\3")),
    "texture cut off": lambda model: (_only(texels=0)(model), setattr(model, "texture_missing", 0xFFFFFFFF)),
    "a tall texture": lambda model: setattr(
        model, "texels", np.arange(256 * 1000, dtype="<u4").astype("<u2").reshape(-1, 256)
    ),
}
CASES = [(kind, name) for kind in KINDS for name in STRANGE] + [("3df", name) for name in STRANGE_PC]


@pytest.mark.parametrize(("kind", "name"), CASES)
@pytest.mark.parametrize("way", ["at once", "edited", "saved"])
def test_strange_models_come_back(kind: str, name: str, way: str, tmp_path: Path) -> None:
    """Each oddity by itself, straight, through Edit Mode, and through a saved .blend."""
    model = _with({**STRANGE, **STRANGE_PC}[name])
    traveller = Traveller(tmp_path, kind)
    data = models.CODECS[kind].write(model if kind == "3df" else models.as_mobile(model))
    assert traveller.arrive(data, name)
    if way == "edited":
        traveller.toggle_edit_mode()
    elif way == "saved":
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"), check_existing=False)
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    traveller.leave()


@pytest.mark.parametrize(
    "options", [{"use_bones": False}, {"use_collection": True}, {"global_scale": 1.0}, {"global_scale": 0.37}]
)
@pytest.mark.parametrize("kind", KINDS)
def test_options_of_the_import_cost_nothing(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    """Whatever was chosen at import, the file comes back."""
    traveller = Traveller(tmp_path, kind)
    for seed in range(2000, 2020):
        traveller.arrive(strange(kind, seed), f"seed {seed}", **options)
    traveller.leave()


def test_flipped_faces_come_back(tmp_path: Path) -> None:
    """The option for mobile animals that are wound the other way."""
    traveller = Traveller(tmp_path, "3dn")
    for seed in range(3000, 3020):
        traveller.arrive(strange("3dn", seed), f"seed {seed}", flip_faces=True)
    traveller.leave()


PICTURES = {
    "empty": b"",
    "no picture": b"this is no picture",
    "head only": b"\x89PNG\r\n\x1a\n",
    "broken PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\0\1\0" * 2 + b"\x08\6\0\0\0" + b"junk" * 30,
    "huge PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\x7f\xff\xff\xff" * 2 + b"\x08\6\0\0\0" + b"junk" * 30,
    "cut off PKM": b"PKM 10\0\0\1\0\1\0\1\0\1\0" + bytes(16),
}


@pytest.mark.parametrize("suffix", [".png", ".tga", ".crt", ".pkm"])
@pytest.mark.parametrize("name", PICTURES)
def test_a_damaged_texture_costs_only_the_texture(name: str, suffix: str, tmp_path: Path) -> None:
    """The model comes without it, with a warning, and goes back as it came."""
    data = model_3dn.write(models.as_mobile(models.small()))
    (tmp_path / "model.3dn").write_bytes(data)
    (tmp_path / f"SKIN{suffix}").write_bytes(PICTURES[name])
    importer("3dn")(filepath=str(tmp_path / "model.3dn"))
    assert len(bpy.data.meshes) == 1
    assert len(bpy.data.images) == 0
    assert "texture" in bpy.data.texts[0].as_string()
    exporter("3dn")(filepath=str(tmp_path / "out.3dn"), use_check=False)
    assert (tmp_path / "out.3dn").read_bytes() == data
    assert (tmp_path / f"SKIN{suffix}").read_bytes() == PICTURES[name]


def test_hostile_names_of_files(tmp_path: Path) -> None:
    """Long, not ASCII, not even text: the file name becomes the object's, as far as Blender can hold it."""
    data = models.CODECS["3df"].write(models.small())
    for stem in ("x" * 200, "\u6050\u9f8d" * 30, "\u00e4" * 100, " ", ".hidden", "a.b.c", "100%"):
        path = tmp_path / f"{stem}.3df"
        path.write_bytes(data)
        importer("3df")(filepath=str(path))
        assert bpy.context.active_object is not None
        for collection in (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.materials, bpy.data.images):
            assert all(block.name for block in collection)  # raises where a name was cut inside a character
        out = tmp_path / "out.3df"
        exporter("3df")(filepath=str(out), use_check=False)
        assert out.read_bytes() == data


@pytest.mark.skipif(os.name != "posix", reason="other systems refuse such names")
@pytest.mark.parametrize("stem", ["two\nlines", "tab\there", os.fsdecode(b"half \xff a character"), "\u2028"])
def test_names_that_break_a_line(stem: str, tmp_path: Path) -> None:
    """The model comes in, and a refusal is still one line that can be shown."""
    path = tmp_path / f"{stem}.3df"
    try:
        path.write_bytes(models.CODECS["3df"].write(models.small()))
    except OSError:
        pytest.skip("this file system refuses such names")
    assert importer("3df")(filepath=str(path)) == {"FINISHED"}
    path.write_bytes(path.read_bytes()[:-1])
    assert "?" in refusal(importer("3df"), filepath=str(path)).split(".3df", maxsplit=1)[0]


def test_a_collection_that_takes_no_objects(tmp_path: Path) -> None:
    """One that is linked from another .blend, with a model and with a collection of its own."""
    data = models.CODECS["3df"].write(models.small())
    (tmp_path / "a.3df").write_bytes(data)
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {bpy.data.collections.new("elsewhere")})
    bpy.data.collections.remove(bpy.data.collections["elsewhere"])
    with bpy.data.libraries.load(library, link=True) as (_there, here):
        here.collections = ["elsewhere"]
    bpy.context.scene.collection.children.link(bpy.data.collections["elsewhere"])
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection.children["elsewhere"]
    before = state()
    for own in (False, True):
        text = refusal(importer("3df"), filepath=str(tmp_path / "a.3df"), use_collection=own)
        assert text.startswith('a.3df: the active collection "elsewhere" ')
        assert state() == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_scale_that_is_no_number(kind: str, tmp_path: Path) -> None:
    """Blender's limits of a property let it through."""
    imported(tmp_path, kind)
    path = tmp_path / f"a.{kind}"
    exporter(kind)(filepath=str(path))
    before = state(), folder_state(tmp_path)
    for call in (importer(kind), exporter(kind)):
        assert refusal(call, filepath=str(path), global_scale=float("nan")) == 'the option "Scale" is not a number.'
    assert (state(), folder_state(tmp_path)) == before


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("check", [True, False])
def test_positions_that_are_no_numbers_are_not_written(value: float, check: bool, tmp_path: Path) -> None:
    """Nothing could read the file."""
    imported(tmp_path)
    positions = np.zeros(3 * len(bpy.data.meshes[0].vertices), np.float32)
    positions[5 * 3 + 1] = value
    bpy.data.meshes[0].attributes["position"].data.foreach_set("vector", positions)
    text = refusal(exporter("3df"), filepath=str(tmp_path / "a.3df"), use_check=check)
    assert text == 'a.3df: "source": the position of vertex 5 is not a finite number.'
    assert folder_state(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [("carnivores_faces", 0x7FFFFFFF), ("carnivores_degenerate", b"\xff" * 64), ("carnivores_vertex", 0x7FFFFFFF)],
)
def test_kept_numbers_that_lie_cost_no_memory(name: str, value: Any, tmp_path: Path) -> None:
    """A .blend may hold any number where one of ours stood: no table of that size is made."""
    model = _with(STRANGE["repeated corners between sound faces"])
    model.faces["next"] = [1, 2, 3, -1]
    (tmp_path / "a.3df").write_bytes(model_3df.write(model))
    importer("3df")(filepath=str(tmp_path / "a.3df"))
    mesh = bpy.data.meshes[0]
    if name in mesh.attributes:
        mesh.attributes[name].data[0].value = value
    else:
        mesh[name] = value
    with measured() as peak:
        exporter("3df")(filepath=str(tmp_path / "b.3df"), use_check=False)
    assert peak() < 64 << 20
    assert importer("3df")(filepath=str(tmp_path / "b.3df")) == {"FINISHED"}


@pytest.mark.parametrize("kind", KINDS)
def test_more_bones_than_blender_can_bear(kind: str, tmp_path: Path) -> None:
    """Tens of thousands fit into a small file: it opens without an armature, and goes back as it came."""
    model = models.small()
    model.bones = np.repeat(model.bones[:1], 40_000)
    data = models.CODECS[kind].write(model if kind == "3df" else models.as_mobile(model))
    (tmp_path / f"a.{kind}").write_bytes(data)
    importer(kind)(filepath=str(tmp_path / f"a.{kind}"))
    assert len(bpy.data.armatures) == 0
    assert "too many bones" in bpy.data.texts[0].as_string()
    exporter(kind)(filepath=str(tmp_path / f"b.{kind}"), use_check=False)
    assert (tmp_path / f"b.{kind}").read_bytes() == data


@pytest.mark.parametrize("name", ["..\\..\\x", "/etc/x", "CON", "a\nb", "\u0442\u0435\u043a\u0441\u0442", "x" * 40])
def test_a_texture_is_found_by_the_name_that_was_written(name: str, tmp_path: Path) -> None:
    """A name that no file can have, or no 3DN, is changed in the model and said to be."""
    imported(tmp_path)
    (tmp_path / "inner").mkdir()
    exporter("3dn")(filepath=str(tmp_path / "inner" / "a.3dn"), texture_name=name)
    assert "the texture is named" in bpy.data.texts[0].as_string()
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    written = model_3dn.read((tmp_path / "inner" / "a.3dn").read_bytes())
    assert textures.find(model_3dn.texture_label(written), tmp_path / "inner" / "a.3dn") is not None


def test_export_of_an_unwritable_model_says_so(tmp_path: Path) -> None:
    """A UV that a 3DN cannot hold is refused at export, and the object is named by its file."""
    model = models.small()
    model.faces["u"][2] = 100_000
    path = tmp_path / "wide.3df"
    path.write_bytes(model_3df.write(model))
    importer("3df")(filepath=str(path))
    before = folder_state(tmp_path)
    text = refusal(exporter("3dn"), filepath=str(tmp_path / "wide.3dn"))
    assert "face 2" in text
    assert "16-bit" in text
    assert folder_state(tmp_path) == before
