# SPDX-License-Identifier: GPL-3.0-or-later
"""What the dinosaur does: it walks on the spot, as the games want it, idles and roars."""

from __future__ import annotations

from tools.samples.curve import Curve, hermite
from tools.samples.exact import cosine, sine
from tools.samples.pose import Foot, Pose

WALK_FRAMES, IDLE_FRAMES, ROAR_FRAMES = 25, 41, 37
WALK_KPS, IDLE_KPS, ROAR_KPS = 20, 15, 20

# The gait of one foot. Times are shares of a cycle from its touchdown on; it leaves the ground at _LIFTS.
_LIFTS = 0.6
_TOUCHES, _LEAVES = -58.0, 44.0  # behind the hip
_LIFT = Curve(((0.0, 0.0), (0.5, 0.0), (0.6, 7.0), (0.67, 19.0), (0.77, 29.0), (0.88, 20.0), (0.96, 4.0), (1.0, 0.0)))
_LEAN = Curve(
    (
        (0.0, 33.0),
        (0.12, 36.0),
        (0.35, 29.0),
        (0.5, 14.0),
        (0.6, -8.0),
        (0.68, -32.0),
        (0.78, -42.0),
        (0.9, 0.0),
        (0.96, 24.0),
        (1.0, 33.0),
    )
)
_TOES = Curve(
    ((0.0, 0.0), (0.5, 0.0), (0.6, -11.0), (0.67, -30.0), (0.77, -42.0), (0.88, -8.0), (0.95, 6.0), (1.0, 0.0))
)

_JAW_SHUT = 17.0  # the model has its jaw open by 25 degrees
_STANCE = (Foot(23.0, -22.0, lean=28.0), Foot(-23.0, 10.0, lean=22.0))


def walk() -> list[Pose]:
    """Return one cycle, the left foot touching down first; the last frame is the first."""
    return [_stride(number % (WALK_FRAMES - 1) / (WALK_FRAMES - 1)) for number in range(WALK_FRAMES)]


def _step(time: float, side: float) -> Foot:
    """Return a foot: on the ground it goes back as fast as the ground does, in the air it hurries forward."""
    time = time % 1.0
    speed = (_LEAVES - _TOUCHES) / _LIFTS
    if time < _LIFTS:
        back = _TOUCHES + speed * time
    else:
        air = 1.0 - _LIFTS
        back = hermite((time - _LIFTS) / air, _LEAVES, _TOUCHES, speed * air, speed * air)
    return Foot(18.0 * side, back, _LIFT.at(time), _LEAN.at(time), _TOES.at(time))


def _stride(time: float) -> Pose:
    """Return the walking animal: the trunk bobs twice a cycle, the tail swings against the hips, the head is still."""
    swing, bob = cosine(time), cosine(2.0 * time - 0.6)  # 1 with the left foot in front; 1 at mid-stance
    weight = sine(time - 0.05)  # 1 on the left leg
    turns = {
        "Pelvis": (-2.0 + 0.8 * bob, -5.0 * swing, 2.5 * weight),
        "Spine": (1.0, 3.0 * swing, -1.5 * weight),
        "Chest": (1.5, 3.5 * swing, -1.5 * weight),
        "Neck": (-14.0 + 3.5 * cosine(2.0 * time - 0.75), -1.0 * swing, 0.5 * weight),
        "Head": (9.0 - 3.5 * cosine(2.0 * time - 0.75), -0.8 * swing, 0.0),
        "Jaw": (_JAW_SHUT - 1.0 + 1.0 * cosine(2.0 * time - 0.3), 0.0, 0.0),
        "Crête": (2.0 * cosine(2.0 * time - 0.9), 0.0, 0.0),
        "L Arm": (6.0 - 7.0 * swing, 0.0, 0.0),
        "R Arm": (6.0 + 7.0 * swing, 0.0, 0.0),
        "L Hand": (4.0 - 6.0 * cosine(time - 0.1), 0.0, 0.0),
        "R Hand": (4.0 + 6.0 * cosine(time - 0.1), 0.0, 0.0),
    }
    for number, wide in enumerate((5.0, 5.5, 7.0, 8.0), 1):
        lag = 0.09 * number
        turns[f"Tail {number}"] = (-1.0 + 1.6 * cosine(2.0 * time - 0.6 - 2.0 * lag), wide * cosine(time - lag), 0.0)
    return Pose(_step(time, 1.0), _step(time + 0.5, -1.0), (2.5 * weight, -7.0 + 2.4 * bob, 2.0), turns)


# Where the head looks to in a cycle of idling: to its left, then to its right.
_LOOK = Curve(((0.0, 0.0), (0.1, 0.0), (0.2, 27.0), (0.4, 24.0), (0.54, -25.0), (0.74, -22.0), (0.88, 0.0), (1.0, 0.0)))
_TILT = Curve(((0.0, 0.0), (0.12, 0.0), (0.22, 7.0), (0.38, 3.0), (0.56, -7.0), (0.72, -4.0), (0.88, 0.0), (1.0, 0.0)))
_PEER = Curve(((0.0, 0.0), (0.12, -3.0), (0.24, 4.0), (0.4, 4.0), (0.48, -3.0), (0.58, 3.0), (0.74, 2.0), (1.0, 0.0)))


def idle() -> list[Pose]:
    """Return one cycle of standing: two breaths, a look round; the last frame is the first."""
    return [_stand(number % (IDLE_FRAMES - 1) / (IDLE_FRAMES - 1)) for number in range(IDLE_FRAMES)]


