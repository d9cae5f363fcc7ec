"""Ways in the scene: to places, from them, and along paths, for what a score calls and whatever plays its roles."""

import re

import numpy as np
import pytest

from takt.core.errors import ScoreError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.pha.version_1 import as_version_1
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import Moving, ScenePath, ScenePlace, Target, Unfit
from takt.core.playing.scene.traveller import Traveller, ahead_of
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library
from takt.tests.core.seeds import seeds

BODY = build_skeleton()
ROOT = find_map(BODY).joint_of["HumanoidRoot"]
UP, LEG_M = np.array((0.0, 1.0, 0.0)), 0.825
EXACT_M, EXACT_RAD = 1e-6, 1e-6
NEAR_LEGS, ANGLE_RAD = 0.04, np.radians(12.0)
CLIPS = library(feet_Steps=tuple(build_clips("feet/Steps.skeleton.xml")))
ROLES = '<role name="seat" is="place"/><role name="lane" is="path"/>'
WALK = ('<procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/>'
        "</procedure>")
PLACE = ScenePlace((1.5, 0.0, 2.0), (1.0, 0.0, 0.0))


def programme(*inside: str, roles: str = ROLES, more: str = WALK) -> Programme:
    text = (f'<pha version="2" tickLength="1"><load src="feet.Steps"/>{roles}{more}<procedure name="main">'
            f'{"".join(inside)}</procedure></pha>')
    return resolve(parse(text), CLIPS)


def played(*inside: str, cast: dict[str, Target] | None = None, **settings: object) -> Motion:
    chosen = Settings(cast=tuple((cast or {}).items()), **settings)  # type: ignore[arg-type]
    return play(programme(*inside), Performer(BODY, UP), chosen)


def traveller_of(motion: Motion) -> Traveller:
    """Return the body of a motion, by which it is seen where it is and where it faces."""
    body = find_map(BODY)
    found = Traveller.of(motion.row.sources.clips, UP, np.zeros(0, dtype=np.int64), body, ahead_of(body, rot.IDENTITY))
    assert found is not None
    return found


