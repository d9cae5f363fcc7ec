"""The stages between clips and poses: rows within rows, mixes of rows, and what follows."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.expansion import expand
from takt.core.pha.sequence import Sequence
from takt.core.playing.bake import bake
from takt.core.playing.keying import ANGLE_RAD, key_sparsely
from takt.core.playing.mix import Lane, Mix, mixed
from takt.core.playing.motion import Motion, compose
from takt.core.playing.placing.root_motion import RootMode
from takt.core.playing.playing import Playing
from takt.core.playing.row import Row
from takt.core.playing.stage import Playable, Stage
from takt.core.playing.transitions.blending import Style
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.skeletons.skeleton import Pose
from takt.tests.core.scores import FIGURE, UP_Z, X, Z, library, procedure, programme, turning, walking

EXACT = 1e-9
STEP = walking("step", (1.0, 0.5))
TURN = walking("turn", (0.6, 0.0), yaw_rad=np.pi / 2, start=(3.0, 1.0), facing_rad=0.7)
NOD = turning("nod", Z, (0.0, 0.9, 0.3), ("spine",))
WAVE = turning("wave", X, (0.0, 1.1, 0.2), ("r_arm",), duration_s=0.5)
BY_NAME: dict[str, Clip] = {clip.name: clip for clip in (STEP, TURN, NOD, WAVE)}


def sequence(*calls: str, loop: bool = False) -> Sequence:
    """Unfold calls of these names; what they stand for, the caller says."""
    names = dict.fromkeys(call.split(" ")[0] for call in calls)
    placeholders = tuple(BY_NAME.get(name, turning(name, X, (0.0, 1.0))) for name in names)
    p = programme(procedure("main", *calls), clips=library(feet_Steps=placeholders))
    return expand(p, "main", loop)


def played(calls: tuple[str, ...], stages: dict[str, Stage]) -> list[Clip | Stage]:
    names = dict.fromkeys(call.split(" ")[0] for call in calls)
    return [stages[name] if name in stages else BY_NAME[name] for name in names]


def row(*calls: str, method: str = "BOTH", root_motion: RootMode = "CONTINUE", loop: bool = False,
        **stages: Stage) -> Row:
    return Row.of(sequence(*calls, loop=loop), played(calls, stages),
                  Playing(Style(method, "COSINE"), root_motion, UP_Z))


def waving(*calls: str) -> Row:
    """Make a row that does not travel, for a lane."""
    return row(*calls, root_motion="AS_AUTHORED")


def motion(*calls: str, method: str = "BOTH", root_motion: RootMode = "CONTINUE", loop: bool = False,
           **stages: Stage) -> Motion:
    return compose(sequence(*calls, loop=loop), played(calls, stages),
                   Playing(Style(method, "COSINE"), root_motion, UP_Z))


def only(*names: str) -> FloatArray:
    return np.array([float(name in names) for name in FIGURE.names])


def assert_same(found: Pose, wanted: Pose, tolerance: float = EXACT) -> None:
    assert rot.angle_between(found.rotations, wanted.rotations).max() <= tolerance
    np.testing.assert_allclose(found.translations, wanted.translations, atol=tolerance)
    np.testing.assert_allclose(found.scales, wanted.scales, atol=tolerance)


INNER = ('step duration="1" transition="0.4"', 'turn duration="1"')
FLAT = (*INNER[:1], 'turn duration="1" transition="0.3"', 'step duration="1"')
NESTED = ('inner duration="2" transition="0.3"', 'step duration="1"')


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("root_motion", ["CONTINUE", "AS_AUTHORED", "IN_PLACE"])
def test_a_row_within_a_row_is_played_like_its_clips_one_by_one(method: str, root_motion: RootMode) -> None:
    """For methods in which a transition leaves its neighbours their tempo, the same at every instant."""
    flat = motion(*FLAT, method=method, root_motion=root_motion)
    nested = motion(*NESTED, method=method, root_motion=root_motion,
                    inner=row(*INNER, method=method, root_motion=root_motion))
    times = np.linspace(0.0, 3.0, 301)
    if TRANSITION_METHODS[method].shape == "ALONE":  # which take time from the whole segment, here from both clips
        times = np.array((0.0, nested.layout.begin_s[1], nested.duration_s))
        assert_same(nested.sample(times), flat.sample(np.array((0.0, flat.layout.begin_s[2], flat.duration_s))))
        return
    assert nested.duration_s == pytest.approx(flat.duration_s)
    assert_same(nested.sample(times), flat.sample(times))


def test_a_row_within_a_row_takes_the_length_that_the_call_gives_it() -> None:
    inner = row(*INNER, root_motion="AS_AUTHORED")
    slow = motion('inner duration="6"', root_motion="AS_AUTHORED", inner=inner)
    assert_same(slow.sample(np.linspace(0.0, 6.0, 61)), inner.sample(np.linspace(0.0, 2.0, 61)))


@pytest.mark.parametrize("method", ["LEAD", "END", "BOTH"])
def test_rows_nest_as_deep_as_one_likes_and_go_round(method: str) -> None:
    deep: Stage = row(*INNER, method=method)
    for _ in range(3):
        deep = row('deep duration="2"', method=method, deep=deep)
    flat = motion(INNER[0], f'{INNER[1]} transition="0.3"', loop=True, method=method)
    nested = motion('deep duration="2" transition="0.3"', loop=True, method=method, deep=deep)
    times = np.linspace(-2.0, 7.0, 301)
    assert_same(nested.sample(times), flat.sample(times))
    assert nested.lap_yaw_rad == pytest.approx(flat.lap_yaw_rad) and nested.lap_yaw_rad > 1.0


def test_what_is_within_a_row_is_keyed_where_it_begins_and_ends() -> None:
    nested = motion(*NESTED, inner=row(*INNER))
    keyed = key_sparsely(nested, 24.0)
    inner_edges = np.array((0.8, 1.0, 1.2)) * 24.0
    assert all(np.abs(keyed.frames - edge).min() < 0.004 for edge in inner_edges)
    whole = nested.sample(keyed.frames / 24.0).rotations
    for column, joint in enumerate(keyed.rotations.joints.tolist()):
        at = np.flatnonzero(keyed.rotations.keys[:, column])
        alone = np.stack([np.interp(keyed.frames, keyed.frames[at], keyed.rotations.values[at, column, i])
                          for i in range(4)], axis=1)
        assert rot.angle_between(rot.normalized(alone), whole[:, joint]).max() < 1.1 * ANGLE_RAD


def test_a_mix_of_masked_rows_gives_each_joint_to_its_lane() -> None:
    walks, waves = row(*INNER), waving('wave duration="1" transition="0.2"', 'nod duration="1"')
    mix = mixed((Lane(walks, only("hip", "l_arm")), Lane(waves, only("spine", "r_arm"))))
    times = np.linspace(0.0, 2.0, 81)
    found, below, above = mix.sample(times), walks.sample(times), waves.sample(times)
    for name in FIGURE.names:
        joint = FIGURE.index_of[name]
        own = below if name in ("hip", "l_arm") else above
        np.testing.assert_allclose(found.rotations[:, joint], own.rotations[:, joint], atol=EXACT)
        np.testing.assert_allclose(found.translations[:, joint], own.translations[:, joint], atol=EXACT)
    assert (mix.moved == (walks.moved | waves.moved)).all() and mix.root is walks.root
    assert bake(mix, 24.0, "mix").duration_s == 2.0


def test_lanes_begin_and_end_together_and_weights_count() -> None:
    low, high = row('nod duration="4"'), row('nod duration="1"')
    times = np.linspace(0.0, 4.0, 41)
    mix = mixed((Lane.whole(low), Lane(high, only("spine"), 0.25)))
    assert mix.duration_s == 4.0
    spine = FIGURE.index_of["spine"]
    wanted = rot.slerp(low.sample(times).rotations[:, spine], high.sample(times / 4.0).rotations[:, spine], 0.25)
    assert rot.angle_between(mix.sample(times).rotations[:, spine], wanted).max() < EXACT
    still = mixed((Lane.whole(low), Lane(waving('wave duration="1"'), np.ones(4), 0.0)))
    np.testing.assert_allclose(still.sample(times).rotations, low.sample(times).rotations, atol=EXACT)


def test_a_lane_has_nothing_of_joints_that_it_never_moves() -> None:
    walks = row(*INNER)
    mix = mixed((Lane.whole(walks), Lane.whole(waving('wave duration="2"'))))
    times = np.linspace(0.0, 2.0, 21)
    found, below = mix.sample(times), walks.sample(times)
    others = [FIGURE.index_of[name] for name in ("hip", "spine", "l_arm")]
    np.testing.assert_allclose(found.rotations[:, others], below.rotations[:, others], atol=EXACT)
    arm = FIGURE.index_of["r_arm"]
    assert rot.angle_between(found.rotations[:, arm], below.rotations[:, arm]).max() > 0.1


def test_one_lane_alone_is_no_mix() -> None:
    walks = row(*INNER)
    assert mixed((Lane.whole(walks),)) is walks
    assert isinstance(mixed((Lane(walks, only("hip")),)), Mix)
    assert motion(*INNER).end.__class__ is Row


def test_a_mix_is_played_like_a_clip() -> None:
    """It walks as its first lane does, and what comes after it goes on from there."""
    both: Stage = mixed((Lane(row(*INNER), only("hip", "l_arm")), Lane(waving('wave duration="1"'), only("r_arm"))))
    calls = ('both duration="2" transition="0.3"', 'step duration="1"')
    found, alone = motion(*calls, both=both), motion(*FLAT)
    times = np.linspace(0.0, 3.0, 61)
    hip = FIGURE.index_of["hip"]
    np.testing.assert_allclose(found.sample(times).translations[:, hip], alone.sample(times).translations[:, hip],
                               atol=EXACT)
    arm = FIGURE.index_of["r_arm"]
    wave = WAVE.sample(times[:30] / 4.0, "SLERP").rotations[:, arm]
    assert rot.angle_between(found.sample(times[:30]).rotations[:, arm], wave).max() < 1e-6


def test_the_root_is_the_first_lanes_that_has_it() -> None:
    walks, waves = row(*INNER), waving('wave duration="1"')
    assert mixed((Lane(waves, only("r_arm")), Lane(walks, only("hip")))).root is walks.root
    assert mixed((Lane(waves, np.zeros(4)), Lane(walks, only("l_arm")))).root.lap_yaw_rad == 0.0


def test_clips_stages_and_motions_are_all_playable() -> None:
    clip, stage, whole = STEP, row(*INNER), motion(*INNER)
    everything: list[Playable] = [clip, stage, whole]
    for each in everything:
        assert each.sample(np.zeros(2)).rotations.shape == (2, 4, 4) and each.moved.shape == (4,)


def test_lanes_that_do_not_fit_are_refused() -> None:
    walks, loop = row(*INNER), row(*INNER, loop=True)
    for make, message in ((lambda: mixed(()), "a mix needs lanes"),
                          (lambda: mixed((Lane.whole(walks), Lane.whole(loop))), "all lanes are loops, or none is"),
                          (lambda: Lane(walks, np.ones(3)), r"has shape \(3,\), expected \(4,\)"),
                          (lambda: Lane(walks, np.full(4, 2.0)), "numbers from 0 to 1"),
                          (lambda: Lane(walks, np.ones(4), -1.0), "numbers from 0 to 1")):
        with pytest.raises(TaktError, match=message):
            make()


@pytest.mark.parametrize("root_motion", ["CONTINUE", "AS_AUTHORED", "IN_PLACE"])
def test_of_some_joints_a_row_shows_the_very_same(root_motion: RootMode) -> None:
    whole = row(*INNER, 'nod duration="1" transition="0.2"', 'wave duration="1"', root_motion=root_motion)
    joints = only("hip", "spine", "r_arm") > 0.0
    some, times = whole.of_joints(joints), np.linspace(0.0, whole.duration_s, 60)
    found, wanted = some.sample(times), whole.sample(times)
    for one, other in ((found.rotations, wanted.rotations), (found.translations, wanted.translations)):
        assert (one[:, joints] == other[:, joints]).all()
    assert (some.moved == whole.moved).all()
    assert some.prepared is whole.prepared  # for as long as this is held, edits find it again


def test_lanes_look_only_at_their_own_joints() -> None:
    waves, time = waving('wave duration="1"'), np.array((0.5,))
    assert (waves.sample(time).rotations != rot.IDENTITY).any()
    assert (waves.of_joints(only("hip") > 0.0).sample(time).rotations == rot.IDENTITY).all()


@pytest.mark.parametrize("method", ["LEAD", "INERTIALIZE"])
@pytest.mark.parametrize("root_motion", ["CONTINUE", "AS_AUTHORED", "IN_PLACE"])
def test_where_the_same_clips_meet_again_offsets_are_the_same(root_motion: RootMode, method: str) -> None:
    """Clips come again at another pace, with another transition, and where other joints hold: then they are not."""
    rng = np.random.default_rng(5)
    calls = [f'{name} duration="{rng.choice((0.5, 1.0))}" transition="{rng.choice((0.1, 0.2))}"'
             for name in rng.choice(list(BY_NAME), 60)]
    whole = row(*calls, method=method, root_motion=root_motion, loop=True)
    times = np.linspace(0.0, whole.duration_s, 2000)
    found, seams = whole.sample(times), np.arange(60)
    assert 20 < len(whole.known_offsets) < 60
    whole.__dict__["_alike"] = seams
    whole.known_offsets.forget()
    wanted = whole.sample(times)
    assert len(whole.known_offsets) == 60
    for one, other in zip(vars(found).values(), vars(wanted).values(), strict=True):
        assert np.abs(one - other).max() < EXACT
