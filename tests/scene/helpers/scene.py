# SPDX-License-Identifier: GPL-3.0-or-later
"""Import, edit and export through the operators, as a user would."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from addon.io_carnivores.formats import ani, car, model_3df, model_3dn, vtl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CODECS = {".3df": model_3df, ".3dn": model_3dn, ".car": car, ".vtl": vtl, ".ani": ani}


def save(path: Path, model: Any) -> bytes:
    """Write `model` to `path` by its codec; the bytes."""
    data: bytes = CODECS[path.suffix.lower()].write(model)
    path.write_bytes(data)
    return data


def bring(path: Path, **options: Any) -> list[bpy.types.Object]:
    """Import `path` through its operator; the objects that were made, root first."""
    before = set(bpy.data.objects)
    operator = getattr(bpy.ops.import_scene, f"carnivores_{path.suffix.lower()[1:]}")
    assert operator(filepath=str(path), **options) == {"FINISHED"}
    made = [obj for obj in bpy.data.objects if obj not in before]
    return sorted(made, key=lambda obj: obj.parent is not None)


def bring_model(path: Path, model: Any, **options: Any) -> tuple[bytes, bpy.types.Object]:
    """Save and import `model`; its bytes and the mesh object."""
    data = save(path, model)
    return data, next(obj for obj in bring(path, **options) if obj.type == "MESH")


def export(path: Path, *objects: bpy.types.Object, **options: Any) -> bytes:
    """Export `objects`, or what is selected, to `path`; the bytes of that file."""
    if objects:
        select(*objects)
    operator = getattr(bpy.ops.export_scene, f"carnivores_{path.suffix.lower()[1:]}")
    # What the game would say of the strange values in these tests is not their subject.
    assert operator(filepath=str(path), **{"use_check": False, **options}) == {"FINISHED"}
    return path.read_bytes()


def select(*objects: bpy.types.Object) -> None:
    """Select these objects only, the first one active."""
    bpy.context.view_layer.update()
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


@contextlib.contextmanager
def edit_mode(obj: bpy.types.Object, pick: str = "") -> Iterator[None]:
    """Edit Mode on `obj` alone. `pick`: "all" or "none" selects its elements first."""
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    if pick:
        action = "SELECT" if pick == "all" else "DESELECT"
        (bpy.ops.mesh if obj.type == "MESH" else bpy.ops.armature).select_all(action=action)
    yield
    bpy.ops.object.mode_set(mode="OBJECT")


def pick(mesh: bpy.types.Mesh, domain: str, *numbers: int) -> None:
    """Select vertices ("VERT") or faces ("FACE") of a mesh, in Object Mode, and set that select mode."""
    for sequence in (mesh.vertices, mesh.edges, mesh.polygons):
        sequence.foreach_set("select", np.zeros(len(sequence), bool))
    bpy.context.tool_settings.mesh_select_mode = (domain == "VERT", False, domain == "FACE")
    for number in numbers:
        (mesh.vertices if domain == "VERT" else mesh.polygons)[number].select = True


def reopen(path: Path) -> None:
    """Save the scene to `path` and open it again."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


def the_mesh() -> bpy.types.Object:
    """The only mesh object there is."""
    (found,) = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    return found


def changes(before: bytes, after: bytes, suffix: str = ".3df") -> dict[str, list[int]]:
    """Field -> the items that differ between two files of the same counts, e.g. {"vertices.position": [5]}.

    Another count of something is given as {"faces": [before, after]}.
    """
    old, new = (CODECS[suffix].read(data) for data in (before, after))
    found: dict[str, list[int]] = {}
    for table in ("faces", "vertices", "bones"):
        a, b = getattr(old, table), getattr(new, table)
        if len(a) != len(b):
            found[table] = [len(a), len(b)]
            continue
        for name in a.dtype.names:
            x, y = (np.ascontiguousarray(t[name]).view(np.uint8).reshape(len(t), -1) for t in (a, b))
            differ = np.flatnonzero((x != y).any(axis=1)) if len(a) else []
            if len(differ):
                found[f"{table}.{name}"] = [int(i) for i in differ]
    if old.texels.shape != new.texels.shape:
        found["texels"] = [len(old.texels), len(new.texels)]
    elif (old.texels != new.texels).any():
        found["texels"] = [int(i) for i in np.flatnonzero(old.texels != new.texels)]
    for name in ("texture_rest", "texture_missing", "texture_name", "sprite_name", "has_sprite"):
        if getattr(old, name) != getattr(new, name):
            found[name] = []
    return found
