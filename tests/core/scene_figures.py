"""The scene's figures, each beside its limit, of random settings on four rigs: for tests, and for dev.py bench scene.

Each of ROWS takes a seed and returns its figures. Lengths are in legs, angles in degrees.
"""

import re
from collections.abc import Callable, Mapping
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
from takt.core.playing.scene.cast import SceneFloor, ScenePlace, Target
from takt.core.playing.scene.look import Neck
from takt.core.playing.scene.reach import Reaching
from takt.core.playing.scene.surface import Surface
from takt.core.playing.scene.traveller import Traveller, ahead_of
from takt.core.playing.scene.turned_chain import turn_chain, turns_of
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.tests.core.scene_floors import hills, slope, stairs
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scores import library

FPS: Final = 60
Figures = Mapping[str, float]
"""By what is measured."""
LIMITS: Final = {
    "end": 0.01, "heading": 1.0, "pace": 1.25, "planted feet p90": 0.01, "hips off path": 0.04, "off tangent": 12.0,
    "soles": 0.01, "soles p90": 0.01, "below floor": 0.01, "knees' jerk": 1.5, "hand": 0.01, "slip": 0.005,
    "off target": 5.0, "turns per s": 400.0}
LOOKS_RAD: Final = np.radians(70.0)
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
    return play(resolve(parse(text), CLIPS), rig.skeleton, Settings(cast=tuple(cast.items())), turn=rig.turn, up=rig.up,
                store=STORE)


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


def would_do_s(motion: Motion) -> float:
    """Return the duration that a warning says would do, 0 where there is none."""
    found = [re.search(r"about ([0-9.]+) s in all", problem.message) for problem in motion.problems]
    return next((float(each[1]) for each in found if each), 0.0)


def walked(rig: Rig, place: ScenePlace, seconds: float, *, faces: bool) -> Motion:
    """Return a walk to a place in a time, and a step after it."""
    facing = "yes" if faces else "no"
    return played(rig, f'<call name="walk" to="seat" duration="{seconds}" repeat="fit" facing="{facing}"/>'
                       '<call name="left_step" duration="1"/>', seat=place)


def arrival(rig: Rig, motion: Motion, place: ScenePlace, at_s: float, *, faces: bool) -> Figures:
    """Return how far a body is from a place at a time, and from the way that it faces."""
    traveller, (positions, angles) = traveller_of(rig, motion), seen(rig, motion, np.array((at_s,)))
    end = {"end": float(abs(positions[0] - traveller.over(place.position))) / rig.leg}
    turned = np.degrees(apart(angles, np.array(traveller.angle(place.ahead)))[0])
    return end | ({"heading": float(turned)} if faces else {})


@cache
def way_to_place(seed: int) -> tuple[Figures, FloatArray]:
    """Walk to a random place in a random time, or in the one that a warning says would do.

    Return the figures, and how far planted feet go, in legs.
    """
    rig, rng = rig_of(seed), np.random.default_rng(seed)
    legs, angle, ahead = rng.uniform(2.0, 7.0), *rng.uniform(-np.pi, np.pi, 2)
    place = rig.place(legs * rig.leg_m * np.array((np.sin(angle), 0.0, np.cos(angle))),
                      np.array((np.sin(ahead), 0.0, np.cos(ahead))))
    faces = bool(rng.integers(4))
    drawn_s = 0.6 * legs * rng.uniform(0.5, 2.0)
    motion = walked(rig, place, drawn_s, faces=faces)
    hurried, seconds = arrival(rig, motion, place, drawn_s, faces=faces), would_do_s(motion) or drawn_s
    if seconds != drawn_s:
        motion = walked(rig, place, seconds, faces=faces)
    assert not would_do_s(motion), seed
    pace = seconds / ((len(motion.sequence) - 1) * own_s(motion))
    fitting = arrival(rig, motion, place, seconds, faces=faces)
    slid = slides(rig, motion) / rig.leg
    return {name: max(figure, hurried[name]) for name, figure in fitting.items()} | {
        "pace": max(pace, 1.0 / pace), "planted feet p90": float(np.percentile(slid, 90))}, slid


