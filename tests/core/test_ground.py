"""The ground by skin: bodies of all shapes stand on it with what is lowest, and nothing of them is below it."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import foot_contacts
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray, smoothstep
from takt.core.retargeting.ground.lift_of_touching import lift_of_touching
from takt.core.retargeting.ground.off_ground import is_within
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.contact_spans import contact_spans
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.rigs import RIGS, standing_at, worn
from takt.tests.core.test_foot_contacts import without_balls
from takt.tests.core.test_reference import lying
from takt.tests.core.test_retarget import with_axes

ON_GROUND, BELOW = 0.01, -0.02
"""Of the leg."""
LEG_M = 0.825
HOP_LEGS = 0.03
"""Second differences of hips in thirtieths of a second: who moves by more hops."""
STILL_LEGS = 0.002
ROUNDING = 1e-12
UP = np.array((0.0, 1.0, 0.0))
BODY = build_skeleton()
SWAYING = Tracks.uniform(np.zeros(1, np.int64), np.array((0.0, 1.0)), np.array(((0.0,) * 3, (0.01, 0.0, 0.0)))[:, None])
"""A root that goes a centimetre to the left."""
Skin = tuple[FloatArray, IntArray, FloatArray]
"""Vertices (V, 3), joints and weights (V, K)."""
SHAPES: dict[str, dict[str, float]] = {
    "slim": {}, "boots": {"metatarsal": 0.09, "ankle": 0.12}, "a helmet": {"skullbase": 0.35},
    "a skirt": {"knee": 0.3}, "thick": {"HumanoidRoot": 0.3, "vl5": 0.32, "vt3": 0.3, "shoulder": 0.2},
}


def skin_of(skeleton: Skeleton, thick: dict[str, float]) -> Skin:
    """Return vertices in balls about all joints, each moved by its joint, and a little by the joint's parent.

    No skin goes with a joint on the ground, from which feet hang: that one stays where it is.
    """
    rng = np.random.default_rng(0)
    found = find_map(skeleton)
    radii = [thick.get(name or "", thick.get((name or "")[2:], 0.05)) for name in found.meant]
    balls = rng.normal(size=(len(skeleton), 150, 3))
    balls *= np.array(radii)[:, None, None] / np.linalg.norm(balls, axis=-1, keepdims=True)
    vertices = (skeleton.rest_world[:, None, :, 3] + balls).reshape(-1, 3)
    own = np.repeat(np.arange(len(skeleton)), 150)
    above = np.maximum(skeleton.parents[own], 0)
    joints = np.stack((own, np.where(above == skeleton.index_of.get("ground", -1), own, above)), axis=1)
    return vertices, joints, np.tile((0.9, 0.1), (len(own), 1))


def with_loose_feet(target: Skeleton) -> Skeleton:
    """Return a skeleton whose feet are children of a joint on the ground."""
    parents = target.parents.copy()
    parents[[find_map(target).joint_of[f"{side}_ankle"] for side in "lr"]] = -1
    loose = Skeleton.from_arrays(["ground", *target.names], [-1, *np.maximum(parents + 1, 0).tolist()],
                                 rot.identities(len(parents) + 1), np.zeros((len(parents) + 1, 3)))
    world = np.concatenate((np.zeros((1, 3)), target.rest_world[:, :, 3]))
    offsets = np.where(loose.parents[:, None] >= 0, world - world[loose.parents], world)
    return Skeleton.from_arrays(loose.names, loose.parents, loose.rest_rotations, offsets)


def lowest(skeleton: Skeleton, clip: Clip, skin: Skin, times: FloatArray) -> FloatArray:
    """Return how high the lowest vertex is above the soles' ground at rest, of all vertices, in leg lengths."""
    vertices, joints, weights = skin
    turn = find_map(skeleton).turn
    up = UP if turn is None else rot.rotate(turn, UP)
    whole = SkinPoints(vertices, joints, weights)
    found = find_map(skeleton)
    feet = [found.joint_of[f"{side}_{part}"] for side in "lr" for part in ("ankle", "metatarsal")]
    rest = vertices @ up
    ground = rest[np.isin(joints[:, 0], feet)].min()
    return np.asarray((whole.heights(clip, times, up) - np.minimum(rest - ground, 0.0)).min(axis=1) - ground) / LEG_M


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("number", range(0, 20, 3))
def test_what_stands_is_on_the_ground_and_nothing_below_it(shape: str, number: int) -> None:
    clip = movements()[number % len(movements())]
    target = with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(number))
    skin = skin_of(target, SHAPES[shape])
    points = SkinPoints.of(*skin)
    done = retarget(clip, target, points=points)
    times = np.linspace(0.0, clip.duration_s, 60)
    low = lowest(target, done.clip, skin, times)
    spans = contact_spans(clip, find_map(clip.skeleton), UP)
    stands = np.array([any(a <= t <= b for a, b in spans) for t in times])
    assert stands.any()
    assert low.min() >= BELOW
    assert np.abs(low[stands]).max() <= ON_GROUND


