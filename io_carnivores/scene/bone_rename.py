# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones renamed, with the Actions that move them.

Blender follows a new name in the Actions that are assigned, and in no others. Recovered bones remember what their
Actions call them; whatever was renamed by hand since is put right before an animation is played or written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.scene import compat, selection
from . import bone_motion, clips, curves, kept

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def rename(rig: bpy.types.Object, names: Mapping[str, str]) -> None:
    """Give the bones of `rig` the names that `names` has for theirs, which must be unique in the end.

    Vertex groups, constraints and drivers follow by Blender, all Actions made for the bones here; what was exact stays
    so.
    """
    mend_rig(rig)
    bones = rig.data.bones
    changed = {old: new for old, new in names.items() if old in bones and new != old}
    before = bone_motion.rig_print(rig)
    pending = [(action, curves.is_sealed(action), _paths(action, changed)) for action in _actions(rig, before)]
    # By way of names that nothing has: what is exchanged must not meet.
    for number, old in enumerate(changed):
        bones[old].name = f"\u00a7{number}"
    for number, new in enumerate(changed.values()):
        bones[f"\u00a7{number}"].name = new
    for action, sealed, paths in pending:
        _set_paths(paths)
        _reseal(action, before, rig, sealed=sealed)
    _remember(rig)


def mend(obj: bpy.types.Object) -> None:
    """Let the Actions of a character follow bones that were renamed by hand."""
    rig = selection.armature_of(obj)
    if rig is not None:
        mend_rig(rig)


def mend_rig(rig: bpy.types.Object) -> None:
    """The same for an armature; bones that were never told what their Actions call them are left alone."""
    if rig.library is not None or rig.data.library is not None:
        return
    names = _renamed(rig)
    if not names:
        return
    back = {new: old for old, new in names.items()}
    before = bone_motion.rig_print(rig, [back.get(bone.name, bone.name) for bone in rig.data.bones])
    present = {bone.name for bone in rig.data.bones}
    for action in _actions(rig, before):
        as_made = curves.is_sealed(action)
        followed = not as_made and kept.get(action, kept.CURVES_PRINT, "") == curves.fingerprint(action, back)
        if not followed:
            # Of an Action that was edited, or made elsewhere, only what leads nowhere is certain to be old.
            wanted = names if as_made else {old: new for old, new in names.items() if old not in present}
            _set_paths(_paths(action, wanted))
        _reseal(action, before, rig, sealed=as_made or followed)
    _remember(rig)


def _renamed(rig: bpy.types.Object) -> dict[str, str]:
    """What the Actions call the bones that were renamed -> what they are called now."""
    found: dict[str, str] = {}
    bones = rig.data.bones
    for bone in bones:
        old = kept.get(bone, kept.BONE_NAME, "")
        # A copy of a bone brings its memory along; the bone that still has the name is the one that is meant.
        stays = old in bones and kept.get(bones[old], kept.BONE_NAME, "") == old
        if old and old != bone.name and not stays and old not in found:
            found[old] = bone.name
    return found


def _remember(rig: bpy.types.Object) -> None:
    for bone in rig.data.bones:
        if kept.has(bone, kept.BONE_NAME):
            bone[kept.BONE_NAME] = bone.name


def _actions(rig: bpy.types.Object, rig_print: str) -> list[bpy.types.Action]:
    """The Actions of `rig`: that it plays, that are in the lists of its meshes, or that were made for its bones."""
    found: list[Any] = [action for action in bpy.data.actions if kept.get(action, kept.RIG_PRINT, "") == rig_print]
    for obj in bpy.data.objects:
        data = compat.animation_data(obj) if obj.data == rig.data else None
        if data is not None:
            found.append(data.action)
        carrier = selection.armature_of(obj)
        if carrier is not None and carrier.data == rig.data:
            found += [item.action for item in clips.animations(obj.data)]
    listed = dict.fromkeys(action for action in found if action is not None)
    return [action for action in listed if action.library is None]


def _paths(action: bpy.types.Action, names: Mapping[str, str]) -> list[tuple[Any, str]]:
    """The curves that move bones of `names`, with the path each should have."""
    listed = [(curve, curves.renamed(curve.data_path, names)) for curve in compat.all_curves(action)]
    return [(curve, path) for curve, path in listed if path != curve.data_path]


def _set_paths(paths: Sequence[tuple[Any, str]]) -> None:
    for curve, path in paths:
        curve.data_path = path
        if curve.group is not None:
            curve.group.name = curves.bone_of(path) or curve.group.name


def _reseal(action: bpy.types.Action, before: str, rig: bpy.types.Object, *, sealed: bool) -> None:
    """Names are no edit: what was exact for the bones as they were is so for them as they are."""
    if sealed:
        curves.seal_again(action)
    if kept.get(action, kept.RIG_PRINT, "") == before:
        kept.put(action, kept.RIG_PRINT, bone_motion.rig_print(rig))
