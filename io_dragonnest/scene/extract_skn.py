# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender materials to an SKN, by itself or beside its MSH, with their textures."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.formats.errors import ExportError, FormatError
from ...io_common.formats.issues import Severity
from ...io_common.scene import transfer
from ..formats import check_skn, msh, names, skn, textures
from ..formats.msh import Msh
from ..formats.skn import Kind, Material, Skn
from . import extract_beside, extract_msh, groups, images, kept, materials, new_skin, records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...io_common.formats.digest import Digest

NEWEST = 11


@dataclass(eq=False)
class WrittenSkn(Skn):
    """An SKN with the number of sub-meshes of its model, and the files that go beside it."""

    submeshes: int = 0
    beside: dict[Path, bytes] = field(default_factory=dict)


@dataclass(eq=False)
class WrittenMsh(Msh):
    """An MSH with the files that go beside it."""

    beside: dict[Path, bytes] = field(default_factory=dict)


def finish(model: Any, _path: Path) -> dict[Path, bytes]:
    """The files that go beside what was extracted."""
    found: dict[Path, bytes] = getattr(model, "beside", {})
    return found


def extract(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: Any, digest: Digest, path: Path
) -> WrittenSkn:
    """One SKN from `objects`, a material for each sub-mesh they are written as. Raises `ExportError`."""
    model, pieces = extract_msh.extract_with_pieces(context, objects, options, digest)
    beside = path.with_suffix(".msh")
    made = [piece.material for piece in pieces]
    # What is written beside it is what it has to name.
    named = beside.name if options.use_model and not options.mesh_name else ""
    found = skin_of(objects, made, options, digest, path, mesh_name=named)
    if options.use_model:
        found.beside[beside] = msh.write(model)
    if options.use_animation:
        found.beside.update(extract_beside.animation(context, objects, options, digest, path))
    return found


def extract_model(
    context: bpy.types.Context, objects: list[bpy.types.Object], options: Any, digest: Digest, path: Path
) -> Msh:
    """One MSH from `objects`; with `options.use_skin` its SKN and with `options.use_animation` its ANI beside it.

    Raises `ExportError`.
    """
    model, pieces = extract_msh.extract_with_pieces(context, objects, options, digest)
    beside: dict[Path, bytes] = {}
    if options.use_skin:
        beside |= skn_beside(objects, options, digest, path, [piece.material for piece in pieces])
    if options.use_animation:
        beside |= extract_beside.animation(context, objects, options, digest, path)
    if not beside:
        return model
    return WrittenMsh(**{entry.name: getattr(model, entry.name) for entry in fields(Msh)}, beside=beside)


def skn_beside(
    objects: Sequence[bpy.types.Object],
    options: Any,
    digest: Digest,
    path: Path,
    made: Sequence[bpy.types.Material | None],
) -> dict[Path, bytes]:
    """The SKN, and textures, that go beside an MSH at `path`: path -> bytes.

    `made`: the material of each sub-mesh, in their order. Raises `ExportError` for what the game could not load, unless
    `options.use_check` says otherwise.
    """
    found = skin_of(objects, made, options, digest, path.with_suffix(".skn"), mesh_name=path.name)
    data = skn.write(found)
    untouched = transfer.is_an_imported_file(objects, data)
    for issue in check_skn.check(found):
        if issue.severity is Severity.ERROR and options.use_check and not untouched:
            raise ExportError(f"the materials cannot be written: {issue.message}")
        digest.add(issue.message, subject=path.with_suffix(".skn").name)
    return {path.with_suffix(".skn"): data, **found.beside}


def skin_of(
    objects: Sequence[bpy.types.Object],
    made: Sequence[bpy.types.Material | None],
    options: Any,
    digest: Digest,
    path: Path,
    *,
    mesh_name: str = "",
) -> WrittenSkn:
    """The SKN at `path` for sub-meshes with the materials `made`. `mesh_name`: the MSH that it has to name."""
    blocks = [obj.data for obj in objects if obj.data is not None]
    old = _header(blocks)
    start = skn.of_header(old) if old else Skn(NEWEST)
    chosen = _chosen(list(made), _extra(blocks), _stored_count(objects, old))
    found = WrittenSkn(**{entry.name: getattr(start, entry.name) for entry in fields(Skn)}, submeshes=len(made))
    for block in blocks:
        if kept.has(block, kept.SKIN_HEADER):
            found.body_rest = kept.get(block, kept.SKIN_REST, b"")
            found.trailing = kept.get(block, kept.SKIN_TAIL, b"")
            break
    before = names.text(start.mesh_name)
    # A file that names none is found by its own name, and stays so; the game does not mind the case.
    fitting = old and mesh_name.lower() in {before.lower(), "" if before else f"{path.stem}.msh".lower()}
    wanted = (before if fitting else mesh_name) or getattr(options, "mesh_name", "") or before
    if not wanted and not old:
        wanted = f"{path.stem}.msh"
    found.mesh_name = names.kept(start.mesh_name, wanted, "MSH file") if old else names.field(wanted, "MSH file")
    book = Book(options, digest, path)
    found.materials = [book.record(material) for material in chosen]
    found.beside.update(book.files)
    return _converted(found, options, digest)


