# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a scene keeps what Blender has no place for. Every name that is stored in a .blend stands here."""

from __future__ import annotations

from ...io_common.scene.properties import get, get_array, has, put

__all__ = ["get", "get_array", "has", "put"]

# On every mesh that came from an MSH, and on the objects of collisions and dummies.
PART = "dragonnest_part"  # an id of its own for every imported file
ORDER = "dragonnest_order"  # number in the file, from 1
LABEL = "dragonnest_label"  # the name it was given at import, of objects and of bones
SCALE = "dragonnest_scale"  # size of a file unit at import
# On meshes, and on the holder of a file without sub-meshes: what belongs to the file as a whole.
HEADER = "dragonnest_header"  # its 1024 bytes
BONES = "dragonnest_bones"  # the bone table, raw
TAIL = "dragonnest_tail"  # bytes behind the end
BOUNDS = "dragonnest_bounds"  # maximum and minimum of all vertices at import, 6 f4
HOLDER = "dragonnest_holder"  # stands for a file without sub-meshes
# On meshes: the sub-mesh, raw, header and streams; that it hung on its parent bone.
SUBMESH = "dragonnest_submesh"
RIGID = "dragonnest_rigid"
# Point attribute (INT): the vertex's number in its sub-mesh plus one; new vertices get 0 from Blender.
VERTEX = "dragonnest_vertex"
# On meshes: what belongs to the SKN of their file as a whole.
SKIN_HEADER = "dragonnest_skin_header"  # its 1024 bytes
SKIN_REST = "dragonnest_skin_rest"  # bytes behind the last material, inside the body of version 11
SKIN_TAIL = "dragonnest_skin_tail"  # bytes behind the end
# On materials, beside PART, ORDER and LABEL: the record as it came, properties included.
SKIN = "dragonnest_skin"
EXTRA = "dragonnest_extra"  # came without a sub-mesh
# On images.
TEXTURE = "dragonnest_texture"  # the name a material calls it by
MISSING = "dragonnest_missing"  # stands in for a texture that was not found
CLEAR = "dragonnest_clear"  # whether it is anywhere not opaque: 1 no, 2 yes
# On shader nodes that were made for a property: what they are for.
ROLE = "dragonnest_role"

# On objects of collisions and dummies: the record, raw, and what the scene said of it when it was made.
COLLISION = "dragonnest_collision"  # type number plus one
DUMMY = "dragonnest_dummy"
RECORD = "dragonnest_record"
MADE = "dragonnest_made"

# On armatures.
HIERARCHY = "dragonnest_hierarchy"  # where the hierarchy comes from: ANI, INFERRED or MADE
HIERARCHY_FROM = "dragonnest_hierarchy_from"  # name of that file
# On bones.
BIND = "dragonnest_bind"  # the file's inverse bind matrix, 16 f4
REST = "dragonnest_rest"  # the rest matrix that was made of it, 16 f4
NAME = "dragonnest_name"  # the name field, raw, without the NULs at its end
GUESSED = "dragonnest_guessed"  # what it hangs on was guessed, on an armature whose other links are known
HELPER = "dragonnest_helper"  # in no model: an animation brought it
CARRIER = "dragonnest_carrier"  # in no file: it shears the bone that hangs on it (see `carriers`)
# On armatures too: the animation files that were imported onto them, as JSON (see `clips`).
ANIS = "dragonnest_anis"

# On meshes, on armatures of animations, on Texts: the archive and the entries in it that they came out of.
ARCHIVE = "dragonnest_archive"  # path of the archive of the main file
MSH_ENTRY = "dragonnest_msh_entry"
SKN_ENTRY = "dragonnest_skn_entry"
ANI_ENTRY = "dragonnest_ani_entry"
TABLE_ENTRY = "dragonnest_table_entry"

# On Texts: path of the table that they were opened from.
TABLE = "dragonnest_table"
TABLE_SUM = "dragonnest_table_sum"  # size and checksum of that file when it was read or written last

# On Actions: the clip, a file of its own, zlib-compressed; the file it came from, and its numbers in it from 1.
CLIP = "dragonnest_clip"
SOURCE = "dragonnest_ani"
ANI_PART = "dragonnest_ani_part"  # of a text list
CURVES = "dragonnest_curves"  # checksums of the curves of each bone of the file, and of the object
SPARE = "dragonnest_spare"  # checksums of the curves of bones that only other files of its list have, as JSON
RIG = "dragonnest_rig"  # rest matrices and parents of these bones, zlib-compressed
IN_PLACE = "dragonnest_in_place"  # its root bones were kept from going along the ground
END = "dragonnest_end"  # its last frame, as it was set
