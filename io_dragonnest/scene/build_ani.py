# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations into the scene: onto the armature that has their bones, else onto one made of their base transforms."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np

from ...io_common.formats.errors import UserError
from ...io_common.scene import armature, compat, curves, selection
from ..formats import ani_set, hierarchy, names, pose, root_motion, sampling
from ..formats import rig as binds
from . import bone_motion, carriers, clip_curves, clips, kept, realign, rig
from .playback import set_rate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ...io_common.formats.digest import Digest
    from ..formats.ani import Ani
    from ..formats.ani_set import AniSet
    from ..formats.hierarchy import Hierarchy
    from ..formats.root_motion import Way
    from .bone_motion import Clip, Mapping
    from .options import ImportAniOptions

_SHOWN = 8  # names listed in a warning


@dataclass(eq=False)
class _Source:
    """All files as one: `found` with every clip; `place` gives for each its file and its number there."""

    files: AniSet
    found: Ani
    links: Hierarchy
    place: list[tuple[int, int]]

    def clip(self, number: int) -> tuple[Ani, int]:
        """The clip in its own file."""
        part, clip = self.place[number]
        return self.files.parts[part].found, clip


def build(
    context: bpy.types.Context, model: AniSet, path: Path, options: ImportAniOptions, digest: Digest
) -> list[bpy.types.Object]:
    """Import `model`; the armature that shows it. Raises `UserError` when no clip has a name that was asked for."""
    found, notes = ani_set.merged(model)
    place = [(part, clip) for part, entry in enumerate(model.parts) for clip in range(len(entry.found.clip_names))]
    links = hierarchy.from_ani(found)
    source = _Source(model, found, links, place)
    chosen = _chosen(source, options)
    for note in (*notes, *links.notes):
        digest.add(note, subject=path.name)
    before = _Before.of(selection.scene(context))
    obj = rig.find(context, found.bone_names) if len(found.bones) else None
    if obj is None:
        obj = _made(context, source, path, options)
    else:
        _fit(context, obj, source, path, options, digest)
    clips.keep_files(obj, model, path)
    before = before.playing(obj)
    made = _actions(context, obj, source, chosen, options, digest)
    _show(context, obj, made, before, use_fps=options.use_fps, digest=digest)
    return [obj]


def _chosen(source: _Source, options: ImportAniOptions) -> list[int]:
    every = range(len(source.place))
    if options.chosen is not None:
        return [number for number in every if source.place[number] in options.chosen]
    patterns = [entry.strip().lower() for entry in options.clips.split(";") if entry.strip()]
    if not patterns:
        return list(every)
    titles = [bone_motion.title(source.found, number).lower() for number in every]
    found = [number for number in every if any(matches(titles[number], pattern) for pattern in patterns)]
    if not found:
        raise UserError(f'there is no clip named "{options.clips}"; there are {len(titles)}: {_some(titles)}')
    return found


def matches(title: str, pattern: str) -> bool:
    """Whether a lower-case name is `pattern`, to the letter or by its wildcards."""
    return title == pattern or fnmatch.fnmatchcase(title, pattern)


def _some(entries: Sequence[str]) -> str:
    shown = ", ".join(f'"{entry}"' for entry in entries[:_SHOWN])
    return shown + (f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else "")


# The armature.


def _data(obj: bpy.types.Object) -> bpy.types.Armature:
    return cast("bpy.types.Armature", obj.data)


def _base_binds(found: Ani) -> Any:
    """(b, 4, 4) inverse bind matrices that the base transforms stand for."""
    local = sampling.base(found).matrices()
    return binds.inverses(binds.regular(pose.world(local, hierarchy.from_ani(found).parents)[0]))


def _made(context: bpy.types.Context, source: _Source, path: Path, options: ImportAniOptions) -> bpy.types.Object:
    name = armature.fit_name(path.stem)
    collection = cast("bpy.types.Collection", context.collection)
    if options.use_collection:
        collection = bpy.data.collections.new(name)
        context.collection.children.link(collection)
    fields = [bytes(raw) for raw in source.found.bones["name"].tolist()]
    scaled = bone_motion.scaled_names(source.found)
    parents = source.links.parents.tolist()
    made = rig.build(context, name, fields, _base_binds(source.found), parents, collection, options, aligned=scaled)
    made.scale = (options.global_scale,) * 3
    kept.put(_data(made), kept.SCALE, float(np.float32(options.global_scale)))
    for bone in made.data.bones:
        kept.put(bone, kept.HELPER, True)
    _mark(made, path)
    # Without bones Edit Mode made no pose, and Blender crashes when an Action comes to an armature that has none.
    context.view_layer.update()
    return made


