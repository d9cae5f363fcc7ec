"""Transition methods: where a transition plays, and which clips it displaces. Gustaitis et al. 2007, §3.3–3.5.

A method turns durations of segments and transitions into a Layout. A new method is one function here and one line in
TRANSITION_METHODS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...errors import TaktError
from ...maths.arrays import FloatArray

KEPT_SHARE = 0.1
"""The least share of its time that a clip keeps where a transition is inserted."""


@dataclass(frozen=True, eq=False)
class Layout:
    """When clips and transitions play, in seconds of the result; arrays over S segments.

    begin_s, end_s: between these a segment's clip plays from its start to its end. window_begin_s, window_end_s: when
    the transition after a segment plays; equal if there is none. In a loop the last window may extend beyond
    duration_s, into the beginning of the next round.
    """

    begin_s: FloatArray
    end_s: FloatArray
    window_begin_s: FloatArray
    window_end_s: FloatArray
    duration_s: float


@dataclass(frozen=True)
class TransitionMethod:
    """A transition method.

    shape: RISE and PULSE are shapes of the weight curve. ALONE: nothing else plays in the window. LEAD: both clips
    continue, with offsets on both sides (blending.Inertialization). DECAY: the next clip plays, with offsets that fade
    by themselves (decay.Decay). limit: from the durations of the segments before and after (S,) to the longest
    transitions (S,). lay_out: from durations (S,) and transitions (S,) within these limits to a Layout.
    """

    identifier: str
    label: str
    description: str
    shape: Literal["RISE", "PULSE", "ALONE", "LEAD", "DECAY"]
    limit: Callable[[FloatArray, FloatArray], FloatArray]
    lay_out: Callable[[FloatArray, FloatArray], Layout]

    @property
    def adds_offsets(self) -> bool:
        """Whether clips continue with offsets added to their own poses."""
        return self.shape in ("LEAD", "DECAY")

    def uses(self, setting: str) -> bool:
        """Return whether a setting of transitions, such as curve or pace, has an effect with this method.

        >>> [TRANSITION_METHODS[name].uses("joint_time") for name in ("LEAD", "END")]
        [False, True]
        """
        return (not (setting == "curve" and self.shape in ("ALONE", "DECAY"))
                and not (setting in ("pace", "joint_time") and self.adds_offsets))


def method_named(identifier: str) -> TransitionMethod:
    """Look up a method; raises TaktError with the list of methods."""
    if identifier not in TRANSITION_METHODS:
        raise TaktError(f"there is no transition method {identifier!r}; there are {', '.join(TRANSITION_METHODS)}")
    return TRANSITION_METHODS[identifier]


def _at_the_end(lengths_s: FloatArray, transitions_s: FloatArray) -> Layout:
    begin, end = _edges(lengths_s)
    return Layout(begin, end, end - transitions_s, end, float(end[-1]))


def _across_the_seam(lengths_s: FloatArray, transitions_s: FloatArray) -> Layout:
    begin, end = _edges(lengths_s)
    return Layout(begin, end, end - transitions_s / 2.0, end + transitions_s / 2.0, float(end[-1]))


def _after_the_seam(lengths_s: FloatArray, transitions_s: FloatArray) -> Layout:
    begin, end = _edges(lengths_s)
    return Layout(begin, end, end, end + transitions_s, float(end[-1]))


def _inserted(lengths_s: FloatArray, transitions_s: FloatArray) -> Layout:
    begin, end = _edges(lengths_s)
    clip_end = end - lengths_s * transitions_s / (lengths_s + transitions_s)
    return Layout(begin, clip_end, clip_end, end, float(end[-1]))


def _inserted_from_both(lengths_s: FloatArray, transitions_s: FloatArray) -> Layout:
    begin, end = _edges(lengths_s)
    after = np.roll(lengths_s, -1)
    taken_before = transitions_s * lengths_s / (lengths_s + after)
    taken_after = transitions_s - taken_before
    return Layout(begin + np.roll(taken_after, 1), end - taken_before, end - taken_before, end + taken_after,
                  float(end[-1]))


def _appended(lengths_s: FloatArray, transitions_s: FloatArray) -> Layout:
    begin, end = _edges(lengths_s + transitions_s)
    return Layout(begin, end - transitions_s, end - transitions_s, end, float(end[-1]))


def _edges(lengths_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    end = np.cumsum(lengths_s)
    return np.concatenate(((0.0,), end[:-1])), end


TRANSITION_METHODS: dict[str, TransitionMethod] = {method.identifier: method for method in (
    TransitionMethod(
        "LEAD", "Meet Halfway", "Across the seam: both clips play on, bent towards each other so that pose and speed "
        "agree there. Beat and tempo stay", "LEAD", np.minimum, _across_the_seam),
    TransitionMethod(
        "INERTIALIZE", "Inertialize", "After the seam: the next clip begins at once, and the difference in pose and "
                                      "speed fades out. Accents at a clip's end stay", "DECAY",
        lambda before, after: after, _after_the_seam),
    TransitionMethod(
        "END", "At the End", "At the end of a clip, which fades into the first pose of the next. The next clip begins "
                             "unchanged; this clip's end is lost", "RISE",
        lambda before, after: before, _at_the_end),
    TransitionMethod(
        "BOTH", "Across the Seam", "Half at the end of one clip, half at the beginning of the next. Softens accents "
                                   "at the seam", "PULSE",
        np.minimum, _across_the_seam),
    TransitionMethod(
        "INSERT", "Inserted", "Between the clips. The clip before plays whole, but faster, to make time for it",
        "ALONE",
        lambda before, after: before * (1.0 / KEPT_SHARE - 1.0), _inserted),
    TransitionMethod(
        "INSERT_BOTH", "Inserted, Both Faster", "Between the clips. Both play whole, but faster, to make time for it, "
                                                "and no longer on the beat", "ALONE",
        lambda before, after: (before + after) * ((1.0 - KEPT_SHARE) / 2.0), _inserted_from_both),
    TransitionMethod(
        "APPEND", "In Extra Time", "In added time between the clips. Both clips play whole, at their own tempo, and "
        "all later blocks begin later", "ALONE",
        lambda before, after: np.full_like(before, np.inf), _appended),
)}
