"""How well the beats of music are found, on drums that we play ourselves, so that every beat is known.

dev.py bench beats [--first SEED] [--number N] prints, over patterns, tempi from 60 to 180, swing, ramps and noise:
  pattern  F-measure within 70 ms (.95 is wanted) and tempi right to 1 % (9 of 10 are wanted; twice or half is wrong);
  noise    the same by how loud the noise is;
  speed    seconds of processor time for a minute of music.
"""

import argparse
import time
from collections import defaultdict

import checkout  # noqa: F401
import numpy as np

from takt.core.music.beats import find_beats
from takt.core.music.grid import fit_grid
from takt.tests.core.drum_loops import RATE, f_measure, loop


def main() -> int:
    """Measure all, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1000, help="the first seed; default: 1000")
    parser.add_argument("--number", type=int, default=200, help="how many; default: 200")
    options = parser.parse_args()
    measures: dict[str, list[float]] = defaultdict(list)
    tempi: dict[str, list[bool]] = defaultdict(list)
    spent = music = 0.0
    changes = []
    for seed in range(options.first, options.first + options.number):
        played = loop(seed)
        start = time.process_time()
        found = find_beats(played.samples)
        spent, music = spent + time.process_time() - start, music + len(played.samples) / RATE
        kinds = ("all", "pattern " + played.name.split()[0], "noise " + played.name.split(", ")[-1])
        for kind in kinds:
            measures[kind].append(f_measure(found.times_s, played.beats_s))
        if played.first_s == played.last_s:
            for kind in kinds:
                tempi[kind].append(abs(found.tempo_bpm * played.first_s / 60.0 - 1.0) <= 0.01)
            changes.append(len(fit_grid(found.times_s, 0.5).changes))
    for kind in sorted(measures):
        right = np.array(tempi[kind])
        print(f"{kind:16} F-measure {np.mean(measures[kind]):.3f}, {np.mean(np.array(measures[kind]) >= 0.95):.0%} of "
              f"{len(measures[kind]):3} at least .95; tempo right in {right.sum()} of {len(right)}")
    print(f"even tempi laid as one tempo: {np.mean(np.array(changes) == 0):.0%}")
    print(f"speed            {spent / music * 60.0:.2f} s for a minute")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
