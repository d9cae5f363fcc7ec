"""Props that hands hold: they go with the hand, lie where it leaves them, and go from hand to hand."""

import os
from random import Random

import numpy as np
import pytest

from takt.core.errors import ScoreError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.aimed import Aimed
from takt.core.playing.scene.carried import TimedHold
from takt.core.playing.scene.cast import Moving, ScenePath, ScenePlace, Target, touched_at
from takt.core.playing.scene.reach import Reaching
from takt.core.playing.score import Settings, play
from takt.core.playing.stage import Over
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.seeds import few, seeds
from takt.tests.core.test_scene_aims import CLIPS, HELLO, off_rad

SETTINGS = int(os.environ.get("TAKT_SCENE_SETTINGS", "40"))
"""40 seeds are each kind of what hands do next, with each size and side, once."""
UP = np.array((0.0, 1.0, 0.0))
ROLES = ('<role name="cup" is="prop"/><role name="ball" is="prop"/><role name="table" is="place"/>'
         '<role name="her" is="person"/>')
RIGHT = ('<lane><wait duration="1"/><reach for="cup" with="right hand" duration="2"/>'
         '<hold prop="cup" with="right hand" duration="3"/><wait duration="2"/></lane>')
SIZES = (1.0, 0.6, 1.3, 100.0)
"""Of four rigs, to that of the sample character."""
LEG_M, FASTEST = 0.825, 15.0
"""In metres; legs per second that a hand goes at most, from one thing to the next."""


def body_of(size: float) -> Skeleton:
    own = build_skeleton()
    return Skeleton.from_arrays(own.names, own.parents, own.rest_rotations, size * own.rest_translations)


BODIES = {size: body_of(size) for size in SIZES}


def programme(*lanes: str, tempo: str = "") -> Programme:
    text = (f'<pha version="2" tickLength="1"><load src="gestures.Greetings"/>{tempo}{ROLES}<procedure name="main">'
            f'<together>{HELLO}{"".join(lanes)}</together></procedure></pha>')
    return resolve(parse(text), CLIPS)


def played(score: Programme, size: float = 1.0, **cast: tuple[float, float, float]) -> Motion:
    placed: dict[str, Target] = {name: ScenePlace(at, (0.0, 0.0, 1.0)) for name, at in cast.items()}
    return play(score, Performer(BODIES[size], UP), Settings(cast=tuple(placed.items())))


def palms(motion: Motion, side: str, times_s: FloatArray) -> FloatArray:
    reaching = Reaching.of(find_map(motion.skeleton), side)
    assert reaching is not None
    return reaching.palms(world_from_pose(motion.skeleton, motion.sample(times_s)))


def where(motion: Motion, role: str, lies: tuple[float, float, float], times_s: FloatArray) -> FloatArray:
    """Return where a prop is, (F, 3), that lies somewhere at first."""
    moved = motion.carry(role, times_s)
    return np.asarray(moved[..., :3] @ np.array(lies) + moved[..., 3])


def spot(seed: int, side: str = "right") -> tuple[float, float, float]:
    rng = np.random.default_rng(seed)
    sign = 1.0 if side == "left" else -1.0
    return sign * float(rng.uniform(-0.1, 0.4)), float(rng.uniform(0.8, 1.5)), float(rng.uniform(0.2, 0.45))


def scaled(point: tuple[float, float, float], size: float) -> tuple[float, float, float]:
    x, y, z = point
    return size * x, size * y, size * z


