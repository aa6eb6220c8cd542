# SPDX-License-Identifier: GPL-3.0-or-later
"""The texture file of a mobile model: found by the name inside the model, read by its content."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats import files
from ...io_common.formats.errors import ExportError, FormatError, UserError
from ...io_common.formats.reader import Reader
from . import crt, pkm, tga
from .model import Model, TextureFile, label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...io_common.formats.digest import Digest

# In the order they are preferred when several lie side by side: lossless ones first.
SUFFIXES = (".tga", ".crt", ".png", ".pkm")
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER = np.dtype([("length", ">u4"), ("kind", "S4"), ("width", ">u4"), ("height", ">u4"), ("depth", "u1")])
_PNG_PIXELS = 5 << 20  # that any PNG may have, as a run-length coded TGA may


def find(name: str, model_path: Path, folders: Sequence[str] = ()) -> Path | None:
    """The texture `name` (in any letter case) for the model at `model_path`; the first of `candidates`."""
    return next(candidates(name, model_path, folders), None)


def candidates(name: str, model_path: Path, folders: Sequence[str] = ()) -> Iterator[Path]:
    """Every file that may be the texture `name`, the nearest first.

    Looked for in the model's folder, in the `textures` folders beside it and its parents (models and textures are
    siblings in the mobile game, areas one level deeper), then in `folders` and their `textures`. `name` has no suffix
    in the game's own files; one that has is understood.
    """
    stems = [name]
    # An export writes a name that is none for a file, such as "a/b", as one that is.
    stems.append(files.safe_stem(name, model_path.stem))
    stems += [name[: -len(suffix)] for suffix in SUFFIXES if name.lower().endswith(suffix)]
    wanted: dict[str, int] = {}
    for stem in stems:
        for suffix in SUFFIXES:
            wanted.setdefault(f"{stem}{suffix}".lower(), len(wanted))
    for folder in _places(model_path, folders):
        hits = [(wanted[entry.name.lower()], entry) for entry in _listing(folder) if entry.name.lower() in wanted]
        yield from (entry for _rank, entry in sorted(hits))


def _places(model_path: Path, folders: Sequence[str]) -> Iterator[Path]:
    seen: set[Path] = set()
    near = model_path.absolute().parent
    for base in (near, *near.parents[:3]):
        for folder in (base, *_textures_in(base)) if base == near else _textures_in(base):
            if folder not in seen:
                seen.add(folder)
                yield folder
    for text in folders:
        base = Path(text)
        yield from (folder for folder in (base, *_textures_in(base)) if folder not in seen)


def _textures_in(base: Path) -> Iterable[Path]:
    """`base`/textures in any letter case, and the folders right inside it."""
    for entry in _listing(base):
        if entry.name.lower() == "textures" and entry.is_dir():
            yield entry
            yield from (inner for inner in _listing(entry) if inner.is_dir())


def _listing(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # missing, or not ours to read: then there is nothing to be found in it
        return []


def read(path: Path) -> TextureFile:
    """A texture file, decoded where that is ours to do. Raises `UserError`, named after the file."""
    data = files.read_file(path)
    try:
        if data.startswith(_PNG):
            _require_bearable(data)
            return TextureFile(".png", encoded=data)
        if data.startswith(b"PKM "):
            return TextureFile(".pkm", pkm.read(data))
        if path.suffix.lower() == ".crt":
            return TextureFile(".crt", crt.read(data).picture)
        if path.suffix.lower() == ".tga":
            return TextureFile(".tga", tga.read(data))
    except UserError as error:
        raise error.at(path) from error
    raise FormatError("this is not a texture that can be read", expected="TGA, CRT, PKM or PNG", path=path)


def _require_bearable(data: bytes) -> None:
    """Refuse a PNG that unfolds to far more than its size, before Blender decodes it; 2048 x 2048 of 8 bits passes."""
    reader = Reader(data)
    reader.take(len(_PNG), "the PNG mark")
    header = reader.array(_PNG_HEADER, 1, "size fields of the PNG header")[0]
    width, height = int(header["width"]), int(header["height"])
    most = _PNG_PIXELS + 3 * len(data) // 2
    if header["depth"] == 16:
        most //= 4
    if width * height > most:
        raise FormatError(
            "the PNG picture is larger than a texture of this file size can be",
            offset=16,
            expected=f"at most {most} pixels",
            found=f"{width} x {height}",
        )


def attach(model: Model, path: Path, folders: Sequence[str], digest: Digest) -> Model:
    """Find and read the texture of `model`; a missing or unreadable one is a warning, not the end."""
    name = label(model.texture_name)
    if not name:
        return model
    failures = []
    for found in candidates(name, path, folders):
        try:
            model.texture = read(found)
        except crt.CompressedTextureError:
            failures.append(f'the texture "{found.name}" is compressed in a way that cannot be read')
        except UserError as error:
            failures.append(f"the texture cannot be used ({str(error).rstrip('.')})")
        else:
            break
    for failure in failures:
        digest.add(failure, subject=path.name)
    if model.texture is None and not failures:
        digest.add(f'the texture "{name}" was not found; the model is shown without it', subject=path.name)
    return model


def encode(texture: TextureFile) -> bytes:
    """The bytes of a texture file to be written: TGA or CRT, by its suffix."""
    if texture.picture is None:
        return texture.encoded
    if texture.suffix == ".crt":
        opaque = bool((texture.picture[..., 3] == 255).all())
        return crt.write(crt.Crt(texture.picture, 24 if opaque else 32))
    if texture.suffix == ".tga":
        return tga.write(texture.picture)
    raise ExportError(f"textures cannot be written as {texture.suffix}")