def sliding_on_toes(seconds: float) -> Clip:
    """Return a clip of a body that goes over the ground on the balls of its feet without a step."""
    ankles = np.array([BODY.index_of[f"{side}_ankle"] for side in "lr"])
    frame = BODY.rest_world_rotations[ankles]
    turn = rot.multiply(rot.multiply(rot.conjugate(frame), rot.from_axis_angle(np.eye(3)[0], 0.9)), frame)
    ball = BODY.rest_world[BODY.index_of["l_metatarsal"], :, 3] - BODY.rest_world[ankles[0], :, 3]
    raised = (ball - rot.rotate(rot.from_axis_angle(np.eye(3)[0], 0.9), ball))[1]
    way = np.array(((0.0, raised, 0.0), (0.0, raised, 2.0 * seconds)))
    return Clip("slide", BODY, seconds, Tracks.uniform(ankles, np.zeros(1), turn[None]),
                Tracks.uniform(np.zeros(1, np.int64), np.array((0.0, seconds)), way[:, None]), Tracks.empty(3))


@pytest.mark.parametrize("shape", ["slim", "boots"])
def test_feet_that_slide_while_nothing_stands_are_on_the_ground(shape: str) -> None:
    """As of one who falls, also where feet are shorter. Who slides for a moment alone does not hop for it."""
    target = with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(4))
    sizes = np.ones((len(target), 1))
    sizes[[find_map(target).joint_of[f"{side}_metatarsal"] for side in "lr"]] = 0.5
    target = replace(target, rest_translations=target.rest_translations * sizes)
    skin = skin_of(target, SHAPES[shape])
    for seconds in (1.0, 0.2):
        clip = without_balls(sliding_on_toes(seconds))
        assert len(contact_spans(clip, find_map(clip.skeleton), UP)) == 0
        done = retarget(clip, target, points=SkinPoints.of(*skin)).clip
        low = lowest(target, done, skin, np.linspace(0.0, seconds, 20))
        assert low.min() >= BELOW and np.ptp(low) <= STILL_LEGS
        assert np.abs(low).max() <= ON_GROUND or seconds < 1.0


def test_vertices_that_are_nowhere_are_no_skin() -> None:
    vertices, joints, weights = skin_of(worn(RIGS["Mixamo"]), {})
    nowhere = np.array(((np.nan, 0.0, 0.0), (0.0, np.inf, 0.0)))
    found = SkinPoints.of(np.concatenate((nowhere, vertices)), np.concatenate((joints[:2], joints)),
                          np.concatenate((weights[:2], weights)))
    assert found.checksum == SkinPoints.of(vertices, joints, weights).checksum


@pytest.mark.parametrize("has_loose_feet", [False, True])
def test_thick_backs_lie_on_the_ground_and_not_in_it(has_loose_feet: bool) -> None:
    """Also where feet are no descendants of the legs, as those that legs reach for by IK."""
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(2), 1.2)
    target = with_loose_feet(target) if has_loose_feet else target
    skin = skin_of(target, SHAPES["thick"])
    clip = lying(worn(RIGS["VRM"]))
    before = lowest(target, retarget(clip, target).clip, skin, np.linspace(0.0, 2.0, 20))
    after = lowest(target, retarget(clip, target, points=SkinPoints.of(*skin)).clip, skin, np.linspace(0.0, 2.0, 20))
    assert before.min() < 5.0 * BELOW and after.min() >= BELOW and after.max() <= ON_GROUND


