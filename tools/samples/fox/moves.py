# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of the fox over time: at ease, a run on the spot, a shot with the bow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.samples import exact
from tools.samples.curve import Curve, hermite
from tools.samples.exact import Vector, cosine, sine
from tools.samples.fox.outfit import ARROW, STRING
from tools.samples.fox.pose import Pose, Reach, aimed, solve
from tools.samples.pose import euler

if TYPE_CHECKING:
    from tools.samples.fox.pose import State

# Name, last frame, frames from key to key.
CLIPS = (("Fox_Stand", 120, 4), ("Fox_Run", 36, 2), ("Fox_Attack", 72, 2))
_HIDDEN = 0.02  # the size of an arrow that is not there
_LEFT, _RIGHT = "Bip01 L Hand", "Bip01 R Hand"
_GRIP = 5.17  # from a wrist to what the hand holds


@dataclass(frozen=True)
class Way:
    """A place or direction over time."""

    keys: tuple[tuple[float, Vector], ...]

    def at(self, time: float) -> Vector:
        """Return the place at a time."""
        x, y, z = (Curve(tuple((at, float(value[axis])) for at, value in self.keys)).at(time) for axis in range(3))
        return (x, y, z)


def pose(name: str, time: int) -> Pose:
    """Return the pose of a clip at a frame."""
    return {"Fox_Stand": stand, "Fox_Run": run, "Fox_Attack": attack}[name](float(time))


def _sway(time: float, cycle: float, strength: float, lift: float = 0.0) -> dict[str, Vector]:
    """Return how the tail swings, each part later than the one before."""
    return {
        f"Bone_Tail0{number + 1}": (lift, strength * (1.0 + 0.3 * number) * sine(time / cycle - 0.14 * number), 0.0)
        for number in range(3)
    }


# At ease: the bow before it, the other hand on the hip.
_EASE_LEFT, _EASE_RIGHT = (14.0, 43.5, -9.0), (-16.4, 41.6, 1.5)
_EASE_LEFT_WAY, _EASE_LEFT_UP = (0.15, -0.25, -1.0), (0.32, 1.0, 0.0)
_EASE_RIGHT_WAY, _EASE_RIGHT_UP = (0.75, -0.55, -0.75), (0.35, 0.75, -0.4)
_EASE_SHIFT = (-0.6, -1.2, 0.0)
_EASE_FEET = ((9.0, 6.0, -1.5), (-8.8, 6.0, 3.0))
_EASE_YAWS = (9.0, -24.0)


def stand(time: float) -> Pose:
    """Two breaths; it looks to its left and back, one ear twitches."""
    breath = sine(time / 60.0)
    slow = sine(time / 120.0)
    look = Curve(((0.0, 0.0), (26.0, 0.0), (42.0, 24.0), (66.0, 24.0), (84.0, -6.0), (100.0, -6.0), (120.0, 0.0))).at(
        time
    )
    twitch = Curve(((30.0, 0.0), (34.0, -16.0), (38.0, 4.0), (42.0, -10.0), (48.0, 0.0))).at(time)
    found = Pose(shift=exact.add(_EASE_SHIFT, (0.5 * slow, 0.22 * breath, 0.0)))
    found.turns = {
        "Bip01 Pelvis": (0.0, 4.0, 2.0 + 0.6 * slow),
        "Bip01 Spine": (1.0 * breath, -3.0, -2.5),
        "Bip01 Spine1": (1.4 * breath, -3.0, -1.0 - 0.6 * slow),
        "Bip01 Head": (2.0 - 1.2 * breath, look, 3.0 * slow),
        "Bone_L Ear": (0.0, 0.0, twitch + 1.5 * breath),
        "Bone_R Ear": (0.0, 0.0, -1.5 * breath),
        "Bone_Cape01": (0.8 * breath, 0.0, 0.0),
        "Bone_Cape02": (1.6 * sine(time / 60.0 - 0.15), 0.0, 0.0),
        **_sway(time, 60.0, 9.0),
    }
    drop = 0.35 * breath
    found.reach = {
        "L Hand": Reach(exact.add(_EASE_LEFT, (0.2 * slow, drop, 0.0)), (0.7, -0.35, 1.0)),
        "R Hand": Reach(exact.add(_EASE_RIGHT, (0.25 * slow, 0.4 * drop, 0.0)), (-1.0, 0.0, 0.7)),
    }
    found.facing = {
        _LEFT: aimed(_LEFT, exact.add(_EASE_LEFT_WAY, (0.0, 0.03 * breath, 0.0)), _EASE_LEFT_UP),
        _RIGHT: aimed(_RIGHT, _EASE_RIGHT_WAY, _EASE_RIGHT_UP),
    }
    _plant(found, _EASE_FEET, _EASE_YAWS)
    found.sizes = {ARROW: _HIDDEN}
    return found


