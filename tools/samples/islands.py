# SPDX-License-Identifier: GPL-3.0-or-later
"""How the dinosaur's 256 x 256 texture is divided up. Left and right halves of the body share their texels."""

from __future__ import annotations

from tools.samples.shape import Island, Look

SIZE = 256

BODY = Island(0, 0, 256, 92)  # across: tip of the tail to the neck; down: back to belly
HEAD = Island(0, 92, 128, 64)  # across: neck to nose; down: crown to lip
LEG = Island(128, 92, 128, 52)  # across: hip to foot; down: front to back
JAW = Island(0, 156, 96, 28)
MOUTH = Island(96, 156, 32, 28)  # across: throat to teeth; down: middle to rim
ARM = Island(128, 144, 80, 28)
TOE = Island(128, 172, 56, 20)
CLAW = Island(184, 172, 24, 20)  # across: root to point
TOOTH = Island(208, 176, 16, 16)
EYE = Island(224, 144, 32, 32)
CORNEA = Island(224, 176, 32, 16)
CREST = Island(0, 184, 128, 72)  # across: one length of crest; down: tip to root
FAN = Island(128, 192, 80, 64)  # feathers of the tail; across: root to tip
PLUME = Island(208, 192, 48, 64)  # feathers of the arm; across: root to tip

# What the faces mean to a game.
DOUBLE_SIDE, CUT_OUT, GLASS, MORTAL = 0x01, 0x05, 0x08, 0x10

BODY_LOOK = Look(BODY, group=0)
HEART = Look(BODY, group=0, flags=MORTAL)
HEAD_LOOK = Look(HEAD, group=1, flags=MORTAL)
JAW_LOOK = Look(JAW, group=1, flags=MORTAL)
MOUTH_LOOK = Look(MOUTH, group=1, flags=MORTAL)
SKIN_FOLD = Look(MOUTH, group=1, flags=DOUBLE_SIDE)
HORN = Look(CLAW, group=1)
TEETH = Look(TOOTH, group=5)
EYE_LOOK = Look(EYE, group=5, flags=MORTAL)
CORNEA_LOOK = Look(CORNEA, group=5, flags=GLASS)
LEG_LOOK = Look(LEG, group=2)
TOE_LOOK = Look(TOE, group=2)
TOE_CLAW = Look(CLAW, group=2)
ARM_LOOK = Look(ARM, group=3)
FINGER_LOOK = Look(TOE, group=3)
FINGER_CLAW = Look(CLAW, group=3)
CREST_LOOK = Look(CREST, group=4, flags=CUT_OUT)
FAN_LOOK = Look(FAN, group=4, flags=CUT_OUT)
PLUME_LOOK = Look(PLUME, group=4, flags=CUT_OUT)