def test_who_jumps_leaves_the_ground() -> None:
    skeleton = worn(RIGS["VRM"])
    times = np.linspace(0.0, 2.0, 61)
    height = np.maximum(0.0, np.sin(np.pi * (times - 0.5))) * 0.6
    moves = np.stack((0.0 * times, height, 0.0 * times), axis=1)[:, None]
    jump = Clip("jump", skeleton, 2.0, Tracks.uniform(np.array((3,)), times, rot.from_axis_angle(UP, times)[:, None]),
                Tracks.uniform(np.zeros(1, np.int64), times, moves), Tracks.empty(3))
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(3))
    skin = skin_of(target, SHAPES["boots"])
    low = lowest(target, retarget(jump, target, points=SkinPoints.of(*skin)).clip, skin, np.array((0.1, 1.0, 1.9)))
    assert abs(low[0]) <= ON_GROUND and abs(low[2]) <= ON_GROUND
    assert low[1] == pytest.approx(0.6 / LEG_M, rel=0.1)


def test_who_tumbles_with_a_helmet_is_at_no_key_in_the_ground() -> None:
    """Heights turn sharply at keys, which lie beside the steps at which skin is measured."""
    times = np.arange(23) / 24.0
    tumble = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), 2.0 * np.pi * times / times[-1])[:, None]
    place = np.tile((0.0, 0.3 - BODY.rest_world[0, 1, 3], 0.0), (len(times), 1, 1))
    clip = Clip("tumble", BODY, float(times[-1]), Tracks.uniform(np.zeros(1, np.int64), times, tumble),
                Tracks.uniform(np.zeros(1, np.int64), times, place), Tracks.empty(3))
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(6))
    skin = skin_of(target, {"skullbase": 0.35})
    low = lowest(target, retarget(clip, target, points=SkinPoints.of(*skin)).clip, skin, times)
    assert low.min() >= -0.002


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_foot_that_trembles_from_frame_to_frame_is_in_none_of_them_in_the_ground(seed: int) -> None:
    """As feet in raw motion capture of 120 frames a second, while the other one stands."""
    rng, times = np.random.default_rng(seed), np.arange(121) / 120.0
    turns = rot.identities(len(times), len(BODY))
    for name, angle_deg, trembles_deg in (("r_hip", -20.0, 1.0), ("r_knee", 30.0, 3.0), ("r_ankle", 15.0, 3.0)):
        angles = np.radians(angle_deg + trembles_deg * rng.normal(size=len(times)))
        turns[:, BODY.index_of[name]] = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), angles)
    clip = Clip("trembles", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), times, turns), SWAYING, Tracks.empty(3))
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(seed), 1.1)
    found = find_map(target)
    assert found.turn is not None
    skin = with_long_shoes(target, skin_of(target, {}), 0.2 * rot.rotate(found.turn, np.array((0.0, 0.0, 1.0))))
    plain, played = (retarget(clip, target, points=points).clip for points in (None, SkinPoints.of(*skin)))
    assert lowest(target, plain, skin, times).min() < 5.0 * BELOW
    assert lowest(target, played, skin, np.linspace(0.0, 1.0, 481)).min() > BELOW


