# SPDX-License-Identifier: GPL-3.0-or-later
"""The one file that asks what this Blender can do; by feature where possible, by version where not."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

import bpy

if TYPE_CHECKING:
    from pathlib import Path


def node_tree(material: bpy.types.Material) -> bpy.types.NodeTree:
    """The node tree of `material`; before 5.0 it has to be switched on, from 5.0 switching it on warns."""
    if material.node_tree is None:
        material.use_nodes = True
    return cast("bpy.types.NodeTree", material.node_tree)


def set_blended(material: bpy.types.Material, *, blended: bool) -> None:
    """Whether the material is sorted and blended like glass, or dithered, which shows a hard edge of alpha as it is."""
    if hasattr(material, "surface_render_method"):
        material.surface_render_method = "BLENDED" if blended else "DITHERED"
    if hasattr(material, "use_transparency_overlap"):
        material.use_transparency_overlap = not blended


def has_free_normals() -> bool:
    """Whether a float vector attribute `custom_normal` is taken for custom normals as it is; 4.4 misreads it."""
    return bpy.app.version >= (4, 5)


def name_limit(kind: type = bpy.types.ID) -> int:
    """Bytes that the name of such a thing may have: data-blocks 63 up to 4.5 and 255 from 5.0, bones 63 in all."""
    return int(cast("Any", kind).bl_rna.properties["name"].length_max) - 1


def animation_data(block: bpy.types.ID) -> Any:
    """What animates `block`, None while nothing does; `block` must be of a kind that can be animated."""
    return cast("Any", block).animation_data


def curves(block: bpy.types.ID, action: bpy.types.Action) -> Any:
    """What holds the F-curves of `action` for `block`, with action and slot assigned to it: slots exist from 4.4."""
    data = animation_data(block) or block.animation_data_create()
    data.action = action
    if not hasattr(action, "slots"):
        return action
    slot = data.action_slot or action.slots.new(id_type=block.id_type, name=block.name)
    data.action_slot = slot
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strip: Any = layer.strips[0] if len(layer.strips) else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def companion(action: bpy.types.Action, name: str) -> bpy.types.Action:
    """The Action for what plays together with `action` on a data-block of another kind: the same from 4.4, by slots.

    Before, an Action is for one kind only, and a new one called `name` is made.
    """
    return action if hasattr(action, "slots") else bpy.data.actions.new(name)


def assign_action(block: bpy.types.ID, action: bpy.types.Action | None, slot: Any = None) -> None:
    """Make `action` the active one of `block`; the slot is chosen, since Blender matches it by name only."""
    data = animation_data(block) or block.animation_data_create()
    data.action = action
    if action is None or not hasattr(action, "slots"):
        return
    if slot is not None:
        data.action_slot = slot
    elif data.action_slot is None:
        fitting = [entry for entry in action.slots if entry.target_id_type in (block.id_type, "UNSPECIFIED")]
        if fitting:
            data.action_slot = fitting[0]


def curves_by_slot(action: bpy.types.Action) -> list[tuple[Any, list[Any]]]:
    """The F-curves of an action, those of each slot with it; one list without a slot where there are no slots."""
    if not hasattr(action, "layers"):
        return [(None, list(action.fcurves))]
    found: dict[int, tuple[Any, list[Any]]] = {slot.handle: (slot, []) for slot in action.slots}
    for bag in _bags(action):
        if bag.slot_handle in found:
            found[bag.slot_handle][1].extend(bag.fcurves)
    return list(found.values())


def slots_of_kind(action: bpy.types.Action, kind: str) -> list[Any]:
    """The slots of an action for data-blocks of one kind, "OBJECT" or "KEY"; none where there are no slots."""
    return [slot for slot in getattr(action, "slots", ()) if slot.target_id_type == kind]


def all_curves(action: bpy.types.Action) -> list[Any]:
    """Every F-curve of an action, over all its slots."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    return [curve for bag in _bags(action) for curve in bag.fcurves]


def _bags(action: bpy.types.Action) -> list[Any]:
    """Every channelbag of an action; to the stubs a strip has none, as only those of keyframes have."""
    return [bag for layer in action.layers for strip in layer.strips for bag in cast("Any", strip).channelbags]


def write_png(image: bpy.types.Image, path: Path) -> None:
    """Write the pixels of `image` to `path`; what the image says of its own file may change."""
    image.file_format = "PNG"
    rna: Any = bpy.types.Image.bl_rna
    if "save_copy" in rna.functions["save"].parameters:  # from 4.3; without it the image may be packed anew
        image.save(filepath=str(path), save_copy=True)
    else:
        image.save(filepath=str(path))


def has_audio() -> bool:
    """Whether this Blender can decode and play sounds; some builds cannot."""
    return _aud() is not None


def _aud() -> Any:
    if not getattr(bpy.app.build_options, "audaspace", False):
        return None
    try:
        return importlib.import_module("aud")
    except ImportError:
        return None


def read_audio(path: Path) -> tuple[Any, int] | None:
    """A sound file as an (n, channels) f32 array and its rate in Hz; None when Blender cannot decode it."""
    aud = _aud()
    if aud is None:
        return None
    try:
        sound = aud.Sound.file(str(path))
        rate, _channels = sound.specs
        return sound.data(), int(rate)
    except aud.error:
        return None


def strips(scene: bpy.types.Scene) -> Any:
    """The strips of the scene's own timeline, which is made if need be; their name changed with 4.4."""
    editor = scene.sequence_editor or scene.sequence_editor_create()
    return editor.strips if hasattr(editor, "strips") else editor.sequences


def strips_if_any(scene: bpy.types.Scene) -> list[Any]:
    """The strips there are; nothing is made."""
    return list(strips(scene)) if scene.sequence_editor is not None else []
