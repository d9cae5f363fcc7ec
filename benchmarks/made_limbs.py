"""Bind bodies made by rule in which bones run side by side in one limb, and tell how they bend.

    python -m benchmarks.made_limbs [COUNT, 14 unless told]

Prints for palms and for haunches (tests/core/test_binding_side_by_side.py) the means over so many of each: edges whose
ends' weights differ by more than 1, flying vertices and leaks, all in ‰.
"""

from __future__ import annotations

import argparse
import sys

import checkout
import numpy as np

from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.sweep import sweep
from takt.tests.core.test_binding_side_by_side import hand, haunches, steps_of

_COUNT = 14
_STEP = 1.0


def measured(body: BindInput) -> tuple[float, float, float]:
    """Return the steps, flying vertices and leaks of one body, in ‰."""
    weights = bind_inside_distance(body).dense(len(body.bone_names))
    found = sweep(body, weights)
    return 1e3 * float((steps_of(body, weights) > _STEP).mean()), found.flying, found.leaks


def main(arguments: list[str]) -> int:
    """Print the means of both kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=_COUNT)
    count = parser.parse_args(arguments).count
    print(f"{'‰':10}{'steps':>9}{'flying':>9}{'leaks':>9}")
    for kind, make in (("palms", hand), ("haunches", haunches)):
        means = np.mean([measured(make(seed)) for seed in range(count)], axis=0)
        print(f"{kind:10}" + "".join(f"{value:9.2f}" for value in means), flush=True)
    return 0


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
