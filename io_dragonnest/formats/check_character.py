# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of what goes with a model: materials, and the animation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import blocks, hierarchy, keys, names, skn
from .ani_list import AniList
from .anim import Anim, to_ani
from .checks import count, error, sorted_issues, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...io_common.formats.issues import Issue
    from .ani import Ani
    from .keys import Record
    from .msh import Msh
    from .skn import Skn

_UNIT = 1e-2


def check_skn(found: Skn, _game: str = "") -> list[Issue]:
    """Issues of a material file by itself; errors first."""
    issues: list[Issue] = []
    if not found.materials:
        issues.append(warning("no-materials", "there is no material in this file"))
    if found.version >= skn.SCRAMBLED_FROM and found.order not in skn.ORDERS:
        issues.append(error("unknown-order", f"the SKN order code {found.order} is not known; choose 0 to 4"))
    for material in found.materials:
        labels = [names.key(entry.name) for entry in material.properties]
        if len(set(labels)) < len(labels):
            issues.append(warning("duplicate-properties", f'the material "{material.label}" names a property twice'))
        if not np.isfinite(float(material.alpha)):
            issues.append(error("alpha-no-number", f'the alpha of the material "{material.label}" is no number'))
        broken = [
            entry.label
            for entry in material.properties
            if entry.kind in {skn.Kind.FLOAT, skn.Kind.VECTOR} and not np.isfinite(entry.numbers).all()
        ]
        if broken:
            issues.append(error("property-no-number", f'"{broken[0]}" of the material "{material.label}" is no number'))
    if found.trailing or found.body_rest:
        rest = len(found.trailing) + len(found.body_rest)
        issues.append(warning("trailing-bytes", f"{count(rest, 'byte')} stand behind the last material"))
    return sorted_issues(issues)


def check_pair(model: Msh, found: Skn) -> list[Issue]:
    """Whether the materials fit the sub-meshes: material i belongs to sub-mesh i."""
    return check_counts(len(model.submeshes), len(found.materials))


def check_counts(need: int, have: int) -> list[Issue]:
    """Whether there are as many materials as sub-meshes."""
    if have == need:
        return []
    return [
        error(
            "material-count",
            f"there {'is' if have == 1 else 'are'} {count(have, 'material')} for "
            f"{count(need, 'sub-mesh', 'sub-meshes')}; the game needs exactly one each, in the same order",
        )
    ]


def check_ani(found: Ani | AniList | Anim, _game: str = "") -> list[Issue]:
    """Issues of an animation, errors first; of a text list only whether it names files."""
    if isinstance(found, AniList):
        return [] if found.files else [error("empty-list", "the list names no ANI file")]
    if isinstance(found, Anim):
        found = to_ani(found, "clip")
    return sorted_issues([*_bones(found), *_clips(found), *_tracks(found)])


def _bones(found: Ani) -> Iterator[Issue]:
    if not len(found.bones):
        yield error("no-bones", "the animation has no bones")
    repeated = hierarchy.duplicates(found.bone_names)
    if repeated:
        yield error(
            "duplicate-bones",
            f"{count(len(repeated), 'bone')} of the animation {'has' if len(repeated) == 1 else 'have'} the name of "
            f'another ("{found.bone_names[repeated[0]]}"); the game finds bones by name, so rename them',
        )
    for note in hierarchy.from_ani(found).notes:
        if "hangs on" in note:
            yield warning("hierarchy", note)
    if found.trailing:
        yield warning("trailing-bytes", f"{count(len(found.trailing), 'byte')} stand behind the last bone")


def _clips(found: Ani) -> Iterator[Issue]:
    labels = [names.key(label) for label in found.clips]
    if len(set(labels)) < len(labels):
        yield warning("duplicate-clips", "several clips have the same name")
    for clip, label in enumerate(found.clips):
        if found.lengths[clip] < 1:
            yield warning("clip-length", f'the clip "{label}" has a length of {int(found.lengths[clip])} frames')
        elif found.lengths[clip] > 0x7FFF + 1 and found.version >= keys.SHORT_FROM:
            yield error(
                "clip-too-long",
                f'the clip "{label}" has {int(found.lengths[clip])} frames, but ANI 11 holds {0x7FFF + 1}; shorten it '
                "or export as ANI 10",
            )


def _tracks(found: Ani) -> Iterator[Issue]:
    """One issue per kind of trouble and clip, with the number of bones and the first one's name."""
    bones = found.bone_names
    for clip, label in enumerate(found.clips):
        trouble: dict[str, list[int]] = {}
        for row, records in enumerate(found.records):
            for code in _record(records[clip], int(found.lengths[clip]), found.version):
                trouble.setdefault(code, []).append(row)
        for code, rows in trouble.items():
            make, words = _TROUBLE[code]
            yield make(code, f'{count(len(rows), "bone")} in the clip "{label}" ("{bones[rows[0]]}" first) {words}')


_TROUBLE = {
    "last-key-at-0": (error, "with several keys, the last of them at frame 0, by which the game divides"),
    "frame-too-high": (error, "with a key beyond frame 32767, which ANI 11 cannot hold"),
    "key-no-number": (error, "with a key that is no number"),
    "keys-unsorted": (warning, "with keys that do not stand in the order of their frames"),
    "key-before-0": (warning, "with a key before frame 0"),
    "key-after-end": (warning, "with a key behind the end of the clip"),
    "rotation-not-unit": (warning, "with a rotation that is not of length one"),
}


def _record(record: Record, length: int, version: int) -> set[str]:
    """The codes of what is wrong with the tracks of one bone in one clip."""
    found: set[str] = set()
    for number, track in enumerate(record.tracks):
        if not len(track):
            continue
        frames = keys.frames(track, length)
        low, high = int(frames.min()), int(frames.max())
        checks = {
            "last-key-at-0": len(frames) > 1 and int(frames[-1]) == 0,
            "frame-too-high": version >= keys.SHORT_FROM and high > 0x7FFF,
            "keys-unsorted": len(frames) > 1 and bool((frames[1:] <= frames[:-1]).any()),
            "key-before-0": low < 0,
            "key-after-end": high >= max(length, 1),
        }
        found |= {code for code, wrong in checks.items() if wrong}
        values = blocks.wide(keys.values(track))
        if not np.isfinite(values).all():
            found.add("key-no-number")
        elif number == 1 and (np.abs(np.sqrt(np.square(values).sum(axis=1)) - 1.0) > _UNIT).any():
            found.add("rotation-not-unit")
    if not np.isfinite(record.base.view("<f4")).all():
        found.add("key-no-number")
    return found
