"""Hands and upper arms turn about themselves as in the clip, however bodies rest and whatever shows it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.retargeting.comparing.palms import backs_by_joints, backs_by_skin, backs_of_hands, usual_backs
from takt.core.retargeting.comparing.reference import rebased
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.core.skeletons.skin_sample import SkinSample
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import standing_at

BODY = build_skeleton()
CLIP = build_clips("dance/Moves.skeleton")[0]
Y, Z = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))
WRISTS = ("l_wrist", "r_wrist")
TIMES = np.linspace(0.0, CLIP.duration_s, 15)
EXACT = 1e-6


def without_fingers(arm_deg: float = 0.0) -> Skeleton:
    """Return the sample's body without fingers, its forearms longer and its arms raised from where they hang."""
    turns = rot.identities(len(BODY))
    for side, sign in (("l", 1.0), ("r", -1.0)):
        arm = below(f"{side}_shoulder")
        turns[arm] = rot.from_axis_angle(Z, np.array(sign * np.radians(arm_deg)))
    body = BODY.in_pose(turns)
    places = body.rest_world[:, :, 3].copy()
    for side in "lr":
        elbow = places[BODY.index_of[f"{side}_elbow"]]
        places[below(f"{side}_elbow")] = elbow + 1.15 * (places[below(f"{side}_elbow")] - elbow)
    kept = [j for j, name in enumerate(body.names) if not any(f in name for f in ("thumb", "index", "middle", "ring",
                                                                                  "pinky"))]
    parents = np.array([kept.index(int(p)) if p >= 0 else -1 for p in body.parents[kept]])
    return standing_at([body.names[j] for j in kept], parents, places[kept])


def below(joint: str) -> list[int]:
    found = {BODY.index_of[joint]}
    for j, parent in enumerate(BODY.parents.tolist()):
        if parent in found:
            found.add(j)
    return sorted(found)


def flat_hands(skeleton: Skeleton, turned_rad: float) -> tuple[SkinPoints, dict[str, FloatArray]]:
    """Return skin of hands like boards, turned about their forearms from where hands hang, and out of which way."""
    rng, parts, backs = np.random.default_rng(0), [], {}
    for side, sign in (("l", 1.0), ("r", -1.0)):
        wrist, elbow = (skeleton.rest_world[skeleton.index_of[f"{side}_{part}"], :, 3] for part in ("wrist", "elbow"))
        along = (wrist - elbow) / np.linalg.norm(wrist - elbow)
        back = rot.rotate(rot.from_axis_angle(along, np.array(turned_rad)), np.array((sign, 0.0, 0.0)))
        back -= along * (back @ along)
        back /= np.linalg.norm(back)
        box = rng.uniform(-1.0, 1.0, (200, 3)) @ np.stack((0.09 * along, 0.01 * back, 0.04 * np.cross(along, back)))
        parts.append(wrist + 0.09 * along + box)
        backs[f"{side}_wrist"] = back
    joints = np.repeat([skeleton.index_of[wrist] for wrist in WRISTS], 200)[:, None]
    return SkinPoints.of(np.concatenate(parts), joints, np.ones((400, 1))), backs


def hands_of_fingers(hanging_rad: float, points: int = 60,
                     has_thumbs: bool = False) -> tuple[FloatArray, IntArray]:
    """Return skin about the fingers of the sample's body and between its knuckles, (V, 3), and its joints (V,).

    Thumbs hang below the hand by an angle, as those of most bodies do; what has them gives them their own skin.
    points: about each bone.
    """
    rng, at, parts, owners = np.random.default_rng(1), BODY.rest_world[:, :, 3], list[FloatArray](), list[int]()
    for wrist, back in backs_of_hands(find_map(BODY)).items():
        side, start = wrist[0], at[BODY.index_of[wrist]]
        along = at[BODY.index_of[f"{side}_middle1"]] - start
        hang = rot.from_axis_angle(along, np.array(hanging_rad * (1.0 if side == "l" else -1.0)))
        for joint in below(wrist)[1:]:
            name, parent = BODY.names[joint], at[BODY.parents[joint]]
            line = parent + rng.uniform(0.0, 1.0, (points, 1)) * (at[joint] - parent)
            line += 0.008 * rng.normal(size=line.shape)
            parts.append(start + rot.rotate(hang, line - start) if "thumb" in name else line)
            owners += [joint if has_thumbs and "thumb" in name else BODY.index_of[wrist]] * points
        assert abs(along @ back) < 0.01
    return np.concatenate(parts), np.array(owners)


def turned(clip: Clip, joint: str, way: FloatArray) -> FloatArray:
    """Return where a direction at rest points that is fixed to a joint, (F, 3)."""
    j = clip.skeleton.index_of[joint]
    world = world_from_pose(clip.skeleton, clip.sample(TIMES))[:, j, :, :3]
    ways = world @ np.linalg.solve(clip.skeleton.rest_world[j, :, :3], way)
    return np.asarray(ways / np.linalg.norm(ways, axis=-1, keepdims=True))


