# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects an export takes, and their meshes as they should be written."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import bpy

from ..formats.errors import ExportError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SOLID = {"MESH", "CURVE", "SURFACE", "FONT", "META"}


class Scope(Protocol):
    """The options that say which objects are meant."""

    @property
    def use_selection(self) -> bool: ...  # noqa: D102
    @property
    def use_visible(self) -> bool: ...  # noqa: D102
    @property
    def use_active_collection(self) -> bool: ...  # noqa: D102
    @property
    def collection(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Group:
    """The `objects` that make one file, which is called `name` where several are written at once."""

    name: str
    objects: list[bpy.types.Object]


def scene(context: bpy.types.Context) -> bpy.types.Scene:
    """The scene, which every context has that can import or export; to the stubs it may be missing."""
    return cast("bpy.types.Scene", context.scene)


def chosen(
    context: bpy.types.Context,
    scope: Scope,
    carrier: Callable[[bpy.types.Object], bpy.types.Object | None] | None = None,
) -> list[bpy.types.Object]:
    """The objects with a surface that `scope` means, in the order of the scene.

    An armature stands for the meshes it carries, unless one of them is meant itself; `carrier` says which armature
    carries an object, `armature_of` without it. With nothing selected the active object is taken. Raises `ExportError`
    when nothing is left.
    """
    pool, where = _pool(context, scope)
    found = [
        obj for obj in _with_carried(pool, context.view_layer.objects, carrier or armature_of) if obj.type in SOLID
    ]
    if not found:
        raise ExportError(f"there is no mesh object in {where}, select the model to export")
    return found


def armatures(context: bpy.types.Context, scope: Scope) -> list[bpy.types.Object]:
    """The armatures that `scope` means: they themselves, or what they carry. Raises `ExportError` without any."""
    pool, where = _pool(context, scope)
    found: list[bpy.types.Object] = []
    for obj in pool:
        rig = obj if obj.type == "ARMATURE" else armature_of(obj)
        if rig is not None and rig not in found:
            found.append(rig)
    if not found:
        raise ExportError(f"there is no armature in {where}, select the one to export")
    return found


def _pool(context: bpy.types.Context, scope: Scope) -> tuple[list[bpy.types.Object], str]:
    """The objects that `scope` means, of any kind, and where they were looked for."""
    objects = context.view_layer.objects
    if scope.collection:
        source = bpy.data.collections.get(scope.collection)
        if source is None:
            raise ExportError(f'there is no collection named "{scope.collection}"')
        return list(source.all_objects), f'the collection "{scope.collection}"'
    if scope.use_active_collection:
        source = context.view_layer.active_layer_collection.collection
        return list(source.all_objects), f'the active collection "{source.name}"'
    if scope.use_visible:
        return [obj for obj in objects if obj.visible_get()], "the visible part of the scene"
    if scope.use_selection:
        chosen_ones = [obj for obj in objects if obj.select_get()]
        return chosen_ones or [obj for obj in (objects.active,) if obj is not None], "the selection"
    return list(objects), "the scene"


def _with_carried(
    pool: Iterable[bpy.types.Object],
    objects: Iterable[bpy.types.Object],
    carrier: Callable[[bpy.types.Object], bpy.types.Object | None],
) -> list[bpy.types.Object]:
    wanted = list(pool)
    served = {carrier(obj) for obj in wanted if obj.type in SOLID}
    rigs = {obj for obj in wanted if obj.type == "ARMATURE"} - served
    carried = [obj for obj in objects if obj.type in SOLID and carrier(obj) in rigs]
    return wanted + carried


def armature_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that moves an object: by modifier, else by parenting."""
    for modifier in obj.modifiers:
        if isinstance(modifier, bpy.types.ArmatureModifier) and modifier.object is not None:
            return modifier.object
    parent = obj.parent
    return parent if parent is not None and parent.type == "ARMATURE" else None


def carrier_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that moves an object, or what it hangs on, through any number of parents."""
    at: bpy.types.Object | None = obj
    while at is not None:
        found = armature_of(at) if at is obj else at.parent
        if found is not None and found.type == "ARMATURE":
            return found
        at = at.parent
    return None


@contextlib.contextmanager
def object_mode(context: bpy.types.Context, objects: Iterable[bpy.types.Object] = ()) -> Iterator[None]:
    """No mode with pending changes: those of Edit Mode are written to the data; the old modes come back at the end.

    It is left by the active object, with those that are edited together with it, and by whatever edits `objects` or
    their armatures: without "Lock Object Modes", or in another scene, that need not be the active one.
    """
    active = context.object
    with contextlib.ExitStack() as undo:
        if active is not None and active.mode == "EDIT":
            undo.enter_context(_not_edited(context, active))
        elif active is not None and active.mode not in ("OBJECT", "POSE"):  # a pose has no pending changes
            undo.callback(bpy.ops.object.mode_set, mode=active.mode)
            bpy.ops.object.mode_set(mode="OBJECT")
        for obj in objects:
            for part in (obj, armature_of(obj)):
                if part is not None and getattr(part.data, "is_editmode", False):
                    undo.enter_context(_not_edited(context, part))
        yield


@contextlib.contextmanager
def _not_edited(context: bpy.types.Context, user: bpy.types.Object) -> Iterator[None]:
    """Edit Mode left in the view layer where the data of `user` is edited, and entered again by the same objects."""
    found = [
        (scene, layer, obj)
        for scene in bpy.data.scenes
        for layer in scene.view_layers
        for obj in layer.objects
        if obj.mode == "EDIT" and obj.data == user.data
    ]
    if not found:
        raise ExportError(f'"{user.name}" is in Edit Mode in another window, leave that first')
    scene, layer, editor = min(found, key=lambda entry: entry[1] != context.view_layer)
    edited = [obj for obj in layer.objects if obj.mode == "EDIT"]
    active = layer.objects.active
    selected = [obj for obj in layer.objects if obj.select_get(view_layer=layer)]
    with context.temp_override(scene=scene, view_layer=layer, object=editor, active_object=editor):
        layer.objects.active = editor
        bpy.ops.object.mode_set(mode="OBJECT")
        layer.objects.active = active
    try:
        yield
    finally:
        with context.temp_override(scene=scene, view_layer=layer, object=editor, active_object=editor):
            # Blender takes every selected object along into Edit Mode.
            _select(layer, edited)
            layer.objects.active = editor
            bpy.ops.object.mode_set(mode="EDIT")
            _select(layer, selected)
            layer.objects.active = active


def _select(layer: bpy.types.ViewLayer, objects: list[bpy.types.Object]) -> None:
    for obj in layer.objects:
        obj.select_set(obj in objects, view_layer=layer)


@contextlib.contextmanager
def at_rest(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """`objects` evaluated as they are without a pose, those too that the view layer leaves out; undone at the end."""
    with contextlib.ExitStack() as undo:
        for obj in objects:
            _show(context, obj, undo)
            rig = armature_of(obj)
            if rig is not None and rig.data.pose_position == "POSE" and _follows_pose(obj):
                rig.data.pose_position = "REST"
                undo.callback(setattr, rig.data, "pose_position", "POSE")
        context.view_layer.update()
        yield
    context.view_layer.update()


@contextlib.contextmanager
def evaluated(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """`objects` in the view layer, where Blender evaluates them, those too that it leaves out; undone at the end."""
    with contextlib.ExitStack() as undo:
        for obj in objects:
            _show(context, obj, undo)
        context.view_layer.update()
        yield
    context.view_layer.update()


def _follows_pose(obj: bpy.types.Object) -> bool:
    """Whether a pose can move what is written of `obj`, although Armature modifiers are left out."""
    if obj.parent is not None and obj.parent_type in {"BONE", "ARMATURE"}:
        return True
    return any(entry.type != "ARMATURE" for entry in obj.modifiers)


def _show(context: bpy.types.Context, obj: bpy.types.Object, undo: contextlib.ExitStack) -> None:
    """Bring `obj` into the view layer: Blender evaluates nothing else."""
    if obj.hide_viewport:
        obj.hide_viewport = False
        undo.callback(setattr, obj, "hide_viewport", True)
    home = context.scene.collection.objects
    if obj.name not in context.view_layer.objects and obj.name not in home:
        home.link(obj)
        undo.callback(home.unlink, obj)
        context.view_layer.update()
    if obj.hide_get():
        obj.hide_set(False)
        undo.callback(obj.hide_set, True)
    if not obj.visible_get() and obj.name not in home:
        # In a collection that is hidden as a whole.
        home.link(obj)
        undo.callback(home.unlink, obj)


@contextlib.contextmanager
def shape(
    context: bpy.types.Context, obj: bpy.types.Object, *, modifiers: bool, keys: bool = True
) -> Iterator[bpy.types.Mesh]:
    """The mesh of an object in its rest pose, in Object Mode: its own data where nothing has to be evaluated.

    `modifiers`: those shown in the viewport are applied, Armature modifiers aside. `keys`: shape keys count as
    they are mixed now; without it, the basis is taken.
    """
    active = [entry for entry in obj.modifiers if entry.show_viewport and entry.type != "ARMATURE"]
    mixed = keys and obj.type == "MESH" and cast("bpy.types.Mesh", obj.data).shape_keys is not None
    if obj.type == "MESH" and not mixed and not (modifiers and active):
        yield cast("bpy.types.Mesh", obj.data)
        return
    hidden = [entry for entry in obj.modifiers if entry.show_viewport and not (modifiers and entry in active)]
    for entry in hidden:
        entry.show_viewport = False
    pinned = None if keys or obj.type != "MESH" else (obj.show_only_shape_key, obj.active_shape_key_index)
    if pinned is not None:
        obj.show_only_shape_key, obj.active_shape_key_index = True, 0
    evaluated = None
    try:
        depsgraph = context.evaluated_depsgraph_get()
        evaluated = obj.evaluated_get(depsgraph)
        mesh = evaluated.to_mesh(preserve_all_data_layers=True, depsgraph=depsgraph)
        if mesh is None:
            raise ExportError(f'the object "{obj.name}" has no surface that could be written')
        yield mesh
    finally:
        if evaluated is not None:
            evaluated.to_mesh_clear()
        for entry in hidden:
            entry.show_viewport = True
        if pinned is not None:
            obj.show_only_shape_key, obj.active_shape_key_index = pinned
