"""Hands of two characters that meet, wherever these stand: each motion is made by itself."""

import os
from typing import NamedTuple

import numpy as np
import pytest

from takt.core.errors import ScoreError
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.pha.values import ticks_of
from takt.core.playing.meeting import Partner, together
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import ScenePlace, Target, Unfit
from takt.core.playing.score import Settings, play
from takt.core.score_editor.layout import lay_out
from takt.tests.core.scene_figures import LIMITS
from takt.tests.core.seeds import seeds
from takt.tests.core.test_scene_aims import CLIPS, HELLO
from takt.tests.core.test_scene_holds import BODIES, LEG_M, SIZES, UP, palms

SETTINGS = int(os.environ.get("TAKT_SCENE_SETTINGS", "60"))
ROLES = '<role name="other" is="person"/><role name="third" is="person"/><role name="spot" is="place"/>'
MEET = ('<lane weight="{weight}"><wait duration="1"/><meet person="other" with="{own} hand" hand="{hand} hand" '
        'duration="{comes}" hold="{hold}"/><wait duration="{rest}"/></lane>')
SOMEBODY = ScenePlace((0.0, 0.0, 1.0), (0.0, 0.0, -1.0))
NEAR, FASTEST = LIMITS["hand"], 6.0
"""In legs, and legs per second."""


def programme(*lanes: str, tempo: str = "") -> Programme:
    text = (f'<pha version="2" tickLength="1"><load src="gestures.Greetings"/>{tempo}{ROLES}<procedure name="main">'
            f'<together>{HELLO}{"".join(lanes)}</together></procedure></pha>')
    return resolve(parse(text), CLIPS)


def meet(own: str = "right", hand: str = "left", weight: float = 1.0, comes: int = 2, hold: int = 3) -> str:
    return MEET.format(own=own, hand=hand, weight=weight, comes=comes, hold=hold, rest=7 - comes - hold)


def played(score: Programme, size: float = 1.0, *, loop: bool = False, other: Target | None = SOMEBODY) -> Motion:
    cast = (("third", ScenePlace((1.0, 0.0, 1.0), (0.0, 0.0, -1.0))), *(() if other is None else (("other", other),)))
    return play(score, Performer(BODIES[size], UP), Settings(cast=cast, loop=loop))


class Stand(NamedTuple):
    """Where a character stands before another: matrix (3, 4), from its model space to that of the other."""

    matrix: FloatArray

    @classmethod
    def before(cls, far: float, turned: float = 0.0, aside: float = 0.0, size: float = 1.0) -> "Stand":
        """Return it so far before the other, facing that; size: of its model's unit."""
        c, s = -size * np.cos(turned), size * np.sin(turned)
        return cls(np.array(((c, 0.0, s, aside), (0.0, size, 0.0, 0.0), (-s, 0.0, c, far))))

    @property
    def back(self) -> "Stand":
        linear = np.linalg.inv(self.matrix[:, :3])
        return Stand(np.concatenate((linear, -linear @ self.matrix[:, 3:]), axis=1))

    def seen(self, points: FloatArray) -> FloatArray:
        """Return points (F, 3) of the character in the other's model space."""
        return np.asarray(points @ self.matrix[:, :3].T + self.matrix[:, 3])


FACING = Stand.before(0.8)


def both(one: Motion, two: Motion, stand: Stand = FACING, later_s: float = 0.0) -> tuple[Motion, Motion]:
    roles = frozenset({"other"})
    return (together(one, {"other": Partner(two, roles, later_s, np.zeros(1), stand.matrix[None])}),
            together(two, {"other": Partner(one, roles, -later_s, np.zeros(1), stand.back.matrix[None])}))


def warnings(*motions: Motion) -> list[str]:
    return [problem.message for motion in motions for problem in motion.problems if not problem.is_note]


