"""Transition points of neighbouring seams depend on each other, since a clip has limits for both its ends together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray, runs

_SLACK_S = 1e-9


@dataclass(frozen=True, eq=False)
class Options:
    """The options at one seam.

    out_s, into_s: (N,) and (M,) seconds skipped of the clip before and of the clip after; the first are 0. costs:
    (N, M) of each pair, ∞ for pairs not allowed; the first pair is always allowed.
    """

    costs: FloatArray
    out_s: FloatArray
    into_s: FloatArray

    @property
    def is_settled(self) -> bool:
        """Whether there is only one pair."""
        return self.costs.size == 1


def chosen(seams: Sequence[Options], limits_s: FloatArray) -> IntArray:
    """Choose a pair of options at each seam, (S, 2), so that the sum at both ends of each clip stays within its limits.

    seams: S, one after each clip, in a circle; where nothing follows there is one pair. limits_s: (S, 2) least and
    greatest sum for each clip, around 0. One end alone may exceed them if the other compensates.

    Each seam gets its cheapest pair. Where clips then exceed their limits, the seams around them are chosen again for
    the least total cost. The change is confined to those clips and to neighbours that depend on them.
    """
    taken = np.array([np.unravel_index(int(np.argmin(each.costs)), each.costs.shape) for each in seams], dtype=np.int64)
    into_s, out_s = _ends(seams, taken)
    exceeds = ~_fits(into_s + out_s, limits_s)
    is_tied = exceeds | ~_fits(np.stack((into_s, out_s)), limits_s).all(axis=0)
    rows = [row for row in _rows(seams, is_tied) if exceeds[row].any()]
    is_anew = np.zeros(len(seams), dtype=np.bool_)
    is_anew[[clip for row in rows for clip in row]] = True
    if len(rows) > 1:  # two rows with a single clip between them depend on each other
        is_anew |= np.roll(is_anew, 1) & np.roll(is_anew, -1)
    if is_anew.all() and not any(each.is_settled for each in seams):  # a row of them has to begin somewhere
        last, taken[-1] = seams[-1], 0
        seams = [*seams[:-1], Options(last.costs[:1, :1], last.out_s[:1], last.into_s[:1])]
    for row in _rows(seams, is_anew):
        _mend(seams, limits_s, taken, row)
    return taken


def _rows(seams: Sequence[Options], some: BoolArray) -> list[list[int]]:
    """Return the runs of neighbours among chosen clips (S,), in a circle; a seam with a single pair separates runs."""
    count = len(some)
    settled = [i for i, each in enumerate(seams) if each.is_settled]
    begin = int(np.argmin(some)) if not some.all() or not settled else settled[0] + 1
    rows = []
    for first, end in runs(np.roll(some, -begin)):
        row = [(begin + clip) % count for clip in range(first, end)]
        cuts = [i for i, clip in enumerate(row[:-1], 1) if seams[clip].is_settled]
        rows += [row[one:other] for one, other in pairwise((0, *cuts, len(row)))]
    return rows


def _ends(seams: Sequence[Options], taken: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the seconds skipped at each clip's beginning and end, (S,) each, for chosen pairs."""
    into_s = np.array([each.into_s[at] for each, at in zip(seams, taken[:, 1].tolist(), strict=True)])
    out_s = np.array([each.out_s[at] for each, at in zip(seams, taken[:, 0].tolist(), strict=True)])
    return np.roll(into_s, 1), out_s


def _fits(skipped_s: FloatArray, limits_s: FloatArray) -> BoolArray:
    """Return whether skipped seconds (…) are within limits (…, 2)."""
    return np.asarray((skipped_s >= limits_s[..., 0] - _SLACK_S) & (skipped_s <= limits_s[..., 1] + _SLACK_S))


def _mend(seams: Sequence[Options], limits_s: FloatArray, taken: IntArray, row: Sequence[int]) -> None:
    """Choose the seams around a run of clips again; the other ends of the neighbouring clips stay as they are."""
    count = len(seams)
    first, last = (row[0] - 1) % count, (row[-1] + 1) % count
    is_all, ends = len(row) == count, seams[row[-1]].is_settled
    out_s = seams[first].out_s
    if not is_all and first == last and not ends:  # the same clip is on both sides: try each of its ends
        ways = [_way(seams, limits_s, row, np.where(np.arange(len(out_s)) == at, 0.0, np.inf), limits_s[last] - own_s)
                for at, own_s in enumerate(out_s.tolist())]
        found = min(ways, key=lambda way: way[0])[1]
    else:
        own_s = seams[first - 1].into_s[taken[first - 1, 1]] + out_s
        free = is_all | seams[first].is_settled | _fits(own_s, limits_s[first])
        room_s = None if is_all or ends else limits_s[last] - seams[last].out_s[taken[last, 0]]
        found = _way(seams, limits_s, row, np.where(free, 0.0, np.inf), room_s)[1]
    taken[[first, *row]] = found


def _way(seams: Sequence[Options], limits_s: FloatArray, row: Sequence[int], so_far: FloatArray,
         room_s: FloatArray | None) -> tuple[float, IntArray]:
    """Return the cheapest pairs at the seam before a run and after each of its clips, (R + 1, 2), and their cost.

    so_far: (N,) cost of reaching each option of the first seam. room_s: (2,) least and greatest sum allowed after the
    last seam, None for any.
    """
    worth, out = _cheapest(so_far, seams[row[0] - 1])
    outs, intos = [out], list[IntArray]()
    for clip in row:
        before, after = seams[clip - 1], seams[clip]
        fits = _fits(before.into_s[:, None] + after.out_s, limits_s[clip])
        reached = np.where(fits, worth[:, None], np.inf)
        intos.append(reached.argmin(axis=0))
        worth, out = _cheapest(reached.min(axis=0), after)
        outs.append(out)
    if room_s is not None:
        worth = np.where(_fits(seams[row[-1]].into_s, room_s), worth, np.inf)
    into = int(np.argmin(worth))
    costs, pairs = float(worth[into]), list[tuple[int, int]]()
    for before_into in reversed(intos):
        pairs.append((int(outs.pop()[into]), into))
        into = int(before_into[pairs[-1][0]])
    pairs.append((int(outs.pop()[into]), into))
    return costs, np.array(pairs[::-1])


def _cheapest(so_far: FloatArray, seam: Options) -> tuple[FloatArray, IntArray]:
    """Return the cost of reaching each option after a seam, (M,), and the option before it that is cheapest."""
    costs = so_far[:, None] + seam.costs
    return costs.min(axis=0), costs.argmin(axis=0)
