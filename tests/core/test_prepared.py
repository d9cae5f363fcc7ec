"""What is known of clips stays known while anybody plays them, and changes nothing of what is played."""

import gc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.playing import prepared as room
from takt.core.playing.playing import Playing
from takt.core.playing.row import Row
from takt.core.playing.transitions.blending import Style
from takt.tests.core.scores import UP_Z
from takt.tests.core.test_stages import BY_NAME, assert_same, sequence

FIRST = ('step duration="1"', 'turn duration="1"', 'wave duration="1"')
EDITED = ('step duration="2"', 'turn duration="0.7"', 'wave duration="1.3"', 'turn duration="1" transition="0.3"')
SETTINGS = ({"style": Style("BOTH", "COSINE", joint_time="EARLY")},
            {"style": Style("BOTH", "COSINE", interpolation="LERP")},
            {"root_motion": "IN_PLACE"}, {"speed": "PATHS"}, {"up": np.array((0.0, 1.0, 0.0))},
            {"doubles": {1: 0}})


def row(*calls: str, clips: dict[str, Clip] = BY_NAME, **settings: Any) -> Row:
    played = [clips[name] for name in dict.fromkeys(call.split(" ")[0] for call in calls)]
    chosen: dict[str, Any] = {"style": Style("BOTH", "COSINE"), "root_motion": "CONTINUE", "up": UP_Z} | settings
    return Row.of(sequence(*calls), played, Playing(**chosen))


def test_an_edit_that_plays_the_same_clips_finds_them_prepared() -> None:
    first = row(*FIRST)
    edited = row(*EDITED)
    assert edited.prepared is first.prepared and edited.duration_s != first.duration_s
    copies = {name: replace(clip) for name, clip in BY_NAME.items()}
    afresh = row(*EDITED, clips=copies)
    assert afresh.prepared is not first.prepared
    times = np.linspace(0.0, edited.duration_s, 101)
    assert_same(edited.sample(times), afresh.sample(times), 0.0)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: next(iter(settings)))
def test_what_depends_on_a_setting_is_prepared_for_it(settings: dict[str, Any]) -> None:
    usual, other = row(*FIRST), row(*FIRST, **settings)
    assert other.prepared is not usual.prepared
    copies = {name: replace(clip) for name, clip in BY_NAME.items()}
    afresh, times = row(*FIRST, clips=copies, **settings), np.linspace(0.0, other.duration_s, 31)
    assert afresh.duration_s == other.duration_s
    assert_same(other.sample(times), afresh.sample(times), 0.0)


def test_what_nobody_plays_is_forgotten() -> None:
    clips = {name: replace(clip) for name, clip in BY_NAME.items()}
    gc.collect()
    held = row(*FIRST, clips=clips)
    before = len(room._known)
    del held
    gc.collect()
    assert len(room._known) == before - 1
