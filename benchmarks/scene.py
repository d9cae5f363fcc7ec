"""How well scenes hold what they are to hold, with random settings on four rigs, and what they cost.

dev.py bench scene --settings N prints a row for each scene word and figure, of N settings (200): the worst, the 90th
percentile and the limit. Lengths are in legs, angles in degrees, knees' jerk against that on flat ground. Then:
  nothing cast   how much scores whose roles nobody plays differ from the same scores without the words (0);
  cost           50 characters that each go to a place: the time to their first pose against that without the word (2),
                 and the time to the first pose once a target is dragged, in milliseconds of the processor (50).
--only WORD prints the rows of one word alone, as --only cost.
Skate is how far planted feet slide against what they slide inside the clips. The limits of the editor are not measured
here. Exit code 1: a row does not hold.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import ScenePlace
from takt.tests.core.scene_figures import LIMITS, ROWS, Figures
from takt.tests.core.scene_rigs import FOUR
from takt.tests.core.scene_settings import played, rig_of
from takt.tests.core.test_scene_meets import hands_met
from takt.tests.core.test_scene_seats import LIMITS as SEAT_LIMITS
from takt.tests.core.test_scene_seats import seated
from takt.tests.core.test_scene_sits import LIMITS as SAT_LIMITS
from takt.tests.core.test_scene_sits import sat

from .timing import seconds

CHARACTERS: Final = 50
RUNS: Final = 3
COST, DRAG_MS = 2.0, 50.0
AT_S: Final = np.array((4.0,))
WALK: Final = '<call name="walk" duration="8" repeat="3"{}/><call name="left_step" duration="1"/>'
LANES: Final = ('<together><lane><call name="hello" duration="8"/></lane><lane>{}</lane><lane>{}</lane></together>')
REST: Final = '<wait duration="8"/>'
UNCAST: Final = (
    (WALK.format(' to="seat"'), WALK.format("")), (WALK.format(' along="lane"'), WALK.format("")),
    (WALK.format(' at="seat"'), WALK.format("")),
    (LANES.format('<look at="seat" duration="8"/>', '<reach for="cup" with="right hand" duration="2" hold="6"/>'),
     LANES.format(REST, REST)),
    (LANES.format('<hold prop="cup" with="left hand" duration="8"/>', REST), LANES.format(REST, REST)))
"""Scores with scene words, and without them."""


def main() -> int:
    """Measure everything."""
    parser = argparse.ArgumentParser(description="Measure scenes.")
    parser.add_argument("--settings", type=int, default=200, help="how many random settings of each word (200)")
    words = {**ROWS, "meet": met, "seat": seated, "sit": sat}
    parser.add_argument("--only", choices=(*words, "nothing cast", "cost"), help="only the rows of this word")
    options = parser.parse_args()
    count, only = max(1, options.settings), options.only
    say("word", "figure", "settings", "worst", "p90", "limit", "")
    holds = True
    for name, measure in words.items():
        if only in (None, name):
            holds &= rows(name, [measure(seed) for seed in range(count)])
    if only in (None, "nothing cast"):
        holds &= row("nothing cast", "difference", [uncast(seed) for seed in range(count)], 0.0)
    if only in (None, "cost"):
        holds &= row("cost", "first motion", [first_motion()], COST)
        holds &= row("cost", "drag, ms", drags(count), DRAG_MS)
    return int(not holds)


def rows(name: str, found: Sequence[Figures]) -> bool:
    """Print a row for each figure of a word; tell whether all hold."""
    limits = {**LIMITS, **SEAT_LIMITS, **SAT_LIMITS}
    figures = dict.fromkeys(figure for each in found for figure in each)
    hold = [row(name, figure, [each[figure] for each in found if figure in each], limits[figure])
            for figure in figures]
    return all(hold)


def row(name: str, figure: str, found: Sequence[float], limit: float) -> bool:
    """Print a row; tell whether its worst figure holds."""
    worst, most = max(found), float(np.percentile(found, 90))
    holds = bool(worst <= limit)
    say(name, figure, str(len(found)), f"{worst:.3g}", f"{most:.3g}", f"{limit:g}", "" if holds else "does not hold")
    return holds


def say(*cells: str) -> None:
    """Print a row's cells at once, in columns."""
    widths = (15, 18, 9, 10, 10, 7, 0)
    sys.stdout.write("".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip() + "\n")
    sys.stdout.flush()


def met(seed: int) -> Figures:
    """Let hands of two characters meet."""
    return {"hand": hands_met(seed)[0]}


def uncast(seed: int) -> float:
    """Return how much the motion of a score whose roles nobody plays differs from that of one without scene words."""
    rig, (words, plain) = rig_of(seed), UNCAST[seed // 4 % len(UNCAST)]
    one, two = played(rig, words), played(rig, plain)
    times = np.sort(np.random.default_rng(seed).uniform(0.0, two.duration_s, 100))
    ours, theirs = one.sample(times), two.sample(times)
    return max(float(np.abs(mine - other).max()) for mine, other in (
        (ours.rotations, theirs.rotations), (ours.translations, theirs.translations)))


def place_of(seed: int) -> ScenePlace:
    """Return a random place near the rig of a seed."""
    rig, rng = rig_of(seed), np.random.default_rng(seed + 10_000)
    (x, z), turn = rng.uniform(-4.0, 4.0, 2) * rig.leg_m, rng.uniform(-np.pi, np.pi)
    return rig.place(np.array((x, 0.0, z)), np.array((np.sin(turn), 0.0, np.cos(turn))))


def going(seed: int, to: bool = True) -> Motion:
    """Let a character go to a random place, or the same way as its clips go, up to its first pose."""
    cast: dict[str, ScenePlace] = {"seat": place_of(seed)} if to else {}
    motion = played(rig_of(seed), WALK.format(' to="seat"' if to else ""), **cast)
    motion.sample(AT_S)
    return motion


def first_motion() -> float:
    """Return how long the first motions of a crowd take that goes to places, against one that goes nowhere."""
    def crowd(*, to: bool) -> Callable[[], object]:
        return lambda: [going(seed, to) for seed in range(CHARACTERS)]

    pairs = [(seconds(crowd(to=True), 1), seconds(crowd(to=False), 1)) for _ in range(RUNS)]
    return min(one for one, _ in pairs) / min(other for _, other in pairs)


def drags(count: int) -> list[float]:
    """Return how long it takes from each new position of a target to a pose, in milliseconds of the processor.

    As in Blender, only what depends on the target is computed again.
    """
    motions, found = [going(seed) for seed in range(len(FOUR))], list[float]()
    for seed in range(count):
        start = time.process_time()
        moved = motions[seed % len(FOUR)].recast({"seat": place_of(seed)})
        assert moved is not None
        moved.sample(AT_S)
        found.append((time.process_time() - start) * 1e3)
        motions[seed % len(FOUR)] = moved
    return found


if __name__ == "__main__":
    sys.exit(main())