def seen(motion: Motion, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where the hips are over the ground, (F, 2) along x and z, and the angles at which the body faces, (F,)."""
    pose = motion.sample(times_s)
    _, facing = traveller_of(motion).seen(pose)
    return world_from_pose(BODY, pose)[:, ROOT, :, 3][:, (0, 2)], facing


def apart(one: float, other: float) -> float:
    return float(abs((one - other + np.pi) % (2.0 * np.pi) - np.pi))


@pytest.mark.parametrize("seed", seeds(200, quick=25))
def test_a_way_ends_at_its_place_and_faces_as_that_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    far, angle, ahead = rng.uniform(1.0, 6.0), *rng.uniform(-np.pi, np.pi, 2)
    place = ScenePlace((far * np.sin(angle), 0.0, far * np.cos(angle)), (np.sin(ahead), 0.0, np.cos(ahead)))
    faces = bool(rng.integers(2))
    seconds = far / rng.uniform(0.15, 0.3)
    facing = "yes" if faces else "no"
    motion = played('<call name="right_step" duration="1"/>' * int(rng.integers(2)),
                    f'<call name="walk" to="seat" duration="{seconds}" repeat="fit" facing="{facing}"/>',
                    '<call name="left_step" duration="1"/>', cast={"seat": place})
    ways = motion.sequence.ways
    end_s = float(motion.layout.end_s[ways[0].after - 1])
    positions, angles = seen(motion, np.array((end_s,)))
    assert np.hypot(*(positions[0] - place.position[::2])) < EXACT_M
    assert not faces or apart(float(angles[0]), traveller_of(motion).angle(place.ahead)) < EXACT_RAD


def test_what_follows_goes_on_from_the_place() -> None:
    motion = played('<call name="walk" to="seat" duration="8" repeat="fit"/>', '<call name="left_step" duration="1"/>',
                    cast={"seat": PLACE})
    alone = played('<call name="left_step" duration="1"/>')
    (start, end), (first, last) = seen(motion, np.array((8.0, 9.0)))[0], seen(alone, np.array((0.0, 1.0)))[0]
    assert np.hypot(*(end - start)) == pytest.approx(np.hypot(*(last - first)), abs=0.02)


@pytest.mark.parametrize("seed", seeds(20, quick=4))
def test_a_path_is_followed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles = np.linspace(0.0, rng.uniform(1.0, 6.0), 120)
    radius, turned = rng.uniform(1.5, 4.0) * LEG_M, rng.uniform(-np.pi, np.pi)
    points = radius * np.exp(1j * (angles + turned)) + complex(*rng.uniform(-3.0, 3.0, 2))
    path = ScenePath(tuple((point.real, 0.0, point.imag) for point in points.tolist()))
    seconds = radius * float(angles[-1]) / 0.3
    motion = played(f'<call name="walk" along="lane" duration="{seconds}" repeat="fit"/>', cast={"lane": path})
    positions, facing = seen(motion, np.linspace(0.5, seconds - 0.5, 100))
    centre = points[0] - radius * np.exp(1j * turned)
    away = positions @ (1.0, 1.0j) - centre
    assert np.abs(np.abs(away) - radius).max() < NEAR_LEGS * LEG_M
    tangents = [traveller_of(motion).angle((way.real, 0.0, way.imag)) for way in (1j * away).tolist()]
    assert max(apart(float(one), other) for one, other in zip(facing, tangents, strict=True)) < ANGLE_RAD


def test_a_call_begins_at_its_place() -> None:
    motion = played('<call name="left_step" duration="2"/>', '<call name="right_step" at="seat" duration="2"/>',
                    cast={"seat": PLACE})
    positions, facing = seen(motion, np.array((2.0,)))
    assert np.hypot(*(positions[0] - PLACE.position[::2])) < EXACT_M
    assert apart(float(facing[0]), traveller_of(motion).angle(PLACE.ahead)) < EXACT_RAD


def test_planted_feet_stay_on_a_way_that_turns() -> None:
    motion = played('<call name="walk" to="seat" duration="8" repeat="fit"/>', cast={"seat": PLACE})
    assert motion.feet is not None
    footholds = motion.feet.lock.footholds
    times = np.arange(0.0, 8.0, 1.0 / 120.0)
    world = world_from_pose(BODY, motion.sample(times))[..., 3]
    slid = []
    for number, side in enumerate("lr"):
        foot = world[:, BODY.index_of[f"{side}_metatarsal"]][:, (0, 2)]
        for begin, end in footholds.spans_s(number).tolist():
            held = foot[(times >= begin) & (times <= end)]
            slid += [float(np.linalg.norm(held - held.mean(axis=0), axis=1).max())] if len(held) else []
    assert len(slid) > 4 and np.percentile(slid, 90) < 0.01 * LEG_M


@pytest.mark.parametrize("words", ['to="seat"', 'at="seat"', 'along="lane"'])
def test_nothing_cast_plays_bit_for_bit_as_if_the_words_were_not_there(words: str) -> None:
    call = '<call name="walk" duration="4" {}/>'
    times = np.linspace(0.0, 4.0, 97)
    one, other = (played(call.format(each)) for each in (words, ""))
    for name in ("rotations", "translations", "scales"):
        np.testing.assert_array_equal(getattr(one.sample(times), name), getattr(other.sample(times), name))
    assert any("is not cast" in problem.message and problem.is_note for problem in one.problems)


def test_a_parameter_may_hold_a_role() -> None:
    go = ('<procedure name="go"><param name="where" default="seat"/><call name="walk" to="where" duration="8" '
          'repeat="fit"/></procedure>')
    cast: dict[str, Target] = {"seat": PLACE, "door": ScenePlace((-2.0, 0.0, 1.0), (0.0, 0.0, 1.0))}
    for given, role in (("", "seat"), ('<with where="door"/>', "door")):
        found = programme(f'<call name="go" duration="8">{given}</call>',
                          roles=ROLES + '<role name="door" is="place"/>', more=WALK + go)
        motion = play(found, Performer(BODY, UP), Settings(cast=tuple(cast.items())))
        positions, _ = seen(motion, np.array((8.0,)))
        target = cast[role]
        assert isinstance(target, ScenePlace)
        assert np.hypot(*(positions[0] - target.position[::2])) < EXACT_M


@pytest.mark.parametrize(("inside", "message"), [
    ('<call name="walk" to="door" duration="4"/>', "found the name 'door'"),
    ('<call name="walk" to="lane" duration="4"/>', "is the path 'lane', expected a role that is a place"),
    ('<call name="walk" along="seat" duration="4"/>', "is the place 'seat', expected a role that is a path"),
    ('<call name="walk" to="her" duration="4"/>', "is the person 'her', expected a role that is a place"),
    ('<call name="walk" to="0.5" duration="4"/>', "for the procedure 'walk'"),
    ('<call name="walk" at="2" duration="4"/>', "which is 2, expected a role that is a place"),
    ('<call name="walk" duration="seat"/>', "is the place 'seat', expected a number"),
    ('<call name="walk" duration="4" repeat="fit"/>', "found fit without a way"),
    ('<call name="walk" to="seat" repeat="fit"/>', 'duration: found none beside repeat="fit", expected how long'),
    ('<call name="walk" duration="4" to="seat" along="lane"/>', "found both"),
])
def test_what_does_not_fit_a_role_is_told_with_its_place(inside: str, message: str) -> None:
    with pytest.raises(ScoreError, match=message) as caught:
        expand(programme(inside, roles=ROLES + '<role name="her" is="person"/>'))
    assert caught.value.problems[0].place.line == 1


@pytest.mark.parametrize(("roles", "message"), [
    ('<role name="seat" is="chair"/>', "expected place, path, prop, floor or person"),
    ('<role is="place"/>', "found none"),
    ('<role name="seat" is="place"/><role name="seat" is="path"/>', "already defines"),
    ('<role name="seat" is="place"/><let name="seat" value="2"/>', "which a <role> already has"),
])
def test_a_role_has_a_name_of_its_own_and_a_kind(roles: str, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        programme('<call name="walk" duration="4"/>', roles=roles)


def test_version_1_has_no_ways() -> None:
    found = programme('<call name="walk" duration="4" to="seat"/>')
    with pytest.raises(ScoreError, match=r"<call> to: found a way in the scene, which version 1 does not have"):
        as_version_1(found, CLIPS)


def test_a_place_that_is_too_far_is_told_with_a_length_that_would_do() -> None:
    motion = played('<call name="walk" to="seat" duration="2"/>', cast={"seat": ScenePlace((40.0, 0, 0), (1.0, 0, 0))})
    assert any("times as long as its clip goes" in problem.message for problem in motion.problems)
    positions, _ = seen(motion, np.array((2.0,)))
    assert positions[0, 0] == pytest.approx(40.0)


def test_rounds_that_fit_but_are_too_quick_or_slow_are_told_with_a_length_that_would_do() -> None:
    place, would_do = ScenePlace((0.0, 0, 3.0), (0.0, 0, 1.0)), "about ([0-9.]+) s in all"
    for seconds in (1.0, 2.0, 3.0, 4.5, 7.0, 9.0, 20.0):
        walk = '<call name="walk" to="seat" duration="{}" repeat="fit"/>'
        motion = played(walk.format(seconds), cast={"seat": place})
        own_s = sum(motion.clips[clip].duration_s for clip in motion.sequence.clip.tolist())
        told = [problem.message for problem in motion.problems if not problem.is_note]
        assert told or 0.8 <= seconds / own_s <= 1.25
        if told:
            found = re.search(would_do, told[0])
            assert found
            assert not [each for each in played(walk.format(found[1]), cast={"seat": place}).problems
                        if not each.is_note]


@pytest.mark.parametrize("settings", [{"loop": True}, {"root_motion": "IN_PLACE"}])
def test_ways_are_left_out_where_nothing_may_go_anywhere(settings: dict[str, object]) -> None:
    motion = played('<call name="walk" to="seat" duration="4"/>', cast={"seat": PLACE}, **settings)
    assert any("places and paths are left out" in problem.message for problem in motion.problems)


@pytest.mark.parametrize("target", [ScenePath(((0.0, 0, 0), (0.0, 0, 0))), PLACE])
def test_a_path_that_leads_nowhere_or_is_none_is_told(target: Target) -> None:
    motion = played('<call name="walk" along="lane" duration="4"/>', cast={"lane": target})
    assert any(problem.is_warning and not problem.is_note and "lane" in problem.message for problem in motion.problems)


STOPS = '<call name="left_step" duration="2"/>'
"""What stands before a jump, and has time for it."""
FPS, FASTEST_LEGS_PER_S, STRETCHED_LEGS = 24, 8.0, 0.75


@pytest.mark.parametrize("before", [STOPS, '<call name="walk" to="mark" duration="4" repeat="fit"/>'])
@pytest.mark.parametrize("seed", seeds(12, quick=4))
def test_nobody_jumps_to_a_place_or_a_path_and_a_warning_says_how_far_it_is(seed: int, before: str) -> None:
    """With no transition to lead there, what plays before does, and no leg stretches after a foot that stays."""
    rng = np.random.default_rng(seed)
    far, angle, ahead = rng.uniform(0.6, 3.0), *rng.uniform(-np.pi, np.pi, 2)
    at = complex(far * np.exp(1j * angle))
    place = ScenePlace((at.real, 0.0, at.imag), (np.sin(ahead), 0.0, np.cos(ahead)))
    path = ScenePath((place.position, (at.real + 3.0 * np.sin(ahead), 0.0, at.imag + 3.0 * np.cos(ahead))))
    words = rng.choice(('at="seat"', 'along="lane" repeat="fit"'))
    score = programme(before.replace("/>", ' transition="0"/>'), f'<call name="walk" {words} duration="3"/>',
                      roles=ROLES + '<role name="mark" is="place"/>')
    mark = ScenePlace((0.1, 0.0, 0.7), (0.0, 0.0, 1.0))
    motion = play(score, Performer(BODY, UP), Settings(cast=(("seat", place), ("lane", path), ("mark", mark))))
    begin_s = 4.0 if "walk" in before else 2.0
    times = np.arange(0.0, motion.duration_s, 1.0 / FPS)
    positions, _ = seen(motion, times)
    assert np.linalg.norm(np.diff(positions, axis=0), axis=1).max() < FASTEST_LEGS_PER_S * LEG_M / FPS
    there, _ = seen(motion, np.array((begin_s,)))
    assert np.hypot(*(there[0] - place.position[::2])) < EXACT_M
    world = world_from_pose(BODY, motion.sample(times))[..., 3]
    for side in "lr":
        legs = world[:, BODY.index_of[f"{side}_ankle"]] - world[:, BODY.index_of[f"{side}_hip"]]
        assert np.hypot(legs[:, 0], legs[:, 2]).max() < STRETCHED_LEGS * LEG_M
    before_m, _ = seen(motion, np.array((0.0,) if "walk" not in before else (begin_s - 2.0,)))
    told = [problem for problem in motion.problems if "the body is " in problem.message]
    assert all(problem.place.line == 1 and f"at {begin_s:.2f} s" in problem.message for problem in told)
    assert told or np.hypot(*(before_m[0] - place.position[::2])) < LEG_M


def test_a_place_that_is_a_step_away_is_reached_without_a_word() -> None:
    near = ScenePlace((0.2, 0.0, 0.45), (0.0, 0.0, 1.0))
    motion = played(STOPS, '<call name="walk" at="seat" duration="2"/>', cast={"seat": near})
    assert not [problem for problem in motion.problems if "the body is " in problem.message]


def moving(still: ScenePlace | ScenePath, speed: tuple[float, float, float]) -> Moving:
    """Return something that goes straight on for ten seconds."""
    times = np.linspace(0.0, 10.0, 101)
    matrices = np.tile(np.eye(4)[:3], (len(times), 1, 1))
    matrices[:, :, 3] = times[:, None] * speed
    return Moving(still, times, matrices)


@pytest.mark.parametrize("tempo", ["", '<tempo tick="0" tickLength="0.5"/>'])
def test_a_place_that_moves_counts_where_it_is_when_the_way_ends(tempo: str) -> None:
    """By the clock, as the scene's frames go."""
    score = programme('<call name="walk" to="seat" duration="8" repeat="fit"/>', roles=tempo + ROLES)
    motion = play(score, Performer(BODY, UP), Settings(cast=(("seat", moving(PLACE, (0.1, 0.0, -0.2))),)))
    end_s = 4.0 if tempo else 8.0
    positions, angles = seen(motion, np.array((end_s,)))
    assert np.hypot(*(positions[0] - (1.5 + 0.1 * end_s, 2.0 - 0.2 * end_s))) < EXACT_M
    assert apart(float(angles[0]), traveller_of(motion).angle(PLACE.ahead)) < EXACT_RAD


def test_a_path_that_moves_counts_where_it_is_when_the_way_begins() -> None:
    lane = ScenePath(((0.0, 0.0, 0.0), (0.0, 0.0, 4.0)))
    motion = played(STOPS, '<call name="walk" along="lane" duration="8" repeat="fit"/>',
                    cast={"lane": moving(lane, (0.1, 0.0, 0.0))})
    positions, _ = seen(motion, np.array((2.0, 10.0)))
    np.testing.assert_allclose(positions, ((0.2, 0.0), (0.2, 4.0)), atol=EXACT_M)


@pytest.mark.parametrize("words", ['to="seat"', 'at="seat"', 'along="lane"'])
def test_what_cannot_play_its_role_is_told_with_the_reason_and_left_out(words: str) -> None:
    call, times = '<call name="walk" duration="4" {}/>', np.linspace(0.0, 4.0, 9)
    unfit = Unfit("'Box' has no points: draw some")
    one = played(call.format(words), cast={"seat": unfit, "lane": unfit})
    np.testing.assert_array_equal(one.sample(times).translations, played(call.format("")).sample(times).translations)
    (problem,) = (each for each in one.problems if not each.is_note)
    assert "'Box' has no points: draw some" in problem.message and problem.place.line == 1


GOES = '<call name="walk" to="seat" duration="2"/>\n<call name="walk" to="there" duration="2"/>'
LOOP = f'<loop times="3">{GOES}</loop>'


@pytest.mark.parametrize(("text", "count"), [
    (LOOP, 2), (f'<together><lane>{LOOP}</lane><lane><call name="left_step" duration="12"/></lane></together>', 2),
    (f"{GOES}\n{GOES}", 4)])
def test_a_call_in_a_loop_is_told_once_though_the_numbers_differ(text: str, count: int) -> None:
    cast = tuple((role, ScenePlace((x, 0.0, 5.0), (0.0, 0.0, 1.0))) for role, x in (("seat", 2.0), ("there", -3.0)))
    said = play(programme(text, roles='<role name="seat" is="place"/><role name="there" is="place"/>'),
                Performer(BODY, UP), Settings(cast=cast)).problems
    assert len(said) == len({each.place for each in said}) == count
    assert all("expected 0.8 to 1.25" in each.message and each.is_missed for each in said)
