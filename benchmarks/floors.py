# SPDX-License-Identifier: GPL-3.0-or-later
"""The floors: the bare Blender calls that a model needs, on arrays that are ready, in the fastest form known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bmesh
import bpy
import numpy as np
from addon.io_carnivores.formats import texels, tga
from addon.io_common.scene import armature

if TYPE_CHECKING:
    from addon.io_carnivores.formats.model import Model

_LOOK = 0x6F  # the flags that make a face look different


@dataclass
class Ready:
    """Everything of a model in the form in which Blender takes it."""

    positions: Any
    corners: Any
    starts: Any
    uv: Any
    face_values: list[Any]
    owner: Any
    material_index: Any
    looks: list[int]
    groups: list[tuple[str, list[int]]]
    bone_names: list[str]
    heads: list[Any]
    tails: list[Any]
    parents: list[int]
    picture: bytes
    width: int = 256
    rows: int = 256
    kept: dict[str, bytes] = field(default_factory=dict)


def ready(model: Model) -> Ready:
    """Do all that is not Blender's in advance."""
    faces, vertices, bones = model.faces, model.vertices, model.bones
    order = [0, 2, 1]
    uv = np.stack((faces["u"][:, order], faces["v"][:, order]), axis=2).astype(np.float32) / 256
    looks, index = np.unique(faces["flags"] & _LOOK, return_inverse=True)
    heads = bones["position"][:, order].astype(np.float64)
    names = [f"bone {number}" for number in range(len(bones))]
    owned = [np.flatnonzero(vertices["owner"] == number).tolist() for number in range(len(bones))]
    parents = bones["parent"].tolist()
    values = ("flags", "group", "distant", "next")
    return Ready(
        positions=np.ascontiguousarray(vertices["position"][:, order]).ravel(),
        corners=np.ascontiguousarray(faces["corner"][:, order], np.int32).ravel(),
        starts=np.arange(0, 3 * len(faces), 3, dtype=np.int32),
        uv=uv.ravel(),
        face_values=[np.arange(len(faces), dtype=np.int32), *(faces[name].astype(np.int32) for name in values)],
        owner=vertices["owner"].astype(np.int32),
        material_index=index.reshape(-1).astype(np.int32),
        looks=looks.tolist(),
        groups=list(zip(names, owned, strict=True)),
        bone_names=names,
        heads=heads.tolist(),
        tails=armature.tails(heads, parents).tolist(),
        parents=parents,
        picture=tga.write(texels.expand_keyed(model.texels)) if len(model.texels) else b"",
        rows=len(model.texels),
        kept={"bones": bones.tobytes(), "texels": model.texels.tobytes()},
    )


def build(data: Ready) -> None:
    """Mesh, attributes, vertex groups, image, materials, armature."""
    mesh = bpy.data.meshes.new("floor")
    faces = len(data.starts)
    mesh.vertices.add(len(data.owner))
    mesh.attributes["position"].data.foreach_set("vector", data.positions)
    mesh.loops.add(3 * faces)
    mesh.polygons.add(faces)
    mesh.attributes[".corner_vert"].data.foreach_set("value", data.corners)
    mesh.polygons.foreach_set("loop_start", data.starts)
    mesh.update(calc_edges=True)
    mesh.uv_layers.new(name="UVMap", do_init=False).uv.foreach_set("vector", data.uv)
    for number, values in enumerate(data.face_values):
        mesh.attributes.new(f"face {number}", "INT", "FACE").data.foreach_set("value", values)
    mesh.attributes.new("owner", "INT", "POINT").data.foreach_set("value", data.owner)
    mesh.attributes.new("material_index", "INT", "FACE").data.foreach_set("value", data.material_index)
    mesh["bones"] = data.kept["bones"]
    obj = bpy.data.objects.new("floor", mesh)
    bpy.context.collection.objects.link(obj)
    for name, members in data.groups:
        obj.vertex_groups.new(name=name).add(members, 1.0, "REPLACE")
    image = _image(data) if data.picture else None
    for look in data.looks:
        mesh.materials.append(_material(look, image))
    rig = _armature(data, obj) if data.heads else obj
    bpy.context.view_layer.update()
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig


def _image(data: Ready) -> bpy.types.Image:
    image = bpy.data.images.new("floor", data.width, data.rows, alpha=True)
    image.filepath_raw = "//floor.tga"
    image.pack(data=data.picture, data_len=len(data.picture))
    image.source = "FILE"
    image["texels"] = data.kept["texels"]
    return image


def _material(look: int, image: bpy.types.Image | None) -> bpy.types.Material:
    material = bpy.data.materials.new("floor")
    material.use_backface_culling = not look & 1
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = 1.0
    shader.inputs["Specular IOR Level"].default_value = 0.0
    if image is not None:
        texture = tree.nodes.new("ShaderNodeTexImage")
        texture.image = image
        tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
        if look & 0x0C:
            edge = tree.nodes.new("ShaderNodeMath")
            tree.links.new(texture.outputs["Alpha"], edge.inputs[0])
            tree.links.new(edge.outputs[0], shader.inputs["Alpha"])
    return material


def _armature(data: Ready, obj: bpy.types.Object) -> bpy.types.Object:
    block = bpy.data.armatures.new("floor")
    rig = bpy.data.objects.new("floor rig", block)
    # In a scene of its own: a change of mode evaluates the scene it happens in.
    scene = bpy.data.scenes.new("floor")
    scene.collection.objects.link(rig)
    layer = scene.view_layers[0]
    layer.update()
    layer.objects.active = rig
    with bpy.context.temp_override(scene=scene, view_layer=layer, object=rig, active_object=rig):
        bpy.ops.object.mode_set(mode="EDIT")
        bones = []
        for name, head, tail, parent in zip(data.bone_names, data.heads, data.tails, data.parents, strict=True):
            bone = block.edit_bones.new(name)
            bone.head = head
            bone.tail = tail
            if parent >= 0:
                bone.parent = bones[parent]
            bones.append(bone)
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.scenes.remove(scene)
    bpy.context.collection.objects.link(rig)
    for number, name in enumerate(data.bone_names):
        block.bones[name]["number"] = number
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    return rig


def extract(obj: bpy.types.Object) -> list[Any]:
    """Everything of an imported model read out of Blender: arrays, weights, pixels, bones."""
    bpy.context.view_layer.update()
    mesh = obj.data
    out: list[Any] = []
    for attribute in mesh.attributes:
        width, key, kind = _READ.get(attribute.data_type, (0, "", None))
        if width and (not attribute.name.startswith(".") or attribute.name == ".corner_vert"):
            values = np.empty(len(attribute.data) * width, kind)
            attribute.data.foreach_get(key, values)
            out.append(values)
    starts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", starts)
    out.append(starts)
    out.append(_weights(mesh))
    image = next(
        node.image for material in mesh.materials for node in material.node_tree.nodes if node.type == "TEX_IMAGE"
    )
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    out.append(pixels)
    if obj.parent is not None:
        out += [(bone.name, tuple(bone.head_local), bone.parent) for bone in obj.parent.data.bones]
    return out


_READ = {
    "FLOAT_VECTOR": (3, "vector", np.float32),
    "FLOAT2": (2, "vector", np.float32),
    "INT": (1, "value", np.int32),
}


def _weights(mesh: bpy.types.Mesh) -> list[Any]:
    # There is no bulk call for weights.
    bm = bmesh.new()
    bm.from_mesh(mesh)
    layer = bm.verts.layers.deform.active
    out = [vertex[layer].items() for vertex in bm.verts] if layer is not None else []
    bm.free()
    return out