def test_loose_feet_of_one_who_is_thrown_are_between_frames_not_in_the_ground_either() -> None:
    times = np.arange(31) / 30.0
    turns = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.radians(-700.0) * times)[:, None]
    place = np.tile((0.0, -0.1, 0.0), (len(times), 1, 1))
    clip = Clip("thrown", BODY, 1.0, Tracks.uniform(np.zeros(1, np.int64), times, turns),
                Tracks.uniform(np.zeros(1, np.int64), times, place), Tracks.empty(3))
    target = with_loose_feet(with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(8)))
    skin = skin_of(target, SHAPES["boots"])
    played = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    assert lowest(target, played, skin, np.linspace(0.0, 1.0, 241)).min() > BELOW


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["slim", "boots", "thick"])
@pytest.mark.parametrize("down_legs", [0.3, 1.0, 2.5])
def test_who_goes_down_goes_down(shape: str, down_legs: float) -> None:
    """As on a lift that stands, goes down and stands: his way is that of one who stays, and what the lift goes."""
    stays = movements()[0]
    target = with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(5))
    times, up = np.linspace(0.0, stays.duration_s, 121), find_map(target).up(UP)
    lift = -down_legs * LEG_M * smoothstep(times, 0.3 * stays.duration_s, 0.7 * stays.duration_s)
    moves = stays.sample(times).translations[:, :1] + lift[:, None, None] * UP
    goes = replace(stays, translations=Tracks.uniform(np.zeros(1, np.int64), times, moves))
    points = SkinPoints.of(*skin_of(target, SHAPES[shape]))
    hips = find_map(target).joint_of["HumanoidRoot"]

    def heights(clip: Clip, skin: SkinPoints | None) -> FloatArray:
        played = retarget(clip, target, points=skin).clip
        return np.asarray(world_from_pose(target, played.sample(times))[:, hips, :, 3] @ up)

    wanted, found = (heights(goes, skin) - heights(stays, skin) for skin in (None, points))
    away = np.abs(found - wanted) / LEG_M
    assert wanted.min() < -0.9 * down_legs * LEG_M
    assert away.max() < 2.0 * ON_GROUND and away[lift == lift.min()].max() < ON_GROUND


@pytest.mark.parametrize("name", ["quarter_left", "side_step_right", "kick_left", "sway"])
def test_both_feet_stand_on_a_body_that_rests_on_its_toes(name: str) -> None:
    """As on high heels: of feet that both stand, none hangs in the air, nor does the body go up and down for one."""
    plain = worn(RIGS["Mixamo"])
    joints, places = find_map(plain).joint_of, plain.rest_world[:, :, 3].copy()
    for side in "lr":
        places[joints[f"{side}_ankle"]] += (0.0, 0.1, 0.0)
        places[joints[f"{side}_metatarsal"]] -= (0.0, 0.0, 0.04)
    target = standing_at([*plain.names], plain.parents, places)
    skin = skin_of(target, {"ankle": 0.03, "metatarsal": 0.02})
    clip = next(clip for clip in movements() if clip.name == name)
    played = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    times = np.arange(0.0, clip.duration_s, 1.0 / 60.0)
    stands = [is_within(times, each.stands) for each in foot_contacts(clip, find_map(clip.skeleton), UP).values()]
    heights = SkinPoints(*skin).heights(played, times, UP)[np.logical_and(*stands)]
    for side in "lr":
        is_foot = with_descendants(target.parents, np.array([joints[f"{side}_ankle"]]))[skin[1][:, 0]]
        assert (heights[:, is_foot].min(axis=1) - (skin[0] @ UP).min()).max() < ON_GROUND * LEG_M
    sudden, own = (np.abs(np.diff(world_from_pose(c.skeleton, c.sample(times))[:, 0, 1, 3], 2)).max()
                   for c in (played, clip))
    assert sudden < 1.3 * own


def test_swords_may_be_below_the_ground() -> None:
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(4))
    hand = find_map(target).joint_of["r_wrist"]
    armed = Skeleton.from_arrays([*target.names, "weapon_r"], [*target.parents.tolist(), hand],
                                 np.concatenate((target.rest_rotations, rot.IDENTITY[None])),
                                 np.concatenate((target.rest_translations, np.zeros((1, 3)))))
    skin = skin_of(target, {})
    blade = armed.rest_world[hand, :, 3] - np.linspace(0.0, 1.5, 20)[:, None] * UP
    both = (np.concatenate((skin[0], blade)), np.concatenate((skin[1], np.full((20, 2), len(target)))),
            np.concatenate((skin[2], np.tile((1.0, 0.0), (20, 1)))))
    clip = movements()[0]
    one, other = (retarget(clip, body, points=SkinPoints.of(*vertices)).clip
                  for body, vertices in ((target, skin), (armed, both)))
    times = np.linspace(0.0, clip.duration_s, 10)
    here, there = (world_from_pose(c.skeleton, c.sample(times))[:, hand, :, 3] for c in (one, other))
    np.testing.assert_allclose(here, there, atol=1e-6)