def to_place(seed: int) -> Figures:
    """Return the figures of a walk to a place."""
    return way_to_place(seed)[0]


def at_place(seed: int) -> Figures:
    """Begin a call at a random place."""
    rig, rng = rig_of(seed), np.random.default_rng(seed + 9000)
    (x, z), ahead = rng.uniform(-4.0, 4.0, 2) * rig.leg_m, rng.uniform(-np.pi, np.pi)
    place = rig.place(np.array((x, 0.0, z)), np.array((np.sin(ahead), 0.0, np.cos(ahead))))
    begins_s, faces = float(rng.uniform(0.5, 3.0)), bool(rng.integers(4))
    facing = "yes" if faces else "no"
    motion = played(rig, f'<call name="left_step" duration="{begins_s}"/>'
                         f'<call name="right_step" at="seat" facing="{facing}" duration="2"/>', seat=place)
    return arrival(rig, motion, place, begins_s, faces=faces)


def along_path(seed: int) -> Figures:
    """Walk along a random arc."""
    rig, rng = rig_of(seed), np.random.default_rng(seed + 1000)
    radius, sweep = rng.uniform(1.5, 4.0) * rig.leg_m, rng.uniform(1.0, 6.0)
    begin, side = rng.uniform(-np.pi, np.pi), rng.choice((-1.0, 1.0))
    turns = begin + side * np.linspace(0.0, sweep, 200)
    middle = rng.uniform(-2.0, 2.0, 2)
    path = rig.path(np.stack((middle[0] + radius * np.cos(turns), np.zeros(200),
                              middle[1] + radius * np.sin(turns)), axis=1))
    seconds = radius / rig.leg_m * OWN_LEG_M * sweep / rng.uniform(0.2, 0.3)
    motion = played(rig, f'<call name="walk" along="lane" duration="{seconds}" repeat="fit"/>', lane=path)
    traveller = traveller_of(rig, motion)
    points = traveller.over_all(path.points)
    positions, facing = seen(rig, motion, np.linspace(0.5, seconds - 0.5, 120))
    nearest = np.abs(positions[:, None] - points).argmin(axis=1)
    centre = traveller.over(rig.point(np.array((middle[0], 0.0, middle[1]))))
    tangents = np.angle(np.gradient(points))[nearest]
    return {"hips off path": float(np.abs(np.abs(positions - centre) - radius * rig.units).max()) / rig.leg,
            "off tangent": float(np.degrees(apart(facing, tangents).max()))}


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


@cache
def over_floor(seed: int) -> tuple[str, Figures]:
    """Walk over stairs, a slope or hills; return which, and the figures."""
    rig = rig_of(seed)
    kind, floor = floor_of(rig, seed)
    motion, plain = played(rig, WALKS, stage=floor), flat(rig)
    times = np.linspace(0.0, motion.duration_s, round(motion.duration_s * FPS) + 1)
    own, wanted = gaps(motion, floor, times), gaps(plain, None, times)
    away = np.abs(own - wanted)[held(motion, times)] / rig.leg
    soles = {"soles p90": float(np.percentile(away, 90))} if kind == "hills" else {"soles": float(away.max())}
    jerk = float(np.percentile(jerks(motion, times), 95) / np.percentile(jerks(plain, times), 95))
    below = max(float(min(wanted.min(), 0.0) - own.min()), 0.0) / rig.leg
    return kind, soles | {"below floor": below, "knees' jerk": jerk}


def over(kind: str) -> Callable[[int], Figures]:
    """Return what measures floors of a kind, and nothing for seeds of others."""
    def measured(seed: int) -> Figures:
        found, figures = over_floor(seed)
        return figures if found == kind else {}

    return measured


def reached(seed: int) -> Figures:
    """Reach for what is near enough."""
    rig = rig_of(seed)
    side, spot = spot_of(rig, seed)
    cup = rig.place(spot, np.array((0.0, 0.0, 1.0)))
    motion = played(rig, HANDS.format(side=side, then='<wait duration="3"/>'), cup=cup)
    assert not [problem for problem in motion.problems if "stays" in problem.message]
    return {"hand": hand_off(rig, motion, side, cup, 3.0)}


