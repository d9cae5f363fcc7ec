"""Seams of a motion as join_measures.py measures them, beside the clips that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray, IntArray
from takt.core.pha.document import parse
from takt.core.pha.programme import Programme, resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import play
from takt.core.skeletons.skeleton import Pose, world_from_pose

from . import join_measures as measures
from .join_bodies import Y_UP, Dancer

INSTANT_S: Final = 1e-4
HIGHEST_PERCENT: Final = 95.0


@dataclass(frozen=True, eq=False)
class Inside:
    """The clips of an order on a body: matrices (F, J, 3, 4) each, when their feet stand (F, 2), what is usual.

    highs: how high feet are above rest while they stand, at most, in legs.
    """

    names: tuple[str, ...]
    worlds: tuple[FloatArray, ...]
    stands: tuple[BoolArray, ...]
    levels: tuple[measures.Levels, ...]
    highs: tuple[float, ...]


def performing(dancer: Dancer, library: Library) -> Callable[..., Motion]:
    """Return what plays programmes on a body."""
    return partial(play, performer=Performer(dancer.found.skeleton, rot.rotate(dancer.turn, Y_UP), dancer.turn,
                                             points=dancer.points),
                   maps=library.skeleton_map, store=library.store)


def score_of(library: Library, names: Sequence[str]) -> Programme:
    """Write the score of some clips, each at its own pace, and look it up."""
    sources = dict.fromkeys(name.rpartition(".")[0] for name in names)
    loads = "".join(f'<load src="{src}"/>' for src in sources)

    def score(lengths_s: dict[str, float]) -> Programme:
        calls = "".join(f'<call name="{name}" duration="{lengths_s.get(name, 1.0)!r}"/>' for name in names)
        return resolve(parse(f'<pha tickLength="1">{loads}<procedure name="main">{calls}</procedure></pha>'), library)

    found = score({})
    return score({name: clip.duration_s for name, clip in zip(found.clip_names, found.clips, strict=True)})


def inside_of(motion: Motion, programme: Programme, body: measures.Body, library: Library) -> Inside:
    """Measure the clips of a motion by themselves."""
    named = dict(zip(programme.clip_names, programme.clips, strict=True))
    worlds, stands, levels, highs = [], [], [], []
    for name, clip in zip(motion.sequence.clips, motion.clips, strict=True):
        worlds.append(world_from_pose(clip.skeleton, clip.sample(frames_of(clip), "SLERP")))
        stands.append(own_stands(named[name], library)[0])
        levels.append(measures.Levels.of(body, worlds[-1]))
        high = body.heights(worlds[-1])[stands[-1][:len(worlds[-1])]]
        highs.append(float(np.percentile(high, HIGHEST_PERCENT)) if len(high) else 0.0)
    return Inside(motion.sequence.clips, tuple(worlds), tuple(stands), tuple(levels), tuple(highs))


def own_stands(clip: Clip, library: Library) -> tuple[BoolArray, FloatArray]:
    """Return when the feet of a clip stand, (F, 2), and where they are, (F, 2, 3) in legs, on its own skeleton."""
    found = library.skeleton_map(clip.skeleton)
    world, up = world_from_pose(clip.skeleton, clip.sample(frames_of(clip), "SLERP")), found.up(Y_UP)
    body = measures.Body.of(found, up)
    return measures.standing(found, up, world, frames_of(clip)), body.positions(world, body.feet)


def frames_of(clip: Clip) -> FloatArray:
    return np.arange(int(clip.duration_s * measures.FPS) + 1) / measures.FPS


def inner_joins(body: measures.Body, inside: Inside, motion: Motion, dancer: Dancer) -> Iterator[measures.Join]:
    """Measure the clips as if each second of them had a seam; of short ones the middle."""
    for clip, world, stands, levels in zip(motion.clips, inside.worlds, inside.stands, inside.levels, strict=True):
        half = round(measures.NEAR_S * measures.FPS)
        seams = np.arange(half, len(world) - half, measures.FPS)
        for seam in seams.tolist() if len(seams) else [len(world) // 2]:
            part = slice(max(seam - half, 0), seam + half + 1)
            skin = dancer.skin(clip.sample(frames_of(clip)[part], "SLERP")).min()
            yield replace(measures.measure(body, world[part], stands[part], levels), skin=float(skin))


def joins_of(motion: Motion, sample: Callable[[FloatArray], Pose], inside: Inside, body: measures.Body,
           dancer: Dancer) -> Iterator[measures.Join]:
    """Measure all seams of a motion, whose layout says where they are; sample: what makes the poses."""
    layout, clip = motion.layout, _clips_of(motion, inside)
    steps = _step_speeds(motion, body) if sample == motion.sample else {}
    for i, (end, begin) in enumerate(zip(layout.end_s[:-1].tolist(), layout.begin_s[1:].tolist(), strict=True)):
        middles = (layout.begin_s[i:i + 2] + layout.end_s[i:i + 2]) / 2.0
        times = measures.near((end + begin) / 2.0, *middles.tolist())
        pose = sample(times)
        edges = np.unique((layout.window_begin_s[i], end, begin, layout.window_end_s[i]))
        before, after = (world_from_pose(motion.skeleton, sample(edges + side * INSTANT_S)) for side in (-1.0, 1.0))
        heading, moved = measures.jumps(body, before, after)
        world = world_from_pose(motion.skeleton, pose)
        levels = inside.levels[clip[i]] | inside.levels[clip[i + 1]]
        join = measures.measure(body, world, _stands(motion, inside, times), levels)
        stand = [_stands_in(motion, inside, at, times).any(axis=1) for at in (i, i + 1)]
        high = max(inside.highs[clip[i]], inside.highs[clip[i + 1]]) + measures.AIR_LEGS
        floats = stand[0] & stand[1] & (body.heights(world) > high).all(axis=1)
        yield replace(join, heading_rad=heading, moved=moved, skin=float(dancer.skin(pose).min()),
                      floats=bool(floats.any()), step=max(steps.get(i, (0.0,))) / levels.fastest)


def _step_speeds(motion: Motion, body: measures.Body) -> dict[int, list[float]]:
    """Return how fast feet are on their steps, in legs per second, by the seams at which they are made."""
    found: dict[int, list[float]] = {}
    for side, begin, end, seam in motion.feet.steps if motion.feet is not None else ():
        world = world_from_pose(motion.skeleton, motion.sample(np.arange(begin, end, 1.0 / measures.FPS)))
        foot = body.positions(world, body.feet["lr".index(side)])
        fast = np.linalg.norm(np.diff(foot, axis=0), axis=1).max(initial=0.0) * measures.FPS
        found.setdefault(seam, []).append(float(fast))
    return found


def _stands(motion: Motion, inside: Inside, times_s: FloatArray) -> BoolArray:
    """Return whether the clip that plays at times (F,) has the feet stand, (F, 2); between clips, the nearer one."""
    away = np.maximum(motion.layout.begin_s[:, None] - times_s, times_s - motion.layout.end_s[:, None])
    segment = np.argmin(np.maximum(away, 0.0), axis=0)
    found = np.zeros((len(times_s), 2), dtype=np.bool_)
    for each in np.unique(segment).tolist():
        found[segment == each] = _stands_in(motion, inside, each, times_s[segment == each])
    return found


def _stands_in(motion: Motion, inside: Inside, segment: int, times_s: FloatArray) -> BoolArray:
    """Return whether the clip of a segment has the feet stand at times (F,), (F, 2); beyond its ends, as there."""
    layout, sources = motion.layout, motion.row.sources
    own, number = inside.stands[_clips_of(motion, inside)[segment]], int(motion.sequence.clip[segment])
    share = (times_s - layout.begin_s[segment]) / (layout.end_s[segment] - layout.begin_s[segment])
    own_s = np.clip(share, 0.0, 1.0) * sources.durations_s[number]
    if number in sources.excerpts:
        part = sources.excerpts[number]
        own_s = part.own_times(own_s)
        own_s = (own_s - part.begin_s) % part.duration_s if part.goes_round else own_s
    return np.asarray(own[np.minimum(np.rint(own_s * measures.FPS).astype(np.int64), len(own) - 1)])


def _clips_of(motion: Motion, inside: Inside) -> IntArray:
    """Return which of the clips that were measured each segment plays, (S,)."""
    return np.array([inside.names.index(name) for name in motion.sequence.clips])[motion.sequence.clip]
