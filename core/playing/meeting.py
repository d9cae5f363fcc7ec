"""Hands of characters that meet: where, computed from both motions before the meeting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from ..skeletons.skeleton import world_from_pose
from .motion import Motion
from .scene.cast import Moving, ScenePlace, Target, Unfit, between
from .scene.meet import TimedMeet
from .scene.reach import Reaching

_SPACING_S: Final = 1.0 / 60.0
_MOST_FRAMES: Final = 20_000
_EASY: Final = 0.75
"""Share of its length up to which an arm stretches with ease."""
_SOFT: Final = 0.05
"""Width, in arm lengths, of the range beyond ease in which the penalty sets in smoothly."""
_PULL: Final = 0.03
"""Weight of the intended meeting place against the penalty for stretched arms."""
_EASED: Final = 6.0
"""How soon the meeting place is eased for both arms: not at all if one hand stays where it is, almost fully if each
goes a fifth of the way."""
_ROUNDS: Final = 12
_COMPARED: Final = 128
_SAME: Final = 1e-3
"""Share of the skeleton's size below which a difference of motions is ignored, since positions of heads are rounded."""
_NO_LENGTH: Final = 1e-9
_FARTHEST: Final = 1e12
"""Greatest number in a partner's transform, in model units; beyond it, results would not be finite."""
_SIDES: Final = {"l": "left", "r": "right"}


@dataclass(frozen=True, eq=False)
class Partner:
    """A character that another one meets.

    motion: the partner's, before its hands meet others. roles: the roles of the partner's score that the other
    character plays. later_s: seconds by which the partner's clock is ahead of the other's. times_s: (N,) on the other's
    clock, ascending; before the first and after the last, the transform stays. model_from_own: (N, 3, 4) from the
    partner's model space to the other's.
    """

    motion: Motion
    roles: frozenset[str] = frozenset()
    later_s: float = 0.0
    times_s: FloatArray = field(default_factory=lambda: np.zeros(1))
    model_from_own: FloatArray = field(default_factory=lambda: np.eye(4)[None, :3])


def together(motion: Motion, partners: Mapping[str, Partner | Unfit]) -> Motion:
    """Return a motion whose hands meet those of partners.

    motion: before its hands meet others. partners: by the roles they play; Unfit gives the reason why hands cannot meet
    theirs. A meeting place depends only on both motions before the meeting, so neither result waits for the other.
    """
    return motion.meeting({meet: _where(motion, meet, partners[meet.role])
                           for meet in motion.meets if meet.role in partners})


def moves_otherwise(motion: Motion, other: Motion) -> bool:
    """Return whether any joint differs by more than _SAME of the body's size at any of _COMPARED instants."""
    if motion.duration_s != other.duration_s or len(motion.skeleton) != len(other.skeleton):
        return True
    times = np.linspace(0.0, motion.duration_s, _COMPARED)
    one, two = (world_from_pose(each.skeleton, each.sample(times))[..., 3] for each in (motion, other))
    return bool(np.abs(one - two).max() > _SAME * motion.skeleton.size)


def _where(motion: Motion, meet: TimedMeet, partner: Partner | Unfit) -> Target:
    """Return the course of the place where a hand meets its partner's, or Unfit if it cannot."""
    if isinstance(partner, Unfit):
        return partner
    if not (np.abs(partner.model_from_own) < _FARTHEST).all():
        return Unfit("is nowhere, so it is not met: clear its transforms (Object > Clear)")
    shown, other = _shown(motion, meet), partner.motion
    theirs = [each for each in other.meets if each.hand == meet.other
              and shown.is_with(_shown(other, each), partner.later_s)]
    answer = next((each for each in theirs if each.role in partner.roles and each.other == meet.hand), None)
    if theirs and answer is None:
        return Unfit(f"has the {_SIDES[meet.other]} hand somewhere else then, so it is not met: let the two scores "
                     "name each other's hands")
    one, two = _Arm.of(motion, meet.hand), _Arm.of(other, meet.other)
    if one is None or two is None:
        side = _SIDES[meet.other if one is not None else meet.hand]
        return Unfit(f"cannot be met: {'it' if one is not None else 'this character'} has no {side} arm that is known")
    span_s = shown.back_s - shown.begin_s
    times = np.linspace(shown.begin_s, shown.back_s, int(np.clip(np.ceil(span_s / _SPACING_S), 2, _MOST_FRAMES)) + 1)
    model_from_other = between(partner.model_from_own.reshape(-1, 12), partner.times_s, times).reshape(-1, 3, 4)
    ours, others = one.at(motion, times), two.at(other, times + partner.later_s).seen_by(model_from_other)
    own = 1.0 if answer is None else _share(meet.weight, answer.weight)
    course = ours.palms + own * (others.palms - ours.palms)
    course += min(1.0, _EASED * own * (1.0 - own)) * (_within_ease(course, ours, others) - course)
    matrices = np.concatenate((np.tile(np.eye(3), (len(times), 1, 1)), course[..., None]), axis=2)
    return Moving(ScenePlace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), times, matrices)


