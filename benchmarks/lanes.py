"""What lanes, parameters and conditions cost, beside the same score with one lane and without them.

dev.py bench lanes prints, in processor time, the best of a few runs, each beside its peer in the same run:
  sample   ten minutes of the sample dancer at 24 frames a second: one lane, three lanes in one block, three lanes in
           75 blocks of eight seconds; with feet as authored and with feet that stand (3 times as long as one lane is
           allowed);
  compose  the same scores made into motions, clips being known;
  fifty    one instant of fifty characters with their palettes: of one score at once (6 ms for all), and one by one;
  seeds    fifty characters with their palettes, each with a seed of its own, watched for ten seconds: a drawing on
           average (6 ms), the longest, and in how many someone was still shown where he was before; then watched again;
           and what is found once for each, in a thread;
  ends     lanes that play for 1, 2 and 4 seconds over dances: how much more than by themselves joints jump in angular
           velocity while such a lane comes and goes, beside what 95 % of its clips' own frames stay below;
  calls    50,000 calls with parameters and conditions parsed, resolved and expanded, beside 50,000 plain ones (1 s);
           and where no two have the same values.
"""

import sys
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from takt.core.library.library import Library
from takt.core.library.store import ClipStore
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.playing.ahead import Ahead
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skinning import Palette
from takt.samples.clip_files import LIBRARY
from takt.samples.skeleton import build_skeleton
from takt.tests.core.test_short_lanes import SHORT, jumps_at_ends

from .timing import say, seconds

SECONDS, FPS, AT_ONCE, CHARACTERS, CALLS = 600, 24.0, 256, 50, 50_000
WATCHED_S, SAMPLING_S = 10.0, 0.008
BODY, UP = build_skeleton(), np.array((0.0, 1.0, 0.0))
FILES = Library([LIBRARY])
HEAD = ('<pha version="2" tickLength="1"><load src="feet.Steps"/><load src="dance.Moves"/>'
        '<load src="gestures.Greetings"/>')
STEPS = '<call name="left_step" duration="1"/><call name="right_step" duration="1"/>'
LANES = (f'<lane body="lower"><loop times="{{0}}">{STEPS}</loop></lane>'
         '<lane body="upper"><loop times="{0}"><call name="sway" duration="2"/></loop></lane>'
         '<lane body="arms" mode="mix" weight="0.5"><loop times="{0}"><call name="clap" duration="2"/></loop></lane>')


def main() -> int:
    """Measure everything."""
    texts = {"one lane": f'<loop times="{SECONDS // 2}">{STEPS}</loop>',
             "three lanes": f"<together>{LANES.format(SECONDS // 2)}</together>",
             "75 blocks": f'<loop times="{SECONDS // 8}"><together>{LANES.format(4)}</together></loop>'}
    for feet in (False, True):
        peer = np.inf
        for name, inside in texts.items():
            store, made = ClipStore(), list[Motion]()
            _performed(inside, store, feet=feet)

            def compose(inside: str = inside, store: ClipStore = store, feet: bool = feet,
                        made: list[Motion] = made) -> None:
                made.append(_performed(inside, store, feet=feet))

            composed = seconds(compose, 2)
            sample = min(seconds(partial(_sample, motion), 1) for motion in made)
            peer = sample if name == "one lane" else peer
            say("sample", f"{name:12} {'feet stand' if feet else 'as authored':12} {int(SECONDS * FPS)} frames of "
                          f"{len(BODY)} joints {sample:6.2f} s, {sample / peer:4.2f} times; composed in "
                          f"{composed * 1e3:.1f} ms")
    for feet in (False, True):
        for name, inside in texts.items():
            _fifty(name, inside, feet=feet)
    for feet in (False, True):
        _seeds(feet=feet)
    _ends()
    _calls()
    return 0


def _performed(inside: str, store: ClipStore, *, feet: bool, seed: int = 0) -> Motion:
    programme = resolve(parse(f'{HEAD}<procedure name="main">{inside}</procedure></pha>'), FILES)
    return play(programme, Performer(BODY, UP), Settings(lock_feet=feet, seed=seed), store=store)


def _sample(motion: Motion) -> None:
    times = np.arange(int(SECONDS * FPS)) / FPS
    for start in range(0, len(times), AT_ONCE):
        motion.sample(times[start:start + AT_ONCE])


