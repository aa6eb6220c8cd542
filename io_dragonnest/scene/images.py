# SPDX-License-Identifier: GPL-3.0-or-later
"""Texture files as Blender images, placeholders for those that are missing, and images as files again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np

from ...io_common.formats import files
from ...io_common.formats.errors import UserError
from ...io_common.scene import armature
from ..formats import pictures, textures
from . import kept

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...io_common.formats.digest import Digest
    from ..formats.outfit import Outfit
    from ..formats.pictures import Picture

_OPAQUE, _CLEAR = 1, 2
_LISTED = 12  # names of missing textures in one sentence
_PLACEHOLDER = 256  # pixels
_DEPTHS_WITH_ALPHA = {32, 64, 128}


class Pool:
    """The images of one import: each file is one image, however many materials name it."""

    def __init__(self, outfit: Outfit, *, pack: bool) -> None:
        """Nothing is made yet."""
        self._outfit = outfit
        self._pack = pack
        self._made: dict[tuple[object, bool], bpy.types.Image | None] = {}
        self.missing = list(outfit.missing)
        self.damaged: dict[str, str] = {}

    def get(self, name: str, *, data: bool = False) -> bpy.types.Image:
        """The image that a material calls `name`, else a placeholder. `data`: its numbers are no colours."""
        picture = self._outfit.pictures.get(name)
        key: tuple[object, bool]
        if picture is not None:
            key = (picture.path or textures.base_name(name).lower(), data)
            if key not in self._made:
                self._made[key] = self._load(name, picture, data=data)
            image = self._made[key]
            if image is not None:
                return image
        key = (f"missing {name.lower()}", False)
        if key not in self._made:
            self._made[key] = placeholder(name)
        return cast("bpy.types.Image", self._made[key])

    def _load(self, name: str, picture: Picture, *, data: bool) -> bpy.types.Image | None:
        reason = pictures.trouble(picture.data)
        if not reason:
            image = load(picture, pack=self._pack, data=data)
            if image is not None:
                kept.put(image, kept.TEXTURE, name)
                return image
            reason = "Blender cannot decode it"
        self.damaged[name] = reason
        return None

    def tell(self, digest: Digest, subject: str) -> None:
        """Say once what is missing, and what is damaged."""
        if self.missing:
            listed = ", ".join(self.missing[:_LISTED])
            more = f" and {len(self.missing) - _LISTED} more" if len(self.missing) > _LISTED else ""
            which = "1 texture was" if len(self.missing) == 1 else f"{len(self.missing)} textures were"
            searched = "; there are too many files to search them all" if self._outfit.truncated else ""
            digest.add(
                f"{which} not found, a checker stands in: {listed}{more}{searched}",
                subject=subject,
            )
        for name, reason in self.damaged.items():
            digest.add(f'the texture "{name}" is not shown, {reason}', subject=subject)


def load(picture: Picture, *, pack: bool, data: bool = False) -> bpy.types.Image | None:
    """A new image of a picture file without trouble, None if Blender cannot decode it."""
    name = textures.base_name(picture.name)
    title = armature.fit_name(picture.path.name if picture.path is not None else name) or "Texture"
    if picture.path is not None and not pack:
        image = bpy.data.images.load(str(picture.path), check_existing=False)
        image.name = title
    else:
        image = bpy.data.images.new(title, 1, 1, alpha=True)
        stem = files.safe_stem(title.rpartition(".")[0] or title, "texture")
        image.filepath_raw = f"//{stem}{pictures.suffix_of(picture.data, name)}"
        image.pack(data=picture.data, data_len=len(picture.data))
        image.source = "FILE"
    image.alpha_mode = "CHANNEL_PACKED"  # what is hidden keeps its colour, and alpha may mean anything
    image.colorspace_settings.is_data = data
    if not len(cast("Any", image.pixels)):
        bpy.data.images.remove(image)
        return None
    image[kept.CLEAR] = _CLEAR if pictures.has_alpha(picture.data) else _OPAQUE
    return image


def placeholder(name: str) -> bpy.types.Image:
    """A checker that stands in for the texture `name`, and keeps its name for export."""
    title = armature.fit_name(textures.base_name(name)) or "Missing"
    image = bpy.data.images.new(title, _PLACEHOLDER, _PLACEHOLDER)
    image.generated_type = "UV_GRID"
    kept.put(image, kept.TEXTURE, name)
    kept.put(image, kept.MISSING, 1)
    image[kept.CLEAR] = _OPAQUE
    return image


def is_placeholder(image: bpy.types.Image) -> bool:
    """Whether an image only stands in for one that was not found; not any more once it was painted or replaced."""
    return bool(kept.get(image, kept.MISSING, 0)) and image.source == "GENERATED" and not image.is_dirty


def is_picture(image: bpy.types.Image) -> bool:
    """Whether an image is a picture of its own, and not what a render or the compositor shows."""
    return image.type not in {"RENDER_RESULT", "COMPOSITING"}


def has_alpha(image: bpy.types.Image) -> bool:
    """Whether an image is anywhere not opaque; of pictures that were not imported: whether it could be."""
    known = kept.get(image, kept.CLEAR, 0)
    if known and not image.is_dirty:
        return bool(known == _CLEAR)
    if not image.has_data:
        len(cast("Any", image.pixels))
    return image.alpha_mode != "NONE" and image.channels == 4 and image.depth in _DEPTHS_WITH_ALPHA


def file_name(image: bpy.types.Image) -> str:
    """The file name that stands for an image in a material: the one a material gave it, else that of its file.

    An image that has no file yet goes by its own name; what Blender adds behind it (`.001`) counts.
    """
    known = str(kept.get(image, kept.TEXTURE, ""))
    path = image.filepath_raw or image.filepath
    base = textures.base_name(path)
    if known and (not path or _stem(base) == _stem(textures.base_name(known))):
        return known
    if base:
        return base
    return image.name if _extension(image.name) in textures.EXTENSIONS else f"{image.name}.tga"


def stem_and_extension(name: str) -> tuple[str, str]:
    """A file name in two, in lower case; the extension is empty where it is none of a picture."""
    stem = _stem(name)
    return stem, name[len(stem) :].lower()


def _extension(name: str) -> str:
    dot, extension = name.rpartition(".")[1:]
    return (dot + extension).lower()


def _stem(name: str) -> str:
    extension = _extension(name)
    return (name[: -len(extension)] if extension in textures.EXTENSIONS else name).lower()


def means(image: bpy.types.Image, name: str) -> bool:
    """Whether a material that says `name` means this image: whatever the case, and the extension."""
    return _stem(textures.base_name(file_name(image))) == _stem(textures.base_name(name))


def find(name: str, near: Iterable[bpy.types.Image]) -> bpy.types.Image:
    """The image for a name that was typed: one that is there, else the file beside those of `near`, else a checker."""
    loaded = [image for image in bpy.data.images if is_picture(image) and means(image, name)]
    real = [image for image in loaded if not is_placeholder(image)]
    if real:
        return real[0]
    for folder in dict.fromkeys(Path(bpy.path.abspath(image.filepath)).parent for image in near if image.filepath):
        index = textures.Index()
        index.add(folder)
        path = index.find(name)
        image = from_disk(name, path) if path is not None else None
        if image is not None:
            return image
    return loaded[0] if loaded else placeholder(name)


def from_disk(name: str, path: Path, *, data: bool = False) -> bpy.types.Image | None:
    """The picture at `path` for the texture `name`; None where it cannot be read or decoded."""
    try:
        picture = pictures.Picture(name, files.read_file(path), path)
    except UserError:
        return None
    if pictures.trouble(picture.data):
        return None
    image = load(picture, pack=False, data=data)
    if image is not None:
        kept.put(image, kept.TEXTURE, name)
    return image


def encoded(image: bpy.types.Image, kind: str) -> tuple[str, bytes] | None:
    """The file name and the bytes that an image is written as; None where there is nothing to write.

    An untouched file goes as it is if it is a picture, as an image may point anywhere; painted and generated pictures
    are written anew as `kind` ("TGA" or "PNG").
    """
    if is_placeholder(image):
        return None
    name = textures.base_name(file_name(image))
    if not image.is_dirty and image.source == "FILE":
        data = _stored(image)
        if data is None:
            return None
        suffix = pictures.known_suffix(data)
        if suffix and _extension(name) in {suffix, ".jpeg" if suffix == ".jpg" else suffix}:
            return name, data
        if suffix:
            return f"{name[: len(_stem(name))]}{suffix}", data
    if not len(cast("Any", image.pixels)) or not all(image.size):
        return None
    suffix = f".{kind.lower()}"
    with tempfile.TemporaryDirectory(prefix="texture-") as folder:
        path = Path(folder) / f"texture{suffix}"
        _write(image, path, kind)
        return f"{name[: len(_stem(name))]}{suffix}", path.read_bytes()


def _write(image: bpy.types.Image, path: Path, kind: str) -> None:
    """Write the pixels through another image: saving changes what an image says of its own file."""
    columns, rows = image.size
    pixels = cast("Any", image.pixels)
    values = np.empty(len(pixels), np.float32)
    pixels.foreach_get(values)
    if image.channels != 4:
        wide = np.ones((columns * rows, 4), np.float32)
        wide[:, :3] = values.reshape(columns * rows, image.channels)[:, : 3 if image.channels >= 3 else 1]
        values = wide.reshape(-1)
    copy = bpy.data.images.new("Texture", columns, rows, alpha=True, float_buffer=image.is_float)
    try:
        copy.alpha_mode = image.alpha_mode
        cast("Any", copy.pixels).foreach_set(values)
        copy.file_format = "TARGA_RAW" if kind == "TGA" else "PNG"
        copy.filepath_raw = str(path)
        copy.save()
    finally:
        bpy.data.images.remove(copy)


def _stored(image: bpy.types.Image) -> bytes | None:
    """The bytes of the file an image shows, packed or on disk."""
    if image.packed_file is not None:
        return bytes(cast("Any", image.packed_file).data)
    try:
        return files.read_file(bpy.path.abspath(image.filepath))
    except UserError:
        return None
