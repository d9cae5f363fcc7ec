"""What becomes of hips, hands and feet where one clip becomes the next.

dev.py bench joins plays ten clips of different files in four random orders (seeded), each at its own pace, on three
bodies: with legs about half as long as the clips' own bodies have, as usual, and half as long again. For all seams it
prints the table of join_measures.py, which defines the columns, with a line for
  inside     the clips themselves on these bodies, away from seams
  …          each transition method with default settings otherwise, feet as authored and Feet Stand
  Fit: …     the default method where clips are left at instants that fit better; below the table at which cost, beside
             searches over more of the clips than can be passed over
  NLA        Blender's, over the same times (nla.py), evaluated as a bake does
then how far feet slide inside of the clips, in each contact: on the clips' own bodies, retargeted, and with Feet Stand;
once while they look planted on the clips' own bodies (low and slow), once in the contacts that Takt takes from clips;
then the gap test: frames are left out of each clip and filled by a transition of that length (the methods that play
between clips can do that), beside slerp (rotations) with straight lines (positions of roots).

The folder of data is that which TAKT_DATA names; where it is not there, samples are measured instead. --orders N plays
fewer orders, --body one of the bodies, --methods some of the methods, --no-nla leaves out Blender's, whose frames take
long. Clips are put on the ground by the skin of bodies that have one, as in Blender; --no-skin does it by joints alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import bpy
import numpy as np

import takt
from takt.bridge import clips as blender_clips
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import foot_contacts
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray, IntArray, quotient, runs
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.playing.blocks import Playing
from takt.core.playing.fit import FITS, MOST_SKIPPED, Fit, fit_seams
from takt.core.playing.motion import Motion, compose
from takt.core.playing.score import Settings, play
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.core.skinning.influences import Influences
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette
from takt.samples.clip_files import LIBRARY
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import DATA

from . import join_measures as measures
from . import nla
from .timing import say

SEED, ORDERS = 12, 4
INSTANT_S = 1e-4
GAPS = (5, 15)
BESIDE_GAP_S = 1.0
"""So much of a clip is played before and after a gap."""
WIDER = (0.5, 0.5), (1.0, MOST_SKIPPED), (1.0, 0.5)
"""Seconds and shares of clips that are searched, too, though clips would be slowed down too much."""
SOLE_LEGS = 0.05
"""Skin that is at rest within this height of the lowest belongs to the soles."""
LONGER, SHORTER = 1.5, 0.5
Y_UP, Z_UP = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))
BLENDER_FROM_HANIM = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)
REAL_CLIPS = ("clips.bow.bow", "clips.cmu_01_01.cmu_01_01", "clips.dance_body_roll.dance_body_roll",
              "clips.dance_charleston.dance_charleston", "clips.dance_reach_hip.dance_reach_hip",
              "clips.jumping_jacks.jumping_jacks", "clips.victory.victory",
              "characters.KayKit_Rogue_Hooded.Walking_A", "characters.Quaternius_Male_Casual.Man_Idle",
              "ogre.Sinbad.Dance")
SAMPLE_CLIPS = ("feet.Steps.left_step", "feet.Steps.quarter_left", "feet.Steps.side_step_right",
                "dance.Moves.kick_left", "dance.Moves.squat", "dance.Moves.sway", "dance.Moves.disco",
                "gestures.Greetings.bow", "gestures.Greetings.wave", "gestures.Greetings.hello")


@dataclass(frozen=True, eq=False)
class Dancer:
    """A body to play on; turn: from the clips' axes to its own.

    soles: rest positions (V, 3) and what moves them; points: of all its skin, by which clips are put on the ground.
    """

    name: str
    found: SkeletonMap
    turn: FloatArray
    soles: tuple[FloatArray, Influences] | None = None
    points: SkinPoints | None = None

    @property
    def body(self) -> measures.Body:
        """Where to look on it."""
        return measures.Body.of(self.found, rot.rotate(self.turn, Y_UP))

    def skin(self, pose: Pose) -> FloatArray:
        """Return how high the lowest skin of the soles is above its height at rest, in legs (F,)."""
        if self.soles is None:
            return np.full(len(pose.rotations), np.nan)
        rest, influences = self.soles
        up = self.body.ground[2]
        moved, _ = skin_linear(Palette.from_pose(self.found.skeleton, pose), influences, rest, np.ones_like(rest))
        return np.asarray((moved @ up).min(axis=1) - (rest @ up).min())


@dataclass(frozen=True, eq=False)
class Inside:
    """The clips of an order on a body: matrices (F, J, 3, 4) each, when their feet stand (F, 2), what is usual."""

    names: tuple[str, ...]
    worlds: tuple[FloatArray, ...]
    stands: tuple[BoolArray, ...]
    levels: tuple[measures.Levels, ...]


def main(arguments: list[str]) -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="bench joins")
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--body", default="", help="only the body of this name")
    parser.add_argument("--no-nla", action="store_true")
    parser.add_argument("--no-skin", action="store_true")
    parser.add_argument("--methods", nargs="+", choices=tuple(TRANSITION_METHODS), default=tuple(TRANSITION_METHODS))
    options = parser.parse_args(arguments)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    is_real = DATA.is_dir()
    if not is_real:
        sys.stdout.write(f"No folder {DATA}: set TAKT_DATA to the folder of data. Measured on the samples instead:\n")
    names = REAL_CLIPS if is_real else SAMPLE_CLIPS
    library = Library([DATA if is_real else LIBRARY], load_format=".bvh" if is_real else "",
                      formats=blender_clips.formats())
    rng = np.random.default_rng(SEED)
    programmes = [_programme(library, [names[i] for i in rng.permutation(len(names))]) for _ in range(options.orders)]
    for dancer in (_real_dancers(DATA) if is_real else _sample_dancers()):
        if options.body in ("", dancer.name):
            own = replace(dancer, points=None) if options.no_skin else dancer
            _measure(own, programmes, library, options.methods, not options.no_nla)
    return 0


def _measure(dancer: Dancer, programmes: Sequence[Programme], library: Library, methods: Sequence[str],
             with_nla: bool) -> None:
    body = dancer.body
    perform = partial(play, skeleton=dancer.found.skeleton, turn=dancer.turn, up=rot.rotate(dancer.turn, Y_UP),
                      maps=library.skeleton_map, points=dancer.points, store=library.store)
    defaults = [perform(programme, settings=Settings()) for programme in programmes]
    inside = [_inside(motion, programme, body, library) for motion, programme in zip(defaults, programmes, strict=True)]
    build = np.mean([_build(library.skeleton_map(clip.skeleton)) for clip in programmes[0].clips])
    seams = sum(len(motion.sequence) - 1 for motion in defaults)
    sys.stdout.write(f"\n{dancer.name}: legs {_build(dancer.found) / build:.2f} times as long against the trunk as the "
                     f"clips' own bodies have them; {seams} seams\n{measures.HEADINGS}")
    own = [join for each in inside[:1] for join in _inner_joins(body, each, defaults[0], dancer)]
    skate = float(np.mean([join.skate for join in own]))
    say(measures.row("inside the clips", own))

    def line(label: str, motions: Sequence[Motion], samples: Sequence[Callable[[FloatArray], Pose]]) -> None:
        say(measures.row(label, [join for motion, sample, each in zip(motions, samples, inside, strict=True)
                                 for join in _joins(motion, sample, each, body, dancer)], skate))

    for method, lock in ((method, lock) for method in methods for lock in (False, True)):
        settings = Settings(method=method, curve="LINEAR" if method == "LEAD" else "COSINE", lock_feet=lock)
        motions = [perform(programme, settings=settings) for programme in programmes]
        line(f"{method}, {settings.curve.lower()}{', Feet Stand' if lock else ''}", motions,
             [motion.sample for motion in motions])
    for fit in ("IN_PLACE", "SEARCH"):
        motions = [perform(programme, settings=Settings(fit=fit)) for programme in programmes]
        line(f"Fit: {FITS[fit].label}, Feet Stand", motions, [motion.sample for motion in motions])
    for kind, label in nla.KINDS.items() if with_nla else ():
        cut = Settings(transitions=False, lock_feet=False)
        rows = [nla.NlaRow(perform(programme, settings=cut), motion.transitions_s, kind)
                for programme, motion in zip(programmes, defaults, strict=True)]
        line(label, defaults, [row.sample for row in rows])
        for row in rows:
            row.remove()
    _fits(defaults, dancer)
    _slides(body, inside[0], programmes[0], library, perform)
    _gaps(defaults[0].clips, body)


def _build(found: SkeletonMap) -> float:
    """Return how long the legs are against the way from the hips to the head."""
    joints = found.joint_of
    hips, head = found.skeleton.rest_world[[joints["l_hip"], joints["skullbase"]], :, 3]
    return measures.Body.of(found, Y_UP).leg_length / float(np.linalg.norm(head - hips))


def _programme(library: Library, names: Sequence[str]) -> Programme:
    """Write the score of some clips, each at its own pace, and look it up."""
    sources = dict.fromkeys(name.rpartition(".")[0] for name in names)
    loads = "".join(f'<load src="{src}"/>' for src in sources)

    def score(lengths_s: dict[str, float]) -> Programme:
        calls = "".join(f'<call name="{name}" duration="{lengths_s.get(name, 1.0)!r}"/>' for name in names)
        return resolve(parse(f'<pha tickLength="1">{loads}<procedure name="main">{calls}</procedure></pha>'), library)

    found = score({})
    return score({name: clip.duration_s for name, clip in zip(found.clip_names, found.clips, strict=True)})


def _inside(motion: Motion, programme: Programme, body: measures.Body, library: Library) -> Inside:
    """Measure the clips of a motion by themselves."""
    named = dict(zip(programme.clip_names, programme.clips, strict=True))
    worlds, stands, levels = [], [], []
    for name, clip in zip(motion.sequence.clips, motion.clips, strict=True):
        worlds.append(world_from_pose(clip.skeleton, clip.sample(_frames(clip), "SLERP")))
        stands.append(_own_stands(named[name], library)[0])
        levels.append(measures.Levels.of(body, worlds[-1]))
    return Inside(motion.sequence.clips, tuple(worlds), tuple(stands), tuple(levels))


def _own_stands(clip: Clip, library: Library) -> tuple[BoolArray, FloatArray]:
    """Return when the feet of a clip stand, (F, 2), and where they are, (F, 2, 3) in legs, on its own skeleton."""
    found = library.skeleton_map(clip.skeleton)
    world, up = world_from_pose(clip.skeleton, clip.sample(_frames(clip), "SLERP")), found.up(Y_UP)
    body = measures.Body.of(found, up)
    return measures.standing(found, up, world, _frames(clip)), body.positions(world, body.feet)


def _frames(clip: Clip) -> FloatArray:
    return np.arange(int(clip.duration_s * measures.FPS) + 1) / measures.FPS


def _inner_joins(body: measures.Body, inside: Inside, motion: Motion, dancer: Dancer) -> Iterator[measures.Join]:
    """Measure the clips as if each second of them had a seam; of short ones the middle."""
    for clip, world, stands, levels in zip(motion.clips, inside.worlds, inside.stands, inside.levels, strict=True):
        half = round(measures.NEAR_S * measures.FPS)
        seams = np.arange(half, len(world) - half, measures.FPS)
        for seam in seams.tolist() if len(seams) else [len(world) // 2]:
            part = slice(max(seam - half, 0), seam + half + 1)
            skin = dancer.skin(clip.sample(_frames(clip)[part], "SLERP")).min()
            yield replace(measures.measure(body, world[part], stands[part], levels), skin=float(skin))


def _joins(motion: Motion, sample: Callable[[FloatArray], Pose], inside: Inside, body: measures.Body,
           dancer: Dancer) -> Iterator[measures.Join]:
    """Measure all seams of a motion, whose layout says where they are; sample: what makes the poses."""
    layout, clip = motion.layout, _clips_of(motion, inside)
    for i, (end, begin) in enumerate(zip(layout.end_s[:-1].tolist(), layout.begin_s[1:].tolist(), strict=True)):
        times = measures.near((end + begin) / 2.0, 0.0, motion.duration_s)
        pose = sample(times)
        edges = np.unique((layout.window_begin_s[i], end, begin, layout.window_end_s[i]))
        before, after = (world_from_pose(motion.skeleton, sample(edges + side * INSTANT_S)) for side in (-1.0, 1.0))
        heading, moved = measures.jumps(body, before, after)
        join = measures.measure(body, world_from_pose(motion.skeleton, pose), _stands(motion, inside, times),
                                inside.levels[clip[i]] | inside.levels[clip[i + 1]])
        yield replace(join, heading_rad=heading, moved=moved, skin=float(dancer.skin(pose).min()))


def _stands(motion: Motion, inside: Inside, times_s: FloatArray) -> BoolArray:
    """Return whether the clip that plays at times (F,) has the feet stand, (F, 2); between clips, the nearer one."""
    layout, found, clips, sources = motion.layout, [], _clips_of(motion, inside), motion.row.sources
    for instant in times_s.tolist():
        away = np.maximum(layout.begin_s - instant, instant - layout.end_s)
        segment = int(np.argmin(np.maximum(away, 0.0)))
        own, number = inside.stands[clips[segment]], int(motion.sequence.clip[segment])
        share = (instant - layout.begin_s[segment]) / (layout.end_s[segment] - layout.begin_s[segment])
        own_s = np.clip(share, 0.0, 1.0) * sources.durations_s[number]
        if number in sources.excerpts:
            own_s = float(sources.excerpts[number].clip_times(np.array((own_s,)))[0])
        found.append(own[min(round(float(own_s) * measures.FPS), len(own) - 1)])
    return np.stack(found)


def _clips_of(motion: Motion, inside: Inside) -> IntArray:
    """Return which of the clips that were measured each segment plays, (S,)."""
    return np.array([inside.names.index(name) for name in motion.sequence.clips])[motion.sequence.clip]


def _fits(motions: Sequence[Motion], dancer: Dancer) -> None:
    """Print by how much seams cost less where clips may be left elsewhere, and how long it takes to find that."""
    playing = Playing(Settings().style, Settings().root_motion, rot.rotate(dancer.turn, Y_UP))
    for fit in (FITS["IN_PLACE"], FITS["SEARCH"], *(_wider(*each) for each in WIDER)):
        begin = time.process_time()
        found = [fit_seams(motion.sequence, list(motion.clips), fit, 1.0, dancer.found, playing)[2]
                 for motion in motions]
        took = time.process_time() - begin
        ratio = np.concatenate([quotient(cuts.found, cuts.authored)[cuts.tried > 0] for cuts in found
                                if cuts is not None])
        say(f"fit {fit.identifier}: a seam costs {np.median(ratio):.2f} times as much in the median, {ratio.min():.2f} "
            f"to {ratio.max():.2f} ({len(ratio)} seams), found in {took * 1e3 / len(ratio):.0f} ms each")


def _wider(window_s: float, share: float) -> Fit:
    return Fit(f"within {window_s:g} s, at most {share:.2f} of a clip", "", "", lambda tick_s: window_s, share)


def _slides(body: measures.Body, inside: Inside, programme: Programme, library: Library,
            perform: Callable[..., Motion]) -> None:
    """Print how far feet slide in each contact inside of the clips."""
    settings = Settings(transitions=False, root_motion="AS_AUTHORED", lock_feet=True)
    locked = perform(programme, settings=settings)
    named = dict(zip(programme.clip_names, programme.clips, strict=True))
    found: dict[str, dict[str, list[float]]] = {way: {"own": [], "here": [], "lock": []} for way in ("seen", "carried")}
    for i, clip in enumerate(locked.sequence.clip.tolist()):
        source = named[locked.sequence.clips[clip]]
        stands, own = _own_stands(source, library)
        begin, end = locked.layout.begin_s[i], locked.layout.end_s[i] - 1e-6
        held = world_from_pose(locked.skeleton, locked.sample(np.minimum(begin + _frames(source), end)))
        for name, positions in (("own", own), ("here", body.positions(inside.worlds[clip], body.feet)),
                             ("lock", body.positions(held, body.feet))):
            for way, when in (("seen", stands), ("carried", _contacts(source, library))):
                found[way][name] += [float(np.linalg.norm(run[:, None] - run[None], axis=-1).max())
                                     for foot in range(2) for a, b in runs(when[:, foot])
                                     for run in (positions[a:b, foot, :2],)]
    for way, said in (("seen", "low and slow"), ("carried", "in contacts of the clips")):
        labels = "on their own bodies", "here", "with Feet Stand"
        told = "; ".join(f"{label} {np.mean(rows) * 100.0:.1f} / {np.percentile(rows, 90.0) * 100.0:.1f}"
                         for rows, label in zip(found[way].values(), labels, strict=True))
        say(f"slide inside the clips while {said} ({len(found[way]['own'])}), mean / p90, % of the leg: {told}")


def _contacts(clip: Clip, library: Library) -> BoolArray:
    """Return when the feet of a clip stand as Takt takes it from the clip, (F, 2)."""
    meant, times = library.skeleton_map(clip.skeleton), _frames(clip)[:, None]
    found = foot_contacts(clip, meant, meant.up(Y_UP))
    spans = [found[side].ball if len(found[side].ball) else found[side].heel for side in "lr"]
    return np.stack([((times >= each[:, 0]) & (times <= each[:, 1])).any(axis=1) for each in spans], axis=1)


def _gaps(clips: Sequence[Clip], body: measures.Body) -> None:
    """Print how far what fills gaps is from the clips."""
    for frames in GAPS:
        found: dict[str, list[measures.Gap]] = {}
        for clip in clips:
            for begin in np.arange(1.0, clip.duration_s - frames / measures.FPS - 0.5, 1.0).tolist():
                for label, filled, own in _filled(clip, begin, frames):
                    found.setdefault(label, []).append(measures.gap(body, *(world_from_pose(clip.skeleton, each)
                                                                            for each in (filled, own))))
        told = "; ".join(f"{label} {np.mean([g.moved for g in gaps]) * 100.0:.2f} % of the leg, "
                         f"{np.degrees(np.mean([g.turn_rad for g in gaps])):.2f}°" for label, gaps in found.items())
        say(f"gap of {frames} frames ({len(found['slerp'])} gaps): {told}")


def _filled(clip: Clip, begin_s: float, frames: int) -> Iterator[tuple[str, Pose, Pose]]:
    """Yield what fills a gap of some frames that follows an instant of a clip, by each way, and the clip's own."""
    end_s = begin_s + (frames + 1) / measures.FPS
    times = begin_s + np.arange(1, frames + 1) / measures.FPS
    own, edges = clip.sample(times, "SLERP"), clip.sample(np.array((begin_s, end_s)), "SLERP")
    share = (np.arange(1, frames + 1) / (frames + 1))[:, None]
    yield "slerp", Pose(rot.slerp(edges.rotations[:1], edges.rotations[1:], share),
                        edges.translations[0] + (edges.translations[1] - edges.translations[0]) * share[..., None],
                        own.scales), own
    parts = (_cut(clip, max(begin_s - BESIDE_GAP_S, 0.0), begin_s),
             _cut(clip, end_s, min(end_s + BESIDE_GAP_S, clip.duration_s)))
    times = times - begin_s + parts[0].duration_s
    text = ('<pha tickLength="1"><load src="x"/><procedure name="main">'
            f'<call name="0" duration="{parts[0].duration_s!r}" transition="{end_s - begin_s!r}"/>'
            f'<call name="1" duration="{parts[1].duration_s!r}"/></procedure></pha>')
    programme = resolve(parse(text), Library(other_clips=lambda src: tuple(
        replace(part, name=str(i)) for i, part in enumerate(parts))))
    for pace in ("CARRIED", "EVEN", "EASED"):
        style = Settings(method="APPEND", pace=pace).style
        motion = compose(expand(programme), parts, style, root_motion="AS_AUTHORED", up=Y_UP)
        yield f"APPEND, {pace.lower()}", motion.sample(times), own


