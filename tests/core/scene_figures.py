"""The scene's figures, each beside its limit, of random settings on four rigs: for tests, and for dev.py bench scene.

Each of ROWS takes a seed and returns its figures. Lengths are in legs, angles in degrees.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

import numpy as np

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.feet.seats import Thighs
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import ScenePlace, Target
from takt.core.playing.scene.look import Neck
from takt.core.playing.scene.traveller import ahead_of
from takt.core.playing.scene.turned_chain import turns_of
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.scene_rigs import Rig
from takt.tests.core.scene_settings import (
    FPS,
    HANDS,
    OWN_LEG_M,
    WALKS,
    apart,
    flat,
    floor_of,
    gaps,
    held,
    jerks,
    leaning,
    own_s,
    own_skate,
    palms,
    played,
    rig_of,
    seen,
    slides,
    spot_of,
    traveller_of,
    would_do_s,
)

Figures = Mapping[str, float]
"""By what is measured."""
LIMITS: Final = {
    "stride": 1.25, "crouch": 0.15,
    "end": 0.01, "heading": 1.0, "pace": 1.25, "planted feet p90": 0.01, "skate": 1.0, "hips off path": 0.04,
    "off tangent": 12.0, "soles": 0.01, "soles p90": 0.01, "below floor": 0.01, "knees' jerk": 1.5, "hand": 0.01,
    "slip": 0.005, "off target": 5.0, "turns per s": 400.0}
LOOKS_RAD: Final = np.radians(70.0)


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

    Return the figures, and how far planted feet go, in legs. Skate is that against the clips' own.
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
    p90 = float(np.percentile(slid, 90))
    return {name: max(figure, hurried[name]) for name, figure in fitting.items()} | {
        "pace": max(pace, 1.0 / pace), "planted feet p90": p90,
        "skate": p90 * rig.leg / own_skate(rig)}, slid


def strides(seed: int) -> Figures:
    """Walk to a random place in any time; return how long steps are, and by how much both legs are bent at once.

    Against those of the same walk on flat ground; strides that are too short count as those that are too long.
    """
    rig, rng = rig_of(seed), np.random.default_rng(seed + 13000)
    legs, angle, ahead = rng.uniform(2.0, 7.0), *rng.uniform(-np.pi, np.pi, 2)
    place = rig.place(legs * rig.leg_m * np.array((np.sin(angle), 0.0, np.cos(angle))),
                      np.array((np.sin(ahead), 0.0, np.cos(ahead))))
    motion = walked(rig, place, float(legs * rng.uniform(0.25, 1.5)), faces=bool(rng.integers(4)))
    own, new = (float(np.median(np.abs(np.diff(seen(rig, each, each.layout.begin_s)[0]))[1:-1]))
                for each in (flat(rig), motion))
    return {"stride": max(new / own, own / new), "crouch": crouch(rig, motion) - crouch(rig, flat(rig))}


def crouch(rig: Rig, motion: Motion) -> float:
    """Return by how much both legs are folded at most, in legs."""
    thighs = Thighs.of(rig.map, rig.up)
    assert thighs is not None
    return float(thighs.seen(motion.sample(np.arange(0.0, motion.duration_s, 1.0 / FPS)))[1].max()) / rig.leg


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
    "to": to_place, "to, any time": strides, "at": at_place, "along": along_path, "stairs": over("stairs"),
    "slopes": over("slope"), "hills": over("hills"), "reach": reached, "reach, leaning": leant, "hold": holding,
    "look": looked}


def too_much(figures: Figures) -> Figures:
    """Return those that do not hold, none where all do."""
    return {name: figure for name, figure in figures.items() if not figure < LIMITS[name]}
