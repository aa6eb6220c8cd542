# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a scene keeps what Blender has no place for. Every name that is stored in a .blend stands here.

Attributes of the mesh carry what belongs to a vertex, face or corner, so that it follows every edit; custom properties
of the mesh carry what belongs to the file; custom properties of the image carry the texels as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_common.scene.properties import copy, get, get_array, has, put
from ..formats import frame_pack

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ...io_common.scene.properties import Block

__all__ = ["copy", "get", "get_array", "has", "put"]

# Face attributes (INT).
FLAGS = "carnivores_flags"
GROUP = "carnivores_group"
DISTANT = "carnivores_distant"
NEXT = "carnivores_next"
DMASK = "carnivores_dmask"
RESERVED = ("carnivores_reserved_0", "carnivores_reserved_1", "carnivores_reserved_2")
# The face's number in the file it came from, plus one: new faces get 0 from Blender; -1: new, with flags of its own.
FACE_INDEX = "carnivores_face"
# Point attributes (INT).
OWNER = "carnivores_owner"
HIDE = "carnivores_hide"
BODY = "carnivores_body"  # owner number of the bone a vertex was shown on, where some follow another than their owner
VERTEX_INDEX = "carnivores_vertex"  # number plus one; where degenerate faces or frames have to find their vertices
# Point attributes (FLOAT_VECTOR) of a character.
REST = "carnivores_rest_position"  # the shape it was given at import: what its bones move, or the base pose
BASE = "carnivores_base_position"  # the base pose of the file, where it is another
# Corner attribute (INT32_2D), only where float32 cannot hold the texel.
TEXEL = "carnivores_texel"

# Custom properties of the mesh.
KIND = "carnivores_kind"  # id of the format it came from
SCALE = "carnivores_scale"  # size of a file unit at import
FLIP = "carnivores_flip"  # corners are in file order, not reversed
FACES = "carnivores_faces"  # how many faces the file had
VERTICES = "carnivores_vertices"  # how many vertices an animation without frames states; the mesh has none
ROWS = "carnivores_rows"  # rows of the texture that the UVs were made for; 0: the file had none
BONES = "carnivores_bones"  # the bone table, raw
DEGENERATE = "carnivores_degenerate"  # faces with a repeated corner, raw; Blender hangs on them
DEGENERATE_AT = "carnivores_degenerate_at"  # their numbers in the file, i4
TEXTURE_REST = "carnivores_texture_rest"
TEXTURE_MISSING = "carnivores_texture_missing"
TEXTURE_NAME = "carnivores_texture_name"
SPRITE_NAME = "carnivores_sprite_name"
HAS_SPRITE = "carnivores_has_sprite"
NAME_BLOCK = "carnivores_name_block"
SOUND_TABLE = "carnivores_sound_table"
# Custom property of a bone: its number in the table.
BONE_INDEX = "carnivores_index"
OWNER_NUMBER = "carnivores_owner"  # of a recovered bone: the owner it stands for
BONE_NAME = "carnivores_name"  # of a recovered bone: what its Actions call it
# Custom properties of an image.
TEXELS = "carnivores_texels"  # the words as they were, raw
KEYED = "carnivores_keyed"  # texel 0 is shown as a hole
SOURCE = "carnivores_source"  # digest of the pixels of a texture that came from a file of its own
# Custom property of a material: the face flags it shows.
LOOK = "carnivores_look"
# Custom properties of a mesh that came with a CAT: the text, the title and the file name of its model.
CAT = "carnivores_cat"
CAT_TITLE = "carnivores_cat_title"
CAT_MODEL = "carnivores_cat_model"
# Custom properties of an Action that was made of the frames of a file.
FRAMES = "carnivores_frames"  # the frames, raw, in scenes saved before they were packed
PACKED_FRAMES = "carnivores_packed_frames"  # the frames, see `put_frames`
MOTION = "carnivores_motion"  # how each body stood in each frame, packed, see `residual.Poses`
BODIES = "carnivores_bodies"  # which body each vertex was on, i2
WEIGHTS = "carnivores_weights"  # digests of the weights it was made for, u4; where those are not the imported ones
SOFT = "carnivores_soft"  # which vertices shape keys take along, u1
MEAN = "carnivores_mean"  # where its keys were in the mean, by vertex numbers, f4
PLACE = "carnivores_place"  # (4, 4) f8: from the space of its mesh to where the file has its frames, where not the same
CARRIED = "carnivores_carried"  # (4, 4) f8: from the space of its armature to there
CURVES_PRINT = "carnivores_curves"  # digest of the curves as they were made
# Custom property of a mesh: digest of the bones and groups that its Actions were made for.
RIG_PRINT = "carnivores_rig"
# Custom property of a mesh: the rest position of every vertex number, f4; of an Action: where it was made for another.
REST_SHAPE = "carnivores_rest"


def put_frames(block: Block, frames: npt.NDArray[np.int16]) -> None:
    """Keep the frames (N, V, 3) that `block` was made of, without loss in less than half their size."""
    put(block, FRAMES, b"")
    put(block, PACKED_FRAMES, frame_pack.pack(frames))


def has_frames(block: Block) -> bool:
    """Whether `block` was made of the frames of a file."""
    return has(block, PACKED_FRAMES) or has(block, FRAMES)


def get_frames(block: Block, vertices: int) -> npt.NDArray[np.int16] | None:
    """The frames that `put_frames` kept, (N, V, 3) `<i2`; None when there are none, or not of so many vertices."""
    frames = frame_pack.unpack(get(block, PACKED_FRAMES, b""))
    if frames is None:
        raw = get_array(block, FRAMES, "<i2")
        fits = vertices > 0 and len(raw) > 0 and len(raw) % (3 * vertices) == 0
        return raw.reshape(-1, vertices, 3) if fits else None
    return frames if frames.shape[1] == vertices else None
