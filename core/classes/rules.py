"""Words for the motion of a clip, by thresholds in lengths of legs, so that the size of the body does not matter.

Names of files and folders are hints: they decide only where the numbers allow several words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from .measures import Measures, Posture

FAR: Final = (0.5, 1.5)
"""In legs: a body travels that ends by more than the first away from where it begins, or comes farther than the second
meanwhile."""
TURNS_DEG: Final = 30.0
WALKS: Final = 0.35
"""In legs per second, over the ground: what is slower is no gait."""
RUNS: Final = (1.2, 2.4)
"""Speeds below which nobody runs, and from which on nobody walks. An adult walks at 1.6 and runs from 2.4 on (Froude
number v²/gl of 0.5, at which people begin to run: Alexander, Optimization and gaits in the locomotion of vertebrates,
1989).
"""
FLIES: Final = 0.12
"""Share of a gait with both feet off the ground above which it is a run."""
STRIDE: Final = 0.3
CARRIED: Final = 0.2
"""In legs: a body whose feet are both moved so far by one step goes, though it does not go far."""
JUMPS: Final = (0.1, 0.15)
"""Hips rise by so many legs, and both feet are off the ground for so many seconds."""
AIRBORNE: Final = 0.5
"""A body on the spot that is off the ground for a larger share of the clip jumps, however far it rises."""
CALM, WILD = 0.3, 1.3
"""Legs per second, of limbs and trunk on average."""
MOVES: Final = CALM / 6.0
"""A body whose energy is less does nothing with its limbs."""
STILL: Final = (0.15, 0.45)
"""A body is idle that moves by less than the first, in legs; by up to the second, if its name says so."""
SLOW, FAST = 80.0, 140.0
"""Steps in a minute."""
LEADS: Final = (0.6, 0.75)
"""Shares of all limbs' motion from which on one limb leads, or both arms or both legs do."""
CLOSED: Final = 0.05
"""In legs: a clip whose end is so near to its beginning goes round."""
TOUCHES: Final = 0.25
POSE_S: Final = 1e-3
STAND, SIT, LIE, CRAWL = "standing", "sitting", "lying", "crawling"
GAITS: Final = ("walk", "run", "jump", "crawl", "idle", "gesture", "pose")
_HINTS: Final = {gait: re.compile(rf"(?<![a-z])({words})") for gait, words in (
    ("run", "run|jog|sprint"), ("walk", "walk|stroll|step|march"), ("jump", "jump|hop|leap"),
    ("idle", "idle|wait|stand(?!_?up)"))}


@dataclass(frozen=True)
class Classes:
    """The classes of a clip: a word of each kind, "" if none fits.

    place: travelling or on the spot. start, end: postures. gait: one of GAITS. direction: of a gait, if not
    ahead. turn: left or right. tempo, energy, lead. is_loop. hands: what they touch. beats: steps per minute.
    """

    place: str
    start: str
    end: str
    gait: str
    direction: str
    turn: str
    tempo: str
    energy: str
    lead: str
    is_loop: bool
    hands: tuple[str, ...]
    beats: float = 0.0

    @property
    def words(self) -> tuple[str, ...]:
        """All words by which a search finds a clip.

        >>> Classes("travelling", "standing", "standing", "walk", "", "turning left", "slow", "calm", "legs lead", True,
        ...         ()).words
        ('travelling', 'walk', 'turning left', 'slow', 'calm', 'legs lead', 'standing', 'loop')
        """
        change = _CHANGES.get((self.start, self.end), "")
        held = (self.start,) if self.start == self.end else (f"from {self.start}", f"to {self.end}", change)
        found = (self.place, self.gait, self.direction, self.turn, self.tempo, self.energy, self.lead, *held,
                 "loop" if self.is_loop else "", *self.hands)
        return tuple(word for word in found if word)


_CHANGES: Final = {(STAND, SIT): "sits down", (SIT, STAND): "stands up", (STAND, LIE): "lies down",
                   (LIE, STAND): "stands up", (SIT, LIE): "lies down", (LIE, SIT): "sits up",
                   (CRAWL, STAND): "stands up"}


