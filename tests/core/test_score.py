"""From text to motion in one call."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import ScoreError, TaktError
from takt.core.library.store import ClipStore
from takt.core.maths import rotations as rot
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, perform
from takt.core.retargeting.retarget import standing_still
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import FIGURE, STEPS, UP_Z, X, library, procedure, score, turning
from takt.tests.core.test_retarget import random_clip

WALK = score(procedure("walk", 'left duration="1"', 'right duration="1"'),
             procedure("main", 'walk duration="2" repeat="5"', 'nod duration="4" transition="0.5"'), tick=0.8)


def performed(text=WALK, clips=STEPS, skeleton=FIGURE, **settings):
    return perform(text, None, clips, Performer(skeleton, UP_Z), Settings(**settings))


def test_the_example_of_the_specification_becomes_a_motion():
    m = performed()
    assert m.skeleton is FIGURE
    assert m.duration_s == pytest.approx(14 * 0.8)
    assert len(m.transitions_s) == 11
    pose = m.sample(np.arange(0.0, m.duration_s, 1 / 24))
    assert np.linalg.norm(pose.rotations, axis=-1) == pytest.approx(1.0)
    assert all("longer than Meet Halfway allows there" in p.message for p in m.problems)


def test_settings_reach_the_motion():
    m = performed(procedure="walk", method="APPEND", curve="LINEAR", interpolation="LERP", root_motion="IN_PLACE",
                  loop=True)
    assert len(m.sequence) == 2
    assert m.sequence.is_loop
    assert m.method.identifier == "APPEND"
    assert m.duration_s == pytest.approx(1.6 + m.transitions_s.sum())


def test_only_clips_that_are_played_are_fitted_and_one_that_cannot_be_costs_only_itself():
    stranger = Skeleton.from_arrays(("wheel",), (-1,), rot.identities(1), np.zeros((1, 3)))
    car = Clip("car", stranger, 1.0, Tracks.uniform(np.array((0,)), np.array((0.0,)), rot.identities(1, 1)),
               Tracks.empty(3), Tracks.empty(3))
    clips = library(feet_Steps=(turning("left", X, (0.0, 1.0)), car))
    assert performed(score(procedure("main", 'left duration="1"')), clips).clips[0].name == "left"
    motion = performed(score(procedure("main", 'left duration="1"', 'car duration="1"')), clips)
    (problem,) = [p for p in motion.problems if "wheel" in p.message]
    assert problem.message.startswith("'feet.Steps.car': clip 'car' and skeleton") and problem.is_warning
    assert problem.missing == "feet.Steps.car"
    alone = performed(score(procedure("main", 'left duration="1"')), clips)
    np.testing.assert_allclose(motion.sample(np.array((0.3,))).rotations, alone.sample(np.array((0.3,))).rotations)
    assert motion.clips[1].duration_s == 1.0 and not motion.clips[1].moved.any()
    with pytest.raises(ScoreError, match=r"'feet\.Steps\.car': .*wheel"):
        performed(score(procedure("main", 'car duration="1"')), clips)
    for text, line in ((procedure("main", 'left duration="1"', 'car duration="1"', 'car duration="1"'), 'name="car"'),
                       (procedure("main", 'left duration="1"', 'go duration="1"') + procedure("go", 'car duration="1"'),
                        'name="car"')):
        text = score(text)
        (problem,) = [p for p in performed(text, clips).problems if p.missing]
        lines = text.splitlines()
        assert line in lines[problem.place.line - 1][problem.place.column - 1:]
        assert not any(line in earlier for earlier in lines[:problem.place.line - 1])


def test_joints_without_counterpart_are_listed():
    shorter = Skeleton.from_arrays((*FIGURE.names[:3], "tail"), FIGURE.parents, FIGURE.rest_rotations,
                                   FIGURE.rest_translations)
    assert set(performed(skeleton=shorter).unmatched) == {"r_arm", "tail"}


def test_a_name_that_both_sides_have_without_counterpart_is_told_once(monkeypatch):
    def unmatched(_, clip, target, *, source_map, **__):
        still = standing_still(clip, target, source_map)
        return replace(still, unmatched_source=("r_arm",), unmatched_target=FIGURE.names[2:])

    monkeypatch.setattr(ClipStore, "retargeted", unmatched)
    assert sorted(performed().unmatched) == sorted({"r_arm", *FIGURE.names[2:]})


def test_what_will_be_missed_is_a_warning_and_other_joints_are_not():
    """Of a body its limbs, hips and head; of what is no body, all that moves."""
    body = build_skeleton()
    legless = body.part(np.array([i for i, name in enumerate(body.names) if name.partition("_")[2] not in
                                  ("ankle", "metatarsal", "index0")]))
    wave = library(feet_Steps=(random_clip(body, np.random.default_rng(0), moves=False),))
    text = score(procedure("main", 'random duration="1"'))
    assert performed(text, wave, body).problems == ()
    (problem,) = performed(text, wave, legless).problems
    assert problem.is_warning and not problem.is_note
    assert problem.message == "'feet.Steps.random' moves l_ankle, r_ankle, but 'dancer' has no counterpart"
    shorter = Skeleton.from_arrays((*FIGURE.names[:3], "tail"), FIGURE.parents, FIGURE.rest_rotations,
                                   FIGURE.rest_translations, name="Lizard")
    assert "moves r_arm, but 'Lizard' has no counterpart" in str(performed(skeleton=shorter).problems)


def test_errors_of_the_score_and_of_settings_come_through():
    with pytest.raises(ScoreError, match="did you mean left"):
        performed(score(procedure("main", 'lefd duration="1"')))
    with pytest.raises(TaktError, match="no transition method"):
        performed(method="FADE")