def hands_met(seed: int) -> tuple[float, float, list[str]]:
    """Let two who stand before each other by chance meet.

    Return how far apart their hands are in legs, how fast one of them goes in legs per second, and all warnings.
    """
    rng = np.random.default_rng(seed)
    one_size, two_size = SIZES[seed % 4], SIZES[seed // 4 % 4]
    own, hand = (("left", "right")[side] for side in rng.integers(0, 2, 2))
    unit = one_size / two_size * float(rng.choice((1.0, 1.0, 1.15, 0.87)))  # tall beside small, but not giants
    stand = Stand.before(rng.uniform(0.5, 1.0) * one_size, rng.uniform(-0.5, 0.5), rng.uniform(-0.2, 0.2) * one_size,
                         unit)
    weights = rng.uniform(0.5, 2.0, 2)
    one, two = both(played(programme(meet(own, hand, weights[0])), one_size),
                    played(programme(meet(hand, own, weights[1])), two_size), stand)
    times = np.linspace(3.0, 6.0, 40)
    ours, theirs = palms(one, own[0], times), stand.seen(palms(two, hand[0], times))
    courses = (palms(motion, side[0], np.linspace(0.0, 8.0, 481)) / (LEG_M * size)
               for motion, side, size in ((one, own, one_size), (two, hand, two_size)))
    fastest = max(np.linalg.norm(np.diff(course, axis=0), axis=1).max() * 60.0 for course in courses)
    return float(np.linalg.norm(ours - theirs, axis=1).max()) / (LEG_M * one_size), float(fastest), warnings(one, two)


@pytest.mark.parametrize("seed", seeds(SETTINGS, quick=4))
def test_hands_meet_and_stay_together(seed: int) -> None:
    apart, fastest, said = hands_met(seed)
    assert not said and apart < NEAR and fastest < FASTEST


@pytest.mark.slow
def test_small_ones_meet_tall_ones_or_say_how_far_away_the_hand_stays() -> None:
    met = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        stand = Stand.before(rng.uniform(0.5, 0.9), rng.uniform(-0.5, 0.5))
        one, two = both(played(programme(meet()), 1.3), played(programme(meet("left", "right")), 0.6), stand)
        apart = np.linalg.norm(palms(one, "r", np.array((3.0, 6.0)))
                               - stand.seen(palms(two, "l", np.array((3.0, 6.0)))), axis=1)
        said = " ".join(warnings(one, two))
        assert apart.max() < 0.02 * LEG_M or ("<meet> at 3.00 s the hand stays" in said and "away from 'other'" in said)
        met += not said
    assert met >= 9


def test_whose_lane_weighs_more_goes_farther_and_whose_weighs_nothing_stays() -> None:
    plain, times = played(programme(meet())), np.array((4.0,))

    def way(weight: float, other: float) -> float:
        one, _ = both(played(programme(meet(weight=weight))), played(programme(meet("left", "right", other))))
        return float(np.linalg.norm(palms(one, "r", times) - palms(plain, "r", times)))

    assert way(1.0, 3.0) < way(1.0, 1.0) < way(3.0, 1.0)
    near = Stand.before(0.45)  # so near that no arm is stretched
    one, two = both(played(programme(meet("left", "right"))), played(programme(meet("right", "left", 0.0))), near)
    assert np.linalg.norm(palms(two, "r", times) - palms(plain, "r", times)) < 1e-6
    assert np.linalg.norm(palms(one, "l", times) - near.seen(palms(two, "r", times))) < NEAR * LEG_M


def test_whose_score_does_not_say_so_is_met_where_it_is() -> None:
    two = played(programme())
    stand = Stand.before(0.5)
    one, same = both(played(programme(meet())), two, stand)
    times = np.linspace(0.0, 8.0, 33)
    np.testing.assert_allclose(same.sample(times).rotations, two.sample(times).rotations, atol=1e-12)
    assert np.linalg.norm(palms(one, "r", times) - stand.seen(palms(two, "l", times)), axis=1)[12:25].max() < (
        NEAR * LEG_M)


def test_scores_that_begin_at_different_times_meet_by_the_same_clock() -> None:
    one, two = both(played(programme(meet(hold=3))), played(programme(meet("left", "right", hold=4))), later_s=0.5)
    times = np.linspace(3.0, 6.0, 20)
    assert np.linalg.norm(palms(one, "r", times) - FACING.seen(palms(two, "l", times + 0.5)), axis=1).max() < (
        NEAR * LEG_M)


def test_a_tempo_of_one_of_them_is_heard() -> None:
    one = played(programme(meet(), tempo='<tempo tick="0" tickLength="0.5"/>'))
    one, two = both(one, played(programme(meet("left", "right", comes=1))))
    times = np.linspace(2.0, 3.0, 12)
    assert np.linalg.norm(palms(one, "r", times) - FACING.seen(palms(two, "l", times)), axis=1).max() < NEAR * LEG_M


def test_hands_that_stay_together_close_around_each_other() -> None:
    partner = {"other": Partner(played(programme(meet("left", "right"))), frozenset({"other"}), 0.0, np.zeros(1),
                                FACING.matrix[None])}
    stays, touches = (together(played(programme(meet(hold=hold))), partner) for hold in (3, 0))
    finger = stays.skeleton.index_of["r_middle2"]
    at = np.array((4.0,))
    assert (stays.sample(at).rotations[0, finger] != touches.sample(at).rotations[0, finger]).any()


def test_mirrored_scores_meet_with_the_other_hands() -> None:
    text = ('<pha version="2" tickLength="1"><load src="gestures.Greetings"/>{roles}<procedure name="all"><together>'
            '{hello}{meet}</together></procedure><procedure name="main"><call name="all" duration="8" mirror="yes"/>'
            '</procedure></pha>')
    one, two = (played(resolve(parse(text.format(roles=ROLES, hello=HELLO, meet=meet(*hands))), CLIPS))
                for hands in (("right", "left"), ("left", "right")))
    assert [(each.hand, each.other) for each in one.meets] == [("l", "r")]
    one, two = both(one, two)
    times = np.linspace(3.0, 6.0, 12)
    assert np.linalg.norm(palms(one, "l", times) - FACING.seen(palms(two, "r", times)), axis=1).max() < NEAR * LEG_M


def test_a_hand_that_meets_a_third_one_is_not_met() -> None:
    third = played(programme(meet("left", "right").replace('"other"', '"third"')))
    one, _ = both(played(programme(meet())), third)
    (message,) = warnings(one)
    assert message.startswith("<meet> 'other' has the left hand somewhere else then, so it is not met")


def test_two_hands_cannot_meet_one_hand() -> None:
    one = played(programme(meet(), meet("left", "left")))
    one, two = both(one, played(programme(meet("left", "right"))))
    (message,) = warnings(one, two)
    assert "'other' has the left hand somewhere else then" in message
    times = np.linspace(3.0, 6.0, 12)
    assert np.linalg.norm(palms(one, "r", times) - FACING.seen(palms(two, "l", times)), axis=1).max() < NEAR * LEG_M


def test_one_hand_meets_one_after_the_other() -> None:
    again = ('<lane><wait duration="3"/><meet person="third" with="right hand" hand="left hand" duration="1" hold="1"/>'
             '<wait duration="3"/></lane>')
    one, _ = both(played(programme(meet(), again)), played(programme(meet("left", "right"))))
    (message,) = warnings(one)
    assert message == ("<meet> 'third' is left out, since the hand still meets another one then: let it begin later")


def test_who_has_no_score_is_not_met_and_the_rest_plays() -> None:
    one = played(programme(meet()))
    (problem,) = (each for each in one.problems if not each.is_note)
    assert problem.message == ("<meet> 'other' has no score, so there is nobody to meet: give it one, or reach for "
                               "something instead")
    assert problem.place.line == 1
    rest, times = played(programme('<lane><wait duration="8"/></lane>')), np.linspace(0.0, 8.0, 97)
    np.testing.assert_allclose(one.sample(times).rotations, rest.sample(times).rotations, atol=1e-12)


def test_nobody_cast_plays_as_a_rest() -> None:
    one, rest = played(programme(meet()), other=None), played(programme('<lane><wait duration="8"/></lane>'))
    times = np.linspace(0.0, 8.0, 97)
    np.testing.assert_array_equal(one.sample(times).rotations, rest.sample(times).rotations)
    (note,) = one.problems
    assert note.is_note and "'other' is not cast" in note.message and not one.meets


def test_who_cannot_be_met_is_told_with_the_reason() -> None:
    (message,) = warnings(played(programme(meet()), other=Unfit("'Box' is of the type Mesh, expected a character")))
    assert "nothing can play the role 'other': 'Box' is of the type Mesh" in message


def test_a_loop_meets_nobody_and_says_so() -> None:
    one, two = both(played(programme(meet()), loop=True), played(programme(meet("left", "right"))), Stand.before(0.5))
    assert not one.meets and "'other' is left out while the score loops" in warnings(one)[0]
    assert not warnings(two)


def test_the_editor_shows_whom_a_hand_meets_and_for_how_long() -> None:
    score = programme(meet())
    boxes = lay_out(expand(score)).boxes
    at = boxes.titles.index("meet other")
    assert (float(boxes.begin[at]), float(boxes.length[at])) == (1.0, 5.0)
    text = score.document.text
    assert ticks_of(text, [text.shape.tags.index("meet")]) == "5"


def test_who_is_scaled_to_nothing_harms_nobody() -> None:
    one, two = played(programme(meet())), played(programme(meet("left", "right")))
    for size, says in ((0.0, []), (np.inf, ["nowhere"])):
        matrix = np.eye(4)[None, :3] * size if size == 0.0 else np.full((1, 3, 4), size)
        met = together(one, {"other": Partner(two, frozenset({"other"}), 0.0, np.zeros(1), matrix)})
        assert np.isfinite(met.sample(np.linspace(0.0, 8.0, 9)).rotations).all()
        assert all(any(word in message for message in warnings(met)) for word in says)


@pytest.mark.parametrize(("lane", "message"), [
    (meet().replace('"other"', '"spot"'), "is the place 'spot', expected a role that is a person"),
    (meet().replace('"other"', '"nobody"'), "nobody"),
    (meet().replace("left hand", "foot"), "expected left hand or right hand"),
    (meet().replace(' hand="left hand"', ""), "<meet> hand: found none"),
    (meet().replace(' duration="2"', ""), "<meet> duration: found none"),
])
def test_what_does_not_fit_is_told(lane: str, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        expand(programme(lane))