def _mark(obj: bpy.types.Object, path: Path) -> None:
    kept.put(_data(obj), kept.HIERARCHY, "ANI")
    kept.put(_data(obj), kept.HIERARCHY_FROM, path.name)


def _fit(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    source: _Source,
    path: Path,
    options: ImportAniOptions,
    digest: Digest,
) -> None:
    """Add bones where asked for, say which are missing, and hang them as the file does where that was guessed."""
    found = source.found
    missing = [row for row, name in enumerate(rig.match(found.bone_names, obj)) if name is None]
    missing = [row for row in missing if row not in hierarchy.duplicates(found.bone_names)]
    if missing and options.use_missing:
        fields = [bytes(raw) for raw in found.bones["name"].tolist()]
        added = rig.extend(
            context, obj, fields, _base_binds(found), source.links.parents.tolist(), options, helper=True
        )
        digest.note(f"{len(added)} bones that the armature lacked were added")
    elif missing:
        digest.add(
            f'the armature "{obj.name}" lacks {len(missing)} of the {len(found.bones)} bones, which do not move: '
            f"{_some([found.bone_names[row] for row in missing])}",
            subject=path.name,
        )
    parents = _parents(obj, source)
    if kept.get(_data(obj), kept.HIERARCHY, "") == "INFERRED":
        rig.reparent(context, obj, parents)
        _mark(obj, path)
    else:  # a part may have brought bones of its own
        added_later = set(rig.guessed(obj))
        rig.reparent(context, obj, {label: above for label, above in parents.items() if label in added_later})
    rig.settle(obj)


def _parents(obj: bpy.types.Object, source: _Source) -> dict[str, str]:
    """Bone -> its parent by the file, in Blender's names; parents that the armature lacks are stepped over."""
    bones = rig.bones_of(obj)
    labels = [bone.name for bone in bones]
    texts = [names.text(kept.get(bone, kept.NAME, b"")) or bone.name for bone in bones]
    links = hierarchy.matched(texts, source.links, source.found.bone_names)
    return {
        labels[row]: labels[parent] if parent >= 0 else ""
        for row, parent in enumerate(links.parents.tolist())
        if links.sources[row] is hierarchy.Source.FILE
    }


# Its motion.


def onto(obj: bpy.types.Object, found: Ani, names_here: list[str | None] | None = None) -> Mapping:
    """How the bones of `found` lie over an armature; `names_here`: what they are called there, if known."""
    names_here = rig.match(found.bone_names, obj) if names_here is None else names_here
    return bone_motion.mapping(rig.state(obj), rig.lengths(obj), names_here, hierarchy.from_ani(found).parents)


def _actions(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    source: _Source,
    chosen: list[int],
    options: ImportAniOptions,
    digest: Digest,
) -> list[bpy.types.Action]:
    fresh = not len(clips.listed(obj))
    found, ways = source.found, list[Any]()
    target = onto(obj, found)
    if fresh and realign.along(context, obj, bone_motion.stretched(found, chosen, target)):
        target = onto(obj, found, target.called(len(found.bones)))
    if options.root_motion != root_motion.STORED:
        found, ways = _rooted(found, source.links, target, options.root_motion)
    shown = list(bone_motion.clips(found, target, chosen))
    if any(clip.off for clip in shown) and carriers.add(
        context, obj, bone_motion.sheared(found, chosen, target), digest
    ):
        target = onto(obj, found, target.called(len(found.bones)))
        shown = list(bone_motion.clips(found, target, chosen))
    _tell_off(shown, target, digest)
    used = bone_motion.moved(shown, target)
    records = _records(target, source, chosen)
    made = []
    for number, clip in zip(chosen, shown, strict=True):
        action = bpy.data.actions.new(armature.fit_name(bone_motion.title(found, number)))
        action.use_fake_user = True
        prints = clip_curves.write(obj, action, clip, target.labels, used)
        walk = _walk(obj, action, ways[number]) if ways else []
        _keep(action, source, number)
        if options.root_motion == root_motion.IN_PLACE:
            kept.put(action, kept.IN_PLACE, 1)
        kept.put(action, kept.RIG, records[source.place[number][0]][0])
        row = records[source.place[number][0]][1]
        clip_curves.seal(action, row, len(source.clip(number)[0].bones), prints, walk)
        spare = {target.rig.names[bone]: entry for bone, entry in prints.items() if row[bone] < 0}
        clip_curves.seal_spare(action, spare)
        clips.add(obj, action, source.found.clip_names[number])
        made.append(action)
    return made


