# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex weights are read as Blender shows them, however many shape keys lie beside them."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from addon.io_common.scene import mesh as meshes
from addon.io_common.scene import weights


@pytest.mark.parametrize("keys", [0, 3])
@pytest.mark.parametrize("attributes", [False, True])
def test_weights_are_those_of_the_vertices(keys: int, attributes: bool) -> None:
    count = 20
    mesh = meshes.from_points("Cloud", np.arange(3 * count, dtype=np.float32).reshape(-1, 3))
    obj = bpy.data.objects.new("Cloud", mesh)
    bpy.context.collection.objects.link(obj)
    rng = np.random.default_rng(2)
    for number in range(4):
        group = obj.vertex_groups.new(name=f"Group {number}")
        for vertex in np.flatnonzero(rng.random(count) < 0.5).tolist():
            group.add([vertex], float(rng.random()), "REPLACE")
    if attributes:
        for kind in ("INT", "FLOAT", "FLOAT_VECTOR"):
            mesh.attributes.new(f"Own {kind}", kind, "POINT")
    for number in range(keys):
        obj.shape_key_add(name=f"Key {number}").data[3].co.x += number
    wanted = [[(entry.group, entry.weight) for entry in vertex.groups] for vertex in mesh.vertices]
    assert weights.entries_of(mesh) == wanted
    found = weights.get(mesh)
    flat = [(vertex, *pair) for vertex, pairs in enumerate(wanted) for pair in sorted(pairs)]
    assert list(zip(found.vertex.tolist(), found.group.tolist(), found.value.tolist(), strict=True)) == flat
    assert len(mesh.shape_keys.key_blocks if mesh.shape_keys else ()) == keys
    assert "carnivores_dragonnest_no_keys" not in mesh.attributes


def test_no_groups_at_all() -> None:
    assert weights.entries_of(meshes.from_points("Cloud", np.zeros((5, 3), np.float32))) == []
