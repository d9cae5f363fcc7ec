"""Cache samples of watched motions, and sample ahead: many instants cost little more than one.

Nothing is interpolated: the cache holds the motion at exactly the requested instants. A timeline requests the same
instants again and again, and in a crowd characters share them. Motions that differ only in tweaks share the samples
that tweaks do not change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..maths.arrays import BoolArray, FloatArray
from .motion import Motion
from .stage import Playable
from .untweaked import Untweaked

MOST_AHEAD: Final = 128
"""Number of instants sampled at once when fewer are requested. One redraw can wait for so many."""
_LEAST_STEPS: Final = 4
"""Least number of redraws for which a motion is sampled ahead, however many instants each of them requests."""
MOST_KEPT: Final = 256 * 2**20
"""Default size of the cache in bytes. A full cache is emptied; motions that are still drawn are sampled again."""
AT_ONCE: Final = 512
"""Number of instants that `prepare` samples in one call. With a quarter of them, each would cost twice as much; more
would delay the user's next input."""
_LONGEST_STEP_S: Final = 0.25
_SAME_TIME_S: Final = 1e-9
_PER_S: Final = 1e8
"""Units of the cache's keys per second: times that round to the same unit share one sample."""
_SPREAD: Final = 99
"""Coprime to MOST_AHEAD: motions that start together sample ahead in different redraws, so that none takes long."""
Sampled = npt.NDArray[Any]
_NOTHING: Final = np.zeros(0)


@dataclass(slots=True)
class _Watched:
    """Cache of one motion: samples by key, the instants requested last, and the step from those requested before.

    alone_s: the instant requested last, if it was a single one; else NaN. shown: the samples returned last. is_ahead:
    whether the motion was ever sampled ahead.
    """

    asked_s: FloatArray = field(default_factory=lambda: _NOTHING)
    alone_s: float = math.nan
    known: dict[int, Sampled] = field(default_factory=dict)
    shown: list[Sampled] = field(default_factory=list)
    step_s: float = 0.0
    is_ahead: bool = False

    def goes_on(self, times_s: FloatArray) -> bool:
        """Store the requested times (F,), and return whether time has gone on by the same step as before."""
        step = _step(self.asked_s, times_s)
        if step == 0.0 and np.array_equal(times_s, self.asked_s):  # e.g. by another viewport
            return self.step_s != 0.0
        before, self.step_s, self.asked_s, self.alone_s = self.step_s, step, times_s, math.nan
        return step != 0.0 and abs(step - before) <= _SAME_TIME_S

    def goes_on_alone(self, time_s: float) -> bool:
        """Do the same for a single time. Without arrays this is faster, which counts in a crowd."""
        step = time_s - self.alone_s
        if step == 0.0:
            return self.step_s != 0.0
        before, self.step_s = self.step_s, step if _SAME_TIME_S < abs(step) <= _LONGEST_STEP_S else 0.0
        self.asked_s, self.alone_s = _NOTHING, time_s
        return self.step_s != 0.0 and abs(step - before) <= _SAME_TIME_S


