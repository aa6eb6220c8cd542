# SPDX-License-Identifier: GPL-3.0-or-later
"""Where everything lies on the textures of the fox."""

from __future__ import annotations

from tools.samples.fox.shape import Island

FACE_SIZE = (256, 256)
HEAD = Island(0, 0, 256, 192, FACE_SIZE)
EAR = Island(0, 192, 128, 64, FACE_SIZE)
TUFT = Island(128, 192, 64, 64, FACE_SIZE)

BODY_SIZE = (256, 256)
TORSO = Island(0, 0, 256, 96, BODY_SIZE)
ARM = Island(0, 96, 96, 96, BODY_SIZE)
LEG = Island(96, 96, 96, 96, BODY_SIZE)
TAIL = Island(192, 96, 64, 160, BODY_SIZE)
GLOVE = Island(0, 192, 64, 64, BODY_SIZE)
COLLAR = Island(64, 192, 128, 32, BODY_SIZE)
BOOT = Island(64, 224, 128, 32, BODY_SIZE)

RANGER_SIZE = (256, 128)
CAPE = Island(0, 0, 128, 128, RANGER_SIZE)
HAT = Island(128, 0, 128, 48, RANGER_SIZE)
FEATHER = Island(128, 48, 64, 32, RANGER_SIZE)
QUIVER = Island(192, 48, 64, 48, RANGER_SIZE)
SHAFT = Island(128, 80, 64, 16, RANGER_SIZE)
VANE = Island(128, 96, 64, 32, RANGER_SIZE)
STEEL = Island(192, 96, 64, 32, RANGER_SIZE)

BOW_SIZE = (128, 32)
LIMB = Island(0, 0, 128, 24, BOW_SIZE)
STRING = Island(0, 24, 128, 8, BOW_SIZE)
