# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of objects in the scene: what an export would write, looked at without writing, and shown in the mesh."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from ...io_common.formats.digest import Digest
from ...io_common.formats.issues import Issue, Severity
from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import check, check_character
from ..formats.limits import LIMITS
from . import character, clips, extract, face_flags, part
from .options import Export3dnOptions, ExportCharacterOptions, ExportOptions

if TYPE_CHECKING:
    import bpy


# Attributes that live only while modifiers are evaluated, which carry them along to the faces and vertices they make.
_FACE_ORIGIN = "carnivores_origin_face"
_VERTEX_ORIGIN = "carnivores_origin_vertex"


def options_for(game: str) -> ExportOptions:
    """The export options with which objects are checked for `game`: the defaults of the format it loads."""
    if LIMITS[game].extension == "3dn":
        return Export3dnOptions(game=game, texture="ALWAYS")  # written or not, the picture counts
    return ExportOptions(game=game)


def inspect(context: bpy.types.Context, obj: bpy.types.Object, game: str, digest: Digest) -> list[Issue]:
    """Issues of one object, exported alone. Raises `UserError` where it cannot be exported at all."""
    options = options_for(game)
    kind = LIMITS[game].extension
    if kind != "3dn" and obj.type == "MESH" and len(clips.animations(obj.data)):
        options = ExportCharacterOptions(game=game)
        found = character.extract_car(context, [obj], options, digest, Path(obj.name))
        return check_character.check(found, game)
    if isinstance(options, Export3dnOptions):
        model = extract.extract_3dn(context, [obj], options, digest, Path(obj.name))
    else:
        model = extract.extract_3df(context, [obj], options, digest, Path(obj.name))
    # What the export would warn of is worth knowing here too.
    notes = [Issue(Severity.WARNING, "export-note", line) for line in digest.lines]
    return check.check(model, game, kind) + notes


def select(context: bpy.types.Context, obj: bpy.types.Object, game: str, issue: Issue) -> int:
    """Select in the mesh of `obj`, in Object Mode, what `issue` is about; how many faces or vertices that are."""
    mesh = cast("bpy.types.Mesh", obj.data)
    faces, vertices = _origins(context, obj, options_for(game))
    if len(issue.faces):
        return face_flags.select(mesh, _mask(faces[issue.faces], len(mesh.polygons)), extend=False)
    return face_flags.select_vertices(mesh, _mask(vertices[issue.vertices], len(mesh.vertices)))


def _mask(numbers: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros(size, np.bool_)
    mask[numbers[(numbers >= 0) & (numbers < size)]] = True
    return mask


def _origins(
    context: bpy.types.Context, obj: bpy.types.Object, options: ExportOptions
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For every face and every vertex of the exported model its number in the mesh of `obj`, -1 where it has none."""
    mesh = cast("bpy.types.Mesh", obj.data)
    numbers = ((_FACE_ORIGIN, "FACE", len(mesh.polygons)), (_VERTEX_ORIGIN, "POINT", len(mesh.vertices)))
    with selection.shape(context, obj, modifiers=options.use_mesh_modifiers, keys=part.keys_count(obj)) as shown:
        plain = shown == mesh
    try:
        if not plain:
            for name, domain, count in numbers:
                meshes.set_attribute(mesh, name, "INT", domain, np.arange(count, dtype=np.int32))
            mesh.update_tag()
        order = extract.written_order(part.extract(context, obj, options, Digest()))
        with selection.shape(context, obj, modifiers=options.use_mesh_modifiers, keys=part.keys_count(obj)) as shown:
            face = meshes.get_triangles(shown).face
            vertices = np.arange(len(shown.vertices), dtype=np.int32)
            if not plain:
                face = _origin(shown, _FACE_ORIGIN, "FACE", len(shown.polygons))[face]
                vertices = _origin(shown, _VERTEX_ORIGIN, "POINT", len(vertices))
    finally:
        for name, _domain, _count in numbers:
            if name in mesh.attributes:
                mesh.attributes.remove(mesh.attributes[name])
    return np.append(face, np.int32(-1))[order], vertices


def _origin(mesh: bpy.types.Mesh, name: str, domain: str, count: int) -> npt.NDArray[np.int32]:
    values = meshes.get_attribute(mesh, name, "INT", domain)
    return values if values is not None else np.full(count, -1, np.int32)