@pytest.mark.parametrize("turned_rad", [-0.8, 0.0, 0.6])
def test_hands_without_fingers_face_as_in_the_clip_by_their_skin(turned_rad: float) -> None:
    target = without_fingers()
    skin, backs = flat_hands(target, turned_rad)
    played = retarget(CLIP, target, points=skin).clip
    for wrist, back in backs_of_hands(find_map(BODY)).items():
        there, here = turned(CLIP, wrist, back), turned(played, wrist, backs[wrist])
        assert np.degrees(np.arccos(np.sum(there * here, axis=1))).max() < 3.0  # as well as points show a plane


BARE = np.array([j for j, name in enumerate(BODY.names)
                 if not any(finger in name for finger in ("thumb", "index", "middle", "ring", "pinky"))])
THUMBS_RAD = (0.0, 0.5, 1.0)
BY_SKIN_DEG = 5.0


@pytest.mark.parametrize("thumb_rad", THUMBS_RAD)
@pytest.mark.parametrize("turned_rad", [-0.7, 0.0, 0.5])
def test_who_loses_the_joints_of_his_fingers_keeps_his_palms_by_his_skin(thumb_rad: float, turned_rad: float) -> None:
    """As the clip's body and as the character's, with hands that rest turned, so that nobody could guess."""
    positions, owners = hands_of_fingers(thumb_rad)
    sample = SkinSample.at_rest(BODY, owners, positions)
    turns = rot.identities(len(BODY))
    for side in "lr":
        wrist, elbow = (BODY.rest_world[BODY.index_of[f"{side}_{part}"], :, 3] for part in ("wrist", "elbow"))
        turns[below(f"{side}_wrist")] = rot.from_axis_angle(wrist - elbow, np.array(turned_rad))
    body = BODY.in_pose(turns)
    whole, renumbered = rebased(CLIP, body), np.searchsorted(BARE, owners)
    clip = replace(whole.part(BARE), skin=SkinSample(renumbered, sample.offsets))
    bare, backs = body.part(BARE), backs_of_hands(find_map(body))
    skin = SkinPoints.of(sample.of_joints(body, np.ones(len(body), np.bool_)), renumbered[:, None],
                         np.ones((len(owners), 1)))
    broad = standing_at(list(BODY.names), BODY.parents, BODY.rest_world[:, :, 3] * (1.1, 1.0, 1.0))
    broad_backs, of_broad = backs_of_hands(find_map(broad)), rebased(CLIP, broad)
    from_bare, on_bare = retarget(clip, broad).clip, retarget(of_broad, bare, points=skin).clip
    for name in WRISTS:
        for there, its_back, here, back in ((whole, backs[name], from_bare, broad_backs[name]),
                                            (of_broad, broad_backs[name], on_bare, backs[name])):
            cosines = np.sum(turned(there, name, its_back) * turned(here, name, back), axis=1)
            assert np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).max() < BY_SKIN_DEG


@pytest.mark.parametrize("hanging_rad", [-0.6, 0.0, 0.7, 1.4])
@pytest.mark.parametrize("points", [4, 60])
def test_thumbs_whose_joints_are_known_do_not_turn_what_skin_shows(hanging_rad: float, points: int) -> None:
    positions, owners = hands_of_fingers(hanging_rad, points, has_thumbs=True)
    kept = np.array([j for j, name in enumerate(BODY.names) if j in BARE or "thumb" in name])
    mitten = BODY.part(kept)
    seen = backs_by_skin(find_map(mitten), SkinSample.at_rest(mitten, np.searchsorted(kept, owners), positions),
                         rot.IDENTITY)
    for wrist, back in backs_of_hands(find_map(BODY)).items():
        assert np.degrees(np.arccos(seen[wrist] @ back)) < BY_SKIN_DEG


@pytest.mark.parametrize("has_thumbs", [False, True])
@pytest.mark.parametrize("turned_rad", [-1.0, 0.0, 0.6, 1.2])
def test_fingers_of_one_bone_without_known_names_show_the_back(turned_rad: float, has_thumbs: bool) -> None:
    """However forearms are turned in the pose, up to a right angle from how they hang."""
    turns = rot.identities(len(BODY))
    for side in "lr":
        elbow, wrist = (BODY.rest_world[BODY.index_of[f"{side}_{part}"], :, 3] for part in ("elbow", "wrist"))
        arm = wrist - elbow
        turns[below(f"{side}_wrist")] = rot.from_axis_angle(arm, np.array(turned_rad))
    body = BODY.in_pose(turns)
    fingers = ("index1", "middle1", "pinky1", *(("thumb1",) if has_thumbs else ()))
    kept = [j for j, name in enumerate(body.names) if name[2:] in fingers or not any(
        part in name for part in ("thumb", "index", "middle", "ring", "pinky"))]
    parents = []
    for joint in kept:
        above = int(body.parents[joint])
        while above >= 0 and above not in kept:
            above = int(body.parents[above])
        parents.append(kept.index(above) if above >= 0 else -1)
    names = [body.names[j] if body.names[j][2:] not in fingers else f"b{j}" for j in kept]
    found = find_map(standing_at(names, np.array(parents), body.rest_world[kept, :, 3]))
    assert found.turn is not None and not backs_of_hands(found)
    wanted, seen = backs_of_hands(find_map(body)), backs_by_joints(found, found.turn)
    for name in WRISTS:
        assert wanted[name] @ seen[name] > np.cos(np.radians(5.0))


