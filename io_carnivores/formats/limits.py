# SPDX-License-Identifier: GPL-3.0-or-later
"""What each game can hold.

The limits of the original games are fixed arrays in their engines, which nothing guards; those of the MEE fork are
tests in its loader. The mobile game's are unknown, so only the largest file it came with is a measure.
"""

from __future__ import annotations

from dataclasses import dataclass

from .model import ROW_BYTES

ROWS = 256  # rows of the picture that the games draw from, however many are stored
TEXTURE_BYTES = ROWS * ROW_BYTES


@dataclass(frozen=True)
class Limits:
    """What one game can hold; None: no limit is known. `label` names it in a sentence.

    `advised_*`: beyond it the model is merely larger than `measure` says. `extension`: of the files it loads.
    `sorts`: it sorts faces at load and draws the highlight passes of weapons, as Carnivores 2 and Ice Age do.
    """

    label: str
    extension: str = "3df"
    vertices: int | None = None
    faces: int | None = None
    bones: int | None = None
    texture: int | None = TEXTURE_BYTES
    sorts: bool = False
    advised_vertices: int | None = None
    advised_faces: int | None = None
    measure: str = ""


LIMITS: dict[str, Limits] = {
    "C1": Limits("Carnivores", vertices=1024, faces=1024, bones=1024),
    "C2": Limits("Carnivores 2", vertices=1024, faces=1024, bones=1024, sorts=True),
    "ICE_AGE": Limits("Carnivores Ice Age", vertices=1024, faces=1024, bones=1024, sorts=True),
    "MEE": Limits(
        "the MEE fork",
        vertices=1 << 20,
        faces=1 << 20,
        advised_vertices=6144,
        advised_faces=2048,
        measure="the other forks hold",
    ),
    "MOBILE": Limits(
        "the mobile game",
        extension="3dn",
        texture=None,
        advised_vertices=1145,
        advised_faces=2042,
        measure="any file that came with the mobile game has",
    ),
}
