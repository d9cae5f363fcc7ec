"""Joins of clips that nobody has seen: bench joins_unseen [SEED …].

For each seed ten clips are chosen, each from another file, and altered (altered_clips.py): cut at other places,
mirrored, slower or quicker, turned, shifted, with keys at another rate, some with a joint more that carries the body
over the ground. They are played in four random orders, by default settings, on bodies with legs half, three quarters
and one and a half times as long and a longer trunk, besides the usual ones. A line for each body tells what
join_measures.py measures, with an asterisk at what is worse than wanted:
  planted   how far planted feet are displaced at p90, % of the leg (2); > 5 %: the share of seams with one (none)
  skate     against inside the clips (1.2); skin: how low the soles are at p5, % of the leg (−2)
  hips …    speeds at p90 (1.5), then jerk at p90 against inside the clips (1.2); of feet at seams, and in clips, of
            which one at least moves its feet: where both stand still, any step is faster than theirs
  still     there, the fastest that a foot goes, legs per second
  fastest   elsewhere, the fastest step against the fastest that the clips on both sides ever have a foot (1)
  turn, moved  the largest jumps, degrees (1) and legs (.002)
  air       the share of seams where both feet are in the air while the clips on both sides stand (none)
Clips that lie down or sit are not among them. --worst N tells of the worst N seams for each figure that is worse than
wanted; --fits what seams cost where clips are left elsewhere; --body plays one body, --orders fewer orders.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import bpy
import numpy as np

import takt
from takt.bridge.files import clips as blender_clips
from takt.core.clips.clip import Clip
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.score import Settings
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clip_files import LIBRARY
from takt.tests.beside import DATA

from . import join_measures as measures
from .altered_clips import Alteration, altered
from .join_bodies import LEG, TRUNK, Y_UP, Dancer, real_dancers, sample_dancers, with_limbs
from .join_seams import inner_joins, inside_of, joins_of, performing, score_of
from .joins import tell_fits
from .timing import say

CLIPS, ORDERS, SEEDS = 10, 4, (101, 102, 103)
SHORTEST_S, LOWEST_HIPS = 0.6, 0.7
"""Clips are at least so long, and their hips always at least so high against rest."""
SAMPLES: Final = ("feet.Steps", "dance.Moves", "gestures.Greetings")
REAL: Final = ("clips.bow", "clips.cmu_01_01", "clips.dance_body_roll", "clips.dance_charleston",
               "clips.dance_reach_hip", "clips.jumping_jacks", "clips.victory", "characters.KayKit_Rogue_Hooded",
               "characters.Quaternius_Male_Casual", "characters.cesium_man", "ogre.Sinbad")
UNSEEN: Final = "unseen"


HEADINGS: Final = ("planted", "> 5 %", "skate", "skin", *measures.PARTS, *(f"j.{part}" for part in measures.PARTS),
                   "still", "turn", "moved", "air", "fastest")
LIMITS: Final = np.array((2.0, 0.0, 1.2, 2.0, 1.5, 1.5, 1.5, 1.2, 1.2, 1.2, np.inf, 1.0, 0.002, 0.0, 1.0))
DIGITS: Final = (1, 2, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 2)


def figures(joins: Sequence[measures.Join], own: Sequence[measures.Join]) -> FloatArray:
    """Return what the columns say of all seams, against what is measured inside the clips."""
    each, inside = (np.array([of_seam(join) for join in some]) for some in (joins, own))
    p90, own_p90 = (np.array([np.percentile(column[~np.isnan(column)], 90.0) if not np.isnan(column).all() else 1.0
                              for column in some.T]) for some in (each, inside))
    planted = np.percentile([moved for join in joins for moved in join.displaced] or [0.0], 90.0)
    return np.array((100.0 * planted, (each[:, 1] > 0.05).mean(), each[:, 2].mean() / inside[:, 2].mean(),
                     100.0 * np.percentile(each[:, 3], 95.0), *p90[4:7], *(p90[7:10] / own_p90[7:10]),
                     *each[:, 10:13].max(axis=0), each[:, 13].mean(), each[:, 14].max()))


def of_seam(join: measures.Join) -> FloatArray:
    """Return what the columns are made of, of one seam: the more, the worse; NaN where it does not count."""
    farthest = max(join.displaced, default=0.0)
    counts = np.array((1.0, 1.0, np.nan if join.is_still else 1.0))
    still, fastest = (join.fast, 0.0) if join.is_still else (0.0, join.step)
    return np.array((farthest, farthest, join.skate, -join.skin, *(join.speed * counts), *(join.jerk * counts), still,
                     np.degrees(join.heading_rad), join.moved, join.floats, fastest))


def main(arguments: list[str]) -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="bench joins_unseen")
    parser.add_argument("seeds", nargs="*", type=int, default=SEEDS)
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--body", default="", help="only bodies whose name ends like this")
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--fits", action="store_true")
    parser.add_argument("--as-they-are", action="store_true", help="clips are chosen, but not altered")
    options = parser.parse_args(arguments)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    is_real = DATA.is_dir()
    files = Library([DATA, LIBRARY] if is_real else [LIBRARY], reading=Reading(".bvh", blender_clips.formats()))
    pool = {src: list(_standing(files, src)) for src in (*(REAL if is_real else ()), *SAMPLES)}
    bodies = [each for each in (_real_bodies() if is_real else sample_dancers()) if each.name.endswith(options.body)]
    for seed in options.seeds:
        rng = np.random.default_rng(seed)
        told, clips = zip(*_chosen(pool, files, rng, not options.as_they_are), strict=True)
        say(f"\nseed {seed}: " + "; ".join(told))
        library = files.with_other_clips(lambda src, some=clips: some if src == UNSEEN else None)  # type: ignore[misc]
        names = [[f"{UNSEEN}.{clips[i].name}" for i in rng.permutation(len(clips))] for _ in range(options.orders)]
        say(f"{'':48}" + "".join(f"{heading:>9}" for heading in HEADINGS))
        for dancer in bodies:
            _measure(dancer, library, names, options.worst, options.fits)
    return 0


def _real_bodies() -> Iterator[Dancer]:
    rogue, usual, _ = real_dancers(DATA)
    yield from (rogue, usual, *(with_limbs(usual, LEG, times) for times in (0.5, 0.75, 1.5)),
                with_limbs(usual, TRUNK, 1.3))


def _standing(library: Library, src: str) -> Iterator[Clip]:
    """Yield the clips of a file that are long enough, and on their feet."""
    for clip in library.clips(src)[0]:
        found = library.skeleton_map(clip.skeleton)
        if clip.duration_s < SHORTEST_S or not {"l_ankle", "HumanoidRoot"} <= found.joint_of.keys():
            continue
        joints = [found.joint_of[name] for name in ("HumanoidRoot", "l_ankle", "l_knee")]
        times = np.linspace(0.0, clip.duration_s, 60)
        world, up = world_from_pose(clip.skeleton, clip.sample(times, "SLERP"))[..., 3][:, joints], found.up(Y_UP)
        rest = clip.skeleton.rest_world[..., 3][joints] @ up
        hips = (world[:, 0] @ up) - (world[:, 1] @ up).min()
        if hips.min() >= LOWEST_HIPS * (rest[0] - rest[1]) and clip.moved[joints[2]]:
            yield clip


def _chosen(pool: Mapping[str, Sequence[Clip]], library: Library, rng: np.random.Generator,
            is_altered: bool) -> Iterator[tuple[str, Clip]]:
    """Yield clips of different files, altered by chance, and what they are."""
    among = [src for src, clips in pool.items() if clips]
    for number, at in enumerate(rng.choice(len(among), min(CLIPS, len(among)), replace=False).tolist()):
        clips = pool[among[at]]
        clip = clips[int(rng.integers(len(clips)))]
        found = library.skeleton_map(clip.skeleton)
        how = Alteration.by_chance(rng, clip.duration_s)
        told = f"{number} {clip.name}"
        if is_altered:
            up = found.up(Y_UP)
            clip = altered(clip, found, up, measures.Body.of(found, up).leg_length, how)
            told += (f" {how.part[0]:.2f}–{how.part[1]:.2f} × {how.times:.2f}, {how.fps:.0f} fps"
                     f"{', mirrored' if how.is_mirrored else ''}{', travel' if how.has_travel else ''}")
        yield told, replace(clip, name=str(number), contacts=None)


def _measure(dancer: Dancer, library: Library, orders: Sequence[Sequence[str]], worst: int, with_fits: bool) -> None:
    """Print the line of a body, and its worst seams."""
    programmes, perform = [score_of(library, names) for names in orders], performing(dancer, library)
    joins, where, own, motions = list[measures.Join](), list[str](), list[measures.Join](), list[Motion]()
    for order, programme in enumerate(programmes):
        motion = perform(programme, settings=Settings(keep_contacts=True))
        motions.append(motion)
        inside = inside_of(motion, programme, dancer.body, library)
        own += inner_joins(dancer.body, inside, motion, dancer) if order == 0 else []
        joins += joins_of(motion, motion.sample, inside, dancer.body, dancer)
        where += _told(motion, order)
    found = figures(joins, own)
    say(f"{dancer.name:48}" + "".join(
        f"{value:8.{digits}f}{'*' if value > limit else ' '}"
        for value, digits, limit in zip(found, DIGITS, LIMITS, strict=True)))
    if with_fits:
        tell_fits(motions, dancer)
    each = np.array([of_seam(join) for join in joins])
    for column in np.flatnonzero(found > LIMITS).tolist() if worst else ():
        for seam in np.argsort(-np.nan_to_num(each[:, column]))[:worst].tolist():
            say(f"    {HEADINGS[column]:8} {each[seam, column]:7.3f}  {where[seam]}")


def _told(motion: Motion, order: int) -> Iterator[str]:
    """Yield for each seam where it is, from which clip to which, and how long its transition is."""
    layout, names = motion.layout, [motion.sequence.clips[clip] for clip in motion.sequence.clip]
    for i, (one, other) in enumerate(pairwise(names)):
        yield (f"order {order}, {layout.end_s[i]:.2f} to {layout.begin_s[i + 1]:.2f} s, {one} → {other}, transition "
               f"{layout.window_begin_s[i]:.2f} to {layout.window_end_s[i]:.2f} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
