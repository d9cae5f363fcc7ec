"""Bind rigs made by rule (tests/core/made_rigs.py), and tell what is wrong: bones and limbs without vertices, helpers
that move skin, vertices that follow another limb.

    python -m benchmarks.made_rigs [COUNT, 300 unless told] [--first SEED]

Prints each rig that is wrong, with its seed, and how many are right of each kind of body, mesh, skeleton, tails, names.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import checkout

from takt.tests.core.made_rig_faults import faults_of
from takt.tests.core.made_rigs import draw

_COUNT = 300
_SORTS = ("body", "mesh", "skeleton", "tails", "names", "axes", "scale")


def main(arguments: list[str]) -> int:
    """Bind them all; 1 where any is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=_COUNT)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    made, right = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    wrong = 0
    for seed in range(options.first, options.first + options.count):
        rig = draw(seed)
        faults = faults_of(rig)
        kinds = list(zip(_SORTS, rig.says.split(", ")[:len(_SORTS)], strict=True))
        made.update(kinds)
        if faults:
            wrong += 1
            print(f"{rig.says}\n    " + "; ".join(faults), flush=True)
        else:
            right.update(kinds)
    for sort in _SORTS:
        print(f"{sort:10}" + ", ".join(f"{kind} {right[sort, kind]}/{made[sort, kind]}"
                                       for of, kind in sorted(made) if of == sort))
    print(f"{options.count - wrong} of {options.count} right")
    return int(wrong > 0)


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
