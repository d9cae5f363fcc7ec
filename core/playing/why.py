"""Explanation of a transition in words: its length and method, its transition points and its contacts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..errors import quoted
from .fit import LEAST_GAIN
from .motion import Motion
from .straying import straying_rad
from .transitions.lengths import Neighbours
from .transitions.seams import time_stretch

_OPEN_S: Final = 0.05
"""A contact that ends within this time before a clip's end counts as lasting until the end."""
_SAME_S: Final = 1e-6
_FEET: Final = {(True, True): "stands before and after", (True, False): "stands before, and leaves the ground",
                (False, True): "arrives on the ground", (False, False): "is in the air before and after"}


@dataclass(frozen=True)
class Why:
    """Sentences about a transition: its length, or why there is none, and further facts."""

    length: str
    more: tuple[str, ...] = ()
    is_none: bool = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them."""
        return (self.length, *self.more)

    @property
    def in_brief(self) -> str:
        """The sentence on its length, if no other sentence mentions it."""
        return self.length if self.is_none else f"Transition of {self.length}"


def why(motion: Motion, seam: int) -> Why:
    """Explain the transition after a segment: its length, its transition points and its contacts.

    Raises IndexError if there is no such segment. After the last segment there is one only in a loop.
    """
    count = len(motion.sequence)
    if not 0 <= seam < count:
        raise IndexError(f"segment {seam} of {count}")
    if seam == count - 1 and not motion.row.is_loop:
        return Why("No transition: nothing follows here", is_none=True)
    said = straying(motion, (seam + 1) % count)
    aside = (f"The next clip {said}",) if said else ()
    none = _none(motion, seam)
    return Why(none or _length(motion, seam), (*_cut(motion, seam), *_feet(motion, seam), *aside), bool(none))


def straying(motion: Motion, segment: int) -> str:
    """Return a warning if a segment's clip travels in another direction than the body faces, else "".

    Root motion keeps the body's heading at seams, unless it follows the path. So such a clip goes sideways or
    backwards.
    """
    if motion.body is None or motion.row.root.clips.mode != "CONTINUE":
        return ""
    clip = motion.row.sources.clips[int(motion.sequence.clip[segment])]
    angle = straying_rad(clip, motion.body.joint_of)
    side = "left" if angle > 0.0 else "right"
    return f"sets out {np.degrees(abs(angle)):.0f}° to the {side} of where the body faces" if angle else ""


def _none(motion: Motion, seam: int) -> str:
    """Explain why there is no transition, "" if there is one."""
    said = float(motion.sequence.transition_s[seam])
    if said == 0.0:
        return "No transition: the score says 0, so one clip cuts to the next"
    return "No transition: both poses are the same" if not np.isfinite(said) and _own_s(motion, seam) == 0.0 else ""


def _own_s(motion: Motion, seam: int) -> float:
    layout = motion.row.layout
    return float(layout.window_end_s[seam] - layout.window_begin_s[seam])


def _length(motion: Motion, seam: int) -> str:
    """Explain its length."""
    length_s, own_s, row = float(motion.transitions_s[seam]), _own_s(motion, seam), motion.row
    said = float(motion.sequence.transition_s[seam])
    around = _around(motion, seam)
    automatic = row.sides.automatic
    by_turning, by_distance = (float(found(around)[0]) for found in (automatic.turning_s, automatic.needed_s))
    wished = said if np.isfinite(said) else max(by_turning, by_distance if by_turning > 0.0 else 0.0)
    limit = f"; {motion.method.label} allows no more there" if own_s < wished - _SAME_S else ""
    if np.isfinite(said):
        return f"{length_s:.2f} s: the score says so{limit}"
    if by_turning == 0.0:
        return f"{length_s:.2f} s: automatic; no joint turns in both clips, but others move{limit}"
    if by_distance > by_turning and automatic.distances is not None:
        joint = int(np.argmax(automatic.distances.needed_by_joint_s(around)[0]))
        return (f"{length_s:.2f} s: automatic; so long {quoted(motion.skeleton.names[joint])} needs to get there at "
                f"its speed in the clips{limit}")
    if not automatic.is_shared:
        return f"{length_s:.2f} s: automatic; the joint that needs longest takes so long{limit}"
    angle = float(automatic.mean_angles_rad(around)[0])
    return (f"{length_s:.2f} s: automatic; joints turn {np.degrees(angle):.0f}° on average, and "
            f"{np.degrees(angle / by_turning):.0f}° in a second in the clips{limit}")


def _around(motion: Motion, seam: int) -> Neighbours:
    sequence, later = motion.sequence, (seam + 1) % len(motion.sequence)
    clip, stretch = sequence.clip, time_stretch(sequence.length_s, sequence, motion.row.sources.clips)
    return Neighbours(clip[[seam]], clip[[later]], stretch[[seam]], stretch[[later]])


def _cut(motion: Motion, seam: int) -> Iterator[str]:
    """Explain the transition points, if they were searched."""
    cuts = motion.cuts
    if cuts is None or not cuts.tried[seam]:
        return
    tried, (before, after) = int(cuts.tried[seam]), cuts.skips_s[seam].tolist()
    if before == after == 0.0:
        yield f"Of {tried} pairs of moments, none is {LEAST_GAIN:.0%} better than the clips' own ends"
    else:
        one = f"{before:.2f} s of the clip before" if before >= 0.0 else f"the clip before goes on for {-before:.2f} s"
        other = f"{after:.2f} s of the next one" if after >= 0.0 else f"the next one begins {-after:.2f} s early"
        one += " are passed over" * (before >= 0.0 > after)
        other += " are passed over" * (after >= 0.0)
        yield (f"The best of {tried} pairs of moments is {one} and {other}, with "
               f"{1.0 - cuts.found[seam] / cuts.authored[seam]:.0%} less to bridge")


def _feet(motion: Motion, seam: int) -> Iterator[str]:
    """Explain which feet have contact, by the clips' contacts."""
    clips, later = motion.row.sources.clips, (seam + 1) % len(motion.sequence)
    one, other = (clips[int(motion.sequence.clip[segment])] for segment in (seam, later))
    if one.contacts is None or other.contacts is None:
        return
    for side, label in (("l", "left"), ("r", "right")):
        if side in one.contacts and side in other.contacts:
            ends, begins = one.contacts[side].stands, other.contacts[side].stands
            stands = (bool((ends[:, 1] >= one.duration_s - _OPEN_S).any()), bool((begins[:, 0] <= _OPEN_S).any()))
            yield f"The {label} foot {_FEET[stands]}"
