"""The player's clock: whoever asks says what time it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.preview.player import SPEEDS, Player

LENGTH_S = 10.0
seconds = st.floats(0.0, 1e4)


def playing(**settings: object) -> Player:
    player = Player(clock="OWN")
    for name, value in settings.items():
        setattr(player, name, value)
    player.play(100.0)
    return player


def test_it_plays_from_the_beginning_and_round() -> None:
    player = playing()
    assert [player.position_s(100.0 + t, LENGTH_S) for t in (0.0, 3.0, 10.0, 12.5)] == [0.0, 3.0, 10.0, 2.5]


def test_speed_counts_from_where_it_was_changed() -> None:
    player = playing()
    player.change_speed(SPEEDS.index(2.0) - SPEEDS.index(1.0), 102.0, LENGTH_S)
    assert player.speed == 2.0
    assert player.position_s(103.0, LENGTH_S) == pytest.approx(4.0)
    player.change_speed(-100, 103.0, LENGTH_S)
    assert player.speed == SPEEDS[0]


def test_backwards_and_round_at_the_beginning() -> None:
    player = playing()
    player.turn_round(102.0, LENGTH_S)
    assert player.position_s(103.0, LENGTH_S) == pytest.approx(1.0)
    assert player.position_s(105.0, LENGTH_S) == pytest.approx(9.0)
    player.restart(106.0, LENGTH_S)
    assert player.position_s(106.0, LENGTH_S) == LENGTH_S


def test_pause_stays_and_play_goes_on() -> None:
    player = playing()
    player.pause(104.0, LENGTH_S)
    assert player.position_s(200.0, LENGTH_S) == 4.0
    player.play(300.0)
    assert player.position_s(301.0, LENGTH_S) == 5.0


def test_stop_is_the_rest_pose_at_the_beginning() -> None:
    player = playing()
    player.stop(LENGTH_S)
    assert player.at_rest and not player.is_playing and player.position_s(500.0, LENGTH_S) == 0.0
    player.play(500.0)
    assert not player.at_rest


def test_a_step_goes_from_one_end_to_the_other() -> None:
    player = playing()
    player.step(0.5, 101.0, LENGTH_S)
    assert not player.is_playing and player.position_s(999.0, LENGTH_S) == 1.5
    player.go_to(0.0, 0.0)
    player.step(-0.5, 0.0, LENGTH_S)
    assert player.position_s(0.0, LENGTH_S) == LENGTH_S


def test_a_fragment_is_played_over_and_over() -> None:
    player = playing(fragment=(2.0, 4.0))
    player.restart(100.0, LENGTH_S)
    assert [player.position_s(100.0 + t, LENGTH_S) for t in (0.0, 1.0, 3.0)] == [2.0, 3.0, 3.0]
    player.fragment = (8.0, 99.0)
    assert player.bounds_s(LENGTH_S) == (8.0, LENGTH_S)
    player.fragment = (5.0, 5.0)
    assert player.bounds_s(LENGTH_S) == (0.0, LENGTH_S)


@given(seconds, st.sampled_from(SPEEDS), st.booleans(), st.tuples(seconds, seconds), seconds)
def test_it_never_leaves_its_bounds(after: float, speed: float, backwards: bool, fragment: tuple[float, float],
                                    length: float) -> None:
    player = playing(speed=speed, backwards=backwards, fragment=fragment)
    begin, end = player.bounds_s(length)
    assert begin <= player.position_s(100.0 + after, length) <= end
