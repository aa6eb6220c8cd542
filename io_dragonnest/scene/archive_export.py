# SPDX-License-Identifier: GPL-3.0-or-later
"""What an export puts into an archive: the files that would be written, under the names that entries have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...io_common.formats.errors import ExportError
from ...io_common.formats.options import option
from ...io_common.scene import transfer
from ..formats import pak_names
from . import kept
from .options import TEXTURE_FORMATS, ExportAniOptions, ExportMshOptions, ExportSknOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

    from ...io_common.formats.digest import Digest
    from ...io_common.formats.registry import Format
    from ..formats.mounts import Catalogue

_TITLES = {".skn": kept.SKN_ENTRY, ".msh": kept.MSH_ENTRY, ".ani": kept.ANI_ENTRY}


@dataclass(frozen=True)
class ExportArchiveOptions:
    """Options of an export into an archive; all else is as it is by default when a file is exported."""

    use_companion: bool = option(
        True,
        "Model and Materials",
        "Of a model write its materials too, and of materials their model",
    )
    use_textures: bool = option(False, "Write Textures", "Write the textures that the materials name, too")
    texture_format: str = option(
        "TGA", "New Textures As", "How painted and new pictures are written", choices=TEXTURE_FORMATS
    )
    use_check: bool = option(True, "Stop at Errors", "Refuse to write what the game cannot load")


def entries_of(objects: Sequence[bpy.types.Object]) -> dict[str, str]:
    """The entries that objects came out of, by extension: of their materials, their model, their animations.

    An armature carries nothing of the model that hangs on it: its meshes are asked too.
    """
    asked = [*objects, *(child for obj in objects if obj.type == "ARMATURE" for child in obj.children_recursive)]
    blocks = [obj.data for obj in asked if obj.data is not None]
    found: dict[str, str] = {}
    for suffix, title in _TITLES.items():
        known = next((str(kept.get(block, title, "")) for block in blocks if kept.has(block, title)), "")
        if known:
            found[suffix] = known
    return found


def bundle(
    context: bpy.types.Context,
    catalogue: Catalogue,
    name: str,
    formats: Sequence[Format],
    options: ExportArchiveOptions,
    digest: Digest,
) -> dict[str, bytes]:
    """The selected model as the entry called `name`: names of entries -> what they shall hold. Nothing is written.

    Files that go with it take the place of the entries of their name, beside it or else wherever they are; new ones go
    beside it. Raises `UserError` where the selection is not one model, or the game could not load it.
    """
    if not name:
        raise ExportError("no entry is named; choose the one in the list that the model shall replace")
    base = pak_names.base_name(name)
    suffix = f".{base.lower().rpartition('.')[2]}"
    entry = next((item for item in formats if suffix in item.extensions and item.extract is not None), None)
    if entry is None:
        raise ExportError(f'"{base[:80]}" is no model and no animation; choose an MSH, SKN or ANI entry')
    target = Path(base)
    result = transfer.checked(context, entry, target, _export_options(suffix, options), digest)
    if target not in result.bundle:
        raise ExportError(f'several models are selected, expected the one that shall be "{base[:80]}"')
    own = entries_of(context.selected_objects)
    if pak_names.key(own.get(suffix, "")) != pak_names.key(name):
        own = {}  # it becomes another model, and so does what goes with it
    return {
        name if path == target else own.get(path.suffix.lower()) or _beside(catalogue, name, path.name): data
        for path, data in result.bundle.items()
    }


def _beside(catalogue: Catalogue, name: str, base: str) -> str:
    row = catalogue.find(name)
    found = None if row is None else catalogue.beside(row, base)
    return catalogue.name(found) if found is not None else name[: len(name) - len(pak_names.base_name(name))] + base


def _export_options(suffix: str, options: ExportArchiveOptions) -> ExportMshOptions | ExportAniOptions:
    if suffix not in {".msh", ".skn"}:
        return ExportAniOptions(use_check=options.use_check)
    made = (
        ExportMshOptions(use_skin=options.use_companion)
        if suffix == ".msh"
        else ExportSknOptions(use_model=options.use_companion)
    )
    return replace(
        made,
        use_check=options.use_check,
        use_textures=options.use_textures,
        texture_format=options.texture_format,
    )