def classify(found: Measures, name: str = "") -> Classes:
    """Return the classes of a clip. name: its own and its file's, as hints."""
    hint = name.casefold()
    start, end, middle = (held_as(each) for each in (found.start, found.end, found.middle))
    gait = _gait(found, middle, start == end, hint)
    left, ahead = found.speed
    is_gait = gait in ("walk", "run")
    beats = 60.0 * found.steps / found.duration_s if is_gait and found.duration_s > 0.0 else 0.0
    direction = ""
    if is_gait:
        direction = "sideways" if abs(left) > abs(ahead) else "backwards" if ahead < -WALKS / 2.0 else ""
    return Classes(
        "travelling" if travels(found) and start == end else "on the spot", start, end, gait, direction,
        "" if abs(found.turn) < TURNS_DEG else f"turning {'left' if found.turn > 0.0 else 'right'}",
        "" if not beats else "slow" if beats < SLOW else "fast" if beats > FAST else "",
        "calm" if found.energy < CALM else "wild" if found.energy > WILD else "lively", _lead(found),
        found.is_looping or (found.closed < CLOSED and found.duration_s > POSE_S),
        tuple(word for word, share in found.hands.items() if share > TOUCHES), beats)


def held_as(pose: Posture) -> str:
    """Return the posture of a body: it stands if it does not sit, lie or crawl.

    It sits if its thighs are horizontal, its feet in front of its hips and its trunk upright. It lies or crawls if its
    trunk is closer to horizontal: it crawls if its hips are up and its hands are down.
    """
    if pose.trunk < 0.6 and pose.hips > 0.35 and pose.wrist < 0.35 and pose.thighs > 0.35:
        return CRAWL
    if pose.trunk < 0.55 and pose.hips < 0.6:
        return LIE
    if pose.trunk >= 0.55 and pose.thighs < 0.5 and pose.feet_ahead > 0.2:
        return SIT
    return STAND


def travels(found: Measures) -> bool:
    """Return whether a body travels."""
    return found.net > FAR[0] or found.away > FAR[1]


def _gait(found: Measures, middle: str, stays: bool, hint: str) -> str:
    speed = float(np.hypot(*found.speed))
    if found.duration_s <= POSE_S or found.energy == 0.0:
        return "pose"
    if middle == CRAWL and (travels(found) or found.stride > STRIDE):
        return "crawl"
    is_hinted = {gait: bool(pattern.search(hint)) for gait, pattern in _HINTS.items()}
    often = found.steps >= 2 or (found.steps == 1 and (
        travels(found) or found.carried > CARRIED or is_hinted["walk"] or is_hinted["run"]))
    if middle == STAND and often and speed > WALKS and found.stride > STRIDE:
        if speed >= RUNS[1] or (speed >= RUNS[0] and (found.air_share > FLIES or is_hinted["run"])):
            return "walk" if is_hinted["walk"] and speed < 2.0 * RUNS[1] and found.air_share < FLIES else "run"
        return "walk"
    if middle == STAND and stays and found.in_air_s > JUMPS[1] and (
            found.rise > JUMPS[0] or found.air_share > AIRBORNE or is_hinted["jump"]):
        return "jump"
    is_turning = abs(found.turn) >= TURNS_DEG
    if stays and middle == STAND and is_hinted["jump"]:
        return "jump"
    is_led = max(found.shares.values(), default=0.0) > LEADS[0] and found.energy > MOVES  # a hand waves
    if stays and not is_turning and found.energy < 1.5 * CALM and (
            (found.reach < STILL[0] and not is_led) or (is_hinted["idle"] and found.reach < STILL[1])):
        return "idle"
    return "gesture" if middle in (STAND, SIT) and stays and not is_turning and found.steps < 2 else ""


def _lead(found: Measures) -> str:
    if found.energy < MOVES:
        return ""
    limb, most = max(found.shares.items(), key=lambda each: each[1], default=("", 0.0))
    if most > LEADS[0]:
        return f"{limb} leads"
    arms = sum(share for name, share in found.shares.items() if name.endswith("arm"))
    return "arms lead" if arms > LEADS[1] else "legs lead" if 1.0 - arms > LEADS[1] else ""