def _plant(found: Pose, feet: tuple[Vector, Vector], yaws: tuple[float, float]) -> None:
    for side, place, yaw in zip("LR", feet, yaws, strict=True):
        found.reach[f"{side} Foot"] = Reach(place, (-0.012 * yaw, 0.0, -1.0))
        found.facing[f"Bip01 {side} Foot"] = euler((0.0, yaw, 0.0))


# One foot of the run. Times are shares of a cycle from its touchdown on.
_CONTACT = 0.36
_AHEAD, _BEHIND = -9.5, 10.5
_LIFT = Curve(
    (
        (0.0, 1.0),
        (0.08, 0.05),
        (0.18, 0.05),
        (0.27, 1.6),
        (0.36, 4.8),
        (0.5, 13.0),
        (0.64, 14.0),
        (0.84, 4.5),
        (1.0, 1.0),
    )
)
_TIP = Curve(
    (
        (0.0, 12.0),
        (0.08, 0.0),
        (0.18, 0.0),
        (0.27, -12.0),
        (0.36, -38.0),
        (0.5, -72.0),
        (0.66, -40.0),
        (0.86, 10.0),
        (1.0, 12.0),
    )
)


def run(time: float) -> Pose:
    """One cycle on the spot, the left foot touching down first."""
    share = time / 36.0
    swing = cosine(share - 0.06)  # 1 with the left foot in front
    bob = cosine(2.0 * share - 0.36)
    found = Pose(shift=(0.0, -3.4 - 1.5 * bob, -1.0))
    found.turns = {
        "Bip01 Pelvis": (-9.0, -9.0 * swing, 3.0 * sine(share)),
        "Bip01 Spine": (-6.0, 8.0 * swing, -2.0 * sine(share)),
        "Bip01 Spine1": (-4.0, 10.0 * swing, 0.0),
        "Bip01 Neck": (6.0, -4.0 * swing, 0.0),
        "Bip01 Head": (10.0 - 2.0 * bob, -5.0 * swing, 0.0),
        "Bone_L Ear": (12.0 + 5.0 * bob, 0.0, 0.0),
        "Bone_R Ear": (12.0 + 5.0 * bob, 0.0, 0.0),
        "Bone_Cape01": (20.0 - 4.0 * bob, 0.0, 2.0 * swing),
        "Bone_Cape02": (14.0 - 8.0 * cosine(2.0 * share - 0.5), 0.0, 2.0 * swing),
        **_sway(time, 36.0, 12.0, -7.0),
    }
    for side, sign, start in (("L", 1.0, 0.0), ("R", -1.0, 0.5)):
        place, tip = _step((share - start) % 1.0, sign)
        found.reach[f"{side} Foot"] = Reach(place, (0.1 * sign, 0.0, -1.0))
        found.facing[f"Bip01 {side} Foot"] = euler((tip, -3.0 * sign, 0.0))
        found.turns[f"Bip01 {side} Toe0"] = (
            min(26.0, max(0.0, -0.6 * tip)) if (share - start) % 1.0 < 0.42 else 0.0,
            0.0,
            0.0,
        )
    # Arms go against the legs; the one with the bow less.
    found.reach["R Hand"] = Reach((-15.5 - 1.5 * swing, 42.5 + 3.5 * swing, -4.5 - 9.0 * swing), (-0.7, -0.4, 1.0))
    found.reach["L Hand"] = Reach((16.5 - 1.0 * swing, 41.5 - 2.0 * swing, -4.0 + 5.5 * swing), (0.8, -0.2, 1.0))
    found.facing = found.facing | {
        _LEFT: aimed(_LEFT, (0.25, -0.75, -0.75), (0.25, 0.45 - 0.1 * swing, -0.9)),
        _RIGHT: aimed(_RIGHT, (0.35, 0.1 + 0.5 * swing, -1.0), (0.3, 1.0, 0.2)),
    }
    found.sizes = {ARROW: _HIDDEN}
    return found


