# SPDX-License-Identifier: GPL-3.0-or-later
"""A static model to Blender data-blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...io_common.formats.axes import FILE_Y_UP, REVERSED
from ...io_common.scene import armature
from ...io_common.scene import mesh as meshes
from ..formats import model as records
from ..formats.flags import FaceFlag
from ..formats.texture_space import is_exact, to_uv
from . import kept, materials, pictures, skeleton

if TYPE_CHECKING:
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from ..formats.model import Model
    from .options import ImportOptions


MOST_GROUPS = 4096
"""Bones and owners that get a bone and a vertex group. Blender looks through all names for each new one, so the time
grows with the square: seconds for ten thousand, minutes for what a small file can hold. The games stop at 1024."""


def build(
    context: bpy.types.Context, model: Model, path: Path, options: ImportOptions, digest: Digest, kind: str
) -> list[bpy.types.Object]:
    """Mesh object, and armature object when there are bones; the root comes first. `kind` is the format's id."""
    name = armature.fit_name(path.stem) or "Model"
    mesh = build_mesh(model, name, options, kind)
    obj = bpy.data.objects.new(name, mesh)
    collection = _collection(context, name, own=options.use_collection)
    collection.objects.link(obj)
    groups = skeleton.group_names(model.bones, model.vertices["owner"])
    shown = len(groups) <= MOST_GROUPS
    if shown:
        meshes.set_rigid_groups(obj, list(groups.values()), _dense(model.vertices["owner"], list(groups)))
    else:
        digest.add("the model has too many bones to be shown; they are only kept for export", subject=path.name)
    image = _image(model, name, path, digest)
    materials.assign(mesh, model_flags(mesh), name, image)
    made = [obj]
    if options.use_bones and shown and len(model.bones):
        made.insert(0, _skeleton(context, model, obj, list(groups.values()), collection))
    made[0].scale = (options.global_scale,) * 3
    if made[0] is not obj:
        hold_scale(obj, options.global_scale)
    _note(model, path, digest)
    return made


def hold_scale(obj: bpy.types.Object, scale: float) -> None:
    """Give a mesh under an armature the scale too, undone by its parent inverse: so it stays when the armature goes."""
    obj.scale = (scale,) * 3
    undo = 1.0 / float(np.float32(scale))
    obj.matrix_parent_inverse = np.diag((undo, undo, undo, 1.0)).tolist()


def _collection(context: bpy.types.Context, name: str, *, own: bool) -> bpy.types.Collection:
    if not own:
        return cast("bpy.types.Collection", context.collection)
    collection = bpy.data.collections.new(name)
    context.collection.children.link(collection)
    return collection


def _note(model: Model, path: Path, digest: Digest) -> None:
    if model.texture_missing:
        digest.add("the file ends where its texture should start; the model is shown without one", subject=path.name)
    owner = model.vertices["owner"]
    if len(model.bones) and bool(((owner < 0) | (owner >= len(model.bones))).any()):
        digest.add("some vertices belong to a bone that does not exist", subject=path.name)


def build_mesh(model: Model, name: str, options: ImportOptions, kind: str) -> bpy.types.Mesh:
    """The mesh with everything of the file that is not a bone name or a texel kept on it."""
    faces = model.faces
    corner = faces["corner"]
    degenerate = (corner[:, 0] == corner[:, 1]) | (corner[:, 1] == corner[:, 2]) | (corner[:, 2] == corner[:, 0])
    numbers = np.flatnonzero(~degenerate).astype(np.int32)
    shown = faces if len(numbers) == len(faces) else faces[numbers]
    order = np.arange(3) if options.flip_faces else REVERSED
    mesh = meshes.from_triangles(
        name, FILE_Y_UP.apply(model.vertices["position"]), shown["corner"][:, order].astype(np.int32)
    )
    _set_uvs(mesh, shown["u"][:, order], shown["v"][:, order], len(model.texels))
    _set_face_attributes(mesh, shown, numbers)
    meshes.set_attribute(mesh, kept.OWNER, "INT", "POINT", model.vertices["owner"])
    if model.vertices["hide"].any():
        meshes.set_attribute(mesh, kept.HIDE, "INT", "POINT", model.vertices["hide"])
    if degenerate.any():
        meshes.set_attribute(mesh, kept.VERTEX_INDEX, "INT", "POINT", np.arange(len(model.vertices)) + 1)
        kept.put(mesh, kept.DEGENERATE, faces[degenerate].tobytes())
        kept.put(mesh, kept.DEGENERATE_AT, np.flatnonzero(degenerate).astype("<i4").tobytes())
    _keep(mesh, model, options, kind)
    return mesh