def _fifty(name: str, inside: str, *, feet: bool) -> None:
    """Sample fifty instants at once of one motion; then one of each of fifty, as where each has a seed of its own."""
    store, random = ClipStore(), np.random.default_rng(1)
    motion = _performed(inside, store, feet=feet)
    times = random.uniform(0.0, SECONDS, (20, CHARACTERS))
    motion.sample(times[0, :1])  # what is found once

    def together() -> None:
        for instants in times:
            Palette.from_pose(BODY, motion.sample(instants))

    def each() -> None:
        for instant in times[0]:
            Palette.from_pose(BODY, motion.sample(np.array((instant,))))

    say("fifty", f"{name:12} {'feet stand' if feet else 'as authored':12} of one score "
                 f"{seconds(together, 2) / len(times) * 1e3:6.2f} ms, one by one {seconds(each, 2) * 1e3:6.2f} ms")


def _seeds(*, feet: bool) -> None:
    """Watch fifty, of whom each sways or claps as their own seed has it, twice; a drawing samples for so long at most
    as in Blender."""
    inside = f'<loop times="2"><together>{LANES.format(4)}</together></loop>'
    sway, clap = (f'<call name="{name}" duration="2"/>' for name in ("sway", "clap"))
    picking, store = inside.replace(sway, f"<pick>{sway}{clap}</pick>"), ClipStore()
    crowd = [_performed(picking, store, feet=feet, seed=seed) for seed in range(CHARACTERS)]
    start = time.process_time()
    for motion in crowd:
        motion.sample(np.zeros(1))
    ready_ms = (time.process_time() - start) * 1e3 / CHARACTERS
    ahead = Ahead(lambda motion, times: Palette.from_pose(BODY, motion.sample(times)).rotations)
    drawings = [_drawing(ahead, crowd, instant) for instant in np.tile(np.arange(WATCHED_S * FPS) / FPS, 2).tolist()]
    took, late = (np.array(each).reshape(2, -1) for each in zip(*drawings, strict=True))
    say("seeds", f"3 lanes {'feet stand' if feet else 'as authored'} a drawing {took[0].mean():.2f} ms, at most "
                 f"{took[0].max():.2f} ms; someone was late in {(late[0] > 0).sum()} of {len(late[0])} drawings; seen "
                 f"again {took[1].mean():.2f} ms; made ready beside {ready_ms:.1f} ms each")


def _drawing(ahead: Ahead, crowd: Sequence[Motion], instant: float) -> tuple[float, int]:
    """Return how long a drawing samples a crowd, in milliseconds, and how many are late in it."""
    start, late = time.process_time(), 0
    for motion in crowd:
        has_time = time.process_time() - start < SAMPLING_S
        late += ahead.at(motion, np.array((instant,)), may_sample=has_time) is None
    return (time.process_time() - start) * 1e3, late


def _ends() -> None:
    for play_s in (1.0, 2.0, 4.0):
        found = [(each, *jumps_at_ends(*each, play_s)) for each in SHORT]
        (dance, over, mode), jump, usual = max(found, key=lambda each: each[1] / each[2])
        say("ends", f"{play_s:.0f} s in a lane: at worst {jump:.2f} rad/s more, {jump / usual:.2f} of its clips' own "
                    f"{usual:.2f} ({over} over {dance}, {mode})")


def _calls() -> None:
    plain = '<procedure name="main">' + '<call name="clap" duration="1"/>' * CALLS + "</procedure></pha>"
    figure = ('<procedure name="figure"><param name="n" default="1"/><param name="big" default="no"/>'
              '<if test="big and n &gt; 2"><call name="bow" duration="n"/></if>'
              '<else><call name="clap" duration="n + 1"/></else></procedure>')
    alike, different = ("".join(
        f'<call name="figure" duration="1"><with n="{n}" big="{"yes" if at % 3 else "no"}"/></call>'
        for at, n in enumerate(values)) for values in (np.arange(CALLS) % 5, np.arange(CALLS) / 8.0))
    took = [seconds(lambda text=text: expand(resolve(parse(text), FILES)), 3)  # type: ignore[misc]
            for text in (HEAD + plain, *(f'{HEAD}{figure}<procedure name="main">{calls}</procedure></pha>'
                                         for calls in (alike, different)))]
    say("calls", f"{CALLS} plain {took[0]:.2f} s, with parameters and conditions {took[1]:.2f} s, each with values of "
                 f"its own {took[2]:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
