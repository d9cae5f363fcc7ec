"""Random settings of scenes on four rigs: what is played, and how it is measured."""

import re
from functools import cache
from typing import Any, Final

import numpy as np

from takt.core.library.store import ClipStore
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.feet.footholds import ground_axes
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import SceneFloor, ScenePlace, Target
from takt.core.playing.scene.reach import Reaching
from takt.core.playing.scene.surface import Surface
from takt.core.playing.scene.traveller import Traveller, ahead_of
from takt.core.playing.scene.turned_chain import turn_chain
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.tests.core.scene_floors import hills, slope, stairs
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scores import library

FPS: Final = 60
OWN_LEG_M: Final = 0.825
"""Of the character whose the clips are."""
CLIPS = library(feet_Steps=tuple(build_clips("feet/Steps.skeleton.xml")),
                gestures_Greetings=tuple(build_clips("gestures/Greetings.skeleton.xml")))
STORE = ClipStore()
ROLES = ('<role name="seat" is="place"/><role name="lane" is="path"/><role name="stage" is="floor"/>'
         '<role name="cup" is="prop"/>')
HANDS = ('<together><lane><call name="hello" duration="8"/></lane><lane><wait duration="1"/>'
         '<reach for="cup" with="{side} hand" duration="2"/>{then}<wait duration="2"/></lane></together>')
WALKS = '<call name="walk" duration="8" repeat="3"/>'


def rig_of(seed: int) -> Rig:
    return FOUR[seed % len(FOUR)]


def played(rig: Rig, inside: str, **cast: Target) -> Motion:
    text = (f'<pha version="2" tickLength="1"><load src="feet.Steps"/><load src="gestures.Greetings"/>{ROLES}'
            '<procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/>'
            f'</procedure><procedure name="main">{inside}</procedure></pha>')
    return play(resolve(parse(text), CLIPS), Performer(rig.skeleton, rig.up, rig.turn),
                Settings(cast=tuple(cast.items())), store=STORE)


@cache
def flat(rig: Rig) -> Motion:
    return played(rig, WALKS)


def traveller_of(rig: Rig, motion: Motion) -> Traveller:
    found = Traveller.of(motion.row.sources.clips, rig.up, np.zeros(0, dtype=np.int64), rig.map,
                         ahead_of(rig.map, rig.turn))
    assert found is not None
    return found


def seen(rig: Rig, motion: Motion, times_s: FloatArray) -> tuple[Any, FloatArray]:
    """Return where hips are over the ground, complex (F,), and the angles at which the body faces, (F,)."""
    pose, traveller = motion.sample(times_s), traveller_of(rig, motion)
    _, facing = traveller.seen(pose)
    hips = world_from_pose(rig.skeleton, pose)[:, rig.joint("HumanoidRoot"), :, 3]
    return traveller.bearing.over_ground(hips), facing


def own_s(motion: Motion) -> float:
    """Return how long the steps of a motion last by themselves, on average."""
    return float(np.mean([motion.clips[clip].duration_s for clip in motion.sequence.clip.tolist()]))