def _set_uvs(mesh: bpy.types.Mesh, u: npt.NDArray[Any], v: npt.NDArray[Any], texture_rows: int) -> None:
    rows = texture_rows or 256
    uv = to_uv(u, v, rows)
    meshes.set_uv(mesh, uv)
    if not is_exact(u, v, rows):
        texel = np.stack((u.reshape(-1), v.reshape(-1)), axis=1)
        meshes.set_attribute(mesh, kept.TEXEL, "INT32_2D", "CORNER", texel)


def _set_face_attributes(mesh: bpy.types.Mesh, faces: npt.NDArray[Any], numbers: npt.NDArray[np.int32]) -> None:
    meshes.set_attribute(mesh, kept.FACE_INDEX, "INT", "FACE", numbers + 1)
    meshes.set_attribute(mesh, kept.FLAGS, "INT", "FACE", faces["flags"])
    meshes.set_attribute(mesh, kept.GROUP, "INT", "FACE", faces["group"])
    optional = [(kept.DISTANT, faces["distant"]), (kept.NEXT, faces["next"]), (kept.DMASK, faces["dmask"])]
    optional += [(name, faces["reserved"][:, slot].view(np.int32)) for slot, name in enumerate(kept.RESERVED)]
    for name, values in optional:
        if values.any():
            meshes.set_attribute(mesh, name, "INT", "FACE", values)


def _keep(mesh: bpy.types.Mesh, model: Model, options: ImportOptions, kind: str) -> None:
    mesh[kept.KIND] = kind
    mesh[kept.SCALE] = float(np.float32(options.global_scale))
    mesh[kept.FACES] = len(model.faces)
    mesh[kept.ROWS] = len(model.texels)
    kept.put(mesh, kept.FLIP, options.flip_faces)
    kept.put(mesh, kept.BONES, model.bones.tobytes())
    kept.put(mesh, kept.TEXTURE_REST, model.texture_rest)
    kept.put(mesh, kept.TEXTURE_MISSING, float(model.texture_missing))
    kept.put(mesh, kept.TEXTURE_NAME, model.texture_name)
    kept.put(mesh, kept.SPRITE_NAME, model.sprite_name)
    kept.put(mesh, kept.HAS_SPRITE, model.has_sprite)


def model_flags(mesh: bpy.types.Mesh) -> npt.NDArray[np.int32]:
    """The face flags a mesh carries, (F,); zeros when it carries none."""
    flags = meshes.get_attribute(mesh, kept.FLAGS, "INT", "FACE")
    return flags if flags is not None else np.zeros(len(mesh.polygons), np.int32)


def _dense(owner: npt.NDArray[Any], numbers: list[int]) -> npt.NDArray[np.integer]:
    """Each owner's place in the ascending list `numbers`, -1 for those that are not in it."""
    listed = np.array(numbers, np.int64)
    # Owners are 16-bit numbers: a table of all of them is faster than a search, and 16 bits sort faster than 64.
    place = np.full(0x10000, -1, np.int16 if len(listed) < 0x8000 else np.int32)
    inside = listed < 0x8000
    place[listed[inside]] = np.flatnonzero(inside)
    return place[owner]


def _image(model: Model, name: str, path: Path, digest: Digest) -> bpy.types.Image | None:
    keyed = bool((model.faces["flags"] & int(FaceFlag.OPACITY | FaceFlag.TRANSPARENT)).any())
    if len(model.texels):
        return pictures.from_words(name, model.texels, keyed=keyed)
    texture = model.texture
    if texture is None:
        return None
    title = armature.fit_name(records.label(model.texture_name)) or name
    if texture.picture is None:
        image = pictures.from_file_bytes(title, texture.encoded, texture.suffix)
        if not pictures.is_readable(image):
            bpy.data.images.remove(image)
            digest.add(f'the texture "{title}" is damaged; the model is shown without it', subject=path.name)
            return None
        shown = pictures.read(image)
    else:
        image = pictures.from_picture(title, texture.picture)
        shown = texture.picture  # Blender reads the same back, but takes five times the memory for it
    image[kept.SOURCE] = pictures.fingerprint(shown)
    return image


def _skeleton(
    context: bpy.types.Context, model: Model, obj: bpy.types.Object, names: list[str], collection: bpy.types.Collection
) -> bpy.types.Object:
    count = len(model.bones)
    heads = armature.bearable(FILE_Y_UP.apply(model.bones["position"].astype(np.float64)))
    parents = armature.sane_parents(model.bones["parent"].tolist())
    rig = armature.build(context, f"{obj.name} Armature", names[:count], heads, parents)
    for number, name in enumerate(names[:count]):
        rig.data.bones[name][kept.BONE_INDEX] = number
    collection.objects.link(rig)
    attach(obj, rig)
    return rig


def attach(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Let an armature carry and deform a mesh."""
    rig.show_in_front = True
    rig.data.display_type = "STICK"
    obj.parent = rig
    modifier = cast("bpy.types.ArmatureModifier", obj.modifiers.new("Armature", "ARMATURE"))
    modifier.object = rig
