"""Choices that depend on each other, against trying out all of them."""

from itertools import product

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.playing.within_limits import Options, chosen

ALONE = Options(np.zeros((1, 1)), np.zeros(1), np.zeros(1))


def problem(seed: int, count: int, is_loop: bool) -> tuple[list[Options], FloatArray]:
    rng = np.random.default_rng(seed)
    seams = []
    for _ in range(count):
        out_s, into_s = (np.append(0.0, rng.uniform(-1.5, 1.5, rng.integers(0, 4))) for _ in range(2))
        costs = np.where(rng.random((len(out_s), len(into_s))) < 0.3, np.inf, rng.random((len(out_s), len(into_s))))
        costs[0, 0] = 1.0
        seams.append(Options(costs, out_s, into_s))
    if not is_loop:
        seams[-1] = ALONE
    return seams, np.tile((-rng.uniform(0.05, 1.0), 1.0), (count, 1))


def is_allowed(seams: list[Options], limits_s: FloatArray, taken: IntArray) -> bool:
    for clip, (least, most) in enumerate(limits_s.tolist()):
        both = seams[clip - 1].into_s[taken[clip - 1][1]] + seams[clip].out_s[taken[clip][0]]
        if not least - 1e-9 <= both <= most + 1e-9:
            return False
    return True


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
@example(20992, 3, True)
def test_what_is_taken_is_allowed_and_nothing_cheaper_is_where_anything_was_changed(seed: int, count: int,
                                                                                    is_loop: bool) -> None:
    seams, limits_s = problem(seed, count, is_loop)
    taken = chosen(seams, limits_s)
    assert is_allowed(seams, limits_s, taken)
    costs = [each.costs[tuple(at)] for each, at in zip(seams, taken, strict=True)]
    assert all(cost <= each.costs[0, 0] for cost, each in zip(costs, seams, strict=True))
    best = [int(np.argmin(each.costs)) for each in seams]
    changed = [i for i, each in enumerate(seams) if np.ravel_multi_index(taken[i], each.costs.shape) != best[i]]
    if is_loop and not taken[-1].any():  # a loop that is chosen anew as a whole begins somewhere
        return
    for other in product(*(np.ndindex(seams[i].costs.shape) for i in changed)):
        tried = taken.copy()
        tried[changed] = np.array(other).reshape(-1, 2)
        if is_allowed(seams, limits_s, tried):
            assert sum(seams[i].costs[tuple(tried[i])] for i in changed) >= sum(costs[i] for i in changed) - 1e-12
