"""core/playing/keying.py: keys that say what the motion does, few or one at each frame."""

from collections.abc import Callable

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.expansion import expand
from takt.core.playing.keying import ANGLE_RAD, SHARE_OF_HEIGHT, Channel, Keyed, key_every_frame, key_sparsely, resting
from takt.core.playing.motion import Motion, compose
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.scores import FIGURE, UP_Z, X, Y, Z, library, procedure, programme, turning, walking

FPS = 24.0
CLIPS = library(feet_Steps=(turning("left", X, (0.0, 0.9, 0.3, 1.1)), turning("right", Y, (0.2, 1.5, -0.4, 0.9)),
                            turning("nod", Z, (0.5, -0.5, 0.8), ("spine",)), walking("walk", (1.0, 0.3), 0.4)))
CALLS = ('left duration="2" transition="0.5"', 'walk duration="1.3"', 'right duration="2" transition="0"',
         'nod duration="1.01"')


def made(*calls: str, loop: bool = False, method: str = "LEAD", blend: str = "SLERP",
         root_motion: str = "CONTINUE") -> Motion:
    p = programme(procedure("main", *(calls or CALLS)), clips=CLIPS)
    return compose(expand(p, "main", loop), p.clips,
                   Playing(Style(method, "COSINE", blend), root_motion, UP_Z))  # type: ignore[arg-type]


def between(keyed: Keyed, channel: Channel, frames: FloatArray) -> FloatArray:
    """Return what straight lines between the keys say, (F, J, C)."""
    out = np.empty((len(frames), *channel.values.shape[1:]))
    for joint in range(len(channel.joints)):
        rows = channel.keys[:, joint]
        for c in range(channel.values.shape[2]):
            out[:, joint, c] = np.interp(frames, keyed.frames[rows], channel.values[rows, joint, c])
    return out


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("blend", ["LERP", "SLERP"])
def test_few_keys_keep_within_the_tolerances_at_every_frame(method: str, blend: str) -> None:
    motion = made(method=method, blend=blend)
    keyed = key_sparsely(motion, FPS)
    frames = np.arange(int(motion.duration_s * FPS), dtype=np.float64)
    pose = motion.sample(frames / FPS)
    turns = rot.normalized(between(keyed, keyed.rotations, frames))
    assert rot.angle_between(turns, pose.rotations[:, keyed.rotations.joints]).max() <= ANGLE_RAD
    moves = between(keyed, keyed.translations, frames) - pose.translations[:, keyed.translations.joints]
    height = float(np.ptp(FIGURE.rest_world[:, :, 3], axis=0).max())
    assert np.linalg.norm(moves, axis=-1).max() <= SHARE_OF_HEIGHT * height
    assert keyed.rotations.keys.sum(axis=0).max() < key_every_frame(motion, FPS).rotations.keys.sum(axis=0).max()


def test_without_transitions_the_keys_are_the_clips_own() -> None:
    motion = made('left duration="4" transition="0"', 'left duration="4"', blend="LERP")
    keyed = key_sparsely(motion, FPS)
    arm = keyed.rotations.joints.tolist().index(FIGURE.index_of["l_arm"])
    at = keyed.frames[keyed.rotations.keys[:, arm]]
    own = np.array((0.0, 32.0, 64.0, 96.0, 128.0, 160.0, 192.0))
    assert np.abs(at[:, None] - own).min(axis=1).max() < 0.01
    assert len(at) == len(own) + 1  # the seam jumps: one key before, one on it


def test_every_frame_has_a_key_and_the_last_one_is_at_or_after_the_end() -> None:
    motion = made()
    keyed = key_every_frame(motion, FPS)
    assert keyed.frames.tolist() == list(range(int(np.ceil(motion.duration_s * FPS)) + 1))
    assert keyed.rotations.keys.all()
    assert (np.sum(keyed.rotations.values[1:] * keyed.rotations.values[:-1], axis=-1) > 0.0).all()
    last = motion.sample(np.array((motion.duration_s,))).rotations[0, keyed.rotations.joints]
    assert rot.angle_between(keyed.rotations.values[-1], last).max() < 1e-9


@pytest.mark.parametrize("make", [key_every_frame, key_sparsely])
def test_a_loop_ends_where_its_next_round_begins(make: Callable[[Motion, float], Keyed]) -> None:
    motion = made(loop=True, root_motion="AS_AUTHORED")
    keyed = make(motion, FPS)
    assert keyed.frames[-1] == pytest.approx(motion.duration_s * FPS)
    assert rot.angle_between(keyed.rotations.values[0], keyed.rotations.values[-1]).max() < 1e-9


def test_what_never_moves_has_no_keys() -> None:
    keyed = key_every_frame(made('nod duration="1"'), FPS)
    assert keyed.rotations.joints.tolist() == [FIGURE.index_of["spine"]]
    assert not len(keyed.translations.joints)
    assert not len(keyed.scales.joints)


@pytest.mark.parametrize("make", [key_every_frame, key_sparsely])
def test_what_carries_a_body_that_travels_rests(make: Callable[[Motion, float], Keyed]) -> None:
    """Another Action may have left it elsewhere."""
    rig = Skeleton.from_arrays(("root", "hips", "leg", "head"), (-1, 0, 1, 1), rot.identities(4), np.eye(4, 3))
    times, hips = np.array((0.0, 0.3, 1.0)), np.array((1,))
    way = Tracks.uniform(hips, times, np.array(((0.0, 0, 0), (1, 0, 0), (1, 2, 0)))[:, None])
    turns = Tracks.uniform(hips, times, rot.from_axis_angle(Z, times)[:, None])
    p = programme(procedure("main", 'walk duration="1"'), clips=library(feet_Steps=(
        Clip("walk", rig, 1.0, turns, way, Tracks.empty(3)),)))
    keyed = make(compose(expand(p, "main", False), p.clips, Playing(Style("LEAD", "LINEAR"), "CONTINUE", UP_Z)),
                 FPS)
    assert resting(rig, keyed).tolist() == [0, 1]
    assert keyed.rotations.joints.tolist() == keyed.translations.joints.tolist() == [1]


@pytest.mark.parametrize("make", [key_every_frame, key_sparsely])
def test_what_a_body_that_goes_somewhere_hangs_on_rests(make: Callable[[Motion, float], Keyed]) -> None:
    whole, arms = (resting(FIGURE, make(made(call), FPS)).tolist() for call in (CALLS[1], CALLS[0]))
    assert FIGURE.index_of["hip"] in whole, "all of its properties"
    assert not arms