def _shown(motion: Motion, meet: TimedMeet) -> TimedMeet:
    """Return a meeting with its times by the clock."""
    begin, there, end, back = motion.shown(np.array(meet[-4:])).tolist()
    return meet._replace(begin_s=begin, there_s=there, end_s=end, back_s=back)


def _share(own: float, other: float) -> float:
    """Return the share of the way that a hand goes, from the weights of both hands."""
    return own / (own + other) if own + other > 0.0 else 0.5


@dataclass(frozen=True, eq=False)
class _Reach:
    """How far arms reach. palms: (F, 3) positions. around: (F, 3) centres of reach. length: (F,) its radius."""

    palms: FloatArray
    around: FloatArray
    length: FloatArray

    def seen_by(self, matrices: FloatArray) -> _Reach:
        """Return the same in another space. matrices: (F, 3, 4) to it."""
        linear, at = matrices[..., :3], matrices[..., 3]
        size = np.cbrt(np.abs(np.linalg.det(linear)))
        palms, around = ((linear @ points[..., None])[..., 0] + at for points in (self.palms, self.around))
        return _Reach(palms, around, np.maximum(self.length * size, _NO_LENGTH))


@dataclass(frozen=True, eq=False)
class _Arm:
    reaching: Reaching

    @classmethod
    def of(cls, motion: Motion, side: str) -> _Arm | None:
        reaching = None if motion.body is None else Reaching.of(motion.body, side)
        return None if reaching is None else cls(reaching)

    def at(self, motion: Motion, times_s: FloatArray) -> _Reach:
        world = world_from_pose(motion.skeleton, motion.sample(times_s))
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.reaching.limb)
        palms = self.reaching.palms(world)
        length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        return _Reach(palms, shoulder + palms - wrist, length)


def _within_ease(course: FloatArray, *reaches: _Reach) -> FloatArray:
    """Return a course (F, 3) moved softly to where both arms reach with ease.

    It minimises pull·|x − course|² / 2 + Σ h(o) over both arms. Here o is the distance of x beyond ease, in arm
    lengths, and h′ = o² / (o + _SOFT), so there is no kink. The sum is convex, so Newton's method finds the minimum.
    The result does not depend on the order of the arms; the shorter arm's distance counts more.
    """
    pull = _PULL / np.prod([each.length for each in reaches], axis=0) ** (2.0 / len(reaches))
    found = course
    for _ in range(_ROUNDS):
        slope = pull[:, None] * (found - course)
        bend = pull[:, None, None] * np.eye(3)
        for each in reaches:
            away = (found - each.around) / each.length[:, None]
            far = np.maximum(np.linalg.norm(away, axis=1), 1e-30)
            unit, over = away / far[:, None], np.maximum(far - _EASY, 0.0)
            rate, growth = over * over / (over + _SOFT), over * (over + 2.0 * _SOFT) / (over + _SOFT) ** 2
            along = unit[:, :, None] * unit[:, None, :]
            slope = slope + (rate / each.length)[:, None] * unit
            bend = bend + (growth[:, None, None] * along + (rate / far)[:, None, None] * (np.eye(3) - along)) / (
                each.length**2)[:, None, None]
        found = found - np.linalg.solve(bend, slope[..., None])[..., 0]
    return found
