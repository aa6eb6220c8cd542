# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender properties, option panels and option objects, all made from the option dataclasses."""

import math
import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..formats.errors import UserError
from ..formats.options import OptionInfo, describe


def annotations(options: type) -> dict[str, Any]:
    """Operator annotations: one property per option, and an enum of presets beside each option that has some."""
    found: dict[str, Any] = {}
    for name, (info, default) in describe(options).items():
        found[name] = _property(info, default)
        if info.presets:
            found[f"{name}_preset"] = _presets(name, info, default)
    return found


def _property(info: OptionInfo, default: Any) -> Any:
    common: dict[str, Any] = {"name": info.label, "description": info.help, "default": default}
    if info.choices:
        return EnumProperty(items=[(entry.value, entry.label, entry.help) for entry in info.choices], **common)
    if isinstance(default, bool):
        return BoolProperty(**common)
    if isinstance(default, float):
        limits = {"min": info.minimum, "max": info.maximum}
        given: dict[str, Any] = {key: value for key, value in limits.items() if value is not None}
        return FloatProperty(precision=info.precision, **given, **common)
    if isinstance(default, int):
        return IntProperty(**common)
    if info.hidden:
        common["options"] = {"HIDDEN"}
    if info.is_file:
        # Not the subtype for paths: its button opens a file browser, and Blender has no second one inside the first.
        common["search"] = _files_beside(info.suffixes)
    return StringProperty(**common)


def _files_beside(suffixes: tuple[str, ...]) -> Callable[[Any, bpy.types.Context, str], list[str]]:
    """A function that lists what a path may be completed to: files with `suffixes` in the folder of the dialog."""

    def search(source: Any, context: bpy.types.Context, typed: str) -> list[str]:
        shown = getattr(getattr(context.space_data, "params", None), "directory", b"")
        text = os.fsdecode(shown) or source.directory or str(Path(source.filepath).parent)
        folder = Path(bpy.path.abspath(text))
        if not folder.is_dir():
            return []
        paths = sorted(str(entry) for entry in folder.iterdir() if entry.suffix.lower() in suffixes)
        return [path for path in paths if typed.lower() in path.lower()]

    return search


def _presets(name: str, info: OptionInfo, default: float) -> Any:
    values = {f"P{index}": value for index, (value, _label, _help) in enumerate(info.presets)}

    def update(self: Any, _context: bpy.types.Context) -> None:
        chosen = values.get(getattr(self, f"{name}_preset"))
        if chosen is not None and getattr(self, name) != chosen:
            setattr(self, name, chosen)

    items = [(f"P{index}", label, text) for index, (_value, label, text) in enumerate(info.presets)]
    start = next((key for key, value in values.items() if value == default), "P0")
    return EnumProperty(
        name=f"{info.label} Preset",
        description="Common values",
        items=items,
        default=start,
        update=update,
        options={"SKIP_SAVE"},
    )


def collect(source: Any, options: type, **code: Any) -> Any:
    """An `options` object from the properties of the operator `source`; `code` fills the fields a user does not see.

    Raises `UserError` for a number that is none: Blender's own limits let NaN through.
    """
    described = describe(options)
    values = {name: getattr(source, name) for name in described}
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f'the option "{described[name][0].label}" is not a number')
    known = {entry.name for entry in fields(options)}
    values.update({name: value for name, value in code.items() if name in known})
    return options(**values)


def draw(layout: bpy.types.UILayout, source: Any, options: type, *, folded: bool = False) -> None:
    """Draw the options of the operator `source`, those of a group in a panel that folds, at first open or `folded`."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    grouped: dict[str, list[str]] = {}
    described = describe(options)
    for name, (info, _default) in described.items():
        if not info.hidden:
            grouped.setdefault(info.group, []).append(name)
    for group, names in grouped.items():
        target: bpy.types.UILayout | None = layout
        if group:
            header, target = layout.panel(f"{options.__name__}_{group}", default_closed=folded)
            header.label(text=group)
        if target is None:
            continue
        for name in names:
            _draw_one(target, source, name, described[name][0])


def _draw_one(layout: bpy.types.UILayout, source: Any, name: str, info: OptionInfo) -> None:
    if not info.presets:
        layout.prop(source, name)
        return
    column = layout.column(align=True)
    column.prop(source, name)
    row = column.row(align=True)
    row.prop(source, f"{name}_preset", expand=True)