def apart(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(np.abs((one - other + np.pi) % (2.0 * np.pi) - np.pi))


def slides(rig: Rig, motion: Motion) -> FloatArray:
    """Return how far planted feet go from the middle of where they are held, over the ground, each held once."""
    assert motion.feet is not None
    lock, found = motion.feet.lock, list[float]()
    times = np.arange(0.0, motion.duration_s, 1.0 / FPS)
    feet = lock.limbs(motion.sample(times))[0][3, ..., :2, 3]
    for leg in range(len(lock.legs)):
        for begin, end in lock.footholds.spans_s(leg).tolist():
            held = feet[leg, (times >= begin) & (times <= end)]
            found += [float(np.linalg.norm(held - held.mean(axis=0), axis=1).max())] if len(held) else []
    return np.array(found)


@cache
def own_skate(rig: Rig) -> float:
    """Return how far feet slide inside the clips of a walk while they are to stay, the 90th percentile.

    Before anything holds them, from the end of each transition to the beginning of the next.
    """
    motion = flat(rig)
    assert motion.feet is not None
    lock, layout, found = motion.feet.lock, motion.row.layout, list[float]()
    times = np.arange(0.0, motion.duration_s, 1.0 / FPS)
    feet = lock.limbs(motion.feet.below.sample(times))[0][3, ..., :2, 3]
    begins, ends = np.append(0.0, layout.window_end_s[:-1]), layout.window_begin_s
    for leg in range(len(lock.legs)):
        for begin, end in lock.footholds.spans_s(leg).tolist():
            for inside in ((times >= np.maximum(begin, begins)[:, None]) & (times <= np.minimum(end, ends)[:, None])):
                held = feet[leg, inside]
                found += [float(np.linalg.norm(held - held.mean(axis=0), axis=1).max())] if len(held) > 2 else []
    return float(np.percentile(found, 90))


def would_do_s(motion: Motion) -> float:
    """Return the duration that a warning says would do, 0 where there is none."""
    found = [re.search(r"about ([0-9.]+) s in all", problem.message) for problem in motion.problems]
    return next((float(each[1]) for each in found if each), 0.0)


def spot_of(rig: Rig, seed: int) -> tuple[str, FloatArray]:
    """Return a hand, and a position within its reach: before the body, at most so far as nine tenths of the arm."""
    rng = np.random.default_rng(seed + 2000)
    side = ("right", "left")[int(rng.integers(2))]
    shoulder = rot.rotate(rot.conjugate(rig.turn), rig.skeleton.rest_world[rig.joint(f"{side[0]}_shoulder"), :, 3])
    out, high, ahead = rng.uniform(-0.35, 0.6), rng.uniform(-0.5, 0.35), rng.uniform(0.3, 1.0)
    way = np.array((out * (1.0 if side == "left" else -1.0), high, ahead))
    far = rng.uniform(0.5, 0.9) * rig.arm
    return side, (shoulder + far * way / np.linalg.norm(way)) / rig.units


def palms(rig: Rig, motion: Motion, side: str, times_s: FloatArray) -> FloatArray:
    reaching = Reaching.of(rig.map, side[0])
    assert reaching is not None
    return reaching.palms(world_from_pose(rig.skeleton, motion.sample(times_s)))


def leaning(rig: Rig, seed: int) -> tuple[str, float, float, ScenePlace]:
    """Return a hand, when it begins and when it is there, and where its palm comes if the body leans by chance.

    By at most 40 degrees, with an arm that is not stretched, to the front or to its own side: so it can be reached.
    """
    rng = np.random.default_rng(seed + 4000)
    side, begins_s, takes_s = ("right", "left")[int(rng.integers(2))], rng.uniform(0.2, 2.0), rng.uniform(0.5, 3.0)
    reaching = Reaching.of(rig.map, side[0])
    assert reaching is not None
    pose = played(rig, '<call name="hello" duration="8"/>').sample(np.array((begins_s + takes_s,)))
    aside = rng.uniform(-0.3, 1.0) * (1.0 if side == "left" else -1.0)
    way = rot.rotate(rig.turn, np.array((np.sin(aside), 0.0, np.cos(aside))))
    turns = rng.uniform(0.0, np.radians(40.0)) * np.cross(rig.up, way)[None]
    turn_chain(rig.skeleton, pose, world_from_pose(rig.skeleton, pose), reaching.spine,
               np.full(len(reaching.spine), 1.0 / len(reaching.spine)), turns)
    world = world_from_pose(rig.skeleton, pose)
    shoulder, wrist = (world[0, joint, :, 3] for joint in (reaching.limb.first, reaching.limb.last))
    at = way - rng.uniform(0.0, 0.8) * rig.up
    palm = shoulder + rng.uniform(0.6, 0.94) * rig.arm * at / np.linalg.norm(at) + reaching.palms(world)[0] - wrist
    x, y, z = palm.tolist()
    return side, float(begins_s), float(takes_s), ScenePlace((x, y, z), (1.0, 0.0, 0.0))


def floor_of(rig: Rig, seed: int) -> tuple[str, SceneFloor]:
    """Return stairs of 10 to 22 cm for a leg of the sample's, up or down, a slope, or hills, as large as the rig is."""
    rng, size = np.random.default_rng(seed + 3000), rig.leg_m / OWN_LEG_M
    kind = ("stairs", "slope", "hills")[seed // len(FOUR) % 3]
    if kind == "stairs":
        floor = stairs(rng.choice((-1.0, 1.0)) * rng.uniform(0.1, 0.22, 24), float(rng.uniform(0.28, 0.34)))
    elif kind == "slope":
        steep, angle = np.tan(np.radians(rng.uniform(5.0, 25.0))), rng.uniform(-np.pi, np.pi)
        floor = slope(float(steep * np.cos(angle)), float(steep * np.sin(angle)))
    else:
        floor = hills(rng)
    return kind, rig.floor(SceneFloor(size * floor.points, floor.triangles))


def gaps(motion: Motion, floor: SceneFloor | None, times_s: FloatArray) -> FloatArray:
    """Return how high the lowest point of each sole is over the floor, (L, F), or over flat ground."""
    feet = motion.feet
    assert feet is not None
    soles = feet.lock.soles.positions(*feet.lock.limbs(motion.sample(times_s))[0][1:])
    if floor is None:
        return np.asarray(soles[..., 2].min(axis=2))
    below = Surface.of((floor,), ground_axes(feet.up)).below(soles[..., :2]).heights
    return np.asarray((soles[..., 2] - np.where(np.isnan(below), 0.0, below)).min(axis=2))


def held(motion: Motion, times_s: FloatArray) -> BoolArray:
    """Return when feet are planted, (L, F)."""
    feet = motion.feet
    assert feet is not None
    return np.array([((times_s >= spans[:, :1]) & (times_s <= spans[:, 1:])).any(axis=0)
                     for spans in (feet.lock.footholds.spans_s(leg) for leg in range(2))])


def jerks(motion: Motion, times_s: FloatArray) -> FloatArray:
    """Return how jerkily knees move, (L, F - 3), by differences of positions."""
    assert motion.feet is not None
    knees = motion.feet.lock.limbs(motion.sample(times_s))[0][1, ..., :3, 3]
    return np.asarray(np.linalg.norm(np.diff(knees, n=3, axis=1), axis=2))
