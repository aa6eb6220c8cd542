# SPDX-License-Identifier: GPL-3.0-or-later
"""What the clips of one exported file share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ..formats import clip_records, names
from ..formats.clip_records import Style
from . import rig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...io_common.formats.digest import Digest
    from .ani_table import Table
    from .options import ExportAniOptions


@dataclass(eq=False)
class Job:
    """What the clips of one file share."""

    context: bpy.types.Context
    obj: bpy.types.Object
    table: Table
    options: ExportAniOptions
    digest: Digest
    style: Style
    has_helpers: bool = False

    @cached_property
    def ids(self) -> list[str]:
        """Of the bones of the file."""
        return bone_ids(self.obj, names.texts(self.table.bones["name"]))

    def bases(self) -> list[npt.NDArray[Any]]:
        """The base of each bone of the file, from its bind matrix; the identity for bones the armature lacks."""
        onto = self.table.onto
        bind = np.repeat(np.eye(4)[None], len(self.table.bones), axis=0)
        for bone, row in enumerate(onto.row.tolist()):
            if row >= 0:
                bind[row] = onto.rig.bind[bone]
        return clip_records.bind_bases(bind, self.table.parents)


def bone_ids(obj: bpy.types.Object, labels: Sequence[str]) -> list[str]:
    """What tells bones of files apart whatever they are called here: the bone of the armature, else the key."""
    found = rig.match(labels, obj)
    return [f"bone {name}" if name is not None else names.key(label) for name, label in zip(found, labels, strict=True)]


def plays_curves(obj: bpy.types.Object, name: str) -> bool:
    """Whether a bone is moved by quaternion, location and scale as the curves say."""
    bone = obj.pose.bones.get(name)
    if bone is None:
        return False
    data = bone.bone
    return (
        bone.rotation_mode == "QUATERNION"
        and data.inherit_scale == "FULL"
        and data.use_inherit_rotation
        and data.use_local_location
    )
