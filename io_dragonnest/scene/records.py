# SPDX-License-Identifier: GPL-3.0-or-later
"""Between the records of an SKN and the properties of Blender materials: only what was edited is written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import FormatError
from ...io_common.scene import armature
from ..formats import names, skn
from ..formats.skn import Kind, Material, Property
from . import kept

if TYPE_CHECKING:
    import bpy

_KIND = {"INTEGER": Kind.INTEGER, "FLOAT": Kind.FLOAT, "VECTOR": Kind.VECTOR, "TEXTURE": Kind.TEXTURE}
_KIND |= {"NOTHING": Kind.NOTHING, "UNKNOWN": Kind.UNKNOWN}
_FIELD = {Kind.INTEGER: "integer", Kind.FLOAT: "number", Kind.VECTOR: "vector", Kind.TEXTURE: "texture"}
_LARGEST = float(np.finfo(np.float32).max)


def fill(group: Any, record: Material) -> None:
    """Show `record` in the properties `group` of a material, which are new."""
    group.is_shown = False
    group.is_used = True
    group.effect = names.text(record.effect)
    group.alpha = float(record.alpha)
    group.use_blend = bool(record.blend)
    for number, entry in enumerate(record.properties):
        item = group.parameters.add()
        put(item, entry)
        item.source = number + 1


def put(item: Any, entry: Property) -> None:
    """Show one property."""
    item.title = entry.label
    item.kind = next(name for name, kind in _KIND.items() if kind is entry.kind)
    if entry.kind in _FIELD:
        setattr(item, _FIELD[entry.kind], _shown(entry))


def _shown(entry: Property) -> Any:
    """The value of a property as Blender holds it, which has no infinity."""
    if entry.kind is Kind.TEXTURE:
        return entry.texture
    if entry.kind is Kind.INTEGER:
        return int(entry.numbers[0])
    numbers = np.clip(entry.numbers.astype(np.float64), -_LARGEST, _LARGEST).tolist()
    return numbers[0] if entry.kind is Kind.FLOAT else numbers


def original(material: bpy.types.Material) -> Material | None:
    """The record a material came with."""
    raw = kept.get(material, kept.SKIN, b"")
    if not raw:
        return None
    try:
        return skn.read_material(raw)
    except FormatError:  # somebody else wrote there
        return None


def record(material: bpy.types.Material, textures: dict[str, str]) -> Material:
    """The record of a material with properties: what it came with, but for what was edited since.

    `textures`: key of a property -> the file name that its picture has now. Raises `ExportError` for names and texts
    that a file cannot hold.
    """
    group: Any = getattr(material, "dragonnest")  # noqa: B009  (registered here, so unknown to the stubs)
    old = original(material)
    found = Material(pad=old.pad, reserved=old.reserved) if old is not None else Material()
    found.name = name_field(material, old)
    found.effect = names.kept(old.effect if old else b"", group.effect, "effect")
    found.alpha = old.alpha if old is not None and _same(old.alpha, group.alpha) else np.float32(group.alpha)
    found.blend = old.blend if old is not None and bool(old.blend) == group.use_blend else int(group.use_blend)
    sources = old.properties if old is not None else []
    seen: set[str] = set()
    for item in group.parameters:
        before = sources[item.source - 1] if 0 < item.source <= len(sources) else None
        key = names.key(item.title)
        # Nodes show the first property of a name.
        picture = textures.get(key) if key not in seen else None
        seen.add(key)
        found.properties.append(_property(item, before, picture))
    return found


def _property(item: Any, before: Property | None, picture: str | None) -> Property:
    kind = _KIND[item.kind]
    value: Any = getattr(item, _FIELD[kind]) if kind in _FIELD else None
    if kind is Kind.TEXTURE and picture is not None:
        value = picture
    if kind is Kind.VECTOR:
        value = tuple(value)
    if before is None:
        return Property.of(item.title, kind, value)
    name = before.name if before.label == item.title else names.lpstr(item.title, "property")
    if before.kind is kind and (kind not in _FIELD or _same(_shown(before), value)):
        return Property(name, kind, before.value)
    return Property(name, kind, Property.of("", kind, value).value)


def _same(before: Any, now: Any) -> bool:
    """Whether a value is what it was; no number is like no number."""
    if isinstance(before, str):
        return bool(before == now)
    then = np.clip(np.asarray(before, np.float64), -_LARGEST, _LARGEST)
    return bool(np.array_equal(then, np.asarray(now, np.float64), equal_nan=True))


def name_field(material: bpy.types.Material, old: Material | None) -> bytes:
    """The name field: the one it came with until the material is renamed. A number that Blender adds is no new name."""
    label = kept.get(material, kept.LABEL, "")
    if old is not None and label and (armature.is_same_name(material.name, label) or material.name == old.label):
        return old.name
    return names.field(material.name, "material")