def _step(share: float, sign: float) -> tuple[Vector, float]:
    """Return place and pitch of a foot: on the ground it goes back evenly, in the air it hurries forward."""
    speed = (_BEHIND - _AHEAD) / _CONTACT
    if share < _CONTACT:
        back = _AHEAD + speed * share
    else:
        air = 1.0 - _CONTACT
        back = hermite((share - _CONTACT) / air, _BEHIND, _AHEAD, 0.6 * speed * air, 0.4 * speed * air)
    return (5.6 * sign, 6.0 + _LIFT.at(share), back), _TIP.at(share)


# The shot. Frames: the hand is at the quiver, the arrow on the string, drawn, loosed.
_GRASP, _NOCKED, _DRAWN, _LOOSED, _FLOWN = 14.0, 27.0, 42.0, 50.0, 62.0
_BOW = (-8.0, 57.0, -20.0)  # the left wrist
_LEFT_HAND = Way(((0.0, _EASE_LEFT), (12.0, (8.0, 47.0, -15.0)), (26.0, _BOW), (54.0, _BOW), (72.0, _EASE_LEFT)))
_LEFT_WAY = Way(((0.0, _EASE_LEFT_WAY), (24.0, (0.0, 0.0, -1.0)), (52.0, (0.0, 0.0, -1.0)), (72.0, _EASE_LEFT_WAY)))
_LEFT_UP = Way(((0.0, _EASE_LEFT_UP), (24.0, (0.06, 1.0, 0.0)), (52.0, (0.06, 1.0, 0.0)), (72.0, _EASE_LEFT_UP)))
_RIGHT_HAND = Way(
    (
        (0.0, _EASE_RIGHT),
        (7.0, (-20.0, 53.0, 3.0)),
        (_GRASP, (-13.5, 64.5, 12.0)),
        (18.0, (-20.5, 63.0, 3.0)),
        (_NOCKED, (-9.0, 57.0, -12.0)),
        (30.0, (-9.0, 57.0, -12.0)),
        (_DRAWN, (-9.4, 57.2, 8.0)),
        (_LOOSED, (-9.4, 57.2, 8.4)),
        (53.0, (-14.5, 58.5, 14.0)),
        (58.0, (-17.0, 56.0, 13.0)),
        (72.0, _EASE_RIGHT),
    )
)
_RIGHT_WAY = Way(
    (
        (0.0, _EASE_RIGHT_WAY),
        (_GRASP, (0.35, 0.3, 0.9)),
        (18.0, (0.4, 0.8, -0.5)),
        (_NOCKED, (0.17, 0.0, -1.0)),
        (_LOOSED, (0.22, 0.0, -1.0)),
        (54.0, (-0.3, 0.4, -1.0)),
        (72.0, _EASE_RIGHT_WAY),
    )
)
_RIGHT_UP = Way(((0.0, _EASE_RIGHT_UP), (_NOCKED, (0.2, 1.0, 0.0)), (56.0, (0.2, 1.0, 0.0)), (72.0, _EASE_RIGHT_UP)))
_RIGHT_BEND = Way(
    (
        (0.0, (-1.0, 0.0, 0.7)),
        (_GRASP, (-1.0, 0.5, -0.5)),
        (_NOCKED, (-1.0, -0.2, 0.4)),
        (_DRAWN, (-0.45, 0.12, 1.0)),
        (54.0, (-0.6, 0.0, 1.0)),
        (72.0, (-1.0, 0.0, 0.7)),
    )
)
_TURN = Curve(((0.0, 0.0), (_GRASP, 22.0), (26.0, 55.0), (_DRAWN, 58.0), (_LOOSED, 58.0), (56.0, 52.0), (72.0, 0.0)))
_SINK = Curve(((0.0, 0.0), (_GRASP, -0.8), (30.0, -2.4), (_DRAWN, -3.0), (_LOOSED, -3.0), (54.0, -2.2), (72.0, 0.0)))
_AIM = Curve(((0.0, 0.0), (20.0, 0.2), (30.0, 1.0), (54.0, 1.0), (72.0, 0.0)))
_FOOT = Curve(((0.0, 0.0), (4.0, 0.0), (16.0, 1.0), (60.0, 1.0), (70.0, 0.0), (72.0, 0.0)))
_DRAW = Curve(((30.0, 0.0), (_DRAWN, 1.0), (_LOOSED, 1.0), (64.0, 0.0)))
_JERK = Curve(((_LOOSED, 0.0), (52.0, 1.0), (62.0, 0.0)))


