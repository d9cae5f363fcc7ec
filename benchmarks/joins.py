"""What becomes of hips, hands and feet where one clip becomes the next.

dev.py bench joins plays ten clips of different files in four random orders (seeded), each at its own pace, on three
bodies: with legs about half as long as the clips' own bodies have, as usual, and half as long again. For all seams it
prints the table of join_measures.py, which defines the columns, with a line for
  inside     the clips themselves on these bodies, away from seams
  …          each transition method with default settings otherwise, feet as authored and Foot Lock
  Fit: …     the default method where clips are left at instants that fit better; below the table at which cost, beside
             searches over less of the clips, and over more than can be passed over
  NLA        Blender's, over the same times (nla.py), evaluated as a bake does
then how far feet slide inside of the clips, in each contact: on the clips' own bodies, retargeted, and with Foot Lock;
once while they look planted on the clips' own bodies (low and slow), once in the contacts that Takt takes from clips;
then the gap test: frames are left out of each clip and filled by a transition of that length (the methods that play
between clips can do that), beside slerp (rotations) with straight lines (positions of roots).

The folder of data is that which TAKT_DATA names; where it is not there, samples are measured instead. --orders N plays
fewer orders, --body one of the bodies, --legs N the usual one with legs so many times as long, --methods some of the
methods, --no-nla leaves out Blender's, whose frames take long. Clips are put on the ground by the skin of bodies that
have one, and hands keep their contacts, as in Blender; --no-skin does it by joints alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np

import takt
from takt.bridge.files import clips as blender_clips
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import foot_contacts
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray, quotient, runs
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.playing.fit import FITS, MOST_SKIPPED, Fit, fit_seams
from takt.core.playing.motion import Motion, compose
from takt.core.playing.playing import Playing
from takt.core.playing.score import Settings
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.samples.clip_files import LIBRARY
from takt.tests.beside import DATA

from . import join_measures as measures
from . import nla
from .join_bodies import LEG, Y_UP, Dancer, build_of, real_dancers, sample_dancers, with_limbs
from .join_seams import Inside, frames_of, inner_joins, inside_of, joins_of, own_stands, performing, score_of
from .timing import say

SEED, ORDERS = 12, 4
GAPS = (5, 15)
BESIDE_GAP_S = 1.0
"""So much of a clip is played before and after a gap."""
WIDER = (0.5, MOST_SKIPPED), (1.0, 0.5), (2.0, MOST_SKIPPED)
"""Seconds and shares of clips that are searched, too: fewer, and more than may be lost."""
REAL_CLIPS = ("clips.bow.bow", "clips.cmu_01_01.cmu_01_01", "clips.dance_body_roll.dance_body_roll",
              "clips.dance_charleston.dance_charleston", "clips.dance_reach_hip.dance_reach_hip",
              "clips.jumping_jacks.jumping_jacks", "clips.victory.victory",
              "characters.KayKit_Rogue_Hooded.Walking_A", "characters.Quaternius_Male_Casual.Man_Idle",
              "ogre.Sinbad.Dance")
SAMPLE_CLIPS = ("feet.Steps.left_step", "feet.Steps.quarter_left", "feet.Steps.side_step_right",
                "dance.Moves.kick_left", "dance.Moves.squat", "dance.Moves.sway", "dance.Moves.disco",
                "gestures.Greetings.bow", "gestures.Greetings.wave", "gestures.Greetings.hello")


def main(arguments: list[str]) -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="bench joins")
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--body", default="", help="only the body of this name")
    parser.add_argument("--legs", type=float, help="only the usual body, with legs so many times as long")
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
    library = Library([DATA if is_real else LIBRARY], reading=Reading(
        ".bvh" if is_real else "", blender_clips.formats()))
    rng = np.random.default_rng(SEED)
    programmes = [score_of(library, [names[i] for i in rng.permutation(len(names))]) for _ in range(options.orders)]
    dancers = list(real_dancers(DATA) if is_real else sample_dancers())
    if options.legs is not None:
        dancers = [with_limbs(dancers[1], LEG, options.legs)]
    for dancer in dancers:
        if options.body in ("", dancer.name):
            own = replace(dancer, points=None) if options.no_skin else dancer
            _measure(own, programmes, library, options.methods, not options.no_nla)
    return 0


def _measure(dancer: Dancer, programmes: Sequence[Programme], library: Library, methods: Sequence[str],
             with_nla: bool) -> None:
    body = dancer.body
    perform = performing(dancer, library)
    defaults = [perform(programme, settings=Settings(keep_contacts=True)) for programme in programmes]
    inside = [inside_of(motion, programme, body, library)
              for motion, programme in zip(defaults, programmes, strict=True)]
    build = np.mean([build_of(library.skeleton_map(clip.skeleton)) for clip in programmes[0].clips])
    seams = sum(len(motion.sequence) - 1 for motion in defaults)
    sys.stdout.write(f"\n{dancer.name}: legs {build_of(dancer.found) / build:.2f} times as long against the trunk as "
                     f"the clips' own bodies have them; {seams} seams\n{measures.HEADINGS}")
    own = [join for each in inside[:1] for join in inner_joins(body, each, defaults[0], dancer)]
    skate = float(np.mean([join.skate for join in own]))
    say(measures.row("inside the clips", own))

    def line(label: str, motions: Sequence[Motion], samples: Sequence[Callable[[FloatArray], Pose]]) -> None:
        say(measures.row(label, [join for motion, sample, each in zip(motions, samples, inside, strict=True)
                                 for join in joins_of(motion, sample, each, body, dancer)], skate))

    for method, lock in ((method, lock) for method in methods for lock in (False, True)):
        settings = Settings(method=method, curve="LINEAR" if method == "LEAD" else "COSINE", lock_feet=lock,
                            keep_contacts=True)
        motions = [perform(programme, settings=settings) for programme in programmes]
        line(f"{method}, {settings.curve.lower()}{', Foot Lock' if lock else ''}", motions,
             [motion.sample for motion in motions])
    for fit in ("IN_PLACE", "SEARCH"):
        motions = [perform(programme, settings=Settings(fit=fit, keep_contacts=True)) for programme in programmes]
        line(f"Fit: {FITS[fit].label}, Foot Lock", motions, [motion.sample for motion in motions])
    for kind, label in nla.KINDS.items() if with_nla else ():
        cut = Settings(transitions=False, lock_feet=False, keep_contacts=True)
        rows = [nla.NlaRow(perform(programme, settings=cut), motion.transitions_s, kind)
                for programme, motion in zip(programmes, defaults, strict=True)]
        line(label, defaults, [row.sample for row in rows])
        for row in rows:
            row.remove()
    tell_fits(defaults, dancer)
    _slides(body, inside[0], programmes[0], library, perform)
    _gaps(defaults[0].clips, body)


def tell_fits(motions: Sequence[Motion], dancer: Dancer) -> None:
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
    settings = Settings(transitions=False, root_motion="AS_AUTHORED", lock_feet=True, keep_contacts=True)
    locked = perform(programme, settings=settings)
    named = dict(zip(programme.clip_names, programme.clips, strict=True))
    found: dict[str, dict[str, list[float]]] = {way: {"own": [], "here": [], "lock": []} for way in ("seen", "carried")}
    for i, clip in enumerate(locked.sequence.clip.tolist()):
        source = named[locked.sequence.clips[clip]]
        stands, own = own_stands(source, library)
        begin, end = locked.layout.begin_s[i], locked.layout.end_s[i] - 1e-6
        held = world_from_pose(locked.skeleton, locked.sample(np.minimum(begin + frames_of(source), end)))
        for name, positions in (("own", own), ("here", body.positions(inside.worlds[clip], body.feet)),
                             ("lock", body.positions(held, body.feet))):
            for way, when in (("seen", stands), ("carried", _contacts(source, library))):
                found[way][name] += [float(np.linalg.norm(run[:, None] - run[None], axis=-1).max())
                                     for foot in range(2) for a, b in runs(when[:, foot])
                                     for run in (positions[a:b, foot, :2],)]
    for way, said in (("seen", "low and slow"), ("carried", "in contacts of the clips")):
        labels = "on their own bodies", "here", "with Foot Lock"
        told = "; ".join(f"{label} {np.mean(rows) * 100.0:.1f} / {np.percentile(rows, 90.0) * 100.0:.1f}"
                         for rows, label in zip(found[way].values(), labels, strict=True))
        say(f"slide inside the clips while {said} ({len(found[way]['own'])}), mean / p90, % of the leg: {told}")


def _contacts(clip: Clip, library: Library) -> BoolArray:
    """Return when the feet of a clip stand as Takt takes it from the clip, (F, 2)."""
    meant, times = library.skeleton_map(clip.skeleton), frames_of(clip)[:, None]
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
        motion = compose(expand(programme), parts, Playing(style, "AS_AUTHORED", Y_UP))
        yield f"APPEND, {pace.lower()}", motion.sample(times), own


def _cut(clip: Clip, begin_s: float, end_s: float) -> Clip:
    """Return a part of a clip, keyed at each frame."""
    times = np.linspace(begin_s, end_s, int(np.ceil((end_s - begin_s) * measures.FPS)) + 1)
    pose, joints = clip.sample(times, "SLERP"), np.arange(len(clip.skeleton))
    return Clip(clip.name, clip.skeleton, end_s - begin_s, Tracks.uniform(joints, times - begin_s, pose.rotations),
                Tracks.uniform(joints, times - begin_s, pose.translations), Tracks.empty(3))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