@pytest.mark.parametrize("thick", [0.2, 0.6, 0.9, 1.0])
def test_hands_like_tubes_show_no_back_however_long_they_are(thick: float) -> None:
    rng, found = np.random.default_rng(2), find_map(BODY.part(BARE))
    at, wrists = found.skeleton.rest_world[:, :, 3], [found.joint_of[wrist] for wrist in WRISTS]
    angles = rng.uniform(0.0, 2.0 * np.pi, (2, 200, 1))
    tubes = (0.2 * rng.uniform(0.0, 1.0, angles.shape) * -Y + 0.04 * np.cos(angles) * Z
             + 0.04 * thick * np.sin(angles) * np.array((1.0, 0.0, 0.0)) + at[wrists][:, None])
    skin = SkinSample.at_rest(found.skeleton, np.repeat(wrists, 200), tubes.reshape(-1, 3))
    assert (len(backs_by_skin(found, skin, rot.IDENTITY)) == 2) == (thick < 0.75)


@pytest.mark.parametrize("arm_deg", [0.0, 40.0, 80.0])
def test_hands_of_which_nothing_is_known_are_taken_to_rest_as_hands_mostly_do(arm_deg: float) -> None:
    """Hanging, in A-pose or in T-pose; so palms of clips whose hands rest turned are not lost."""
    target = without_fingers(arm_deg)
    found = find_map(target)
    assert found.turn is not None
    played, usual = retarget(CLIP, target).clip, usual_backs(found, found.turn)
    for wrist, back in backs_of_hands(find_map(BODY)).items():
        np.testing.assert_allclose(turned(played, wrist, usual[wrist]), turned(CLIP, wrist, back), atol=0.12)


def test_usual_backs_face_up_from_arms_stretched_aside_and_out_from_arms_that_hang() -> None:
    for arm_deg, wanted in ((90.0, (0.0, 1.0, 0.0)), (0.0, (1.0, 0.0, 0.0))):
        backs = usual_backs(find_map(without_fingers(arm_deg)), rot.IDENTITY)
        for wrist, sign in zip(WRISTS, (1.0, -1.0), strict=True):
            assert backs[wrist] @ (np.array(wanted) * (sign, 1.0, 1.0)) > 0.98


def bent(twist_rad: float) -> Skeleton:
    """Return the sample's body with elbows bent by 40°, and upper arms turned about themselves."""
    turns = rot.identities(len(BODY))
    for side, sign in (("l", 1.0), ("r", -1.0)):
        shoulder, elbow, wrist = (BODY.rest_world[BODY.index_of[f"{side}_{part}"], :, 3]
                                  for part in ("shoulder", "elbow", "wrist"))
        bend = rot.from_axis_angle(np.cross(elbow - shoulder, wrist - elbow), np.array(np.radians(40.0)))
        twist = rot.from_axis_angle(elbow - shoulder, np.array(sign * twist_rad))
        turns[below(f"{side}_shoulder")] = twist
        turns[below(f"{side}_elbow")] = rot.multiply(twist, bend)
    return BODY.in_pose(turns)


def hinge(skeleton: Skeleton, side: str) -> FloatArray:
    at = [skeleton.rest_world[skeleton.index_of[f"{side}_{part}"], :, 3] for part in ("shoulder", "elbow", "wrist")]
    upper, lower = (b - a for a, b in pairwise(at))
    return np.cross(upper, lower)


@pytest.mark.parametrize("twist_rad", [-0.5, 0.4])
def test_elbows_bend_about_the_same_axis_of_the_upper_arm(twist_rad: float) -> None:
    clip = rebased(CLIP, bent(0.0))
    target = standing_at(list(BODY.names), BODY.parents, bent(twist_rad).rest_world[:, :, 3])
    played = retarget(clip, target).clip
    for side in "lr":
        np.testing.assert_allclose(turned(played, f"{side}_shoulder", hinge(target, side)),
                                   turned(clip, f"{side}_shoulder", hinge(clip.skeleton, side)), atol=EXACT)