def _stand(time: float) -> Pose:
    breath = 0.5 - 0.5 * cosine(2.0 * time)  # 1 when the lungs are full
    look, tilt, peer = _LOOK.at(time), _TILT.at(time), _PEER.at(time)
    turns = {
        "Pelvis": (-1.0, 0.06 * look, 0.8 * sine(time)),
        "Spine": (1.0 + 0.8 * breath, 0.06 * look, 0.0),
        "Chest": (1.4 * breath, 0.1 * look, -0.6 * sine(time)),
        "Neck": (-3.0 - 2.0 * breath + peer, 0.45 * look, 0.4 * tilt),
        "Head": (1.0 - 0.6 * peer, 0.6 * look, 0.6 * tilt),
        "Jaw": (_JAW_SHUT - 3.0 * breath, 0.0, 0.0),
        "Crête": (-1.5 * peer, 0.0, 0.0),
        "L Arm": (2.0 - 4.0 * breath, 0.0, -2.0 * breath),
        "R Arm": (2.0 - 4.0 * breath, 0.0, 2.0 * breath),
        "L Hand": (6.0 * cosine(2.0 * time - 0.15) - 6.0 * cosine(0.15), 0.0, 0.0),
        "R Hand": (6.0 * cosine(2.0 * time - 0.3) - 6.0 * cosine(0.3), 0.0, 0.0),
    }
    for number, wide in enumerate((2.5, 4.5, 6.5, 9.0), 1):
        lag = 0.08 * number
        turns[f"Tail {number}"] = (1.2 * cosine(2.0 * time - lag) - 1.0, wide * sine(time - lag), 0.0)
    return Pose(*_STANCE, (1.2 * sine(time), -4.0 + 1.3 * breath, 1.0), turns)


# The roar over its frames: it draws back, lunges with the head thrown up, shakes, and comes down again.
_ROAR = {
    "sink": Curve(((0, 0.0), (6, -7.0), (11, 2.0), (24, 0.0), (30, -3.0), (36, 0.0))),
    "back": Curve(((0, 0.0), (6, 12.0), (12, -17.0), (24, -14.0), (31, 2.0), (36, 0.0))),
    "trunk": Curve(((0, 0.0), (6, -6.0), (12, 10.0), (23, 8.0), (30, -2.0), (36, 0.0))),
    "neck": Curve(((0, 0.0), (6, -15.0), (12, 15.0), (23, 13.0), (30, -5.0), (36, 0.0))),
    "head": Curve(((0, 0.0), (6, 4.0), (12, 12.0), (22, 14.0), (29, 0.0), (36, 0.0))),
    "jaw": Curve(((0, 0.0), (4, 0.0), (7, -6.0), (12, -30.0), (22, -32.0), (29, -5.0), (32, 0.0), (36, 0.0))),
    "crest": Curve(((0, 0.0), (6, 6.0), (12, -15.0), (23, -13.0), (31, 0.0), (36, 0.0))),
    "arms": Curve(((0, 0.0), (6, -12.0), (12, 32.0), (23, 26.0), (31, -3.0), (36, 0.0))),
    "spread": Curve(((0, 0.0), (6, 0.0), (12, 20.0), (23, 18.0), (31, 0.0), (36, 0.0))),
    "tail": Curve(((0, 0.0), (6, 4.0), (12, -7.0), (23, -5.0), (31, 1.0), (36, 0.0))),
    "shake": Curve(((0, 0.0), (9, 0.0), (13, 1.0), (21, 1.0), (28, 0.0), (36, 0.0))),
}


def roar() -> list[Pose]:
    """Return the roar, which starts and ends as idling does."""
    return [_cry(number) for number in range(ROAR_FRAMES)]


def _cry(number: int) -> Pose:
    now = {name: curve.at(float(number)) for name, curve in _ROAR.items()}
    pose = _stand(0.0)
    shake = now["shake"] * sine(number / 5.0)
    tremble = now["shake"] * sine(number / 2.5)
    added = {
        "Pelvis": (0.6 * now["trunk"], 0.0, 0.0),
        "Spine": (0.5 * now["trunk"], 0.8 * shake, 0.0),
        "Chest": (0.6 * now["trunk"], 1.2 * shake, 0.0),
        "Neck": (now["neck"], 3.0 * shake, 2.0 * shake),
        "Head": (now["head"] + 1.0 * tremble, 3.0 * shake, 4.0 * shake),
        "Jaw": (now["jaw"] + 1.5 * tremble, 0.0, 0.0),
        "Crête": (now["crest"] + 2.0 * tremble, 0.0, 0.0),
        "L Arm": (now["arms"], 0.0, now["spread"]),
        "R Arm": (now["arms"], 0.0, -now["spread"]),
        "L Hand": (-0.5 * now["arms"], 0.0, 0.0),
        "R Hand": (-0.5 * now["arms"], 0.0, 0.0),
    }
    for part in range(1, 5):
        added[f"Tail {part}"] = (now["tail"], (1.0 + part) * now["shake"] * sine(number / 5.0 - 0.12 * part), 0.0)
    for name, (pitch, yaw, roll) in added.items():
        a, b, c = pose.turns[name]
        pose.turns[name] = (a + pitch, b + yaw, c + roll)
    x, y, z = pose.shift
    pose.shift = (x, y + now["sink"], z + now["back"])
    return pose