def attack(time: float) -> Pose:
    """It takes an arrow from the quiver, draws, aims, looses, and is at ease again."""
    turn, aim, jerk, step = _TURN.at(time), _AIM.at(time), _JERK.at(time), _FOOT.at(time)
    drawn = _DRAW.at(time)
    found = Pose(shift=exact.add(_EASE_SHIFT, (0.6 * aim, _SINK.at(time), 1.2 * aim + 0.8 * jerk)))
    found.turns = {
        "Bip01 Pelvis": (0.0, 4.0 - 0.42 * turn, 2.0 - 2.0 * aim),
        "Bip01 Spine": (-1.0 * aim, -3.0 - 0.3 * turn, -2.5 + 2.0 * aim),
        "Bip01 Spine1": (-2.0 * aim - 4.0 * jerk, -3.0 - 0.28 * turn, -1.0 + 3.0 * drawn),
        "Bip01 Neck": (0.0, 0.3 * turn, 0.0),
        "Bip01 Head": (2.0 - 5.0 * aim + 5.0 * jerk, 0.6 * turn + 2.0 * aim, -7.0 * aim),
        "Bone_L Ear": (14.0 * jerk, 0.0, 6.0 * drawn),
        "Bone_R Ear": (14.0 * jerk, 0.0, -6.0 * drawn),
        "Bone_Cape01": (3.0 * aim + 9.0 * jerk, 0.0, 0.0),
        "Bone_Cape02": (1.6 * sine(-0.15) + 2.0 * aim + 12.0 * jerk, 0.0, 0.0),
        **_sway(time, 72.0, 9.0, -6.0 * jerk),
    }
    left, right = _LEFT_HAND.at(time), _RIGHT_HAND.at(time)
    found.reach = {
        "L Hand": Reach(exact.add(left, (0.0, 1.6 * jerk, -1.2 * jerk)), (0.7, -0.35 - 0.15 * aim, 1.0 - 0.4 * aim)),
        "R Hand": Reach(right, _RIGHT_BEND.at(time)),
    }
    found.facing = {
        _LEFT: aimed(_LEFT, exact.add(_LEFT_WAY.at(time), (0.0, -0.22 * jerk, 0.0)), _LEFT_UP.at(time)),
        _RIGHT: aimed(_RIGHT, _RIGHT_WAY.at(time), _RIGHT_UP.at(time)),
    }
    ahead, behind = _EASE_FEET
    lift = 5.0 * step * (1.0 - step)
    feet = (
        exact.add(ahead, (-2.0 * step, 1.6 * lift, -8.0 * step)),
        exact.add(behind, (-1.0 * step, 0.0, 5.0 * step)),
    )
    _plant(found, feet, (_EASE_YAWS[0] - 14.0 * step, _EASE_YAWS[1] - 36.0 * step))
    _shoot(found, time)
    return found


def _shoot(found: Pose, time: float) -> None:
    """Let string and arrow follow the right hand until it looses them."""
    states = solve(found)
    held = _held(states)
    grip = states["~BoxBone01"].head
    rest = states[STRING].head
    on_string = _NOCKED <= time <= _LOOSED
    nock = held if time <= _LOOSED else rest
    if on_string:
        found.places[STRING] = held
    elif _LOOSED < time <= _LOOSED + 4.0:
        back = exact.unit(exact.sub(rest, grip))
        found.places[STRING] = exact.sub(rest, exact.scaled(back, 1.6 if time <= _LOOSED + 2.0 else -0.8))
    found.sizes = {ARROW: 1.0 if _GRASP <= time < _FLOWN else _HIDDEN}
    if _LOOSED < time <= _FLOWN:  # afterwards it is back in the hand, too small to be seen
        way = (0.0, 0.0, -1.0)
        found.places[ARROW] = exact.add(nock, exact.scaled(way, 14.0 * (time - _LOOSED)))
        found.facing[ARROW] = aimed(ARROW, way, (0.0, 1.0, 0.0))
    elif _GRASP <= time <= _LOOSED:
        found.places[ARROW] = held
        share = min(1.0, (time - _GRASP) / (_NOCKED - _GRASP))
        at_quiver, on_bow = (0.45, 0.75, -0.45), exact.sub(grip, held)
        # Out of the quiver point down, over the shoulder, then lie on the bow.
        way = exact.add(
            exact.scaled((0.35, -1.0, -0.1), (1.0 - share) * (1.0 - share)), exact.scaled(exact.unit(on_bow), share)
        )
        way = exact.add(way, exact.scaled(at_quiver, -0.2 * share * (1.0 - share)))
        found.facing[ARROW] = aimed(ARROW, way, (0.0, 1.0, 0.2))


def _held(states: dict[str, State]) -> Vector:
    """Return where the fingers of the right hand are."""
    return states[ARROW].head
