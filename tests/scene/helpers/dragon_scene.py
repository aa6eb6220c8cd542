# SPDX-License-Identifier: GPL-3.0-or-later
"""Import, edit and export Dragon Nest files through the operators, as a user would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from addon.io_dragonnest.formats import msh

from tests.scene.helpers import scene

if TYPE_CHECKING:
    from pathlib import Path


def save(path: Path, model: msh.Msh) -> bytes:
    """Write `model`; the bytes."""
    data = msh.write(model)
    path.write_bytes(data)
    return data


def bring(path: Path, **options: Any) -> list[bpy.types.Object]:
    """Import `path`; the objects that were made: armature, sub-meshes, collisions, dummies."""
    before = set(bpy.data.objects)
    operator = getattr(bpy.ops.import_scene, f"dragonnest_{path.suffix.lower()[1:]}")
    assert operator(filepath=str(path), **options) == {"FINISHED"}
    return [obj for obj in bpy.data.objects if obj not in before]


def meshes() -> list[bpy.types.Object]:
    """The sub-meshes in the scene, in file order."""
    found = [obj for obj in bpy.data.objects if obj.type == "MESH" and "dragonnest_submesh" in obj.data]
    return sorted(found, key=lambda obj: obj.data["dragonnest_order"])


def rig() -> bpy.types.Object:
    """The only armature."""
    (found,) = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    return found


def export(path: Path, *objects: bpy.types.Object, **options: Any) -> bytes:
    """Export `objects`, or what is selected, to `path`; the bytes of that file."""
    if objects:
        scene.select(*objects)
    operator = getattr(bpy.ops.export_scene, f"dragonnest_{path.suffix.lower()[1:]}")
    assert operator(filepath=str(path), **{"use_check": False, **options}) == {"FINISHED"}
    return path.read_bytes()


def differences(before: bytes, after: bytes) -> set[str]:
    """The names of the fields in which two files of the same length differ."""
    from addon.io_common.formats import fields

    assert len(before) == len(after)
    table = msh.sections(before)
    return {fields.locate(table, at) for at, (a, b) in enumerate(zip(before, after, strict=True)) if a != b}
