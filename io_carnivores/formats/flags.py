# SPDX-License-Identifier: GPL-3.0-or-later
"""Face flags of Carnivores models, as the original engines test them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag


class FaceFlag(IntFlag):
    """The u16 at offset 0x24 of a face."""

    DOUBLE_SIDE = 0x0001
    DARK_BACK = 0x0002
    OPACITY = 0x0004
    TRANSPARENT = 0x0008
    MORTAL = 0x0010
    PHONG = 0x0020
    ENV_MAP = 0x0040
    NEED_VC = 0x0080
    DARK = 0x8000


@dataclass(frozen=True)
class FlagInfo:
    """What a modder is shown of a flag."""

    flag: FaceFlag
    label: str
    help: str
    color: tuple[float, float, float]


FLAGS: tuple[FlagInfo, ...] = (
    FlagInfo(FaceFlag.DOUBLE_SIDE, "Double Side", "Drawn from both sides", (0.2, 0.6, 1.0)),
    FlagInfo(FaceFlag.DARK_BACK, "Dark Back", "Back side culled even when Double Side is set", (0.25, 0.2, 0.5)),
    FlagInfo(FaceFlag.OPACITY, "Opacity", "Cut-out: black texels are holes; bullets pass", (0.2, 0.8, 0.3)),
    FlagInfo(FaceFlag.TRANSPARENT, "Transparent", "Blended like glass; bullets pass", (0.3, 0.9, 0.9)),
    FlagInfo(FaceFlag.MORTAL, "Mortal", "A hit here is lethal (characters only)", (0.9, 0.15, 0.1)),
    FlagInfo(FaceFlag.PHONG, "Phong", "Highlight pass on a held weapon (Carnivores 2, Ice Age)", (1.0, 0.85, 0.2)),
    FlagInfo(
        FaceFlag.ENV_MAP, "Env Map", "Environment-map pass on a held weapon; set together with Phong", (0.9, 0.5, 0.9)
    ),
    FlagInfo(FaceFlag.NEED_VC, "Need VC", "Set by the games at load; leave it off", (0.5, 0.5, 0.5)),
    FlagInfo(FaceFlag.DARK, "Dark", "Run-time mark of the software renderer; leave it off", (0.1, 0.1, 0.1)),
)