@dataclass(eq=False)
class Ahead:
    """Samples motions, and after two equal steps in time also instants further ahead.

    sample: returns an array (F, …) for a motion at times (F,). most_kept: size of the cache in bytes. tweak: adds
    tweaks to F samples of the untweaked motion, if tweaks are the last stage. If it is None, or returns None, the
    tweaked motion itself is sampled.
    """

    sample: Callable[[Playable, FloatArray], Sampled]
    tweak: Callable[[Untweaked, list[Sampled], FloatArray], Sampled | None] | None = None
    most_kept: int = MOST_KEPT
    _watched: WeakKeyDictionary[Playable, _Watched] = field(default_factory=WeakKeyDictionary)
    _begun: int = 0
    _kept: int = 0
    _crowd: tuple[Sequence[Playable], list[_Watched]] = ((), [])
    """The motions that were last sampled one by one, and their caches."""

    def at(self, motion: Playable, times_s: FloatArray, *, may_sample: bool = True) -> list[Sampled] | None:
        """Return the sample of a motion at each of the times (F,).

        may_sample: whether there is time for new samples; if there is not, but they are needed, the result is None.
        """
        if len(times_s) == 1:
            found = self.at_one(motion, times_s.item(), may_sample=may_sample)
            return None if found is None else [found]
        watched, keys = self._watching(motion), _keys(times_s)
        is_even = watched.goes_on(times_s)
        missing = [index for index, key in enumerate(keys) if key not in watched.known]
        if missing and not may_sample:
            return None
        if missing:
            wanted = times_s[missing]
            self._learn(motion, watched, self._with_next(watched, wanted) if is_even else wanted)
        watched.shown = [watched.known[key] for key in keys]
        return watched.shown

    def at_one(self, motion: Playable, time_s: float, *, may_sample: bool = True) -> Sampled | None:
        """Return the sample of a motion at one time; see at."""
        return self._at_one(motion, self._watching(motion), time_s, lambda: may_sample)

    def at_each(self, motions: Sequence[Playable], times_s: Sequence[float],
                has_time: Callable[[], bool]) -> list[Sampled | None]:
        """Return the sample of each motion at its time; see at.

        motions: different ones. Pass the same object as in the last call only if it holds the same motions. has_time:
        returns whether there is time to sample another motion.
        """
        if motions is not self._crowd[0] or self._kept > self.most_kept:
            self._crowd = motions, [self._watching(motion) for motion in motions]
        return [self._at_one(motion, watched, time_s, has_time)
                for motion, watched, time_s in zip(motions, self._crowd[1], times_s, strict=True)]

    def _at_one(self, motion: Playable, watched: _Watched, time_s: float,
                has_time: Callable[[], bool]) -> Sampled | None:
        key = round(time_s * _PER_S)
        is_even, found = watched.goes_on_alone(time_s), watched.known.get(key)
        if found is None:
            if not has_time():
                return None
            wanted = np.array((time_s,))
            self._learn(motion, watched, self._with_next(watched, wanted) if is_even else wanted)
            found = watched.known[key]
        watched.shown = [found]
        return found

    def prepare(self, motion: Playable, times_s: FloatArray) -> bool:
        """Sample a motion at the first AT_ONCE times (F,) that are not cached; return whether none remain.

        It also returns True once the cache is half full: more would soon displace the poses that are drawn.
        """
        watched = self._watching(motion)
        missing_s, _ = _missing(times_s, watched.known)
        if not len(missing_s) or self._kept > self.most_kept // 2:
            return True
        self._learn(motion, watched, missing_s[:AT_ONCE])
        return len(missing_s) <= AT_ONCE

    def _watching(self, motion: Playable) -> _Watched:
        """Return the cache of a motion; make one if there is none."""
        if self._kept > self.most_kept:
            self._let_go()
        watched = self._watched.get(motion)
        if watched is None:
            watched = self._watched[motion] = _Watched()
        return watched

    def shown(self, motion: Playable, count: int) -> list[Sampled] | None:
        """Return the samples of a motion that were returned last, if there were `count` of them, else None."""
        watched = self._watched.get(motion)
        return None if watched is None or len(watched.shown) != count else watched.shown

    def _with_next(self, watched: _Watched, wanted_s: FloatArray) -> FloatArray:
        """Return the requested instants (F,), followed by later ones at the same step."""
        most = MOST_AHEAD
        if not watched.is_ahead:
            most, self._begun, watched.is_ahead = 1 + self._begun * _SPREAD % MOST_AHEAD, self._begun + 1, True
        steps = max(most // len(wanted_s), _LEAST_STEPS if len(wanted_s) > 1 else 1)
        return np.asarray(wanted_s + watched.step_s * np.arange(steps)[:, None]).ravel()

    def _learn(self, motion: Playable, watched: _Watched, times_s: FloatArray) -> None:
        """Sample those of times (F,) that are not cached."""
        times_s, keys = _missing(times_s, watched.known)
        plain = _untweaked(motion)
        if plain is None:
            self._keep(watched.known, keys, self.sample(motion, times_s))
            return
        differs = plain.differs(times_s)
        tweak = self.tweak if plain.feet is None else None
        is_shared = ~differs if tweak is None else np.ones_like(differs)
        same, own = _some(keys, ~differs), _some(keys, differs)
        shared = self._watched.setdefault(plain.motion, _Watched())
        if any(key not in shared.known for key in _some(keys, is_shared)):
            self._learn(plain.motion, shared, times_s[is_shared])
        watched.known.update((key, shared.known[key]) for key in same)
        if own:
            made = None if tweak is None else tweak(plain, [shared.known[key] for key in own], times_s[differs])
            self._keep(watched.known, own, self.sample(motion, times_s[differs]) if made is None else made)

    def _keep(self, known: dict[int, Sampled], keys: list[int], made: Sampled) -> None:
        self._kept += made.nbytes
        known.update(zip(keys, made, strict=True))

    def _let_go(self) -> None:
        for each in self._watched.values():
            each.known.clear()
        self._kept = 0


def _untweaked(motion: Playable) -> Untweaked | None:
    """Return the motion without tweaks, or None if it is unknown."""
    found = motion.untweaked if isinstance(motion, Motion) else None
    return found if found is not None and found.end is motion.end else None  # type: ignore[attr-defined]


def _some(keys: list[int], some: BoolArray) -> list[int]:
    return [keys[index] for index in np.flatnonzero(some).tolist()]


def _missing(times_s: FloatArray, known: dict[int, Sampled]) -> tuple[FloatArray, list[int]]:
    """Return those of times (F,) that are not in the cache, each once, and their keys."""
    new = {key: time_s for key, time_s in zip(_keys(times_s), times_s.tolist(), strict=True) if key not in known}
    return np.array(list(new.values())), list(new)


def _keys(times_s: FloatArray) -> list[int]:
    if len(times_s) == 1:
        return [round(times_s.item() * _PER_S)]
    found: list[int] = np.rint(times_s * _PER_S).astype(np.int64).tolist()
    return found


def _step(before_s: FloatArray, times_s: FloatArray) -> float:
    """Return the step that all times have in common; 0 if they differ, or if it is longer than _LONGEST_STEP_S."""
    if before_s.shape != times_s.shape or not len(times_s):
        return 0.0
    steps = times_s - before_s
    step = float(steps[0])
    is_one = (np.abs(steps - step) <= _SAME_TIME_S).all() and _SAME_TIME_S < abs(step) <= _LONGEST_STEP_S
    return step if is_one else 0.0
