"""Build a skeleton from a body: the joints of its limbs, and those of the trunk between them."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .assembly import HumanoidBody
from .hand import Hand
from .humanoid import Limb, ball_of_foot
from .joint_rows import JointRows
from .limbs import unit
from .problem import GUESSED, FittedSkeleton

_ROOT_ABOVE_HIPS: Final = 0.01
"""Height of the root above the hips, as a share of the way from hips to shoulders."""

_SPINE: Final = (("vl5", 0.13), ("vl1", 0.35), ("vt6", 0.66))
"""Joints of the trunk, and their positions on the way from the root to the neck's base, as shares."""

_COLLARBONE: Final = np.array((0.125, 0.24, 0.16))
"""Offset of a collarbone's begin from the middle of the shoulders: out, up, and to the front, in halves of the
shoulders' width.
"""

_STOUT: Final = 2.0
"""A collarbone that is shorter than this many radii of its arm moves no skin: the skin around it belongs to the arm."""

_UNSURE_LIMBS: Final = "It is not sure which of its ends are head, hands and feet"
_UNSURE_SIDES: Final = "It is not sure where its front is; left and right may be exchanged"

_UNSURE_ARMS: Final = "It is not sure where the hands end; what they hold may count as part of the arms"

_OF_ARMS: Final = ("sternoclavicular", "shoulder", "elbow", "wrist")
_CERTAIN_TRUNK: Final = 0.6
_CERTAIN_COLLARBONE: Final = 0.55
_CERTAIN_BALL: Final = 0.55
_CERTAIN_FINGER: Final = 0.65


def skeleton_of(body: HumanoidBody, hands: tuple[Hand | None, Hand | None] = (None, None)) -> FittedSkeleton:
    """Return the skeleton of a body whose left limbs come first, with the fingers of its left and right hand."""
    rows = _Rows(body)
    shoulders, hips = ((one.root + other.root) / 2.0 for one, other in (body.arms, body.legs))
    half = float(np.linalg.norm(body.arms[0].root - body.arms[1].root)) / 2.0
    root, neck = hips + _ROOT_ABOVE_HIPS * (shoulders - hips), body.head.neck
    spine = [(name, root + share * (neck - root)) for name, share in _SPINE]
    across = body.out
    rows.add("HumanoidRoot", "", root, spine[0][1], across, _CERTAIN_TRUNK)
    above = "HumanoidRoot"
    for (name, point), (_, following) in zip(spine, [*spine[1:], ("vc7", neck)], strict=True):
        rows.add(name, above, point, following, across, _CERTAIN_TRUNK)
        above = name
    rows.add("vc7", above, neck, body.head.skull, across, body.head.certain[0])
    rows.add("skullbase", "vc7", body.head.skull, body.head.crown, across, body.head.certain[1])
    for side, sign, limb, hand in (("l", 1.0, body.arms[0], hands[0]), ("r", -1.0, body.arms[1], hands[1])):
        out, up, ahead = half * _COLLARBONE
        collarbone = shoulders + sign * out * body.out + up * body.up + ahead * body.front
        bends = _bend_axis(limb, body.front)
        rows.add(f"{side}_sternoclavicular", above, collarbone, limb.root, bends, _CERTAIN_COLLARBONE)
        rows.add(f"{side}_shoulder", f"{side}_sternoclavicular", limb.root, limb.middle, bends, limb.certain[0])
        rows.add(f"{side}_elbow", f"{side}_shoulder", limb.middle, limb.end, bends, limb.certain[1])
        knuckle = limb.tip if hand is None else hand.joints["middle"][0]
        rows.add(f"{side}_wrist", f"{side}_elbow", limb.end, knuckle, bends, limb.certain[2])
        if hand is not None:
            _add_fingers(rows, side, hand)
    for side, limb in (("l", body.legs[0]), ("r", body.legs[1])):
        bends = _bend_axis(limb, -body.front)
        ball = ball_of_foot(limb.end, limb.tip, unit(limb.end - limb.middle))
        rows.add(f"{side}_hip", "HumanoidRoot", limb.root, limb.middle, bends, limb.certain[0])
        rows.add(f"{side}_knee", f"{side}_hip", limb.middle, limb.end, bends, limb.certain[1])
        rows.add(f"{side}_ankle", f"{side}_knee", limb.end, ball, bends, limb.certain[2])
        rows.add(f"{side}_metatarsal", f"{side}_ankle", ball, limb.tip, bends, _CERTAIN_BALL)
    lengths = [float(np.linalg.norm(limb.root - rows.position(f"{side}_sternoclavicular")))
               for side, limb in zip("lr", body.arms, strict=True)]
    carriers = ("l_sternoclavicular", "r_sternoclavicular")
    is_stout = sum(lengths) < _STOUT * sum(limb.radius for limb in body.arms)
    return rows.skeleton(_notes(body), carriers if is_stout else ())


def _notes(body: HumanoidBody) -> tuple[str, ...]:
    """Return notes about a body and its uncertain parts."""
    unsure = (((_UNSURE_LIMBS,) if body.sure_of_limbs < GUESSED else ())
              + ((_UNSURE_SIDES,) if body.sure_of_sides < GUESSED else ())
              + ((_UNSURE_ARMS,) if body.sure_of_arms < GUESSED else ()))
    return (*body.notes, *unsure)


def _add_fingers(rows: _Rows, side: str, hand: Hand) -> None:
    """Add the fingers of a hand; each bends towards the palm."""
    for name, joints in hand.joints.items():
        above = f"{side}_wrist"
        for number, (point, end) in enumerate(pairwise([*joints, hand.tips[name]]), start=1):
            joint = f"{side}_{name}{number}"
            rows.add(joint, above, point, end, unit(np.cross(end - point, hand.palm)), _CERTAIN_FINGER)
            above = joint


def _bend_axis(limb: Limb, towards: FloatArray) -> FloatArray:
    """Return the unit axis (3,) about which the limb's last part turns, from straight on, towards a direction (3,)."""
    return unit(np.cross(limb.end - limb.root, towards))


class _Rows:
    """The joints of a humanoid."""

    def __init__(self, body: HumanoidBody) -> None:
        self._body, self._rows = body, JointRows()

    def add(self, name: str, parent: str, position: FloatArray, end: FloatArray, bends: FloatArray,
            certainty: float) -> None:
        """Add a joint; parent: "" for none. Its certainty is at most that of its limb and of its side."""
        sides = self._body.sure_of_sides if name[:2] in ("l_", "r_") else 1.0
        arms = self._body.sure_of_arms if name[2:] in _OF_ARMS else 1.0
        above = self._rows.names.index(parent) if parent else -1
        self._rows.add(name, above, position, end, bends, min(certainty, self._body.sure_of_limbs, sides, arms))

    def position(self, name: str) -> FloatArray:
        """Return the position (3,) of an added joint."""
        return self._rows.position(name)

    def skeleton(self, notes: tuple[str, ...], carriers: tuple[str, ...]) -> FittedSkeleton:
        """Return the skeleton of all joints that were added."""
        return self._rows.skeleton(self._body.up, self._body.front, notes, carriers)
