# SPDX-License-Identifier: GPL-3.0-or-later
"""What a game would trip over in the animations and sounds of a character, looked for before it is written.

The original engines divide by KPS, blend frame k with frame k + 1, and copy animations, sounds and names into arrays of
64 without asking. The MEE fork takes records of no or one frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...io_common.formats.issues import Issue, Severity
from . import check as static
from .car import SOUND_RATE, TABLE_ENTRIES, Character
from .limits import LIMITS
from .model import label
from .motion import LIMIT, Animation

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_SOUND = 15.0  # seconds; the longest in any known file is 13.9
_TOLERANT = ("MEE", "MOBILE")


def check(character: Character, game: str, kind: str = "car") -> list[Issue]:
    """Issues of a character to be written as `kind` ("car", "3dn") for `game`, a key of `LIMITS`; errors first."""
    found = static.check(character.model, game, kind)
    found += _lists(character, game)
    for animation in character.animations:
        found += check_animation(animation, game, loops=character.check_loops)
    found += _sounds(character)
    return sorted(found, key=lambda issue: issue.severity is not Severity.ERROR)


def check_animation(animation: Animation, game: str, *, loops: bool = False) -> list[Issue]:
    """Issues of one animation. `loops`: it should end in its first frame; a third of all known ones rightly do not."""
    found = list(_animation(animation, LIMITS[game].label, strict=game not in _TOLERANT))
    return found + (list(_loop(animation)) if loops else [])


def _lists(character: Character, game: str) -> Iterator[Issue]:
    name = LIMITS[game].label
    for noun, entries in (("animations", character.animations), ("sounds", character.sounds)):
        number = len(entries)
        if number > TABLE_ENTRIES and game != "MOBILE":
            yield Issue(
                Severity.ERROR,
                f"too-many-{noun}",
                f"there are {number} {noun}, but {name} holds no more than {TABLE_ENTRIES}; "
                f"remove {number - TABLE_ENTRIES} of them",
            )
    if not character.animations:
        yield Issue(Severity.WARNING, "no-animation", "the character has no animation, so it will not be seen to move")


def _animation(animation: Animation, game: str, *, strict: bool) -> Iterator[Issue]:
    title = label(animation.name)
    shown = f'the animation "{title}"' if title else "the animation"
    count = len(animation.frames)
    if animation.clipped:
        yield Issue(
            Severity.ERROR,
            "frame-out-of-range",
            f"{animation.clipped} coordinates of {shown} lie further out than the {LIMIT:.1f} units that 16 bits can "
            "say; make the model or its motion smaller, or export with a larger scale",
        )
    severity = Severity.ERROR if strict else Severity.WARNING
    if count < 2:
        frames = "no frames" if not count else "one frame"
        yield Issue(
            severity, "too-few-frames", f"{shown} has {frames}, but {game} blends between frames and needs two of them"
        )
    if animation.kps < 1:
        yield Issue(
            severity, "no-rate", f"{shown} has {animation.kps} keys per second, by which {game} divides; set 1 or more"
        )


def _loop(animation: Animation) -> Iterator[Issue]:
    if len(animation.frames) > 2 and not np.array_equal(animation.frames[0], animation.frames[-1]):
        yield Issue(
            Severity.WARNING,
            "no-loop",
            f'the animation "{label(animation.name)}" does not end in its first frame, so it jumps when it is repeated',
        )


def _sounds(character: Character) -> Iterator[Issue]:
    for sound in character.sounds:
        title = label(sound.name)
        if sound.seconds > LONGEST_SOUND:
            yield Issue(
                Severity.WARNING,
                "long-sound",
                f'the sound "{title}" lasts {sound.seconds:.1f} s ({SOUND_RATE} Hz), '
                "longer than any sound of the games",
            )
        if len(sound.data) % 2:
            yield Issue(
                Severity.WARNING, "odd-sound", f'the sound "{title}" ends in the middle of a sample, after an odd byte'
            )