@pytest.mark.parametrize("control", ["", "MCH-fingers.R"])
def test_claws_stay_above_the_ground_also_where_fingers_hang_on_controls(control: str) -> None:
    plain = worn(RIGS["Mixamo"])
    found = find_map(plain)
    hand, finger = found.joint_of["r_wrist"], found.joint_of["r_middle1"]
    names, parents, places = [*plain.names], plain.parents.tolist(), plain.rest_world[:, :, 3]
    if control:
        names.insert(finger, control)
        parents = [parent + (parent >= finger) for parent in parents]
        parents.insert(finger, hand)
        places = np.insert(places, finger, places[hand], axis=0)
        parents[finger + 1] = finger
        finger += 1
    target = standing_at(names, np.array(parents), places)
    skin = skin_of(target, {})
    claw = places[finger] + np.linspace(0.0, 2.0, 20)[:, None] * (0.0, 0.0, -1.0)  # backwards at rest
    clawed = (np.concatenate((skin[0], claw)), np.concatenate((skin[1], np.full((20, 2), finger))),
              np.concatenate((skin[2], np.tile((1.0, 0.0), (20, 1)))))
    clip = retarget(movements()[8], target, points=SkinPoints.of(*clawed)).clip
    times = np.linspace(0.0, clip.duration_s, 40)
    assert lowest(target, clip, clawed, times).min() >= BELOW
    assert lowest(target, clip, skin, times).max() > 0.1


def test_leaning_characters_have_their_ground_where_they_stand() -> None:
    clip = rewritten(movements()[1], Rewriting()).clip
    straight = with_axes(BODY, np.random.default_rng(3), 1.1)
    lean = rot.from_axis_angle(np.array((1.0, 0, 0)), np.radians(-42.0))
    skin = skin_of(straight, SHAPES["boots"])
    tilted = (rot.rotate(lean, skin[0]), *skin[1:])
    one, other = (retarget(clip, body, points=SkinPoints.of(*vertices)).clip
                  for body, vertices in ((straight, skin), (straight.turned(lean), tilted)))
    times = np.linspace(0.0, clip.duration_s, 10)
    here, there = (world_from_pose(c.skeleton, c.sample(times))[..., 3] for c in (one, other))
    np.testing.assert_allclose(here, there, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("tilt_deg", [-20.0, 8.0, 35.0])
@pytest.mark.parametrize("axis", [0, 2])
def test_an_object_that_is_tilted_tilts_what_it_plays(tilt_deg: float, axis: int) -> None:
    clip, target = movements()[0], worn(RIGS["Unreal's mannequin"])
    points = SkinPoints.of(*skin_of(target, {}))
    turn = rot.from_axis_angle(np.eye(3)[axis], np.radians(tilt_deg))
    times = np.linspace(0.0, clip.duration_s, 20)
    plain, tilted = (world_from_pose(target, retarget(clip, target, by, points=points).clip.sample(times))
                     for by in (rot.IDENTITY, turn))
    np.testing.assert_allclose(tilted, plain, atol=1e-9)


@pytest.mark.parametrize("lean_deg", [-20.0, 8.0, 35.0])
def test_an_object_that_is_tilted_because_its_bones_lean_plays_upright(lean_deg: float) -> None:
    clip, straight = movements()[0], worn(RIGS["Unreal's mannequin"])
    skin, turn = skin_of(straight, {}), rot.from_axis_angle(np.eye(3)[0], np.radians(lean_deg))
    leaning = SkinPoints.of(rot.rotate(turn, skin[0]), *skin[1:])
    plain = retarget(clip, straight, points=SkinPoints.of(*skin)).clip
    fixed = retarget(clip, straight.turned(turn), turn, points=leaning).clip
    times = np.linspace(0.0, clip.duration_s, 20)
    here, there = (world_from_pose(each.skeleton, each.sample(times))[..., 3] for each in (fixed, plain))
    np.testing.assert_allclose(rot.rotate(rot.conjugate(turn), here), there, atol=ON_GROUND * LEG_M)


def test_shapes_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(TaktError, match="2 points, joints"):
        SkinPoints(np.zeros((2, 3)), np.zeros((3, 1), np.int64), np.ones((3, 1)))
    nothing = SkinPoints.of(np.zeros((2, 3)), np.zeros((2, 1), np.int64), np.zeros((2, 1)))
    clip, target = movements()[0], with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(6))
    same = [retarget(clip, target, points=each).clip.translations.values for each in (None, nothing)]
    np.testing.assert_allclose(same[0], same[1], atol=ROUNDING)


