# SPDX-License-Identifier: GPL-3.0-or-later
"""What the check looked at, as a digest: findings of what was changed since are out of date."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

import bmesh
import numpy as np

from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..scene import clips, curves, face_flags
from .live import live

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy

_LISTED = ("name", "kps", "frames", "use_length", "use_scene", "start", "end", "sound")


def check_print(objects: Sequence[bpy.types.Object | None]) -> str:
    """A digest of shape, faces, place, animations and sounds of `objects`; None stands for one that is gone.

    What takes time is worked out again only where Blender says that it changed.
    """
    digest = hashlib.blake2b(digest_size=16)
    for obj in objects:
        digest.update(repr(None if obj is None else _parts(obj)).encode())
    return digest.hexdigest()


def _parts(obj: bpy.types.Object) -> tuple[object, ...]:
    watched = live()
    shape = ""
    if obj.type == "MESH":
        shape = watched.remembered(("shape", obj.session_uid), watched.version(obj), lambda: _shape(obj))
    items = clips.animations(obj.data)
    actions = [
        watched.remembered(
            ("action", action.session_uid),
            watched.changes(action),
            lambda action=action: curves.fingerprint(action),  # type: ignore[misc]
        )
        for item in items
        for action in clips.actions(item)
    ]
    listed = [[getattr(item, name) for name in _LISTED] for item in items]
    sounds = [(item.name, item.sound and item.sound.name) for item in clips.sounds(obj.data)]
    rig = selection.armature_of(obj)
    bones = len(cast("bpy.types.Armature", rig.data).bones) if rig is not None else 0
    return shape, np.array(obj.matrix_world).tolist(), actions, listed, sounds, bones


def _shape(obj: bpy.types.Object) -> str:
    """A digest of positions, corners, flags and UVs."""
    digest = hashlib.blake2b(digest_size=16)
    for values, kind in zip(_edited(obj) if obj.mode == "EDIT" else _arrays(obj), "fiif", strict=True):
        digest.update(np.asarray(values, f"<{kind}4").tobytes())
    return digest.hexdigest()


def _arrays(obj: bpy.types.Object) -> tuple[Any, ...]:
    mesh: Any = obj.data
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    uvs = np.empty(2 * len(corners) if mesh.uv_layers.active is not None else 0, np.float32)
    if len(uvs):
        mesh.uv_layers.active.uv.foreach_get("vector", uvs)
    return meshes.get_positions(mesh), corners, face_flags.read(obj), uvs


def _edited(obj: bpy.types.Object) -> tuple[Any, ...]:
    """The same in Edit Mode, where only bmesh knows, which has no bulk access."""
    bm = bmesh.from_edit_mesh(cast("bpy.types.Mesh", obj.data))
    bm.verts.index_update()
    layer = bm.loops.layers.uv.active
    loops = [loop for face in bm.faces for loop in face.loops]
    return (
        [vertex.co[:] for vertex in bm.verts],
        [loop.vert.index for loop in loops],
        live().edited(obj).flags,
        [loop[layer].uv[:] for loop in loops] if layer is not None else (),
    )
