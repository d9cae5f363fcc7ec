"""Elbows that would be in the ground swing aside about the line from shoulder to wrist, as with long arms in crawling.

An arm that draws up its hand folds, and its elbow may come down meanwhile.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import key_times, turns_at
from ...clips.posed import PosedJoints
from ...maths import rotations as rot
from ...maths.arrays import FloatArray, or_beside
from ..limbs import Limb, LimbPoses, with_rotations

LEAST_BENT: Final = 0.1
"""Share of the upper arm: an elbow nearer to the line from shoulder to wrist swings less."""
_STEEP: Final = 0.2
"""An elbow also swings less if the sine of the angle between that line and the vertical is smaller."""


def with_elbow_raised(clip: Clip, arm: Limb, times: FloatArray, rise: FloatArray, up: FloatArray) -> Clip:
    """Return a clip in which an elbow is higher by rise (F,) at times (F,), as far as its circle allows.

    It swings to the side on which it is most of the time, and no higher than level with the line. The hand stays.
    up: (3,) unit.
    """
    skeleton, joints = clip.skeleton, list(arm)
    is_raised = or_beside(rise > 0.0)
    every = np.unique(np.concatenate((times[is_raised], key_times(clip.rotations, joints=np.array(arm)),
                                      (0.0, clip.duration_s))))
    wanted = np.array((*joints, *skeleton.parents[joints]))
    before, at = PosedJoints.of_tracks(skeleton, clip.rotations, clip.translations, wanted).placed(every)
    arms = LimbPoses.through(at[:, :3])
    angle = _swing(arms, np.interp(every, times, rise), up)
    posed = arms.turned(rot.from_axis_angle(arms.line, angle))
    turns = turns_at(clip.rotations, arm, every)
    moved = angle != 0.0
    turns[moved] = posed.at(moved).rotations_from(skeleton.rest_rotations[joints], before[moved, 3:6],
                                                  before[moved, :3])
    return with_rotations(clip, {joint: (every, turns[:, i]) for i, joint in enumerate(joints)})


def _swing(arms: LimbPoses, rise: FloatArray, up: FloatArray) -> FloatArray:
    """Return by how much arms (F,) turn about the lines from their shoulders to their wrists, (F,), to raise elbows.

    An elbow that is at an angle φ from the lowest place of its circle is lower than the middle by r sin(ψ) cos φ, with
    r its radius and ψ the angle between the line and the vertical. An elbow on the side
    on which it seldom is swings through that place: farther if it is nearer to it, and if it must rise more.
    """
    line, upper = arms.line, arms.middle - arms.first
    out = upper - line * np.sum(upper * line, axis=1, keepdims=True)
    radius = np.linalg.norm(out, axis=1)
    down = line * (line @ up)[:, None] - up
    steep = np.linalg.norm(down, axis=1)
    down /= np.maximum(steep, 1e-30)[:, None]
    own = np.arctan2(np.sum(out * rot.cross(line, down), axis=1), np.sum(out * down, axis=1))
    higher = rise / np.maximum(radius * steep, 1e-30)
    wanted = np.maximum(np.arccos(np.clip(np.cos(own) - higher, 0.0, 1.0)), np.abs(own))
    side = 1.0 if rise @ np.sin(own) >= 0.0 else -1.0
    through = np.clip(higher / np.maximum(1.0 - np.cos(own), 1e-30), 0.0, 1.0)
    angle = np.where(side * own >= 0.0, wanted - np.abs(own), through * (wanted + np.abs(own)))
    counts = np.clip(radius / np.maximum(LEAST_BENT * np.linalg.norm(upper, axis=1), 1e-30), 0.0, 1.0)
    return np.where(rise > 0.0, side * angle * counts * np.clip(steep / _STEEP, 0.0, 1.0), 0.0)