def _records(target: Mapping, source: _Source, chosen: list[int]) -> dict[int, tuple[bytes, Any]]:
    """For each file of the set that is needed: what is kept of the armature, and the rows of its bones in the file."""
    first = [names.key(name) for name in source.found.bone_names]
    found: dict[int, tuple[bytes, Any]] = {}
    for part in sorted({source.place[number][0] for number in chosen}):
        own = source.files.parts[part].found
        rows = hierarchy.lookup(own.bone_names)
        there = np.array([rows.get(key, -1) for key in first] + [-1], np.intp)
        row = there[target.row]
        found[part] = clip_curves.rig_record(target.rig, row, len(own.bones)), row
    return found


def _rooted(found: Ani, links: Hierarchy, target: Mapping, mode: str) -> tuple[Ani, list[Way]]:
    known = set(target.row[target.known].tolist())
    roots = [row for row in np.flatnonzero(links.parents < 0).tolist() if row in known]
    if not roots:
        return found, []
    if mode == root_motion.IN_PLACE:
        return root_motion.held(found, roots), []
    main = root_motion.main_root(links.parents)
    return root_motion.taken_out(found, roots, main if main in known else roots[0])


def _walk(obj: bpy.types.Object, action: bpy.types.Action, way: Way) -> list[Any]:
    """Location curves of the object that carry it along `way`."""
    if not len(way.frames):
        return []
    matrix = np.array(obj.matrix_basis, np.float64)
    places = way.places[:, [0, 2, 1]] @ matrix[:3, :3].T + matrix[:3, 3]
    bag = compat.curves(obj, action)
    group = bag.groups.new(clip_curves.OBJECT_GROUP)
    points = np.stack((np.repeat(way.frames[:, None], 3, axis=1), places), axis=2)
    return [curves.write_curve(bag, "location", points[:, axis], axis, group) for axis in range(3)]


def _keep(action: bpy.types.Action, source: _Source, number: int) -> None:
    own, clip = source.clip(number)
    clips.keep_clip(action, own, clip)
    kept.put(action, kept.SOURCE, clips.set_id(source.files))
    kept.put(action, kept.ANI_PART, source.place[number][0] + 1)
    kept.put(action, kept.ORDER, clip + 1)


def _tell_off(shown: Sequence[Clip], target: Mapping, digest: Digest) -> None:
    """Warn of what channels of bones cannot say."""
    worst: dict[int, float] = {}
    for clip in shown:
        for bone, away in clip.off.items():
            worst[bone] = max(worst.get(bone, 0.0), away)
    if worst:
        most = max(worst, key=lambda bone: worst[bone])
        digest.add(
            f"{len(worst)} bones are sheared by uneven scales above them, which Blender's channels cannot say; they "
            f'are as near as can be, "{target.rig.names[most]}" off by up to {worst[most]:.3g} file units'
        )


@dataclass(frozen=True)
class _Before:
    """How things were: whether anything in the scene was animated, and Action and slot the armature played."""

    scene_moves: bool
    action: bpy.types.Action | None = None
    slot: Any = None

    @classmethod
    def of(cls, scene: bpy.types.Scene) -> _Before:
        data = (obj.animation_data for obj in scene.objects)
        return cls(any(entry is not None and (entry.action is not None or len(entry.nla_tracks)) for entry in data))

    def playing(self, obj: bpy.types.Object) -> _Before:
        data = obj.animation_data
        return self if data is None else replace(self, action=data.action, slot=getattr(data, "action_slot", None))


def _show(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    made: list[bpy.types.Action],
    before: _Before,
    *,
    use_fps: bool,
    digest: Digest,
) -> None:
    """Let the armature play the first clip, unless it played something of the user's own."""
    if not made:
        return
    known = {item.action for item in clips.listed(obj)}
    # Curves were written through the armature, so that the last of the clips is on it now.
    if before.action is None or before.action in known:
        compat.assign_action(obj, made[0])
    else:
        compat.assign_action(obj, before.action, before.slot)
    scene = selection.scene(context)
    if not before.scene_moves:
        scene.frame_start, scene.frame_end = clips.span(made[0])
        if use_fps:
            set_rate(scene, bone_motion.FPS)
        # Blender evaluates it when it is next drawn or asked for.
        scene.frame_current = scene.frame_start
    elif use_fps and scene.render.fps / scene.render.fps_base != bone_motion.FPS:
        digest.note(
            "something is animated already, so the scene keeps its frame rate; the game plays 60 frames a second"
        )
