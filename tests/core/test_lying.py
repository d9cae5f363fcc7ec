"""Who lies or crawls all the time does so on other bodies, wherever the file's origin is and however it rests."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.upright import resting, turned
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_retarget import with_axes

BODY = build_skeleton()
X, Y, Z = np.eye(3)
KINDS = {"prone": 0.0, "supine": 180.0, "on the left side": 90.0, "on the right side": -90.0}
OVER = {"ankles": ("l_ankle", "r_ankle"), "toes": ("l_metatarsal", "r_metatarsal"), "hips": ("HumanoidRoot",),
        "head": ("skullbase",)}
RESTS = {"as it stands": Rewriting(), "leaning by 20°": Rewriting(zero="LEANING", angle_deg=20.0, seed=3),
         "leaning by 42°": Rewriting(zero="LEANING", angle_deg=42.0, seed=5),
         "turned": Rewriting(zero="TURNED", angle_deg=140.0), "in a line": Rewriting(zero="LINE"),
         "in a pile": Rewriting(zero="PILE")}
TARGET = with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(3))
LOW_M, TILTED_RAD = 0.06, np.radians(12.0)


def about(axis: FloatArray, angle_deg: float) -> FloatArray:
    return rot.from_axis_angle(axis, np.radians(angle_deg))


def lies(kind: str, head_deg: float, over: str, *, crawls: bool = False, low_m: float = LOW_M) -> Clip:
    """Return one whose head is at a heading from +Z, turned by a kind about his length; over: what is at the origin.

    low_m: how high his lowest joint is.
    """
    times = np.linspace(0.0, 2.0, 25)
    turns = rot.identities(len(times), len(BODY))
    lay = rot.multiply(about(Y, head_deg), rot.multiply(about(X, 90.0), about(Y, KINDS[kind])))
    turns[:, 0] = rot.multiply(lay, rot.from_axis_angle(Y, 0.08 * np.sin(3.0 * times)))
    bent = {"hip": -1.5, "knee": 1.5, "shoulder": -1.5} if crawls else {"hip": -0.15, "knee": 0.2, "shoulder": -0.2}
    for joint, name in enumerate(BODY.names):
        if name[2:] in bent:
            moves = bent[name[2:]] + 0.15 * np.sin(4.0 * times + joint)
            turns[:, joint] = rot.from_axis_angle(X, moves)
    still = np.zeros((len(times), 1, 3))
    rotations = Tracks.uniform(np.arange(len(BODY)), times, turns)

    def placed(places: FloatArray) -> Clip:
        return Clip("lies", BODY, 2.0, rotations, Tracks.uniform(np.zeros(1, np.int64), times, places), Tracks.empty(3))

    at = world_from_pose(BODY, placed(still).sample(times))[..., 3]
    away = -at[:, [BODY.index_of[name] for name in OVER[over]]].mean(axis=(0, 1))
    away[1] = low_m - at[..., 1].min()
    return placed(still + away)


def rises(clip: Clip) -> FloatArray:
    """Return the angle between the ground and the way from hips to head, (F,)."""
    joint_of = find_map(clip.skeleton).joint_of
    at = world_from_pose(clip.skeleton, clip.sample(np.linspace(0.0, 2.0, 9)))[..., 3]
    way = at[:, joint_of["skullbase"]] - at[:, joint_of["HumanoidRoot"]]
    return np.asarray(np.arcsin(way[:, 1] / np.linalg.norm(way, axis=1)))


@pytest.mark.slow
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("kind", KINDS)
def test_who_lies_all_the_time_lies_wherever_his_head_is(kind: str, rest: str, over: str) -> None:
    """Where only the frames tell how the body stands, toes over the origin do not tell from which way it is seen."""
    for head_deg in (30.0 if over == "toes" and RESTS[rest].zero in ("LINE", "PILE") else 0.0, 135.0, 270.0):
        clip = lies(kind, head_deg, over)
        played = retarget(rewritten(clip, RESTS[rest]).clip, TARGET).clip
        assert np.abs(rises(played) - rises(clip)).max() < TILTED_RAD, head_deg


@pytest.mark.slow
@pytest.mark.parametrize("up", ["Y", "Z"])
@pytest.mark.parametrize("kind", KINDS)
def test_who_rests_upright_and_lies_all_the_time_lies_though_his_toes_are_in_the_ground(kind: str, up: str) -> None:
    """As in a push-up about toes over the origin, which along the body seem to stand."""
    for head_deg in (0.0, 90.0, 180.0, 270.0):
        clip = lies(kind, head_deg, "toes", low_m=-0.04)
        new = rewritten(clip, Rewriting()).clip
        played = retarget(turned(new, about(X, 90.0)) if up == "Z" else new, TARGET).clip
        assert np.abs(rises(played) - rises(clip)).max() < TILTED_RAD, head_deg


@pytest.mark.parametrize("rest_deg", [90.0, -90.0])
@pytest.mark.parametrize("up", ["Y", "Z"])
def test_who_moves_upright_over_the_ground_does_so_though_his_file_rests_along_another_axis(up: str,
                                                                                            rest_deg: float) -> None:
    for clip in movements()[::5]:
        new = rewritten(clip, Rewriting()).clip
        new = resting(turned(new, about(X, 90.0)) if up == "Z" else new, about(X, rest_deg))
        assert rises(retarget(new, TARGET).clip).min() > np.radians(60.0), clip.name


@pytest.mark.slow
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("rest", [rest for rest, how in RESTS.items() if how.zero not in ("LINE", "PILE")])
def test_who_crawls_all_the_time_crawls(rest: str, over: str) -> None:
    for head_deg in (0.0, 30.0, 180.0):
        clip = lies("prone", head_deg, over, crawls=True)
        played = retarget(rewritten(clip, RESTS[rest]).clip, TARGET).clip
        assert np.abs(rises(played) - rises(clip)).max() < TILTED_RAD, head_deg


def goes_along(clip: Clip, way_m: FloatArray, off_m: float) -> Clip:
    """Return a clip whose body moves along a way (3,), over a ground that is so high in its file."""
    times = np.linspace(0.0, clip.duration_s, 25)
    places = clip.sample(times).translations[:, :1] + times[:, None, None] / clip.duration_s * way_m + off_m * Y
    return replace(clip, translations=Tracks.uniform(np.zeros(1, np.int64), times, places))


@pytest.mark.slow
@pytest.mark.parametrize("off_m", [-0.4, -0.1, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("head_deg", [0.0, 180.0, 270.0])
def test_who_crawls_on_does_so_at_any_height_though_only_frames_tell_how_he_stands(off_m: float,
                                                                                   head_deg: float) -> None:
    for rest in ("in a line", "in a pile"):
        clip = lies("prone", head_deg, "hips", crawls=True)
        ahead = rot.rotate(about(Y, head_deg), 2.0 * Z)
        clip = goes_along(clip, ahead, off_m)
        played = retarget(rewritten(clip, RESTS[rest]).clip, TARGET).clip
        assert np.abs(rises(played) - rises(clip)).max() < TILTED_RAD, rest