@pytest.mark.parametrize("seed", seeds(SETTINGS, quick=3))
def test_a_prop_goes_with_the_hand_and_lies_where_that_leaves_it(seed: int) -> None:
    size, side = SIZES[seed % 4], ("right", "left")[seed // 4 % 2]
    cup, near = scaled(spot(seed, side), size), 0.005 * LEG_M * size
    motion = played(programme(RIGHT.replace("right", side)), size, cup=cup)
    assert not [problem for problem in motion.problems if "hand stays" in problem.message]
    before, holds, after = (np.linspace(*span, 12) for span in ((0.0, 2.999), (3.0, 5.999), (6.0, 8.0)))
    np.testing.assert_allclose(where(motion, "cup", cup, before), np.tile(cup, (12, 1)), atol=1e-9 * size)
    held, palm = where(motion, "cup", cup, holds), palms(motion, side[0], holds)
    assert np.linalg.norm(held - palm, axis=1).max() < near
    assert np.linalg.norm(held[-1] - held[0]) > 0.05 * size  # the hand goes back to what else it does
    left = where(motion, "cup", cup, after)
    assert np.linalg.norm(left - palms(motion, side[0], np.array((6.0,))), axis=1).max() < near
    turned = motion.carry("cup", np.array((3.0, 5.0)))[:, :, :3]
    assert np.linalg.det(turned) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_a_hand_without_reach_comes_in_time_by_itself(seed: int) -> None:
    cup = spot(seed)
    motion = played(programme(RIGHT.replace('<reach for="cup" with="right hand" duration="2"/>',
                                            '<wait duration="2"/>')), cup=cup)
    assert np.linalg.norm(palms(motion, "r", np.array((3.0,))) - cup) < 0.01 * LEG_M
    times = np.arange(2.4, 4.0, 1.0 / 60.0)
    assert np.linalg.norm(np.diff(palms(motion, "r", times), axis=0), axis=1).max() < 3.0 / 60.0 * 2.0


@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_a_hand_puts_a_prop_down_at_a_place_and_takes_it_up_again(seed: int) -> None:
    cup, table = spot(seed), spot(seed + 100)
    down = '<lane><wait duration="4"/><reach for="table" with="right hand" duration="2"/><wait duration="2"/></lane>'
    again = '<lane><wait duration="7"/><hold prop="cup" with="right hand" duration="1"/></lane>'
    motion = played(programme(RIGHT, down, again), cup=cup, table=table)
    assert np.linalg.norm(where(motion, "cup", cup, np.array((6.0, 6.9))) - table, axis=1).max() < 0.01 * LEG_M
    assert np.linalg.norm(palms(motion, "r", np.array((7.0,))) - table) < 0.01 * LEG_M
    times = np.linspace(7.0, 7.99, 9)
    assert np.linalg.norm(where(motion, "cup", cup, times) - palms(motion, "r", times), axis=1).max() < 0.01 * LEG_M


@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_a_prop_stands_where_it_is_put_down_as_it_stood_before(seed: int) -> None:
    """If the hand need not turn by more than 60° for that."""
    cup, table = spot(seed), spot(seed + 100)
    down = ('<lane><wait duration="4"/><reach for="table" with="right hand" duration="1.5" hold="0.5"/>'
            '<wait duration="2"/></lane>')
    motion = played(programme(RIGHT, down), cup=cup, table=table)
    above = (cup[0], cup[1] + 1.0, cup[2])

    def tilts(times: FloatArray) -> FloatArray:
        up = where(motion, "cup", above, times) - where(motion, "cup", cup, times)
        return np.asarray(np.degrees(np.arccos(np.clip(up @ UP, -1.0, 1.0))))

    assert tilts(np.array((5.6, 5.99, 6.0, 7.5))).max() < 1.0
    fine = np.arange(3.0, 6.5, 1.0 / 120.0)
    assert np.abs(np.diff(tilts(fine))).max() * 120.0 < 360.0


@pytest.mark.parametrize(("reach_s", "said"), [
    ((2, 1), ""),
    ((1, 1), ""),
    ((1, 0.8), "has left 'table', so 'cup' stays in the air: end the hold 0.20 s earlier"),
    ((1, 0.5), "has left 'table', so 'cup' stays in the air: end the hold 0.50 s earlier"),
    ((2.5, 0), "is still on its way to 'table', so 'cup' stays in the air: end the hold 0.50 s later"),
    ((0.5, 0), "")])
def test_a_hold_that_ends_on_the_way_says_when_the_hand_is_there(reach_s: tuple[float, float], said: str) -> None:
    """Half a second after the reach the hand is back."""
    lasts, stays = reach_s
    reach = (f'<lane><wait duration="4"/><reach for="table" with="right hand" duration="{lasts}" hold="{stays}"/>'
             f'<wait duration="{4.0 - lasts - stays}"/></lane>')
    motion = played(programme(RIGHT, reach), cup=spot(3), table=spot(103))
    told = [problem.message for problem in motion.problems if "in the air" in problem.message]
    assert len(told) == bool(said) and all(f"<hold> at 6.00 s the hand {said}" in each for each in told)


def in_the_other(motion: Motion, times_s: FloatArray) -> FloatArray:
    """Return where the left palm is in a cup's own axes, (F, 3)."""
    moved, palm = motion.carry("cup", times_s), palms(motion, "l", times_s)
    return np.asarray(np.linalg.solve(moved[..., :3], (palm - moved[..., 3])[..., None])[..., 0])


@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_two_hands_hold_one_prop_and_it_goes_on_with_the_one_that_stays(seed: int) -> None:
    cup, table = spot(seed), (0.1 * spot(seed)[0], 0.4 + 0.5 * spot(seed + 100)[1], 0.25)
    ahead = ('<lane><wait duration="3"/><reach for="table" with="right hand" duration="1" hold="2"/>'
             '<wait duration="2"/></lane>')
    second = '<lane><wait duration="4"/><hold prop="cup" with="left hand" duration="3"/><wait duration="1"/></lane>'
    motion = played(programme(RIGHT, ahead, second), cup=cup, table=table)
    assert not [problem for problem in motion.problems if "hand stays" in problem.message]
    both = np.linspace(4.0, 5.999, 20)
    grip = in_the_other(motion, both)
    assert np.linalg.norm(grip - grip[0], axis=1).max() < 0.01 * LEG_M
    assert 0.02 < np.linalg.norm(grip[0] - cup) < 0.2  # beside the other hand, not in it
    times = np.linspace(6.0, 6.999, 9)
    np.testing.assert_allclose(in_the_other(motion, times), grip[:1].repeat(9, axis=0), atol=0.01 * LEG_M)
    steps = np.linalg.norm(np.diff(where(motion, "cup", cup, np.arange(3.0, 7.5, 1.0 / 60.0)), axis=0), axis=1)
    assert steps.max() < 0.06


def test_a_head_looks_at_a_cup_that_is_carried() -> None:
    cup, table = (0.1, 1.1, 0.4), (-0.45, 1.2, 0.25)
    look = '<lane body="head"><wait duration="1"/><look at="cup" duration="6"/><wait duration="1"/></lane>'
    aside = ('<lane><wait duration="3"/><reach for="table" with="right hand" duration="1" hold="2"/>'
             '<wait duration="2"/></lane>')
    motion = played(programme(RIGHT, aside, look), cup=cup, table=table)
    times = np.array((2.9, 5.5))
    world = world_from_pose(motion.skeleton, motion.sample(times))
    for frame, at in zip(world, where(motion, "cup", cup, times).tolist(), strict=True):
        assert off_rad(frame[None], (at[0], at[1], at[2]))[0] < np.radians(5.0)


def test_what_is_too_far_away_stays_where_it_is() -> None:
    cup = -0.2, 1.1, 3.0
    for score in (programme(RIGHT), programme(RIGHT.replace("<reach for=\"cup\"", "<reach for=\"table\""))):
        motion = played(score, cup=cup, table=(-0.2, 1.1, 4.0))
        problem = next(each for each in motion.problems if each.message.startswith("<hold>"))
        assert problem.message.startswith("<hold> at 3.00 s the hand stays ")
        assert "the hand does not hold 'cup'" in problem.message
        assert problem.place.line == 1 and not motion.carried
    assert played(programme(RIGHT), cup=(-0.2, 1.1, 0.3)).carried


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_hand_closes_around_what_it_holds_and_opens(side: str) -> None:
    motion, plain = (played(programme(RIGHT.replace("right", side)), cup=cup) for cup in (
        spot(1, side), (0.0, 1.1, 4.0)))
    tips = [motion.skeleton.index_of[f"{side[0]}_{finger}3"] for finger in ("index", "middle", "ring", "pinky")]

    def to_palm(of: Motion, times_s: FloatArray) -> FloatArray:
        """Return how far fingertips are from the palm, (F, 4)."""
        world = world_from_pose(of.skeleton, of.sample(times_s))
        return np.asarray(np.linalg.norm(world[..., 3][:, tips] - palms(of, side[0], times_s)[:, None], axis=2))

    times = np.linspace(3.0, 6.0, 7)
    assert (to_palm(motion, times) < 0.9 * to_palm(plain, times)).all()
    away = np.array((2.6, 6.4))
    np.testing.assert_allclose(to_palm(motion, away), to_palm(plain, away), atol=1e-9)
    wrist = motion.skeleton.index_of[f"{side[0]}_wrist"]
    frames = np.linspace(3.0, 5.9, 9)
    own = np.linalg.inv(world_from_pose(motion.skeleton, motion.sample(frames))[:, wrist, :, :3])
    world = world_from_pose(motion.skeleton, motion.sample(frames))
    inwards = np.einsum("fij,fkj->fki", own, world[..., 3][:, tips] - world[:, wrist, None, :, 3])
    rest = motion.skeleton.rest_world
    out = rest[tips][..., 3] - rest[wrist, :, 3]
    facing = np.cross(rest[tips[0], :, 3] - rest[wrist, :, 3], rest[tips[3], :, 3] - rest[wrist, :, 3])
    palm = facing if side == "right" else -facing  # from the wrist, the index finger is on the thumb's side
    assert ((inwards - np.linalg.solve(rest[wrist, :, :3], out.T).T) @ np.linalg.solve(rest[wrist, :, :3], palm) > 0.0
            ).all()


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("size", few(SIZES))
def test_the_thumb_comes_to_the_fingers_on_their_palm_side(side: str, size: float) -> None:
    motion, plain = (played(programme(RIGHT.replace("right", side)), size, cup=cup) for cup in (
        scaled(spot(1, side), size), (0.0, 1.1, 4.0 * size)))
    thumb, tips = motion.skeleton.index_of[f"{side[0]}_thumb3"], [
        motion.skeleton.index_of[f"{side[0]}_{finger}3"] for finger in ("index", "middle", "ring", "pinky")]
    times = np.linspace(3.3, 5.7, 5)
    near, far = (np.linalg.norm(world[:, thumb] - world[:, tips].mean(axis=1), axis=1) for world in (
        world_from_pose(each.skeleton, each.sample(times))[..., 3] for each in (motion, plain)))
    assert (near < 0.75 * far).all()
    turned = rot.angle_between(plain.sample(times).rotations[:, thumb], motion.sample(times).rotations[:, thumb])
    assert np.degrees(turned).min() > 5.0 and np.degrees(turned).max() < 60.0
    away = np.array((2.6, 6.4))
    one, other = (each.sample(away).rotations[:, thumb] for each in (motion, plain))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_tempo_that_changes_moves_props_by_the_clock() -> None:
    cup = -0.2, 1.1, 0.35
    motion = played(programme(RIGHT, tempo='<tempo tick="2" tickLength="2"/>'), cup=cup)
    assert motion.shown(np.array((3.0, 6.0))).tolist() == [4.0, 10.0]
    times = np.linspace(4.0, 9.99, 9)
    assert np.linalg.norm(where(motion, "cup", cup, times) - palms(motion, "r", times), axis=1).max() < 0.005 * LEG_M
    np.testing.assert_allclose(where(motion, "cup", cup, np.array((3.9,)))[0], cup, atol=1e-12)


def test_nothing_cast_plays_bit_for_bit_as_a_rest() -> None:
    times, rest = np.linspace(0.0, 8.0, 97), '<lane><wait duration="8"/></lane>'
    hold = '<lane><wait duration="3"/><hold prop="cup" with="right hand" duration="3"/><wait duration="2"/></lane>'
    one, other = (played(programme(each)) for each in (hold, rest))
    np.testing.assert_array_equal(one.sample(times).rotations, other.sample(times).rotations)
    (note,) = [problem for problem in one.problems if problem.message.startswith("<hold>")]
    assert note.is_note and "'cup' is not cast" in note.message and not one.carried


def test_a_loop_leaves_props_where_they_are_and_says_so() -> None:
    cup: Target = ScenePlace((-0.2, 1.1, 0.35), (0.0, 0.0, 1.0))
    motion = play(programme(RIGHT), Performer(BODIES[1.0], UP), Settings(loop=True, cast=(("cup", cup),)))
    assert not motion.carried
    assert any("<hold> is left out while the score loops" in problem.message for problem in motion.problems)


def test_a_path_cannot_be_held() -> None:
    path: Target = ScenePath(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    motion = play(programme(RIGHT), Performer(BODIES[1.0], UP), Settings(cast=(("cup", path),)))
    assert "is played by a path, expected a place" in " ".join(problem.message for problem in motion.problems)


@pytest.mark.parametrize(("lane", "message"), [
    ('<lane><hold prop="table" with="left hand" duration="1"/></lane>', "is the place 'table', expected a role that is "
     "a prop"),
    ('<lane><hold prop="cup" with="mouth" duration="1"/></lane>', "expected left hand or right hand"),
    ('<lane><hold prop="cup" duration="1"/></lane>', "<hold> with: found none"),
    ('<lane><hold with="left hand" duration="1"/></lane>', "<hold> prop: found none"),
    ('<lane><hold prop="cup" with="left hand"/></lane>', "<hold> duration: found none"),
])
def test_what_does_not_fit_is_told(lane: str, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        expand(programme(lane))


def at_random(seed: int) -> Motion:
    """Return a motion whose hands reach for things, hold them and hand them over by chance, while its head looks."""
    random, lanes, size = Random(seed), list[str](), SIZES[seed % len(SIZES)]
    for side in ("right", "left"):
        left, words, own = 16.0, list[str](), f'with="{side} hand"'
        while left > 0.5:
            ticks = min(left, random.choice((0.5, 1.0, 1.5, 2.0, 3.0)))
            left -= ticks
            reach = f'<reach for="{random.choice(("cup", "ball", "table"))}" {own} duration="{ticks / 2}" '
            words.append(random.choice((f'<wait duration="{ticks}"/>', f'{reach}hold="{ticks / 2}"/>',
                                        f'<hold prop="{random.choice(("cup", "ball"))}" {own} duration="{ticks}"/>')))
        lanes.append(f'<lane>{"".join(words)}<wait duration="{left + 1.0}"/></lane>')
    looks = [random.choice(('<wait duration="2"/>', '<look at="cup" duration="3"/>', '<look at="her" duration="2"/>'))
             for _ in range(5)]
    lanes.append(f'<lane body="head">{"".join(looks)}<wait duration="1"/></lane>')
    return played(programme(*lanes), size, cup=scaled(spot(seed), size), ball=scaled(spot(seed + 1000, "left"), size),
                  table=scaled(spot(seed + 2000), size), her=scaled((1.0, 1.5, 1.0), size))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8, quick=1))
def test_all_instants_together_show_the_same_as_each_alone(seed: int) -> None:
    motion = at_random(seed)
    times = np.linspace(0.0, motion.duration_s, 41)
    alone = np.concatenate([motion.sample(times[frame:frame + 1]).rotations for frame in range(len(times))])
    assert rot.angle_between(motion.sample(times).rotations, alone).max() < 1e-6


KINDS = ("the ball", "the cup again", "the cup beside the other hand", "the cup from hand to hand", "mirrored")


def holding(seed: int, *, moves: bool) -> tuple[Motion, dict[str, Target], float]:
    """Return a motion in which a hand lets the cup go and takes something at once, or another one takes it over.

    moves: the cup itself moves by keys before it is taken.
    """
    rng, size, side = np.random.default_rng(seed), SIZES[seed % 4], ("right", "left")[seed // 4 % 2]
    kind = KINDS[seed % len(KINDS)]
    other, gap = ("left" if side == "right" else "right"), round(float(rng.choice((0.0, 0.1, 0.25, 0.4))), 3)
    then = "ball" if kind in ("the ball", "mirrored") else "cup"
    own = f'with="{side} hand"'
    lanes = [f'<lane><wait duration="1"/><reach for="cup" {own} duration="2"/><hold prop="cup" {own} duration="2"/>'
             f'<wait duration="{gap}"/><hold prop="{then}" {own} duration="1.5"/><wait duration="{1.5 - gap}"/></lane>']
    if kind == "the cup beside the other hand":
        lanes.append(f'<lane><wait duration="4"/><hold prop="cup" with="{other} hand" duration="3"/>'
                     '<wait duration="1"/></lane>')
    if kind == "the cup from hand to hand":
        lanes = [f'<lane><wait duration="1"/><reach for="cup" {own} duration="2"/><hold prop="cup" {own} duration="2"/>'
                 '<wait duration="3"/></lane>',
                 f'<lane><wait duration="{4.5 - gap}"/><hold prop="cup" with="{other} hand" duration="2"/>'
                 f'<wait duration="{1.5 + gap}"/></lane>']
    meant = other if kind == "mirrored" else side
    near = scaled(spot(seed, meant), size)
    still = ScenePlace(near, (0.0, 0.0, 1.0))
    cup: Target = still
    if moves:
        matrices = np.tile(np.eye(4)[:3], (2, 1, 1))
        matrices[:, :, 3] = size * np.array(((0.0, 0.0, 0.0), (0.0, 0.05, 0.05)))
        cup = Moving(still, np.array((0.0, 8.0)), matrices)
    cast: dict[str, Target] = {"cup": cup, "ball": ScenePlace(scaled(spot(seed + 100, meant), size), (0.0, 0.0, 1.0))}
    text = (f'<pha version="2" tickLength="1"><load src="gestures.Greetings"/>{ROLES}<procedure name="all"><together>'
            f'{HELLO}{"".join(lanes)}</together></procedure><procedure name="main"><call name="all" duration="8" '
            f'mirror="{"yes" if kind == "mirrored" else "no"}"/></procedure></pha>')
    return play(resolve(parse(text), CLIPS), Performer(BODIES[size], UP),
                Settings(cast=tuple(cast.items()))), cast, size


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("seed", seeds(SETTINGS, quick=2))
def test_a_prop_neither_jumps_nor_slips_whatever_its_hands_do_next(seed: int, *, moves: bool) -> None:
    motion, cast, size = holding(seed, moves=moves)
    assert motion.carried.keys() >= {"cup"}
    times, leg = np.arange(0.0, 8.0, 1.0 / 120.0), LEG_M * size
    hands = {side: palms(motion, side, times) for side in "lr"}
    fastest = max(np.linalg.norm(np.diff(palm, axis=0), axis=1).max() for palm in hands.values())
    assert fastest * 120.0 < FASTEST * leg
    for role, carried in motion.carried.items():
        lies = touched_at(cast[role], np.array((carried.phases[0].begin_s,)))[0]
        ends = np.array([phase.begin_s for phase in carried.phases])
        before, after = (where(motion, role, tuple(lies.tolist()), ends + step) for step in (-1e-6, 1e-6))
        assert np.linalg.norm(after - before, axis=1).max() < 1e-4 * leg
        goes = np.linalg.norm(np.diff(where(motion, role, tuple(lies.tolist()), times), axis=0), axis=1)
        assert goes.max() <= 1.5 * fastest  # beside a palm that turns it may be a little faster
    for held in held_by(motion):
        span = np.linspace(held.begin_s + 1e-6, held.end_s - 1e-6, 60)
        moved, palm = motion.carry(held.role, span), palms(motion, held.hand, span)
        own = np.linalg.solve(moved[..., :3], (palm - moved[..., 3])[..., None])[..., 0]
        assert np.linalg.norm(own - own[0], axis=1).max() < 0.005 * leg


def held_by(motion: Motion) -> tuple[TimedHold, ...]:
    """Return when hands of a motion hold what."""
    stage = motion.end
    while not isinstance(stage, Aimed):
        assert isinstance(stage, Over)
        stage = stage.below
    assert stage.holds
    return stage.holds


@pytest.mark.parametrize("seed", seeds(24, quick=1))
def test_a_hand_that_leads_goes_no_farther_than_the_second_can_follow(seed: int) -> None:
    side, size = ("right", "left")[seed % 2], SIZES[seed // 2 % 4]
    other = "left" if side == "right" else "right"
    first = (f'<lane><wait duration="1"/><reach for="cup" with="{side} hand" duration="2"/>'
             f'<hold prop="cup" with="{side} hand" duration="4"/><wait duration="1"/></lane>')
    second = (f'<lane><wait duration="3.25"/><hold prop="cup" with="{other} hand" duration="3"/><wait duration="1.75"/>'
              '</lane>')
    cup = scaled(spot(seed, side), size)
    motion = played(programme(first, second), size, cup=cup)
    times = np.linspace(3.25, 6.25, 60)
    moved, palm = motion.carry("cup", times), palms(motion, other[0], times)
    own = np.linalg.solve(moved[..., :3], (palm - moved[..., 3])[..., None])[..., 0]
    assert np.linalg.norm(own - own[0], axis=1).max() < 0.005 * LEG_M * size


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_hand_that_still_reaches_for_what_it_lets_go_of_does_not_jump(side: str) -> None:
    own = f'with="{side} hand"'
    motion = played(programme(
        f'<lane><reach for="cup" {own} duration="3" hold="4"/><wait duration="1"/></lane>',
        f'<lane><wait duration="3"/><hold prop="cup" {own} duration="2"/><wait duration="3"/></lane>',
        f'<lane><wait duration="4"/><reach for="table" {own} duration="2"/><wait duration="2"/></lane>'),
        cup=spot(3, side), table=spot(5, side))
    before, after = palms(motion, side[0], np.array((5.0 - 1e-6, 5.0 + 1e-6)))
    assert np.linalg.norm(after - before) < 1e-4
    assert len(motion.carried["cup"].phases) == 2
    assert np.linalg.norm(where(motion, "cup", spot(3, side), np.array((5.0,))) - spot(3, side)) > 0.02


@pytest.mark.parametrize("seed", seeds(6, quick=1))
def test_what_hands_do_at_random_never_lets_a_prop_jump(seed: int) -> None:
    motion, size = at_random(seed), SIZES[seed % 4]
    for role, carried in motion.carried.items():
        ends = np.array([phase.begin_s for phase in carried.phases])
        before, after = (where(motion, role, (0.0, 0.0, 0.0), ends + step) for step in (-1e-6, 1e-6))
        assert np.linalg.norm(after - before, axis=1).max() < 1e-4 * LEG_M * size
