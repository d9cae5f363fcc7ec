"""Moves a motion on flat ground onto the floors of a scene: stairs, slopes, hills, and seats.

Footprints keep their horizontal positions, except that stairs may shift them along the foot so that the sole is on one
tread. They take the height and slope of the floor. Between footprints a foot moves as on flat ground, raised by
interpolation, and high enough to clear what it passes over. Up a step it rises first and then moves on; down a step it
moves on first, since the edge is close to the footprint. A foot that has no contact for long passes places instead, see
prints.passes: there it is as high above the floor as on flat ground. The body follows smoothly, about as high as both
feet together, and no higher than the legs reach down.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...clips.keyed import FINE_S
from ...clips.thresholds import (
    BODY_S,
    BRIEF_S,
    LOW_LEGS,
    NEARLY_LEGS,
    POSTURE_S,
    ROUNDS,
    SOFT_LEGS,
    STEP_LEGS,
    STRAIGHT,
)
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, runs
from ...maths.displacement import DisplacementProblem, solve_displacement
from ...retargeting.two_bone_ik import REACH
from ...skeletons.skeleton import Pose
from ..scene.spells import Spells
from ..scene.surface import Surface
from ..stage import FIRST_ROUND, Over
from .lock import FeetLock
from .prints import Prints, passes, within
from .seats import Seat, SeatSkin, Thighs
from .sitting import Moving, Sitting, level_soles, reach_down
from .standing import Feet

_MOVED_LEGS: Final = np.linspace(-0.2, 0.2, 161)
"""Shifts of a footprint along the foot that are tried, in leg lengths."""
_ROOM: Final = 1.05
"""Factor by which soles need more room, so that toes do not touch what is ahead."""
_COSTS: Final = 1.0, 10.0, 5.0
"""Costs, relative to shifting a foot, of coming near what is ahead, standing on it, or over an edge, by heights."""
_STEEPEST: Final = np.tan(np.radians(40.0))
"""Steepest slope that soles are tilted to."""


class _Course(NamedTuple):
    """How far a body is raised, (F,), feet are moved in ground coordinates, (L, F, 3), and slopes, (L, F, 2)."""

    rise: FloatArray
    feet: FloatArray
    slopes: FloatArray

    @property
    def numbers(self) -> FloatArray:
        """All values as one array, (1 + 5 L, F)."""
        return np.concatenate((self.rise[None], *(each.swapaxes(1, 2).reshape(-1, len(self.rise))
                                                  for each in (self.feet, self.slopes))))


class _Seated(NamedTuple):
    """A course on seats. lift: (F,) how high feet hang; on: (F,) when the body sits; hips: (F, 3) in the model.

    still: (F,) when the body is slow, with folded legs.
    """

    course: _Course
    lift: FloatArray
    on: BoolArray
    hips: FloatArray
    still: BoolArray


@dataclass(frozen=True, eq=False)
class Floored(Over):
    """The motion of feet on flat ground, moved onto floors; outside the floors the ground is flat.

    surface: of the floors, or None. seats: on which the body sits, in order. seat_skin: the skin it sits on, if it
    sits. spells: which clips sit, if the body does. Not for loops, whose rounds continue from each other.
    """

    surface: Surface | None
    seats: tuple[Seat, ...] = ()
    seat_skin: SeatSkin | None = None
    spells: Spells | None = None

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses of the stage below on the floor; see Stage."""
        return self._raised(self.below.sample(times_s, rounds), _at(self._numbers, times_s))

    def _raised(self, pose: Pose, numbers: FloatArray) -> Pose:
        """Move poses (F, J, …) by the values of a course, (1 + 5 L, F); see _numbers."""
        lock, times = self.lock, numbers.shape[1]
        rise, feet, slopes = numbers[0], *(part.reshape(len(lock.legs), -1, times).swapaxes(1, 2) for part in (
            np.split(numbers[1:], (3 * len(lock.legs),))))
        if not numbers.any():
            return pose
        pose.translations[:, lock.roots] += (rise[:, None] * lock.up)[:, None]
        matrices, are_scaled = lock.limbs(pose)
        turns = _tilts(slopes)
        apart = matrices[2, ..., :3, 3] - matrices[3, ..., :3, 3]
        shift = feet + rot.rotate(turns, apart) - apart
        shift[..., 2] -= rise
        frames = matrices[2, ..., :3, :3] / np.maximum(np.linalg.norm(matrices[2, ..., :3, :3], axis=-2, keepdims=True),
                                                       1e-30)
        lock.bend(pose, matrices[:3], are_scaled, shift, np.full(shift.shape[:2], np.inf), np.zeros(times))
        own = rot.from_matrix(frames)
        for leg, turn, frame in zip(lock.legs, turns, own, strict=True):
            by = rot.multiply(rot.conjugate(frame), rot.multiply(turn, frame))
            pose.rotations[:, leg.ankle] = rot.multiply(pose.rotations[:, leg.ankle], by)
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        moved = self.below.moved.copy()
        moved[self.lock.roots] = True
        return moved

    @property
    def lock(self) -> FeetLock:
        """The foot lock of the stage below."""
        assert isinstance(self.below, Feet)  # this stage is right above it
        return self.below.lock

    @cached_property
    def hangs(self) -> FloatArray:
        """The greatest height of hanging feet above the ground while the body sits on each seat, (S,).

        Without transitions from one clip that sits to another, in which they may leave the ground anyway.
        """
        times_s, on, lift = self._times_s, self._seated.on, self._seated.lift
        if self.spells is not None:
            on = on & ~self.spells.stays_at(times_s)
        found = list[float]()
        for seat in self.seats:
            during, then = (on & (times_s >= seat.from_s) & (times_s <= to_s) for to_s in (seat.to_s, seat.until_s))
            found.append(float(lift[during if during.any() else then].max(initial=0.0)))
        return np.array(found)

    @cached_property
    def rests(self) -> tuple[FloatArray, ...]:
        """Times (F,) at which the body rests on each seat.

        As it comes down, hips may be as low as the seat before they are above it, and as it gets up, afterwards.
        """
        return tuple(self._times_s[on] for on in self._rests)

    @cached_property
    def aside(self) -> FloatArray:
        """Greatest offset of the hips from above each seat while the body rests on it, (S, 3); NaN if it does not."""
        found = np.full((len(self.seats), 3), np.nan)
        for number, (seat, on) in enumerate(zip(self.seats, self._rests, strict=True)):
            away = self._seated.hips[on] - seat.position
            away -= (away @ self.lock.up)[:, None] * self.lock.up
            if len(away):
                found[number] = away[np.linalg.norm(away, axis=1).argmax()]
        return found

    @property
    def footprints(self) -> tuple[FloatArray, FloatArray]:
        """When footprints on the floors begin, (K,), ascending, and where balls of feet are over the ground, (K, 2).

        None without floors.
        """
        if self.surface is None:
            return np.zeros(0), np.zeros((0, 2))
        begins_s = np.concatenate([each.spans_s[:, 0] for each in self._walked[1]])
        order = np.argsort(begins_s, kind="stable")
        return begins_s[order], np.concatenate([each.balls for each in self._walked[1]])[order]

    @property
    def crouches(self) -> tuple[FloatArray, FloatArray]:
        """Times (F,), and by how much less the body is raised then than its feet are on average, (F,)."""
        course = self._on_floor
        return self._times_s, np.asarray(course.feet[..., 2].mean(axis=0) - course.rise)

    @cached_property
    def _numbers(self) -> FloatArray:
        """The course of body and feet, (1 + 5 L, F), FINE_S apart."""
        return (self._seated.course if self.seats else self._on_floor).numbers

    @cached_property
    def _times_s(self) -> FloatArray:
        count = max(int(np.ceil(self.duration_s / FINE_S)), 1) + 1
        return np.linspace(0.0, (count - 1) * FINE_S, count)

    @cached_property
    def _on_floor(self) -> _Course:
        lock, count = self.lock, len(self._times_s)
        flat = _Course(np.zeros(count), np.zeros((len(lock.legs), count, 3)), np.zeros((len(lock.legs), count, 2)))
        return flat if self.surface is None else self._walked[0]

    @cached_property
    def _rests(self) -> list[BoolArray]:
        """When the body rests on each seat, (F,)."""
        seated, ends_s, found = self._seated, [*(seat.from_s for seat in self.seats[1:]), np.inf], list[BoolArray]()
        for seat, end_s in zip(self.seats, ends_s, strict=True):
            on = seated.on & (self._times_s >= seat.from_s) & (self._times_s < end_s)
            rests = [part for part in runs(on & seated.still) if np.ptp(part) * FINE_S >= BRIEF_S]
            if rests:
                on[:rests[0][0]] = on[rests[-1][1]:] = False
            found.append(on)
        return found

    @cached_property
    def _seated(self) -> _Seated:
        """The course on floors and seats."""
        lock, course, skin = self.lock, self._on_floor, self.seat_skin
        thighs = Thighs.of(lock.skeleton_map, lock.up)
        spells = self.spells
        assert skin is not None and thighs is not None and spells is not None  # they come with seats
        pose = self._raised(self.below.sample(np.minimum(self._times_s, self.duration_s)), course.numbers)
        joints, _ = lock.limbs(pose)
        hips, knees, ankles = (joints[joint, ..., :3, 3] for joint in range(3))
        middle, fold = thighs.seen(pose)
        in_contact = np.array([((self._times_s >= spans[:, :1]) & (self._times_s <= spans[:, 1:])).any(axis=0)
                               for spans in map(lock.footholds.spans_s, range(len(lock.legs)))])
        ground = lock.soles.ground
        points = lock.soles.positions(*joints[1:])[..., :ground.shape[1], :]
        soles = (points[..., 2] - ground[:, None]).min(axis=2) - course.feet[..., 2]
        in_contact &= soles < LOW_LEGS[1] * thighs.leg  # else the clip has another ground
        body = Moving(
            self._times_s, middle, skin.lowest(pose), fold, thighs.leg, spells.paces(self._times_s), in_contact,
            spells.row.layout.begin_s, spells.stays_at(self._times_s), spells.sits_at(self._times_s), lock.up)
        sitting = Sitting.of(self.seats, body)
        shins = (knees - ankles)[..., 2] / np.maximum(np.linalg.norm(knees - ankles, axis=2), 1e-30)
        lowered, hangs = np.zeros((*ankles.shape[:2], 3)), sitting.hangs(soles, shins, in_contact, thighs.leg)
        goals, slopes = ankles, course.slopes
        if hangs.any():
            level = hangs[..., None] * level_soles(points, lock.soles.rest_heights[:ground.shape[1]].T)
            turns, balls = _tilts(level), joints[3, ..., :3, 3]
            turned = rot.rotate(turns[:, :, None], points - balls[:, :, None]) + balls[:, :, None]
            soles = (turned[..., 2] - ground[:, None]).min(axis=2) - course.feet[..., 2]
            goals, slopes = rot.rotate(turns, ankles - balls) + balls, slopes + level
        lowered[..., 2] = hangs * np.maximum(soles, 0.0)
        most = self._reach_down(hips, ankles, goals - lowered)
        most += hangs * np.minimum(reach_down(hips, knees, ankles, goals - lowered) - most, 0.0)
        sits = np.isfinite(sitting.surface)
        wish, found = np.where(sits, sitting.surface - sitting.low, 0.0), (course, np.zeros(len(sits)))
        for _ in range(ROUNDS if sits.any() else 0):
            rise = sitting.rise(wish, most.min(axis=0), FINE_S)
            lift = np.clip(rise - most, 0.0, np.maximum(rise, 0.0) + lowered[..., 2])
            feet = course.feet - lowered
            feet[..., 2] += lift
            found = _Course(course.rise + rise, feet, slopes), lift.max(axis=0)
            pose = self._raised(self.below.sample(np.minimum(self._times_s[sits], self.duration_s)),
                                found[0].numbers[:, sits])
            away = sitting.surface[sits] - skin.lowest(pose)
            if np.abs(away[sitting.on[sits]]).max(initial=0.0) < NEARLY_LEGS * lock.legs[0].length(self.skeleton):
                break
            wish[sits] += away
        return _Seated(*found, sitting.on, middle, body.still)

    @cached_property
    def _walked(self) -> tuple[_Course, list[Prints]]:
        """The course over the floors, and the footprints of each foot."""
        times_s = self._times_s
        lock = self.lock
        matrices, _ = lock.limbs(self.below.sample(np.minimum(times_s, self.duration_s)))
        hips, ankles, feet = (matrices[joint, ..., :3, 3] for joint in (0, 2, 3))
        soles = lock.soles.positions(*matrices[1:])
        prints = [self._prints(leg, ankles[leg], feet[leg], soles[leg]) for leg in range(len(lock.legs))]
        held = np.array([each.holds(times_s) for each in prints])
        moved, slopes = (np.array([each.between(getattr(each, name), times_s) for each in prints])
                         for name in ("moved", "slopes"))
        turns = _tilts(slopes)
        soles = rot.rotate(turns[:, :, None], soles - feet[:, :, None]) + feet[:, :, None]
        wish = np.array([each.between(each.rise[:, None], times_s)[:, 0] for each in prints])
        least = self._least(soles, moved)
        high = np.array([STEP_LEGS[0] * leg.length(self.skeleton) for leg in lock.legs])[:, None]
        excess = np.clip((least - wish) / high, 0.0, 1.0)
        if excess.any():
            then_s = [each.going_round(times_s, most) for each, most in zip(prints, excess, strict=True)]
            moved = moved + np.array([_at(foot[:, :2].T, then).T for foot, then in zip(feet, then_s, strict=True)]) - (
                feet[..., :2])
            least = self._least(soles, moved)
        free = np.full(wish.shape, np.inf)
        rises = solve_displacement(DisplacementProblem(
            wish, np.ones(wish.shape), np.where(held, wish, least), np.where(held, wish, free),
            np.full(len(wish), POSTURE_S), FINE_S)).curves
        shift = np.append(moved, rises[..., None], axis=2)
        goal = rot.rotate(turns, ankles - feet) + feet + shift
        body = self._body(hips, ankles, goal, rises.mean(axis=0))
        return _Course(body, shift, slopes), prints

    def _prints(self, leg: int, ankles: FloatArray, feet: FloatArray, soles: FloatArray) -> Prints:
        """Return a foot's footprints on the floor. ankles, feet: (F, 3), soles: (F, N, 3) on flat ground."""
        spans_s = self._spans_s(leg, soles[..., 2].min(axis=1))
        middle = np.clip(np.rint(spans_s.mean(axis=1) / FINE_S), 0, len(feet) - 1).astype(np.int64)
        has_toes = self.lock.legs[leg].foot != self.lock.legs[leg].ankle  # else the sole tells where the foot points
        ahead = ((feet if has_toes else soles.mean(axis=1)) - ankles)[middle, :2]
        ahead = ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-30)
        length = self.lock.legs[leg].length(self.skeleton)
        moves = length * _MOVED_LEGS[:, None] * ahead[:, None]
        ball = feet[middle, None, :2] + moves
        at = np.clip(np.rint(spans_s / FINE_S), 0, len(feet) - 1).astype(np.int64)
        rolls = (soles - feet[:, None])[np.append(at, middle[:, None], axis=1), :, :2]  # it tilts during contact
        assert self.surface is not None
        below, sole = self.surface.below(ball), rolls.reshape(len(middle), 1, -1, 2)
        slopes = below.slopes * np.minimum(_STEEPEST / np.maximum(np.linalg.norm(below.slopes, axis=2), 1e-30),
                                           1.0)[..., None]
        height = np.where(np.isnan(below.heights), self._level, below.heights)
        tilted = height[..., None] + (sole * slopes[:, :, None]).sum(axis=3)
        over = self.heights(ball[:, :, None] + sole) - tilted
        with_room = self.heights(ball[:, :, None] + _ROOM * sole) - tilted
        edges = (np.maximum(each.max(axis=2) - SOFT_LEGS * length, 0.0) for each in (with_room, over, -over))
        cost = sum(cost * edge for cost, edge in zip(_COSTS, edges, strict=True)) + np.linalg.norm(moves, axis=2)
        best = np.arange(len(middle)), cost.argmin(axis=1)
        rise = height[best] + np.maximum(over[best].max(axis=1), 0.0) - self._level
        return Prints(spans_s, rise, moves[best], slopes[best], ball[best])

    def _spans_s(self, leg: int, high: FloatArray) -> FloatArray:
        """Return a foot's contacts, and instants at which it passes a place, (K, 2). high: (F,) of its sole."""
        each = [self.lock.footholds.spans_s(other) for other in range(len(self.lock.legs))]
        is_held = np.zeros(len(high), dtype=np.bool_)
        for spans in each[:leg] + each[leg + 1:]:
            is_held |= within(spans, self._times_s)
        passed_s = passes(high, each[leg], is_held, self.lock.legs[leg].length(self.skeleton))
        found = np.concatenate((each[leg], np.stack((passed_s, passed_s), axis=1)))
        return np.asarray(found[np.argsort(found[:, 0], kind="stable")])

    def _least(self, soles: FloatArray, moved: FloatArray) -> FloatArray:
        """Return the least rise of feet that clears the floor, (L, F).

        soles: (L, F, N, 3). moved: (L, F, 2) horizontal shifts.
        """
        high = self.heights(soles[..., :2] + moved[:, :, None]) - np.maximum(soles[..., 2], self._level)
        least = high.max(axis=2)
        padded = np.pad(least, ((0, 0), (1, 1)), mode="edge")  # it is already as high a frame before
        return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 3, axis=1).max(axis=2))

    def _body(self, hips: FloatArray, ankles: FloatArray, goals: FloatArray, wish: FloatArray) -> FloatArray:
        """Return how far the body is raised, (F,). hips, ankles: (L, F, 3) on flat ground. goals: of the ankles."""
        highest = self._reach_down(hips, ankles, goals).min(axis=0)
        return np.asarray(solve_displacement(DisplacementProblem(
            wish[None], np.ones((1, len(wish))), np.full((1, len(wish)), -np.inf), highest[None],
            np.array((BODY_S,)), FINE_S)).curves[0])

    def _reach_down(self, hips: FloatArray, ankles: FloatArray, goals: FloatArray) -> FloatArray:
        """Return how far hips may be raised so that legs still reach goals (L, F, 3), (L, F); others: see _body."""
        lengths = np.array([leg.length(self.skeleton) for leg in self.lock.legs])[:, None]
        far = np.clip(np.linalg.norm(ankles - hips, axis=2), STRAIGHT * lengths, REACH * lengths)
        aside = np.linalg.norm((goals - hips)[..., :2], axis=2)
        return np.asarray(goals[..., 2] + np.sqrt(np.maximum(far * far - aside * aside, 0.0)) - hips[..., 2])

    def heights(self, points: FloatArray) -> FloatArray:
        """Return the heights of the floor at points (..., 2) over the ground, or of the flat ground beside it."""
        assert self.surface is not None  # only then is there a course over it
        found = self.surface.below(points).heights
        return np.where(np.isnan(found), self._level, found)

    def has_floor(self, points: FloatArray) -> BoolArray:
        """Return whether there is a floor at points (..., 2) over the ground."""
        assert self.surface is not None  # see heights
        return ~np.isnan(self.surface.below(points).heights)

    @property
    def _level(self) -> float:
        return self.lock.soles.level


def _tilts(slopes: FloatArray) -> FloatArray:
    """Return the shortest rotations of flat ground to slopes (..., 2), (..., 4)."""
    normals = np.concatenate((-slopes, np.ones((*slopes.shape[:-1], 1))), axis=-1)
    return rot.shortest_arc(np.broadcast_to(np.array((0.0, 0.0, 1.0)), normals.shape), normals)


def _at(curves: FloatArray, times_s: FloatArray) -> FloatArray:
    """Return curves (C, F), sampled every FINE_S, at times (T,), (C, T), by Hermite interpolation."""
    at = np.clip(times_s / FINE_S, 0.0, curves.shape[1] - 1)
    before = np.minimum(at.astype(np.int64), curves.shape[1] - 2)
    x, rates = at - before, np.gradient(curves, axis=1)
    one, other = curves[:, before], curves[:, before + 1]
    into, out = rates[:, before], rates[:, before + 1]
    share = x * x * (3.0 - 2.0 * x)
    return np.asarray(one + share * (other - one) + x * (1.0 - x) * ((1.0 - x) * into - x * out))