def _cut(clip: Clip, begin_s: float, end_s: float) -> Clip:
    """Return a part of a clip, keyed at each frame."""
    times = np.linspace(begin_s, end_s, int(np.ceil((end_s - begin_s) * measures.FPS)) + 1)
    pose, joints = clip.sample(times, "SLERP"), np.arange(len(clip.skeleton))
    return Clip(clip.name, clip.skeleton, end_s - begin_s, Tracks.uniform(joints, times - begin_s, pose.rotations),
                Tracks.uniform(joints, times - begin_s, pose.translations), Tracks.empty(3))


def _real_dancers(data: Path) -> Iterator[Dancer]:
    """Yield real bodies; none there is has longer legs than its trunk asks for, so one of them gets them."""
    for name in ("Rogue_Hooded", "mpfb_game_engine"):
        arrays = np.load(data / "bind" / f"{name}.npz")
        parents, positions = arrays["bone_parents"].astype(np.int64), arrays["bone_heads"].astype(np.float64)
        offsets = np.where(parents[:, None] >= 0, positions - positions[parents], positions)
        skeleton = Skeleton.from_arrays([str(each) for each in arrays["bone_names"]], parents,
                                        rot.identities(len(parents)), offsets, name=name)
        weights = np.zeros((len(arrays["vertices"]), len(parents)))
        np.add.at(weights, (arrays["weight_vertex"].astype(np.int64), arrays["weight_bone"].astype(np.int64)),
                  arrays["weight_value"])
        dancer = Dancer(name, find_map(skeleton), BLENDER_FROM_HANIM)
        vertices = arrays["vertices"].astype(np.float64)
        high = (vertices - vertices[weights.any(axis=1)].min(axis=0)) @ dancer.body.ground[2]
        low = (high < SOLE_LEGS) & weights.any(axis=1)
        influences = Influences.strongest(weights)
        yield replace(dancer, soles=(vertices[low], Influences.strongest(weights[low])),
                      points=SkinPoints.of(vertices, influences.joints, influences.weights))
    yield _with_legs(dancer, LONGER)


def _sample_dancers() -> Iterator[Dancer]:
    dancer = Dancer("the sample's dancer", find_map(build_skeleton()), rot.IDENTITY)
    yield from (_with_legs(dancer, SHORTER), dancer, _with_legs(dancer, LONGER))


def _with_legs(dancer: Dancer, times: float) -> Dancer:
    """Return the body, without skin, with thighs and shins so many times as long, and lifted onto its feet."""
    found, skeleton = dancer.found, dancer.found.skeleton
    moved, up = skeleton.rest_translations.copy(), rot.rotate(dancer.turn, Y_UP)
    moved[[found.joint_of[f"{side}_{part}"] for side in "lr" for part in ("knee", "ankle")]] *= times
    longer = replace(skeleton, rest_translations=moved, name=f"{skeleton.name} with other legs")
    ankle = found.joint_of["l_ankle"]
    moved = moved.copy()
    moved[skeleton.parents < 0] += ((skeleton.rest_world[ankle, :, 3] - longer.rest_world[ankle, :, 3]) @ up) * up
    longer = replace(longer, rest_translations=moved)
    return Dancer(f"{dancer.name}, legs {times:g} times as long", find_map(longer), dancer.turn)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