def _header(blocks: Sequence[bpy.types.ID]) -> bytes:
    for block in blocks:
        raw = kept.get(block, kept.SKIN_HEADER, b"")
        if len(raw) == skn.HEADER.itemsize:
            try:
                skn.of_header(raw)
            except FormatError:  # somebody else wrote there
                continue
            return bytes(raw)
    return b""


def _extra(blocks: Sequence[bpy.types.ID]) -> list[bpy.types.Material]:
    """The materials of the same file that came without a sub-mesh, in its order."""
    parts = {str(kept.get(block, kept.PART, "")) for block in blocks} - {""}
    found = [
        material
        for material in bpy.data.materials
        if kept.get(material, kept.PART, "") in parts and kept.has(material, kept.EXTRA)
    ]
    return sorted(found, key=lambda material: kept.get(material, kept.ORDER, 0))


def _stored_count(objects: Sequence[bpy.types.Object], header: bytes) -> int:
    """How many materials the file had; -1 without one, and where sub-meshes were added: each of them needs its own."""
    meshes = groups.sort(list(objects)).meshes
    if not header or not all(obj.data is not None and kept.has(obj.data, kept.SUBMESH) for obj in meshes):
        return -1
    return int.from_bytes(header[516:520], "little", signed=True)


def _chosen(
    made: list[bpy.types.Material | None], extra: list[bpy.types.Material], count: int
) -> list[bpy.types.Material | None]:
    """The materials to write: one for each sub-mesh, and what the file had more or fewer of.

    `count`: how many it had, -1 where they need not be as few.
    """
    if 0 <= count < len(made):
        while len(made) > count and made[-1] is None:
            made.pop()
    return [*made, *(material for material in extra if material not in made)]


def _converted(found: WrittenSkn, options: Any, digest: Digest) -> WrittenSkn:
    version = found.version if options.skin_version == "AUTO" else int(options.skin_version)
    if version != found.version and (found.trailing or found.body_rest):
        digest.add("the bytes behind the last material were left out, as the SKN is written in another version")
    # Of the known codes 0; what a file of the old version holds in its place means nothing.
    out = skn.converted(found, version, 0)
    return out if isinstance(out, WrittenSkn) else found


@dataclass
class Book:
    """The records of one SKN, and the textures that are written beside it, each once."""

    options: Any
    digest: Digest
    path: Path
    files: dict[Path, bytes] = field(default_factory=dict)
    _written: dict[str, str | None] = field(default_factory=dict)

    def record(self, material: bpy.types.Material | None) -> Material:
        """One material, as it was edited, or as its nodes say where it was made in Blender."""
        used = material is not None and materials.settings(material).is_used
        if material is None or not used:
            found = new_skin.record(material)
        else:
            found = records.record(material, materials.edited_textures(material))
        if self.options.use_textures and material is not None:
            self._take(material, found)
        return found

    def _take(self, material: bpy.types.Material, found: Material) -> None:
        """Write the pictures of a material; a name changes where its picture can only be written in another format."""
        pictures = {names.key(role): image for role, image in materials.linked_images(material).items()}
        seen: set[str] = set()
        for entry in found.properties:
            key = names.key(entry.name)
            if entry.kind is not Kind.TEXTURE or not entry.texture or key in seen:
                continue
            seen.add(key)
            image = pictures.get(key)
            name = self._write(image) if image is not None else None
            if name is None:
                self.digest.add("textures were not written, as there is no picture for them", subject=entry.texture)
            elif images.stem_and_extension(name)[1] != images.stem_and_extension(entry.texture)[1] and (
                self._is_new(image)
            ):
                entry.value = names.lpstr(name, "texture")

    def _write(self, image: bpy.types.Image) -> str | None:
        """The name an image was written under, None where it could not be."""
        if image.name not in self._written:
            made = images.encoded(image, self.options.texture_format)
            self._written[image.name] = None
            if made is not None:
                # The name comes out of a file: it must not lead out of the folder.
                name = textures.base_name(made[0])
                target = self.path.parent / name
                if self.files.setdefault(target, made[1]) != made[1]:
                    raise ExportError(f'two different pictures would be written as "{name}"')
                self._written[image.name] = name
                if self._is_new(image):
                    self.digest.add(
                        f"new pictures were written as {self.options.texture_format}, not as DDS", subject=name
                    )
        return self._written[image.name]

    @staticmethod
    def _is_new(image: bpy.types.Image | None) -> bool:
        """Whether an image is written anew, not copied."""
        return image is not None and (image.is_dirty or image.source != "FILE")
