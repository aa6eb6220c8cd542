# SPDX-License-Identifier: GPL-3.0-or-later
"""A model with its materials and their textures, whichever of the files was opened: read whole before it is shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ...io_common.formats import places
from ...io_common.formats.errors import FileAccessError, UserError
from . import companions, effects, msh, names, skn, textures
from .companions import SkeletalMsh
from .library import Library
from .skn import Skn

if TYPE_CHECKING:
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from ...io_common.formats.places import Place
    from .msh import Msh
    from .pictures import Picture


@dataclass(eq=False)
class Outfit:
    """The materials of a model. `pictures`: texture name -> file; `missing`: the names that were not found."""

    skin: Skn = field(default_factory=Skn)
    file_name: str = ""
    pictures: dict[str, Picture] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    truncated: bool = False
    data: bytes = b""


@dataclass(eq=False)
class DressedMsh(SkeletalMsh):
    """An MSH with the bones of an ANI and, where there are any, its materials. `data`: the bytes of its file."""

    outfit: Outfit | None = None
    data: bytes = b""


@dataclass(eq=False)
class DressedSkn(Skn):
    """An SKN with the model it belongs to, which came from `mesh_path`."""

    mesh: DressedMsh | None = None
    mesh_path: Path | None = None


def with_materials(found: Msh, path: Path, options: Any, digest: Digest) -> DressedMsh:
    """`found` with its hierarchy and, with `options.use_skin`, the SKN of the same stem beside it.

    An SKN that only lies there and cannot be read is passed over with a note.
    """
    model = _dressed(companions.with_hierarchy(found, path, options, digest))
    place = places.of(options)
    source = companions.beside(path, ".skn", place) if getattr(options, "use_skin", True) else None
    if source is None:
        return model
    try:
        data = place.read(source)
        skin = skn.read(data)
    except UserError as error:
        error.at(source)
        digest.add(f"the model is shown without materials, as a file beside it is of no use: {str(error)[:-1]}")
        return model
    model.outfit = outfit(skin, source, options)
    model.outfit.data = data
    return model


def with_model(found: Skn, path: Path, options: Any, digest: Digest) -> DressedSkn:
    """`found` with the MSH that it names, else the one of the same stem, both without regard to case.

    Raises `UserError` where there is none, or where it cannot be read.
    """
    place = places.of(options)
    source = _model_path(found, path, place)
    data = place.read(source)
    try:
        model = _dressed(companions.with_hierarchy(msh.read(data), source, options, digest))
    except UserError as error:
        raise error.at(source) from error
    model.data = data
    model.outfit = outfit(found, path, options)
    values = {entry.name: getattr(found, entry.name) for entry in fields(Skn)}
    return DressedSkn(**values, mesh=model, mesh_path=source)


def brings(found: Skn, path: Path) -> list[Path]:
    """The model that `with_model` would read for the SKN at `path`, if it is there."""
    try:
        return [_model_path(found, path, places.Disk())]
    except FileAccessError:
        return []


def _dressed(model: SkeletalMsh) -> DressedMsh:
    return DressedMsh(**{entry.name: getattr(model, entry.name) for entry in fields(SkeletalMsh)})


def _model_path(found: Skn, path: Path, place: Place) -> Path:
    named = textures.base_name(names.text(found.mesh_name))
    for candidate in place.beside(path, [named, f"{path.stem}.msh"]):
        if candidate is not None:
            return candidate
    said = f'"{named}", which it names, does not lie beside it' if named else "it names none and none lies beside it"
    raise FileAccessError(f"the model of these materials is missing: {said}", path=path)


def outfit(skin: Skn, path: Path, options: Any) -> Outfit:
    """The materials of `path` with all textures that they name, as far as they are found."""
    found = Outfit(skin, path.name)
    if not getattr(options, "use_textures", True):
        return found
    library: Library = getattr(options, "library", None) or Library()
    folders = tuple(getattr(options, "search_folders", ()))
    wanted = [name for material in skin.materials for name in effects.textures(material)]
    for name in dict.fromkeys(name for name in wanted if textures.base_name(name)):
        picture = library.find(name, path, folders)
        if picture is None:
            found.missing.append(name)
        else:
            found.pictures[name] = picture
    found.truncated = bool(found.missing) and library.index(path, folders).truncated
    return found
