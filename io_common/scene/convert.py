# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole scenes to and from files of general use: .blend, and what Blender's own exporters write.

These functions replace the open file, so they are for the command line only.
"""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import addon_utils
import bpy

from ..formats.errors import ExportError, FileAccessError, UserError
from ..formats.files import read_file, safe_stem
from . import compat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def empty_scene() -> None:
    """Start with a file without any object; enabled extensions and preferences stay."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def open_blend(path: Path) -> None:
    """Open a .blend; scripts in it are not run. Raises `FileAccessError` when it is none."""
    if not path.is_file():
        read_file(path)  # says what is wrong
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.absolute()), load_ui=False, use_scripts=False)
    except RuntimeError as error:  # Blender turns reported errors into this
        raise FileAccessError("this is not a Blender file that can be opened", path=path) from error


def save_blend(path: Path) -> None:
    """Write the scene to `path`; the session goes on without a file name."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path.absolute()), copy=True, check_existing=False)


def set_frame_rate(rate: float) -> None:
    """Frames per second of the scene, fractions included."""
    scene = bpy.context.scene
    if scene is None:
        raise ExportError("there is no scene")
    render = scene.render
    render.fps = max(1, round(rate))
    render.fps_base = render.fps / rate


@dataclass(frozen=True)
class Target:
    """A kind of file that a scene can be written to. `write(path)` may put more files beside `path`."""

    suffix: str
    label: str
    write: Callable[[Path], None]

    def bundle(self, path: Path) -> dict[Path, bytes]:
        """What has to be written so that the scene is at `path`: path -> bytes. Nothing is written yet.

        Raises `ExportError` when Blender's exporter refuses.
        """
        with tempfile.TemporaryDirectory(prefix="convert-") as name:
            folder = Path(name)
            try:
                self.write(folder / path.name)
            except UserError as error:
                raise error.at(path) from error
            return {path.parent / made.name: made.read_bytes() for made in sorted(folder.iterdir())}


def _call(operator: Any, path: Path, **options: Any) -> None:
    try:
        result = operator(filepath=str(path), **options)
    except RuntimeError as error:
        if "Traceback" in str(error):
            raise  # a bug of the exporter, not something a user can mend
        reason = str(error).removeprefix("Error: ").strip().rstrip(".")
        raise ExportError(f"Blender cannot write it ({reason})") from error
    if "FINISHED" not in result or not path.is_file():
        raise ExportError("Blender wrote nothing")


@contextlib.contextmanager
def _enabled(module: str, operator: str) -> Iterator[None]:
    """An add-on that comes with Blender, switched on for as long as the block runs."""
    if hasattr(bpy.types, operator):
        yield
        return
    # The exporters read their own preferences, so they have to be entered there.
    addon_utils.enable(module, default_set=True)
    if not hasattr(bpy.types, operator):
        raise ExportError(f'the add-on "{module}" that comes with Blender is not there')
    try:
        yield
    finally:
        addon_utils.disable(module, default_set=True)


def _write_glb(path: Path) -> None:
    with _enabled("io_scene_gltf2", "EXPORT_SCENE_OT_gltf"):
        _call(bpy.ops.export_scene.gltf, path, export_format="GLB")


def _write_fbx(path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        for image, picture in _save_pictures(Path(folder), path.stem):
            # Packed as PNG, since few programs read the TGA they were packed as; the exporter embeds packed ones.
            data = picture.read_bytes()
            image.filepath_raw = f"//{picture.name}"
            image.pack(data=data, data_len=len(data))
    with _enabled("io_scene_fbx", "EXPORT_SCENE_OT_fbx"):
        _call(bpy.ops.export_scene.fbx, path, path_mode="COPY", embed_textures=True, add_leaf_bones=False)


def _write_obj(path: Path) -> None:
    for image, picture in _save_pictures(path.parent, path.stem):
        # The exporter names the file of an image, but does not write a packed one.
        image.filepath_raw = str(picture)
        if image.packed_file is not None:
            image.unpack(method="REMOVE")
    _call(bpy.ops.wm.obj_export, path, path_mode="STRIP")


def _save_pictures(folder: Path, stem: str) -> list[tuple[bpy.types.Image, Path]]:
    """Write every picture in use to `folder` as PNG; names start with `stem`, so that no two models share one."""
    images = [image for image in bpy.data.images if image.users and image.type == "IMAGE" and min(image.size) > 0]
    saved: list[tuple[bpy.types.Image, Path]] = []
    used: set[str] = set()
    for image in images:
        name = stem if len(images) == 1 else f"{stem}_{safe_stem(Path(image.name).stem)}"
        unique, count = name, 1
        while unique.lower() in used:
            count += 1
            unique = f"{name}_{count}"
        used.add(unique.lower())
        picture = folder / f"{unique}.png"
        compat.write_png(image, picture)
        saved.append((image, picture))
    return saved


TARGETS: tuple[Target, ...] = (
    Target(".blend", "Blender file", save_blend),
    Target(".glb", "glTF binary, textures inside", _write_glb),
    Target(".fbx", "FBX, textures inside", _write_fbx),
    Target(".obj", "Wavefront OBJ, with .mtl and .png beside it", _write_obj),
)
