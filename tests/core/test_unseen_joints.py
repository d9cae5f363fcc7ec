"""Transitions of characters whose controls deform nothing, although they are marked as deforming."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton

PLAIN = build_skeleton()
BODY = Skeleton.from_arrays((*PLAIN.names, "elbowIK.L"), np.append(PLAIN.parents, 0),
                            np.concatenate((PLAIN.rest_rotations, [(1.0, 0.0, 0.0, 0.0)])),
                            np.concatenate((PLAIN.rest_translations, [(0.5, 0.2, -0.6)])))
CONTROL, ELBOW = len(PLAIN), find_map(PLAIN).joint_of["l_elbow"]
UP = np.array((0.0, 1.0, 0.0))
TEXT = ('<pha version="2" tickLength="1"><load src="a.B"/><procedure name="main">'
        '<call name="one" duration="4"/><call name="two" duration="4"/></procedure></pha>')


def clip(name: str, angle: float, place: float, turn: float) -> Clip:
    """Bend an elbow to an angle, and let the control turn, and stand at a place."""
    times = np.array((0.0, 1.0))
    turns = np.array(((angle, turn), (angle + 0.5, turn + 0.01)))
    return Clip(name, BODY, 1.0, Tracks.uniform(np.array((ELBOW, CONTROL)), times,
                                                rot.exp(turns[..., None] * np.array((0.0, 0.0, 1.0)))),
                Tracks.uniform(np.array((CONTROL,)), times, np.full((2, 1, 3), (place, 0.0, 0.0))), Tracks.empty(3))


def skin_of(*joints: int) -> SkinPoints:
    at = np.array(joints)
    return SkinPoints(BODY.rest_world[at, :, 3], at[:, None], np.ones((len(at), 1)))


def joined(place: float, turn: float, points: SkinPoints | None) -> Motion:
    """Play two clips, between which the control goes to a place and turns; all joints are marked as deforming."""
    clips = clip("one", 0.0, 0.0, 0.0), clip("two", 0.6, place, turn)
    library = Library(other_clips=lambda src: clips if src == "a.B" else None)
    return play(resolve(parse(TEXT), library),
                Performer(BODY, UP, skin=np.ones(len(BODY), dtype=np.bool_), points=points), Settings(lock_feet=False))


@pytest.mark.parametrize(("place", "turn"), [(5.0, 0.0), (0.0, 3.0), (5.0, 3.0)])
def test_controls_without_vertices_do_not_decide_how_long_transitions_are(place: float, turn: float) -> None:
    body = skin_of(*range(len(PLAIN)))
    still, far = joined(0.0, 0.0, body), joined(place, turn, body)
    assert far.transitions_s[0] == pytest.approx(still.transitions_s[0], rel=1e-6)
    assert not [problem for problem in far.problems if "150°" in problem.message]


def test_controls_with_vertices_decide() -> None:
    everything = skin_of(*range(len(BODY)))
    still, far = joined(0.0, 0.0, everything), joined(5.0, 3.0, everything)
    assert far.transitions_s[0] > 1.5 * still.transitions_s[0]
    assert [problem for problem in far.problems if "150°" in problem.message]


def test_without_meshes_all_deforming_joints_count() -> None:
    assert joined(5.0, 3.0, None).transitions_s[0] > 1.5 * joined(0.0, 0.0, None).transitions_s[0]
