"""Which hands bear a clip's body: those near the ground without which it would fall.

Who picks something up has a hand on the floor and stands on his feet: his centre of mass is over them. Who does
push-ups or cartwheels would fall without his hands: his centre of mass is elsewhere, or no foot is on the ground. Who
kneels, crawls, sits or lies is on more than his hands, and would hang in the air if they lifted him: their arms bend
instead, and as he comes there, in a roll or a fall, or rises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.contacts import FootContacts, foot_contacts, joined
from ...clips.keyed import SAMPLE_S
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray, smoothstep
from ...skeletons.hierarchy import is_descendant
from ...skeletons.maps import SkeletonMap
from ..comparing.upright import FEET
from .eased import averaged
from .off_ground import is_within
from .touching import NEAR_LEGS, TOUCHING, ground_height, leg_length

_NEAR_LEGS: Final = (0.18, 0.3)
"""A wrist that is at most so high above the ground, for the leg, has its hand on it; from the second on it has not."""
_FINGERS_NEAR_LEGS: Final = (0.08, 0.16)
"""So has a hand whose lowest joint is as low, as of one who is on his knuckles, or on the tips of his fingers."""
_LONGEST_LEGS: Final = 0.5
"""No hand is longer."""
_OVER_LEGS: Final = (0.1, 0.2)
"""A body whose centre of mass is so far aside of the feet on which it stands still stands on them; from the second on
it would fall."""
_TRUNK_LEGS: Final = (0.02, 0.05)
"""Seat or back that is no higher than the first bears the body as well, however thick it is; from the second on not."""
_STRETCHED: Final = 0.9
"""Of thigh and shin: a leg that is longer from hip to ankle is stretched,"""
_SAGS_LEGS: Final = 0.08
"""and its knee bears nobody, however near the ground it comes in a push-up, unless it is so far below the middle of
both."""
_GIVES_WAY_S: Final = 0.15
"""Who so soon is on more than his hands, as in a roll, does not hold himself up on them: arms bend as he comes down."""
_DIRECTIONS: Final = 16
_MOMENT_S: Final = 0.05
_MASSES: Final = {"hip": 0.181, "knee": 0.070, "ankle": 0.035, "shoulder": 0.140, "elbow": 0.021, "wrist": 0.013}
"""What belongs to a joint, of the body's mass: segments shared out to their ends by where their centres are. After
Winter, Biomechanics and Motor Control of Human Movement, table 4.1."""
_OF_HEAD: Final = 0.081
_OF_ARMS: Final = frozenset(("elbow", "wrist"))


@dataclass(frozen=True, eq=False)
class BearingHands:
    """How much the left hand of a clip, and the right one, bear its body at times (F,), (F, 2) from 0 to 1."""

    times_s: FloatArray
    bears: FloatArray

    def at(self, times_s: FloatArray) -> FloatArray:
        """Return it at other times (N,), (N, 2)."""
        return np.stack([np.interp(times_s, self.times_s, side) for side in self.bears.T], axis=1)


NO_HANDS: Final = BearingHands(np.zeros(1), np.zeros((1, 2)))


def bearing_hands(clip: Clip, found: SkeletonMap, contacts: Mapping[str, FootContacts], up: FloatArray,
                  leg: float) -> BearingHands:
    """Return when a clip's hands bear its body.

    found: the map of its skeleton. contacts: when its feet stand. up: (3,) unit. leg: how long legs are. A hand whose
    wrist is not known bears nothing.
    """
    joints, every = found.joint_of, np.arange(0.0, clip.duration_s + SAMPLE_S, SAMPLE_S)
    feet = [joints[name] for name in FEET if name in joints]
    sides = [side for side in range(2) if f"{'lr'[side]}_wrist" in joints]
    bears = np.zeros((len(every), 2))
    if not feet or not sides or leg <= 0.0:
        return BearingHands(every, bears)
    wrists = [joints[f"{'lr'[side]}_wrist"] for side in sides]
    posed = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, np.array((*feet, *wrists)))
    of_feet, high = np.split(posed.heights(every, up), [len(feet)], axis=1)
    ground = ground_height(clip, feet, of_feet, up)
    high = (high - ground) / leg
    bears[:, sides] = np.interp(high, _NEAR_LEGS, (1.0, 0.0))
    for side, wrist, own in zip(sides, wrists, high.T, strict=True):
        fingers = [joint for joint in joints.values() if is_descendant(clip.skeleton.parents, joint, wrist)]
        low = np.flatnonzero(own < _LONGEST_LEGS)
        if len(low):
            hand = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, np.array([wrist, *fingers]))
            lowest = (hand.heights(every[low], up).min(axis=1) - ground) / leg
            bears[low, side] = np.maximum(bears[low, side], np.interp(lowest, _FINGERS_NEAR_LEGS, (1.0, 0.0)))
    near = np.flatnonzero(bears.any(axis=1))
    if not len(near):
        return BearingHands(every, bears)
    aside = _aside(clip, found, contacts, up, every[near])
    bears[near] *= np.interp(aside / leg, _OVER_LEGS, (0.0, 1.0))[:, None]
    others = every[near[_is_on_more(clip, found, every[near], up, ground, leg)]]
    bears[is_within(every, joined(others[:, None] + (-_GIVES_WAY_S, _GIVES_WAY_S)))] = 0.0
    beside = round(2.0 * _MOMENT_S / SAMPLE_S)  # as far as averages look: hands bear from when they come to the ground
    padded = np.pad(bears, ((beside, beside), (0, 0)))
    bears = np.lib.stride_tricks.sliding_window_view(padded, 2 * beside + 1, axis=0).max(axis=-1)
    return BearingHands(every, averaged(every, bears, _MOMENT_S) if len(every) > 1 else bears)


def bearing_instead(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray,
                    height: FloatArray) -> FloatArray:
    """Return how much a clip's hands bear its body at times (F,) instead of its seat or back, (F,) from 0 to 1.

    found, up: see bearing_hands. height: (F,) how high seat or back are above the ground, in legs.
    """
    bears = bearing_hands(clip, found, foot_contacts(clip, found, up), up, leg_length(found)).at(times).max(axis=1)
    return np.asarray(bears * smoothstep(height, *_TRUNK_LEGS))


def _is_on_more(clip: Clip, found: SkeletonMap, times: FloatArray, up: FloatArray, ground: float,
                leg: float) -> BoolArray:
    """Tell when parts of the body but for feet and arms are near the ground, (F,), knees only where legs are bent."""
    names = [name for name in found.joint_of if {name, name[2:]} & (TOUCHING - _OF_ARMS)]
    if not names:
        return np.zeros(len(times), dtype=np.bool_)
    wanted = [*names, *(name for name in ("l_ankle", "r_ankle") if name in found.joint_of)]
    joints = np.array([found.joint_of[name] for name in wanted])
    at = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, joints).placed(times)[1]
    high = (at @ up - ground) / leg
    for side in "lr":
        if {f"{side}_{name}" for name in ("hip", "knee", "ankle")} <= {*wanted}:
            hip, knee, ankle = (wanted.index(f"{side}_{name}") for name in ("hip", "knee", "ankle"))
            long = np.linalg.norm(at[:, hip] - at[:, ankle], axis=1)
            sags = (high[:, hip] + high[:, ankle]) / 2.0 - high[:, knee]
            high[(long > _STRETCHED * leg) & (sags < _SAGS_LEGS), knee] = np.inf
    return np.asarray(high[:, :len(names)].min(axis=1) < NEAR_LEGS)


def _aside(clip: Clip, found: SkeletonMap, contacts: Mapping[str, FootContacts], up: FloatArray,
           times: FloatArray) -> FloatArray:
    """Return how far a body's centre of mass is from being over the feet on which it stands, (F,); none: infinitely."""
    joints = found.joint_of
    mass = {joints[f"{side}_{name}"]: each for side in "lr" for name, each in _MASSES.items()
            if f"{side}_{name}" in joints}
    mass |= {joints["skullbase"]: _OF_HEAD} if "skullbase" in joints else {}
    of_feet = [(joints[f"{side}_{part}"], side) for side in contacts for part in ("ankle", "metatarsal")
               if f"{side}_{part}" in joints]
    if not of_feet:
        return np.full(len(times), np.inf)
    wanted = np.array([*mass, *(joint for joint, _ in of_feet)])
    posed = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, wanted)
    ahead = np.eye(3)[np.abs(up).argmin()]
    ahead = ahead - (ahead @ up) * up
    axes = np.stack((ahead / np.linalg.norm(ahead), np.cross(up, ahead) / np.linalg.norm(ahead)))
    turn = np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS)
    over = posed.placed(times)[1] @ axes.T @ np.stack((np.cos(turn), np.sin(turn)))  # along each direction, (F, N, D)
    weights = np.array([*mass.values()])
    centre = np.einsum("fnd,n->fd", over[:, :len(mass)], weights / weights.sum())
    stands = np.stack([is_within(times, contacts[side].stands) for _, side in of_feet], axis=1)
    farthest = np.where(stands[..., None], over[:, len(mass):], -np.inf).max(axis=1)
    return np.asarray((centre - farthest).max(axis=1))
