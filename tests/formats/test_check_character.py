# SPDX-License-Identifier: GPL-3.0-or-later
"""What a game would trip over in the animations and sounds of a character."""

from __future__ import annotations

import numpy as np
import pytest
from addon.io_carnivores.formats import check_character, motion
from addon.io_carnivores.formats.motion import Animation
from addon.io_common.formats.issues import Severity

from tests import characters


def codes(character: characters.Character, game: str = "C2") -> dict[str, Severity]:
    """Code -> severity of what is found."""
    return {issue.code: issue.severity for issue in check_character.check(character, game)}


@pytest.mark.parametrize("game", ["C1", "C2", "ICE_AGE", "MEE"])
def test_a_sound_character_is_a_car_for_every_pc_game(game: str) -> None:
    """No word of another format."""
    character = characters.creature()
    character.sounds = character.sounds[1:]
    assert codes(character, game) == {}


def test_the_mobile_game_wants_a_cat() -> None:
    """It is said which file to write."""
    found = check_character.check(characters.creature(), "MOBILE")
    assert any(issue.code == "other-format" and "CAT" in issue.message for issue in found)


@pytest.mark.parametrize("game", ["C1", "C2", "ICE_AGE", "MEE"])
@pytest.mark.parametrize("what", ["animations", "sounds"])
def test_lists_of_sixty_four(game: str, what: str) -> None:
    """One more is an error everywhere."""
    character = characters.creature()
    entries = getattr(character, what)
    setattr(character, what, [entries[1]] * 64)
    assert f"too-many-{what}" not in codes(character, game)
    setattr(character, what, [entries[1]] * 65)
    assert codes(character, game)[f"too-many-{what}"] is Severity.ERROR


@pytest.mark.parametrize(("game", "severity"), [("C2", Severity.ERROR), ("MEE", Severity.WARNING)])
def test_frames_and_rate(game: str, severity: Severity) -> None:
    """The engines blend two frames and divide by KPS; one fork takes placeholders."""
    character = characters.creature()
    frames = character.animations[0].frames
    character.animations[0] = Animation(b"one", 0, frames[:1])
    found = codes(character, game)
    assert found["too-few-frames"] is severity
    assert found["no-rate"] is severity


def test_loops_are_looked_at_when_asked() -> None:
    """A third of all animations are none, so it is no matter of course."""
    character = characters.creature()
    assert "no-loop" not in codes(character)
    character.check_loops = True
    messages = [issue.message for issue in check_character.check(character, "C2") if issue.code == "no-loop"]
    assert len(messages) == 1


def test_what_16_bits_cannot_say_is_an_error() -> None:
    """The number of coordinates comes from where they were clipped."""
    far = np.array([[[2047.9375, 0, -2048.0], [2048.0, -2048.1, 0]]] * 2)
    assert motion.outside(far) == 4
    character = characters.creature()
    character.animations[0].clipped = 3
    assert codes(character)["frame-out-of-range"] is Severity.ERROR


def test_odd_and_long_sounds() -> None:
    """Warnings: the games play them somehow."""
    character = characters.creature()
    character.sounds.append(characters.sound(16.0))
    found = codes(character)
    assert found["odd-sound"] is Severity.WARNING
    assert found["long-sound"] is Severity.WARNING