def hand_off(rig: Rig, motion: Motion, side: str, cup: ScenePlace, at_s: float) -> float:
    """Return how far a palm is from a place."""
    return float(np.linalg.norm(palms(rig, motion, side, np.array((at_s,)))[0] - cup.position)) / rig.leg


def leant(seed: int) -> Figures:
    """Reach for what the body must lean for."""
    rig = rig_of(seed)
    side, begins_s, takes_s, cup = leaning(rig, seed)
    motion = played(rig, f'<together><lane><call name="hello" duration="8"/></lane><lane><wait duration="{begins_s}"/>'
                         f'<reach for="cup" with="{side} hand" duration="{takes_s}"/>'
                         f'<wait duration="{8.0 - begins_s - takes_s}"/></lane></together>', cup=cup)
    return {"hand": hand_off(rig, motion, side, cup, begins_s + takes_s)}


def holding(seed: int) -> Figures:
    """Hold a prop."""
    rig = rig_of(seed)
    side, spot = spot_of(rig, seed)
    cup, times = rig.place(spot, np.array((0.0, 0.0, 1.0))), np.linspace(3.0, 5.999, 60)
    motion = played(rig, HANDS.format(side=side, then=f'<hold prop="cup" with="{side} hand" duration="3"/>'), cup=cup)
    moved, palm = motion.carry("cup", times), palms(rig, motion, side, times)
    own = np.linalg.solve(moved[..., :3], (palm - moved[..., 3])[..., None])[..., 0]
    return {"slip": float(np.linalg.norm(own - own[0], axis=1).max()) / rig.leg,
            "hand": float(np.linalg.norm(own - cup.position, axis=1).max()) / rig.leg}


def looked(seed: int) -> Figures:
    """Look at something; turns that are no faster than the clip's own count as none."""
    rig, rng = rig_of(seed), np.random.default_rng(seed + 8000)
    aside, far = rng.uniform(-1.4, 1.4), rng.uniform(1.0, 6.0) * rig.leg_m
    height = rng.uniform(1.0, 2.6) * rig.leg_m
    at = np.array((far * np.sin(aside), height, far * np.cos(aside)))
    words = ('<together><lane><call name="hello" duration="8"/></lane><lane><wait duration="1"/>'
             '<look at="seat" duration="5"/><wait duration="2"/></lane></together>')
    neck = Neck.of(rig.map, ahead_of(rig.map, rig.turn))
    assert neck is not None
    times = np.arange(0.0, 8.0, 1.0 / FPS)
    looking, own = (world_from_pose(rig.skeleton, played(rig, words, **cast).sample(times)) for cast in (
        {"seat": rig.place(at, np.array((0.0, 0.0, 1.0)))}, dict[str, Target]()))
    looks, way = (times > 1.5) & (times < 5.9), rig.point(at) - looking[:, neck.chain[-1], :, 3]
    way /= np.linalg.norm(way, axis=1)[:, None]
    faces = [rot.rotate(turns_of(each[:, joint]), ahead) for each, joint, ahead in (
        (looking, neck.chain[-1], neck.ahead), (own, neck.chest, neck.chest_ahead))]
    head, chest = (np.arccos(np.clip(np.sum(each * way, axis=1), -1.0, 1.0)) for each in faces)
    turned, before = (rot.angle_between(*(turns_of(each[frames, neck.chain[-1]]) for frames in (
        slice(1, None), slice(-1)))) * FPS for each in (looking, own))
    off = head[looks & (chest < LOOKS_RAD)].max(initial=0.0)
    return {"off target": float(np.degrees(off)),
            "turns per s": float(np.degrees(turned.max())) if turned.max() > 1.05 * before.max() else 0.0}


ROWS: Final[dict[str, Callable[[int], Figures]]] = {
    "to": to_place, "at": at_place, "along": along_path, "stairs": over("stairs"), "slopes": over("slope"),
    "hills": over("hills"), "reach": reached, "reach, leaning": leant, "hold": holding, "look": looked}


def too_much(figures: Figures) -> Figures:
    """Return those that do not hold, none where all do."""
    return {name: figure for name, figure in figures.items() if not figure < LIMITS[name]}
