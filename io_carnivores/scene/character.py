# SPDX-License-Identifier: GPL-3.0-or-later
"""A character with its animations and sounds, to Blender data-blocks and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np

from ...io_common.scene import mesh as meshes
from ...io_common.scene import selection
from ..formats import bone_source, recover
from ..formats.car import Character, Sound
from ..formats.model import label, name_field
from . import bone_motion, build, clips, extract, frames, kept, numbering, shape_motion, sound_table, sounds, unlisted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ...io_common.formats.digest import Digest
    from ..formats.motion import Animation
    from .options import CharacterOptions, ExportCharacterOptions


def build_car(
    context: bpy.types.Context, character: Character, path: Path, options: CharacterOptions, digest: Digest
) -> list[bpy.types.Object]:
    """Mesh object with its animations as bone motion or shape keys, and its sounds packed."""
    made = build.build(context, character.model, path, options, digest, kind="carnivores_car")
    mesh = meshes.of(made[-1])
    mesh[kept.NAME_BLOCK] = character.name
    kept.put(mesh, kept.SOUND_TABLE, character.table)
    for number, animation in enumerate(character.animations):
        item = add_item(mesh, animation)
        item.sound = character.sound_of(number)
        item.table_value = sound_table.value(character.table, number)
    count = len(character.sounds)
    packed = sounds.pack_all(
        (clips.block_title(label(sound.name), number, count, "Sound"), sound.data)
        for number, sound in enumerate(character.sounds)
    )
    for sound, block in zip(character.sounds, packed, strict=True):
        item = clips.sounds(mesh).add()
        clips.set_name(item, sound.name)
        item.sound = block
    return show_motion(context, made, character, path, options, digest)


def add_item(mesh: bpy.types.Mesh, animation: Animation, name: str = "") -> Any:
    """An entry of the list for an animation of a file, without its motion."""
    item = clips.animations(mesh).add()
    clips.set_name(item, animation.name)
    item.name = name or item.name
    item.kps, item.frames = animation.kps, len(animation.frames)
    return item


def show_motion(
    context: bpy.types.Context,
    made: list[bpy.types.Object],
    character: Character,
    path: Path,
    options: CharacterOptions,
    digest: Digest,
) -> list[bpy.types.Object]:
    """Give the mesh object, the last of `made`, its motion; the objects there are then, root first."""
    obj = made[-1]
    bones = _chosen_bones(character, options)
    rig = _rig(character, options, digest, path, bones)
    fps = frames.scene_rate(selection.scene(context))
    if rig is None:
        meshes.set_attribute(meshes.of(obj), kept.REST, "FLOAT_VECTOR", "POINT", meshes.get_positions(meshes.of(obj)))
        numbering.start(meshes.of(obj))
        shape_motion.build(obj, character.animations, relative=options.motion == "RELATIVE_KEYS", fps=fps)
        return made
    if len(made) > 1:  # a bone table of the file, which knows nothing of the motion
        bpy.data.armatures.remove(cast("bpy.types.Armature", made[0].data))
        obj.modifiers.clear()
        obj.matrix_parent_inverse.identity()
    skeleton = bone_motion.build(context, obj, rig, character.animations, fps, correctives=options.use_correctives)
    obj.scale = (1.0, 1.0, 1.0)
    build.attach(obj, skeleton)
    skeleton.scale = (options.global_scale,) * 3
    build.hold_scale(obj, options.global_scale)
    return [skeleton, obj]


def _chosen_bones(character: Character, options: CharacterOptions) -> npt.NDArray[Any] | None:
    """The bone table of the model that the user chose. Raises `UserError` when it is none of this creature."""
    if not options.bones_from:
        return None
    path = Path(bpy.path.abspath(options.bones_from))
    return bone_source.table(bone_source.read(path), character.model.vertices, path)


def _rig(
    character: Character, options: CharacterOptions, digest: Digest, path: Path, bones: npt.NDArray[Any] | None
) -> recover.Rig | None:
    """The recovered skeleton when the motion is to be shown by bones, else None."""
    if options.motion not in ("AUTO", "BONES") or not any(len(entry.frames) for entry in character.animations):
        return None
    model = character.model
    owners = len(np.unique(model.vertices["owner"]))
    if owners > recover.MOST_OWNERS:
        digest.add(f"{owners} owners are too many for bones, so the motion is shown by shape keys", subject=path.name)
        return None
    # A CAT may name one file for several animations.
    numbers: dict[int, int] = {}
    which = [numbers.setdefault(id(entry.frames), len(numbers)) for entry in character.animations]
    frames_of = {id(entry.frames): entry.frames for entry in character.animations}
    listed = [frames_of[key] for key in numbers]
    if bones is None and len(model.bones):
        bones = model.bones
    rig = recover.recover(model.vertices, model.faces, listed, recover.Options(scales=True, bones=bones))
    rig = replace(rig, clips=[rig.clips[number] for number in which])
    if options.motion == "AUTO" and not rig.fit.good:
        digest.add("the motion does not fit bones well, so it is shown by shape keys", subject=path.name)
        return None
    within = " / ".join(f"{100 * share:.1f}" for share in rig.fit.distances)
    soft = rig.softness()
    digest.note(
        f"{path.name}: bones fit within 0.1 / 0.25 / 1 unit for {within} %",
        remark=f"{path.name}: {soft}" if soft else "",
    )
    return rig


def extract_car(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportCharacterOptions,
    digest: Digest,
    path: Path,
) -> Character:
    """The character that `objects` show; its lists are those of the first mesh that has some."""
    # Once for all animations: entering Edit Mode again takes long where there are many keys.
    with selection.object_mode(context, objects):
        return _extract(context, objects, options, digest, path)


def _extract(
    context: bpy.types.Context,
    objects: list[bpy.types.Object],
    options: ExportCharacterOptions,
    digest: Digest,
    path: Path,
) -> Character:
    model = extract.extract_body(context, objects, options, digest)
    mesh = clips.list_owner(objects)
    title = kept.get(mesh, kept.CAT_TITLE, "") or path.stem
    character = Character(model, kept.get(mesh, kept.NAME_BLOCK, b"") or name_field(title))
    source = frames.Source.of(context, objects, options, len(model.vertices), digest)
    items = unlisted.entries(context, objects, digest)
    character.animations = [source.animation(item) for item in items]
    for item in clips.sounds(mesh):
        data = sounds.samples(item.sound) if item.sound is not None else b""
        character.sounds.append(Sound(clips.raw_name(item), data))
        if item.sound is None:
            digest.add(f'the sound "{item.name}" has no samples any more and is written empty; add it again')
    _tell_cut_names({"animation": items, "sound": list(clips.sounds(mesh))}, digest)
    model_name = kept.get(mesh, kept.CAT_MODEL, "")
    if model_name:
        prefix = f"{PurePath(model_name).stem}_"
        for entries in (character.animations, character.sounds):
            _without_prefix(entries, prefix)
    character.table = sound_table.table(mesh, len(character.sounds))
    character.check_loops = options.use_loop_check
    return character


def _tell_cut_names(lists: Mapping[str, Sequence[Any]], digest: Digest) -> None:
    for noun, items in lists.items():
        for item in items:
            if clips.is_cut(item):
                digest.add(
                    f'the name of the {noun} "{item.name}" does not fit: a file has room for 31 Latin characters'
                )


def _without_prefix(entries: Sequence[Any], prefix: str) -> None:
    """Undo what a CAT needs for the names of its files, where all of them have it."""
    names = [label(entry.name) for entry in entries]
    # What was led by it in other letters before was called so in the first place.
    plain = [name.removeprefix(prefix) for name in names]
    whole = all(name.lower().startswith(prefix.lower()) for name in names)
    if not whole or not all(plain) or len(set(plain)) < len(set(names)):
        return
    for entry, old, new in zip(entries, names, plain, strict=True):
        if new != old:
            entry.name = name_field(new)