def with_long_shoes(skeleton: Skeleton, skin: Skin, offset: FloatArray, *, are_stiff: bool = True) -> Skin:
    """Return a skin with the balls of the feet once more, farther out; stiff shoes do not bend with the toes."""
    joint_of, (vertices, joints, weights) = find_map(skeleton).joint_of, skin
    tips = [np.isin(joints[:, 0], joint_of[f"{side}_metatarsal"]) for side in "lr"]
    owners = [np.full_like(joints[tip], joint_of[f"{side}_ankle"]) if are_stiff else joints[tip]
              for side, tip in zip("lr", tips, strict=True)]
    return (np.concatenate((vertices, *(vertices[tip] + offset for tip in tips))), np.concatenate((joints, *owners)),
            np.concatenate((weights, *(weights[tip] for tip in tips))))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("dip_deg", [-15.0, 15.0, 35.0])
def test_a_foot_that_swings_with_its_toes_down_is_drawn_up_and_nothing_else_moves(dip_deg: float, number: int) -> None:
    """One leg stands, the other steps in long shoes that point down: the body does not hop, and the knee bends."""
    most = {"r_hip": -45.0, "r_knee": 60.0, "r_ankle": dip_deg}
    times = np.linspace(0.0, 2.0, 61)
    swing = np.clip(1.25 - np.abs(times - 1.0) * 1.5, 0.0, 1.0) ** 2
    angles = swing[:, None] * np.array([most.get(name, 0.0) for name in BODY.names])
    clip = Clip("swing", BODY, 2.0, Tracks.uniform(np.arange(len(BODY)), times, rot.from_axis_angle(
        np.array((1.0, 0.0, 0.0)), np.radians(angles))), SWAYING, Tracks.empty(3))
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(number), 1.1)
    found = find_map(target)
    assert found.turn is not None
    front = rot.rotate(found.turn, np.array((0.0, 0.0, 1.0)))
    skin = with_long_shoes(target, skin_of(target, {}), 0.2 * front)
    with_skin, without = (retarget(clip, target, points=points).clip for points in (SkinPoints.of(*skin), None))
    fine = np.linspace(0.0, 2.0, 200)
    here, there = (world_from_pose(c.skeleton, c.sample(fine, "SLERP"))[..., 3] for c in (with_skin, without))
    moved = here - there
    still = [found.joint_of[name] for name in ("l_ankle", "l_knee", "skullbase", "r_hip")]
    assert np.linalg.norm(moved[:, still], axis=-1).max() < 0.02 * LEG_M
    assert lowest(target, with_skin, skin, fine).min() >= BELOW
    ankle, knee = (moved[:, found.joint_of[name]] for name in ("r_ankle", "r_knee"))
    assert (ankle.max() > 0.02) == (dip_deg > 0.0) == (float((knee @ front).max()) > 0.01)
    assert np.linalg.norm(np.diff(ankle, axis=0), axis=1).max() / (fine[1] - fine[0]) < 1.0  # metres per second


