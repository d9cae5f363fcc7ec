"""Transition point search: join two clips at their ends, or at a pair of instants near the ends that fits better.

The seam stays at its time in the score. What changes is the instant of each clip that is shown at the seam: a clip
skips the rest, or continues beyond its end (clips/excerpt.py). A little away from the seam everything is unchanged.
All pairs of instants near the ends of both clips are compared (ends.py). The pairs with the least total cost are
chosen, as long as no clip skips or adds too much (within_limits.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..errors import Problem, TaktError
from ..maths.arrays import FloatArray, IntArray
from ..pha.sequence import Sequence
from ..skeletons.maps import SkeletonMap
from .ends import Ends, Piece
from .playing import Playing
from .transitions.seam_cost import seam_costs
from .transitions.seams import time_stretch
from .within_limits import Options, chosen

SEARCH_S: Final = 1.0
IN_PLACE_TICKS: Final = 0.25
LEAST_GAIN: Final = 0.1
"""Least saving of a pair, as a share of the cost at the clips' own ends."""
MOST_SKIPPED: Final = 1.0 / 3.0
"""Greatest share of a clip that is skipped at both ends together: it plays at two thirds of its speed at least."""
MOST_ADDED: Final = 1.0 / 20.0
"""Greatest share added to a clip at both ends together. One end may add more if the other skips as much."""
MOST_PIECES: Final = 1_000
_ONE_WAY: Final = Options(np.zeros((1, 1)), np.zeros(1), np.zeros(1))


@dataclass(frozen=True)
class Fit:
    """A method of choosing transition points.

    window_s: returns the greatest distance from the ends, in seconds, for a tick in seconds. most_skipped: greatest
    share skipped of a clip, at both ends together. goes_on: whether excerpts may continue into the rest of their clip,
    and cyclic clips beyond their ends.
    """

    identifier: str
    label: str
    description: str
    window_s: Callable[[float], float]
    most_skipped: float = MOST_SKIPPED
    goes_on: bool = True


FITS: dict[str, Fit] = {fit.identifier: fit for fit in (
    Fit("AUTHORED", "Authored", "Each clip is played from its beginning to its end", lambda tick_s: 0.0),
    Fit("IN_PLACE", "In Place", "Skip up to a quarter of a tick of a clip where the next fits better. Seams stay on "
                                "their ticks",
        lambda tick_s: IN_PLACE_TICKS * tick_s, goes_on=False),
    Fit("SEARCH", "Search", "Skip up to a second of a clip where the next fits better. Cycles, such as walks, may "
                            "begin anywhere. Seams stay on their ticks", lambda tick_s: SEARCH_S),
)}


def fit_named(identifier: str) -> Fit:
    """Return the fit with this identifier; raise TaktError with the known ones if there is none."""
    if identifier not in FITS:
        raise TaktError(f"there is no fit {identifier!r}; there are {', '.join(FITS)}")
    return FITS[identifier]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The results for the seams after S segments.

    tried: (S,) number of pairs compared, 0 where the clips keep their ends. authored, found: (S,) cost at the clips'
    own ends and at the chosen instants, in limb lengths. skips_s: (S, 2) seconds skipped of the clip before and of the
    clip after; negative ones are added.
    """

    tried: IntArray
    authored: FloatArray
    found: FloatArray
    skips_s: FloatArray


def fit_seams(sequence: Sequence, pieces: list[Piece], fit: Fit, tick_s: float, body: SkeletonMap,
              playing: Playing) -> tuple[Sequence, list[Piece], Cuts | None, tuple[Problem, ...]]:
    """Return the same segments over pieces with new transition points, the results, and warnings.

    The results are None if nothing was searched. pieces: those that sequence.clip indexes, on the skeleton of body.
    tick_s: seconds of a tick. Stages are unchanged. So are seams whose transition the score sets to 0, since such clips
    were made for each other.
    """
    window_s = fit.window_s(tick_s)
    if window_s <= 0.0:
        return sequence, pieces, None, ()
    stretch = time_stretch(sequence.length_s, sequence, pieces)
    ends = Ends.of(pieces, window_s, fit.most_skipped, body, playing, goes_on=fit.goes_on)
    options = _options(sequence, ends, stretch)
    durations_s = np.array([each.duration_s for each in pieces])[sequence.clip]
    limits_s = durations_s[:, None] * np.array((-MOST_ADDED, fit.most_skipped))
    taken = chosen(options, limits_s)
    cuts = Cuts(np.array([each.costs.size if each is not _ONE_WAY else 0 for each in options], dtype=np.int64),
                np.array([each.costs[0, 0] for each in options]),
                np.array([each.costs[out, into] for each, (out, into) in zip(options, taken.tolist(), strict=True)]),
                np.array([(each.out_s[out], each.into_s[into])
                          for each, (out, into) in zip(options, taken.tolist(), strict=True)]).reshape(-1, 2))
    before = np.roll(cuts.skips_s[:, 1], 1)
    parts, at = np.unique(np.column_stack((sequence.clip, before, cuts.skips_s[:, 0])), axis=0, return_inverse=True)
    if len(parts) > MOST_PIECES + len(pieces):
        return sequence, pieces, None, (Problem(f"Fit: found {len(parts)} different parts of clips, expected at most "
                                                f"{MOST_PIECES}; the clips' ends are left as authored",
                                                is_warning=True),)
    changed = [ends.skipping(int(piece), float(first), float(last)) for piece, first, last in parts]
    names = tuple(sequence.clips[int(piece)] for piece in parts[:, 0])
    return sequence.with_clips(names, at.reshape(-1).astype(np.int64)), changed, cuts, ()


def _options(sequence: Sequence, ends: Ends, stretch: FloatArray) -> list[Options]:
    """Return the options for the seam after each segment; only one if clips keep their ends."""
    found, count = [], len(sequence)
    known: dict[tuple[int, int, float, float], Options] = {}
    for seam in range(count):
        later = (seam + 1) % count
        sides = int(sequence.clip[seam]), int(sequence.clip[later])
        if (later == 0 and not sequence.is_loop) or sequence.transition_s[seam] == 0.0 or not all(
                ends.is_open[list(sides)]):
            found.append(_ONE_WAY)
            continue
        key = *sides, round(float(stretch[seam]), 9), round(float(stretch[later]), 9)
        if key not in known:
            out, into = (ends.edges(side, float(stretch[at]), is_end=side_is_end)
                         for side, at, side_is_end in zip(sides, (seam, later), (True, False), strict=True))
            costs = seam_costs(out, into, 1.0 / float(stretch[seam]), 1.0 / float(stretch[later]))
            authored = float(costs[0, 0])
            costs[costs > (1.0 - LEAST_GAIN) * authored] = np.inf
            costs[0, 0] = authored
            known[key] = Options(costs, out.skips_s, into.skips_s)
        found.append(known[key])
    return found