def on_toes(times: FloatArray, heels_deg: FloatArray) -> Clip:
    """Return a clip that stands on the balls of both feet, none of which moves, with heels raised (F, 2) from level."""
    joints = {name: joint for joint, name in enumerate(BODY.names)}
    pose = Pose.rest(BODY, len(times))
    pose.translations[:, 0] = (0.0, -0.03, 0.0)
    limbs = [Limb(*(joints[f"{side}_{part}"] for part in ("hip", "knee", "ankle"))) for side in "lr"]
    across = np.array((1.0, 0.0, 0.0))
    for limb, heel in zip(limbs, heels_deg.T, strict=True):
        pose.rotations[:, limb.last] = rot.from_axis_angle(across, np.radians(heel))
    world = world_from_pose(BODY, pose)
    balls = [joints[f"{side}_metatarsal"] for side in "lr"]
    moved = LimbPoses.of(world, *limbs).reaching(BODY.rest_world[..., 3][balls] - world[..., 3][:, balls],
                                                 np.broadcast_to(across, (len(times), 2, 3)))
    for side, limb in enumerate(limbs):
        pose.rotations[:, limb] = moved.at((slice(None), side)).rotations(BODY, world, limb)
    return Clip("on toes", BODY, float(times[-1]), Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_the_body_does_not_hop_where_feet_change_that_want_it_at_other_heights(number: int) -> None:
    """Hips and balls of the feet are still in the clip, while heels go up and down; long shoes tip far into the ground.

    On its toes either foot lifts the body by up to 18 % of the leg; who stands on a heel wants it down.
    """
    rng = np.random.default_rng(number)
    times = np.linspace(0.0, 4.0, 241)
    ups = rng.integers(0, 2, size=(2, 41)) if number else np.stack((np.arange(41) // 5 % 2, np.ones(41)))
    shares = np.stack([np.interp(times * 10.0, np.arange(41.0), up) for up in ups], axis=1)
    clip = on_toes(times, 50.0 * (0.5 - 0.5 * np.cos(np.pi * shares)))
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(number), 1.0)
    found = find_map(target)
    assert found.turn is not None
    up, front = rot.rotate(found.turn, UP), rot.rotate(found.turn, np.array((0.0, 0.0, 1.0)))
    skin = with_long_shoes(target, skin_of(target, {}), 0.2 * front)
    done = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    low = lowest(target, done, skin, times)
    assert low.min() >= BELOW and low.max() <= ON_GROUND
    hips = world_from_pose(done.skeleton, done.sample(times))[:, found.joint_of["HumanoidRoot"], :, 3] @ up
    assert np.abs(np.diff(hips[::2], 2)).max() < HOP_LEGS * LEG_M


@pytest.mark.parametrize("side", "lr")
def test_both_feet_stand_on_the_ground_though_one_has_a_thicker_sole(side: str) -> None:
    """The body goes down as far as the other foot hangs, and the leg in the ground is drawn up."""
    times = np.linspace(0.0, 2.0, 61)
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(8), 1.0)
    skin = skin_of(target, {f"{side}_metatarsal": 0.1, "knee": 0.03})
    done = retarget(on_toes(times, np.zeros((61, 2))), target, points=SkinPoints.of(*skin)).clip
    found = find_map(target)
    assert found.turn is not None
    up = rot.rotate(found.turn, UP)
    feet = [np.isin(skin[1][:, 0], [found.joint_of[f"{each}_{part}"] for part in ("ankle", "metatarsal")])
            for each in "lr"]
    ground = min(float((skin[0][own] @ up).min()) for own in feet)
    for own in feet:
        low = SkinPoints(skin[0][own], skin[1][own], skin[2][own]).heights(done, times, up).min(axis=1) - ground
        assert np.abs(low).max() <= ON_GROUND * LEG_M


@pytest.mark.parametrize("seed", range(3))
def test_a_foot_to_which_the_body_goes_down_is_not_in_the_ground_between_frames_where_it_trembles(seed: int) -> None:
    """The other one has a thicker sole: in the body as it was, the trembling foot hangs above the ground."""
    rng, times = np.random.default_rng(seed), np.arange(121) / 120.0
    turns = rot.identities(len(times), len(BODY))
    turns[:, BODY.index_of["r_ankle"]] = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)),
                                                             np.radians(4.0 * rng.normal(size=len(times))))
    clip = Clip("trembles", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), times, turns), SWAYING, Tracks.empty(3))
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(seed))
    found = find_map(target)
    assert found.turn is not None
    skin = with_long_shoes(target, skin_of(target, {"l_metatarsal": 0.12, "knee": 0.03}),
                           0.1 * rot.rotate(found.turn, np.array((0.0, 0.0, 1.0))))
    played = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    assert lowest(target, played, skin, np.linspace(0.0, 1.0, 481)).min() > BELOW


@pytest.mark.parametrize("away", [0.2, 0.25, 0.3, 0.4])
def test_a_foot_that_hangs_far_above_the_ground_keeps_none_in_the_air_that_stands_too(away: float) -> None:
    """Who falls backwards still has both feet near the ground, one of them higher, as far as he is above it himself."""
    low, stands = np.array(((away, 0.19, 0.9), (0.19, away, 0.9))), np.tile((1.0, 1.0, 0.0), (2, 1))
    assert lift_of_touching(low, stands, stands, 1.0).max() <= -0.19
